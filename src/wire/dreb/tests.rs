use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::event::sample::{answer, event, rich, update, usage};
use crate::event::tracker::{CloseReason, Tracker};
use crate::event::{DrebEvent, QuipuEvent, StopReason};
use crate::wire::{Projection, Wire, line};

/// The lines of a stream on this wire, each checked against the generated types.
fn lines(events: impl IntoIterator<Item = QuipuEvent>) -> Vec<Value> {
    let mut projection = Projection::new(Wire::Dreb);
    let mut lines = Vec::new();
    for event in events {
        projection.project(event, |line| {
            let mut bytes = Vec::new();
            line.append_to(&mut bytes).unwrap();
            let read: DrebEvent = serde_json::from_slice(&bytes)
                .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&bytes)));
            assert_eq!(read.kind(), line.kind());
            let mut again = Vec::new();
            line::append(&mut again, &read).unwrap();
            assert_eq!(String::from_utf8(again), String::from_utf8(bytes.clone()));
            lines.push(serde_json::from_slice(&bytes).unwrap());
        });
    }
    lines
}

fn kinds(lines: &[Value]) -> Vec<&str> {
    let kind = |line: &Value| line["type"].as_str().map(|_| ()).is_some();
    assert!(lines.iter().all(kind));
    lines
        .iter()
        .filter_map(|line| line["type"].as_str())
        .collect()
}

fn stream_end(outcome: &str) -> QuipuEvent {
    event(json!({
        "type": "stream_end", "outcome": outcome, "exitCode": 0, "usage": usage(0, 0), "turns": 0,
        "lines": 1,
    }))
}

/// What the tracker adds to a stream that is cut, and the terminal line.
fn closed(events: &[QuipuEvent], outcome: &str) -> Vec<QuipuEvent> {
    let mut tracker = Tracker::default();
    for event in events {
        tracker.observe(event).unwrap();
    }
    let ends = tracker.close(&CloseReason {
        stop_reason: StopReason::Aborted,
        message: "The run was aborted.".to_owned(),
    });
    let end = stream_end(outcome);
    events.iter().cloned().chain(ends).chain([end]).collect()
}

#[test]
fn the_whole_stream_is_one_run() {
    let events = closed(&rich(), "completed");
    let lines = lines(events.clone());
    let kinds = kinds(&lines);
    assert_eq!(
        kinds[..6],
        [
            "session",
            "agent_start",
            "session_name_changed",
            "message_start",
            "message_end",
            "auto_compaction_start",
        ]
    );
    assert_eq!(lines[1]["model"]["id"], "m");
    let count = |wanted| kinds.iter().filter(|kind| **kind == wanted).count();
    assert_eq!((count("agent_start"), count("agent_end")), (1, 1));
    let ended = events.iter().filter_map(|event| match event {
        QuipuEvent::MessageEnd(end) => Some(serde_json::to_value(&end.message).unwrap()),
        _ => None,
    });
    let last = lines.last().unwrap();
    assert_eq!(last["type"], "agent_end");
    assert_eq!(last["messages"], ended.collect::<Value>());
}

#[test]
fn retries_stand_between_turns() {
    let lines = lines(closed(&rich(), "completed"));
    let kinds = kinds(&lines);
    let after = |wanted: &str, nth: usize| {
        let mut places = (0..kinds.len()).filter(|at| kinds[*at] == wanted);
        let at = places.nth(nth).unwrap();
        (kinds[at - 1], kinds[at + 1])
    };
    assert_eq!(after("auto_retry_start", 0), ("turn_end", "turn_start"));
    assert_eq!(after("auto_retry_start", 1), ("turn_end", "turn_start"));
    assert_eq!(
        after("auto_retry_end", 0),
        ("message_end", "tool_execution_start")
    );
    assert_eq!(
        after("auto_retry_end", 1),
        ("turn_end", "auto_compaction_end")
    );
}

#[test]
fn a_cut_stream_ends_by_the_rule_of_its_outcome() {
    let events = rich();
    for cut in 1..=events.len() {
        let last = &events[cut - 1];
        let interrupted = lines(closed(&events[..cut], "interrupted"));
        assert!(
            !kinds(&interrupted).contains(&"agent_end"),
            "cut after {last:?}"
        );
        let failed = lines(closed(&events[..cut], "failed"));
        let kinds = kinds(&failed);
        assert_eq!(kinds[..2], ["session", "agent_start"], "cut after {last:?}");
        assert_eq!(*kinds.last().unwrap(), "agent_end", "cut after {last:?}");
        let ends = kinds.iter().filter(|kind| **kind == "agent_end");
        assert_eq!(ends.count(), 1, "cut after {last:?}");
    }
}

#[test]
fn a_start_up_failure_is_a_run_without_messages() {
    let header = rich().remove(0);
    let failed = lines([header.clone(), stream_end("failed")]);
    assert_eq!(
        failed[1..],
        [
            json!({"type": "agent_start"}),
            json!({"type": "agent_end", "messages": []}),
        ]
    );
    assert_eq!(
        failed[0],
        json!({
            "type": "session", "version": 3, "id": "s",
            "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/",
        })
    );
    assert_eq!(lines([header, stream_end("interrupted")]).len(), 1);
}

#[test]
fn compactions_are_told_as_this_wire_does() {
    let compaction = |reason: &str| {
        [
            json!({"type": "compaction_start", "reason": reason, "requestId": "c"}),
            json!({"type": "compaction_progress", "reason": reason, "text": "so far"}),
            json!({
                "type": "compaction_end", "reason": reason, "aborted": false, "willRetry": true,
                "requestId": "c", "accepted": true,
                "result": {
                    "summary": "s", "firstKeptEntryId": "00000001", "tokensBefore": 9,
                    "estimatedTokensAfter": 2, "details": {"readFiles": []}, "usage": usage(1, 1),
                },
            }),
        ]
    };
    let start = [json!({"type": "agent_start"})];
    let events = start
        .into_iter()
        .chain(compaction("manual"))
        .chain(compaction("overflow"));
    assert_eq!(
        lines(events.map(event))[1..],
        [
            json!({"type": "auto_compaction_start", "reason": "overflow"}),
            json!({
                "type": "auto_compaction_end",
                "result": {
                    "summary": "s", "firstKeptEntryId": "00000001", "tokensBefore": 9,
                    "details": {"readFiles": []},
                },
                "aborted": false, "willRetry": true,
            }),
        ]
    );
}

#[test]
fn background_agents_have_streams_of_their_own() {
    let relayed = |line: Value| {
        event(json!({"type": "background_agent_event", "agentId": "g", "event": line}))
    };
    let header = serde_json::to_value(rich().remove(0)).unwrap();
    let ended = serde_json::to_value(stream_end("completed")).unwrap();
    let failed = answer(&json!([]), "error");
    let child = |attempts: usize| {
        let mut lines = vec![header.clone()];
        for attempt in 1..=attempts {
            lines.extend([
                json!({"type": "agent_start", "model": {"provider": "p", "id": "child"}}),
                json!({"type": "turn_start"}),
                json!({"type": "message_start", "message": failed}),
                json!({"type": "message_end", "message": failed}),
                json!({"type": "turn_end", "message": failed, "toolResults": []}),
                json!({"type": "agent_end", "messages": [failed], "willRetry": attempt < attempts}),
            ]);
        }
        lines
    };
    let mut events = vec![event(json!({"type": "agent_start"}))];
    // Two steps of a chain; the second is cut off.
    events.extend(child(2).into_iter().chain([ended]).map(relayed));
    events.extend(child(1).into_iter().map(relayed));
    events.push(event(json!({
        "type": "background_agent_end", "agentId": "g", "agentType": "Explore", "success": false,
    })));
    let lines = lines(events);
    let inner: Vec<&str> = lines
        .iter()
        .filter_map(|line| line["event"]["type"].as_str())
        .collect();
    let attempt = ["turn_start", "message_start", "message_end", "turn_end"];
    let mut expected = vec!["agent_start"];
    expected.extend([attempt, attempt].concat());
    expected.extend(["agent_end", "agent_start"]);
    expected.extend(attempt);
    assert_eq!(inner, expected);
    let messages: Vec<usize> = lines
        .iter()
        .filter_map(|line| line["event"]["messages"].as_array().map(Vec::len))
        .collect();
    assert_eq!(messages, [2]);
    assert_eq!(lines[1]["event"]["model"]["id"], "child");
    assert_eq!(lines.last().unwrap()["type"], "background_agent_end");
}

#[test]
fn the_growing_message_of_a_background_agent_is_whole_too() {
    let relayed = |line: Value| {
        event(json!({"type": "background_agent_event", "agentId": "g", "event": line}))
    };
    let pending = answer(&json!([]), "pending");
    let events = [
        event(json!({"type": "agent_start"})),
        relayed(json!({"type": "agent_start"})),
        relayed(json!({"type": "message_start", "message": pending})),
        relayed(update(&json!({"type": "text_start", "contentIndex": 0}))),
        relayed(update(
            &json!({"type": "text_delta", "contentIndex": 0, "delta": "a\u{2028}"}),
        )),
    ];
    let lines = lines(events);
    let inner = &lines.last().unwrap()["event"];
    assert_eq!(inner["message"]["content"][0]["text"], "a\u{2028}");
    assert_eq!(inner["assistantMessageEvent"]["partial"], inner["message"]);
}
