//! What judges streams and schemas as fuzz targets.

use std::io::{BufRead, BufReader};

use super::Wire;
use super::check::Checker;
use super::json::Document;
use super::lines::Lines;
use super::verify::{Finding, Options, Severity, Verifier};
use crate::codegen::bundle::{self, Mode};
use crate::codegen::client::{Client, Language};
use crate::codegen::load::Folder;
use crate::codegen::{docs, lint as linter};
use crate::event::{DrebEvent, QuipuEvent, SenpiEvent};

/// A stream, or what is given for one: the findings do not depend on how its bytes arrive, and a
/// line without one can be read as an event of its wire.
///
/// # Panics
/// When that does not hold.
#[allow(
    clippy::expect_used,
    reason = "a target says by a panic that something is wrong"
)]
pub fn verify(data: &[u8]) {
    for wire in [None, Some(Wire::Quipu), Some(Wire::Senpi), Some(Wire::Dreb)] {
        let whole = findings(data, wire);
        let pieces = findings(BufReader::with_capacity(7, data), wire);
        assert_eq!(whole, pieces, "the verdict depends on how the bytes arrive");
        let Some(wire) = wire else { continue };
        let mut lines = Lines::new(data);
        while let Some(frame) = lines.next_line().expect("bytes can be read") {
            let at_fault = whole
                .iter()
                .any(|finding| finding.line == frame.number && finding.severity == Severity::Error);
            if at_fault {
                continue;
            }
            let read = match wire {
                Wire::Quipu => serde_json::from_slice::<QuipuEvent>(frame.bytes).map(drop),
                Wire::Senpi => serde_json::from_slice::<SenpiEvent>(frame.bytes).map(drop),
                Wire::Dreb => serde_json::from_slice::<DrebEvent>(frame.bytes).map(drop),
            };
            // To JSON Schema a whole number is an integer however it is written and however large.
            if let Err(error) = read
                && !error.to_string().contains("floating point")
            {
                panic!("{} line {} passes: {error}", wire.name(), frame.number);
            }
        }
    }
}

#[allow(
    clippy::expect_used,
    reason = "a target says by a panic that something is wrong"
)]
fn findings(from: impl BufRead, wire: Option<Wire>) -> Vec<Finding> {
    let mut verifier = Verifier::new(Options {
        wire,
        ours: true,
        ..Options::default()
    });
    let mut findings = Vec::new();
    let mut lines = Lines::new(from);
    while let Some(frame) = lines.next_line().expect("bytes can be read") {
        verifier.line(&frame, &mut findings);
    }
    verifier.finish(&mut findings);
    findings
}

/// A schema folder as one document (see [`Folder::unpack`]): what the linter passes gives bundles that
/// the checker takes and in which every example is sound, pages, and definitions or a reason for
/// none.
///
/// # Panics
/// When that does not hold.
#[allow(
    clippy::expect_used,
    reason = "a target says by a panic that something is wrong"
)]
pub fn lint(data: &[u8]) {
    let Ok(packed) = serde_json::from_slice(data) else {
        return;
    };
    let folder = Folder::unpack("schema", packed);
    let Ok(schema) = linter::lint(&folder, Vec::new()) else {
        return;
    };
    for name in schema.bundles.keys() {
        for mode in Mode::ALL {
            let document = bundle::document(&schema, name, mode).expect("it has a bundle");
            let checker = Checker::compile(&document).expect("the checker takes it");
            for def in schema.defs.values() {
                for example in &def.examples {
                    let text = example.to_string();
                    let document = Document::read(&text, Document::default()).expect("it is JSON");
                    let mut faults = Vec::new();
                    if checker.check_def(&def.title, document.root(), &mut faults) {
                        assert!(faults.is_empty(), "{}: {text}: {faults:?}", def.title);
                    }
                }
            }
            if let Ok(client) = Client::read(&document, name, Some(&schema.version)) {
                for language in Language::ALL {
                    let _ = language.definitions(&client);
                }
            }
        }
        let _ = docs::events(&schema, name);
    }
}
