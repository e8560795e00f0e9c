//! `generated/` holds what the schema and the list of proofs make, and nothing else.

use crate::codegen::bundle::{self, Mode};
use crate::codegen::client::{Client, Language};
use crate::codegen::docs;
use crate::codegen::model::Schema;
use crate::{compaction, rust, schema};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

const REPAIR: &str = "run `UPDATE=1 cargo test --test codegen` and commit generated/";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("generated")
}

/// Every generated file by its path below `generated/`.
fn made() -> BTreeMap<String, String> {
    let schema = schema();
    let mut files = BTreeMap::new();
    for (name, text) in rust::generate(&schema).unwrap() {
        files.insert(format!("rust/{name}.rs"), text);
    }
    for wire in schema.wires.keys() {
        let page = if wire == "quipu" { "events" } else { wire };
        let mut text = docs::events(&schema, wire).unwrap();
        if wire != "quipu" {
            text.push_str(&proof(&schema, wire));
        }
        files.insert(format!("docs/{page}.md"), text);
    }
    files.insert("docs/apis.md".to_owned(), crate::apis::page());
    files.insert("docs/compaction.md".to_owned(), compaction::page());
    for name in schema.bundles.keys() {
        for mode in Mode::ALL {
            let path = format!("bundle/{name}.{}.json", mode.name());
            files.insert(path, bundle::text(&schema, name, mode).unwrap());
        }
        let bundle = bundle::document(&schema, name, Mode::Open).unwrap();
        let client = Client::read(&bundle, name, Some(&schema.version)).unwrap();
        for language in Language::ALL {
            let text = language.definitions(&client).unwrap();
            files.insert(language.path(name), text);
        }
    }
    files
}

/// How it is shown that each line of a projected wire is written as its schema says.
fn proof(schema: &Schema, wire: &str) -> String {
    let projected = include_str!("../suite/projected.txt");
    let mut text = "\n## Proof\n\nHow the tests show each type of line on this wire: by a run of the \
         program, or, while nothing in the program causes it yet, by a stream that is made of native \
         events and projected.\n\n| event | shown by |\n|---|---|\n"
        .to_owned();
    let root = &schema.defs[&schema.wires[wire]];
    let mut kinds: Vec<&str> = Vec::new();
    for member in &root.union().unwrap().members {
        if !kinds.contains(&&*member.value) {
            kinds.push(&member.value);
        }
    }
    for kind in kinds {
        let made = projected
            .lines()
            .any(|line| line == format!("{wire}/{kind}"));
        let by = if made { "a made stream" } else { "runs" };
        writeln!(text, "| `{kind}` | {by} |").unwrap();
    }
    text
}

fn stored(dir: &Path, below: &str, files: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(dir).into_iter().flatten() {
        let entry = entry.unwrap();
        let path = format!("{below}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            stored(&entry.path(), &format!("{path}/"), files);
        } else {
            files.insert(path, fs::read_to_string(entry.path()).unwrap());
        }
    }
}

#[test]
fn generated_is_what_the_schema_makes() {
    let made = made();
    if std::env::var_os("UPDATE").is_some_and(|value| !value.is_empty() && value != "0") {
        let _ = fs::remove_dir_all(folder());
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
            panic!("generated/{path} is missing: {REPAIR}")
        };
        let line = old
            .lines()
            .zip(text.lines())
            .take_while(|(old, new)| old == new)
            .count()
            + 1;
        assert!(
            old == *text,
            "generated/{path} differs from line {line} on: {REPAIR}"
        );
    }
    let stray: Vec<_> = stored.keys().collect();
    assert!(
        stray.is_empty(),
        "nothing makes {stray:?} in generated/: {REPAIR}"
    );
}

/// The build script and this test read the same folder, so what the crate was built from is what
/// is checked in.
#[test]
fn the_build_uses_the_same_text() {
    let made = made();
    let built = [
        ("quipu", include_str!(concat!(env!("OUT_DIR"), "/quipu.rs"))),
        ("senpi", include_str!(concat!(env!("OUT_DIR"), "/senpi.rs"))),
        ("dreb", include_str!(concat!(env!("OUT_DIR"), "/dreb.rs"))),
    ];
    for (name, text) in built {
        assert!(
            made[&format!("rust/{name}.rs")] == text,
            "the crate was built from other types of {name}"
        );
    }
    assert!(
        rust::round_trip(&schema()).unwrap()
            == include_str!(concat!(env!("OUT_DIR"), "/round_trip.rs"))
    );
    for wire in quipu::contract::Wire::ALL {
        assert!(made[&format!("bundle/{}.strict.json", wire.name())] == wire.strict());
        assert!(made[&format!("bundle/{}.open.json", wire.name())] == wire.open());
    }
    assert!(made["bundle/session.strict.json"] == quipu::contract::SESSION_STRICT);
    assert!(made["bundle/session.open.json"] == quipu::contract::SESSION_OPEN);
    assert_eq!(quipu::contract::SCHEMA_VERSION, schema().version);
}

#[test]
fn the_hash_is_that_of_the_strict_bundle() {
    use sha2::{Digest, Sha256};
    let bytes = bundle::text(&schema(), "quipu", Mode::Strict).unwrap();
    let mut hash = "sha256:".to_owned();
    for byte in Sha256::digest(bytes) {
        write!(hash, "{byte:02x}").unwrap();
    }
    assert_eq!(quipu::contract::SCHEMA_HASH, hash);
}
