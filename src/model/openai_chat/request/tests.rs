use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;
use crate::event::{StopReason, ToolResultMessage, UserMessage};
use crate::model::tests::{answer, call, from, model, request, result, text, user};

fn chat(base_url: &str, compat: &Value) -> Model {
    Model {
        api: "openai-completions".into(),
        compat: compat.as_object().unwrap().clone(),
        ..model(base_url)
    }
}

fn written(model: &Model, request: &ModelRequest) -> Value {
    serde_json::to_value(body(model, request)).unwrap()
}

fn messages(model: &Model, list: Vec<AgentMessage>) -> Value {
    written(model, &request(list))["messages"].clone()
}

fn plain_model() -> Model {
    chat("http://host/v1", &json!({}))
}

/// An answer of the model that is asked.
fn own(content: Vec<AssistantContent>) -> AgentMessage {
    let AgentMessage::Assistant(mut message) = answer(StopReason::Stop, content) else {
        unreachable!()
    };
    message.api = "openai-completions".to_owned();
    message.into()
}

fn thinking_block(text: &str, signature: Option<&str>) -> AssistantContent {
    let mut block = json!({"type": "thinking", "thinking": text});
    if let Some(signature) = signature {
        block["thinkingSignature"] = signature.into();
    }
    serde_json::from_value(block).unwrap()
}

fn image_result(id: &str, content: &Value) -> AgentMessage {
    from::<ToolResultMessage>(
        json!({"role": "toolResult", "toolCallId": id, "toolName": "read",
        "isError": false, "content": content, "timestamp": 1}),
    )
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
    let model = plain_model();
    assert_eq!(
        serde_json::to_string(&body(&model, &ask)).unwrap(),
        concat!(
            r#"{"model":"mock-1","stream":true,"stream_options":{"include_usage":true},"#,
            r#""max_completion_tokens":8192,"tools":[{"type":"function","function":{"name":"read","#,
            r#""description":"Reads.","parameters":{"type":"object"}}}],"messages":["#,
            r#"{"role":"system","content":"Be brief."},{"role":"user","content":"hi"}]}"#
        )
    );
    let mut bare = request(vec![user("hi")]);
    bare.system_prompt.clear();
    let written = written(&model, &bare);
    assert_eq!(written["messages"].as_array().unwrap().len(), 1);
    assert!(written.get("tools").is_none());
}

#[test]
fn the_dialect_decides_the_fields() {
    let ask = request(vec![user("hi")]);
    let mut openai = chat("https://api.openai.com/v1", &json!({}));
    let body = written(&openai, &ask);
    assert_eq!(body["store"], false);
    assert_eq!(body["messages"][0]["role"], "system");
    openai.reasoning = true;
    assert_eq!(written(&openai, &ask)["messages"][0]["role"], "developer");

    let odd = chat(
        "http://host",
        &json!({"maxTokensField": "max_tokens", "supportsUsageInStreaming": false}),
    );
    let body = written(&odd, &ask);
    assert_eq!(body["max_tokens"], 8192);
    for absent in ["max_completion_tokens", "stream_options", "store"] {
        assert!(body.get(absent).is_none(), "{absent}");
    }
    let mut unknown = plain_model();
    unknown.max_tokens = None;
    assert!(
        written(&unknown, &ask)
            .get("max_completion_tokens")
            .is_none()
    );
    unknown.max_tokens = Some(128_000);
    assert_eq!(written(&unknown, &ask)["max_completion_tokens"], 32_000);
}

#[test]
fn each_format_says_how_much_to_think() {
    use ThinkingLevel::{High, Low, Max, Off};
    let said = |compat: Value, level| {
        let mut model = chat("http://host", &compat);
        model.reasoning = true;
        let mut ask = request(vec![user("hi")]);
        ask.thinking = level;
        let mut body = written(&model, &ask);
        let fields = body.as_object_mut().unwrap();
        for other in [
            "model",
            "stream",
            "stream_options",
            "max_completion_tokens",
            "messages",
        ] {
            fields.remove(other);
        }
        body
    };
    for (compat, level, expected) in [
        (json!({}), Low, json!({"reasoning_effort": "low"})),
        (json!({}), Max, json!({"reasoning_effort": "xhigh"})),
        (json!({}), Off, json!({})),
        (json!({"supportsReasoningEffort": false}), High, json!({})),
        (
            json!({"reasoningEffortMap": {"high": "default"}}),
            High,
            json!({"reasoning_effort": "default"}),
        ),
        (
            json!({"thinkingFormat": "openrouter"}),
            High,
            json!({"reasoning": {"effort": "high"}}),
        ),
        (
            json!({"thinkingFormat": "openrouter"}),
            Off,
            json!({"reasoning": {"effort": "none"}}),
        ),
        (
            json!({"thinkingFormat": "zai"}),
            Low,
            json!({"thinking": {"type": "enabled"}, "enable_thinking": true}),
        ),
        (
            json!({"thinkingFormat": "zai"}),
            Off,
            json!({"thinking": {"type": "disabled"}, "enable_thinking": false}),
        ),
        (
            json!({"thinkingFormat": "deepseek"}),
            Max,
            json!({"thinking": {"type": "enabled"}, "reasoning_effort": "xhigh"}),
        ),
        (
            json!({"thinkingFormat": "deepseek", "thinkingLevelMap": {"off": "none"}}),
            Off,
            json!({"thinking": {"type": "disabled"}}),
        ),
        (
            json!({"thinkingFormat": "qwen"}),
            Low,
            json!({"enable_thinking": true}),
        ),
        (
            json!({"thinkingFormat": "qwen-chat-template"}),
            Off,
            json!({"chat_template_kwargs": {"enable_thinking": false}}),
        ),
    ] {
        assert_eq!(said(compat.clone(), level), expected, "{compat} {level:?}");
    }
    let mut ask = request(vec![user("hi")]);
    ask.thinking = High;
    assert!(
        written(&plain_model(), &ask)
            .get("reasoning_effort")
            .is_none()
    );
}

#[test]
fn a_conversation_with_calls_and_results() {
    let got = messages(
        &plain_model(),
        vec![
            user("go"),
            own(vec![
                text("ok"),
                call("a b", "read"),
                text("and"),
                call("b", "my tool"),
            ]),
            result("a b", "one", false),
            result("b", "", true),
            user("steered"),
            own(vec![text("  ")]),
            own(vec![call("b", "read")]),
        ],
    );
    let called = |id: &str, name: &str| {
        json!({"type": "function", "id": id,
            "function": {"name": name, "arguments": "{\"path\":\"x\"}"}})
    };
    assert_eq!(
        got.as_array().unwrap()[1..],
        [
            json!({"role": "user", "content": "go"}),
            json!({"role": "assistant", "content": "ok\n\nand",
                "tool_calls": [called("a b", "read"), called("b", "my_tool")]}),
            json!({"role": "tool", "tool_call_id": "a b", "content": "one"}),
            json!({"role": "tool", "tool_call_id": "b", "content": "(no output)"}),
            json!({"role": "user", "content": "steered"}),
            json!({"role": "assistant", "content": null, "tool_calls": [called("b_2", "read")]}),
            json!({"role": "tool", "tool_call_id": "b_2",
                "content": "No result: the tool call was interrupted."}),
        ]
    );
}

#[test]
fn ids_are_the_models_own_or_made_to_fit() {
    let id = |model: &Model, message: AgentMessage| {
        messages(model, vec![user("go"), message])[2]["tool_calls"][0]["id"].clone()
    };
    let long = format!("toolu|{}", "x".repeat(80));
    let foreign = || answer(StopReason::ToolUse, vec![call(&long, "read")]);
    assert_eq!(id(&plain_model(), own(vec![call(&long, "read")])), long);
    let fitted = format!("toolu_{}", "x".repeat(58));
    assert_eq!(id(&plain_model(), foreign()), fitted);
    let openai = chat("https://api.openai.com/v1", &json!({}));
    assert_eq!(id(&openai, foreign()), fitted[..36]);
    let mistral = chat("http://host", &json!({"requiresMistralToolIds": true}));
    assert_eq!(id(&mistral, foreign()), "call00001");
}

#[test]
fn thinking_goes_back_in_its_field_to_the_model_that_thought_and_as_text_to_others() {
    let thoughts = || {
        vec![
            thinking_block("one", Some("reasoning_content")),
            thinking_block("two", Some("reasoning_content")),
            text("answer"),
        ]
    };
    let model = plain_model();
    assert_eq!(
        messages(&model, vec![user("go"), own(thoughts())])[2],
        json!({"role": "assistant", "content": "answer", "reasoning_content": "one\ntwo"})
    );
    let as_text = json!({"role": "assistant", "content": "one\n\ntwo\n\nanswer"});
    let foreign = answer(StopReason::Stop, thoughts());
    assert_eq!(messages(&model, vec![user("go"), foreign])[2], as_text);
    let only_text = chat("http://host", &json!({"requiresThinkingAsText": true}));
    assert_eq!(
        messages(&only_text, vec![user("go"), own(thoughts())])[2],
        as_text
    );
    // A signature of another kind, or what cannot be read, is nothing to send.
    let signed = thinking_block("hm", Some("c2lnbmF0dXJl"));
    assert_eq!(
        messages(&model, vec![user("go"), own(vec![signed])])[2],
        json!({"role": "assistant", "content": "hm"})
    );
    let redacted = json!({"type": "thinking", "thinking": "[hidden]", "thinkingSignature": "x",
        "redacted": true});
    let redacted = own(vec![serde_json::from_value(redacted).unwrap()]);
    let got = messages(
        &model,
        vec![user("go"), redacted, own(thoughts()[..1].to_vec())],
    );
    assert_eq!(got.as_array().unwrap().len(), 2);
}

#[test]
fn images_are_data_urls_and_those_of_results_follow_them() {
    let image = json!({"type": "image", "data": "AA==", "mimeType": "image/png"});
    let words = |text: &str| json!({"type": "text", "text": text});
    let shown = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}});
    let list = || {
        vec![
            from::<UserMessage>(json!({"role": "user", "timestamp": 1,
                "content": [words("see"), image.clone()]})),
            own(vec![call("a", "read"), call("b", "read")]),
            image_result("a", &json!([words("Read it."), image.clone()])),
            image_result("b", &json!([image.clone()])),
        ]
    };
    let got = messages(&plain_model(), list());
    assert_eq!(got[1]["content"], json!([words("see"), shown]));
    assert_eq!(
        got.as_array().unwrap()[3..],
        [
            json!({"role": "tool", "tool_call_id": "a", "content": "Read it."}),
            json!({"role": "tool", "tool_call_id": "b", "content": "(The images follow.)"}),
            json!({"role": "user", "content": [
                words("The images that the tools returned:"), shown.clone(), shown]}),
        ]
    );
    let mut blind = plain_model();
    blind.images = false;
    let got = messages(&blind, list());
    assert!(!got.to_string().contains("AA=="));
    assert_eq!(got[4]["content"], NO_IMAGES);
}

#[test]
fn servers_may_want_names_on_results_and_an_answer_after_them() {
    let model = chat(
        "http://host",
        &json!({"requiresToolResultName": true, "requiresAssistantAfterToolResult": true}),
    );
    let list = vec![
        user("go"),
        own(vec![call("a", "read")]),
        result("a", "one", false),
        user("on"),
    ];
    let got = messages(&model, list);
    assert_eq!(got[3]["name"], "read");
    assert_eq!(got[4]["role"], "assistant");
    assert_eq!(got[5], json!({"role": "user", "content": "on"}));
}

/// Two calls of a stored answer with one id, each with its result.
#[test]
fn calls_that_share_an_id_get_one_each_and_their_results_in_order() {
    let list = messages(
        &plain_model(),
        vec![
            answer(
                StopReason::ToolUse,
                vec![call("c", "read"), call("c", "read")],
            ),
            result("c", "one", false),
            result("c", "two", false),
        ],
    );
    let list = list.as_array().unwrap();
    let at = list
        .iter()
        .position(|message| message["role"] == "assistant");
    let list = &list[at.unwrap()..];
    let ids = [0, 1].map(|at| list[0]["tool_calls"][at]["id"].clone());
    assert_eq!(ids, ["c", "c_2"]);
    let results = [1, 2].map(|at| (&list[at]["tool_call_id"], &list[at]["content"]));
    assert_eq!(
        results,
        [(&json!("c"), &json!("one")), (&json!("c_2"), &json!("two"))]
    );
}
