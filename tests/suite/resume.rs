//! Sessions that are gone on with: which one a flag means, what the stream begins with, and what the
//! model is given.

use std::path::PathBuf;

use quipu::wire::Wire;
use serde_json::{Value, json};

use crate::bad_input::refused;
use crate::check::{Stream, kind, text_at};
use crate::harness::{Quipu, World};
use crate::redact::Shot;
use crate::script::{bash, text};
use crate::session_file::{announced, entries_of, files, sessions, stored};

/// A world with one session in it: the user said `One`, the model `First.`
pub(crate) fn begun() -> (World, Stream) {
    let world = World::new();
    let stream = world
        .offline(&json!([text("First.")]))
        .arg("One")
        .run()
        .stream();
    (world, stream)
}

/// A run whose model says `Again.` only if it is given what was said before.
pub(crate) fn again(world: &World) -> Quipu {
    let step = json!({ "match": { "first": "One" }, "blocks": [{ "text": "Again." }] });
    world.offline(&json!([step]))
}

pub(crate) fn id(stream: &Stream) -> String {
    text_at(stream.header(), "/id").to_owned()
}

pub(crate) fn only_file(world: &World) -> PathBuf {
    let files = files(&sessions(world));
    assert_eq!(files.len(), 1, "{files:?}");
    files[0].clone()
}

/// Runs with the flags, which have to lead to the one session of the world.
#[track_caller]
fn goes_on(world: &World, first: &Stream, flags: &[&str]) -> Stream {
    let file = only_file(world);
    let before = entries_of(&file);
    let run = again(world).args(flags.iter().copied()).arg("Two").run();
    let stream = run.stream();
    assert_eq!(run.stderr, "", "{flags:?}");
    assert_eq!(stream.header(), first.header(), "{flags:?}");
    assert_eq!(stream.answers(), ["Again."], "{flags:?}");
    let after = entries_of(&only_file(world));
    assert_eq!(after[..before.len()], before[..]);
    // Neither model nor level changed, so only what was said is new.
    let new: Vec<&Value> = after[before.len()..].iter().collect();
    let new: Vec<&Value> = new.iter().map(|entry| &entry["message"]).collect();
    assert_eq!(new, announced(&stream));
    stream
}

#[test]
fn every_flag_leads_to_the_session() {
    let (world, first) = begun();
    let id = id(&first);
    let file = only_file(&world);
    let (path, short) = (file.to_str().unwrap(), &id[..13]);
    for flags in [
        &["-c"][..],
        &["--continue"],
        &["-r"],
        &["--resume"],
        &["--session", &id],
        &["--session", short],
        &["--session", path],
        &["--session-id", &id],
    ] {
        let stream = goes_on(&world, &first, flags);
        let usage = &stream.end()["usage"];
        assert_eq!(stream.end()["turns"], 1);
        assert_eq!(
            usage,
            &stream.messages("assistant")[0]["usage"],
            "only this run counts"
        );
    }
}

#[test]
fn the_header_on_each_wire_is_the_stored_one() {
    let (world, first) = begun();
    let stored = &entries_of(&only_file(&world))[0];
    for wire in [Wire::Senpi, Wire::Dreb] {
        let run = again(&world)
            .args(["--wire", wire.name(), "-c", "Two"])
            .run();
        let out = String::from_utf8(run.stdout.clone()).unwrap();
        let header: Value = serde_json::from_str(out.lines().next().unwrap()).unwrap();
        assert_eq!(&header, stored, "{}", wire.name());
        // Nothing of what was said before is told again.
        assert!(!out.contains("First."), "{out}");
    }
    let mut header = first.header().clone();
    header.as_object_mut().unwrap().shift_remove("stream");
    assert_eq!(&header, stored);
}

#[test]
fn the_latest_session_is_continued() {
    let (world, first) = begun();
    let second = world
        .offline(&json!([text("Other.")]))
        .arg("Else")
        .run()
        .stream();
    let continued = |flag: &str| {
        let run = world
            .offline(&json!([text("On.")]))
            .args([flag, "More"])
            .run();
        id(&run.stream())
    };
    assert_eq!(continued("-c"), id(&second));
    let run = again(&world).args(["--session", &id(&first), "Two"]).run();
    assert_eq!(run.stream().answers(), ["Again."]);
    assert_eq!(continued("-r"), id(&first));
}

#[test]
fn without_a_session_one_begins() {
    let world = World::new();
    let run = world
        .offline(&json!([text("Hi.")]))
        .args(["-c", "hi"])
        .run();
    assert_eq!(run.stream().outcome(), "completed");
    assert!(
        run.stderr.contains("no session to continue"),
        "{}",
        run.stderr
    );

    let run = world.offline(&json!([text("Hi.")]));
    let run = run.args(["--session-id", "build-7.a_b", "hi"]).run();
    assert_eq!(id(&run.stream()), "build-7.a_b");
    assert!(run.stderr.contains("build-7.a_b"), "{}", run.stderr);
    let again = world.offline(&json!([text("Hi.")]));
    let again = again.args(["--session-id", "build-7.a_b", "hi"]).run();
    assert_eq!(
        (id(&again.stream()).as_str(), again.stderr.as_str()),
        ("build-7.a_b", "")
    );
    assert_eq!(files(&sessions(&world)).len(), 2);

    let run = world.offline(&json!([text("Hi.")]));
    let run = run.args(["--session", "kept/here.jsonl", "hi"]).run();
    let header = run.stream().header().clone();
    assert!(run.stderr.contains("kept/here.jsonl"), "{}", run.stderr);
    let kept = entries_of(&world.work().join("kept/here.jsonl"));
    assert_eq!(kept[0]["id"], header["id"]);
    assert_eq!(stored(&kept).len(), 2);
}

#[test]
fn a_fork_leaves_the_session_as_it_is() {
    let (world, first) = begun();
    let file = only_file(&world);
    let before = std::fs::read(&file).unwrap();
    let long = file.to_str().unwrap().to_owned();
    for given in [&long[..], &id(&first)] {
        let run = again(&world).args(["--fork", given, "Two"]).run();
        let stream = run.stream();
        assert_eq!(stream.answers(), ["Again."]);
        assert_ne!(id(&stream), id(&first));
        assert_eq!(text_at(stream.header(), "/parentSession"), long);
        let copy = files(&sessions(&world));
        let copy = copy
            .iter()
            .find(|path| path.to_str().unwrap().contains(&id(&stream)));
        let mut header = stream.header().clone();
        header.as_object_mut().unwrap().shift_remove("stream");
        let copied = entries_of(copy.unwrap());
        assert_eq!(copied[0], header);
        assert_eq!(stored(&copied).len(), 4);
        std::fs::remove_file(copy.unwrap()).unwrap();
    }
    assert_eq!(std::fs::read(&file).unwrap(), before);
    let run = again(&world)
        .args(["--fork", &long, "--session-id", "mine", "Two"])
        .run();
    assert_eq!(id(&run.stream()), "mine");
}

#[test]
fn what_flags_ask_for_is_noted_once() {
    let (world, first) = begun();
    let flags = ["-c", "--thinking", "off", "--name", "Named"];
    let run = || again(&world).args(flags).arg("Two").run().stream();
    let stream = run();
    assert_eq!(stream.kinds()[..2], ["session", "agent_start"]);
    assert_eq!(stream.of("agent_start")[0]["thinkingLevel"], "off");
    run();
    let entries = entries_of(&only_file(&world));
    let count = |wanted: &str| entries.iter().filter(|entry| kind(entry) == wanted).count();
    assert_eq!(
        ["model_change", "thinking_level_change", "session_info"].map(count),
        [1, 2, 1]
    );
    // Without the flag the level of the session holds.
    let stream = again(&world).args(["-c", "Two"]).run().stream();
    assert_eq!(stream.of("agent_start")[0]["thinkingLevel"], "off");
    assert_eq!(id(&stream), id(&first));
}

/// A session file as another agent writes it, with things that Quipu does not know.
pub(crate) fn foreign(cwd: &str, provider: &str, model: &str) -> String {
    let usage = json!({ "input": 1, "output": 1, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 2,
        "cost": { "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0 } });
    let time = "2026-01-05T10:11:12.345Z";
    let lines = [
        json!({ "type": "session", "version": 3, "id": "0b7c1f9e-1111-4222-8333-444455556666",
                "timestamp": time, "cwd": cwd, "parentSession": "/kept/parent.jsonl",
                "agentType": "explore" }),
        json!({ "type": "model_change", "id": "00000001", "parentId": null, "timestamp": time,
                "provider": provider, "modelId": model }),
        json!({ "type": "of_an_extension", "id": "00000002", "parentId": "00000001",
                "timestamp": time, "what": [1, 2] }),
        json!({ "type": "message", "id": "00000003", "parentId": "00000002", "timestamp": time,
                "message": { "role": "user", "content": "One", "timestamp": 1_767_607_872_345_u64 } }),
        json!({ "type": "message", "id": "00000004", "parentId": "00000003", "timestamp": time,
                "message": { "role": "assistant", "content": [{ "type": "text", "text": "First." }],
                    "api": "anthropic-messages", "provider": provider, "model": model,
                    "usage": usage, "stopReason": "stop", "timestamp": 1_767_607_872_345_u64,
                    "ofAnother": true } }),
    ];
    lines.map(|line| line.to_string() + "\n").concat()
}

/// Puts a session file into the folder of this project.
fn put(world: &World, name: &str, text: &str) -> PathBuf {
    let work = world.work().display().to_string();
    let folder = sessions(world).join(format!("--{}--", work[1..].replace('/', "-")));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn a_session_of_another_agent_goes_on() {
    let world = World::new();
    let text = foreign(world.work().to_str().unwrap(), "offline", "offline");
    let path = put(&world, "2026-01-05T10-11-12-345Z_x.jsonl", &text);
    let run = again(&world).args(["-c", "Two"]).run();
    let stream = run.stream();
    assert_eq!(run.stderr, "");
    assert_eq!(stream.answers(), ["Again."]);
    assert_eq!(stream.header()["agentType"], "explore");
    let after = std::fs::read_to_string(&path).unwrap();
    assert!(after.starts_with(&text), "what was there stays as it was");
    let new: Vec<Value> = after[text.len()..]
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(new[0]["type"], "thinking_level_change");
    assert_eq!(new[0]["parentId"], "00000004");
    assert_eq!(new.len(), 3);
}

#[test]
fn a_model_that_cannot_be_had_is_told_and_the_settings_decide() {
    for (provider, model, words) in [
        ("nobody", "m", &["nobody/m", "no known provider"][..]),
        (
            "anthropic",
            "claude-x",
            &["anthropic/claude-x", "no API key"],
        ),
    ] {
        let world = World::new();
        world.config("settings.json", r#"{ "defaultModel": "offline" }"#);
        let text = foreign(world.work().to_str().unwrap(), provider, model);
        put(&world, "a.jsonl", &text);
        let run = world.quipu().args(["-c", "Two"]).run();
        let stream = run.stream();
        assert_eq!(stream.of("agent_start")[0]["model"]["provider"], "offline");
        for word in words.iter().chain(&["offline/offline goes on"]) {
            assert!(
                run.stderr.contains(word),
                "{word:?} is not in {}",
                run.stderr
            );
        }
        // Without a word in the settings there is no model at all.
        let world = World::new();
        put(
            &world,
            "a.jsonl",
            &foreign(world.work().to_str().unwrap(), provider, model),
        );
        let run = world.quipu().args(["-c", "Two"]).run();
        assert_eq!(
            (run.code(), run.stream().error_code()),
            (3, "configuration")
        );
        assert!(run.stderr.contains(words[0]), "{}", run.stderr);
    }
}

#[test]
fn a_session_of_another_folder() {
    let (world, first) = begun();
    let file = only_file(&world);
    let other = world.root().join("other");
    std::fs::create_dir(&other).unwrap();
    let there = || {
        let step = json!({ "match": { "first": "One" }, "blocks": [
            { "tool": "bash", "id": "call_1", "args": { "command": "pwd" } }] });
        world.offline(&json!([step])).in_directory(&other)
    };
    let short = &id(&first)[..13];
    let refusal = there().args(["--session", short, "hi"]);
    let work = world.work();
    refused(refusal, 2, "usage", &[work.to_str().unwrap(), "--fork"]);

    // By its path it is opened all the same and works where it did; files are named from here.
    std::fs::write(other.join("note.txt"), "a note").unwrap();
    let run = there()
        .args(["--session", file.to_str().unwrap(), "Two", "@note.txt"])
        .run();
    let stream = run.stream();
    assert!(run.stderr.contains("not in this folder"), "{}", run.stderr);
    assert_eq!(
        stream.results(),
        [format!("{}\n", work.display()).trim_end()]
    );
    assert_eq!(stream.header()["cwd"], work.to_str().unwrap());
    let asked = stream.messages("user")[0].to_string();
    assert!(asked.contains("a note"), "{asked}");

    // A copy works here.
    let stream = there().args(["--fork", short, "Two"]).run().stream();
    assert_eq!(stream.results(), [other.to_str().unwrap()]);
    assert_eq!(stream.header()["cwd"], other.to_str().unwrap());

    let new = there().args([
        "-c",
        "--session-dir",
        file.parent().unwrap().to_str().unwrap(),
        "hi",
    ]);
    let run = new.run();
    assert!(
        run.stderr.contains("no session to continue"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_cut_tail_is_told_and_kept_beside() {
    let (world, first) = begun();
    let file = only_file(&world);
    let whole = std::fs::read_to_string(&file).unwrap();
    let tail = r#"{"type":"message","id":"0000"#;
    std::fs::write(&file, format!("{whole}{tail}")).unwrap();
    let run = again(&world).args(["-c", "Two"]).run();
    let stream = run.stream();
    assert_eq!(stream.answers(), ["Again."]);
    assert_eq!(stream.header(), first.header());
    assert!(run.stderr.contains("warning"), "{}", run.stderr);
    let beside: Vec<PathBuf> = std::fs::read_dir(file.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_str().unwrap().contains(".cut"))
        .collect();
    assert_eq!(beside.len(), 1, "{beside:?}");
    assert!(
        run.stderr.contains(beside[0].to_str().unwrap()),
        "{}",
        run.stderr
    );
    assert_eq!(std::fs::read_to_string(&beside[0]).unwrap(), tail);
    let after = std::fs::read_to_string(&file).unwrap();
    assert!(after.starts_with(&whole) && !after.contains(tail));
    entries_of(&file);
}

#[test]
fn tools_of_a_session_that_was_killed_go_on() {
    let world = World::new();
    let mut live = world
        .offline(&json!([bash("echo ready; sleep 300")]))
        .arg("One")
        .live();
    live.until_line(|line| text_at(line, "/partialResult/content/0/text").contains("ready"));
    live.signal(rustix::process::Signal::KILL);
    live.end();
    let run = again(&world).args(["-c", "Two"]).run();
    assert_eq!(run.stream().answers(), ["Again."], "{}", run.stderr);
    entries_of(&only_file(&world));
}

/// Runs that go on with the session of a background agent, and with a copy of one.
pub(crate) fn runs() -> Vec<Stream> {
    let world = World::new();
    let text = foreign(world.work().to_str().unwrap(), "offline", "offline");
    let path = put(&world, "a.jsonl", &text);
    let run = |flags: &[&str]| {
        again(&world)
            .args(flags.iter().copied())
            .arg("Two")
            .run()
            .stream()
    };
    vec![run(&["-c"]), run(&["--fork", path.to_str().unwrap()])]
}

#[test]
fn streams_of_sessions_that_go_on() {
    let world = World::new();
    let text = foreign(world.work().to_str().unwrap(), "offline", "offline");
    let path = put(&world, "a.jsonl", &text);
    let cut = text.clone() + r#"{"type":"mess"#;
    std::fs::write(&path, &cut).unwrap();
    let shot = |name: &str, flags: &[&str]| {
        let run = again(&world).args(flags.iter().copied()).arg("Two").run();
        Shot::new(&world, &run)
            .filter(r"--[^/]*project--", "[project]")
            .filter(r"[0-9a-f]{8}-[0-9a-f-]{27}", "[id]")
            .filter(r"20\d\d-[0-9T:.-]+Z", "[time]")
            .assert(name);
    };
    shot("session_goes_on_after_a_cut", &["-c"]);
    shot("session_forked", &["--fork", path.to_str().unwrap()]);
    shot("session_unknown", &["--session", "nope"]);
    shot("session_ambiguous", &["--session", "0"]);
}
