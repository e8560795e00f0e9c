//! The legal streams: small ones, each about one thing.

use std::collections::BTreeSet;

use quipu::contract::Wire;
use serde_json::{Value, json};

use crate::failures;
use crate::script::{
    Compacted, Script, answer, call, custom, deltas, execution, hook, result, settle, text,
    thinking, usage, user,
};
use crate::witness;

/// The legal streams of a wire by name.
pub(crate) fn streams(wire: Wire) -> Vec<(String, Vec<Value>)> {
    let mut streams: Vec<(String, Vec<Value>)> = Vec::new();
    for (name, native) in native() {
        let lines = match wire {
            Wire::Quipu => native,
            _ => witness::project(wire, &native),
        };
        if !streams.iter().any(|(_, other)| *other == lines) {
            streams.push((name.to_owned(), lines));
        }
    }
    // What is legal anywhere, once in each state.
    let (mut seen, mut filled) = (BTreeSet::new(), Vec::new());
    for (name, lines) in &streams {
        let before = seen.len();
        let more = with(wire, lines, |_, state| {
            if seen.insert(state.to_owned()) {
                anywhere(wire, seen.len())
            } else {
                Vec::new()
            }
        });
        if seen.len() > before {
            filled.push((format!("{name}_anywhere"), more));
        }
    }
    // Where the lines are counted, one more can only stand in the place of another.
    let mut seen = BTreeSet::new();
    for (name, lines) in streams.iter().filter(|_| wire == Wire::Quipu) {
        let before = seen.len();
        let more = with(wire, lines, |_, state| {
            seen.insert(state.to_owned());
            vec![filler(wire)]
        });
        if seen.len() > before {
            filled.push((format!("{name}_filled"), more));
        }
    }
    streams.extend(filled);
    streams
}

/// The stream with more lines after those that `more` names, by the index and the state there.
pub(crate) fn with(
    wire: Wire,
    lines: &[Value],
    mut more: impl FnMut(usize, &str) -> Vec<Value>,
) -> Vec<Value> {
    let states = witness::states(wire, lines);
    let mut filled = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        filled.push(line.clone());
        if index + 1 < lines.len() && witness::open_to_all(wire, &states[index + 1]) {
            filled.extend(more(index, &states[index + 1]));
        }
    }
    settle(&mut filled);
    filled
}

/// A filler that means nothing to the lines around it.
pub(crate) fn filler(wire: Wire) -> Value {
    match wire {
        Wire::Dreb => json!({ "type": "session_name_changed", "name": "n" }),
        _ => json!({ "type": "queue_update", "steering": [], "followUp": [] }),
    }
}

/// Every type of line that is legal anywhere on the wire, with an agent of that number.
pub(crate) fn anywhere(wire: Wire, number: usize) -> Vec<Value> {
    let mut lines = match wire {
        Wire::Dreb => vec![filler(wire)],
        _ => vec![
            filler(wire),
            json!({ "type": "session_info_changed", "name": "n" }),
            json!({ "type": "thinking_level_changed", "level": "high" }),
            json!({
                "type": "thinking_level_clamped", "provider": "p", "modelId": "m",
                "requestedLevel": "max", "appliedLevel": "high", "reason": "level-unsupported",
            }),
            json!({
                "type": "system_prompt_change", "systemPrompt": "b", "previousSystemPrompt": "a",
                "model": {
                    "id": "m", "name": "M", "api": "offline", "provider": "p", "reasoning": false,
                    "input": ["text"],
                    "cost": { "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0 },
                },
                "source": "model_select",
            }),
        ],
    };
    if wire != Wire::Senpi {
        let id = format!("a{number}");
        lines.extend([
            agent_start(&id),
            arbitration(&id, "success", None),
            agent_begins(wire, &id),
            agent_end(&id, false),
        ]);
    }
    lines
}

/// The first line of an agent's own stream.
pub(crate) fn agent_begins(wire: Wire, id: &str) -> Value {
    let first = match wire {
        Wire::Dreb => json!({ "type": "agent_start" }),
        Wire::Quipu | Wire::Senpi => Script::begin().lines.remove(0),
    };
    agent_line(id, &first)
}

pub(crate) fn agent_start(id: &str) -> Value {
    json!({ "type": "background_agent_start", "agentId": id, "agentType": "Explore", "taskSummary": "look" })
}

pub(crate) fn agent_line(id: &str, event: &Value) -> Value {
    json!({ "type": "background_agent_event", "agentId": id, "event": event })
}

pub(crate) fn agent_end(id: &str, success: bool) -> Value {
    json!({ "type": "background_agent_end", "agentId": id, "agentType": "Explore", "success": success })
}

pub(crate) fn arbitration(id: &str, status: &str, step: Option<u64>) -> Value {
    let route = json!({ "agent": "Explore", "model": "p/m", "thinking": "off" });
    let mut line = json!({
        "type": "subagent_arbitration", "agentId": id, "status": status, "proposed": route,
        "final": if status == "success" { route.clone() } else { Value::Null }, "changed": [],
    });
    if let Some(step) = step {
        line["step"] = step.into();
    }
    line
}

/// A run of one turn: a prompt and an answer.
pub(crate) fn simple(script: &mut Script, prompt: &str, says: &Value) {
    script
        .run()
        .turn()
        .whole(&user(prompt))
        .told(says)
        .turn_end()
        .run_end(false);
}

fn native() -> Vec<(&'static str, Vec<Value>)> {
    let says = answer(&json!([text("It is there.")]), "stop");
    let failed = answer(&json!([]), "error");
    let broken = answer(&json!([thinking("hm"), text("half"), call("c")]), "error");
    let mut streams = Vec::new();

    let mut s = Script::begin();
    simple(&mut s, "hello", &says);
    simple(&mut s, "more", &answer(&json!([text("too lo")]), "length"));
    streams.push(("prompts", s.end("completed")));

    streams.push(("blocks", blocks()));
    streams.push(("tools", tools()));
    streams.push(("hooks", hooks()));

    // One call after the other.
    let mut s = Script::begin();
    s.run()
        .turn()
        .whole(&user("go"))
        .told(&answer(&json!([call("a"), call("b")]), "toolUse"));
    for id in ["a", "b"] {
        s.line(execution("start", id)).line(execution("end", id));
    }
    s.whole(&result("a")).whole(&result("b")).turn_end();
    s.turn().told(&says).turn_end().run_end(false);
    streams.push(("tools_in_turn", s.end("completed")));

    streams.push(("compactions", compactions(&says)));
    streams.push(("overflow", overflow(&says)));

    let retries = failures::retries(&says, &failed, &broken).into_iter();
    streams.extend(retries.chain(failures::stopped(&says, &broken)));
    streams.push(("notices", notices(&says)));

    let mut s = Script::begin();
    s.run().whole(&custom("not here")).lines.truncate(2);
    s.run_end(false);
    s.lines.last_mut().unwrap()["messages"] = json!([]);
    streams.push(("nothing_done", s.end("completed")));

    streams.push(("agents", agents(&says)));

    let mut s = Script::begin();
    s.line(json!({
        "type": "thinking_level_clamped", "provider": "p", "modelId": "m", "requestedLevel": "max",
        "appliedLevel": "high", "reason": "level-unsupported",
    }));
    streams.push(("start_up_failure", s.end("failed")));

    streams.extend(failures::interrupted(&says, &failed));
    streams
}

/// Messages of extensions, wherever they may stand.
fn notices(says: &Value) -> Vec<Value> {
    let mut s = Script::begin();
    s.whole(&custom("before")).run();
    s.compact("threshold", None)
        .compacted("threshold", None, Compacted::Done);
    s.turn()
        .whole(&user("go"))
        .whole(&custom("inside"))
        .told(says)
        .turn_end();
    s.turn()
        .whole(&user("steered"))
        .whole(&user("and again"))
        .told(says)
        .turn_end()
        .run_end(false);
    s.whole(&custom("between")).whole(&custom("and again"));
    simple(&mut s, "more", says);
    s.whole(&custom("after"));
    s.end("completed")
}

/// Each kind of block in an answer of each kind.
fn blocks() -> Vec<Value> {
    let mut s = Script::begin();
    s.run();
    for stop in ["toolUse", "length", "stop"] {
        s.turn();
        s.told(&answer(
            &json!([thinking("hm"), text("well"), call("a")]),
            stop,
        ));
        s.line(execution("start", "a")).line(execution("end", "a"));
        s.whole(&result("a")).turn_end();
    }
    s.turn()
        .told(&answer(&json!([text("Done.")]), "stop"))
        .turn_end()
        .run_end(false);
    s.end("completed")
}

fn tools() -> Vec<Value> {
    let asks = answer(
        &json!([
            thinking("Two, at once."),
            { "type": "thinking", "thinking": "[withheld]", "redacted": true },
            text("I read."),
            call("a"),
            call("b"),
        ]),
        "toolUse",
    );
    let mut s = Script::begin();
    s.run().turn().whole(&user("read both")).fresh();
    let mut blocks: Vec<Vec<Value>> = asks["content"]
        .as_array()
        .unwrap()
        .iter()
        .enumerate()
        .map(|(index, block)| deltas(index, block))
        .collect();
    // The blocks one after the other, but for the last piece and the end of each, which come while
    // the next is open.
    let mut late = Vec::new();
    for block in &mut blocks {
        let tail = block.split_off(1);
        s.lines(block.drain(..))
            .lines(std::mem::replace(&mut late, tail));
    }
    s.lines(late).answered(&asks);
    s.lines([
        execution("start", "a"),
        execution("start", "b"),
        execution("update", "b"),
        json!({ "type": "tasks_update", "tasks": [{ "id": "1", "title": "t", "status": "pending" }] }),
        json!({ "type": "suggest_next", "command": "c" }),
        execution("end", "b"),
        execution("update", "a"),
        execution("end", "a"),
    ]);
    s.whole(&result("a")).whole(&result("b")).turn_end();
    let again = answer(&json!([call("a")]), "length");
    s.turn()
        .told(&again)
        .line(execution("start", "a"))
        .line(execution("end", "a"))
        .whole(&result("a"))
        .turn_end();
    s.turn()
        .told(&answer(
            &json!([thinking("Done."), text("Both are there.")]),
            "stop",
        ))
        .turn_end()
        .run_end(false);
    s.end("completed")
}

fn hooks() -> Vec<Value> {
    let mut s = Script::begin();
    s.run()
        .turn()
        .whole(&user("read"))
        .told(&answer(&json!([call("a"), call("b")]), "toolUse"));
    s.lines([
        execution("start", "a"),
        hook("start", "h1", "a"),
        execution("start", "b"),
        hook("start", "h2", "b"),
        hook("update", "h1", "a"),
        hook("end", "h1", "a"),
        execution("end", "a"),
        hook("end", "h2", "b"),
        hook("start", "h3", "b"),
        hook("end", "h3", "b"),
        execution("end", "b"),
    ]);
    s.whole(&result("a")).whole(&result("b")).turn_end();
    s.turn()
        .told(&answer(&json!([text("Done.")]), "stop"))
        .turn_end()
        .run_end(false);
    s.end("completed")
}

fn compactions(says: &Value) -> Vec<Value> {
    let mut s = Script::begin();
    for id in [Some("c1"), None] {
        s.run()
            .compact("threshold", id)
            .progress("threshold")
            .summary_retry("compaction", "threshold");
        s.compacted("threshold", id, Compacted::Done);
        s.turn().whole(&user("go")).told(says).turn_end();
        s.compact("threshold", id)
            .progress("threshold")
            .summary_retry("compaction", "threshold");
        s.compacted("threshold", id, Compacted::Failed);
        s.turn()
            .whole(&user("steered"))
            .told(says)
            .turn_end()
            .run_end(false);
        s.compact("manual", id)
            .progress("manual")
            .summary_retry("compaction", "manual");
        s.compacted("manual", id, Compacted::Aborted);
    }
    s.summary_retry("branchSummary", "");
    s.compact("threshold", None)
        .compacted("threshold", None, Compacted::Done);
    s.end("completed")
}

fn overflow(says: &Value) -> Vec<Value> {
    let failed = answer(&json!([]), "error");
    let mut s = Script::begin();
    s.run()
        .turn()
        .whole(&user("go"))
        .whole(&failed)
        .turn_end()
        .run_end(false);
    s.compact("overflow", None)
        .compacted("overflow", None, Compacted::WillRetry);
    s.run().turn().whole(&failed).turn_end().run_end(false);
    s.compacted("overflow", None, Compacted::Failed);
    simple(&mut s, "more", says);
    s.compacted("overflow", None, Compacted::Failed);
    s.end("failed")
}

/// The whole stream of an agent that has nothing to do.
fn child(id: &str) -> Vec<Value> {
    let mut child = Script::begin();
    child.run().run_end(false);
    let lines = child.end("completed").into_iter();
    lines.map(|line| agent_line(id, &line)).collect()
}

fn agents(says: &Value) -> Vec<Value> {
    let mut s = Script::begin();
    s.run()
        .turn()
        .whole(&user("look"))
        .told(&answer(&json!([call("a")]), "toolUse"));
    let mut decided = arbitration("g1", "success", None);
    decided["usage"] = usage(7, 1);
    s.line(execution("start", "a"));
    s.lines([agent_start("g1"), decided, agent_start("g2")]);
    s.lines(child("g1"));
    s.lines([arbitration("g2", "failure", None), agent_end("g2", false)]);
    s.line(execution("end", "a")).whole(&result("a")).turn_end();
    s.turn().told(says).turn_end();
    s.line(json!({
        "type": "parent_paused_for_background_agents", "runningAgentCount": 1, "turnsUsed": 2,
        "turnLimit": 3,
    }));
    s.run_end(false);
    s.lines([
        agent_end("g1", true),
        agent_start("g3"),
        arbitration("g3", "success", Some(1)),
        agent_start("g4"),
    ]);
    s.lines(child("g3"))
        .line(arbitration("g3", "failure", Some(2)));
    s.lines(child("g4"))
        .line(arbitration("g4", "success", Some(2)));
    s.lines(child("g4"));
    s.lines([
        agent_end("g3", false),
        agent_end("g4", true),
        agent_start("g5"),
        agent_end("g5", false),
    ]);
    simple(&mut s, "more", says);
    s.end("completed")
}
