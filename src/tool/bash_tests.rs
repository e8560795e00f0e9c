use std::sync::Arc;
use std::time::{Duration, Instant};

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use super::super::testing::{Bench, text};
use super::{Bash, Tool};
use crate::tool::ToolEnv;

/// What would be for ever without the guards under test.
const HANG: Duration = Duration::from_secs(50);

async fn run(bench: &Bench, command: &str) -> (String, Option<Value>, bool) {
    let call = bench.call("bash", json!({"command": command}));
    let output = timeout(HANG, call).await.expect("the call hangs");
    (text(&output.result), output.result.details, output.is_error)
}

async fn run_for(bench: &Bench, seconds: f64, command: &str) -> String {
    let call = bench.call("bash", json!({"command": command, "timeout": seconds}));
    let output = timeout(HANG, call).await.expect("the call hangs");
    assert!(output.is_error);
    let text = text(&output.result);
    assert!(
        text.contains(&format!("Command timed out after {seconds} seconds")),
        "{text}"
    );
    text
}

async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < HANG, "{what}");
        sleep(Duration::from_millis(10)).await;
    }
}

/// The process whose number a command has put into a file.
async fn pid(bench: &Bench, name: &str) -> u32 {
    let path = bench.path().join(name);
    let read = || {
        std::fs::read_to_string(&path)
            .ok()
            .filter(|text| text.ends_with('\n'))
    };
    until("the pid file appears", || read().is_some()).await;
    read().unwrap().trim().parse().unwrap()
}

fn lives(pid: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return false;
    };
    let state = stat.rsplit(") ").next().unwrap();
    !state.starts_with(['Z', 'X'])
}

async fn dies(pid: u32) {
    until("the process dies", || !lives(pid)).await;
}

#[test]
fn the_schema_is_what_a_model_needs() {
    assert_eq!(
        Bash.parameters(),
        json!({
            "type": "object",
            "properties": {
                "command": {"description": "Command line for bash", "type": "string"},
                "timeout": {
                    "description": "Seconds after which the command is stopped (default: 1800)",
                    "type": "number"
                }
            },
            "required": ["command"]
        })
    );
}

#[tokio::test]
async fn output_comes_in_the_order_it_was_written() {
    let bench = Bench::new();
    bench.put("file.txt", "");
    let command = "for i in 1 2 3; do echo out $i; echo err $i >&2; done; ls";
    let (text, details, is_error) = run(&bench, command).await;
    assert_eq!(text, "out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\nfile.txt");
    assert_eq!((details, is_error), (None, false));
}

#[tokio::test]
async fn the_end_of_a_command_is_told() {
    let bench = Bench::new();
    for (command, expected, failed) in [
        ("true", "(no output)", false),
        ("echo", "(no output)", false),
        (
            "echo oops >&2; exit 3",
            "oops\n\nCommand exited with code 3",
            true,
        ),
        ("exit 1", "(no output)\n\nCommand exited with code 1", true),
        (
            "kill -9 $$",
            "(no output)\n\nCommand was ended by signal: 9 (SIGKILL)",
            true,
        ),
        ("cat; echo end of input", "end of input", false),
        (
            "printf '\\033[31mred\\033[0m 1%%\\r2%%\\n\\0done'",
            "2%\ndone",
            false,
        ),
    ] {
        let details = failed.then(|| json!({}));
        assert_eq!(
            run(&bench, command).await,
            (expected.to_owned(), details, failed),
            "{command}"
        );
    }
    let (text, ..) = run(&bench, "-x").await;
    assert!(
        text.contains("-x: ") && text.ends_with("Command exited with code 127"),
        "{text}"
    );
}

#[tokio::test]
async fn updates_are_snapshots_at_a_measured_pace() {
    let bench = Bench::new();
    let start = Instant::now();
    let (end, ..) = run(&bench, "for i in $(seq 40); do echo $i; sleep 0.02; done").await;
    let most = start.elapsed().as_millis() / 100 + 2; // the empty first one, and the flush
    let updates = bench.updates.lock().unwrap();
    assert!(
        (3..=most).contains(&(updates.len() as u128)),
        "{} of {most}",
        updates.len()
    );
    assert_eq!(json!(updates[0]), json!({"content": []}));
    let texts: Vec<_> = updates[1..].iter().map(text).collect();
    assert!(texts.is_sorted_by(|a, b| a.len() < b.len() && b.starts_with(a.as_str())));
    assert_eq!(texts.last(), Some(&end));
    assert!(
        updates[1..]
            .iter()
            .all(|update| update.details == Some(json!({})))
    );
}

#[tokio::test]
async fn a_character_in_two_pieces_is_whole() {
    let bench = Bench::new();
    let (text, ..) = run(&bench, "printf 'caf\\303'; sleep 0.2; printf '\\251\\n'").await;
    assert_eq!(text, "café");
}

#[tokio::test]
async fn the_full_output_is_in_a_file() {
    let bench = Bench::new();
    let (text, details, is_error) = run(&bench, "seq 5000; exit 4").await;
    let details = details.unwrap();
    let path = details["fullOutputPath"].as_str().unwrap();
    let tail: Vec<_> = (3001..=5000).map(|n| n.to_string()).collect();
    let tail = tail.join("\n");
    assert!(is_error);
    assert_eq!(
        text,
        format!(
            "{tail}\n\n[Lines 3001-5000 of 5000. Full output: {path}]\n\nCommand exited with code 4"
        )
    );
    assert_eq!(
        details["truncation"],
        json!({
            "content": tail, "truncated": true, "truncatedBy": "lines", "totalLines": 5000,
            "totalBytes": 23893, "outputLines": 2000, "outputBytes": 9999,
            "lastLinePartial": false, "firstLineExceedsLimit": false, "maxLines": 2000,
            "maxBytes": 51200
        })
    );
    let full = std::fs::read_to_string(path).unwrap();
    assert_eq!(
        (full.lines().count(), full.lines().next()),
        (5000, Some("1"))
    );
    assert_eq!(
        bench.updates.lock().unwrap().last().unwrap().details,
        Some(details)
    );
    run(&bench, "seq 1000").await;
    let files = bench.path().join("out").read_dir().unwrap().count();
    assert_eq!(files, 1, "a short output makes no file");
}

#[tokio::test]
async fn fifty_megabytes_leave_a_tail_and_a_file() {
    let bench = Bench::new();
    let command = "head -c 49500000 /dev/zero | tr '\\0' x | fold -w 99; echo; echo last";
    let (text, details, _) = run(&bench, command).await;
    let details = details.unwrap();
    let path = details["fullOutputPath"].as_str().unwrap();
    // `fold` ends its last line only if its input does.
    assert_eq!(std::fs::metadata(path).unwrap().len(), 50_000_005);
    assert_eq!(details["truncation"]["totalLines"], 500_001);
    let note = format!("[Lines 499490-500001 of 500001 (50.0KB limit). Full output: {path}]");
    assert!(
        text.ends_with(&format!("x\nlast\n\n{note}")),
        "{}",
        &text[text.len() - 300..]
    );
}

#[tokio::test]
async fn one_long_line_keeps_its_end() {
    let bench = Bench::new();
    let (text, details, _) = run(&bench, "head -c 200000 /dev/zero | tr '\\0' x; echo end").await;
    let note = "\n\n[The last 50.0KB of line 1, which is 195.3KB long. Full output: ";
    let (shown, _) = text
        .split_once(note)
        .unwrap_or_else(|| panic!("{}", &text[text.len() - 300..]));
    assert!(shown.len() == 51200 && shown.ends_with("xend"));
    assert_eq!(details.unwrap()["truncation"]["lastLinePartial"], true);
}

#[tokio::test]
async fn binary_output_becomes_harmless_text() {
    let bench = Bench::new();
    let (text, ..) = run(&bench, "head -c 300000 /dev/urandom; echo; echo end").await;
    let bad = text
        .chars()
        .find(|c| c.is_control() && !matches!(c, '\n' | '\t'));
    assert_eq!(bad, None);
    assert!(text.contains("\nend") && text.len() < 60_000);
}

#[tokio::test]
async fn endless_output_ends_with_its_time() {
    let bench = Bench::new();
    let text = run_for(&bench, 1.0, "echo $$ > pid; yes").await;
    assert!(text.starts_with("y\ny\n") && text.len() < 60_000);
    dies(pid(&bench, "pid").await).await;
}

#[tokio::test]
async fn a_process_that_ignores_sigterm_is_killed() {
    let bench = Bench::new();
    let command = "trap '' TERM; (echo $BASHPID > inner; while :; do sleep 1; done) & \
                   echo $$ > outer; wait";
    run_for(&bench, 1.0, command).await;
    dies(pid(&bench, "outer").await).await;
    dies(pid(&bench, "inner").await).await;
    assert!(!bench.ctx.env.groups.any_alive());
}

#[tokio::test]
async fn a_process_may_clean_up_after_sigterm() {
    let bench = Bench::new();
    // The second one was stopped, and gets the signal all the same.
    for wait in ["sleep 60 & wait", "kill -STOP $$"] {
        let command = format!("trap 'echo bye; exit 0' TERM; {wait}");
        let text = run_for(&bench, 1.0, &command).await;
        assert!(
            text.starts_with("bye\n\nCommand timed out"),
            "{wait}: {text}"
        );
    }
}

#[tokio::test]
async fn an_abort_reaches_all_children() {
    let bench = Bench::new();
    let cancel = bench.ctx.cancel.clone();
    let command = "(sleep 60 & echo $! > pid; wait) | cat; echo never";
    let (result, pid) = tokio::join!(run(&bench, command), async {
        let pid = pid(&bench, "pid").await;
        cancel.cancel();
        pid
    });
    assert_eq!(
        result,
        (
            "(no output)\n\nCommand aborted".to_owned(),
            Some(json!({})),
            true
        )
    );
    dies(pid).await;
    let (text, _, is_error) = run(&bench, "echo never > ran").await;
    assert!(
        is_error && text.starts_with("The call was aborted"),
        "{text}"
    );
    assert!(!bench.path().join("ran").exists());
}

#[tokio::test]
async fn dropping_a_call_kills_its_processes() {
    let bench = Bench::new();
    let args = json!({"command": "trap '' TERM; sleep 60 & echo $! > pid; wait"});
    let mut call = Box::pin(bench.call("bash", args));
    let pid = tokio::select! {
        _ = &mut call => panic!("the command ended"),
        pid = pid(&bench, "pid") => pid,
    };
    assert!(lives(pid));
    drop(call);
    dies(pid).await;
    assert!(!bench.ctx.env.groups.any_alive());
}

#[tokio::test]
async fn a_background_child_does_not_hold_the_call() {
    let bench = Bench::new();
    let (text, _, is_error) = run(&bench, "sleep 60 & echo $! > pid; echo started").await;
    assert_eq!((text.as_str(), is_error), ("started", false));
    let pid = pid(&bench, "pid").await;
    assert!(lives(pid) && bench.ctx.env.groups.any_alive());
    bench.ctx.env.groups.kill_all().await;
    dies(pid).await;
}

#[tokio::test]
async fn a_noisy_background_child_does_not_hold_the_call_either() {
    let bench = Bench::new();
    let (text, _, is_error) = run(&bench, "yes & echo $! > pid").await;
    assert!(text.contains("y\ny\n") && !is_error);
    let pid = pid(&bench, "pid").await;
    assert!(lives(pid), "its pipe is still read");
    bench.ctx.env.groups.kill_now();
    dies(pid).await;
}

#[tokio::test]
async fn a_background_child_may_still_print_after_the_call() {
    let bench = Bench::new();
    let command = "(sleep 0.6; echo late && echo > marker) & echo started";
    assert_eq!(run(&bench, command).await.0, "started");
    let marker = bench.path().join("marker");
    until("the child survives its print", || marker.exists()).await;
}

#[tokio::test]
async fn credentials_do_not_reach_a_command() {
    let mut bench = Bench::new();
    let env = ToolEnv {
        hidden_variables: vec!["HOME".into()],
        ..ToolEnv::default()
    };
    assert_ne!(run(&bench, "printenv HOME").await.0, "(no output)");
    bench.ctx.env = Arc::new(env);
    let (text, ..) = run(&bench, "printenv HOME").await;
    assert_eq!(text, "(no output)\n\nCommand exited with code 1");
}

#[tokio::test]
async fn what_cannot_run_says_why() {
    let mut bench = Bench::new();
    for (seconds, got) in [
        (json!(0), "0"),
        (json!(-1), "-1"),
        (json!("soon"), "\"soon\""),
    ] {
        let text = bench
            .error("bash", json!({"command": "true", "timeout": seconds}))
            .await;
        let part = format!("timeout: expected a number of seconds above 0, got {got}\n");
        assert!(text.contains(&part), "{text}");
    }
    bench
        .ok("bash", json!({"command": "true", "timeout": "1e300"}))
        .await;
    let text = bench
        .error("bash", json!({"command": "x".repeat(1 << 20)}))
        .await;
    assert!(
        text.starts_with("Cannot start the command: the command is too long"),
        "{text}"
    );
    let text = bench.error("bash", json!({"command": "a\0b"})).await;
    assert!(text.starts_with("Cannot start the command: "), "{text}");
    bench.ctx.cwd = bench.path().join("gone");
    let text = bench.error("bash", json!({"command": "true"})).await;
    assert!(
        text.starts_with("The working directory does not exist"),
        "{text}"
    );
}
