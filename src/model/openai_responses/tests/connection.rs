//! Over a real loopback connection.

use std::time::Duration;

use pretty_assertions::assert_eq;

use super::{everything, finished};
use crate::event::StopReason;
use crate::model::http::tests::{Act, STREAM, send, serve};
use crate::model::tests::{collect, model, request, user};
use crate::model::{Api, Model, ModelDelta as D, ModelError, Provider, Secret, Timeouts, connect};

fn service(url: &str, key: Option<&str>) -> Box<dyn Provider> {
    let model = Model {
        api: Api::from("openai-responses"),
        ..model(url)
    };
    connect(&model, key.map(Secret::new), Timeouts::default()).unwrap()
}

#[tokio::test]
async fn asks_with_the_key_and_streams_what_comes() {
    let (text, mut deltas) = everything();
    deltas.insert(0, D::Accepted);
    for (path, key) in [
        ("/v1", Some("canary-key-123")),
        ("/v1/", None),
        ("/v1/responses", None),
    ] {
        // The end of the answer does not wait for the end of the body.
        let wait = Act::Wait(Duration::from_mins(10));
        let (url, _served) = serve(vec![send(STREAM), send(&text), wait]).await;
        let service = service(&format!("{url}{path}"), key);
        let got: Result<Vec<D>, ModelError> = collect(service.stream(request(vec![user("hi")])))
            .await
            .into_iter()
            .collect();
        assert_eq!(got, Ok(deltas.clone()));
        assert_eq!(deltas.last(), Some(&finished(StopReason::ToolUse)));
        let (url, served) = serve(vec![send(STREAM), send(&text)]).await;
        let service = self::service(&format!("{url}{path}"), key);
        collect(service.stream(request(vec![user("hi")]))).await;
        let asked = served.await.unwrap();
        assert!(
            asked.starts_with("POST /v1/responses HTTP/1.1\r\n"),
            "{asked}"
        );
        assert_eq!(
            asked.contains("authorization: Bearer canary-key-123\r\n"),
            key.is_some()
        );
        assert_eq!(asked.contains("authorization"), key.is_some());
        assert!(asked.contains("\"text\":\"hi\""), "{asked}");
    }
}
