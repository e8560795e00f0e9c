//! What changed between two schemas, whom it breaks, and which step of the version it asks for.
//!
//! A *producer* breaks when a line that it may write under the old schema is invalid under the new
//! strict bundle. A *reader* breaks when a line of the new strict bundle is none that a reader made
//! for the old open bundle can take: such a reader skips lines of unknown types, leaves unknown
//! fields alone and takes any string where an enum stands.
//!
//! | change | breaks | step |
//! |---|---|---|
//! | title, description, examples, order of fields, values or members | nobody | patch |
//! | optional field added | nobody | minor |
//! | required field added | producers: theirs lack it | major |
//! | optional field removed | producers: theirs may have it; a reader had to do without it before | major |
//! | required field removed | both | major |
//! | optional field becomes required | producers | major |
//! | required field becomes optional | readers | major |
//! | type widened (integer to number, a minimum gone or lower, null allowed, const to string, anything allowed) | readers | major |
//! | type narrowed (the same the other way round) | producers | major |
//! | another type or another const | both | major |
//! | value of an enum added, enum becomes string | nobody | minor |
//! | value of an enum removed, string becomes enum | producers | major |
//! | type of line added | nobody: readers skip what they do not know | minor |
//! | member of another union added (delta, message, block, second form of a line) | readers: no rule lets them skip it | major |
//! | type of line or member removed | producers | major |
//! | read-only member added, or written from now on | nobody: readers know it | minor |
//! | written member becomes read-only | producers | major |
//! | wire added / removed | nobody / producers | minor / major |
//! | grammar: what was no legal order is legal now | readers | major |
//! | grammar: what was a legal order is none now | producers | major |
//! | grammar: a new type of line may come where it changes no state | nobody | minor |
//! | grammar: words; the name of a rule stands for what it asks | nobody | patch |
//! | grammar: who promises a thing, or does it (`promise`, `foreign`, `undocumented`) | nobody | patch |
//! | anything that is not decided by these | undecided | major |
//!
//! A shared type is compared once; the change tells which lines lead to it.

mod fits;
mod grammar;
mod input;
mod node;
mod version;
mod walk;

#[cfg(test)]
mod tests;

pub use input::{Contract, InputError, read};
pub use version::{Declared, declared};

use serde::Serialize;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::fmt;

/// Who cannot go on as before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Breaks {
    /// Nobody.
    Nobody,
    /// Producers: what they rightly wrote is judged invalid.
    Producers,
    /// Readers: there are lines that they cannot take.
    Readers,
    /// Producers and readers.
    Both,
    /// The comparison cannot tell; people have to.
    Undecided,
}

impl Breaks {
    /// Of what holds for each side; `None` is not known.
    fn of(producers: Option<bool>, readers: Option<bool>) -> Self {
        match (producers, readers) {
            (Some(false), Some(false)) => Self::Nobody,
            (Some(true), Some(false)) => Self::Producers,
            (Some(false), Some(true)) => Self::Readers,
            (Some(true), Some(true)) => Self::Both,
            _ => Self::Undecided,
        }
    }

    /// Its name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nobody => "nobody",
            Self::Producers => "producers",
            Self::Readers => "readers",
            Self::Both => "both",
            Self::Undecided => "undecided",
        }
    }
}

impl fmt::Display for Breaks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A step of a semantic version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Step {
    /// Words only.
    Patch,
    /// Something is new and nobody breaks.
    Minor,
    /// Somebody breaks, or it is not decided.
    Major,
}

impl Step {
    /// Its name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Patch => "patch",
            Self::Minor => "minor",
            Self::Major => "major",
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// The step that it asks for.
    pub step: Step,
    /// Who breaks.
    pub breaks: Breaks,
    /// The wires, and `session`, in whose bundles it is.
    pub wires: BTreeSet<String>,
    /// The discriminator's value of the def, such as `message_update`, if it has one.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// The title of the def (`MessageUpdateEvent`), the name of a wire, or `grammar`.
    pub title: String,
    /// A JSON pointer into the def or into the wire's part of the grammar; empty for the whole.
    pub place: String,
    /// What changed there.
    pub what: String,
    /// The types of the lines that lead to the def, sorted; empty if it is a line itself.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub reached_by: BTreeSet<String>,
}

/// Everything that changed from one schema to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diff {
    /// The version that the old side declares, if it has one.
    pub old_version: Option<String>,
    /// The version that the new side declares, if it has one.
    pub new_version: Option<String>,
    /// The sides that say nothing about the order, so that it was not compared: bundle files, and
    /// folders of bundles without a grammar.
    pub orderless: Vec<String>,
    /// The changes, the greatest step first.
    pub changes: Vec<Change>,
}

/// What a [`Diff`] amounts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Verdict {
    /// The two say the same.
    Same,
    /// Nobody breaks, and the declared versions say enough.
    Compatible,
    /// Nobody breaks, but the declared step is smaller than the changes.
    StepTooSmall,
    /// Somebody breaks.
    Breaking,
    /// A change could not be classified.
    Undecided,
}

impl Diff {
    /// The step that the changes ask for; `None` if there are none.
    #[must_use]
    pub fn step(&self) -> Option<Step> {
        self.changes.iter().map(|change| change.step).max()
    }

    /// The step that the two sides declare, if both have a version.
    #[must_use]
    pub fn declared(&self) -> Option<Declared> {
        declared(self.old_version.as_deref()?, self.new_version.as_deref()?)
    }

    /// Whether the declared step is as great as the changes ask; true if a side declares none.
    #[must_use]
    pub fn is_declared(&self) -> bool {
        self.declared()
            .is_none_or(|declared| declared.allows(self.step()))
    }

    /// What it amounts to.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let any = |breaks: Breaks| self.changes.iter().any(|change| change.breaks == breaks);
        if any(Breaks::Undecided) {
            Verdict::Undecided
        } else if any(Breaks::Producers) || any(Breaks::Readers) || any(Breaks::Both) {
            Verdict::Breaking
        } else if !self.is_declared() {
            Verdict::StepTooSmall
        } else if self.changes.is_empty() {
            Verdict::Same
        } else {
            Verdict::Compatible
        }
    }
}

/// Compares two contracts.
///
/// # Errors
/// If one side is a single bundle and the other has none to compare it with.
pub fn compare(old: &Contract, new: &Contract) -> Result<Diff, InputError> {
    let mut all = Changes::default();
    for (name, pair) in input::pairs(old, new)? {
        match pair {
            (Some(old), Some(new)) => walk::compare(&name, old, new, &mut all),
            (old, _) => all.add(Change {
                step: if old.is_some() {
                    Step::Major
                } else {
                    Step::Minor
                },
                breaks: if old.is_some() {
                    Breaks::Producers
                } else {
                    Breaks::Nobody
                },
                wires: BTreeSet::from([name.clone()]),
                event: None,
                title: name,
                place: String::new(),
                what: format!("wire {}", if old.is_some() { "removed" } else { "added" }),
                reached_by: BTreeSet::new(),
            }),
        }
    }
    if old.has_grammar && new.has_grammar {
        grammar::compare(old, new, &mut all);
    }
    let mut changes = all.all;
    changes.sort_by(|a, b| b.step.cmp(&a.step).then_with(|| a.cmp(b)));
    Ok(Diff {
        old_version: old.version.clone(),
        new_version: new.version.clone(),
        orderless: [old, new]
            .into_iter()
            .filter(|side| !side.has_grammar)
            .map(|side| side.source.clone())
            .collect(),
        changes,
    })
}

/// The changes found so far; the same change in two bundles is one.
#[derive(Default)]
struct Changes {
    all: Vec<Change>,
    /// Where each is, by what makes it the same as another.
    places: HashMap<Key, usize>,
}

/// Title, event, place, what changed, and who breaks.
type Key = (String, Option<String>, String, String, Breaks);

impl Changes {
    fn add(&mut self, change: Change) {
        let key = (
            change.title.clone(),
            change.event.clone(),
            change.place.clone(),
            change.what.clone(),
            change.breaks,
        );
        match self.places.entry(key) {
            Entry::Occupied(entry) => {
                let other = &mut self.all[*entry.get()];
                other.wires.extend(change.wires);
                other.reached_by.extend(change.reached_by);
            }
            Entry::Vacant(entry) => {
                entry.insert(self.all.len());
                self.all.push(change);
            }
        }
    }
}
