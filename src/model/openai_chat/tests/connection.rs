//! Over a real loopback connection.

use pretty_assertions::assert_eq;

use super::everything;
use crate::event::ThinkingLevel;
use crate::model::http::tests::{STREAM, send, serve};
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
