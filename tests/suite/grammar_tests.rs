//! The grammar itself, and its interpreter: sound streams pass, each single edit is found.

use serde_json::{Value, json};

use crate::grammar::native;
use crate::sample::{answer, broken, broken_run, header, result, run, stream, told, update, whole};
use crate::{fold, schema};

fn pass(lines: &[Value]) {
    assert_eq!(native().findings(lines), Vec::<String>::new());
}

fn fail(lines: &[Value], finding: &str) {
    let findings = native().findings(lines);
    assert!(
        findings.iter().any(|found| found.contains(finding)),
        "wanted {finding:?}, found {findings:#?}"
    );
}

/// A small stream around these lines.
fn around(middle: impl IntoIterator<Item = Value>) -> Vec<Value> {
    let end = stream().pop().unwrap();
    [header()].into_iter().chain(middle).chain([end]).collect()
}

/// Where the nth line of a type, or of a delta's type, is.
fn at(lines: &[Value], kind: &str, nth: usize) -> usize {
    let is = |line: &Value| line["type"] == kind || line["assistantMessageEvent"]["type"] == kind;
    lines
        .iter()
        .enumerate()
        .filter(|(_, line)| is(line))
        .nth(nth)
        .unwrap()
        .0
}

#[test]
fn names_are_defined_and_types_are_those_of_the_bundle() {
    assert_eq!(native().dangling(), Vec::<&str>::new());
    let mut known: Vec<&str> = schema::kinds().into_iter().map(|(kind, _)| kind).collect();
    known.sort_unstable();
    known.dedup();
    assert_eq!(native().types().into_iter().collect::<Vec<_>>(), known);
}

#[test]
fn every_rule_in_words_is_checked_by_the_fold() {
    let names: Vec<&str> = native()
        .rules
        .iter()
        .map(|rule| rule.name.as_str())
        .collect();
    assert_eq!(names, fold::RULES);
}

#[test]
fn sound_streams_pass() {
    pass(&stream());
    pass(&around([]));
    pass(&around(run()));
    pass(&around(broken_run(&broken(), false)));
}

#[test]
fn a_run_may_end_before_its_first_turn() {
    pass(&around([
        json!({ "type": "agent_start" }),
        agent_end(false),
    ]));
}

fn agent_end(will_retry: bool) -> Value {
    json!({ "type": "agent_end", "messages": [], "willRetry": will_retry })
}

#[test]
fn a_dropped_line_is_found() {
    // A piece of text that is lost leaves the order as it is; the fold finds it.
    let harmless = ["text_delta", "thinking_delta", "toolcall_delta"];
    let whole = stream();
    for index in 0..whole.len() {
        let delta = whole[index]["assistantMessageEvent"]["type"]
            .as_str()
            .unwrap_or("");
        let update = whole[index]["type"] == "tool_execution_update";
        let mut lines = whole.clone();
        let dropped = lines.remove(index);
        let found = !native().findings(&lines).is_empty();
        assert!(
            found || update || harmless.contains(&delta),
            "nobody misses line {index}: {dropped}"
        );
    }
}

#[test]
fn a_doubled_line_is_found() {
    let harmless = ["text_delta", "thinking_delta", "toolcall_delta"];
    let whole = stream();
    for index in 0..whole.len() {
        let delta = whole[index]["assistantMessageEvent"]["type"]
            .as_str()
            .unwrap_or("");
        let update = whole[index]["type"] == "tool_execution_update";
        let mut lines = whole.clone();
        lines.insert(index, whole[index].clone());
        let found = !native().findings(&lines).is_empty();
        assert!(
            found || update || harmless.contains(&delta),
            "line {index} may come twice: {}",
            whole[index]
        );
    }
}

#[test]
fn swapped_neighbours_are_found() {
    // What runs side by side has no order among itself.
    let whole = stream();
    let loose = |line: &Value| {
        let kind = line["type"].as_str().unwrap();
        kind.starts_with("tool_execution") || kind == "message_update"
    };
    for index in 1..whole.len() {
        let mut lines = whole.clone();
        lines.swap(index - 1, index);
        let found = !native().findings(&lines).is_empty();
        let aside = loose(&whole[index - 1]) && loose(&whole[index]);
        assert!(
            found || aside,
            "lines {index} and the one before may swap: {}",
            whole[index]
        );
    }
}

#[test]
fn the_header_is_first_and_once() {
    fail(
        &stream()[1..],
        "line 1 (agent_start): not legal in state `start`",
    );
    let mut lines = stream();
    lines.insert(1, header());
    fail(&lines, "line 2 (session): not legal");
}

#[test]
fn nothing_follows_the_end() {
    let mut lines = stream();
    lines.push(lines.last().unwrap().clone());
    fail(&lines, "(stream_end): not legal in state `end`");
    *lines.last_mut().unwrap() = json!({ "type": "queue_update", "steering": [], "followUp": [] });
    fail(&lines, "(queue_update): not legal in state `end`");
}

#[test]
fn a_cut_stream_is_found_wherever_it_is_cut() {
    let whole = stream();
    for length in 0..whole.len() {
        fail(&whole[..length], "the stream ends in state");
    }
    let open = at(&whole, "tool_execution_end", 0);
    fail(&whole[..open], "tool \"b\" is open");
}

#[test]
fn ids_have_to_agree() {
    let mut lines = stream();
    let index = at(&lines, "tool_execution_end", 0);
    lines[index]["toolCallId"] = "z".into();
    fail(&lines, "tool: closes \"z\", which is not open");
    fail(&lines, "tool: \"b\" is still open");
    let mut lines = stream();
    lines[index]["toolName"] = "write".into();
    fail(&lines, "/toolName was \"read\" and is \"write\"");
    let mut lines = stream();
    let index = at(&lines, "tool_execution_update", 0);
    lines[index]["toolCallId"] = "z".into();
    fail(&lines, "tool: needs \"z\" open");
    let mut lines = stream();
    let index = at(&lines, "tool_execution_start", 1);
    lines[index]["toolCallId"] = "a".into();
    fail(&lines, "tool: \"a\" is open already");
    let mut lines = stream();
    let index = at(&lines, "message_end", 2);
    lines[index]["message"]["toolCallId"] = "b".into();
    fail(
        &lines,
        "message: /message/toolCallId was \"a\" and is \"b\"",
    );
}

#[test]
fn an_id_is_used_once_in_a_turn() {
    let mut lines = stream();
    let ended = at(&lines, "tool_execution_end", 0);
    let again = [
        lines[at(&lines, "tool_execution_start", 1)].clone(),
        lines[ended].clone(),
    ];
    let rest = lines.split_off(ended + 1);
    lines.extend(again.into_iter().chain(rest));
    fail(&lines, "tool: \"b\" was used before");
}

#[test]
fn a_block_open_at_the_end_of_a_good_answer_is_found() {
    let mut lines = stream();
    lines.remove(at(&lines, "text_end", 0));
    fail(&lines, "text: 1 is still open");
    fail(&lines, "block: 1 is still open");
}

#[test]
fn a_block_keeps_its_kind_and_index() {
    let mut lines = stream();
    let index = at(&lines, "text_delta", 0);
    lines[index]["assistantMessageEvent"]["type"] = "thinking_delta".into();
    fail(&lines, "thinking: needs 1 open");
    let mut lines = stream();
    lines[index]["assistantMessageEvent"]["contentIndex"] = 7.into();
    fail(&lines, "text: needs 7 open");
    let mut lines = stream();
    let index = at(&lines, "text_start", 0);
    lines[index]["assistantMessageEvent"]["contentIndex"] = 0.into();
    fail(&lines, "block: 0 was used before");
}

#[test]
fn a_result_before_the_last_tool_is_over_is_found() {
    let mut lines = stream();
    let ended = at(&lines, "tool_execution_end", 1);
    let last = lines.remove(ended);
    fail(&lines, "tool: \"a\" is still open");
    lines.insert(ended + 2, last);
    fail(&lines, "(tool_execution_end): not legal in state `results`");
}

#[test]
fn tools_of_a_broken_answer_are_found() {
    let mut lines = broken_run(&broken(), false);
    let index = at(&lines, "turn_end", 0);
    lines.splice(index..index, whole(&result("c")));
    fail(&around(lines), "not legal in state `broken`");
}

#[test]
fn two_open_messages_are_found() {
    let mut lines = stream();
    let index = at(&lines, "message_end", 1);
    lines[index] = lines[at(&lines, "message_start", 1)].clone();
    fail(&lines, "not legal in state `answer`");
}

#[test]
fn a_failed_request_has_no_deltas() {
    let message = answer(&json!([]), "error");
    let [start, end] = whole(&message);
    let run = |middle: Vec<Value>| {
        let mut lines = vec![
            json!({ "type": "agent_start" }),
            json!({ "type": "turn_start" }),
        ];
        lines.extend(middle);
        lines.push(json!({ "type": "turn_end", "message": message, "toolResults": [] }));
        lines.push(agent_end(false));
        around(lines)
    };
    pass(&run(vec![start.clone(), end.clone()]));
    let delta = update(&json!({ "type": "text_start", "contentIndex": 0 }));
    fail(
        &run(vec![start, delta, end]),
        "not legal in state `failed_request`",
    );
}

#[test]
fn retries_go_in_their_order() {
    let start = json!({
        "type": "auto_retry_start", "attempt": 1, "maxAttempts": 3, "delayMs": 1, "errorMessage": "x",
    });
    let good = json!({ "type": "auto_retry_end", "success": true, "attempt": 1 });
    let bad =
        json!({ "type": "auto_retry_end", "success": false, "attempt": 1, "finalError": "x" });
    let failed = broken_run(&broken(), true);
    let mut healed = run();
    healed.insert(at(&healed, "message_end", 1) + 1, good);
    let sound = [failed.clone(), vec![start.clone()], healed].concat();
    pass(&around(sound.clone()));
    let given_up = [
        failed.clone(),
        vec![start.clone()],
        broken_run(&broken(), false),
        vec![bad],
    ]
    .concat();
    pass(&around(given_up.clone()));
    fail(&around(failed), "not legal in state `retry_announced`");
    fail(
        &around([vec![start], run()].concat()),
        "not legal in state `between_runs`",
    );
    let unfinished: Vec<Value> = sound
        .into_iter()
        .filter(|line| line["type"] != "auto_retry_end")
        .collect();
    fail(
        &around(unfinished),
        "auto_retry: (the only one) is still open",
    );
    fail(
        &around(given_up[..given_up.len() - 1].to_vec()),
        "auto_retry: (the only one) is still open",
    );
}

#[test]
fn compactions_lie_between_turns_and_runs() {
    let start = json!({ "type": "compaction_start", "reason": "threshold" });
    let end = json!({
        "type": "compaction_end", "reason": "threshold", "aborted": false, "willRetry": false,
    });
    let with = |index: usize, added: &[&Value]| {
        let mut lines = around(run());
        lines.splice(index..index, added.iter().copied().cloned());
        lines
    };
    let whole = around(run());
    for index in [1, 2, at(&whole, "turn_start", 1), whole.len() - 1] {
        pass(&with(index, &[&start, &end]));
        fail(&with(index, &[&start]), "not legal in state `compaction");
        fail(&with(index, &[&end]), "(compaction_end)");
    }
    fail(
        &with(at(&whole, "turn_start", 1) + 1, &[&start, &end]),
        "not legal in state `turn`",
    );
    let mut other = end.clone();
    other["reason"] = "overflow".into();
    fail(
        &with(1, &[&start, &other]),
        "/reason was \"threshold\" and is \"overflow\"",
    );
}

#[test]
fn background_agents_end_before_the_stream() {
    let agent = |what: &str| json!({ "type": format!("background_agent_{what}"), "agentId": "x" });
    let mut lines = around(run());
    lines.insert(at(&lines, "tool_execution_start", 0) + 1, agent("start"));
    fail(&lines, "background_agent: \"x\" is still open");
    lines.insert(lines.len() - 1, agent("event"));
    lines.insert(lines.len() - 1, agent("end"));
    pass(&lines);
    lines.insert(lines.len() - 1, agent("event"));
    fail(&lines, "background_agent: needs \"x\" open");
}

#[test]
fn a_redacted_block_has_no_pieces() {
    let answer = answer(
        &json!([{ "type": "thinking", "thinking": "hidden", "redacted": true }]),
        "stop",
    );
    let mut lines = run();
    let range = at(&lines, "message_start", 4)..=at(&lines, "message_end", 4);
    let redacted = told(&answer)
        .into_iter()
        .filter(|line| line["assistantMessageEvent"]["type"] != "thinking_delta");
    lines.splice(range, redacted);
    pass(&around(lines));
}
