//! Native streams, told step by step. Sums and counts of the end are taken from the lines.

use serde_json::{Value, json};

/// A stream in the making.
#[derive(Default)]
pub(crate) struct Script {
    pub(crate) lines: Vec<Value>,
    /// The messages of the open run.
    run: Vec<Value>,
    /// The answer of the open turn, and its results.
    answer: Value,
    results: Vec<Value>,
}

pub(crate) fn usage(input: u64, output: u64) -> Value {
    json!({
        "input": input, "output": output, "cacheRead": 0, "cacheWrite": 0,
        "totalTokens": input + output,
        "cost": { "input": 0.5, "output": 0.25, "cacheRead": 0, "cacheWrite": 0, "total": 0.75 },
    })
}

fn nothing() -> Value {
    json!({
        "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0,
        "cost": { "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0 },
    })
}

pub(crate) fn user(text: &str) -> Value {
    json!({ "role": "user", "content": [{ "type": "text", "text": text }], "timestamp": 1 })
}

pub(crate) fn custom(text: &str) -> Value {
    json!({
        "role": "custom", "customType": "note", "content": text, "display": true, "timestamp": 1,
    })
}

/// An answer of these blocks.
pub(crate) fn answer(content: &Value, stop: &str) -> Value {
    let mut message = json!({
        "role": "assistant", "content": content, "api": "offline", "provider": "offline",
        "model": "m", "usage": usage(10, 5), "stopReason": stop, "timestamp": 2,
    });
    if matches!(stop, "error" | "aborted") {
        message["errorMessage"] = "it broke".into();
    }
    message
}

pub(crate) fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

pub(crate) fn thinking(text: &str) -> Value {
    json!({ "type": "thinking", "thinking": text })
}

pub(crate) fn call(id: &str) -> Value {
    json!({ "type": "toolCall", "id": id, "name": "read", "arguments": { "path": id } })
}

pub(crate) fn result(id: &str) -> Value {
    json!({
        "role": "toolResult", "toolCallId": id, "toolName": "read", "content": [text(id)],
        "details": {}, "isError": false, "timestamp": 3,
    })
}

/// A line of a tool's execution: `start`, `update` or `end`.
pub(crate) fn execution(what: &str, id: &str) -> Value {
    let mut line = json!({
        "type": format!("tool_execution_{what}"), "toolCallId": id, "toolName": "read",
    });
    let outcome = json!({ "content": [text(id)], "details": {} });
    if what != "end" {
        line["args"] = json!({ "path": id });
    }
    match what {
        "update" => line["partialResult"] = outcome,
        "end" => {
            line["result"] = outcome;
            line["isError"] = false.into();
        }
        _ => {}
    }
    line
}

pub(crate) fn hook(phase: &str, run: &str, call: &str) -> Value {
    let mut line = json!({
        "type": "tool_hook_status", "hookRunId": run, "hookName": "PreToolUse", "toolName": "read",
        "toolCallId": call, "extensionPath": "/x", "startedAt": 1, "phase": phase,
        "statusMessage": "checks",
    });
    if phase == "end" {
        line["completedAt"] = 2.into();
        line["status"] = "completed".into();
    }
    line
}

/// The steps of an answer's blocks, each by itself, so that they can be told in any order.
pub(crate) fn deltas(index: usize, block: &Value) -> Vec<Value> {
    let (of, whole) = match block["type"].as_str().unwrap() {
        "toolCall" => ("toolcall", block["arguments"].to_string()),
        of => (of, block[of].as_str().unwrap().to_owned()),
    };
    let (first, second) = whole.split_at(whole.len() / 2);
    let mut start = json!({ "type": format!("{of}_start"), "contentIndex": index });
    let mut end = json!({ "type": format!("{of}_end"), "contentIndex": index });
    if of == "toolcall" {
        start["id"] = block["id"].clone();
        start["toolName"] = block["name"].clone();
        end["toolCall"] = block.clone();
    } else {
        end["content"] = whole.as_str().into();
    }
    let piece =
        |text: &str| json!({ "type": format!("{of}_delta"), "contentIndex": index, "delta": text });
    if block["redacted"] == true {
        return [start, end].iter().map(update).collect();
    }
    [start, piece(first), piece(second), end]
        .iter()
        .map(update)
        .collect()
}

fn update(delta: &Value) -> Value {
    let mut line =
        json!({ "type": "message_update", "usage": usage(10, 1), "assistantMessageEvent": delta });
    if ["toolcall_start", "toolcall_end"]
        .iter()
        .any(|kind| delta["type"] == *kind)
    {
        line["resolvedToolName"] = "read".into();
    }
    line
}

impl Script {
    /// A stream with its header.
    pub(crate) fn begin() -> Self {
        let mut script = Self::default();
        script.line(json!({
            "type": "session", "version": 3, "id": "01997f3c-6a00-7c31-9a55-0c2f3b1d2e10",
            "timestamp": "2026-09-21T14:13:20.000Z", "cwd": "/home/ada",
            "stream": {
                "wire": "quipu", "version": quipu::contract::SCHEMA_VERSION,
                "schema": quipu::contract::SCHEMA_HASH,
            },
        }));
        script
    }

    pub(crate) fn line(&mut self, line: Value) -> &mut Self {
        self.lines.push(line);
        self
    }

    pub(crate) fn lines(&mut self, lines: impl IntoIterator<Item = Value>) -> &mut Self {
        self.lines.extend(lines);
        self
    }

    pub(crate) fn run(&mut self) -> &mut Self {
        self.run.clear();
        self.line(json!({ "type": "agent_start", "model": { "provider": "offline", "id": "m" } }))
    }

    pub(crate) fn turn(&mut self) -> &mut Self {
        self.results.clear();
        self.line(json!({ "type": "turn_start" }))
    }

    /// A message without deltas; outside of runs a notice.
    pub(crate) fn whole(&mut self, message: &Value) -> &mut Self {
        self.run.push(message.clone());
        if message["role"] == "assistant" {
            self.answer = message.clone();
        } else if message["role"] == "toolResult" {
            self.results.push(message.clone());
        }
        self.lines(
            ["message_start", "message_end"]
                .map(|kind| json!({ "type": kind, "message": message })),
        )
    }

    /// The begin of an answer.
    pub(crate) fn fresh(&mut self) -> &mut Self {
        let mut fresh = answer(&json!([]), "pending");
        fresh["usage"] = nothing();
        self.line(json!({ "type": "message_start", "message": fresh }))
    }

    /// The end of an answer.
    pub(crate) fn answered(&mut self, message: &Value) -> &mut Self {
        self.run.push(message.clone());
        self.answer = message.clone();
        self.line(json!({ "type": "message_end", "message": message }))
    }

    /// An answer with its deltas; the blocks of a broken one stay open.
    pub(crate) fn told(&mut self, message: &Value) -> &mut Self {
        self.fresh();
        let broken = message.get("errorMessage").is_some();
        for (index, block) in message["content"].as_array().unwrap().iter().enumerate() {
            let mut deltas = deltas(index, block);
            if broken {
                deltas.pop();
            }
            self.lines(deltas);
        }
        self.answered(message)
    }

    pub(crate) fn turn_end(&mut self) -> &mut Self {
        let line =
            json!({ "type": "turn_end", "message": self.answer, "toolResults": self.results });
        self.line(line)
    }

    pub(crate) fn run_end(&mut self, will_retry: bool) -> &mut Self {
        let line = json!({ "type": "agent_end", "messages": self.run, "willRetry": will_retry });
        self.line(line)
    }

    pub(crate) fn retry(&mut self, attempt: u64) -> &mut Self {
        self.line(json!({
            "type": "auto_retry_start", "attempt": attempt, "maxAttempts": 2, "delayMs": 1,
            "errorMessage": "it broke",
        }))
    }

    pub(crate) fn retried(&mut self, success: bool, attempt: u64) -> &mut Self {
        let mut line = json!({ "type": "auto_retry_end", "success": success, "attempt": attempt });
        if !success {
            line["finalError"] = "it broke".into();
        }
        self.line(line)
    }

    pub(crate) fn compact(&mut self, reason: &str, id: Option<&str>) -> &mut Self {
        let mut line = json!({ "type": "compaction_start", "reason": reason });
        if let Some(id) = id {
            line["requestId"] = id.into();
        }
        self.line(line)
    }

    pub(crate) fn compacted(
        &mut self,
        reason: &str,
        id: Option<&str>,
        how: Compacted,
    ) -> &mut Self {
        let mut line = json!({
            "type": "compaction_end", "reason": reason, "aborted": how == Compacted::Aborted,
            "willRetry": how == Compacted::WillRetry,
        });
        if let Some(id) = id {
            line["requestId"] = id.into();
        }
        match how {
            Compacted::Done | Compacted::WillRetry => {
                line["result"] = json!({
                    "summary": "s", "firstKeptEntryId": "00000001", "tokensBefore": 9, "usage": usage(100, 1),
                });
            }
            Compacted::Failed => line["errorMessage"] = "too short".into(),
            Compacted::Aborted => {}
        }
        self.line(line)
    }

    pub(crate) fn summary_retry(&mut self, source: &str, reason: &str) -> &mut Self {
        let mut attempt = json!({ "type": "summarization_retry_attempt_start", "source": source });
        if source == "compaction" {
            attempt["reason"] = reason.into();
        }
        let scheduled = json!({
            "type": "summarization_retry_scheduled", "attempt": 1, "maxAttempts": 2, "delayMs": 1,
            "errorMessage": "e",
        });
        let finished = json!({ "type": "summarization_retry_finished" });
        self.lines([
            scheduled.clone(),
            attempt.clone(),
            scheduled,
            attempt,
            finished,
        ])
    }

    pub(crate) fn progress(&mut self, reason: &str) -> &mut Self {
        self.line(json!({ "type": "compaction_progress", "reason": reason, "delta": "x" }))
    }

    /// The terminal line.
    pub(crate) fn end(&mut self, outcome: &str) -> Vec<Value> {
        let mut end = json!({ "type": "stream_end", "outcome": outcome, "exitCode": 0 });
        let error = match outcome {
            "failed" => Some((1, "network")),
            "interrupted" => Some((130, "interrupted")),
            _ => None,
        };
        if let Some((exit, code)) = error {
            end["exitCode"] = exit.into();
            end["error"] = json!({ "code": code, "message": "it broke", "retryable": false });
        }
        self.line(end);
        let mut lines = std::mem::take(&mut self.lines);
        settle(&mut lines);
        lines
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compacted {
    Done,
    WillRetry,
    Failed,
    Aborted,
}

/// Sets the sums of a native stream's end to what the lines say.
pub(crate) fn settle(lines: &mut [Value]) {
    let (mut tokens, mut costs) = (nothing(), [0.0; 5]);
    let names = ["input", "output", "cacheRead", "cacheWrite", "total"];
    for line in lines.iter() {
        let usages = match line["type"].as_str().unwrap() {
            "message_end" if line["message"]["role"] == "assistant" => {
                vec![&line["message"]["usage"]]
            }
            "compaction_end" => vec![&line["result"]["usage"], &line["usage"]],
            "subagent_arbitration" => vec![&line["usage"]],
            "background_agent_event" if line["event"]["type"] == "stream_end" => {
                vec![&line["event"]["usage"]]
            }
            _ => continue,
        };
        for usage in usages.into_iter().filter(|usage| usage.is_object()) {
            for name in ["input", "output", "cacheRead", "cacheWrite", "totalTokens"] {
                tokens[name] =
                    (tokens[name].as_u64().unwrap() + usage[name].as_u64().unwrap()).into();
            }
            for (sum, name) in costs.iter_mut().zip(names) {
                *sum += usage["cost"][name].as_f64().unwrap();
            }
        }
    }
    for (sum, name) in costs.into_iter().zip(names) {
        tokens["cost"][name] = sum.into();
    }
    let turns = lines
        .iter()
        .filter(|line| line["type"] == "turn_start")
        .count();
    let count = lines.len();
    let end = lines.last_mut().unwrap();
    if end["type"] == "stream_end" {
        end["usage"] = tokens;
        end["turns"] = turns.into();
        end["lines"] = count.into();
    }
}
