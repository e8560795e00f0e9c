//! The four APIs, each with the same answers and refusals in its own words.

use serde_json::{Value, json};

use crate::harness::{Quipu, World};
use crate::server::{Answer, End};

/// The key of the program at every service.
pub(crate) const KEY: &str = "canary-key-of-the-service";

/// What every whole answer costs in tokens: the input, of which some is cached, and the output.
pub(crate) const INPUT: u64 = 100;
pub(crate) const CACHED: u64 = 40;
pub(crate) const OUTPUT: u64 = 9;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Service {
    Anthropic,
    Chat,
    Responses,
    Google,
}

pub(crate) const SERVICES: [Service; 4] = [
    Service::Anthropic,
    Service::Chat,
    Service::Responses,
    Service::Google,
];

/// What an answer holds. Calls come after everything else, and their pieces are mixed where the API
/// sends them in pieces.
pub(crate) enum Block<'a> {
    Text(&'a str),
    Thinking(&'a str),
    /// Id, which is left out if empty, name and arguments.
    Call(&'a str, &'a str, Value),
}

/// How an answer ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Ending {
    Good,
    Length,
    Refusal,
    /// An error that says that the service is overloaded.
    Overloaded,
    /// Data that is no JSON.
    Nonsense,
    /// Nothing more is said.
    Missing,
}

/// Why a service refuses a request.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Refusal {
    Auth,
    RateLimit,
    Overload,
    Overflow,
    Quota,
    Request,
    Server,
}

/// A call of `bash`.
pub(crate) fn bash<'a>(id: &'a str, command: &str) -> Block<'a> {
    Block::Call(id, "bash", json!({ "command": command }))
}

impl Service {
    /// The program with this service at `url`.
    pub(crate) fn quipu(self, world: &World, url: &str) -> Quipu {
        let (api, path, id) = match self {
            Self::Anthropic => ("anthropic-messages", "", "model-1"),
            Self::Chat => ("openai-completions", "/v1", "model-1"),
            Self::Responses => ("openai-responses", "/v1", "model-1"),
            Self::Google => ("google-generative-ai", "/v1beta", "gemini-3-flash"),
        };
        let models = json!({ "providers": { "loopback": {
            "baseUrl": format!("{url}{path}"), "api": api, "apiKey": KEY,
            "models": [{ "id": id, "reasoning": true, "contextWindow": 200_000, "maxTokens": 8192,
                "cost": { "input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75 } }],
        }}});
        world.config("models.json", models.to_string());
        world.quipu().args(["--model", &format!("loopback/{id}")])
    }

    /// A whole answer.
    pub(crate) fn answer(self, blocks: &[Block<'_>]) -> Answer {
        Answer::events(self.body(blocks, Ending::Good))
    }

    /// An answer with this end.
    pub(crate) fn ending(self, blocks: &[Block<'_>], ending: Ending) -> Answer {
        Answer::events(self.body(blocks, ending))
    }

    /// An answer that says this, stops, and leaves the connection open.
    pub(crate) fn stalled(self, text: &str) -> Answer {
        self.ending(&[Block::Text(text)], Ending::Missing)
            .ending(End::Stall)
    }

    fn body(self, blocks: &[Block<'_>], ending: Ending) -> String {
        let mut events = match self {
            Self::Anthropic => anthropic(blocks),
            Self::Chat => chat(blocks),
            Self::Responses => responses(blocks),
            Self::Google => google(blocks),
        };
        let calls = blocks.iter().any(|block| matches!(block, Block::Call(..)));
        events.extend(self.end(ending, calls));
        let named = matches!(self, Self::Anthropic | Self::Responses);
        let event = |event: &Value| match event["type"].as_str().filter(|_| named) {
            Some(name) => format!("event: {name}\ndata: {event}\n\n"),
            None => format!("data: {event}\n\n"),
        };
        let mut body: String = events.iter().map(event).collect();
        match ending {
            Ending::Nonsense => body.push_str("data: {\"type\": oops\n\n"),
            Ending::Missing | Ending::Overloaded => {}
            _ if self == Self::Chat => body.push_str("data: [DONE]\n\n"),
            _ => {}
        }
        body
    }

    fn end(self, ending: Ending, calls: bool) -> Vec<Value> {
        let word = |good, call, length, refusal| match ending {
            Ending::Good if calls => Some(call),
            Ending::Good => Some(good),
            Ending::Length => Some(length),
            Ending::Refusal => Some(refusal),
            Ending::Overloaded | Ending::Nonsense | Ending::Missing => None,
        };
        if ending == Ending::Overloaded {
            return vec![match self {
                Self::Anthropic => {
                    json!({ "type": "error", "error": { "type": "overloaded_error", "message": "Busy" } })
                }
                Self::Chat => json!({ "error": { "code": 503, "message": "Overloaded" } }),
                Self::Responses => {
                    json!({ "type": "error", "code": "server_is_overloaded", "message": "Busy" })
                }
                Self::Google => {
                    json!({ "error": { "code": 503, "status": "UNAVAILABLE", "message": "Busy" } })
                }
            }];
        }
        match self {
            Self::Anthropic => {
                let Some(word) = word("end_turn", "tool_use", "max_tokens", "refusal") else {
                    return Vec::new();
                };
                // Told twice, as the counts of all other services are.
                let counts = json!({ "output_tokens": OUTPUT });
                vec![
                    json!({ "type": "message_delta", "delta": { "stop_reason": null }, "usage": counts }),
                    json!({ "type": "message_delta", "delta": { "stop_reason": word }, "usage": counts }),
                    json!({ "type": "message_stop" }),
                ]
            }
            Self::Chat => {
                let word = word("stop", "tool_calls", "length", "content_filter");
                let end = |word| {
                    json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": word }],
                        "usage": chat_usage() })
                };
                word.map(end).into_iter().collect()
            }
            Self::Responses => {
                let word = word("", "", "max_output_tokens", "content_filter");
                let end = |word: &str| {
                    let status = if word.is_empty() {
                        "completed"
                    } else {
                        "incomplete"
                    };
                    json!({ "type": format!("response.{status}"), "response": {
                        "id": "r1", "status": status, "incomplete_details": { "reason": word },
                        "usage": { "input_tokens": INPUT, "output_tokens": OUTPUT,
                            "total_tokens": INPUT + OUTPUT,
                            "input_tokens_details": { "cached_tokens": CACHED } } } })
                };
                word.map(end).into_iter().collect()
            }
            Self::Google => {
                let word = word("STOP", "STOP", "MAX_TOKENS", "SAFETY");
                let end = |word| {
                    let mut chunk = google_chunk(&[]);
                    chunk["candidates"][0]["finishReason"] = Value::from(word);
                    chunk
                };
                word.map(end).into_iter().collect()
            }
        }
    }

    /// The answer to a request that the service does not take.
    pub(crate) fn refuses(self, why: Refusal) -> Answer {
        let (status, kind, message) = match (self, why) {
            (Self::Google, Refusal::Auth) => (400, "INVALID_ARGUMENT", "API key not valid."),
            (Self::Anthropic, Refusal::Auth) => (401, "authentication_error", "invalid x-api-key"),
            (_, Refusal::Auth) => (401, "invalid_api_key", "Incorrect API key"),
            (Self::Google, Refusal::RateLimit) => (
                429,
                "RESOURCE_EXHAUSTED",
                "Quota exceeded for requests per minute.",
            ),
            (Self::Anthropic, Refusal::RateLimit) => (429, "rate_limit_error", "Too fast"),
            (_, Refusal::RateLimit) => (429, "rate_limit_exceeded", "Rate limit reached"),
            (Self::Google, Refusal::Overload) => (503, "UNAVAILABLE", "The model is overloaded."),
            (Self::Anthropic, Refusal::Overload) => (529, "overloaded_error", "Overloaded"),
            (_, Refusal::Overload) => (503, "server_error", "Loading model"),
            (Self::Google, Refusal::Overflow) => (
                400,
                "INVALID_ARGUMENT",
                "The input token count (2) exceeds the maximum number of tokens allowed (1).",
            ),
            (Self::Anthropic, Refusal::Overflow) => (
                400,
                "invalid_request_error",
                "prompt is too long: 2 tokens > 1 maximum",
            ),
            (_, Refusal::Overflow) => (400, "context_length_exceeded", "Too long."),
            (Self::Google, Refusal::Quota) => (429, "RESOURCE_EXHAUSTED", "Quota exceeded."),
            (Self::Anthropic, Refusal::Quota) => (
                400,
                "invalid_request_error",
                "Your credit balance is too low",
            ),
            (_, Refusal::Quota) => (
                429,
                "insufficient_quota",
                "You exceeded your current quota.",
            ),
            (Self::Google, Refusal::Request) => (400, "INVALID_ARGUMENT", "No such field."),
            (_, Refusal::Request) => (400, "invalid_request_error", "No such field."),
            (Self::Google, Refusal::Server) => (500, "INTERNAL", "An internal error."),
            (Self::Anthropic, Refusal::Server) => (500, "api_error", "Internal server error"),
            (_, Refusal::Server) => (500, "server_error", "Oops"),
        };
        let details = match why {
            Refusal::Quota => json!([{ "violations": [{ "quotaId": "RequestsPerDay" }] }]),
            _ => json!([]),
        };
        let body = match self {
            Self::Anthropic => {
                json!({ "type": "error", "error": { "type": kind, "message": message } })
            }
            Self::Chat | Self::Responses => json!({ "error": {
                "message": message, "type": "some_error", "param": null, "code": kind } }),
            Self::Google => json!({ "error": {
                "code": status, "message": message, "status": kind, "details": details } }),
        };
        let line = match status {
            400 => "400 Bad Request",
            401 => "401 Unauthorized",
            429 => "429 Too Many Requests",
            500 => "500 Internal Server Error",
            503 => "503 Service Unavailable",
            _ => "529 Overloaded",
        };
        Answer::plain(line, "application/json", &body.to_string())
    }
}

/// A text in two pieces.
fn halves(text: &str) -> [&str; 2] {
    let middle = text.char_indices().nth(text.chars().count() / 2);
    text.split_at(middle.map_or(0, |(at, _)| at)).into()
}

/// The calls among the blocks, each with its number among all.
fn calls<'a>(blocks: &'a [Block<'_>]) -> Vec<(usize, &'a str, &'a str, &'a Value)> {
    let call = |(at, block): (usize, &'a Block<'_>)| match block {
        Block::Call(id, name, arguments) => Some((at, *id, *name, arguments)),
        Block::Text(_) | Block::Thinking(_) => None,
    };
    blocks.iter().enumerate().filter_map(call).collect()
}

fn anthropic(blocks: &[Block<'_>]) -> Vec<Value> {
    let start = |at: usize, block: Value| json!({ "type": "content_block_start", "index": at, "content_block": block });
    let piece = |at: usize, delta: Value| json!({ "type": "content_block_delta", "index": at, "delta": delta });
    let stop = |at: usize| json!({ "type": "content_block_stop", "index": at });
    let mut events = vec![json!({ "type": "message_start", "message": {
        "id": "m1", "usage": { "input_tokens": INPUT - CACHED, "output_tokens": 1,
            "cache_read_input_tokens": CACHED } } })];
    for (at, block) in blocks.iter().enumerate() {
        let (kind, text) = match block {
            Block::Text(text) => ("text", text),
            Block::Thinking(text) => ("thinking", text),
            Block::Call(..) => continue,
        };
        events.push(start(at, json!({ "type": kind, kind: "" })));
        for half in halves(text) {
            events.push(piece(
                at,
                json!({ "type": format!("{kind}_delta"), kind: half }),
            ));
        }
        events.push(stop(at));
    }
    let calls = calls(blocks);
    for (at, id, name, _) in &calls {
        let mut call = json!({ "type": "tool_use", "name": name, "input": {} });
        if !id.is_empty() {
            call["id"] = json!(id);
        }
        events.push(start(*at, call));
    }
    for half in [0, 1] {
        for (at, _, _, arguments) in &calls {
            let text = halves(&arguments.to_string())[half].to_owned();
            events.push(piece(
                *at,
                json!({ "type": "input_json_delta", "partial_json": text }),
            ));
        }
    }
    events.extend(calls.iter().map(|(at, ..)| stop(*at)));
    events
}

fn chat_usage() -> Value {
    json!({ "prompt_tokens": INPUT, "completion_tokens": OUTPUT, "total_tokens": INPUT + OUTPUT,
        "prompt_tokens_details": { "cached_tokens": CACHED } })
}

fn chat(blocks: &[Block<'_>]) -> Vec<Value> {
    let chunk = |delta: Value| {
        json!({ "id": "c1", "choices": [{ "index": 0, "delta": delta, "finish_reason": null }],
            "usage": chat_usage() })
    };
    let mut events = vec![chunk(json!({ "role": "assistant", "content": "" }))];
    for block in blocks {
        let (field, text) = match block {
            Block::Text(text) => ("content", text),
            Block::Thinking(text) => ("reasoning_content", text),
            Block::Call(..) => continue,
        };
        events.extend(halves(text).map(|half| chunk(json!({ field: half }))));
    }
    let calls = calls(blocks);
    for (at, id, name, _) in &calls {
        let mut call = json!({ "index": at, "type": "function",
            "function": { "name": name, "arguments": "" } });
        if !id.is_empty() {
            call["id"] = json!(id);
        }
        events.push(chunk(json!({ "tool_calls": [call] })));
    }
    for half in [0, 1] {
        for (at, _, _, arguments) in &calls {
            let text = halves(&arguments.to_string())[half].to_owned();
            let call = json!({ "index": at, "function": { "arguments": text } });
            events.push(chunk(json!({ "tool_calls": [call] })));
        }
    }
    events
}

fn responses(blocks: &[Block<'_>]) -> Vec<Value> {
    let item = |event: &str, at: usize, item: &Value| json!({ "type": format!("response.output_item.{event}"), "output_index": at, "item": item });
    let piece = |of: &str, at: usize, delta: &str| {
        json!({ "type": format!("response.{of}.delta"), "output_index": at, "delta": delta,
            "summary_index": 0 })
    };
    let mut events = vec![json!({ "type": "response.created", "response": {
        "id": "r1", "status": "in_progress", "usage": null } })];
    for (at, block) in blocks.iter().enumerate() {
        let (kind, of, text) = match block {
            Block::Text(text) => ("message", "output_text", text),
            Block::Thinking(text) => ("reasoning", "reasoning_summary_text", text),
            Block::Call(..) => continue,
        };
        events.push(item(
            "added",
            at,
            &json!({ "id": format!("i{at}"), "type": kind }),
        ));
        events.extend(halves(text).map(|half| piece(of, at, half)));
        events.push(item(
            "done",
            at,
            &json!({ "id": format!("i{at}"), "type": kind }),
        ));
    }
    let calls = calls(blocks);
    let call = |at: usize, id: &str, name: &str, arguments: String| {
        let mut call = json!({ "id": "", "type": "function_call", "name": name,
            "arguments": arguments });
        if !id.is_empty() {
            call["id"] = json!(format!("fc{at}"));
            call["call_id"] = json!(id);
        }
        call
    };
    for (at, id, name, _) in &calls {
        events.push(item("added", *at, &call(*at, id, name, String::new())));
    }
    for half in [0, 1] {
        for (at, _, _, arguments) in &calls {
            let text = halves(&arguments.to_string())[half].to_owned();
            events.push(piece("function_call_arguments", *at, &text));
        }
    }
    for (at, id, name, arguments) in &calls {
        events.push(item(
            "done",
            *at,
            &call(*at, id, name, arguments.to_string()),
        ));
    }
    events
}

fn google_chunk(parts: &[Value]) -> Value {
    json!({ "responseId": "g1",
        "candidates": [{ "content": { "parts": parts, "role": "model" }, "index": 0 }],
        "usageMetadata": { "promptTokenCount": INPUT, "cachedContentTokenCount": CACHED,
            "candidatesTokenCount": OUTPUT, "totalTokenCount": INPUT + OUTPUT } })
}

fn google(blocks: &[Block<'_>]) -> Vec<Value> {
    let mut events = Vec::new();
    for block in blocks {
        match block {
            Block::Text(text) => {
                events.extend(halves(text).map(|half| google_chunk(&[json!({ "text": half })])));
            }
            Block::Thinking(text) => events.extend(
                halves(text).map(|half| google_chunk(&[json!({ "text": half, "thought": true })])),
            ),
            Block::Call(..) => {}
        }
    }
    let part = |(_, id, name, arguments): &(usize, &str, &str, &Value)| {
        let mut call = json!({ "name": name, "args": arguments });
        if !id.is_empty() {
            call["id"] = json!(id);
        }
        json!({ "functionCall": call })
    };
    let parts: Vec<Value> = calls(blocks).iter().map(part).collect();
    events.push(google_chunk(&parts));
    events
}
