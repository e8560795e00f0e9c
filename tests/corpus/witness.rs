//! The witness of the suite as a judge of whole streams, under any grammar.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use quipu::contract::Wire;
use serde_json::{Value, json};

use crate::check::kind;
use crate::{fold, grammar, wire_check};

/// What the witness found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    /// The line, from 1; the last one for what is missing at the end.
    pub(crate) line: usize,
    pub(crate) rule: String,
}

/// `schema/grammar.json`.
pub(crate) static GRAMMAR: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(grammar::GRAMMAR).unwrap());

/// The grammar of one wire as it is in the file.
pub(crate) fn published(wire: Wire) -> &'static Value {
    &GRAMMAR["wires"][wire.name()]
}

/// A judge by one grammar.
pub(crate) struct Witness {
    wire: Wire,
    grammar: grammar::Grammar,
    words: BTreeSet<String>,
}

impl Witness {
    /// A judge by the grammar of a wire, in the form of the file.
    pub(crate) fn new(wire: Wire, grammar: &Value) -> Self {
        let words = grammar["rules"].as_array().unwrap().iter();
        let words = words
            .map(|rule| rule["name"].as_str().unwrap().to_owned())
            .collect();
        let grammar = serde_json::from_value(grammar.clone()).unwrap();
        Self {
            wire,
            grammar,
            words,
        }
    }

    /// All that is wrong with a stream, by line.
    pub(crate) fn findings(&self, lines: &[Value]) -> Vec<Finding> {
        let mut findings = self.order(lines);
        findings.extend(self.in_words(&words(self.wire, lines)).cloned());
        findings.sort_by_key(|finding| finding.line);
        findings
    }

    /// What is wrong with the order alone.
    pub(crate) fn order(&self, lines: &[Value]) -> Vec<Finding> {
        let found = self.grammar.findings(lines).into_iter();
        found
            .map(|found| read(&found, "order/", lines.len()))
            .collect()
    }

    /// Those of the findings in words that are rules of this grammar.
    pub(crate) fn in_words<'f>(&self, words: &'f [Finding]) -> impl Iterator<Item = &'f Finding> {
        words
            .iter()
            .filter(|found| self.words.contains(found.rule.trim_start_matches("rule/")))
    }

    /// Whether nothing is wrong with a stream, of which [`words`] are known.
    pub(crate) fn passes(&self, lines: &[Value], words: &[Finding]) -> bool {
        self.in_words(words).next().is_none() && self.order(lines).is_empty()
    }
}

/// What is wrong with a stream by the rules in words, whether the grammar has them or not.
pub(crate) fn words(wire: Wire, lines: &[Value]) -> Vec<Finding> {
    let words = if wire == Wire::Dreb {
        let mut words = wire_check::snapshots(lines);
        words.extend(fold::findings(&wire_check::delta_only(lines)));
        for (index, line) in lines.iter().enumerate() {
            if kind(line) == "background_agent_event" && kind(&line["event"]) == "session" {
                words.push(format!(
                    "line {} (background_agent_event): child_lines: a header",
                    index + 1
                ));
            }
        }
        words
    } else {
        fold::findings(lines)
    };
    words.iter().map(|found| read(found, "rule/", 0)).collect()
}

/// A finding of the suite in its parts.
fn read(found: &str, group: &str, count: usize) -> Finding {
    let named = |state: &str| state.trim_end_matches('`').to_owned();
    if let Some((_, state)) = found.split_once("the stream ends in state `") {
        return Finding {
            line: count,
            rule: format!("{group}{}", named(state)),
        };
    }
    if let Some(rest) = found.strip_prefix("at the end: ") {
        let pair = rest.split(' ').next().unwrap();
        return Finding {
            line: count,
            rule: format!("{group}{pair}"),
        };
    }
    let (at, what) = found.split_once(": ").unwrap();
    let line = at
        .strip_prefix("line ")
        .unwrap()
        .split(' ')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    let rule = match what.strip_prefix("not legal in state `") {
        Some(state) => named(state),
        None => what.split(':').next().unwrap().to_owned(),
    };
    Finding {
        line,
        rule: format!("{group}{rule}"),
    }
}

/// A native stream on another wire.
pub(crate) fn project(wire: Wire, native: &[Value]) -> Vec<Value> {
    let bytes = wire_check::project(wire, native);
    let lines = bytes
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty());
    lines
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect()
}

/// The state before each line of a legal stream, and after the last.
pub(crate) fn states(wire: Wire, lines: &[Value]) -> Vec<String> {
    let grammar = published(wire);
    let mut states = vec![grammar["initial"].as_str().unwrap().to_owned()];
    for line in lines {
        let state = states.last().unwrap();
        let steps = grammar["states"][state]["on"].as_array().unwrap();
        let step = steps.iter().find(|step| matches(step, line));
        let next = step
            .map_or(state.as_str(), |step| step["to"].as_str().unwrap())
            .to_owned();
        states.push(next);
    }
    states
}

fn matches(pattern: &Value, line: &Value) -> bool {
    let listed = |(at, values): (&String, &Value)| {
        line.pointer(at)
            .is_some_and(|value| values.as_array().unwrap().contains(value))
    };
    pattern["event"] == line["type"]
        && pattern["where"]
            .as_object()
            .is_none_or(|all| all.iter().all(listed))
        && pattern["absent"].as_array().is_none_or(|all| {
            all.iter()
                .all(|at| line.pointer(at.as_str().unwrap()).is_none())
        })
}

/// Whether the lines that are legal anywhere are legal in that state.
pub(crate) fn open_to_all(wire: Wire, state: &str) -> bool {
    published(wire)["anywhere"]
        .as_array()
        .unwrap()
        .iter()
        .all(|entry| entry["in"].as_array().unwrap().contains(&json!(state)))
}
