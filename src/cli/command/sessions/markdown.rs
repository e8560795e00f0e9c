//! The conversation of a session as Markdown.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

use serde_json::{Map, Value};

use crate::session::{SessionError, about, entries, first_line, text_of};

/// Why a conversation could not be written out.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unwritten {
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error(transparent)]
    Output(#[from] io::Error),
}

/// Writes what was said on the way to the end of the file, with the texts in full; branches that were
/// left are left out. One entry is in memory.
pub(super) fn write(file: &Path, out: &mut dyn Write) -> Result<(), Unwritten> {
    // The last name counts, wherever it stands, and it is the first line that is written.
    let about = about(file).map_err(|source| SessionError::Read {
        file: file.to_owned(),
        source,
    })?;
    let title = about.name.as_deref().unwrap_or("Session");
    writeln!(out, "# {title}\n")?;
    let mut text = String::new();
    for line in entries(file)? {
        let line = line?;
        let entry = &line.entry;
        let string = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default();
        match string("type") {
            "session" => {
                for (label, key) in [("Session", "id"), ("Begun", "timestamp"), ("Folder", "cwd")] {
                    let _ = writeln!(text, "- {label}: `{}`", first_line(string(key)));
                }
            }
            _ if line.on_path => add(&mut text, entry),
            _ => {}
        }
        out.write_all(text.as_bytes())?;
        text.clear();
    }
    Ok(())
}

fn add(body: &mut String, entry: &Map<String, Value>) {
    let string = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default();
    match string("type") {
        "message" => message(body, entry.get("message").unwrap_or(&Value::Null)),
        "model_change" => {
            let model = format!("{}/{}", string("provider"), string("modelId"));
            let _ = write!(body, "\n*Model: {}*\n", first_line(&model));
        }
        "thinking_level_change" => {
            let _ = write!(
                body,
                "\n*Thinking: {}*\n",
                first_line(string("thinkingLevel"))
            );
        }
        "compaction" => section(body, "Summary of what came before", string("summary")),
        "branch_summary" => section(body, "Summary of a branch that was left", string("summary")),
        "custom_message" => {
            let title = format!("Note ({})", first_line(string("customType")));
            section(
                body,
                &title,
                &content(entry.get("content").unwrap_or(&Value::Null)),
            );
        }
        _ => {}
    }
}

fn message(body: &mut String, message: &Value) {
    let string = |key: &str| message[key].as_str().unwrap_or_default();
    match string("role") {
        "user" => section(body, "User", &content(&message["content"])),
        "assistant" => answer(body, message),
        "toolResult" => {
            let failed = if message["isError"] == true {
                ", failed"
            } else {
                ""
            };
            let title = format!("Result of {}{failed}", first_line(string("toolName")));
            section(body, &title, "");
            fenced(body, "", &content(&message["content"]));
        }
        "bashExecution" => {
            section(body, "Command of the user", "");
            fenced(body, "sh", string("command"));
            fenced(body, "", string("output"));
        }
        role => {
            let title = first_line(role);
            section(body, &title, &content(&message["content"]));
        }
    }
}

fn answer(body: &mut String, message: &Value) {
    let model = message["model"].as_str().unwrap_or_default();
    section(body, &format!("Assistant ({})", first_line(model)), "");
    for block in message["content"].as_array().into_iter().flatten() {
        let string = |key: &str| block[key].as_str().unwrap_or_default();
        match string("type") {
            "text" => paragraph(body, string("text")),
            "thinking" => {
                let quoted: Vec<_> = string("thinking")
                    .lines()
                    .map(|line| format!("> {line}").trim_end().to_owned())
                    .collect();
                paragraph(body, &quoted.join("\n"));
            }
            "toolCall" => {
                let _ = write!(body, "\nCall of {}:\n", first_line(string("name")));
                let arguments = serde_json::to_string_pretty(&block["arguments"]);
                fenced(body, "json", &arguments.unwrap_or_default());
            }
            _ => {}
        }
    }
    if let Some(error) = message["errorMessage"].as_str() {
        let reason = message["stopReason"].as_str().unwrap_or_default();
        let _ = write!(body, "\n*{}: {}*\n", first_line(reason), first_line(error));
    }
}

/// The texts of a content, and a word for each image.
fn content(content: &Value) -> String {
    let mut text = text_of(content);
    for block in content.as_array().into_iter().flatten() {
        if block["type"] == "image" {
            let kind = block["mimeType"].as_str().unwrap_or_default();
            let _ = write!(text, "\n[image, {}]", first_line(kind));
        }
    }
    text
}

fn section(body: &mut String, title: &str, text: &str) {
    let _ = write!(body, "\n## {title}\n");
    paragraph(body, text);
}

fn paragraph(body: &mut String, text: &str) {
    let text = plain(text);
    if !text.trim().is_empty() {
        let _ = write!(body, "\n{}\n", text.trim_matches('\n').trim_end());
    }
}

/// A code block whose fence is longer than any in the text.
fn fenced(body: &mut String, language: &str, text: &str) {
    let text = plain(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(3.max(longest + 1));
    let _ = write!(body, "\n{fence}{language}\n{}\n{fence}\n", text.trim_end());
}

/// The text without what a terminal would obey.
fn plain(text: &str) -> String {
    let keep = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
    text.chars().filter(keep).collect()
}
