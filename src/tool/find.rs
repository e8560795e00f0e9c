//! `find`: paths by a glob.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::glob::Pattern;
use super::limit::{Limits, add_notes, higher};
use super::walk::{Front, Stop, Target};
use super::{InvalidArguments, Tool, ToolContext, ToolError, ToolFuture, ToolOutput};
use super::{arguments, reading};

/// Most paths when the call does not say.
const USUAL: u64 = 1000;

/// Most paths that a call can ask for; far more than the limits of a text let through.
const MOST: u64 = 10_000;

/// Arguments of `find`.
#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// Glob, such as '*.rs' (a name, at any depth) or 'src/**/*.test.ts' (a path, from the searched
    /// folder)
    pattern: String,
    /// Folder to search (default: the working directory)
    #[serde(default)]
    #[schemars(with = "String")]
    path: Option<String>,
    /// Most paths to return (default 1000)
    #[serde(default, deserialize_with = "arguments::ordinal")]
    #[schemars(with = "u64", range(min = 1))]
    limit: Option<u64>,
}

/// The tool `find`.
pub(super) struct Find;

impl Tool for Find {
    fn name(&self) -> &'static str {
        "find"
    }

    fn description(&self) -> &'static str {
        "Find files and folders by a glob. Returns sorted paths relative to the working directory, \
         folders with a slash at the end. Hidden files are found, files that .gitignore excludes \
         are not, unless path names an excluded folder. At most 1000 paths (or limit) or 50 KB."
    }

    fn parameters(&self) -> Value {
        arguments::schema::<Arguments>()
    }

    fn call(
        &self,
        args: &Map<String, Value>,
        ctx: ToolContext,
    ) -> Result<ToolFuture, InvalidArguments> {
        let args: Arguments = arguments::parse("find", args)?;
        Ok(Box::pin(async move {
            let cancel = ctx.cancel.clone();
            reading(&cancel, move |stop| {
                run(&args, &ctx, &Stop::new(stop), ctx.env.limits)
            })
            .await
        }))
    }
}

fn run(
    args: &Arguments,
    ctx: &ToolContext,
    stop: &Stop,
    limits: Limits,
) -> Result<ToolOutput, ToolError> {
    let given = args.path.as_deref().unwrap_or(".");
    let tree = match Target::find("search", &ctx.cwd, given)? {
        Target::Tree(tree) => tree,
        Target::File(_) => {
            return Err(ToolError::NotADirectory {
                action: "search",
                path: given.to_owned(),
                kind: "a regular file",
            });
        }
    };
    let pattern = Pattern::new(&args.pattern, tree.root())?;
    let asked = args.limit.unwrap_or(USUAL);
    let limit = usize::try_from(asked.min(MOST)).unwrap_or(usize::MAX);
    // One over the limit tells that there is more.
    let front = Front::new(limit, usize::MAX);
    let unreadable = tree.walk(stop, &front, || {
        |relative: &std::path::Path, entry: &ignore::DirEntry| {
            let is_folder = entry.file_type().is_some_and(|found| found.is_dir());
            if pattern.is_match(relative, is_folder) {
                front.take(relative, if is_folder { "/" } else { "" });
            }
        }
    });
    let late = stop.outcome()?;

    let mut finds = front.into_finds();
    let rows: Vec<_> = finds
        .by_ref()
        .take(limit)
        .map(|(relative, end)| tree.show(&relative) + end)
        .collect();
    let more = finds.next().is_some();
    let mut details = Map::new();
    let mut notes = Vec::new();
    let mut text = if rows.is_empty() {
        "No files found".to_owned()
    } else {
        rows.join("\n")
    };
    if more {
        details.insert("resultLimitReached".to_owned(), limit.into());
        let higher = higher(limit as u64, MOST);
        notes.push(format!(
            "There are more than {limit} results; use a narrower pattern or path{higher}"
        ));
    }
    if let Some(truncation) = limits.cut_rows(&mut text) {
        notes.push(truncation.note());
        details.insert("truncation".to_owned(), truncation.to_value());
    }
    notes.extend(late);
    if unreadable > 0 {
        notes.push(format!("Could not be read: {unreadable} folder(s)"));
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
    use serde_json::{Value, json};

    use super::Tool as _;
    use crate::tool::testing::Bench;

    async fn found(bench: &Bench, args: Value) -> String {
        let (text, details) = bench.ok("find", args).await;
        assert_eq!(details, None, "{text}");
        text
    }

    #[test]
    fn the_schema_is_what_a_model_needs() {
        let schema = super::Find.parameters();
        assert_eq!(schema["required"], json!(["pattern"]));
        let names: Vec<_> = schema["properties"].as_object().unwrap().keys().collect();
        assert_eq!(names, ["pattern", "path", "limit"]);
    }

    #[tokio::test]
    async fn paths_are_found_by_globs() {
        let bench = Bench::new();
        for name in [
            "main.rs",
            "src/lib.rs",
            "src/deep/a.ts",
            "src/deep/b.test.ts",
            "src.d/x.rs",
            ".hidden/h.rs",
            ".git/g.rs",
            "target/t.rs",
            "pkg/target/t.rs",
            "pkg/.gitignore",
            "pkg/lost/l.rs",
        ] {
            bench.put(name, "");
        }
        bench.put(".gitignore", "/target\nlost\n");
        bench.put("pkg/.gitignore", "!lost\n");
        for (args, expected) in [
            (
                json!({"pattern": "*.rs"}),
                ".hidden/h.rs main.rs pkg/lost/l.rs pkg/target/t.rs src/lib.rs src.d/x.rs",
            ),
            (
                json!({"pattern": "src/**/*.ts"}),
                "src/deep/a.ts src/deep/b.test.ts",
            ),
            (json!({"pattern": "deep"}), "src/deep/"),
            (json!({"pattern": "src*"}), "src/ src.d/"),
            (
                json!({"pattern": "*/"}),
                ".hidden/ pkg/ pkg/lost/ pkg/target/ src/ src/deep/ src.d/",
            ),
            (
                json!({"pattern": "*", "path": "src"}),
                "src/deep/ src/deep/a.ts src/deep/b.test.ts src/lib.rs",
            ),
            (json!({"pattern": "*.rs", "path": "target"}), "target/t.rs"),
            (
                json!({"pattern": "deep/*.ts", "path": "src"}),
                "src/deep/a.ts src/deep/b.test.ts",
            ),
        ] {
            let text = found(&bench, args.clone()).await;
            assert_eq!(text.replace('\n', " "), expected, "{args}");
        }
        assert_eq!(
            found(&bench, json!({"pattern": "*.py"})).await,
            "No files found"
        );
    }

    #[tokio::test]
    async fn what_is_no_file_is_listed_and_not_entered() {
        let bench = Bench::new();
        bench.put_traps();
        bench.put(OsStr::from_bytes(b"caf\xe9/two\nlines"), "");
        assert_eq!(
            found(&bench, json!({"pattern": "*"})).await,
            "caf\u{fffd}/\ncaf\u{fffd}/two\\nlines\ndangling\nfifo\nloop\nsocket\nzero"
        );
    }

    #[tokio::test]
    async fn the_first_results_are_the_same_every_time() {
        let bench = Bench::new();
        let mut paths: Vec<_> = (0..1200).map(|n| format!("d{}/f{n}", n % 11)).collect();
        for path in &paths {
            bench.put(path, "");
        }
        paths.sort();
        for _ in 0..5 {
            let (text, details) = bench.ok("find", json!({"pattern": "f*"})).await;
            let (shown, note) = text.split_once("\n\n").unwrap();
            assert_eq!(shown, paths[..1000].join("\n"));
            assert_eq!(
                note,
                "[There are more than 1000 results; use a narrower pattern or path, or limit=2000]"
            );
            assert_eq!(details, Some(json!({"resultLimitReached": 1000})));
        }
        let all = found(&bench, json!({"pattern": "f*", "limit": 1200})).await;
        assert_eq!(all, paths.join("\n"));
    }

    #[tokio::test]
    async fn the_text_is_bounded() {
        let bench = Bench::new();
        for n in 0..300 {
            bench.put(format!("{}{n}", "n".repeat(200)), "");
        }
        let (text, details) = bench.ok("find", json!({"pattern": "n*"})).await;
        assert!(text.ends_with("\n\n[Cut at 50.0KB]"), "{text}");
        let truncation = &details.unwrap()["truncation"];
        assert_eq!(truncation["totalLines"], 300);
        assert_eq!(truncation["truncatedBy"], "bytes");
    }

    #[tokio::test]
    async fn failures_are_explained() {
        let bench = Bench::new();
        bench.put("a.txt", "");
        bench.put("dir/b.txt", "");
        for (args, expected) in [
            (
                json!({"pattern": "a", "path": "none"}),
                "Cannot search none: no such file or directory (ENOENT)",
            ),
            (
                json!({"pattern": "a", "path": "a.txt"}),
                "Cannot search a.txt: it is a regular file, not a directory",
            ),
            (
                json!({"pattern": "[a"}),
                "\"[a\" is not a valid glob: unclosed character class; missing ']'",
            ),
        ] {
            assert_eq!(bench.error("find", args).await, expected);
        }
        if bench.lock("dir").is_some() {
            assert_eq!(
                found(&bench, json!({"pattern": "*"})).await,
                "a.txt\ndir/\n\n[Could not be read: 1 folder(s)]"
            );
        }
        bench.ctx.cancel.cancel();
        bench.error("find", json!({"pattern": "*"})).await;
    }
}
