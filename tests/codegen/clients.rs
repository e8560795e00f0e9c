//! The definitions for other languages, compiled by each language's own tools and used by programs
//! in `tests/clients` that read runs, every example of the schema, and lines of a later version.
//!
//! The tools are looked for on PATH; `eval "$(.ci/tools)"` brings them. Where one is missing its
//! test is left out, or fails if `QUIPU_REQUIRE_TOOLS` is set.

use crate::clients_sample::{Sample, shrunk};
use crate::codegen::client::{Client, Language};
use pretty_assertions::assert_eq;
use serde_json::Value;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const BUNDLES: [&str; 4] = ["quipu", "senpi", "dreb", "session"];

/// Where a tool is, if it is on PATH.
#[allow(clippy::print_stdout, reason = "tells why a test is left out")]
pub(crate) fn tool(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap();
    let found = std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file());
    if found.is_none() {
        let required = std::env::var_os("QUIPU_REQUIRE_TOOLS").is_some_and(|value| value == "1");
        assert!(!required, "`{name}` is not on PATH; see .ci/tools");
        println!("left out, because `{name}` is not on PATH; see .ci/tools");
    }
    found
}

/// A folder with the definitions of a language, those of an awkward bundle included, and with the
/// programs that use them.
fn folder(language: Language) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let place = |name: &str| {
        let path = language.path(name);
        let path = folder.path().join(path.split_once('/').unwrap().1);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    };
    for name in BUNDLES {
        let from = package.join("generated").join(language.path(name));
        fs::copy(from, place(name)).unwrap();
    }
    let odd = package.join("tests/clients/odd.open.json");
    let odd = serde_json::from_slice(&fs::read(odd).unwrap()).unwrap();
    let odd = Client::read(&odd, "odd", None).unwrap();
    fs::write(place("odd"), language.definitions(&odd).unwrap()).unwrap();
    for file in fs::read_dir(package.join("tests/clients").join(language.name())).unwrap() {
        let file = file.unwrap();
        if file.path().is_file() {
            fs::copy(file.path(), folder.path().join(file.file_name())).unwrap();
        }
    }
    folder
}

/// Runs a tool to its end, which has to be a good one; gives what it printed.
pub(crate) fn run(command: &mut Command, input: &str) -> String {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    let written = writer.join().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{command:?}: {}\n{printed}\n{said}",
        output.status
    );
    written.unwrap();
    printed.into_owned()
}

/// Lets a program summarise every sample, and compares.
fn summarise(program: impl Fn(&str) -> Command) {
    for name in BUNDLES {
        let mut sample = Sample::of(name);
        let printed = run(&mut program(name), &sample.text());
        let mut summary: Value = serde_json::from_str(&printed).unwrap();
        let again = summary.as_object_mut().unwrap().shift_remove("again");
        let expected = sample.summary();
        assert_eq!(summary, expected, "{name}");

        // A program that writes what it has read loses nothing that it knows.
        for (line, again) in sample
            .known()
            .zip(again.iter().flat_map(|all| all.as_array().unwrap()))
        {
            assert_eq!(shrunk(line), shrunk(again), "{name}");
        }
        if let Some(again) = again {
            assert_eq!(again.as_array().unwrap().len(), sample.known().count());
        }

        // In a run the deltas are the message.
        sample.lines.truncate(sample.ran);
        let ran = sample.summary();
        assert_eq!(ran["unknown"], 0, "{name}");
        for message in ran["messages"].as_array().unwrap() {
            assert_eq!(message["folded"], message["whole"], "{name}");
        }
    }
}

#[test]
fn typescript() {
    let (Some(tsc), Some(node)) = (tool("tsc"), tool("node")) else {
        return;
    };
    let folder = folder(Language::TypeScript);
    let mut sources: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    sources.sort();
    let mut command = Command::new(tsc);
    command
        .args([
            "--strict",
            "--exactOptionalPropertyTypes",
            "--noImplicitAny",
        ])
        .args(["--noUncheckedIndexedAccess", "--noFallthroughCasesInSwitch"])
        .args([
            "--noPropertyAccessFromIndexSignature",
            "--noImplicitReturns",
        ])
        .args(["--noUnusedLocals", "--noUnusedParameters"])
        .args([
            "--target", "es2022", "--module", "nodenext", "--outDir", "out",
        ])
        .args(sources)
        .current_dir(&folder);
    run(&mut command, "");
    summarise(|name| {
        let mut command = Command::new(&node);
        command.arg(folder.path().join("out/summary.js")).arg(name);
        command
    });
}

#[test]
fn python() {
    let (Some(python), Some(mypy)) = (tool("python3"), tool("mypy")) else {
        return;
    };
    let folder = folder(Language::Python);
    let mut command = Command::new(mypy);
    command
        .args([
            "--strict",
            "--cache-dir",
            ".mypy",
            "--python-version",
            "3.11",
            ".",
        ])
        .current_dir(&folder);
    run(&mut command, "");
    for module in ["odd.py", "refused.py"] {
        run(Command::new(&python).arg(module).current_dir(&folder), "");
    }
    summarise(|name| {
        let mut command = Command::new(&python);
        command.args(["summary.py", name]).current_dir(&folder);
        command
    });
}

#[test]
fn python_by_pyright() {
    let Some(pyright) = tool("pyright") else {
        return;
    };
    let folder = folder(Language::Python);
    // Made of what mypy refuses, in mypy's words.
    fs::remove_file(folder.path().join("refused.py")).unwrap();
    let config = r#"{ "typeCheckingMode": "strict", "pythonVersion": "3.11" }"#;
    fs::write(folder.path().join("pyrightconfig.json"), config).unwrap();
    run(Command::new(pyright).current_dir(&folder), "");
}

#[test]
fn go() {
    let Some(go) = tool("go") else { return };
    let folder = folder(Language::Go);
    // The oldest version that the definitions are for.
    fs::write(folder.path().join("go.mod"), "module clients\n\ngo 1.21\n").unwrap();
    let go = || {
        let mut command = Command::new(&go);
        // Nothing is fetched.
        command
            .envs([
                ("GOTOOLCHAIN", "local"),
                ("GOPROXY", "off"),
                ("GOFLAGS", ""),
            ])
            .envs([("GOWORK", "off"), ("CGO_ENABLED", "0")])
            .current_dir(&folder);
        command
    };
    run(go().args(["vet", "./..."]), "");
    run(go().args(["test", "./..."]), "");
    run(go().args(["build", "-o", "summary", "."]), "");
    let root = run(go().args(["env", "GOROOT"]), "");
    let gofmt = Path::new(root.trim()).join("bin/gofmt");
    let unformatted = run(
        Command::new(gofmt).args(["-l", "."]).current_dir(&folder),
        "",
    );
    assert_eq!(unformatted, "");
    summarise(|name| {
        let mut command = Command::new(folder.path().join("summary"));
        command.arg(name);
        command
    });
}
