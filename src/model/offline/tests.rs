use std::path::Path;
use std::time::Instant;

use futures_util::StreamExt as _;
use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;
use crate::event::{AgentMessage, ErrorCode, StopReason};
use crate::model::tests::{answer, call, collect, request, result, text, user};
use crate::model::{ModelDelta as D, ToolSpec};

fn script(json: &serde_json::Value) -> Offline {
    let script = Script::parse(Path::new("scene.json"), &json.to_string()).unwrap();
    Offline::scripted(script, Timeouts::from_millis(40, 40))
}

async fn play(offline: &Offline) -> Vec<Result<D, ModelError>> {
    collect(offline.stream(request(vec![user("hi")]))).await
}

/// The deltas of one step, and the error if it ends with one.
async fn step(step: serde_json::Value) -> (Vec<D>, Option<ModelError>) {
    let mut deltas = Vec::new();
    let mut failure = None;
    for item in play(&script(&json!({"steps": [step]}))).await {
        assert_eq!(failure, None, "nothing comes after an error");
        match item {
            Ok(delta) => deltas.push(delta),
            Err(error) => failure = Some(error),
        }
    }
    (deltas, failure)
}

fn said(items: &[Result<D, ModelError>]) -> String {
    let piece = |item: &Result<D, ModelError>| match item {
        Ok(D::TextDelta { delta, .. }) => Some(delta.clone()),
        _ => None,
    };
    items.iter().filter_map(piece).collect()
}

#[tokio::test]
async fn plays_every_kind_of_block() {
    let (deltas, error) = step(json!({
        "blocks": [
            {"thinking": "abcde", "signature": "sig"},
            {"redacted": "opaque"},
            {"text": "äöü😀", "chunk": 3, "repeat": 2},
            {"tool": "read", "id": "t1", "args": {"p": 1}, "chunk": 100},
            {"tool": "bash", "id": "t1", "args_text": "{\"cut"},
            {"tool": "x"},
            {"text": ""}
        ],
        "chunk": 4, "wire": 3, "delay_ms": 0.01,
        "usage": {"input": 5, "output": 6, "cache_read": 7, "cache_write": 8, "reasoning": 2,
            "cache_write_1h": 3}
    }))
    .await;
    assert_eq!(error, None);
    let start = super::super::TokenUsage {
        input: 5,
        output: 1,
        cache_read: 7,
        cache_write: 8,
        cache_write_1h: Some(3),
        reasoning: None,
        total: None,
    };
    let text = |index, delta: &str| D::TextDelta {
        index,
        delta: delta.to_owned(),
    };
    let tool = |index, id: &str, name: &str| D::ToolcallStart {
        index,
        id: id.to_owned(),
        name: name.to_owned(),
    };
    let args = |index, delta: &str| D::ToolcallDelta {
        index,
        delta: delta.to_owned(),
    };
    assert_eq!(
        deltas,
        [
            D::Accepted,
            D::ResponseId("msg_offline000001".to_owned()),
            D::Usage(start),
            D::ThinkingStart { index: 0 },
            D::ThinkingDelta {
                index: 0,
                delta: "abcd".to_owned()
            },
            D::ThinkingDelta {
                index: 0,
                delta: "e".to_owned()
            },
            D::ThinkingEnd {
                index: 0,
                signature: Some("sig".to_owned()),
                redacted: false
            },
            D::ThinkingStart { index: 1 },
            D::ThinkingEnd {
                index: 1,
                signature: Some("opaque".to_owned()),
                redacted: true
            },
            D::TextStart { index: 2 },
            text(2, "äöü"),
            text(2, "😀"),
            text(2, "äöü"),
            text(2, "😀"),
            D::TextEnd {
                index: 2,
                signature: None
            },
            tool(3, "t1", "read"),
            args(3, "{\"p\":1}"),
            D::ToolcallEnd { index: 3 },
            tool(4, "t1_2", "bash"),
            args(4, "{\"cu"),
            args(4, "t"),
            D::ToolcallEnd { index: 4 },
            tool(5, "toolu_offline000103", "x"),
            args(5, "{}"),
            D::ToolcallEnd { index: 5 },
            D::TextStart { index: 6 },
            D::TextEnd {
                index: 6,
                signature: None
            },
            D::Usage(super::super::TokenUsage {
                output: 6,
                reasoning: Some(2),
                ..start
            }),
            D::Finished {
                stop_reason: StopReason::ToolUse,
                refusal: None
            },
        ]
    );
}

#[tokio::test]
async fn steps_follow_each_other_and_run_out() {
    let offline = script(&json!({
        "name": "x", "prompt": "ignored",
        "defaults": {"stop": "max_tokens", "times": 9},
        "steps": [
            {"blocks": [{"text": "first"}], "times": 2},
            {"match": {"first": "other"}, "blocks": [{"text": "for others"}]},
            {"match": "\"hi\"", "blocks": [{"text": "never: the quotes are escaped"}]},
            {"match": {"last": "hi", "any": "Be brief"}, "blocks": [{"text": "ahead"}], "stop": "end_turn"},
            {"error": "overloaded"}
        ]
    }));
    let ahead = play(&offline).await;
    assert_eq!(said(&ahead), "ahead");
    assert_eq!(
        ahead.last(),
        Some(&Ok(D::Finished {
            stop_reason: StopReason::Stop,
            refusal: None
        }))
    );
    let first = play(&offline).await;
    assert_eq!(said(&first), "first");
    assert_eq!(
        first.last(),
        Some(&Ok(D::Finished {
            stop_reason: StopReason::Length,
            refusal: None
        }))
    );
    assert_eq!(said(&play(&offline).await), "first");
    assert_eq!(
        play(&offline).await[0].as_ref().unwrap_err().code,
        ErrorCode::Overloaded
    );
    let beyond = play(&offline).await;
    assert_eq!(said(&beyond), "done");
    assert_eq!(
        beyond.last(),
        Some(&Ok(D::Finished {
            stop_reason: StopReason::Stop,
            refusal: None
        }))
    );
}

#[tokio::test]
async fn refusals_are_classified_like_those_of_a_service() {
    use ErrorCode::*;
    for (refused, code, status, retryable) in [
        (json!({"error": "overloaded"}), Overloaded, 529, true),
        (json!({"error": "rate_limit"}), RateLimited, 429, true),
        (json!({"error": "overflow"}), ContextOverflow, 400, false),
        (json!({"error": "auth"}), Auth, 401, false),
        (json!({"error": "server"}), ProviderError, 500, true),
        (
            json!({"error": "server", "status": 503}),
            Overloaded,
            503,
            true,
        ),
        (
            json!({"status": 404, "body": "gone"}),
            InvalidRequest,
            404,
            false,
        ),
        (json!({"status": 200, "body": "<html>"}), Network, 200, true),
    ] {
        let (deltas, error) = step(refused.clone()).await;
        let error = error.unwrap();
        assert_eq!(deltas, [], "{refused}");
        assert_eq!(
            (error.code, error.status, error.retryable),
            (code, Some(status), retryable),
            "{refused}"
        );
    }
    let hinted = json!({"error": "overloaded", "headers": {"Retry-After": 2}});
    assert_eq!(
        step(hinted).await.1.unwrap().retry_after,
        Some(Duration::from_secs(2))
    );
}

#[tokio::test]
async fn answers_break_where_the_script_says() {
    let cut = |extra: serde_json::Value| {
        let mut whole = json!({"blocks": [{"text": "abcdef"}, {"text": "ghi"}], "chunk": 3});
        whole
            .as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        step(whole)
    };
    let (deltas, error) = cut(json!({"abort_after": 2, "clean": true})).await;
    assert_eq!(
        deltas.last(),
        Some(&D::TextDelta {
            index: 0,
            delta: "def".to_owned()
        })
    );
    let error = error.unwrap();
    assert_eq!((error.code, error.retryable), (ErrorCode::Network, true));
    assert!(error.message.contains("ended before"), "{}", error.message);

    let (deltas, error) = cut(json!({"abort_after": 0, "reset": true})).await;
    assert_eq!(deltas.last(), Some(&D::TextStart { index: 0 }));
    assert!(error.unwrap().message.contains("reset"));
    let (_, error) = cut(json!({"abort_after": 3})).await;
    assert!(error.unwrap().message.contains("closed"));
    assert_eq!(cut(json!({"abort_after": 4})).await.1, None);

    let (deltas, error) = cut(json!({"stream_error": "overloaded"})).await;
    assert_eq!(
        deltas.last(),
        Some(&D::TextEnd {
            index: 1,
            signature: None
        })
    );
    let error = error.unwrap();
    assert_eq!((error.code, error.status), (ErrorCode::Overloaded, None));

    let garbage = json!({"garbage": "data: {oops\n\n", "garbage_after": 1});
    let (deltas, error) = cut(garbage).await;
    assert_eq!(
        deltas.last(),
        Some(&D::TextDelta {
            index: 0,
            delta: "abc".to_owned()
        })
    );
    let error = error.unwrap();
    assert_eq!(
        (error.code, error.retryable),
        (ErrorCode::ProviderError, false)
    );
    let comment =
        json!({"garbage": ": nothing\n\ndata: {\"type\":\"ping\"}\n\n", "garbage_after": 1});
    assert_eq!(cut(comment).await.1, None);

    for (garbage, code) in [
        ("<html>", ErrorCode::Network),
        ("data: {\"type\":\"ping\"}\n\n", ErrorCode::Network),
        ("data: {oops\n\n", ErrorCode::ProviderError),
        (
            "data: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}\n\n",
            ErrorCode::Overloaded,
        ),
    ] {
        let (deltas, error) = step(json!({"garbage": garbage})).await;
        assert_eq!(deltas, [D::Accepted], "{garbage}");
        assert_eq!(error.unwrap().code, code, "{garbage}");
    }
    let (_, error) = step(json!({"blocks": [{"text": "x"}], "stop": "whim"})).await;
    assert_eq!(error.unwrap().code, ErrorCode::ProviderError);
    let (deltas, _) = step(json!({"blocks": [], "stop": "refusal"})).await;
    assert!(matches!(
        deltas.last(),
        Some(D::Finished {
            stop_reason: StopReason::Error,
            refusal: Some(_)
        })
    ));
}

#[tokio::test]
async fn silences_are_waited_for_or_run_into_the_limits() {
    let (deltas, error) = step(json!({"hang_ms": 20, "blocks": [{"text": "late"}]})).await;
    assert_eq!((deltas.len() > 1, error), (true, None));
    let (deltas, error) = step(json!({"hang_ms": 60, "blocks": []})).await;
    assert_eq!((deltas, error.unwrap().code), (vec![], ErrorCode::Timeout));
    let (deltas, error) = step(json!({"hang_ms": 20})).await;
    assert_eq!((deltas, error.unwrap().code), (vec![], ErrorCode::Network));
    let (deltas, error) =
        step(json!({"hang_ms": 60, "hang_after": 1, "chunk": 1, "blocks": [{"text": "ab"}]})).await;
    assert_eq!(
        deltas.last(),
        Some(&D::TextDelta {
            index: 0,
            delta: "a".to_owned()
        })
    );
    assert!(error.unwrap().message.contains("idle"));
    let (_, error) = step(json!({"delay_ms": 60, "blocks": []})).await;
    assert_eq!(error.unwrap().code, ErrorCode::Timeout);
}

#[test]
fn broken_scripts_say_where_and_what() {
    for (text, expected) in [
        (
            "{",
            "scene.json is broken at line 1, column 1: EOF while parsing an object",
        ),
        (
            "7",
            "line 1, column 1: invalid type: integer `7`, expected a scenario, which is an object",
        ),
        (
            "{\"steps\": 7}",
            "line 1, column 11, steps: invalid type: integer `7`, expected a sequence",
        ),
        ("{}", "missing field `steps`"),
        (
            "{\"steps\": []} x",
            "line 1, column 15: there is something behind the end",
        ),
        (
            "{\"steps\": [\n{\"bloks\": []}]}",
            "line 2, column 8, steps[0].bloks: unknown field `bloks`, expected one of `blocks`",
        ),
        (
            "{\"steps\": [{\"blocks\": [{\"text\": 1}]}]}",
            "steps[0].blocks[0].text: invalid type",
        ),
        (
            "{\"steps\": [{\"error\": \"nope\"}]}",
            "steps[0].error: unknown variant `nope`, expected one of `overloaded`",
        ),
        (
            "{\"steps\": [{\"match\": 1}]}",
            "expected a string or an object with `any`, `first` or `last`",
        ),
        (
            "{\"steps\": [{\"blocks\": [{}]}]}",
            "broken at steps[0].blocks[0]: a block needs one of",
        ),
        (
            "{\"steps\": [{\"blocks\": [{\"text\": \"\", \"tool\": \"x\"}]}]}",
            "a block is only one of",
        ),
        (
            "{\"steps\": [{\"blocks\": [{\"text\": \"\", \"id\": \"x\"}]}]}",
            "belong to a block with `tool`",
        ),
        (
            "{\"steps\": [{\"blocks\": [{\"tool\": \"\", \"args\": {}, \"args_text\": \"\"}]}]}",
            "not both",
        ),
        (
            "{\"steps\": [{\"blocks\": [{\"text\": \"\", \"signature\": \"\"}]}]}",
            "`signature` belongs",
        ),
        (
            "{\"steps\": [{\"delay_ms\": -1}]}",
            "steps[0].delay_ms: a time is",
        ),
        (
            "{\"steps\": [{\"hang_ms\": 1e300}]}",
            "steps[0].hang_ms: a time is",
        ),
        (
            "{\"steps\": [{\"hang_after\": 1}]}",
            "steps[0].hang_after: it needs `hang_ms`",
        ),
        (
            "{\"steps\": [{\"garbage_after\": 1}]}",
            "steps[0].garbage_after: it needs `garbage`",
        ),
        (
            "{\"steps\": [{\"status\": 7}]}",
            "steps[0].status: a status has three digits",
        ),
        (
            "{\"steps\": [], \"defaults\": {\"delay_ms\": -1}}",
            "defaults.delay_ms: a time is",
        ),
    ] {
        let error = Script::parse(Path::new("scene.json"), text)
            .unwrap_err()
            .to_string();
        assert!(error.contains(expected), "{text}\n  gives {error}");
    }
    let missing = Script::load(Path::new("no/such/file.json"))
        .unwrap_err()
        .to_string();
    assert!(
        missing.starts_with("The script no/such/file.json cannot be read"),
        "{missing}"
    );
}

#[tokio::test]
async fn a_lone_surrogate_in_a_script_is_replaced() {
    let text = r#"{"steps": [{"blocks": [{"text": "a\ud83d"}]}]}"#;
    let script = Script::parse(Path::new("scene.json"), text).unwrap();
    let offline = Offline::scripted(script, Timeouts::default());
    assert_eq!(said(&play(&offline).await), "a\u{fffd}");
}

#[tokio::test]
async fn a_long_answer_is_made_piece_by_piece_and_lets_others_run() {
    let offline =
        script(&json!({"steps": [{"blocks": [{"text": "twelve chars", "repeat": u64::MAX}]}]}));
    let others = std::rc::Rc::new(std::cell::Cell::new(0));
    let count = std::rc::Rc::clone(&others);
    let stream = offline.stream(request(vec![user("hi")])).take(1000);
    let read = async { stream.count().await };
    let other = async move {
        loop {
            count.set(count.get() + 1);
            tokio::task::yield_now().await;
        }
    };
    let began = Instant::now();
    let read = tokio::select! { biased; n = read => n, () = other => 0 };
    assert_eq!(read, 1000);
    assert!(
        others.get() >= 10,
        "{} turns for others in {:?}",
        others.get(),
        began.elapsed()
    );
}

fn tools(names: &[&str]) -> std::sync::Arc<[ToolSpec]> {
    let spec = |name: &&str| ToolSpec {
        name: (*name).to_owned(),
        description: String::new(),
        parameters: json!({}),
    };
    names.iter().map(spec).collect()
}

async fn built_in(messages: Vec<AgentMessage>) -> Vec<Result<D, ModelError>> {
    let mut ask = request(messages);
    ask.tools = tools(&["read", "bash"]);
    collect(Offline::new(Timeouts::default()).stream(ask)).await
}

#[tokio::test]
async fn the_built_in_script_calls_a_tool_and_reports_what_it_returned() {
    let asked = built_in(vec![user("List the files here")]).await;
    let calls: Vec<_> = asked
        .iter()
        .filter_map(|item| match item {
            Ok(D::ToolcallStart { name, .. }) => Some(name.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(calls, ["bash"]);
    assert_eq!(
        asked.last(),
        Some(&Ok(D::Finished {
            stop_reason: StopReason::ToolUse,
            refusal: None
        }))
    );

    let report = built_in(vec![
        user("List the files here"),
        answer(
            StopReason::ToolUse,
            vec![text("I will"), call("a", "bash"), call("b", "read")],
        ),
        result("a", "total 0\nnotes.txt\n", false),
        result("b", "no such file", true),
    ])
    .await;
    assert_eq!(
        said(&report),
        "`bash x` returned:\n\n```\ntotal 0\nnotes.txt\n```\n\n`read x` failed:\n\n```\nno such file\n```"
    );
    assert!(
        report
            .iter()
            .filter(|item| matches!(item, Ok(D::TextDelta { .. })))
            .count()
            > 1
    );
    assert!(
        !report
            .iter()
            .any(|item| matches!(item, Ok(D::ToolcallStart { .. })))
    );
}

#[tokio::test]
async fn the_built_in_script_says_what_it_is() {
    let text = said(&built_in(vec![user("Explain monads")]).await);
    assert!(
        text.contains("offline model") && text.contains("--model"),
        "{text}"
    );
}
