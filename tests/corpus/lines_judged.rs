//! Every judge of single lines gives the verdict that the corpus names.

use std::sync::LazyLock;

use quipu::codegen::validate::Validator;
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
