//! Lines of background agents, and what the list of a conversion says.

use super::*;

/// Two lines of a stream swapped, doubled or left out within a background agent's: every line is one
/// of its wire still.
#[test]
fn lines_of_background_agents_in_any_order_make_whole_lines() {
    let whole = String::from_utf8(sample(Wire::Quipu, 1)).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let relayed: Vec<usize> = (0..lines.len() - 1)
        .filter(|at| lines[*at].starts_with("{\"type\":\"background_agent_event\""))
        .step_by(7)
        .take(60)
        .collect();
    for (turn, at) in relayed.into_iter().enumerate() {
        let mut edited = lines.clone();
        match turn % 3 {
            0 => edited.swap(at, at + 1),
            1 => edited.insert(at, lines[at]),
            _ => drop(edited.remove(at)),
        }
        let text = edited.join("\n") + "\n";
        let (out, told, _) = convert(Wire::Quipu, Wire::Dreb, text.as_bytes());
        assert_eq!(told, Ok(()));
        for line in out.lines() {
            serde_json::from_str::<crate::event::DrebEvent>(line)
                .unwrap_or_else(|error| panic!("line {at}: {error}: {line}"));
        }
    }
}

#[test]
fn a_piece_of_a_block_that_is_not_open_is_left_out_of_an_agents_lines() {
    let lines = sample(Wire::Quipu, 0);
    let text = String::from_utf8(lines).unwrap();
    let starts = |line: &&str| {
        line.starts_with("{\"type\":\"background_agent_event\"")
            && line.contains("_start\",\"contentIndex\"")
    };
    let begin = text.lines().find(starts).unwrap().to_owned();
    let without: Vec<&str> = text.lines().filter(|line| *line != begin).collect();
    assert!(without.len() < text.lines().count());
    let (_, report) = good(
        Wire::Quipu,
        Wire::Dreb,
        (without.join("\n") + "\n").as_bytes(),
    );
    let told = "background_agent_event/event: message_update";
    assert!(
        report.count(Loss::Misplaced, told) + report.count(Loss::Invented, told) > 0,
        "{report}"
    );
}

#[test]
fn an_end_that_names_another_model_than_its_begin_is_a_contradiction() {
    for field in ["api", "provider", "model", "timestamp"] {
        let text = String::from_utf8(cut(usize::MAX, Outcome::Completed)).unwrap();
        let mut edited = false;
        let lines: Vec<String> = text
            .lines()
            .map(|line| {
                let mut line: Value = serde_json::from_str(line).unwrap();
                let told = line["type"] == "message_end"
                    && line["message"]["role"] == "assistant"
                    && line["message"]["stopReason"] == "stop";
                if told && !edited {
                    edited = true;
                    line["message"][field] = match field {
                        "timestamp" => 7.into(),
                        _ => "other".into(),
                    };
                }
                line.to_string()
            })
            .collect();
        assert!(edited);
        let (_, _, report) = convert(
            Wire::Quipu,
            Wire::Senpi,
            (lines.join("\n") + "\n").as_bytes(),
        );
        let name = format!("message_end/message/{field}");
        assert_eq!(report.count(Loss::Contradiction, &name), 1, "{report}");
    }
}

#[test]
fn what_was_never_in_the_recording_is_not_listed_as_left_out() {
    let dreb = sample(Wire::Dreb, 1);
    let text = String::from_utf8(dreb.clone()).unwrap();
    let relayed = text
        .lines()
        .filter(|line| line.starts_with("{\"type\":\"background_agent_event\""))
        .count();
    let (_, report) = good(Wire::Dreb, Wire::Senpi, &dreb);
    assert_eq!(
        report.count(Loss::Event, "background_agent_event"),
        relayed as u64
    );
    assert!(
        report.count(Loss::Field, "agent_start/model") <= 1,
        "{report}"
    );
    let within = |(_, name, _): &(Loss, &str, u64)| name.starts_with("background_agent_event/");
    assert!(!report.entries().any(|entry| within(&entry)), "{report}");
}

#[test]
fn a_run_that_the_dreb_wire_has_anyway_is_made_up() {
    let header = br#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}
"#;
    let (out, report) = good(Wire::Senpi, Wire::Dreb, header);
    let made = [
        report.count(Loss::Invented, "agent_start"),
        report.count(Loss::Invented, "agent_end"),
    ];
    assert_eq!((out.lines().count(), made), (3, [1, 1]), "{report}\n{out}");
}

#[test]
fn stamps_are_kept_on_the_same_wire() {
    let stamped = String::from_utf8(sample(Wire::Quipu, 0)).unwrap();
    assert!(stamped.contains("\"seq\":"));
    let (out, report) = good(Wire::Quipu, Wire::Quipu, stamped.as_bytes());
    assert_eq!(out, stamped);
    assert!(report.is_empty(), "{report}");
    // What is left out leaves no gap.
    let mut lines: Vec<&str> = stamped.lines().collect();
    lines.remove(2);
    let (out, report) = good(
        Wire::Quipu,
        Wire::Quipu,
        (lines.join("\n") + "\n").as_bytes(),
    );
    assert!(report.count(Loss::Changed, "*/seq") > 0, "{report}");
    assert!(out.lines().nth(2).unwrap().contains("\"seq\":2,"), "{out}");
}
