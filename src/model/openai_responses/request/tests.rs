use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;
use crate::event::{StopReason, ToolResultMessage, UserMessage};
use crate::model::tests::{answer, call, from, model, request, result, text, user};

fn responses(compat: &Value) -> Model {
    Model {
        api: "openai-responses".into(),
        compat: compat.as_object().unwrap().clone(),
        ..model("http://host/v1")
    }
}

fn written(model: &Model, request: &ModelRequest) -> Value {
    serde_json::to_value(body(model, request)).unwrap()
}

fn input(list: Vec<AgentMessage>) -> Value {
    written(&responses(&json!({})), &request(list))["input"].clone()
}

/// An answer of the model that is asked.
fn own(content: Vec<AssistantContent>) -> AgentMessage {
    let AgentMessage::Assistant(mut message) = answer(StopReason::Stop, content) else {
        unreachable!()
    };
    message.api = "openai-responses".to_owned();
    message.into()
}

fn said(text: &str, signature: &str) -> AssistantContent {
    TextContent {
        text: text.to_owned(),
        text_signature: Some(signature.to_owned()),
    }
    .into()
}

fn thought(text: &str, item: &Value) -> AssistantContent {
    let block =
        json!({"type": "thinking", "thinking": text, "thinkingSignature": item.to_string()});
    serde_json::from_value(block).unwrap()
}

fn encrypted() -> Value {
    json!({"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "AA=="})
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
    let model = responses(&json!({}));
    assert_eq!(
        serde_json::to_string(&body(&model, &ask)).unwrap(),
        concat!(
            r#"{"model":"mock-1","stream":true,"store":false,"max_output_tokens":8192,"#,
            r#""instructions":"Be brief.","tools":[{"type":"function","name":"read","#,
            r#""description":"Reads.","parameters":{"type":"object"},"strict":false}],"#,
            r#""input":[{"type":"message","role":"user","#,
            r#""content":[{"type":"input_text","text":"hi"}]}]}"#
        )
    );
    let mut bare = request(vec![user("hi")]);
    bare.system_prompt.clear();
    bare.max_tokens = Some(1);
    let written = written(&model, &bare);
    assert_eq!(written["max_output_tokens"], 16);
    assert!(written.get("instructions").is_none() && written.get("tools").is_none());
}

#[test]
fn a_thinking_model_is_told_how_much_and_asked_for_what_it_encrypts() {
    use ThinkingLevel::{High, Low, Max, Off};
    for (compat, level, expected) in [
        (json!({}), Low, json!({"effort": "low", "summary": "auto"})),
        (
            json!({}),
            Max,
            json!({"effort": "xhigh", "summary": "auto"}),
        ),
        (json!({}), Off, json!({"effort": "none"})),
        (json!({"thinkingLevelMap": {"off": null}}), Off, Value::Null),
        (
            json!({"reasoningEffortMap": {"off": "minimal"}}),
            Off,
            json!({"effort": "minimal"}),
        ),
        (json!({"supportsReasoningEffort": false}), High, Value::Null),
    ] {
        let mut model = responses(&compat);
        let mut ask = request(vec![user("hi")]);
        ask.thinking = level;
        let plain = written(&model, &ask);
        assert!(plain.get("reasoning").is_none() && plain.get("include").is_none());
        model.reasoning = true;
        let thinking = written(&model, &ask);
        let asked = thinking.get("reasoning").cloned().unwrap_or_default();
        assert_eq!(asked, expected, "{compat}");
        assert_eq!(thinking["include"], json!(["reasoning.encrypted_content"]));
    }
}

#[test]
fn the_models_own_items_go_back_as_they_were() {
    let phase = r#"{"v":1,"id":"msg_1","phase":"commentary"}"#;
    let mut item = encrypted();
    item["status"] = Value::Null;
    let messages = vec![
        user("go"),
        own(vec![
            thought("hm", &item),
            said("first", phase),
            call("call_a|fc_1", "read"),
            call("call_b", "ls"),
        ]),
        result("call_b", "two", true),
        result("call_a|fc_1", "one", false),
    ];
    let arguments = r#"{"path":"x"}"#;
    assert_eq!(
        input(messages),
        json!([
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]},
            encrypted(),
            {"type": "message", "role": "assistant", "id": "msg_1", "phase": "commentary",
                "status": "completed",
                "content": [{"type": "output_text", "text": "first", "annotations": []}]},
            {"type": "function_call", "id": "fc_1", "call_id": "call_a", "name": "read",
                "arguments": arguments},
            {"type": "function_call", "call_id": "call_b", "name": "ls", "arguments": arguments},
            {"type": "function_call_output", "call_id": "call_a", "output": "one"},
            {"type": "function_call_output", "call_id": "call_b", "output": "two"},
        ])
    );
}

#[test]
fn other_models_items_go_back_as_text_and_without_their_ids() {
    let signature = r#"{"v":1,"id":"msg_1"}"#;
    let content = || {
        vec![
            thought("hm", &encrypted()),
            said("first", signature),
            call("call a|fc_1", "read"),
        ]
    };
    let mut other_model = own(content());
    if let AgentMessage::Assistant(answer) = &mut other_model {
        answer.model = "mock-2".to_owned();
    }
    for foreign in [answer(StopReason::ToolUse, content()), other_model] {
        assert_eq!(
            input(vec![foreign]),
            json!([
                {"type": "message", "role": "assistant", "content": "hm"},
                {"type": "message", "role": "assistant", "content": "first"},
                {"type": "function_call", "call_id": "call_a", "name": "read",
                    "arguments": r#"{"path":"x"}"#},
                {"type": "function_call_output", "call_id": "call_a",
                    "output": crate::model::context::NO_RESULT},
            ])
        );
    }
}

#[test]
fn a_thought_that_the_service_does_not_know_takes_the_ids_of_its_answer_with_it() {
    let signature = r#"{"v":1,"id":"msg_1"}"#;
    for item in [
        json!({"id": "rs_1", "type": "reasoning", "summary": []}),
        json!({"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": ""}),
        json!("reasoning_content"),
    ] {
        let answer = own(vec![thought("", &item), said("first", signature)]);
        assert_eq!(
            input(vec![answer]),
            json!([{"type": "message", "role": "assistant", "content": "first"}]),
            "{item}"
        );
    }
    // A server that thinks in the open wants that back.
    let open = json!({"id": "rs_1", "type": "reasoning", "summary": [],
        "content": [{"type": "reasoning_text", "text": "hm"}]});
    let list = input(vec![own(vec![thought("hm", &open), said("x", signature)])]);
    assert_eq!((&list[0], &list[1]["id"]), (&open, &json!("msg_1")));
}

#[test]
fn a_thought_that_nothing_followed_is_left_out() {
    let list = input(vec![
        user("go"),
        own(vec![thought("hm", &encrypted()), text(" \n")]),
        user("on"),
    ]);
    let types: Vec<_> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|i| &i["type"])
        .collect();
    assert_eq!(types, ["message", "message"]);
}

#[test]
fn ids_fit_and_occur_once() {
    let long = "x".repeat(90);
    let list = input(vec![
        own(vec![call(&format!("{long}|fc_{long}"), "read")]),
        own(vec![call("call_a", "read")]),
        answer(StopReason::ToolUse, vec![call("call_a|fc_2", "odd name!")]),
    ]);
    let ids: Vec<_> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|i| &i["call_id"])
        .collect();
    let long = &long[..LONGEST_ID];
    assert_eq!(
        ids,
        [long, long, "call_a", "call_a", "call_a_2", "call_a_2"]
    );
    assert!(list[0].get("id").is_none());
    assert_eq!(list[4]["name"], "odd_name_");
}

#[test]
fn images_go_with_the_prompt_and_with_the_result() {
    let image = json!({"type": "image", "data": "AA==", "mimeType": "image/png"});
    let shown = from::<UserMessage>(json!({"role": "user", "timestamp": 1,
        "content": [{"type": "text", "text": "see"}, image]}));
    let results = |content: Value| {
        from::<ToolResultMessage>(json!({"role": "toolResult", "toolCallId": "a",
            "toolName": "read", "isError": false, "content": content, "timestamp": 1}))
    };
    let messages = |content| {
        vec![
            shown.clone(),
            own(vec![call("a", "read")]),
            results(content),
        ]
    };
    let url = json!({"type": "input_image", "detail": "auto",
        "image_url": "data:image/png;base64,AA=="});
    let list = input(messages(json!([{"type": "text", "text": "It:"}, image])));
    assert_eq!(
        list[0]["content"],
        json!([{"type": "input_text", "text": "see"}, url])
    );
    assert_eq!(
        list[2]["output"],
        json!([{"type": "input_text", "text": "It:"}, url])
    );
    assert_eq!(input(messages(json!([])))[2]["output"], NO_OUTPUT);

    let mut blind = responses(&json!({}));
    blind.images = false;
    let list = written(&blind, &request(messages(json!([image]))))["input"].clone();
    assert_eq!(list[0]["content"][1]["text"], NO_IMAGES);
    assert_eq!(list[2]["output"], NO_IMAGES);
}

/// Two calls of a stored answer with one id, each with its result.
#[test]
fn calls_that_share_an_id_get_one_each_and_their_results_in_order() {
    let list = input(vec![
        answer(
            StopReason::ToolUse,
            vec![call("c", "read"), call("c", "read")],
        ),
        result("c", "one", false),
        result("c", "two", false),
    ]);
    let list = list.as_array().unwrap();
    let of = |kind: &'static str| list.iter().filter(move |item| item["type"] == kind);
    let ids: Vec<_> = of("function_call").map(|item| &item["call_id"]).collect();
    assert_eq!(ids, ["c", "c_2"]);
    let results: Vec<_> = of("function_call_output")
        .map(|item| (&item["call_id"], &item["output"]))
        .collect();
    assert_eq!(
        results,
        [(&json!("c"), &json!("one")), (&json!("c_2"), &json!("two"))]
    );
}
