//! Background agents, and the tools that tell by an event what they did.
//!
//! Parent and children play one scenario: steps for a child are matched by its task.

use std::fs;

use serde_json::{Value, json};

use crate::check::{Stream, kind, text_at};
use crate::harness::{Run, World};
use crate::live::assert_nobody_left;
use crate::redact::Shot;
use crate::script::{bash, call, text, tool};
use crate::server::{Answer, serve};

/// A step for the agent whose task holds these words.
pub(crate) fn of(task: &str, mut step: Value) -> Value {
    step["match"] = json!({ "first": task });
    step
}

/// An answer that gives out work.
pub(crate) fn give(args: &Value) -> Value {
    tool("subagent", "call_sub", args)
}

/// A command that waits until the test, or another agent, has made this file.
pub(crate) fn until(file: &str) -> Value {
    bash(&format!("while ! test -e {file}; do sleep 0.02; done"))
}

fn play(world: &World, steps: &Value) -> Run {
    let run = world.offline(steps).arg("Do it").run();
    assert_nobody_left(world);
    run
}

/// What happens around agents, in short.
pub(crate) fn course(stream: &Stream) -> Vec<String> {
    let short = |line: &Value| match kind(line) {
        kind @ ("agent_start"
        | "agent_end"
        | "background_agent_start"
        | "parent_paused_for_background_agents") => Some(kind.to_owned()),
        "background_agent_end" => Some(format!("background_agent_end {}", line["success"])),
        "message_end" => {
            let message = &line["message"];
            let role = text_at(message, "/role");
            let told =
                text_at(message, "/content/0/text").starts_with("<background-agent-complete>");
            Some(if told { "result" } else { role }.to_owned())
        }
        _ => None,
    };
    stream.lines.iter().filter_map(short).collect()
}

/// The messages that brought results.
pub(crate) fn results(stream: &Stream) -> Vec<&str> {
    let users = stream.messages("user").into_iter();
    let texts = users.map(|message| text_at(message, "/content/0/text"));
    texts
        .filter(|text| text.starts_with("<background-agent-complete>"))
        .collect()
}

/// Runs for the list of what is written.
pub(crate) fn runs() -> Vec<Stream> {
    let world = World::new();
    world.config(
        "settings.json",
        json!({ "backgroundAgents": { "parentTurnLimit": 1 } }).to_string(),
    );
    let tasks = json!({ "tasks": [
        { "id": "1", "title": "One", "status": "completed" },
        { "id": "2", "title": "Two", "status": "in_progress" },
        { "id": "3", "title": "Three", "status": "pending" },
    ]});
    let told = json!([
        tool("tasks_update", "call_1", &tasks),
        tool("suggest_next", "call_2", &json!({ "command": "go on" })),
    ]);
    let chain = json!([
        of("FIRST", text("One.")),
        give(&json!({ "chain": [{ "task": "FIRST" }, { "task": "then", "agent": "nobody" }] })),
        text("Seen."),
    ]);
    let one = json!([
        of("ONE", text("One.")),
        give(&json!({ "task": "ONE" })),
        text("Seen.")
    ]);
    vec![
        play(&world, &told).stream(),
        play(&world, &one).stream(),
        play(&world, &chain).stream(),
        paused(&world).stream(),
    ]
}

/// A parent that goes on beside its agent for longer than it may.
fn paused(world: &World) -> Run {
    let steps = json!([
        of("CHILD", until("go")),
        of("CHILD", text("Report.")),
        give(&json!({ "task": "CHILD" })),
        bash("echo beside"),
        text("All is done."),
    ]);
    let mut live = world.offline(&steps).args(["First", "Second"]).live();
    live.until("parent_paused_for_background_agents");
    world.file("go", "");
    let run = live.end();
    fs::remove_file(world.work().join("go")).unwrap();
    run
}

#[test]
fn tasks_and_a_suggestion() {
    let tasks = |first: &str, second: &str| {
        json!({ "tasks": [
            { "id": "1", "title": "Read notes", "status": first },
            { "id": "2", "title": "Write summary", "status": second },
        ]})
    };
    let steps = json!([
        tool("tasks_update", "call_1", &tasks("in_progress", "pending")),
        tool("tasks_update", "call_2", &tasks("in_progress", "in_progress")),
        tool("tasks_update", "call_3", &tasks("completed", "in_progress")),
        { "blocks": [
            { "text": "Half is done." },
            call("suggest_next", "call_4", &json!({ "command": " write\nit ", "summary": "Read." })),
        ]},
        text("never asked for"),
    ]);
    let world = World::new();
    let run = play(&world, &steps);
    let stream = run.stream();
    assert_eq!(stream.of("tasks_update").len(), 2);
    assert_eq!(stream.answers(), ["Half is done."]);
    Shot::new(&world, &run).assert("tasks_and_a_suggestion");
}

#[test]
fn a_suggestion_is_not_asked_of_a_run_with_chosen_tools() {
    let suggest = tool("suggest_next", "call_1", &json!({ "command": "x" }));
    for (flags, active) in [
        (&["--tools", "read"][..], false),
        (&["--no-tools"], false),
        (&["--tools", "suggest_next"], true),
    ] {
        let run = World::new()
            .offline(&json!([suggest]))
            .args(flags.iter().copied())
            .arg("hi")
            .run();
        let told = run.stream().of("suggest_next").len() == 1;
        assert_eq!(told, active, "{flags:?}");
    }
}

#[test]
fn one_agent() {
    let world = World::new();
    world.file("notes.txt", "alpha\nbeta\n");
    let read = tool("read", "call_child", &json!({ "path": "notes.txt" }));
    let steps = json!([
        of("CHILD", read),
        of("CHILD", text("Two lines.")),
        { "blocks": [
            { "text": "Delegating." },
            call("subagent", "call_sub", &json!({ "task": "CHILD: count the lines of notes.txt" })),
        ]},
        text("It reported."),
    ]);
    let run = play(&world, &steps);
    let stream = run.stream();
    assert_eq!(
        course(&stream),
        [
            "agent_start",
            "user",
            "assistant",
            "background_agent_start",
            "toolResult",
            "agent_end",
            "background_agent_end true",
            "agent_start",
            "result",
            "assistant",
            "agent_end",
        ]
    );
    let file = text_at(stream.of("background_agent_end")[0], "/sessionFile");
    let header: Value =
        serde_json::from_str(fs::read_to_string(file).unwrap().lines().next().unwrap()).unwrap();
    assert_eq!(header["agentType"], "Explore");
    let parent = text_at(&header, "/parentSession");
    let parent = fs::read_to_string(parent).unwrap();
    assert!(parent.contains(text_at(stream.header(), "/id")), "{parent}");
    Shot::new(&world, &run).apart().assert("one_agent");
}

#[test]
fn several_agents_side_by_side() {
    let world = World::new();
    let steps = json!([
        of("QUICK", text("Quick result.")),
        of("SLOW", until("go")),
        of("SLOW", text("Slow result.")),
        give(&json!({ "tasks": [
            { "task": "QUICK: one" }, { "task": "SLOW: two", "agent": "feature-dev", "thinking": "off" },
        ]})),
        text("One is there."),
        text("Both are there."),
    ]);
    let mut live = world.offline(&steps).arg("Do it").live();
    live.until("agent_end");
    live.until("agent_end");
    world.file("go", "");
    let run = live.end();
    let stream = run.stream();
    let told = results(&stream);
    assert!(told[0].contains("Quick result.") && told[0].contains("Still running (1): "));
    assert!(told[1].contains("Slow result.") && !told[1].contains("Still running"));
    Shot::new(&world, &run)
        .apart()
        .without_updates()
        .assert("several_agents");
}

#[test]
fn a_chain_of_agents() {
    let world = World::new();
    let steps = json!([
        of("SECOND after: First result.", text("Second result.")),
        of("FIRST", text("First result.")),
        give(&json!({ "chain": [
            { "task": "FIRST" }, { "task": "SECOND after: {previous}", "agent": "code-reviewer" },
        ]})),
        text("Chain seen."),
    ]);
    let run = play(&world, &steps);
    let stream = run.stream();
    let end = stream.of("background_agent_end")[0];
    assert_eq!(end["steps"].as_array().unwrap().len(), 2);
    assert_eq!((end.get("model"), end.get("sessionFile")), (None, None));
    Shot::new(&world, &run).apart().assert("chain_of_agents");
}

#[test]
fn a_chain_ends_with_its_first_failure() {
    let steps = json!([
        of("FIRST", json!({ "error": "auth" })),
        give(&json!({ "chain": [{ "task": "FIRST" }, { "task": "SECOND" }] })),
        text("Seen."),
    ]);
    let run = play(&World::new(), &steps);
    let stream = run.stream();
    let end = stream.of("background_agent_end")[0];
    let step = json!([{ "step": 1, "agent": "Explore", "success": false,
                        "model": "offline/offline", "thinking": "medium" }]);
    assert_eq!((&end["success"], &end["steps"]), (&json!(false), &step));
    assert!(results(&stream)[0].contains("Error: Step 1: "));
}

#[test]
fn a_result_comes_into_a_busy_run() {
    let world = World::new();
    let steps = json!([
        of("CHILD", until("work")),
        of("CHILD", text("Report.")),
        give(&json!({ "task": "CHILD" })),
        until("go"),
        text("Both."),
    ]);
    let mut live = world.offline(&steps).args(["First", "Second"]).live();
    live.until_line(|line| {
        kind(line) == "tool_execution_start" && text_at(line, "/args/command").contains("go")
    });
    world.file("work", "");
    live.until("background_agent_end");
    world.file("go", "");
    let run = live.end();
    let stream = run.stream();
    assert_eq!(
        course(&stream),
        [
            "agent_start",
            "user",
            "assistant",
            "background_agent_start",
            "toolResult",
            "agent_end",
            "agent_start",
            "user",
            "assistant",
            "background_agent_end true",
            "toolResult",
            "result",
            "assistant",
            "agent_end",
        ]
    );
    Shot::new(&world, &run)
        .apart()
        .without_updates()
        .assert("result_in_a_busy_run");
}

#[test]
fn a_parent_gives_way_to_its_agents() {
    let world = World::new();
    let settings = json!({ "backgroundAgents": { "parentTurnLimit": 1 } });
    world.config("settings.json", settings.to_string());
    let run = paused(&world);
    let stream = run.stream();
    let course = course(&stream);
    let at = course
        .iter()
        .position(|what| what.starts_with("parent_"))
        .unwrap();
    assert_eq!(
        course[at..],
        [
            "parent_paused_for_background_agents",
            "agent_end",
            "background_agent_end true",
            "agent_start",
            "result",
            "assistant",
            "agent_end",
        ]
    );
    Shot::new(&world, &run)
        .apart()
        .without_updates()
        .assert("parent_gives_way");
}

#[test]
fn the_guard_can_be_turned_off() {
    let world = World::new();
    let settings =
        json!({ "backgroundAgents": { "parentTurnLimit": 1, "parentTurnGuardrail": false } });
    world.config("settings.json", settings.to_string());
    let steps = json!([
        of("CHILD", until("go")),
        of("CHILD", text("Report.")),
        give(&json!({ "task": "CHILD" })),
        bash("echo beside"),
        bash("touch go"),
        text("All is done."),
        text("Seen."),
    ]);
    let run = world.offline(&steps).args(["First", "Second"]).run();
    let stream = run.stream();
    assert_eq!(stream.of("parent_paused_for_background_agents").len(), 0);
    assert_eq!(results(&stream).len(), 1);
}

#[test]
fn a_parent_can_wait() {
    let world = World::new();
    let steps = json!([
        of("CHILD", until("go")),
        of("CHILD", text("Report.")),
        give(&json!({ "task": "CHILD" })),
        { "blocks": [call("wait", "call_wait", &json!({ "reason": "the report" })),
                     call("bash", "call_go", &json!({ "command": "touch go" }))] },
        text("It is there."),
    ]);
    let run = world.offline(&steps).args(["First", "Second"]).run();
    let stream = run.stream();
    let result = stream.of("tool_execution_end");
    let result = result
        .iter()
        .find(|line| line["toolName"] == "wait")
        .unwrap();
    assert_eq!(
        text_at(result, "/result/content/0/text"),
        "Waiting: the report"
    );
    assert_eq!(result["result"]["endTurn"], true);
    let running = &result["result"]["details"]["runningAgents"][0];
    assert_eq!(
        running["agentId"],
        stream.of("background_agent_start")[0]["agentId"]
    );
    assert_eq!(running["agentType"], "Explore");
}

#[test]
fn agents_wait_for_a_free_place() {
    let world = World::new();
    let settings = json!({ "backgroundAgents": { "maxConcurrentSubagents": 1 } });
    world.config("settings.json", settings.to_string());
    let steps = json!([
        of("ONE", text("1.")),
        of("TWO", text("2.")),
        give(&json!({ "tasks": [{ "task": "ONE" }, { "task": "TWO" }] })),
        text("First."),
        text("Second."),
    ]);
    let run = play(&world, &steps);
    let stream = run.stream();
    let about = stream
        .lines
        .iter()
        .filter(|line| kind(line).starts_with("background_agent_"));
    let ids: Vec<_> = about
        .filter(|line| kind(line) != "background_agent_start")
        .map(|line| text_at(line, "/agentId"))
        .collect();
    let mut runs = ids.clone();
    runs.dedup();
    assert_eq!(
        runs.len(),
        2,
        "the second began before the end of the first"
    );
}

#[test]
fn the_settings_can_take_the_tool_away() {
    let world = World::new();
    let settings = json!({ "backgroundAgents": { "maxConcurrentSubagents": 0 } });
    world.config("settings.json", settings.to_string());
    let run = play(
        &world,
        &json!([give(&json!({ "task": "x" })), text("Alone.")]),
    );
    let stream = run.stream();
    assert!(stream.results()[0].starts_with("There is no tool named \"subagent\""));
    assert_eq!(stream.of("background_agent_start").len(), 0);
}

#[test]
fn a_child_has_no_more_tools_than_its_parent() {
    let steps = json!([
        of("CHILD", bash("echo no")),
        of("CHILD", give(&json!({ "task": "GRANDCHILD" }))),
        of("CHILD", text("Nothing worked.")),
        give(&json!({ "task": "CHILD" })),
        text("Seen."),
    ]);
    let world = World::new();
    let run = world
        .offline(&steps)
        .args(["--tools", "read,ls,subagent", "hi"])
        .run();
    let stream = run.stream();
    let ends = stream.of("background_agent_event").into_iter();
    let told: Vec<_> = ends
        .filter(|line| kind(&line["event"]) == "tool_execution_end")
        .map(|line| text_at(line, "/event/result/content/0/text"))
        .collect();
    assert_eq!(
        told,
        [
            "There is no tool named \"bash\". Tools: read, ls.",
            "There is no tool named \"subagent\". Tools: read, ls.",
        ]
    );
}

#[test]
fn agents_of_agents_are_told_apart() {
    let world = World::new();
    let settings = json!({ "backgroundAgents": { "maxDepth": 2 } });
    world.config("settings.json", settings.to_string());
    let steps = json!([
        of("GRAND", give(&json!({ "task": "GREAT" }))),
        of("GRAND", text("From below.")),
        of("CHILD", give(&json!({ "task": "GRAND" }))),
        of("CHILD", text("Passed on.")),
        give(&json!({ "task": "CHILD" })),
        text("Seen."),
    ]);
    let run = play(&world, &steps);
    let stream = run.stream();
    let nested = stream
        .of("background_agent_event")
        .into_iter()
        .filter(|line| kind(&line["event"]) == "background_agent_event");
    let refused = nested
        .map(|line| text_at(line, "/event/event/result/content/0/text"))
        .find(|text| !text.is_empty());
    let refused = refused.unwrap();
    assert!(
        refused.starts_with("There is no tool named \"subagent\""),
        "{refused}"
    );
    assert!(results(&stream)[0].contains("Passed on."));
}

/// An answer of a service that has read a thousand tokens.
pub(crate) fn priced(block: &Value, delta: &Value, reason: &str) -> Answer {
    let events = [
        json!({ "type": "message_start", "message": {
            "id": "m", "type": "message", "role": "assistant", "model": "m", "content": [],
            "stop_reason": null, "stop_sequence": null,
            "usage": { "input_tokens": 1000, "output_tokens": 1 },
        }}),
        json!({ "type": "content_block_start", "index": 0, "content_block": block }),
        json!({ "type": "content_block_delta", "index": 0, "delta": delta }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "delta": { "stop_reason": reason, "stop_sequence": null },
                "usage": { "output_tokens": 1 } }),
        json!({ "type": "message_stop" }),
    ];
    let body = events.map(|event| format!("event: {}\ndata: {event}\n\n", kind(&event)));
    Answer::events(body.concat())
}

/// A limit of cost holds for parent and agents together, and what an agent used counts once.
#[test]
fn agents_count_against_the_limit_of_cost() {
    let world = World::new();
    let args = json!({ "task": "CHILD", "model": "below/m" }).to_string();
    let (above, _asked) = serve(vec![priced(
        &json!({ "type": "tool_use", "id": "c", "name": "subagent", "input": {} }),
        &json!({ "type": "input_json_delta", "partial_json": args }),
        "tool_use",
    )]);
    let (below, asked) = serve(vec![priced(
        &json!({ "type": "text", "text": "" }),
        &json!({ "type": "text_delta", "text": "Report." }),
        "end_turn",
    )]);
    let provider = |url: &str| {
        let cost = json!({ "input": 3, "output": 0, "cacheRead": 0, "cacheWrite": 0 });
        json!({ "baseUrl": url, "api": "anthropic-messages", "apiKey": "a-key-for-tests",
                "models": [{ "id": "m", "contextWindow": 100_000, "maxTokens": 1000, "cost": cost }] })
    };
    let models = json!({ "providers": { "above": provider(&above), "below": provider(&below) } });
    world.config("models.json", models.to_string());
    let run = world
        .quipu()
        .args(["--model", "above/m", "--max-cost", "0.005", "hi"])
        .run();
    let stream = run.stream();
    assert_eq!((run.code(), stream.outcome()), (1, "limit"));
    assert!(stream.error_message().contains("--max-cost"));
    assert!(course(&stream).contains(&"background_agent_end true".to_owned()));
    let usage = &stream.end()["usage"];
    assert_eq!(
        (&usage["input"], &usage["cost"]["total"]),
        (&json!(2000), &json!(0.006))
    );
    assert!(asked.recv().unwrap().body.to_string().contains("CHILD"));
}

#[test]
fn a_definition_of_the_user_is_followed() {
    let world = World::new();
    let folder = world.root().join("config/agents");
    fs::create_dir(&folder).unwrap();
    let text_of_it =
        "---\nname: looker\ndescription: Looks\ntools: ls\nthinking: high\n---\nLook well.\n";
    fs::write(folder.join("looker.md"), text_of_it).unwrap();
    fs::write(folder.join("bad.md"), "---\nname\n---\n").unwrap();
    let mut mine = of("CHILD", text("Looked."));
    mine["match"]["any"] = "Look well.".into();
    let steps = json!([
        mine,
        give(&json!({ "task": "CHILD", "agent": "looker" })),
        text("Seen.")
    ]);
    let run = play(&world, &steps);
    assert!(
        run.stderr.contains("bad.md is left out: line 2"),
        "{}",
        run.stderr
    );
    let stream = run.stream();
    let end = stream.of("background_agent_end")[0];
    assert_eq!(
        (&end["agentType"], &end["thinking"]),
        (&json!("looker"), &json!("high"))
    );
    assert!(
        results(&stream)[0].contains("Looked."),
        "{:?}",
        results(&stream)
    );
}
