//! Texts that readers stumble over, and arguments of tools with odd keys.

use serde_json::{Map, Value};

use super::random::Random;

/// Short texts, dealt one by one: every sample holds them all.
pub(super) const TEXTS: &[&str] = &[
    "It is called quipu.",
    "",
    " ",
    "One line.\nAnother.\r\nA third,\ttabbed.",
    "\"Quoted\", back\\slashed, /slashed/ and {\"type\":\"text_delta\"} quoted again.",
    "Between here\u{2028}and here\u{2029}some readers see new lines; U+0085\u{85}too.",
    "\u{1F469}\u{200D}\u{1F4BB} \u{1F1F5}\u{1F1EA} \u{1F44D}\u{1F3FD} \u{2764}\u{FE0F}",
    "שלום עולם, \u{202B}مرحبا\u{202C} and back \u{200F}again.",
    "e\u{301}\u{323} and é, Å and A\u{30A}, ﬁ and fi.",
    "統一碼 かな 한국어 ไทย हिन्दी",
    "\u{0}\u{1}\u{8}\u{c}\u{1b}[31mred\u{1b}[0m\u{7f}",
    "\u{FEFF}A mark at the begin, \u{FFFD} a replacement, \u{FFFE} and \u{10FFFF} no characters.",
    "```json\n{\"a\": [1, 2.50, -0, 1e5, null]}\n```\n<script>alert(1)</script> &amp; <!-- -->",
    "null",
    "\\u0041 \\n \\\\ %s {} $HOME `id`",
];

/// Words for long texts.
const WORDS: &[&str] = &[
    "cord ",
    "knot ",
    "thread ",
    "pendant ",
    "twist ",
    "colour ",
    "count ",
    "tally ",
    "reading\n",
    "wool ",
    "cotton ",
    "hand ",
    "over ",
    "under ",
    "and ",
    "the ",
    "a ",
    "of ",
    "naïve ",
    "– ",
];

/// A text of about so many bytes.
pub(super) fn long(random: &mut Random, bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 16);
    while text.len() < bytes {
        text.push_str(WORDS[random.index(WORDS.len())]);
    }
    text
}

/// Cuts a text into pieces of up to `most` characters, now and then with an empty one.
pub(super) fn pieces(random: &mut Random, text: &str, most: u64) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let length = usize::try_from(random.below(most)).unwrap_or_default() + 1;
        // Long texts are cut by bytes, which is faster; the difference shows nowhere.
        let end = rest.len().min(length);
        let (piece, after) = rest.split_at(rest.ceil_char_boundary(end));
        pieces.push(piece.to_owned());
        if random.once_in(40) {
            pieces.push(String::new());
        }
        rest = after;
    }
    pieces
}

/// Arguments of a call as JSON text: `command`, and fields that look like others, nest, or have
/// keys that are no identifiers.
pub(super) fn arguments(random: &mut Random, command: &str, text: &str) -> String {
    let mut fields = Map::new();
    fields.insert("command".into(), command.into());
    let odd: [(&str, Value); 10] = [
        ("", "an empty key".into()),
        ("a/b~c \"d\" \\", text.into()),
        ("type", "toolcall_end".into()),
        ("__proto__", Value::Object(Map::new())),
        ("ключ \u{1F511}\u{2028}", Value::Null),
        ("0", 9_007_199_254_740_991_u64.into()),
        ("-1", (-42).into()),
        (
            "fractions",
            Value::Array(vec![0.5.into(), (-1.25).into(), 1e21.into()]),
        ),
        ("nested", nested(random.below(4))),
        (
            "contentIndex",
            Value::Array(vec![true.into(), false.into(), Value::Array(Vec::new())]),
        ),
    ];
    for (key, value) in odd {
        if random.below(3) > 0 {
            fields.insert(key.into(), value);
        }
    }
    let value = Value::Object(fields);
    // A map of plain values cannot fail to serialise.
    let spaced = random
        .once_in(2)
        .then(|| serde_json::to_string_pretty(&value));
    spaced
        .and_then(Result::ok)
        .unwrap_or_else(|| value.to_string())
}

fn nested(depth: u64) -> Value {
    let mut inner = Map::new();
    inner.insert("depth".into(), depth.into());
    if depth > 0 {
        inner.insert(
            "deeper".into(),
            Value::Array(vec![nested(depth - 1), "x".into()]),
        );
    }
    Value::Object(inner)
}

/// An image of one pixel: base64 and media type.
pub(super) const IMAGES: &[(&str, &str)] = &[
    (
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
        "image/png",
    ),
    (
        "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7",
        "image/gif",
    ),
];
