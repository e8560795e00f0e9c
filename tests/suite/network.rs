//! Proxies, certificates and hints that make no sense.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use serde_json::json;

use crate::bad_input::refused;
use crate::harness::{Quipu, World};
use crate::retries::course;
use crate::server::{Answer, serve};
use crate::services::{Block, SERVICES, Service};

/// A service that is not on this machine and does not exist.
fn away(world: &World) -> Quipu {
    let quipu = Service::Anthropic.quipu(world, "https://service.invalid");
    quipu.arg("hi")
}

#[test]
fn a_proxy_that_is_none_is_refused() {
    for name in ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"] {
        let world = World::new();
        let quipu = away(&world).env(name, "ht!tp://u:canary@@:x");
        refused_late(quipu, &[name, "names no proxy"]);
    }
}

/// Like [`refused`], but the answer has begun: what a client needs is looked at with the first request.
fn refused_late(quipu: Quipu, words: &[&str]) {
    let run = quipu.run();
    let stream = run.stream();
    let error = &stream.end()["error"];
    assert_eq!(error["code"], "configuration", "{error}");
    let message = error["message"].as_str().unwrap();
    for word in words {
        assert!(message.contains(word), "{word} is not in {message}");
    }
    assert!(!message.contains("canary"), "{message}");
}

#[test]
fn a_proxy_that_does_not_help_is_named() {
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    let refusing = TcpListener::bind("127.0.0.1:0").unwrap();
    let refuses = refusing.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in refusing.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(b"HTTP/1.1 403 No\r\ncontent-length: 0\r\n\r\n");
        }
    });
    for (proxy, words) in [
        (closed, "Could not connect to service.invalid through"),
        (refuses, "refused to"),
    ] {
        let world = World::new();
        let quipu = away(&world).env("HTTPS_PROXY", format!("http://u:canary@{proxy}"));
        let run = quipu.run();
        let stream = run.stream();
        let error = &stream.end()["error"];
        assert_eq!(error["code"], "network");
        let message = error["message"].as_str().unwrap();
        let named = format!("the proxy {proxy} (HTTPS_PROXY)");
        assert!(
            message.contains(words) && message.contains(&named),
            "{message}"
        );
        assert!(!message.contains("canary"), "{message}");
    }
}

#[test]
fn a_file_of_broken_certificates_is_named() {
    let world = World::new();
    let pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    world.file("broken.pem", pem);
    let path = world.work().join("broken.pem");
    refused_late(
        away(&world).env("QUIPU_CA_FILE", path),
        &["QUIPU_CA_FILE", "broken.pem"],
    );
}

#[test]
fn a_budget_that_is_none_is_told_with_its_level() {
    let world = World::new();
    world.config("settings.json", r#"{ "thinkingBudgets": { "low": -1 } }"#);
    let quipu = world.offline(&json!([])).arg("hi");
    refused(
        quipu,
        3,
        "configuration",
        &["settings.json", "thinkingBudgets.low"],
    );
}

#[test]
fn a_hint_that_makes_no_sense_is_none() {
    for headers in [
        "retry-after: Sun, 06 Nov 1994 08:49:9223372036854775807 GMT\r\n",
        "retry-after-ms: 1e999\r\nretry-after: \u{fffd}\r\n",
    ] {
        for service in SERVICES {
            let refusal = Answer::plain("429 No", "application/json", "{}").with_headers(headers);
            let (url, _requests) = serve(vec![refusal, service.answer(&[Block::Text("Done.")])]);
            let world = World::new();
            let settings = json!({ "retry": { "maxRetries": 1, "baseDelayMs": 1 } });
            world.config("settings.json", settings.to_string());
            let stream = service.quipu(&world, &url).arg("hi").run().stream();
            let told = [
                "error",
                "agent_end true",
                "start 1/1",
                "stop",
                "end 1 true",
                "agent_end false",
            ];
            assert_eq!(course(&stream), told, "{service:?} {headers}");
        }
    }
}
