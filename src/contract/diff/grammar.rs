//! The comparison of two grammars, wire by wire.

mod marks;
mod pairs;
mod pattern;
mod states;

use super::{Breaks, Change, Changes, Contract, Step};
use crate::codegen::escape;
use pattern::{list, strings};
use serde_json::Value;
use std::collections::BTreeSet;

/// What the part of a wire may hold.
const KNOWN: [&str; 9] = [
    "description",
    "initial",
    "final",
    "interrupted",
    "undocumented",
    "states",
    "anywhere",
    "pairs",
    "rules",
];

/// Adds what changed in the order of the lines.
pub(super) fn compare(old: &Contract, new: &Contract, changes: &mut Changes) {
    let names = old.bundles.iter().map(|bundle| &bundle.name);
    let both = |name: &&String| new.bundles.iter().any(|bundle| bundle.name == **name);
    let wires: BTreeSet<&String> = names.filter(both).collect();
    let part = |grammar: &Option<Value>, wire: &str| {
        let wires = grammar.as_ref().and_then(|grammar| grammar.get("wires"));
        wires.and_then(|wires| wires.get(wire)).cloned()
    };
    for wire in &wires {
        let parts = (part(&old.grammar, wire), part(&new.grammar, wire));
        let laid_down = (parts.0.is_some(), parts.1.is_some());
        let parts = (parts.0.unwrap_or_default(), parts.1.unwrap_or_default());
        let bare = (marks::without(&parts.0), marks::without(&parts.1));
        let mut walk = Walk {
            wire,
            old: &bare.0,
            new: &bare.1,
            old_lines: old.lines(wire),
            new_lines: new.lines(wire),
            changes,
        };
        match laid_down {
            (true, true) => {
                walk.wire();
                walk.marks("", &parts.0, &parts.1);
            }
            (true, false) => walk.add(
                "",
                None,
                Breaks::Readers,
                "the order is no longer laid down",
            ),
            (false, true) => walk.add("", None, Breaks::Producers, "the order is laid down"),
            (false, false) => {}
        }
    }
    let (Some(old), Some(new)) = (&old.grammar, &new.grammar) else {
        return;
    };
    for key in keys(old, new).into_iter().filter(|key| key != "wires") {
        if old.get(&key) != new.get(&key) {
            let words = key == "description";
            changes.add(Change {
                step: if words { Step::Patch } else { Step::Major },
                breaks: if words {
                    Breaks::Nobody
                } else {
                    Breaks::Undecided
                },
                wires: wires.iter().map(|wire| (*wire).clone()).collect(),
                event: None,
                title: "grammar".into(),
                place: format!("/{}", escape(&key)),
                what: if words { "reworded" } else { "changed" }.into(),
                reached_by: BTreeSet::new(),
            });
        }
    }
}

/// The keys of two objects.
fn keys(old: &Value, new: &Value) -> BTreeSet<String> {
    let of = |value: &Value| value.as_object().cloned().unwrap_or_default();
    let keys = of(old).into_iter().chain(of(new));
    keys.map(|(key, _)| key).collect()
}

/// The grammar of one wire, before and now.
struct Walk<'a> {
    wire: &'a str,
    old: &'a Value,
    new: &'a Value,
    old_lines: Vec<&'a str>,
    new_lines: Vec<&'a str>,
    changes: &'a mut Changes,
}

impl<'a> Walk<'a> {
    /// Adds a change; it is a minor step if nobody breaks.
    fn add(&mut self, place: &str, event: Option<&str>, breaks: Breaks, what: impl Into<String>) {
        let step = match breaks {
            Breaks::Nobody => Step::Minor,
            _ => Step::Major,
        };
        self.change(place, event, breaks, step, what.into());
    }

    fn words(&mut self, place: &str, what: &str) {
        self.change(place, None, Breaks::Nobody, Step::Patch, what.to_owned());
    }

    fn change(
        &mut self,
        place: &str,
        event: Option<&str>,
        breaks: Breaks,
        step: Step,
        what: String,
    ) {
        self.changes.add(Change {
            step,
            breaks,
            wires: BTreeSet::from([self.wire.to_owned()]),
            event: event.map(str::to_owned),
            title: "grammar".into(),
            place: format!("/wires/{}{place}", escape(self.wire)),
            what,
            reached_by: BTreeSet::new(),
        });
    }

    /// Whether a type of line is new, so that readers skip it.
    fn is_new(&self, event: &str) -> bool {
        !self.old_lines.contains(&event)
    }

    /// Whether a type of line is gone.
    fn is_gone(&self, event: &str) -> bool {
        !self.new_lines.contains(&event)
    }

    fn wire(&mut self) {
        let (old, new) = (self.old, self.new);
        for key in keys(old, new) {
            let place = format!("/{}", escape(&key));
            if !KNOWN.contains(&key.as_str()) && old.get(&key) != new.get(&key) {
                self.add(&place, None, Breaks::Undecided, "changed");
            }
        }
        if old.get("description") != new.get("description") {
            self.words("/description", "reworded");
        }
        if old.get("initial") != new.get("initial") {
            self.add(
                "/initial",
                None,
                Breaks::Both,
                "a stream begins in another state",
            );
        }
        self.names("final", "a stream may end in");
        if self.interrupted() {
            self.add("/interrupted", None, Breaks::Undecided, "changed");
        }
        self.states();
        self.anywhere();
        self.pairs();
        self.rules();
    }

    fn names(&mut self, key: &str, what: &str) {
        let (old, new) = (strings(self.old, key), strings(self.new, key));
        let place = format!("/{key}");
        for state in new.iter().filter(|state| !old.contains(state)) {
            self.add(&place, None, Breaks::Readers, format!("{what} `{state}`"));
        }
        for state in old.iter().filter(|state| !new.contains(state)) {
            let what = format!("{what} `{state}` no longer");
            self.add(&place, None, Breaks::Producers, what);
        }
    }

    fn interrupted(&self) -> bool {
        let of = |value: &Value| -> BTreeSet<String> {
            let names = strings(value, "interrupted").into_iter();
            names.map(str::to_owned).collect()
        };
        of(self.old) != of(self.new)
    }

    /// The types of lines that are legal in a state without a step.
    fn legal(grammar: &Value) -> BTreeSet<(&str, &str)> {
        let mut legal = BTreeSet::new();
        for entry in list(grammar, "anywhere") {
            for event in strings(entry, "events") {
                legal.extend(strings(entry, "in").into_iter().map(|state| (event, state)));
            }
        }
        legal
    }

    fn anywhere(&mut self) {
        let (old, new) = (Self::legal(self.old), Self::legal(self.new));
        let states = |grammar: &'a Value, state: &str| {
            grammar
                .get("states")
                .is_some_and(|states| states.get(state).is_some())
        };
        let events: BTreeSet<&str> = old.iter().chain(&new).map(|(event, _)| *event).collect();
        let (before, now) = (self.old, self.new);
        for event in events {
            let of =
                |some: &BTreeSet<(&'a str, &'a str)>, others: &BTreeSet<(&str, &str)>, there| {
                    let states: Vec<String> = some
                        .difference(others)
                        .filter(|(other, state)| *other == event && states(there, state))
                        .map(|(_, state)| format!("`{state}`"))
                        .collect();
                    states.join(", ")
                };
            // A state that is new or gone stands for itself.
            let there = if self.is_new(event) { now } else { before };
            let added = of(&new, &old, there);
            if !added.is_empty() {
                let breaks = if self.is_new(event) {
                    Breaks::Nobody
                } else {
                    Breaks::Readers
                };
                self.add(
                    "/anywhere",
                    Some(event),
                    breaks,
                    format!("may stand in {added}"),
                );
            }
            let removed = of(&old, &new, if self.is_gone(event) { before } else { now });
            if !removed.is_empty() {
                let what = format!("may no longer stand in {removed}");
                self.add("/anywhere", Some(event), Breaks::Producers, what);
            }
        }
        let same = |key: &str| before.get(key) == now.get(key);
        if old == new && !same("anywhere") {
            self.words("/anywhere", "put in other words or groups");
        }
    }

    /// A rule is known by its name: one that asks for something else gets another name.
    fn rules(&mut self) {
        let (old, new) = (list(self.old, "rules"), list(self.new, "rules"));
        let named = |rules: &[&'a Value], name: &Value| {
            let mut rules = rules.iter().copied();
            rules.find(|rule| rule.get("name") == Some(name))
        };
        for rule in &old {
            let name = rule.get("name").cloned().unwrap_or_default();
            let shown = name.as_str().unwrap_or_default();
            let place = format!("/rules/{}", escape(shown));
            let Some(now) = named(&new, &name) else {
                let events = strings(rule, "events");
                let gone = events.iter().all(|event| self.is_gone(event));
                let breaks = if gone {
                    Breaks::Nobody
                } else {
                    Breaks::Readers
                };
                self.add(&place, None, breaks, "rule removed");
                continue;
            };
            let (before, after) = (strings(rule, "events"), strings(now, "events"));
            for event in after.iter().filter(|event| !before.contains(event)) {
                let breaks = if self.is_new(event) {
                    Breaks::Nobody
                } else {
                    Breaks::Producers
                };
                self.add(&place, Some(event), breaks, "the rule is checked there");
            }
            for event in before.iter().filter(|event| !after.contains(event)) {
                let breaks = if self.is_gone(event) {
                    Breaks::Nobody
                } else {
                    Breaks::Readers
                };
                self.add(
                    &place,
                    Some(event),
                    breaks,
                    "the rule is no longer checked there",
                );
            }
            if rule.get("description") != now.get("description") {
                self.words(&format!("{place}/description"), "reworded");
            }
            for key in keys(rule, now) {
                let known = ["name", "events", "description"].contains(&key.as_str());
                if !known && rule.get(&key) != now.get(&key) {
                    self.add(
                        &format!("{place}/{}", escape(&key)),
                        None,
                        Breaks::Undecided,
                        "changed",
                    );
                }
            }
        }
        for rule in &new {
            let name = rule.get("name").cloned().unwrap_or_default();
            if named(&old, &name).is_none() {
                let events = strings(rule, "events");
                let fresh = events.iter().all(|event| self.is_new(event));
                let breaks = if fresh {
                    Breaks::Nobody
                } else {
                    Breaks::Producers
                };
                let place = format!("/rules/{}", escape(name.as_str().unwrap_or_default()));
                self.add(&place, None, breaks, "rule added");
            }
        }
    }
}
