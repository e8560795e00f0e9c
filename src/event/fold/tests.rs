use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::{Disagreement, FoldError, MessageFold};
use crate::event::sample::answer;
use crate::event::{AgentMessage, AssistantMessageEvent};

fn fold(deltas: &[Value]) -> Result<MessageFold, FoldError> {
    let mut fold = MessageFold::default();
    for delta in deltas {
        let delta: AssistantMessageEvent = serde_json::from_value(delta.clone()).unwrap();
        fold.apply(&delta)?;
    }
    Ok(fold)
}

/// What the deltas of one block say against a message with these blocks.
fn verdict(deltas: &[Value], content: &Value) -> Result<(), Disagreement> {
    let message = serde_json::from_value(answer(content, "stop")).unwrap();
    let AgentMessage::Assistant(message) = message else {
        panic!("{message:?}")
    };
    fold(deltas).unwrap().agrees_with(&message)
}

fn differs(what: &'static str) -> Result<(), Disagreement> {
    Err(Disagreement::Block { index: 0, what })
}

fn call(id: &str, name: &str, arguments: &Value) -> Value {
    json!({"type": "toolCall", "id": id, "name": name, "arguments": arguments})
}

fn call_start() -> Value {
    json!({"type": "toolcall_start", "contentIndex": 0, "id": "i", "toolName": "n"})
}

fn call_end(call: &Value) -> Value {
    json!({"type": "toolcall_end", "contentIndex": 0, "toolCall": call})
}

fn piece(text: &str) -> Value {
    json!({"type": "toolcall_delta", "contentIndex": 0, "delta": text})
}

#[test]
fn a_message_is_held_to_its_deltas() {
    let text = [
        json!({"type": "text_start", "contentIndex": 0}),
        json!({"type": "text_delta", "contentIndex": 0, "delta": "a"}),
    ];
    let says = |text: &str| json!([{"type": "text", "text": text, "textSignature": "s"}]);
    assert_eq!(verdict(&text, &says("a")), Ok(()));
    assert_eq!(verdict(&text, &says("b")), differs("text"));
    let thinks = json!([{"type": "thinking", "thinking": "a"}]);
    assert_eq!(verdict(&text, &thinks), differs("kind"));
    let count = Disagreement::Count {
        deltas: 1,
        message: 0,
    };
    assert_eq!(verdict(&text, &json!([])), Err(count));

    let calls = [call_start(), piece("{\"a\":[1,")];
    let arguments = json!({"a": [1]});
    assert_eq!(
        verdict(&calls, &json!([call("i", "n", &arguments)])),
        Ok(())
    );
    assert_eq!(
        verdict(&calls, &json!([call("x", "n", &arguments)])),
        differs("id")
    );
    assert_eq!(
        verdict(&calls, &json!([call("i", "x", &arguments)])),
        differs("name")
    );
    assert_eq!(
        verdict(&calls, &json!([call("i", "n", &json!({}))])),
        differs("arguments")
    );
}

#[test]
fn only_a_redacted_block_has_a_text_that_no_piece_had() {
    let start = json!({"type": "thinking_start", "contentIndex": 0});
    let end = json!({"type": "thinking_end", "contentIndex": 0, "content": "[withheld]"});
    let redacted = json!([{"type": "thinking", "thinking": "[withheld]", "redacted": true}]);
    let open = json!([{"type": "thinking", "thinking": "[withheld]"}]);
    assert_eq!(verdict(&[start.clone(), end.clone()], &redacted), Ok(()));
    assert_eq!(
        verdict(&[start.clone(), end.clone()], &open),
        differs("redaction")
    );
    let piece = json!({"type": "thinking_delta", "contentIndex": 0, "delta": "hm"});
    let what = "text";
    assert_eq!(
        fold(&[start, piece, end]),
        Err(FoldError::End { index: 0, what })
    );
}

#[test]
fn the_end_of_a_call_is_held_to_its_start_and_pieces() {
    let whole = call("i", "n", &json!({"a": 1}));
    let mut cut = call("i", "n", &json!({}));
    cut["incomplete"] = json!(true);
    let end = |what| Err(FoldError::End { index: 0, what });
    let told = |pieces: &[Value], call: &Value| {
        let deltas = [&[call_start()], pieces, &[call_end(call)]].concat();
        fold(&deltas).map(|_| ())
    };
    assert_eq!(told(&[piece("{\"a\":"), piece("1}")], &whole), Ok(()));
    assert_eq!(told(&[piece("{\"a\":1")], &cut), Ok(()));
    assert_eq!(
        told(&[], &whole),
        Ok(()),
        "some services send the arguments as a whole"
    );
    assert_eq!(told(&[piece("{\"a\":2}")], &whole), end("arguments"));
    assert_eq!(told(&[piece("{}")], &cut), end("arguments"));
    assert_eq!(told(&[], &call("x", "n", &json!({}))), end("id"));
    assert_eq!(told(&[], &call("i", "x", &json!({}))), end("name"));
}
