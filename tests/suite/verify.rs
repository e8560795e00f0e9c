//! The program's own verifier: one more judge of every stream, and its verdicts on illegal ones.

use quipu::contract::lines::Lines;
use quipu::contract::verify::{Finding, Options, Severity, Summary, Verifier};
use quipu::wire::Wire;
use serde_json::{Value, json};

use crate::check::check;
use crate::harness::World;
use crate::sample::{broken, broken_run, bytes, end, header, run, stream};
use crate::script::{text, tool};
use crate::wire_check::{OTHERS, project};

/// What is found in a stream.
pub(crate) fn verify(bytes: &[u8], options: Options) -> (Vec<Finding>, Summary) {
    let mut lines = Lines::new(bytes);
    let mut verifier = Verifier::new(options);
    let mut findings = Vec::new();
    while let Some(frame) = lines.next_line().unwrap() {
        verifier.line(&frame, &mut findings);
    }
    let summary = verifier.finish(&mut findings);
    (findings, summary)
}

pub(crate) fn ours(wire: Wire) -> Options {
    Options {
        wire: Some(wire),
        ours: true,
        ..Options::default()
    }
}

/// The errors in a stream that has to be what this program writes. Its wire has to be told by
/// itself, too.
pub(crate) fn errors(wire: Wire, bytes: &[u8]) -> Vec<String> {
    let (findings, summary) = verify(bytes, ours(wire));
    let detected = Options {
        wire: None,
        ..ours(wire)
    };
    let (by_itself, told) = verify(bytes, detected);
    let mut errors: Vec<String> = findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error)
        .map(|finding| format!("verify: {finding}"))
        .collect();
    // A header alone is taken for a stream of senpi.
    if summary.lines > 1 && (findings != by_itself || summary.wire != told.wire) {
        errors.push(format!("verify: taken for {:?}: {by_itself:?}", told.wire));
    }
    errors
}

/// The first error in a native stream, as a line and a rule, and how many there are.
#[track_caller]
pub(crate) fn first(lines: &[Value]) -> (String, usize) {
    let (findings, _) = verify(&bytes(lines), ours(Wire::Quipu));
    let errors: Vec<&Finding> = findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error)
        .collect();
    let first = errors
        .first()
        .map(|first| format!("{} {}", first.line, first.rule));
    (first.unwrap_or_default(), errors.len())
}

#[track_caller]
fn finds(lines: &[Value], finding: &str) {
    let (findings, _) = verify(&bytes(lines), ours(Wire::Quipu));
    let found: Vec<String> = findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error)
        .map(|finding| format!("{finding} [{}]", finding.rule))
        .collect();
    assert!(
        found
            .first()
            .is_some_and(|first| first.starts_with(finding)),
        "wanted {finding:?} first, found {found:#?}"
    );
}

pub(crate) fn edited(edit: impl FnOnce(&mut Vec<Value>)) -> Vec<Value> {
    let mut lines = stream();
    edit(&mut lines);
    lines
}

/// Where the nth line of a type, or of a delta's type, is.
pub(crate) fn at(lines: &[Value], kind: &str, nth: usize) -> usize {
    let is = |line: &Value| line["type"] == kind || line["assistantMessageEvent"]["type"] == kind;
    let mut found = lines.iter().enumerate().filter(|(_, line)| is(line));
    found.nth(nth).unwrap().0
}

#[test]
fn sound_streams_pass() {
    for lines in [stream(), vec![header(), end(2, 0, 0)]] {
        let (findings, summary) = verify(&bytes(&lines), Options::default());
        assert!(summary.valid, "{findings:#?}");
        assert_eq!(summary.lines, lines.len() as u64);
        assert_eq!(summary.wire, Some(Wire::Quipu));
    }
}

#[test]
fn a_dropped_doubled_or_swapped_line_is_found_where_it_is() {
    let whole = stream();
    for index in 0..whole.len() {
        let mut dropped = whole.clone();
        dropped.remove(index);
        let mut doubled = whole.clone();
        doubled.insert(index, whole[index].clone());
        for (what, lines) in [("without", dropped), ("twice", doubled)] {
            let witness = check(&bytes(&lines)).is_err();
            let (findings, _) = verify(&bytes(&lines), ours(Wire::Quipu));
            let errors: Vec<&Finding> = findings
                .iter()
                .filter(|finding| finding.severity == Severity::Error)
                .collect();
            assert!(witness, "{what} line {}", index + 1);
            assert!(
                !errors.is_empty(),
                "{what} line {}: {}",
                index + 1,
                whole[index]
            );
            assert!(
                errors.len() <= 3,
                "{what} line {} {}: {errors:#?}",
                index + 1,
                whole[index]
            );
        }
    }
    for index in 1..whole.len() {
        let mut lines = whole.clone();
        lines.swap(index - 1, index);
        let witness = check(&bytes(&lines)).is_err();
        let (first, count) = first(&lines);
        assert_eq!(witness, count > 0, "lines {index} and before: {first}");
        assert!(
            count <= 4,
            "lines {index} and before: {first}, {count} in all"
        );
    }
}

#[test]
fn a_cut_stream_is_found_wherever_it_is_cut() {
    let whole = stream();
    for length in 0..whole.len() {
        let (findings, _) = verify(&bytes(&whole[..length]), ours(Wire::Quipu));
        let errors: Vec<String> = findings
            .iter()
            .filter(|finding| finding.severity == Severity::Error)
            .map(ToString::to_string)
            .collect();
        assert_eq!(errors.len(), 1, "{length}: {errors:#?}");
        let says = if length == 0 {
            "is empty"
        } else {
            "ends too early"
        };
        assert!(errors[0].contains(says), "{errors:#?}");
    }
    // A cut within a line says no more than that.
    let text = bytes(&whole);
    for length in [text.len() - 1, text.len() - 20, text.len() / 2] {
        let (findings, _) = verify(&text[..length], ours(Wire::Quipu));
        let rules: Vec<&str> = findings
            .iter()
            .filter(|finding| finding.severity == Severity::Error)
            .map(|finding| finding.rule.as_str())
            .collect();
        assert_eq!(rules, ["framing/cut"], "{length}");
    }
}

#[test]
fn findings_are_words_for_people() {
    let whole = stream();
    let line = |kind: &str, nth| at(&whole, kind, nth) + 1;
    let number = line("tool_execution_end", 0);
    finds(
        &edited(|lines| lines[number - 1]["toolCallId"] = "z".into()),
        &format!(
            "line {number}: tool_execution_end: /toolCallId: for z without a tool_execution_start; open calls: a, b"
        ),
    );
    let number = line("text_delta", 0);
    finds(
        &edited(|lines| {
            lines[number - 1]["assistantMessageEvent"]["contentIndex"] = "1".into();
        }),
        &format!(
            "line {number}: message_update: /assistantMessageEvent/contentIndex: expected integer, got string"
        ),
    );
    let number = line("turn_end", 0);
    finds(
        &edited(|lines| drop(lines.remove(number - 1))),
        &format!("line {number}: turn_start: is not legal here: all tools are over"),
    );
    let number = line("text_end", 0);
    finds(
        &edited(|lines| lines[number - 1]["assistantMessageEvent"]["content"] = "I rest.".into()),
        &format!(
            "line {number}: message_update: /assistantMessageEvent/content: is not what the pieces of the block say: from byte 4 on \"st.\" instead of \"ad.\""
        ),
    );
    let number = line("tool_execution_end", 1);
    finds(
        &edited(|lines| drop(lines.remove(number - 1))),
        &format!("line {number}: message_start: comes too early: call a (line "),
    );
    let number = line("agent_end", 0);
    finds(
        &edited(|lines| lines[number - 1]["willRetry"] = true.into()),
        &format!(
            "line {number}: agent_end: is legal here only with /willRetry false: a turn with a good answer is over"
        ),
    );
}

/// Every edit that the tests of the witnesses make, and the rule that has to find it first.
#[allow(clippy::too_many_lines, reason = "a table of cases")]
#[test]
fn what_the_witnesses_find_is_found() {
    type Edit = fn(&mut Vec<Value>);
    fn delta(lines: &mut [Value], kind: &str, field: &str, value: Value) {
        let index = at(lines, kind, 0);
        lines[index]["assistantMessageEvent"][field] = value;
    }
    fn set(lines: &mut [Value], kind: &str, nth: usize, pointer: &str, value: Value) {
        let index = at(lines, kind, nth);
        let (parent, field) = pointer.rsplit_once('/').unwrap();
        lines[index].pointer_mut(parent).unwrap()[field] = value;
    }
    let cases: Vec<(&str, Edit)> = vec![
        ("schema/enum", |l| {
            set(l, "session", 0, "/stream/wire", json!("other"));
        }),
        ("schema/additionalProperties", |l| {
            l[0]["surprise"] = true.into();
        }),
        ("schema/additionalProperties", |l| {
            set(l, "turn_start", 0, "/note", Value::Null);
        }),
        ("schema/minimum", |l| {
            set(l, "message_end", 1, "/message/usage/input", json!(-1));
        }),
        ("schema/oneOf", |l| l[1]["type"] = "agent_settled".into()),
        ("rule/fold", |l| delta(l, "text_delta", "delta", json!("x"))),
        ("rule/fold", |l| {
            delta(l, "thinking_delta", "delta", json!("x"));
        }),
        ("rule/fold", |l| {
            delta(l, "toolcall_delta", "delta", json!("x"));
        }),
        ("rule/fold", |l| delta(l, "text_end", "content", json!("x"))),
        ("rule/fold", |l| {
            delta(l, "thinking_end", "content", json!("x"));
        }),
        ("rule/fold", |l| {
            set(
                l,
                "toolcall_end",
                0,
                "/assistantMessageEvent/toolCall/id",
                json!("z"),
            );
        }),
        ("rule/fold", |l| {
            delta(l, "toolcall_start", "toolName", json!("x"));
        }),
        ("order/block", |l| {
            delta(l, "text_delta", "contentIndex", json!(9));
        }),
        ("rule/fold", |l| {
            delta(l, "toolcall_start", "contentIndex", json!(3));
        }),
        ("rule/resolved_tool_name", |l| {
            let index = at(l, "toolcall_end", 0);
            l[index].as_object_mut().unwrap().remove("resolvedToolName");
        }),
        ("order/answer", |l| {
            set(l, "text_end", 0, "/resolvedToolName", json!("read"));
        }),
        ("rule/fold", |l| {
            let index = at(l, "message_end", 1);
            l[index]["message"]["content"].as_array_mut().unwrap().pop();
        }),
        ("rule/fold", |l| {
            set(
                l,
                "message_end",
                1,
                "/message/content/2/incomplete",
                json!(true),
            );
        }),
        ("rule/fold", |l| {
            set(l, "message_end", 1, "/message/api", json!("x"));
        }),
        ("rule/fold", |l| {
            set(l, "toolcall_end", 1, "/usage/input", json!(11));
        }),
        ("rule/fold", |l| {
            set(
                l,
                "message_end",
                5,
                "/message/content/0/text",
                json!("other"),
            );
        }),
        ("rule/fold", |l| {
            set(l, "message_end", 5, "/message/content/1/id", json!("x"));
        }),
        ("rule/whole_messages", |l| {
            set(l, "message_end", 0, "/message/timestamp", json!(7));
        }),
        ("rule/tool_starts", |l| {
            set(l, "tool_execution_start", 0, "/toolCallId", json!("z"));
        }),
        ("rule/tool_starts", |l| {
            set(l, "tool_execution_start", 0, "/args", json!({}));
        }),
        ("rule/tool_starts", |l| {
            set(l, "tool_execution_update", 0, "/args", json!({}));
        }),
        ("rule/tool_result_messages", |l| {
            set(l, "tool_execution_end", 0, "/isError", json!(true));
        }),
        ("rule/tool_result_messages", |l| {
            set(
                l,
                "tool_execution_end",
                0,
                "/result/content",
                json!([{ "type": "text", "text": "x" }]),
            );
        }),
        ("rule/tool_result_messages", |l| {
            let a = l
                .iter()
                .position(|line| line["message"]["toolCallId"] == "a")
                .unwrap();
            l.swap(a, a + 2);
            l.swap(a + 1, a + 3);
        }),
        ("order/message", |l| {
            set(l, "message_end", 2, "/message/toolCallId", json!("b"));
        }),
        ("order/tool", |l| {
            set(l, "tool_execution_end", 0, "/toolName", json!("write"));
        }),
        ("order/tool", |l| {
            set(l, "tool_execution_start", 1, "/toolCallId", json!("a"));
        }),
        ("rule/turn_end", |l| {
            set(l, "turn_end", 0, "/message/timestamp", json!(9));
        }),
        ("rule/turn_end", |l| {
            let index = at(l, "turn_end", 0);
            l[index]["toolResults"].as_array_mut().unwrap().reverse();
        }),
        ("rule/agent_end", |l| {
            let index = at(l, "agent_end", 0);
            l[index]["messages"].as_array_mut().unwrap().pop();
        }),
        ("rule/stream_end", |l| {
            set(l, "stream_end", 0, "/usage/input", json!(1));
        }),
        ("rule/stream_end", |l| {
            set(l, "stream_end", 0, "/usage/cost/total", json!(0.5));
        }),
        ("rule/stream_end", |l| {
            set(l, "stream_end", 0, "/turns", json!(2));
        }),
        ("rule/stream_end", |l| {
            set(l, "stream_end", 0, "/lines", json!(2));
        }),
        ("rule/stream_end", |l| {
            set(l, "stream_end", 0, "/exitCode", json!(0));
        }),
        ("rule/stream_end", |l| {
            set(l, "stream_end", 0, "/outcome", json!("completed"));
        }),
        ("order/end", |l| l.push(l.last().unwrap().clone())),
        ("order/start", |l| drop(l.remove(0))),
        ("header/version", |l| {
            l[0]["stream"]["version"] = "2.0.0".into();
        }),
        ("stamp/seq", |l| {
            for (seq, line) in l.iter_mut().enumerate() {
                line["seq"] = (seq + usize::from(seq > 4)).into();
                line["at"] = 1.into();
            }
        }),
        ("stamp/seq", |l| {
            for (seq, line) in l.iter_mut().enumerate().filter(|(seq, _)| *seq != 5) {
                line["seq"] = seq.into();
                line["at"] = 1.into();
            }
        }),
    ];
    for (number, (rule, edit)) in cases.into_iter().enumerate() {
        let lines = edited(edit);
        let (found, count) = first(&lines);
        assert!(
            found.ends_with(&format!(" {rule}")),
            "case {number}: wanted {rule}, found {found}"
        );
        assert!(count <= 2, "case {number}: {found}, and {count} in all");
    }
}

#[test]
fn background_agents_are_streams_of_their_own() {
    let relayed = |mut child: Vec<Value>| {
        let mut lines = vec![header()];
        lines.extend(run());
        lines.push(json!({
            "type": "background_agent_start", "agentId": "x", "agentType": "Explore", "taskSummary": "look",
        }));
        let total = child.len();
        child.last_mut().unwrap()["lines"] = total.into();
        lines.extend(child.into_iter().map(
            |event| json!({ "type": "background_agent_event", "agentId": "x", "event": event }),
        ));
        lines.push(json!({
            "type": "background_agent_end", "agentId": "x", "agentType": "Explore", "success": true,
        }));
        let count = lines.len() + 1;
        lines.push(end(count, 5, 2));
        lines
    };
    let sound = relayed(stream());
    let (findings, summary) = verify(&bytes(&sound), ours(Wire::Quipu));
    assert!(summary.valid, "{findings:#?}");
    let mut child = stream();
    let index = at(&child, "text_delta", 0);
    child[index]["assistantMessageEvent"]["delta"] = "x".into();
    let (findings, _) = verify(&bytes(&relayed(child)), ours(Wire::Quipu));
    let errors: Vec<&Finding> = findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error)
        .collect();
    assert_eq!(errors.len(), 1, "{errors:#?}");
    assert_eq!(errors[0].agent.as_deref(), Some("x"));
    assert_eq!(errors[0].pointer, "/event/assistantMessageEvent/content");
    let mut child = stream();
    child[index]["assistantMessageEvent"]["contentIndex"] = "1".into();
    let (findings, _) = verify(&bytes(&relayed(child)), ours(Wire::Quipu));
    let errors: Vec<&Finding> = findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error)
        .collect();
    assert_eq!(errors.len(), 1, "{errors:#?}");
    assert_eq!(
        (errors[0].agent.as_deref(), errors[0].rule.as_str()),
        (Some("x"), "schema/type")
    );
}

#[test]
fn retries_and_broken_runs_pass() {
    let start = json!({
        "type": "auto_retry_start", "attempt": 1, "maxAttempts": 3, "delayMs": 1, "errorMessage": "x",
    });
    let bad =
        json!({ "type": "auto_retry_end", "success": false, "attempt": 1, "finalError": "x" });
    let mut lines = vec![header()];
    lines.extend(broken_run(&broken(), true));
    lines.push(start);
    lines.extend(broken_run(&broken(), false));
    lines.push(bad);
    let count = lines.len() + 1;
    let mut last = end(count, 2, 2);
    last["outcome"] = "failed".into();
    last["exitCode"] = 1.into();
    last["error"] = stream().last().unwrap()["error"].clone();
    lines.push(last);
    let (findings, summary) = verify(&bytes(&lines), ours(Wire::Quipu));
    assert!(summary.valid, "{findings:#?}");
}

/// An edit of a projected stream is found on its wire, and only a note where Quipu alone promises.
#[test]
fn edits_on_the_other_wires_are_found() {
    let world = World::new();
    world.file("notes.txt", "a note\n");
    let steps = json!([
        tool("read", "call_1", &json!({ "path": "notes.txt" })),
        text("Done.")
    ]);
    let native = world.offline(&steps).arg("Read").run().stream().lines;
    for wire in OTHERS {
        let sound = project(wire, &native);
        let lines: Vec<Value> = String::from_utf8(sound)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let mut edited = lines.clone();
        let index = at(&edited, "turn_end", 0);
        edited[index]["message"]["timestamp"] = 9.into();
        let (findings, summary) = verify(&bytes(&edited), ours(wire));
        assert_eq!(findings[0].rule, "rule/turn_end", "{findings:#?}");
        assert!(!summary.valid);
        let lenient = Options {
            ours: false,
            ..ours(wire)
        };
        let (findings, summary) = verify(&bytes(&edited), lenient);
        assert!(summary.valid, "{findings:#?}");
        assert!(
            findings[0].message.starts_with("Quipu promises more"),
            "{findings:#?}"
        );
        let mut edited = lines;
        edited.remove(index);
        assert!(!verify(&bytes(&edited), ours(wire)).1.valid);
        assert!(
            !verify(&bytes(&edited), lenient).1.valid,
            "a turn without an end"
        );
    }
}
