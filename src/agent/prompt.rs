//! The system prompt: who the model is, what it can call, where it works.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use crate::tool::Tool;

/// Builds the system prompt from the tools and the working directory.
///
/// `custom` takes the place of the introduction and the guidance; `append` follows at the end. The
/// working directory and the tool list are always there.
#[must_use]
pub fn system_prompt(
    tools: &[Arc<dyn Tool>],
    cwd: &Path,
    custom: Option<&str>,
    append: &[String],
) -> String {
    let mut prompt = String::new();
    match custom {
        Some(custom) => prompt.push_str(custom.trim_end()),
        None => prompt.push_str(INTRODUCTION),
    }
    prompt.push_str("\n\n");
    if tools.is_empty() {
        prompt.push_str("You have no tools in this session: answer from the conversation alone.\n");
    } else {
        prompt.push_str("Tools you can call:\n");
        for tool in tools {
            let summary = tool.description().split(['\n']).next().unwrap_or_default();
            let _ = writeln!(prompt, "- {}: {summary}", tool.name());
        }
        if custom.is_none() {
            prompt.push_str(GUIDANCE);
        }
    }
    let _ = write!(prompt, "\nWorking directory: {}\n", cwd.display());
    for text in append {
        let _ = write!(prompt, "\n{}\n", text.trim_end());
    }
    prompt
}

const INTRODUCTION: &str = "\
You are Quipu, a coding agent. You work on the user's files through tools and report what you found or \
did. Nobody can answer questions while you work, so make reasonable choices, say which, and finish the \
task.";

const GUIDANCE: &str = "
How to work:
- Look before you change: read a file before you edit it.
- Prefer small, exact edits over rewriting whole files.
- Calls that do not depend on each other may go into one answer; they run side by side.
- When a call fails, read its message and correct the call instead of repeating it.
- Say what is true: if a command failed or you did not check something, tell so.
- Keep the final answer short; name files by their path.
";
