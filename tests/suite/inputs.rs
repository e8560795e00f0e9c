//! What goes to the model besides prompts: files, images, instruction files.

use std::process::Command;

use base64::Engine as _;
use serde_json::{Value, json};

use crate::anthropic::asked;
use crate::bad_input::refused;
use crate::harness::World;
use crate::script::text;

/// One pixel.
const GIF: &str = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";

fn gif() -> Vec<u8> {
    base64::engine::general_purpose::STANDARD
        .decode(GIF)
        .unwrap()
}

/// The contents of the prompts of a run with these arguments.
fn prompts(world: &World, arguments: &[&str], input: &str) -> Vec<Value> {
    let quipu = world.offline(&json!([text("One."), text("Two.")]));
    let quipu = quipu.args(arguments.iter().copied()).input(input);
    let stream = quipu.run().stream();
    assert_eq!(stream.outcome(), "completed");
    let users = stream.messages("user").into_iter();
    users.map(|message| message["content"].clone()).collect()
}

fn said(text: &str) -> Value {
    json!([{ "type": "text", "text": text }])
}

#[test]
fn input_files_and_the_first_prompt_are_one() {
    let world = World::new();
    world.file("a.txt", "one\n").file("b.txt", "");
    let element = |name: &str, content: &str| {
        let path = world.work().join(name);
        format!("<file name=\"{}\">{content}</file>\n", path.display())
    };
    let (a, b) = (
        element("a.txt", "\none\n\n"),
        element("b.txt", "\n[The file is empty.]\n"),
    );
    assert_eq!(
        prompts(&world, &["first", "@a.txt", "@./b.txt", "second"], "in\n"),
        [said(&format!("in\n\n{a}{b}first")), said("second")]
    );
    assert_eq!(prompts(&world, &["@a.txt"], ""), [said(&a)]);
    assert_eq!(
        prompts(&world, &["--", "@a.txt", "--name"], ""),
        [said("@a.txt"), said("--name")]
    );
}

#[test]
fn an_image_goes_with_the_first_prompt_only() {
    let world = World::new();
    world.file("dot.txt", gif());
    let [first, second] = &prompts(&world, &["look", "@dot.txt", "again"], "")[..] else {
        panic!("not two prompts")
    };
    assert_eq!(first[1]["type"], "image");
    assert_eq!(first[1]["mimeType"], "image/gif");
    assert_eq!(first[1]["data"], GIF);
    let name = world.work().join("dot.txt").display().to_string();
    assert!(
        first[0]["text"].as_str().unwrap().contains(&name),
        "{first}"
    );
    assert_eq!(second, &said("again"));

    let body = asked(&world, |quipu| quipu.args(["look", "@dot.txt"]));
    assert!(body["messages"].to_string().contains(GIF), "{body}");
    world.config("settings.json", r#"{ "images": { "blockImages": true } }"#);
    let body = asked(&world, |quipu| quipu.args(["look", "@dot.txt"]));
    assert!(!body.to_string().contains(GIF), "{body}");
}

#[test]
fn what_cannot_be_attached_is_a_usage_error() {
    let world = World::new();
    world.file("nul", b"a\0b");
    let made = Command::new("mkfifo")
        .arg(world.work().join("pipe"))
        .status();
    assert!(made.unwrap().success());
    for (file, word) in [
        ("missing", "no file"),
        (".", "directory"),
        ("pipe", "FIFO"),
        ("/dev/zero", "device"),
        ("nul", "NUL"),
        ("", "names no file"),
    ] {
        let argument = format!("@{file}");
        let quipu = world.offline(&json!([])).arg(&argument).arg("look");
        refused(quipu, 2, "usage", &[&argument, word]);
    }
}

#[test]
fn a_huge_file_is_cut() {
    let world = World::new();
    let file = std::fs::File::create(world.work().join("huge")).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, "x\n".repeat(200_000).as_bytes(), 0).unwrap();
    file.set_len(1 << 30).unwrap();
    let [prompt] = &prompts(&world, &["@huge"], "")[..] else {
        panic!("not one prompt")
    };
    let text = prompt[0]["text"].as_str().unwrap();
    assert!(text.len() < 263_000, "{}", text.len());
    assert!(text.contains("[Cut: lines 1-131072 of a file of 1073741824 bytes."));
}

#[test]
fn instructions_reach_the_model_unless_they_are_left_out() {
    let world = World::new();
    world.config("AGENTS.md", "of the user");
    world.file("AGENTS.md", "of the project");
    std::fs::write(world.root().join("CLAUDE.md"), "of the folder above").unwrap();
    let system = |flags: &[&str]| {
        asked(&world, |quipu| quipu.args(flags.iter().copied()).arg("hi"))["system"].to_string()
    };
    let with = system(&["--append-system-prompt", "of the flag"]);
    let texts = [
        "of the user",
        "of the folder above",
        "of the project",
        "of the flag",
    ];
    let places = texts.map(|text| with.find(text).unwrap_or_else(|| panic!("{text}: {with}")));
    assert!(places.is_sorted(), "{places:?}");
    assert!(with.contains(&world.work().join("AGENTS.md").display().to_string()));
    for flag in ["-nc", "--no-context-files"] {
        let without = system(&[flag]);
        assert!(!without.contains("of the project"), "{without}");
        assert!(!without.contains("instructions path"), "{without}");
    }
}

#[test]
fn instructions_that_cannot_be_read_are_a_warning() {
    let world = World::new();
    std::fs::create_dir(world.work().join("AGENTS.md")).unwrap();
    let run = world.offline(&json!([text("Hi.")])).args(["hi"]).run();
    assert_eq!(run.stream().outcome(), "completed");
    assert!(run.stderr.contains("AGENTS.md: ignored"), "{}", run.stderr);
}
