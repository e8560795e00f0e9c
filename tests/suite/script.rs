//! Steps of a scenario for the offline model.

use serde_json::{Value, json};

/// An answer that is one text.
pub(crate) fn text(text: &str) -> Value {
    json!({ "blocks": [{ "text": text }] })
}

/// An answer that is one tool call.
pub(crate) fn tool(name: &str, id: &str, args: &Value) -> Value {
    json!({ "blocks": [call(name, id, args)] })
}

/// A block that calls a tool.
pub(crate) fn call(name: &str, id: &str, args: &Value) -> Value {
    json!({ "tool": name, "id": id, "args": args })
}

/// An answer that runs a shell command.
pub(crate) fn bash(command: &str) -> Value {
    tool("bash", "call_1", &json!({ "command": command }))
}
