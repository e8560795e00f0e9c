//! `quipu sessions`: lists, shows and writes out what is kept.

use serde_json::{Value, json};

use crate::check::text_at;
use crate::harness::{Run, World};
use crate::script::{text, tool};
use crate::session_file::{files, sessions};

fn run(world: &World, args: &[&str]) -> Run {
    world
        .bare()
        .arg("sessions")
        .args(args.iter().copied())
        .run()
}

#[track_caller]
fn said(world: &World, args: &[&str]) -> String {
    let run = run(world, args);
    assert_eq!((run.code(), run.stderr.as_str()), (0, ""), "{args:?}");
    String::from_utf8(run.stdout).unwrap()
}

/// A world with a named session of two prompts; its id.
fn begun() -> (World, String) {
    let world = World::new();
    world.file("notes.txt", "a `note`\n```\nfenced\n```\n");
    let steps = json!([
        { "blocks": [{ "thinking": "Hm.\nYes." }, { "text": "I read it." },
                     { "tool": "read", "id": "call_1", "args": { "path": "notes.txt" } }] },
        tool("read", "call_2", &json!({ "path": "no.txt" })),
        text("It says:\n\n- a note"),
        { "error": "auth" },
    ]);
    let run = world
        .offline(&steps)
        .args(["--name", "Notes", "Read\nnotes.txt", "More\u{1b}[31m"]);
    let stream = run.run().stream();
    let id = text_at(stream.header(), "/id").to_owned();
    (world, id)
}

#[test]
fn a_list() {
    let (world, id) = begun();
    let list = said(&world, &[]);
    assert_eq!(list, said(&world, &["list"]));
    assert_eq!(list.lines().count(), 1);
    assert!(list.starts_with(&format!("{id}  20")), "{list}");
    assert!(list.ends_with("Z     8 messages  Notes\n"), "{list}");

    let rows: Value = serde_json::from_str(&said(&world, &["--format", "json"])).unwrap();
    assert_eq!(
        (&rows[0]["id"], &rows[0]["name"]),
        (&json!(id), &json!("Notes"))
    );
    assert_eq!(
        (&rows[0]["firstPrompt"], &rows[0]["messages"]),
        (&json!("Read"), &json!(8))
    );
    assert_eq!(
        rows[0]["file"],
        files(&sessions(&world))[0].to_str().unwrap()
    );

    let elsewhere = world.root().join("other");
    std::fs::create_dir(&elsewhere).unwrap();
    let there = |args: &[&str]| {
        let quipu = world.bare().in_directory(&elsewhere).arg("sessions");
        quipu.args(args.iter().copied()).run()
    };
    let none = there(&[]);
    assert_eq!((none.code(), none.stdout.len()), (0, 0));
    assert!(none.stderr.contains("--all"), "{}", none.stderr);
    let all = String::from_utf8(there(&["--all"]).stdout).unwrap();
    let cwd = world.work().display().to_string();
    assert!(all.ends_with(&format!("Notes  ({cwd})\n")), "{all}");
    let folder = sessions(&world).display().to_string();
    let other = there(&["list", "--session-dir", &folder]);
    assert!(other.stdout.is_empty(), "sessions lie one folder below");
}

/// The text without ids and times.
fn redacted(world: &World, text: &str) -> String {
    let text = text.replace(world.root().to_str().unwrap(), "[world]");
    let mut shown = String::new();
    for line in text.lines() {
        let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        for word in &mut words {
            let bare = word.trim_matches(['`', ',']);
            let hex = |c: char| c.is_ascii_hexdigit() || c == '-';
            if bare.starts_with("20") && bare.contains('T') && bare.ends_with('Z') {
                *word = word.replace(bare, "[time]");
            } else if (bare.len() == 8 || bare.len() == 36) && bare.chars().all(hex) {
                *word = word.replace(bare, "[id]");
            }
        }
        shown += &(words.join(" ") + "\n");
    }
    shown
}

#[test]
fn the_entries_of_a_session() {
    let (world, id) = begun();
    let shown = said(&world, &["show", &id[..20]]);
    assert!(!shown.contains('\u{1b}'), "{shown}");
    insta::with_settings!({ snapshot_path => "snapshots", prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("sessions_show", redacted(&world, &shown));
    });
}

#[test]
fn a_conversation_as_markdown() {
    let (world, id) = begun();
    let markdown = said(&world, &["export", &id]);
    assert!(!markdown.contains('\u{1b}'), "{markdown}");
    insta::with_settings!({ snapshot_path => "snapshots", prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("sessions_export", redacted(&world, &markdown));
    });
    let file = files(&sessions(&world)).remove(0);
    let path = file.to_str().unwrap();
    assert_eq!(said(&world, &["export", path, "--output", "out.md"]), "");
    assert_eq!(world.read("out.md"), markdown);

    let before = std::fs::read(&file).unwrap();
    let same = run(&world, &["export", path, "-o", path]);
    assert_eq!(same.code(), 2, "{}", same.stderr);
    assert_eq!(std::fs::read(&file).unwrap(), before);
}

#[test]
fn branches_that_were_left_are_marked_and_not_written_out() {
    let world = World::new();
    let said_by = |id: &str, parent: &Value, text: &str| {
        json!({ "type": "message", "id": id, "parentId": parent, "timestamp": "2026-01-01T00:00:00.000Z",
                "message": { "role": "user", "content": text } })
    };
    let lines = [
        json!({ "type": "session", "version": 3, "id": "s", "cwd": "/p",
                "timestamp": "2026-01-01T00:00:00.000Z", "parentSession": "/p/parent.jsonl" }),
        said_by("0000000a", &Value::Null, "Kept"),
        said_by("0000000b", &json!("0000000a"), "Left behind"),
        json!({ "type": "branch_summary", "id": "0000000c", "parentId": "0000000a",
                "timestamp": "2026-01-01T00:00:00.000Z", "fromId": "0000000b", "summary": "In short." }),
        json!({ "type": "compaction", "id": "0000000d", "parentId": "0000000c",
                "timestamp": "2026-01-01T00:00:00.000Z", "summary": "All so far.",
                "firstKeptEntryId": "0000000c", "tokensBefore": 1234 }),
        json!({ "type": "of_an_extension", "id": "0000000e", "parentId": "0000000d" }),
    ];
    let text = lines.map(|line| line.to_string() + "\n").concat();
    world.file("s.jsonl", text + "no entry\n");
    let shown = said(&world, &["show", "./s.jsonl"]);
    for line in [
        "session s in /p, made 2026-01-01T00:00:00Z, from /p/parent.jsonl",
        "~ 2026-01-01T00:00:00Z  0000000b  user        Left behind",
        "  2026-01-01T00:00:00Z  0000000c  branch      In short.",
        "  2026-01-01T00:00:00Z  0000000d  compaction  of 1234 tokens: All so far.",
        "                        0000000e  of_an_extension",
    ] {
        assert!(
            shown.lines().any(|shown| shown == line),
            "{line:?} is not in\n{shown}"
        );
    }
    let markdown = said(&world, &["export", "s.jsonl"]);
    assert!(markdown.contains("## User\n\nKept\n"), "{markdown}");
    assert!(
        markdown.contains("## Summary of what came before\n\nAll so far.\n"),
        "{markdown}"
    );
    assert!(!markdown.contains("Left behind"), "{markdown}");
}

#[test]
fn what_stands_before_a_broken_line_is_written_out() {
    let (world, id) = begun();
    let file = files(&sessions(&world)).remove(0);
    let text = std::fs::read_to_string(&file).unwrap();
    let broken = text.replacen("I read it.", "I read \"it.", 1);
    assert_ne!(text, broken);
    std::fs::write(&file, broken).unwrap();
    let shown = said(&world, &["show", &id]);
    assert!(!shown.contains('~'), "{shown}");
    let markdown = said(&world, &["export", &id]);
    for part in ["Read\nnotes.txt", "fenced", "It says:"] {
        assert!(markdown.contains(part), "{part:?} is not in\n{markdown}");
    }
    assert!(!markdown.contains("I read"), "{markdown}");
}

#[test]
fn a_conversation_is_written_out_piece_by_piece() {
    let world = World::new();
    let line = |id: u32, text: &str| {
        json!({ "type": "message", "id": format!("{id:08x}"),
                "parentId": id.checked_sub(1).map(|id| format!("{id:08x}")),
                "message": { "role": "user", "content": text } })
    };
    let header = json!({ "type": "session", "version": 3, "id": "s", "cwd": "/p",
                         "timestamp": "2026-01-01T00:00:00.000Z" });
    let mut text = format!("{header}\n");
    let long = "word ".repeat(20_000);
    for id in 0..120 {
        text += &(line(id, &long).to_string() + "\n");
    }
    world.file("s.jsonl", &text);
    // 12 MB of conversation with less memory.
    let export = ["sessions", "export", "s.jsonl", "-o", "out.md"];
    let run = world.bare().args(export).with_memory(8 * 1024).run();
    assert_eq!((run.code(), run.stderr.as_str()), (0, ""));
    assert!(world.read("out.md").len() > 11_000_000);
}

#[test]
fn a_folder_that_is_gone_has_no_list() {
    let (world, id) = begun();
    for args in [&["list"][..], &["--all"], &["show", &id]] {
        let quipu = world.bare().arg("sessions").args(args.iter().copied());
        let run = quipu.in_deleted_directory().run();
        assert_eq!((run.code(), run.stdout.len()), (2, 0), "{args:?}");
        assert!(run.stderr.contains("working directory"), "{}", run.stderr);
    }
}

#[test]
fn what_cannot_be_shown() {
    let world = World::new();
    world.file("no.jsonl", "");
    for (args, code, words) in [
        (&["show", "nope"][..], 2, "\"nope\""),
        (&["show", "./nope"], 2, "nope"),
        (&["export", "no.jsonl"], 1, "no.jsonl"),
        (&["shwo"], 2, "show"),
    ] {
        let run = run(&world, args);
        assert_eq!(
            (run.code(), run.stdout.len()),
            (code, 0),
            "{args:?} {}",
            run.stderr
        );
        assert!(run.stderr.contains(words), "{}", run.stderr);
    }
}
