use serde_json::json;

use super::*;

fn response(status: u16, headers: &[(&str, &str)], body: &str) -> ModelError {
    let header = |wanted: &str| {
        headers
            .iter()
            .find(|(name, _)| *name == wanted)
            .map(|(_, value)| (*value).to_owned())
    };
    ModelError::from_response(status, &header, body.as_bytes()).scrubbed(&[])
}

fn anthropic(kind: &str, message: &str) -> String {
    json!({"type": "error", "error": {"type": kind, "message": message}}).to_string()
}

#[test]
#[allow(clippy::too_many_lines, reason = "one table")]
fn sorts_by_status_type_and_words() {
    use ErrorCode::*;
    let openai = |kind: &str, code: &str, message: &str| {
        json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
            .to_string()
    };
    let google = |status: &str, message: &str, details: Value| {
        json!({"error": {"code": 1, "message": message, "status": status, "details": details}})
            .to_string()
    };
    let quota_words = "You exceeded your current quota; see your billing details.";
    for (status, body, code, retryable) in [
        (
            401,
            anthropic("authentication_error", "invalid x-api-key"),
            Auth,
            false,
        ),
        (
            403,
            anthropic("permission_error", "no access to this model"),
            Auth,
            false,
        ),
        (
            403,
            "<html><title>Forbidden</title></html>".into(),
            Auth,
            false,
        ),
        (
            429,
            anthropic("rate_limit_error", "limit of 50 requests"),
            RateLimited,
            true,
        ),
        (
            429,
            anthropic("rate_limit_error", "prompt is too long for the rate"),
            RateLimited,
            true,
        ),
        (429, String::new(), RateLimited, true),
        (
            429,
            openai("insufficient_quota", "insufficient_quota", quota_words),
            Quota,
            false,
        ),
        (
            429,
            google("RESOURCE_EXHAUSTED", quota_words, json!([])),
            RateLimited,
            true,
        ),
        (
            429,
            google(
                "RESOURCE_EXHAUSTED",
                quota_words,
                json!([{"quotaId": "RequestsPerDayPerModel"}]),
            ),
            Quota,
            false,
        ),
        (
            400,
            anthropic("invalid_request_error", "Your credit balance is too low"),
            Quota,
            false,
        ),
        (402, anthropic("billing_error", "pay first"), Quota, false),
        (
            529,
            anthropic("overloaded_error", "Overloaded"),
            Overloaded,
            true,
        ),
        (503, "upstream gone".into(), Overloaded, true),
        (
            500,
            anthropic("api_error", "Internal server error"),
            ProviderError,
            true,
        ),
        (
            502,
            "<html><head><TITLE>502 Bad\nGateway</TITLE></head></html>".into(),
            ProviderError,
            true,
        ),
        (504, String::new(), ProviderError, true),
        (408, String::new(), Timeout, true),
        (
            413,
            anthropic("request_too_large", "Request exceeds the maximum size"),
            ContextOverflow,
            false,
        ),
        (413, String::new(), ContextOverflow, false),
        (
            400,
            anthropic(
                "invalid_request_error",
                "prompt is too long: 7 tokens > 5 maximum",
            ),
            ContextOverflow,
            false,
        ),
        (
            400,
            anthropic(
                "invalid_request_error",
                "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000",
            ),
            ContextOverflow,
            false,
        ),
        (
            400,
            openai(
                "invalid_request_error",
                "context_length_exceeded",
                "too big",
            ),
            ContextOverflow,
            false,
        ),
        (
            400,
            anthropic("invalid_request_error", "messages: at least one"),
            InvalidRequest,
            false,
        ),
        (
            400,
            anthropic("invalid_request_error", "image exceeds the limit of 5 MB"),
            InvalidRequest,
            false,
        ),
        (
            429,
            google(
                "RESOURCE_EXHAUSTED",
                quota_words,
                json!([{"violations": [{"quotaId": "GenerateRequestsPerMinutePerProjectPerModel"}]},
                    {"links": [{"url": "https://ai.google.dev/gemini-api/docs/billing"}]}]),
            ),
            RateLimited,
            true,
        ),
        (
            429,
            google(
                "RESOURCE_EXHAUSTED",
                quota_words,
                json!([{"reason": "BILLING_DISABLED"}]),
            ),
            Quota,
            false,
        ),
        (
            503,
            google("UNAVAILABLE", "The model is overloaded.", json!([])),
            Overloaded,
            true,
        ),
        (
            504,
            google("DEADLINE_EXCEEDED", "Too late.", json!([])),
            Timeout,
            true,
        ),
        (
            500,
            google("INTERNAL", "An internal error has occurred.", json!([])),
            ProviderError,
            true,
        ),
        (
            403,
            google("PERMISSION_DENIED", "No access.", json!([])),
            Auth,
            false,
        ),
        (
            400,
            google(
                "INVALID_ARGUMENT",
                "The input token count (2) exceeds the maximum number of tokens allowed (1).",
                json!([]),
            ),
            ContextOverflow,
            false,
        ),
        (
            400,
            google("INVALID_ARGUMENT", "API key not valid.", json!([])),
            Auth,
            false,
        ),
        (400, String::new(), InvalidRequest, false),
        (
            404,
            anthropic("not_found_error", "model: nope"),
            InvalidRequest,
            false,
        ),
        (307, String::new(), InvalidRequest, false),
    ] {
        let error = response(status, &[], &body);
        assert_eq!(
            (error.code, error.retryable),
            (code, retryable),
            "{status} {body}"
        );
        assert_eq!(error.status, Some(status));
        assert!(
            error.message.starts_with(&status.to_string()),
            "{}",
            error.message
        );
    }
}

#[test]
fn sorts_errors_inside_a_stream_by_type() {
    use ErrorCode::*;
    for (kind, message, code, retryable) in [
        ("overloaded_error", "Overloaded", Overloaded, true),
        ("api_error", "Internal server error", ProviderError, true),
        ("rate_limit_error", "slow down", RateLimited, true),
        ("authentication_error", "no", Auth, false),
        ("invalid_request_error", "bad", InvalidRequest, false),
        (
            "invalid_request_error",
            "prompt is too long: 2 tokens > 1 maximum",
            ContextOverflow,
            false,
        ),
        ("billing_error", "pay", Quota, false),
        ("timeout_error", "too slow", Timeout, true),
        ("new_error", "something else", ProviderError, false),
    ] {
        let value = serde_json::from_str(&anthropic(kind, message)).unwrap();
        let error = ModelError::from_event(&value);
        assert_eq!((error.code, error.retryable), (code, retryable), "{kind}");
        assert_eq!(error.message, format!("{kind}: {message}"));
    }
}

#[test]
fn the_message_names_status_type_and_reason_and_stays_short() {
    let message = |status, body: &str| response(status, &[], body).message;
    assert_eq!(
        message(529, &anthropic("overloaded_error", "Overloaded")),
        "529 overloaded_error: Overloaded"
    );
    assert_eq!(
        message(502, "<html><title>Bad\n gateway </title>"),
        "502 Bad gateway"
    );
    assert_eq!(message(502, "<html><body>no title"), "502 Bad Gateway");
    assert_eq!(message(500, " plain \n words "), "500 plain words");
    assert_eq!(message(500, r#"{"error":"just words"}"#), "500 just words");
    assert_eq!(message(500, r#"[{"detail":"in a list"}]"#), "500 in a list");
    assert_eq!(message(599, ""), "599 the service gave no reason");
    assert_eq!(
        message(500, "\u{e4}".repeat(1990).as_str()).chars().count(),
        1994
    );
    let long = message(500, &"\u{e4}".repeat(5000));
    assert_eq!(long.chars().count(), 2000);
    assert!(long.ends_with("\u{e4}…"));
}

#[test]
fn takes_the_hint_of_the_service() {
    let wait = |headers: &[(&str, &str)], body: &str| response(429, headers, body).retry_after;
    let ms = |ms| Some(Duration::from_millis(ms));
    assert_eq!(wait(&[("retry-after", "2")], ""), ms(2000));
    assert_eq!(
        wait(&[("retry-after", "2"), ("retry-after-ms", "20")], ""),
        ms(20)
    );
    assert_eq!(
        wait(&[("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")], ""),
        ms(0)
    );
    assert_eq!(wait(&[("retry-after", "later")], ""), None);
    assert_eq!(
        wait(
            &[],
            &anthropic("rate_limit_error", "Please try again in 1.5s.")
        ),
        ms(1500)
    );
    let details = json!({"error": {"details": [{"@type": "RetryInfo", "retryDelay": "34s"}]}});
    assert_eq!(wait(&[], &details.to_string()), ms(34_000));
    assert_eq!(wait(&[], r#"{"error":{"retry_after":3}}"#), ms(3000));
    assert!(!response(529, &[("x-should-retry", "false")], "").retryable);
}

#[test]
fn a_key_that_the_service_repeats_is_taken_out() {
    let body = anthropic(
        "authentication_error",
        "Incorrect API key sk-canary-123456: sk-canary-123456",
    );
    let secrets = [
        Secret::new("sk-canary-123456"),
        Secret::new("key"),
        Secret::new(""),
    ];
    let error = ModelError::from_response(401, &|_| None, body.as_bytes()).scrubbed(&secrets);
    assert_eq!(
        error.message,
        "401 authentication_error: Incorrect API key <redacted>: <redacted>"
    );
    assert!(!format!("{error:?} {secrets:?}").contains("canary"));

    // At the place where a long message is cut there is no half of it either.
    let body = format!("{} sk-canary-123456", "x".repeat(MAX_MESSAGE - 12));
    let error = ModelError::from_response(401, &|_| None, body.as_bytes()).scrubbed(&secrets);
    assert!(!error.message.contains("sk-"), "{}", error.message);
}

fn openai(kind: &str, code: &str, message: &str) -> Value {
    json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
}

const FREE_TIER: &str = "Rate limit reached for gpt-x on requests per min (RPM): Limit 3. Please try \
    again in 20ms. Add a payment method at https://platform.openai.com/account/billing.";

#[test]
fn sorts_what_openai_and_its_likes_send() {
    use ErrorCode::{
        Auth, ContentRefused, ContextOverflow, InvalidRequest, Overloaded, ProviderError, Quota,
        RateLimited,
    };
    let local = |kind: &str, message: &str| json!({"error": {"message": message, "type": kind}});
    for (status, body, code, retryable) in [
        (
            429,
            openai("requests", "rate_limit_exceeded", FREE_TIER),
            RateLimited,
            true,
        ),
        (
            429,
            openai(
                "insufficient_quota",
                "insufficient_quota",
                "You exceeded your quota.",
            ),
            Quota,
            false,
        ),
        (
            401,
            openai(
                "invalid_request_error",
                "invalid_api_key",
                "Incorrect API key: sk",
            ),
            Auth,
            false,
        ),
        (
            400,
            openai(
                "invalid_request_error",
                "context_length_exceeded",
                "This model's maximum context length is 10 tokens. However, …",
            ),
            ContextOverflow,
            false,
        ),
        (
            400,
            local(
                "exceed_context_size_error",
                "the request exceeds the available context size",
            ),
            ContextOverflow,
            false,
        ),
        (
            400,
            openai(
                "invalid_request_error",
                "content_policy_violation",
                "Not this.",
            ),
            ContentRefused,
            false,
        ),
        // Ollama for a model that is not there, and llama.cpp while it loads one.
        (
            404,
            local("api_error", "model \"x\" not found"),
            InvalidRequest,
            false,
        ),
        (
            503,
            local("unavailable_error", "Loading model"),
            Overloaded,
            true,
        ),
        (500, local("server_error", "Oops"), ProviderError, true),
        (
            402,
            json!({"error": {"code": 402, "message": "Insufficient credits"}}),
            Quota,
            false,
        ),
        (429, from_gateway(), RateLimited, true),
    ] {
        let error = response(status, &[], &body.to_string());
        assert_eq!((error.code, error.retryable), (code, retryable), "{body}");
    }
}

fn from_gateway() -> Value {
    let raw = r#"{"error":{"message":"slow down, Please try again in 1s."}}"#;
    json!({"error": {"code": 429, "message": "Provider returned error",
        "metadata": {"raw": raw, "provider_name": "X"}}})
}

#[test]
fn the_words_of_openai_hold_hints_and_inside_a_stream_the_status() {
    use ErrorCode::{ContextOverflow, RateLimited};
    let body = openai("requests", "rate_limit_exceeded", FREE_TIER);
    let error = response(429, &[], &body.to_string());
    assert_eq!(error.retry_after, Some(Duration::from_millis(20)));

    let error = ModelError::from_event(&from_gateway());
    assert_eq!(
        (error.code, error.retry_after, error.status),
        (RateLimited, Some(Duration::from_secs(1)), Some(429))
    );
    assert!(error.message.starts_with("429 Provider returned error: {"));
    let overflow = json!({"object": "error", "code": 400, "type": "BadRequestError",
        "message": "This model's maximum context length is 10 tokens."});
    assert_eq!(ModelError::from_event(&overflow).code, ContextOverflow);
    let words = openai("server_error", "rate_limit_exceeded", "slow");
    assert_eq!(ModelError::from_event(&words).code, RateLimited);
}

#[test]
fn a_response_that_failed_has_only_a_code() {
    use ErrorCode::{ContentRefused, ContextOverflow, InvalidRequest, Overloaded};
    use ErrorCode::{ProviderError, Quota, RateLimited};
    for (name, message, code, retryable) in [
        ("server_error", "An error occurred.", ProviderError, true),
        ("rate_limit_exceeded", "Limit 30000 TPM.", RateLimited, true),
        ("server_is_overloaded", "Busy.", Overloaded, true),
        ("slow_down", "Too fast.", Overloaded, true),
        ("insufficient_quota", "No more.", Quota, false),
        (
            "context_length_exceeded",
            "Too long.",
            ContextOverflow,
            false,
        ),
        ("invalid_image", "No image.", InvalidRequest, false),
        (
            "invalid_prompt",
            "Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
            ContentRefused,
            false,
        ),
    ] {
        let error = json!({"error": {"code": name, "message": message}});
        let error = ModelError::from_event(&error);
        assert_eq!((error.code, error.retryable), (code, retryable), "{name}");
        assert_eq!(error.message, format!("{name}: {message}"));
    }
}
