//! Illegal streams that are not about order: their frame, their JSON, single lines, the header.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use quipu::contract::Wire;
use serde_json::{Value, json};

use crate::edits::{replace, set, unset};
use crate::streams::Illegal;

const BASE: &str = "prompts";

/// What comes before the `/` of a rule that the grammar has nothing to do with.
pub(crate) const GROUPS: [&str; 4] = ["framing/", "json/", "schema/", "header/"];

/// The cases of a wire, of its stream [`BASE`].
pub(crate) fn illegal(wire: Wire, lines: &[Value]) -> Vec<Illegal> {
    let mut cases = Vec::new();
    let mut case = |name: &str, edit: Value, line: usize, rule: &str| {
        cases.push(Illegal {
            name: format!("{BASE}: {name}"),
            base: BASE.into(),
            edit,
            line,
            rule: rule.into(),
        });
    };
    let at = |kind: &str| {
        let at = lines.iter().position(|line| line["type"] == kind);
        at.unwrap_or_else(|| panic!("no {kind}")) + 1
    };
    let text = |line: usize| lines[line - 1].to_string();
    let bytes = |line: usize, bytes: &[u8]| json!({ "op": "bytes", "line": line, "base64": STANDARD.encode(bytes) });
    let turn = at("turn_start");
    let whole = text(turn);
    case(
        "a carriage return",
        bytes(turn, format!("{whole}\r\n").as_bytes()),
        turn,
        "framing/carriage_return",
    );
    case(
        "a byte order mark",
        bytes(1, format!("\u{feff}{}\n", text(1)).as_bytes()),
        1,
        "framing/byte_order_mark",
    );
    case(
        "a blank line",
        bytes(turn, format!("\n{whole}\n").as_bytes()),
        turn,
        "framing/blank",
    );
    case(
        "two values on a line",
        bytes(turn, format!("{whole}{whole}\n").as_bytes()),
        turn,
        "framing/two_values",
    );
    case(
        "a line cut in two",
        bytes(turn, format!("{}\n", &whole[..whole.len() - 4]).as_bytes()),
        turn,
        "json/syntax",
    );
    let last = lines.len();
    case(
        "no line feed at the end",
        bytes(last, text(last).as_bytes()),
        last,
        "framing/cut",
    );
    let half = text(last);
    case(
        "cut in the last line",
        bytes(last, &half.as_bytes()[..half.len() / 2]),
        last,
        "framing/cut",
    );
    let prompt = at("message_start");
    let mut broken = text(prompt).into_bytes();
    let place = broken
        .windows(5)
        .position(|window| window == b"hello")
        .unwrap();
    broken[place] = 0xff;
    broken.push(b'\n');
    case(
        "bytes that are not UTF-8",
        bytes(prompt, &broken),
        prompt,
        "framing/utf8",
    );
    let update = at("message_update");
    case(
        "a string for a number",
        set(update, "/assistantMessageEvent/contentIndex", &json!("0")),
        update,
        "schema/type",
    );
    case(
        "a number below 0",
        set(update, "/assistantMessageEvent/contentIndex", &json!(-1)),
        update,
        "schema/minimum",
    );
    case(
        "an unknown delta",
        set(update, "/assistantMessageEvent/type", &json!("nope")),
        update,
        "schema/oneOf",
    );
    case(
        "an unknown value",
        set(at("message_end"), "/message/role", &json!("nope")),
        at("message_end"),
        "schema/oneOf",
    );
    case(
        "an unknown type",
        replace(turn, &json!({ "type": "nope" })),
        turn,
        "schema/oneOf",
    );
    case(
        "an unknown field",
        set(turn, "/note", &json!(1)),
        turn,
        "schema/additionalProperties",
    );
    case("a field less", unset(1, "/cwd"), 1, "schema/required");
    case(
        "another session format",
        set(1, "/version", &json!(4)),
        1,
        "schema/const",
    );
    if wire == Wire::Quipu {
        case(
            "another major version",
            set(1, "/stream/version", &json!("99.0.0")),
            1,
            "header/version",
        );
        case(
            "no version",
            set(1, "/stream/version", &json!("new")),
            1,
            "header/version",
        );
    }
    cases
}
