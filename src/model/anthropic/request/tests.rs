use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;
use crate::event::{AgentMessage, StopReason, UserMessage};
use crate::model::tests::{answer, call, from, model, request, result, text, user};

fn written(model: &Model, request: &ModelRequest) -> Value {
    serde_json::to_value(body(model, request)).unwrap()
}

fn messages(list: Vec<AgentMessage>) -> Value {
    written(&model("http://host"), &request(list))["messages"].clone()
}

fn thinking(text: &str, signature: Option<&str>, redacted: bool) -> AssistantContent {
    let mut block = json!({"type": "thinking", "thinking": text});
    if let Some(signature) = signature {
        block["thinkingSignature"] = signature.into();
    }
    if redacted {
        block["redacted"] = true.into();
    }
    serde_json::from_value(block).unwrap()
}

#[test]
fn a_whole_request() {
    let mut ask = request(vec![user("hi")]);
    ask.tools = [ToolSpec {
        name: "read".to_owned(),
        description: "Reads.".to_owned(),
        parameters: json!({"type": "object"}),
    }]
    .into();
    assert_eq!(
        serde_json::to_string(&body(&model("http://host"), &ask)).unwrap(),
        concat!(
            r#"{"model":"mock-1","max_tokens":8192,"stream":true,"#,
            r#""system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}],"#,
            r#""tools":[{"name":"read","description":"Reads.","input_schema":{"type":"object"}}],"#,
            r#""messages":[{"role":"user","content":[{"type":"text","text":"hi","#,
            r#""cache_control":{"type":"ephemeral"}}]}]}"#
        )
    );
    let mut bare = request(vec![user("hi")]);
    bare.system_prompt.clear();
    let written = written(&model("http://host"), &bare);
    assert!(written.get("system").is_none() && written.get("tools").is_none());
}

#[test]
fn roles_alternate_and_results_come_in_one_message_before_what_the_user_says() {
    let got = messages(vec![
        user("go"),
        user("on"),
        answer(
            StopReason::ToolUse,
            vec![text("ok"), call("a", "read"), call("b", "read")],
        ),
        result("a", "one", false),
        result("b", "", true),
        user("steered"),
        answer(StopReason::Stop, vec![text("  "), text("done")]),
        answer(StopReason::Stop, vec![text("more")]),
    ]);
    assert_eq!(
        got,
        json!([
            {"role": "user", "content": [
                {"type": "text", "text": "go"}, {"type": "text", "text": "on"}]},
            {"role": "assistant", "content": [
                {"type": "text", "text": "ok"},
                {"type": "tool_use", "id": "a", "name": "read", "input": {"path": "x"}},
                {"type": "tool_use", "id": "b", "name": "read", "input": {"path": "x"}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "a", "is_error": false,
                    "content": [{"type": "text", "text": "one"}]},
                {"type": "tool_result", "tool_use_id": "b", "is_error": true,
                    "content": [{"type": "text", "text": "(no output)"}]},
                {"type": "text", "text": "steered"}]},
            {"role": "assistant", "content": [
                {"type": "text", "text": "done"}, {"type": "text", "text": "more"}]},
        ])
    );
}

#[test]
fn the_user_speaks_first() {
    let got = messages(vec![
        answer(StopReason::Stop, vec![text("hello")]),
        user("hi"),
    ]);
    assert_eq!(got[0]["role"], "user");
    assert_eq!(got[1]["content"][0]["text"], "hello");
}

#[test]
fn only_the_last_block_of_the_user_marks_the_cache() {
    let got = messages(vec![
        user("go"),
        answer(StopReason::ToolUse, vec![call("a", "read")]),
        result("a", "one", false),
    ]);
    let marked = got.to_string().matches("cache_control").count();
    assert_eq!(marked, 1);
    assert_eq!(
        got[2]["content"][0]["cache_control"],
        json!({"type": "ephemeral"})
    );
}

#[test]
fn thinking_goes_back_signed_to_the_model_that_thought_and_as_text_to_others() {
    let thoughts = vec![
        thinking("signed", Some("sig"), false),
        thinking("[Reasoning redacted]", Some("opaque"), true),
        thinking("unsigned", None, false),
        thinking("  ", None, false),
        text("answer"),
    ];
    let list = vec![user("hi"), answer(StopReason::Stop, thoughts)];
    assert_eq!(
        messages(list.clone())[1]["content"],
        json!([
            {"type": "thinking", "thinking": "signed", "signature": "sig"},
            {"type": "redacted_thinking", "data": "opaque"},
            {"type": "text", "text": "unsigned"},
            {"type": "text", "text": "answer"},
        ])
    );
    let other = Model {
        id: "mock-2".to_owned(),
        ..model("http://host")
    };
    assert_eq!(
        written(&other, &request(list))["messages"][1]["content"],
        json!([
            {"type": "text", "text": "signed"},
            {"type": "text", "text": "unsigned"},
            {"type": "text", "text": "answer"},
        ])
    );
}

#[test]
fn images_are_sent_or_replaced_by_a_word_on_them() {
    let image = json!({"role": "user", "timestamp": 1,
        "content": [{"type": "image", "data": "AA==", "mimeType": "image/png"}]});
    let list = vec![from::<UserMessage>(image)];
    assert_eq!(
        messages(list.clone())[0]["content"][0]["source"],
        json!({"type": "base64", "media_type": "image/png", "data": "AA=="})
    );
    let blind = Model {
        images: false,
        ..model("http://host")
    };
    let got = written(&blind, &request(list));
    assert_eq!(got["messages"][0]["content"][0]["type"], "text");
}

#[test]
fn ids_and_names_are_made_fit_and_ids_unique() {
    let got = messages(vec![
        user("go"),
        answer(
            StopReason::ToolUse,
            vec![call("call|1", "mcp.read file"), call("call_1", "x")],
        ),
        result("call|1", "first", false),
        result("call_1", "second", false),
        answer(
            StopReason::ToolUse,
            vec![call(&"x".repeat(80), "read"), call("call|1", "")],
        ),
        result("call|1", "third", false),
    ]);
    let uses = |message: usize| {
        let blocks = got[message]["content"].as_array().unwrap().iter();
        blocks
            .map(|b| b["id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let results = |message: usize| {
        let blocks = got[message]["content"].as_array().unwrap().iter();
        blocks
            .map(|b| b["tool_use_id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(uses(1), ["call_1", "call_1_2"]);
    assert_eq!(got[1]["content"][0]["name"], "mcp_read_file");
    assert_eq!(results(2), uses(1));
    assert_eq!(got[2]["content"][1]["content"][0]["text"], "second");
    assert_eq!(uses(3), ["x".repeat(64), "call_1_3".to_owned()]);
    assert_eq!(results(4), uses(3));
    assert_eq!(got[4]["content"][1]["content"][0]["text"], "third");
}

#[test]
fn the_thinking_budget_follows_the_level_and_fits_the_model() {
    use ThinkingLevel::{High, Low, Max, Medium, Minimal, Off};
    let limit = |level, max: Option<u64>, asked: Option<u64>, reasoning: bool| {
        let model = Model {
            max_tokens: max,
            reasoning,
            ..model("http://host")
        };
        let ask = ModelRequest {
            thinking: level,
            max_tokens: asked,
            ..request(Vec::new())
        };
        let (max_tokens, thinking) = limits(&model, &ask);
        let budget = match thinking {
            None => -1,
            Some(Thinking::Disabled) => 0,
            Some(Thinking::Enabled { budget_tokens }) => i64::try_from(budget_tokens).unwrap(),
            Some(other) => panic!("{other:?}"),
        };
        (max_tokens, budget)
    };
    assert_eq!(limit(High, Some(64_000), None, false), (32_000, -1));
    assert_eq!(limit(Off, Some(64_000), None, true), (32_000, 0));
    assert_eq!(limit(Minimal, Some(64_000), None, true), (33_024, 1024));
    assert_eq!(limit(Low, Some(64_000), None, true), (34_048, 2048));
    assert_eq!(limit(Medium, Some(64_000), None, true), (40_192, 8192));
    assert_eq!(limit(Max, Some(64_000), None, true), (48_384, 16_384));
    // No room for both: the answer keeps 1024 tokens.
    assert_eq!(limit(Medium, Some(8192), None, true), (8192, 7168));
    assert_eq!(limit(Minimal, Some(1500), None, true), (1500, 1024));
    assert_eq!(limit(Minimal, Some(1024), None, true), (1024, 0));
    assert_eq!(limit(Off, None, None, true), (8192, 0));
    assert_eq!(limit(Low, None, None, true), (10_240, 2048));
    assert_eq!(limit(Off, Some(8192), Some(100_000), true), (8192, 0));
    assert_eq!(limit(Off, Some(100_000), Some(50_000), true), (50_000, 0));
}

#[test]
fn the_settings_give_other_budgets() {
    use ThinkingLevel::{High, Low, Max, Medium, Minimal};
    let model = Model {
        reasoning: true,
        max_tokens: Some(64_000),
        thinking_budgets: [(Minimal, 10), (Low, 3000), (High, 20_000)].into(),
        ..model("http://host")
    };
    for (level, budget) in [
        // The API takes no less.
        (Minimal, 1024),
        (Low, 3000),
        (Medium, 8192),
        (High, 20_000),
        (Max, 20_000),
    ] {
        let mut ask = request(vec![user("hi")]);
        ask.thinking = level;
        let body = written(&model, &ask);
        assert_eq!(
            body["thinking"],
            json!({ "type": "enabled", "budget_tokens": budget })
        );
        assert_eq!(body["max_tokens"], 32_000 + budget);
        assert_eq!(body.get("output_config"), None);
    }
}

#[test]
fn a_model_that_decides_itself_is_told_an_effort() {
    use ThinkingLevel::{High, Low, Max, Medium, Minimal, Off, Xhigh};
    let mut model = Model {
        reasoning: true,
        max_tokens: Some(128_000),
        ..model("http://host")
    };
    model.compat = json!({ "thinkingFormat": "adaptive", "thinkingLevelMap": { "max": "most" } })
        .as_object()
        .cloned()
        .unwrap();
    let asked = |model: &Model, level| {
        let mut ask = request(vec![user("hi")]);
        ask.thinking = level;
        let body = written(model, &ask);
        let part = |name: &str| body.get(name).cloned().unwrap_or_default();
        (part("thinking"), part("output_config"), part("max_tokens"))
    };
    for (level, effort, most) in [
        (Minimal, "low", 33_024),
        (Low, "low", 34_048),
        (Medium, "medium", 40_192),
        (High, "high", 48_384),
        (Xhigh, "xhigh", 48_384),
        (Max, "most", 48_384),
    ] {
        let adaptive = json!({ "type": "adaptive", "display": "summarized" });
        let effort = json!({ "effort": effort });
        assert_eq!(
            asked(&model, level),
            (adaptive, effort, json!(most)),
            "{level:?}"
        );
    }
    let off = |kind: &str| (json!({ "type": kind }), Value::Null, json!(32_000));
    assert_eq!(asked(&model, Off), off("disabled"));
    model.compat["thinkingLevelMap"] = json!({ "off": "between_tools" });
    assert_eq!(asked(&model, Off), off("between_tools"));
    model.reasoning = false;
    assert_eq!(
        asked(&model, High),
        (Value::Null, Value::Null, json!(32_000))
    );
}

/// Two calls of a stored answer with one id, each with its result.
#[test]
fn calls_that_share_an_id_get_one_each_and_their_results_in_order() {
    let list = messages(vec![
        answer(
            StopReason::ToolUse,
            vec![call("c", "read"), call("c", "read")],
        ),
        result("c", "one", false),
        result("c", "two", false),
    ]);
    let ids = [0, 1].map(|at| list[1]["content"][at]["id"].clone());
    assert_eq!(ids, ["c", "c_2"]);
    let results = [0, 1].map(|at| {
        let block = &list[2]["content"][at];
        (
            block["tool_use_id"].clone(),
            block["content"][0]["text"].clone(),
        )
    });
    assert_eq!(
        results,
        [(json!("c"), json!("one")), (json!("c_2"), json!("two"))]
    );
}
