//! The streams: the witness of the suite gives the verdicts that the corpus names, and no rule of
//! the grammar could go without one of them telling.

use std::collections::BTreeMap;
use std::fs;

use quipu::contract::Wire;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::by_hand;
use crate::edits;
use crate::files::folder;
use crate::grammar_rules::{Rule, implied, rules, without};
use crate::lines_judged::none;
use crate::scenarios;
use crate::verify;
use crate::witness::{Finding, Witness, published, words};

/// An illegal stream: one edit of a legal one.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Illegal {
    pub(crate) name: String,
    pub(crate) base: String,
    pub(crate) edit: Value,
    pub(crate) line: usize,
    pub(crate) rule: String,
}

impl Illegal {
    pub(crate) fn print(&self) -> Value {
        json!({
            "name": self.name, "base": self.base, "edit": self.edit, "line": self.line,
            "rule": self.rule,
        })
    }
}

/// Which case tells when a rule is gone.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Proof {
    pub(crate) rule: String,
    #[serde(default)]
    pub(crate) case: String,
    /// Whether the case passes then, being illegal, or no longer passes, being legal.
    #[serde(default)]
    pub(crate) passes: bool,
    /// Rules that say the same: the case tells when these are gone, and then this one too.
    #[serde(default)]
    pub(crate) with: Vec<String>,
    /// Why no case can tell: the schema says the same.
    pub(crate) implied: Option<String>,
}

/// A stream and what is wrong with it by the rules in words.
pub(crate) struct Case {
    pub(crate) lines: Vec<Value>,
    words: Vec<Finding>,
}

impl Case {
    pub(crate) fn new(wire: Wire, lines: Vec<Value>) -> Self {
        let words = words(wire, &lines);
        Self { lines, words }
    }
}

impl Proof {
    /// Whether the case tells: it has one verdict while the rule is there and the twins are gone, and
    /// the other once the rule is gone too.
    pub(crate) fn holds(
        &self,
        wire: Wire,
        rules: &[Rule],
        rule: &Rule,
        cases: &BTreeMap<String, Case>,
    ) -> bool {
        if self.implied.is_some() {
            let why = rule
                .pattern
                .as_ref()
                .and_then(|pattern| implied(wire, pattern));
            return why == self.implied;
        }
        let named = |name: &String| rules.iter().find(|rule| rule.name == *name);
        let twins: Option<Vec<&Rule>> = self.with.iter().map(named).collect();
        let (Some(twins), Some(case)) = (twins, cases.get(&self.case)) else {
            return false;
        };
        let passes = |gone: &[&Rule]| {
            let grammar = without(published(wire), gone.iter().copied());
            Witness::new(wire, &grammar).passes(&case.lines, &case.words)
        };
        let all: Vec<&Rule> = twins.iter().copied().chain([rule]).collect();
        passes(&twins) != self.passes
            && passes(&all) == self.passes
            && verify::tells(wire, &case.lines, self.passes, &twins, rule)
    }
}

/// A file of a wire with an entry a line; none if there is no such file yet.
fn stored<T: for<'a> Deserialize<'a>>(wire: Wire, file: &str) -> Vec<T> {
    let path = folder().join("streams").join(wire.name()).join(file);
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The illegal streams.
pub(crate) fn illegal(wire: Wire) -> Vec<Illegal> {
    stored(wire, "illegal.jsonl")
}

/// Those that break the grammar, of the streams that Quipu writes.
pub(crate) fn in_disorder(wire: Wire) -> impl Iterator<Item = Illegal> {
    let other = |case: &Illegal| {
        case.base.starts_with("foreign/")
            || by_hand::GROUPS
                .iter()
                .any(|group| case.rule.starts_with(group))
    };
    illegal(wire).into_iter().filter(move |case| !other(case))
}

/// The cases that tell when a rule is gone.
pub(crate) fn proofs(wire: Wire) -> Vec<Proof> {
    stored(wire, "rules.jsonl")
}

pub(crate) fn each_wire(mut then: impl FnMut(Wire, BTreeMap<String, Vec<Value>>)) {
    for wire in Wire::ALL {
        then(wire, scenarios::streams(wire).into_iter().collect());
    }
}

#[test]
fn legal_streams_pass() {
    let mut wrong = Vec::new();
    each_wire(|wire, legal| {
        let witness = Witness::new(wire, published(wire));
        for (name, lines) in &legal {
            let findings = witness.findings(lines);
            if !findings.is_empty() {
                wrong.push(format!("{} {name}: {findings:?}", wire.name()));
            }
        }
    });
    none(&wrong);
}

#[test]
fn illegal_streams_are_found_where_the_edit_is() {
    let mut wrong = Vec::new();
    each_wire(|wire, legal| {
        let witness = Witness::new(wire, published(wire));
        for case in in_disorder(wire) {
            let findings = witness.findings(&edits::apply(&legal[&case.base], &case.edit));
            let found = findings
                .first()
                .map(|finding| (finding.line, finding.rule.as_str()));
            if found != Some((case.line, &case.rule)) {
                wrong.push(format!("{}: {case:?}: {found:?}", wire.name()));
            }
        }
    });
    none(&wrong);
}

#[test]
fn no_rule_of_the_grammar_goes_unnoticed() {
    let mut wrong = Vec::new();
    each_wire(|wire, legal| {
        let grammar = published(wire);
        let rules = rules(wire, grammar);
        let mut cases: BTreeMap<String, Case> = BTreeMap::new();
        for (name, lines) in &legal {
            cases.insert(name.clone(), Case::new(wire, lines.clone()));
        }
        for illegal in in_disorder(wire) {
            let lines = edits::apply(&legal[&illegal.base], &illegal.edit);
            let before = cases.insert(illegal.name.clone(), Case::new(wire, lines));
            assert!(before.is_none(), "{} is there twice", illegal.name);
        }
        let proofs = proofs(wire);
        for rule in rules.iter().filter(|rule| !rule.foreign) {
            let proof = proofs.iter().find(|proof| proof.rule == rule.name);
            if !proof.is_some_and(|proof| proof.holds(wire, &rules, rule, &cases)) {
                wrong.push(format!("{}: {}", wire.name(), rule.name));
            }
        }
        println!(
            "{}: {} rules, {} cases",
            wire.name(),
            rules.len(),
            cases.len()
        );
    });
    none(&wrong);
}
