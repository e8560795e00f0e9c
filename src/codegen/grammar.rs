//! Checking `grammar.json`: its form, and that every name in it is the name of something.
//!
//! The format is described in the file itself. What passes here compiles, if it is of wires that
//! this program has.

use super::model::{Def, Shape, Type, Union};
use super::{Problem, escape};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The rules that a grammar may ask for by name.
pub const RULES: [&str; 10] = [
    "whole_messages",
    "fold",
    "resolved_tool_name",
    "snapshots",
    "tool_starts",
    "tool_result_messages",
    "turn_end",
    "agent_end",
    "stream_end",
    "child_lines",
];

/// The most states of a wire.
pub const MAX_STATES: usize = 64;
/// The most JSON pointers of a wire.
pub const MAX_POINTERS: usize = 48;
/// The most values at a JSON pointer.
pub const MAX_VALUES: usize = 64;

/// A key of an object: its name, whether it has to be there, and what it holds.
struct Key(&'static str, bool, Holds);

enum Holds {
    Any,
    Text,
    Flag,
    Promise,
    State,
    States,
    Event,
    Events,
    Rule,
    /// A JSON pointer, or null.
    Key,
    Pointers,
    /// Lists of values by JSON pointer.
    Values,
    /// Lists of JSON pointers by type of line, or by `*`.
    ByEvent,
    Object(&'static [Key]),
    List(&'static [Key]),
    Map(&'static [Key]),
}

const GRAMMAR: &[Key] = &[
    Key("description", false, Holds::Any),
    Key("format", false, Holds::Any),
    // Each is checked by itself.
    Key("wires", true, Holds::Any),
];

const WIRE: &[Key] = &[
    Key("initial", true, Holds::State),
    Key("final", true, Holds::States),
    Key("interrupted", false, Holds::States),
    Key("undocumented", false, Holds::ByEvent),
    Key("states", true, Holds::Map(STATE)),
    Key("anywhere", false, Holds::List(ANYWHERE)),
    Key("pairs", false, Holds::List(PAIR)),
    Key("rules", false, Holds::List(RULE)),
];

const STATE: &[Key] = &[
    Key("description", false, Holds::Text),
    Key("promise", false, Holds::Promise),
    Key("on", false, Holds::List(STEP)),
];

const STEP: &[Key] = &[
    Key("to", true, Holds::State),
    Key("foreign", false, Holds::Flag),
    Key("event", true, Holds::Event),
    Key("where", false, Holds::Values),
    Key("absent", false, Holds::Pointers),
];

const PATTERN: &[Key] = &[
    Key("event", true, Holds::Event),
    Key("where", false, Holds::Values),
    Key("absent", false, Holds::Pointers),
    Key("in", false, Holds::States),
    Key("same", false, Holds::Pointers),
    Key("promise", false, Holds::Promise),
];

const ANYWHERE: &[Key] = &[
    Key("foreign", false, Holds::Flag),
    Key("events", true, Holds::Events),
    Key("in", true, Holds::States),
];

const PAIR: &[Key] = &[
    Key("name", true, Holds::Text),
    Key("description", false, Holds::Any),
    Key("promise", false, Holds::Promise),
    Key("open", false, Holds::List(PATTERN)),
    Key("within", false, Holds::List(PATTERN)),
    Key("close", false, Holds::List(PATTERN)),
    Key("alone", false, Holds::List(PATTERN)),
    Key("inside", false, Holds::List(PATTERN)),
    Key("key", false, Holds::Key),
    Key("same", false, Holds::Pointers),
    Key("scope", false, Holds::Object(SCOPE)),
    Key("unique", false, Holds::Flag),
    Key("closed_before", false, Holds::List(PATTERN)),
];

const SCOPE: &[Key] = &[Key("reset", false, Holds::List(PATTERN))];

const RULE: &[Key] = &[
    Key("name", true, Holds::Rule),
    Key("events", true, Holds::Events),
    Key("description", false, Holds::Any),
    Key("promise", false, Holds::Promise),
];

/// Adds what is wrong with a grammar, which stands in `file`; `wires` are the titles of the unions by
/// name.
pub fn check(
    grammar: &Value,
    file: &str,
    defs: &BTreeMap<String, Def>,
    wires: &BTreeMap<String, String>,
    problems: &mut Vec<Problem>,
) {
    let none = Union {
        tag: String::new(),
        members: Vec::new(),
        stamp: None,
    };
    Walk::new(file, defs, "", &none, problems).object("", grammar, GRAMMAR);
    let Some(parts) = grammar.get("wires") else {
        return;
    };
    let Some(parts) = parts.as_object() else {
        Walk::new(file, defs, "", &none, problems).no_object("/wires");
        return;
    };
    for (wire, part) in parts {
        let at = format!("/wires/{}", escape(wire));
        let union = wires.get(wire).and_then(|title| defs.get(title));
        match union.map(|def| &def.shape) {
            Some(Shape::Union(union)) => {
                Walk::new(file, defs, wire, union, problems).wire(&at, part);
            }
            _ => Walk::new(file, defs, wire, &none, problems).report(
                &at,
                format!("there is no wire `{wire}`"),
                format!("add wire/{wire}.json, or leave the grammar out"),
            ),
        }
    }
    for wire in wires.keys().filter(|wire| !parts.contains_key(*wire)) {
        Walk::new(file, defs, wire, &none, problems).report(
            "/wires",
            format!("there is no order for the wire `{wire}`"),
            "add one, or leave the whole file out",
        );
    }
}

struct Walk<'a, 'p> {
    file: &'a str,
    defs: &'a BTreeMap<String, Def>,
    wire: &'a str,
    union: &'a Union,
    /// The titles of the members by type.
    events: BTreeMap<&'a str, Vec<&'a str>>,
    states: BTreeSet<&'a str>,
    pointers: BTreeMap<&'a str, Vec<&'a Value>>,
    problems: &'p mut Vec<Problem>,
}

impl<'a, 'p> Walk<'a, 'p> {
    fn new(
        file: &'a str,
        defs: &'a BTreeMap<String, Def>,
        wire: &'a str,
        union: &'a Union,
        problems: &'p mut Vec<Problem>,
    ) -> Self {
        let mut events: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for member in &union.members {
            events.entry(&member.value).or_default().push(&member.title);
        }
        Self {
            file,
            defs,
            wire,
            union,
            events,
            states: BTreeSet::new(),
            pointers: BTreeMap::new(),
            problems,
        }
    }

    fn report(&mut self, at: &str, what: impl Into<String>, remedy: impl Into<String>) {
        self.problems.push(Problem {
            file: self.file.to_owned(),
            place: at.to_owned(),
            what: what.into(),
            remedy: remedy.into(),
        });
    }

    fn no_object(&mut self, at: &str) {
        self.report(at, "is not an object", "write one");
    }

    fn wire(mut self, at: &str, part: &'a Value) {
        let states = part.get("states").and_then(Value::as_object);
        self.states = states
            .into_iter()
            .flatten()
            .map(|(name, _)| &**name)
            .collect();
        self.object(at, part, WIRE);

        let finals = strings(part, "final");
        for (i, state) in strings(part, "interrupted").iter().enumerate() {
            if !finals.contains(state) {
                self.report(
                    &format!("{at}/interrupted/{i}"),
                    format!("`{state}` is no final state"),
                    "name it under `final` too",
                );
            }
        }
        for list in ["pairs", "rules"] {
            let mut seen = BTreeSet::new();
            for (i, entry) in items(part, list).enumerate() {
                let name = entry.get("name").and_then(Value::as_str);
                if let Some(name) = name.filter(|name| !seen.insert(*name)) {
                    self.report(
                        &format!("{at}/{list}/{i}/name"),
                        format!("there are two `{name}`"),
                        "give each a name of its own",
                    );
                }
            }
        }
        self.silent(at, part);
        self.limits(at);
    }

    /// The types of lines that could stand nowhere.
    fn silent(&mut self, at: &str, part: &Value) {
        let states = part.get("states").and_then(Value::as_object);
        let steps = states.into_iter().flatten();
        let steps = steps.flat_map(|(_, state)| items(state, "on"));
        let mut placed: BTreeSet<&str> = steps
            .filter_map(|step| step.get("event")?.as_str())
            .collect();
        placed.extend(items(part, "anywhere").flat_map(|entry| strings(entry, "events")));
        let silent: Vec<&str> = self.events.keys().copied().collect();
        for event in silent.into_iter().filter(|event| !placed.contains(event)) {
            self.report(
                at,
                format!("the event `{event}` has no place in the order"),
                "name it in a state or under `anywhere`",
            );
        }
    }

    fn limits(&mut self, at: &str) {
        let values = self.pointers.values().map(Vec::len).max();
        for (count, most, what) in [
            (self.states.len(), MAX_STATES, "states"),
            (self.pointers.len(), MAX_POINTERS, "JSON pointers"),
            (
                values.unwrap_or_default(),
                MAX_VALUES,
                "values at a JSON pointer",
            ),
        ] {
            if count > most {
                self.report(
                    at,
                    format!("has {count} {what}"),
                    format!("write {most} at most"),
                );
            }
        }
    }

    fn object(&mut self, at: &str, value: &'a Value, keys: &'static [Key]) {
        let Some(map) = value.as_object() else {
            return self.no_object(at);
        };
        for (name, value) in map {
            let at = format!("{at}/{}", escape(name));
            if let Some(Key(_, _, holds)) = keys.iter().find(|key| key.0 == name) {
                self.value(&at, value, holds, map);
            } else {
                let known: Vec<&str> = keys.iter().map(|key| key.0).collect();
                let known = known.join(", ");
                self.report(
                    &at,
                    format!("there is no key `{name}` here"),
                    format!("there are {known}"),
                );
            }
        }
        for Key(name, ..) in keys.iter().filter(|key| key.1 && !map.contains_key(key.0)) {
            self.report(at, format!("`{name}` is missing"), "add it");
        }
    }

    fn value(&mut self, at: &str, value: &'a Value, holds: &Holds, map: &'a Map<String, Value>) {
        match holds {
            Holds::Any => {}
            Holds::Text if value.is_string() => {}
            Holds::Text => self.report(at, "is not a string", "write one"),
            Holds::Flag if value.is_boolean() => {}
            Holds::Flag => self.report(at, "is neither true nor false", "write one of them"),
            Holds::Promise if value == "quipu" => {}
            Holds::Promise => self.report(at, "is not \"quipu\"", "write that or leave it out"),
            Holds::State => self.state(at, value),
            Holds::States => self.each(at, value, Self::state),
            Holds::Event => self.event(at, value),
            Holds::Events => self.each(at, value, Self::event),
            Holds::Rule => {
                let name = value.as_str().unwrap_or_default();
                if !RULES.contains(&name) {
                    let known = RULES.join(", ");
                    self.report(
                        at,
                        format!("there is no rule `{name}`"),
                        format!("there are {known}"),
                    );
                }
            }
            Holds::Key if value.is_null() => {}
            Holds::Key => self.pointer(at, value, map),
            Holds::Pointers => self.each(at, value, |walk, at, value| walk.pointer(at, value, map)),
            Holds::Values => {
                let Some(values) = value.as_object() else {
                    return self.no_object(at);
                };
                for (pointer, values) in values {
                    let at = format!("{at}/{}", escape(pointer));
                    self.known(&at, pointer, map);
                    self.each(&at, values, |walk, _, value| {
                        let known = walk.pointers.entry(pointer).or_default();
                        if !known.contains(&value) {
                            known.push(value);
                        }
                    });
                }
            }
            Holds::ByEvent => {
                let Some(events) = value.as_object() else {
                    return self.no_object(at);
                };
                for (event, pointers) in events {
                    let at = format!("{at}/{}", escape(event));
                    if event != "*" {
                        self.known_event(&at, event);
                    }
                    self.each(&at, pointers, |walk, at, value| {
                        let whole = value == "";
                        if !whole && !value.as_str().is_some_and(|text| text.starts_with('/')) {
                            walk.no_pointer(at, value);
                        }
                    });
                }
            }
            Holds::Object(keys) => self.object(at, value, keys),
            Holds::List(keys) => {
                self.each(at, value, |walk, at, value| walk.object(at, value, keys));
            }
            Holds::Map(keys) => {
                let Some(entries) = value.as_object() else {
                    return self.no_object(at);
                };
                for (name, entry) in entries {
                    self.object(&format!("{at}/{}", escape(name)), entry, keys);
                }
            }
        }
    }

    fn each(
        &mut self,
        at: &str,
        value: &'a Value,
        mut check: impl FnMut(&mut Self, &str, &'a Value),
    ) {
        let Some(list) = value.as_array() else {
            return self.report(at, "is not a list", "write an array");
        };
        for (i, item) in list.iter().enumerate() {
            check(self, &format!("{at}/{i}"), item);
        }
    }

    fn state(&mut self, at: &str, value: &'a Value) {
        let name = value.as_str().unwrap_or_default();
        if !self.states.contains(name) {
            self.report(
                at,
                format!("there is no state `{name}`"),
                "write the name of one in `states`",
            );
        }
    }

    fn event(&mut self, at: &str, value: &'a Value) {
        self.known_event(at, value.as_str().unwrap_or_default());
    }

    fn known_event(&mut self, at: &str, event: &str) {
        if !self.events.contains_key(event) {
            let what = format!("`{event}` is no event of the wire `{}`", self.wire);
            self.report(at, what, "write the `type` of one of its events");
        }
    }

    fn no_pointer(&mut self, at: &str, value: &Value) {
        let what = format!("{value} is no JSON pointer into a line");
        self.report(at, what, "begin with `/`");
    }

    fn pointer(&mut self, at: &str, value: &'a Value, map: &'a Map<String, Value>) {
        match value.as_str() {
            Some(pointer) => self.known(at, pointer, map),
            None => self.no_pointer(at, value),
        }
    }

    /// A pointer has to lead to a field of a line that `map`, a pattern or a pair, is about.
    fn known(&mut self, at: &str, pointer: &'a str, map: &'a Map<String, Value>) {
        self.pointers.entry(pointer).or_default();
        let Some(path) = pointer.strip_prefix('/') else {
            return self.no_pointer(at, &pointer.into());
        };
        let event = |pattern: &'a Value| pattern.get("event").and_then(Value::as_str);
        let own = map.get("event").and_then(Value::as_str);
        let lists = map.values().filter_map(Value::as_array).flatten();
        let events: Vec<&str> = own.into_iter().chain(lists.filter_map(event)).collect();
        // An unknown one has been reported.
        if events.iter().any(|event| !self.events.contains_key(event)) {
            return;
        }
        let titles = events.iter().filter_map(|event| self.events.get(event));
        let titles = titles.flatten().copied().chain(self.union.stamp.as_deref());
        let path: Vec<String> = path
            .split('/')
            .map(|step| step.replace("~1", "/").replace("~0", "~"))
            .collect();
        if !titles.into_iter().any(|title| self.def_has(title, &path)) {
            let what = format!("no line has a field at `{pointer}`");
            self.report(at, what, "write a JSON pointer to a field of the event");
        }
    }

    fn def_has(&self, title: &str, path: &[String]) -> bool {
        let Some((first, rest)) = path.split_first() else {
            return true;
        };
        match self.defs.get(title).map(|def| &def.shape) {
            Some(Shape::Object(object)) => {
                let mut fields = object.fields.iter();
                let field = fields.find(|field| field.name == *first);
                field.is_some_and(|field| self.type_has(&field.ty, rest))
            }
            Some(Shape::Union(union)) => {
                let mut members = union.members.iter();
                members.any(|member| self.def_has(&member.title, path))
            }
            Some(Shape::StringOrArray(either)) => self.type_has(&either.items, rest),
            Some(Shape::Enum(_)) => false,
            None => true,
        }
    }

    fn type_has(&self, ty: &Type, path: &[String]) -> bool {
        match (ty, path) {
            (_, []) | (Type::Any | Type::Map, _) => true,
            (Type::Ref(title), path) => self.def_has(title, path),
            (Type::Nullable(inner), path) => self.type_has(inner, path),
            (Type::Array(items), [_, rest @ ..]) => self.type_has(items, rest),
            _ => false,
        }
    }
}

/// The items of the array at `key`.
fn items<'v>(value: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> {
    let list = value.get(key).and_then(Value::as_array);
    list.into_iter().flatten()
}

/// The strings of the array at `key`.
fn strings<'v>(value: &'v Value, key: &str) -> Vec<&'v str> {
    items(value, key).filter_map(Value::as_str).collect()
}
