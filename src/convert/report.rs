//! What a conversion could not carry, and what it had to make up.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// What happened to something of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Loss {
    /// An event that the source wire does not have, as of a newer producer: left out.
    UnknownEvent,
    /// A field that the source wire does not have: left out.
    UnknownField,
    /// A line with a value that the source wire does not know there: left out.
    UnknownValue,
    /// An update of a message that lacks something: left out.
    Malformed,
    /// An event that the target wire does not have: left out.
    Event,
    /// A field that the target wire does not have: left out.
    Field,
    /// An event that no order of the source wire allows where it stood: left out.
    Misplaced,
    /// A line that was moved to where the target wire allows it.
    Moved,
    /// A value that was changed so that it fits what the stream told before.
    Changed,
    /// A line that contradicts the lines before it, and was kept.
    Contradiction,
    /// A line or value that the recording does not have and the target wire needs.
    Invented,
}

impl Loss {
    /// What happened, in words that stand before the name of an event or field.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::UnknownEvent => "left out: unknown event",
            Self::UnknownField => "left out: unknown field",
            Self::UnknownValue => "left out: line with unknown value",
            Self::Malformed => "left out: malformed",
            Self::Event => "left out: event",
            Self::Field => "left out: field",
            Self::Misplaced => "left out: misplaced",
            Self::Moved => "moved:",
            Self::Changed => "changed:",
            Self::Contradiction => "contradicts, kept:",
            Self::Invented => "made up:",
        }
    }
}

/// The list of a whole conversion. Names are an event type, or an event type, `/` and the path of a
/// field in it; an item of an array is `*`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    entries: BTreeMap<(Loss, Cow<'static, str>), u64>,
    /// Whether the recording ends before its stream does.
    pub interrupted: bool,
}

impl Report {
    pub(super) fn add(&mut self, loss: Loss, name: impl Into<Cow<'static, str>>) {
        *self.entries.entry((loss, name.into())).or_default() += 1;
    }

    /// What was invented on the way and has no place on the target wire is no loss.
    pub(super) fn settle(&mut self) {
        let invented: Vec<_> = self
            .entries
            .iter()
            .filter(|((loss, _), _)| *loss == Loss::Invented)
            .map(|((_, name), count)| (name.clone(), *count))
            .collect();
        for (name, mut count) in invented {
            for loss in [Loss::Event, Loss::Field] {
                let both = self
                    .entries
                    .get(&(loss, name.clone()))
                    .map_or(0, |lost| count.min(*lost));
                self.take(loss, name.clone(), both);
                self.take(Loss::Invented, name.clone(), both);
                count -= both;
            }
        }
    }

    fn take(&mut self, loss: Loss, name: Cow<'static, str>, count: u64) {
        let key = (loss, name);
        if let Some(left) = self.entries.get_mut(&key) {
            *left -= count;
            if *left == 0 {
                self.entries.remove(&key);
            }
        }
    }

    /// Each entry with its count, in a fixed order.
    pub fn entries(&self) -> impl Iterator<Item = (Loss, &str, u64)> {
        let entries = self.entries.iter();
        entries.map(|((loss, name), count)| (*loss, name.as_ref(), *count))
    }

    /// How often this happened to an event or field.
    #[must_use]
    pub fn count(&self, loss: Loss, name: &str) -> u64 {
        let key = (loss, Cow::Owned(name.to_owned()));
        self.entries.get(&key).copied().unwrap_or(0)
    }

    /// Whether all was carried and nothing made up.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && !self.interrupted
    }
}

/// An entry a line.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        for (loss, name, count) in self.entries() {
            if !first {
                f.write_str("\n")?;
            }
            first = false;
            write!(f, "{} {name} × {count}", loss.name())?;
        }
        Ok(())
    }
}
