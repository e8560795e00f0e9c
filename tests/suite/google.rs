//! The Gemini API over a loopback socket, through the whole program.

use std::sync::mpsc::Receiver;

use serde_json::{Value, json};

use crate::check::{Stream, text_at};
use crate::harness::World;
use crate::server::{Answer, Request, serve};

pub(crate) fn answer(chunks: &[Value]) -> Answer {
    let chunk = |chunk: &Value| format!("data: {chunk}\r\n\r\n");
    Answer::events(chunks.iter().map(chunk).collect::<String>())
}

pub(crate) fn chunk(parts: &Value, finish: Option<&str>) -> Value {
    let mut candidate = json!({ "content": { "parts": parts, "role": "model" }, "index": 0 });
    if let Some(finish) = finish {
        candidate["finishReason"] = finish.into();
    }
    json!({ "candidates": [candidate], "responseId": "r1", "modelVersion": "gemini-3-flash-001",
        "usageMetadata": { "promptTokenCount": 100, "cachedContentTokenCount": 40,
            "candidatesTokenCount": 5, "thoughtsTokenCount": 3, "totalTokenCount": 108 } })
}

/// Two requests with a tool between.
fn conversation() -> (Stream, Receiver<Request>) {
    let world = World::new();
    world.file("notes.txt", "a note\n");
    let call = json!({ "name": "read", "args": { "path": "notes.txt" } });
    let first = answer(&[
        chunk(&json!([{ "text": "Look.", "thought": true }]), None),
        chunk(
            &json!([{ "text": "I read", "thoughtSignature": "b25l" }]),
            None,
        ),
        chunk(
            &json!([{ "functionCall": call, "thoughtSignature": "dHdv" }]),
            Some("STOP"),
        ),
    ]);
    let second = answer(&[chunk(&json!([{ "text": "Read." }]), Some("STOP"))]);
    let (url, requests) = serve(vec![first, second]);
    let models = json!({ "providers": { "loopback": {
        "baseUrl": format!("{url}/v1beta"), "api": "google-generative-ai", "apiKey": "a-key",
        "models": [{ "id": "gemini-3-flash", "reasoning": true, "maxTokens": 8192 }],
    }}});
    world.config("models.json", models.to_string());
    let quipu = world.quipu().args(["--model", "loopback/gemini-3-flash"]);
    (quipu.arg("Read the notes").run().stream(), requests)
}

/// Runs for [`crate::coverage`].
pub(crate) fn runs() -> Vec<Stream> {
    vec![conversation().0]
}

#[test]
fn signatures_are_told_and_sent_back() {
    let (stream, requests) = conversation();
    assert_eq!(stream.outcome(), "completed");
    let answer = stream.messages("assistant")[0];
    let id = text_at(answer, "/content/2/id");
    let call = json!({ "type": "toolCall", "id": id, "name": "read",
        "arguments": { "path": "notes.txt" }, "thoughtSignature": "dHdv" });
    assert_eq!(
        answer["content"],
        json!([
            { "type": "thinking", "thinking": "Look." },
            { "type": "text", "text": "I read", "textSignature": "b25l" },
            call,
        ])
    );
    assert_eq!(stream.deltas("toolcall_end")[0]["toolCall"], call);
    assert_eq!(text_at(answer, "/responseId"), "r1");
    assert_eq!(text_at(answer, "/responseModel"), "gemini-3-flash-001");
    assert_eq!(text_at(answer, "/stopReason"), "toolUse");
    let usage = &answer["usage"];
    let tokens = ["input", "output", "cacheRead", "reasoning", "totalTokens"];
    let tokens = tokens.map(|name| usage[name].as_u64().unwrap());
    assert_eq!(tokens, [60, 8, 40, 3, 108]);

    let [_, again] = [requests.recv().unwrap(), requests.recv().unwrap()];
    let target = "POST /v1beta/models/gemini-3-flash:streamGenerateContent?alt=sse HTTP/1.1\r\n";
    assert!(again.head.starts_with(target), "{}", again.head);
    let contents = &again.body["contents"];
    assert_eq!(
        contents[1]["parts"],
        json!([
            { "thought": true, "text": "Look." },
            { "text": "I read", "thoughtSignature": "b25l" },
            { "functionCall": { "id": id, "name": "read", "args": { "path": "notes.txt" } },
                "thoughtSignature": "dHdv" },
        ])
    );
    let response = &contents[2]["parts"][0]["functionResponse"];
    assert_eq!(
        (text_at(response, "/id"), text_at(response, "/name")),
        (id, "read")
    );
    assert!(text_at(response, "/response/output").contains("a note"));
}
