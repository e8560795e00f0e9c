//! The contract keeps its promise from release to release.
//!
//! `RELEASE=1 cargo test --test codegen released` freezes the schema of today as the release that
//! `schema/VERSION` names, unless there is one.

use crate::codegen::bundle::{self, Mode};
use crate::schema;
use quipu::contract::diff::{self, Breaks};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("schema")
}

/// The releases, the last one last.
fn releases() -> Vec<PathBuf> {
    let entries = fs::read_dir(folder().join("released")).unwrap();
    let mut releases: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    releases.sort_by_key(|path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        let numbers = name.split('.').map(str::parse::<u64>);
        numbers.collect::<Result<Vec<_>, _>>().unwrap()
    });
    releases
}

fn freeze() {
    let schema = schema();
    let release = folder().join("released").join(&schema.version);
    if release.exists() {
        return;
    }
    fs::create_dir_all(&release).unwrap();
    fs::write(release.join("VERSION"), format!("{}\n", schema.version)).unwrap();
    fs::copy(folder().join("grammar.json"), release.join("grammar.json")).unwrap();
    for name in schema.bundles.keys() {
        for mode in Mode::ALL {
            let file = format!("{name}.{}.json", mode.name());
            fs::write(
                release.join(file),
                bundle::text(&schema, name, mode).unwrap(),
            )
            .unwrap();
        }
    }
}

#[test]
fn the_version_says_what_changed_since_the_last_release() {
    if std::env::var_os("RELEASE").is_some_and(|value| !value.is_empty() && value != "0") {
        freeze();
    }
    let last = releases().pop().expect("there is no release");
    let found =
        diff::compare(&diff::read(&last).unwrap(), &diff::read(&folder()).unwrap()).unwrap();
    let undecided = found.changes.iter().any(|c| c.breaks == Breaks::Undecided);
    let mut changes = String::new();
    for change in &found.changes {
        let (step, breaks) = (change.step, change.breaks);
        let (title, place, what) = (&change.title, &change.place, &change.what);
        writeln!(
            changes,
            "  {step}, breaks {breaks}: {title} {place}: {what}"
        )
        .unwrap();
    }
    let old = found.old_version.as_deref().unwrap();
    let new = found.new_version.as_deref().unwrap();
    assert!(
        found.is_declared(),
        "since the release {old} the schema has changed:\n{changes}\
         that takes a {} step, but schema/VERSION says {new}: raise it, or undo the change",
        found.step().map_or("patch", diff::Step::name),
    );
    assert!(
        !undecided,
        "since the release {old} the schema has changes that cannot be classified:\n{changes}\
         undo them, write them in a way that can be, or teach src/contract/diff to tell"
    );
}

/// A release is never changed: its strict and open bundles are of one schema, and what it calls
/// itself is where it lies.
#[test]
fn releases_are_whole() {
    for release in releases() {
        let version = fs::read_to_string(release.join("VERSION")).unwrap();
        assert_eq!(release.file_name().unwrap().to_str(), Some(version.trim()));
        for name in ["quipu", "senpi", "dreb", "session"] {
            let read = |mode: Mode| {
                diff::read(&release.join(format!("{name}.{}.json", mode.name()))).unwrap()
            };
            let found = diff::compare(&read(Mode::Strict), &read(Mode::Open)).unwrap();
            assert_eq!(found.changes, [], "{name} of {}", version.trim());
        }
    }
}
