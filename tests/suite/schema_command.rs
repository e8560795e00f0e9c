//! `quipu schema`: shows, prints, checks and compares contracts.

use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::harness::{Run, World};

fn run(world: &World, args: &[&str]) -> Run {
    world.bare().arg("schema").args(args.iter().copied()).run()
}

#[track_caller]
fn said(world: &World, args: &[&str]) -> String {
    ended(world, args, 0)
}

#[track_caller]
fn ended(world: &World, args: &[&str], code: i32) -> String {
    let run = run(world, args);
    assert_eq!((run.code(), run.stderr.as_str()), (code, ""), "{args:?}");
    String::from_utf8(run.stdout).unwrap()
}

/// Fails with this status, prints nothing, and says why.
#[track_caller]
fn refused(world: &World, args: &[&str], code: i32, words: &[&str]) {
    let run = run(world, args);
    assert_eq!(
        (run.code(), run.stdout.len()),
        (code, 0),
        "{args:?}: {}",
        run.stderr
    );
    for word in words {
        assert!(run.stderr.contains(word), "{args:?}: {}", run.stderr);
    }
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy(&from, &to);
        } else {
            fs::copy(from, to).unwrap();
        }
    }
}

fn package(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    path.to_str().unwrap().to_owned()
}

/// A world with a copy of the schema in `schema/`.
fn own() -> World {
    let world = World::new();
    copy(Path::new(&package("schema")), &world.work().join("schema"));
    world
}

fn edit(world: &World, file: &str, change: impl FnOnce(&mut Value)) {
    let mut json = parsed(&world.read(file));
    change(&mut json);
    world.file(file, json.to_string());
}

/// A folder of another's: one wire, one event, no grammar, no session.
fn foreign() -> World {
    let world = World::new();
    let head = |path: &str, title: &str| {
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": format!("https://example.org/v2/{path}"),
            "title": title, "description": "It happened."
        })
    };
    let mut ping = head("event/ping.json", "PingEvent");
    ping["type"] = "object".into();
    ping["properties"] = json!({
        "type": { "type": "string", "const": "ping", "description": "Kind." },
        "note": { "type": "string", "description": "A note. Absent without one." }
    });
    ping["required"] = json!(["type"]);
    ping["examples"] = json!([{ "type": "ping" }]);
    let mut wire = head("wire/radio.json", "RadioEvent");
    wire["oneOf"] = json!([{ "$ref": "../event/ping.json" }]);
    wire["examples"] = json!([{ "type": "ping" }]);
    world.file("mine/VERSION", "2.0.0\n");
    world.file("mine/event/ping.json", ping.to_string());
    world.file("mine/wire/radio.json", wire.to_string());
    world
}

#[test]
fn list() {
    let world = World::new();
    let all = parsed(&said(&world, &["list", "--format", "json"]));
    let row = |title: &str| {
        let rows = all.as_array().unwrap();
        rows.iter()
            .find(|row| row["title"] == title)
            .unwrap()
            .clone()
    };
    assert_eq!(
        row("MessageUpdateEvent"),
        json!({
            "kind": "event", "type": "message_update", "title": "MessageUpdateEvent",
            "wires": ["quipu", "senpi"], "file": "event/message_update.json",
            "about": "A pending assistant message grows by one delta."
        })
    );
    assert_eq!(row("ToolResultMessage")["role"], "toolResult");
    assert_eq!(row("ToolResultMessage")["kind"], "message");
    assert_eq!(row("DrebTextDelta")["kind"], "delta");
    assert_eq!(row("Stamp")["wires"], json!(["quipu"]));
    assert_eq!(row("LabelEntry")["wires"], json!(["session"]));

    let dreb = said(&world, &["list", "--wire", "dreb"]);
    let mut rows = dreb.lines();
    assert!(rows.next().unwrap().starts_with("TYPE "));
    assert!(rows.all(|row| row.contains("dreb")), "{dreb}");
    assert!(
        !dreb.contains("QuipuEvent") && dreb.contains("auto_compaction_start"),
        "{dreb}"
    );
    refused(
        &world,
        &["list", "--wire", "pi"],
        2,
        &["no wire `pi`", "quipu, dreb, senpi, session"],
    );

    let mine = foreign();
    let rows = said(&mine, &["list", "--dir", "mine"]);
    assert!(rows.contains("ping") && rows.contains("radio"), "{rows}");
}

#[test]
fn show() {
    let world = World::new();
    let page = said(&world, &["show", "message_update"]);
    let by_title = said(&world, &["show", "MessageUpdateEvent"]);
    assert_eq!(
        page,
        by_title + "With --wire dreb: DrebMessageUpdateEvent.\n"
    );
    for part in [
        "MessageUpdateEvent (type `message_update`)\nevent/message_update.json in quipu, senpi\n",
        "`resolvedToolName`       string                 optional  Name of the tool",
        "\nExamples:\n\n  {\"type\":\"message_update\"",
        "\nOrder:\n\n- in `answer`",
        "\nA line may also have the fields of Stamp.\n",
    ] {
        assert!(page.contains(part), "{part:?} is not in {page}");
    }
    assert!(!page.contains("](#") && !page.contains("|---"), "{page}");
    assert!(said(&world, &["show", "text_delta"]).starts_with("TextDelta (type `text_delta`)"));
    assert!(said(&world, &["show", "toolResult"]).starts_with("ToolResultMessage (role"));
    assert!(said(&world, &["show", "done"]).contains("For readers only"));
    let dreb = said(&world, &["show", "message_update", "--wire", "dreb"]);
    assert!(dreb.starts_with("DrebMessageUpdateEvent (type"), "{dreb}");
    // A line with two forms shows both.
    let both = said(&world, &["show", "summarization_retry_attempt_start"]);
    assert!(
        both.contains("BranchSummaryEvent (") && both.contains("CompactionEvent ("),
        "{both}"
    );

    refused(
        &world,
        &["show", "mesage_update"],
        2,
        &["did you mean `message_update`"],
    );
    refused(&world, &["show", "xyzzy"], 2, &["quipu schema list"]);
    refused(
        &world,
        &["show", "stream_end", "--wire", "senpi"],
        2,
        &["these have: quipu"],
    );
    refused(
        &world,
        &["show", "done", "--format", "json"],
        2,
        &["try --open"],
    );
}

/// What `show --format json` prints stands by itself: it takes the examples of the type.
#[test]
fn show_as_json_schema() {
    let world = World::new();
    for name in [
        "message_update",
        "TextDelta",
        "toolResult",
        "background_agent_event",
        "QuipuEvent",
        "AgentMessage",
        "turn_start",
        "summarization_retry_attempt_start",
    ] {
        for mode in ["--strict", "--open"] {
            let schema = parsed(&said(&world, &["show", name, "--format", "json", mode]));
            let validator = jsonschema::validator_for(&schema).unwrap();
            for example in schema["examples"].as_array().into_iter().flatten() {
                assert!(validator.is_valid(example), "{name}: {example}");
            }
            assert!(!validator.is_valid(&json!({ "type": "nope" })), "{name}");
            assert!(!schema.to_string().contains("\"$ref\":\"#\""), "{name}");
        }
    }
    // What `--stamp` adds is no object by itself, so it is not closed.
    let stamp = parsed(&said(&world, &["show", "Stamp", "--format", "json"]));
    assert_eq!(stamp["required"], json!(["seq", "at"]));
    assert_eq!(stamp["additionalProperties"], Value::Null);
    let turn = parsed(&said(&world, &["show", "turn_start", "--format", "json"]));
    assert_eq!(turn["$defs"], json!({}));
}

#[test]
fn bundle() {
    let world = own();
    for name in ["quipu", "senpi", "dreb", "session"] {
        for mode in ["strict", "open"] {
            let flag = format!("--{mode}");
            let published =
                fs::read_to_string(package(&format!("generated/bundle/{name}.{mode}.json")));
            let published = published.unwrap();
            assert_eq!(said(&world, &["bundle", "--wire", name, &flag]), published);
            assert_eq!(
                said(
                    &world,
                    &["bundle", "--wire", name, &flag, "--dir", "schema"]
                ),
                published
            );
        }
    }
    let native = said(&world, &["bundle", "--wire", "quipu", "--strict"]);
    assert_eq!(said(&world, &["bundle"]), native);
    refused(
        &world,
        &["bundle", "--strict", "--open"],
        2,
        &["cannot be used with"],
    );
    refused(
        &world,
        &["bundle", "--dir", "nowhere"],
        2,
        &["nowhere cannot be read"],
    );

    let mine = foreign();
    let bundle = parsed(&said(&mine, &["bundle", "--dir", "mine"]));
    assert_eq!(
        bundle["$id"],
        "https://example.org/v2/bundle/radio.strict.json"
    );
    refused(
        &mine,
        &["bundle", "--dir", "mine", "--wire", "quipu"],
        2,
        &["there are radio"],
    );
    mine.file("mine/event/ping.json", "{");
    refused(
        &mine,
        &["bundle", "--dir", "mine"],
        1,
        &["is not JSON", "has mistakes"],
    );
}

#[test]
fn lint() {
    let world = own();
    assert!(said(&world, &["lint"]).starts_with("schema: no mistakes in version 1."));
    assert_eq!(said(&world, &["lint", "--format", "json"]), "[]\n");
    assert_eq!(said(&world, &["lint", "--format", "github"]), "");
    assert!(said(&foreign(), &["lint", "mine"]).ends_with("2 types, bundles radio\n"));

    edit(&world, "schema/event/turn_start.json", |file| {
        file["properties"]["type"]["pattern"] = "%".into();
    });
    let human = ended(&world, &["lint"], 1);
    assert!(
        human.starts_with("schema/event/turn_start.json: /properties/type/pattern: "),
        "{human}"
    );
    let problems = parsed(&ended(&world, &["lint", "--format", "json"], 1));
    assert_eq!(problems[0]["place"], "/properties/type/pattern");
    let github = ended(&world, &["lint", "--format", "github"], 1);
    assert!(
        github.starts_with("::error file=schema/event/turn_start.json::/properties"),
        "{github}"
    );
    world.file("schema/event/turn_end.json", "{\n  nonsense");
    let github = ended(&world, &["lint", "--format", "github"], 1);
    assert!(
        github.contains("turn_end.json,line=2,col=3::line 2, column 3"),
        "{github}"
    );

    // A folder that cannot be read is told of by name.
    fs::create_dir(world.work().join("schema/secret")).unwrap();
    let closed = fs::Permissions::from_mode(0o0);
    fs::set_permissions(world.work().join("schema/secret"), closed).unwrap();
    let run = world
        .bare()
        .args(["schema", "lint"])
        .without_privileges()
        .run();
    let text = String::from_utf8(run.stdout).unwrap();
    assert!(
        text.contains("schema/secret: folder: cannot be read (Permission denied"),
        "{text}"
    );

    let empty = World::new();
    refused(&empty, &["lint"], 2, &["schema cannot be read"]);
    empty.file("void/notes.txt", "");
    let nothing = ended(&empty, &["lint", "void"], 1);
    assert!(
        nothing.contains("there is no wire; add wire/<name>.json"),
        "{nothing}"
    );
    refused(&empty, &["lint", "void/notes.txt"], 2, &["is no folder"]);
}

#[test]
fn diff_of_folders() {
    let world = own();
    let released = package("schema/released/1.0.0");
    assert_eq!(
        said(&world, &["diff", "schema", "schema"]).lines().count(),
        1
    );
    let same = parsed(&said(
        &world,
        &["diff", &released, &released, "--format", "json"],
    ));
    assert_eq!(same["verdict"], "same");

    copy(&world.work().join("schema"), &world.work().join("next"));
    // An example that is wrong now stops nothing.
    edit(&world, "next/event/auto_retry_start.json", |file| {
        file["properties"]["hint"] =
            json!({ "type": "string", "description": "A hint. Absent without." });
        file["examples"][0]["nonsense"] = 1.into();
    });
    let small = ended(&world, &["diff", "schema", "next"], 1);
    assert!(small.contains("which is too small"), "{small}");
    world.file("next/VERSION", "1.1.0");
    world.file("schema/VERSION", "1.0.0");
    let minor = said(&world, &["diff", "schema", "next"]);
    assert!(
        minor.contains(
            "auto_retry_start (AutoRetryStartEvent) /properties/hint: optional field added"
        ),
        "{minor}"
    );
    assert!(
        minor.ends_with(": compatible. From version 1.0.0 to 1.1.0 is a minor step.\n"),
        "{minor}"
    );

    // Bundles without a grammar say nothing about the order, not that there is none.
    copy(Path::new(&released), &world.work().join("bundles"));
    fs::remove_file(world.work().join("bundles/grammar.json")).unwrap();
    for sides in [["bundles", &released], [&released, "bundles"]] {
        let text = said(&world, &["diff", sides[0], sides[1]]);
        assert!(
            text.ends_with("The order was not compared: bundles has no grammar.\n"),
            "{text}"
        );
        let found = parsed(&said(
            &world,
            &["diff", sides[0], sides[1], "--format", "json"],
        ));
        assert_eq!(
            (&found["orderCompared"], &found["changes"]),
            (&json!(false), &json!([]))
        );
    }
    assert_eq!(same["orderCompared"], true);

    // A pipe in a folder is not waited for.
    let pipe = world.work().join("bundles/pipe.open.json");
    let made = std::process::Command::new("mkfifo")
        .arg(pipe)
        .status()
        .unwrap();
    assert!(made.success());
    refused(
        &world,
        &["diff", "bundles", "schema"],
        2,
        &["pipe.open.json cannot be read", "no regular file"],
    );

    // The major version stands in every `$id`; without that the folder is no sound one.
    world.file("next/VERSION", "2.0.0");
    refused(
        &world,
        &["diff", "schema", "next"],
        2,
        &["next has mistakes", "/$id"],
    );
}

#[test]
fn diff_of_bundles() {
    let world = World::new();
    let bundle = |mode: &str| said(&world, &["bundle", mode]);
    let (strict, open) = (bundle("--strict"), bundle("--open"));
    world.file("strict.json", &strict).file("open.json", &open);
    let released = package("schema/released/1.0.0");
    for (old, new) in [
        ("strict.json", "open.json"),
        ("open.json", "strict.json"),
        ("open.json", &released),
    ] {
        let found = parsed(&said(&world, &["diff", old, new, "--format", "json"]));
        assert_eq!(found["changes"], json!([]), "{old} {new}");
        assert_eq!(found["step"], Value::Null);
    }
    let piped = |args: &[&str]| {
        world
            .bare()
            .arg("schema")
            .args(args.iter().copied())
            .input(strict.as_bytes())
            .run()
    };
    let run = piped(&["diff", "-", "open.json"]);
    assert_eq!(
        (run.code(), &*String::from_utf8_lossy(&run.stdout)),
        (
            0,
            "No changes. The order was not compared: neither has a grammar.\n"
        )
    );
    refused(
        &world,
        &["diff", "-", "-"],
        2,
        &["standard input can be one side only"],
    );

    let mut changed = parsed(&strict);
    changed["$defs"]["TextDelta"]["properties"]["delta"]["type"] = "integer".into();
    world.file("changed.json", changed.to_string());
    for old in ["strict.json", "open.json", &released] {
        let found = parsed(&ended(
            &world,
            &["diff", old, "changed.json", "--format", "json"],
            1,
        ));
        assert_eq!(found["verdict"], "breaking", "{found}");
        assert_eq!(found["changes"][0]["breaks"], "both");
        assert_eq!(found["changes"][0]["type"], "text_delta");
        assert_eq!(found["changes"][0]["reachedBy"], json!(["message_update"]));
    }
    changed["$defs"]["TextDelta"]["properties"]["delta"] =
        json!({ "type": "string", "pattern": "." });
    world.file("changed.json", changed.to_string());
    let found = ended(&world, &["diff", "strict.json", "changed.json"], 1);
    assert!(
        found.contains("undecided") && found.contains("people have to"),
        "{found}"
    );
}

#[test]
fn diff_of_what_is_no_schema() {
    let world = foreign();
    world.file("own.json", said(&world, &["bundle", "--dir", "mine"]));
    world
        .file("empty.json", "")
        .file("broken.json", "{")
        .file("list.json", "[]");
    world.file("other.json", r#"{"title": "X", "oneOf": []}"#);
    world.file(
        "lost.json",
        r##"{"title":"X","oneOf":[{"$ref":"#/$defs/Y"}],"$defs":{}}"##,
    );
    world.file("hollow.json", r#"{"title":"X","oneOf":[],"$defs":{}}"#);
    world.file("marked.json", "\u{feff}{}");
    world.file("void/notes.txt", "");
    let cases: [(&str, &str); 9] = [
        ("hollow.json", "`X` is a union without members"),
        ("marked.json", "marked.json starts with a byte order mark"),
        ("nowhere", "nowhere cannot be read"),
        ("empty.json", "empty.json is not JSON"),
        ("broken.json", "broken.json is not JSON"),
        ("list.json", "is no bundle: it has no `title`"),
        ("other.json", "is no bundle: it has no `$defs`"),
        ("lost.json", "refers to `#/$defs/Y`"),
        ("void", "void has mistakes"),
    ];
    for (input, words) in cases {
        refused(&world, &["diff", input, "mine"], 2, &[words]);
        refused(&world, &["diff", "mine", input], 2, &[words]);
    }
    assert!(said(&world, &["diff", "own.json", "mine"]).starts_with("No changes"));
    let native = package("schema/released/1.0.0/quipu.open.json");
    refused(
        &world,
        &["diff", &native, "mine"],
        2,
        &["mine has no `quipu`", "it has radio"],
    );
    refused(&world, &["diff", "mine"], 2, &["<NEW>"]);
}
