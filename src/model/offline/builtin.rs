//! The built-in script: it lists, reads, searches or runs what the prompt asks for, with the real
//! tools, and then tells what they really returned.

use serde_json::{Value, json};

use super::play::{self, Answer};
use super::script::{Block, Step, Usage};
use crate::event::{AgentMessage, AssistantContent, InputContent, ToolResultMessage, UserContent};
use crate::model::{ModelRequest, estimate_tokens, request_chars};

/// Longest quotation of what a tool returned.
const MAX_LINES: usize = 60;
const MAX_CHARS: usize = 4000;

const ABOUT: &str = "I am the offline model that is built into Quipu. I am a small script, not a \
    language model: I cannot reason or write code. I can list files (\"list the files here\"), read \
    one (\"read README.md\"), search (\"search for TODO\") and run a command (\"run `ls -la`\"); \
    the tools that I call for that are real. For anything else choose a real model with --model.";

/// What to do about the prompt.
#[derive(Debug, PartialEq)]
enum Wish {
    List,
    Read(String),
    Search(String),
    Run(String),
    Other,
}

/// The answer to the conversation so far.
pub(super) fn answer(request: &ModelRequest) -> Answer {
    let results = latest_results(&request.messages);
    let blocks = if results.is_empty() {
        let wish = wish(&latest_prompt(&request.messages));
        let calls = calls_so_far(&request.messages);
        act(&wish, calls + 1, &|tool| {
            request.tools.iter().any(|spec| spec.name == tool)
        })
    } else {
        vec![Block::text(&report(&request.messages, &results))]
    };
    let step = Step {
        blocks: Some(blocks),
        usage: Some(Usage {
            input: Some(estimate_tokens(request_chars(request)).max(1)),
            ..Usage::default()
        }),
        chunk: Some(24),
        ..Step::default()
    };
    let answers = request
        .messages
        .iter()
        .filter(|m| matches!(m, AgentMessage::Assistant(_)));
    play::answer(step, answers.count() as u64 + 1)
}

fn latest_prompt(messages: &[AgentMessage]) -> String {
    let prompt = |message: &AgentMessage| match message {
        AgentMessage::User(user) => Some(match &user.content {
            UserContent::String(text) => text.clone(),
            UserContent::Array(blocks) => text_of(blocks),
        }),
        _ => None,
    };
    messages.iter().rev().find_map(prompt).unwrap_or_default()
}

fn text_of(blocks: &[InputContent]) -> String {
    let text = |block: &InputContent| match block {
        InputContent::Text(text) => text.text.clone(),
        InputContent::Image(image) => format!("[{} image]", image.mime_type),
    };
    blocks.iter().map(text).collect::<Vec<_>>().join("\n")
}

/// The results that came after the latest answer, oldest first, unless the user has spoken since.
fn latest_results<'a>(messages: &'a [AgentMessage]) -> Vec<&'a ToolResultMessage> {
    let result = |message: &'a AgentMessage| match message {
        AgentMessage::ToolResult(result) => Some(result),
        _ => None,
    };
    let mut results: Vec<_> = messages.iter().rev().map_while(result).collect();
    results.reverse();
    results
}

fn tool_calls(messages: &[AgentMessage]) -> impl DoubleEndedIterator<Item = (&str, String)> {
    messages.iter().flat_map(|message| {
        let content = match message {
            AgentMessage::Assistant(answer) => answer.content.as_slice(),
            _ => &[],
        };
        content.iter().filter_map(|block| match block {
            AssistantContent::ToolCall(call) => {
                let args = &call.arguments;
                let shown = ["command", "path", "pattern"]
                    .iter()
                    .find_map(|key| args.get(*key));
                let shown = shown.and_then(Value::as_str).unwrap_or_default();
                Some((
                    call.id.as_str(),
                    format!("{} {shown}", call.name).trim_end().to_owned(),
                ))
            }
            AssistantContent::Text(_) | AssistantContent::Thinking(_) => None,
        })
    })
}

fn calls_so_far(messages: &[AgentMessage]) -> usize {
    tool_calls(messages).count()
}

/// The blocks that do it: a sentence, and a call of a tool that is on offer.
fn act(wish: &Wish, number: usize, has: &dyn Fn(&str) -> bool) -> Vec<Block> {
    let exclude = "--exclude-dir=.git --exclude-dir=target --exclude-dir=node_modules";
    let candidates: Vec<(&str, Value)> = match wish {
        Wish::Other => return vec![Block::text(ABOUT)],
        Wish::List => vec![("bash", json!({"command": "ls -la"})), ("ls", json!({}))],
        Wish::Read(path) => vec![
            ("read", json!({"path": path})),
            (
                "bash",
                json!({"command": format!("cat -- {}", quoted(path))}),
            ),
        ],
        Wish::Search(word) => {
            let quoted = quoted(word);
            let command = format!("grep -rnI {exclude} -e {quoted} . || echo 'nothing found'");
            vec![
                ("grep", json!({"pattern": word})),
                ("bash", json!({"command": command})),
            ]
        }
        Wish::Run(command) => vec![("bash", json!({"command": command}))],
    };
    let offered = candidates.iter().find(|(tool, _)| has(tool));
    let Some((tool, args)) = offered else {
        let names: Vec<_> = candidates
            .iter()
            .map(|(tool, _)| format!("`{tool}`"))
            .collect();
        let names = names.join(" or ");
        return vec![Block::text(&format!(
            "I would need the tool {names} for that, and it is not on offer."
        ))];
    };
    let intent = match wish {
        Wish::List => "I will list the files.".to_owned(),
        Wish::Read(path) => format!("I will read {path}."),
        Wish::Search(word) => format!("I will search for \"{word}\"."),
        Wish::Run(command) => format!("I will run `{command}`."),
        Wish::Other => String::new(),
    };
    let id = format!("toolu_offline{number:02}");
    vec![Block::text(&intent), Block::tool(tool, id, args.clone())]
}

/// The text as one word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn report(messages: &[AgentMessage], results: &[&ToolResultMessage]) -> String {
    let one = |result: &&ToolResultMessage| {
        let call = tool_calls(messages)
            .rev()
            .find(|(id, _)| *id == result.tool_call_id);
        let call = call.map_or_else(|| result.tool_name.clone(), |(_, shown)| shown);
        let verb = if result.is_error {
            "failed"
        } else {
            "returned"
        };
        let text = text_of(&result.content);
        if text.trim().is_empty() {
            return format!("`{call}` {verb} without any output.");
        }
        let (quote, rest) = shortened(text.trim_end_matches('\n'));
        let fence = fence(quote);
        format!("`{call}` {verb}:\n\n{fence}\n{quote}\n{fence}{rest}")
    };
    results.iter().map(one).collect::<Vec<_>>().join("\n\n")
}

/// The start of the text, and a note on what is missing.
fn shortened(text: &str) -> (&str, String) {
    let by_lines = text
        .match_indices('\n')
        .nth(MAX_LINES - 1)
        .map_or(text.len(), |(at, _)| at);
    let by_chars = text
        .char_indices()
        .nth(MAX_CHARS)
        .map_or(text.len(), |(at, _)| at);
    let quote = &text[..by_lines.min(by_chars)];
    let rest = &text[quote.len()..];
    if rest.is_empty() {
        return (quote, String::new());
    }
    let (lines, chars) = (
        rest.lines().filter(|line| !line.is_empty()).count(),
        rest.chars().count(),
    );
    (
        quote,
        format!("\n\n({chars} more characters on {lines} lines are not quoted here.)"),
    )
}

/// A fence of more back-ticks than the text has in a row.
fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

/// What the prompt asks for, going by a few words of it.
fn wish(prompt: &str) -> Wish {
    // Only the first lines can be the wish; what follows may be a file or piped input.
    let prompt = prompt.trim();
    let words: Vec<&str> = prompt.split_whitespace().take(200).collect();
    let lower: Vec<String> = words.iter().map(|word| bare(word).to_lowercase()).collect();
    let position = |verbs: &[&str]| lower.iter().position(|word| verbs.contains(&word.as_str()));
    let ticked = ticked(prompt);

    if let Some(at) = position(&["run", "execute"]) {
        let command = ticked
            .map(str::to_owned)
            .or_else(|| rest_of_line(prompt, words[at]));
        if let Some(command) = command {
            return Wish::Run(command);
        }
    }
    if let Some(at) = position(&["read", "show", "cat", "open", "print", "display"]) {
        let after = words[at + 1..].iter().map(|word| bare(word));
        if let Some(path) = ticked.or_else(|| after.into_iter().find(|word| is_path(word))) {
            return Wish::Read(path.to_owned());
        }
    }
    if let Some(at) = position(&["search", "find", "grep"])
        && let Some(word) = ticked
            .or_else(|| in_quotes(prompt))
            .map(str::to_owned)
            .or_else(|| {
                let mut after = words[at + 1..].iter().map(|word| bare(word));
                after
                    .find(|word| !word.is_empty() && !is_filler(word))
                    .map(str::to_owned)
            })
    {
        return Wish::Search(word);
    }
    let lists = ["list", "ls", "dir", "files", "directory", "folder"];
    if position(&lists).is_some() {
        Wish::List
    } else {
        Wish::Other
    }
}

/// The word without the quotes and stops around it.
fn bare(word: &str) -> &str {
    let word = word.trim_start_matches(['"', '\'', '`', '(', '[', '@', '“', '‘']);
    word.trim_end_matches([
        '"', '\'', '`', ')', ']', ',', ';', ':', '!', '?', '.', '”', '’',
    ])
}

/// What stands between the first two back-ticks.
fn ticked(prompt: &str) -> Option<&str> {
    between(prompt, '`', '`')
}

fn in_quotes(prompt: &str) -> Option<&str> {
    between(prompt, '"', '"').or_else(|| between(prompt, '“', '”'))
}

fn between(text: &str, open: char, close: char) -> Option<&str> {
    let (_, rest) = text.split_once(open)?;
    let (inner, _) = rest.split_once(close)?;
    Some(inner.trim_matches(['`', ' '])).filter(|inner| !inner.is_empty() && !inner.contains('\n'))
}

/// What follows the word on its line.
fn rest_of_line(prompt: &str, word: &str) -> Option<String> {
    let rest = prompt.split_once(word)?.1.lines().next()?.trim();
    let rest = rest
        .trim_start_matches("the command ")
        .trim_end_matches(['.', '!', '?']);
    (!rest.is_empty()).then(|| rest.to_owned())
}

fn is_path(word: &str) -> bool {
    let inner = word.trim_matches(['.', '/']);
    let names = ["makefile", "license", "readme", "dockerfile", "changelog"];
    (!inner.is_empty() && (inner.contains('.') || word.contains('/')) || word.starts_with('.'))
        && word.len() > 1
        || names.contains(&word.to_lowercase().as_str())
}

fn is_filler(word: &str) -> bool {
    let fillers = [
        "for",
        "the",
        "a",
        "an",
        "all",
        "any",
        "every",
        "each",
        "in",
        "on",
        "of",
        "to",
        "me",
        "my",
        "where",
        "what",
        "which",
        "word",
        "words",
        "text",
        "string",
        "pattern",
        "file",
        "files",
        "occurrence",
        "occurrences",
        "line",
        "lines",
        "here",
        "this",
        "that",
        "is",
        "are",
        "with",
        "containing",
        "contains",
        "mention",
        "mentions",
        "out",
        "directory",
        "folder",
        "project",
        "code",
        "through",
        "and",
        "list",
        "them",
    ];
    fillers.contains(&word.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn understands_a_few_wishes() {
        let read = |path: &str| Wish::Read(path.to_owned());
        let search = |word: &str| Wish::Search(word.to_owned());
        let run = |command: &str| Wish::Run(command.to_owned());
        for (prompt, expected) in [
            ("List the files here", Wish::List),
            ("What files are in this directory?", Wish::List),
            ("show me the list of files", Wish::List),
            ("Find all files", Wish::List),
            ("ls", Wish::List),
            ("Read notes.txt, please.", read("notes.txt")),
            ("show me what is in `my file.txt`", read("my file.txt")),
            ("cat ./src/main.rs", read("./src/main.rs")),
            ("read @.gitignore", read(".gitignore")),
            ("Open the README", read("README")),
            ("search for TODO", search("TODO")),
            (
                "Find the word \"two words\" in all files",
                search("two words"),
            ),
            ("grep fn main", search("fn")),
            ("where can I find gamma?", search("gamma")),
            ("Run `seq 1 5` and tell me", run("seq 1 5")),
            ("please run echo one; echo two.", run("echo one; echo two")),
            ("execute the command uname -a", run("uname -a")),
            ("Explain monads", Wish::Other),
            ("", Wish::Other),
            ("run", Wish::Other),
            ("read", Wish::Other),
        ] {
            assert_eq!(wish(prompt), expected, "{prompt}");
        }
    }

    #[test]
    fn calls_only_what_is_on_offer() {
        let called = |wish: &Wish, offered: &[&str]| {
            let blocks = act(wish, 1, &|tool| offered.contains(&tool));
            blocks
                .last()
                .and_then(|block| Some((block.tool.clone()?, block.args.clone()?)))
        };
        let word = Wish::Search("it's".to_owned());
        assert_eq!(
            called(&Wish::List, &["read", "bash"]).unwrap().1,
            json!({"command": "ls -la"})
        );
        assert_eq!(
            called(&Wish::List, &["ls"]).unwrap(),
            ("ls".to_owned(), json!({}))
        );
        assert_eq!(called(&Wish::List, &["read"]), None);
        assert_eq!(
            called(&word, &["grep", "bash"]).unwrap().1,
            json!({"pattern": "it's"})
        );
        let (_, args) = called(&word, &["bash"]).unwrap();
        assert!(
            args["command"]
                .as_str()
                .unwrap()
                .contains(r"-e 'it'\''s' ."),
            "{args}"
        );
        assert_eq!(called(&Wish::Run("x".to_owned()), &["read"]), None);
    }

    #[test]
    fn quotes_are_shortened_by_lines_and_characters_and_say_so() {
        assert_eq!(shortened("a\nb"), ("a\nb", String::new()));
        let lines = "x\n".repeat(100);
        let (quote, note) = shortened(lines.trim_end());
        assert_eq!(quote.lines().count(), MAX_LINES);
        assert!(note.contains("on 40 lines"), "{note}");
        let long = "é".repeat(MAX_CHARS + 7);
        let (quote, note) = shortened(&long);
        assert_eq!(quote.chars().count(), MAX_CHARS);
        assert!(note.contains("7 more characters"), "{note}");
        assert_eq!(fence("plain"), "```");
        assert_eq!(fence("a ```` b"), "`````");
    }
}
