//! The witnesses themselves: a sound stream passes, and each kind of damage is found by the one
//! that has to find it.

use serde_json::{Value, json};

use crate::check::check;
use crate::sample::{bytes, stream};
use crate::{fold, schema, strict};

fn edited(edit: impl FnOnce(&mut Vec<Value>)) -> Vec<Value> {
    let mut lines = stream();
    edit(&mut lines);
    lines
}

/// The nth line of a type, or of a delta's type.
fn nth<'a>(lines: &'a mut [Value], kind: &str, nth: usize) -> &'a mut Value {
    let is =
        |line: &&mut Value| line["type"] == kind || line["assistantMessageEvent"]["type"] == kind;
    lines.iter_mut().filter(is).nth(nth).unwrap()
}

#[track_caller]
fn found(findings: &[String], wanted: &str) {
    let any = findings.iter().any(|finding| finding.contains(wanted));
    assert!(any, "wanted {wanted:?}, found {findings:#?}");
}

#[track_caller]
fn fold_finds(wanted: &str, edit: impl FnOnce(&mut Vec<Value>)) {
    found(&fold::findings(&edited(edit)), wanted);
}

#[test]
fn a_sound_stream_passes_all_of_them() {
    check(&bytes(&stream())).unwrap();
}

#[test]
fn bytes_that_are_no_lines_are_found() {
    let whole = bytes(&stream());
    let finds = |bytes: &[u8], wanted: &str| found(&check(bytes).unwrap_err(), wanted);
    finds(b"", "cut after 0 bytes");
    finds(&whole[..whole.len() - 1], "the last line is cut");
    finds(&[&whole[..], b"\n"].concat(), "not JSON");
    finds(
        &[&whole[..], b"{\"type\":\"\xff\"}\n"].concat(),
        "not UTF-8",
    );
    let text = String::from_utf8(whole).unwrap();
    finds(
        text.replacen(":3,", ": 3,", 1).as_bytes(),
        "line 1: is not compact",
    );
    finds(
        text.replacen("}\n", "} \n", 1).as_bytes(),
        "line 1: is not compact",
    );
    finds(
        text.replacen("hello", "hel\u{2028}lo", 1).as_bytes(),
        "raw line separator",
    );
    finds(
        text.replacen("\n{", "\r\n{", 1).as_bytes(),
        "raw line separator",
    );
    let moved = text.replacen(
        r#"{"type":"turn_start"}"#,
        r#"{"x":1,"type":"turn_start"}"#,
        1,
    );
    finds(moved.as_bytes(), "does not begin with its type");
    check(text.replace("hello", r#"a \" b\\"#).as_bytes()).unwrap();
}

#[test]
fn the_schema_names_line_type_and_field() {
    let finds = |wanted: &str, edit: &dyn Fn(&mut [Value])| {
        found(&schema::findings(&edited(|lines| edit(lines))), wanted);
    };
    finds("line 1 (session): /stream/wire", &|lines| {
        lines[0]["stream"]["wire"] = "other".into();
    });
    finds("line 1 (session): ", &|lines| {
        lines[0]["surprise"] = true.into();
    });
    finds("(turn_start): ", &|lines| {
        nth(lines, "turn_start", 0)["note"] = Value::Null;
    });
    finds("(message_end): /message", &|lines| {
        nth(lines, "message_end", 1)["message"]["usage"]["input"] = (-1).into();
    });
    finds("the bundle knows no such type", &|lines| {
        lines[1]["type"] = "agent_settled".into();
    });
}

#[test]
fn the_strict_reading_wants_exactly_the_fields_of_the_documents() {
    let bad = [
        r#"{"type":"turn_start","note":1}"#,
        r#"{"type":"agent_end","messages":[]}"#,
        r#"{"type":"agent_end","messages":[],"willRetry":false,"willRetry":false}"#,
        r#"{"type":"agent_start","thinkingLevel":null}"#,
        r#"{"type":"agent_start","thinkingLevel":"huge"}"#,
        r#"{"type":"tool_execution_start","toolCallId":"a","toolName":"b","args":[]}"#,
        r#"{"type":"message_end","message":{"role":"user","content":[],"timestamp":1.5}}"#,
        r#"{"type":"agent_settled"}"#,
    ];
    for line in bad {
        assert!(strict::read(line).is_err(), "{line}");
    }
    strict::read(r#"{"type":"agent_start","thinkingLevel":"off"}"#).unwrap();
}

#[test]
fn the_fold_compares_deltas_with_the_message() {
    let delta = |lines: &mut [Value], kind: &str, n: usize, field: &str, value: Value| {
        nth(lines, kind, n)["assistantMessageEvent"][field] = value;
    };
    fold_finds("was told", |lines| {
        delta(lines, "text_delta", 0, "delta", "x".into());
    });
    fold_finds("was told", |lines| {
        delta(lines, "thinking_delta", 0, "delta", "x".into());
    });
    fold_finds("broken arguments are called whole", |lines| {
        delta(lines, "toolcall_delta", 0, "delta", "x".into());
    });
    fold_finds("its end says", |lines| {
        delta(lines, "text_end", 0, "content", "x".into());
    });
    fold_finds("its end says", |lines| {
        delta(lines, "thinking_end", 0, "content", "x".into());
    });
    fold_finds("differs from its toolcall_end", |lines| {
        delta(lines, "toolcall_end", 0, "toolCall", json!({ "id": "a" }));
    });
    fold_finds("the call became", |lines| {
        delta(lines, "toolcall_start", 0, "toolName", "x".into());
    });
    fold_finds("no open text block 9", |lines| {
        delta(lines, "text_delta", 0, "contentIndex", 9.into());
    });
    fold_finds("block 3 is not the next one", |lines| {
        delta(lines, "toolcall_start", 0, "contentIndex", 3.into());
    });
    fold_finds("resolvedToolName belongs", |lines| {
        nth(lines, "toolcall_end", 0)
            .as_object_mut()
            .unwrap()
            .remove("resolvedToolName");
    });
    fold_finds("resolvedToolName belongs", |lines| {
        nth(lines, "text_end", 0)["resolvedToolName"] = "read".into();
    });
    fold_finds("tell of 4 blocks, it holds 3", |lines| {
        nth(lines, "message_end", 1)["message"]["content"]
            .as_array_mut()
            .unwrap()
            .pop();
    });
    fold_finds("whole arguments are called incomplete", |lines| {
        nth(lines, "message_end", 1)["message"]["content"][2]["incomplete"] = true.into();
    });
    fold_finds("api differs from message_start", |lines| {
        nth(lines, "message_end", 1)["message"]["api"] = "x".into();
    });
    fold_finds("usage.input shrinks", |lines| {
        nth(lines, "text_end", 0)["usage"]["input"] = 10.into();
        nth(lines, "message_end", 1)["message"]["usage"]["input"] = 9.into();
    });
}

#[test]
fn broken_answers_hold_the_pieces_so_far() {
    // The last answer of the sample is cut off in a text and a call.
    let last = |lines: &mut [Value]| nth(lines, "message_end", 5)["message"]["content"].take();
    let mut lines = stream();
    assert_eq!(last(&mut lines)[0]["text"], "half");
    fold_finds("was told", |lines| {
        nth(lines, "message_end", 5)["message"]["content"][0]["text"] = "other".into();
    });
    fold_finds("the call became", |lines| {
        nth(lines, "message_end", 5)["message"]["content"][1]["id"] = "x".into();
    });
}

#[test]
fn lone_surrogates_and_pairs_in_arguments() {
    let told = |text: &str, arguments: Value| {
        edited(|lines| {
            nth(lines, "toolcall_delta", 0)["assistantMessageEvent"]["delta"] = text.into();
            nth(lines, "toolcall_delta", 1)["assistantMessageEvent"]["delta"] = "".into();
            let end = nth(lines, "toolcall_end", 0);
            end["assistantMessageEvent"]["toolCall"]["arguments"] = arguments.clone();
            let message = nth(lines, "message_end", 1);
            message["message"]["content"][2]["arguments"] = arguments;
        })
    };
    for (text, value) in [
        (r#"{"a":"\ud83d\ude00"}"#, "😀"),
        (r#"{"a":"\ud83d x"}"#, "\u{fffd} x"),
        (r#"{"a":"\ude00\ud83d"}"#, "\u{fffd}\u{fffd}"),
        (r#"{"a":"\\ud83d\u00e9"}"#, "\\ud83dé"),
    ] {
        let findings = fold::findings(&told(text, json!({ "a": value })));
        assert!(
            !findings.iter().any(|finding| finding.contains("fold")),
            "{text}: {findings:?}"
        );
        found(
            &fold::findings(&told(text, json!({ "a": "other" }))),
            "fold: arguments",
        );
    }
}

#[test]
fn the_fold_follows_messages_to_turns_and_runs() {
    fold_finds("whole_messages", |lines| {
        nth(lines, "message_end", 0)["message"]["timestamp"] = 7.into();
    });
    fold_finds("tool_starts: the next call", |lines| {
        nth(lines, "tool_execution_start", 0)["toolCallId"] = "z".into();
    });
    fold_finds("tool_starts: the arguments", |lines| {
        nth(lines, "tool_execution_start", 0)["args"] = json!({});
    });
    fold_finds("tool_starts: args differ", |lines| {
        nth(lines, "tool_execution_update", 0)["args"] = json!({});
    });
    fold_finds("differs from its tool_execution_end", |lines| {
        nth(lines, "tool_execution_end", 0)["isError"] = true.into();
    });
    fold_finds("its content differs", |lines| {
        nth(lines, "tool_execution_end", 0)["result"]["content"] =
            json!([{ "type": "text", "text": "x" }]);
    });
    fold_finds("the next start is", |lines| {
        let a = lines
            .iter()
            .position(|line| line["message"]["toolCallId"] == "a")
            .unwrap();
        lines.swap(a, a + 2);
        lines.swap(a + 1, a + 3);
    });
    fold_finds("turn_end: message", |lines| {
        nth(lines, "turn_end", 0)["message"] = json!({});
    });
    fold_finds("turn_end: toolResults", |lines| {
        nth(lines, "turn_end", 0)["toolResults"]
            .as_array_mut()
            .unwrap()
            .reverse();
    });
    fold_finds("agent_end: messages", |lines| {
        nth(lines, "agent_end", 0)["messages"]
            .as_array_mut()
            .unwrap()
            .pop();
    });
}

#[test]
fn messages_without_lines_stand_in_the_end_of_a_run_alone() {
    let state = json!({
        "role": "branchSummary", "summary": "s", "fromId": "root", "timestamp": 1,
    });
    let put = |lines: &mut [Value], message: Value| {
        let end = nth(lines, "agent_end", 0);
        end["messages"].as_array_mut().unwrap().insert(1, message);
    };
    let told = edited(|lines| put(lines, state));
    assert_eq!(fold::findings(&told), [""; 0]);
    fold_finds("agent_end: messages", |lines| {
        put(
            lines,
            json!({ "role": "user", "content": "never said", "timestamp": 1 }),
        );
    });
}

#[test]
fn the_fold_counts() {
    let end = |lines: &mut [Value], at: &str, value: Value| {
        *lines.last_mut().unwrap().pointer_mut(at).unwrap() = value;
    };
    fold_finds("usage is not the sum", |lines| {
        end(lines, "/usage/input", 1.into());
    });
    fold_finds("usage is not the sum", |lines| {
        end(lines, "/usage/cost/total", 0.5.into());
    });
    fold_finds("turns: 3 begun", |lines| end(lines, "/turns", 2.into()));
    fold_finds("lines: ", |lines| end(lines, "/lines", 2.into()));
    fold_finds("do not go together", |lines| {
        end(lines, "/exitCode", 0.into());
    });
    fold_finds("do not go together", |lines| {
        end(lines, "/outcome", "completed".into());
    });
}
