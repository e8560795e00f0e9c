//! Chooses among the edits of the pool: for each rule of the grammar a case that tells when it is
//! gone. What is found is stored; a normal run only proves it again.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

use quipu::contract::Wire;
use serde_json::{Value, json};

use crate::candidates::{Candidate, Streams, agrees, candidates};
use crate::edits;
use crate::grammar_rules::{Rule, implied, rules, without};
use crate::streams::{Case, Illegal, Proof};
use crate::verify;
use crate::witness::{Witness, published, states};

/// What was chosen: the illegal streams of a wire, the proofs for its rules, and the rules without.
pub(crate) struct Chosen {
    pub(crate) illegal: Vec<Illegal>,
    pub(crate) proofs: Vec<Proof>,
    pub(crate) survivors: Vec<String>,
}

/// Chooses for each rule, keeping what is known as far as it still holds.
pub(crate) fn search(
    wire: Wire,
    legal: &Streams,
    illegal: Vec<Illegal>,
    known: &[Proof],
) -> Chosen {
    let grammar = published(wire);
    let rules = rules(wire, grammar);
    let witness = Witness::new(wire, grammar);
    let mut cases: BTreeMap<String, Case> = BTreeMap::new();
    for (name, lines) in legal {
        let findings = witness.findings(lines);
        assert!(findings.is_empty(), "{} {name}: {findings:?}", wire.name());
        cases.insert(name.clone(), Case::new(wire, lines.clone()));
    }
    let mut chosen = Chosen {
        illegal: Vec::new(),
        proofs: Vec::new(),
        survivors: Vec::new(),
    };
    for mut old in illegal {
        let base = legal.iter().find(|(name, _)| *name == old.base);
        let Some(lines) = base.and_then(|(_, lines)| edits::try_apply(lines, &old.edit)) else {
            continue;
        };
        let first = witness.findings(&lines).into_iter().next();
        if let Some(first) = first.filter(|first| agrees(wire, &lines, first)) {
            (old.line, old.rule) = (first.line, first.rule);
            cases.insert(old.name.clone(), Case::new(wire, lines));
            chosen.illegal.push(old);
        }
    }
    let search: LazyCell<Search<'_>, _> = LazyCell::new(|| Search {
        wire,
        grammar,
        rules: &rules,
        legal,
        states: legal
            .iter()
            .map(|(_, lines)| states(wire, lines).into_iter().collect())
            .collect(),
        candidates: candidates(wire, legal),
    });
    let mut searched = false;
    for rule in rules.iter().filter(|rule| !rule.foreign) {
        let old = known.iter().find(|proof| proof.rule == rule.name);
        if let Some(old) = old.filter(|proof| proof.holds(wire, &rules, rule, &cases)) {
            chosen.proofs.push(old.clone());
            continue;
        }
        let implied = || {
            let implied = implied(wire, rule.pattern.as_ref()?)?;
            Some((
                Proof {
                    implied: Some(implied),
                    ..Proof::new(rule, "", false, &[])
                },
                None,
            ))
        };
        searched = true;
        match search.proof(rule).or_else(implied) {
            Some((proof, candidate)) => {
                chosen.proofs.push(proof);
                if let Some(at) = candidate {
                    let case = search.candidates[at].illegal();
                    if chosen.illegal.iter().all(|known| known.name != case.name) {
                        chosen.illegal.push(case);
                    }
                }
            }
            None => chosen
                .survivors
                .push(format!("{}: {}", wire.name(), rule.name)),
        }
    }
    // One of each kind besides, whether a rule needs it or not.
    if searched {
        let kind = |case: &Illegal| (case.rule.clone(), case.edit["op"].to_string());
        let mut kinds: BTreeSet<_> = chosen.illegal.iter().map(kind).collect();
        for case in search.candidates.iter().map(Candidate::illegal) {
            if kinds.insert(kind(&case))
                && chosen.illegal.iter().all(|known| known.name != case.name)
            {
                chosen.illegal.push(case);
            }
        }
    }
    chosen.illegal.sort_by(|a, b| a.name.cmp(&b.name));
    chosen
}

struct Search<'s> {
    wire: Wire,
    grammar: &'s Value,
    rules: &'s [Rule],
    legal: &'s Streams,
    /// The states of each legal stream.
    states: Vec<BTreeSet<String>>,
    candidates: Vec<Candidate<'s>>,
}

impl<'s> Search<'s> {
    fn judge(&self, gone: &[&Rule]) -> Witness {
        Witness::new(self.wire, &without(self.grammar, gone.iter().copied()))
    }

    /// A case that tells when the rule is gone: at once, or else once its twins are gone as well.
    fn proof(&self, rule: &'s Rule) -> Option<(Proof, Option<usize>)> {
        let alone = self.judge(&[rule]);
        let on_legal = || {
            let told = self.near(rule).find(|(_, lines)| {
                !alone.order(lines).is_empty() && self.tells(lines, false, &[], rule)
            });
            told.map(|(name, _)| (Proof::new(rule, name, false, &[]), None))
        };
        let on_illegal = || {
            let told = self
                .told_by(rule)
                .filter(|(_, case)| case.seen.len() == 1)
                .find(|(_, case)| {
                    case.passes(&alone) && self.tells(&case.lines(), true, &[], rule)
                });
            told.map(|(at, case)| (Proof::new(rule, &case.name(), true, &[]), Some(at)))
        };
        let found = if rule.allows {
            on_legal().or_else(on_illegal)
        } else {
            on_illegal().or_else(on_legal)
        };
        found.or_else(|| self.with_twins(rule))
    }

    /// The legal streams, those first that have to do with the rule.
    fn near(&self, rule: &Rule) -> impl Iterator<Item = &(String, Vec<Value>)> {
        let state = rule.group.trim_start_matches("order/");
        let mut near: Vec<&(String, Vec<Value>)> = Vec::new();
        let mut far = Vec::new();
        for (stream, states) in self.legal.iter().zip(&self.states) {
            if states.contains(state) {
                near.push(stream);
            } else {
                far.push(stream);
            }
        }
        let more = |(name, _): &&&(String, Vec<Value>)| {
            name.ends_with("_anywhere") != rule.name.starts_with("anywhere")
        };
        let (later, first): (Vec<_>, Vec<_>) = near.into_iter().partition(|stream| more(&stream));
        first.into_iter().chain(later).chain(far)
    }

    /// The candidates that the rule's group finds, those first that nothing else finds.
    fn told_by(&self, rule: &Rule) -> impl Iterator<Item = (usize, &Candidate<'_>)> {
        let mine = self
            .candidates
            .iter()
            .enumerate()
            .filter(|(_, case)| case.seen.contains(&rule.group));
        let mut mine: Vec<_> = mine.collect();
        mine.sort_by_key(|(_, case)| case.seen.len());
        mine.into_iter()
    }

    fn with_twins(&self, rule: &'s Rule) -> Option<(Proof, Option<usize>)> {
        // Those first that show at once what the group finds, and little else.
        let mut cases: Vec<_> = self.candidates.iter().enumerate().collect();
        cases.sort_by_key(|(_, case)| (!case.seen.contains(&rule.group), case.seen.len()));
        for (at, candidate) in cases {
            let behind = !candidate.seen.contains(&rule.group);
            if behind && !self.may_hide(candidate, rule) && !Self::goes_elsewhere(candidate, rule) {
                continue;
            }
            let inner = self.inner(rule, candidate);
            let found = [None].into_iter().chain(inner.into_iter().map(Some));
            for first in found {
                if let Some(twins) = self.twins(rule, candidate, first, true) {
                    return Some((Proof::new(rule, &candidate.name(), true, &twins), Some(at)));
                }
            }
        }
        // What only this rule still allows, once nothing else forbids it.
        for (at, candidate) in self.candidates.iter().enumerate() {
            let near = candidate.seen.len() < 6
                && matches!(
                    candidate.edit["op"].as_str(),
                    Some("swap" | "move" | "splice")
                )
                && rule.name.starts_with("pairs/");
            if let Some(twins) = near
                .then(|| self.twins(rule, candidate, None, false))
                .flatten()
            {
                return Some((Proof::new(rule, &candidate.name(), false, &twins), Some(at)));
            }
        }
        // What another way of saying the same still allows.
        for twin in self
            .rules
            .iter()
            .filter(|other| other.group == rule.group && other.name != rule.name)
        {
            let (both, one) = (self.judge(&[twin, rule]), self.judge(&[twin]));
            if let Some((name, _)) = self.legal.iter().find(|(_, lines)| {
                !both.order(lines).is_empty()
                    && one.order(lines).is_empty()
                    && self.tells(lines, false, &[twin], rule)
            }) {
                return Some((Proof::new(rule, name, false, &[twin]), None));
            }
        }
        None
    }
}

impl<'s> Search<'s> {
    /// Whether another step takes up the line that was edited before the one of the rule can.
    fn goes_elsewhere(candidate: &Candidate<'_>, rule: &Rule) -> bool {
        let at = usize::try_from(candidate.edit["line"].as_u64().unwrap()).unwrap() - 1;
        let event = candidate.on.get(at).and_then(|line| line["type"].as_str());
        rule.name.starts_with("states/")
            && matches!(candidate.edit["op"].as_str(), Some("set" | "unset"))
            && candidate.seen.len() == 1
            && event.is_some_and(|event| rule.name.contains(event))
    }

    /// Whether the walk of a candidate ends before the pair of the rule is asked.
    fn may_hide(&self, candidate: &Candidate<'_>, rule: &Rule) -> bool {
        let states = &self.grammar["states"];
        let ended = |group: &String| states.get(group.trim_start_matches("order/")).is_some();
        let line = candidate.edit["value"]["type"].as_str();
        rule.name.starts_with("pairs/")
            && candidate.seen.len() <= 2
            && candidate.seen.iter().any(ended)
            && line.is_some_and(|line| {
                self.grammar["pairs"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .any(|pair| {
                        rule.group == format!("order/{}", pair["name"].as_str().unwrap())
                            && pair.to_string().contains(&format!("\"{line}\""))
                    })
            })
    }

    /// Rules of the same state or pair that may say the same of the line that was edited: the other
    /// conditions of a pattern, and other steps for the event.
    fn inner(&self, rule: &Rule, candidate: &Candidate<'_>) -> Vec<&'s Rule> {
        let at = usize::try_from(candidate.edit["line"].as_u64().unwrap()).unwrap() - 1;
        let was = candidate.on.get(at).and_then(|line| line["type"].as_str());
        let is = candidate.edit["value"]["type"].as_str();
        let about = |event: Option<&str>| event.is_some_and(|event| rule.name.contains(event));
        if !about(was) && !about(is) || candidate.seen.len() > 3 {
            return Vec::new();
        }
        let pattern = |name: &str| {
            name.split(" where ")
                .next()
                .unwrap()
                .split(" absent ")
                .next()
                .unwrap()
                .to_owned()
        };
        let near = |other: &&Rule| {
            other.group == rule.group
                && other.name != rule.name
                && (pattern(&other.name) == pattern(&rule.name)
                    && other.name != pattern(&other.name)
                    || other.allows
                        && other.name.starts_with("states/")
                        && (about(was) && other.name.contains(was.unwrap())
                            || about(is) && other.name.contains(is.unwrap())))
        };
        self.rules.iter().filter(near).collect()
    }

    /// The fewest other rules without which the candidate passes when this one is gone too, and
    /// only then.
    fn twins(
        &self,
        rule: &'s Rule,
        candidate: &Candidate<'_>,
        first: Option<&'s Rule>,
        passes_then: bool,
    ) -> Option<Vec<&'s Rule>> {
        // What a pair allows within may be needed elsewhere in the stream.
        [true, false].into_iter().find_map(|within| {
            self.twins_among(rule, candidate, first, passes_then, |other| {
                within || !other.name.contains("/within/")
            })
        })
    }

    fn twins_among(
        &self,
        rule: &'s Rule,
        candidate: &Candidate<'_>,
        first: Option<&'s Rule>,
        passes_then: bool,
        eligible: impl Fn(&Rule) -> bool,
    ) -> Option<Vec<&'s Rule>> {
        let lines = edits::apply(candidate.on, &candidate.edit);
        let passes = |gone: &[&Rule]| self.judge(gone).passes(&lines, &candidate.words);
        let of_itself = passes_then.then_some(rule);
        let mut gone: Vec<&'s Rule> = of_itself.into_iter().chain(first).collect();
        for _ in 0..3 {
            let judge = self.judge(&gone);
            let mut found: BTreeSet<String> = judge
                .order(&lines)
                .into_iter()
                .map(|finding| finding.rule)
                .collect();
            found.extend(
                judge
                    .in_words(&candidate.words)
                    .map(|finding| finding.rule.clone()),
            );
            if found.is_empty() {
                break;
            }
            let before = gone.len();
            for group in found {
                let name = group.split_once('/').unwrap().1;
                let names = [
                    format!("pairs/{name}"),
                    format!("rules/{name}"),
                    format!("states/{name}/nothing else"),
                    format!("final/not {name}"),
                ];
                // The pair as a whole says all that the rule says.
                let fits = |other: &&Rule| {
                    let known = other.name == rule.name
                        || gone.iter().any(|known| known.name == other.name);
                    let other_pair = group != rule.group || !rule.name.starts_with("pairs/");
                    !known
                        && if other_pair {
                            names.contains(&other.name)
                        } else {
                            other.group == group
                                && !other.allows
                                && !other.name.contains(" where ")
                                && !rule.name.starts_with(&other.name)
                        }
                };
                let more: Vec<&'s Rule> = self
                    .rules
                    .iter()
                    .filter(|other| eligible(other) && fits(other))
                    .collect();
                gone.extend(more);
            }
            if gone.len() == before || gone.len() > 24 {
                return None;
            }
        }
        let mut twins = gone.split_off(usize::from(passes_then));
        let tells = |twins: &[&'s Rule]| {
            let all: Vec<&Rule> = twins.iter().copied().chain([rule]).collect();
            passes(&all) == passes_then && passes(twins) != passes_then
        };
        if !tells(&twins) {
            return None;
        }
        let mut at = 0;
        while at < twins.len() {
            let mut fewer = twins.clone();
            fewer.remove(at);
            if tells(&fewer) {
                twins = fewer;
            } else {
                at += 1;
            }
        }
        // The verifier may see more than the witness: what it still finds says the same as well.
        for _ in 0..3 {
            if self.tells(&lines, passes_then, &twins, rule) {
                return Some(twins);
            }
            let gone: Vec<&Rule> = of_itself.into_iter().chain(twins.iter().copied()).collect();
            let found = verify::groups(self.wire, &lines, &gone);
            let fits = |other: &&'s Rule| {
                let (kind, name) = other.name.split_once('/').unwrap_or_default();
                kind == "rules"
                    && found.contains(&format!("rule/{name}"))
                    && gone.iter().all(|known| known.name != other.name)
            };
            let more: Vec<&'s Rule> = self.rules.iter().filter(fits).collect();
            if more.is_empty() {
                return None;
            }
            twins.extend(more);
            if !tells(&twins) {
                return None;
            }
        }
        None
    }

    /// Whether the verifier is told as well.
    fn tells(&self, lines: &[Value], passes: bool, twins: &[&Rule], rule: &Rule) -> bool {
        verify::tells(self.wire, lines, passes, twins, rule)
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
            implied: None,
        }
    }

    pub(crate) fn print(&self) -> Value {
        if let Some(implied) = &self.implied {
            return json!({ "rule": self.rule, "implied": implied });
        }
        let mut proof = json!({ "rule": self.rule, "case": self.case, "passes": self.passes });
        if !self.with.is_empty() {
            proof["with"] = json!(self.with);
        }
        proof
    }
}
