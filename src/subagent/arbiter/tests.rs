//! The arbiter by itself: what it makes of proposals, answers and files.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::answer::{self, Fault};
use super::{Arbiter as _, Decided, Decision, Judge, ModelArbiter, Proposal, Refusal, Scope};
use crate::config::Secrets;
use crate::event::{BackgroundAgentEndEvent, BackgroundAgentStartEvent};
use crate::event::{DispatchRoute, Outcome, ThinkingLevel, sample};
use crate::model::{Model, Offline, Prices, Script, Timeouts};
use crate::session::{SessionStore, SharedSession};
use crate::subagent::Definitions;
use crate::subagent::tests::Sink;
use crate::wire::{Ending, Output, WireOptions};

fn route(agent: &str, model: &str, thinking: ThinkingLevel) -> DispatchRoute {
    DispatchRoute {
        agent: agent.into(),
        model: model.into(),
        thinking,
    }
}

/// A model that does not think, and one that does.
fn scope() -> Scope {
    let plain = Model {
        provider: "p".into(),
        id: "plain/1".into(),
        reasoning: false,
        ..Model::offline()
    };
    let models = vec![Model::offline(), plain];
    let outside = Model {
        provider: "p".into(),
        id: "outside".into(),
        ..Model::offline()
    };
    let resolve = move |name: &str| (name == "out").then(|| outside.clone());
    Scope::new(models, Box::new(resolve))
}

fn proposal() -> Proposal {
    Proposal {
        agent_id: "g1".into(),
        step: None,
        agent: "Explore".into(),
        models: vec!["offline/offline".into()],
        thinking: ThinkingLevel::Low,
        task: "look around".into(),
    }
}

fn judge(steps: &Value) -> Judge {
    let script = json!({ "steps": steps }).to_string();
    let script = Script::parse(Path::new("x.json"), &script).unwrap();
    Judge {
        model: Model {
            cost: Prices {
                output: 1e6,
                ..Prices::default()
            },
            ..Model::offline()
        },
        provider: Box::new(Offline::scripted(script, Timeouts::default())),
        thinking: ThinkingLevel::Off,
    }
}

/// Has an arbiter, changed like this, decide; gives the decision and the record.
async fn decide(
    judge: Result<Judge, Refusal>,
    change: impl FnOnce(&mut ModelArbiter, &mut Proposal, &CancellationToken),
) -> (Decided, Value) {
    let sink = Sink::default();
    let cancel = CancellationToken::new();
    let options = WireOptions::default();
    let (events, output) = Output::start(options, sink.clone(), || 0, cancel.clone()).unwrap();
    events.send(sample::rich().remove(0)).await.unwrap();
    let start = BackgroundAgentStartEvent {
        agent_id: "g1".into(),
        agent_type: "Explore".into(),
        task_summary: "look".into(),
        session_dir: None,
    };
    events.send(start).await.unwrap();
    let mut arbiter = ModelArbiter {
        judge,
        guide: None,
        agents: Definitions::built_in(),
        scope: scope(),
        session: SharedSession::new(SessionStore::in_memory()),
        events: events.clone(),
        secrets: Arc::new(Secrets::default()),
        timeout: ModelArbiter::TIMEOUT,
    };
    let mut proposal = proposal();
    change(&mut arbiter, &mut proposal, &cancel);
    let decided = arbiter.decide(proposal, &cancel).await;
    let end = BackgroundAgentEndEvent {
        agent_id: "g1".into(),
        agent_type: "Explore".into(),
        success: false,
        model: None,
        thinking: None,
        steps: None,
        session_file: None,
    };
    events.send(end).await.unwrap();
    let ending = Ending {
        outcome: Outcome::Completed,
        exit_code: 0,
        error: None,
        model: None,
    };
    let finished = output.finish(ending, std::future::pending()).await;
    assert_eq!(finished.disorder, None);
    let lines = sink.lines();
    let records: Vec<_> = lines
        .iter()
        .filter(|line| line["type"] == "subagent_arbitration")
        .collect();
    let [record] = records[..] else {
        panic!("not one record: {lines:#?}")
    };
    (decided, record.clone())
}

/// The code of a failure, after a look at the rest of its record.
fn code((decided, record): &(Decided, Value)) -> String {
    assert_eq!(record["status"], "failure");
    assert_eq!(
        (&record["final"], &record["changed"]),
        (&Value::Null, &json!([]))
    );
    let message = record["errorMessage"].as_str().unwrap();
    assert!(!message.is_empty() && message.chars().count() <= 500);
    assert_eq!(decided.decision, Decision::Refuse(message.to_owned()));
    record["errorCode"].as_str().unwrap().to_owned()
}

fn says(text: &str) -> Value {
    json!({ "blocks": [{ "text": text }], "usage": { "input": 5, "output": 2 } })
}

#[test]
fn an_answer_is_one_object_with_three_texts() {
    use ThinkingLevel::High;
    let whole = r#"{"agent":"a","model":"p/m","thinking":"high"}"#;
    let read = Ok(route("a", "p/m", High));
    let cases = [
        (whole, read.clone()),
        (&format!("\n```json\n{whole}\n```\n"), read.clone()),
        (&format!("```\n{whole}```"), read.clone()),
        (
            r#"{"agent":" a ","model":"p/m","thinking":"high","reason":1}"#,
            read,
        ),
        ("", Err(Fault::NoObject)),
        (&format!("Well: {whole}"), Err(Fault::NoObject)),
        (&format!("{whole} {whole}"), Err(Fault::NoObject)),
        (&format!("[{whole}]"), Err(Fault::NoObject)),
        ("```", Err(Fault::NoObject)),
        ("{}", Err(Fault::Missing("agent"))),
        (
            r#"{"agent":"a","model":null,"thinking":"high"}"#,
            Err(Fault::Missing("model")),
        ),
        (
            r#"{"agent":"a","model":" ","thinking":"high"}"#,
            Err(Fault::Missing("model")),
        ),
        (
            r#"{"agent":"a","model":"p/m"}"#,
            Err(Fault::Missing("thinking")),
        ),
        (
            r#"{"agent":"a","model":"p/m","thinking":"High"}"#,
            Err(Fault::NoLevel),
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(answer::read(text), expected, "{text}");
    }
}

#[test]
fn a_route_names_what_there_is() {
    use ThinkingLevel::{Low, Max, Off};
    let agents = Definitions::built_in();
    for (route, refusal) in [
        (route("Explore", "offline/offline", Low), None),
        (route("feature-dev", "p/plain/1", Off), None),
        (
            route("explore", "offline/offline", Low),
            Some(Refusal::UnknownAgent),
        ),
        (route("Explore", "offline", Low), Some(Refusal::OutOfScope)),
        (
            route("Explore", "p/outside", Off),
            Some(Refusal::OutOfScope),
        ),
        (
            route("Explore", "offline/offline", Max),
            Some(Refusal::UnsupportedThinking),
        ),
        (
            route("Explore", "p/plain/1", Low),
            Some(Refusal::UnsupportedThinking),
        ),
    ] {
        let checked = answer::check(route.clone(), &agents, &scope());
        assert_eq!(checked.clone().err(), refusal, "{route:?}");
        assert!(checked.is_err() || checked == Ok(route));
    }
}

#[test]
fn a_proposal_is_what_would_run() {
    use ThinkingLevel::{High, Max, Off};
    for (models, thinking, model, level) in [
        (&["offline/offline"][..], High, "offline/offline", High),
        (&["offline/offline"], Max, "offline/offline", High),
        (&["nobody", "p/plain/1"], High, "p/plain/1", Off),
        (&["out", "p/plain/1"], High, "p/plain/1", Off),
        (&["nobody", "out"], High, "p/outside", High),
        (&["nobody"], Max, "", Max),
    ] {
        let proposal = Proposal {
            models: models.iter().map(|name| (*name).to_owned()).collect(),
            thinking,
            ..proposal()
        };
        let expected = route("Explore", model, level);
        assert_eq!(scope().route(&proposal), expected, "{models:?}");
    }
}

#[tokio::test]
async fn an_answer_that_is_no_route_gets_one_more_chance() {
    let good = says(r#"{"agent":"feature-dev","model":"p/plain/1","thinking":"off"}"#);
    let mut second = good.clone();
    second["match"] = json!("could not be used: its `model` is missing or no text");
    let steps = json!([second, says(r#"{"agent":"Explore"}"#)]);
    let (decided, record) = decide(Ok(judge(&steps)), |_, _, _| {}).await;
    let chosen = route("feature-dev", "p/plain/1", ThinkingLevel::Off);
    assert_eq!(decided.decision, Decision::Start(chosen));
    assert_eq!(record["status"], "success");
    assert_eq!(record["changed"], json!(["agent", "model", "thinking"]));
    // Both requests count.
    assert_eq!(record["usage"]["input"], 10);
    assert_eq!(
        (decided.cost, &record["usage"]["cost"]["total"]),
        (4.0, &json!(4))
    );

    let steps = json!([says("no"), says("{"), good]);
    let failed = decide(Ok(judge(&steps)), |_, _, _| {}).await;
    assert_eq!(code(&failed), "malformed_output");
    assert_eq!(failed.1["usage"]["input"], 10);
}

#[tokio::test]
async fn time_runs_out_whatever_it_is_spent_on() {
    let mut slow = says("It never comes to an end.");
    slow["hang_ms"] = 60_000.into();
    slow["hang_after"] = 1.into();
    let failed = decide(Ok(judge(&json!([slow]))), |arbiter, _, _| {
        arbiter.timeout = Duration::from_millis(20);
    })
    .await;
    assert_eq!(code(&failed), "timeout");
    assert!(failed.1["usage"].is_object(), "a request was made");
    assert_eq!(
        failed.1["errorMessage"],
        "There was no decision within 20ms."
    );
}

#[tokio::test]
async fn what_is_to_end_is_not_decided() {
    let failed = decide(Ok(judge(&json!([]))), |_, _, cancel| cancel.cancel()).await;
    assert_eq!(code(&failed), "aborted");
    assert_eq!(failed.1.get("usage"), None);
}

#[tokio::test]
async fn what_is_missing_is_told_without_a_request() {
    let failed = decide(Ok(judge(&json!([]))), |arbiter, _, _| {
        arbiter.scope = Scope::new(Vec::new(), Box::new(|_| None));
    })
    .await;
    assert_eq!(code(&failed), "missing_scope");
    let failed = decide(Ok(judge(&json!([]))), |_, proposal, _| {
        proposal.agent = "nobody".into();
    })
    .await;
    assert_eq!(code(&failed), "unknown_agent");
    let failed = decide(Ok(judge(&json!([]))), |_, proposal, _| {
        proposal.task = "x".repeat(4 * 200_000);
    })
    .await;
    assert_eq!(code(&failed), "context_too_large");
    assert_eq!(failed.1.get("usage"), None);
}

#[tokio::test]
async fn a_message_is_short_and_tells_no_key() {
    let text = format!("the-key-of-p {}", "ä".repeat(1000));
    let failed = decide(Err(Refusal::Model(text)), |arbiter, _, _| {
        Arc::make_mut(&mut arbiter.secrets).hold("the-key-of-p");
    })
    .await;
    assert_eq!(code(&failed), "arbiter_model");
    let message = failed.1["errorMessage"].as_str().unwrap();
    assert!(message.contains("<redacted>") && !message.contains("the-key-of-p"));
    assert_eq!(message.chars().count(), 500);
}

#[tokio::test]
async fn a_guide_is_a_text_of_some_length() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("guide.md");
    let long = vec![b'x'; 64 * 1024 + 1];
    for (bytes, what) in [
        (&b""[..], "is empty"),
        (b" \n", "is empty"),
        (b"\xff", "is not UTF-8"),
        (&long, "is longer than 64 KiB"),
    ] {
        std::fs::write(&file, bytes).unwrap();
        let guide = file.clone();
        let failed = decide(Ok(judge(&json!([]))), |arbiter, _, _| {
            arbiter.guide = Some(guide);
        })
        .await;
        assert_eq!(code(&failed), "invalid_guide");
        let message = failed.1["errorMessage"].as_str().unwrap();
        assert!(message.contains(what), "{message}");
    }
    let folder = folder.path().to_owned();
    let failed = decide(Ok(judge(&json!([]))), |arbiter, _, _| {
        arbiter.guide = Some(folder);
    })
    .await;
    assert_eq!(code(&failed), "invalid_guide");

    std::fs::write(&file, "GUIDE").unwrap();
    let mut good = says(r#"{"agent":"Explore","model":"offline/offline","thinking":"low"}"#);
    good["match"] = json!("<guide>\nGUIDE\n</guide>");
    let (decided, record) = decide(Ok(judge(&json!([good]))), |arbiter, _, _| {
        arbiter.guide = Some(file);
    })
    .await;
    assert!(matches!(decided.decision, Decision::Start(_)));
    assert_eq!(record["changed"], json!([]));
}
