use consilience_core::{
    Accepts, Ensemble, Error, ErrorKind, MemoryBudget, Result, Seed, ensure, room,
};
use rustc_hash::FxHashMap;

/// In one task a worker put an item into a group: one row of [`Answers::from_groupings`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GroupAnswer {
    /// Who answered; any number.
    pub worker: usize,
    /// The task; the same task may be done by several workers.
    pub task: usize,
    /// The object, below the number of objects.
    pub item: usize,
    /// The group; it means something only inside this worker's task.
    pub group: usize,
}

/// In one task a worker described an item by a keyword: one row of [`Answers::from_keywords`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeywordAnswer {
    /// Who answered; any number.
    pub worker: usize,
    /// The task; objects are compared where the same worker described both in one task.
    pub task: usize,
    /// The object, below the number of objects.
    pub item: usize,
    /// The keyword's number.
    pub keyword: usize,
}

/// A worker said whether two objects belong together: one row of [`Answers::from_pairs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PairAnswer {
    /// Who answered; any number.
    pub worker: usize,
    /// One object.
    pub i: usize,
    /// The other.
    pub j: usize,
    /// Whether the worker put them together.
    pub same: bool,
}

/// What a crowd said about which objects belong together.
///
/// Groupings, keywords, direct answers on pairs and incomplete ensembles all become *tasks*: a
/// worker saw some items and put each into one of the task's groups. Two items of a task are
/// answered "same" where their groups are equal and "apart" elsewhere; a direct answer is a task of
/// two items.
///
/// The order of the rows, the numbers of tasks and groups and gaps between workers' numbers change
/// nothing, to the bit.
///
/// ```
/// use consilience::crowd::{Answers, GroupAnswer, PairAnswer};
///
/// let row = |worker, item, group| GroupAnswer { worker, task: 0, item, group };
/// let rows = [row(7, 0, 1), row(7, 1, 1), row(7, 2, 5), row(9, 1, 0)];
/// let answers = Answers::from_groupings(4, &rows)?;
/// assert_eq!((answers.n_objects(), answers.n_workers(), answers.n_pair_answers()), (4, 2, 3));
/// let said: Vec<_> = answers.pairs().map(|p| (p.i, p.j, p.same)).collect();
/// assert_eq!(said, vec![(0, 1, true), (0, 2, false), (1, 2, false)]);
/// // Object 3 was shown to nobody, and worker 9 compared nothing.
/// assert_eq!(answers.answered(), [0, 1, 2]);
///
/// let direct = [PairAnswer { worker: 0, i: 0, j: 3, same: true }];
/// assert_eq!(Answers::from_pairs(4, &direct)?.n_pair_answers(), 1);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// Memory in proportion to the rows, not to the pairs that they answer; sorting them is O(m log m).
#[doc(alias = "HIT")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answers {
    objects: usize,
    /// Objects that some answer is about, ascending; all below are places in this list.
    answered: Vec<u32>,
    /// The workers' own numbers, ascending; all below are places in this list.
    workers: Vec<usize>,
    /// Tasks of at least two items: worker and first group.
    task_worker: Vec<u32>,
    task_groups: Vec<u32>,
    /// First item of each group; items ascend inside a group, groups by their first item.
    group_items: Vec<u32>,
    items: Vec<u32>,
}

/// One task of one worker.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task<'a> {
    pub(crate) worker: usize,
    bounds: &'a [u32],
    items: &'a [u32],
}

impl<'a> Task<'a> {
    /// The items of each group.
    pub(crate) fn groups(self) -> impl Iterator<Item = &'a [u32]> + Clone {
        self.bounds.windows(2).map(move |w| &self.items[w[0] as usize..w[1] as usize])
    }

    pub(crate) fn n_items(self) -> usize {
        (self.bounds[self.bounds.len() - 1] - self.bounds[0]) as usize
    }

    /// The items of a task of two, and whether they are in one group.
    fn pair(self) -> Option<Place> {
        match self.items.get(self.bounds[0] as usize..self.bounds[self.bounds.len() - 1] as usize) {
            Some(&[i, j]) => Some(Place::Pair { i, j, same: self.bounds.len() == 2 }),
            _ => None,
        }
    }
}

/// Where the sum over the other items of a task is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// It is the row of the other item: the task has two, in one group or in two.
    Pair { i: u32, j: u32, same: bool },
    /// It is kept: how many larger tasks, and how many of their groups, came before.
    Larger { task: usize, group: usize },
}

impl Answers {
    /// Answers from groupings: each row says in which group a worker put an item in a task.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`] without objects or rows, [`ErrorKind::OutOfRange`] for an item that
    /// does not exist, [`ErrorKind::Contradiction`] for an item in two groups of one task,
    /// [`ErrorKind::InvalidParameter`] for an item twice in one group, each with the rows.
    pub fn from_groupings(objects: usize, rows: &[GroupAnswer]) -> Result<Self> {
        check_size(objects, rows.len())?;
        for (r, row) in rows.iter().enumerate() {
            check_item(row.item, objects, r)?;
        }
        let workers = numbers(rows.iter().map(|r| r.worker));
        let mut order: Vec<u32> = (0..rows.len() as u32).collect();
        let key = |&r: &u32| {
            let row = &rows[r as usize];
            (row.worker, row.task, row.item, r)
        };
        order.sort_unstable_by_key(key);
        for pair in order.windows(2) {
            let (a, b) = (&rows[pair[0] as usize], &rows[pair[1] as usize]);
            if (a.worker, a.task, a.item) == (b.worker, b.task, b.item) {
                let at = format!(
                    "item {} is twice in task {} of worker {} (rows {} and {})",
                    a.item, a.task, a.worker, pair[0], pair[1]
                );
                return Err(if a.group == b.group {
                    Error::invalid(at)
                } else {
                    let groups = format!("{at}, in groups {} and {}", a.group, b.group);
                    Error::new(ErrorKind::Contradiction, groups)
                });
            }
        }
        let task = |r: u32| (rows[r as usize].worker, rows[r as usize].task);
        let mut out = Self::empty(objects, workers, [0; 3])?;
        for rows_of_task in order.chunk_by(|&a, &b| task(a) == task(b)) {
            let worker = place(&out.workers, task(rows_of_task[0]).0);
            let labelled: Vec<(usize, u32)> = rows_of_task
                .iter()
                .map(|&r| (rows[r as usize].group, rows[r as usize].item as u32))
                .collect();
            out.push(worker, grouped(labelled))?;
        }
        out.sorted()
    }

    /// Answers from pairs that were judged directly. An object compared with itself is no
    /// information where it was called the same. What a worker says twice of a pair counts twice,
    /// as two workers would who are alike, also where the second answer contradicts the first:
    /// leave out rows that were only copied.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`] without objects or rows, [`ErrorKind::OutOfRange`] for an object that
    /// does not exist, [`ErrorKind::Contradiction`] for an object that is called different from
    /// itself, each with the row.
    pub fn from_pairs(objects: usize, rows: &[PairAnswer]) -> Result<Self> {
        check_size(objects, rows.len())?;
        for (r, row) in rows.iter().enumerate() {
            check_item(row.i, objects, r)?;
            check_item(row.j, objects, r)?;
            if row.i == row.j && !row.same {
                let what = format!(
                    "row {r}: worker {} calls object {} different from itself",
                    row.worker, row.i
                );
                return Err(Error::new(ErrorKind::Contradiction, what));
            }
        }
        let workers = numbers(rows.iter().map(|r| r.worker));
        let mut out = Self::empty(objects, workers, [0; 3])?;
        for row in rows.iter().filter(|row| row.i != row.j) {
            let (i, j) = (row.i.min(row.j) as u32, row.i.max(row.j) as u32);
            out.push_pair(place(&out.workers, row.worker), (i, j), row.same)?;
        }
        out.sorted()
    }

    /// Answers from keywords: two objects that a worker described in one task are the same where
    /// they share at least `shared` keywords, else apart. Give all rows one worker and one task to
    /// compare the descriptions of all objects with each other, whoever wrote them.
    ///
    /// # Errors
    /// As [`Answers::from_pairs`]; [`ErrorKind::InvalidParameter`] for `shared = 0`, which every
    /// pair would meet; [`ErrorKind::TooLarge`] where the pairs do not fit into the default
    /// [`MemoryBudget`].
    ///
    /// # Complexity
    /// Agreement by keywords is not transitive, so that every pair of a task is kept: O(s^2) for a
    /// task of s items.
    ///
    /// # References
    /// Yi 2014, Sect. 3.3.1 (Tattoo, ImageNet, PASCAL 07: one keyword in common).
    pub fn from_keywords(objects: usize, rows: &[KeywordAnswer], shared: usize) -> Result<Self> {
        Self::from_keywords_within(objects, rows, shared, MemoryBudget::default())
    }

    /// As [`Answers::from_keywords`], for a given memory budget.
    ///
    /// ```
    /// use consilience::crowd::{Answers, KeywordAnswer};
    /// use consilience::{ErrorKind, MemoryBudget};
    ///
    /// let rows: Vec<KeywordAnswer> =
    ///     (0..9).map(|item| KeywordAnswer { worker: 0, task: 0, item, keyword: 7 }).collect();
    /// let small = MemoryBudget::bytes(1000);
    /// let refused = Answers::from_keywords_within(9, &rows, 1, small).unwrap_err();
    /// assert_eq!(refused.kind(), ErrorKind::TooLarge);
    /// ```
    ///
    /// # Errors
    /// As [`Answers::from_keywords`].
    pub fn from_keywords_within(
        objects: usize,
        rows: &[KeywordAnswer],
        shared: usize,
        budget: MemoryBudget,
    ) -> Result<Self> {
        check_size(objects, rows.len())?;
        if shared == 0 {
            return Err(Error::invalid(
                "0 shared keywords; expected at least 1, since every pair shares 0",
            ));
        }
        for (r, row) in rows.iter().enumerate() {
            check_item(row.item, objects, r)?;
        }
        let mut rows = rows.to_vec();
        rows.sort_unstable_by_key(|r| (r.worker, r.task, r.item, r.keyword));
        rows.dedup();
        let workers = numbers(rows.iter().map(|r| r.worker));
        let pairs = check_pairs(&rows, budget)?;
        let mut out = Self::empty(objects, workers, [pairs, 2 * pairs, 2 * pairs])?;
        for task in rows.chunk_by(|a, b| (a.worker, a.task) == (b.worker, b.task)) {
            let worker = place(&out.workers, task[0].worker);
            let items: Vec<&[KeywordAnswer]> = task.chunk_by(|a, b| a.item == b.item).collect();
            for (at, a) in items.iter().enumerate() {
                for b in &items[at + 1..] {
                    let (i, j) = (a[0].item as u32, b[0].item as u32);
                    out.push_pair(worker, (i, j), in_common(a, b) >= shared)?;
                }
            }
        }
        out.sorted()
    }

    /// An ensemble read as a crowd: each base clustering is a worker who did one task, the objects
    /// that it labels.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) where members
    /// give memberships or have weights, or rows stand for several objects.
    pub fn from_ensemble(ensemble: &Ensemble) -> Result<Self> {
        ensemble.check_accepted("a crowd of answers", Accepts::LABELS)?;
        ensemble.check_uncounted("a crowd of answers", "repeat rows instead")?;
        let members = (0..ensemble.n_members()).collect();
        let mut out = Self::empty(ensemble.n_objects(), members, [0; 3])?;
        for (u, member) in (0..).zip(ensemble.members()) {
            let labelled = member.iter().enumerate().filter_map(|(i, l)| l.map(|l| (l, i as u32)));
            out.push(u, grouped(labelled.collect()))?;
        }
        out.sorted()
    }

    /// Adds more answers about the same objects, of any kind and from any workers: what came back
    /// for the questions of [`CrowdResult::ask_pairs`](crate::CrowdResult::ask_pairs), say. A task
    /// that is in both counts twice.
    ///
    /// ```
    /// use consilience::crowd::{Answers, GroupAnswer, PairAnswer};
    ///
    /// let row = |item, group| GroupAnswer { worker: 4, task: 0, item, group };
    /// let mut answers = Answers::from_groupings(5, &[row(0, 0), row(1, 0), row(2, 1)])?;
    /// let more = [PairAnswer { worker: 2, i: 2, j: 3, same: true }];
    /// answers.extend(&Answers::from_pairs(5, &more)?)?;
    /// assert_eq!(answers.workers(), [2, 4]);
    /// assert_eq!((answers.n_tasks(), answers.n_pair_answers()), (2, 4));
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`] for another number of objects, [`ErrorKind::TooLarge`] where
    /// there are too many answers together; the answers are then as before.
    #[doc(alias = "add")]
    #[doc(alias = "append")]
    #[doc(alias = "merge")]
    pub fn extend(&mut self, more: &Answers) -> Result<()> {
        if self.objects != more.objects {
            let what = format!("answers about {} objects, not {}", more.objects, self.objects);
            return Err(Error::new(ErrorKind::ShapeMismatch, what));
        }
        let workers = numbers(self.workers.iter().chain(&more.workers).copied());
        let mut all = Self::empty(self.objects, workers, [0; 3])?;
        for part in [&*self, more] {
            for task in part.tasks() {
                all.push(place(&all.workers, part.workers[task.worker]), part.objects_of(task))?;
            }
        }
        *self = all.sorted()?;
        Ok(())
    }

    /// The objects in each group of a task.
    fn objects_of<'a>(
        &'a self,
        task: Task<'a>,
    ) -> impl Iterator<Item = impl Iterator<Item = u32> + 'a> + 'a {
        task.groups().map(|group| group.iter().map(|&i| self.answered[i as usize]))
    }

    /// No tasks yet, and room for so many tasks, groups and items.
    fn empty(
        objects: usize,
        workers: Vec<usize>,
        [tasks, groups, items]: [usize; 3],
    ) -> Result<Self> {
        let mut out = Answers {
            objects,
            answered: Vec::new(),
            workers,
            task_worker: room::with_capacity(tasks)?,
            task_groups: room::with_capacity(tasks + 1)?,
            group_items: room::with_capacity(groups + 1)?,
            items: room::with_capacity(items)?,
        };
        out.task_groups.push(0);
        out.group_items.push(0);
        Ok(out)
    }

    /// Adds a task, of objects until all are [sorted](Self::sorted), unless nothing is compared in
    /// it.
    fn push<G: IntoIterator<Item = u32>>(
        &mut self,
        worker: u32,
        groups: impl IntoIterator<Item = G>,
    ) -> Result<()> {
        let (items, bounds) = (self.items.len(), self.group_items.len());
        for group in groups {
            group.into_iter().try_for_each(|i| room::push(&mut self.items, i))?;
            check_most(self.objects, self.items.len())?;
            room::push(&mut self.group_items, self.items.len() as u32)?;
        }
        if self.items.len() < items + 2 {
            self.items.truncate(items);
            self.group_items.truncate(bounds);
            return Ok(());
        }
        room::push(&mut self.task_worker, worker)?;
        room::push(&mut self.task_groups, self.group_items.len() as u32 - 1)
    }

    /// Adds a task of two objects.
    fn push_pair(&mut self, worker: u32, (i, j): (u32, u32), same: bool) -> Result<()> {
        if same { self.push(worker, [[i, j]]) } else { self.push(worker, [[i], [j]]) }
    }

    /// Brings tasks into their one order and renumbers objects by those that are answered.
    fn sorted(self) -> Result<Self> {
        let mut order: Vec<u32> = room::collected(0..self.n_tasks() as u32)?;
        order.sort_unstable_by(|&a, &b| {
            let (a, b) = (self.task(a as usize), self.task(b as usize));
            a.worker.cmp(&b.worker).then_with(|| a.groups().cmp(b.groups()))
        });
        // In proportion to the answers: the highest number of an object may be anything.
        let mut answered = room::copied(&self.items)?;
        answered.sort_unstable();
        answered.dedup();
        answered.shrink_to_fit();
        let place: FxHashMap<u32, u32> = answered.iter().copied().zip(0..).collect();
        let room = [self.n_tasks(), self.group_items.len() - 1, self.items.len()];
        let mut out = Self::empty(self.objects, self.workers.clone(), room)?;
        out.answered = answered;
        for task in order.into_iter().map(|t| self.task(t as usize)) {
            out.push(
                task.worker as u32,
                task.groups().map(|group| group.iter().map(|i| place[i])),
            )?;
        }
        Ok(out)
    }

    /// Number of objects, answered or not.
    pub fn n_objects(&self) -> usize {
        self.objects
    }

    /// Number of workers.
    pub fn n_workers(&self) -> usize {
        self.workers.len()
    }

    /// The workers' own numbers, ascending; results list workers in this order.
    pub fn workers(&self) -> &[usize] {
        &self.workers
    }

    /// The objects that at least one pair answer is about, ascending.
    pub fn answered(&self) -> &[u32] {
        &self.answered
    }

    /// Number of tasks in which at least two items were compared.
    pub fn n_tasks(&self) -> usize {
        self.task_worker.len()
    }

    /// Number of answers on pairs that the tasks amount to.
    pub fn n_pair_answers(&self) -> usize {
        self.tasks().map(|t| t.n_items() * (t.n_items() - 1) / 2).sum()
    }

    /// Number of (worker, task, item) triples.
    pub(crate) fn n_rows(&self) -> usize {
        self.items.len()
    }

    /// No more distinct pairs are answered.
    pub(crate) fn most_pairs(&self) -> usize {
        let n = self.answered.len();
        self.n_pair_answers().min(n.saturating_mul(n.saturating_sub(1)) / 2)
    }

    /// Every pair answer, task by task, `i < j`.
    pub fn pairs(&self) -> impl Iterator<Item = PairAnswer> + '_ {
        self.tasks().flat_map(move |task| {
            let labelled: Vec<(usize, usize)> = task
                .groups()
                .enumerate()
                .flat_map(|(g, items)| items.iter().map(move |&i| (i as usize, g)))
                .collect();
            let (mut first, mut second) = (0, 0);
            // One at a time: a task of many items has very many pairs.
            std::iter::from_fn(move || {
                second += 1;
                if second >= labelled.len() {
                    (first, second) = (first + 1, first + 2);
                }
                let (&(a, g), &(b, h)) = (labelled.get(first)?, labelled.get(second)?);
                let object = |i: usize| self.answered[i] as usize;
                let (i, j) = (object(a.min(b)), object(a.max(b)));
                Some(PairAnswer { worker: self.workers[task.worker], i, j, same: g == h })
            })
        })
    }

    /// The same answers about the answered objects alone, numbered in their order.
    pub(crate) fn among_answered(&self) -> Self {
        let count = self.answered.len();
        Answers { objects: count, answered: (0..count as u32).collect(), ..self.clone() }
    }

    /// The answers of some tasks alone: about the same objects, from the same workers.
    pub(crate) fn filter(&self, mut keep: impl FnMut(usize, usize) -> bool) -> Self {
        let of = |t: usize| self.task_worker[t] as usize;
        let kept: Vec<usize> = (0..self.n_tasks()).filter(|&t| keep(t, of(t))).collect();
        // Tasks, groups and items stay in their order, and only objects get other places.
        let mut place = vec![u32::MAX; self.answered.len()];
        for &t in &kept {
            self.task(t).groups().flatten().for_each(|&i| place[i as usize] = 0);
        }
        let mut out = Answers {
            objects: self.objects,
            answered: Vec::new(),
            workers: self.workers.clone(),
            task_worker: Vec::with_capacity(kept.len()),
            task_groups: vec![0],
            group_items: vec![0],
            items: Vec::new(),
        };
        for (place, &object) in place.iter_mut().zip(&self.answered) {
            if *place == 0 {
                *place = out.answered.len() as u32;
                out.answered.push(object);
            }
        }
        for t in kept {
            out.task_worker.push(self.task_worker[t]);
            for group in self.task(t).groups() {
                out.items.extend(group.iter().map(|&i| place[i as usize]));
                out.group_items.push(out.items.len() as u32);
            }
            out.task_groups.push(out.group_items.len() as u32 - 1);
        }
        out
    }

    /// The same answers, but that each task of more than `most * times` items is cut at random into
    /// tasks of at most `most` items, so many times: its items are then compared with so many
    /// others and not with all. `None` where no task has as many. All objects remain answered if
    /// `most` is 3 or more.
    pub(crate) fn cut(&self, most: usize, times: usize, seed: Seed) -> Result<Option<Self>> {
        let is_long = |task: &Task<'_>| task.n_items() > most * times;
        if !self.tasks().any(|task| is_long(&task)) {
            return Ok(None);
        }
        let answered = &self.answered;
        let mut out = Self::empty(self.objects, self.workers.clone(), [0; 3])?;
        for (t, task) in (0..).zip(self.tasks()) {
            let worker = task.worker as u32;
            let mut labelled: Vec<(usize, u32)> = task
                .groups()
                .enumerate()
                .flat_map(|(g, items)| items.iter().map(move |&i| (g, answered[i as usize])))
                .collect();
            if !is_long(&task) {
                out.push(worker, grouped(labelled))?;
                continue;
            }
            let mut stream = seed.derive("parts of a task", t).stream();
            let parts = labelled.len().div_ceil(most);
            for _ in 0..times {
                stream.shuffle(&mut labelled);
                for part in 0..parts {
                    let items = labelled.iter().copied().skip(part).step_by(parts).collect();
                    out.push(worker, grouped(items))?;
                }
            }
        }
        out.sorted().map(Some)
    }

    /// The tasks, whose items are places in [`Answers::answered`].
    pub(crate) fn tasks(&self) -> impl Iterator<Item = Task<'_>> + Clone {
        (0..self.n_tasks()).map(|t| self.task(t))
    }

    /// One of the tasks, in their order.
    pub(crate) fn task(&self, t: usize) -> Task<'_> {
        let (first, last) = (self.task_groups[t] as usize, self.task_groups[t + 1] as usize);
        Task {
            worker: self.task_worker[t] as usize,
            bounds: &self.group_items[first..=last],
            items: &self.items,
        }
    }

    /// The tasks, and where sums over their items are found.
    pub(crate) fn placed(&self) -> impl Iterator<Item = (Task<'_>, Place)> {
        self.tasks().scan((0, 0), |(tasks, groups), task| {
            let place = task.pair().unwrap_or(Place::Larger { task: *tasks, group: *groups });
            if let Place::Larger { .. } = place {
                *tasks += 1;
                *groups += task.bounds.len() - 1;
            }
            Some((task, place))
        })
    }

    /// Number of tasks of more than two items, and of their groups.
    pub(crate) fn n_larger(&self) -> [usize; 2] {
        let larger = self.tasks().filter(|task| task.n_items() > 2);
        larger.fold([0, 0], |[tasks, groups], t| [tasks + 1, groups + t.bounds.len() - 1])
    }
}

fn check_size(objects: usize, rows: usize) -> Result<()> {
    ensure!(
        objects > 0 && rows > 0,
        empty("{rows} answers about {objects} objects; expected 1 of each at least")
    );
    check_most(objects, rows)
}

/// Refuses more than can be numbered in four bytes.
fn check_most(objects: usize, rows: usize) -> Result<()> {
    if objects >= u32::MAX as usize || rows >= u32::MAX as usize {
        let what = format!(
            "{rows} answers about {objects} objects; at most {} are supported",
            u32::MAX - 1
        );
        return Err(Error::too_large(what));
    }
    Ok(())
}

/// Refuses descriptions of so many items of one task that their pairs are too many to keep; else
/// says how many there are.
fn check_pairs(rows: &[KeywordAnswer], budget: MemoryBudget) -> Result<usize> {
    let pairs = rows
        .chunk_by(|a, b| (a.worker, a.task) == (b.worker, b.task))
        .map(|task| task.chunk_by(|a, b| a.item == b.item).count())
        .fold(0usize, |sum, items| sum.saturating_add(items.saturating_mul(items - 1) / 2));
    // At most 24 bytes each as they come, their order and 24 again; and the rows.
    let tables = [(pairs, 56), (rows.len(), 2 * size_of::<KeywordAnswer>())];
    budget.check_tables("pairs of described items", &tables, 1)?;
    Ok(pairs)
}

fn check_item(item: usize, objects: usize, row: usize) -> Result<()> {
    ensure!(item < objects, out_of_range("row {row}: object {item} of {objects}"));
    Ok(())
}

/// Distinct numbers in ascending order.
fn numbers(of: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut numbers: Vec<usize> = of.collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

fn place(numbers: &[usize], number: usize) -> u32 {
    numbers.partition_point(|&n| n < number) as u32
}

/// Items of equal group together, ascending; groups by their first item.
fn grouped(mut labelled: Vec<(usize, u32)>) -> Vec<Vec<u32>> {
    labelled.sort_unstable();
    let mut groups: Vec<Vec<u32>> = labelled
        .chunk_by(|a, b| a.0 == b.0)
        .map(|group| group.iter().map(|&(_, i)| i).collect())
        .collect();
    groups.sort_unstable();
    groups
}

/// Keywords that two ascending lists share.
fn in_common(a: &[KeywordAnswer], b: &[KeywordAnswer]) -> usize {
    let (mut at, mut common) = (0, 0);
    for x in a {
        while at < b.len() && b[at].keyword < x.keyword {
            at += 1;
        }
        common += usize::from(at < b.len() && b[at].keyword == x.keyword);
    }
    common
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_core::Partition;

    fn row(worker: usize, task: usize, item: usize, group: usize) -> GroupAnswer {
        GroupAnswer { worker, task, item, group }
    }

    #[test]
    fn order_numbers_and_gaps_leave_no_trace() {
        let rows =
            [row(0, 0, 0, 0), row(0, 0, 2, 1), row(0, 0, 3, 0), row(1, 1, 0, 4), row(1, 1, 1, 4)];
        let plain = Answers::from_groupings(5, &rows).unwrap();
        let mut wild: Vec<GroupAnswer> =
            rows.iter().map(|r| row(r.worker, 99 - r.task * 7, r.item, 1000 - r.group)).collect();
        wild.reverse();
        assert_eq!(Answers::from_groupings(5, &wild).unwrap(), plain);
        assert_eq!(plain.answered(), [0, 1, 2, 3]);
        assert_eq!(plain.n_pair_answers(), 4);
    }

    #[test]
    fn bad_rows_are_named() {
        let kind = |rows: &[GroupAnswer]| {
            let e = Answers::from_groupings(3, rows).unwrap_err();
            (e.kind(), e.message().to_string())
        };
        let (k, m) = kind(&[row(0, 0, 0, 0), row(0, 0, 3, 0)]);
        assert!(k == ErrorKind::OutOfRange && m.contains("row 1") && m.contains("object 3"), "{m}");
        let (k, m) = kind(&[row(4, 8, 1, 0), row(4, 8, 1, 2)]);
        assert!(
            k == ErrorKind::Contradiction && m.contains("worker 4") && m.contains("groups 0 and 2"),
            "{m}"
        );
        assert_eq!(kind(&[row(4, 8, 1, 0), row(4, 8, 1, 0)]).0, ErrorKind::InvalidParameter);
        assert_eq!(kind(&[]).0, ErrorKind::Empty);
        // The same task done by two workers is two tasks.
        assert!(Answers::from_groupings(3, &[row(4, 8, 1, 0), row(5, 8, 1, 2)]).is_ok());
        let pair = |i, j, same| Answers::from_pairs(3, &[PairAnswer { worker: 0, i, j, same }]);
        assert_eq!(pair(1, 1, false).unwrap_err().kind(), ErrorKind::Contradiction);
        assert_eq!(pair(1, 1, true).unwrap().n_pair_answers(), 0);
        assert_eq!(pair(0, 3, true).unwrap_err().kind(), ErrorKind::OutOfRange);
        assert_eq!(Answers::from_keywords(3, &[], 1).unwrap_err().kind(), ErrorKind::Empty);
    }

    #[test]
    fn answers_added_are_as_if_they_had_come_together() {
        let said = |worker, i, j, same| PairAnswer { worker, i, j, same };
        let rows = [said(7, 0, 1, true), said(2, 3, 1, false), said(9, 4, 0, true)];
        let together = Answers::from_pairs(6, &rows).unwrap();
        for split in 1..rows.len() {
            let (first, rest) = rows.split_at(split);
            let mut answers = Answers::from_pairs(6, first).unwrap();
            answers.extend(&Answers::from_pairs(6, rest).unwrap()).unwrap();
            assert_eq!(answers, together);
        }
        // A worker who compared nothing is still a worker.
        let mut answers = Answers::from_groupings(6, &[row(5, 0, 2, 0)]).unwrap();
        answers.extend(&together).unwrap();
        assert_eq!(answers.workers(), [2, 5, 7, 9]);
        let before = answers.clone();
        let other = Answers::from_pairs(5, &rows).unwrap();
        assert_eq!(answers.extend(&other).unwrap_err().kind(), ErrorKind::ShapeMismatch);
        assert_eq!(answers, before);
    }

    /// As if the others had never come.
    #[test]
    fn answers_of_some_tasks_are_those_that_only_these_give() {
        let mut draw = Seed(4).stream();
        let mut rows: Vec<GroupAnswer> = Vec::new();
        for task in 0..40 {
            for item in draw.sample(60, 2 + task % 5) {
                rows.push(row(task % 7, task, 2 * item, draw.below(3)));
            }
        }
        let answers = Answers::from_groupings(130, &rows).unwrap();
        for kept in [0, 1, 2, 5] {
            let keep = |t: usize, worker: usize| (t + worker) % 5 < kept;
            let mut expected = Answers::empty(130, answers.workers.clone(), [0; 3]).unwrap();
            for (_, task) in answers.tasks().enumerate().filter(|&(t, task)| keep(t, task.worker)) {
                expected.push(task.worker as u32, answers.objects_of(task)).unwrap();
            }
            assert_eq!(answers.filter(keep), expected.sorted().unwrap(), "{kept}");
        }
    }

    #[test]
    fn long_tasks_are_cut_and_nothing_else() {
        let mut rows: Vec<GroupAnswer> = (0..50).map(|i| row(3, 0, 2 * i, i % 4)).collect();
        rows.extend((0..20).map(|i| row(8, 1, i, i % 3)));
        let answers = Answers::from_groupings(100, &rows).unwrap();
        assert_eq!(answers.cut(10, 5, Seed(1)).unwrap(), None);
        let cut = answers.cut(9, 3, Seed(1)).unwrap().unwrap();
        assert_eq!((cut.answered(), cut.workers()), (answers.answered(), answers.workers()));
        let sizes: Vec<usize> = cut.tasks().map(Task::n_items).collect();
        assert_eq!(sizes.iter().filter(|&&s| s == 8 || s == 9).count(), 18);
        assert_eq!((sizes.len(), sizes.contains(&20)), (19, true));
        // Every item of the long task is in one part of each cut, and the answers are those given.
        let said = |worker: usize, pair: &PairAnswer| match worker {
            3 => pair.i / 2 % 4 == pair.j / 2 % 4,
            _ => pair.i % 3 == pair.j % 3,
        };
        assert!(cut.pairs().all(|pair| pair.same == said(pair.worker, &pair)));
        let of_long = cut.tasks().filter(|task| task.worker == 0);
        let mut items: Vec<u32> = of_long.flat_map(|t| t.groups().flatten().copied()).collect();
        items.sort_unstable();
        assert!(items.chunk_by(|a, b| a == b).all(|same| same.len() == 3));
        assert_eq!(items.len(), 150);
        assert_eq!(cut, answers.cut(9, 3, Seed(1)).unwrap().unwrap());
    }

    #[test]
    fn keywords_agree_by_number() {
        let word = |item, keyword| KeywordAnswer { worker: 0, task: 0, item, keyword };
        let rows =
            [word(0, 1), word(0, 2), word(1, 2), word(1, 1), word(2, 2), word(2, 2), word(3, 9)];
        let same = |shared| -> Vec<(usize, usize)> {
            let answers = Answers::from_keywords(4, &rows, shared).unwrap();
            assert_eq!(answers.n_pair_answers(), 6);
            answers.pairs().filter(|p| p.same).map(|p| (p.i, p.j)).collect()
        };
        assert_eq!(same(1), vec![(0, 1), (0, 2), (1, 2)]);
        assert_eq!(same(2), vec![(0, 1)]);
        assert_eq!(
            Answers::from_keywords(4, &rows, 0).unwrap_err().kind(),
            ErrorKind::InvalidParameter
        );
    }

    #[test]
    fn ensembles_are_crowds() {
        let members = vec![
            Partition::from_labels(&[0, 0, 1, -1]).unwrap(),
            Partition::from_labels(&[-1, -1, 3, -1]).unwrap(),
        ];
        let ensemble = Ensemble::new(members).unwrap();
        let answers = Answers::from_ensemble(&ensemble).unwrap();
        assert_eq!((answers.n_workers(), answers.n_tasks(), answers.n_pair_answers()), (2, 1, 3));
        let counted = ensemble.with_counts(vec![1, 1, 9, 1]).unwrap();
        let refused = Answers::from_ensemble(&counted).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidParameter);
        assert!(refused.message().contains("row 2 counts 9"), "{refused}");
    }
}
