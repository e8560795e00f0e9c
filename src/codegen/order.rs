//! The grammar in words: where an event stands in a stream.

use super::model::Schema;
use serde_json::Value;
use std::fmt::Write as _;

/// The grammar of one wire; everything is silent if there is none.
pub(super) struct Order<'a>(Option<&'a Value>);

/// What a line does to a pair, with the words for it.
const ROLES: [(&str, &str); 6] = [
    ("open", "opens"),
    ("within", "stands within"),
    ("close", "closes"),
    ("alone", "may stand without an open"),
    ("inside", "needs an open"),
    ("closed_before", "needs closed:"),
];

/// The event whose order is asked for.
struct Asked<'a> {
    event: &'a str,
    second: Option<&'a (String, String)>,
}

impl Asked<'_> {
    /// Whether `pattern` is about this event, in this form if it has several.
    fn is_meant_by(&self, pattern: &Value) -> bool {
        let names = pattern.get("event").and_then(Value::as_str) == Some(self.event);
        let other_form = self.second.is_some_and(|(key, value)| {
            let allowed = pattern
                .get("where")
                .and_then(|at| at.get(format!("/{key}")));
            allowed.is_some_and(|allowed| !list(allowed).contains(&&**value))
        });
        names && !other_form
    }
}

/// Whether others than Quipu do it, and Quipu does not.
fn is_foreign(entry: &Value) -> bool {
    entry.get("foreign").and_then(Value::as_bool) == Some(true)
}

impl<'a> Order<'a> {
    pub(super) fn of(schema: &'a Schema, wire: &str) -> Self {
        Self(
            schema
                .grammar
                .as_ref()
                .and_then(|grammar| grammar.get("wires")?.get(wire)),
        )
    }

    fn list(&self, key: &str) -> impl Iterator<Item = &'a Value> {
        self.0
            .and_then(|grammar| grammar.get(key)?.as_array())
            .into_iter()
            .flatten()
    }

    fn states(&self) -> impl Iterator<Item = (&'a String, &'a Value)> {
        self.0
            .and_then(|grammar| grammar.get("states")?.as_object())
            .into_iter()
            .flatten()
    }

    /// The order of the event `event`; `second` is its second discriminator and narrows it.
    pub(super) fn event(&self, text: &mut String, event: &str, second: Option<&(String, String)>) {
        if self.0.is_none() {
            return;
        }
        let asked = Asked { event, second };
        let lines = [
            self.steps(&asked),
            self.anywhere(&asked),
            self.pairs(&asked),
            self.rules(&asked),
        ];
        text.push_str("\nOrder:\n\n");
        for line in lines.into_iter().flatten() {
            let _ = writeln!(text, "- {line}");
        }
    }

    /// The steps that the event makes; those of one kind are one sentence.
    fn steps(&self, asked: &Asked) -> Vec<String> {
        let mut steps: Vec<(String, Vec<&str>)> = Vec::new();
        for (state, body) in self.states() {
            let on = body
                .get("on")
                .and_then(Value::as_array)
                .into_iter()
                .flatten();
            for pattern in on.filter(|pattern| asked.is_meant_by(pattern) && !is_foreign(pattern)) {
                let to = pattern
                    .get("to")
                    .and_then(Value::as_str)
                    .unwrap_or_default();
                let then = if to == state {
                    String::new()
                } else {
                    format!("; leads to `{to}`")
                };
                let step = format!("{}{then}", conditions(pattern));
                match steps.iter_mut().find(|(other, _)| *other == step) {
                    Some((_, states)) => states.push(state),
                    None => steps.push((step, vec![state])),
                }
            }
        }
        steps
            .into_iter()
            .map(|(step, states)| format!("in {}{step}", names(&states)))
            .collect()
    }

    fn anywhere(&self, asked: &Asked) -> Vec<String> {
        let mut lines = Vec::new();
        for entry in self.list("anywhere") {
            if !strings(entry, "events").contains(&asked.event) || is_foreign(entry) {
                continue;
            }
            let legal = strings(entry, "in");
            let states = self.states().map(|(state, _)| state.as_str());
            let rest: Vec<&str> = states.filter(|state| !legal.contains(state)).collect();
            lines.push(if rest.len() < legal.len() {
                format!(
                    "in any state but {}, which it does not change",
                    names(&rest)
                )
            } else {
                format!("in {}, which it does not change", names(&legal))
            });
        }
        lines
    }

    fn pairs(&self, asked: &Asked) -> Vec<String> {
        let mut lines = Vec::new();
        for pair in self.list("pairs") {
            let name = pair.get("name").and_then(Value::as_str).unwrap_or_default();
            for (role, words) in ROLES {
                let patterns = pair
                    .get(role)
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten();
                for pattern in patterns.filter(|pattern| asked.is_meant_by(pattern)) {
                    let key = pair
                        .get("key")
                        .and_then(Value::as_str)
                        .filter(|_| role == "open");
                    let key = key.map_or(String::new(), |key| format!(", told apart by `{key}`"));
                    lines.push(format!("{words} `{name}`{key}{}", conditions(pattern)));
                }
            }
        }
        lines
    }

    fn rules(&self, asked: &Asked) -> Vec<String> {
        self.list("rules")
            .filter(|rule| strings(rule, "events").contains(&asked.event))
            .filter_map(|rule| rule.get("description")?.as_str().map(str::to_owned))
            .collect()
    }

    /// The states and pairs by themselves.
    pub(super) fn summary(&self, text: &mut String) {
        if self.0.is_none() {
            return;
        }
        text.push_str(
            "\n## Order\n\nA stream begins in the state `start`; each line is a step from one \
             state to the next, and opens, continues or closes pairs. The same in a form for \
             programs: `schema/grammar.json`.\n\n| state | meaning |\n|---|---|\n",
        );
        for (state, body) in self.states() {
            let meaning = body
                .get("description")
                .and_then(Value::as_str)
                .unwrap_or_default();
            let _ = writeln!(text, "| `{state}` | {} |", meaning.replace('|', "\\|"));
        }
        text.push_str("\n| pair | meaning |\n|---|---|\n");
        for pair in self.list("pairs") {
            let text_of = |key: &str| pair.get(key).and_then(Value::as_str).unwrap_or_default();
            let meaning = text_of("description").replace('|', "\\|");
            let _ = writeln!(text, "| `{}` | {meaning} |", text_of("name"));
        }
    }
}

/// What a pattern asks of a line besides its type.
fn conditions(pattern: &Value) -> String {
    let mut text = String::new();
    let wheres = pattern
        .get("where")
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    for (pointer, allowed) in wheres {
        let allowed: Vec<String> = allowed
            .as_array()
            .into_iter()
            .flatten()
            .map(|value| match value {
                Value::String(text) => format!("`{text}`"),
                other => format!("`{other}`"),
            })
            .collect();
        let _ = write!(text, ", with `{pointer}` {}", either(&allowed));
    }
    if !strings(pattern, "absent").is_empty() {
        let _ = write!(text, ", without {}", names(&strings(pattern, "absent")));
    }
    if !strings(pattern, "in").is_empty() {
        let _ = write!(
            text,
            ", when it comes in {}",
            names(&strings(pattern, "in"))
        );
    }
    if !strings(pattern, "same").is_empty() {
        let _ = write!(text, ", of the same {}", names(&strings(pattern, "same")));
    }
    text
}

/// The strings of the array at `key`.
fn strings<'v>(value: &'v Value, key: &str) -> Vec<&'v str> {
    value.get(key).map(list).unwrap_or_default()
}

fn list(value: &Value) -> Vec<&str> {
    value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

fn names(names: &[&str]) -> String {
    either(
        &names
            .iter()
            .map(|name| format!("`{name}`"))
            .collect::<Vec<_>>(),
    )
}

/// `a`, `a or b`, `a, b or c`.
fn either(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
