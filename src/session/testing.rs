//! What the tests of sessions share.

use serde_json::{Value, json};

use crate::event::{AgentMessage, SessionHeader, StoredSessionHeader, sample};

/// The header of a session in `/p`.
pub(super) fn header() -> StoredSessionHeader {
    let stream = json!({ "wire": "quipu", "version": "1.0.0", "schema": "sha256:0" });
    let header: SessionHeader = serde_json::from_value(json!({
        "type": "session",
        "version": 3,
        "id": "01997f3c-6a00-7c31-9a55-0c2f3b1d2e10",
        "timestamp": "2026-09-21T14:13:20.000Z",
        "cwd": "/p",
        "stream": stream,
    }))
    .unwrap();
    (&header).into()
}

/// The header of session number `number`.
pub(super) fn header_of(number: usize) -> StoredSessionHeader {
    StoredSessionHeader {
        id: format!("session-{number}"),
        ..header()
    }
}

/// A message from its JSON.
pub(super) fn message(value: Value) -> AgentMessage {
    serde_json::from_value(value).unwrap()
}

/// What the user says.
pub(super) fn user(text: &str) -> AgentMessage {
    message(sample::user(text))
}

/// An answer without blocks.
pub(super) fn answer(stop_reason: &str) -> AgentMessage {
    message(sample::answer(&json!([]), stop_reason))
}
