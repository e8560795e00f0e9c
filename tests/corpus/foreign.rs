//! Streams that the document of a wire allows and Quipu does not write: what the steps marked
//! `foreign` in the grammar are for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use quipu::contract::Wire;
use serde_json::{Value, json};

use crate::edits::{apply, bytes, replace};
use crate::grammar_rules::{Rule, rules, without};
use crate::lines_judged::none;
use crate::scenarios;
use crate::script::{execution, result};
use crate::streams::{Illegal, Proof, each_wire};
use crate::verify::{contract, findings};
use crate::witness::published;

/// The streams of a wire by name, made of its legal ones.
pub(crate) fn streams(wire: Wire, legal: &[(String, Vec<Value>)]) -> Vec<(String, Vec<Value>)> {
    if wire != Wire::Dreb {
        return Vec::new();
    }
    let base = |name: &str| {
        legal
            .iter()
            .find(|(known, _)| known == name)
            .unwrap()
            .1
            .clone()
    };
    let after = |lines: &[Value], kind: &str| {
        lines.iter().position(|line| line["type"] == kind).unwrap() + 1
    };
    let mut streams = Vec::new();

    // Messages that Quipu keeps in its state have lines of their own.
    let mut lines = base("prompts");
    let messages = [
        json!({ "role": "bashExecution", "command": "ls", "output": "a", "exitCode": 0, "cancelled": false, "truncated": false, "timestamp": 1 }),
        json!({ "role": "branchSummary", "summary": "s", "fromId": "00000001", "timestamp": 1 }),
        json!({ "role": "compactionSummary", "summary": "s", "tokensBefore": 9, "timestamp": 1 }),
    ];
    let at = after(&lines, "turn_start");
    for message in messages.iter().rev() {
        for kind in ["message_end", "message_start"] {
            lines.insert(at, json!({ "type": kind, "message": message }));
        }
    }
    let last = lines.last_mut().unwrap()["messages"]
        .as_array_mut()
        .unwrap();
    last.splice(0..0, messages);
    streams.push(("state_messages".to_owned(), lines));

    // A tool begins, goes on and ends after the first result is written.
    let mut lines = base("tools");
    let at = after(&lines, "tool_execution_start") - 1;
    let until = lines
        .iter()
        .position(|line| line["type"] == "turn_end")
        .unwrap();
    let message = |kind: &str, id: &str| json!({ "type": kind, "message": result(id) });
    let one_by_one = ["a", "b"].into_iter().flat_map(|id| {
        [
            execution("start", id),
            execution("update", id),
            execution("end", id),
            message("message_start", id),
            message("message_end", id),
        ]
    });
    lines.splice(at..until, one_by_one);
    streams.push(("tools_one_by_one".to_owned(), lines));

    // Ends without a begin, and begins without an end.
    let start = json!({ "type": "auto_compaction_start", "reason": "threshold" });
    let end = json!({ "type": "auto_compaction_end", "aborted": true, "willRetry": false });
    let retry =
        |success: bool| json!({ "type": "auto_retry_end", "success": success, "attempt": 1 });
    let announced = json!({ "type": "auto_retry_start", "attempt": 1, "maxAttempts": 2, "delayMs": 1, "errorMessage": "e" });
    let cases = [
        ("compaction_ends_alone", "prompts", vec![end.clone()]),
        (
            "compaction_begins_twice",
            "prompts",
            vec![start.clone(), start, end.clone()],
        ),
        (
            "retry_after_a_good_turn",
            "prompts",
            vec![announced.clone(), retry(false)],
        ),
        ("retry_healed_after_the_turn", "prompts", vec![retry(true)]),
        (
            "compaction_ends_alone_after_a_failure",
            "broken",
            vec![end.clone()],
        ),
        ("retry_healed_after_a_failure", "broken", vec![retry(true)]),
    ];
    let overflow = json!({ "type": "auto_compaction_start", "reason": "overflow" });
    let waiting = [
        ("compaction_in_the_wait", vec![overflow, end]),
        ("retry_healed_in_the_wait", vec![retry(true)]),
    ];
    for (name, more) in waiting {
        let mut lines = base("retry_healed");
        let at = after(&lines, "auto_retry_start");
        lines.splice(at..at, more);
        streams.push((name.to_owned(), lines));
    }
    streams.extend(told_anywhere(wire, legal));
    for (name, of, more) in cases {
        let mut lines = base(of);
        let at = after(&lines, "turn_end");
        lines.splice(at..at, more);
        streams.push((name.to_owned(), lines));
    }
    streams
}

/// What only others tell in each state that it may be told in, once.
fn told_anywhere(wire: Wire, legal: &[(String, Vec<Value>)]) -> Vec<(String, Vec<Value>)> {
    let told = [
        json!({ "type": "tasks_update", "tasks": [] }),
        json!({ "type": "suggest_next", "command": "c" }),
        json!({
            "type": "parent_paused_for_background_agents", "runningAgentCount": 1, "turnsUsed": 2,
            "turnLimit": 3,
        }),
    ];
    let (mut seen, mut streams) = (BTreeSet::new(), Vec::new());
    let legal: BTreeMap<_, _> = legal.iter().map(|(name, lines)| (name, lines)).collect();
    for (name, lines) in legal {
        let before = seen.len();
        let more = scenarios::with(wire, lines, |_, state| {
            if seen.insert(state.to_owned()) {
                told.to_vec()
            } else {
                Vec::new()
            }
        });
        if seen.len() > before {
            streams.push((format!("{name}_told_anywhere"), more));
        }
    }
    streams
}

/// Illegal for others as well: messages of roles that belong elsewhere.
pub(crate) fn illegal(streams: &[(String, Vec<Value>)]) -> Vec<Illegal> {
    let named = streams.iter().find(|(name, _)| name == "state_messages");
    let cases = [("message_start", "turn"), ("message_end", "input")];
    let made = cases.into_iter().filter_map(|(kind, state)| {
        let line = named?.1.iter().position(|line| line["type"] == kind)? + 1;
        Some(Illegal {
            name: format!("foreign/state_messages: {kind} of a tool result"),
            base: "foreign/state_messages".into(),
            edit: replace(line, &json!({ "type": kind, "message": result("a") })),
            line,
            rule: format!("order/{state}"),
        })
    });
    made.collect()
}

fn passes(wire: Wire, gone: &[&Rule], lines: &[Value]) -> bool {
    let contract = contract(wire, without(published(wire), gone.iter().copied()));
    findings(wire, &bytes(lines), false, &contract).is_empty()
}

/// For each foreign rule of a wire the first stream that is no longer legal without it; and the
/// rules without one.
pub(crate) fn proofs(wire: Wire, streams: &[(String, Vec<Value>)]) -> (Vec<Proof>, Vec<String>) {
    let (mut proofs, mut survivors) = (Vec::new(), Vec::new());
    let rules = rules(wire, published(wire));
    let illegal = illegal(streams);
    for rule in rules.iter().filter(|rule| rule.foreign) {
        let legal = streams
            .iter()
            .find(|(_, lines)| !passes(wire, &[rule], lines));
        let legal = legal.map(|(name, _)| (format!("foreign/{name}"), false, Vec::new()));
        let legal = legal.or_else(|| allowed_twice(wire, &rules, rule, streams));
        let illegal = || {
            illegal
                .iter()
                .find_map(|case| told(wire, &rules, rule, case, streams))
        };
        match legal.or_else(illegal) {
            Some((case, passes, with)) => proofs.push(Proof {
                rule: rule.name.clone(),
                case,
                passes,
                with,
                implied: None,
            }),
            None => survivors.push(format!("{}: {}", wire.name(), rule.name)),
        }
    }
    (proofs, survivors)
}

/// A stream that is still legal without the rule, since a step says the same, and not without both.
fn allowed_twice(
    wire: Wire,
    rules: &[Rule],
    rule: &Rule,
    streams: &[(String, Vec<Value>)],
) -> Option<(String, bool, Vec<String>)> {
    let (event, state) = rule.name.strip_prefix("anywhere/")?.split_once(" in ")?;
    let says = |twin: &&Rule| {
        let step = twin.name.strip_prefix("states/");
        step.is_some_and(|step| {
            step.starts_with(&format!("{state}/on/")) && step.ends_with(&format!(" {event}"))
        })
    };
    let twin = rules.iter().find(says)?;
    let tells = |(_, lines): &&(String, Vec<Value>)| {
        passes(wire, &[twin], lines) && !passes(wire, &[twin, rule], lines)
    };
    let (name, _) = streams.iter().find(tells)?;
    Some((format!("foreign/{name}"), false, vec![twin.name.clone()]))
}

/// Whether an illegal stream passes when the rule is gone, with the rules that say the same of it.
fn told(
    wire: Wire,
    rules: &[Rule],
    rule: &Rule,
    case: &Illegal,
    streams: &[(String, Vec<Value>)],
) -> Option<(String, bool, Vec<String>)> {
    let same = [
        "pairs/message",
        "rules/whole_messages",
        "rules/tool_result_messages",
        "rules/turn_end",
        "rules/agent_end",
    ];
    let twins: Vec<&Rule> = rules
        .iter()
        .filter(|other| same.contains(&other.name.as_str()))
        .collect();
    let all: Vec<&Rule> = twins.iter().copied().chain([rule]).collect();
    let base = streams
        .iter()
        .find(|(name, _)| case.base == format!("foreign/{name}"))?;
    let lines = apply(&base.1, &case.edit);
    let tells = passes(wire, &all, &lines) && !passes(wire, &twins, &lines);
    tells.then(|| {
        (
            case.name.clone(),
            true,
            twins.iter().map(|twin| twin.name.clone()).collect(),
        )
    })
}

#[test]
fn others_may_write_these_and_quipu_may_not() {
    let mut wrong = Vec::new();
    each_wire(|wire, legal| {
        let legal: Vec<_> = legal.into_iter().collect();
        for (name, lines) in streams(wire, &legal) {
            let found = |ours| findings(wire, &bytes(&lines), ours, &Arc::default());
            wrong.extend(found(false).first().map(|found| format!("{name}: {found}")));
            if found(true).is_empty() {
                wrong.push(format!("{name} may be ours"));
            }
        }
    });
    none(&wrong);
}

#[test]
fn no_foreign_step_goes_unnoticed() {
    let mut survivors = Vec::new();
    each_wire(|wire, legal| {
        let legal: Vec<_> = legal.into_iter().collect();
        survivors.extend(proofs(wire, &streams(wire, &legal)).1);
    });
    none(&survivors);
}
