//! Verdicts on whole samples: each line less, and values that only a newer stream has.

use quipu::contract::verify::{Finding, Options, Severity};
use quipu::sample::Sample;
use quipu::wire::Wire;
use serde_json::Value;

use crate::sample::{bytes, stream};
use crate::verify::{edited, ours, verify};

fn sample(wire: Wire) -> String {
    let mut out = Vec::new();
    Sample::new(wire).write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn errors(bytes: &[u8], options: Options) -> Vec<Finding> {
    let (findings, _) = verify(bytes, options);
    let is_error = |finding: &Finding| finding.severity == Severity::Error;
    findings.into_iter().filter(is_error).collect()
}

/// What a line is, by its type, and that of the delta or the line of an agent in it.
fn name(line: &Value) -> String {
    let mut name = line["type"].as_str().unwrap().to_owned();
    let delta = line["assistantMessageEvent"]["type"].as_str();
    for inner in delta
        .map(str::to_owned)
        .into_iter()
        .chain((name == "background_agent_event").then(|| self::name(&line["event"])))
    {
        name = format!("{name}/{inner}");
    }
    name
}

/// Lines that change nothing that follows: only the count of `stream_end` tells that one is gone.
const ALONE: &[&str] = &[];

#[test]
fn a_line_less_is_found() {
    let whole = sample(Wire::Quipu);
    let lines: Vec<&str> = whole.lines().collect();
    let last = lines.len() - 1;
    let mut end: Value = serde_json::from_str(lines[last]).unwrap();
    end["lines"] = last.into();
    let end = end.to_string();
    let mut seen = std::collections::BTreeSet::new();
    let mut unseen = std::collections::BTreeSet::new();
    for index in 0..last {
        let line: Value = serde_json::from_str(lines[index]).unwrap();
        let name = name(&line);
        // Of lines of one kind the first ones stand for all.
        if !seen.insert((name.clone(), index % 3)) {
            continue;
        }
        let mut left = lines.clone();
        left.remove(index);
        let found = errors((left.join("\n") + "\n").as_bytes(), ours(Wire::Quipu));
        assert!(
            found.iter().any(|finding| finding.line > index as u64),
            "line {} {name}: {found:?}",
            index + 1
        );
        left[last - 1] = &end;
        if errors((left.join("\n") + "\n").as_bytes(), ours(Wire::Quipu)).is_empty() {
            unseen.insert(name);
        }
    }
    let unseen: Vec<&str> = unseen.iter().map(String::as_str).collect();
    assert_eq!(unseen, ALONE);
}

/// What a newer stream says in another way everywhere is a note, and nothing follows from it.
#[test]
fn new_values_are_notes_and_nothing_more() {
    let open = |wire| Options {
        open: true,
        ours: false,
        ..ours(wire)
    };
    for wire in Wire::ALL {
        let whole = sample(wire);
        for (key, value) in [
            ("stopReason", "stop"),
            ("stopReason", "toolUse"),
            ("stopReason", "error"),
            ("stopReason", "pending"),
            ("role", "user"),
            ("role", "custom"),
            ("reason", "threshold"),
            ("phase", "start"),
            ("phase", "end"),
            ("outcome", "completed"),
            ("type", "text"),
            ("type", "thinking"),
            ("type", "text_delta"),
            ("type", "toolcall_end"),
            ("type", "thinking_level_clamped"),
        ] {
            let old = format!("\"{key}\":\"{value}\"");
            let new = format!("\"{key}\":\"brandnew\"");
            let text = whole.replace(&old, &new);
            let found = errors(text.as_bytes(), open(wire));
            assert!(found.is_empty(), "{} {old}: {found:#?}", wire.name());
        }
    }
    // A type in the place of one that has to come is one fault at most for each time.
    let lines = edited(|lines| {
        for line in lines.iter_mut().filter(|line| line["type"] == "turn_end") {
            line["type"] = "turn_over".into();
        }
    });
    assert!(lines != stream());
    let found = errors(&bytes(&lines), open(Wire::Quipu));
    assert!(found.is_empty(), "{found:#?}");
}

/// The stream of an agent that ended well does not stop within an answer.
#[test]
fn an_agent_that_ended_well_lacks_no_line() {
    for wire in [Wire::Quipu, Wire::Dreb] {
        let whole = sample(wire);
        let mut lines: Vec<Value> = whole
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let end = lines
            .iter()
            .position(|line| line["type"] == "background_agent_end" && line["success"] == true)
            .unwrap();
        let id = lines[end]["agentId"].clone();
        let of_agent =
            |line: &Value| line["type"] == "background_agent_event" && line["agentId"] == id;
        let last = lines[..end]
            .iter()
            .rposition(|line| of_agent(line) && line["event"]["type"] == "message_update")
            .unwrap();
        // The rest of it, from within an answer on.
        let mut at = 0;
        lines.retain(|line| {
            at += 1;
            at <= last + 1 || at > end || !of_agent(line)
        });
        let end = lines
            .iter()
            .position(|line| line["type"] == "background_agent_end" && line["agentId"] == id)
            .unwrap()
            + 1;
        let found = errors(&bytes(&lines), ours(wire));
        let told = |finding: &Finding| finding.line == end as u64 && finding.agent.is_some();
        assert!(found.iter().any(told), "{}: {found:#?}", wire.name());
    }
}
