//! Single changes of the real grammar.

use super::super::{Breaks, Step};
use super::{diff, packed, with_event};
use serde_json::{Value, json};

type Edit = fn(&mut Value);

fn push(list: &mut Value, item: Value) {
    list.as_array_mut().unwrap().push(item);
}

/// Edits of the part of the native wire: where the change is told, and who breaks.
const CASES: &[(Edit, &str, Breaks)] = &[
    (
        |g| g["states"]["turn"]["description"] = "Other.".into(),
        "/states/turn/description",
        Breaks::Nobody,
    ),
    (
        |g| g["rules"][0]["description"] = "Other.".into(),
        "/rules/whole_messages/description",
        Breaks::Nobody,
    ),
    (
        |g| g["pairs"][0]["description"] = "Other.".into(),
        "/pairs/run/description",
        Breaks::Nobody,
    ),
    (
        |g| {
            push(
                &mut g["states"]["turn"]["on"],
                json!({ "event": "agent_end", "to": "between_runs" }),
            );
        },
        "/states/turn/on",
        Breaks::Readers,
    ),
    (
        |g| {
            g["states"]["run"]["on"].as_array_mut().unwrap().pop();
        },
        "/states/run/on",
        Breaks::Producers,
    ),
    (
        |g| g["states"]["run"]["on"][0]["to"] = "tools".into(),
        "/states/run/on",
        Breaks::Both,
    ),
    (
        |g| {
            push(
                &mut g["states"]["run"]["on"][1]["where"]["/reason"],
                "overflow".into(),
            );
        },
        "/states/run/on",
        Breaks::Readers,
    ),
    (
        |g| g["states"]["turn"]["on"][0]["where"]["/message/role"] = json!(["user"]),
        "/states/turn/on",
        Breaks::Producers,
    ),
    (
        |g| g["states"]["turn"]["on"][0]["where"]["/message/role"] = json!(["user", "assistant"]),
        "/states/turn/on",
        Breaks::Undecided,
    ),
    (
        |g| push(&mut g["final"], "between_runs".into()),
        "/final",
        Breaks::Readers,
    ),
    (|g| g["final"] = json!([]), "/final", Breaks::Producers),
    (|g| g["initial"] = "run".into(), "/initial", Breaks::Both),
    (
        |g| {
            g["anywhere"][0]["in"].as_array_mut().unwrap().pop();
        },
        "/anywhere",
        Breaks::Producers,
    ),
    (
        |g| push(&mut g["anywhere"][0]["events"], "tasks_update".into()),
        "/anywhere",
        Breaks::Readers,
    ),
    (
        |g| {
            g["rules"].as_array_mut().unwrap().remove(0);
        },
        "/rules/whole_messages",
        Breaks::Readers,
    ),
    (
        |g| {
            push(
                &mut g["rules"],
                json!({ "name": "more", "events": ["turn_start"], "description": "." }),
            );
        },
        "/rules/more",
        Breaks::Producers,
    ),
    (
        |g| push(&mut g["rules"][0]["events"], "turn_start".into()),
        "/rules/whole_messages",
        Breaks::Producers,
    ),
    (
        |g| {
            g["pairs"].as_array_mut().unwrap().remove(0);
        },
        "/pairs/run",
        Breaks::Readers,
    ),
    (
        |g| {
            push(
                &mut g["pairs"],
                json!({ "name": "more", "open": [{ "event": "turn_start" }], "close": [], "key": null }),
            );
        },
        "/pairs/more",
        Breaks::Producers,
    ),
    (
        |g| g["pairs"][0]["key"] = "/id".into(),
        "/pairs/run/key",
        Breaks::Undecided,
    ),
    (
        |g| {
            push(
                &mut g["pairs"][0]["closed_before"],
                json!({ "event": "queue_update" }),
            );
        },
        "/pairs/run/closed_before",
        Breaks::Producers,
    ),
    (
        |g| g["pairs"][0]["closed_before"] = json!([]),
        "/pairs/run/closed_before",
        Breaks::Readers,
    ),
    (
        |g| push(&mut g["pairs"][0]["same"], "/id".into()),
        "/pairs/run/same",
        Breaks::Producers,
    ),
    (
        |g| g["pairs"][0]["unique"] = true.into(),
        "/pairs/run/unique",
        Breaks::Producers,
    ),
    (
        |g| push(&mut g["pairs"][0]["open"], json!({ "event": "turn_start" })),
        "/pairs/run/open",
        Breaks::Undecided,
    ),
    (|g| g["more"] = 1.into(), "/more", Breaks::Undecided),
    // Whose promise a thing is changes nothing in what is legal.
    (
        |g| g["states"]["turn"]["promise"] = "quipu".into(),
        "/states/turn/promise",
        Breaks::Nobody,
    ),
    (
        |g| g["states"]["turn"]["on"][0]["foreign"] = true.into(),
        "/states/turn/on/0/foreign",
        Breaks::Nobody,
    ),
    (
        |g| g["anywhere"][0]["foreign"] = true.into(),
        "/anywhere/0/foreign",
        Breaks::Nobody,
    ),
    (
        |g| g["pairs"][0]["open"][0]["promise"] = "quipu".into(),
        "/pairs/run/open/0/promise",
        Breaks::Nobody,
    ),
    (
        |g| g["rules"][0]["promise"] = "quipu".into(),
        "/rules/whole_messages/promise",
        Breaks::Nobody,
    ),
    (
        |g| g["undocumented"] = json!({ "agent_end": ["/messages"] }),
        "/undocumented",
        Breaks::Nobody,
    ),
];

#[test]
fn every_change_of_the_order_is_told_with_its_direction() {
    let old = packed();
    for (index, (edit, place, breaks)) in CASES.iter().enumerate() {
        let mut new = old.clone();
        edit(&mut new["grammar"]["wires"]["quipu"]);
        let found = diff(&old, &new);
        let place = format!("/wires/quipu{place}");
        assert!(!found.changes.is_empty(), "case {index} is not seen");
        for change in &found.changes {
            assert_eq!(
                (&change.place, change.breaks),
                (&place, *breaks),
                "case {index}: {change:?}"
            );
        }
        let step = match breaks {
            Breaks::Nobody => Step::Patch,
            _ => Step::Major,
        };
        assert_eq!(found.step(), Some(step), "case {index}");
    }
}

/// Readers skip a new line, so a state that only it leads to must go on as the one before.
#[test]
fn a_new_line_may_have_states_of_its_own() {
    let old = packed();
    let mut new = old.clone();
    with_event(&mut new);
    let native = &mut new["grammar"]["wires"]["quipu"]["states"];
    push(
        &mut native["retry_announced"]["on"],
        json!({ "event": "tick", "to": "ticking" }),
    );
    native["ticking"] = json!({ "description": "Ticks.", "on": [
        { "event": "tick", "to": "ticking" }, { "event": "auto_retry_start", "to": "retry_wait" }
    ] });
    let found = diff(&old, &new);
    assert_eq!(found.step(), Some(Step::Minor), "{:#?}", found.changes);

    let native = &mut new["grammar"]["wires"]["quipu"]["states"];
    push(
        &mut native["ticking"]["on"],
        json!({ "event": "turn_start", "to": "turn" }),
    );
    let found = diff(&old, &new);
    assert_eq!(
        found.changes[0].breaks,
        Breaks::Undecided,
        "{:#?}",
        found.changes
    );
}

#[test]
fn an_order_is_laid_down_or_no_longer() {
    let old = packed();
    let mut new = old.clone();
    new["grammar"] = Value::Null;
    let told = |a: &Value, b: &Value| {
        let found = diff(a, b);
        found
            .changes
            .iter()
            .map(|change| change.breaks)
            .collect::<Vec<_>>()
    };
    assert_eq!(told(&old, &new), [Breaks::Readers; 3]);
    assert_eq!(told(&new, &old), [Breaks::Producers; 3]);
}
