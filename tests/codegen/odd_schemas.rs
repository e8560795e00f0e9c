//! The schema with one odd thing in it: lint complains, or every language takes what is made of it.
//!
//! Python and its parser are looked for on PATH, and tsc and gofmt for fewer of the cases; see
//! [`crate::clients`].

use crate::clients::{run, tool};
use crate::codegen::bundle::{self, Mode};
use crate::codegen::client::{Client, Language};
use crate::codegen::lint;
use crate::codegen::load::{self, Folder};
use crate::codegen::model::Schema;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const CASES: usize = 200;
/// How many of the cases that pass are given to the compilers, which are slow.
const COMPILED: usize = 12;

const TITLES: [&str; 24] = [
    "None",
    "True",
    "Unknown",
    "SchemaVersion",
    "QuipuEventValue",
    "AgentMessageValue",
    "Record",
    "Object",
    "Array",
    "Function",
    "Promise",
    "Error",
    "Main",
    "Typing",
    "Literal",
    "TypedDict",
    "RawMessage",
    "Ünicode",
    "a-b",
    "1X",
    "X1",
    "",
    "SelfX",
    "MessageUpdateEventType",
];

const FIELDS: [&str; 36] = [
    "class",
    "from",
    "type",
    "None",
    "none",
    "constructor",
    "prototype",
    "toString",
    "marshalJSON",
    "unmarshalJson",
    "def",
    "lambda",
    "list",
    "dict",
    "str",
    "int",
    "typing",
    "bool",
    "id",
    "ids",
    "func",
    "interface",
    "range",
    "value",
    "self",
    "is",
    "x",
    "_x",
    "__proto__",
    "a-b",
    "$x",
    "",
    "ä",
    "a b",
    "schemaVersion",
    "raw",
];

const TEXTS: [&str; 19] = [
    "\"",
    "\"\"",
    "\"\"\"",
    "a \"\"\"\"",
    "\\",
    "a \\\"",
    "*/",
    "/* ",
    "`${x}` `",
    "a\nb\r\nc\rd",
    "\u{0}\u{7}\u{feff}",
    "\u{2028}\u{2029}\u{85}",
    "# a",
    "Ω 𝕏 \u{202e}",
    "//go:build ignore",
    "+build ignore",
    "a\"\u{0}",
    "*\u{feff}/",
    "'''",
];

/// Numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % sides
    }

    fn one_of(&mut self, all: &[&str]) -> Value {
        all[self.roll(all.len())].into()
    }
}

/// Changes one thing; gives what it was.
fn mutate(folder: &mut Folder, dice: &mut Dice) -> String {
    let at = dice.roll(folder.files.len());
    let base = folder.files[at].value.clone().unwrap();
    let path = folder.files[at].path.clone();
    let file = folder.files[at].value.as_mut().unwrap();
    let odd = match dice.roll(8) {
        0 => {
            file["title"] = dice.one_of(&TITLES);
            format!("title {}", file["title"])
        }
        1 | 2 if file.get("properties").is_some() => {
            // A type that something else is, or text, or arrays in arrays.
            let mut ty = match dice.roll(3) {
                0 => json!({ "type": "string" }),
                1 => json!({ "type": "integer", "const": 9_007_199_254_740_991_u64 }),
                _ => json!({ "type": "array", "items": { "type": "boolean" } }),
            };
            for _ in 0..dice.roll(60) {
                ty = json!({ "type": "array", "items": ty });
            }
            ty["description"] = dice.one_of(&TEXTS);
            let name = dice.one_of(&FIELDS);
            let name = name.as_str().unwrap();
            file["properties"][name] = ty;
            format!("field {name:?}")
        }
        3 if file.get("enum").is_some() => {
            let value = dice.one_of(&[&TEXTS[..], &FIELDS, &TITLES].concat());
            let values = file["enum"].as_array_mut().unwrap();
            values.push(value.clone());
            format!("value {value}")
        }
        4 => {
            let stem = dice.one_of(&[
                "1x",
                "Main",
                "main",
                "go",
                "class",
                "a-b",
                "ä",
                "documentation",
            ]);
            let path = format!("wire/{}.json", stem.as_str().unwrap());
            let mut wire = folder.file("wire/quipu.json").unwrap().clone();
            let json = wire.value.as_mut().unwrap();
            json["$id"] = format!("https://quipu.dev/schema/v1/{path}").into();
            json["title"] = "OtherEvent".into();
            wire.path.clone_from(&path);
            folder.files.push(wire);
            // The order is not what this is about.
            folder.grammar = None;
            return path;
        }
        5 => {
            let keys: Vec<String> = file.as_object().unwrap().keys().cloned().collect();
            let key = &keys[dice.roll(keys.len())];
            file.as_object_mut().unwrap().shift_remove(key);
            format!("no {key}")
        }
        6 if file.pointer("/properties/type/const").is_some() => {
            let value = dice.one_of(&[&TEXTS[..], &FIELDS].concat());
            file["properties"]["type"]["const"] = value.clone();
            format!("const {value}")
        }
        _ => {
            file["description"] = dice.one_of(&TEXTS);
            format!("description {}", file["description"])
        }
    };
    if *folder.files[at].value.as_ref().unwrap() == base {
        return String::new();
    }
    format!("{path}: {odd}")
}

/// The bundles that are not what they were.
fn clients(schema: &Schema, sound: &Schema) -> Vec<Client> {
    let names = schema.bundles.keys();
    let documents = names.map(|name| (name, bundle::document(schema, name, Mode::Open).unwrap()));
    let changed = documents.filter(|(name, document)| {
        bundle::document(sound, name, Mode::Open).as_ref() != Some(document)
    });
    changed
        .map(|(name, document)| Client::read(&document, name, Some(&schema.version)).unwrap())
        .collect()
}

#[test]
fn lint_complains_or_every_language_takes_it() {
    let (sound, unreadable) = load::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("schema"));
    assert_eq!(unreadable, []);
    let schema = lint::lint(&sound, Vec::new()).unwrap();
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let output = tempfile::tempdir().unwrap();
    let (mut passed, mut refused) = (Vec::new(), 0);
    for case in 0..CASES {
        let mut folder = sound.clone();
        let odd = mutate(&mut folder, &mut dice);
        let Ok(changed) = lint::lint(&folder, Vec::new()) else {
            refused += 1;
            continue;
        };
        for client in clients(&changed, &schema).into_iter().take(1) {
            let place = output.path().join(case.to_string());
            fs::create_dir_all(&place).unwrap();
            for (language, file) in Language::ALL
                .into_iter()
                .zip(["lines.ts", "lines.py", "lines.go"])
            {
                let text = language.definitions(&client);
                let text = text.unwrap_or_else(|error| panic!("case {case}, {odd}: {error}"));
                fs::write(place.join(file), text).unwrap();
            }
            fs::write(place.join("odd.txt"), &odd).unwrap();
            passed.push(place);
        }
    }
    assert!(
        passed.len() > 30 && refused > 30,
        "{} passed, {refused} refused",
        passed.len()
    );
    compile(output.path(), &passed);
}

fn compile(folder: &Path, passed: &[PathBuf]) {
    let files = |name: &str, most: usize| -> Vec<PathBuf> {
        // Those of one kind stand apart, so these are of several.
        let apart = passed.len().div_ceil(most);
        let some = passed.iter().step_by(apart.max(1));
        some.map(|place| place.join(name)).collect()
    };
    if let Some(python) = tool("python3") {
        let program = "import sys\n\
                       for path in sys.argv[1:]:\n    \
                           exec(compile(open(path, encoding='utf-8', newline='').read(), path, 'exec'), {'__name__': 'lines'})\n";
        run(
            Command::new(python)
                .arg("-c")
                .arg(program)
                .args(files("lines.py", CASES)),
            "",
        );
    }
    if let Some(tsc) = tool("tsc") {
        let mut command = Command::new(tsc);
        command.args([
            "--strict", "--noEmit", "--target", "es2022", "--module", "nodenext",
        ]);
        run(
            command
                .args(files("lines.ts", COMPILED))
                .current_dir(folder),
            "",
        );
    }
    if let Some(go) = tool("go") {
        fs::write(folder.join("go.mod"), "module odd\n\ngo 1.21\n").unwrap();
        let packages = files("lines.go", COMPILED);
        let packages = packages.iter().map(|file| file.parent().unwrap());
        let packages = packages.map(|place| format!("./{}", place.file_name().unwrap().display()));
        let mut command = Command::new(go);
        command
            .envs([
                ("GOTOOLCHAIN", "local"),
                ("GOPROXY", "off"),
                ("GOFLAGS", ""),
            ])
            .envs([("GOWORK", "off"), ("CGO_ENABLED", "0")]);
        command.arg("vet").args(packages).current_dir(folder);
        run(&mut command, "");
    }
}
