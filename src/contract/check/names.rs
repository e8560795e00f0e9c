//! Names that are looked up by their text.

/// A fixed list of names. Those of one length lie together, so that a look-up compares few.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Sorted by length, each with its place in the list that it was made of.
    names: Box<[(Box<str>, usize)]>,
    /// For each length where its names start; one more for the end.
    starts: Box<[usize]>,
}

impl Names {
    pub(super) fn new<'n>(list: impl IntoIterator<Item = &'n str>) -> Self {
        let list = list.into_iter().enumerate();
        let mut names: Vec<(Box<str>, usize)> =
            list.map(|(place, name)| (name.into(), place)).collect();
        names.sort_by_key(|(name, _)| name.len());
        let longest = names.last().map_or(0, |(name, _)| name.len());
        let starts = (0..=longest + 1)
            .map(|len| names.partition_point(|(name, _)| name.len() < len))
            .collect();
        Self {
            names: names.into(),
            starts,
        }
    }

    /// The place of `name` in the list; of one that stands twice the first.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        let start = *self.starts.get(name.len())?;
        let end = *self.starts.get(name.len() + 1)?;
        let same = self.names.get(start..end)?;
        let found = same.iter().find(|(known, _)| **known == *name)?;
        Some(found.1)
    }
}

#[cfg(test)]
mod tests {
    use super::Names;

    #[test]
    fn a_name_is_found_by_its_text_alone() {
        let list = ["type", "seq", "role", "", "contentIndex", "seq"];
        let names = Names::new(list);
        for (place, name) in list.into_iter().enumerate().take(5) {
            assert_eq!(names.find(name), Some(place), "{name}");
        }
        for name in [
            "typ",
            "types",
            "Type",
            "contentindex",
            "a name longer than all",
        ] {
            assert_eq!(names.find(name), None, "{name}");
        }
        assert_eq!(Names::new([]).find(""), None);
    }
}
