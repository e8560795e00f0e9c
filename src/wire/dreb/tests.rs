use pretty_assertions::assert_eq;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::Snapshot;
use crate::event::sample::{answer, event, rich, update, usage};
use crate::event::tracker::{CloseReason, Tracker};
use crate::event::{
    AgentMessage, AssistantContent, AssistantMessage, AssistantMessageEvent, DrebEvent,
    DrebMessageUpdateEvent, DrebTextDelta, DrebTextEnd, DrebTextStart, DrebThinkingDelta,
    DrebThinkingEnd, DrebThinkingStart, DrebToolcallDelta, DrebToolcallEnd, DrebToolcallStart,
    MessageFold, PartialJson, QuipuEvent, StopReason, TextDelta, TextEnd, TextStart, ThinkingDelta,
    ThinkingEnd, ThinkingStart, ToolCall, ToolCallIncomplete, ToolcallDelta, ToolcallEnd,
    ToolcallStart, Usage,
};
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
    expected.push("agent_end");
    assert_eq!(inner, expected);
    let messages: Vec<usize> = lines
        .iter()
        .filter_map(|line| line["event"]["messages"].as_array().map(Vec::len))
        .collect();
    assert_eq!(messages, [2, 1]);
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

/// One block of a random answer, with the pieces it comes in.
#[derive(Clone, Debug)]
enum Plan {
    Text(Vec<String>),
    Thinking(Vec<String>),
    Redacted,
    Call {
        id: String,
        name: String,
        pieces: Vec<String>,
        /// Whether the call gets an end.
        ends: bool,
    },
}

fn words() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a", "é", "😀", "\u{2028}", "\u{2029}", "\"", "\\", "\n", "\u{0}", "\u{7f}", ":", "<",
    ]);
    prop_oneof![
        vec(piece, 0..6).prop_map(|pieces| pieces.concat()),
        "\\PC{0,8}"
    ]
}

/// The text of arguments, mostly of whole JSON.
fn arguments() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        words().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
    ];
    let value = leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec(("[ab]", inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    });
    let object = vec(("[abc]{0,2}", value), 0..5);
    let whole = object.prop_map(|fields| {
        // By hand, so that keys may come twice.
        let fields: Vec<String> = fields
            .iter()
            .map(|(key, value)| format!("\"{key}\": {value}"))
            .collect();
        format!(" {{{}}} ", fields.join(", "))
    });
    let escapes = prop::sample::select(vec![
        "{\"a\":\"\\ud83d\\ude00x\\ud83d\"}",
        "{\"a\":{\"a\":\"x\",\"b\":1,\"a\":\"yz\"},\"b\":\"long enough\"}",
        "{\"a\":[\"x\",\"y\\u2028\"],\"a\":[\"x\",\"y\"]}",
        "[1]",
        "{\"a\":\"x\"} y",
        "{\"a\":tru",
        "",
    ]);
    prop_oneof![4 => whole, 2 => escapes.prop_map(str::to_owned), 1 => words()]
}

/// Cuts a text at any characters.
fn cut(text: &str, cuts: &[prop::sample::Index]) -> Vec<String> {
    let mut places: Vec<usize> = cuts
        .iter()
        .map(|cut| text.floor_char_boundary(cut.index(text.len() + 1)))
        .collect();
    places.extend([0, text.len()]);
    places.sort_unstable();
    places
        .windows(2)
        .map(|pair| text[pair[0]..pair[1]].to_owned())
        .collect()
}

fn plan() -> impl Strategy<Value = Plan> {
    let call = (
        arguments(),
        vec(any::<prop::sample::Index>(), 0..12),
        words(),
        words(),
        prop::bool::weighted(0.8),
    );
    prop_oneof![
        vec(words(), 0..6).prop_map(Plan::Text),
        vec(words(), 0..6).prop_map(Plan::Thinking),
        Just(Plan::Redacted),
        call.prop_map(|(text, cuts, id, name, ends)| Plan::Call {
            id,
            name,
            pieces: cut(&text, &cuts),
            ends,
        }),
    ]
}

/// The deltas of a block in their order.
fn deltas(content_index: u64, plan: &Plan) -> Vec<AssistantMessageEvent> {
    let mut deltas = Vec::new();
    match plan {
        Plan::Text(pieces) => {
            deltas.push(TextStart { content_index }.into());
            deltas.extend(pieces.iter().cloned().map(|delta| {
                AssistantMessageEvent::from(TextDelta {
                    content_index,
                    delta,
                })
            }));
            let content = pieces.concat();
            deltas.push(
                TextEnd {
                    content_index,
                    content,
                }
                .into(),
            );
        }
        Plan::Thinking(pieces) => {
            deltas.push(ThinkingStart { content_index }.into());
            deltas.extend(pieces.iter().cloned().map(|delta| {
                AssistantMessageEvent::from(ThinkingDelta {
                    content_index,
                    delta,
                })
            }));
            let content = pieces.concat();
            deltas.push(
                ThinkingEnd {
                    content_index,
                    content,
                }
                .into(),
            );
        }
        Plan::Redacted => {
            let content = "[withheld]".to_owned();
            deltas.push(ThinkingStart { content_index }.into());
            deltas.push(
                ThinkingEnd {
                    content_index,
                    content,
                }
                .into(),
            );
        }
        Plan::Call {
            id,
            name,
            pieces,
            ends,
        } => {
            deltas.push(
                ToolcallStart {
                    content_index,
                    id: id.clone(),
                    tool_name: name.clone(),
                }
                .into(),
            );
            deltas.extend(pieces.iter().cloned().map(|delta| {
                AssistantMessageEvent::from(ToolcallDelta {
                    content_index,
                    delta,
                })
            }));
            let mut arguments = PartialJson::default();
            arguments.push(&pieces.concat());
            let fault = arguments.check().err();
            let tool_call = ToolCall {
                id: id.clone(),
                name: name.clone(),
                arguments: arguments.into_value(),
                thought_signature: None,
                incomplete: fault.as_ref().map(|_| ToolCallIncomplete),
                error_message: fault.map(|fault| fault.to_string()),
            };
            deltas.extend(ends.then(|| {
                AssistantMessageEvent::from(ToolcallEnd {
                    content_index,
                    tool_call,
                })
            }));
        }
    }
    deltas
}

/// The line as the generated types make it, from the fold of the deltas.
fn typed(
    start: &AssistantMessage,
    usage: &Usage,
    fold: &MessageFold,
    open: &[u64],
    delta: AssistantMessageEvent,
) -> DrebMessageUpdateEvent {
    use AssistantMessageEvent as Delta;
    let mut content = fold.content();
    // To the fold a call is incomplete until it has ended; here it is still growing.
    for (index, block) in (0_u64..).zip(&mut content) {
        if let AssistantContent::ToolCall(call) = block
            && open.contains(&index)
        {
            (call.incomplete, call.error_message) = (None, None);
        }
    }
    let message = AssistantMessage {
        content,
        usage: usage.clone(),
        stop_reason: StopReason::Stop,
        ..start.clone()
    };
    let partial = message.clone();
    let assistant_message_event = match delta {
        Delta::TextStart(TextStart { content_index }) => DrebTextStart {
            content_index,
            partial,
        }
        .into(),
        Delta::TextDelta(TextDelta {
            content_index,
            delta,
        }) => DrebTextDelta {
            content_index,
            delta,
            partial,
        }
        .into(),
        Delta::TextEnd(TextEnd {
            content_index,
            content,
        }) => DrebTextEnd {
            content_index,
            content,
            partial,
        }
        .into(),
        Delta::ThinkingStart(ThinkingStart { content_index }) => DrebThinkingStart {
            content_index,
            partial,
        }
        .into(),
        Delta::ThinkingDelta(ThinkingDelta {
            content_index,
            delta,
        }) => DrebThinkingDelta {
            content_index,
            delta,
            partial,
        }
        .into(),
        Delta::ThinkingEnd(ThinkingEnd {
            content_index,
            content,
        }) => DrebThinkingEnd {
            content_index,
            content,
            partial,
        }
        .into(),
        Delta::ToolcallStart(ToolcallStart { content_index, .. }) => DrebToolcallStart {
            content_index,
            partial,
        }
        .into(),
        Delta::ToolcallDelta(ToolcallDelta {
            content_index,
            delta,
        }) => DrebToolcallDelta {
            content_index,
            delta,
            partial,
        }
        .into(),
        Delta::ToolcallEnd(ToolcallEnd {
            content_index,
            tool_call,
        }) => DrebToolcallEnd {
            content_index,
            tool_call,
            partial,
        }
        .into(),
    };
    DrebMessageUpdateEvent {
        assistant_message_event,
        message,
    }
}

fn index(delta: &AssistantMessageEvent) -> (u64, bool) {
    let delta = serde_json::to_value(delta).unwrap();
    let ends = delta["type"].as_str().unwrap().ends_with("_end");
    (delta["contentIndex"].as_u64().unwrap(), ends)
}

proptest! {
    /// The bytes that are put together are those of the generated types, whatever comes, also when
    /// blocks grow side by side.
    #[test]
    fn the_bytes_are_those_of_the_types(
        plans in vec(plan(), 0..5),
        picks in vec(any::<prop::sample::Index>(), 80),
        side_by_side in any::<bool>(),
        usages in vec((0..3_u64, 0..3_u64), 1..5),
    ) {
        let AgentMessage::Assistant(start) =
            serde_json::from_value(answer(&json!([]), "stop")).unwrap() else { unreachable!() };
        let mut snapshot = Snapshot::new(&start);
        let mut fold = MessageFold::default();
        let mut queues: Vec<_> = (0_u64..)
            .zip(&plans)
            .map(|(at, plan)| deltas(at, plan).into_iter().peekable())
            .collect();
        // Blocks start in the order of their indexes; what follows may be mixed.
        let (mut begun, mut open, mut turn) = (0, Vec::new(), 0);
        loop {
            let ready: Vec<usize> =
                (0..begun).filter(|at| queues[*at].peek().is_some()).collect();
            let at = if begun < queues.len() && (side_by_side || ready.is_empty()) {
                begun += 1;
                open.push(begun as u64 - 1);
                begun - 1
            } else if ready.is_empty() {
                break;
            } else {
                ready[picks[turn % picks.len()].index(ready.len())]
            };
            let delta = queues[at].next().unwrap();
            let (index, ends) = index(&delta);
            if ends {
                open.retain(|other| *other != index);
            }
            let (input, output) = usages[turn % usages.len()];
            let usage: Usage = serde_json::from_value(usage(input, output)).unwrap();
            turn += 1;

            snapshot.apply(&usage, &delta);
            fold.apply(&delta).unwrap();
            let mut bytes = Vec::new();
            snapshot.append(&mut bytes);
            let mut expected = Vec::new();
            line::json(&mut expected, &typed(&start, &usage, &fold, &open, delta)).unwrap();
            prop_assert_eq!(
                String::from_utf8(bytes).unwrap(),
                String::from_utf8(expected).unwrap()
            );
        }
    }
}
