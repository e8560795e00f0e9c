//! What can go wrong between a request and its answer, sorted once for every service.

use std::time::Duration;

use serde_json::Value;

use super::Secret;
use crate::event::ErrorCode;

mod echo;
mod hint;

/// Longest message, in characters.
const MAX_MESSAGE: usize = 2000;
/// Shorter values are not searched for: they would turn up in ordinary words.
const MIN_SECRET: usize = 8;
/// So many bytes of a request are enough to know it by: all protocols begin with fixed words.
const BEGINNING: usize = 24;

/// A request that failed, classified.
///
/// The message is for people. It never holds a request body, a header of ours or a key.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// What kind of failure it is.
    pub code: ErrorCode,
    /// What happened, at most 2000 characters.
    pub message: String,
    /// Whether the same request may succeed later.
    pub retryable: bool,
    /// How long the service asks to wait before that.
    pub retry_after: Option<Duration>,
    /// The HTTP status, if there was an answer; inside an answer, the one that the error names.
    pub status: Option<u16>,
}

impl ModelError {
    /// A failure that will not heal.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        let message = shorten(message.into());
        Self {
            code,
            message,
            retryable: false,
            retry_after: None,
            status: None,
        }
    }

    /// The connection failed or broke, or what came was no answer; worth another try.
    #[must_use]
    pub fn network(message: impl Into<String>) -> Self {
        Self {
            retryable: true,
            ..Self::new(ErrorCode::Network, message)
        }
    }

    /// The service was silent for too long; worth another try.
    #[must_use]
    pub fn timeout(message: impl Into<String>) -> Self {
        Self {
            retryable: true,
            ..Self::new(ErrorCode::Timeout, message)
        }
    }

    /// The service sent something that makes no sense.
    #[must_use]
    pub fn provider(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::ProviderError, message)
    }

    /// An answer with a status that is no success; to be [scrubbed](Self::scrubbed). `header` looks up a header by its lower-case name.
    pub(crate) fn from_response(
        status: u16,
        header: &dyn Fn(&str) -> Option<String>,
        body: &[u8],
    ) -> Self {
        let text = String::from_utf8_lossy(body);
        let details = match super::json::parse::<Value>(&text) {
            Ok(value) => Details::read(&value),
            Err(_) => Details {
                message: plain_text(&text),
                ..Details::default()
            },
        };
        let mut error = details.classify(Some(status));
        if let Some(wait) = hint::from_headers(header) {
            error.retry_after = Some(wait);
        }
        if header("x-should-retry").as_deref() == Some("false") {
            error.retryable = false;
        }
        error
    }

    /// An error that the service sent as JSON inside an answer that had begun; to be
    /// [scrubbed](Self::scrubbed). A status that it names counts as one.
    pub(crate) fn from_event(value: &Value) -> Self {
        let code = value.pointer("/error/code").or_else(|| value.get("code"));
        let status = code
            .and_then(Value::as_u64)
            .and_then(|code| u16::try_from(code).ok())
            .filter(|code| (400..600).contains(code));
        Details::read(value).classify(status)
    }

    /// The error without the request (JSON), should the service have repeated some of it: its
    /// beginning with whatever follows, or texts of it in any form. To be
    /// [scrubbed](Self::scrubbed) after this.
    #[must_use]
    pub(crate) fn without_request(mut self, request: &[u8]) -> Self {
        let beginning = String::from_utf8_lossy(&request[..request.len().min(BEGINNING)]);
        let quoted = beginning.replace('"', "\\\"");
        let found = [&*beginning, &quoted].map(|text| self.message.find(text));
        if let Some(at) = found.into_iter().flatten().min()
            && !beginning.is_empty()
        {
            self.message.truncate(at);
            self.message.push_str("<redacted>");
        }
        self.message = echo::without(&self.message, request);
        self
    }

    /// The error without these values, should the service have repeated them.
    #[must_use]
    pub(crate) fn without_secrets(mut self, secrets: &[Secret]) -> Self {
        for secret in secrets
            .iter()
            .map(Secret::expose)
            .filter(|s| s.len() >= MIN_SECRET)
        {
            if self.message.contains(secret) {
                self.message = self.message.replace(secret, "<redacted>");
            }
        }
        self
    }

    /// The error without these values, cut to the longest message. In this order: half a key must
    /// not be left over at the end.
    #[must_use]
    pub(crate) fn scrubbed(self, secrets: &[Secret]) -> Self {
        let mut error = self.without_secrets(secrets);
        error.message = shorten(error.message);
        error
    }
}

/// What the body of an error says, whichever service wrote it.
#[derive(Debug, Default)]
struct Details {
    /// Type or status word, such as `overloaded_error` or `RESOURCE_EXHAUSTED`.
    kind: Option<String>,
    /// A finer code, such as `insufficient_quota`.
    code: Option<String>,
    message: String,
    /// JSON text of further structured details.
    more: String,
    retry_after: Option<Duration>,
}

impl Details {
    fn read(value: &Value) -> Self {
        let value = value
            .as_array()
            .and_then(|list| list.first())
            .unwrap_or(value);
        let word = |value: Option<&Value>| match value {
            Some(Value::String(text)) if !text.is_empty() => Some(text.clone()),
            _ => None,
        };
        let error = match value.get("error") {
            Some(Value::String(text)) => {
                return Self {
                    message: text.clone(),
                    ..Self::default()
                };
            }
            Some(error @ Value::Object(_)) => error,
            _ => value,
        };
        let mut message = ["message", "detail"]
            .iter()
            .find_map(|key| word(error.get(*key)).or_else(|| word(value.get(*key))))
            .unwrap_or_default();
        // Gateways put what the service behind them said beside their own words.
        if let Some(raw) = word(error.pointer("/metadata/raw")) {
            message = if message.is_empty() {
                raw
            } else {
                format!("{message}: {raw}")
            };
        }
        // Links to help are no details: they lead to the page on billing whatever went wrong.
        let more = match error.get("details") {
            Some(Value::Array(list)) => {
                let facts = list.iter().filter(|fact| fact.get("links").is_none());
                facts.map(Value::to_string).collect::<Vec<_>>().join(",")
            }
            details => details.map(Value::to_string).unwrap_or_default(),
        };
        Self {
            kind: word(error.get("type")).or_else(|| word(error.get("status"))),
            code: word(error.get("code")),
            retry_after: hint::from_body(error, &message, &more),
            message,
            more,
        }
    }

    fn classify(self, status: Option<u16>) -> ModelError {
        let (code, retryable) = self.sort(status);
        let kind = self.kind.as_deref().or(self.code.as_deref());
        let reason = status
            .and_then(|status| reqwest::StatusCode::from_u16(status).ok())
            .and_then(|status| status.canonical_reason());
        let text = match (self.message.is_empty(), reason) {
            (false, _) => self.message.as_str(),
            (true, Some(reason)) => reason,
            (true, None) => "the service gave no reason",
        };
        let prefix = match (status, kind) {
            (Some(status), Some(kind)) => format!("{status} {kind}: "),
            (Some(status), None) => format!("{status} "),
            (None, Some(kind)) => format!("{kind}: "),
            (None, None) => String::new(),
        };
        ModelError {
            code,
            message: format!("{prefix}{text}"),
            retryable,
            retry_after: self.retry_after,
            status,
        }
    }

    fn sort(&self, status: Option<u16>) -> (ErrorCode, bool) {
        let text = self.message.to_lowercase();
        let names = format!(
            "{} {}",
            self.kind.as_deref().unwrap_or_default(),
            self.code.as_deref().unwrap_or_default()
        )
        .to_lowercase();
        let is_any = |list: &[&str]| list.iter().any(|name| names.contains(name));
        let rate_limit = status == Some(429)
            || is_any(&["rate_limit", "resource_exhausted", "too_many_requests"])
            || speaks_of(&text, RATE_LIMIT);
        let server = status.is_some_and(|status| status >= 500);

        if !rate_limit && !server && (is_any(OVERFLOW_NAMES) || speaks_of(&text, OVERFLOW)) {
            return (ErrorCode::ContextOverflow, false);
        }
        if self.is_quota(&names, &text) && !server || status == Some(402) {
            return (ErrorCode::Quota, false);
        }
        match status {
            Some(401 | 403) => return (ErrorCode::Auth, false),
            Some(413) => return (ErrorCode::ContextOverflow, false),
            Some(408) => return (ErrorCode::Timeout, true),
            Some(429) => return (ErrorCode::RateLimited, true),
            Some(503 | 529) => return (ErrorCode::Overloaded, true),
            _ => {}
        }
        if is_any(&["content_filter", "content_policy"]) || speaks_of(&text, REFUSED) {
            return (ErrorCode::ContentRefused, false);
        }
        // A server's own fault has a status of its own; in a 404 the word only means "our API".
        let is_client = status.is_some_and(|status| (300..500).contains(&status));
        if is_any(&["authentication", "permission", "api_key", "unauthenticated"])
            || speaks_of(&text, &[&["api key not valid"], &["invalid x-api-key"]])
        {
            (ErrorCode::Auth, false)
        } else if rate_limit {
            (ErrorCode::RateLimited, true)
        } else if is_any(&["overloaded", "unavailable", "slow_down"])
            || speaks_of(&text, &[&["overloaded"]])
        {
            (ErrorCode::Overloaded, true)
        } else if is_any(&["timeout", "deadline_exceeded"]) {
            (ErrorCode::Timeout, true)
        } else if server || !is_client && is_any(&["api_error", "server_error", "internal"]) {
            (ErrorCode::ProviderError, true)
        } else if is_client || is_any(&["invalid_", "not_found"]) {
            (ErrorCode::InvalidRequest, false)
        } else {
            (ErrorCode::ProviderError, false)
        }
    }

    fn is_quota(&self, names: &str, text: &str) -> bool {
        if names.contains("resource_exhausted") {
            // Google words every rate limit like a quota; only the details tell which one it was.
            let more = self.more.to_lowercase();
            return more.contains("perday") || more.contains("billing");
        }
        let words = [
            "insufficient_quota",
            "billing",
            "usagelimit",
            "credits_required",
        ];
        // A rate limit that is named as one may still point to the page where a higher one is sold.
        words.iter().any(|word| names.contains(word))
            || !names.contains("rate_limit") && speaks_of(text, QUOTA)
    }
}

const RATE_LIMIT: &[&[&str]] = &[
    &["rate limit"],
    &["rate-limit"],
    &["ratelimit"],
    &["too many requests"],
];

const OVERFLOW_NAMES: &[&str] = &[
    "context_length_exceeded",
    "contextlengthexceeded",
    "model_context_window_exceeded",
    "request_too_large",
];

/// How services say that the conversation is too long: fragments that follow each other.
const OVERFLOW: &[&[&str]] = &[
    &["prompt is too long"],
    &["input is too long for requested model"],
    &["exceeds the context window"],
    &["exceed context limit"],
    &["input token count", "exceeds the maximum"],
    &["maximum prompt length is"],
    &["reduce the length of the messages"],
    &["maximum context length is", "tokens"],
    &["token", "exceeds the limit of"],
    &["exceeds the available context size"],
    &["greater than the context length"],
    &["context window exceeds limit"],
    &["exceeded model token limit"],
    &["too large for model with", "maximum context length"],
    &["model_context_window_exceeded"],
    &["context_length_exceeded"],
    &["context length exceeded"],
    &["contextlengthexceeded"],
    &["too many tokens"],
    &["token limit exceeded"],
];

/// How services say that waiting a minute will not help: fragments that follow each other.
const QUOTA: &[&[&str]] = &[
    &["usagelimiterror"],
    &["usage limit reached"],
    &["available balance"],
    &["credit balance"],
    &["insufficient_quota"],
    &["insufficient balance"],
    &["out of budget"],
    &["quota exceeded"],
    &["exceeded your current quota"],
    &["billing"],
    &["credits_required"],
    &["credits are required"],
];

/// How services say that the prompt is one they do not answer: fragments that follow each other.
const REFUSED: &[&[&str]] = &[&["prompt", "flagged as potentially violating"]];

/// Whether the text holds all fragments of one entry in their order.
fn speaks_of(text: &str, list: &[&[&str]]) -> bool {
    list.iter().any(|fragments| {
        let rest = fragments.iter().try_fold(text, |rest, fragment| {
            rest.split_once(fragment).map(|(_, rest)| rest)
        });
        rest.is_some()
    })
}

/// What a body that is no JSON says: of a web page its title, of anything else the start.
fn plain_text(body: &str) -> String {
    let body = body.trim();
    let text = if body.starts_with('<') {
        let lower = body.to_ascii_lowercase();
        let title = lower
            .find("<title>")
            .map(|at| at + "<title>".len())
            .and_then(|start| {
                let end = lower[start..].find("</title>")? + start;
                body.get(start..end)
            });
        title.unwrap_or_default()
    } else {
        body
    };
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn shorten(mut text: String) -> String {
    if let Some((cut, _)) = text.char_indices().nth(MAX_MESSAGE - 1)
        && text[cut..].chars().nth(1).is_some()
    {
        text.truncate(cut);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests;
