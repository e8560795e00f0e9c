//! `docs/compaction.md`: what streams look like around compactions, made from the snapshots that runs
//! of the program are held against.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Map, Value, json};

#[path = "../suite/compaction_cases.rs"]
mod compaction_cases;

use compaction_cases::CASES;

const HEAD: &str = "<!-- Made from tests/suite/ by `UPDATE=1 cargo test --test codegen`. Do not edit. -->

# Compaction in streams

When a conversation grows too long for the model, a summary takes the place of its older part. Each case below \
is the stream of a run of the program, which the tests compare line by line (`tests/suite/snapshots/`). Shown are the \
lines of the native wire and of the dreb wire without their deltas; `…` stands for what is left out, and each \
`usage` is put in words. The senpi wire \
has the native lines, but for `requestId` on `compaction_start`, `usage` on `compaction_end`, and `stream_end`.

A summary is asked for with the settings of the conversation, but with no more than medium thought and without tools. \
It streams: the `delta`s of the `compaction_progress` lines make the `summary` of the result, file lists included. \
All of its requests count in `stream_end.usage` and for `--max-cost`. It may have 4/5 of the reserve (1/2 for the \
beginning of a turn), but at least 2048 (1024) tokens, or a quarter of the window if that is less; one of less than 10 \
characters is a failure. If the service says that the text for it is too long, half of the text is asked about, and so on. Keys \
that are known are taken out of what an earlier summary and stored calls bring into it.

What the service has not counted yet is estimated: a token for each four characters, 1200 for an image. Where the \
service has counted more for the input of its last answer than that comes to, estimates are raised by this factor, up \
to a token for each character. So is `estimatedTokensAfter`.
";

/// Lines of a stream that are shown; of a longer one the end.
const LONGEST: usize = 60;

/// The page.
pub(crate) fn page() -> String {
    let mut page = HEAD.to_owned();
    for (name, title, text) in CASES {
        let _ = write!(
            page,
            "\n## {title}\n\n{text}\n\n```json\n{}```\n",
            lines("", name)
        );
        let dreb = lines("dreb", name);
        let _ = write!(
            page,
            "\n<details><summary>on the dreb wire</summary>\n\n```json\n{dreb}```\n\n</details>\n"
        );
    }
    page
}

/// The lines of a snapshot, in short.
fn lines(wire: &str, name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/snapshots");
    let path = path.join(wire).join(format!("{name}.snap"));
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut shown = String::new();
    let mut updates = false;
    for line in text.lines().filter(|line| line.starts_with('{')) {
        let mut line: Value = serde_json::from_str(line).unwrap();
        let update = line["type"] == "message_update";
        if !update {
            shorten(&mut line);
            let _ = writeln!(shown, "{}", line.to_string().replace("\"…\"", "…"));
        } else if !updates {
            shown.push_str("…\n");
        }
        updates = update;
    }
    let count = shown.lines().count();
    if count <= LONGEST {
        return shown;
    }
    let rest = shown.lines().skip(count - LONGEST / 2);
    rest.fold("…\n".to_owned(), |text, line| text + line + "\n")
}

/// Leaves out what a case is not about.
fn shorten(line: &mut Value) {
    let Some(fields) = line.as_object_mut() else {
        return;
    };
    if fields["type"] == "session" {
        *fields = Map::from_iter([
            ("type".to_owned(), json!("session")),
            ("version".to_owned(), json!(3)),
        ]);
        return;
    }
    for (name, value) in fields.iter_mut() {
        match (name.as_str(), &mut *value) {
            ("message", Value::Object(message)) => self::message(message),
            ("messages" | "toolResults", Value::Array(list)) if !list.is_empty() => {
                *value = json!(["…"]);
            }
            ("args" | "partialResult", _) => *value = "…".into(),
            ("result", Value::Object(result)) if result.contains_key("content") => {
                *value = "…".into();
            }
            _ => {}
        }
    }
}

/// Of a message what it is and how it ended; its text if that is short.
fn message(message: &mut Map<String, Value>) {
    message.retain(|name, _| {
        matches!(
            name.as_str(),
            "role" | "content" | "stopReason" | "errorMessage"
        )
    });
    let content = &mut message["content"];
    if content.to_string().chars().count() > 80 {
        *content = json!(["…"]);
    }
}
