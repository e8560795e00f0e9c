//! Agent definitions: Markdown files whose front matter says what an agent may use and whose body
//! tells it what it is for.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::config::Paths;
use crate::event::ThinkingLevel;

#[cfg(test)]
mod tests;

/// The built-in definitions, in their order for the model.
const BUILT_IN: [(&str, &str); 3] = [
    ("Explore", include_str!("builtin/explore.md")),
    ("feature-dev", include_str!("builtin/feature-dev.md")),
    ("code-reviewer", include_str!("builtin/code-reviewer.md")),
];

/// Tools of an agent whose definition names none.
const USUAL_TOOLS: [&str; 8] = [
    "read",
    "bash",
    "edit",
    "write",
    "grep",
    "find",
    "ls",
    "tasks_update",
];

/// Tools that no definition can give: what comes after a child is its parent's business.
const NEVER: [&str; 3] = ["subagent", "wait", "suggest_next"];

/// The most of a file that is read. The body goes to the child on its command line, where the system
/// takes 128 KiB in one piece.
const LIMIT: usize = 96 * 1024;

/// What an agent is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// What the model calls it.
    pub name: String,
    /// What it is good for, for the model that chooses.
    pub description: String,
    /// The built-in tools that it may call.
    pub tools: Vec<String>,
    /// Models to run it on, the first that can be used counts; none for that of the parent.
    pub models: Vec<String>,
    /// Its thinking level; absent for that of the parent.
    pub thinking: Option<ThinkingLevel>,
    /// What is added to the system prompt.
    pub prompt: String,
}

/// The agents that can be called, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Definitions {
    list: Vec<Definition>,
    /// What the user should hear once: files that cannot be used, keys that mean nothing.
    pub warnings: Vec<String>,
}

/// What is wrong with a definition, and in which line of the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
struct Fault {
    line: usize,
    what: String,
}

/// A definition, and what is in it that means nothing here.
struct Parsed {
    definition: Definition,
    unknown_keys: Vec<String>,
    unknown_tools: Vec<String>,
}

impl Definitions {
    /// The built-in definitions, those in Quipu's home, and those of the project in `cwd`; of several
    /// with one name the last counts. A file that cannot be used is passed over with a warning.
    #[must_use]
    pub fn load(paths: &Paths, cwd: &Path) -> Self {
        let mut definitions = Self::built_in();
        let mut unknown = BTreeSet::new();
        let project = Paths::project(cwd).join("agents");
        for folder in [paths.agents(), project] {
            for file in files(&folder, &mut definitions.warnings) {
                definitions.load_file(&file, &mut unknown);
            }
        }
        if !unknown.is_empty() {
            let unknown: Vec<_> = unknown.iter().map(|key| format!("`{key}`")).collect();
            definitions.warnings.push(format!(
                "agent definitions: ignored unknown {} (known are `name`, `description`, `tools`, \
                 `model`, `thinking`)",
                unknown.join(", ")
            ));
        }
        definitions
    }

    /// The built-in definitions alone.
    #[must_use]
    pub fn built_in() -> Self {
        let mut definitions = Self::default();
        for (name, text) in BUILT_IN {
            // The tests show that all of them can be read.
            if let Ok(parsed) = parse(text, name) {
                definitions.put(parsed.definition);
            }
        }
        definitions
    }

    /// The definition of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Definition> {
        self.list.iter().find(|known| known.name == name)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Definition> {
        self.list.iter()
    }

    fn load_file(&mut self, file: &Path, unknown: &mut BTreeSet<String>) {
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        let parsed = read(file)
            .map_err(|error| format!("cannot be read: {error}"))
            .and_then(|text| parse(&text, &stem).map_err(|fault| fault.to_string()));
        match parsed {
            Ok(parsed) => {
                unknown.extend(parsed.unknown_keys);
                if !parsed.unknown_tools.is_empty() {
                    self.warnings.push(format!(
                        "{}: ignored tools that an agent cannot have here: {}",
                        file.display(),
                        parsed.unknown_tools.join(", ")
                    ));
                }
                self.put(parsed.definition);
            }
            Err(what) => self.warnings.push(format!(
                "the agent definition {} is left out: {what}",
                file.display()
            )),
        }
    }

    fn put(&mut self, definition: Definition) {
        let known = self.list.iter_mut();
        match known
            .into_iter()
            .find(|known| known.name == definition.name)
        {
            Some(known) => *known = definition,
            None => self.list.push(definition),
        }
    }
}

/// The Markdown files of a folder, in the order of their names.
fn files(folder: &Path, warnings: &mut Vec<String>) -> Vec<PathBuf> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => {
            if !matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) {
                warnings.push(format!("{} cannot be read: {error}", folder.display()));
            }
            return Vec::new();
        }
    };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut files: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|ext| ext == "md"))
        .collect();
    files.sort();
    files
}

fn read(file: &Path) -> io::Result<String> {
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut bytes = Vec::new();
    fs::File::open(file)?
        .take(LIMIT as u64 + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() > LIMIT {
        return Err(io::Error::other(format!(
            "it is longer than {} KiB",
            LIMIT / 1024
        )));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::other("it is not UTF-8"))
}

/// Takes a key that was read in this line.
fn take(
    parsed: &mut Parsed,
    seen: &mut BTreeSet<String>,
    line: usize,
    (key, one, values): (&str, &str, Vec<String>),
) -> Result<(), Fault> {
    let what = if seen.insert(key.to_owned()) {
        parsed.take(key, one, values)
    } else {
        Err(format!("`{key}` stands there twice"))
    };
    what.map_err(|what| Fault { line, what })
}

/// A value without the comment behind it. A `#` in quotes, or with no blank before it, begins none.
fn without_comment(value: &str) -> &str {
    let mut quote = None;
    let mut before = ' ';
    for (at, c) in value.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            None if c == '#' && before.is_whitespace() => return &value[..at],
            // An apostrophe within a word is no quote.
            None if matches!(c, '"' | '\'') && !before.is_alphanumeric() => quote = Some(c),
            Some(_) | None => {}
        }
        before = c;
    }
    value
}

/// Reads a definition; `stem` is its name unless it says another.
fn parse(text: &str, stem: &str) -> Result<Parsed, Fault> {
    let fault = |line: usize, what: &str| Fault {
        line,
        what: what.to_owned(),
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if let Some(at) = text.find('\0') {
        let line = text[..at].split('\n').count();
        return Err(fault(line, "a NUL byte, which no text has"));
    }
    let mut lines = text.lines().enumerate();
    if lines
        .next()
        .is_none_or(|(_, line)| line.trim_end() != "---")
    {
        return Err(fault(
            1,
            "a definition begins with front matter: a line `---`",
        ));
    }
    let mut parsed = Parsed::new(stem);
    let mut seen = BTreeSet::new();
    let mut closed = false;
    while let Some((index, line)) = lines.next() {
        let number = index + 1;
        if line.trim_end() == "---" {
            closed = true;
            break;
        }
        if line.trim().is_empty() || line.trim_start().starts_with('#') {
            continue;
        }
        let Some((key, value)) = line.split_once(':') else {
            return Err(fault(
                number,
                "expected `key: value`, or `---` before the body",
            ));
        };
        let key = key.trim();
        let value = without_comment(value);
        // A text below its key, folded into one line or with its lines as they are.
        let block = match value.trim() {
            ">" | ">-" | ">+" => Some(" "),
            "|" | "|-" | "|+" => Some("\n"),
            _ => None,
        };
        if let Some(between) = block {
            let mut texts = Vec::new();
            while let Some((_, text)) = lines.clone().next() {
                if !(text.is_empty() || text.starts_with([' ', '\t'])) {
                    break;
                }
                texts.push(text.trim());
                lines.next();
            }
            let text = texts.join(between);
            take(
                &mut parsed,
                &mut seen,
                number,
                (key, text.trim(), list(&text)),
            )?;
            continue;
        }
        let mut values = list(value);
        // A list may also stand below its key, an item a line.
        while let Some((_, item)) = lines.clone().next() {
            let Some(item) = item.trim_start().strip_prefix("- ") else {
                break;
            };
            values.extend(list(without_comment(item)));
            lines.next();
        }
        take(
            &mut parsed,
            &mut seen,
            number,
            (key, unquoted(value.trim()), values),
        )?;
    }
    if !closed {
        return Err(fault(
            text.lines().count().max(1),
            "the front matter has no end: a line `---`",
        ));
    }
    if !is_name(&parsed.definition.name) {
        return Err(fault(
            1,
            "the file's name cannot be that of an agent: add `name`",
        ));
    }
    let body: Vec<_> = lines.map(|(_, line)| line).collect();
    body.join("\n")
        .trim()
        .clone_into(&mut parsed.definition.prompt);
    Ok(parsed)
}

impl Parsed {
    /// A definition that says nothing.
    fn new(name: &str) -> Self {
        Self {
            definition: Definition {
                name: name.to_owned(),
                description: String::new(),
                tools: USUAL_TOOLS.map(str::to_owned).to_vec(),
                models: Vec::new(),
                thinking: None,
                prompt: String::new(),
            },
            unknown_keys: Vec::new(),
            unknown_tools: Vec::new(),
        }
    }

    /// Takes a key with its value, as one and as a list; the error says what is wrong with it.
    fn take(&mut self, key: &str, one: &str, values: Vec<String>) -> Result<(), String> {
        let definition = &mut self.definition;
        match key {
            "name" if is_name(one) => one.clone_into(&mut definition.name),
            "name" => {
                return Err(
                    "a name is one word of at most 64 letters, digits, `-`, `_` and `.`".to_owned(),
                );
            }
            "description" => one.clone_into(&mut definition.description),
            "tools" => {
                let known = crate::tool::builtin();
                let known = known.iter().map(|known| known.name());
                let known: Vec<_> = known.filter(|tool| !NEVER.contains(tool)).collect();
                (definition.tools, self.unknown_tools) = if values == ["*"] {
                    (known.into_iter().map(str::to_owned).collect(), Vec::new())
                } else {
                    let is_known = |tool: &String| known.contains(&tool.as_str());
                    values.into_iter().partition(is_known)
                };
            }
            "model" => definition.models = values,
            "thinking" => {
                let level = one.parse();
                definition.thinking =
                    Some(level.map_err(|_| {
                        format!("there is no thinking level `{one}`; use off to max")
                    })?);
            }
            _ => self.unknown_keys.push(key.to_owned()),
        }
        Ok(())
    }
}

/// The items of `a, b`, `"a, b"` or `[a, b]`.
fn list(value: &str) -> Vec<String> {
    let value = value.trim();
    // Of `"a", "b"` each item is quoted by itself.
    let value = match unquoted(value) {
        inner if inner.contains(['"', '\'']) => value,
        inner => inner,
    };
    let inner = value
        .strip_prefix('[')
        .and_then(|value| value.strip_suffix(']'));
    inner
        .unwrap_or(value)
        .split(',')
        .map(|item| unquoted(item.trim()).trim().to_owned())
        .filter(|item| !item.is_empty())
        .collect()
}

fn unquoted(value: &str) -> &str {
    let inside = |quote| value.strip_prefix(quote)?.strip_suffix(quote);
    inside('"').or_else(|| inside('\'')).unwrap_or(value)
}

/// Names stand in lines, arguments and messages.
fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    !name.is_empty() && name.len() <= 64 && name.chars().all(plain) && !name.starts_with('-')
}
