use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::Snapshot;
use crate::event::sample::{answer, usage};
use crate::event::{
    AgentMessage, AssistantContent, AssistantMessage, AssistantMessageEvent,
    DrebMessageUpdateEvent, DrebTextDelta, DrebTextEnd, DrebTextStart, DrebThinkingDelta,
    DrebThinkingEnd, DrebThinkingStart, DrebToolcallDelta, DrebToolcallEnd, DrebToolcallStart,
    MessageFold, PartialJson, StopReason, TextDelta, TextEnd, TextStart, ThinkingDelta,
    ThinkingEnd, ThinkingStart, ToolCall, ToolCallIncomplete, ToolcallDelta, ToolcallEnd,
    ToolcallStart, Usage,
};
use crate::wire::line;

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

/// Deltas that no answer has in that order.
fn any_delta() -> impl Strategy<Value = AssistantMessageEvent> {
    (0_u64..3, 0_u8..9, words()).prop_map(|(content_index, kind, text)| {
        let call = ToolCall {
            id: text.clone(),
            name: "read".to_owned(),
            arguments: serde_json::Map::new(),
            thought_signature: None,
            incomplete: None,
            error_message: None,
        };
        match kind {
            0 => TextStart { content_index }.into(),
            1 => ThinkingStart { content_index }.into(),
            2 => ToolcallStart {
                content_index,
                id: text,
                tool_name: "read".to_owned(),
            }
            .into(),
            3 => TextDelta {
                content_index,
                delta: text,
            }
            .into(),
            4 => ThinkingDelta {
                content_index,
                delta: text,
            }
            .into(),
            5 => ToolcallDelta {
                content_index,
                delta: format!("{{\"a\":\"{text}"),
            }
            .into(),
            6 => TextEnd {
                content_index,
                content: text,
            }
            .into(),
            7 => ThinkingEnd {
                content_index,
                content: text,
            }
            .into(),
            _ => ToolcallEnd {
                content_index,
                tool_call: call,
            }
            .into(),
        }
    })
}

proptest! {
    /// Whatever comes, each line is JSON.
    #[test]
    fn deltas_in_any_order_make_json(deltas in vec(any_delta(), 0..12)) {
        let start: AssistantMessage =
            serde_json::from_value(answer(&json!([]), "pending")).unwrap();
        let used: Usage = serde_json::from_value(usage(1, 1)).unwrap();
        let mut snapshot = Snapshot::new(&start);
        for delta in deltas {
            snapshot.apply(&used, &delta);
            let mut line = Vec::new();
            snapshot.append(&mut line);
            let read = serde_json::from_slice::<Value>(&line);
            prop_assert!(read.is_ok(), "{}", String::from_utf8_lossy(&line));
        }
    }
}
