//! Single changes of the real schema: what the comparison says of each, and a witness that shares
//! no code with it, the containment of schemas in the `jsonschema` crate.

mod cases;
mod orders;

use cases::{CASES, field, remove};

use super::{Breaks, Contract, Diff, InputError, Step, Verdict, compare};
use crate::codegen::bundle::{self, Mode};
use crate::codegen::lint;
use crate::codegen::load::{self, Folder};
use crate::codegen::model::Schema;
use jsonschema::canonical::{CanonicalSchema, Containment};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

use Breaks::{Both, Nobody, Producers, Readers};

/// The schema folder of the package as one document: `version`, `files` by path, `grammar`.
pub(super) fn packed() -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema");
    let (folder, unreadable) = load::load(&folder);
    assert_eq!(unreadable, []);
    folder.pack()
}

fn schema(packed: &Value) -> Schema {
    let folder = Folder::unpack("schema", packed.clone());
    lint::lint_to_compare(&folder, Vec::new()).unwrap()
}

fn contract(packed: &Value) -> Contract {
    Contract::of_folder(&Folder::unpack("schema", packed.clone()), Vec::new()).unwrap()
}

pub(super) fn diff(old: &Value, new: &Value) -> Diff {
    compare(&contract(old), &contract(new)).unwrap()
}

/// Files that become unused by a case are no mistake here.
fn settled(mut packed: Value) -> Value {
    loop {
        let folder = Folder::unpack("schema", packed.clone());
        let Err(InputError::Mistakes { problems, .. }) = Contract::of_folder(&folder, Vec::new())
        else {
            return packed;
        };
        for problem in problems {
            assert!(problem.what.starts_with("no wire leads to"), "{problem}");
            let file = problem.file.replacen("schema/", "", 1);
            remove(&mut packed["files"], &file);
        }
    }
}

#[test]
fn every_single_change_is_told_with_its_direction() {
    let old = packed();
    let (before, kept) = (schema(&old), contract(&old));
    for (file, edit, expected) in CASES {
        let mut new = old.clone();
        edit(&mut new["files"][*file]);
        assert_ne!(
            old.to_string(),
            new.to_string(),
            "{file}: the case changes nothing"
        );
        let new = settled(new);
        let found = compare(&kept, &contract(&new)).unwrap();
        let told: BTreeSet<_> = found
            .changes
            .iter()
            .filter(|change| change.step > Step::Patch)
            .map(|change| (&*change.title, &*change.place, change.breaks))
            .collect();
        let wanted: BTreeSet<_> = expected.iter().copied().collect();
        assert_eq!(told, wanted, "{file}: {:#?}", found.changes);
        let step = match expected {
            [] => Step::Patch,
            [(.., Nobody), ..] => Step::Minor,
            _ => Step::Major,
        };
        assert_eq!(found.step(), Some(step), "{file}");
        for change in &found.changes {
            let own = match change.breaks {
                Nobody => change.step < Step::Major,
                _ => change.step == Step::Major,
            };
            assert!(own, "{change:?}");
        }
        if let [(title, _, breaks)] = expected {
            let change = found.changes.first().unwrap();
            let wire = change.wires.first().unwrap();
            witness(file, wire, title, (&before, &schema(&new)), *breaks);
        }
    }
    assert!(CASES.len() >= 40);
}

/// Producers break if the new strict def does not take all that the old one took, readers if the
/// old open def does not take all of the new strict one. What is only read is in no strict bundle.
fn witness(file: &str, wire: &str, title: &str, (old, new): (&Schema, &Schema), breaks: Breaks) {
    let def = |schema: &Schema, mode: Mode| -> Option<CanonicalSchema> {
        let document = bundle::document(schema, wire, mode).unwrap();
        let def = bundle::excerpt(&document, &[title])?;
        Some(jsonschema::canonicalize(&def).unwrap())
    };
    let covers = |all: &CanonicalSchema, some: &CanonicalSchema| {
        all.covers(some).unwrap() == Containment::Yes
    };
    let (Some(old_strict), Some(new_strict)) = (def(old, Mode::Strict), def(new, Mode::Strict))
    else {
        return;
    };
    let old_open = def(old, Mode::Open).unwrap();
    // The witness can tell: what did not change is covered.
    assert!(
        covers(&old_strict, &old_strict) && covers(&old_open, &old_strict),
        "{file}"
    );
    let producers = matches!(breaks, Producers | Both);
    let readers = matches!(breaks, Readers | Both);
    assert_eq!(
        !covers(&new_strict, &old_strict),
        producers,
        "{file}: producers of {title}"
    );
    assert_eq!(
        !covers(&old_open, &new_strict),
        readers,
        "{file}: readers of {title}"
    );
}

/// A new type of line on the native wire.
pub(super) fn with_event(packed: &mut Value) {
    let mut file = packed["files"]["event/turn_start.json"].clone();
    file["$id"] = "https://quipu.dev/schema/v1/event/tick.json".into();
    file["title"] = "TickEvent".into();
    file["properties"]["type"]["const"] = "tick".into();
    file["examples"] = json!([{ "type": "tick" }]);
    packed["files"]["event/tick.json"] = file;
    let lines = &mut packed["files"]["wire/quipu.json"]["oneOf"];
    lines
        .as_array_mut()
        .unwrap()
        .push(json!({ "$ref": "../event/tick.json" }));
}

#[test]
fn lines_come_and_go() {
    let old = packed();
    let mut new = old.clone();
    with_event(&mut new);
    let anywhere = &mut new["grammar"]["wires"]["quipu"]["anywhere"][0]["events"];
    anywhere.as_array_mut().unwrap().push("tick".into());
    let found = diff(&old, &new);
    assert_eq!(
        (found.step(), found.verdict()),
        (Some(Step::Minor), Verdict::StepTooSmall)
    );
    assert_eq!(found.changes.len(), 2, "{:#?}", found.changes);
    new["version"] = "1.1.0".into();
    assert_eq!(diff(&old, &new).verdict(), Verdict::Compatible);

    let back = diff(&new, &old);
    assert!(back.changes.iter().any(|change| {
        (change.event.as_deref(), &*change.what, change.breaks)
            == (Some("tick"), "type of line removed", Producers)
    }));
    assert!(!back.is_declared());

    // A second form of a line that is known is no new line.
    let mut new = old.clone();
    let mut form = old["files"]["event/summarization_retry_attempt_start_compaction.json"].clone();
    form["$id"] = "https://quipu.dev/schema/v1/event/other.json".into();
    form["title"] = "SummarizationRetryAttemptStartOtherEvent".into();
    form["properties"]["source"]["const"] = "other".into();
    form["examples"] = json!([]);
    new["files"]["event/other.json"] = form;
    let lines = &mut new["files"]["wire/quipu.json"]["oneOf"];
    lines
        .as_array_mut()
        .unwrap()
        .push(json!({ "$ref": "../event/other.json" }));
    let found = diff(&old, &new);
    assert_eq!(found.changes[0].breaks, Readers, "{:#?}", found.changes);
    assert_eq!(found.verdict(), Verdict::Breaking);
}

#[test]
fn wires_come_and_go() {
    let old = packed();
    let mut new = old.clone();
    let files = new["files"].as_object_mut().unwrap();
    files.retain(|path, _| !path.starts_with("wire/senpi"));
    remove(&mut new["grammar"]["wires"], "senpi");
    let new = settled(new);
    let removed = diff(&old, &new);
    assert_eq!(removed.changes.len(), 1, "{:#?}", removed.changes);
    let told = |diff: &Diff| (diff.changes[0].what.clone(), diff.changes[0].breaks);
    assert_eq!(told(&removed), ("wire removed".to_owned(), Producers));
    assert_eq!(told(&diff(&new, &old)), ("wire added".to_owned(), Nobody));
}

/// A shared type is compared once, and tells which lines and wires have it.
#[test]
fn a_shared_type_tells_what_leads_to_it() {
    let old = packed();
    let mut new = old.clone();
    field(
        &mut new["files"]["common/cost.json"],
        "tax",
        json!({ "type": "number" }),
    );
    let found = diff(&old, &new);
    let [change] = &found.changes[..] else {
        panic!("{:#?}", found.changes)
    };
    let wires: Vec<&str> = change.wires.iter().map(String::as_str).collect();
    assert_eq!(wires, ["dreb", "quipu", "senpi", "session"]);
    for line in ["message_update", "stream_end", "agent_end"] {
        assert!(change.reached_by.contains(line), "{:?}", change.reached_by);
    }
    assert!(!change.reached_by.contains("turn_start"));
}

/// What the vocabulary does not have is equal or undecided.
#[test]
fn what_cannot_be_compared_is_undecided() {
    let bundle = |pattern: &str| {
        json!({
            "$id": "https://example.org/v1/bundle/own.open.json", "title": "Own",
            "description": "", "discriminator": { "propertyName": "type" },
            "oneOf": [{ "$ref": "#/$defs/Ping" }],
            "$defs": { "Ping": { "title": "Ping", "type": "object", "properties": {
                "type": { "type": "string", "const": "ping" },
                "name": { "type": "string", "pattern": pattern }
            }, "required": ["type"] } }
        })
    };
    let read = |document: &Value| super::node::Bundle::read(document).unwrap();
    let changes = |old: &Value, new: &Value| {
        let mut changes = super::Changes::default();
        super::walk::compare("own", &read(old), &read(new), &mut changes);
        changes.all
    };
    let (a, b) = (bundle("a"), bundle("b"));
    assert_eq!(changes(&a, &a), []);
    let found = changes(&a, &b);
    assert_eq!(
        (found.len(), found[0].breaks, found[0].step),
        (1, Breaks::Undecided, Step::Major)
    );

    // An open bundle with an enum of its own lets no reader count on more values.
    let mut few = a.clone();
    few["$defs"]["Ping"]["properties"]["name"] = json!({ "type": "string", "enum": ["a"] });
    let mut more = few.clone();
    more["$defs"]["Ping"]["properties"]["name"]["enum"] = json!(["a", "b"]);
    assert_eq!(changes(&few, &more)[0].breaks, Readers);

    // Least values other than 0 are compared too.
    let from = |least: Value| {
        let mut bundle = few.clone();
        bundle["$defs"]["Ping"]["properties"]["name"] =
            json!({ "type": "integer", "minimum": least });
        bundle
    };
    let (one, two) = (from(json!(1)), from(json!(2)));
    assert_eq!(changes(&one, &two)[0].breaks, Producers);
    assert_eq!(changes(&two, &one)[0].breaks, Readers);
}
