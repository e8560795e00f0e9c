//! A conversation that goes on: on the API that it began with, and on each other one.

use serde_json::{Value, json};

use super::matrix::{SERVICES, Service};
use crate::event::{AgentMessage, AssistantContent, StopReason};
use crate::model::context::NO_RESULT;
use crate::model::http::tests::{send, serve};
use crate::model::tests::{answer, call, collect, request, result, text, user};
use crate::model::{Model, Timeouts, connect};

/// An answer as an API gives it, and what of it nobody but the model that gave it may get back.
fn given(service: &Service) -> (Vec<AssistantContent>, &'static [&'static str]) {
    let block = |block: Value| serde_json::from_value::<AssistantContent>(block).unwrap();
    let thinking = |signature: &str| {
        block(
            json!({"type": "thinking", "thinking": format!("thought-of-{}", service.api),
            "thinkingSignature": signature}),
        )
    };
    let said = format!("said-by-{}", service.api);
    let signed =
        |signature: &str| block(json!({"type": "text", "text": said, "textSignature": signature}));
    match service.api {
        "anthropic-messages" => {
            let redacted = block(json!({"type": "thinking", "thinking": "",
                "thinkingSignature": "opaque-of-anthropic", "redacted": true}));
            let calls = [call("toolu_a", "read"), call("toolu_b", "read")];
            let content = [thinking("signature-of-anthropic"), redacted, text(&said)];
            (
                [&content[..], &calls].concat(),
                &["signature-of-anthropic", "opaque-of-anthropic"],
            )
        }
        "openai-completions" => {
            let calls = [call("call_a", "read"), call("call_b", "read")];
            let content = [thinking("reasoning_content"), text(&said)];
            ([&content[..], &calls].concat(), &["reasoning_content"])
        }
        "openai-responses" => {
            let item = json!({"id": "rs_1", "type": "reasoning", "encrypted_content": "encrypted-of-responses",
                "summary": [{"type": "summary_text", "text": "thought-of-openai-responses"}]});
            let content = [
                thinking(&item.to_string()),
                signed(r#"{"v":1,"id":"msg_1"}"#),
                call("call_a|fc_a", "read"),
                call("call_b|fc_b", "read"),
            ];
            (
                content.into(),
                &[
                    "rs_1",
                    "encrypted-of-responses",
                    "msg_1",
                    r#""id":"fc_a""#,
                    r#""id":"fc_b""#,
                ],
            )
        }
        "google-generative-ai" => {
            let signed_call = block(json!({"type": "toolCall", "id": "call_a", "name": "read",
                "arguments": {"path": "x"}, "thoughtSignature": "call-of-google"}));
            let content = [
                thinking("thought-signature-of-google"),
                signed("text-signature-of-google"),
                signed_call,
                call("call_b", "read"),
            ];
            (
                content.into(),
                &[
                    "thought-signature-of-google",
                    "text-signature-of-google",
                    "call-of-google",
                ],
            )
        }
        other => panic!("{other}"),
    }
}

fn id(service: &Service) -> &'static str {
    // An older one has no ids of calls.
    if service.api == "google-generative-ai" {
        "gemini-3-pro"
    } else {
        "mock-1"
    }
}

fn answered(service: &Service, model: &str, content: Vec<AssistantContent>) -> AgentMessage {
    let AgentMessage::Assistant(mut message) = answer(StopReason::ToolUse, content) else {
        unreachable!()
    };
    service.api.clone_into(&mut message.api);
    model.clone_into(&mut message.model);
    message.into()
}

/// The ids of calls, and of results with what they say, in the order of a request.
fn calls_and_results(service: &Service, body: &Value) -> (Vec<String>, Vec<(String, String)>) {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let (mut calls, mut results) = (Vec::new(), Vec::new());
    let (outer, within, [call, call_id], [result, result_id]) = match service.api {
        "anthropic-messages" => (
            "messages",
            "content",
            ["tool_use", "id"],
            ["tool_result", "tool_use_id"],
        ),
        "openai-completions" => ("messages", "tool_calls", ["function", "id"], ["", ""]),
        "openai-responses" => (
            "input",
            "",
            ["function_call", "call_id"],
            ["function_call_output", "call_id"],
        ),
        _ => (
            "contents",
            "parts",
            ["functionCall", "id"],
            ["functionResponse", "id"],
        ),
    };
    for turn in list(&body[outer]) {
        let items = if within.is_empty() {
            vec![turn.clone()]
        } else {
            list(&turn[within])
        };
        for item in items {
            // The Gemini API tells kinds of parts by their keys.
            let of = |kind: &str| match item.get(kind) {
                Some(part) if outer == "contents" => Some(part.clone()),
                _ => (item["type"] == kind).then(|| item.clone()),
            };
            calls.extend(of(call).map(|item| text(&item[call_id])));
            results.extend(of(result).map(|item| (text(&item[result_id]), item.to_string())));
        }
        if turn["role"] == "tool" {
            results.push((text(&turn["tool_call_id"]), turn.to_string()));
        }
    }
    (calls, results)
}

async fn asked(model: &Model, messages: Vec<AgentMessage>) -> Value {
    let (url, served) = serve(vec![send("HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n")]).await;
    let model = Model {
        base_url: url,
        ..model.clone()
    };
    let service = connect(&model, None, Timeouts::default()).unwrap();
    collect(service.stream(request(messages))).await;
    let asked = served.await.unwrap();
    serde_json::from_str(asked.split_once("\r\n\r\n").unwrap().1).unwrap()
}

/// The conversation was led by the model `began` of one API and then by a model of another.
async fn goes_on(from: &Service, began: &str, to: &Service) {
    let what = format!("from {began} of {} to {}", from.api, to.api);
    let (first, marks) = given(from);
    let (second, own_marks) = given(to);
    let first_ids: Vec<&str> = ids(&first);
    let second_ids: Vec<&str> = ids(&second);
    let messages = vec![
        user("the-first-prompt"),
        answered(from, began, first.clone()),
        // The other call was never answered.
        result(first_ids[0], "result-of-the-first", false),
        answer(
            StopReason::Error,
            vec![text("broken-words"), call("lost", "read")],
        ),
        result("lost", "result-of-a-broken-answer", false),
        answer(StopReason::Aborted, vec![text("aborted-words")]),
        user("the-second-prompt"),
        answered(to, id(to), second.clone()),
        result(second_ids[1], "result-of-the-last", true),
        result(second_ids[0], "result-of-the-third", false),
    ];
    let mut model = to.model("");
    id(to).clone_into(&mut model.id);
    model.reasoning = true;
    let body = asked(&model, messages).await;
    let sent = body.to_string();

    let own = from.api == to.api && began == id(to);
    for mark in marks {
        let alone = asked(
            &model,
            vec![user("hi"), answered(to, id(to), second.clone())],
        )
        .await;
        let expected = alone.to_string().matches(mark).count() * if own { 2 } else { 1 };
        assert_eq!(
            sent.matches(mark).count(),
            expected,
            "{what}: {mark} in {sent}"
        );
    }
    for mark in own_marks {
        assert!(sent.contains(mark), "{what}: {mark} is not in {sent}");
    }
    let thoughts = [from, to].map(|service| format!("thought-of-{}", service.api));
    let words = [from, to].map(|service| format!("said-by-{}", service.api));
    let prompts = ["the-first-prompt", "the-second-prompt"].map(str::to_owned);
    for text in [thoughts, words, prompts].concat() {
        assert!(sent.contains(&text), "{what}: {text} is not in {sent}");
    }
    for text in [
        "broken-words",
        "aborted-words",
        "lost",
        "result-of-a-broken",
    ] {
        assert!(!sent.contains(text), "{what}: {text} is in {sent}");
    }

    let (calls, results) = calls_and_results(to, &body);
    let answered: Vec<&String> = results.iter().map(|(id, _)| id).collect();
    assert_eq!(answered, calls.iter().collect::<Vec<_>>(), "{what}");
    let mut different = calls.clone();
    different.sort_unstable();
    different.dedup();
    assert_eq!((calls.len(), different.len()), (4, 4), "{what}: {calls:?}");
    for ((_, result), said) in results.iter().zip([
        "result-of-the-first",
        NO_RESULT,
        "result-of-the-third",
        "result-of-the-last",
    ]) {
        assert!(result.contains(said), "{what}: {said} is not in {result}");
    }
}

fn ids(content: &[AssistantContent]) -> Vec<&str> {
    let calls = content.iter().filter_map(|block| match block {
        AssistantContent::ToolCall(call) => Some(call.id.as_str()),
        AssistantContent::Text(_) | AssistantContent::Thinking(_) => None,
    });
    calls.collect()
}

#[tokio::test]
async fn on_the_same_model() {
    for service in &SERVICES {
        goes_on(service, id(service), service).await;
    }
}

#[tokio::test]
async fn after_a_switch_to_another_model_of_the_api() {
    for service in &SERVICES {
        goes_on(service, "mock-0", service).await;
    }
}

#[tokio::test]
async fn after_a_switch_to_any_other_api() {
    for from in &SERVICES {
        for to in SERVICES.iter().filter(|to| to.api != from.api) {
            goes_on(from, id(from), to).await;
        }
    }
}
