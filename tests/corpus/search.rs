//! Chooses among the edits of the pool: for each rule of the grammar a case that tells when it is
//! gone. What is found is stored; a normal run only proves it again.

use std::collections::{BTreeMap, BTreeSet};

use quipu::codegen::validate::Validator;
use quipu::contract::Wire;
use serde_json::{Value, json};

use crate::edits;
use crate::grammar_rules::{Rule, rules, without};
use crate::lines_judged;
use crate::pool;
use crate::streams::{Illegal, Proof};
use crate::witness::{Finding, Witness, published};

type Streams = [(String, Vec<Value>)];

/// An edit that makes a stream illegal.
struct Candidate<'s> {
    base: &'s str,
    edit: Value,
    lines: Vec<Value>,
    first: Finding,
    /// The rules of all findings, those behind a broken state included.
    groups: BTreeSet<String>,
    /// The states that had to be opened to see them.
    opened: BTreeSet<String>,
}

/// The illegal streams of a wire and the proofs for its rules; and the rules without one.
pub(crate) fn search(wire: Wire, legal: &Streams) -> (Vec<Illegal>, Vec<Proof>, Vec<String>) {
    let grammar = published(wire);
    let rules = rules(wire, grammar);
    let search = Search {
        wire,
        grammar,
        rules: &rules,
        legal,
        candidates: candidates(wire, legal, &rules),
    };
    let (mut proofs, mut survivors, mut chosen) = (Vec::new(), Vec::new(), BTreeSet::new());
    for rule in &rules {
        match search.proof(rule) {
            Some((proof, candidate)) => {
                chosen.extend(candidate);
                proofs.push(proof);
            }
            None => survivors.push(format!("{}: {}", wire.name(), rule.name)),
        }
    }
    // One of each kind besides, whether a rule needs it or not.
    let mut kinds = BTreeSet::new();
    for at in &chosen {
        kinds.insert(search.candidates[*at].kind());
    }
    for (at, candidate) in search.candidates.iter().enumerate() {
        if kinds.insert(candidate.kind()) {
            chosen.insert(at);
        }
    }
    let illegal = chosen
        .into_iter()
        .map(|at| search.candidates[at].illegal(at))
        .collect();
    (illegal, proofs, survivors)
}

impl Candidate<'_> {
    fn kind(&self) -> (String, String) {
        (self.first.rule.clone(), self.edit["op"].to_string())
    }

    fn illegal(&self, _at: usize) -> Illegal {
        Illegal {
            name: self.name(),
            base: self.base.to_owned(),
            edit: self.edit.clone(),
            line: self.first.line,
            rule: self.first.rule.clone(),
        }
    }

    fn name(&self) -> String {
        let text = |at: &str| self.edit[at].as_str().unwrap_or_default().to_owned();
        let value = &self.edit["value"];
        let value = match value {
            Value::Object(map) if map.contains_key("type") => {
                let more = [
                    "/message/role",
                    "/message/stopReason",
                    "/assistantMessageEvent/type",
                    "/reason",
                    "/phase",
                    "/source",
                    "/success",
                    "/willRetry",
                    "/aborted",
                    "/status",
                    "/step",
                    "/agentId",
                    "/toolCallId",
                    "/hookRunId",
                    "/event/type",
                    "/message/toolCallId",
                    "/result/summary",
                    "/requestId",
                    "/assistantMessageEvent/contentIndex",
                    "/assistantMessageEvent/delta",
                ];
                let more = more
                    .iter()
                    .filter_map(|at| value.pointer(at))
                    .map(|value| format!(" {value}").replace('"', ""));
                format!(
                    " {}{}",
                    map["type"].as_str().unwrap(),
                    more.collect::<String>()
                )
            }
            Value::Null => String::new(),
            value => format!(" {value}").chars().take(40).collect(),
        };
        format!(
            "{}: {} {}{}{}",
            self.base,
            text("op"),
            self.edit["line"],
            if text("pointer").is_empty() {
                String::new()
            } else {
                format!(" {}", text("pointer"))
            },
            value
        )
    }
}

/// The candidates of a wire: sound lines in an illegal order, a few of each sort.
fn candidates<'s>(wire: Wire, legal: &'s Streams, rules: &[Rule]) -> Vec<Candidate<'s>> {
    let witness = Witness::new(wire, published(wire));
    let document = &lines_judged::cases(wire.name()).0;
    let validator = Validator::new(document);
    let mut known: BTreeMap<String, bool> = BTreeMap::new();
    let mut sorts: BTreeMap<String, usize> = BTreeMap::new();
    let mut candidates = Vec::new();
    for (base, lines) in legal {
        for edit in pool::edits(wire, base, lines) {
            let edited = edits::apply(lines, &edit);
            let at = usize::try_from(edit["line"].as_u64().unwrap()).unwrap() - 1;
            let sound = !matches!(
                edit["op"].as_str().unwrap(),
                "set" | "unset" | "insert" | "replace"
            ) || *known
                .entry(edited[at].to_string())
                .or_insert_with(|| validator.check("", &edited[at]).is_ok());
            if !sound {
                continue;
            }
            let findings = witness.findings(&edited);
            let Some(first) = findings.first().cloned() else {
                continue;
            };
            let was = lines
                .get(at)
                .map_or("", |line| line["type"].as_str().unwrap());
            let groups: BTreeSet<String> =
                findings.into_iter().map(|finding| finding.rule).collect();
            let sort = format!(
                "{groups:?} {} {was} {} {}",
                edit["op"], edit["pointer"], edit["value"]
            );
            let count = sorts.entry(sort).or_default();
            *count += 1;
            if *count <= 3 {
                let mut candidate = Candidate {
                    base,
                    edit,
                    lines: edited,
                    first,
                    groups,
                    opened: BTreeSet::new(),
                };
                candidate.look_behind(wire, rules);
                candidates.push(candidate);
            }
        }
    }
    candidates
}

impl Candidate<'_> {
    /// Opens the states that end the walk, to see what else is wrong.
    fn look_behind(&mut self, wire: Wire, rules: &[Rule]) {
        let grammar = published(wire);
        for _ in 0..2 {
            let opened = rules.iter().filter(|rule| self.opened.contains(&rule.name));
            let findings = Witness::new(wire, &without(grammar, opened)).findings(&self.lines);
            let mut more = false;
            for finding in findings {
                let state = finding.rule.trim_start_matches("order/");
                let name = format!("states/{state}/nothing else");
                more |= rules.iter().any(|rule| rule.name == name) && self.opened.insert(name);
                self.groups.insert(finding.rule);
            }
            if !more {
                break;
            }
        }
    }
}

struct Search<'s> {
    wire: Wire,
    grammar: &'s Value,
    rules: &'s [Rule],
    legal: &'s Streams,
    candidates: Vec<Candidate<'s>>,
}

impl Search<'_> {
    fn judge(&self, gone: &[&Rule]) -> Witness {
        Witness::new(self.wire, &without(self.grammar, gone.iter().copied()))
    }

    /// A case that tells when the rule is gone: at once, or else once its twins are gone as well.
    fn proof(&self, rule: &Rule) -> Option<(Proof, Option<usize>)> {
        let alone = self.judge(&[rule]);
        let on_legal = || {
            let told = self.legal.iter().find(|(_, lines)| !alone.passes(lines));
            told.map(|(name, _)| (Proof::new(rule, name, false, &[]), None))
        };
        let on_illegal = || {
            let mine =
                |candidate: &&(usize, &Candidate<'_>)| candidate.1.groups.contains(&rule.group);
            let told = self
                .candidates
                .iter()
                .enumerate()
                .filter(|candidate| mine(&candidate))
                .find(|(_, candidate)| alone.passes(&candidate.lines));
            told.map(|(at, candidate)| (Proof::new(rule, &candidate.name(), true, &[]), Some(at)))
        };
        let found = if rule.allows {
            on_legal().or_else(on_illegal)
        } else {
            on_illegal().or_else(on_legal)
        };
        found.or_else(|| self.with_twins(rule))
    }

    fn with_twins(&self, rule: &Rule) -> Option<(Proof, Option<usize>)> {
        // Whole pairs, rules in words and states, for each other group that finds something.
        let wholes = |group: &str| {
            let name = group.split_once('/').unwrap().1;
            let names = [
                format!("pairs/{name}"),
                format!("rules/{name}"),
                format!("states/{name}/nothing else"),
                format!("final/not {name}"),
            ];
            self.rules
                .iter()
                .filter(move |other| names.contains(&other.name))
        };
        let mut tried = BTreeSet::new();
        for (at, candidate) in self.candidates.iter().enumerate() {
            if !candidate.groups.contains(&rule.group) || candidate.groups.len() > 4 {
                continue;
            }
            let others = candidate
                .groups
                .iter()
                .filter(|group| **group != rule.group);
            let twins: Vec<&Rule> = others.flat_map(|group| wholes(group)).collect();
            let inner = self
                .rules
                .iter()
                .filter(|other| other.group == rule.group && other.name != rule.name);
            let mut sets: Vec<Vec<&Rule>> = vec![twins.clone()];
            if candidate.groups.len() <= 2 {
                sets.extend(inner.map(|inner| twins.iter().copied().chain([inner]).collect()));
            }
            for twins in sets.into_iter().filter(|twins| !twins.is_empty()) {
                let key = format!(
                    "{} {:?} {}",
                    candidate.edit,
                    twins.iter().map(|twin| &twin.name).collect::<Vec<_>>(),
                    candidate.base
                );
                if !tried.insert(key) {
                    continue;
                }
                let mut all = twins.clone();
                all.push(rule);
                if self.judge(&all).passes(&candidate.lines)
                    && !self.judge(&twins).passes(&candidate.lines)
                {
                    return Some((Proof::new(rule, &candidate.name(), true, &twins), Some(at)));
                }
            }
        }
        // What another way of saying the same still allows.
        for twin in self
            .rules
            .iter()
            .filter(|other| other.group == rule.group && other.name != rule.name)
        {
            let (both, one) = (self.judge(&[twin, rule]), self.judge(&[twin]));
            if let Some((name, _)) = self
                .legal
                .iter()
                .find(|(_, lines)| !both.passes(lines) && one.passes(lines))
            {
                return Some((Proof::new(rule, name, false, &[twin]), None));
            }
        }
        None
    }
}

/// A proof as it is stored.
impl Proof {
    fn new(rule: &Rule, case: &str, passes: bool, with: &[&Rule]) -> Self {
        Self {
            rule: rule.name.clone(),
            case: case.to_owned(),
            passes,
            with: with.iter().map(|twin| twin.name.clone()).collect(),
        }
    }

    pub(crate) fn print(&self) -> Value {
        let mut proof = json!({ "rule": self.rule, "case": self.case, "passes": self.passes });
        if !self.with.is_empty() {
            proof["with"] = json!(self.with);
        }
        proof
    }
}
