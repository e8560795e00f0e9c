//! No error tells a key, a header or what was asked, whatever the service or the network repeats.

use std::net::TcpListener;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use super::matrix::{SERVICES, Service};
use crate::model::http::tests::serve_each;
use crate::model::tests::{collect, request, user};
use crate::model::{ModelError, Secret, Timeouts, ToolSpec, connect};

const KEY: &str = "canary-key-0123456789";
const HEADER: &str = "canary-header-0123456789";
const PASSWORD: &str = "canary-password";
const INSTRUCTIONS: &str = "These are the canary-instructions, long enough to be cut somewhere.";

async fn error(service: &Service, url: &str) -> ModelError {
    let mut model = service.model(url);
    model.headers = vec![("x-own".to_owned(), HEADER.to_owned())];
    let key = Some(Secret::new(KEY));
    let mut ask = request(vec![user("canary-prompt \"caf\u{e9}\"\n<b> C:\\new")]);
    ask.system_prompt = INSTRUCTIONS.to_owned();
    ask.tools = [ToolSpec {
        name: "look".to_owned(),
        description: "canary-tool that looks".to_owned(),
        parameters: json!({"type": "object", "properties": {
            "path": {"type": "string", "description": "canary-path of a file"}}}),
    }]
    .into();
    let connected = match connect(&model, key, Timeouts::default()) {
        Ok(connected) => connected,
        Err(error) => return error,
    };
    let got = collect(connected.stream(ask)).await;
    got.into_iter().last().unwrap().unwrap_err()
}

#[track_caller]
fn assert_clean(what: &str, error: &ModelError) {
    let basic = BASE64_STANDARD.encode(format!("user:{PASSWORD}"));
    for told in [format!("{error}"), format!("{error:?}")] {
        for canary in ["canary", basic.as_str()] {
            assert!(!told.contains(canary), "{what}: {told}");
        }
    }
    assert!(!error.message.is_empty(), "{what}");
}

fn answer(head: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {head}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}").into()
}

/// A way to answer with the whole request, head and body.
type Echo = (&'static str, fn(&str) -> Vec<u8>);

const ECHOES: [Echo; 12] = [
    ("an error about the key", |asked| {
        let head = asked.split("\r\n\r\n").next().unwrap();
        let message = format!("Invalid key, headers: {head}");
        let body = json!({"error": {"message": message, "type": "authentication_error"}});
        answer(
            "401 No\r\ncontent-type: application/json",
            &body.to_string(),
        )
    }),
    ("an error about the request", |asked| {
        let body = json!({"error": {"message": format!("Cannot take {asked}"), "type": "bad"}});
        answer(
            "400 No\r\ncontent-type: application/json",
            &body.to_string(),
        )
    }),
    ("an error with the request as its details", |asked| {
        let body = json!({"error": {"message": "No.", "details": [{"request": asked}]}});
        answer(
            "429 No\r\ncontent-type: application/json",
            &body.to_string(),
        )
    }),
    ("a page of an error", |asked| {
        let page =
            format!("<html><title>502 {asked}</title><body><pre>{asked}</pre></body></html>");
        answer("502 Bad Gateway\r\ncontent-type: text/html", &page)
    }),
    ("plain text of an error", |asked| {
        answer("500 No\r\ncontent-type: text/plain", asked)
    }),
    ("a page in place of a stream", |asked| {
        answer("200 OK\r\ncontent-type: text/html", asked)
    }),
    ("a redirect", |_| {
        let location = format!("307 Away\r\nlocation: http://127.0.0.1:9/?key={KEY}&h={HEADER}");
        answer(&location, &format!("See /?key={KEY}"))
    }),
    ("an error inside the stream", |asked| {
        let error = json!({"type": "error", "message": asked,
            "error": {"type": "api_error", "message": asked}});
        answer(
            "200 OK\r\ncontent-type: text/event-stream",
            &format!("event: error\ndata: {error}\n\n"),
        )
    }),
    ("data that is no JSON", |asked| {
        let data = format!("data: {}\n\n", asked.replace("\r\n", " "));
        answer("200 OK\r\ncontent-type: text/event-stream", &data)
    }),
    ("data of another shape", |asked| {
        // Each of these keys means something to one of the APIs.
        let data = json!({"type": "content_block_start", "content_block": asked, "choices": asked,
            "candidates": asked});
        let wrong = json!({"type": "response.cancelled", "response": asked});
        answer(
            "200 OK\r\ncontent-type: text/event-stream",
            &format!("data: {data}\n\ndata: {wrong}\n\n"),
        )
    }),
    ("words for the end that nobody knows", |asked| {
        let data = json!({"type": "message_delta", "delta": {"stop_reason": asked},
            "choices": [{"finish_reason": asked}], "candidates": [{"finishReason": asked,
            "finishMessage": asked}]});
        let end = json!({"type": "response.incomplete",
            "response": {"incomplete_details": {"reason": asked}}});
        answer(
            "200 OK\r\ncontent-type: text/event-stream",
            &format!("data: {data}\n\ndata: {end}\n\n"),
        )
    }),
    ("no HTTP at all", |asked| asked.as_bytes().to_vec()),
];

#[tokio::test]
async fn what_a_service_repeats_is_not_told() {
    for service in &SERVICES {
        for (what, echo) in ECHOES {
            let url = serve_each(echo).await;
            let url = url.replace("//", &format!("//user:{PASSWORD}@"));
            let error = error(service, &format!("{url}/?token=canary-token")).await;
            assert_clean(&format!("{}, {what}", service.api), &error);
        }
    }
}

#[tokio::test]
async fn a_key_in_the_url_is_not_told_by_a_connection_that_fails() {
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    for service in &SERVICES {
        for url in [
            format!("http://user:{PASSWORD}@{closed}/v1?key=canary-in-the-query"),
            format!("http://canary-as-the-user@{closed}/canary-in-the-path/v1"),
            format!("https://user:{PASSWORD}@{closed}/v1?key=canary-in-the-query"),
            format!("ftp://user:{PASSWORD}@host/?key=canary-in-the-query"),
            format!("http://user:{PASSWORD}@/?key=canary-in-the-query"),
            "http://host:port/?key=canary-in-the-query#canary".to_owned(),
        ] {
            let error = error(service, &url).await;
            assert_clean(&format!("{} at {url}", service.api), &error);
        }
    }
}

/// A way to write a body, or a part of it.
type Writing = (&'static str, fn(&str) -> String);

fn value(body: &str) -> Value {
    serde_json::from_str(body).unwrap()
}

/// With the keys of all objects in another order.
fn reordered(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.into_iter().rev();
            Value::Object(
                fields
                    .map(|(name, value)| (name, reordered(value)))
                    .collect(),
            )
        }
        Value::Array(items) => items.into_iter().map(reordered).collect(),
        other => other,
    }
}

/// As Python shows it.
fn in_python(value: &Value) -> String {
    match value {
        Value::String(text) => {
            let text = text
                .replace('\\', "\\\\")
                .replace('\n', "\\n")
                .replace('\'', "\\'");
            format!("'{text}'")
        }
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(in_python).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(fields) => {
            let fields: Vec<_> = fields
                .iter()
                .map(|(name, value)| format!("'{name}': {}", in_python(value)))
                .collect();
            format!("{{{}}}", fields.join(", "))
        }
        other => other.to_string(),
    }
}

const WRITINGS: [Writing; 9] = [
    ("as it is", str::to_owned),
    ("pretty", |body| format!("{:#}", value(body))),
    ("reordered", |body| reordered(value(body)).to_string()),
    ("in Python", |body| in_python(&value(body))),
    ("escaped", |body| {
        json!(reordered(value(body)).to_string()).to_string()
    }),
    ("escaped twice", |body| {
        json!(json!(format!("{:#}", value(body))).to_string()).to_string()
    }),
    ("in HTML", |body| {
        let body = reordered(value(body)).to_string();
        body.replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('"', "&quot;")
    }),
    ("the conversation", |body| {
        let body = value(body);
        let parts = ["messages", "input", "contents"].map(|name| body[name].to_string());
        parts.concat()
    }),
    ("from the middle", |body| {
        body[body.find("are the canary").unwrap()..].to_owned()
    }),
];

const PLACES: [fn(&str) -> Vec<u8>; 4] = [
    |text| {
        let body = json!({"error": {"message": format!("bad request: {text}"), "type": "bad"}});
        answer(
            "400 No\r\ncontent-type: application/json",
            &body.to_string(),
        )
    },
    |text| {
        let page = format!("<html><title>{text}</title></html>");
        answer("502 Bad\r\ncontent-type: text/html", &page)
    },
    |text| {
        answer(
            "500 No\r\ncontent-type: text/plain",
            &format!("{}{text}", "x".repeat(1950)),
        )
    },
    |text| {
        let error = json!({"type": "error", "message": text,
            "error": {"type": "api_error", "message": text}});
        answer(
            "200 OK\r\ncontent-type: text/event-stream",
            &format!("event: error\ndata: {error}\n\n"),
        )
    },
];

#[tokio::test]
async fn what_was_asked_is_not_told_however_a_service_writes_it() {
    for service in &SERVICES {
        for (what, write) in WRITINGS {
            for (place, echo) in PLACES.into_iter().enumerate() {
                let url = serve_each(move |asked| {
                    let (_, body) = asked.split_once("\r\n\r\n").unwrap();
                    echo(&write(body))
                })
                .await;
                let error = error(service, &url).await;
                assert_clean(&format!("{}, {what}, place {place}", service.api), &error);
            }
        }
    }
}
