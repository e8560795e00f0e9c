//! Whole streams of good runs, as they are to look.

use serde_json::{Value, json};

use crate::harness::World;
use crate::redact::Shot;
use crate::script::{bash, call, text, tool};

/// Runs the steps for one prompt and compares the whole stream.
#[track_caller]
fn shot(name: &str, world: &World, steps: &Value) {
    let run = world.offline(steps).arg("Do it").run();
    Shot::new(world, &run).assert(name);
}

#[test]
fn plain_text() {
    shot(
        "plain_text",
        &World::new(),
        &json!([text("Hello from a scenario.")]),
    );
}

#[test]
fn unicode_text() {
    let said = "naïve 😀 日本\u{2028}語\u{2029} \"quoted\" back\\slash\ttab\n\u{1}\u{7f}";
    let step = json!({ "blocks": [{ "text": said, "chunk": 3 }] });
    let world = World::new();
    let run = world.offline(&json!([step])).arg("Sag's: ✓").run();
    assert_eq!(run.stream().answers(), [said]);
    Shot::new(&world, &run).assert("unicode_text");
}

#[test]
fn signed_thinking() {
    let step = json!({
        "blocks": [
            { "thinking": "What would be a good answer?", "signature": "c2lnbmF0dXJl" },
            { "text": "This one." },
        ],
        "usage": { "input": 7, "output": 9, "cache_read": 1000, "cache_write": 20, "reasoning": 4 },
    });
    shot("signed_thinking", &World::new(), &json!([step]));
}

#[test]
fn redacted_thinking() {
    let step = json!({ "blocks": [{ "redacted": "b3BhcXVl" }, { "text": "I may not say why." }] });
    shot("redacted_thinking", &World::new(), &json!([step]));
}

#[test]
fn empty_answer() {
    shot("empty_answer", &World::new(), &json!([{ "blocks": [] }]));
}

#[test]
fn read_a_file() {
    let world = World::new();
    world.file("notes.txt", "one\ntwo\nthree\nfour\n");
    let steps = json!([
        tool("read", "call_1", &json!({ "path": "notes.txt" })),
        tool(
            "read",
            "call_2",
            &json!({ "path": "notes.txt", "offset": 2, "limit": 2 })
        ),
        text("Four lines."),
    ]);
    shot("read_a_file", &world, &steps);
}

#[test]
fn read_what_is_not_there() {
    let steps = json!([
        tool("read", "call_1", &json!({ "path": "nowhere.txt" })),
        text("Not there.")
    ]);
    shot("read_what_is_not_there", &World::new(), &steps);
}

#[test]
fn run_a_command() {
    shot(
        "run_a_command",
        &World::new(),
        &json!([bash("echo out; echo err >&2"), text("It ran.")]),
    );
}

#[test]
fn run_a_command_that_fails() {
    let steps = json!([bash("echo before; exit 3"), text("It failed.")]);
    shot("run_a_command_that_fails", &World::new(), &steps);
}

#[test]
fn run_a_command_into_its_timeout() {
    let args = json!({ "command": "echo begun; sleep 30", "timeout": 1 });
    let steps = json!([tool("bash", "call_1", &args), text("It took too long.")]);
    shot("run_a_command_into_its_timeout", &World::new(), &steps);
}

#[test]
fn edit_a_file() {
    let world = World::new();
    world.file(
        "poem.txt",
        "roses are red\nviolets are red\nsugar is sweet\n",
    );
    let args = json!({
        "path": "poem.txt",
        "edits": [
            { "oldText": "violets are red", "newText": "violets are blue" },
            { "oldText": "sugar is sweet\n", "newText": "sugar is sweet\nand so are you\n" },
        ],
    });
    let steps = json!([tool("edit", "call_1", &args), text("Done.")]);
    shot("edit_a_file", &world, &steps);
    let expected = "roses are red\nviolets are blue\nsugar is sweet\nand so are you\n";
    assert_eq!(world.read("poem.txt"), expected);
}

#[test]
fn edit_what_does_not_match() {
    let world = World::new();
    world.file("poem.txt", "roses\nroses\n");
    let edit = |id: &str, old: &str| {
        let args = json!({ "path": "poem.txt", "edits": [{ "oldText": old, "newText": "x" }] });
        tool("edit", id, &args)
    };
    let steps = json!([
        edit("call_1", "tulips"),
        edit("call_2", "roses"),
        text("No luck.")
    ]);
    shot("edit_what_does_not_match", &world, &steps);
    assert_eq!(world.read("poem.txt"), "roses\nroses\n");
}

#[test]
fn write_files() {
    let world = World::new();
    world.file("old.txt", "before\n");
    let write = |id: &str, path: &str| {
        tool(
            "write",
            id,
            &json!({ "path": path, "content": "after – ü\n" }),
        )
    };
    let steps = json!([
        write("call_1", "new/deep.txt"),
        write("call_2", "old.txt"),
        text("Written.")
    ]);
    shot("write_files", &world, &steps);
    assert_eq!(world.read("new/deep.txt"), "after – ü\n");
    assert_eq!(world.read("old.txt"), "after – ü\n");
}

#[test]
fn tools_side_by_side() {
    let world = World::new();
    world.file("notes.txt", "a note\n");
    let calls = json!({ "blocks": [
        { "text": "All at once." },
        call("bash", "call_slow", &json!({ "command": "sleep 0.5; echo slow" })),
        call("read", "call_quick", &json!({ "path": "notes.txt" })),
        call("teleport", "call_unknown", &json!({ "where": "moon" })),
    ]});
    let run = world
        .offline(&json!([calls, text("Done.")]))
        .arg("Do it")
        .run();
    let stream = run.stream();
    let ids = |kind: &str| -> Vec<String> {
        let lines = stream.of(kind).into_iter();
        lines
            .map(|line| line["toolCallId"].as_str().unwrap().into())
            .collect()
    };
    assert_eq!(
        ids("tool_execution_start"),
        ["call_slow", "call_quick", "call_unknown"]
    );
    assert_eq!(ids("tool_execution_end").last().unwrap(), "call_slow");
    Shot::new(&world, &run)
        .without_updates()
        .assert("tools_side_by_side");
}

#[test]
fn unknown_tool() {
    let steps = json!([
        tool("teleport", "call_1", &json!({ "where": "moon" })),
        text("That tool does not exist."),
    ]);
    shot("unknown_tool", &World::new(), &steps);
}

#[test]
fn gateway_name_of_a_tool() {
    let world = World::new();
    world.file("notes.txt", "a note\n");
    let steps = json!([
        tool("mcp__686f__Read", "call_1", &json!({ "path": "notes.txt" })),
        text("Read.")
    ]);
    shot("gateway_name_of_a_tool", &world, &steps);
}

#[test]
fn bad_arguments() {
    let steps = json!([
        tool("read", "call_1", &json!({ "file": "notes.txt" })),
        tool(
            "bash",
            "call_2",
            &json!({ "command": ["ls"], "timeout": 0 })
        ),
        text("Neither would do."),
    ]);
    shot("bad_arguments", &World::new(), &steps);
}

#[test]
fn broken_arguments() {
    let world = World::new();
    world.file("notes.txt", "a note\n");
    let cut =
        json!({ "tool": "read", "id": "call_1", "args_text": "{\"path\": \"notes.txt\", \"lim" });
    let none = json!({ "tool": "read", "id": "call_2", "args_text": "" });
    let list = json!({ "tool": "read", "id": "call_3", "args_text": "[1, 2]" });
    let steps = json!([{ "blocks": [cut, none, list] }, text("My arguments were cut off.")]);
    shot("broken_arguments", &world, &steps);
}

#[test]
fn truncated_text() {
    let step = json!({ "blocks": [{ "text": "It goes on and on and" }], "stop": "max_tokens" });
    shot("truncated_text", &World::new(), &json!([step]));
}

#[test]
fn call_of_a_truncated_answer_is_not_run() {
    let world = World::new();
    let write = call(
        "write",
        "call_1",
        &json!({ "path": "trace.txt", "content": "ran" }),
    );
    let step = json!({ "blocks": [{ "text": "I write" }, write], "stop": "max_tokens" });
    shot(
        "truncated_call",
        &world,
        &json!([step, text("I was cut off.")]),
    );
    assert!(!world.work().join("trace.txt").exists());
}

#[test]
fn tools_that_are_not_allowed() {
    let world = World::new();
    world.file("notes.txt", "a note\n");
    let steps = json!([
        { "blocks": [
            call("bash", "call_1", &json!({ "command": "touch trace.txt" })),
            call("read", "call_2", &json!({ "path": "notes.txt" })),
        ]},
        text("Only one of them."),
    ]);
    let run = world
        .offline(&steps)
        .args(["--tools", "read", "Do it"])
        .run();
    Shot::new(&world, &run).assert("tools_that_are_not_allowed");
    assert!(!world.work().join("trace.txt").exists());
}

#[test]
fn several_prompts() {
    let world = World::new();
    let steps = json!([text("First."), bash("echo second"), text("Second.")]);
    let run = world.offline(&steps).args(["One", "Two"]).run();
    assert_eq!(run.stream().of("agent_start").len(), 2);
    Shot::new(&world, &run).assert("several_prompts");
}

#[test]
fn prompt_from_standard_input() {
    let world = World::new();
    let run = world
        .offline(&json!([text("Read it.")]))
        .input("From a pipe\n")
        .run();
    Shot::new(&world, &run).assert("prompt_from_standard_input");
}

#[test]
fn prompt_from_both() {
    let world = World::new();
    let steps = json!([text("Read both."), text("And more.")]);
    let run = world
        .offline(&steps)
        .args(["Explain this", "And this"])
        .input("a = 1\n")
        .run();
    assert_eq!(run.stream().of("agent_start").len(), 2);
    Shot::new(&world, &run).assert("prompt_from_both");
}

/// The built-in script of the offline model, without a scenario.
#[track_caller]
fn built_in(name: &str, world: &World, prompt: &str, needles: &[&str]) {
    let run = world.quipu().args(["--model", "offline"]).arg(prompt).run();
    let stream = run.stream();
    assert_eq!(run.code(), 0);
    let said = stream.answers().join("\n");
    for needle in needles {
        assert!(said.contains(needle), "{needle:?} is not in {said:?}");
    }
    // What `ls -l` tells of owners and times differs from place to place.
    let ls = r"[d-]([r-][w-][x-]){3}\S?( +[^ \\]+){7} ";
    Shot::new(world, &run)
        .without_usage()
        .joined()
        .filter(ls, "[ls] ")
        .filter(r"total \d+", "total [n]")
        .assert(name);
}

#[test]
fn built_in_script_lists() {
    let world = World::new();
    world.file("alpha.txt", "a").file("beta.txt", "b");
    built_in(
        "built_in_lists",
        &world,
        "List the files here",
        &["alpha.txt", "beta.txt"],
    );
}

#[test]
fn built_in_script_reads() {
    let world = World::new();
    world.file("alpha.txt", "the content of alpha\n");
    built_in(
        "built_in_reads",
        &world,
        "Read alpha.txt",
        &["the content of alpha"],
    );
}

#[test]
fn built_in_script_searches() {
    let world = World::new();
    world.file("alpha.txt", "hay\nneedle in alpha\nhay\n");
    built_in(
        "built_in_searches",
        &world,
        "Search for needle",
        &["needle in alpha"],
    );
}

#[test]
fn built_in_script_runs() {
    built_in(
        "built_in_runs",
        &World::new(),
        "Run `echo it ran`",
        &["it ran"],
    );
}

#[test]
fn built_in_script_says_what_it_is() {
    built_in(
        "built_in_explains",
        &World::new(),
        "What is the meaning of life?",
        &["offline"],
    );
}
