//! Edits to choose from: every small change of the legal streams that could break their order.

use std::collections::BTreeMap;

use quipu::contract::Wire;
use serde_json::{Value, json};

use crate::edits::{delete, end, insert, replace, set, shift, splice, swap, unset};
use crate::scenarios::{
    self, agent_begins, agent_end, agent_line, agent_start, arbitration, filler,
};
use crate::script::{
    Compacted, Script, answer, call, custom, deltas, execution, hook, result, text, thinking, user,
};
use crate::witness;

/// The edits of one legal stream.
pub(crate) fn edits(
    wire: Wire,
    name: &str,
    lines: &[Value],
    visited: &mut BTreeMap<String, usize>,
) -> Vec<Value> {
    let mut edits = Vec::new();
    let counted = wire == Wire::Quipu;
    let filled = name.ends_with("_filled");
    let plain = !filled && !name.ends_with("_anywhere");
    let nothing = filler(wire);
    let states = witness::states(wire, lines);
    let mut templates = templates(wire);
    templates.extend(
        lines
            .iter()
            .filter(|line| line.get("message").is_none())
            .cloned(),
    );
    templates.dedup();
    for (index, line) in lines.iter().enumerate() {
        let at = index + 1;
        if plain {
            edits.push(if counted && at < lines.len() {
                replace(at, &nothing)
            } else {
                delete(at)
            });
            edits.push(end(at));
            if at < lines.len() {
                edits.push(swap(at));
            }
            for (pointer, value) in values(line) {
                if line.pointer(pointer) != Some(&value) {
                    let known = pointer.rsplit_once('/').is_some_and(|(parent, _)| {
                        line.pointer(parent).is_some_and(Value::is_object)
                    });
                    if known {
                        edits.push(set(at, pointer, &value));
                    }
                }
            }
            for pointer in [
                "/resolvedToolName",
                "/requestId",
                "/result",
                "/step",
                "/message/errorMessage",
            ] {
                if line.pointer(pointer).is_some() {
                    edits.push(unset(at, pointer));
                }
            }
            if matches!(
                line["type"].as_str(),
                Some(
                    "message_start"
                        | "message_end"
                        | "summarization_retry_attempt_start"
                        | "background_agent_event"
                        | "tool_execution_update"
                )
            ) {
                let kind = &line["type"];
                edits.extend(
                    templates
                        .iter()
                        .filter(|other| other["type"] == *kind && *other != line)
                        .map(|other| replace(at, other)),
                );
            }
        }
        if plain {
            edits.extend(hunks(wire, lines, index, &states));
        }
        // One line more, before this one.
        let room = if counted {
            filled && *line == nothing
        } else {
            plain
        };
        if room {
            let more = |value: &Value| {
                if counted {
                    replace(at, value)
                } else {
                    insert(at, value)
                }
            };
            let before = if counted { &lines[index - 1] } else { line };
            edits.push(more(before));
            // The first time that a state is there, everything is tried in it.
            let visits = visited.entry(states[index].clone()).or_default();
            *visits += 1;
            if *visits <= 1 {
                edits.extend(templates.iter().map(more));
            }
        }
    }
    if plain && !counted {
        edits.push(insert(lines.len() + 1, &nothing));
        edits.extend(templates.iter().map(|value| insert(lines.len() + 1, value)));
    }
    edits
}

/// Edits of several lines at once, from that one on.
fn hunks(wire: Wire, lines: &[Value], index: usize, states: &[String]) -> Vec<Value> {
    let mut edits = Vec::new();
    let kind = |index: usize| {
        lines
            .get(index)
            .map_or("", |line| line["type"].as_str().unwrap())
    };
    let line = &lines[index];
    // What begins and ends, under an id that was used.
    for pointer in ["/toolCallId", "/hookRunId"] {
        let pair =
            [index, index + 1].map(|at| lines.get(at).and_then(|line| line.pointer(pointer)));
        let whole = kind(index) == "tool_execution_start" || line["phase"] == "start";
        if let ([Some(first), Some(second)], true) = (pair, whole)
            && first == second
        {
            for earlier in lines[..index]
                .iter()
                .filter(|line| line["type"] == kind(index))
            {
                if let Some(id) = earlier.pointer(pointer).filter(|id| *id != first) {
                    let other = [line, &lines[index + 1]].map(|line| {
                        let mut line = line.clone();
                        *line.pointer_mut(pointer).unwrap() = id.clone();
                        line
                    });
                    edits.push(splice(index + 1, 2, &other));
                }
            }
        }
    }
    // The end of a block after what follows its answer.
    let block = line
        .pointer("/assistantMessageEvent/type")
        .and_then(Value::as_str);
    if block.is_some_and(|kind| kind.ends_with("_end")) {
        let later =
            (index..lines.len()).filter(|at| matches!(kind(*at), "message_end" | "message_start"));
        edits.extend(later.take(3).map(|at| shift(index + 1, at + 1)));
    }
    // The begin of a block once more, after its answer.
    if wire == Wire::Dreb && block.is_some_and(|kind| kind.ends_with("_start")) {
        let later = (index..lines.len()).find(|at| kind(*at) == "message_end");
        edits.extend(later.map(|at| insert(at + 2, line)));
    }
    // A message where tools run.
    if states[index] == "tools" && kind(index) == "tool_execution_end" {
        let lines = ["message_start", "message_end"]
            .map(|kind| json!({ "type": kind, "message": user("other") }));
        edits.push(splice(index + 1, 0, &lines));
    }
    // A series of retries without its end, and a call without its result.
    if kind(index) == "auto_retry_end" && kind(index + 1) == "tool_execution_start" {
        let until = (index..lines.len())
            .find(|at| kind(*at) == "turn_end")
            .unwrap_or(index);
        let kept = lines[index + 1..until]
            .iter()
            .filter(|line| line["type"] != "message_start" && line["type"] != "message_end");
        let mut kept: Vec<Value> = kept.cloned().collect();
        if wire == Wire::Quipu {
            kept.resize(until - index, filler(wire));
        }
        edits.push(splice(index + 1, until - index, &kept));
        // The same with an end that comes too late.
        edits.push(shift(index + 1, until + 1));
        if kind(until + 1) == "turn_start" {
            edits.push(shift(index + 1, until + 2));
        }
        let mut late: Vec<Value> = kept
            .iter()
            .filter(|line| line["type"] != filler(wire)["type"])
            .cloned()
            .collect();
        if wire == Wire::Quipu {
            late.resize(until - index - 1, filler(wire));
        }
        late.push(lines[until].clone());
        late.push(line.clone());
        edits.push(splice(index + 1, until - index + 1, &late));
    }
    edits
}

/// The same for lines about messages.
fn values_of_message(line: &Value, any: &mut impl FnMut(&'static str, &[Value])) {
    let other = [json!("other")];
    if line["message"]["role"] == "assistant" {
        any(
            "/message/stopReason",
            &["pending", "stop", "length", "toolUse", "error", "aborted"].map(Value::from),
        );
        any("/message/api", &other);
        any("/message/provider", &other);
        any("/message/model", &other);
    } else {
        any("/message/toolCallId", &other);
        any("/message/isError", &[json!(true)]);
    }
    any("/message/timestamp", &[json!(99)]);
    any("/message/content", &[json!([])]);
    any(
        "/assistantMessageEvent/contentIndex",
        &[json!(0), json!(1), json!(2), json!(9)],
    );
    any("/assistantMessageEvent/delta", &other);
    any("/assistantMessageEvent/content", &other);
    let kinds = [
        "text_start",
        "thinking_start",
        "text_delta",
        "thinking_delta",
        "toolcall_delta",
        "text_end",
        "thinking_end",
    ];
    any("/assistantMessageEvent/type", &kinds.map(Value::from));
    any("/resolvedToolName", &other);
}

/// Other values for the fields that rules look at.
fn values(line: &Value) -> Vec<(&'static str, Value)> {
    let mut values = Vec::new();
    let mut any =
        |pointer, list: &[Value]| values.extend(list.iter().map(|value| (pointer, value.clone())));
    let other = [json!("other")];
    match line["type"].as_str().unwrap() {
        "message_start" | "message_end" | "message_update" => values_of_message(line, &mut any),
        "tool_execution_start" | "tool_execution_update" | "tool_execution_end" => {
            any("/toolCallId", &[json!("other"), json!("a"), json!("b")]);
            any("/toolName", &other);
            if line.get("isError").is_some() {
                any("/isError", &[json!(true)]);
            } else {
                any("/args", &[json!({})]);
            }
        }
        "tool_hook_status" => {
            any(
                "/hookRunId",
                &[json!("other"), json!("h1"), json!("h2"), json!("h3")],
            );
            any("/hookName", &[json!("PostToolUse"), json!("other")]);
            any("/toolName", &other);
            any("/toolCallId", &[json!("other"), json!("a"), json!("b")]);
            any("/extensionPath", &other);
            any("/startedAt", &[json!(99)]);
            any("/phase", &["start", "update", "end"].map(Value::from));
        }
        "auto_retry_end" => any("/success", &[json!(true), json!(false)]),
        "agent_end" => {
            if line.get("willRetry").is_some() {
                any("/willRetry", &[json!(true), json!(false)]);
            }
            any("/messages", &[json!([])]);
        }
        "compaction_start"
        | "compaction_end"
        | "compaction_progress"
        | "auto_compaction_start"
        | "auto_compaction_end" => {
            if line.get("reason").is_some() {
                any(
                    "/reason",
                    &["manual", "threshold", "overflow"].map(Value::from),
                );
            }
            if line.get("aborted").is_some() {
                any("/aborted", &[json!(true), json!(false)]);
                any("/willRetry", &[json!(true), json!(false)]);
                any(
                    "/result",
                    &[json!({ "summary": "s", "firstKeptEntryId": "00000001", "tokensBefore": 9 })],
                );
            }
            any("/requestId", &other);
        }
        "subagent_arbitration" => {
            any("/status", &[json!("failure"), json!("success")]);
            any("/agentId", &["other", "g1", "g2", "g3"].map(Value::from));
            any("/step", &[json!(1)]);
        }
        "background_agent_start" | "background_agent_event" | "background_agent_end" => {
            any("/agentId", &["other", "g1", "g2", "g3"].map(Value::from));
        }
        "turn_end" => {
            any("/toolResults", &[json!([])]);
            any("/message/content", &[json!([])]);
        }
        "stream_end" => {
            any("/turns", &[json!(99)]);
            any("/lines", &[json!(99)]);
            any("/usage/input", &[json!(99)]);
        }
        _ => {}
    }
    values
}

/// A line or more of each type of a wire.
fn templates(wire: Wire) -> Vec<Value> {
    let mut s = Script::begin();
    s.run().turn().whole(&user("other")).whole(&custom("other"));
    let says = answer(&json!([text("other")]), "stop");
    s.told(&says)
        .whole(&answer(&json!([]), "error"))
        .whole(&answer(&json!([]), "aborted"));
    for (index, block) in [thinking("other"), text("other"), call("other")]
        .iter()
        .enumerate()
    {
        s.lines(deltas(index, block));
    }
    s.lines(["start", "update", "end"].map(|what| execution(what, "other")));
    s.lines(["start", "update", "end"].map(|what| execution(what, "a")));
    s.lines(["start", "update", "end"].map(|phase| hook(phase, "other", "other")));
    s.lines(["start", "update", "end"].map(|phase| hook(phase, "other", "a")));
    s.whole(&result("other"))
        .whole(&result("a"))
        .turn_end()
        .run_end(true)
        .run_end(false)
        .retry(1);
    s.retried(true, 1).retried(false, 1);
    for reason in ["manual", "threshold", "overflow"] {
        s.compact(reason, None)
            .progress(reason)
            .summary_retry("compaction", reason);
        for how in [
            Compacted::Done,
            Compacted::WillRetry,
            Compacted::Failed,
            Compacted::Aborted,
        ] {
            s.compacted(reason, None, how);
        }
    }
    s.compacted("overflow", Some("other"), Compacted::Failed);
    s.summary_retry("branchSummary", "");
    s.lines([
        json!({ "type": "tasks_update", "tasks": [] }),
        json!({ "type": "suggest_next", "command": "c" }),
        json!({
            "type": "parent_paused_for_background_agents", "runningAgentCount": 1, "turnsUsed": 2,
            "turnLimit": 3,
        }),
    ]);
    for id in ["other", "g1"] {
        s.lines([
            agent_start(id),
            arbitration(id, "success", None),
            arbitration(id, "success", Some(1)),
            arbitration(id, "failure", None),
        ]);
        s.lines([agent_begins(wire, id), agent_end(id, true)]);
    }
    let mut lines = s.end("completed");
    lines.extend(scenarios::anywhere(wire, 0));
    narrow(wire, &mut lines);
    let mut seen = Vec::new();
    lines.retain(|line| {
        let text = line.to_string();
        let fresh = !seen.contains(&text);
        seen.push(text);
        fresh
    });
    lines
}

/// Native lines as another wire has them, with those that only it has.
fn narrow(wire: Wire, lines: &mut Vec<Value>) {
    match wire {
        Wire::Quipu => {}
        Wire::Senpi => {
            lines.retain(|line| wire.types().contains(&line["type"].as_str().unwrap()));
            for line in lines.iter_mut() {
                match line["type"].as_str().unwrap() {
                    "session" => drop(line.as_object_mut().unwrap().shift_remove("stream")),
                    "agent_start" => *line = json!({ "type": "agent_start" }),
                    _ => {}
                }
            }
        }
        Wire::Dreb => {
            let header = lines[0].clone();
            lines.retain(|line| {
                wire.types().contains(&line["type"].as_str().unwrap())
                    && line["type"] != "message_update"
            });
            for line in lines.iter_mut() {
                match line["type"].as_str().unwrap() {
                    "session" => drop(line.as_object_mut().unwrap().shift_remove("stream")),
                    "agent_end" => *line = json!({ "type": "agent_end", "messages": [] }),
                    _ if line.pointer("/message/stopReason") == Some(&json!("pending")) => {
                        line["message"]["stopReason"] = "stop".into();
                    }
                    _ => {}
                }
            }
            let mut header = header;
            header.as_object_mut().unwrap().shift_remove("stream");
            lines.push(agent_line("g1", &header));
            let failed = json!({ "type": "auto_compaction_end", "aborted": false, "willRetry": false, "errorMessage": "e" });
            let mut aborted = failed.clone();
            aborted["aborted"] = true.into();
            let start = |reason| json!({ "type": "auto_compaction_start", "reason": reason });
            lines.extend([start("threshold"), start("overflow"), failed, aborted]);
        }
    }
}
