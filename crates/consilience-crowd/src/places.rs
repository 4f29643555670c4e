//! Where every object was shown.

use consilience_core::{Result, room};

use crate::answers::Answers;

/// The tasks of each answered object, and which of a task's groups it is in.
pub(crate) struct Places {
    offsets: Vec<usize>,
    /// Task and group.
    entries: Vec<(u32, u32)>,
}

impl Places {
    pub(crate) fn of(answers: &Answers) -> Result<Self> {
        let n = answers.answered().len();
        let mut offsets = room::zeros::<usize>(n + 1)?;
        for task in answers.tasks() {
            task.groups().flatten().for_each(|&i| offsets[i as usize + 1] += 1);
        }
        for i in 0..n {
            offsets[i + 1] += offsets[i];
        }
        let mut next = room::copied(&offsets)?;
        let mut entries = room::zeros::<(u32, u32)>(offsets[n])?;
        for (t, task) in (0..).zip(answers.tasks()) {
            for (g, items) in (0..).zip(task.groups()) {
                for &i in items {
                    entries[next[i as usize]] = (t, g);
                    next[i as usize] += 1;
                }
            }
        }
        Ok(Places { offsets, entries })
    }

    pub(crate) fn of_object(&self, i: usize) -> &[(u32, u32)] {
        &self.entries[self.offsets[i]..self.offsets[i + 1]]
    }

    /// The answers on an object and those after it, in the order of the tasks: the other object,
    /// the worker and whether the two are in one group.
    pub(crate) fn later<'a>(
        &'a self,
        answers: &'a Answers,
        i: usize,
    ) -> impl Iterator<Item = (u32, usize, bool)> + 'a {
        self.of_object(i).iter().flat_map(move |&(t, own)| {
            let task = answers.task(t as usize);
            (0..).zip(task.groups()).flat_map(move |(g, items)| {
                // Items ascend.
                let first = items.partition_point(|&j| j as usize <= i);
                items[first..].iter().map(move |&j| (j, task.worker, g == own))
            })
        })
    }
}
