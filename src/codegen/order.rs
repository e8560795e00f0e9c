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
        let of_event = |pattern: &&Value| {
            let names = pattern.get("event").and_then(Value::as_str) == Some(event);
            let other_form = second.is_some_and(|(key, value)| {
                let allowed = pattern
                    .pointer("/where")
                    .and_then(|w| w.get(format!("/{key}")));
                allowed.and_then(Value::as_array).is_some_and(|allowed| {
                    !allowed
                        .iter()
                        .any(|allowed| allowed.as_str() == Some(value))
                })
            });
            names && !other_form
        };
        text.push_str("\nOrder:\n\n");
        // Steps that lead to the same state under the same conditions are one sentence.
        let mut steps: Vec<(String, Vec<&str>)> = Vec::new();
        for (state, body) in self.states() {
            let on = body
                .get("on")
                .and_then(Value::as_array)
                .into_iter()
                .flatten();
            for pattern in on.filter(of_event) {
                let to = pattern
                    .get("to")
                    .and_then(Value::as_str)
                    .unwrap_or_default();
                let stays = to == state;
                let then = if stays {
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
        for (step, states) in steps {
            let _ = writeln!(text, "- in {}{step}", names(&states));
        }
        for entry in self.list("anywhere") {
            let strings = |key: &str| -> Vec<&str> {
                let list = entry
                    .get(key)
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten();
                list.filter_map(Value::as_str).collect()
            };
            if strings("events").contains(&event) {
                let legal = strings("in");
                let rest: Vec<&str> = self
                    .states()
                    .map(|(state, _)| state.as_str())
                    .filter(|state| !legal.contains(state))
                    .collect();
                let _ = if rest.len() < legal.len() {
                    writeln!(
                        text,
                        "- in any state but {}, which it does not change",
                        names(&rest)
                    )
                } else {
                    writeln!(text, "- in {}, which it does not change", names(&legal))
                };
            }
        }
        for pair in self.list("pairs") {
            let name = pair.get("name").and_then(Value::as_str).unwrap_or_default();
            let mut said: Vec<String> = Vec::new();
            for (role, words) in ROLES {
                let patterns = pair
                    .get(role)
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten();
                for pattern in patterns.filter(of_event) {
                    let key = pair
                        .get("key")
                        .and_then(Value::as_str)
                        .filter(|_| role == "open");
                    let key = key.map_or(String::new(), |key| format!(", told apart by `{key}`"));
                    said.push(format!("{words} `{name}`{key}{}", conditions(pattern)));
                }
            }
            for line in said {
                let _ = writeln!(text, "- {line}");
            }
        }
        for rule in self.list("rules") {
            let events = rule
                .get("events")
                .and_then(Value::as_array)
                .into_iter()
                .flatten();
            if events.filter_map(Value::as_str).any(|name| name == event) {
                let description = rule.get("description").and_then(Value::as_str);
                let _ = writeln!(text, "- {}", description.unwrap_or_default());
            }
        }
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
    let strings = |key: &str| -> Vec<&str> {
        let list = pattern
            .get(key)
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        list.filter_map(Value::as_str).collect()
    };
    if !strings("absent").is_empty() {
        let _ = write!(text, ", without {}", names(&strings("absent")));
    }
    if !strings("in").is_empty() {
        let _ = write!(text, ", when it comes in {}", names(&strings("in")));
    }
    if !strings("same").is_empty() {
        let _ = write!(text, ", of the same {}", names(&strings("same")));
    }
    text
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
