//! From hand-written bytes of the service to deltas.

#![allow(
    clippy::needless_pass_by_value,
    reason = "a JSON literal needs no `&` in front of it"
)]

mod connection;

use std::collections::VecDeque;

use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::decode::GeminiDecoder;
use crate::event::{ErrorCode, StopReason};
use crate::model::answer::Reader;
use crate::model::{ModelDelta as D, ModelError, TokenUsage};

pub(in crate::model) fn decode(chunks: &[&[u8]]) -> (Vec<D>, Option<ModelError>) {
    let mut reader = Reader::new(GeminiDecoder::new("mock-1"));
    let mut out = VecDeque::new();
    let fed = chunks
        .iter()
        .try_for_each(|chunk| reader.bytes(chunk, &mut out));
    let end = fed.and_then(|()| reader.end(&mut out));
    (out.into(), end.err())
}

fn data(events: &[Value]) -> String {
    let event = |event: &Value| ["data: ", &event.to_string(), "\r\n\r\n"].concat();
    events.iter().map(event).collect()
}

fn parts(parts: Value) -> Value {
    json!({"candidates": [{"content": {"parts": parts, "role": "model"}, "index": 0}]})
}

fn finish(reason: &str) -> Value {
    json!({"candidates": [{"content": {"role": "model"}, "finishReason": reason, "index": 0}]})
}

fn finished(stop_reason: StopReason) -> D {
    D::Finished {
        stop_reason,
        refusal: None,
    }
}

/// The deltas in short, `=index` for an end; without ids, usage and the end.
fn outline(events: &[Value]) -> Vec<String> {
    let (deltas, error) = decode(&[data(events).as_bytes()]);
    assert_eq!(error, None);
    let line = |delta: &D| match delta {
        D::TextStart { index } => Some(format!("text {index}")),
        D::ThinkingStart { index } => Some(format!("thinking {index}")),
        D::ToolcallStart { index, name, .. } => Some(format!("call {index} {name}")),
        D::TextDelta { index, delta }
        | D::ThinkingDelta { index, delta }
        | D::ToolcallDelta { index, delta } => Some(format!("{index}:{delta}")),
        D::ToolcallSignature { index, signature } => Some(format!("{index}~{signature}")),
        D::TextEnd { index, signature }
        | D::ThinkingEnd {
            index, signature, ..
        } => Some(format!("={index} {}", signature.as_deref().unwrap_or("-"))),
        D::ToolcallEnd { index } => Some(format!("={index}")),
        _ => None,
    };
    deltas.iter().filter_map(line).collect()
}

/// As the service sends it.
pub(in crate::model) fn everything() -> (String, Vec<D>) {
    let chunk = |content: Value, usage: Value| {
        let mut chunk = parts(content);
        chunk["usageMetadata"] = usage;
        chunk["modelVersion"] = "mock-1-001".into();
        chunk["responseId"] = "r1".into();
        chunk
    };
    let early = json!({"promptTokenCount": 1040, "cachedContentTokenCount": 1000,
        "totalTokenCount": 1040, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 1040}]});
    let mut last = chunk(
        json!([{"text": ""}]),
        json!({"promptTokenCount": 1040, "cachedContentTokenCount": 1000,
            "candidatesTokenCount": 18, "thoughtsTokenCount": 12, "totalTokenCount": 1070}),
    );
    last["candidates"][0]["finishReason"] = "STOP".into();
    let text = data(&[
        chunk(json!([{"text": "Hm ä", "thought": true}]), early.clone()),
        chunk(
            json!([{"text": ".", "thought": true, "thoughtSignature": "c2ln"}]),
            early.clone(),
        ),
        chunk(json!([{"text": "😀 "}, {"text": "Grüße"}]), early.clone()),
        chunk(
            json!([
                {"functionCall": {"name": "read", "args": {"z": 1, "a": "ü"}}, "thoughtSignature": "dG9v"},
                {"functionCall": {"id": "b", "name": "ls", "args": {}}}
            ]),
            early,
        ),
        last,
    ]);
    let start = |index, id: &str, name: &str| D::ToolcallStart {
        index,
        id: id.to_owned(),
        name: name.to_owned(),
    };
    let piece = |index, delta: &str| D::ToolcallDelta {
        index,
        delta: delta.to_owned(),
    };
    let thought = |delta: &str| D::ThinkingDelta {
        index: 0,
        delta: delta.to_owned(),
    };
    let said = |delta: &str| D::TextDelta {
        index: 1,
        delta: delta.to_owned(),
    };
    let usage = TokenUsage {
        input: 40,
        cache_read: 1000,
        total: Some(1040),
        ..TokenUsage::default()
    };
    let deltas = vec![
        D::ResponseId("r1".to_owned()),
        D::ResponseModel("mock-1-001".to_owned()),
        D::Usage(usage),
        D::ThinkingStart { index: 0 },
        thought("Hm ä"),
        thought("."),
        D::ThinkingEnd {
            index: 0,
            signature: Some("c2ln".to_owned()),
            redacted: false,
        },
        D::TextStart { index: 1 },
        said("😀 "),
        said("Grüße"),
        D::TextEnd {
            index: 1,
            signature: None,
        },
        start(2, "", "read"),
        piece(2, r#"{"z":1,"a":"ü"}"#),
        D::ToolcallSignature {
            index: 2,
            signature: "dG9v".to_owned(),
        },
        D::ToolcallEnd { index: 2 },
        start(3, "b", "ls"),
        piece(3, "{}"),
        D::ToolcallEnd { index: 3 },
        D::Usage(TokenUsage {
            output: 30,
            reasoning: Some(12),
            total: Some(1070),
            ..usage
        }),
        D::TextStart { index: 4 },
        D::TextEnd {
            index: 4,
            signature: None,
        },
        finished(StopReason::ToolUse),
    ];
    (text, deltas)
}

/// The ids that we made are random, hence left out.
pub(in crate::model) fn without_made_ids(mut deltas: Vec<D>) -> Vec<D> {
    for delta in &mut deltas {
        if let D::ToolcallStart { id, .. } = delta
            && id.starts_with("call_")
        {
            id.clear();
        }
    }
    deltas
}

#[test]
fn every_kind_of_block() {
    let (text, deltas) = everything();
    let (got, error) = decode(&[text.as_bytes()]);
    assert_eq!((without_made_ids(got), error), (deltas, None));
}

proptest! {
    #[test]
    fn no_parts_break_the_rules_of_blocks(
        list in prop::collection::vec((0u8..4, "[ab]?", "[fg]?", "[xy]?", any::<bool>()), 0..24),
    ) {
        let part = |(kind, id, name, text, thought): &(u8, String, String, String, bool)| match kind {
            0 => json!({"functionCall": {"id": id, "name": name, "args": {"a": text}}}),
            1 => json!({"thought": thought, "thoughtSignature": id}),
            _ => json!({"text": text, "thought": thought, "thoughtSignature": id}),
        };
        let list: Vec<Value> = list.iter().map(part).collect();
        let (deltas, error) = decode(&[data(&[parts(list.into()), finish("STOP")]).as_bytes()]);
        prop_assert_eq!(error, None);
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
                | D::ToolcallDelta { index, delta }
                | D::ToolcallSignature { index, signature: delta } => {
                    prop_assert!(blocks[*index] && !delta.is_empty());
                }
                D::TextEnd { index, .. } | D::ThinkingEnd { index, .. } | D::ToolcallEnd { index } => {
                    prop_assert!(std::mem::replace(&mut blocks[*index], false));
                }
                _ => {}
            }
        }
        prop_assert!(!blocks.contains(&true));
    }
}

#[test]
fn an_empty_part_opens_a_block_unless_one_of_its_kind_is_open() {
    let events = [
        parts(json!([{"text": ""}])),
        parts(json!([{"text": "a"}, {"text": ""}])),
        parts(json!([{"functionCall": {"name": "f"}}, {"text": ""}])),
        finish("STOP"),
    ];
    let lines = [
        "text 0", "0:a", "=0 -", "call 1 f", "1:{}", "=1", "text 2", "=2 -",
    ];
    assert_eq!(outline(&events), lines);
}

#[test]
fn signatures_stay_with_what_they_sign() {
    let events = [
        // The signature of the text in a part of its own, with and without a text.
        parts(json!([{"text": "a"}, {"text": "", "thoughtSignature": "one"}])),
        parts(json!([{"text": "b", "thought": true}, {"thoughtSignature": "two"}])),
        parts(json!([{"functionCall": {"name": "f", "args": null}, "thoughtSignature": ""}])),
        parts(json!([{"thoughtSignature": "hidden"}])),
        parts(json!([{"text": "c", "thought": false, "thoughtSignature": null}])),
        finish("STOP"),
    ];
    assert_eq!(
        outline(&events),
        [
            "text 0",
            "0:a",
            "=0 one",
            "thinking 1",
            "1:b",
            "=1 two",
            "call 2 f",
            "2:{}",
            "=2",
            "thinking 3",
            "=3 hidden",
            "text 4",
            "4:c",
            "=4 -"
        ]
    );
}

#[test]
fn calls_get_ids_and_names_where_they_have_none() {
    let call = |call: Value| json!({ "functionCall": call });
    let events = [
        parts(json!([
            call(json!({"name": "f"})),
            call(json!({"name": "f"}))
        ])),
        parts(json!([
            call(json!({"id": "a", "name": "f"})),
            call(json!({"id": "a"}))
        ])),
        finish("STOP"),
    ];
    let (deltas, error) = decode(&[data(&events).as_bytes()]);
    assert_eq!(error, None);
    let starts: Vec<_> = deltas
        .iter()
        .filter_map(|delta| match delta {
            D::ToolcallStart { id, name, .. } => Some((id.as_str(), name.as_str())),
            _ => None,
        })
        .collect();
    assert_eq!(starts[2..], [("a", "f"), ("a_2", "unnamed")]);
    assert!(starts[0].0.starts_with("call_") && starts[0].0 != starts[1].0);
}

#[test]
fn words_for_the_end() {
    let end = |reason: &str, content: Value| {
        decode(&[data(&[parts(json!([content])), finish(""), finish(reason)]).as_bytes()])
    };
    let text = || json!({"text": "x"});
    let call = || json!({"functionCall": {"name": "f"}});
    for (word, content, stop_reason) in [
        ("STOP", text(), StopReason::Stop),
        ("STOP", call(), StopReason::ToolUse),
        ("MAX_TOKENS", text(), StopReason::Length),
        // More calls may have been to come.
        ("MAX_TOKENS", call(), StopReason::Length),
    ] {
        assert_eq!(end(word, content).0.last(), Some(&finished(stop_reason)));
    }
    let refused = |deltas: &[D], word: &str| match deltas.last() {
        Some(D::Finished {
            stop_reason: StopReason::Error,
            refusal: Some(text),
        }) => text.contains(word),
        _ => false,
    };
    for word in [
        "SAFETY",
        "RECITATION",
        "PROHIBITED_CONTENT",
        "SPII",
        "BLOCKLIST",
    ] {
        for content in [text(), call()] {
            let (deltas, error) = end(word, content);
            assert!(
                error.is_none() && refused(&deltas, word),
                "{word} {deltas:?}"
            );
        }
    }
    for (word, retryable) in [
        ("MALFORMED_FUNCTION_CALL", true),
        ("OTHER", false),
        ("FINISH_REASON_UNSPECIFIED", false),
    ] {
        let (deltas, error) = end(word, text());
        let error = error.unwrap();
        assert_eq!(
            (error.code, error.retryable),
            (ErrorCode::ProviderError, retryable)
        );
        assert!(error.message.contains(word));
        // What came is whole, so its block ends.
        assert!(matches!(deltas.last(), Some(D::TextEnd { .. })));
    }

    let blocked = json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT",
        "blockReasonMessage": "Not that."}, "usageMetadata": {"promptTokenCount": 9, "totalTokenCount": 9}});
    let (deltas, error) = decode(&[data(&[blocked]).as_bytes()]);
    assert_eq!(error, None);
    assert!(
        refused(&deltas, "PROHIBITED_CONTENT). Not that."),
        "{deltas:?}"
    );
    // A later word takes none of it back.
    let call = || parts(json!([{"functionCall": {"name": "f"}}]));
    let blocked = json!({"promptFeedback": {"blockReason": "SAFETY"}});
    for first in [blocked, finish("RECITATION")] {
        let (deltas, error) = decode(&[data(&[first, call(), finish("STOP")]).as_bytes()]);
        assert_eq!(error, None);
        assert!(refused(&deltas, "eason: "), "{deltas:?}");
    }
    let events = [call(), finish("MAX_TOKENS"), finish("STOP")];
    let (deltas, _) = decode(&[data(&events).as_bytes()]);
    assert_eq!(deltas.last(), Some(&finished(StopReason::Length)));
    let events = [finish("FINISH_REASON_UNSPECIFIED"), finish("STOP")];
    let (deltas, _) = decode(&[data(&events).as_bytes()]);
    assert_eq!(deltas, [finished(StopReason::Stop)]);

    let harmless = json!({"promptFeedback": {"safetyRatings": []}, "candidates": null});
    let (deltas, _) = decode(&[data(&[harmless, finish("STOP")]).as_bytes()]);
    assert_eq!(deltas, [finished(StopReason::Stop)]);
}

#[test]
fn an_answer_without_a_reason_is_a_cut() {
    let text = data(&[parts(json!([{"text": "x"}]))]);
    for body in [text.clone(), format!("{text}data: [DONE]\n\n")] {
        let (deltas, error) = decode(&[body.as_bytes()]);
        let error = error.unwrap();
        assert_eq!((error.code, error.retryable), (ErrorCode::Network, true));
        assert!(matches!(deltas.last(), Some(D::TextEnd { .. })));
    }
    let whole = format!("{text}{}", data(&[finish("STOP")]));
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
fn usage_counts_the_cache_apart_and_thoughts_once() {
    let chunk = |usage: Value| json!({ "usageMetadata": usage });
    let events = [
        chunk(json!({"promptTokenCount": 10, "cachedContentTokenCount": 4, "totalTokenCount": 10})),
        chunk(json!({"promptTokenCount": 10, "cachedContentTokenCount": 4, "totalTokenCount": 10})),
        chunk(json!({"promptTokenCount": 10, "thoughtsTokenCount": 5, "totalTokenCount": null})),
        chunk(
            json!({"candidatesTokenCount": 7, "toolUsePromptTokenCount": 2, "totalTokenCount": 24,
            "serviceTier": "standard"}),
        ),
        // More from the cache than there was: never below zero.
        chunk(json!({"cachedContentTokenCount": 11})),
        finish("STOP"),
    ];
    let (deltas, error) = decode(&[data(&events).as_bytes()]);
    assert_eq!(error, None);
    let usage = |input, output, reasoning, total, cache_read| {
        D::Usage(TokenUsage {
            input,
            output,
            cache_read,
            reasoning,
            total: Some(total),
            ..TokenUsage::default()
        })
    };
    assert_eq!(
        deltas[..4],
        [
            usage(6, 0, None, 10, 4),
            usage(6, 5, Some(5), 10, 4),
            usage(8, 12, Some(5), 24, 4),
            usage(2, 12, Some(5), 24, 10),
        ]
    );
}

#[test]
fn what_an_answer_can_do_without_may_be_anything() {
    let with = |usage: Value| {
        let mut chunk = finish("STOP");
        chunk["usageMetadata"] = usage;
        chunk["modelVersion"] = 7.into();
        chunk["responseId"] = json!(["r"]);
        chunk["candidates"][0]["finishMessage"] = 7.into();
        chunk
    };
    for usage in [
        json!("x"),
        json!(7),
        json!([1]),
        json!({"candidatesTokenCount": -1}),
        json!({"candidatesTokenCount": "12", "promptTokenCount": {}}),
    ] {
        let (deltas, error) = decode(&[data(&[with(usage.clone())]).as_bytes()]);
        assert_eq!(error, None, "{usage}");
        assert_eq!(deltas, [finished(StopReason::Stop)], "{usage}");
    }
    let odd = json!({"promptTokenCount": 3, "candidatesTokenCount": 1.5, "thoughtsTokenCount": -1});
    let (deltas, _) = decode(&[data(&[with(odd)]).as_bytes()]);
    let usage = TokenUsage {
        input: 3,
        output: 1,
        ..TokenUsage::default()
    };
    assert_eq!(deltas[0], D::Usage(usage));
}

#[test]
fn errors_inside_the_stream_are_classified() {
    let start = data(&[parts(json!([{"text": "x"}]))]);
    for (error, code, retryable) in [
        (
            r#"{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}"#,
            ErrorCode::Overloaded,
            true,
        ),
        (
            r#"{"error":{"code":429,"message":"Quota exceeded","status":"RESOURCE_EXHAUSTED"}}"#,
            ErrorCode::RateLimited,
            true,
        ),
        (
            r#"[{"error":{"code":500,"message":"An internal error","status":"INTERNAL"}}]"#,
            ErrorCode::ProviderError,
            true,
        ),
        (
            r#"{"error":{"code":400,"message":"bad"},"candidates":"none"}"#,
            ErrorCode::InvalidRequest,
            false,
        ),
    ] {
        let (deltas, got) = decode(&[format!("{start}data: {error}\n\n").as_bytes()]);
        let got = got.unwrap_or_else(|| panic!("no error of {error}"));
        assert_eq!((got.code, got.retryable), (code, retryable), "{error}");
        assert_eq!(deltas.len(), 2);
    }
}

#[test]
fn nonsense_inside_the_stream_is_final_and_what_is_no_stream_is_not() {
    let start = data(&[parts(json!([{"text": "x"}]))]);
    for nonsense in [
        "{\"candidates\":[{oops",
        "<html>",
        "{\"candidates\":7}",
        "7",
    ] {
        let text = format!("{start}data: {nonsense}\n\n{}", data(&[finish("STOP")]));
        let error = decode(&[text.as_bytes()]).1.unwrap();
        let got = (error.code, error.retryable);
        assert_eq!(got, (ErrorCode::ProviderError, false), "{nonsense}");
    }
    for body in [
        "",
        "<html>502</html>\n",
        r#"[{"candidates":[]}]"#,
        ": hi\n\n",
    ] {
        let (deltas, error) = decode(&[body.as_bytes()]);
        let error = error.unwrap();
        assert_eq!((error.code, error.retryable), (ErrorCode::Network, true));
        assert_eq!(deltas, []);
    }
}

#[test]
fn what_is_not_known_says_nothing_and_lone_surrogates_are_replaced() {
    let text = "data:\n\n: hi\n\nevent: later\ndata: {\"type\":\"ping\"}\n\n\
        data:{\"candidates\":[{\"content\":{\"parts\":[{\"executableCode\":{\"code\":\"1\"}},\
        {\"text\":\"a\\ud83d\"}]},\"finishReason\":\"STOP\",\"safetyRatings\":[]},\
        {\"content\":{\"parts\":[{\"text\":\"second\"}]}}]}\n\n";
    let (deltas, error) = decode(&[text.as_bytes()]);
    assert_eq!(error, None);
    assert_eq!(
        deltas[..2],
        [
            D::TextStart { index: 0 },
            D::TextDelta {
                index: 0,
                delta: "a\u{fffd}".to_owned()
            }
        ]
    );
    assert_eq!(deltas.len(), 4);
}
