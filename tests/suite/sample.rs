//! Sound streams written by hand, for the tests of the witnesses themselves.

use serde_json::{Value, json};

/// The header of a stream.
pub(crate) fn header() -> Value {
    json!({
        "type": "session", "version": 3, "id": "01997f3c-6a00-7c31-9a55-0c2f3b1d2e10",
        "timestamp": "2026-09-21T14:13:20.000Z", "cwd": "/home/ada",
        "stream": { "wire": "quipu", "version": "1.0.0", "schema": "sha256:00" },
    })
}

/// A usage of so many input and output tokens.
pub(crate) fn usage(input: u64, output: u64) -> Value {
    json!({
        "input": input, "output": output, "cacheRead": 0, "cacheWrite": 0,
        "totalTokens": input + output,
        "cost": { "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0 },
    })
}

/// A user message.
pub(crate) fn user(text: &str) -> Value {
    json!({ "role": "user", "content": [{ "type": "text", "text": text }], "timestamp": 1 })
}

/// An answer of these blocks.
pub(crate) fn answer(content: &Value, stop: &str) -> Value {
    let mut message = json!({
        "role": "assistant", "content": content, "api": "offline", "provider": "offline",
        "model": "offline", "usage": usage(10, 5), "stopReason": stop, "timestamp": 2,
    });
    if matches!(stop, "error" | "aborted") {
        message["errorMessage"] = "it broke".into();
    }
    message
}

/// The lines that bring a message which has no deltas.
pub(crate) fn whole(message: &Value) -> [Value; 2] {
    ["message_start", "message_end"].map(|kind| json!({ "type": kind, "message": message }))
}

/// A delta.
pub(crate) fn update(delta: &Value) -> Value {
    let mut line =
        json!({ "type": "message_update", "usage": usage(10, 1), "assistantMessageEvent": delta });
    if matches!(
        delta["type"].as_str(),
        Some("toolcall_start" | "toolcall_end")
    ) {
        line["resolvedToolName"] = "read".into();
    }
    line
}

/// The lines of an answer; each block in two pieces.
pub(crate) fn told(message: &Value) -> Vec<Value> {
    let mut fresh = message.clone();
    fresh["content"] = json!([]);
    fresh["stopReason"] = "pending".into();
    fresh["usage"] = usage(0, 0);
    fresh.as_object_mut().unwrap().remove("errorMessage");
    let mut lines = vec![json!({ "type": "message_start", "message": fresh })];
    for (index, block) in message["content"].as_array().unwrap().iter().enumerate() {
        let (of, text) = match block["type"].as_str().unwrap() {
            "toolCall" => ("toolcall", block["arguments"].to_string()),
            of => (of, block[of].as_str().unwrap().to_owned()),
        };
        let (first, second) = text.split_at(text.floor_char_boundary(text.len() / 2));
        let mut start = json!({ "type": format!("{of}_start"), "contentIndex": index });
        let mut end = json!({ "type": format!("{of}_end"), "contentIndex": index });
        if of == "toolcall" {
            start["id"] = block["id"].clone();
            start["toolName"] = block["name"].clone();
            end["toolCall"] = block.clone();
        } else {
            end["content"] = text.as_str().into();
        }
        lines.push(update(&start));
        for piece in [first, second] {
            let of = format!("{of}_delta");
            lines.push(update(
                &json!({ "type": of, "contentIndex": index, "delta": piece }),
            ));
        }
        lines.push(update(&end));
    }
    lines.push(json!({ "type": "message_end", "message": message }));
    lines
}

/// A tool call of `read`.
pub(crate) fn call(id: &str) -> Value {
    json!({ "type": "toolCall", "id": id, "name": "read", "arguments": { "path": id } })
}

/// `tool_execution_start` or, with a result, `_update` or `_end`.
pub(crate) fn execution(what: &str, id: &str) -> Value {
    let mut line = json!({
        "type": format!("tool_execution_{what}"), "toolCallId": id, "toolName": "read",
    });
    let result = json!({ "content": [{ "type": "text", "text": id }], "details": {} });
    match what {
        "start" => line["args"] = json!({ "path": id }),
        "update" => {
            line["args"] = json!({ "path": id });
            line["partialResult"] = result;
        }
        _ => {
            line["result"] = result;
            line["isError"] = false.into();
        }
    }
    line
}

/// The result message of a call.
pub(crate) fn result(id: &str) -> Value {
    json!({
        "role": "toolResult", "toolCallId": id, "toolName": "read",
        "content": [{ "type": "text", "text": id }], "details": {}, "isError": false, "timestamp": 3,
    })
}

/// The last line, for a stream of so many lines with answers of [`usage`]`(10, 5)` each.
pub(crate) fn end(lines: usize, answers: u64, turns: usize) -> Value {
    json!({
        "type": "stream_end", "outcome": "completed", "exitCode": 0,
        "usage": usage(10 * answers, 5 * answers), "turns": turns, "lines": lines,
    })
}

/// A run of two turns: two tools side by side, then a text.
pub(crate) fn run() -> Vec<Value> {
    let asks = answer(
        &json!([
            { "type": "thinking", "thinking": "Two files, at once." },
            { "type": "text", "text": "I read." },
            call("a"),
            call("b"),
        ]),
        "toolUse",
    );
    let says = answer(
        &json!([{ "type": "text", "text": "Both are there." }]),
        "stop",
    );
    let results = [result("a"), result("b")];
    let mut lines = vec![
        json!({ "type": "agent_start" }),
        json!({ "type": "turn_start" }),
    ];
    lines.extend(whole(&user("hello")));
    lines.extend(told(&asks));
    for (what, id) in [
        ("start", "a"),
        ("start", "b"),
        ("update", "b"),
        ("end", "b"),
        ("update", "a"),
        ("end", "a"),
    ] {
        lines.push(execution(what, id));
    }
    lines.extend(results.iter().flat_map(whole));
    lines.push(json!({ "type": "turn_end", "message": asks, "toolResults": results }));
    lines.push(json!({ "type": "turn_start" }));
    lines.extend(told(&says));
    lines.push(json!({ "type": "turn_end", "message": says, "toolResults": [] }));
    let messages = json!([user("hello"), asks, results[0], results[1], says]);
    lines.push(json!({ "type": "agent_end", "messages": messages, "willRetry": false }));
    lines
}

/// A run whose one answer is the given broken one, its blocks still open.
pub(crate) fn broken_run(message: &Value, will_retry: bool) -> Vec<Value> {
    let mut lines = vec![
        json!({ "type": "agent_start" }),
        json!({ "type": "turn_start" }),
    ];
    let ends = ["text_end", "thinking_end", "toolcall_end"];
    let open = |line: &Value| {
        !ends.contains(&line["assistantMessageEvent"]["type"].as_str().unwrap_or(""))
    };
    lines.extend(told(message).into_iter().filter(open));
    lines.push(json!({ "type": "turn_end", "message": message, "toolResults": [] }));
    lines.push(json!({ "type": "agent_end", "messages": [message], "willRetry": will_retry }));
    lines
}

/// A whole sound stream of two runs, the first with tools, the second broken.
pub(crate) fn stream() -> Vec<Value> {
    let mut lines = vec![header()];
    lines.extend(run());
    lines.extend(broken_run(&broken(), false));
    let mut last = end(lines.len() + 1, 3, 3);
    last["outcome"] = "failed".into();
    last["exitCode"] = 1.into();
    last["error"] = json!({ "code": "network", "message": "it broke", "retryable": true });
    lines.push(last);
    lines
}

/// A broken answer with an open text and an open call.
pub(crate) fn broken() -> Value {
    answer(
        &json!([{ "type": "text", "text": "half" }, call("c")]),
        "error",
    )
}

/// The lines as bytes.
pub(crate) fn bytes(lines: &[Value]) -> Vec<u8> {
    lines
        .iter()
        .flat_map(|line| format!("{line}\n").into_bytes())
        .collect()
}
