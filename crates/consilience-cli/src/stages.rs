//! Which of the stages that a method reports is drawn: the outer one, where stages lie in each
//! other.

use std::collections::BTreeSet;

/// A stage that was reported.
struct Stage {
    name: String,
    done: usize,
    total: usize,
    /// Stages that were reported between two of its own reports: they are parts of it.
    parts: BTreeSet<String>,
    /// Those since its last report, of which nothing is known yet.
    between: BTreeSet<String>,
}

/// The stages so far, the outer ones first.
#[derive(Default)]
pub(crate) struct Stages(Vec<Stage>);

/// What is drawn of a stage.
#[derive(Debug, PartialEq)]
pub(crate) enum Drawn {
    /// It has a bar that begins now.
    Begun,
    /// It has a bar already.
    Goes,
    /// It had a bar, and has it again in place of a part of it.
    Returns,
    /// It is a part of the stage that has the bar.
    Part,
}

impl Stages {
    /// Takes a report.
    pub(crate) fn report(&mut self, name: &str, done: usize, total: usize) -> Drawn {
        let Some(at) = self.0.iter().position(|stage| stage.name == name) else {
            let part = self.note(name);
            // Of a part nothing is kept: it may come again and again.
            return if part { Drawn::Part } else { self.begin(name, done, total) };
        };
        let again = done < self.0[at].done || total != self.0[at].total;
        if self.0[..at].iter().any(|outer| outer.parts.contains(name)) {
            self.0.truncate(at);
            return Drawn::Part;
        }
        if again {
            self.0.truncate(at);
            self.note(name);
            return self.begin(name, done, total);
        }
        // What was reported since is part of it, and has no bar of its own any more.
        let inner = at + 1 < self.0.len();
        self.0.truncate(at + 1);
        let stage = &mut self.0[at];
        if done > stage.done {
            stage.parts.append(&mut stage.between);
            stage.done = done;
        }
        if inner { Drawn::Returns } else { Drawn::Goes }
    }

    /// Notes a report between those of the other stages; whether the name is a part of one.
    fn note(&mut self, name: &str) -> bool {
        for stage in &mut self.0 {
            stage.between.insert(name.to_owned());
        }
        self.0.iter().any(|stage| stage.done < stage.total && stage.parts.contains(name))
    }

    fn begin(&mut self, name: &str, done: usize, total: usize) -> Drawn {
        self.0.retain(|stage| stage.done < stage.total);
        self.0.push(Stage {
            name: name.to_owned(),
            done,
            total,
            parts: BTreeSet::new(),
            between: BTreeSet::new(),
        });
        Drawn::Begun
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_after_the_other() {
        let mut stages = Stages::default();
        assert_eq!(stages.report("read", 0, 2), Drawn::Begun);
        assert_eq!(stages.report("read", 1, 2), Drawn::Goes);
        assert_eq!(stages.report("read", 2, 2), Drawn::Goes);
        assert_eq!(stages.report("partition", 0, 3), Drawn::Begun);
        assert_eq!(stages.report("partition", 1, 3), Drawn::Goes);
        // The last report of a stage may be missing.
        assert_eq!(stages.report("write", 0, 1), Drawn::Begun);
        assert_eq!(stages.report("write", 1, 1), Drawn::Goes);
    }

    #[test]
    fn inner_stages_leave_the_bar_to_the_outer_one() {
        let mut stages = Stages::default();
        assert_eq!(stages.report("halves", 0, 4), Drawn::Begun);
        assert_eq!(stages.report("partition", 0, 9), Drawn::Begun);
        assert_eq!(stages.report("partition", 5, 9), Drawn::Goes);
        // From here on it is known which one is the outer.
        assert_eq!(stages.report("halves", 1, 4), Drawn::Returns);
        for half in 2..4 {
            assert_eq!(stages.report("partition", 0, 9), Drawn::Part);
            assert_eq!(stages.report("partition", 8, 9), Drawn::Part);
            assert_eq!(stages.report("halves", half, 4), Drawn::Goes);
        }
        assert_eq!(stages.report("halves", 4, 4), Drawn::Goes);
        // It is over: the same name is a stage of its own.
        assert_eq!(stages.report("partition", 0, 9), Drawn::Begun);
        assert_eq!(stages.report("partition", 1, 9), Drawn::Goes);
    }

    #[test]
    fn a_stage_that_begins_again_has_a_new_bar() {
        let mut stages = Stages::default();
        assert_eq!(stages.report("sweep", 3, 9), Drawn::Begun);
        assert_eq!(stages.report("sweep", 0, 9), Drawn::Begun);
        assert_eq!(stages.report("sweep", 1, 7), Drawn::Begun);
        assert_eq!(stages.report("sweep", 2, 7), Drawn::Goes);
    }
}
