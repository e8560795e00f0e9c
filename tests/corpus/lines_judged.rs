//! Every judge of single lines gives the verdict that the corpus names.

use std::sync::LazyLock;

use quipu::codegen::validate::Validator;
use quipu::contract::Wire;
use quipu::contract::check::Checker;
use quipu::contract::json::Document;
use quipu::event::{DrebEvent, QuipuEvent, SenpiEvent, SessionEntry};
use serde_json::Value;

use crate::BUNDLES;
use crate::bundle::{self, Bundle};
use crate::lines::{self, Case};

static ALL: LazyLock<Vec<(Value, Vec<Case>)>> = LazyLock::new(|| {
    let made = BUNDLES.map(|name| {
        let document: Value = serde_json::from_str(bundle::text(name)).unwrap();
        let cases = lines::cases(&Bundle::new(&document));
        (document, cases)
    });
    made.into()
});

/// The bundle of a name with its cases.
pub(crate) fn cases(name: &str) -> &'static (Value, Vec<Case>) {
    let at = BUNDLES.iter().position(|known| *known == name);
    &ALL[at.unwrap()]
}

/// Fails with all that is wrong, so that one run tells it.
#[track_caller]
pub(crate) fn none(wrong: &[String]) {
    assert!(
        wrong.is_empty(),
        "{} are wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn the_validator_of_the_build_agrees() {
    let mut wrong = Vec::new();
    for name in BUNDLES {
        let (document, cases) = cases(name);
        let validator = Validator::new(document);
        for case in cases {
            match (validator.check("", &case.line), &case.fault) {
                (Ok(()), None) => {}
                // Of a union it says where it is, not where its discriminator would be.
                (Err(_), Some(("oneOf", _))) => {}
                (Err(found), Some((_, pointer))) if found.pointer == *pointer => {}
                (found, _) => wrong.push(format!("{name}: {found:?}: {case:?}")),
            }
        }
    }
    none(&wrong);
}

#[test]
fn an_independent_validator_agrees() {
    let mut wrong = Vec::new();
    for name in BUNDLES {
        let (document, cases) = cases(name);
        let validator = jsonschema::draft202012::new(document).unwrap();
        for case in cases {
            if validator.is_valid(&case.line) != case.fault.is_none() {
                wrong.push(format!("{name}: {case:?}"));
            }
        }
    }
    none(&wrong);
}

/// An invalid line is the valid one but for one place.
#[test]
fn every_invalid_line_is_one_edit_of_a_valid_one() {
    let mut wrong = Vec::new();
    for name in BUNDLES {
        for case in &cases(name).1 {
            if let Some(of) = &case.of
                && edits(of, &case.line) != 1
            {
                wrong.push(format!("{name}: {} edits: {case:?}", edits(of, &case.line)));
            }
        }
    }
    none(&wrong);
}

fn edits(a: &Value, b: &Value) -> usize {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            let gone = a.keys().filter(|key| !b.contains_key(*key)).count();
            let kept = b
                .iter()
                .map(|(key, value)| a.get(key).map_or(1, |old| edits(old, value)));
            gone + kept.sum::<usize>()
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).map(|(a, b)| edits(a, b)).sum()
        }
        _ => usize::from(a != b),
    }
}

/// The checker of the program names the fault first, where the corpus says it is.
#[test]
fn the_checker_of_the_program_agrees() {
    let mut wrong = Vec::new();
    for name in BUNDLES {
        let checker = match name.parse::<Wire>() {
            Ok(wire) => Checker::strict(wire),
            Err(_) => Checker::session_strict(),
        };
        let mut scratch = Document::default();
        for case in &cases(name).1 {
            let text = case.line.to_string();
            let document = Document::read(&text, std::mem::take(&mut scratch)).unwrap();
            let mut faults = Vec::new();
            checker.check(document.root(), &mut faults);
            let found = faults
                .first()
                .map(|fault| (fault.keyword.name(), &fault.pointer));
            let expected = case
                .fault
                .as_ref()
                .map(|(keyword, pointer)| (*keyword, pointer));
            if found != expected {
                wrong.push(format!("{name}: {found:?}: {case:?}"));
            }
        }
    }
    none(&wrong);
}

/// Reads a line as the generated types do.
fn typed(name: &str, line: &Value) -> Result<(), serde_json::Error> {
    let line = line.to_string();
    match name {
        "quipu" => serde_json::from_str::<QuipuEvent>(&line).map(drop),
        "senpi" => serde_json::from_str::<SenpiEvent>(&line).map(drop),
        "dreb" => serde_json::from_str::<DrebEvent>(&line).map(drop),
        _ => serde_json::from_str::<SessionEntry>(&line).map(drop),
    }
}

/// The generated types read every valid line, and of the invalid ones only those with more fields
/// than they know: the stamp is none of theirs.
#[test]
fn the_generated_types_agree() {
    let mut wrong = Vec::new();
    for name in BUNDLES {
        for case in &cases(name).1 {
            let read = typed(name, &case.line);
            let unknown = case.fault.as_ref().is_some_and(|(keyword, pointer)| {
                *keyword == "additionalProperties"
                    || pointer.ends_with("/seq")
                    || pointer.ends_with("/at")
            });
            if !unknown && read.is_ok() != case.fault.is_none() {
                wrong.push(format!("{name}: {read:?}: {case:?}"));
            }
        }
    }
    none(&wrong);
}
