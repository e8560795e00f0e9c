//! Text mode, and what else is no event stream: version, models, completions, the manual page.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use serde_json::{Value, json};

use crate::harness::{Run, World};
use crate::script::{bash, text};

fn offline(steps: &Value, args: &[&str]) -> Run {
    let world = World::new();
    let path = world.root().join("scenario.json");
    std::fs::write(&path, json!({ "steps": steps }).to_string()).unwrap();
    let quipu = world
        .bare()
        .args(["--model", "offline", "--script"])
        .arg(path);
    quipu.args(args.iter().copied()).run()
}

fn said(run: &Run) -> String {
    String::from_utf8(run.stdout.clone()).unwrap()
}

#[test]
fn the_final_answer_is_all_that_is_printed() {
    let steps = json!([
        { "blocks": [{ "text": "I look first." }, { "tool": "bash", "args": { "command": "echo hi" } }] },
        { "blocks": [{ "thinking": "Hm." }, { "text": "It says hi." }] },
    ]);
    for args in [
        &["Do it"][..],
        &["-p", "Do it"],
        &["--mode", "text", "Do it"],
    ] {
        let run = offline(&steps, args);
        assert_eq!(
            (said(&run).as_str(), run.code()),
            ("It says hi.\n", 0),
            "{args:?}"
        );
        assert_eq!(run.stderr, "", "nobody watches");
    }
}

#[test]
fn each_prompt_has_its_answer() {
    let run = offline(&json!([text("One."), text("Two.\n")]), &["a", "b"]);
    assert_eq!(said(&run), "One.\nTwo.\n");
}

#[test]
fn a_failure_is_told_on_standard_error() {
    let run = offline(&json!([{ "error": "auth" }]), &["hi"]);
    assert_eq!((said(&run).as_str(), run.code()), ("", 1));
    assert!(run.stderr.starts_with("quipu: 401"), "{}", run.stderr);
}

#[test]
fn start_up_failures_print_nothing_on_standard_output() {
    let world = World::new();
    for (args, code) in [
        (&["--modle", "x"][..], 2),
        (&["--model", "nothing", "hi"], 2),
        (&["--events", "nothing", "hi"], 2),
        (&["hi"], 3),
    ] {
        let run = world.bare().args(args.iter().copied()).run();
        assert_eq!((said(&run).as_str(), run.code()), ("", code), "{args:?}");
        assert!(!run.stderr.is_empty(), "{args:?}");
    }
}

#[test]
fn a_limit_is_told() {
    let run = offline(
        &json!([bash("true"), text("never")]),
        &["--max-turns", "1", "hi"],
    );
    assert_eq!(run.code(), 1);
    assert!(run.stderr.contains("--max-turns"), "{}", run.stderr);
}

#[test]
fn the_version_names_the_schema() {
    let world = World::new();
    let version = said(&world.bare().arg("--version").run());
    let header = world.offline(&json!([text("ok")])).arg("hi").run();
    let header = header.stream().header()["stream"].clone();
    for part in ["version", "schema"] {
        assert!(
            version.contains(header[part].as_str().unwrap()),
            "{version}"
        );
    }
}

#[test]
fn completions_and_the_manual_page_know_the_flags() {
    let world = World::new();
    for args in [
        &["completions", "bash"][..],
        &["completions", "zsh"],
        &["completions", "fish"],
        &["man"],
    ] {
        let run = world.bare().args(args.iter().copied()).run();
        assert_eq!(run.code(), 0);
        let plain = said(&run).replace('\\', "");
        assert!(plain.contains("max-turns"), "{args:?}");
    }
}

#[test]
fn a_word_behind_two_dashes_is_a_prompt() {
    let run = offline(&json!([text("Four.")]), &["--", "models"]);
    assert_eq!(said(&run), "Four.\n");
}

/// The address of a server that has this list of models.
fn lists(body: &'static str) -> String {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", server.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in server.incoming().take(4) {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
            let _ = write!(
                stream,
                "{head}\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
        }
    });
    url
}

#[test]
fn one_bad_entry_does_not_hide_the_others_of_a_server() {
    let offered = |body| {
        let world = World::new();
        let here = json!({ "baseUrl": lists(body), "api": "openai-completions", "apiKey": "x" });
        let models = json!({ "providers": { "here": here } });
        world.config("models.json", models.to_string());
        let run = world
            .bare()
            .args(["models", "--format", "json", "here/"])
            .run();
        let rows: Vec<Value> = serde_json::from_slice(&run.stdout).unwrap();
        let names = rows
            .iter()
            .map(|row| row["model"].as_str().unwrap().to_owned());
        (names.collect::<Vec<_>>(), run.stderr)
    };
    let odd = r#"{"data":[{"id":7},{"id":"a"},{},null,"x",{"id":""},{"id":null},{"id":"b"}]}"#;
    let both = ["here/a", "here/b"].map(str::to_owned).to_vec();
    assert_eq!(offered(odd), (both, String::new()));
    // A list that cannot be read at all is told.
    for body in ["[]x", r#"{"models":[]}"#, r#"{"data":{}}"#] {
        let (names, told) = offered(body);
        assert!(names.is_empty(), "{names:?}");
        assert!(
            told.contains("the models of here at http"),
            "{body}: {told}"
        );
    }
}

#[test]
fn models_are_those_of_the_file_and_of_a_local_server() {
    let url = lists(r#"{"object":"list","data":[{"id":"served-1"},{"id":"listed-1"}]}"#);
    let world = World::new();
    let models = json!({ "providers": {
        "here": { "baseUrl": url, "api": "openai-completions", "apiKey": "x",
                  "models": [{ "id": "listed-1", "contextWindow": 4096 }] },
        "later": { "baseUrl": "http://127.0.0.1:9", "api": "some-other-api", "apiKey": "x",
                   "models": [{ "id": "strange" }] },
    } });
    world.config("models.json", models.to_string());
    let run = world.bare().args(["models", "--format", "json"]).run();
    let rows: Vec<Value> = serde_json::from_slice(&run.stdout).unwrap();
    let row = |name: &str| rows.iter().find(|row| row["model"] == name);
    assert_eq!(row("here/listed-1").unwrap()["source"], "models.json");
    assert_eq!(row("here/listed-1").unwrap()["contextWindow"], 4096);
    assert_eq!(row("here/served-1").unwrap()["source"], "server");
    assert_eq!(row("later/strange").unwrap()["supported"], false);
    assert!(row("offline/offline").is_some());
    let known = row("anthropic/claude-haiku-4-5").unwrap();
    assert_eq!(
        (
            &known["source"],
            &known["contextWindow"],
            &known["maxTokens"]
        ),
        (&json!("catalogue"), &json!(200_000), &json!(64_000))
    );
    let cost = json!({ "input": 1, "output": 5, "cacheRead": 0.1, "cacheWrite": 1.25 });
    assert_eq!(known["cost"], cost);
    assert!(
        known["sources"][0]
            .as_str()
            .unwrap()
            .starts_with("anomalyco/models.dev@")
    );
    assert_eq!(known["date"], "2026-10-03");
    let human = said(&world.bare().args(["models", "served"]).run());
    let [head, offered] = human.lines().collect::<Vec<_>>()[..] else {
        panic!("{human}")
    };
    let cells = |line: &str| {
        line.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(cells(head)[..3], ["MODEL", "CONTEXT", "ANSWER"]);
    // Nothing is known of it but its name.
    let unknown = [
        "here/served-1",
        "-",
        "-",
        "-",
        "-",
        "-",
        "-",
        "server",
        "openai-completions",
    ];
    assert_eq!(cells(offered), unknown);
    let quiet = said(&world.bare().args(["models", "--no-discovery"]).run());
    assert!(!quiet.contains("served-1"), "{quiet}");
}
