//! The files of the corpus: written with `UPDATE=1`, else compared.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use quipu::contract::Wire;

use crate::BUNDLES;
use crate::lines::Case;
use crate::streams::{Illegal, Proof, in_disorder, proofs};
use crate::{by_hand, foreign, scenarios, search};

const REPAIR: &str = "run `UPDATE=1 cargo test --test corpus` and commit tests/corpus/";

pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

/// Every file by its path in the folder, and the rules for which no case was found when they are
/// made anew.
fn made(survivors: &mut Vec<String>) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for name in BUNDLES {
        for (event, cases) in by_event(&crate::lines_judged::cases(name).1) {
            files.insert(format!("lines/{name}/{event}.jsonl"), print(&cases));
        }
    }
    for wire in Wire::ALL {
        let legal = scenarios::streams(wire);
        let below = format!("streams/{}", wire.name());
        for (name, lines) in &legal {
            files.insert(format!("{below}/legal/{name}.jsonl"), each_on_a_line(lines));
        }
        let foreign = foreign::streams(wire, &legal);
        for (name, lines) in &foreign {
            files.insert(
                format!("{below}/foreign/{name}.jsonl"),
                each_on_a_line(lines),
            );
        }
        let (illegal, rules) = if updating() {
            let (_, prompts) = legal.iter().find(|(name, _)| name == "prompts").unwrap();
            let known: Vec<Illegal> = in_disorder(wire).collect();
            let mut chosen = search::search(wire, &legal, known, &proofs(wire));
            chosen.illegal.extend(by_hand::illegal(wire, prompts));
            chosen.illegal.extend(foreign::illegal(&foreign));
            let (proofs, unnoticed) = foreign::proofs(wire, &foreign);
            chosen.proofs.extend(proofs);
            survivors.extend(chosen.survivors.into_iter().chain(unnoticed));
            (
                each_on_a_line(chosen.illegal.iter().map(Illegal::print)),
                each_on_a_line(chosen.proofs.iter().map(Proof::print)),
            )
        } else {
            // What was chosen is proved elsewhere; here it is only pinned.
            let text = |file: &str| fs::read_to_string(folder().join(&below).join(file)).unwrap();
            (text("illegal.jsonl"), text("rules.jsonl"))
        };
        files.insert(format!("{below}/illegal.jsonl"), illegal);
        files.insert(format!("{below}/rules.jsonl"), rules);
    }
    let manifest = manifest(&files);
    files.insert("manifest.json".into(), manifest);
    files
}

fn updating() -> bool {
    std::env::var_os("UPDATE").is_some_and(|value| !value.is_empty() && value != "0")
}

fn each_on_a_line<T: std::fmt::Display>(values: impl IntoIterator<Item = T>) -> String {
    values.into_iter().fold(String::new(), |mut text, value| {
        let _ = writeln!(text, "{value}");
        text
    })
}

/// The cases by the type of the line that they are or were.
fn by_event(cases: &[Case]) -> BTreeMap<String, Vec<&Case>> {
    let mut files: BTreeMap<String, Vec<&Case>> = BTreeMap::new();
    for case in cases {
        let kind = case.of.as_ref().unwrap_or(&case.line)["type"]
            .as_str()
            .unwrap();
        files.entry(kind.to_owned()).or_default().push(case);
    }
    files
}

/// One case a line; an invalid one says on which line of the file the valid one is that it was.
fn print(cases: &[&Case]) -> String {
    let valid: Vec<&Value> = cases
        .iter()
        .filter(|case| case.fault.is_none())
        .map(|case| &case.line)
        .collect();
    let mut text = String::new();
    for case in cases {
        let mut entry = Map::new();
        entry.insert("valid".into(), case.fault.is_none().into());
        if let (Some((keyword, pointer)), Some(of)) = (&case.fault, &case.of) {
            let text = of.to_string();
            let of = valid.iter().position(|line| line.to_string() == text);
            let of = of.unwrap_or_else(|| panic!("{case:?} was no valid line"));
            entry.insert("keyword".into(), (*keyword).into());
            entry.insert("pointer".into(), pointer.as_str().into());
            entry.insert("of".into(), (of + 1).into());
        }
        entry.insert("rule".into(), case.aim.as_str().into());
        entry.insert("line".into(), case.line.clone());
        writeln!(text, "{}", Value::Object(entry)).unwrap();
    }
    text
}

fn manifest(files: &BTreeMap<String, String>) -> String {
    let mut entries = Map::new();
    for (path, text) in files {
        let mut hash = String::new();
        for byte in Sha256::digest(text) {
            write!(hash, "{byte:02x}").unwrap();
        }
        let mut entry = json!({ "sha256": hash, "lines": text.lines().count() });
        if path.starts_with("lines/") {
            let valid = text
                .lines()
                .filter(|line| line.starts_with("{\"valid\":true"))
                .count();
            entry["valid"] = valid.into();
            entry["invalid"] = (text.lines().count() - valid).into();
        }
        entries.insert(path.clone(), entry);
    }
    let manifest =
        json!({ "format": 1, "schema": quipu::contract::SCHEMA_VERSION, "files": entries });
    serde_json::to_string_pretty(&manifest).unwrap() + "\n"
}

fn stored(dir: &Path, below: &str, files: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(dir).into_iter().flatten() {
        let entry = entry.unwrap();
        let path = format!("{below}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            stored(&entry.path(), &format!("{path}/"), files);
        } else if Path::new(&path).extension().is_none_or(|of| of != "rs") && path != "README.md" {
            files.insert(path, fs::read_to_string(entry.path()).unwrap());
        }
    }
}

#[test]
fn the_files_are_what_schema_and_grammar_make() {
    let mut survivors = Vec::new();
    let made = made(&mut survivors);
    if updating() {
        for part in ["lines", "streams"] {
            let _ = fs::remove_dir_all(folder().join(part));
        }
        for (path, text) in &made {
            let path = folder().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }
    let mut stored = BTreeMap::new();
    self::stored(&folder(), "", &mut stored);
    for (path, text) in &made {
        let Some(old) = stored.remove(path) else {
            panic!("tests/corpus/{path} is missing: {REPAIR}")
        };
        let line = old
            .lines()
            .zip(text.lines())
            .take_while(|(old, new)| old == new)
            .count()
            + 1;
        assert!(
            old == *text,
            "tests/corpus/{path} differs from line {line} on: {REPAIR}"
        );
    }
    let stray: Vec<_> = stored.keys().collect();
    assert!(
        stray.is_empty(),
        "nothing makes {stray:?} in tests/corpus/: {REPAIR}"
    );
    assert!(
        survivors.is_empty(),
        "{} rules of the grammar without a case:\n{}",
        survivors.len(),
        survivors.join("\n")
    );
}
