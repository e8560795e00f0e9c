//! Sessions that cannot be gone on with: what is told, and that nothing is touched.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::bad_input::refused;
use crate::check::kind;
use crate::harness::{Quipu, World};
use crate::resume::{again, begun, foreign, id, only_file};
use crate::script::text;
use crate::session_file::{entries_of, files, sessions};

#[test]
fn flags_that_exclude_each_other() {
    let world = World::new();
    for (flags, words) in [
        (&["-c", "-r"][..], &["--continue", "--resume"][..]),
        (&["-c", "--session", "x"], &["--continue", "--session"]),
        (&["-r", "--session-id", "x"], &["--resume", "--session-id"]),
        (
            &["--session", "x", "--session-id", "x"],
            &["--session", "--session-id"],
        ),
        (&["--fork", "x", "-c"], &["--fork", "--continue"]),
        (&["--fork", "x", "--session", "y"], &["--fork", "--session"]),
        (
            &["--fork", "x", "--no-session"],
            &["--fork", "--no-session"],
        ),
        (&["--no-session", "-c"], &["--no-session", "--continue"]),
        (&["--session-id=-x"], &["-x", "letters, digits"]),
        (&["--session-id", "a/b"], &["a/b", "letters, digits"]),
        (&["--session", ""], &["--session"]),
    ] {
        let quipu = world.offline(&json!([])).args(flags.iter().copied());
        refused(quipu.arg("hi"), 2, "usage", words);
    }
}

#[test]
fn what_cannot_be_found() {
    let (world, first) = begun();
    let run = |flags: &[&str]| {
        world
            .offline(&json!([]))
            .args(flags.iter().copied())
            .arg("hi")
    };
    refused(
        run(&["--session", "nope"]),
        2,
        "usage",
        &["\"nope\"", "quipu sessions --all"],
    );
    refused(run(&["--fork", "nope"]), 2, "usage", &["\"nope\""]);
    refused(
        run(&["--fork", "no/such.jsonl"]),
        2,
        "usage",
        &["no/such.jsonl"],
    );
    let empty = World::new();
    refused(
        empty.offline(&json!([])).args(["-r", "hi"]),
        2,
        "usage",
        &["no session of this"],
    );

    let second = world.offline(&json!([text("Hi.")]));
    let second = second.args(["--name", "Second one", "hi"]).run().stream();
    let (one, two) = (id(&first), id(&second));
    let common = one
        .chars()
        .zip(two.chars())
        .take_while(|(a, b)| a == b)
        .count();
    let words = [&one[..], &two, "Second one", "\"One\""];
    refused(run(&["--session", &one[..common]]), 2, "usage", &words);

    let busy = run(&["--fork", &one, "--session-id", &two]);
    refused(busy, 2, "usage", &[&two, "--session-id"]);
}

#[test]
fn a_file_that_is_no_session() {
    let world = World::new();
    world
        .file("empty.jsonl", "")
        .file("other.jsonl", "{\"type\":\"other\"}\n");
    for name in ["empty.jsonl", "other.jsonl"] {
        for flag in ["--session", "--fork"] {
            let run = world.offline(&json!([])).args([flag, name, "hi"]);
            refused(run, 1, "session", &[name]);
        }
    }
    assert_eq!(
        (
            world.read("empty.jsonl").len(),
            world.read("other.jsonl").len()
        ),
        (0, 17)
    );
}

#[test]
fn a_folder_that_is_gone() {
    let world = World::new();
    let text = foreign("/nowhere/at/all", "offline", "offline");
    world.file("s.jsonl", &text);
    let run = |flag: &str| again(&world).args([flag, "s.jsonl", "Two"]);
    refused(run("--session"), 2, "usage", &["/nowhere/at/all", "--fork"]);
    assert_eq!(world.read("s.jsonl"), text);
    assert_eq!(run("--fork").run().stream().answers(), ["Again."]);
}

#[test]
fn a_start_that_fails_on_the_other_wires() {
    let world = World::new();
    let run = |wire: &str| {
        let quipu = world.offline(&json!([]));
        let run = quipu
            .args(["--wire", wire, "--session", "nope", "hi"])
            .run();
        assert_eq!(run.code(), 2);
        let out = String::from_utf8(run.stdout).unwrap();
        let lines = out
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.map(|line| kind(&line).to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(run("senpi"), ["session"]);
    assert_eq!(run("dreb"), ["session", "agent_start", "agent_end"]);
}

#[test]
fn two_processes_do_not_share_a_session() {
    let (world, _) = begun();
    let steps = json!([{ "blocks": [{ "text": "word ", "repeat": 3000 }], "delay_ms": 20 }]);
    let mut live = world.offline(&steps).args(["-c", "Two"]).live();
    live.until("text_delta");
    let file = only_file(&world);
    let during = std::fs::read(&file).unwrap();
    let run = again(&world).args(["-c", "Three"]).run();
    let stream = run.stream();
    assert_eq!((run.code(), stream.error_code()), (1, "session"));
    assert!(run.stderr.contains("in use"), "{}", run.stderr);
    assert_eq!(std::fs::read(&file).unwrap(), during);
    // A copy can be made all the same.
    let fork = again(&world)
        .args(["--fork", file.to_str().unwrap(), "Three"])
        .run();
    assert_eq!(fork.stream().answers(), ["Again."]);
    std::fs::remove_file(
        files(&sessions(&world))
            .into_iter()
            .find(|f| *f != file)
            .unwrap(),
    )
    .unwrap();
    live.signal(rustix::process::Signal::TERM);
    live.end().stream();
    // The lock is gone with its process.
    assert_eq!(
        again(&world).args(["-c", "Four"]).run().stream().answers(),
        ["Again."]
    );
    entries_of(&file);
}

/// A model that talks until it is stopped.
fn talking(world: &World) -> Quipu {
    let steps = json!([{ "blocks": [{ "text": "word ", "repeat": 3000 }], "delay_ms": 20 }]);
    world.offline(&steps)
}

#[test]
fn a_session_has_its_file_before_a_model_is_asked() {
    for flags in [
        &["--session", "new.jsonl"][..],
        &["--session-id", "mine"],
        &[],
    ] {
        let world = World::new();
        let mut live = talking(&world)
            .args(flags.iter().copied())
            .arg("One")
            .live();
        live.until("message_end");
        let found = files(world.root());
        assert_eq!(found.len(), 1, "{flags:?}");
        if !flags.is_empty() {
            let second = talking(&world).args(flags.iter().copied()).arg("Two");
            refused(second, 1, "session", &["in use", "--fork"]);
        }
        live.signal(rustix::process::Signal::KILL);
        live.end();
        // Not even the first prompt is lost.
        let flags = if flags.is_empty() { &["-c"] } else { flags };
        let run = again(&world).args(flags.iter().copied()).arg("Two").run();
        assert_eq!(run.stream().answers(), ["Again."], "{}", run.stderr);
        assert_eq!(files(world.root()), found);
        entries_of(&found[0]);
    }
}

#[test]
fn of_many_that_begin_one_session_one_does() {
    for flags in [["--session", "new.jsonl"], ["--session-id", "mine"]] {
        let world = World::new();
        let runs = [(); 4].map(|()| talking(&world).args(flags).arg("One").open_input());
        let mut lives = runs.map(Quipu::live);
        for live in &mut lives {
            live.until("session");
        }
        // All have seen that there is no such session; they wait for the end of their input.
        for live in &mut lives {
            live.input(b"");
        }
        let mut begun = 0;
        for mut live in lives {
            let next = live.until_line(|line| matches!(kind(line), "agent_start" | "stream_end"));
            if kind(&next) == "agent_start" {
                begun += 1;
                live.until("message_end");
                live.signal(rustix::process::Signal::TERM);
            }
            let run = live.end();
            let code = run.stream().error_code().to_owned();
            let expected = ["session", "interrupted"];
            assert!(expected.contains(&&*code), "{code}: {}", run.stderr);
        }
        assert_eq!((begun, files(world.root()).len()), (1, 1), "{flags:?}");
        let run = again(&world).args(flags).arg("Two").run();
        assert_eq!(run.stream().answers(), ["Again."], "{}", run.stderr);
    }
}

#[test]
fn a_start_that_fails_leaves_no_session() {
    let (world, first) = begun();
    let id = id(&first);
    for flags in [
        &["--session", "new.jsonl"][..],
        &["--session-id", "mine"],
        &["--fork", &id],
        &[],
    ] {
        let run = || world.offline(&json!([])).args(flags.iter().copied());
        refused(run().arg("@no"), 2, "usage", &["@no"]);
        assert_eq!(files(world.root()).len(), 1, "{flags:?}");
    }
    let limited = world.offline(&json!([text("Hi.")]));
    let limited = limited.args(["--session", "new.jsonl", "--max-turns", "0", "hi"]);
    limited.run();
    assert_eq!(files(world.root()).len(), 1);
}

#[test]
fn a_path_at_which_no_file_can_be() {
    let world = World::new();
    let link = |name: &str, target: &str| {
        std::os::unix::fs::symlink(target, world.work().join(name)).unwrap();
    };
    link("dangling.jsonl", "nowhere");
    link("loop.jsonl", "loop.jsonl");
    world.file("s.jsonl", "");
    let long = "x".repeat(300) + ".jsonl";
    for (path, code, error, word) in [
        ("dangling.jsonl", 2, "usage", "nowhere"),
        ("loop.jsonl", 1, "session", "loop.jsonl"),
        ("s.jsonl/", 1, "session", "s.jsonl"),
        ("new/", 2, "usage", "a folder"),
        ("new/.", 2, "usage", "a folder"),
        (&long, 1, "session", "too long"),
        ("/proc/new.jsonl", 1, "session", "/proc"),
    ] {
        // The model would answer; it is not asked.
        let run = world.offline(&json!([text("Never.")]));
        refused(run.args(["--session", path, "hi"]), code, error, &[word]);
    }
}

#[test]
fn a_session_that_cannot_be_written() {
    let (world, _) = begun();
    let file = only_file(&world);
    let allow = |path: &Path, mode: u32| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    allow(&file, 0o400);
    let stored = again(&world).args(["-c", "Two"]).without_privileges();
    refused(stored, 1, "session", &[file.to_str().unwrap()]);
    allow(&file, 0o600);
    allow(file.parent().unwrap(), 0o500);
    let fresh = world.offline(&json!([text("never")])).arg("hi");
    refused(fresh.without_privileges(), 1, "session", &["--session-dir"]);
    allow(file.parent().unwrap(), 0o700);
}

#[test]
fn a_session_whose_folder_cannot_be_written() {
    let (world, _) = begun();
    let whole = std::fs::read_to_string(only_file(&world)).unwrap();
    let folder = world.work().join("kept");
    let allow = |mode: u32| {
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let torn = whole.clone() + r#"{"type":"mess"#;
    let old = whole.replace("\"version\":3", "\"version\":2");
    for (text, beside) in [(torn, ".cut"), (old, ".v2.bak")] {
        world.file("kept/s.jsonl", &text);
        allow(0o500);
        let run = again(&world).args(["--session", "kept/s.jsonl", "Two"]);
        let words = ["kept/s.jsonl", beside, "--fork", "--session-dir"];
        refused(run.without_privileges(), 1, "session", &words);
        assert_eq!(world.read("kept/s.jsonl"), text);
        // What the message says helps.
        let fork = ["--fork", "kept/s.jsonl", "--session-dir", "copies", "Two"];
        let run = again(&world).args(fork).without_privileges().run();
        assert_eq!(run.stream().answers(), ["Again."], "{}", run.stderr);
        allow(0o700);
    }
}

#[test]
fn a_repair_that_finds_no_room_leaves_nothing_behind() {
    let (world, _) = begun();
    let file = only_file(&world);
    let whole = std::fs::read_to_string(&file).unwrap();
    let long = "x".repeat(20_000);
    let torn = format!("{whole}{{\"type\":\"{long}");
    let old = whole.replace("\"version\":3", "\"version\":2")
        + &format!("{{\"type\":\"x\",\"id\":\"x\",\"parentId\":null,\"text\":\"{long}\"}}\n");
    for text in [torn, old] {
        std::fs::write(&file, &text).unwrap();
        let run = again(&world).args(["-c", "Two"]).with_small_files(8);
        refused(run, 1, "session", &[file.to_str().unwrap()]);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
        let names = std::fs::read_dir(file.parent().unwrap()).unwrap();
        assert_eq!(names.count(), 1);
    }
}
