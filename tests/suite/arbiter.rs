//! The dispatch arbiter: a model that is asked before a background agent starts.

use std::fs;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::background::{give, of, priced, results};
use crate::check::{Stream, kind, text_at};
use crate::harness::{Run, World};
use crate::live::assert_nobody_left;
use crate::redact::Shot;
use crate::script::{bash, text, tool};
use crate::server::{Answer, serve};
use crate::session_file::{entries, sessions};

/// A world whose settings have an arbiter, with these fields beside `enabled` and `model`.
fn world(more: &Value) -> World {
    let mut arbiter = json!({ "enabled": true, "model": "offline/offline" });
    for (name, value) in more.as_object().unwrap() {
        arbiter[name] = value.clone();
    }
    let settings = json!({ "retry": { "enabled": false }, "subagentArbiter": arbiter });
    let world = World::new();
    world.config("settings.json", settings.to_string());
    world
}

/// A step of the arbiter's own model.
fn judged(mut step: Value) -> Value {
    step["match"] = json!({ "first": "<proposal>" });
    step
}

fn route(agent: &str, model: &str, thinking: &str) -> Value {
    json!({ "agent": agent, "model": model, "thinking": thinking })
}

fn chooses(agent: &str, model: &str, thinking: &str) -> Value {
    judged(text(&route(agent, model, thinking).to_string()))
}

/// The arbiter lets the usual proposal be.
fn agrees() -> Value {
    chooses("Explore", "offline/offline", "medium")
}

fn play(world: &World, steps: &Value) -> Run {
    let run = world.offline(steps).arg("Do it").run();
    assert_nobody_left(world);
    run
}

/// One agent whose arbiter answers with these steps.
fn one(world: &World, judge: &[Value]) -> Run {
    let mut steps = judge.to_vec();
    steps.extend([
        of("CHILD", text("Report.")),
        give(&json!({ "task": "CHILD" })),
        text("Seen."),
    ]);
    play(world, &steps.into())
}

/// The records of a stream, each of which has to be in the session as well and in its place.
fn records<'s>(world: &World, stream: &'s Stream) -> Vec<&'s Value> {
    let records = stream.of("subagent_arbitration");
    let entries = entries(&sessions(world));
    let kept = entries.iter().filter(|entry| kind(entry) == "custom");
    let kept: Vec<_> = kept
        .inspect(|entry| assert_eq!(entry["customType"], "subagent_arbitration"))
        .map(|entry| &entry["data"])
        .collect();
    assert_eq!(kept, records);
    records
}

/// What happened about agents, in short.
fn about(stream: &Stream) -> Vec<String> {
    let lines = stream.lines.iter();
    let lines = lines.filter_map(|line| match kind(line) {
        "subagent_arbitration" => Some(format!("arbitration {}", text_at(line, "/status"))),
        "background_agent_event" => Some("event".to_owned()),
        kind => kind
            .strip_prefix("background_agent_")
            .map(|kind| match line.get("success") {
                Some(success) => format!("{kind} {success}"),
                None => kind.to_owned(),
            }),
    });
    let mut lines: Vec<_> = lines.collect();
    lines.dedup();
    lines
}

/// The record of a run whose one agent was refused.
fn refused<'s>(world: &World, stream: &'s Stream) -> &'s Value {
    assert_eq!(about(stream), ["start", "arbitration failure", "end false"]);
    let [record] = records(world, stream)[..] else {
        panic!("not one record")
    };
    assert_eq!(
        (&record["final"], &record["changed"]),
        (&Value::Null, &json!([]))
    );
    let message = text_at(record, "/errorMessage");
    let told = results(stream)[0];
    assert!(
        told.contains(message) || told.contains("Agents: "),
        "{told}"
    );
    assert_eq!(stream.outcome(), "completed");
    record
}

/// Settings, the guide, the answers of the arbiter's model, and the code of the failure.
type Failing = (Value, Option<Vec<u8>>, Vec<Value>, &'static str);

/// Each failure that can be brought about from outside.
fn failures() -> Vec<Failing> {
    let with = |more: Value, code| (more, None, vec![], code);
    let answer = |steps: Vec<Value>, code| (json!({}), None, steps, code);
    let guide = |bytes: &[u8]| {
        let more = json!({ "guidePath": "guide.md" });
        (more, Some(bytes.to_vec()), vec![], "invalid_guide")
    };
    vec![
        with(json!({ "model": null }), "invalid_config"),
        with(json!({ "model": "offline" }), "invalid_config"),
        with(json!({ "guidePath": "none.md" }), "invalid_guide"),
        guide(b""),
        guide(b"\xff"),
        with(json!({ "model": "nobody/x" }), "arbiter_model"),
        with(
            json!({ "model": "anthropic/claude-sonnet-4-5" }),
            "arbiter_model",
        ),
        with(json!({ "thinking": "max" }), "arbiter_thinking"),
        answer(
            vec![judged(json!({ "error": "overflow" }))],
            "context_too_large",
        ),
        answer(vec![judged(json!({ "error": "auth" }))], "inference_failed"),
        answer(
            vec![judged(
                json!({ "blocks": [{ "text": "x" }], "abort_after": 0 }),
            )],
            "inference_failed",
        ),
        answer(
            vec![judged(
                json!({ "blocks": [{ "text": "x" }], "stop": "refusal" }),
            )],
            "inference_failed",
        ),
        answer(
            vec![judged(text("no")), judged(text("{}"))],
            "malformed_output",
        ),
        answer(
            vec![chooses("explore", "offline/offline", "off")],
            "unknown_agent",
        ),
        answer(
            vec![chooses("Explore", "anthropic/claude-sonnet-4-5", "off")],
            "out_of_scope_model",
        ),
        answer(
            vec![chooses("Explore", "offline/offline", "max")],
            "unsupported_thinking",
        ),
    ]
}

fn failing((more, guide, steps, _): &Failing) -> (World, Run) {
    let world = world(more);
    if let Some(guide) = guide {
        world.config("guide.md", guide);
    }
    let run = one(&world, steps);
    (world, run)
}

/// A run that is ended while the arbiter thinks.
fn aborted(world: &World) -> Run {
    let steps = json!([
        judged(json!({ "hang_ms": 60_000 })),
        give(&json!({ "task": "CHILD" })),
        text("Seen."),
    ]);
    let mut live = world.offline(&steps).arg("Do it").live();
    live.until("agent_end");
    live.signal(Signal::TERM);
    let run = live.end();
    assert_nobody_left(world);
    run
}

/// A chain whose first step takes its parent's session away.
fn unrecorded(world: &World) -> Run {
    let steps = json!([
        agrees(),
        agrees(),
        of("FIRST", bash("rm \"$QUIPU_HOME\"/sessions/*/*.jsonl")),
        of("FIRST", text("Gone.")),
        give(&json!({ "chain": [{ "task": "FIRST" }, { "task": "SECOND" }] })),
    ]);
    play(world, &steps)
}

/// Runs for the list of what is written.
pub(crate) fn runs() -> Vec<Stream> {
    let mut runs: Vec<_> = failures()
        .iter()
        .map(|failure| failing(failure).1.stream())
        .collect();
    runs.push(aborted(&world(&json!({}))).stream());
    runs.push(unrecorded(&world(&json!({}))).stream());
    let (world, _asked) = changed();
    runs.push(changes(&world).stream());
    runs.push(chain(&self::world(&json!({}))).stream());
    runs
}

#[test]
fn a_proposal_that_is_let_be() {
    let world = world(&json!({}));
    let run = one(&world, &[agrees()]);
    let stream = run.stream();
    assert_eq!(
        about(&stream),
        ["start", "arbitration success", "event", "end true"]
    );
    let record = records(&world, &stream)[0];
    let usual = route("Explore", "offline/offline", "medium");
    assert_eq!((&record["proposed"], &record["final"]), (&usual, &usual));
    assert_eq!(record["changed"], json!([]));
    Shot::new(&world, &run)
        .apart()
        .without_usage()
        .assert("arbitration_lets_be");
}

/// A world with a service for the agent, and what it is asked.
fn changed() -> (World, std::sync::mpsc::Receiver<crate::server::Request>) {
    let world = world(&json!({}));
    let (url, asked) = serve(vec![priced(
        &json!({ "type": "text", "text": "" }),
        &json!({ "type": "text_delta", "text": "Report." }),
        "end_turn",
    )]);
    world.config("models.json", models(&[("below", &url)]).to_string());
    (world, asked)
}

fn models(services: &[(&str, &str)]) -> Value {
    let provider = |url: &str| {
        let cost = json!({ "input": 3, "output": 0, "cacheRead": 0, "cacheWrite": 0 });
        json!({ "baseUrl": url, "api": "anthropic-messages", "apiKey": "a-key-for-tests",
                "models": [{ "id": "m", "contextWindow": 100_000, "maxTokens": 1000, "cost": cost }] })
    };
    let providers = services
        .iter()
        .map(|(name, url)| ((*name).to_owned(), provider(url)));
    let providers: serde_json::Map<_, _> = providers.collect();
    json!({ "providers": providers })
}

fn changes(world: &World) -> Run {
    one(world, &[chooses("feature-dev", "below/m", "off")])
}

#[test]
fn a_proposal_that_is_changed() {
    let (world, asked) = changed();
    let run = changes(&world);
    let stream = run.stream();
    let record = records(&world, &stream)[0];
    assert_eq!(
        record["proposed"],
        route("Explore", "offline/offline", "medium")
    );
    assert_eq!(record["final"], route("feature-dev", "below/m", "off"));
    assert_eq!(record["changed"], json!(["agent", "model", "thinking"]));
    let end = stream.of("background_agent_end")[0];
    assert_eq!(
        [&end["agentType"], &end["model"], &end["thinking"]],
        ["feature-dev", "below/m", "off"]
    );
    let asked = asked.recv().unwrap().body;
    assert!(asked.to_string().contains("CHILD"));
    Shot::new(&world, &run)
        .apart()
        .without_usage()
        .assert("arbitration_changes");
}

#[test]
fn a_failure_starts_nothing() {
    for failure in failures() {
        let code = failure.3;
        let (world, run) = failing(&failure);
        let stream = run.stream();
        let record = refused(&world, &stream);
        assert_eq!(record["errorCode"], code, "{record}");
        // Only a fault of the set-up is told at once.
        let told = run.stderr.contains("no background agent can start");
        let early = ["invalid_config", "arbiter_model", "arbiter_thinking"];
        assert_eq!(told, early.contains(&code), "{}", run.stderr);
        if code == "malformed_output" {
            Shot::new(&world, &run)
                .without_usage()
                .assert("arbitration_fails");
        }
    }
}

#[test]
fn an_agent_that_nobody_has_defined() {
    let world = world(&json!({}));
    let steps = json!([
        give(&json!({ "task": "x", "agent": "nobody", "model": "nobody/x" })),
        text("Seen.")
    ]);
    let run = play(&world, &steps);
    let stream = run.stream();
    let record = refused(&world, &stream);
    assert_eq!(record["errorCode"], "unknown_agent");
    assert_eq!(record["proposed"], route("nobody", "", "medium"));
}

#[test]
fn a_signal_while_the_arbiter_thinks() {
    let world = world(&json!({}));
    let run = aborted(&world);
    let stream = run.stream();
    assert_eq!((run.code(), stream.outcome()), (143, "interrupted"));
    assert_eq!(
        about(&stream),
        ["start", "arbitration failure", "end false"]
    );
    assert_eq!(records(&world, &stream)[0]["errorCode"], "aborted");
}

#[test]
fn a_decision_that_cannot_be_kept_is_none() {
    let world = world(&json!({}));
    let run = unrecorded(&world);
    let stream = run.stream();
    let told = [
        "start",
        "arbitration success",
        "event",
        "arbitration failure",
        "end false",
    ];
    assert_eq!(about(&stream), told);
    let record = stream.of("subagent_arbitration")[1];
    assert_eq!(record["errorCode"], "observability_failed");
    assert_eq!(stream.outcome(), "failed");
}

/// A chain whose second step is refused.
fn chain(world: &World) -> Run {
    let steps = json!([
        agrees(),
        chooses("nobody", "offline/offline", "off"),
        of("FIRST", text("One.")),
        give(&json!({ "chain": [
            { "task": "FIRST" }, { "task": "then {previous}", "agent": "code-reviewer" },
        ]})),
        text("Seen."),
    ]);
    play(world, &steps)
}

#[test]
fn each_step_of_a_chain_is_decided() {
    let world = world(&json!({}));
    let run = chain(&world);
    let stream = run.stream();
    assert_eq!(
        about(&stream),
        [
            "start",
            "arbitration success",
            "event",
            "arbitration failure",
            "end false"
        ]
    );
    let steps = records(&world, &stream).into_iter();
    let steps: Vec<_> = steps.map(|record| record["step"].clone()).collect();
    assert_eq!(steps, [1, 2]);
    let told = results(&stream)[0];
    assert!(
        told.contains("Error: Step 2: The agent was not started"),
        "{told}"
    );
    Shot::new(&world, &run)
        .apart()
        .without_usage()
        .assert("arbitration_of_a_chain");
}

#[test]
fn decisions_are_paid_for() {
    let world = world(&json!({ "model": "judge/m" }));
    let (above, _asked) = serve(vec![priced(
        &json!({ "type": "tool_use", "id": "c", "name": "subagent", "input": {} }),
        &json!({ "type": "input_json_delta", "partial_json": r#"{"task":"CHILD"}"# }),
        "tool_use",
    )]);
    let (judge, _judged) = serve(vec![say("no"), say("neither")]);
    let models = models(&[("above", &above), ("judge", &judge)]);
    world.config("models.json", models.to_string());
    let run = world
        .quipu()
        .args(["--model", "above/m", "--max-cost", "0.008", "hi"])
        .run();
    let stream = run.stream();
    assert_eq!((run.code(), stream.outcome()), (1, "limit"));
    let record = records(&world, &stream)[0];
    assert_eq!(record["usage"]["input"], 2000);
    assert_eq!(stream.end()["usage"]["input"], 3000);
}

/// A key that only a command tells is known for the arbiter's sake alone.
#[test]
fn the_key_of_the_arbiter_is_kept_from_lines() {
    const KEY: &str = "sk-of-the-arbiter-1234";
    let world = world(&json!({ "model": "judge/m" }));
    let mut models = models(&[("judge", "http://127.0.0.1:9")]);
    models["providers"]["judge"]["apiKey"] = format!("!echo {KEY}").into();
    world.config("models.json", models.to_string());
    world.file("notes.txt", format!("It is {KEY}.\n"));
    let read = json!({ "path": "notes.txt" });
    let steps = json!([tool("read", "call_1", &read), text("Read.")]);
    let run = play(&world, &steps);
    let stream = run.stream();
    assert!(stream.results()[0].starts_with("It is <redacted>."));
    assert!(!String::from_utf8_lossy(&run.stdout).contains(KEY));
    // Without an arbiter nobody has run the command.
    world.config("settings.json", "{}");
    let run = play(&world, &steps);
    assert!(run.stream().results()[0].contains(KEY));
}

/// An answer of the arbiter's service. The server reads one connection at a time, so each ends.
fn alone(answer: Answer) -> Answer {
    answer.with_headers("connection: close\r\n")
}

fn say(text: &str) -> Answer {
    alone(priced(
        &json!({ "type": "text", "text": "" }),
        &json!({ "type": "text_delta", "text": text }),
        "end_turn",
    ))
}

const GUIDE: &str = "CANARY-GUIDE";
const TASK: &str = "CANARY-TASK";
const TALK: &str = "CANARY-CONVERSATION";
const ANSWER: &str = "CANARY-ANSWER";
const REASON: &str = "CANARY-REASONING";
const ERROR: &str = "CANARY-SERVICE";
/// Of the arbiter's own prompt.
const PROMPT: &str = "You decide where the task goes";

/// What the arbiter's service answers to the requests for each of several agents, and the codes.
fn talkative() -> [(Vec<Answer>, &'static str); 8] {
    let mut good = route("Explore", "offline/offline", "medium");
    good["reason"] = ANSWER.into();
    let think = priced(
        &json!({ "type": "thinking", "thinking": "", "signature": "" }),
        &json!({ "type": "thinking_delta", "thinking": REASON }),
        "end_turn",
    );
    let error = json!({ "type": "error", "error": { "type": "api_error", "message": ERROR } });
    let prose = format!("I would say {ANSWER}.");
    let status = "500 Internal Server Error";
    let refused = Answer::plain(status, "application/json", &error.to_string());
    let late = Answer::events(format!("event: error\ndata: {error}\n\n"));
    let page = Answer::plain("200 OK", "text/html", ERROR);
    let broken = Answer::events(format!("event: message_start\ndata: {{{ANSWER}\n\n"));
    let failed = "inference_failed";
    [
        (vec![say(&good.to_string())], ""),
        (vec![alone(think), say(&prose)], "malformed_output"),
        (
            vec![
                say(&route("Explore", "offline/offline", ANSWER).to_string()),
                say(&route("Explore", ANSWER, "off").to_string()),
            ],
            "out_of_scope_model",
        ),
        (
            vec![say(&route(ANSWER, "offline/offline", "off").to_string())],
            "unknown_agent",
        ),
        (vec![alone(refused)], failed),
        (vec![alone(late)], failed),
        (vec![alone(page)], failed),
        (vec![alone(broken)], failed),
    ]
}

/// What the arbiter reads and says does not get into the stream, the session or standard error.
#[test]
fn nothing_of_what_is_asked_or_answered_gets_out() {
    let world = world(&json!({ "model": "judge/m", "guidePath": "guide.md" }));
    world.config("guide.md", GUIDE);
    let (answers, codes): (Vec<_>, Vec<_>) = talkative().into_iter().unzip();
    let (url, asked) = serve(answers.concat());
    world.config("models.json", models(&[("judge", &url)]).to_string());
    // One after the other, as the answers are.
    let settings = fs::read_to_string(world.root().join("config/settings.json")).unwrap();
    let mut settings: Value = serde_json::from_str(&settings).unwrap();
    settings["backgroundAgents"] = json!({ "maxConcurrentSubagents": 1 });
    world.config("settings.json", settings.to_string());
    let tasks: Vec<_> = (0..codes.len())
        .map(|number| json!({ "task": format!("{TASK} {number}") }))
        .collect();
    let steps = json!([of(TASK, text("Report.")), give(&json!({ "tasks": tasks }))]);
    let run = world.offline(&steps).arg(TALK).run();
    let stream = run.stream();
    let records = records(&world, &stream);
    let told = records.iter();
    let told: Vec<_> = told.map(|record| text_at(record, "/errorCode")).collect();
    assert_eq!(told, codes);

    let asked: Vec<_> = asked
        .try_iter()
        .map(|request| request.body.to_string())
        .collect();
    for (words, there) in [(GUIDE, true), (TASK, true), (PROMPT, true), (TALK, false)] {
        let all = asked.iter().all(|request| request.contains(words) == there);
        assert!(all && !asked.is_empty(), "{words}");
    }
    let kept = entries(&sessions(&world));
    for words in [GUIDE, TASK, TALK, ANSWER, REASON, ERROR, PROMPT] {
        for record in &records {
            assert!(!record.to_string().contains(words), "{words}: {record}");
        }
        assert!(!run.stderr.contains(words), "{words}: {}", run.stderr);
        if [TASK, TALK].contains(&words) {
            // The parent's model has heard and said it.
            continue;
        }
        for line in stream.lines.iter().chain(&kept) {
            assert!(!line.to_string().contains(words), "{words}: {line}");
        }
    }
}
