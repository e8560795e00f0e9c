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
    let mut cases = Cases {
        lines,
        made: Vec::new(),
    };
    cases.frames();
    cases.single_lines();
    if wire == Wire::Quipu {
        for (name, version) in [("another major version", "99.0.0"), ("no version", "new")] {
            let edit = set(1, "/stream/version", &json!(version));
            cases.add(name, edit, 1, "header/version");
        }
    }
    cases.made
}

struct Cases<'l> {
    lines: &'l [Value],
    made: Vec<Illegal>,
}

impl Cases<'_> {
    fn add(&mut self, name: &str, edit: Value, line: usize, rule: &str) {
        self.made.push(Illegal {
            name: format!("{BASE}: {name}"),
            base: BASE.into(),
            edit,
            line,
            rule: rule.into(),
        });
    }

    /// The first line of a type, from 1.
    fn at(&self, kind: &str) -> usize {
        let at = self.lines.iter().position(|line| line["type"] == kind);
        at.unwrap_or_else(|| panic!("no {kind}")) + 1
    }

    fn text(&self, line: usize) -> String {
        self.lines[line - 1].to_string()
    }

    /// Other bytes in the place of a line and its line feed.
    fn bytes(&mut self, name: &str, line: usize, bytes: &[u8], rule: &str) {
        let edit = json!({ "op": "bytes", "line": line, "base64": STANDARD.encode(bytes) });
        self.add(name, edit, line, rule);
    }

    fn frames(&mut self) {
        let (turn, last) = (self.at("turn_start"), self.lines.len());
        let (first, whole, end) = (self.text(1), self.text(turn), self.text(last));
        let cut = &whole[..whole.len() - 4];
        let cases = [
            (
                "a carriage return",
                turn,
                format!("{whole}\r\n"),
                "framing/carriage_return",
            ),
            (
                "a byte order mark",
                1,
                format!("\u{feff}{first}\n"),
                "framing/byte_order_mark",
            ),
            (
                "a blank line",
                turn,
                format!("\n{whole}\n"),
                "framing/blank",
            ),
            (
                "two values on a line",
                turn,
                format!("{whole}{whole}\n"),
                "framing/two_values",
            ),
            ("a line cut in two", turn, format!("{cut}\n"), "json/syntax"),
            ("no line feed at the end", last, end.clone(), "framing/cut"),
            (
                "cut in the last line",
                last,
                end[..end.len() / 2].to_owned(),
                "framing/cut",
            ),
        ];
        for (name, line, text, rule) in cases {
            self.bytes(name, line, text.as_bytes(), rule);
        }
        let prompt = self.at("message_start");
        let mut broken = self.text(prompt).into_bytes();
        let mut places = broken.windows(5);
        let place = places.position(|window| window == b"hello").unwrap();
        broken[place] = 0xff;
        broken.push(b'\n');
        self.bytes("bytes that are not UTF-8", prompt, &broken, "framing/utf8");
    }

    fn single_lines(&mut self) {
        let (turn, update) = (self.at("turn_start"), self.at("message_update"));
        let message = self.at("message_end");
        let index = "/assistantMessageEvent/contentIndex";
        let delta = "/assistantMessageEvent/type";
        let nope = json!("nope");
        let cases = [
            (
                "a string for a number",
                set(update, index, &json!("0")),
                update,
                "type",
            ),
            (
                "a number below 0",
                set(update, index, &json!(-1)),
                update,
                "minimum",
            ),
            (
                "an unknown delta",
                set(update, delta, &nope),
                update,
                "oneOf",
            ),
            (
                "an unknown value",
                set(message, "/message/role", &nope),
                message,
                "oneOf",
            ),
            (
                "an unknown type",
                replace(turn, &json!({ "type": "nope" })),
                turn,
                "oneOf",
            ),
            (
                "an unknown field",
                set(turn, "/note", &json!(1)),
                turn,
                "additionalProperties",
            ),
            ("a field less", unset(1, "/cwd"), 1, "required"),
            (
                "another session format",
                set(1, "/version", &json!(4)),
                1,
                "const",
            ),
        ];
        for (name, edit, line, keyword) in cases {
            self.add(name, edit, line, &format!("schema/{keyword}"));
        }
    }
}
