use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;
use crate::event::{StopReason, ThinkingLevel, ToolResultMessage, UserMessage};
use crate::model::tests::{answer, call, from, model, request, result, text, user};

fn gemini(id: &str) -> Model {
    Model {
        id: id.to_owned(),
        api: "google-generative-ai".into(),
        ..model("http://host/v1beta")
    }
}

fn written(model: &Model, request: &ModelRequest) -> Value {
    serde_json::to_value(body(model, request)).unwrap()
}

fn contents(model: &Model, list: Vec<AgentMessage>) -> Value {
    written(model, &request(list))["contents"].clone()
}

/// An answer of the model that is asked.
fn own(model: &Model, content: Vec<AssistantContent>) -> AgentMessage {
    let AgentMessage::Assistant(mut message) = answer(StopReason::Stop, content) else {
        unreachable!()
    };
    model.api.as_str().clone_into(&mut message.api);
    message.model.clone_from(&model.id);
    message.into()
}

fn block(block: Value) -> AssistantContent {
    serde_json::from_value(block).unwrap()
}

fn signed() -> Vec<AssistantContent> {
    vec![
        block(json!({"type": "thinking", "thinking": "hm", "thinkingSignature": "b25l"})),
        block(json!({"type": "thinking", "thinking": "", "thinkingSignature": "dHdv"})),
        block(json!({"type": "text", "text": "ok", "textSignature": "dGhyZWU="})),
        block(
            json!({"type": "toolCall", "id": "a|1", "name": "read", "arguments": {"path": "x"},
            "thoughtSignature": "Zm91cg=="}),
        ),
        call("b", "ls"),
        text(" "),
    ]
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
    ask.thinking = ThinkingLevel::Low;
    let mut model = gemini("gemini-2.5-flash");
    model.reasoning = true;
    assert_eq!(
        serde_json::to_string(&body(&model, &ask)).unwrap(),
        concat!(
            r#"{"systemInstruction":{"parts":[{"text":"Be brief."}]},"#,
            r#""contents":[{"role":"user","parts":[{"text":"hi"}]}],"#,
            r#""tools":[{"functionDeclarations":[{"name":"read","description":"Reads.","#,
            r#""parametersJsonSchema":{"type":"object"}}]}],"#,
            r#""generationConfig":{"maxOutputTokens":8192,"#,
            r#""thinkingConfig":{"includeThoughts":true,"thinkingBudget":2048}}}"#
        )
    );
    let mut bare = request(vec![user("hi")]);
    bare.system_prompt.clear();
    model.reasoning = false;
    model.max_tokens = None;
    assert_eq!(
        written(&model, &bare),
        json!({"contents": [{"role": "user", "parts": [{"text": "hi"}]}], "generationConfig": {}})
    );
}

#[test]
fn signatures_go_back_to_the_model_that_gave_them() {
    for (id, ids, foreign) in [
        ("gemini-2.5-pro", false, None),
        ("gemini-3-pro", true, Some(FOREIGN_CALL)),
    ] {
        let model = gemini(id);
        let function = |id: &str, name: &str| {
            let mut call = json!({"name": name, "args": {"path": "x"}});
            if ids {
                call["id"] = id.into();
            }
            call
        };
        assert_eq!(
            contents(&model, vec![user("go"), own(&model, signed())])[1],
            json!({"role": "model", "parts": [
                {"thought": true, "text": "hm", "thoughtSignature": "b25l"},
                {"thought": true, "text": "", "thoughtSignature": "dHdv"},
                {"text": "ok", "thoughtSignature": "dGhyZWU="},
                {"functionCall": function("a|1", "read"), "thoughtSignature": "Zm91cg=="},
                {"functionCall": function("b", "ls")},
            ]})
        );
        // Of another model or API: thoughts are text, and the first call is marked as foreign.
        let mut first = json!({"functionCall": function("a_1", "read")});
        if let Some(foreign) = foreign {
            first["thoughtSignature"] = foreign.into();
        }
        let others = json!({"role": "model", "parts": [
            {"text": "hm"}, {"text": "ok"}, first, {"functionCall": function("b", "ls")}]});
        let of_api = answer(StopReason::Stop, signed());
        let of_model = own(&gemini("gemini-3-other"), signed());
        for answer in [of_api, of_model] {
            assert_eq!(contents(&model, vec![user("go"), answer])[1], others);
        }
    }
}

#[test]
fn results_follow_their_calls_and_orphans_are_answered() {
    let model = gemini("gemini-2.5-flash");
    let list = vec![
        user("go"),
        own(&model, vec![call("a", "read"), call("b", "ls")]),
        result("b", "broke", true),
        user("on"),
        answer(StopReason::Error, vec![text("half"), call("lost", "read")]),
        own(&model, vec![text("done")]),
    ];
    let called = |name: &str| json!({"functionCall": {"name": name, "args": {"path": "x"}}});
    assert_eq!(
        contents(&model, list),
        json!([
            {"role": "user", "parts": [{"text": "go"}]},
            {"role": "model", "parts": [called("read"), called("ls")]},
            {"role": "user", "parts": [
                {"functionResponse": {"name": "read", "response":
                    {"error": "No result: the tool call was interrupted."}}},
                {"functionResponse": {"name": "ls", "response": {"error": "broke"}}}]},
            {"role": "user", "parts": [{"text": "on"}]},
            {"role": "model", "parts": [{"text": "done"}]},
        ])
    );
}

#[test]
fn ids_pair_calls_with_results_where_the_service_has_them() {
    let model = gemini("gemini-3-flash");
    let turn = || {
        [
            own(&model, vec![call("a", "read")]),
            result("a", "x", false),
        ]
    };
    let list = [vec![user("go")], turn().into(), turn().into()].concat();
    let got = contents(&model, list);
    for (at, id) in [(1, "a"), (3, "a_2")] {
        assert_eq!(got[at]["parts"][0]["functionCall"]["id"], id);
        let response = &got[at + 1]["parts"][0]["functionResponse"];
        assert_eq!(
            *response,
            json!({"id": id, "name": "read", "response": {"output": "x"}})
        );
    }
}

#[test]
fn the_user_begins_and_answers_in_a_row_are_one() {
    let model = gemini("gemini-2.5-flash");
    let list = vec![
        own(&model, vec![text("a")]),
        own(&model, vec![text("b")]),
        own(&model, vec![text("")]),
    ];
    assert_eq!(
        contents(&model, list),
        json!([
            {"role": "user", "parts": [{"text": GOES_ON}]},
            {"role": "model", "parts": [{"text": "a"}, {"text": "b"}]},
        ])
    );
}

#[test]
fn images_are_shown_where_they_can_be_seen() {
    let image = json!({"type": "image", "data": "AA==", "mimeType": "image/png"});
    let inline = json!({"inlineData": {"mimeType": "image/png", "data": "AA=="}});
    let list = |model: &Model| {
        vec![
            from::<UserMessage>(json!({"role": "user", "content": [image], "timestamp": 1})),
            own(model, vec![call("a", "read")]),
            from::<ToolResultMessage>(json!({"role": "toolResult", "toolCallId": "a",
                "toolName": "read", "isError": false, "content": [image], "timestamp": 1})),
        ]
    };
    let old = gemini("gemini-2.5-flash");
    let got = contents(&old, list(&old));
    assert_eq!(got[0]["parts"], json!([inline]));
    let response = json!({"name": "read", "response": {"output": IMAGES_FOLLOW}});
    assert_eq!(got[2]["parts"], json!([{ "functionResponse": response }]));
    assert_eq!(got[3]["parts"], json!([{ "text": IMAGES }, inline]));

    let new = gemini("gemini-3-pro");
    let got = contents(&new, list(&new));
    assert_eq!(
        got[2]["parts"][0]["functionResponse"]["parts"],
        json!([inline])
    );
    assert_eq!(got.as_array().unwrap().len(), 3);

    let mut blind = gemini("gemini-3-pro");
    blind.images = false;
    let got = contents(&blind, list(&blind));
    assert_eq!(got[0]["parts"], json!([{ "text": NO_IMAGES }]));
    let response = &got[2]["parts"][0]["functionResponse"];
    assert_eq!(response["response"], json!({ "output": NO_IMAGES }));
}

/// Two calls of a stored answer with one id, each with its result.
#[test]
fn calls_that_share_an_id_get_one_each_and_their_results_in_order() {
    let list = contents(
        &gemini("gemini-3-pro"),
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
    let parts = |field: &str| -> Vec<Value> {
        let parts = list
            .iter()
            .filter_map(|content| content["parts"].as_array())
            .flatten();
        parts.filter_map(|part| part.get(field).cloned()).collect()
    };
    let ids: Vec<_> = parts("functionCall")
        .iter()
        .map(|call| call["id"].clone())
        .collect();
    assert_eq!(ids, ["c", "c_2"]);
    let results: Vec<_> = parts("functionResponse")
        .iter()
        .map(|result| (result["id"].clone(), result["response"]["output"].clone()))
        .collect();
    assert_eq!(
        results,
        [(json!("c"), json!("one")), (json!("c_2"), json!("two"))]
    );
}
