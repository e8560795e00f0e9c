//! What users of other programs complained about, on each API: ends that never come or come too
//! early, counts that are told too often, ids that change or are lost.

use serde_json::{Value, json};

use crate::check::{Stream, text_at};
use crate::harness::World;
use crate::server::{Answer, serve};
use crate::services::{Block, CACHED, Ending, INPUT, OUTPUT, Refusal, SERVICES, Service, bash};

/// A world whose runs retry after hardly any wait.
fn retrying() -> World {
    let world = World::new();
    let settings = json!({ "retry": { "maxRetries": 2, "baseDelayMs": 1 } });
    world.config("settings.json", settings.to_string());
    world
}

fn run(world: &World, service: Service, answers: Vec<Answer>) -> Stream {
    let (url, _requests) = serve(answers);
    service.quipu(world, &url).arg("Go on").run().stream()
}

#[track_caller]
fn completed(service: Service, stream: &Stream) {
    assert_eq!(
        stream.outcome(),
        "completed",
        "{service:?}: {}",
        stream.end()
    );
    assert_eq!(stream.of("stream_end").len(), 1, "{service:?}");
}

/// The last line never came, or the process stayed on behind it.
#[test]
fn the_end_of_the_answer_is_enough_though_the_connection_stays_open() {
    for service in SERVICES {
        let world = World::new();
        if service == Service::Google {
            // This API has no last event: only the end of the body says that nothing follows.
            let settings = json!({ "httpIdleTimeoutMs": 200, "retry": { "enabled": false } });
            world.config("settings.json", settings.to_string());
        }
        let answer = service.answer(&[Block::Text("All said.")]);
        let stream = run(
            &world,
            service,
            vec![answer.ending(crate::server::End::Stall)],
        );
        completed(service, &stream);
        assert_eq!(stream.answers(), ["All said."], "{service:?}");
    }
}

/// Readers that took the first end of a run for the end of all stopped too early.
#[test]
fn each_attempt_has_an_end_that_tells_of_the_next_and_the_last_line_comes_once() {
    for service in SERVICES {
        let busy = service.refuses(Refusal::Overload);
        let hinted = service
            .refuses(Refusal::RateLimit)
            .with_headers("retry-after-ms: 7\r\n");
        let good = service.answer(&[Block::Text("Here.")]);
        let stream = run(&retrying(), service, vec![busy, hinted, good]);
        completed(service, &stream);
        let ends: Vec<&Value> = stream
            .of("agent_end")
            .iter()
            .map(|line| &line["willRetry"])
            .collect();
        assert_eq!(ends, [true, true, false], "{service:?}");
        let waits: Vec<&Value> = stream
            .of("auto_retry_start")
            .iter()
            .map(|line| &line["delayMs"])
            .collect();
        assert_eq!(waits, [1, 7], "{service:?}");
    }
}

/// A stream that ended without its end was waited for for ever, and the last line of data was lost
/// if no newline followed it.
#[test]
fn a_stream_that_just_ends_is_a_cut_or_whole_but_never_waited_for() {
    for service in SERVICES {
        let half = service.ending(&[Block::Text("Half")], Ending::Missing);
        let mut whole = service.answer(&[Block::Text("Whole.")]);
        let last = whole.body.iter().rposition(|byte| *byte != b'\n').unwrap();
        whole.body.truncate(last + 1);
        let stream = run(&retrying(), service, vec![half, whole]);
        completed(service, &stream);
        assert_eq!(stream.answers(), ["Half", "Whole."], "{service:?}");
        let broken = stream.messages("assistant")[0];
        assert_eq!(text_at(broken, "/stopReason"), "error", "{service:?}");
    }
}

/// Calls of an answer that broke were told as done, or never closed.
#[test]
fn calls_of_a_broken_answer_are_not_run() {
    for service in SERVICES {
        for ending in [Ending::Missing, Ending::Overloaded, Ending::Length] {
            let world = retrying();
            let calls = [bash("a", "touch one"), bash("b", "touch two")];
            let good = service.answer(&[Block::Text("Done.")]);
            let stream = run(&world, service, vec![service.ending(&calls, ending), good]);
            completed(service, &stream);
            let what = format!("{service:?}, {ending:?}");
            assert!(!world.work().join("one").exists(), "{what}");
            assert!(!world.work().join("two").exists(), "{what}");
            let told = stream.of("tool_execution_end");
            if ending == Ending::Length {
                // Such an answer is not broken; its calls are told as not run.
                assert_eq!(told.len(), 2, "{what}");
                assert!(told.iter().all(|line| line["isError"] == true), "{what}");
            } else {
                assert!(told.is_empty(), "{what}");
            }
        }
    }
}

/// The same counts were told with every block and added up by readers.
#[test]
fn counts_are_told_once_an_answer_and_add_up_over_attempts() {
    for service in SERVICES {
        let first = [
            Block::Thinking("Let me see."),
            Block::Text("Two commands."),
            bash("a", "true"),
            bash("b", "true"),
        ];
        let answers = vec![
            service.ending(&[Block::Text("Half")], Ending::Overloaded),
            service.answer(&first),
            service.answer(&[Block::Text("Done.")]),
        ];
        let stream = run(&retrying(), service, answers);
        completed(service, &stream);
        let counts = |usage: &Value| {
            ["input", "cacheRead", "output", "totalTokens"]
                .map(|name| usage[name].as_u64().unwrap())
        };
        let told: Vec<_> = stream
            .messages("assistant")
            .iter()
            .map(|message| counts(&message["usage"]))
            .collect();
        let whole = [INPUT - CACHED, CACHED, OUTPUT, INPUT + OUTPUT];
        assert_eq!(told[1..], [whole, whole], "{service:?}");
        // What an answer that broke had cost until then, as far as the service had told.
        let mut sum = [0; 4];
        for counts in &told {
            for (sum, count) in sum.iter_mut().zip(counts) {
                *sum += count;
            }
        }
        assert_eq!(counts(&stream.end()["usage"]), sum, "{service:?}");
    }
}

/// The id at a call's start was not the one at its end, when the service sent none or sent it late.
#[test]
fn a_call_keeps_its_id_from_its_start_to_its_result() {
    for service in SERVICES {
        let world = World::new();
        let answers = vec![
            service.answer(&[bash("", "echo one"), bash("", "echo two")]),
            service.answer(&[Block::Text("Done.")]),
        ];
        let stream = run(&world, service, answers);
        completed(service, &stream);
        let ids = |lines: Vec<&Value>, pointer: &str| -> Vec<String> {
            let ids = lines
                .into_iter()
                .map(|line| text_at(line, pointer).to_owned());
            ids.collect()
        };
        let started = ids(stream.deltas("toolcall_start"), "/id");
        assert_eq!(started.len(), 2, "{service:?}");
        assert!(
            !started[0].is_empty() && started[0] != started[1],
            "{started:?}"
        );
        let ended = ids(stream.deltas("toolcall_end"), "/toolCall/id");
        let run = ids(stream.of("tool_execution_start"), "/toolCallId");
        let results = ids(stream.messages("toolResult"), "/toolCallId");
        for (what, ids) in [("ended", ended), ("run", run), ("answered", results)] {
            assert_eq!(ids, started, "{service:?}, {what}");
        }
        let answer = stream.messages("assistant")[0];
        for (at, id) in started.iter().enumerate() {
            assert_eq!(text_at(answer, &format!("/content/{at}/id")), id);
        }
    }
}

/// Calls whose ids were empty or the same were lost.
#[test]
fn calls_with_the_same_id_are_each_run_and_answered() {
    for service in SERVICES {
        let world = World::new();
        let answers = vec![
            service.answer(&[bash("same", "echo one"), bash("same", "echo two")]),
            service.answer(&[Block::Text("Done.")]),
        ];
        let (url, requests) = serve(answers);
        let stream = service.quipu(&world, &url).arg("Go on").run().stream();
        completed(service, &stream);
        let mut results = stream.results();
        results.sort_unstable();
        assert_eq!(results, ["one", "two"], "{service:?}");
        let again = requests.iter().nth(1).unwrap().body.to_string();
        let calls = again.matches("echo one").count() + again.matches("echo two").count();
        assert_eq!(calls, 2, "{service:?}: {again}");
        for result in ["\"one\"", "\"two\""] {
            assert!(again.contains(result), "{service:?}: {again}");
        }
    }
}

/// Pieces of calls side by side were told after the end of their call, or of the wrong one.
#[test]
fn pieces_of_calls_side_by_side_stay_with_their_call() {
    for service in SERVICES {
        let world = World::new();
        let answers = vec![
            service.answer(&[
                Block::Text("Both."),
                bash("a", "echo of the first"),
                bash("b", "echo of the second"),
            ]),
            service.answer(&[Block::Text("Done.")]),
        ];
        let stream = run(&world, service, answers);
        completed(service, &stream);
        let mut open = Vec::new();
        let mut pieces = vec![String::new(); 3];
        let deltas = stream
            .lines
            .iter()
            .filter_map(|line| line.get("assistantMessageEvent"));
        for delta in deltas.take_while(|delta| delta["delta"] != "Do") {
            let index = usize::try_from(delta["contentIndex"].as_u64().unwrap()).unwrap();
            match text_at(delta, "/type") {
                "toolcall_start" => open.push(index),
                "toolcall_end" => open.retain(|other| *other != index),
                "toolcall_delta" => {
                    assert!(open.contains(&index), "{service:?}: {delta}");
                    pieces[index].push_str(text_at(delta, "/delta"));
                }
                _ => {}
            }
        }
        let command = |text: &str| json!({ "command": text }).to_string();
        let expected = [command("echo of the first"), command("echo of the second")];
        assert_eq!(pieces[1..], expected, "{service:?}");
    }
}

/// A text stayed open while a tool began, and lines came after the error that ended an answer.
#[test]
fn nothing_of_an_answer_comes_after_its_end() {
    for service in SERVICES {
        let good = service.answer(&[
            Block::Thinking("Hm."),
            Block::Text("First a word."),
            bash("a", "true"),
        ]);
        let broken = service.ending(&[Block::Text("Then half")], Ending::Overloaded);
        let answers = vec![good, broken, service.answer(&[Block::Text("Done.")])];
        let stream = run(&retrying(), service, answers);
        completed(service, &stream);
        // The judge of the grammar has read it; here is what a reader without one would see.
        let mut answer_is_open = false;
        let mut blocks = 0;
        for line in &stream.lines {
            let assistant = line["message"]["role"] == "assistant";
            match (
                text_at(line, "/type"),
                text_at(line, "/assistantMessageEvent/type"),
            ) {
                ("message_start", _) if assistant => {
                    assert!(!answer_is_open, "{service:?}: {line}");
                    answer_is_open = true;
                    blocks = 0;
                }
                ("message_end", _) if assistant => {
                    assert!(answer_is_open, "{service:?}: {line}");
                    answer_is_open = false;
                }
                ("message_update", delta) => {
                    assert!(answer_is_open, "{service:?}: {line}");
                    blocks += i32::from(delta.ends_with("_start"));
                    blocks -= i32::from(delta.ends_with("_end"));
                }
                ("tool_execution_start", _) => {
                    assert!(!answer_is_open && blocks == 0, "{service:?}: {line}");
                }
                _ => {}
            }
        }
    }
}
