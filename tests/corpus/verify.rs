//! The program's own verifier as a judge.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use quipu::contract::grammar::Grammar;
use quipu::contract::lines::Lines;
use quipu::contract::verify::{Contract, Finding, Options, Severity, Verifier};
use quipu::wire::Wire;
use serde_json::Value;

use crate::edits::{apply_to_bytes, bytes};
use crate::foreign;
use crate::grammar_rules::{Rule, rules, without};
use crate::lines_judged::none;
use crate::streams::{Illegal, each_wire, illegal, proofs};
use crate::witness::{GRAMMAR, published};

/// The errors in a stream, with the embedded grammar or another one; `ours` if the program could
/// have written it.
pub(crate) fn findings(
    wire: Wire,
    bytes: &[u8],
    ours: bool,
    contract: &Arc<Contract>,
) -> Vec<Finding> {
    let options = Options {
        wire: Some(wire),
        ours,
        ..Options::default()
    };
    let mut lines = Lines::new(bytes);
    let mut verifier = Verifier::with_contract(options, Arc::clone(contract));
    let mut findings = Vec::new();
    while let Some(frame) = lines.next_line().unwrap() {
        verifier.line(&frame, &mut findings);
    }
    verifier.finish(&mut findings);
    findings.retain(|finding| finding.severity == Severity::Error);
    findings
}

/// The same in words, for the judges of the suite.
pub(crate) fn errors(wire: Wire, bytes: &[u8]) -> Vec<String> {
    let findings = findings(wire, bytes, true, &Arc::default());
    findings.iter().map(ToString::to_string).collect()
}

/// Where the verifier finds something first, and what rule.
pub(crate) fn first(wire: Wire, lines: &[Value]) -> Option<(usize, String)> {
    let found = findings(wire, &bytes(lines), true, &Arc::default());
    let found = found.into_iter().next()?;
    Some((usize::try_from(found.line).unwrap(), found.rule))
}

/// Whether a stream tells the verifier that a rule is gone, where some others are gone too: it
/// `passes` then and not while the rule is there, or the other way round.
pub(crate) fn tells(
    wire: Wire,
    lines: &[Value],
    passes: bool,
    twins: &[&Rule],
    rule: &Rule,
) -> bool {
    let bytes = bytes(lines);
    let all: Vec<&Rule> = twins.iter().copied().chain([rule]).collect();
    let verdict = |gone: &[&Rule]| {
        let contract = contract(wire, without(published(wire), gone.iter().copied()));
        findings(wire, &bytes, true, &contract).is_empty()
    };
    verdict(twins) != passes && verdict(&all) == passes
}

/// The rules of all that the verifier finds without some rules.
pub(crate) fn groups(wire: Wire, lines: &[Value], gone: &[&Rule]) -> BTreeSet<String> {
    let contract = contract(wire, without(published(wire), gone.iter().copied()));
    let found = findings(wire, &bytes(lines), true, &contract).into_iter();
    found.map(|finding| finding.rule).collect()
}

/// A contract with another grammar for a wire.
pub(crate) fn contract(wire: Wire, grammar: Value) -> Arc<Contract> {
    let mut file = GRAMMAR.clone();
    file["wires"][wire.name()] = grammar;
    let grammar = Grammar::compile(&file).unwrap_or_else(|error| panic!("{error}"));
    Arc::new(Contract::new(Arc::new(grammar)))
}

/// The legal streams with those of others.
fn with_foreign(
    wire: Wire,
    mut legal: BTreeMap<String, Vec<Value>>,
) -> BTreeMap<String, Vec<Value>> {
    let own: Vec<_> = legal.clone().into_iter().collect();
    let foreign = foreign::streams(wire, &own).into_iter();
    legal.extend(foreign.map(|(name, lines)| (format!("foreign/{name}"), lines)));
    legal
}

/// The verifier finds first what the corpus says, and nothing in legal streams.
#[test]
fn the_verifier_agrees() {
    let mut wrong = Vec::new();
    each_wire(|wire, legal| {
        let contract = Arc::default();
        let legal = with_foreign(wire, legal);
        for (name, lines) in &legal {
            let found = findings(
                wire,
                &bytes(lines),
                !name.starts_with("foreign/"),
                &contract,
            );
            wrong.extend(
                found
                    .first()
                    .map(|found| format!("{} {name}: {found}", wire.name())),
            );
        }
        for case in illegal(wire) {
            let bytes = apply_to_bytes(&legal[&case.base], &case.edit);
            let found = findings(wire, &bytes, !case.base.starts_with("foreign/"), &contract);
            let first = found.first().map(|found| (found.line, found.rule.as_str()));
            if first != Some((case.line as u64, &case.rule)) {
                wrong.push(format!(
                    "{}: {} line {} {}: {:?}",
                    wire.name(),
                    case.name,
                    case.line,
                    case.rule,
                    found.first()
                ));
            }
        }
    });
    none(&wrong);
}

/// What tells the witness that a rule is gone tells the verifier too.
#[test]
fn the_verifier_misses_what_its_grammar_does_not_say() {
    let mut wrong = Vec::new();
    each_wire(|wire, legal| {
        let grammar = published(wire);
        let legal = with_foreign(wire, legal);
        let rules = rules(wire, grammar);
        let cases: BTreeMap<String, Illegal> = illegal(wire)
            .into_iter()
            .map(|case| (case.name.clone(), case))
            .collect();
        for proof in proofs(wire).iter().filter(|proof| proof.implied.is_none()) {
            let gone = |names: &[&String]| {
                let gone = rules.iter().filter(|rule| names.contains(&&rule.name));
                contract(wire, without(grammar, gone))
            };
            let bytes = match cases.get(&proof.case) {
                Some(case) => apply_to_bytes(&legal[&case.base], &case.edit),
                None => bytes(&legal[&proof.case]),
            };
            let ours = !proof.case.starts_with("foreign/");
            let twins: Vec<&String> = proof.with.iter().collect();
            let all: Vec<&String> = twins.iter().copied().chain([&proof.rule]).collect();
            let passes = |names: &[&String]| findings(wire, &bytes, ours, &gone(names)).is_empty();
            if passes(&twins) == proof.passes || passes(&all) != proof.passes {
                wrong.push(format!(
                    "{}: {proof:?}: {:?}",
                    wire.name(),
                    findings(wire, &bytes, ours, &gone(&all)).first()
                ));
            }
        }
    });
    none(&wrong);
}
