//! How fast `grep` and `find` are beside the program `rg` on the same tree: `cargo bench --bench
//! search`. Prints medians and their ratio; `rg` counts with its start, for that is what a model
//! would call through `bash`.
#![allow(clippy::print_stdout, reason = "a bench tells its numbers")]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use quipu::event::InputContent;
use quipu::tool::{ToolContext, ToolEnv, UpdateSink, builtin};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

const FOLDERS: usize = 400;
const FILES: usize = 30;
const LINES: usize = 120;
const RUNS: usize = 15;

fn main() {
    let tree = tempfile::tempdir().expect("a temporary folder");
    fill(tree.path());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    let has_rg = Command::new("rg").arg("--version").output().is_ok();
    if !has_rg {
        println!("rg is not installed: no ratios");
    }
    println!("{} files in {FOLDERS} folders", FOLDERS * FILES);

    let rg = ["--hidden", "--no-require-git", "--glob=!.git"];
    for (what, tool, args, rest) in [
        (
            "grep, a rare word",
            "grep",
            json!({"pattern": "needle", "limit": 10_000}),
            &["-n", "needle"][..],
        ),
        (
            "grep, any case",
            "grep",
            json!({"pattern": "NEEDLE", "ignoreCase": true, "limit": 10_000}),
            &["-n", "-i", "NEEDLE"],
        ),
        (
            "grep, an expression without literals",
            "grep",
            json!({"pattern": "\\w{5}\\s+\\d{7}", "limit": 10_000}),
            &["-n", "\\w{5}\\s+\\d{7}"],
        ),
        (
            "find, a name",
            "find",
            json!({"pattern": "*7.rs", "limit": 10_000}),
            &["--files", "--glob=*7.rs"],
        ),
        (
            "find, a path",
            "find",
            json!({"pattern": "f1?/**/*.rs", "limit": 10_000}),
            &["--files", "--glob=/f1?/**/*.rs"],
        ),
    ] {
        let ours = || lines(&run(&runtime, tree.path(), tool, &args));
        let theirs = || {
            let mut command = Command::new("rg");
            command.args(rg).args(rest).current_dir(tree.path());
            lines(&String::from_utf8_lossy(
                &command.output().expect("rg runs").stdout,
            ))
        };
        // In turns, so that both see the same machine; the first ones only warm it.
        let (mut our_times, mut their_times) = (Vec::new(), Vec::new());
        for _ in 0..=RUNS {
            let found = timed(&mut our_times, ours);
            if has_rg {
                assert_eq!(found, timed(&mut their_times, theirs), "{what}");
            }
        }
        let ours = median(&mut our_times);
        if has_rg {
            let theirs = median(&mut their_times);
            let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
            println!("{what}: {ours:.1?}, rg {theirs:.1?}, ratio {ratio:.2}");
        } else {
            println!("{what}: {ours:.1?}");
        }
    }
    // What rg cannot do: the first matches by path without searching everything.
    let mut times = Vec::new();
    for _ in 0..=RUNS {
        let args = json!({"pattern": "let"});
        timed(&mut times, || {
            lines(&run(&runtime, tree.path(), "grep", &args))
        });
    }
    println!("grep, the first 100 of many: {:.1?}", median(&mut times));
}

/// Source-like files; one folder in ten is ignored, one file in a hundred holds the rare word.
fn fill(root: &Path) {
    let mut state = 1_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    fs::create_dir(root.join(".git")).expect("a folder");
    fs::write(root.join(".gitignore"), "*9/build/\n*.o\n").expect("a file");
    for folder in 0..FOLDERS {
        let name = if folder % 10 == 9 { "build" } else { "src" };
        let path = root.join(format!("f{folder}/{name}/deep"));
        fs::create_dir_all(&path).expect("a folder");
        for file in 0..FILES {
            let mut text = String::new();
            for line in 0..LINES {
                let (a, b) = (random() % 5000, random() % 100_000);
                let _ = writeln!(
                    text,
                    "    let value_{a} = call({b}, \"{line}\"); // and a word"
                );
            }
            if random().is_multiple_of(100) {
                text.push_str("    needle 1234567\n");
            }
            fs::write(path.join(format!("m{file}.rs")), text).expect("a file");
        }
    }
}

fn run(runtime: &Runtime, cwd: &Path, name: &str, args: &Value) -> String {
    let tools = builtin();
    let tool = tools.iter().find(|tool| tool.name() == name);
    let ctx = ToolContext {
        cwd: cwd.to_owned(),
        cancel: CancellationToken::new(),
        updates: UpdateSink::new(|_| ()),
        env: Arc::new(ToolEnv::default()),
    };
    let args = args.as_object().expect("an object");
    let work = tool.expect("a tool").call(args, ctx).expect("arguments");
    let output = runtime.block_on(work).expect("a result");
    match output.result.content.first() {
        Some(InputContent::Text(block)) => block.text.clone(),
        other => panic!("{other:?}"),
    }
}

/// Lines of the answer without the notes at its end.
fn lines(text: &str) -> usize {
    let text = text.split("\n\n").next().unwrap_or_default();
    text.lines().count()
}

fn timed(times: &mut Vec<Duration>, work: impl Fn() -> usize) -> usize {
    let start = Instant::now();
    let found = work();
    times.push(start.elapsed());
    found
}

fn median(times: &mut [Duration]) -> Duration {
    let times = &mut times[1..];
    times.sort();
    times[times.len() / 2]
}
