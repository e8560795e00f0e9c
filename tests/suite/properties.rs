//! Any script gives a sound stream.
//!
//! Commands and paths come from fixed lists: whatever the generator thinks of, it runs for real.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::test_runner::{Config, FileFailurePersistence};
use serde_json::{Map, Value, json};

use crate::harness::World;

fn words() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ a-z]{0,30}",
        "\\PC{0,20}",
        vec(prop::sample::select(PIECES.to_vec()), 0..8).prop_map(|pieces| pieces.concat()),
    ]
}

const PIECES: [&str; 14] = [
    "\u{2028}",
    "\u{2029}",
    "\u{0}",
    "\u{1b}[31m",
    "\r\n",
    "\n",
    "\t",
    "\"",
    "\\",
    "😀",
    "e\u{301}",
    "\u{feff}",
    "\u{7f}",
    "</script>",
];

/// Raw text of a string in JSON, with escapes of its own, lone surrogates included.
fn raw_string() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a",
        "\\n",
        "\\u00e9",
        "\\ud83d\\ude00",
        "\\ud83d",
        "\\ude00",
        "\\ud83d\\ud83d",
        "é",
        "😀",
        "\\/",
        "\\\\",
        "\\\"",
        "\u{2028}",
    ]);
    vec(piece, 0..10).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>()
            .prop_filter("finite", |n| n.is_finite())
            .prop_map(Value::from),
        words().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((words(), inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

fn path() -> impl Strategy<Value = Value> {
    let path = prop::sample::select(vec![
        "notes.txt",
        "new.txt",
        "sub/new.txt",
        "nowhere",
        ".",
        "",
        "a\nb",
        "ü.txt",
        "notes.txt/x",
    ]);
    path.prop_map(Value::from)
}

fn command() -> impl Strategy<Value = Value> {
    let command = prop::sample::select(vec![
        "echo hello",
        "echo oops >&2; false",
        "exit 300",
        "printf 'a\\0b\\r\\377\\033[1mc'",
        "",
        "seq 1 3000",
        "kill -TERM $$",
        "cat notes.txt",
        "true",
        "no-such-command",
        "if",
    ]);
    command.prop_map(Value::from)
}

fn good_args() -> impl Strategy<Value = (&'static str, Value)> {
    let edits = vec((words(), words()), 0..3).prop_map(|edits| {
        edits
            .into_iter()
            .map(|(old, new)| json!({ "oldText": old, "newText": new }))
            .collect::<Value>()
    });
    prop_oneof![
        path().prop_map(|path| ("read", json!({ "path": path }))),
        (path(), 0..9_i64, -1..9_i64).prop_map(|(path, offset, limit)| (
            "read",
            json!({ "path": path, "offset": offset, "limit": limit })
        )),
        command().prop_map(|command| ("bash", json!({ "command": command }))),
        (path(), words())
            .prop_map(|(path, content)| ("write", json!({ "path": path, "content": content }))),
        (path(), edits).prop_map(|(path, edits)| ("edit", json!({ "path": path, "edits": edits }))),
    ]
}

/// A call that is mostly in order, and if not, wrong in name, arguments or id.
fn call() -> impl Strategy<Value = Value> {
    let name = option::weighted(
        0.3,
        prop::sample::select(vec![
            "Read",
            "mcp__gw__bash",
            "mcp_1_Edit",
            "nope",
            "",
            "日本",
            "WRITE_",
        ]),
    );
    let raw = prop_oneof![
        3 => Just(None),
        1 => words().prop_map(Some),
        1 => raw_string().prop_map(|text| Some(format!("{{\"path\":{text}}}"))),
        1 => any_json().prop_map(|value| Some(value.to_string())),
    ];
    let cut = option::weighted(0.2, any::<prop::sample::Index>());
    let id = option::weighted(
        0.5,
        prop::sample::select(vec!["", "same", "call_1", "a b", "ü"]),
    );
    (good_args(), name, raw, cut, id).prop_map(|((tool, args), name, raw, cut, id)| {
        let mut block = json!({ "tool": name.unwrap_or(tool) });
        // Arguments that nobody wrote for a command or a file must not reach one.
        let raw = raw
            .filter(|_| tool == "read")
            .unwrap_or_else(|| args.to_string());
        let end = cut.map_or(raw.len(), |cut| {
            raw.floor_char_boundary(cut.index(raw.len() + 1))
        });
        block["args_text"] = raw[..end].into();
        if let Some(id) = id {
            block["id"] = id.into();
        }
        block
    })
}

fn block() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => (words(), 1..4_u8, 1..20_u8)
            .prop_map(|(text, repeat, chunk)| json!({ "text": text, "repeat": repeat, "chunk": chunk })),
        2 => words().prop_map(|text| json!({ "thinking": text })),
        1 => Just(json!({ "redacted": "b3BhcXVl" })),
        3 => call(),
    ]
}

pub(crate) fn step() -> impl Strategy<Value = Value> {
    let stop = prop::sample::select(vec![
        "end_turn",
        "tool_use",
        "max_tokens",
        "refusal",
        "stop_sequence",
    ]);
    let usage = [0..2000_u32, 0..2000_u32, 0..2000_u32, 0..2000_u32].prop_map(|[a, b, c, d]| {
        json!({ "input": a, "output": b + 1, "cache_read": c, "cache_write": d, "reasoning": 1 })
    });
    let after = 0..12_u8;
    let names = prop::sample::select(vec![
        "overloaded",
        "rate_limit",
        "overflow",
        "auth",
        "server",
    ]);
    let trouble = prop_oneof![
        6 => Just(json!({})),
        1 => names.clone().prop_map(|name| json!({ "stream_error": name })),
        1 => (after.clone(), any::<bool>()).prop_map(|(n, clean)| json!({ "abort_after": n, "clean": clean })),
        1 => (after.clone()).prop_map(|n| json!({ "abort_after": n, "reset": true })),
        1 => after.prop_map(|n| json!({ "garbage": "data: {oops\n\n", "garbage_after": n })),
    ];
    let answer = (
        vec(block(), 0..5),
        option::of(stop),
        option::of(usage),
        1..16_u8,
        trouble,
    );
    let answer = answer.prop_map(|(blocks, stop, usage, chunk, trouble)| {
        let mut made = json!({ "blocks": blocks, "chunk": chunk });
        let fields = made.as_object_mut().unwrap();
        fields.extend(stop.map(|stop| ("stop".into(), stop.into())));
        fields.extend(usage.map(|usage| ("usage".into(), usage)));
        fields.extend(trouble.as_object().unwrap().clone());
        made
    });
    prop_oneof![
        8 => answer,
        1 => names.prop_map(|name| json!({ "error": name })),
        1 => Just(json!({ "garbage": "<html>no stream</html>" })),
    ]
}

proptest! {
    #![proptest_config(Config {
        cases: 48,
        max_shrink_iters: 200,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct("tests/suite/properties.regressions"))),
        ..Config::default()
    })]

    #[test]
    fn any_script_gives_a_sound_stream(
        steps in vec(step(), 0..5),
        prompts in vec("[a-z ]{0,20}[a-z]|\\PC{0,10}[!-~]", 1..4),
    ) {
        let world = World::new();
        world.file("notes.txt", "one\ntwo\nthree\n");
        let mut quipu = world.offline(&json!(steps)).arg("--");
        for prompt in &prompts {
            quipu = quipu.arg(prompt);
        }
        let run = quipu.run();
        let stream = run.stream();
        prop_assert!(matches!((stream.outcome(), run.code()), ("completed", 0) | ("failed", 1)));
        prop_assert_eq!(stream.messages("user").len(), prompts.len());
    }
}
