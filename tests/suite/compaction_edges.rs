//! Compactions where something is out of the ordinary: keys in what was stored, tiny reserves, services
//! that take less than is known, long prompts, and text of which a character is a token.

use std::sync::mpsc::Receiver;

use serde_json::{Value, json};

use crate::anthropic::{KEY, plain, sse};
use crate::check::{Stream, text_at};
use crate::harness::{PATIENCE, Quipu, World};
use crate::resume::only_file;
use crate::server::{Answer, Request, serve};

/// A model behind a server, with these fields in `models.json` and these settings of compaction.
fn served(
    world: &World,
    model: &Value,
    compaction: &Value,
    answers: Vec<Answer>,
) -> (Quipu, Receiver<Request>) {
    let (url, requests) = serve(answers);
    let models = json!({ "providers": { "loopback": {
        "baseUrl": url, "api": "anthropic-messages", "apiKey": KEY,
        "modelOverrides": { "model-1": model },
    }}});
    world.config("models.json", models.to_string());
    let settings = json!({ "compaction": compaction, "retry": { "enabled": false } });
    world.config("settings.json", settings.to_string());
    let quipu = world.quipu().args(["--model", "loopback/model-1"]);
    (quipu, requests)
}

fn says(words: &str) -> Answer {
    sse(&plain(&[words]))
}

fn too_long() -> Answer {
    let error = json!({ "type": "invalid_request_error", "message": "prompt is too long: 9 tokens > 8 maximum" });
    let body = json!({ "type": "error", "error": error });
    Answer::plain("400 Bad Request", "application/json", &body.to_string())
}

fn step(words: &str, counted: u64) -> Value {
    json!({ "blocks": [{ "text": words, "chunk": 4000 }], "usage": { "input": counted - 4, "output": 4 } })
}

/// A run on the offline model, whose window has so many tokens.
fn offline(world: &World, window: u64, compaction: &Value, steps: &Value) -> Quipu {
    let settings = json!({ "compaction": compaction, "retry": { "enabled": false } });
    world.config("settings.json", settings.to_string());
    let script = json!({ "context_window": window, "steps": steps });
    world.script(&script.to_string())
}

fn next(requests: &Receiver<Request>) -> Value {
    requests.recv_timeout(PATIENCE).unwrap().body
}

/// Where the ends of compactions stand among runs and turns.
fn course(stream: &Stream) -> Vec<&str> {
    let kinds = stream.lines.iter().map(crate::check::kind);
    let shown = |kind: &&str| matches!(*kind, "agent_start" | "compaction_end" | "turn_start");
    kinds.filter(shown).collect()
}

#[test]
fn a_key_in_a_stored_session_is_not_told_again() {
    let world = World::new();
    let read = json!({ "blocks": [{ "tool": "read", "args": { "path": format!("{KEY}.txt") } }] });
    let steps = json!([
        read,
        step("The first answer.", 140),
        { "error": "overflow" },
        step(&format!("Notes that hold {KEY}."), 90),
        step("The second answer.", 3000),
    ]);
    // Nobody knows yet that it is a key.
    let quipu = offline(&world, 10_000, &json!({ "keepRecentTokens": 1 }), &steps);
    let first = quipu.args(["one", &"two ".repeat(3000)]).run().stream();
    let result = &first.of("compaction_end")[0]["result"];
    assert!(text_at(result, "/summary").contains(KEY), "{result}");
    assert!(result["details"].to_string().contains(KEY), "{result}");
    let file = only_file(&world);
    let stored = std::fs::read_to_string(&file).unwrap();
    let with_parent = format!(r#""parentSession":"/old/{KEY}.jsonl","cwd":"#);
    let stored = stored.replacen(r#""cwd":"#, &with_parent, 1);
    std::fs::write(&file, &stored).unwrap();

    // One compaction before the prompt, which adds to the earlier summary, and one after it.
    let (quipu, _requests) = served(
        &world,
        &json!({ "contextWindow": 5000 }),
        &json!({ "keepRecentTokens": 1 }),
        vec![
            says("The turn so far."),
            says("The third answer."),
            says("All of it in short."),
            says("The third question."),
        ],
    );
    let run = quipu.args(["-c", "three"]).run();
    let stream = run.stream();
    let ends = stream.of("compaction_end");
    assert_eq!(ends.len(), 2);
    let summary = text_at(ends[0], "/result/summary");
    assert!(
        summary.starts_with("Notes that hold <redacted>."),
        "{summary}"
    );
    for end in ends {
        assert_eq!(
            end["result"]["details"]["readFiles"],
            json!(["<redacted>.txt"])
        );
    }
    assert_eq!(
        text_at(stream.header(), "/parentSession"),
        "/old/<redacted>.jsonl"
    );
    assert!(!String::from_utf8_lossy(&run.stdout).contains(KEY));
    let now = std::fs::read_to_string(&file).unwrap();
    let new = now.strip_prefix(&stored).unwrap();
    assert!(
        new.contains(r#""type":"compaction""#) && !new.contains(KEY),
        "{new}"
    );
}

#[test]
fn a_copy_does_not_tell_a_key_in_the_name_of_its_source() {
    let world = World::new();
    let steps = json!([step("The first answer.", 140)]);
    let first = format!("{KEY}.jsonl");
    let quipu = offline(&world, 10_000, &json!({}), &steps);
    let stream = quipu.args(["--session", &first, "one"]).run().stream();
    assert_eq!(stream.outcome(), "completed");
    let (quipu, _requests) = served(&world, &json!({}), &json!({}), vec![says("Again.")]);
    let run = quipu.args(["--fork", &first, "two"]).run();
    assert_eq!(run.stream().answers(), ["Again."]);
    assert!(!String::from_utf8_lossy(&run.stdout).contains(KEY));
    let copy = std::fs::read_to_string(only_file(&world)).unwrap();
    assert!(
        copy.contains("<redacted>.jsonl") && !copy.contains(KEY),
        "{copy}"
    );
}

#[test]
fn a_summary_has_room_whatever_the_reserve_is() {
    let world = World::new();
    let (quipu, requests) = served(
        &world,
        &json!({ "contextWindow": 50_000, "maxTokens": 8192 }),
        &json!({ "reserveTokens": 0, "keepRecentTokens": 0 }),
        vec![
            says("One."),
            too_long(),
            says("What has happened."),
            says("Two."),
        ],
    );
    let stream = quipu.args(["one", "two"]).run().stream();
    assert_eq!(stream.answers(), ["One.", "Two."]);
    let _ = (next(&requests), next(&requests));
    let summary = next(&requests);
    assert!(summary["messages"].to_string().contains("<conversation>"));
    assert_eq!(summary["max_tokens"], 2048);
}

#[test]
fn a_word_is_no_summary() {
    for words in ["", "Ok", "Done."] {
        let world = World::new();
        let steps = json!([step("One.", 140), { "error": "overflow" }, step(words, 90)]);
        let run = offline(&world, 1000, &json!({ "keepRecentTokens": 0 }), &steps);
        let stream = run.args(["one", "two"]).run().stream();
        let end = stream.of("compaction_end")[0];
        assert!(end.get("result").is_none(), "{end}");
        assert!(
            text_at(end, "/errorMessage").contains("no summary"),
            "{end}"
        );
        // The conversation is still there.
        let kept = json!([{ "match": { "first": "one" }, "blocks": [{ "text": "Still here." }] }]);
        let quipu = offline(&world, 1000, &json!({}), &kept);
        let stream = quipu.args(["-c", "three"]).run().stream();
        assert_eq!(stream.answers(), ["Still here."]);
    }
}

#[test]
fn a_text_that_is_too_long_for_its_summary_is_halved() {
    let world = World::new();
    let (quipu, requests) = served(
        &world,
        &json!({}),
        &json!({}),
        vec![
            says("One."),
            too_long(),
            too_long(),
            too_long(),
            says("What has happened."),
            says("Two."),
        ],
    );
    let long = "word ".repeat(8000);
    let stream = quipu.args([&long, "two"]).run().stream();
    assert_eq!(stream.outcome(), "completed");
    assert_eq!(stream.answers().last(), Some(&"Two."));
    let _ = (next(&requests), next(&requests));
    let asked = [(); 3].map(|()| next(&requests)["messages"].to_string().len());
    assert!(asked[0] > 40_000, "{asked:?}");
    assert!((20_000..25_000).contains(&asked[1]), "{asked:?}");
    assert!((10_000..15_000).contains(&asked[2]), "{asked:?}");
}

#[test]
fn halving_has_an_end() {
    let world = World::new();
    let answers = std::iter::once(says("One.")).chain((0..20).map(|_| too_long()));
    let (quipu, requests) = served(&world, &json!({}), &json!({}), answers.collect());
    let long = "word ".repeat(8000);
    let run = quipu.args([&long, "two"]).run();
    assert_eq!(run.code(), 1);
    let ends = run.stream();
    assert_eq!(ends.of("compaction_end").len(), 1);
    // Two prompts, then 40,000 characters of text, 20,000 and so on.
    assert_eq!(requests.try_iter().count(), 2 + 5);
}

#[test]
fn a_long_prompt_is_checked_though_the_run_before_was() {
    let world = World::new();
    let steps = json!([
        step("The first answer is long enough to be summed up.", 650),
        { "error": "auth" },
        step("What has happened.", 90),
        step("Good.", 500),
    ]);
    let compaction = json!({ "reserveTokens": 400, "keepRecentTokens": 4 });
    let long = "word ".repeat(280);
    let quipu = offline(&world, 1000, &compaction, &steps);
    let stream = quipu.args(["one", &long]).run().stream();
    let after_and_before = [
        "agent_start",
        "turn_start",
        "compaction_end",
        "agent_start",
        "compaction_end",
        "turn_start",
    ];
    assert_eq!(course(&stream), after_and_before);
    let ends = stream.of("compaction_end");
    assert_eq!(
        [ends[0], ends[1]].map(|end| end.get("accepted")),
        [None, Some(&json!(true))]
    );
}

#[test]
fn a_prompt_beyond_the_window_forces_a_cut() {
    let world = World::new();
    let steps = json!([
        step("The first answer is long enough to be summed up.", 500),
        step("What has happened.", 90),
        step("Good.", 500),
    ]);
    let compaction = json!({ "reserveTokens": 400, "keepRecentTokens": 300 });
    let long = "word ".repeat(440);
    let quipu = offline(&world, 1000, &compaction, &steps);
    let stream = quipu.args(["one", &long]).run().stream();
    let end = stream.of("compaction_end")[0];
    assert_eq!(end["accepted"], true, "{end}");
    assert_eq!(
        course(&stream)[2..],
        ["agent_start", "compaction_end", "turn_start"]
    );
}

#[test]
fn nothing_is_told_where_a_prompt_alone_is_too_long() {
    let world = World::new();
    for words in [700, 1300] {
        let steps = json!([step("Good.", 500)]);
        let quipu = offline(&world, 1000, &json!({ "reserveTokens": 400 }), &steps);
        let long = "word".repeat(words);
        let stream = quipu.arg(long).run().stream();
        assert_eq!(course(&stream), ["agent_start", "turn_start"]);
    }
}

#[test]
fn estimates_follow_the_count_of_the_service() {
    let world = World::new();
    let steps = json!([
        step("好。", 6104),
        step("好。", 12_208),
        step("What has happened.", 90),
    ]);
    let long = "字".repeat(6000);
    let quipu = offline(&world, 20_000, &json!({}), &steps);
    let plain = ["--no-tools", "--system-prompt", "Answer."];
    let stream = quipu.args(plain).args([&*long, &*long]).run().stream();
    let result = &stream.of("compaction_end")[0]["result"];
    let after = result["estimatedTokensAfter"].as_u64().unwrap();
    assert!((6000..7000).contains(&after), "{result}");
}
