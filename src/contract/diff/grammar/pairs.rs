//! What is opened must be closed.

use super::pattern::{event, list, shown, strings};
use super::{Breaks, Walk, keys};
use crate::codegen::escape;
use serde_json::Value;

/// The lists of patterns of a pair: who breaks when one is added, and when one is removed. A
/// pattern that asks for something breaks producers, one that allows something breaks readers.
const PATTERNS: [(&str, Breaks, Breaks); 6] = [
    ("open", Breaks::Undecided, Breaks::Undecided),
    ("within", Breaks::Producers, Breaks::Readers),
    ("close", Breaks::Undecided, Breaks::Undecided),
    ("alone", Breaks::Readers, Breaks::Producers),
    ("inside", Breaks::Producers, Breaks::Readers),
    ("closed_before", Breaks::Producers, Breaks::Readers),
];

/// All patterns of a pair.
fn patterns(pair: &Value) -> Vec<&Value> {
    let lists = PATTERNS.iter().flat_map(|(key, ..)| list(pair, key));
    lists.collect()
}

impl Walk<'_> {
    pub(super) fn pairs(&mut self) {
        let (old, new) = (list(self.old, "pairs"), list(self.new, "pairs"));
        let name = |pair: &Value| {
            let name = pair.get("name").and_then(Value::as_str);
            name.unwrap_or_default().to_owned()
        };
        for pair in &old {
            let place = format!("/pairs/{}", escape(&name(pair)));
            if let Some(now) = new.iter().find(|now| name(now) == name(pair)) {
                self.pair(&place, pair, now);
            } else {
                let mut events = patterns(pair).into_iter().map(event);
                let breaks = if events.all(|event| self.is_gone(event)) {
                    Breaks::Nobody
                } else {
                    Breaks::Readers
                };
                self.add(&place, None, breaks, "pair removed");
            }
        }
        for pair in &new {
            if !old.iter().any(|before| name(before) == name(pair)) {
                let mut events = patterns(pair).into_iter().map(event);
                let breaks = if events.all(|event| self.is_new(event)) {
                    Breaks::Nobody
                } else {
                    Breaks::Producers
                };
                let place = format!("/pairs/{}", escape(&name(pair)));
                self.add(&place, None, breaks, "pair added");
            }
        }
    }

    fn pair(&mut self, place: &str, old: &Value, new: &Value) {
        for (key, added, removed) in PATTERNS {
            self.patterns(place, key, (old, new), (added, removed));
        }
        self.same(place, old, new);
        let flag = |pair: &Value| pair.get("unique").and_then(Value::as_bool) == Some(true);
        match (flag(old), flag(new)) {
            (false, true) => self.add(
                &format!("{place}/unique"),
                None,
                Breaks::Producers,
                "a key may be opened once only",
            ),
            (true, false) => self.add(
                &format!("{place}/unique"),
                None,
                Breaks::Readers,
                "a key may be opened again",
            ),
            _ => {}
        }
        for key in keys(old, new) {
            let place = format!("{place}/{}", escape(&key));
            if old.get(&key) == new.get(&key) {
                continue;
            }
            match key.as_str() {
                "description" => self.words(&place, "reworded"),
                "name" | "same" | "unique" => {}
                key if PATTERNS.iter().any(|(known, ..)| *known == key) => {}
                _ => self.add(&place, None, Breaks::Undecided, "changed"),
            }
        }
    }

    fn patterns(
        &mut self,
        place: &str,
        key: &str,
        (old, new): (&Value, &Value),
        (added, removed): (Breaks, Breaks),
    ) {
        let place = format!("{place}/{key}");
        let (before, now) = (list(old, key), list(new, key));
        // A line within that may open as well needs nothing to be open, so it is allowed more.
        let opens = |pair: &Value, pattern: &Value| {
            key == "within"
                && list(pair, "open")
                    .iter()
                    .any(|open| event(open) == event(pattern))
        };
        for pattern in now.iter().filter(|pattern| !before.contains(pattern)) {
            let fresh = self.is_new(event(pattern)) && added != Breaks::Undecided;
            let breaks = match added {
                _ if fresh => Breaks::Nobody,
                _ if opens(new, pattern) => Breaks::Undecided,
                breaks => breaks,
            };
            self.add(
                &place,
                Some(event(pattern)),
                breaks,
                format!("{} added", shown(pattern)),
            );
        }
        for pattern in before.iter().filter(|pattern| !now.contains(pattern)) {
            let breaks = match removed {
                _ if self.is_gone(event(pattern)) => Breaks::Producers,
                _ if opens(old, pattern) => Breaks::Undecided,
                breaks => breaks,
            };
            self.add(
                &place,
                Some(event(pattern)),
                breaks,
                format!("{} removed", shown(pattern)),
            );
        }
        let kept = |some: &[&Value], others: &[&Value]| -> Vec<Value> {
            let kept = some.iter().filter(|pattern| others.contains(pattern));
            kept.map(|pattern| (*pattern).clone()).collect()
        };
        if kept(&before, &now) != kept(&now, &before) {
            self.add(&place, None, Breaks::Undecided, "patterns in another order");
        }
    }

    fn same(&mut self, place: &str, old: &Value, new: &Value) {
        let place = format!("{place}/same");
        let (before, now) = (strings(old, "same"), strings(new, "same"));
        for pointer in now.iter().filter(|pointer| !before.contains(pointer)) {
            let what = format!("`{pointer}` must be that of the opening line");
            self.add(&place, None, Breaks::Producers, what);
        }
        for pointer in before.iter().filter(|pointer| !now.contains(pointer)) {
            let what = format!("`{pointer}` may differ from the opening line");
            self.add(&place, None, Breaks::Readers, what);
        }
    }
}
