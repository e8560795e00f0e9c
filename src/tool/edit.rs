//! `edit`: replaces parts of a text file.

use std::borrow::Cow;
use std::fs;
use std::path::Path;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::limit::size;
use super::matching::{Replacement, apply};
use super::{InvalidArguments, Tool, ToolContext, ToolError, ToolFuture, ToolOutput};
use super::{arguments, blocking, diff, file, path};

/// The largest file that is edited: it is held in memory a few times over.
const MOST: u64 = 64 << 20;

/// Arguments of `edit`.
#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// Path of the file, absolute or relative to the working directory
    path: String,
    /// Replacements, all matched against the original file; they must not overlap
    edits: Vec<Edits>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Edits {
    /// Text to replace: exactly as in the file and only once in it
    old_text: String,
    /// Text to put in its place
    new_text: String,
}

/// The tool `edit`.
pub(super) struct Edit;

impl Tool for Edit {
    fn name(&self) -> &'static str {
        "edit"
    }

    fn description(&self) -> &'static str {
        "Replace parts of a text file. Each oldText must equal a part of the file, blanks and line \
         breaks included, and be unique in it. Several changes to one file belong into one call: \
         all are matched against the original file, and either all are made or none."
    }

    fn parameters(&self) -> Value {
        arguments::schema::<Arguments>()
    }

    fn call(
        &self,
        args: &Map<String, Value>,
        ctx: ToolContext,
    ) -> Result<ToolFuture, InvalidArguments> {
        let args = in_full(args);
        let Arguments { path: shown, edits } = arguments::parse("edit", &args)?;
        let edits: Vec<_> = edits
            .into_iter()
            .map(
                |Edits {
                     old_text: old,
                     new_text: new,
                 }| Replacement { old, new },
            )
            .collect();
        Ok(Box::pin(async move {
            let (target, guard) = file::claim(&ctx, &shown).await?;
            blocking(move || {
                let _guard = guard; // until the file is written, even if nobody awaits it any more
                edit(&target, &shown, &edits, &ctx.cancel)
            })
            .await
        }))
    }
}

/// The other forms that models send, brought to `path` and `edits`: one edit without its array,
/// the array as a JSON string, or `oldText` and `newText` beside `path`.
fn in_full(args: &Map<String, Value>) -> Cow<'_, Map<String, Value>> {
    let mut edits = match args.get("edits") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(edits)) => edits.clone(),
        Some(edit @ Value::Object(_)) => vec![edit.clone()],
        Some(Value::String(text)) => match serde_json::from_str(text) {
            Ok(Value::Array(edits)) => edits,
            Ok(edit @ Value::Object(_)) => vec![edit],
            _ => return Cow::Borrowed(args),
        },
        Some(_) => return Cow::Borrowed(args),
    };
    let beside = ["oldText", "newText"].map(|key| (key, args.get(key)));
    if beside
        .iter()
        .any(|(_, value)| value.is_some_and(Value::is_string))
    {
        let edit = beside
            .into_iter()
            .filter_map(|(key, value)| Some((key.into(), value?.clone())));
        edits.push(Value::Object(edit.collect()));
    } else if edits.is_empty() && !args.contains_key("edits") {
        return Cow::Borrowed(args);
    }
    let mut args = args.clone();
    args.insert("edits".to_owned(), edits.into());
    Cow::Owned(args)
}

fn edit(
    target: &Path,
    shown: &str,
    edits: &[Replacement],
    cancel: &CancellationToken,
) -> Result<ToolOutput, ToolError> {
    let io = |error| ToolError::io("edit", shown)(error);
    let found = target.metadata().map_err(io)?;
    path::require_file("edit", shown, &found)?;
    if found.len() > MOST {
        let (size, most) = (size(found.len()), size(MOST));
        return Err(ToolError::TooLarge {
            path: shown.to_owned(),
            size,
            most,
        });
    }
    let old = String::from_utf8(fs::read(target).map_err(io)?).map_err(|_| ToolError::Binary {
        path: shown.to_owned(),
        why: "it is not valid UTF-8",
    })?;
    let new = apply(shown, &old, edits)?;
    if cancel.is_cancelled() {
        return Err(ToolError::Aborted);
    }
    file::replace(target, new.as_bytes()).map_err(io)?;

    let mut details = Map::new();
    if let Some(diff) = diff::numbered(&old, &new) {
        details.insert("diff".to_owned(), diff.into());
    }
    if let Some(patch) = diff::patch(shown, shown, &old, &new) {
        details.insert("patch".to_owned(), patch.into());
    }
    details.insert(
        "firstChangedLine".to_owned(),
        first_changed_line(&old, &new).into(),
    );
    let text = match edits.len() {
        1 => format!("Replaced 1 block in {shown}."),
        n => format!("Replaced {n} blocks in {shown}."),
    };
    Ok(ToolOutput::text(text, Some(details.into())))
}

/// The first line, from 1, in which the texts differ.
fn first_changed_line(old: &str, new: &str) -> usize {
    let same = old.bytes().zip(new.bytes()).take_while(|(a, b)| a == b);
    same.filter(|(byte, _)| *byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use pretty_assertions::assert_eq;
    use serde_json::{Value, json};

    use super::super::testing::Bench;
    use super::Tool;

    #[test]
    fn the_schema_is_what_a_model_needs() {
        assert_eq!(
            super::Edit.parameters(),
            json!({
                "type": "object",
                "properties": {
                    "path": {
                        "description": "Path of the file, absolute or relative to the working directory",
                        "type": "string"
                    },
                    "edits": {
                        "description": "Replacements, all matched against the original file; they must not overlap",
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {
                                "oldText": {
                                    "description": "Text to replace: exactly as in the file and only once in it",
                                    "type": "string"
                                },
                                "newText": {
                                    "description": "Text to put in its place",
                                    "type": "string"
                                }
                            },
                            "required": ["oldText", "newText"]
                        }
                    }
                },
                "required": ["path", "edits"]
            })
        );
    }

    #[tokio::test]
    async fn an_edit_is_made_and_told() {
        let bench = Bench::new();
        bench.put(
            "app.py",
            "def greet(name):\n    return \"hello \" + name\n\n\nprint(greet(\"w\"))\n",
        );
        let edits = json!([{"oldText": "\"hello \"", "newText": "\"good day, \""}]);
        let (text, details) = bench
            .ok("edit", json!({"path": "app.py", "edits": edits}))
            .await;
        assert_eq!(text, "Replaced 1 block in app.py.");
        assert_eq!(
            details.unwrap(),
            json!({
                "diff": " 1 def greet(name):\n-2     return \"hello \" + name\n+2     return \"good day, \" + name\n 3 \n 4 \n 5 print(greet(\"w\"))",
                "patch": "--- app.py\n+++ app.py\n@@ -1,5 +1,5 @@\n def greet(name):\n-    return \"hello \" + name\n+    return \"good day, \" + name\n \n \n print(greet(\"w\"))\n",
                "firstChangedLine": 2
            })
        );
        assert!(bench.get("app.py").contains("good day"));
    }

    #[tokio::test]
    async fn other_forms_of_the_arguments_work() {
        let one = json!({"oldText": "a", "newText": "x"});
        let two = json!([{"oldText": "a", "newText": "x"}, {"oldText": "b", "newText": "y"}]);
        for (mut args, expected) in [
            (one.clone(), "x b"),
            (json!({"edits": one}), "x b"),
            (json!({"edits": one.to_string()}), "x b"),
            (json!({"edits": two.to_string()}), "x y"),
            (
                json!({"edits": [two[1]], "oldText": "a", "newText": "x"}),
                "x y",
            ),
        ] {
            let bench = Bench::new();
            bench.put("f", "a b");
            args["path"] = "f".into();
            bench.ok("edit", args.clone()).await;
            assert_eq!(bench.get("f"), expected, "{args}");
        }
    }

    #[tokio::test]
    async fn wrong_arguments_are_told_by_field() {
        let bench = Bench::new();
        bench.put("f", "a");
        for (args, part) in [
            (json!({"path": "f"}), "missing field `edits`"),
            (
                json!({"path": "f", "oldText": "a"}),
                "edits[0]: missing field `newText`",
            ),
            (
                json!({"path": "f", "edits": [{"oldText": 1, "newText": "x"}]}),
                "edits[0].oldText: invalid type: integer `1`, expected a string",
            ),
            (
                json!({"path": "f", "edits": "no json"}),
                "edits: invalid type: string \"no json\"",
            ),
            (json!({"path": "f", "edits": []}), "edits is empty"),
        ] {
            let text = bench.error("edit", args.clone()).await;
            assert!(text.contains(part), "{args}: {text}");
        }
    }

    #[tokio::test]
    async fn a_failed_edit_leaves_the_file_alone() {
        let bench = Bench::new();
        bench.put("f", "a b b");
        let edits = json!([{"oldText": "a", "newText": "x"}, {"oldText": "b", "newText": "y"}]);
        let text = bench
            .error("edit", json!({"path": "f", "edits": edits}))
            .await;
        assert!(
            text.starts_with("edits[1]: oldText occurs 2 times in f."),
            "{text}"
        );
        assert_eq!(bench.get("f"), "a b b");
        bench.put("latin1", b"caf\xe9 a");
        for (path, part) in [
            (
                "missing",
                "Cannot edit missing: no such file or directory (ENOENT)",
            ),
            (".", "Cannot edit .: it is a directory"),
            ("/dev/null", "Cannot edit /dev/null: it is a device"),
            (
                "latin1",
                "latin1 looks like a binary file (it is not valid UTF-8)",
            ),
        ] {
            let text = bench
                .error(
                    "edit",
                    json!({"path": path, "oldText": "a", "newText": "b"}),
                )
                .await;
            assert!(text.starts_with(part), "{text}");
        }
        bench.ctx.cancel.cancel();
        bench
            .error("edit", json!({"path": "f", "oldText": "a", "newText": "x"}))
            .await;
        assert_eq!(bench.get("f"), "a b b");
    }

    #[tokio::test]
    async fn a_link_stays_and_crlf_stays() {
        let bench = Bench::new();
        bench.put("real", "a\r\nb\r\n");
        symlink("real", bench.path().join("link")).unwrap();
        bench
            .ok(
                "edit",
                json!({"path": "link", "oldText": "a\nb", "newText": "x\ny"}),
            )
            .await;
        assert_eq!(bench.get("real"), "x\r\ny\r\n");
        assert!(
            bench
                .path()
                .join("link")
                .symlink_metadata()
                .unwrap()
                .is_symlink()
        );
    }

    #[tokio::test]
    async fn edits_of_one_file_at_one_time_all_count() {
        let bench = Bench::new();
        let words: Vec<_> = (10..40).map(|n| format!("w{n}")).collect();
        bench.put("real", words.join(" "));
        symlink("real", bench.path().join("link")).unwrap();
        let calls = words.iter().enumerate().map(|(n, word)| {
            let path = if n % 2 == 0 { "real" } else { "./link" };
            let args: Value = json!({"path": path, "oldText": word, "newText": format!("done{n}")});
            let work = super::Edit
                .call(args.as_object().unwrap(), bench.ctx.clone())
                .unwrap();
            tokio::spawn(work)
        });
        for call in calls.collect::<Vec<_>>() {
            call.await.unwrap().unwrap();
        }
        let expected: Vec<_> = (0..words.len()).map(|n| format!("done{n}")).collect();
        assert_eq!(bench.get("real"), expected.join(" "));
    }
}
