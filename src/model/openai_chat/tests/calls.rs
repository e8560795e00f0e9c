//! Every way in which servers send tool calls.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::{call, delta, finish, outline};

fn calls(pieces: &[Value]) -> Vec<String> {
    let mut events: Vec<Value> = pieces.iter().cloned().map(call).collect();
    events.push(finish("tool_calls"));
    outline(&events)
}

#[test]
fn interleaved_calls_are_each_a_block_of_their_own() {
    let got = calls(&[
        json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": ""}}),
        json!({"index": 1, "id": "b", "function": {"name": "g", "arguments": "{\"x\""}}),
        json!({"index": 0, "function": {"arguments": "{\"y\":"}}),
        json!({"index": 1, "function": {"arguments": ":1}"}}),
        json!({"index": 0, "function": {"arguments": "2}"}}),
    ]);
    assert_eq!(
        got,
        [
            "call 0 a f",
            "call 1 b g",
            "1:{\"x\"",
            "0:{\"y\":",
            "1::1}",
            "0:2}",
            "=0",
            "=1"
        ]
    );
}

#[test]
fn pieces_of_one_chunk_go_to_their_calls_and_text_may_come_between() {
    let events = [
        delta(json!({"tool_calls": [
            {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{\"x\":"}},
            {"index": 1, "id": "b", "function": {"name": "g", "arguments": "{}"}}]})),
        delta(json!({"content": "so"})),
        call(json!({"index": 0, "function": {"arguments": "1}"}})),
        finish("tool_calls"),
    ];
    assert_eq!(
        outline(&events),
        [
            "call 0 a f",
            "0:{\"x\":",
            "call 1 b g",
            "1:{}",
            "=1",
            "text 2",
            "2:so",
            "0:1}",
            "=0",
            "=2"
        ]
    );
}

#[test]
fn pieces_without_an_index_go_by_id_or_to_the_latest_call() {
    let got = calls(&[
        json!({"id": "a", "function": {"name": "f", "arguments": "{\"x\""}}),
        json!({"id": "b", "function": {"name": "g", "arguments": "{"}}),
        json!({"id": "a", "function": {"arguments": ":1}"}}),
        json!({"function": {"arguments": "}"}}),
    ]);
    assert_eq!(
        got,
        [
            "call 0 a f",
            "0:{\"x\"",
            "call 1 b g",
            "1:{",
            "0::1}",
            "1:}",
            "=0",
            "=1"
        ]
    );
}

#[test]
fn a_late_id_or_name_is_waited_for() {
    let late_id = calls(&[
        json!({"index": 0, "function": {"name": "re"}}),
        json!({"index": 0, "function": {"name": "ad", "arguments": ""}}),
        json!({"index": 0, "id": "a"}),
        json!({"index": 0, "id": "other", "function": {"arguments": "{}"}}),
    ]);
    assert_eq!(late_id, ["call 0 a read", "0:{}", "=0"]);
    let name_twice = calls(&[
        json!({"index": 0, "function": {"name": "f"}}),
        json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}),
    ]);
    assert_eq!(name_twice, ["call 0 a f", "0:{}", "=0"]);
    let overtaken = calls(&[
        json!({"index": 0, "id": "a", "function": {"arguments": "{"}}),
        json!({"index": 1, "id": "b", "function": {"name": "g", "arguments": "{"}}),
        json!({"index": 0, "function": {"name": "f"}}),
    ]);
    let expected = ["call 0 b g", "0:{", "call 1 a f", "1:{", "=0", "=1"];
    assert_eq!(overtaken, expected);
    let late_name = calls(&[
        json!({"index": 0, "id": "a", "function": {"arguments": "{\"x\""}}),
        json!({"index": 0, "function": {"arguments": ":"}}),
        json!({"index": 0, "function": {"name": "f", "arguments": "1}"}}),
    ]);
    assert_eq!(late_name, ["call 0 a f", "0:{\"x\":1}", "=0"]);
    let late_id_without_index = calls(&[
        json!({"function": {"name": "f"}}),
        json!({"id": "a", "function": {"arguments": "{}"}}),
    ]);
    assert_eq!(late_id_without_index, ["call 0 a f", "0:{}", "=0"]);
}

#[test]
fn repeated_ids_and_names_are_no_new_call() {
    let got = calls(&[
        json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "{"}}),
        json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "\"x\":1"}}),
        json!({"index": 0, "id": "", "function": {"name": "", "arguments": "}"}}),
        json!({"index": 0, "id": null, "function": null}),
    ]);
    assert_eq!(got, ["call 0 a f", "0:{", "0:\"x\":1", "0:}", "=0"]);
}

#[test]
fn a_missing_id_or_name_is_made_up_and_an_id_occurs_once() {
    let got = calls(&[
        json!({"index": 0, "function": {"name": "f", "arguments": "{}"}}),
        json!({"index": 1, "id": "a", "function": {"name": "g", "arguments": "{}"}}),
        json!({"index": 2, "id": "a", "function": {"name": "g", "arguments": "{}"}}),
        json!({"index": 3, "id": "b", "function": {"arguments": "{}"}}),
        json!({"index": 4, "id": null}),
        json!({"index": 5, "function": {"name": "h"}}),
    ]);
    let made_up = |line: &str, name: &str| {
        let id = line.split(' ').nth(2).unwrap();
        assert!(
            id.starts_with("call_") && id.len() > 5 && line.ends_with(name),
            "{line}"
        );
    };
    made_up(&got[0], " f");
    assert_eq!(
        got[1..10],
        [
            "0:{}",
            "=0",
            "call 1 a g",
            "1:{}",
            "=1",
            "call 2 a_2 g",
            "2:{}",
            "=2",
            "call 3 b unnamed"
        ]
    );
    assert_eq!(got[10..12], ["3:{}", "=3"]);
    made_up(&got[12], " h");
    assert_eq!(got[13..], ["=4"]);
}

#[test]
fn calls_that_share_an_index_or_have_none_are_told_apart() {
    for index in [Some(0), None] {
        let piece = |id: &str, name: &str, arguments: &str| json!({"index": index, "id": id, "function": {"name": name, "arguments": arguments}});
        let whole = calls(&[
            piece("a", "f", "{}"),
            piece("b", "f", "{}"),
            piece("", "f", "{}"),
        ]);
        assert_eq!(
            whole[..6],
            ["call 0 a f", "0:{}", "=0", "call 1 b f", "1:{}", "=1"]
        );
        assert!(whole[6].starts_with("call 2 call_"));
        let begun = calls(&[
            piece("a", "f", ""),
            piece("b", "g", ""),
            piece("b", "", "{}"),
        ]);
        assert_eq!(begun, ["call 0 a f", "call 1 b g", "1:{}", "=0", "=1"]);
    }
}

#[test]
fn arguments_may_be_an_object() {
    let got = calls(&[
        json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": {"z": 1, "a": [2]}}}),
    ]);
    assert_eq!(got, ["call 0 a f", "0:{\"z\":1,\"a\":[2]}", "=0"]);
}

#[test]
fn the_call_of_servers_that_know_the_older_api() {
    let old = |piece: Value| delta(json!({ "function_call": piece }));
    let events = [
        old(json!({"name": "f", "arguments": ""})),
        old(json!({"arguments": "{\"x\":"})),
        old(json!({"arguments": "1}"})),
        finish("function_call"),
    ];
    let mut got = outline(&events);
    assert!(got[0].starts_with("call 0 call_") && got[0].ends_with(" f"));
    assert_eq!(got.split_off(1), ["0:{\"x\":", "0:1}", "=0"]);
}
