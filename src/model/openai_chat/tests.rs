//! From hand-written bytes of the service to deltas.

#![allow(
    clippy::needless_pass_by_value,
    reason = "a JSON literal needs no `&` in front of it"
)]

mod calls;
mod connection;

use std::collections::VecDeque;

use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::decode::ChatDecoder;
use crate::event::{ErrorCode, StopReason};
use crate::model::answer::Reader;
use crate::model::{ModelDelta as D, ModelError, TokenUsage};

pub(in crate::model) fn decode(chunks: &[&[u8]]) -> (Vec<D>, Option<ModelError>) {
    let mut reader = Reader::new(ChatDecoder::new("mock-1"));
    let mut out = VecDeque::new();
    let fed = chunks
        .iter()
        .try_for_each(|chunk| reader.bytes(chunk, &mut out));
    let end = fed.and_then(|()| reader.end(&mut out));
    (out.into(), end.err())
}

fn data(events: &[Value]) -> String {
    let event = |event: &Value| ["data: ", &event.to_string(), "\n\n"].concat();
    events.iter().map(event).collect()
}

fn delta(delta: Value) -> Value {
    json!({"id": "c1", "object": "chat.completion.chunk", "model": "mock-1", "usage": null,
        "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn finish(reason: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

fn call(piece: Value) -> Value {
    delta(json!({ "tool_calls": [piece] }))
}

/// The deltas in short, `=index` for an end; without ids, usage and the end.
fn outline(events: &[Value]) -> Vec<String> {
    let (deltas, error) = decode(&[data(events).as_bytes()]);
    assert_eq!(error, None);
    let line = |delta: &D| match delta {
        D::TextStart { index } => Some(format!("text {index}")),
        D::ThinkingStart { index } => Some(format!("thinking {index}")),
        D::ToolcallStart { index, id, name } => Some(format!("call {index} {id} {name}")),
        D::TextDelta { index, delta }
        | D::ThinkingDelta { index, delta }
        | D::ToolcallDelta { index, delta } => Some(format!("{index}:{delta}")),
        D::TextEnd { index, .. } | D::ToolcallEnd { index } => Some(format!("={index}")),
        D::ThinkingEnd {
            index,
            signature,
            redacted: false,
        } => Some(format!("={index} {}", signature.as_deref().unwrap_or("-"))),
        _ => None,
    };
    deltas.iter().filter_map(line).collect()
}

fn finished(stop_reason: StopReason) -> D {
    D::Finished {
        stop_reason,
        refusal: None,
    }
}

/// As OpenAI sends it, with what its likes add.
pub(in crate::model) fn everything() -> (String, Vec<D>) {
    let usage = json!({"id": "c1", "choices": [], "usage": {
        "prompt_tokens": 1040, "completion_tokens": 30, "total_tokens": 1070,
        "prompt_tokens_details": {"cached_tokens": 1000},
        "completion_tokens_details": {"reasoning_tokens": 12}}});
    let text = data(&[
        json!({"choices": [], "prompt_filter_results": [], "id": ""}),
        delta(json!({"role": "assistant", "content": "", "refusal": null})),
        delta(json!({"reasoning_content": "Hm ä"})),
        delta(json!({"reasoning_content": null, "content": null})),
        delta(json!({"reasoning_content": "."})),
        delta(json!({"content": "😀 "})),
        delta(json!({"content": "Grüße"})),
        call(
            json!({"index": 0, "id": "a", "type": "function", "function": {"name": "read", "arguments": ""}}),
        ),
        call(json!({"index": 0, "function": {"arguments": "{\"a\":"}})),
        call(json!({"index": 0, "function": {"arguments": "1}"}})),
        call(
            json!({"index": 1, "id": "b", "type": "function", "function": {"name": "ls", "arguments": ""}}),
        ),
        call(json!({"index": 1, "function": {"arguments": "{}"}})),
        finish("tool_calls"),
        usage,
    ]);
    let text = format!(": comment\n\n{text}data:[DONE]\n\n");
    let piece = |index, delta: &str| D::ToolcallDelta {
        index,
        delta: delta.to_owned(),
    };
    let start = |index, id: &str, name: &str| D::ToolcallStart {
        index,
        id: id.to_owned(),
        name: name.to_owned(),
    };
    let thought = |delta: &str| D::ThinkingDelta {
        index: 0,
        delta: delta.to_owned(),
    };
    let said = |delta: &str| D::TextDelta {
        index: 1,
        delta: delta.to_owned(),
    };
    let deltas = vec![
        D::ResponseId("c1".to_owned()),
        D::ThinkingStart { index: 0 },
        thought("Hm ä"),
        thought("."),
        D::ThinkingEnd {
            index: 0,
            signature: Some("reasoning_content".to_owned()),
            redacted: false,
        },
        D::TextStart { index: 1 },
        said("😀 "),
        said("Grüße"),
        D::TextEnd {
            index: 1,
            signature: None,
        },
        start(2, "a", "read"),
        piece(2, "{\"a\":"),
        piece(2, "1}"),
        D::ToolcallEnd { index: 2 },
        start(3, "b", "ls"),
        piece(3, "{}"),
        D::Usage(TokenUsage {
            input: 40,
            output: 30,
            cache_read: 1000,
            reasoning: Some(12),
            total: Some(1070),
            ..TokenUsage::default()
        }),
        D::ToolcallEnd { index: 3 },
        finished(StopReason::ToolUse),
    ];
    (text, deltas)
}

#[test]
fn every_kind_of_block() {
    let (text, deltas) = everything();
    assert_eq!(decode(&[text.as_bytes()]), (deltas, None));
}

proptest! {
    #[test]
    fn no_chunks_break_the_rules_of_blocks(
        chunks in prop::collection::vec((0u8..6, 0u64..3, "[ab]?", "[fg]?", "[{}a ]{0,3}"), 0..24),
    ) {
        let chunk = |(kind, index, id, name, text): &(u8, u64, String, String, String)| match kind {
            0 => delta(json!({"content": text})),
            1 => delta(json!({"reasoning": text})),
            2 => call(json!({"id": id, "function": {"name": name, "arguments": text}})),
            _ => call(json!({"index": index, "id": id, "function": {"name": name, "arguments": text}})),
        };
        let mut events: Vec<Value> = chunks.iter().map(chunk).collect();
        events.push(finish("stop"));
        let (deltas, error) = decode(&[data(&events).as_bytes()]);
        let mut blocks = Vec::new();
        let mut ids = std::collections::HashSet::new();
        for delta in &deltas {
            match delta {
                D::TextStart { index } | D::ThinkingStart { index } => {
                    prop_assert_eq!(*index, blocks.len());
                    blocks.push(true);
                }
                D::ToolcallStart { index, id, name } => {
                    prop_assert_eq!(*index, blocks.len());
                    prop_assert!(!name.is_empty() && !id.is_empty() && ids.insert(id.clone()));
                    blocks.push(true);
                }
                D::TextDelta { index, delta }
                | D::ThinkingDelta { index, delta }
                | D::ToolcallDelta { index, delta } => {
                    prop_assert!(blocks[*index] && !delta.is_empty());
                }
                D::TextEnd { index, .. } | D::ThinkingEnd { index, .. } | D::ToolcallEnd { index } => {
                    prop_assert!(std::mem::replace(&mut blocks[*index], false));
                }
                _ => {}
            }
        }
        if error.is_none() {
            prop_assert!(!blocks.contains(&true));
            prop_assert_eq!(deltas.last(), Some(&finished(StopReason::Stop)));
        }
    }
}

#[test]
fn text_and_thinking_alternate_and_the_field_is_the_signature() {
    let events = [
        delta(json!({"reasoning": "a", "reasoning_content": null, "content": ""})),
        delta(json!({"reasoning": "b", "content": "c"})),
        delta(json!({"content": "d"})),
        delta(json!({"reasoning_content": "", "reasoning_text": "e"})),
        delta(json!({"reasoning_content": "both", "reasoning": "both"})),
        finish("stop"),
    ];
    assert_eq!(
        outline(&events),
        [
            "thinking 0",
            "0:a",
            "0:b",
            "=0 reasoning",
            "text 1",
            "1:c",
            "1:d",
            "=1",
            "thinking 2",
            "2:e",
            "2:both",
            "=2 reasoning_text"
        ]
    );
}

#[test]
fn content_in_parts_and_a_refusal_are_text() {
    let events = [
        delta(
            json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]}),
        ),
        delta(
            json!({"content": [{"type": "text", "text": "a"}, {"type": "reference", "ids": [1]}]}),
        ),
        delta(json!({"content": null, "refusal": "No."})),
        finish("stop"),
    ];
    assert_eq!(
        outline(&events),
        ["thinking 0", "0:hm", "=0 -", "text 1", "1:a", "1:No.", "=1"]
    );
}

#[test]
fn an_answer_that_is_not_in_deltas_is_read_too() {
    let whole = json!({"choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
        "role": "assistant", "reasoning_content": "Hm.", "content": "So.", "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}},
            {"id": "b", "type": "function", "function": {"name": "g", "arguments": "{}"}}]}}]});
    let expected = [
        "thinking 0",
        "0:Hm.",
        "=0 reasoning_content",
        "text 1",
        "1:So.",
        "=1",
        "call 2 a f",
        "2:{}",
        "=2",
        "call 3 b g",
        "3:{}",
        "=3",
    ];
    assert_eq!(outline(&[whole]), expected);
    // After deltas it only says them again.
    let again = json!({"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}]});
    let events = [delta(json!({"content": "x"})), again];
    assert_eq!(outline(&events), ["text 0", "0:x", "=0"]);
}

#[test]
fn a_call_that_never_came_is_an_error() {
    let (deltas, error) = decode(&[data(&[finish("tool_calls")]).as_bytes()]);
    let error = error.unwrap();
    assert_eq!((deltas, error.code), (vec![], ErrorCode::ProviderError));
    assert!(error.message.contains("tool_calls"), "{error}");
}

#[test]
fn words_for_the_end() {
    let end = |reason: &str| {
        let events = [delta(json!({"content": "x"})), finish(""), finish(reason)];
        decode(&[data(&events).as_bytes()])
    };
    for (word, stop_reason) in [
        ("stop", StopReason::Stop),
        ("end", StopReason::Stop),
        ("length", StopReason::Length),
        ("tool_calls", StopReason::ToolUse),
        ("function_call", StopReason::ToolUse),
    ] {
        assert_eq!(end(word).0.last(), Some(&finished(stop_reason)), "{word}");
    }
    let (deltas, error) = end("content_filter");
    assert_eq!(error, None);
    assert!(matches!(
        deltas.last(),
        Some(D::Finished {
            stop_reason: StopReason::Error,
            refusal: Some(_)
        })
    ));
    for (word, code, retryable) in [
        ("network_error", ErrorCode::Network, true),
        ("insufficient_system_resource", ErrorCode::Overloaded, true),
        ("error", ErrorCode::ProviderError, true),
        ("whim", ErrorCode::ProviderError, false),
    ] {
        let (deltas, error) = end(word);
        let error = error.unwrap();
        assert_eq!((error.code, error.retryable), (code, retryable));
        assert!(error.message.contains(&format!("finish_reason: {word}")));
        // What came is whole, so its block ends.
        let ended = D::TextEnd {
            index: 0,
            signature: None,
        };
        assert_eq!(deltas.last(), Some(&ended));
    }
}

#[test]
fn a_later_word_takes_no_refusal_back() {
    for (words, last) in [
        (["content_filter", "tool_calls"], StopReason::Error),
        (["length", "stop"], StopReason::Length),
        (["stop", "tool_calls"], StopReason::ToolUse),
        (["whim", "stop"], StopReason::Stop),
    ] {
        let [first, second] = words.map(finish);
        let events = [delta(json!({"content": "x"})), first, second];
        let (deltas, error) = decode(&[data(&events).as_bytes()]);
        assert_eq!(error, None);
        let Some(D::Finished { stop_reason, .. }) = deltas.last() else {
            panic!("{deltas:?}")
        };
        assert_eq!(*stop_reason, last, "{words:?}");
    }
}

#[test]
fn an_answer_without_a_reason_is_a_cut_and_one_without_done_is_not() {
    let text = data(&[delta(json!({"content": "x"}))]);
    for body in [
        text.clone(),
        format!("{text}data: [DONE]\n\n"),
        "data: [DONE]\n\n".into(),
    ] {
        let (deltas, error) = decode(&[body.as_bytes()]);
        let error = error.unwrap();
        let cut = (error.code, error.retryable);
        assert_eq!(cut, (ErrorCode::Network, true), "{body}");
        let end = D::TextEnd {
            index: 0,
            signature: None,
        };
        assert_eq!(deltas.last(), body.contains('x').then_some(&end));
    }
    let whole = format!("{text}{}", data(&[finish("stop")]));
    for body in [whole.as_str(), whole.trim_end()] {
        let (deltas, error) = decode(&[body.as_bytes()]);
        assert_eq!(
            (deltas.last(), error),
            (Some(&finished(StopReason::Stop)), None)
        );
    }
    // Half a chunk at the end is a cut too.
    let (_, error) = decode(&[&text.as_bytes()[..text.len() - 9]]);
    assert_eq!(error.unwrap().code, ErrorCode::Network);
}

#[test]
fn usage_is_the_latest_that_any_chunk_tells() {
    let with = |usage: Value| {
        let mut chunk = delta(json!({"content": "x"}));
        chunk["usage"] = usage;
        chunk
    };
    let in_choice = json!({"choices": [{"delta": null, "finish_reason": "stop",
        "usage": {"prompt_tokens": 5, "completion_tokens": 7}}], "usage": 7});
    let events = [
        with(json!({"prompt_tokens": 5, "completion_tokens": 1})),
        with(json!({"prompt_tokens": 5, "completion_tokens": 1})),
        with(json!({})),
        with(json!("x")),
        with(json!([{}])),
        in_choice,
    ];
    let (deltas, _) = decode(&[data(&events).as_bytes()]);
    let outputs: Vec<u64> = deltas
        .iter()
        .filter_map(|delta| match delta {
            D::Usage(usage) => Some(usage.output),
            _ => None,
        })
        .collect();
    assert_eq!(outputs, [1, 7]);
}

#[test]
fn the_model_that_answers_is_told_when_it_is_another() {
    let chunk = |model: Value| json!({"id": 7, "model": model, "choices": null});
    let events = [
        chunk("mock-1".into()),
        chunk("big/mock-1".into()),
        chunk(Value::Null),
        chunk("big/mock-1".into()),
        finish("stop"),
    ];
    let (deltas, error) = decode(&[data(&events).as_bytes()]);
    assert_eq!(error, None);
    assert_eq!(
        deltas,
        [
            D::ResponseModel("big/mock-1".to_owned()),
            finished(StopReason::Stop)
        ]
    );
}

#[test]
fn errors_inside_the_stream_are_classified() {
    let start = data(&[delta(json!({"content": "x"}))]);
    for (error, code, retryable) in [
        (
            r#"data: {"error":{"message":"Busy","type":"server_error","code":null}}"#,
            ErrorCode::ProviderError,
            true,
        ),
        (
            r#"data: {"error":{"message":"Upstream","code":502},"choices":[{"delta":{"content":""},"finish_reason":"error"}]}"#,
            ErrorCode::ProviderError,
            true,
        ),
        (
            r#"data: {"choices":[{"error":{"message":"slow","code":429},"finish_reason":"error"}]}"#,
            ErrorCode::RateLimited,
            true,
        ),
        (
            r#"data: {"object":"error","message":"maximum context length is 9 tokens","code":400}"#,
            ErrorCode::ContextOverflow,
            false,
        ),
        (
            "event: error\ndata: {\"message\":\"overloaded\"}",
            ErrorCode::Overloaded,
            true,
        ),
        (
            r#"data: {"error":"just text","choices":"none"}"#,
            ErrorCode::ProviderError,
            false,
        ),
    ] {
        let (deltas, got) = decode(&[format!("{start}{error}\n\n").as_bytes()]);
        let got = got.unwrap_or_else(|| panic!("no error of {error}"));
        assert_eq!((got.code, got.retryable), (code, retryable), "{error}");
        assert_eq!(deltas.len(), 3);
    }
    let (_, error) =
        decode(&[data(&[json!({"error": null, "choices": []}), finish("stop")]).as_bytes()]);
    assert_eq!(error, None);
}

#[test]
fn nonsense_inside_the_stream_is_the_services_fault_and_final() {
    let start = data(&[delta(json!({"content": "x"}))]);
    for nonsense in [
        "{\"choices\":[{oops",
        "<html>",
        "{\"choices\":7}",
        "7",
        r#"{"choices":[{"delta":{"content":7}}]}"#,
    ] {
        let text = format!("{start}data: {nonsense}\n\n{}", data(&[finish("stop")]));
        let error = decode(&[text.as_bytes()]).1.unwrap();
        assert_eq!(
            (error.code, error.retryable),
            (ErrorCode::ProviderError, false),
            "{nonsense}"
        );
    }
    let more = [
        call(json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}})),
        delta(json!({"content": "x"})),
        call(json!({"index": 0, "function": {"arguments": " \n"}})),
        call(json!({"index": 0, "function": {"arguments": "{\"x\":1}"}})),
    ];
    assert_eq!(
        decode(&[data(&more).as_bytes()]).1.unwrap().code,
        ErrorCode::ProviderError
    );
}

#[test]
fn what_is_not_a_stream_is_worth_another_try() {
    for body in [
        "",
        "<html>502</html>\n",
        r#"{"choices":[{"message":{"content":"x"}}]}"#,
        ": hi\n\n",
    ] {
        let (deltas, error) = decode(&[body.as_bytes()]);
        let error = error.unwrap();
        assert_eq!(
            (error.code, error.retryable),
            (ErrorCode::Network, true),
            "{body}"
        );
        assert_eq!(deltas, []);
    }
}

#[test]
fn signs_of_life_and_unknown_events_say_nothing_and_lone_surrogates_are_replaced() {
    let text = "data:\n\n: OPENROUTER PROCESSING\n\ndata: {\"type\":\"ping\"}\n\n\
                data: {\"choices\":[{\"delta\":{\"content\":\"a\\ud83d\"},\"finish_reason\":\"stop\"}]}\n\n\
                data: [DONE]\n\ndata: {oops\n\n";
    let (deltas, error) = decode(&[text.as_bytes()]);
    assert_eq!(error, None);
    let text = D::TextDelta {
        index: 0,
        delta: "a\u{fffd}".to_owned(),
    };
    assert_eq!(deltas[1], text);
}
