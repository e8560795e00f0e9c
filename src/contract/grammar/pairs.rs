//! Pairs: what was opened has to be closed.

use std::collections::HashSet;

use super::pattern::{EventId, Pattern, PointerId, Probe};
use super::states::StateSet;
use crate::contract::json::Value;

/// How much of a key or value is kept for messages, in characters.
const SHOWN: usize = 80;

/// One entry of `pairs`, compiled.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    pub(super) name: String,
    pub(super) key: Option<PointerId>,
    pub(super) same: Vec<PointerId>,
    /// What is kept of an opening line: `same`, and what `closed_before` compares.
    pub(super) kept: Vec<PointerId>,
    pub(super) unique: bool,
    /// Whether an item may stay open at the end of the stream.
    pub(super) may_stay: bool,
    /// Only Quipu promises it, not the document of the wire.
    pub(super) ours: bool,
    /// How lines that open and close it are called.
    pub(super) opener: String,
    pub(super) closer: String,
}

/// What the lines of one type may do to one pair.
#[derive(Clone, Debug, Default)]
pub(super) struct Roles {
    pub(super) closed_before: Vec<Pattern>,
    pub(super) reset: Vec<Pattern>,
    pub(super) close: Vec<Pattern>,
    pub(super) alone: Vec<Pattern>,
    pub(super) within: Vec<Pattern>,
    pub(super) open: Vec<Pattern>,
    pub(super) inside: Vec<Pattern>,
}

/// What a pair has open.
#[derive(Clone, Debug, Default)]
pub(super) struct Open {
    items: Vec<Item>,
    used: HashSet<u64>,
    /// Keys of lines whose content was wrong: what becomes of their items is not certain.
    doubted: HashSet<u64>,
    /// An earlier fault or a line that could not be read may have opened or closed an item: the
    /// next fault is its consequence.
    forgive: bool,
}

#[derive(Clone, Debug)]
struct Item {
    key: u64,
    /// The key for messages; nothing when the pair has none.
    name: String,
    line: u64,
    kept: Vec<Option<Kept>>,
    /// It was told of that it is open where it should not be.
    told: bool,
    /// The same where only Quipu promises that it is not.
    noted: bool,
}

#[derive(Clone, Debug)]
struct Kept {
    print: u64,
    text: String,
}

/// What is wrong with a line by a pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PairFault {
    /// Name of the pair.
    pub(super) pair: String,
    /// Where in the line it shows; empty for the line.
    pub(super) pointer: String,
    pub(super) message: String,
    /// It breaks only what Quipu promises.
    pub(super) ours: bool,
}

/// What applying a line to a pair came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Nothing,
    /// A fault that follows from an earlier one.
    Excused,
    Fault(PairFault),
}

impl Open {
    /// What is open, for messages.
    pub(super) fn names(&self) -> Vec<&str> {
        self.items.iter().map(|item| item.name.as_str()).collect()
    }

    /// What is open for certain, with the line that opened it.
    pub(super) fn left(&self) -> impl Iterator<Item = (&str, u64)> {
        let items = self.items.iter();
        let items = items.filter(|item| !self.doubted.contains(&item.key));
        items.map(|item| (item.name.as_str(), item.line))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub(super) fn forgive(&mut self) {
        self.forgive = true;
    }

    /// A line that nobody knows may have closed any of what is open.
    pub(super) fn doubt(&mut self) {
        self.doubted.extend(self.items.iter().map(|item| item.key));
        self.forgive();
    }

    /// Whether what is open is not a consequence of an earlier fault.
    pub(super) fn is_certain(&self) -> bool {
        !self.forgive
    }
}

fn any(patterns: &[Pattern], line: &mut Probe<'_, '_, '_>, states: StateSet) -> bool {
    patterns.iter().any(|pattern| pattern.matches(line, states))
}

/// A value for messages: a string without its quotes, anything else as JSON.
fn shown(value: Value<'_, '_>) -> String {
    let text = match value.as_str() {
        Some(text) => text.to_owned(),
        None => value.to_string(),
    };
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

impl Pair {
    /// The content of a line of a type that the pair knows is wrong.
    pub(super) fn doubt(&self, open: &mut Open, line: &mut Probe<'_, '_, '_>) {
        let key = self.key.and_then(|at| line.at(at));
        open.doubted.insert(key.map_or(0, Value::fingerprint));
        open.forgive();
    }

    /// Applies a line of a type that the pair knows, which arrived in one of these states.
    pub(super) fn apply(
        &self,
        roles: &Roles,
        open: &mut Open,
        line: &mut Probe<'_, '_, '_>,
        (number, states): (u64, StateSet),
        pointers: &dyn Fn(PointerId) -> String,
    ) -> Found {
        let mut fault = self.too_early(roles, open, line, states);
        let mut doubted = false;
        if any(&roles.reset, line, states) {
            open.items.clear();
            open.used.clear();
            open.doubted.clear();
        }
        let closes = any(&roles.close, line, states);
        let (opens, within) = if closes {
            (false, false)
        } else {
            (
                any(&roles.open, line, states),
                any(&roles.within, line, states),
            )
        };
        if closes || opens || within {
            let value = self.key.and_then(|at| line.at(at));
            let key = value.map_or(0, Value::fingerprint);
            let at = open.items.iter().position(|item| item.key == key);
            doubted = if opens {
                open.doubted.remove(&key)
            } else {
                open.doubted.contains(&key)
            };
            let key_at = || self.key.map(pointers).unwrap_or_default();
            let found = match (at, closes, within, opens) {
                (Some(at), true, ..) => {
                    let item = open.items.remove(at);
                    self.differs(&item, line, pointers)
                }
                (None, true, ..) if any(&roles.alone, line, states) => None,
                (Some(at), false, true, _) => self.differs(&open.items[at], line, pointers),
                (None, _, _, false) => {
                    let message = self.not_open(value, open);
                    if within {
                        // What it stands in has begun, whatever became of its begin.
                        open.items.push(self.item(value, line, number));
                    }
                    Some(self.fault(key_at(), message, false))
                }
                (_, _, _, true) => {
                    let item = self.item(value, line, number);
                    let name = &item.name;
                    let used = self.unique && !open.used.insert(key);
                    let message = if let Some(at) = at {
                        let since = open.items.remove(at).line;
                        Some(format!("{} open since line {since}", self.is(name)))
                    } else if used {
                        Some(format!("{} used before; each is used once", self.was(name)))
                    } else {
                        None
                    };
                    open.items.push(item);
                    message.map(|message| self.fault(key_at(), message, false))
                }
                (Some(_), false, false, false) => None,
            };
            fault = fault.or(found);
        }
        let alone = open.items.is_empty();
        let inside = roles
            .inside
            .iter()
            .find(|pattern| alone && pattern.matches(line, states));
        if let Some(pattern) = inside {
            let message = format!("comes only between {} and {}", self.opener, self.closer);
            fault = fault.or(Some(self.fault(String::new(), message, pattern.ours)));
        }
        match fault {
            None => Found::Nothing,
            Some(_) if doubted || std::mem::take(&mut open.forgive) => Found::Excused,
            Some(fault) => {
                open.forgive = true;
                Found::Fault(fault)
            }
        }
    }

    /// Tells of items that are open where they should not be.
    fn too_early(
        &self,
        roles: &Roles,
        open: &mut Open,
        line: &mut Probe<'_, '_, '_>,
        states: StateSet,
    ) -> Option<PairFault> {
        let mut fault = None;
        for pattern in &roles.closed_before {
            if open.items.is_empty() || !pattern.matches(line, states) {
                continue;
            }
            let mut left = Vec::new();
            for (index, item) in open.items.iter().enumerate() {
                let mut same = pattern.same.iter();
                // It is told of once; a note does not stand for the fault that may follow.
                let told = item.told || (pattern.ours && item.noted);
                let told = told || open.doubted.contains(&item.key);
                if !told && same.all(|&at| self.equals(item, at, line)) {
                    left.push(index);
                }
            }
            if left.is_empty() {
                continue;
            }
            for &index in &left {
                if pattern.ours {
                    open.items[index].noted = true;
                } else {
                    open.items[index].told = true;
                }
            }
            let left: Vec<&Item> = left.iter().map(|&index| &open.items[index]).collect();
            let message = self.still_open(&left);
            fault = fault.or(Some(self.fault(String::new(), message, pattern.ours)));
        }
        fault
    }

    fn item(&self, key: Option<Value<'_, '_>>, line: &mut Probe<'_, '_, '_>, number: u64) -> Item {
        Item {
            key: key.map_or(0, Value::fingerprint),
            name: key.map(shown).unwrap_or_default(),
            line: number,
            kept: self.kept.iter().map(|&at| keep(line, at)).collect(),
            told: false,
            noted: false,
        }
    }

    fn fault(&self, pointer: String, message: String, ours: bool) -> PairFault {
        PairFault {
            pair: self.name.clone(),
            pointer,
            message,
            ours: ours || self.ours,
        }
    }

    /// `call_7 is`, or the pair itself when it has no keys.
    fn is(&self, name: &str) -> String {
        match self.key {
            Some(_) => format!("{name} is"),
            None => format!("a {} is", self.noun()),
        }
    }

    fn was(&self, name: &str) -> String {
        match self.key {
            Some(_) => format!("{name} was"),
            None => format!("a {} was", self.noun()),
        }
    }

    /// What an item is called.
    pub(super) fn noun(&self) -> String {
        match self.name.as_str() {
            "tool" => "call".to_owned(),
            name if name.starts_with("background_agent") => "agent".to_owned(),
            name => name.replace('_', " "),
        }
    }

    fn not_open(&self, key: Option<Value<'_, '_>>, open: &Open) -> String {
        let noun = self.noun();
        let opener = &self.opener;
        let Some(key) = key.filter(|_| self.key.is_some()) else {
            return format!("without {}", article(opener));
        };
        let key = shown(key);
        let names = open.names();
        let others = match names.len() {
            0 => format!("no {noun} is open"),
            1 => format!("open {noun}: {}", names[0]),
            _ => format!("open {noun}s: {}", names.join(", ")),
        };
        format!("for {key} without {}; {others}", article(opener))
    }

    fn still_open(&self, items: &[&Item]) -> String {
        let names: Vec<String> = items
            .iter()
            .map(|item| match self.key {
                Some(_) => format!("{} {} (line {})", self.noun(), item.name, item.line),
                None => format!("the {} of line {}", self.noun(), item.line),
            })
            .collect();
        let verb = if names.len() == 1 { "is" } else { "are" };
        format!(
            "comes too early: {} {verb} still open; {} is due first",
            names.join(", "),
            self.closer
        )
    }

    fn equals(&self, item: &Item, at: PointerId, line: &mut Probe<'_, '_, '_>) -> bool {
        let kept = self.kept.iter().position(|&kept| kept == at);
        let kept = kept.and_then(|index| item.kept[index].as_ref());
        kept.map(|kept| kept.print) == line.at(at).map(Value::fingerprint)
    }

    fn differs(
        &self,
        item: &Item,
        line: &mut Probe<'_, '_, '_>,
        pointers: &dyn Fn(PointerId) -> String,
    ) -> Option<PairFault> {
        for (&at, kept) in self.kept.iter().zip(&item.kept) {
            if !self.same.contains(&at) {
                continue;
            }
            if let (Some(kept), Some(now)) = (kept, line.at(at))
                && kept.print != now.fingerprint()
            {
                let (now, was, since) = (shown(now), &kept.text, item.line);
                let message = format!("is {now}, was {was} at line {since}");
                return Some(self.fault(pointers(at), message, false));
            }
        }
        None
    }
}

fn article(opener: &str) -> String {
    let an = opener.starts_with(['a', 'e', 'i', 'o', 'u']);
    format!("{} {opener}", if an { "an" } else { "a" })
}

fn keep(line: &mut Probe<'_, '_, '_>, at: PointerId) -> Option<Kept> {
    line.at(at).map(|value| Kept {
        print: value.fingerprint(),
        text: shown(value),
    })
}

/// Pairs by event: which of them a line concerns.
pub(super) type ByEvent = Vec<Vec<(usize, Roles)>>;

/// The place of an event in [`ByEvent`].
pub(super) fn of(by_event: &ByEvent, event: EventId) -> &[(usize, Roles)] {
    &by_event[event.index()]
}
