//! What background agents are given by their parent, and what they must not tell.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::background::{course, give, of, priced, results};
use crate::check::text_at;
use crate::harness::World;
use crate::live::assert_nobody_left;
use crate::script::text;
use crate::server::{Answer, serve};

/// Long enough to be held as a secret.
const KEY: &str = "sk-canary-0123456789abcdef";

pub(crate) fn calls(tool: &str, args: &Value) -> Answer {
    priced(
        &json!({ "type": "tool_use", "id": "c", "name": tool, "input": {} }),
        &json!({ "type": "input_json_delta", "partial_json": args.to_string() }),
        "tool_use",
    )
}

pub(crate) fn says(text: &str) -> Answer {
    priced(
        &json!({ "type": "text", "text": "" }),
        &json!({ "type": "text_delta", "text": text }),
        "end_turn",
    )
}

fn provider(url: &str, key: Option<&str>) -> Value {
    let model = |id: &str| json!({ "id": id, "contextWindow": 100_000, "maxTokens": 1000 });
    let mut provider = json!({ "baseUrl": url, "api": "anthropic-messages",
                               "models": [model("m1"), model("m2")] });
    if let Some(key) = key {
        provider["apiKey"] = key.into();
    }
    provider
}

fn files(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        if entry.path().is_dir() {
            files(&entry.path(), found);
        } else {
            found.push(fs::read_to_string(entry.path()).unwrap_or_default());
        }
    }
}

#[test]
fn the_key_goes_to_a_model_that_is_named_without_its_provider() {
    let world = World::new();
    let task = json!({ "task": "CHILD", "model": "m2" });
    let answers = [calls("subagent", &task), says("Report."), says("Seen.")];
    // Parent and child ask by turns.
    let answers = answers.map(|answer| answer.with_headers("connection: close\r\n"));
    let (url, asked) = serve(answers.to_vec());
    let models = json!({ "providers": { "mk": provider(&url, None) } });
    world.config("models.json", models.to_string());
    let run = world
        .quipu()
        .args(["--model", "mk/m1", "--api-key", KEY, "hi"])
        .run();
    let stream = run.stream();
    assert!(course(&stream).contains(&"background_agent_end true".to_owned()));
    let asked: Vec<_> = asked.iter().take(3).collect();
    assert_eq!(asked[1].body["model"], "m2");
    for request in asked {
        assert!(request.head.contains(KEY), "{}", request.head);
    }
}

#[test]
fn the_key_of_the_parent_is_kept_from_lines_and_sessions_of_agents() {
    let world = World::new();
    world.file("key.txt", format!("The key is {KEY}.\n"));
    let task = json!({ "task": "CHILD", "model": "other/m1", "agent": "feature-dev" });
    let (above, _asked) = serve(vec![calls("subagent", &task), says("Seen.")]);
    let read = json!({ "path": "key.txt" });
    let env = json!({ "command": "env; tr '\\0' '\\n' < /proc/$PPID/environ" });
    let (below, asked) = serve(vec![
        calls("read", &read),
        calls("bash", &env),
        says(&format!("It is {KEY}.")),
    ]);
    let models = json!({ "providers": { "mk": provider(&above, None),
                                        "other": provider(&below, Some("another-key-of-tests")) } });
    world.config("models.json", models.to_string());
    let run = world
        .quipu()
        .args(["--model", "mk/m1", "--api-key", KEY, "hi"])
        .run();
    assert_nobody_left(&world);
    let stream = run.stream();
    assert!(course(&stream).contains(&"background_agent_end true".to_owned()));
    let told = String::from_utf8(run.stdout.clone()).unwrap();
    assert!(told.contains("The key is <redacted>."), "{told}");
    assert!(!told.contains(KEY), "{told}");
    let mut kept = Vec::new();
    files(&world.root().join("config"), &mut kept);
    assert!(
        kept.iter()
            .any(|text| text.contains("The key is <redacted>."))
    );
    assert!(kept.iter().all(|text| !text.contains(KEY)), "{kept:#?}");
    for request in asked.iter().take(3) {
        assert!(!request.head.contains(KEY), "{}", request.head);
        assert!(!request.body.to_string().contains(KEY));
    }
}

/// A world with an agent definition of this front matter and body.
fn defined(front: &str, body: &str) -> World {
    let world = World::new();
    let folder = world.root().join("config/agents");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("x.md"), format!("---\n{front}---\n{body}\n")).unwrap();
    world
}

#[test]
fn a_definition_that_is_the_name_of_a_file_is_a_text() {
    let world = defined("", "NOTES");
    world.file("NOTES", "FROM THE FILE");
    let mut child = of("CHILD", text("Found it."));
    child["match"]["any"] = "FROM THE FILE".into();
    let steps = json!([
        child,
        of("CHILD", text("As it should.")),
        give(&json!({ "task": "CHILD", "agent": "x" })),
        text("Seen."),
    ]);
    let run = world.offline(&steps).arg("Do it").run();
    let stream = run.stream();
    assert!(results(&stream)[0].contains("As it should."));
}

#[test]
fn a_level_of_the_models_name_holds_unless_another_is_named() {
    let run = |front: &str, task: &Value, level: &str| {
        let world = defined(front, "Body.");
        let steps = json!([of("CHILD", text("Report.")), give(task), text("Seen.")]);
        let run = world
            .offline(&steps)
            .args(["--thinking", "low", "hi"])
            .run();
        let stream = run.stream();
        let end = stream.of("background_agent_end")[0];
        assert_eq!(end["thinking"], level, "{front}{task}");
    };
    let own = "model: nobody/x:max, offline/offline:high\n";
    let both = "model: offline/offline:high\nthinking: minimal\n";
    let task = json!({ "task": "CHILD", "agent": "x" });
    run("", &task, "low");
    run(own, &task, "high");
    run(both, &task, "minimal");
    let named = json!({ "task": "CHILD", "agent": "x", "model": "offline:minimal" });
    run("", &named, "minimal");
    run("thinking: high\n", &named, "minimal");
    let levelled = json!({ "task": "CHILD", "agent": "x", "thinking": "off" });
    run(own, &levelled, "off");
}

#[test]
fn agents_have_the_model_that_took_over() {
    let world = World::new();
    let fails = Answer::plain("401 Unauthorized", "application/json", "{}");
    let (dead, asked) = serve(vec![fails.clone(), fails]);
    let task = json!({ "task": "CHILD" });
    let answers = [calls("subagent", &task), says("Report."), says("Seen.")];
    let answers = answers.map(|answer| answer.with_headers("connection: close\r\n"));
    let (url, _also) = serve(answers.to_vec());
    let models = json!({ "providers": { "dead": provider(&dead, Some("one-key-of-tests")),
                                        "good": provider(&url, Some("another-key-of-tests")) } });
    world.config("models.json", models.to_string());
    let retry = json!({ "enabled": false, "fallbackChains": { "dead/m1": ["good/m1"] } });
    world.config("settings.json", json!({ "retry": retry }).to_string());
    let run = world.quipu().args(["--model", "dead/m1", "hi"]).run();
    let stream = run.stream();
    let end = stream.of("background_agent_end")[0];
    assert_eq!(
        (&end["success"], &end["model"]),
        (&json!(true), &json!("good/m1"))
    );
    // The agent would fall back by itself, but it need not ask in vain first.
    assert_eq!(asked.try_iter().count(), 1);
}

#[test]
fn a_script_is_named_from_where_the_user_is() {
    let world = World::new();
    let session = world.root().join("s.jsonl");
    let session = session.to_str().unwrap();
    world
        .offline(&json!([text("Begun.")]))
        .args(["--session", session, "hi"])
        .run()
        .stream();
    let steps = json!([
        of("CHILD", text("Report.")),
        give(&json!({ "task": "CHILD" })),
        text("Seen.")
    ]);
    let script = world.root().join("home/script.json");
    fs::write(
        script,
        json!({ "name": "test", "steps": steps }).to_string(),
    )
    .unwrap();
    let run = world
        .quipu()
        .in_directory(&world.root().join("home"))
        .args(["--model", "offline", "--script", "script.json"])
        .args(["--session", "../s.jsonl", "go on"])
        .run();
    let stream = run.stream();
    assert!(
        results(&stream)[0].contains("Report."),
        "{:?}",
        results(&stream)
    );
    let file = text_at(stream.of("background_agent_end")[0], "/sessionFile");
    let header = fs::read_to_string(file).unwrap();
    let header: Value = serde_json::from_str(header.lines().next().unwrap()).unwrap();
    let parent = Path::new(text_at(&header, "/parentSession"));
    assert!(
        parent.is_absolute() && parent.is_file(),
        "{}",
        parent.display()
    );
}
