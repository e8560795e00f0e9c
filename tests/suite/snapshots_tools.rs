//! Whole streams of the search tools, of images and of attached files.

use serde_json::json;

use crate::harness::World;
use crate::redact::Shot;
use crate::script::{text, tool};

/// One red pixel.
pub(crate) const PNG: &[u8] = &[
    0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', 0, 0, 0, 13, b'I', b'H', b'D', b'R', 0, 0,
    0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0, 0x90, 0x77, 0x53, 0xde, 0, 0, 0, 12, b'I', b'D', b'A', b'T',
    0x08, 0xd7, 0x63, 0xf8, 0xcf, 0xc0, 0, 0, 3, 1, 1, 0, 0x18, 0xdd, 0x8d, 0xb0, 0, 0, 0, 0, b'I',
    b'E', b'N', b'D', 0xae, 0x42, 0x60, 0x82,
];

fn world() -> World {
    let world = World::new();
    world
        .file("src/app.py", "def greet():\n    return 'hello'\n")
        .file("notes.txt", "alpha\nhello beta\n")
        .file(".gitignore", "build/\n")
        .file("build/out.txt", "hello from a build\n")
        .file("red.txt", PNG);
    world
}

#[test]
fn search_tools() {
    let world = world();
    // One call an answer, for calls side by side may end in any order.
    let steps = json!([
        tool(
            "grep",
            "call_1",
            &json!({ "pattern": "hello", "context": 1 })
        ),
        tool("find", "call_2", &json!({ "pattern": "*.txt" })),
        tool("ls", "call_3", &json!({})),
        tool("grep", "call_4", &json!({ "pattern": "(" })),
        tool("ls", "call_5", &json!({ "path": "nowhere" })),
        text("Found."),
    ]);
    let run = world.offline(&steps).arg("Look").run();
    let results = run.stream().results().join("\n");
    assert!(
        !results.contains("build/out.txt"),
        "ignored files stay out: {results}"
    );
    Shot::new(&world, &run)
        .without_usage()
        .assert("search_tools");
}

#[test]
fn an_image_by_its_content() {
    let world = world();
    let read = tool("read", "call_1", &json!({ "path": "red.txt" }));
    let run = world
        .offline(&json!([read, text("Red.")]))
        .arg("What colour?")
        .run();
    Shot::new(&world, &run)
        .without_usage()
        .assert("read_an_image");
}

#[test]
fn attached_files() {
    let world = world();
    let run = world
        .offline(&json!([text("Seen.")]))
        .args(["@notes.txt", "@red.txt", "What is this?"])
        .run();
    Shot::new(&world, &run)
        .without_usage()
        .assert("attached_files");
}
