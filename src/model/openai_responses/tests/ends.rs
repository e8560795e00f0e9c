//! How answers end, well or not.

use pretty_assertions::assert_eq;

use super::*;

#[test]
fn ends_and_what_they_mean() {
    let after_call = [done(0, function("a", "{}".into())), end("completed")];
    for (events, stop_reason) in [
        (&after_call[1..], StopReason::Stop),
        (&after_call[..], StopReason::ToolUse),
        (
            &[incomplete("max_output_tokens".into())],
            StopReason::Length,
        ),
        (&[incomplete(Value::Null)], StopReason::Length),
        (
            &[json!({"type": "response.done", "response": {"status": "incomplete"}})],
            StopReason::Length,
        ),
    ] {
        let (deltas, error) = run(events);
        assert_eq!((deltas.last(), error), (Some(&finished(stop_reason)), None));
    }
    let cut_call = [
        added(0, function("a", "".into())),
        incomplete("max_output_tokens".into()),
    ];
    assert_eq!(run(&cut_call).0.last(), Some(&finished(StopReason::Length)));
    let refused = D::Finished {
        stop_reason: StopReason::Error,
        refusal: Some("The service stopped the answer because of its content.".to_owned()),
    };
    let (deltas, error) = run(&[incomplete("content_filter".into())]);
    assert_eq!((deltas, error), (vec![refused], None));
    let still = |status: &str| {
        json!({"type": "response.completed", "response": {"status": status,
            "output": [function("a", "{}".into())]}})
    };
    for event in [
        incomplete("whim".into()),
        end("cancelled"),
        still("queued"),
        still("in_progress"),
    ] {
        let error = run(&[event]).1.unwrap();
        assert_eq!(
            (error.code, error.retryable),
            (ErrorCode::ProviderError, false)
        );
    }
}

#[test]
fn errors_inside_the_stream_are_classified() {
    use ErrorCode::{ContextOverflow, ProviderError, RateLimited};
    let failed = |error: Value| {
        json!({"type": "response.failed", "response": {"status": "failed", "error": error,
            "usage": {"input_tokens": 7}}})
    };
    for (event, code, retryable, text) in [
        (
            failed(json!({"code": "rate_limit_exceeded", "message": "Slow."})),
            RateLimited,
            true,
            "rate_limit_exceeded: Slow.",
        ),
        (
            failed(Value::Null),
            ProviderError,
            false,
            "the service gave no reason",
        ),
        (
            json!({"type": "error", "code": "server_error", "message": "Oops.", "param": null}),
            ProviderError,
            true,
            "server_error: Oops.",
        ),
        (
            json!({"type": "error", "error": {"type": "invalid_request_error",
                "code": "context_length_exceeded", "message": "Long."}}),
            ContextOverflow,
            false,
            "invalid_request_error: Long.",
        ),
        (
            json!({"error": {"message": "Busy", "type": "server_error"}}),
            ProviderError,
            true,
            "server_error: Busy",
        ),
        (
            json!({"type": "response.failed", "response": {
                "incomplete_details": {"reason": "whim"}}}),
            ProviderError,
            false,
            "incomplete: whim",
        ),
    ] {
        let (deltas, error) = run(&[said(0, "x"), event.clone()]);
        let error = error.unwrap_or_else(|| panic!("no error of {event}"));
        let got = (error.code, error.retryable, error.message.as_str());
        assert_eq!(got, (code, retryable, text), "{event}");
        let counted = event.pointer("/response/usage").is_some();
        // The text is not closed: it is not whole.
        assert_eq!(deltas.len(), 2 + usize::from(counted), "{event}");
    }
}

#[test]
fn an_answer_without_its_end_is_a_cut() {
    let text = data(&[said(0, "x")]);
    for body in [
        text.clone(),
        format!("{text}data: [DONE]\n\n"),
        text + "data: {\"ty",
    ] {
        let (deltas, error) = decode(&[body.as_bytes()]);
        let error = error.unwrap();
        assert_eq!(
            (error.code, error.retryable),
            (ErrorCode::Network, true),
            "{body}"
        );
        assert_eq!(deltas.len(), 2);
    }
    let whole = data(&[end("completed")]);
    let (deltas, error) = decode(&[whole.trim_end().as_bytes()]);
    assert_eq!((deltas, error), (vec![finished(StopReason::Stop)], None));
}

#[test]
fn nonsense_is_an_error() {
    for events in [
        vec![
            added(0, function("a", "".into())),
            added(0, function("a", "".into())),
        ],
        vec![argued(0, "{}")],
        vec![added(0, function("a", "".into())), said(0, "x")],
        vec![done(0, message("x")), said(0, "y")],
        vec![json!(["no", "event"])],
    ] {
        let error = run(&events).1.unwrap();
        assert_eq!(
            (error.code, error.retryable),
            (ErrorCode::ProviderError, false),
            "{events:?}"
        );
    }
    let (_, error) = decode(&[b"data: {oops\n\n"]);
    assert_eq!(error.unwrap().code, ErrorCode::ProviderError);
    // An end told twice takes nothing from the answer.
    let twice = [
        done(0, message("x")),
        done(0, message("x")),
        end("completed"),
    ];
    assert_eq!(outline(&twice), ["text 0", "0:x", "=0"]);
}
