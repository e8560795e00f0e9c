//! An interpreter of `schema/grammar.json`, written from the description in that file alone.
//!
//! It knows states, lines that are legal anywhere, and pairs; the grammar's rules in words are the
//! business of [`crate::fold`].

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::Value;

use crate::check::kind;

/// The grammar as published.
pub(crate) const GRAMMAR: &str = include_str!("../../schema/grammar.json");

static WIRES: LazyLock<BTreeMap<String, Grammar>> = LazyLock::new(|| {
    let file: File = serde_json::from_str(GRAMMAR).unwrap();
    file.wires
});

/// The grammar of the native wire.
pub(crate) fn native() -> &'static Grammar {
    of("quipu")
}

/// The grammar of a wire.
pub(crate) fn of(wire: &str) -> &'static Grammar {
    &WIRES[wire]
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "description")]
    _description: String,
    #[serde(rename = "format")]
    _format: Value,
    wires: BTreeMap<String, Grammar>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Grammar {
    initial: String,
    r#final: Vec<String>,
    #[serde(default)]
    interrupted: Vec<String>,
    #[serde(default, rename = "undocumented")]
    _undocumented: Value,
    states: BTreeMap<String, State>,
    anywhere: Vec<Anywhere>,
    pairs: Vec<Pair>,
    pub(crate) rules: Vec<Rule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    #[serde(rename = "description")]
    _description: String,
    #[serde(default, rename = "promise")]
    _promise: Value,
    on: Vec<Step>,
}

#[derive(Deserialize)]
struct Step {
    to: String,
    /// Legal for others, not for Quipu.
    #[serde(default)]
    foreign: bool,
    #[serde(flatten)]
    pattern: Pattern,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Anywhere {
    /// Legal for others, not for Quipu.
    #[serde(default)]
    foreign: bool,
    events: Vec<String>,
    r#in: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pair {
    name: String,
    #[serde(rename = "description")]
    _description: String,
    #[serde(default, rename = "promise")]
    _promise: Value,
    open: Vec<Pattern>,
    within: Vec<Pattern>,
    close: Vec<Pattern>,
    #[serde(default)]
    alone: Vec<Pattern>,
    #[serde(default)]
    inside: Vec<Pattern>,
    key: Option<String>,
    same: Vec<String>,
    scope: Option<Scope>,
    #[serde(default)]
    unique: bool,
    #[serde(default)]
    closed_before: Vec<Pattern>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Scope {
    reset: Vec<Pattern>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rule {
    pub(crate) name: String,
    #[serde(rename = "events")]
    _events: Vec<String>,
    #[serde(rename = "description")]
    _description: String,
    #[serde(default, rename = "promise")]
    _promise: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pattern {
    event: String,
    #[serde(default)]
    r#where: BTreeMap<String, Vec<Value>>,
    #[serde(default)]
    absent: Vec<String>,
    r#in: Option<Vec<String>>,
    #[serde(default)]
    same: Vec<String>,
    #[serde(default, rename = "promise")]
    _promise: Value,
}

impl Pattern {
    fn matches(&self, line: &Value, state: &str) -> bool {
        let listed = |(at, values): (&String, &Vec<Value>)| {
            line.pointer(at).is_some_and(|value| values.contains(value))
        };
        kind(line) == self.event
            && self.r#where.iter().all(listed)
            && self.absent.iter().all(|at| line.pointer(at).is_none())
            && self
                .r#in
                .as_ref()
                .is_none_or(|states| states.iter().any(|name| name == state))
    }
}

/// What one pair has open, by key.
#[derive(Default)]
struct Open<'a> {
    items: BTreeMap<String, &'a Value>,
    used: BTreeSet<String>,
}

impl Grammar {
    /// What is wrong with the order of the lines. A broken state ends the walk: all that follows
    /// would only be noise.
    pub(crate) fn findings(&self, lines: &[Value]) -> Vec<String> {
        self.walk(lines, &self.r#final)
    }

    /// The same for a stream that a signal has ended.
    pub(crate) fn findings_interrupted(&self, lines: &[Value]) -> Vec<String> {
        self.walk(lines, &self.interrupted)
    }

    /// The same for a stream that ended by itself.
    pub(crate) fn findings_complete(&self, lines: &[Value]) -> Vec<String> {
        let ends = self.r#final.iter();
        let ends = ends.filter(|end| !self.interrupted.contains(end));
        self.walk(lines, &ends.cloned().collect::<Vec<_>>())
    }

    fn walk(&self, lines: &[Value], ends: &[String]) -> Vec<String> {
        let mut findings = Vec::new();
        let mut state = self.initial.as_str();
        let mut open: Vec<Open<'_>> = self.pairs.iter().map(|_| Open::default()).collect();
        for (index, line) in lines.iter().enumerate() {
            let at = format!("line {} ({})", index + 1, kind(line));
            let Some(next) = self.step(state, line) else {
                findings.push(format!("{at}: not legal in state `{state}`"));
                return findings;
            };
            for (pair, open) in self.pairs.iter().zip(&mut open) {
                let wrong = pair.apply(open, line, state);
                findings.extend(
                    wrong
                        .into_iter()
                        .map(|what| format!("{at}: {}: {what}", pair.name)),
                );
            }
            state = next;
        }
        if !ends.iter().any(|name| name == state) {
            findings.push(format!("the stream ends in state `{state}`"));
        }
        for (pair, open) in self.pairs.iter().zip(&open) {
            if !pair.closed_before.is_empty() {
                let left = open.items.keys();
                findings.extend(left.map(|key| format!("at the end: {} {key} is open", pair.name)));
            }
        }
        findings
    }

    fn step<'a>(&'a self, state: &'a str, line: &Value) -> Option<&'a str> {
        let mut steps = self.states.get(state)?.on.iter();
        if let Some(step) = steps.find(|step| !step.foreign && step.pattern.matches(line, state)) {
            return Some(&step.to);
        }
        let mut anywhere = self.anywhere.iter().filter(|entry| !entry.foreign);
        let legal = anywhere.any(|entry| {
            entry.events.iter().any(|name| name == kind(line))
                && entry.r#in.iter().any(|name| name == state)
        });
        legal.then_some(state)
    }

    /// The types for which there is a step or a place.
    pub(crate) fn types(&self) -> BTreeSet<&str> {
        let steps = self.states.values().flat_map(|state| &state.on);
        let steps = steps.map(|step| step.pattern.event.as_str());
        steps
            .chain(
                self.anywhere
                    .iter()
                    .flat_map(|e| &e.events)
                    .map(String::as_str),
            )
            .collect()
    }

    /// Names that are used but not defined.
    pub(crate) fn dangling(&self) -> Vec<&str> {
        let to = self
            .states
            .values()
            .flat_map(|state| &state.on)
            .map(|step| &step.to);
        let closers = self.pairs.iter().flat_map(|pair| &pair.closed_before);
        let r#in = closers
            .filter_map(|pattern| pattern.r#in.as_ref())
            .flatten();
        let places = self.anywhere.iter().flat_map(|entry| &entry.r#in);
        let names = to
            .chain(r#in)
            .chain(places)
            .chain(&self.r#final)
            .chain(&self.interrupted)
            .chain([&self.initial]);
        names
            .map(String::as_str)
            .filter(|name| !self.states.contains_key(*name))
            .collect()
    }
}

impl Pair {
    fn apply<'a>(&self, open: &mut Open<'a>, line: &'a Value, state: &str) -> Vec<String> {
        let among = |patterns: &[Pattern]| patterns.iter().any(|p| p.matches(line, state));
        let mut wrong = Vec::new();
        for pattern in self.closed_before.iter().filter(|p| p.matches(line, state)) {
            for (key, opener) in &open.items {
                if pattern
                    .same
                    .iter()
                    .all(|at| opener.pointer(at) == line.pointer(at))
                {
                    wrong.push(format!("{key} is still open"));
                }
            }
        }
        if self.scope.as_ref().is_some_and(|scope| among(&scope.reset)) {
            *open = Open::default();
        }
        let (opens, within) = (among(&self.open), among(&self.within));
        let key = self.key_of(line);
        if among(&self.close) {
            match open.items.remove(&key) {
                Some(opener) => wrong.extend(self.differs(opener, line)),
                None if among(&self.alone) => {}
                None => wrong.push(format!("closes {key}, which is not open")),
            }
        } else if within && (!opens || open.items.contains_key(&key)) {
            match open.items.get(&key) {
                Some(opener) => wrong.extend(self.differs(opener, line)),
                None => wrong.push(format!("needs {key} open")),
            }
        } else if opens {
            if self.unique && open.used.contains(&key) {
                wrong.push(format!("{key} was used before"));
            }
            open.used.insert(key.clone());
            if open.items.insert(key.clone(), line).is_some() {
                wrong.push(format!("{key} is open already"));
            }
        }
        if among(&self.inside) && open.items.is_empty() {
            wrong.push("needs an open one".into());
        }
        wrong
    }

    fn key_of(&self, line: &Value) -> String {
        let key = self.key.as_ref().and_then(|at| line.pointer(at));
        key.map_or_else(|| "(the only one)".into(), Value::to_string)
    }

    fn differs(&self, opener: &Value, line: &Value) -> Option<String> {
        let mut what = String::new();
        for at in &self.same {
            if let (Some(opened), Some(now)) = (opener.pointer(at), line.pointer(at))
                && opened != now
            {
                let _ = write!(what, "{at} was {opened} and is {now}; ");
            }
        }
        (!what.is_empty()).then_some(what)
    }
}
