//! Over a real loopback connection.

use pretty_assertions::assert_eq;

use super::{everything, without_made_ids};
use crate::model::google::Google;
use crate::model::http::tests::{STREAM, send, serve};
use crate::model::tests::{collect, model, request, user};
use crate::model::{ModelDelta as D, ModelError, Provider as _, Secret, Timeouts};

const KEY: &str = "canary-key-123";

fn connect(url: &str, id: &str, key: Option<&str>, auth_header: bool) -> Google {
    let mut model = model(url);
    id.clone_into(&mut model.id);
    model.auth_header = auth_header;
    Google::connect(&model, key.map(Secret::new), Timeouts::default()).unwrap()
}

#[tokio::test]
async fn asks_with_the_key_and_streams_what_comes() {
    let (text, mut deltas) = everything();
    deltas.insert(0, D::Accepted);
    let header = format!("x-goog-api-key: {KEY}\r\n");
    let bearer = format!("authorization: Bearer {KEY}\r\n");
    for (path, id, key, auth_header, target) in [
        (
            "/v1beta",
            "mock-1",
            Some(KEY),
            false,
            "/v1beta/models/mock-1",
        ),
        (
            "/v1beta/models/",
            "models/mock-1",
            Some(KEY),
            true,
            "/v1beta/models/mock-1",
        ),
        ("", "tunedModels/a b", None, false, "/tunedModels/a%20b"),
    ] {
        let (url, served) = serve(vec![send(STREAM), send(&text)]).await;
        let service = connect(&format!("{url}{path}"), id, key, auth_header);
        let got: Result<Vec<D>, ModelError> = collect(service.stream(request(vec![user("hi")])))
            .await
            .into_iter()
            .collect();
        assert_eq!(got.map(without_made_ids), Ok(deltas.clone()));
        let asked = served.await.unwrap();
        let line = format!("POST {target}:streamGenerateContent?alt=sse HTTP/1.1\r\n");
        assert!(asked.starts_with(&line), "{asked}");
        assert_eq!(asked.contains(&header), key.is_some() && !auth_header);
        assert_eq!(asked.contains(&bearer), auth_header);
        assert!(asked.contains(r#"{"text":"hi"}"#), "{asked}");
    }
}
