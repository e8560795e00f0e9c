//! Every way in which a run ends: outcome, exit status, code of the error, and whether trying again
//! may help, each in the same words of the last line whichever service was asked.

use std::net::TcpListener;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::harness::{Quipu, Run, World};
use crate::script::{bash, text};
use crate::server::{Answer, End, serve};
use crate::services::{Block, Ending, KEY, Refusal, SERVICES, Service};

/// Outcome, exit status, code of the error and whether it is worth another try.
type End4 = (&'static str, i32, &'static str, bool);

#[track_caller]
fn ends(what: &str, run: &Run, (outcome, exit, code, retryable): End4) {
    let stream = run.stream();
    let end = stream.end();
    assert_eq!(
        (stream.outcome(), run.code(), stream.error_code()),
        (outcome, exit, code),
        "{what}: {end}"
    );
    let expected = if code.is_empty() {
        Value::Null
    } else {
        json!(retryable)
    };
    let told = end.pointer("/error/retryable").cloned();
    assert_eq!(told.unwrap_or_default(), expected, "{what}: {end}");
    let failed = !matches!(exit, 0 | 2 | 3);
    if failed && stream.of("agent_start").len() == 1 {
        assert_eq!(stream.of("agent_end").len(), 1, "{what}");
    }
    let told = String::from_utf8_lossy(&run.stdout).into_owned() + &run.stderr;
    assert!(!told.contains(KEY), "{what}: the key was told");
}

/// What a service does, and how the run ends.
type Case = (&'static str, fn(Service) -> Answer, End4);

const CASES: [Case; 18] = [
    (
        "an answer",
        |service| service.answer(&[Block::Text("Hello.")]),
        ("completed", 0, "", false),
    ),
    (
        "an answer that was too long",
        |service| service.ending(&[Block::Text("Hello")], Ending::Length),
        ("completed", 0, "", false),
    ),
    (
        "a key that is refused",
        |service| service.refuses(Refusal::Auth),
        ("failed", 1, "auth", false),
    ),
    (
        "too many requests",
        |service| service.refuses(Refusal::RateLimit),
        ("failed", 1, "rate_limited", true),
    ),
    (
        "too much to do",
        |service| service.refuses(Refusal::Overload),
        ("failed", 1, "overloaded", true),
    ),
    (
        "a conversation that is too long",
        |service| service.refuses(Refusal::Overflow),
        ("failed", 1, "context_overflow", false),
    ),
    (
        "an account that is empty",
        |service| service.refuses(Refusal::Quota),
        ("failed", 1, "quota", false),
    ),
    (
        "a request that is wrong",
        |service| service.refuses(Refusal::Request),
        ("failed", 1, "invalid_request", false),
    ),
    (
        "a fault of the service",
        |service| service.refuses(Refusal::Server),
        ("failed", 1, "provider_error", true),
    ),
    (
        "a model that will not",
        |service| service.ending(&[Block::Text("I")], Ending::Refusal),
        ("failed", 1, "content_refused", false),
    ),
    (
        "an error inside the stream",
        |service| service.ending(&[Block::Text("Hel")], Ending::Overloaded),
        ("failed", 1, "overloaded", true),
    ),
    (
        "nonsense inside the stream",
        |service| service.ending(&[Block::Text("Hel")], Ending::Nonsense),
        ("failed", 1, "provider_error", false),
    ),
    (
        "a stream without its end",
        |service| service.ending(&[Block::Text("Hel")], Ending::Missing),
        ("failed", 1, "network", true),
    ),
    (
        "a connection that is cut",
        |service| {
            service
                .ending(&[Block::Text("Hel")], Ending::Missing)
                .ending(End::Cut)
        },
        ("failed", 1, "network", true),
    ),
    (
        "a page in place of a stream",
        |_| Answer::plain("200 OK", "text/html", "<html><body>Log in</body></html>"),
        ("failed", 1, "network", true),
    ),
    (
        "a page in place of an error",
        |_| {
            Answer::plain(
                "502 Bad Gateway",
                "text/html",
                "<html><body>Gone</body></html>",
            )
        },
        ("failed", 1, "provider_error", true),
    ),
    (
        "a service that does not begin",
        |service| service.answer(&[]).ending(End::Silence),
        ("failed", 1, "timeout", true),
    ),
    (
        "a service that does not go on",
        |service| service.stalled("Hel"),
        ("failed", 1, "timeout", true),
    ),
];

fn every_case(service: Service) {
    for (what, answer, end) in CASES {
        let world = World::new();
        let mut settings = json!({ "retry": { "enabled": false } });
        if end.2 == "timeout" {
            settings["httpIdleTimeoutMs"] = json!(200);
            settings["retry"]["provider"] = json!({ "streamStartTimeoutMs": 200 });
        }
        world.config("settings.json", settings.to_string());
        let (url, _requests) = serve(vec![answer(service); 4]);
        let run = service.quipu(&world, &url).arg("hi").run();
        ends(&format!("{service:?}, {what}"), &run, end);
    }
}

#[test]
fn of_anthropic_messages() {
    every_case(Service::Anthropic);
}

#[test]
fn of_openai_completions() {
    every_case(Service::Chat);
}

#[test]
fn of_openai_responses() {
    every_case(Service::Responses);
}

#[test]
fn of_google_generative_ai() {
    every_case(Service::Google);
}

#[test]
fn of_a_service_that_is_not_there() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", closed.local_addr().unwrap());
    drop(closed);
    for service in SERVICES {
        let run = service.quipu(&World::new(), &url).arg("hi").run();
        let what = format!("{service:?}");
        ends(&what, &run, ("failed", 1, "network", true));
    }
}

/// How the program is started, and how its run ends.
type Start = (&'static str, fn(&World) -> Quipu, End4);

#[test]
fn of_runs_that_no_service_ends() {
    let cases: [Start; 9] = [
        (
            "an unknown flag",
            |world| world.quipu().args(["--nonsense", "hi"]),
            ("failed", 2, "usage", false),
        ),
        (
            "no model",
            |world| world.quipu().arg("hi"),
            ("failed", 3, "configuration", false),
        ),
        (
            "no key",
            |world| world.quipu().args(["--model", "anthropic/x", "hi"]),
            ("failed", 3, "credentials", false),
        ),
        (
            "no place for the session",
            |world| {
                let quipu = world.offline(&json!([text("never")]));
                quipu.args(["--session-dir", "/dev/null/sessions", "hi"])
            },
            ("failed", 1, "session", false),
        ),
        (
            "a limit",
            |world| {
                let quipu = world.offline(&json!([bash("true"), text("never")]));
                quipu.args(["--max-turns", "1", "hi"])
            },
            ("limit", 1, "limit", false),
        ),
        (
            "a retry that helps",
            |world| {
                let settings = json!({ "retry": { "baseDelayMs": 1 } });
                world.config("settings.json", settings.to_string());
                world
                    .offline(&json!([{ "error": "overloaded" }, text("ok")]))
                    .arg("hi")
            },
            ("completed", 0, "", false),
        ),
        (
            "a prompt that fails before one that does not",
            |world| {
                world
                    .offline(&json!([{ "error": "auth" }, text("ok")]))
                    .args(["one", "two"])
            },
            ("failed", 1, "auth", false),
        ),
        (
            "a prompt that fails after one that does not",
            |world| {
                world
                    .offline(&json!([text("ok"), { "error": "overloaded" }]))
                    .args(["one", "two"])
            },
            ("failed", 1, "overloaded", true),
        ),
        (
            "a command that fails",
            |world| {
                world
                    .offline(&json!([bash("exit 7"), text("It failed.")]))
                    .arg("hi")
            },
            ("completed", 0, "", false),
        ),
    ];
    for (what, start, end) in cases {
        let world = World::new();
        ends(what, &start(&world).run(), end);
    }
}

#[test]
fn of_runs_that_a_signal_ends() {
    for service in SERVICES {
        let world = World::new();
        let (url, _requests) = serve(vec![service.stalled("Hel")]);
        let mut live = service.quipu(&world, &url).arg("hi").live();
        live.until("text_delta");
        live.signal(Signal::TERM);
        let what = format!("{service:?}");
        let end = ("interrupted", 143, "interrupted", false);
        ends(&what, &live.end(), end);
    }
}
