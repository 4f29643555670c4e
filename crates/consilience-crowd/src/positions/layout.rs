//! The answers task by task, and the tasks of each object.

use std::ops::Range;

use crate::answers::Answers;

/// Items and groups of all tasks, one row an item. Tasks of a worker are side by side.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// Answered objects.
    pub(super) n: usize,
    items: Vec<u32>,
    groups: Vec<u32>,
    /// First row of each task, and the end.
    tasks: Vec<usize>,
    task_worker: Vec<u32>,
    /// First task of each worker, and the end.
    workers: Vec<usize>,
    /// Where in `places` each object's begin.
    objects: Vec<usize>,
    /// Task and row.
    places: Vec<(u32, u32)>,
}

/// A task.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shown<'a> {
    pub(super) worker: usize,
    pub(super) items: &'a [u32],
    pub(super) groups: &'a [u32],
}

impl Layout {
    pub(super) fn of(answers: &Answers) -> Self {
        let n = answers.answered().len();
        let mut out = Layout {
            n,
            items: Vec::new(),
            groups: Vec::new(),
            tasks: vec![0],
            task_worker: Vec::new(),
            workers: Vec::new(),
            objects: vec![0; n + 1],
            places: Vec::new(),
        };
        for task in answers.tasks() {
            while out.workers.len() <= task.worker {
                out.workers.push(out.task_worker.len());
            }
            for (g, items) in (0..).zip(task.groups()) {
                out.items.extend_from_slice(items);
                out.groups.resize(out.items.len(), g);
            }
            out.tasks.push(out.items.len());
            out.task_worker.push(task.worker as u32);
        }
        out.workers.resize(answers.n_workers() + 1, out.task_worker.len());
        out.items.iter().for_each(|&i| out.objects[i as usize + 1] += 1);
        for i in 0..n {
            out.objects[i + 1] += out.objects[i];
        }
        let mut next = out.objects.clone();
        out.places = vec![(0, 0); out.items.len()];
        for (t, rows) in out.tasks.windows(2).enumerate() {
            for row in rows[0]..rows[1] {
                let place = &mut next[out.items[row] as usize];
                out.places[*place] = (t as u32, row as u32);
                *place += 1;
            }
        }
        out
    }

    pub(super) fn n_workers(&self) -> usize {
        self.workers.len() - 1
    }

    pub(super) fn n_tasks(&self) -> usize {
        self.task_worker.len()
    }

    pub(super) fn task(&self, t: usize) -> Shown<'_> {
        let rows = self.tasks[t]..self.tasks[t + 1];
        Shown {
            worker: self.task_worker[t] as usize,
            items: &self.items[rows.clone()],
            groups: &self.groups[rows],
        }
    }

    pub(super) fn tasks_of(&self, worker: usize) -> Range<usize> {
        self.workers[worker]..self.workers[worker + 1]
    }

    /// The tasks of an object, and its place in each.
    pub(super) fn of_object(&self, i: usize) -> impl Iterator<Item = (Shown<'_>, usize)> {
        self.places[self.objects[i]..self.objects[i + 1]].iter().map(|&(t, row)| {
            let t = t as usize;
            (self.task(t), row as usize - self.tasks[t])
        })
    }
}
