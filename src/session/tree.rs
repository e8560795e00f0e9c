//! Which entry of a session follows which.

use std::collections::HashMap;

/// The entries of a session by their places: the first is 0.
#[derive(Debug, Default)]
pub(super) struct Tree {
    /// The entry that each one follows; it stands before it.
    parents: Vec<Option<usize>>,
    pub(super) ids: HashMap<Box<str>, usize>,
}

/// What is strange about an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Strange {
    /// It follows one that is not there.
    pub(super) orphan: bool,
    /// An earlier one has its id.
    pub(super) double: bool,
}

impl Tree {
    /// Adds the next entry of the file. One whose parent is not there follows the one before it: most
    /// likely the line of the parent is broken, and this one came next.
    pub(super) fn add(&mut self, id: &str, parent: Option<&str>) -> Strange {
        let place = self.parents.len();
        let known = parent.and_then(|parent| self.ids.get(parent).copied());
        let orphan = parent.is_some() && known.is_none();
        self.parents
            .push(if orphan { place.checked_sub(1) } else { known });
        let double = self.ids.insert(id.into(), place).is_some();
        Strange { orphan, double }
    }

    pub(super) fn len(&self) -> usize {
        self.parents.len()
    }

    /// The places of the entries from the first to the last one of the file, each of which follows
    /// the one before.
    pub(super) fn path(&self) -> Vec<usize> {
        let mut path = Vec::new();
        let mut at = self.parents.len().checked_sub(1);
        while let Some(place) = at {
            path.push(place);
            at = self.parents[place];
        }
        path.reverse();
        path
    }
}
