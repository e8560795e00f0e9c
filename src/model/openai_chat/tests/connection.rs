//! Over a real loopback connection.

use std::time::Duration;

use pretty_assertions::assert_eq;
use serde_json::json;

use super::{data, delta, everything, finish, finished};
use crate::event::{ErrorCode, StopReason, ThinkingLevel};
use crate::model::http::tests::{Act, STREAM, send, serve};
use crate::model::openai_chat::OpenAiChat;
use crate::model::tests::{collect, model, request, user};
use crate::model::{ModelDelta as D, ModelError, Provider as _, Secret, Timeouts};

fn connect(url: &str, key: Option<&str>) -> OpenAiChat {
    OpenAiChat::connect(&model(url), key.map(Secret::new), Timeouts::default()).unwrap()
}

#[tokio::test]
async fn asks_with_the_key_and_streams_what_comes() {
    let (text, mut deltas) = everything();
    deltas.insert(0, D::Accepted);
    for (path, key) in [
        ("/v1", Some("canary-key-123")),
        ("/v1/", None),
        ("/v1/chat/completions", None),
    ] {
        let (url, served) = serve(vec![send(STREAM), send(&text)]).await;
        let service = connect(&format!("{url}{path}"), key);
        let mut ask = request(vec![user("hi")]);
        ask.thinking = ThinkingLevel::High;
        let got: Result<Vec<D>, ModelError> =
            collect(service.stream(ask)).await.into_iter().collect();
        assert_eq!(got, Ok(deltas.clone()));
        let asked = served.await.unwrap();
        assert!(
            asked.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"),
            "{asked}"
        );
        assert_eq!(
            asked.contains("authorization: Bearer canary-key-123\r\n"),
            key.is_some()
        );
        assert_eq!(asked.contains("authorization"), key.is_some());
        assert!(asked.contains("\"content\":\"hi\""), "{asked}");
    }
}

#[tokio::test]
async fn a_break_after_the_reason_takes_nothing_from_the_answer() {
    let chunked = STREAM.replace("connection: close", "transfer-encoding: chunked");
    for (last, whole) in [
        (delta(json!({"content": "y"})), false),
        (finish("stop"), true),
    ] {
        let text = data(&[delta(json!({"content": "x"})), last]);
        let chunk = format!("{:x}\r\n{text}\r\n", text.len());
        let (url, _served) = serve(vec![send(&chunked), send(&chunk)]).await;
        let got = collect(connect(&url, None).stream(request(vec![user("hi")]))).await;
        match got.last().unwrap() {
            Ok(delta) => assert!(whole && *delta == finished(StopReason::Stop), "{delta:?}"),
            Err(error) => assert!(!whole && error.code == ErrorCode::Network, "{error:?}"),
        }
    }
}

#[tokio::test]
async fn the_end_does_not_wait_for_the_end_of_the_body() {
    let (text, _) = everything();
    let acts = vec![
        send(STREAM),
        send(&text),
        Act::Wait(Duration::from_mins(10)),
    ];
    let (url, _served) = serve(acts).await;
    let got = collect(connect(&url, None).stream(request(vec![user("hi")]))).await;
    assert_eq!(got.last(), Some(&Ok(finished(StopReason::ToolUse))));
}

#[tokio::test]
async fn a_refusal_is_classified_and_holds_no_key() {
    let body = r#"{"error":{"message":"Incorrect API key provided: canary-key-123.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}"#;
    let head = format!("HTTP/1.1 401 No\r\ncontent-length: {}\r\n\r\n", body.len());
    let (url, _served) = serve(vec![send(&head), send(body)]).await;
    let got =
        collect(connect(&url, Some("canary-key-123")).stream(request(vec![user("hi")]))).await;
    let error = got[0].clone().unwrap_err();
    assert_eq!((error.code, error.retryable), (ErrorCode::Auth, false));
    assert!(!format!("{error:?}").contains("canary"), "{error:?}");
}
