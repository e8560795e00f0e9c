use std::fmt::Write as _;
use std::fs::File;

use pretty_assertions::assert_eq;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{Request, Tool};
use crate::tool::Limits;
use crate::tool::testing::{Bench, text};

fn numbered(lines: usize) -> String {
    (1..=lines).fold(String::new(), |mut all, n| {
        writeln!(all, "line {n}").unwrap();
        all
    })
}

#[test]
fn the_schema_is_what_a_model_needs() {
    assert_eq!(
        super::Read.parameters(),
        json!({
            "type": "object",
            "properties": {
                "path": {
                    "description": "Path of the file, absolute or relative to the working directory",
                    "type": "string"
                },
                "offset": {
                    "description": "Line to start from, counted from 1",
                    "type": "integer",
                    "minimum": 1
                },
                "limit": {
                    "description": "Most lines to read",
                    "type": "integer",
                    "minimum": 1
                }
            },
            "required": ["path"]
        })
    );
}

#[tokio::test]
async fn a_small_file_comes_as_it_is() {
    let bench = Bench::new();
    for text in [
        "alpha\nbeta\ngamma\n",
        "no end",
        "",
        "\n",
        "win\r\ndows\r\n",
    ] {
        bench.put("a.txt", text);
        let got = bench
            .ok("read", json!({"path": "a.txt", "unknown": 1}))
            .await;
        assert_eq!(got, (text.to_owned(), None));
    }
    assert!(bench.updates.lock().unwrap().is_empty());
}

#[tokio::test]
async fn offset_and_limit_select_lines() {
    let bench = Bench::new();
    bench.put("a.txt", "a\nb\nc\nd\n");
    let rest = "\n\n[4 lines in the file. Continue with offset=";
    for (args, expected) in [
        (json!({"path": "a.txt", "offset": 3}), "c\nd\n".to_owned()),
        (
            json!({"path": "a.txt", "offset": 3, "limit": 2}),
            "c\nd\n".to_owned(),
        ),
        (
            json!({"path": "a.txt", "offset": 3, "limit": 99}),
            "c\nd\n".to_owned(),
        ),
        (
            json!({"path": "a.txt", "limit": 2}),
            format!("a\nb{rest}3.]"),
        ),
        (
            json!({"path": "a.txt", "offset": "2", "limit": 1.0}),
            format!("b{rest}3.]"),
        ),
        (
            json!({"path": "a.txt", "offset": null, "limit": " 1 "}),
            format!("a{rest}2.]"),
        ),
    ] {
        assert_eq!(
            bench.ok("read", args.clone()).await,
            (expected, None),
            "{args}"
        );
    }
    let past = bench
        .error("read", json!({"path": "a.txt", "offset": 5}))
        .await;
    assert_eq!(
        past,
        "Offset 5 is past the end of a.txt, which has 4 line(s)"
    );
    bench.put("empty", "");
    assert_eq!(
        bench
            .ok("read", json!({"path": "empty", "offset": 1}))
            .await
            .0,
        ""
    );
    bench
        .error("read", json!({"path": "empty", "offset": 2}))
        .await;
}

#[tokio::test]
async fn long_files_are_cut_at_the_line_limit() {
    let bench = Bench::new();
    bench.put("a.txt", numbered(2001));
    let (text, details) = bench.ok("read", json!({"path": "a.txt"})).await;
    assert!(
        text.ends_with("line 2000\n\n[Lines 1-2000 of 2001. Continue with offset=2001.]"),
        "{text}"
    );
    let truncation = &details.unwrap()["truncation"];
    assert_eq!(truncation["content"], numbered(2000).trim_end());
    assert_eq!(
        truncation
            .as_object()
            .unwrap()
            .iter()
            .skip(1)
            .collect::<Vec<_>>(),
        json!({
            "truncated": true, "truncatedBy": "lines", "totalLines": 2001,
            "totalBytes": numbered(2001).len(), "outputLines": 2000,
            "outputBytes": numbered(2000).len() - 1, "lastLinePartial": false,
            "firstLineExceedsLimit": false, "maxLines": 2000, "maxBytes": 51200
        })
        .as_object()
        .unwrap()
        .iter()
        .collect::<Vec<_>>()
    );
    let rest = bench
        .ok("read", json!({"path": "a.txt", "offset": 2001}))
        .await;
    assert_eq!(rest, ("line 2001\n".to_owned(), None));
    bench.put("a.txt", numbered(2000));
    assert_eq!(
        bench.ok("read", json!({"path": "a.txt"})).await,
        (numbered(2000), None)
    );
}

#[tokio::test]
async fn long_lines_are_cut_at_the_byte_limit() {
    let bench = Bench::new();
    let line = format!("{}\n", "é".repeat(500));
    bench.put("a.txt", line.repeat(100));
    let (text, details) = bench
        .ok("read", json!({"path": "a.txt", "offset": 11}))
        .await;
    let (shown, note) = text.split_once("\n\n").unwrap();
    assert_eq!(shown, line.repeat(51).trim_end());
    assert_eq!(
        note,
        "[Lines 11-61 of 100 (50.0KB limit). Continue with offset=62.]"
    );
    let details = details.unwrap();
    assert_eq!(details["truncation"]["truncatedBy"], "bytes");
    assert_eq!(details["truncation"]["totalLines"], 90);

    bench.put("a.txt", format!("ok\n{}", "x".repeat(60_000)));
    let (text, details) = bench
        .ok("read", json!({"path": "a.txt", "offset": 2}))
        .await;
    assert!(
        text.starts_with("[Line 2 is 58.5KB long, over the 50.0KB limit."),
        "{text}"
    );
    assert_eq!(
        details.unwrap()["truncation"]["firstLineExceedsLimit"],
        true
    );
}

#[tokio::test]
async fn bytes_that_are_no_text_are_replaced_or_refused() {
    let bench = Bench::new();
    bench.put("a.txt", b"caf\xe9\n\xf0\x9f\n");
    assert_eq!(
        bench.ok("read", json!({"path": "a.txt"})).await.0,
        "caf\u{fffd}\n\u{fffd}\n"
    );
    bench.put("a.bin", b"\x7fELF\x00\x01");
    let text = bench.error("read", json!({"path": "a.bin"})).await;
    assert!(text.contains("a.bin looks like a binary file"), "{text}");
}

#[tokio::test]
async fn only_regular_files_are_opened() {
    let bench = Bench::new();
    let fifo = bench.path().join("fifo");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    std::os::unix::fs::symlink("fifo", bench.path().join("link")).unwrap();
    let socket = std::os::unix::net::UnixListener::bind(bench.path().join("socket")).unwrap();
    for (path, part) in [
        (
            "missing/a.txt",
            "Cannot read missing/a.txt: no such file or directory (ENOENT)",
        ),
        (
            ".",
            "it is a directory, not a regular file; list it with ls",
        ),
        ("fifo", "it is a named pipe"),
        ("link", "it is a named pipe"),
        ("socket", "it is a socket"),
        ("/dev/zero", "it is a device"),
    ] {
        let text = bench.error("read", json!({"path": path})).await;
        assert!(text.contains(part), "{text}");
    }
    drop(socket);
}

#[tokio::test]
async fn wrong_arguments_are_told_by_field() {
    let bench = Bench::new();
    let text = bench.error("read", json!({"file": 7})).await;
    assert_eq!(
        text,
        "Invalid arguments for the tool \"read\":\n  - missing field `path`\n\nReceived arguments:\n{\n  \"file\": 7\n}"
    );
    for (limit, got) in [
        (json!("two"), "\"two\""),
        (json!(0), "0"),
        (json!(1.5), "1.5"),
    ] {
        let text = bench
            .error("read", json!({"path": "a", "limit": limit}))
            .await;
        let part = format!("  - limit: expected a whole number from 1, got {got}\n");
        assert!(text.contains(&part), "{text}");
    }
}

#[test]
fn a_huge_file_is_neither_loaded_nor_counted_for_ever() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("huge");
    std::fs::write(&path, "start\n".repeat(10_000)).unwrap();
    // Sparse: loading it would need a terabyte.
    File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .set_len(1 << 40)
        .unwrap();
    let request = Request {
        path: &path,
        shown: "huge",
        first: 0,
        lines: u64::MAX,
        limits: Limits::default(),
        count: 4 << 20,
        resize_images: true,
    };
    let output = request.run(&CancellationToken::new()).unwrap();
    let text = text(&output.result);
    assert!(
        text.contains("[Lines 1-2000 of more than 10000. Continue"),
        "{text}"
    );
}

#[tokio::test]
async fn an_aborted_read_says_so() {
    let bench = Bench::new();
    bench.put("a.txt", "text");
    bench.ctx.cancel.cancel();
    assert_eq!(
        bench.error("read", json!({"path": "a.txt"})).await,
        "The call was aborted; nothing was changed"
    );
}

/// The peak memory of this process, in KB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.unwrap()
        .trim()
        .trim_end_matches(" kB")
        .parse()
        .unwrap()
}

/// Runs again in a process of its own, where the memory is that of the reading alone.
#[tokio::test]
async fn a_gigabyte_needs_no_memory() {
    const ALONE: &str = "QUIPU_TEST_ALONE";
    if std::env::var_os(ALONE).is_none() {
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "tool::read::tests::a_gigabyte_needs_no_memory"])
            .env(ALONE, "1")
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && told.contains("1 passed"),
            "{told}"
        );
        return;
    }
    let bench = Bench::new();
    bench.put("huge", "start\n".repeat(10_000));
    let huge = File::options()
        .write(true)
        .open(bench.path().join("huge"))
        .unwrap();
    huge.set_len(1 << 30).unwrap();
    let before = peak();
    let (text, _) = bench.ok("read", json!({"path": "huge"})).await;
    assert!(text.contains("[Lines 1-2000 of 10001. Continue"), "{text}");
    let text = bench
        .error("read", json!({"path": "huge", "offset": 10_001}))
        .await;
    assert!(text.contains("looks like a binary file"), "{text}");
    let text = bench
        .error("grep", json!({"path": "huge", "pattern": "never"}))
        .await;
    assert!(text.contains("looks like a binary file"), "{text}");
    let grown = peak() - before;
    assert!(grown < 16 << 10, "{grown} KB");
}
