//! From hand-written bytes of the service to deltas, without and with a connection.

use std::collections::VecDeque;

use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::decode::MessagesDecoder;
use super::*;
use crate::event::{ErrorCode, StopReason};
use crate::model::answer::Reader;
use crate::model::http::tests::{Act, STREAM, send, serve};
use crate::model::tests::{collect, model, request, user};
use crate::model::{ModelDelta as D, TokenUsage};

/// The events of a stream: `data` lines with the event's name in front, as the service sends them.
fn sse(events: &[&str]) -> String {
    let event = |data: &&str| {
        let name = data.split('"').nth(3).unwrap_or_default();
        format!("event: {name}\ndata: {data}\n\n")
    };
    events.iter().map(event).collect()
}

pub(in crate::model) fn decode(chunks: &[&[u8]]) -> (Vec<D>, Option<ModelError>) {
    let mut reader = Reader::new(MessagesDecoder::new("mock-1"));
    let mut out = VecDeque::new();
    let fed = chunks
        .iter()
        .try_for_each(|chunk| reader.bytes(chunk, &mut out));
    let end = fed.and_then(|()| reader.end(&mut out));
    (out.into(), end.err())
}

fn good(events: &[&str]) -> Vec<D> {
    let (deltas, error) = decode(&[sse(events).as_bytes()]);
    assert_eq!(error, None);
    deltas
}

fn bad(events: &[&str]) -> (Vec<D>, ModelError) {
    let (deltas, error) = decode(&[sse(events).as_bytes()]);
    (deltas, error.expect("an error"))
}

const START: &str = r#"{"type":"message_start","message":{"id":"msg_1","model":"mock-1","usage":{"input_tokens":10,"cache_creation_input_tokens":6,"cache_read_input_tokens":4,"cache_creation":{"ephemeral_5m_input_tokens":4,"ephemeral_1h_input_tokens":2},"output_tokens":1}}}"#;
const STOP: &str = r#"{"type":"message_stop"}"#;
const TEXT: &str =
    r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#;
const HELLO: &str =
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}"#;
const END_0: &str = r#"{"type":"content_block_stop","index":0}"#;
const END_TURN: &str =
    r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":7}}"#;

fn usage(output: u64) -> TokenUsage {
    TokenUsage {
        input: 10,
        output,
        cache_read: 4,
        cache_write: 6,
        cache_write_1h: Some(2),
        reasoning: None,
        total: None,
    }
}

fn finished(stop_reason: StopReason) -> D {
    D::Finished {
        stop_reason,
        refusal: None,
    }
}

pub(in crate::model) fn everything() -> (String, Vec<D>) {
    let text = sse(&[
        START,
        r#"{"type":"ping"}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm \u00e4"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"ln"}}"#,
        END_0,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"b3Bh"}}"#,
        r#"{"type":"content_block_stop","index":1}"#,
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"server_tool_use","id":"srv","name":"x","input":{}}}"#,
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{}"}}"#,
        r#"{"type":"content_block_stop","index":2}"#,
        r#"{"type":"content_block_start","index":3,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"toolu_1","name":"read","input":{}}}"#,
        r#"{"type":"content_block_delta","index":4,"delta":{"type":"input_json_delta","partial_json":""}}"#,
        r#"{"type":"content_block_delta","index":4,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}}"#,
        r#"{"index":3,"delta":{"text":"😀 Grüße","type":"text_delta"},"type":"content_block_delta","new":[1]}"#,
        r#"{"type":"content_block_start","index":5,"content_block":{"type":"tool_use","id":"toolu_2","name":"ls","input":{}}}"#,
        r#"{"type":"content_block_delta","index":5,"delta":{"type":"input_json_delta","partial_json":"{}"}}"#,
        r#"{"type":"content_block_delta","index":4,"delta":{"type":"input_json_delta","partial_json":"1}"}}"#,
        r#"{"type":"content_block_delta","index":3,"delta":{"type":"citations_delta","citation":{}}}"#,
        r#"{"type":"content_block_stop","index":5}"#,
        r#"{"type":"content_block_stop","index":4}"#,
        r#"{"type":"content_block_stop","index":3}"#,
        r#"{"type":"some_future_event","index":"strange"}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":null,"stop_sequence":null},"usage":null}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"input_tokens":11,"output_tokens":20,"cache_read_input_tokens":null}}"#,
        STOP,
    ]);
    let text = text.replace(
        "event: content_block_delta\ndata: {\"index\":3",
        "data:{\"index\":3",
    );
    let counted = usage(1);
    let deltas = vec![
        D::ResponseId("msg_1".to_owned()),
        D::Usage(counted),
        D::ThinkingStart { index: 0 },
        D::ThinkingDelta {
            index: 0,
            delta: "Hm ä".to_owned(),
        },
        D::ThinkingEnd {
            index: 0,
            signature: Some("c2ln".to_owned()),
            redacted: false,
        },
        D::ThinkingStart { index: 1 },
        D::ThinkingEnd {
            index: 1,
            signature: Some("b3Bh".to_owned()),
            redacted: true,
        },
        D::TextStart { index: 2 },
        D::ToolcallStart {
            index: 3,
            id: "toolu_1".to_owned(),
            name: "read".to_owned(),
        },
        D::ToolcallDelta {
            index: 3,
            delta: "{\"a\":".to_owned(),
        },
        D::TextDelta {
            index: 2,
            delta: "😀 Grüße".to_owned(),
        },
        D::ToolcallStart {
            index: 4,
            id: "toolu_2".to_owned(),
            name: "ls".to_owned(),
        },
        D::ToolcallDelta {
            index: 4,
            delta: "{}".to_owned(),
        },
        D::ToolcallDelta {
            index: 3,
            delta: "1}".to_owned(),
        },
        D::ToolcallEnd { index: 4 },
        D::ToolcallEnd { index: 3 },
        D::TextEnd {
            index: 2,
            signature: None,
        },
        D::Usage(TokenUsage {
            input: 11,
            output: 20,
            ..counted
        }),
        finished(StopReason::ToolUse),
    ];
    (text, deltas)
}

#[test]
fn every_kind_of_block_and_event() {
    let (text, deltas) = everything();
    assert_eq!(decode(&[text.as_bytes()]), (deltas, None));
}

#[test]
fn words_for_the_end() {
    let end = |reason: &str| {
        let delta = format!(r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}"}}}}"#);
        decode(&[sse(&[START, TEXT, END_0, &delta, STOP]).as_bytes()])
    };
    for (word, stop_reason) in [
        ("end_turn", StopReason::Stop),
        ("pause_turn", StopReason::Stop),
        ("stop_sequence", StopReason::Stop),
        ("max_tokens", StopReason::Length),
        ("model_context_window_exceeded", StopReason::Length),
        ("tool_use", StopReason::ToolUse),
    ] {
        assert_eq!(end(word).0.last(), Some(&finished(stop_reason)), "{word}");
    }
    let refusal = Some("The model refused to answer.".to_owned());
    let refused = D::Finished {
        stop_reason: StopReason::Error,
        refusal,
    };
    assert_eq!(end("refusal").0.last(), Some(&refused));
    let error = end("whim").1.unwrap();
    assert_eq!(
        (error.code, error.retryable),
        (ErrorCode::ProviderError, false)
    );
    assert!(error.message.contains("whim"));

    let explained = r#"{"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":{"type":"refusal","explanation":"Not this."}}}"#;
    let deltas = good(&[START, explained, STOP]);
    let refusal = Some("The model refused to answer. Not this.".to_owned());
    assert_eq!(
        deltas.last(),
        Some(&D::Finished {
            stop_reason: StopReason::Error,
            refusal
        })
    );
}

#[test]
fn a_later_word_takes_no_refusal_back() {
    let word =
        |word: &str| format!(r#"{{"type":"message_delta","delta":{{"stop_reason":"{word}"}}}}"#);
    let last = |first: &str| {
        let deltas = good(&[
            START,
            TEXT,
            HELLO,
            END_0,
            &word(first),
            &word("tool_use"),
            STOP,
        ]);
        match deltas.last() {
            Some(D::Finished { stop_reason, .. }) => *stop_reason,
            _ => panic!("{deltas:?}"),
        }
    };
    assert_eq!(last("refusal"), StopReason::Error);
    assert_eq!(last("max_tokens"), StopReason::Length);
    assert_eq!(last("end_turn"), StopReason::ToolUse);
}

#[test]
fn blocks_left_open_are_closed_by_the_end() {
    let deltas = good(&[START, TEXT, HELLO, END_TURN, STOP]);
    assert_eq!(
        deltas[deltas.len() - 2..],
        [
            D::TextEnd {
                index: 0,
                signature: None
            },
            finished(StopReason::Stop)
        ]
    );
}

#[test]
fn a_call_without_a_name_has_one_that_no_tool_has() {
    for name in ["", r#","name":"""#, r#","name":null"#] {
        let call = format!(
            r#"{{"type":"content_block_start","index":0,"content_block":{{"type":"tool_use","id":"a"{name}}}}}"#
        );
        let deltas = good(&[START, &call, END_0, END_TURN, STOP]);
        let named = |delta: &D| matches!(delta, D::ToolcallStart { name, .. } if name == "unnamed");
        assert!(deltas.iter().any(named), "{deltas:?}");
    }
}

#[test]
fn a_call_without_its_end_is_a_cut() {
    let call = r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"f"}}"#;
    let input = r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{}"}}"#;
    let end =
        |word: &str| format!(r#"{{"type":"message_delta","delta":{{"stop_reason":"{word}"}}}}"#);
    let tool_use = end("tool_use");
    for events in [
        &[START, call, &tool_use, STOP][..],
        &[START, call, input, &tool_use, STOP],
        &[START, call, input, &tool_use],
    ] {
        let (deltas, error) = bad(events);
        assert_eq!((error.code, error.retryable), (ErrorCode::Network, true));
        assert!(!deltas.contains(&D::ToolcallEnd { index: 0 }));
    }
    // What is cut is not run anyway.
    let deltas = good(&[START, call, &end("max_tokens"), STOP]);
    assert_eq!(deltas.last(), Some(&finished(StopReason::Length)));
}

#[test]
fn an_end_without_a_reason_is_a_cut() {
    let (deltas, error) = bad(&[START, TEXT, HELLO, END_0, STOP]);
    assert_eq!((error.code, error.retryable), (ErrorCode::Network, true));
    assert!(
        !deltas
            .iter()
            .any(|delta| matches!(delta, D::Finished { .. }))
    );
}

#[test]
fn nothing_after_the_end_is_read() {
    let deltas = good(&[START, END_TURN, STOP, "{oops", START]);
    assert_eq!(deltas.last(), Some(&finished(StopReason::Stop)));
}

#[test]
fn errors_inside_the_stream_are_classified() {
    let overloaded = r#"{"type":"error","error":{"type":"overloaded_error","message":"Busy"}}"#;
    let (deltas, error) = bad(&[START, TEXT, HELLO, overloaded]);
    assert!(deltas.contains(&D::TextDelta {
        index: 0,
        delta: "Hello".to_owned()
    }));
    assert_eq!((error.code, error.retryable), (ErrorCode::Overloaded, true));
    assert_eq!(error.message, "overloaded_error: Busy");
    // Without the type, and with an error that is only a text.
    assert_eq!(
        bad(&[START, r#"{"error":{"type":"api_error"}}"#]).1.code,
        ErrorCode::ProviderError
    );
    assert_eq!(
        bad(&[START, r#"{"type":"error","error":"just text"}"#])
            .1
            .message,
        "just text"
    );
}

#[test]
fn nonsense_inside_the_stream_is_the_services_fault_and_final() {
    let twice = TEXT;
    let tool = r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"b"}}"#;
    for events in [
        &[
            START,
            "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{oops",
        ][..],
        &[START, "<html>"],
        &[START, "[]x"],
        &[START, TEXT, twice],
        &[START, HELLO],
        &[START, TEXT, END_0, HELLO],
        &[START, tool, HELLO],
        &[START, r#"{"type":"content_block_start","index":0}"#],
        &[
            START,
            r#"{"type":"content_block_start","index":-1,"content_block":{"type":"text"}}"#,
        ],
        &[
            START,
            TEXT,
            r#"{"type":"content_block_delta","delta":{"type":"text_delta"}}"#,
        ],
        &[
            START,
            TEXT,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":7}}"#,
        ],
    ] {
        let (_, error) = bad(events);
        assert_eq!(
            (error.code, error.retryable),
            (ErrorCode::ProviderError, false),
            "{events:?}"
        );
    }
}

#[test]
fn what_is_not_a_stream_is_worth_another_try() {
    for body in [
        "",
        "<html><body>502</body></html>\n",
        "{\"a\":1}",
        ": only a comment\n\n",
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
fn odd_services_are_understood() {
    let deltas = good(&[
        r#"{"type":"message_start","message":{"id":"","model":"mock-1-0101","usage":null}}"#,
        r#"{"type":"content_block_start","index":7,"content_block":{"type":"text","text":"At once"}}"#,
        r#"{"type":"content_block_stop","index":9}"#,
        r#"{"type":"content_block_stop","index":7}"#,
        r#"{"type":"content_block_start","index":7,"content_block":{"type":"tool_use","id":"a","name":"f","input":{"x":1}}}"#,
        r#"{"type":"content_block_stop","index":7}"#,
        r#"{"type":"content_block_start","index":8,"content_block":{"type":"tool_use","id":"a","name":"f","input":{}}}"#,
        r#"{"type":"content_block_stop","index":8}"#,
        r#"{"type":"content_block_start","index":9,"content_block":{"type":"thinking","thinking":"pre","signature":"s"}}"#,
        r#"{"type":"content_block_stop","index":9}"#,
        "[DONE]",
        END_TURN,
        STOP,
    ]);
    let tool = |index, id: &str| D::ToolcallStart {
        index,
        id: id.to_owned(),
        name: "f".to_owned(),
    };
    assert_eq!(
        deltas,
        [
            D::ResponseModel("mock-1-0101".to_owned()),
            D::TextStart { index: 0 },
            D::TextDelta {
                index: 0,
                delta: "At once".to_owned()
            },
            D::TextEnd {
                index: 0,
                signature: None
            },
            tool(1, "a"),
            D::ToolcallDelta {
                index: 1,
                delta: "{\"x\":1}".to_owned()
            },
            D::ToolcallEnd { index: 1 },
            tool(2, "a_2"),
            D::ToolcallEnd { index: 2 },
            D::ThinkingStart { index: 3 },
            D::ThinkingDelta {
                index: 3,
                delta: "pre".to_owned()
            },
            D::ThinkingEnd {
                index: 3,
                signature: Some("s".to_owned()),
                redacted: false
            },
            D::Usage(TokenUsage {
                output: 7,
                ..TokenUsage::default()
            }),
            finished(StopReason::Stop),
        ]
    );
}

#[test]
fn what_an_answer_can_do_without_may_be_anything() {
    let start = r#"{"type":"message_start","message":{"id":7,"model":["m"],"usage":"none"}}"#;
    let delta = |usage: &str| {
        format!(
            r#"{{"type":"message_delta","delta":{{"stop_reason":"end_turn"}},"usage":{usage}}}"#
        )
    };
    for usage in [
        "\"x\"",
        "7",
        "[]",
        r#"{"output_tokens":-1}"#,
        r#"{"output_tokens":"12"}"#,
    ] {
        let deltas = good(&[start, TEXT, HELLO, END_0, &delta(usage), STOP]);
        let counted = |delta: &D| matches!(delta, D::Usage(_));
        assert!(!deltas.iter().any(counted), "{usage} {deltas:?}");
        assert_eq!(deltas.last(), Some(&finished(StopReason::Stop)));
    }
    // What can be read of them counts.
    let odd = r#"{"input_tokens":null,"output_tokens":7.0,"cache_read_input_tokens":-1,"cache_creation":3}"#;
    let deltas = good(&[START, TEXT, HELLO, END_0, &delta(odd), STOP]);
    assert!(deltas.contains(&D::Usage(usage(7))), "{deltas:?}");
}

#[test]
fn lone_surrogates_are_replaced() {
    let lone = r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a\ud83d"}}"#;
    let deltas = good(&[START, TEXT, lone, END_0, END_TURN, STOP]);
    assert!(deltas.contains(&D::TextDelta {
        index: 0,
        delta: "a\u{fffd}".to_owned()
    }));
}

proptest! {
    #[test]
    fn any_order_of_events_gives_dense_indexes_and_no_panic(
        picks in prop::collection::vec((0usize..9, 0u8..3), 0..40),
    ) {
        let mut text = sse(&[START]);
        for (kind, index) in picks {
            let block = |block: &str| format!(
                r#"{{"type":"content_block_start","index":{index},"content_block":{{"type":"{block}"}}}}"#
            );
            let delta = |delta: &str, field: &str| format!(
                r#"{{"type":"content_block_delta","index":{index},"delta":{{"type":"{delta}","{field}":"x"}}}}"#
            );
            text += &sse(&[&match kind {
                0 => block("text"),
                1 => block("thinking"),
                2 => block("tool_use"),
                3 => block("other"),
                4 => delta("text_delta", "text"),
                5 => delta("input_json_delta", "partial_json"),
                6 | 7 => format!(r#"{{"type":"content_block_stop","index":{index}}}"#),
                _ => END_TURN.to_owned(),
            }]);
        }
        let (deltas, _) = decode(&[text.as_bytes()]);
        let mut open = Vec::new();
        for delta in &deltas {
            match delta {
                D::TextStart { index } | D::ThinkingStart { index } | D::ToolcallStart { index, .. } => {
                    prop_assert_eq!(*index, open.len());
                    open.push(true);
                }
                D::TextEnd { index, .. } | D::ThinkingEnd { index, .. } | D::ToolcallEnd { index } => {
                    prop_assert!(std::mem::take(&mut open[*index]));
                }
                D::TextDelta { index, .. } | D::ToolcallDelta { index, .. } => {
                    prop_assert!(open[*index]);
                }
                D::Finished { .. } => prop_assert!(!open.contains(&true)),
                _ => {}
            }
        }
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        decode(&[b"data: ", &bytes, b"\n\n"]);
    }
}

#[tokio::test]
async fn over_a_connection() {
    let (text, deltas) = everything();
    let body = text
        .as_bytes()
        .chunks(7)
        .map(|chunk| Act::Send(chunk.to_vec()));
    let acts = std::iter::once(send(STREAM)).chain(body).collect();
    let (url, served) = serve(acts).await;
    let key = Some(Secret::new("canary-key-123"));
    let service = Anthropic::connect(&model(&url), key, Timeouts::default()).unwrap();
    let got: Vec<D> = collect(service.stream(request(vec![user("hi")])))
        .await
        .into_iter()
        .map(Result::unwrap)
        .collect();
    assert_eq!(got[0], D::Accepted);
    assert_eq!(got[1..], deltas);
    let sent = served.await.unwrap();
    assert!(sent.starts_with("POST /v1/messages HTTP/1.1\r\n"), "{sent}");
    assert!(sent.contains("x-api-key: canary-key-123\r\n"), "{sent}");
    assert!(sent.contains("anthropic-version: 2023-06-01\r\n"), "{sent}");
}

#[tokio::test]
async fn the_version_in_the_base_url_and_a_bearer_key() {
    let (url, served) = serve(vec![send("HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n")]).await;
    let mut model = model(&format!("{url}/gateway/v1/"));
    model.auth_header = true;
    let service =
        Anthropic::connect(&model, Some(Secret::new("canary")), Timeouts::default()).unwrap();
    let got = collect(service.stream(request(Vec::new()))).await;
    assert_eq!(got.len(), 1);
    assert_eq!(got[0].as_ref().unwrap_err().status, Some(500));
    let sent = served.await.unwrap();
    assert!(
        sent.starts_with("POST /gateway/v1/messages HTTP/1.1\r\n"),
        "{sent}"
    );
    assert!(sent.contains("authorization: Bearer canary\r\n") && !sent.contains("x-api-key"));
}

#[tokio::test]
async fn what_came_before_a_break_is_given_before_the_error() {
    let repeated = r#"{"type":"error","error":{"type":"api_error","message":"canary-key-123"}}"#;
    let acts = vec![send(STREAM), send(&sse(&[START, TEXT, HELLO, repeated]))];
    let (url, _served) = serve(acts).await;
    let key = Some(Secret::new("canary-key-123"));
    let service = Anthropic::connect(&model(&url), key, Timeouts::default()).unwrap();
    let mut got = collect(service.stream(request(vec![user("hi")]))).await;
    let error = got.pop().unwrap().unwrap_err();
    assert_eq!(error.message, "api_error: <redacted>");
    assert_eq!(
        got.last(),
        Some(&Ok(D::TextDelta {
            index: 0,
            delta: "Hello".to_owned()
        }))
    );
}
