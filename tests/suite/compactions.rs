//! Conversations that grow too long.

use std::collections::BTreeSet;
use std::sync::mpsc::Receiver;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::anthropic::{KEY, plain, sse};
use crate::check::{Stream, kind, text_at};
use crate::compaction_cases::CASES;
use crate::harness::{PATIENCE, Quipu, Run, World};
use crate::redact::Shot;
use crate::script::{call, text};
use crate::server::{Request, serve};

const SUMMARY: &str = "## Goal\nTest it.\n\n## Next Steps\n1. Go on.";

/// A conversation that is played.
struct Case {
    name: &'static str,
    settings: Value,
    window: u64,
    steps: Vec<Value>,
    prompts: Vec<&'static str>,
}

impl Case {
    /// A window of 1000 tokens, of which 600 are for the conversation, 4 of them for what is kept.
    fn new(name: &'static str, steps: impl IntoIterator<Item = Value>) -> Self {
        Self {
            name,
            settings: json!({
                "retry": { "maxRetries": 2, "baseDelayMs": 1 },
                "compaction": { "reserveTokens": 400, "keepRecentTokens": 4 },
            }),
            window: 1000,
            steps: steps.into_iter().collect(),
            prompts: vec!["first question", "second question"],
        }
    }

    fn prompts<const N: usize>(mut self, prompts: [&'static str; N]) -> Self {
        self.prompts = prompts.into();
        self
    }

    fn setting(mut self, pointer: &str, value: impl Into<Value>) -> Self {
        *self.settings.pointer_mut(pointer).unwrap() = value.into();
        self
    }

    fn window(mut self, window: u64) -> Self {
        self.window = window;
        self
    }

    fn world(&self) -> World {
        let world = World::new();
        world.config("settings.json", self.settings.to_string());
        world.file("notes.txt", format!("{}\n", "note ".repeat(30)));
        world.file("more.txt", format!("{}\n", "more ".repeat(30)));
        world
    }

    fn quipu(&self, world: &World) -> Quipu {
        let script = json!({ "context_window": self.window, "steps": self.steps });
        world
            .script(&script.to_string())
            .args(self.prompts.iter().copied())
    }

    fn run(&self) -> (World, Run) {
        let world = self.world();
        let run = self.quipu(&world).run();
        (world, run)
    }
}

/// An answer of about 40 tokens, after which the service counts so many in the context.
fn long(counted: u64) -> Value {
    let words = "The first answer is long enough to be summed up. ".repeat(4);
    json!({ "blocks": [{ "text": words, "chunk": 400 }],
            "usage": { "input": counted - 40, "output": 40 } })
}

/// A short answer, after which the service counts so many tokens.
fn short(words: &str, counted: u64) -> Value {
    json!({ "blocks": [{ "text": words, "chunk": 400 }],
            "usage": { "input": counted - 4, "output": 4 } })
}

fn summary() -> Value {
    json!({ "blocks": [{ "text": SUMMARY, "chunk": 20 }], "usage": { "input": 80, "output": 12 } })
}

fn read(id: &str, path: &str, counted: u64) -> Value {
    json!({ "blocks": [call("read", id, &json!({ "path": path }))],
            "usage": { "input": counted - 8, "output": 8 } })
}

fn error(name: &str) -> Value {
    json!({ "error": name })
}

fn after() -> Value {
    short("An answer after the compaction.", 90)
}

/// The cases that play without anybody's doing.
#[allow(clippy::too_many_lines, reason = "a table of cases")]
fn cases() -> Vec<Case> {
    let small = |name| short(name, 50);
    let cut = json!({ "blocks": [{ "text": "Half of a summary", "chunk": 5 }], "abort_after": 2,
                      "usage": { "input": 80, "output": 4 } });
    let no_room =
        json!({ "blocks": [], "stop": "max_tokens", "usage": { "input": 995, "output": 0 } });
    let reads = || {
        vec![
            read("call_1", "notes.txt", 120),
            read("call_2", "more.txt", 700),
        ]
    };
    let useless = json!({ "blocks": [{ "text": "As long as what it is about. ".repeat(15), "chunk": 500 }],
                          "usage": { "input": 80, "output": 110 } });
    let mut answers = short("More words than are kept.", 700);
    answers["times"] = 11.into();
    let mut summaries = summary();
    summaries["match"] = json!({ "first": "<conversation>" });
    summaries["times"] = 99.into();
    vec![
        Case::new(
            "compaction_overflow",
            [long(140), error("overflow"), summary(), after()],
        ),
        Case::new(
            "compaction_no_room",
            [long(140), no_room, summary(), after()],
        ),
        Case::new(
            "compaction_silent_overflow",
            [long(140), short("Good.", 1200), summary(), after()],
        )
        .prompts(["first question", "second question", "third question"]),
        Case::new(
            "compaction_after_run",
            [long(140), short("Full.", 700), summary(), after()],
        )
        .prompts(["first question", "second question", "third question"]),
        Case::new("compaction_before_prompt", [long(599), summary(), after()]),
        Case::new(
            "compaction_between_turns",
            [reads(), vec![summary(), after()]].concat(),
        )
        .prompts(["Read both files."]),
        Case::new(
            "compaction_again",
            [
                long(700),
                summary(),
                long(700),
                summary(),
                summary(),
                after(),
            ],
        )
        .prompts(["first question", "second question", "third question"]),
        Case::new("compaction_nothing", [error("overflow"), text("never")])
            .prompts(["first question"]),
        Case::new(
            "compaction_would_overflow",
            [long(90), short("Full.", 190), useless],
        )
        .window(200),
        Case::new(
            "compaction_breaker",
            [
                long(700),
                error("auth"),
                long(700),
                error("auth"),
                long(700),
                error("auth"),
                long(700),
                text("never"),
            ],
        )
        .prompts(["one", "two", "three", "four"]),
        Case::new("compaction_cap", [answers, summaries]).prompts([
            "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
        ]),
        Case::new("compaction_disabled", [long(700), error("overflow")])
            .setting("/compaction", json!({ "enabled": false })),
        Case::new(
            "compaction_after_retries",
            [
                long(140),
                error("overloaded"),
                error("overflow"),
                summary(),
                after(),
            ],
        ),
        Case::new(
            "compaction_then_retry",
            [
                long(140),
                error("overflow"),
                summary(),
                error("overloaded"),
                after(),
            ],
        ),
        Case::new(
            "compaction_second_overflow",
            [
                long(140),
                error("overflow"),
                summary(),
                error("overflow"),
                text("never"),
            ],
        ),
        Case::new(
            "compaction_summary_retried",
            [
                long(140),
                error("overflow"),
                cut.clone(),
                summary(),
                after(),
            ],
        ),
        Case::new(
            "compaction_summary_fails",
            [long(140), error("overflow"), error("auth"), text("never")],
        ),
        Case::new(
            "compaction_summary_gives_up",
            [
                long(700),
                cut.clone(),
                error("overloaded"),
                cut,
                small("The next prompt is answered."),
            ],
        ),
    ]
}

/// Cases for the list of what is written.
pub(crate) fn runs() -> Vec<Stream> {
    let wanted = [
        "compaction_after_run",
        "compaction_overflow",
        "compaction_would_overflow",
        "compaction_breaker",
        "compaction_cap",
        "compaction_summary_retried",
    ];
    let cases = cases().into_iter();
    let wanted = cases.filter(|case| wanted.contains(&case.name));
    wanted.map(|case| case.run().1.stream()).collect()
}

/// What readers may rely on, beside order and sums: the pieces of a summary make the summary, an end
/// has a result exactly if it was accepted, and there is nothing more to it if nothing was tried.
fn judge(stream: &Stream) {
    let mut written = String::new();
    for line in &stream.lines {
        match kind(line) {
            "compaction_start" => written.clear(),
            "compaction_progress" => match line.get("text") {
                Some(text) => text.as_str().unwrap().clone_into(&mut written),
                None => written.push_str(text_at(line, "/delta")),
            },
            "compaction_end" => {
                let accepted = line.get("accepted") == Some(&json!(true));
                let result = line.get("result");
                assert_eq!(result.is_some(), accepted, "{line}");
                if accepted {
                    assert_eq!(text_at(line, "/result/summary"), written);
                    assert!(line.get("errorMessage").is_none() && line.get("usage").is_none());
                }
                let rejected = line.get("accepted") == Some(&json!(false));
                assert_eq!(line.get("rejectionCause").is_some(), rejected, "{line}");
            }
            _ => {}
        }
    }
}

#[test]
fn every_case_is_as_documented() {
    for case in cases() {
        let (world, run) = case.run();
        judge(&run.stream());
        Shot::new(&world, &run).joined().assert(case.name);
    }
}

#[test]
fn every_case_has_its_place_on_the_page() {
    let live =
        ["stopped", "stopped_in_wait", "stopped_in_run"].map(|name| format!("compaction_{name}"));
    let played: BTreeSet<String> = cases()
        .iter()
        .map(|case| case.name.to_owned())
        .chain(live)
        .collect();
    let told: BTreeSet<String> = CASES.iter().map(|case| case.0.to_owned()).collect();
    assert_eq!(told, played);
}

/// Plays a case up to a line and stops it there.
fn stopped(case: &Case, until: &str) -> Stream {
    let world = case.world();
    let mut live = case.quipu(&world).live();
    live.until(until);
    live.signal(Signal::TERM);
    let run = live.end();
    let stream = run.stream();
    assert_eq!((stream.outcome(), run.code()), ("interrupted", 143));
    judge(&stream);
    Shot::new(&world, &run).joined().assert(case.name);
    stream
}

fn slow_summary() -> Value {
    json!({ "blocks": [{ "text": "Slow", "chunk": 4 }, { "text": "ly" }], "hang_ms": 60_000,
            "hang_after": 1, "usage": { "input": 80, "output": 4 } })
}

#[test]
fn a_signal_stops_a_summary() {
    let steps = [long(140), error("overflow"), slow_summary()];
    let stream = stopped(
        &Case::new("compaction_stopped", steps),
        "compaction_progress",
    );
    let end = stream.of("compaction_end")[0];
    assert_eq!(end["aborted"], true);
    assert_eq!(end["usage"]["input"], 80);
}

#[test]
fn a_signal_stops_the_wait_for_a_summary() {
    let steps = [long(140), error("overflow"), error("overloaded")];
    let case = Case::new("compaction_stopped_in_wait", steps);
    let case = case.setting("/retry/baseDelayMs", 60_000);
    let stream = stopped(&case, "summarization_retry_scheduled");
    assert_eq!(stream.of("summarization_retry_attempt_start").len(), 0);
}

#[test]
fn a_signal_stops_a_compaction_between_turns_and_the_run() {
    let steps = [
        read("call_1", "notes.txt", 120),
        read("call_2", "more.txt", 700),
        slow_summary(),
    ];
    let case = Case::new("compaction_stopped_in_run", steps).prompts(["Read both files."]);
    let stream = stopped(&case, "compaction_progress");
    assert_eq!(stream.of("turn_start").len(), 2);
    assert_eq!(stream.of("compaction_end")[0]["willRetry"], false);
}

#[test]
fn what_is_kept_is_asked_with_the_summary() {
    // The first message of the request is the summary, the last one the question that failed.
    let both = json!({ "blocks": [{ "text": "Found both." }],
                       "match": { "first": "Test it.", "last": "second question" } });
    let case = Case::new("asked", [long(140), error("overflow"), summary(), both]);
    let stream = case.run().1.stream();
    let answers = stream.messages("assistant");
    let said = text_at(answers.last().unwrap(), "/content/0/text");
    assert_eq!(said, "Found both.");
}

#[test]
fn a_second_summary_takes_in_the_first_and_what_it_kept() {
    // The first compaction cuts the first turn: its answer is kept. The second one is asked for with
    // that answer and the first summary.
    let marked = json!({ "blocks": [{ "text": "MARK ".repeat(40), "chunk": 400 }],
                         "usage": { "input": 660, "output": 40 } });
    let takes_in = json!({ "blocks": [{ "text": "Took in the mark." }],
                           "match": { "any": "[Assistant]\nMARK MARK", "first": "Test it." } });
    let case = Case::new(
        "again",
        [marked, summary(), long(700), takes_in, summary(), after()],
    )
    .prompts(["first question", "second question", "third question"]);
    let stream = case.run().1.stream();
    let ends = stream.of("compaction_end");
    assert_eq!(ends.len(), 2);
    assert!(
        text_at(ends[1], "/result/summary").contains("Took in the mark."),
        "{}",
        ends[1]
    );
}

#[test]
fn a_service_that_counts_nothing_is_estimated() {
    let uncounted = |words: usize| {
        json!({ "blocks": [{ "text": "word".repeat(words), "chunk": 4000 }],
                "usage": { "input": 0, "output": 0 } })
    };
    let steps = [uncounted(300), uncounted(350), summary(), summary()];
    let stream = Case::new("estimated", steps).run().1.stream();
    let ends = stream.of("compaction_end");
    assert_eq!(ends.len(), 1);
    assert_eq!(ends[0]["reason"], "threshold");
    assert_eq!(ends[0]["result"]["tokensBefore"], 4 + 300 + 4 + 350);
}

#[test]
fn the_session_file_has_the_compaction_before_it_is_told() {
    let case = cases().swap_remove(0);
    let (world, run) = case.run();
    let stream = run.stream();
    let told = &stream.of("compaction_end")[0]["result"];
    let entries = crate::session_file::entries(&world.root().join("config/sessions"));
    let at = entries
        .iter()
        .position(|entry| kind(entry) == "compaction")
        .unwrap();
    let stored = &entries[at];
    for field in [
        "summary",
        "firstKeptEntryId",
        "tokensBefore",
        "details",
        "usage",
    ] {
        assert_eq!(stored[field], told[field], "{field}");
    }
    let kept = entries[..at]
        .iter()
        .find(|entry| entry["id"] == told["firstKeptEntryId"]);
    assert_eq!(kept.unwrap()["message"]["role"], "user");
    // The answer that failed is still there, and the work goes on behind the compaction.
    assert_eq!(entries[at - 1]["message"]["stopReason"], "error");
    assert_eq!(entries[at + 1]["message"]["stopReason"], "stop");
}

#[test]
fn files_are_told_with_the_summary() {
    let case = cases()
        .into_iter()
        .find(|case| case.name == "compaction_between_turns")
        .unwrap();
    let stream = case.run().1.stream();
    let result = &stream.of("compaction_end")[0]["result"];
    assert_eq!(
        result["details"],
        json!({ "readFiles": ["notes.txt"], "modifiedFiles": [] })
    );
    let summary = text_at(result, "/summary");
    assert!(
        summary.ends_with("<read-files>\nnotes.txt\n</read-files>"),
        "{summary}"
    );
}

/// A priced model with a small window behind a server; each answer costs $0.00546 and fills the window.
fn served(answers: &[&[&str]]) -> (Quipu, Receiver<Request>) {
    let world = World::new();
    let answers = answers.iter().map(|text| sse(&plain(text)));
    let (url, requests) = serve(answers.collect());
    let models = json!({ "providers": { "loopback": {
        "baseUrl": url, "api": "anthropic-messages", "apiKey": KEY,
        "models": [{
            "id": "model-1", "contextWindow": 5000, "maxTokens": 8192,
            "cost": { "input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75 },
        }],
    }}});
    world.config("models.json", models.to_string());
    let settings = json!({ "compaction": { "keepRecentTokens": 1 } });
    world.config("settings.json", settings.to_string());
    (
        world.quipu().args(["--model", "loopback/model-1"]),
        requests,
    )
}

#[test]
fn a_limit_of_cost_counts_summaries() {
    let (quipu, requests) = served(&[&["An answer."], &["A summary."], &["never"]]);
    let run = quipu.args(["--max-cost", "0.006", "one", "two"]).run();
    let stream = run.stream();
    assert_eq!((stream.outcome(), run.code()), ("limit", 1));
    assert_eq!(stream.answers(), ["An answer."]);
    assert_eq!(requests.iter().take(2).count(), 2);
    assert!(requests.try_recv().is_err());
}

#[test]
fn a_summary_is_asked_for_without_tools_and_tells_no_key() {
    let (head, tail) = KEY.split_at(9);
    let (quipu, requests) = served(&[&["An answer."], &["It is ", head, tail, "."]]);
    let run = quipu.arg("one").run();
    let stream = run.stream();
    judge(&stream);
    let summary = text_at(stream.of("compaction_end")[0], "/result/summary");
    assert!(summary.ends_with("It is <redacted>."), "{summary}");
    assert!(!String::from_utf8_lossy(&run.stdout).contains(KEY));
    let first = requests.recv_timeout(PATIENCE).unwrap().body;
    assert!(first["tools"].is_array());
    let body = requests.recv_timeout(PATIENCE).unwrap().body;
    assert!(body.get("tools").is_none(), "{body}");
    assert_eq!(body["max_tokens"], 1250);
    let asked = body["messages"].to_string();
    assert!(
        asked.contains("<conversation>") && asked.contains("[User]"),
        "{asked}"
    );
}

/// Goes on with the session of a world.
fn go_on(world: &World, steps: &Value) -> Stream {
    let script = json!({ "context_window": 1000, "steps": steps });
    let quipu = world.script(&script.to_string());
    quipu.args(["-c", "third question"]).run().stream()
}

#[test]
fn a_session_goes_on_behind_its_summary() {
    let (world, _) = cases().swap_remove(0).run();
    let both = json!({ "blocks": [{ "text": "Found both." }],
                       "match": { "first": "Test it.", "last": "third question" } });
    let gone = json!({ "blocks": [{ "text": "Found what is summed up." }],
                       "match": { "any": "first question", "last": "third question" } });
    let stream = go_on(&world, &json!([gone, both]));
    assert_eq!(stream.answers(), ["Found both."]);
}

#[test]
fn a_session_that_is_too_long_is_compacted_before_it_goes_on() {
    let case = Case::new("long", [long(140), short("Full.", 700)]);
    let world = case.world();
    let off = json!({ "compaction": { "enabled": false } });
    world.config("settings.json", off.to_string());
    assert_eq!(case.quipu(&world).run().stream().outcome(), "completed");
    world.config("settings.json", case.settings.to_string());
    let stream = go_on(&world, &json!([summary(), after()]));
    let kinds: Vec<&str> = stream.lines.iter().map(kind).take(4).collect();
    let start = [
        "session",
        "agent_start",
        "compaction_start",
        "compaction_progress",
    ];
    assert_eq!(kinds, start);
    let end = stream.of("compaction_end")[0];
    assert_eq!(end["result"]["tokensBefore"], 700);
    assert_eq!(stream.answers(), ["An answer after the compaction."]);
}
