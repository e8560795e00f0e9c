//! `quipu verify`: its arguments, formats and exit status.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::harness::{Run, World, finish};
use crate::sample::{bytes, header, stream};
use crate::script::text;

fn run(world: &World, args: &[&str]) -> Run {
    world.bare().arg("verify").args(args.iter().copied()).run()
}

fn out(run: &Run) -> &str {
    std::str::from_utf8(&run.stdout).unwrap()
}

/// A world with a sound stream and one with a finding.
fn streams() -> World {
    let world = World::new();
    let text = |lines: &[Value]| String::from_utf8(bytes(lines)).unwrap();
    world.file("sound.jsonl", text(&stream()));
    let mut lines = stream();
    lines[2]["<&\"note"] = 1.into();
    world.file("broken.jsonl", text(&lines));
    world
}

#[test]
fn the_status_tells_the_verdict() {
    let world = streams();
    let sound = run(&world, &["sound.jsonl"]);
    assert_eq!(sound.code(), 0);
    let lines = stream().len();
    assert_eq!(
        sound.stderr,
        format!("valid: {lines} lines, wire quipu, 2 runs, 1 note\n")
    );
    let broken = run(&world, &["broken.jsonl"]);
    assert_eq!(broken.code(), 1);
    assert!(out(&broken).contains("line 3: turn_start: /<&\"note: there is no such field\n"));
    assert!(
        broken.stderr.starts_with("not valid: "),
        "{}",
        broken.stderr
    );
    let both = run(&world, &["sound.jsonl", "broken.jsonl"]);
    assert_eq!(both.code(), 1);
    assert!(out(&both).contains("broken.jsonl: line 3: turn_start: "));
    assert!(
        both.stderr.starts_with("sound.jsonl: valid: "),
        "{}",
        both.stderr
    );
    for args in [
        &["none.jsonl"][..],
        &["."],
        &["--wire", "other"],
        &["--format", "xml"],
        &["--max-findings", "x"],
        &["--follow", "sound.jsonl", "broken.jsonl"],
    ] {
        let run = run(&world, args);
        assert_eq!(run.code(), 2, "{args:?}: {}", run.stderr);
        assert!(!run.stderr.is_empty() && run.stdout.is_empty(), "{args:?}");
    }
    let mixed = run(&world, &["none.jsonl", "sound.jsonl"]);
    assert_eq!(mixed.code(), 2);
    assert!(mixed.stderr.contains("valid: "), "{}", mixed.stderr);
    let piped = world.bare().arg("verify").input(bytes(&stream())).run();
    assert_eq!(piped.code(), 0, "{}", piped.stderr);
    let dash = world
        .bare()
        .args(["verify", "-"])
        .input(bytes(&stream()))
        .run();
    assert_eq!(dash.code(), 0, "{}", dash.stderr);
}

#[test]
fn json_is_a_line_for_each_finding_and_stream() {
    let world = streams();
    let run = run(&world, &["--format", "json", "broken.jsonl"]);
    assert_eq!((run.code(), run.stderr.as_str()), (1, ""));
    let lines: Vec<Value> = out(&run)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let finding = lines
        .iter()
        .find(|line| line["severity"] == "error")
        .unwrap();
    assert_eq!(
        *finding,
        json!({
            "type": "finding", "file": "broken.jsonl", "line": 3, "event": "turn_start",
            "rule": "schema/additionalProperties", "pointer": "/<&\"note", "severity": "error",
            "message": "there is no such field",
        })
    );
    let summary = lines.last().unwrap();
    assert_eq!(summary["type"], "summary");
    assert_eq!(
        (&summary["valid"], &summary["errors"]),
        (&json!(false), &json!(1))
    );
    assert_eq!(
        (&summary["wire"], &summary["runs"]),
        (&json!("quipu"), &json!(2))
    );
}

#[test]
fn annotations_and_reports_are_escaped() {
    let world = streams();
    let github = run(&world, &["--format", "github", "broken.jsonl"]);
    assert!(
        out(&github).contains(
            "::error file=broken.jsonl,line=3,title=schema/additionalProperties::turn_start: /"
        ),
        "{}",
        out(&github)
    );
    let mut lines = stream();
    lines[2]["a:b,c%\nd\u{1}<]]>&\""] = 1.into();
    let text = String::from_utf8(bytes(&lines)).unwrap();
    world.file("odd,na:me&.jsonl", &text);
    let github = run(&world, &["--format", "github", "odd,na:me&.jsonl"]);
    assert!(out(&github).contains("::error file=odd%2Cna%3Ame&.jsonl,line=3,"));
    assert!(out(&github).lines().all(|line| line.starts_with("::")));
    let junit = run(
        &world,
        &["--format", "junit", "odd,na:me&.jsonl", "sound.jsonl"],
    );
    assert_eq!((junit.code(), junit.stderr.as_str()), (1, ""));
    let report = out(&junit);
    assert!(report.contains("tests=\"2\" failures=\"1\""), "{report}");
    assert!(report.contains("&lt;]]&gt;&amp;&quot;") && report.contains("odd,na:me&amp;.jsonl"));
    assert!(
        !report.contains('\u{1}') && report.ends_with("</testsuites>\n"),
        "{report}"
    );
}

#[test]
fn findings_have_a_limit() {
    let world = World::new();
    let lines: Vec<Value> = std::iter::once(header())
        .chain((0..300).map(|_| json!({ "type": "nope" })))
        .collect();
    world.file("many.jsonl", String::from_utf8(bytes(&lines)).unwrap());
    let few = run(
        &world,
        &["--wire", "quipu", "--max-findings", "5", "many.jsonl"],
    );
    assert_eq!(out(&few).lines().count(), 5);
    assert!(few.stderr.contains("more findings"), "{}", few.stderr);
    assert_eq!(
        out(&run(&world, &["--wire", "quipu", "many.jsonl"]))
            .lines()
            .count(),
        100
    );
}

#[test]
fn a_session_file_is_told_from_a_stream() {
    let world = World::new();
    world
        .offline(&json!([text("Hi.")]))
        .arg("Hello")
        .run()
        .stream();
    let files = crate::session_file::files(&crate::session_file::sessions(&world));
    let file = files[0].to_str().unwrap();
    let verified = run(&world, &[file]);
    assert_eq!(verified.code(), 1);
    assert_eq!(out(&verified).lines().count(), 1, "{}", out(&verified));
    assert!(
        out(&verified).contains("quipu sessions"),
        "{}",
        out(&verified)
    );
}

#[test]
fn lines_left_out_are_no_fault_when_each_is_looked_at_by_itself() {
    let world = World::new();
    let quipu = world.offline(&json!([text("Hi.")]));
    let final_only = quipu.args(["--events", "final", "Hello"]).run();
    world.file(
        "final.jsonl",
        std::str::from_utf8(&final_only.stdout).unwrap(),
    );
    let verified = run(&world, &["final.jsonl"]);
    assert_eq!(verified.code(), 1);
    let verified = run(&world, &["--lines-only", "final.jsonl"]);
    assert_eq!(verified.code(), 0, "{}", out(&verified));
    // Nor are their numbers; and the terminal line ends what is followed.
    let sample = world.bare().arg("sample").run();
    let left: Vec<&str> = std::str::from_utf8(&sample.stdout)
        .unwrap()
        .lines()
        .filter(|line| !line.contains("message_update"))
        .collect();
    assert!(left[1].contains("\"seq\""));
    world.file("left.jsonl", left.join("\n") + "\n");
    let verified = run(&world, &["--lines-only", "--follow", "left.jsonl"]);
    assert_eq!(verified.code(), 0, "{}", out(&verified));
}

#[test]
fn a_pipe_is_judged_while_it_flows() {
    let world = World::new();
    let mut quipu = world.bare().arg("verify").open_input();
    let mut child = quipu.start(Stdio::piped());
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut lines = stream();
    lines[2]["note"] = 1.into();
    input.write_all(&bytes(&lines[..3])).unwrap();
    let mut found = String::new();
    // The rest of the stream is still to come.
    while !found.contains("no such field") {
        found.clear();
        output.read_line(&mut found).unwrap();
        assert!(!found.is_empty());
    }
    drop(input);
    let (status, _) = finish(child);
    assert_eq!(status.code(), Some(1));
}

#[test]
fn a_growing_file_is_followed_to_its_end() {
    let world = World::new();
    let whole = bytes(&stream());
    let half = whole.len() / 2;
    world.file("growing.jsonl", "");
    let path = world.work().join("growing.jsonl");
    std::fs::write(&path, &whole[..half]).unwrap();
    let mut quipu = world.bare().args(["verify", "--follow", "growing.jsonl"]);
    let child = quipu.start(Stdio::piped());
    std::thread::sleep(std::time::Duration::from_millis(150));
    let mut file = std::fs::OpenOptions::new()
        .append(true)
        .open(&path)
        .unwrap();
    file.write_all(&whole[half..]).unwrap();
    let (status, stderr) = finish(child);
    assert_eq!(status.code(), Some(0), "{stderr}");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let world = World::new();
    let lines: Vec<Value> = (0..20_000).map(|_| json!({ "type": "nope" })).collect();
    world.file("many.jsonl", String::from_utf8(bytes(&lines)).unwrap());
    let args = [
        "verify",
        "--wire",
        "quipu",
        "--max-findings",
        "100000",
        "many.jsonl",
    ];
    let mut quipu = world.bare().args(args);
    let mut child = quipu.start(Stdio::piped());
    let mut output = child.stdout.take().unwrap();
    output.read_exact(&mut [0; 10]).unwrap();
    drop(output);
    let (status, stderr) = finish(child);
    assert_eq!((status.code(), stderr.as_str()), (Some(0), ""));
}

/// A way to spoil a file while it is read.
type Spoil = fn(&std::path::Path);

#[test]
fn a_file_that_is_cut_or_gone_is_followed_no_longer() {
    let cases: [(Spoil, i32, &str); 3] = [
        (
            |path| {
                let file = std::fs::OpenOptions::new().write(true).open(path);
                file.unwrap().set_len(3).unwrap();
            },
            2,
            "it was cut to 3 bytes",
        ),
        (|path| std::fs::remove_file(path).unwrap(), 1, "not valid"),
        (
            |path| std::fs::rename(path.with_file_name("other.jsonl"), path).unwrap(),
            1,
            "not valid",
        ),
    ];
    for (spoil, code, says) in cases {
        let world = World::new();
        let lines = stream();
        let path = world.work().join("growing.jsonl");
        world.file("other.jsonl", "");
        std::fs::write(&path, bytes(&lines[..3])).unwrap();
        let mut quipu = world.bare().args(["verify", "--follow", "growing.jsonl"]);
        let child = quipu.start(Stdio::piped());
        std::thread::sleep(std::time::Duration::from_millis(300));
        spoil(&path);
        let (status, stderr) = finish(child);
        assert_eq!(status.code(), Some(code), "{stderr}");
        assert!(stderr.contains(says), "{stderr}");
    }
}

#[test]
fn a_file_that_cannot_be_read_is_in_every_report() {
    let world = streams();
    for (format, says) in [
        (
            "json",
            "{\"type\":\"unread\",\"file\":\"none.jsonl\",\"message\":\"none.jsonl cannot",
        ),
        (
            "github",
            "::error file=none.jsonl,title=unread::none.jsonl cannot be read",
        ),
        ("junit", "<error message=\"none.jsonl cannot be read"),
    ] {
        let args = ["--format", format, "none.jsonl", "sound.jsonl"];
        let mixed = run(&world, &args);
        assert_eq!(mixed.code(), 2);
        assert!(out(&mixed).contains(says), "{}", out(&mixed));
        assert!(mixed.stderr.contains("none.jsonl cannot be read"));
    }
    let junit = run(&world, &["--format", "junit", "none.jsonl", "sound.jsonl"]);
    let counts = "tests=\"2\" failures=\"0\" errors=\"1\"";
    assert!(out(&junit).contains(counts), "{}", out(&junit));
}

#[test]
fn an_empty_stream_is_told_in_words() {
    let world = World::new();
    world.file("empty.jsonl", "");
    let empty = run(&world, &["empty.jsonl"]);
    assert_eq!(empty.code(), 1);
    assert_eq!(
        out(&empty),
        "the stream is empty: not even its header was written\n"
    );
}

#[test]
fn a_signal_ends_the_wait_for_a_pipe() {
    let world = World::new();
    let pipe = world.work().join("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
    let mut quipu = world.bare().args(["verify", "--follow", "pipe"]);
    let child = quipu.start(Stdio::piped());
    // It opens for writing only when there is a reader.
    let mut into = std::fs::OpenOptions::new().write(true).open(&pipe).unwrap();
    into.write_all(&bytes(&stream()[..3])).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let (status, stderr) = finish(child);
    assert_eq!(status.code(), Some(1), "{stderr}");
    assert!(stderr.starts_with("not valid: 3 lines"), "{stderr}");
}
