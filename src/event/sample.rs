//! Streams for the tests of the tracker and the wire.

use serde_json::{Value, json};

use super::QuipuEvent;

/// An event from its JSON.
pub(crate) fn event(value: Value) -> QuipuEvent {
    let text = value.to_string();
    serde_json::from_value(value).unwrap_or_else(|error| panic!("{error}: {text}"))
}

pub(crate) fn usage(input: u64, output: u64) -> Value {
    json!({
        "input": input, "output": output, "cacheRead": 0, "cacheWrite": 0,
        "totalTokens": input + output,
        "cost": {"input": 0.25, "output": 0.5, "cacheRead": 0, "cacheWrite": 0, "total": 0.75},
    })
}

pub(crate) fn user(text: &str) -> Value {
    json!({"role": "user", "content": text, "timestamp": 1})
}

pub(crate) fn custom(text: &str) -> Value {
    json!({"role": "custom", "customType": "note", "content": text, "display": true, "timestamp": 1})
}

pub(crate) fn answer(content: &Value, stop_reason: &str) -> Value {
    let mut answer = json!({
        "role": "assistant", "content": content, "api": "offline", "provider": "offline",
        "model": "m", "usage": usage(10, 20), "stopReason": stop_reason, "timestamp": 2,
    });
    if matches!(stop_reason, "error" | "aborted") {
        answer["errorMessage"] = json!("It broke.");
    }
    answer
}

pub(crate) fn update(delta: &Value) -> Value {
    json!({"type": "message_update", "usage": usage(10, 5), "assistantMessageEvent": delta})
}

pub(crate) fn pair(message: &Value) -> [Value; 2] {
    ["message_start", "message_end"].map(|kind| json!({"type": kind, "message": message}))
}

fn tool_result(id: &str, text: &str, is_error: bool) -> Value {
    json!({
        "role": "toolResult", "toolCallId": id, "toolName": "bash",
        "content": [{"type": "text", "text": text}], "details": {}, "isError": is_error,
        "timestamp": 3,
    })
}

fn tool_end(id: &str, text: &str, is_error: bool) -> Value {
    json!({
        "type": "tool_execution_end", "toolCallId": id, "toolName": "bash",
        "result": {"content": [{"type": "text", "text": text}], "details": {}},
        "isError": is_error,
    })
}

fn tool_start(id: &str) -> Value {
    let args = json!({"command": "ls"});
    json!({"type": "tool_execution_start", "toolCallId": id, "toolName": "bash", "args": args})
}

fn hook(phase: &str) -> Value {
    let mut hook = json!({
        "type": "tool_hook_status", "hookRunId": "h1", "hookName": "PreToolUse",
        "toolName": "bash", "toolCallId": "a", "extensionPath": "/x", "startedAt": 1,
        "phase": phase, "statusMessage": "checks",
    });
    if phase == "end" {
        hook["completedAt"] = json!(2);
        hook["status"] = json!("completed");
    }
    hook
}

/// A legal stream without its terminal line that holds every event of the native wire but
/// `stream_end`.
#[expect(clippy::too_many_lines, reason = "a stream is told line by line")]
pub(crate) fn rich() -> Vec<QuipuEvent> {
    let mut lines = vec![
        json!({
            "type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00.000Z",
            "cwd": "/", "stream": {"wire": "quipu", "version": "1.0.0", "schema": "sha256:0"},
        }),
        json!({
            "type": "thinking_level_clamped", "provider": "p", "modelId": "m",
            "requestedLevel": "max", "appliedLevel": "high", "reason": "level-unsupported",
        }),
        json!({"type": "thinking_level_changed", "level": "high"}),
        json!({"type": "session_info_changed", "name": "n"}),
    ];
    lines.extend(pair(&custom("before any run")));

    // A run whose request fails before it is accepted; then two retries, the second a success.
    let failed = answer(&json!([]), "error");
    lines.extend([
        json!({"type": "agent_start", "model": {"provider": "p", "id": "m"}}),
        json!({"type": "compaction_start", "reason": "threshold", "requestId": "c1"}),
        json!({"type": "compaction_progress", "reason": "threshold", "delta": "x"}),
        json!({
            "type": "summarization_retry_scheduled", "attempt": 1, "maxAttempts": 2,
            "delayMs": 1, "errorMessage": "e",
        }),
        json!({
            "type": "summarization_retry_attempt_start", "source": "compaction",
            "reason": "threshold",
        }),
        json!({"type": "summarization_retry_finished"}),
        json!({
            "type": "compaction_end", "reason": "threshold", "aborted": false, "willRetry": true,
            "requestId": "c1",
            "result": {
                "summary": "s", "firstKeptEntryId": "00000001", "tokensBefore": 9,
                "usage": usage(100, 1),
            },
        }),
        json!({"type": "turn_start"}),
    ]);
    lines.extend(pair(&user("go")));
    lines.extend(pair(&failed));
    lines.extend([
        json!({"type": "turn_end", "message": failed, "toolResults": []}),
        json!({"type": "agent_end", "messages": [user("go"), failed], "willRetry": true}),
    ]);
    let broken = answer(&json!([{"type": "text", "text": "Hal"}]), "error");
    lines.extend([
        json!({
            "type": "auto_retry_start", "attempt": 1, "maxAttempts": 2, "delayMs": 1,
            "errorMessage": "It broke.",
        }),
        json!({"type": "queue_update", "steering": ["s"], "followUp": []}),
        json!({"type": "agent_start"}),
        json!({"type": "turn_start"}),
        json!({"type": "message_start", "message": answer(&json!([]), "pending")}),
        update(&json!({"type": "text_start", "contentIndex": 0})),
        update(&json!({"type": "text_delta", "contentIndex": 0, "delta": "Hal"})),
        json!({"type": "message_end", "message": broken}),
        json!({"type": "turn_end", "message": broken, "toolResults": []}),
        json!({"type": "agent_end", "messages": [broken], "willRetry": true}),
        json!({
            "type": "auto_retry_start", "attempt": 2, "maxAttempts": 2, "delayMs": 1,
            "errorMessage": "It broke.",
        }),
    ]);

    // The answer with every kind of block, blocks interleaved; tools side by side.
    let call = |id: &str| json!({"type": "toolCall", "id": id, "name": "Bash", "arguments": {"command": "ls"}});
    let content = json!([
        {"type": "thinking", "thinking": "hm", "thinkingSignature": "sig"},
        {"type": "thinking", "thinking": "[withheld]", "redacted": true},
        {"type": "text", "text": "Hallo"},
        call("a"),
        call("b"),
    ]);
    let good = answer(&content, "toolUse");
    let called = |index: u64, id: &str| {
        let mut start = update(&json!({
            "type": "toolcall_start", "contentIndex": index, "id": id, "toolName": "Bash",
        }));
        start["resolvedToolName"] = json!("bash");
        start
    };
    let ended = |index: u64, id: &str| {
        let mut end = update(&json!({
            "type": "toolcall_end", "contentIndex": index, "toolCall": call(id),
        }));
        end["resolvedToolName"] = json!("bash");
        end
    };
    let piece = |index: u64, delta: &str| {
        update(&json!({"type": "toolcall_delta", "contentIndex": index, "delta": delta}))
    };
    let arguments = json!({"command": "ls"});
    let results = [tool_result("a", "no", true), tool_result("b", "yes", false)];
    lines.extend([
        json!({"type": "agent_start"}),
        json!({"type": "turn_start"}),
        json!({"type": "message_start", "message": answer(&json!([]), "pending")}),
        update(&json!({"type": "thinking_start", "contentIndex": 0})),
        update(&json!({"type": "thinking_delta", "contentIndex": 0, "delta": "hm"})),
        update(&json!({"type": "thinking_end", "contentIndex": 0, "content": "hm"})),
        update(&json!({"type": "thinking_start", "contentIndex": 1})),
        update(&json!({"type": "thinking_end", "contentIndex": 1, "content": "[withheld]"})),
        update(&json!({"type": "text_start", "contentIndex": 2})),
        update(&json!({"type": "text_delta", "contentIndex": 2, "delta": "Hal"})),
        called(3, "a"),
        update(&json!({"type": "text_delta", "contentIndex": 2, "delta": "lo"})),
        piece(3, "{\"command\":\"l"),
        update(&json!({"type": "text_end", "contentIndex": 2, "content": "Hallo"})),
        piece(3, "s\"}"),
        ended(3, "a"),
        called(4, "b"),
        piece(4, "{\"command\":\"ls"),
        piece(4, "\"}"),
        ended(4, "b"),
        json!({"type": "message_end", "message": good}),
        json!({"type": "auto_retry_end", "success": true, "attempt": 2}),
        tool_start("a"),
        hook("start"),
        tool_start("b"),
        hook("update"),
        json!({
            "type": "tool_execution_update", "toolCallId": "b", "toolName": "bash",
            "args": arguments, "partialResult": {"content": [{"type": "text", "text": "y"}]},
        }),
        json!({"type": "tasks_update", "tasks": [{"id": "1", "title": "t", "status": "pending"}]}),
        json!({"type": "suggest_next", "command": "c"}),
        tool_end("b", "yes", false),
        json!({
            "type": "background_agent_start", "agentId": "g1", "agentType": "Explore",
            "taskSummary": "look",
        }),
        json!({
            "type": "subagent_arbitration", "agentId": "g1", "status": "success",
            "proposed": {"agent": "Explore", "model": "p/m", "thinking": "off"},
            "final": {"agent": "Explore", "model": "p/m", "thinking": "off"}, "changed": [],
        }),
        hook("end"),
        tool_end("a", "no", true),
    ]);
    lines.extend(pair(&results[0]));
    lines.extend(pair(&results[1]));
    let last = answer(&json!([]), "stop");
    lines.extend([
        json!({"type": "turn_end", "message": good, "toolResults": results}),
        json!({"type": "compaction_start", "reason": "threshold"}),
        json!({
            "type": "compaction_end", "reason": "threshold", "aborted": false,
            "willRetry": false, "errorMessage": "too short",
        }),
        json!({
            "type": "background_agent_event", "agentId": "g1", "event": {"type": "agent_start"},
        }),
        json!({"type": "turn_start"}),
    ]);
    lines.extend(pair(&user("steered")));
    lines.extend(pair(&custom("inside")));
    lines.push(json!({"type": "message_start", "message": answer(&json!([]), "pending")}));
    lines.extend([
        json!({"type": "message_end", "message": last}),
        json!({"type": "turn_end", "message": last, "toolResults": []}),
        json!({
            "type": "parent_paused_for_background_agents", "runningAgentCount": 1,
            "turnsUsed": 2, "turnLimit": 3,
        }),
        json!({
            "type": "agent_end", "willRetry": false,
            "messages": [good, results[0], results[1], user("steered"), custom("inside"), last],
        }),
        json!({
            "type": "system_prompt_change", "systemPrompt": "b", "previousSystemPrompt": "a",
            "model": {
                "id": "m", "name": "M", "api": "offline", "provider": "p", "reasoning": false,
                "input": ["text"],
                "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
            },
            "source": "model_select",
        }),
        json!({
            "type": "summarization_retry_scheduled", "attempt": 1, "maxAttempts": 2,
            "delayMs": 1, "errorMessage": "e",
        }),
        json!({"type": "summarization_retry_attempt_start", "source": "branchSummary"}),
        json!({"type": "summarization_retry_finished"}),
        json!({
            "type": "background_agent_end", "agentId": "g1", "agentType": "Explore",
            "success": true,
        }),
        json!({
            "type": "background_agent_start", "agentId": "g2", "agentType": "Explore",
            "taskSummary": "look",
        }),
        json!({
            "type": "subagent_arbitration", "agentId": "g2", "status": "failure",
            "proposed": {"agent": "Explore", "model": "p/m", "thinking": "off"},
            "final": null, "changed": [],
        }),
        json!({
            "type": "background_agent_end", "agentId": "g2", "agentType": "Explore",
            "success": false,
        }),
    ]);

    // A run whose retries are used up; a compaction that overflows again.
    lines.extend([
        json!({"type": "agent_start"}),
        json!({"type": "turn_start"}),
    ]);
    lines.extend(pair(&failed));
    lines.extend([
        json!({"type": "turn_end", "message": failed, "toolResults": []}),
        json!({"type": "agent_end", "messages": [failed], "willRetry": true}),
        json!({
            "type": "auto_retry_start", "attempt": 1, "maxAttempts": 1, "delayMs": 1,
            "errorMessage": "It broke.",
        }),
        json!({"type": "agent_start"}),
        json!({"type": "turn_start"}),
    ]);
    lines.extend(pair(&failed));
    lines.extend([
        json!({"type": "turn_end", "message": failed, "toolResults": []}),
        json!({"type": "agent_end", "messages": [failed], "willRetry": false}),
        json!({"type": "auto_retry_end", "success": false, "attempt": 1, "finalError": "e"}),
        json!({
            "type": "compaction_end", "reason": "overflow", "aborted": false,
            "willRetry": false, "errorMessage": "again",
        }),
        json!({"type": "compaction_start", "reason": "overflow", "requestId": "c2"}),
        json!({
            "type": "compaction_end", "reason": "overflow", "aborted": true, "willRetry": false,
            "requestId": "c2",
        }),
    ]);
    lines.into_iter().map(event).collect()
}
