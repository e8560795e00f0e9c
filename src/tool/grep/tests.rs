use std::ffi::OsStr;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::time::Duration;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{Arguments, Grep, Search};
use crate::tool::testing::{Bench, text};
use crate::tool::walk::Stop;
use crate::tool::{Tool as _, arguments};

async fn rows(bench: &Bench, args: Value) -> String {
    let (text, details) = bench.ok("grep", args).await;
    assert_eq!(details, None, "{text}");
    text
}

fn lines(count: usize, line: &str) -> String {
    (1..=count).fold(String::new(), |mut all, n| {
        writeln!(all, "{line} {n}").unwrap();
        all
    })
}

#[test]
fn the_schema_is_what_a_model_needs() {
    let schema = Grep.parameters();
    assert_eq!(schema["required"], json!(["pattern"]));
    let types: Vec<_> = schema["properties"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, field)| format!("{name} {}", field["type"].as_str().unwrap()))
        .collect();
    assert_eq!(
        types,
        [
            "pattern string",
            "path string",
            "glob string",
            "ignoreCase boolean",
            "literal boolean",
            "context integer",
            "limit integer"
        ]
    );
}

#[tokio::test]
async fn ignore_files_are_respected_and_hidden_files_searched() {
    let bench = Bench::new();
    for name in [
        "a.txt",
        "a/x.txt",
        "a/keep.log",
        "a/drop.log",
        "b/drop.log",
        "b/c/keep.log",
        "target/out.txt",
        "sub/target/out.txt",
        "sub/only/out.txt",
        ".hidden/x.txt",
        ".env",
        ".git/config",
        "sub/.git",
    ] {
        bench.put(name, "needle\n");
    }
    bench.put(".gitignore", "*.log\n/target/\n");
    bench.put("a/.gitignore", "!keep.log\n");
    bench.put("b/c/.gitignore", "!*.log\n");
    bench.put("sub/.gitignore", "only\n");
    let found = |names: &[&str]| {
        let rows: Vec<_> = names
            .iter()
            .map(|name| format!("{name}:1: needle"))
            .collect();
        rows.join("\n")
    };
    assert_eq!(
        rows(&bench, json!({"pattern": "needle"})).await,
        found(&[
            ".env",
            ".hidden/x.txt",
            "a/keep.log",
            "a/x.txt",
            "a.txt",
            "b/c/keep.log",
            "sub/target/out.txt"
        ])
    );
    // Rules from above the searched folder count, but what is named is searched.
    for (path, names) in [
        ("b", &["b/c/keep.log"][..]),
        ("./a/", &["a/keep.log", "a/x.txt"]),
        ("target", &["target/out.txt"]),
        ("b/drop.log", &["b/drop.log"]),
        (".git", &[".git/config"]),
    ] {
        let got = rows(&bench, json!({"pattern": "needle", "path": path})).await;
        assert_eq!(got, found(names), "{path}");
    }
    let outside = tempfile::tempdir().unwrap();
    let outside = outside.path().canonicalize().unwrap();
    std::fs::write(outside.join("o.txt"), "needle\n").unwrap();
    assert_eq!(
        rows(&bench, json!({"pattern": "needle", "path": &outside})).await,
        format!("{}/o.txt:1: needle", outside.display())
    );
}

#[tokio::test]
async fn the_pattern_is_read_as_asked() {
    let bench = Bench::new();
    bench.put("src/a.rs", "fn Main() {\n    a.b(c)\n}\nfn main2\n");
    bench.put("src/b/c.ts", "fn main\n");
    bench.put("d.md", "fn main");
    for (args, expected) in [
        (
            json!({"pattern": "main"}),
            "d.md 1, src/a.rs 4, src/b/c.ts 1",
        ),
        (
            json!({"pattern": "MAIN", "ignoreCase": true, "glob": "*.rs"}),
            "src/a.rs 1, src/a.rs 4",
        ),
        (json!({"pattern": "main$", "path": "src"}), "src/b/c.ts 1"),
        (json!({"pattern": "^\\s+\\w\\.b\\("}), "src/a.rs 2"),
        (
            json!({"pattern": "a.b(c)", "literal": "true"}),
            "src/a.rs 2",
        ),
        (json!({"pattern": "a.b(c)", "literal": "false"}), ""),
        (
            json!({"pattern": "fn", "glob": "src/*"}),
            "src/a.rs 1, src/a.rs 4",
        ),
        (
            json!({"pattern": "fn", "glob": "src/**/*.{ts,js}"}),
            "src/b/c.ts 1",
        ),
        (
            json!({"pattern": "fn", "glob": "!*.rs"}),
            "d.md 1, src/b/c.ts 1",
        ),
        (json!({"pattern": "fn", "glob": "*.py"}), ""),
        (
            json!({"pattern": "fn", "path": "@src/a.rs", "limit": null}),
            "@src/a.rs 1, @src/a.rs 4",
        ),
    ] {
        let text = rows(&bench, args.clone()).await;
        let got: Vec<_> = text
            .lines()
            .filter_map(|row| {
                let mut parts = row.splitn(3, ':');
                Some(format!("{} {}", parts.next()?, parts.next()?))
            })
            .collect();
        assert_eq!(got.join(", "), expected, "{args}");
        assert_eq!(text == "No matches found", expected.is_empty(), "{text}");
    }
}

#[tokio::test]
async fn wrong_patterns_and_paths_are_explained() {
    let bench = Bench::new();
    bench.put("a.txt", "text");
    bench.put_traps();
    for (args, parts) in [
        (
            json!({"pattern": "foo(bar"}),
            &[
                "regex parse error",
                "foo(bar\n       ^",
                "unclosed group",
                "\"literal\": true",
            ][..],
        ),
        (json!({"pattern": "(?:a{1000}){1000}"}), &["size limit"]),
        (json!({"pattern": "a\nb"}), &["holds a line break"]),
        (
            json!({"pattern": "a\nb", "literal": true}),
            &["holds a line break"],
        ),
        (json!({"pattern": "a\\nb"}), &["holds a line break"]),
        (
            json!({"pattern": "a", "glob": "{a"}),
            &["\"{a\" is not a valid glob"],
        ),
        (
            json!({"pattern": "a", "path": "none"}),
            &["Cannot search none: no such file or directory (ENOENT)"],
        ),
        (
            json!({"pattern": "a", "path": "fifo"}),
            &["it is a named pipe"],
        ),
        (json!({"pattern": "a", "path": "zero"}), &["it is a device"]),
        (
            json!({"pattern": "a", "path": "/dev/zero"}),
            &["it is a device"],
        ),
        (
            json!({"pattern": "a", "context": -1}),
            &["context: expected a whole number from 0, got -1"],
        ),
        (
            json!({"pattern": "a", "literal": "yes"}),
            &["literal: expected true or false, got \"yes\""],
        ),
    ] {
        let text = bench.error("grep", args.clone()).await;
        for part in parts {
            assert!(text.contains(part), "{args}: {text}");
        }
    }
}

#[tokio::test]
async fn context_is_shown_once_and_gaps_are_marked() {
    let bench = Bench::new();
    let mut text = lines(20, "line");
    for n in [3, 5, 12, 20] {
        text = text.replace(&format!("line {n}\n"), &format!("hit {n}\n"));
    }
    bench.put("a.txt", text);
    bench.put("b.txt", "hit\n");
    let args = json!({"pattern": "hit", "context": 2});
    let all = "\
a.txt-1- line 1
a.txt-2- line 2
a.txt:3: hit 3
a.txt-4- line 4
a.txt:5: hit 5
a.txt-6- line 6
a.txt-7- line 7
--
a.txt-10- line 10
a.txt-11- line 11
a.txt:12: hit 12
a.txt-13- line 13
a.txt-14- line 14
--
a.txt-18- line 18
a.txt-19- line 19
a.txt:20: hit 20
--
b.txt:1: hit";
    assert_eq!(rows(&bench, args).await, all);

    // Up to the limit, with the context behind the last match and none of the next one.
    for (limit, end) in [(1, "line 4"), (2, "line 7"), (3, "line 14"), (4, "hit 20")] {
        let args = json!({"pattern": "hit", "context": 2, "limit": limit});
        let (text, details) = bench.ok("grep", args).await;
        let (shown, note) = text.split_once("\n\n").unwrap();
        assert_eq!(shown, &all[..all.find(end).unwrap() + end.len()], "{limit}");
        let higher = limit * 2;
        assert_eq!(
            note,
            format!(
                "[There are more than {limit} matches; use a narrower pattern, path or glob, or \
                 limit={higher}]"
            )
        );
        assert_eq!(details, Some(json!({"matchLimitReached": limit})));
    }
    let args = json!({"pattern": "hit", "context": "2", "limit": 5});
    assert_eq!(rows(&bench, args).await, all);
}

#[tokio::test]
async fn the_first_matches_are_the_same_every_time() {
    let bench = Bench::new();
    for n in 0..300 {
        bench.put(format!("d{}/f{n:03}.txt", n % 7), lines(3, "hit"));
    }
    let mut paths: Vec<_> = (0..300)
        .map(|n| format!("d{}/f{n:03}.txt", n % 7))
        .collect();
    paths.sort();
    let expected: Vec<_> = paths
        .iter()
        .flat_map(|path| (1..=3).map(move |n| format!("{path}:{n}: hit {n}")))
        .take(100)
        .collect();
    for _ in 0..5 {
        let (text, details) = bench.ok("grep", json!({"pattern": "hit"})).await;
        let (shown, _) = text.split_once("\n\n").unwrap();
        assert_eq!(shown, expected.join("\n"));
        assert_eq!(details, Some(json!({"matchLimitReached": 100})));
    }
    let all = rows(&bench, json!({"pattern": "hit", "limit": 900})).await;
    assert_eq!(all.lines().count(), 900);
}

#[tokio::test]
async fn the_text_is_bounded() {
    let bench = Bench::new();
    for n in 0..10 {
        bench.put(format!("f{n}.txt"), lines(300, "hit"));
    }
    let (text, details) = bench
        .ok("grep", json!({"pattern": "hit", "limit": 1_000_000}))
        .await;
    let (shown, note) = text.split_once("\n\n").unwrap();
    assert_eq!(shown.lines().count(), 2000);
    assert_eq!(note, "[Cut at 2000 lines]");
    let truncation = &details.unwrap()["truncation"];
    assert_eq!(truncation["content"], shown);
    assert_eq!(truncation["truncatedBy"], "lines");
    assert_eq!(truncation["totalLines"], 3000);
    assert_eq!(truncation["outputLines"], 2000);

    bench.put("f0.txt", lines(200, &"hit ".repeat(200)));
    let (text, details) = bench
        .ok("grep", json!({"pattern": "hit", "path": "f0.txt"}))
        .await;
    let (shown, note) = text.split_once("\n\n").unwrap();
    assert!(shown.len() <= 51200);
    assert_eq!(
        note,
        "[There are more than 100 matches; use a narrower pattern, path or glob, or limit=200. \
         Cut at 50.0KB. Lines over 500 characters are cut; use read for whole lines]"
    );
    let details = details.unwrap();
    let keys: Vec<_> = details.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["matchLimitReached", "truncation", "linesTruncated"]);
    assert_eq!(details["linesTruncated"], true);
}

#[tokio::test]
async fn lines_may_be_very_long() {
    let bench = Bench::new();
    let before = "x".repeat(1 << 20);
    bench.put("long.js", format!("{before} needle {before}"));
    let (text, details) = bench.ok("grep", json!({"pattern": "needle"})).await;
    let row = text.lines().next().unwrap();
    assert!(row.starts_with("long.js:1: [truncated] ... xxx"), "{row}");
    assert!(row.contains("x needle x"), "{row}");
    assert!(row.len() < 550, "{row}");
    assert_eq!(details, Some(json!({"linesTruncated": true})));

    bench.put("longer.js", before.repeat(17) + "needle");
    bench.put("z.txt", "needle");
    let skipped = "Skipped for a line over 16.0MB: 1 file(s)]";
    let (text, _) = bench.ok("grep", json!({"pattern": "needle"})).await;
    assert!(text.contains("z.txt:1: needle"), "{text}");
    assert!(text.ends_with(skipped), "{text}");
    let args = json!({"pattern": "needle", "path": "longer.js"});
    let (text, details) = bench.ok("grep", args).await;
    assert_eq!(text, format!("No matches found\n\n[{skipped}"));
    assert_eq!(details, None);
}

#[tokio::test]
async fn line_ends_and_encodings_do_not_matter() {
    let bench = Bench::new();
    bench.put("crlf.txt", "one\r\ntwo\r\n\r\nlast two");
    bench.put("latin.txt", b"caf\xe9 two\n");
    let utf16: Vec<u8> = "\u{feff}zwei two\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    bench.put("utf16.txt", utf16);
    bench.put("bom.txt", "\u{feff}two\n");
    assert_eq!(
        rows(&bench, json!({"pattern": "two$"})).await,
        "bom.txt:1: two\ncrlf.txt:2: two\ncrlf.txt:4: last two\nlatin.txt:1: caf\u{fffd} \
         two\nutf16.txt:1: zwei two"
    );
    assert_eq!(
        rows(&bench, json!({"pattern": "^$|^two"})).await,
        "bom.txt:1: two\ncrlf.txt:2: two\ncrlf.txt:3: "
    );
}

#[tokio::test]
async fn binary_files_are_skipped() {
    let bench = Bench::new();
    bench.put("a.bin", b"needle\n\0");
    let late = [
        lines(2000, &"needle ".repeat(20)).into_bytes(),
        b"\0".to_vec(),
    ]
    .concat();
    bench.put("late.bin", late);
    bench.put("z.txt", "needle");
    let args = json!({"pattern": "needle", "limit": 9000});
    assert_eq!(rows(&bench, args).await, "z.txt:1: needle");
    let text = bench
        .error("grep", json!({"pattern": "needle", "path": "a.bin"}))
        .await;
    assert!(text.starts_with("a.bin looks like a binary file"), "{text}");
}

#[tokio::test]
async fn only_regular_files_are_opened_and_names_may_be_odd() {
    let bench = Bench::new();
    bench.put_traps();
    bench.put(OsStr::from_bytes(b"caf\xe9.txt"), "needle");
    bench.put("two\nlines.txt", "needle");
    bench.put("z: 1.txt", "needle");
    assert_eq!(
        rows(&bench, json!({"pattern": "needle"})).await,
        "caf\u{fffd}.txt:1: needle\ntwo\\nlines.txt:1: needle\nz: 1.txt:1: needle"
    );
}

#[tokio::test]
async fn what_cannot_be_read_is_counted() {
    let bench = Bench::new();
    bench.put("dir/a.txt", "needle");
    bench.put("locked.txt", "needle");
    bench.put("z.txt", "needle");
    let locked = bench.lock("locked.txt").and(bench.lock("dir"));
    if locked.is_none() {
        return;
    }
    assert_eq!(
        rows(&bench, json!({"pattern": "needle"})).await,
        "z.txt:1: needle\n\n[Could not be read: 2 file(s) or folder(s)]"
    );
    for path in ["dir", "locked.txt"] {
        let text = bench
            .error("grep", json!({"pattern": "x", "path": path}))
            .await;
        assert_eq!(
            text,
            format!("Cannot search {path}: permission denied (EACCES)")
        );
    }
}

#[tokio::test]
async fn a_search_can_be_stopped() {
    let bench = Bench::new();
    bench.put("a.txt", "needle");
    let args = json!({"pattern": "needle"});
    let parsed: Arguments = arguments::parse("grep", args.as_object().unwrap()).unwrap();
    let late = Stop::after(CancellationToken::new(), Duration::ZERO);
    let output = Search::new(&parsed, &bench.ctx, late)
        .unwrap()
        .run()
        .unwrap();
    let expected = "No matches found\n\n[Stopped after 60 s: this is not everything; search a \
                    smaller folder]";
    assert_eq!(text(&output.result), expected);

    // A file that does not end, as far as anybody can wait.
    let endless = std::fs::File::create(bench.path().join("endless.txt")).unwrap();
    endless.set_len(1 << 40).unwrap();
    bench.ctx.cancel.cancel();
    let stop = Stop::new(bench.ctx.cancel.clone());
    let error = Search::new(&parsed, &bench.ctx, stop)
        .unwrap()
        .run()
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "The call was aborted; nothing was changed"
    );
    bench.error("grep", args).await;
}
