//! A run is killed wherever it is, and goes on: nothing that was announced is missing, nothing is
//! there twice.

use std::collections::HashSet;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::check::kind;
use crate::harness::World;
use crate::script::{call, text, tool};
use crate::session_file::{entries_of, files, sessions, stored};

/// Two prompts, calls side by side, thinking, and texts of several deltas.
fn steps() -> Value {
    json!([
        { "blocks": [{ "thinking": "Look first.", "signature": "c2ln" },
                     { "text": "I look around here." },
                     call("read", "call_1", &json!({ "path": "notes.txt" })),
                     call("ls", "call_2", &json!({}))] },
        tool("bash", "call_3", &json!({ "command": "echo one; echo two >> log.txt" })),
        text("That is all there is to see."),
        tool("write", "call_4", &json!({ "path": "new.txt", "content": "new\n" })),
        text("Written, and done."),
    ])
}

#[test]
fn a_run_that_is_killed_at_any_line_goes_on() {
    let world = World::new();
    world.file("notes.txt", "a note\n");
    let run = || {
        for file in files(&sessions(&world)) {
            std::fs::remove_file(file).unwrap();
        }
        world.offline(&steps()).args(["Look around", "Write it"])
    };
    let whole = run().run().stream().lines.len();
    assert!(whole > 50, "{whole} lines");
    for kill_at in 1..=whole {
        let mut live = run().live();
        let mut seen = Vec::new();
        while seen.len() < kill_at {
            seen.push(live.line().unwrap());
        }
        live.signal(Signal::KILL);
        live.end();
        goes_on(&world, &seen);
    }
}

/// Goes on with the session of a stream that ended after these lines.
fn goes_on(world: &World, seen: &[Value]) {
    let at = format!("killed at line {}, {}", seen.len(), seen[seen.len() - 1]);
    let announced: Vec<&Value> = seen
        .iter()
        .filter(|line| kind(line) == "message_end")
        .map(|line| &line["message"])
        .collect();
    let before = files(&sessions(world));
    // A session in which nothing was said leaves no file.
    assert!(announced.is_empty() || before.len() == 1, "{at}");

    let run = world
        .offline(&json!([text("Going on.")]))
        .args(["-c", "Go on"])
        .run();
    let stream = run.stream();
    assert_eq!(
        (stream.outcome(), stream.answers()),
        ("completed", vec!["Going on."]),
        "{at}"
    );
    let after = files(&sessions(world));
    assert_eq!(after.len(), 1, "{at}");
    let entries = entries_of(&after[0]);
    let ids: HashSet<&Value> = entries.iter().map(|entry| &entry["id"]).collect();
    assert_eq!(ids.len(), entries.len(), "an entry twice; {at}");
    if before.is_empty() {
        return;
    }
    assert_eq!(stream.header()["id"], seen[0]["id"], "{at}");
    let kept = stored(&entries);
    assert_eq!(kept[..announced.len()], announced[..], "{at}");
    // The run may have been ahead of its reader, so more may be kept; the new prompt follows it.
    let new = kept.len() - 2;
    assert!(kept[new]["content"][0]["text"] == "Go on", "{at}");
    let unique: HashSet<String> = kept.iter().map(ToString::to_string).collect();
    assert_eq!(unique.len(), kept.len(), "a message twice; {at}");
}
