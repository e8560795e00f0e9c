//! Background agents that fail, break off or have to be ended; nothing of them is left behind.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::background::{course, give, of, results};
use crate::check::{kind, text_at};
use crate::harness::{Run, World};
use crate::live::{Live, assert_gone, assert_nobody_left};
use crate::redact::Shot;
use crate::script::{bash, text};

fn play(world: &World, steps: &Value) -> Run {
    let run = world.offline(steps).arg("Do it").run();
    assert_nobody_left(world);
    run
}

/// An agent that never ends, whose shell and the sleep in it have written down their numbers.
fn endless(world: &World) -> Live {
    let command = "echo $$ > shell.pid; echo $PPID > agent.pid; sleep 600 & echo $! > sleep.pid; \
                   echo ready; wait";
    let steps = json!([
        of("CHILD", bash(command)),
        of("CHILD", text("never")),
        give(&json!({ "task": "CHILD" })),
        text("Seen."),
    ]);
    let mut live = world.offline(&steps).arg("Do it").live();
    live.until_line(|line| text_at(line, "/event/partialResult/content/0/text").contains("ready"));
    live
}

fn pids(world: &World) -> Vec<String> {
    let names = ["shell.pid", "sleep.pid", "agent.pid"];
    names
        .map(|name| world.read(name).trim().to_owned())
        .to_vec()
}

#[test]
fn an_agent_that_is_not_there() {
    let world = World::new();
    let steps = json!([
        give(&json!({ "task": "x", "agent": "nobody" })),
        text("So be it.")
    ]);
    let run = play(&world, &steps);
    assert_eq!((run.code(), run.stream().outcome()), (0, "completed"));
    Shot::new(&world, &run).assert("agent_unknown");
}

#[test]
fn a_model_that_is_not_there() {
    let world = World::new();
    let steps = json!([
        give(&json!({ "task": "x", "model": "nobody/x" })),
        text("So be it.")
    ]);
    let run = play(&world, &steps);
    assert_eq!((run.code(), run.stream().outcome()), (0, "completed"));
    Shot::new(&world, &run)
        .apart()
        .assert("agent_without_model");
}

#[test]
fn a_model_of_the_definition_that_cannot_be_used_is_passed_over() {
    let world = World::new();
    let folder = world.work().join(".quipu/agents");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("x.md"), "---\nmodel: nobody/x\n---\n").unwrap();
    let steps = json!([
        of("CHILD", text("Done all the same.")),
        give(&json!({ "task": "CHILD", "agent": "x" })),
        text("Seen."),
    ]);
    let run = play(&world, &steps);
    let stream = run.stream();
    let end = stream.of("background_agent_end")[0];
    assert_eq!(
        (&end["success"], &end["model"]),
        (&json!(true), &json!("offline/offline"))
    );
    let told = results(&stream)[0];
    assert!(
        told.contains("[The model nobody/x cannot be used, offline/offline was taken"),
        "{told}"
    );
}

#[test]
fn a_model_that_fails_is_no_success() {
    let world = World::new();
    let steps = json!([
        of("CHILD", json!({ "error": "auth" })),
        give(&json!({ "task": "CHILD" })),
        text("So be it."),
    ]);
    let run = play(&world, &steps);
    let stream = run.stream();
    assert!(course(&stream).contains(&"background_agent_end false".to_owned()));
    assert_eq!(stream.outcome(), "completed");
    Shot::new(&world, &run).apart().assert("agent_that_fails");
}

#[test]
fn an_agent_that_heals_is_a_success() {
    let world = World::new();
    let settings = json!({ "retry": { "maxRetries": 1, "baseDelayMs": 1 } });
    world.config("settings.json", settings.to_string());
    let steps = json!([
        of("CHILD", json!({ "error": "overloaded" })),
        of("CHILD", text("Healed.")),
        give(&json!({ "task": "CHILD" })),
        text("Seen."),
    ]);
    let run = play(&world, &steps);
    let stream = run.stream();
    assert!(course(&stream).contains(&"background_agent_end true".to_owned()));
    assert!(results(&stream)[0].contains("Healed."));
}

#[test]
fn an_agent_that_is_killed() {
    let world = World::new();
    let live = endless(&world);
    let pid = Pid::from_raw(world.read("agent.pid").trim().parse().unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
    let run = live.end();
    assert_gone(&pids(&world));
    assert_nobody_left(&world);
    assert_eq!((run.code(), run.stream().outcome()), (0, "completed"));
    Shot::new(&world, &run)
        .apart()
        .without_updates()
        .assert("agent_that_is_killed");
}

#[test]
fn a_signal_ends_the_agents_too() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::HUP, 129)] {
        let world = World::new();
        let live = endless(&world);
        live.signal(signal);
        let run = live.end();
        assert_gone(&pids(&world));
        assert_nobody_left(&world);
        let stream = run.stream();
        assert_eq!((run.code(), stream.outcome()), (code, "interrupted"));
        let last = stream.of("background_agent_event");
        let last = &last.last().unwrap()["event"];
        assert_eq!(
            (kind(last), text_at(last, "/outcome")),
            ("stream_end", "interrupted")
        );
        if signal == Signal::TERM {
            Shot::new(&world, &run)
                .apart()
                .without_updates()
                .assert("agent_of_a_parent_that_is_ended");
        }
    }
}

#[test]
fn a_parent_that_is_killed_takes_its_agents_along() {
    let world = World::new();
    let live = endless(&world);
    live.signal(Signal::KILL);
    assert_gone(&pids(&world));
    assert_nobody_left(&world);
}

#[test]
fn a_reader_that_goes_away_ends_the_agents() {
    let world = World::new();
    let live = endless(&world);
    live.hang_up();
    assert_gone(&pids(&world));
    assert_nobody_left(&world);
}

#[test]
fn a_limit_of_turns_ends_the_agents() {
    let world = World::new();
    let steps = json!([
        of("CHILD", bash("sleep 600")),
        give(&json!({ "task": "CHILD" })),
    ]);
    let run = world.offline(&steps).args(["--max-turns", "1", "hi"]).run();
    assert_nobody_left(&world);
    let stream = run.stream();
    assert_eq!((run.code(), stream.outcome()), (1, "limit"));
    assert!(course(&stream).contains(&"background_agent_end false".to_owned()));
}

#[test]
fn a_session_that_goes_on_hears_of_agents_that_were_cut_off() {
    let world = World::new();
    let live = endless(&world);
    live.signal(Signal::KILL);
    assert_gone(&pids(&world));
    let go_on = |prompt: &str| {
        let said = json!([text("So it is."), text("never")]);
        let run = world.offline(&said).args(["-c", prompt]).run();
        run.stream()
    };
    let stream = go_on("Is it done?");
    assert_eq!(
        course(&stream),
        ["agent_start", "user", "result", "assistant", "agent_end"]
    );
    let told = results(&stream)[0];
    assert!(
        told.contains(" has failed.\n\nError: No result came"),
        "{told}"
    );
    // It is told once.
    assert_eq!(
        course(&go_on("And now?")),
        ["agent_start", "user", "assistant", "agent_end"]
    );
}
