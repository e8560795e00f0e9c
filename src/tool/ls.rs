//! `ls`: the names in a folder.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::limit::{Limits, add_notes, higher};
use super::{InvalidArguments, Tool, ToolContext, ToolError, ToolFuture, ToolOutput};
use super::{arguments, path, reading};

/// Most entries when the call does not say.
const USUAL: u64 = 500;

/// Most entries that a call can ask for; far more than the limits of a text let through.
const MOST: u64 = 10_000;

/// Arguments of `ls`.
#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// Folder to list (default: the working directory)
    #[serde(default)]
    #[schemars(with = "String")]
    path: Option<String>,
    /// Most entries to return (default 500)
    #[serde(default, deserialize_with = "arguments::ordinal")]
    #[schemars(with = "u64", range(min = 1))]
    limit: Option<u64>,
}

/// The tool `ls`.
pub(super) struct Ls;

impl Tool for Ls {
    fn name(&self) -> &'static str {
        "ls"
    }

    fn description(&self) -> &'static str {
        "List a folder: its names in alphabetical order, hidden ones included, folders with a slash \
         at the end. At most 500 entries (or limit) or 50 KB."
    }

    fn parameters(&self) -> Value {
        arguments::schema::<Arguments>()
    }

    fn call(
        &self,
        args: &Map<String, Value>,
        ctx: ToolContext,
    ) -> Result<ToolFuture, InvalidArguments> {
        let args: Arguments = arguments::parse("ls", args)?;
        Ok(Box::pin(async move {
            let cancel = ctx.cancel.clone();
            reading(&cancel, move |stop| {
                let given = args.path.as_deref().unwrap_or(".");
                let asked = args.limit.unwrap_or(USUAL);
                let limit = usize::try_from(asked.min(MOST)).unwrap_or(usize::MAX);
                list(&ctx.cwd, given, limit, ctx.env.limits, &stop)
            })
            .await
        }))
    }
}

fn list(
    cwd: &Path,
    given: &str,
    limit: usize,
    limits: Limits,
    stop: &CancellationToken,
) -> Result<ToolOutput, ToolError> {
    let io = |error| ToolError::io("list", given)(error);
    let folder = path::resolve(cwd, given);
    let found = folder.metadata().map_err(io)?;
    if !found.is_dir() {
        return Err(ToolError::NotADirectory {
            action: "list",
            path: given.to_owned(),
            kind: path::kind(found.file_type()),
        });
    }
    // Only the first names are kept: a folder may hold millions.
    let mut names: BTreeSet<(String, OsString)> = BTreeSet::new();
    let mut total = 0_u64;
    for entry in folder.read_dir().map_err(io)? {
        if stop.is_cancelled() {
            return Err(ToolError::Aborted);
        }
        let name = entry.map_err(io)?.file_name();
        names.insert((name.to_string_lossy().to_lowercase(), name));
        total += 1;
        if names.len() > limit {
            names.pop_last();
        }
    }
    let rows: Vec<_> = names
        .iter()
        .map(|(_, name)| {
            // What cannot be looked at (a link to nowhere) is listed all the same.
            let is_folder = folder.join(name).metadata().is_ok_and(|at| at.is_dir());
            path::show(Path::new(name)) + if is_folder { "/" } else { "" }
        })
        .collect();
    let mut details = Map::new();
    let mut notes = Vec::new();
    let mut text = if rows.is_empty() {
        "(empty directory)".to_owned()
    } else {
        rows.join("\n")
    };
    if total > limit as u64 {
        details.insert("entryLimitReached".to_owned(), limit.into());
        let higher = higher(limit as u64, MOST);
        notes.push(format!(
            "These are {limit} of {total} entries; use find{higher} for others"
        ));
    }
    if let Some(truncation) = limits.cut_rows(&mut text) {
        notes.push(truncation.note());
        details.insert("truncation".to_owned(), truncation.to_value());
    }
    add_notes(&mut text, &notes);
    let details = (!details.is_empty()).then_some(Value::Object(details));
    Ok(ToolOutput::text(text, details))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::Tool as _;
    use crate::tool::testing::Bench;

    #[test]
    fn the_schema_is_what_a_model_needs() {
        let schema = super::Ls.parameters();
        assert_eq!(schema.get("required"), None);
        let names: Vec<_> = schema["properties"].as_object().unwrap().keys().collect();
        assert_eq!(names, ["path", "limit"]);
    }

    #[tokio::test]
    async fn all_names_are_listed_in_order() {
        let bench = Bench::new();
        for name in ["b.txt", "A.txt", "c/x", ".git/x", "É", "target/x", "C.txt"] {
            bench.put(name, "");
        }
        bench.put(".gitignore", "target");
        bench.put(OsStr::from_bytes(b"d\xff\n"), "");
        bench.put_traps();
        let expected = [
            ".git/",
            ".gitignore",
            "A.txt",
            "b.txt",
            "c/",
            "C.txt",
            "dangling",
            "d\u{fffd}\\n",
            "fifo",
            "loop/",
            "socket",
            "target/",
            "zero",
            "É",
        ];
        let got = bench.ok("ls", json!({})).await;
        assert_eq!(got, (expected.join("\n"), None));
        let got = bench.ok("ls", json!({"path": "c/"})).await;
        assert_eq!(got, ("x".to_owned(), None));
        std::fs::create_dir(bench.path().join("empty")).unwrap();
        let got = bench.ok("ls", json!({"path": "empty"})).await;
        assert_eq!(got, ("(empty directory)".to_owned(), None));
    }

    #[tokio::test]
    async fn long_lists_are_cut() {
        let bench = Bench::new();
        let names: Vec<_> = (0..501).map(|n| format!("f{n:03}")).collect();
        for name in &names {
            bench.put(name, "");
        }
        let (text, details) = bench.ok("ls", json!({})).await;
        let note = "\n\n[These are 500 of 501 entries; use find, or limit=1000 for others]";
        assert_eq!(text, names[..500].join("\n") + note);
        assert_eq!(details, Some(json!({"entryLimitReached": 500})));
        let got = bench.ok("ls", json!({"limit": "501"})).await;
        assert_eq!(got, (names.join("\n"), None));

        for n in 0..300 {
            bench.put(format!("{}{n}", "n".repeat(200)), "");
        }
        let (text, details) = bench.ok("ls", json!({"limit": 1000})).await;
        assert!(text.ends_with("\n\n[Cut at 50.0KB]"), "{text}");
        assert_eq!(details.unwrap()["truncation"]["totalLines"], 801);
    }

    #[tokio::test]
    async fn failures_are_explained() {
        let bench = Bench::new();
        bench.put("a.txt", "");
        bench.put("dir/b.txt", "");
        bench.put_traps();
        for (path, expected) in [
            (
                "none",
                "Cannot list none: no such file or directory (ENOENT)",
            ),
            (
                "a.txt",
                "Cannot list a.txt: it is a regular file, not a directory",
            ),
            (
                "fifo",
                "Cannot list fifo: it is a named pipe, not a directory",
            ),
            (
                "/dev/null",
                "Cannot list /dev/null: it is a device, not a directory",
            ),
        ] {
            assert_eq!(bench.error("ls", json!({"path": path})).await, expected);
        }
        if bench.lock("dir").is_some() {
            assert_eq!(
                bench.error("ls", json!({"path": "dir"})).await,
                "Cannot list dir: permission denied (EACCES)"
            );
        }
        bench.ctx.cancel.cancel();
        bench.error("ls", json!({})).await;
    }
}
