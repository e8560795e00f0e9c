//! Models that take over from one that fails for good: the offline model fails as it is told to, those
//! behind it are served over a loopback socket.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::mpsc::Receiver;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::anthropic::{KEY, plain, rich, sse};
use crate::check::{Stream, kind, text_at};
use crate::google;
use crate::harness::{PATIENCE, Run, World};
use crate::redact::Shot;
use crate::retries::course;
use crate::script::text;
use crate::server::{Answer, End, Request, serve};
use crate::session_file::{entries, sessions};

/// What happens when a model takes over at once and answers.
const HANDED_OVER: [&str; 6] = [
    "error",
    "agent_end true",
    "start 1/1",
    "stop",
    "end 1 true",
    "agent_end false",
];

/// A world with these models behind a server, and a chain behind the offline model.
struct Chained {
    world: World,
    requests: Receiver<Request>,
}

impl Chained {
    fn new(chain: &[&str], retry: &Value, answers: Vec<Answer>) -> Self {
        let world = World::new();
        let (url, requests) = serve(answers);
        let price = json!({ "input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75 });
        let models = json!({ "providers": {
            "loopback": { "baseUrl": url, "api": "anthropic-messages", "apiKey": KEY, "models": [
                { "id": "model-1", "reasoning": true, "cost": price },
                { "id": "plain", "cost": price },
            ]},
            "locked": { "baseUrl": "https://locked.example", "api": "anthropic-messages", "models": [{ "id": "m" }] },
            "slow": { "baseUrl": url, "api": "anthropic-messages", "apiKey": "!sleep 60",
                "models": [{ "id": "m" }] },
            "smoke": { "baseUrl": url, "api": "smoke-signals", "apiKey": "k", "models": [{ "id": "m" }] },
        }});
        world.config("models.json", models.to_string());
        let mut retry = retry.clone();
        retry["fallbackChains"] = json!({ "offline/offline": chain });
        world.config("settings.json", json!({ "retry": retry }).to_string());
        Self { world, requests }
    }

    /// Makes the key one that only a command knows.
    fn hide_key(&self) {
        let file = self.world.root().join("config/models.json");
        let models = std::fs::read_to_string(&file).unwrap();
        let command = format!("!echo {} | rev", KEY.chars().rev().collect::<String>());
        std::fs::write(&file, models.replace(KEY, &command)).unwrap();
    }

    fn play(&self, steps: &Value) -> Run {
        self.world.offline(steps).arg("Do it").run()
    }

    fn shot(&self, run: &Run, name: &str) {
        Shot::new(&self.world, run).without_updates().assert(name);
    }
}

fn off() -> Value {
    json!({ "enabled": false })
}

fn good() -> Vec<Answer> {
    vec![sse(&plain(&["From the ", "second model."]))]
}

fn refused(message: &str) -> Answer {
    let error = json!({ "type": "authentication_error", "message": message });
    let body = json!({ "type": "error", "error": error });
    Answer::plain("401 Unauthorized", "application/json", &body.to_string())
}

fn fails() -> Value {
    json!([{ "error": "auth" }])
}

/// `provider/id` of each `agent_start`.
fn models(stream: &Stream) -> Vec<String> {
    let name = |line: &&Value| {
        let [provider, id] = ["/model/provider", "/model/id"].map(|at| text_at(line, at));
        format!("{provider}/{id}")
    };
    stream.of("agent_start").iter().map(name).collect()
}

/// A request for a level that the model which takes over does not have.
fn clamped() -> (Chained, Run) {
    let chained = Chained::new(&["loopback/plain"], &off(), good());
    let quipu = chained.world.offline(&fails());
    let run = quipu.args(["--thinking", "high", "Do it"]).run();
    (chained, run)
}

/// Runs for [`crate::coverage`].
pub(crate) fn runs() -> Vec<Stream> {
    vec![clamped().1.stream()]
}

#[test]
fn a_failure_that_cannot_heal_hands_over() {
    let chained = Chained::new(&["loopback/model-1"], &off(), good());
    let run = chained.play(&fails());
    let stream = run.stream();
    assert_eq!((stream.outcome(), run.code()), ("completed", 0));
    assert_eq!(course(&stream), HANDED_OVER);
    assert_eq!(models(&stream), ["offline/offline", "loopback/model-1"]);
    let start = stream.of("auto_retry_start")[0];
    assert_eq!(start["delayMs"], 0);
    let told = text_at(start, "/errorMessage");
    assert!(told.ends_with("(loopback/model-1 takes over)"), "{told}");
    assert_eq!(run.stderr, "");
    chained.shot(&run, "fallback_permanent");

    let entries = entries(&sessions(&chained.world));
    let changes: Vec<_> = entries
        .iter()
        .filter(|entry| kind(entry).ends_with("_change"))
        .map(|entry| {
            (
                kind(entry),
                text_at(entry, "/modelId"),
                text_at(entry, "/reason"),
            )
        })
        .collect();
    assert_eq!(
        changes,
        [
            ("model_change", "offline", ""),
            ("thinking_level_change", "", ""),
            ("model_change", "model-1", "fallback"),
        ]
    );
    let fallback = entries.iter().find(|entry| entry["reason"] == "fallback");
    let original = ["/provider", "/originalProvider", "/originalModelId"];
    let original = original.map(|at| text_at(fallback.unwrap(), at));
    assert_eq!(original, ["loopback", "offline", "offline"]);
}

#[test]
fn retries_come_first_and_the_next_model_has_its_own() {
    let retry = json!({ "maxRetries": 2, "baseDelayMs": 1 });
    let overloaded =
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    let overloaded = Answer::plain("529 Overloaded", "application/json", overloaded);
    let answers = [vec![overloaded.clone(), overloaded], good()].concat();
    let chained = Chained::new(&["loopback/model-1"], &retry, answers);
    let run = chained.play(&json!([{ "error": "overloaded", "times": 3 }]));
    let stream = run.stream();
    assert_eq!(
        course(&stream),
        [
            "error",
            "agent_end true",
            "start 1/2",
            "error",
            "agent_end true",
            "start 2/2",
            "error",
            "agent_end true",
            "start 1/3",
            "error",
            "agent_end true",
            "start 2/3",
            "error",
            "agent_end true",
            "start 3/3",
            "stop",
            "end 3 true",
            "agent_end false",
        ]
    );
    let own = "loopback/model-1";
    let offline = "offline/offline";
    assert_eq!(models(&stream), [offline, offline, offline, own, own, own]);
    chained.shot(&run, "fallback_exhausted");
}

#[test]
fn the_last_model_of_the_chain_fails_the_run() {
    let chain = ["loopback/model-1", "loopback/plain"];
    let answers = vec![refused("No such key."), refused("Still no such key.")];
    let chained = Chained::new(&chain, &off(), answers);
    let run = chained.play(&fails());
    let stream = run.stream();
    assert_eq!(
        (stream.outcome(), stream.error_code(), run.code()),
        ("failed", "auth", 1)
    );
    assert!(stream.error_message().contains("Still no such key."));
    let hands_over = ["error", "agent_end true", "start 1/1"];
    let last = ["error", "agent_end false", "end 1 false"];
    assert_eq!(course(&stream), [hands_over, hands_over, last].concat());
    chained.shot(&run, "fallback_all_fail");

    let entries = entries(&sessions(&chained.world));
    let originals: Vec<_> = entries
        .iter()
        .filter(|entry| entry["reason"] == "fallback")
        .map(|entry| {
            (
                text_at(entry, "/modelId"),
                text_at(entry, "/originalModelId"),
            )
        })
        .collect();
    assert_eq!(originals, [("model-1", "offline"), ("plain", "offline")]);
}

#[test]
fn a_signal_ends_the_model_that_took_over() {
    let chained = Chained::new(
        &["loopback/model-1"],
        &off(),
        vec![sse(&[]).ending(End::Silence)],
    );
    let mut live = chained.world.offline(&fails()).arg("Do it").live();
    live.until("auto_retry_start");
    live.until("agent_start");
    chained.requests.recv_timeout(PATIENCE).unwrap();
    live.signal(Signal::TERM);
    let run = live.end();
    let stream = run.stream();
    assert_eq!((stream.outcome(), run.code()), ("interrupted", 143));
    assert_eq!(course(&stream).last().unwrap(), "end 1 false");
    chained.shot(&run, "fallback_cancelled");
}

#[test]
fn a_signal_ends_the_search_for_a_key() {
    let chained = Chained::new(&["slow/m", "loopback/model-1"], &off(), good());
    let mut live = chained.world.offline(&fails()).arg("Do it").live();
    live.until("turn_end");
    live.signal(Signal::TERM);
    let run = live.end();
    let stream = run.stream();
    assert_eq!((stream.outcome(), run.code()), ("interrupted", 143));
    assert_eq!(course(&stream), ["error", "agent_end false"]);
}

#[test]
fn a_level_that_the_next_model_does_not_have() {
    let (chained, run) = clamped();
    let stream = run.stream();
    let kinds = stream.kinds();
    let at = kinds.iter().position(|kind| *kind == "auto_retry_start");
    let after = [
        "thinking_level_changed",
        "thinking_level_clamped",
        "agent_start",
    ];
    assert_eq!(kinds[at.unwrap() + 1..][..3], after);
    assert_eq!(stream.of("thinking_level_changed")[0]["level"], "off");
    let told = &stream.of("thinking_level_clamped")[0];
    let parts = ["/provider", "/modelId", "/requestedLevel", "/appliedLevel"];
    let parts = parts.map(|at| text_at(told, at));
    assert_eq!(parts, ["loopback", "plain", "high", "off"]);
    assert_eq!(stream.of("agent_start")[1]["thinkingLevel"], "off");
    chained.shot(&run, "fallback_level");
    let entries = entries(&sessions(&chained.world));
    let levels = entries
        .iter()
        .filter(|entry| kind(entry) == "thinking_level_change");
    let levels: Vec<_> = levels.map(|entry| &entry["thinkingLevel"]).collect();
    assert_eq!(levels, ["high", "off"]);
}

#[test]
fn levels_are_told_once_and_only_if_asked_for() {
    let levels = |chain: &[&str], args: &[&str], answers: Vec<Answer>| {
        let chained = Chained::new(chain, &off(), answers);
        let quipu = chained.world.offline(&fails()).args(args.iter().copied());
        let stream = quipu.arg("Do it").run().stream();
        let told = stream.lines.iter().filter_map(|line| match kind(line) {
            "thinking_level_changed" => Some(text_at(line, "/level").to_owned()),
            "thinking_level_clamped" => Some(format!(
                "{} for {}",
                text_at(line, "/appliedLevel"),
                text_at(line, "/requestedLevel")
            )),
            _ => None,
        });
        told.collect::<Vec<_>>()
    };
    assert_eq!(levels(&["loopback/plain"], &[], good()), ["off"]);
    // The suffix of a name is a request, and holds for that model.
    assert_eq!(
        levels(&["loopback/model-1:low"], &["--thinking", "high"], good()),
        ["low"]
    );
    assert_eq!(
        levels(&["loopback/plain:low"], &[], good()),
        ["off", "off for low"]
    );
    // The request is remembered, not what became of it; what was told is not told again.
    let chain = ["loopback/plain", "loopback/model-1", "loopback/plain"];
    let refused = || refused("No.");
    let answers = [vec![refused(), refused()], good()].concat();
    assert_eq!(
        levels(&chain, &["--thinking", "high"], answers),
        ["off", "off for high", "high", "off"]
    );
}

#[test]
fn what_cannot_be_opened_is_left_out() {
    let chain = [
        "nowhere/m",
        "m",
        "locked/m",
        "smoke/m",
        "offline",
        "loopback/model-1",
    ];
    let chained = Chained::new(&chain, &off(), good());
    let run = chained.play(&fails());
    let stream = run.stream();
    assert_eq!(course(&stream), HANDED_OVER);
    assert_eq!(models(&stream)[1], "loopback/model-1");
    let told: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(told.len(), 4, "{}", run.stderr);
    for (line, (name, why)) in told.iter().zip([
        ("nowhere/m", "retry.fallbackChains"),
        ("m", "several models"),
        ("locked/m", "no API key"),
        ("smoke/m", "not supported"),
    ]) {
        let begins = format!("quipu: warning: the fallback model `{name}` is left out: ");
        assert!(line.starts_with(&begins) && line.contains(why), "{line}");
    }
}

#[test]
fn a_chain_that_can_never_be_used_is_told() {
    let plays = |chains: Value| {
        let world = World::new();
        let retry = json!({ "enabled": false, "fallbackChains": chains });
        world.config("settings.json", json!({ "retry": retry }).to_string());
        let run = world.offline(&fails()).arg("Do it").run();
        assert_eq!(course(&run.stream()), ["error", "agent_end false"]);
        run.stderr
    };
    for name in [
        "anthropicx/claude-haiku-4-5",
        "anthropic/claude-haiku-4-5:high",
        "Anthropic/claude-haiku-4-5",
        "claude-haiku",
        "*",
    ] {
        let told = plays(json!({ name: ["nowhere/m"] }));
        assert!(told.contains(&format!("a chain for `{name}`")), "{told}");
        assert_eq!(told.lines().count(), 1, "{told}");
    }
    let known = json!({ "anthropic/claude-haiku-4-5": ["a/b"], "gpt-5": ["a/b"] });
    assert_eq!(plays(known), "");
    // The model that has failed does not come again.
    assert_eq!(plays(json!({ "offline": ["offline"] })), "");
    let told = plays(json!({ "offline": ["offline:low"] }));
    assert!(
        told.contains("`offline:low` is left out: it is the model"),
        "{told}"
    );
}

#[test]
fn without_a_chain_for_the_model_nothing_takes_over() {
    let plays = |retry: &Value| {
        let world = World::new();
        world.config("settings.json", json!({ "retry": retry }).to_string());
        course(&world.offline(&fails()).arg("Do it").run().stream())
    };
    let nothing = ["error", "agent_end false"];
    let chains = json!({ "offline": ["nowhere/m"] });
    assert_eq!(
        plays(&json!({ "fallbackChains": { "x/offline": ["nowhere/m"] } })),
        nothing
    );
    assert_eq!(plays(&json!({ "fallbackChains": chains })), nothing);
    let chained = Chained::new(
        &["loopback/model-1"],
        &json!({ "modelFallback": false }),
        good(),
    );
    let run = chained.play(&fails());
    assert_eq!(
        (course(&run.stream()), run.stderr.as_str()),
        (nothing.map(String::from).to_vec(), "")
    );
    assert!(chained.requests.try_recv().is_err());
}

#[test]
fn another_model_does_not_help_a_long_conversation_or_a_reached_limit() {
    let chain = ["loopback/model-1"];
    let chained = Chained::new(&chain, &off(), good());
    let stream = chained.play(&json!([{ "error": "overflow" }])).stream();
    assert_eq!(course(&stream), ["error", "agent_end false"]);
    let quipu = chained.world.offline(&fails());
    let stream = quipu.args(["--max-turns", "1", "Do it"]).run().stream();
    assert_eq!(course(&stream), ["error", "agent_end false"]);
    assert_eq!(stream.outcome(), "limit");
    assert!(chained.requests.try_recv().is_err());
}

#[test]
fn a_wait_that_is_too_long_hands_over() {
    let chained = Chained::new(
        &["loopback/model-1"],
        &json!({ "maxDelayMs": 2000 }),
        good(),
    );
    let hour = json!({ "error": "rate_limit", "headers": { "retry-after": "3600" } });
    let stream = chained.play(&json!([hour])).stream();
    assert_eq!(stream.answers(), ["From the second model."]);
    let told = text_at(stream.of("auto_retry_start")[0], "/errorMessage");
    assert!(told.contains("1h") && told.contains("takes over"), "{told}");
}

#[test]
fn later_prompts_stay_with_the_model_that_took_over() {
    let answers = [good(), good()].concat();
    let chained = Chained::new(&["loopback/model-1"], &off(), answers);
    let steps = json!([{ "error": "auth" }, text("never")]);
    let run = chained.world.offline(&steps).args(["One", "Two"]).run();
    let stream = run.stream();
    let own = "loopback/model-1";
    assert_eq!(models(&stream), ["offline/offline", own, own]);
    assert_eq!(stream.of("auto_retry_start").len(), 1);
    assert_eq!(stream.outcome(), "completed");
}

#[test]
fn keys_stay_with_their_service_and_are_not_told() {
    let answers = [vec![refused(&format!("Not {KEY}."))], good()].concat();
    let chain = ["loopback/model-1", "loopback/plain"];
    let chained = Chained::new(&chain, &off(), answers);
    chained.hide_key();
    let flag = "canary-key-of-the-flag";
    let quipu = chained.world.offline(&fails());
    let run = quipu.args(["--api-key", flag, "Do it"]).run();
    assert_eq!(run.stream().answers(), ["From the second model."]);
    let told = String::from_utf8_lossy(&run.stdout).into_owned() + &run.stderr;
    assert!(!told.contains(KEY), "the key was told: {told}");
    assert!(told.contains("Not <redacted>."), "{told}");
    for _ in chain {
        let request = chained.requests.recv_timeout(PATIENCE).unwrap();
        assert!(
            request.head.contains(KEY) && !request.head.contains(flag),
            "{}",
            request.head
        );
    }
}

#[test]
fn the_key_of_the_flag_opens_another_model_of_its_service() {
    let world = World::new();
    let (url, requests) = serve([vec![refused("No.")], good()].concat());
    let models = json!({ "providers": { "p": { "baseUrl": url, "api": "anthropic-messages",
        "models": [{ "id": "one" }, { "id": "two" }] }}});
    world.config("models.json", models.to_string());
    let settings = json!({ "retry": { "fallbackChains": { "p/one": ["p/two"] } } });
    world.config("settings.json", settings.to_string());
    let flag = "canary-key-of-the-flag";
    let quipu = world.quipu().args(["--model", "p/one", "--api-key", flag]);
    assert_eq!(quipu.arg("hi").run().stream().outcome(), "completed");
    for model in ["one", "two"] {
        let request = requests.recv_timeout(PATIENCE).unwrap();
        assert!(request.head.contains(flag), "{}", request.head);
        assert_eq!(request.body["model"], model);
    }
}

#[test]
fn an_echoed_key_of_the_next_model_is_redacted_in_its_answer() {
    let (head, tail) = KEY.split_at(9);
    let answers = vec![sse(&plain(&["It is ", head, tail, "."]))];
    let chained = Chained::new(&["loopback/model-1"], &off(), answers);
    chained.hide_key();
    let run = chained.play(&fails());
    assert_eq!(run.stream().answers(), ["It is <redacted>."]);
}

#[test]
fn tools_do_not_get_the_key_of_the_model_that_took_over() {
    let world = World::new();
    let call = json!({ "name": "bash", "args": { "command": "env | cut -d= -f1 | grep ^MY_" } });
    let asks = google::chunk(&json!([{ "functionCall": call }]), Some("STOP"));
    let done = google::chunk(&json!([{ "text": "Done." }]), Some("STOP"));
    let (url, _requests) = serve([asks, done].map(|chunk| google::answer(&[chunk])).into());
    let models = json!({ "providers": { "g": { "baseUrl": format!("{url}/v1beta"),
        "api": "google-generative-ai", "models": [{ "id": "m" }] }}});
    world.config("models.json", models.to_string());
    world.config(
        "auth.json",
        r#"{ "g": { "type": "api_key", "key": "$MY_KEY" } }"#,
    );
    let file = world.root().join("config/auth.json");
    std::fs::set_permissions(file, Permissions::from_mode(0o600)).unwrap();
    let settings =
        json!({ "retry": { "enabled": false, "fallbackChains": { "offline": ["g/m"] } } });
    world.config("settings.json", settings.to_string());
    let quipu = world
        .offline(&fails())
        .env("MY_KEY", KEY)
        .env("MY_OWN", "x");
    let stream = quipu.arg("Do it").run().stream();
    assert_eq!(stream.answers(), ["Done."]);
    assert_eq!(stream.results()[0].trim(), "MY_OWN");
}

/// A conversation with thought and a call on one API, whose second request fails; another API goes on.
#[test]
fn another_api_gets_the_conversation_without_foreign_signatures() {
    let world = World::new();
    world.file("notes.txt", "a note\n");
    let (first, _first) = serve(vec![sse(&rich()), refused("No more.")]);
    let done = google::chunk(&json!([{ "text": "Done." }]), Some("STOP"));
    let (second, requests) = serve(vec![google::answer(&[done])]);
    let models = json!({ "providers": {
        "one": { "baseUrl": first, "api": "anthropic-messages", "apiKey": "key-of-one",
            "models": [{ "id": "claude", "reasoning": true }] },
        "two": { "baseUrl": format!("{second}/v1beta"), "api": "google-generative-ai",
            "apiKey": "key-of-two", "models": [{ "id": "gemini-3-flash", "reasoning": true }] },
    }});
    world.config("models.json", models.to_string());
    let chains = json!({ "claude": ["two/gemini-3-flash"] });
    let settings = json!({ "retry": { "fallbackChains": chains } });
    world.config("settings.json", settings.to_string());
    let quipu = world.quipu().args(["--model", "one/claude"]);
    let stream = quipu.arg("Read the notes").run().stream();
    assert_eq!(stream.outcome(), "completed");
    assert_eq!(stream.answers(), ["I read 😀 it.", "Done."]);
    assert_eq!(stream.of("tool_execution_start").len(), 1);

    let request = requests.recv_timeout(PATIENCE).unwrap();
    let contents = request.body["contents"].as_array().unwrap();
    let roles: Vec<&str> = contents.iter().map(|said| text_at(said, "/role")).collect();
    assert_eq!(roles, ["user", "model", "user"]);
    let sent = &contents[1]["parts"];
    assert_eq!(
        [&sent[0], &sent[1]],
        [
            &json!({ "text": "Let me look – ü." }),
            &json!({ "text": "I read 😀 it." })
        ]
    );
    assert_eq!(text_at(&sent[2], "/functionCall/name"), "read");
    let response = &contents[2]["parts"][0]["functionResponse"];
    assert!(text_at(response, "/response/output").contains("a note"));
    let body = request.body.to_string();
    for foreign in ["c2lnbmF0dXJl", "b3BhcXVl", "No more."] {
        assert!(!body.contains(foreign), "{foreign}: {body}");
    }
    assert!(!request.head.contains("key-of-one"), "{}", request.head);
}
