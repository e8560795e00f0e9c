//! Edits of one file of the real schema, and what has to be found.

use super::super::Breaks::{self, Both, Nobody, Producers, Readers};
use serde_json::{Value, json};

pub(super) type Edit = fn(&mut Value);

/// A change: what is edited, in which file, and what has to be found (title, place, who breaks);
/// nothing if it is words only.
pub(super) type Case = (
    &'static str,
    Edit,
    &'static [(&'static str, &'static str, Breaks)],
);

pub(super) fn remove(object: &mut Value, key: &str) {
    object.as_object_mut().unwrap().shift_remove(key).unwrap();
}

fn optional(file: &mut Value, name: &str) {
    let required = file["required"].as_array_mut().unwrap();
    required.retain(|field| field != name);
}

fn require(file: &mut Value, name: &str) {
    file["required"].as_array_mut().unwrap().push(name.into());
}

pub(super) fn field(file: &mut Value, name: &str, mut ty: Value) {
    ty["description"] = "New.".into();
    file["properties"][name] = ty;
}

fn drop_field(file: &mut Value, name: &str) {
    optional(file, name);
    remove(&mut file["properties"], name);
}

pub(super) const CASES: &[Case] = &[
    (
        "event/auto_retry_start.json",
        |f| f["description"] = "Other words.".into(),
        &[],
    ),
    (
        "event/auto_retry_start.json",
        |f| f["properties"]["delayMs"]["description"] = "Other.".into(),
        &[],
    ),
    ("event/turn_start.json", |f| f["examples"] = json!([]), &[]),
    (
        "event/turn_start.json",
        |f| f["title"] = "TurnBeginEvent".into(),
        &[],
    ),
    (
        "common/outcome.json",
        |f| f["enum"].as_array_mut().unwrap().reverse(),
        &[],
    ),
    (
        "delta/assistant_message_event.json",
        |f| f["oneOf"].as_array_mut().unwrap().reverse(),
        &[],
    ),
    (
        "event/auto_retry_end.json",
        |f| {
            let last = f["properties"]["success"].clone();
            remove(&mut f["properties"], "success");
            f["properties"]["success"] = last;
        },
        &[],
    ),
    (
        "event/auto_retry_start.json",
        |f| field(f, "hint", json!({ "type": "string" })),
        &[("AutoRetryStartEvent", "/properties/hint", Nobody)],
    ),
    (
        "common/cost.json",
        |f| field(f, "tax", json!({ "type": "number" })),
        &[("Cost", "/properties/tax", Nobody)],
    ),
    (
        "event/auto_retry_start.json",
        |f| {
            field(f, "hint", json!({ "type": "string" }));
            require(f, "hint");
        },
        &[("AutoRetryStartEvent", "/properties/hint", Producers)],
    ),
    (
        "event/auto_retry_end.json",
        |f| drop_field(f, "finalError"),
        &[("AutoRetryEndEvent", "/properties/finalError", Producers)],
    ),
    (
        "event/auto_retry_end.json",
        |f| drop_field(f, "attempt"),
        &[("AutoRetryEndEvent", "/properties/attempt", Both)],
    ),
    (
        "block/text.json",
        |f| drop_field(f, "textSignature"),
        &[("TextContent", "/properties/textSignature", Producers)],
    ),
    (
        "event/auto_retry_end.json",
        |f| require(f, "finalError"),
        &[("AutoRetryEndEvent", "/properties/finalError", Producers)],
    ),
    (
        "event/auto_retry_end.json",
        |f| optional(f, "attempt"),
        &[("AutoRetryEndEvent", "/properties/attempt", Readers)],
    ),
    (
        "delta/text_delta.json",
        |f| optional(f, "delta"),
        &[("TextDelta", "/properties/delta", Readers)],
    ),
    (
        "event/auto_retry_start.json",
        |f| field(f, "delayMs", json!({ "type": "string" })),
        &[("AutoRetryStartEvent", "/properties/delayMs", Both)],
    ),
    (
        "event/auto_retry_start.json",
        |f| field(f, "delayMs", json!({ "type": "integer" })),
        &[("AutoRetryStartEvent", "/properties/delayMs", Readers)],
    ),
    (
        "event/auto_retry_start.json",
        |f| field(f, "delayMs", json!({ "type": "number" })),
        &[("AutoRetryStartEvent", "/properties/delayMs", Readers)],
    ),
    (
        "common/cost.json",
        |f| field(f, "total", json!({ "type": "integer" })),
        &[("Cost", "/properties/total", Producers)],
    ),
    (
        "common/cost.json",
        |f| field(f, "total", json!({ "type": "integer", "minimum": 0 })),
        &[("Cost", "/properties/total", Producers)],
    ),
    (
        "event/auto_retry_end.json",
        |f| field(f, "success", json!({ "type": "boolean", "const": true })),
        &[("AutoRetryEndEvent", "/properties/success", Producers)],
    ),
    (
        "block/tool_call.json",
        |f| field(f, "incomplete", json!({ "type": "boolean" })),
        &[("ToolCall", "/properties/incomplete", Readers)],
    ),
    (
        "block/tool_call.json",
        |f| {
            field(
                f,
                "incomplete",
                json!({ "type": "boolean", "const": false }),
            );
        },
        &[("ToolCall", "/properties/incomplete", Both)],
    ),
    (
        "session/header.json",
        |f| field(f, "version", json!({ "type": "integer", "const": 4 })),
        &[("SessionHeader", "/properties/version", Both)],
    ),
    (
        "session/header.json",
        |f| field(f, "version", json!({ "type": "integer", "minimum": 0 })),
        &[("SessionHeader", "/properties/version", Readers)],
    ),
    (
        "block/tool_call.json",
        |f| field(f, "arguments", json!({})),
        &[("ToolCall", "/properties/arguments", Readers)],
    ),
    (
        "block/tool_call.json",
        |f| field(f, "arguments", json!({ "$ref": "../common/cost.json" })),
        &[("ToolCall", "/properties/arguments", Producers)],
    ),
    (
        "common/tool_result.json",
        |f| field(f, "details", json!({ "type": "string" })),
        &[("ToolResult", "/properties/details", Producers)],
    ),
    (
        "common/tool_result.json",
        |f| field(f, "endTurn", json!({})),
        &[("ToolResult", "/properties/endTurn", Readers)],
    ),
    (
        "event/queue_update.json",
        |f| {
            field(
                f,
                "steering",
                json!({ "type": "array", "items": { "type": "integer" } }),
            );
        },
        &[("QueueUpdateEvent", "/properties/steering/items", Both)],
    ),
    (
        "event/queue_update.json",
        |f| field(f, "steering", json!({ "type": "array", "items": {} })),
        &[("QueueUpdateEvent", "/properties/steering/items", Readers)],
    ),
    (
        "event/queue_update.json",
        |f| field(f, "steering", json!({ "type": "string" })),
        &[("QueueUpdateEvent", "/properties/steering", Both)],
    ),
    (
        "event/subagent_arbitration.json",
        |f| {
            field(
                f,
                "final",
                json!({ "$ref": "../common/dispatch_route.json" }),
            );
        },
        &[("SubagentArbitrationEvent", "/properties/final", Producers)],
    ),
    (
        "event/subagent_arbitration.json",
        |f| {
            field(
                f,
                "proposed",
                json!({ "oneOf": [{ "$ref": "../common/dispatch_route.json" }, { "type": "null" }] }),
            );
        },
        &[("SubagentArbitrationEvent", "/properties/proposed", Readers)],
    ),
    (
        "session/label.json",
        |f| {
            field(
                f,
                "parentId",
                json!({ "oneOf": [{ "type": "integer" }, { "type": "null" }] }),
            );
        },
        &[("LabelEntry", "/properties/parentId/oneOf/0", Both)],
    ),
    (
        "common/outcome.json",
        |f| f["enum"].as_array_mut().unwrap().push("paused".into()),
        &[("Outcome", "/enum", Nobody)],
    ),
    (
        "common/outcome.json",
        |f| {
            f["enum"]
                .as_array_mut()
                .unwrap()
                .retain(|value| value != "limit");
        },
        &[("Outcome", "/enum", Producers)],
    ),
    (
        "event/stream_end.json",
        |f| field(f, "outcome", json!({ "type": "string" })),
        &[("StreamEndEvent", "/properties/outcome", Nobody)],
    ),
    (
        "event/stream_end.json",
        |f| {
            field(
                f,
                "outcome",
                json!({ "type": "string", "const": "completed" }),
            );
        },
        &[("StreamEndEvent", "/properties/outcome", Producers)],
    ),
    (
        "event/stream_end.json",
        |f| {
            field(
                f,
                "outcome",
                json!({ "$ref": "../common/thinking_level.json" }),
            );
        },
        &[("StreamEndEvent", "/properties/outcome", Producers)],
    ),
    (
        "event/auto_retry_end.json",
        |f| field(f, "finalError", json!({ "$ref": "../common/outcome.json" })),
        &[("AutoRetryEndEvent", "/properties/finalError", Producers)],
    ),
    (
        "block/user_content.json",
        |f| f["oneOf"][1]["items"] = json!({ "$ref": "text.json" }),
        &[("UserContent", "/oneOf/1/items", Producers)],
    ),
    (
        "message/user.json",
        |f| field(f, "content", json!({ "type": "string" })),
        &[("UserMessage", "/properties/content", Producers)],
    ),
    (
        "message/tool_result.json",
        |f| {
            field(
                f,
                "content",
                json!({ "$ref": "../block/user_content.json" }),
            );
        },
        &[("ToolResultMessage", "/properties/content", Readers)],
    ),
    (
        "delta/assistant_message_event.json",
        |f| {
            f["oneOf"]
                .as_array_mut()
                .unwrap()
                .push(json!({ "$ref": "../block/image.json" }));
        },
        &[("AssistantMessageEvent", "/oneOf", Readers)],
    ),
    (
        "block/user_content.json",
        |f| f["oneOf"][0]["description"] = "One.".into(),
        &[],
    ),
    (
        "delta/assistant_message_event.json",
        |f| {
            f["oneOf"]
                .as_array_mut()
                .unwrap()
                .retain(|member| member["$ref"] != "text_end.json");
        },
        &[("AssistantMessageEvent", "/oneOf", Producers)],
    ),
    (
        "delta/done.json",
        |f| remove(f, "readOnly"),
        &[("DoneDelta", "", Nobody)],
    ),
    (
        "delta/text_end.json",
        |f| f["readOnly"] = true.into(),
        &[("TextEnd", "", Producers)],
    ),
    (
        "event/tool_execution_end.json",
        |f| field(f, "result", json!({})),
        &[("ToolExecutionEndEvent", "/properties/result", Readers)],
    ),
    (
        "event/tool_execution_end.json",
        |f| {
            field(
                f,
                "toolName",
                json!({ "$ref": "../block/user_content.json" }),
            );
        },
        &[("ToolExecutionEndEvent", "/properties/toolName", Readers)],
    ),
];
