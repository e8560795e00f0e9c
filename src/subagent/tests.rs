//! The manager with children that do not behave: shells in place of `quipu`.

use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{Config, Definitions, Manager, Parent, Task, Work};
use crate::config::Secrets;
use crate::event::{ModelRef, Outcome, ThinkingLevel, sample};
use crate::model::Secret;
use crate::tool::ProcessGroups;
use crate::wire::{Ending, Output, WireOptions};

/// A sink that keeps what is written, and can be shut for a while.
#[derive(Clone, Default)]
pub(super) struct Sink(Arc<(Mutex<Kept>, Condvar)>);

#[derive(Default)]
struct Kept {
    bytes: Vec<u8>,
    shut: bool,
    /// Only line ends are counted.
    counts: bool,
    count: usize,
}

impl Sink {
    fn shut(&self, shut: bool) {
        self.0.0.lock().unwrap().shut = shut;
        self.0.1.notify_all();
    }

    pub(super) fn lines(&self) -> Vec<Value> {
        let kept = self.0.0.lock().unwrap();
        let text = std::str::from_utf8(&kept.bytes).unwrap();
        let line = |line| serde_json::from_str(line).unwrap();
        text.lines().map(line).collect()
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let (kept, changed) = &*self.0;
        let kept = kept.lock().unwrap();
        let mut kept = changed.wait_while(kept, |kept| kept.shut).unwrap();
        if kept.counts {
            kept.count += memchr::memchr_iter(b'\n', bytes).count();
        } else {
            kept.bytes.extend_from_slice(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

struct Bench {
    dir: tempfile::TempDir,
    sink: Sink,
    output: Output,
    manager: Arc<Manager>,
    unique: String,
}

impl Bench {
    /// A manager whose children run `script` in `sh`.
    async fn new(script: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let sink = Sink::default();
        let cancel = CancellationToken::new();
        let options = WireOptions::default();
        let (events, output) = Output::start(options, sink.clone(), || 0, cancel.clone()).unwrap();
        events.send(sample::rich().remove(0)).await.unwrap();
        let mut secrets = Secrets::default();
        secrets.hold("held-by-the-parent");
        let unique = uuid::Uuid::new_v4().simple().to_string();
        let manager = Manager::new(Config {
            program: "sh".into(),
            // The flags of a child become $0, $1 …
            args: vec!["-c".into(), script.into()],
            variables: Vec::new(),
            definitions: Definitions::built_in(),
            parent: Parent {
                model: ModelRef {
                    provider: "p".into(),
                    id: "m".into(),
                },
                thinking: ThinkingLevel::Low,
                tools: ["read", "bash"].map(str::to_owned).to_vec(),
                cwd: dir.path().to_owned(),
                key: Some(("p".into(), Secret::new("the-key-of-p"))),
                script: None,
                path: unique.clone(),
                may_nest: false,
            },
            sessions: None,
            max_concurrent: 4,
            max_cost: Some(1.0),
            events,
            cancel,
            groups: ProcessGroups::default(),
            secrets: Arc::new(secrets),
        });
        Self {
            dir,
            sink,
            output,
            manager,
            unique,
        }
    }

    async fn start(&self) -> String {
        let work = Work::Single(task("work"));
        self.manager.start(work, "task".into()).await.unwrap()
    }

    /// Ends the stream and gives its lines.
    async fn lines(self) -> Vec<Value> {
        self.manager.stop().await;
        let ending = Ending {
            outcome: Outcome::Completed,
            exit_code: 0,
            error: None,
            model: None,
        };
        let finished = self.output.finish(ending, std::future::pending()).await;
        assert_eq!(finished.disorder, None);
        self.sink.lines()
    }

    /// Runs one agent to its end; gives its result, the lines passed on, and its end.
    async fn run(self) -> (String, Vec<Value>, Value) {
        self.start().await;
        assert!(self.manager.result().await);
        let result = self.manager.take_result().unwrap();
        assert!(!self.manager.result().await);
        let lines = self.lines().await;
        let of = |kind: &str| {
            let lines = lines.iter().filter(|line| line["type"] == kind);
            lines.cloned().collect::<Vec<_>>()
        };
        let passed = of("background_agent_event");
        let passed = passed.iter().map(|line| line["event"].clone()).collect();
        let end = of("background_agent_end").remove(0);
        (result, passed, end)
    }
}

fn task(text: &str) -> Task {
    Task {
        agent: "Explore".into(),
        task: text.into(),
        cwd: None,
        model: None,
        thinking: None,
    }
}

/// A line of shell that prints a line of a stream.
fn print(line: &Value) -> String {
    format!("printf '%s\\n' '{line}'\n")
}

fn end(outcome: &str, cost: f64) -> Value {
    let mut usage = sample::usage(1, 2);
    usage["cost"]["total"] = json!(cost);
    json!({ "type": "stream_end", "outcome": outcome, "exitCode": 0, "usage": usage, "turns": 1,
            "lines": 2 })
}

fn start() -> Value {
    json!({ "type": "agent_start", "model": { "provider": "p", "id": "m" }, "thinkingLevel": "low" })
}

fn is_alive(file: &Path) -> bool {
    let pid = std::fs::read_to_string(file).unwrap();
    // A process that nobody has collected yet is dead all the same.
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit(')')
        .next()
        .is_some_and(|rest| !rest.trim().is_empty() && !rest.trim().starts_with('Z'))
}

#[tokio::test]
async fn the_task_comes_by_standard_input_and_the_rest_by_arguments() {
    let script =
        "echo \"$0 $@\" > args; cat > task; echo \"$QUIPU_AGENT $QUIPU_AGENT_KEY\" > own\n";
    let bench = Bench::new(&(script.to_owned() + &print(&end("completed", 0.0)))).await;
    let folder = bench.dir.path().to_owned();
    let unique = bench.unique.clone();
    let id = bench.start().await;
    assert!(bench.manager.result().await);
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    assert_eq!(read("task"), "work");
    let handed = r#"{"key":["p","the-key-of-p"],"hidden":["held-by-the-parent"]}"#;
    assert_eq!(read("own"), format!("{unique}/{id} {handed}\n"));
    let args = read("args");
    for word in [
        "--mode=json --model=p/m --usual-thinking=low --agent-type=Explore",
        "--tools=read,bash",
        "--no-session",
        "--agent-prompt=You explore",
    ] {
        assert!(args.contains(word), "{args}");
    }
    assert!(!args.contains("the-key"), "{args}");
    assert!(!bench.manager.has_result() || bench.manager.take_result().is_some());
}

#[test]
fn the_key_is_for_its_own_provider_only() {
    let key = ("p".to_owned(), Secret::new("the-key-of-p"));
    let handover = super::Handover::new(Some(key), &Secrets::default());
    assert!(handover.key_for("p").is_some());
    assert!(handover.key_for("q").is_none());
    let clean = handover.secrets();
    assert_eq!(clean.scrub("it is the-key-of-p"), "it is <redacted>");
    assert!(!format!("{handover:?}").contains("the-key"));
}

#[tokio::test]
async fn what_the_parent_hides_is_hidden_in_lines_of_children_too() {
    let update = json!({ "type": "tool_execution_end", "toolCallId": "a", "toolName": "read",
        "result": { "content": [{ "type": "text", "text": "it: held-by-the-parent." }],
                    "details": { "a": ["held-by-the-parent"] } }, "isError": false });
    let script = print(&start()) + &print(&update) + &print(&end("completed", 0.0));
    let (_, passed, _) = Bench::new(&script).await.run().await;
    assert_eq!(passed.len(), 3);
    let told = passed[1].to_string();
    assert_eq!(told.matches("<redacted>").count(), 2, "{told}");
    assert!(!told.contains("held-by"), "{told}");
}

#[tokio::test]
async fn what_is_no_line_of_a_stream_becomes_no_event() {
    let turn = json!({ "type": "turn_start" });
    let script = print(&start())
        + "echo 'hello { world'\necho '{\"type\":\"no_such\"}'\nprintf '\\377\\n\\n'\n"
        + &print(&turn)
        + "echo to the side >&2\n"
        + &print(&end("completed", 0.5))
        + &print(&turn)
        + "printf cut";
    let (result, passed, ended) = Bench::new(&script).await.run().await;
    assert_eq!(passed, [start(), turn, end("completed", 0.5)]);
    assert_eq!(
        (&ended["success"], &ended["model"], &ended["thinking"]),
        (&json!(true), &json!("p/m"), &json!("low"))
    );
    assert!(
        result.contains("is done.\n\nExecution metadata: model: p/m, thinking: low\n\n(no output)")
    );
}

#[tokio::test]
async fn only_a_whole_stream_and_a_good_status_are_a_success() {
    for (script, error) in [
        (print(&start()) + "exit 7", "broke off (exit status: 7)"),
        (print(&start()) + "kill -9 $$", "broke off (signal: 9"),
        (print(&start()), "ended without finishing"),
        (
            print(&end("completed", 0.0)) + "exit 1",
            "broke off (exit status: 1)",
        ),
        (print(&end("failed", 0.0)), "ended without finishing"),
    ] {
        let (result, _, ended) = Bench::new(&script).await.run().await;
        assert_eq!(ended["success"], false, "{script}");
        assert!(
            result.contains(&format!("Error: The agent {error}")),
            "{script}: {result}"
        );
        assert!(result.contains("has failed."), "{result}");
    }
}

#[tokio::test]
async fn a_program_that_is_not_there_is_told() {
    let bench = Bench::new("").await;
    let gone = Task {
        cwd: Some("nowhere".into()),
        ..task("x")
    };
    let outside = Task {
        cwd: Some("../x".into()),
        ..task("x")
    };
    for task in [gone, outside] {
        bench
            .manager
            .start(Work::Single(task), String::new())
            .await
            .unwrap();
    }
    let mut told = String::new();
    for _ in 0..2 {
        assert!(bench.manager.result().await);
        told.push_str(&bench.manager.take_result().unwrap());
    }
    assert!(
        told.contains("There is no folder ") && told.contains("leads out of"),
        "{told}"
    );
}

#[tokio::test]
async fn costs_are_those_of_messages_until_the_end_has_the_sum() {
    let script = print(&start())
        + &print(&costly(0.25, "stop"))
        + "touch half\nwhile ! test -e go; do sleep 0.01; done\n"
        + &print(&end("completed", 0.75));
    let bench = Bench::new(&script).await;
    bench.start().await;
    while bench.manager.cost() == 0.0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(bench.manager.cost().to_string(), "0.25");
    std::fs::write(bench.dir.path().join("go"), "").unwrap();
    assert!(bench.manager.result().await);
    assert_eq!(bench.manager.cost().to_string(), "0.75");
    assert!(bench.manager.take_result().unwrap().contains("Said."));
    let lines = bench.lines().await;
    assert_eq!(lines.last().unwrap()["usage"]["cost"]["total"], 0.75);
}

/// A line of a child whose answer has cost so much.
fn costly(cost: f64, reason: &str) -> Value {
    let mut usage = sample::usage(1, 2);
    usage["cost"]["total"] = json!(cost);
    let mut answer = sample::answer(&json!([{ "type": "text", "text": "Said." }]), reason);
    answer["usage"] = usage;
    json!({ "type": "message_end", "message": answer })
}

#[tokio::test]
async fn agents_together_end_at_the_limit_of_cost() {
    // None of them reaches the limit by itself, and none ends by itself.
    let script = print(&start()) + &print(&costly(0.4, "toolUse")) + "sleep 600";
    let bench = Bench::new(&script).await;
    for _ in 0..5 {
        bench.start().await;
    }
    for _ in 0..5 {
        assert!(bench.manager.result().await);
        let told = bench.manager.take_result().unwrap();
        assert!(
            told.contains("limit of cost is reached (--max-cost)"),
            "{told}"
        );
    }
    assert!(bench.manager.cost() >= 1.0);
    assert!(!bench.lines().await.is_empty());
}

#[tokio::test]
async fn an_agent_that_is_done_at_the_limit_of_cost_is_a_success() {
    let script = print(&start())
        + &print(&costly(2.0, "stop"))
        + "sleep 0.3\n"
        + &print(&end("completed", 2.0));
    let (result, _, ended) = Bench::new(&script).await.run().await;
    assert_eq!(ended["success"], true, "{result}");
    let goes_on = print(&start())
        + &print(&costly(2.0, "stop"))
        + &print(&json!({ "type": "turn_start" }))
        + "sleep 600";
    let (result, _, ended) = Bench::new(&goes_on).await.run().await;
    assert_eq!(ended["success"], false, "{result}");
}

#[tokio::test]
async fn an_answer_that_was_cut_is_told_as_such() {
    for (reason, told) in [("length", true), ("stop", false)] {
        let script =
            print(&start()) + &print(&costly(0.1, reason)) + &print(&end("completed", 0.1));
        let (result, _, ended) = Bench::new(&script).await.run().await;
        assert_eq!(ended["success"], true);
        assert_eq!(
            result.contains("[The last answer was cut"),
            told,
            "{result}"
        );
    }
}

#[tokio::test]
async fn what_agents_of_agents_cost_counts_while_they_run() {
    let below = json!({ "type": "background_agent_event", "agentId": "a", "event": costly(1.5, "toolUse") });
    let script = print(&start()) + &print(&below) + "sleep 600";
    let bench = Bench::new(&script).await;
    bench.start().await;
    assert!(bench.manager.result().await);
    assert_eq!(bench.manager.cost().to_string(), "1.5");
}

#[tokio::test]
async fn a_flood_is_passed_on_whole() {
    let piece = "x".repeat(10_000);
    let line = json!({ "type": "tool_execution_update", "toolCallId": "a", "toolName": "bash",
                       "args": {}, "partialResult": { "content": [{ "type": "text", "text": piece }] } });
    let count = 1_000; // 10 MB
    let script = format!("yes '{line}' | head -n {count}\n") + &print(&end("completed", 0.0));
    let bench = Bench::new(&script).await;
    bench.sink.0.0.lock().unwrap().counts = true;
    bench.start().await;
    assert!(bench.manager.result().await);
    assert!(bench.manager.take_result().unwrap().contains("is done"));
    let sink = bench.sink.clone();
    bench.lines().await;
    // Start and end of the agent, the end of its stream and of ours; the header may have come before.
    let written = sink.0.0.lock().unwrap().count;
    assert!((count + 4..=count + 5).contains(&written), "{written}");
}

#[tokio::test]
async fn a_flood_of_garbage_is_passed_over() {
    let script = "g=garbage; g=$g$g$g$g; g=$g$g$g$g; yes $g$g$g$g$g | head -c 20000000\n"
        .to_owned()
        + &print(&end("completed", 0.0));
    let (_, passed, ended) = Bench::new(&script).await.run().await;
    // The end stands on the line that the flood was cut in.
    assert!(passed.len() <= 1, "{}", passed.len());
    assert_eq!(ended["success"], !passed.is_empty());
}

#[tokio::test]
async fn an_agent_that_does_not_listen_is_killed() {
    let script = "trap '' TERM; echo $$ > pid; sleep 600 & echo $! > sleep; touch ready; while :; do wait; done";
    let bench = Bench::new(script).await;
    bench.start().await;
    while !bench.dir.path().join("ready").exists() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    bench.manager.stop().await;
    for name in ["pid", "sleep"] {
        assert!(!is_alive(&bench.dir.path().join(name)), "{name}");
    }
    let told = bench.manager.take_result().unwrap();
    assert!(told.contains("Error: The agent was stopped."), "{told}");
}

#[tokio::test]
async fn a_reader_that_takes_nothing_does_not_keep_agents_alive() {
    let line = json!({ "type": "turn_start" });
    let script = format!("echo $$ > pid; yes '{line}'");
    let bench = Bench::new(&script).await;
    bench.sink.shut(true);
    bench.start().await;
    let pid = bench.dir.path().join("pid");
    while !pid.exists() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // Long enough for the queue to be full; if it is not, less is shown.
    tokio::time::sleep(Duration::from_millis(200)).await;
    bench.manager.stop.cancel();
    while is_alive(&pid) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    bench.sink.shut(false);
    bench.lines().await;
}

#[tokio::test]
async fn somebody_who_holds_the_pipe_is_not_waited_for() {
    let script = "setsid sleep 600 &\n".to_owned() + &print(&end("completed", 0.0));
    let bench = Bench::new(&script).await;
    let path = bench.unique.clone();
    let (_, _, ended) = bench.run().await;
    assert_eq!(ended["success"], true);
    super::process::sweep(&path);
}

#[tokio::test]
async fn nothing_is_left_of_an_agent_that_is_stopped() {
    // It ends in good order, but what it started has a session of its own.
    let script = "setsid sh -c 'echo $$ > pid; touch ready; sleep 600' &\nbye() {\n".to_owned()
        + &print(&end("completed", 0.0))
        + "exit 0\n}\ntrap bye TERM\nwhile :; do sleep 0.05; done";
    let bench = Bench::new(&script).await;
    bench.start().await;
    while !bench.dir.path().join("ready").exists() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    bench.manager.stop().await;
    // A killed process takes a moment to be gone.
    let pid = bench.dir.path().join("pid");
    for _ in 0..1000 {
        if !is_alive(&pid) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    super::process::sweep(&bench.unique);
    panic!("it is still there");
}

#[tokio::test]
async fn agents_that_wait_for_a_place_are_ended_too() {
    let bench = Bench::new("sleep 600").await;
    for _ in 0..6 {
        bench.start().await;
    }
    assert_eq!(bench.manager.at_work().len(), 6);
    bench.manager.stop().await;
    assert!(bench.manager.is_idle());
    let lines = bench.lines().await;
    let ends = lines
        .iter()
        .filter(|line| line["type"] == "background_agent_end");
    assert_eq!(ends.filter(|line| line["success"] == false).count(), 6);
}
