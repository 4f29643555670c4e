/// Where the columns of values lie in a file: which of them have nothing in front of them but ids
/// and one another. Row numbers are there and nowhere else.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Front {
    leading: usize,
    /// How many of them stand before the ids, where there are any.
    before_ids: Option<usize>,
}

impl Front {
    /// Of the column of ids and those of values, by their places in the file.
    pub(crate) fn of(ids: Option<usize>, values: &[usize]) -> Self {
        let in_front = |place: usize| usize::from(ids.is_some_and(|ids| ids < place));
        let leads = |&(i, &place): &(usize, &usize)| place == i + in_front(place);
        let before = |ids| values.iter().take_while(|&&place| place < ids).count();
        Front {
            leading: values.iter().enumerate().take_while(leads).count(),
            before_ids: ids.map(before),
        }
    }

    /// Whether the first column of values has nothing in front of it but ids.
    pub(crate) fn leads(&self) -> bool {
        self.leading > 0
    }

    /// Whether ids stand before it.
    pub(crate) fn behind_ids(&self) -> bool {
        self.before_ids == Some(0)
    }

    /// The same without the first column; `ids` where that holds them.
    pub(crate) fn next(self, ids: bool) -> Self {
        let before = self.before_ids.map(|before| before.saturating_sub(1));
        let before_ids = if ids { Some(0) } else { before };
        Front { leading: self.leading.saturating_sub(1), before_ids }
    }
}
