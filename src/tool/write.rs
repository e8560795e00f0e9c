//! `write`: puts a whole file in place.

use std::fs::{self, Metadata};
use std::io;
use std::path::Path;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::{InvalidArguments, Tool, ToolContext, ToolError, ToolFuture, ToolOutput};
use super::{arguments, blocking, diff, file, path};

/// Arguments of `write`.
#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// Path of the file, absolute or relative to the working directory
    path: String,
    /// The whole text of the file
    content: String,
}

/// The tool `write`.
pub(super) struct Write;

impl Tool for Write {
    fn name(&self) -> &'static str {
        "write"
    }

    fn description(&self) -> &'static str {
        "Write a whole file; missing folders are made, and a file that is there is replaced. For \
         changes to a part of a file use edit."
    }

    fn parameters(&self) -> Value {
        arguments::schema::<Arguments>()
    }

    fn call(
        &self,
        args: &Map<String, Value>,
        ctx: ToolContext,
    ) -> Result<ToolFuture, InvalidArguments> {
        let Arguments {
            path: shown,
            content,
        } = arguments::parse("write", args)?;
        Ok(Box::pin(async move {
            let (target, guard) = file::claim(&ctx, &shown).await?;
            blocking(move || {
                let _guard = guard; // until the file is written, even if nobody awaits it any more
                write(&target, &shown, &content, &ctx.cancel)
            })
            .await
        }))
    }
}

fn write(
    target: &Path,
    shown: &str,
    content: &str,
    cancel: &CancellationToken,
) -> Result<ToolOutput, ToolError> {
    let io = |error| ToolError::io("write", shown)(error);
    let found = match target.metadata() {
        Ok(found) => Some(found),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(io(error)),
    };
    if let Some(found) = &found {
        path::require_file("write", shown, found)?;
    }
    let old = found.as_ref().and_then(|found| old_text(target, found));
    if cancel.is_cancelled() {
        return Err(ToolError::Aborted);
    }
    if let Some(folder) = target.parent() {
        fs::create_dir_all(folder).map_err(io)?;
    }
    file::replace(target, content.as_bytes()).map_err(io)?;

    let details = match (&found, &old) {
        (None, _) => Some(details("add", "/dev/null", shown, "", content)),
        (Some(_), Some(old)) if old == content => None,
        (Some(_), Some(old)) => Some(details("update", shown, shown, old, content)),
        (Some(_), None) => None,
    };
    let text = format!("Wrote {} bytes to {shown}", content.len());
    Ok(ToolOutput::text(text, details))
}

/// The file's text, if it is one and not too long to compare.
fn old_text(target: &Path, found: &Metadata) -> Option<String> {
    if found.len() > diff::MOST_COMPARED as u64 {
        return None;
    }
    let text = String::from_utf8(fs::read(target).ok()?).ok()?;
    (!text.contains('\0')).then_some(text)
}

fn details(operation: &str, old_path: &str, new_path: &str, old: &str, new: &str) -> Value {
    let mut details = json!({ "operation": operation });
    if let Some(patch) = diff::patch(old_path, new_path, old, new) {
        details["patch"] = patch.into();
    }
    details
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::super::testing::Bench;
    use super::Tool;

    #[test]
    fn the_schema_is_what_a_model_needs() {
        assert_eq!(
            super::Write.parameters(),
            json!({
                "type": "object",
                "properties": {
                    "path": {
                        "description": "Path of the file, absolute or relative to the working directory",
                        "type": "string"
                    },
                    "content": {"description": "The whole text of the file", "type": "string"}
                },
                "required": ["path", "content"]
            })
        );
    }

    #[tokio::test]
    async fn a_new_file_gets_its_folders() {
        let bench = Bench::new();
        let content = "line one\nline two é中\n";
        let args = json!({"path": "new/dir/out.txt", "content": content});
        let (text, details) = bench.ok("write", args).await;
        assert_eq!(text, "Wrote 24 bytes to new/dir/out.txt");
        assert_eq!(
            details.unwrap(),
            json!({
                "operation": "add",
                "patch": "--- /dev/null\n+++ new/dir/out.txt\n@@ -0,0 +1,2 @@\n+line one\n+line two é中\n"
            })
        );
        assert_eq!(bench.get("new/dir/out.txt"), content);
    }

    #[tokio::test]
    async fn an_old_file_is_replaced() {
        let bench = Bench::new();
        bench.put("f", "a\nb\n");
        let (_, details) = bench
            .ok("write", json!({"path": "f", "content": "a\nc"}))
            .await;
        assert_eq!(
            details.unwrap(),
            json!({
                "operation": "update",
                "patch": "--- f\n+++ f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n\\ No newline at end of file\n"
            })
        );
        assert_eq!(bench.get("f"), "a\nc");
        let (_, details) = bench
            .ok("write", json!({"path": "f", "content": "a\nc"}))
            .await;
        assert_eq!(details, None);
        bench.put("f", b"\xff\0");
        let (text, details) = bench.ok("write", json!({"path": "f", "content": ""})).await;
        assert_eq!((text.as_str(), details), ("Wrote 0 bytes to f", None));
        assert_eq!(bench.get("f"), "");
    }

    #[tokio::test]
    async fn a_long_patch_is_left_out() {
        let bench = Bench::new();
        let content = "x\n".repeat(100_000);
        let (_, details) = bench
            .ok("write", json!({"path": "f", "content": content}))
            .await;
        assert_eq!(details.unwrap(), json!({"operation": "add"}));
        assert_eq!(bench.get("f"), content);
    }

    #[tokio::test]
    async fn only_regular_files_are_replaced() {
        let bench = Bench::new();
        bench.put("file", "");
        std::os::unix::fs::symlink("loop", bench.path().join("loop")).unwrap();
        for (path, part) in [
            (".", "Cannot write .: it is a directory"),
            ("/dev/null", "Cannot write /dev/null: it is a device"),
            (
                "file/below",
                "Cannot write file/below: a part of the path is not a directory",
            ),
            ("loop", "Cannot write loop: "),
        ] {
            let text = bench
                .error("write", json!({"path": path, "content": "x"}))
                .await;
            assert!(text.starts_with(part), "{text}");
        }
        bench.ctx.cancel.cancel();
        bench
            .error("write", json!({"path": "never", "content": "x"}))
            .await;
        assert!(!bench.path().join("never").exists());
    }
}
