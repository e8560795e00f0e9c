//! A session file line by line, for people to read.
//!
//! Files of other programs and of other versions are shown too, so entries are taken as they are and
//! what is no JSON object is passed over.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::path::Path;

use memchr::memmem;
use serde::Deserialize;
use serde_json::{Map, Value};

/// Longest title, in characters.
const TITLE: usize = 80;

/// What a listing tells of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// Its name.
    pub name: Option<String>,
    /// The first line that the user said.
    pub first_prompt: Option<String>,
    /// How many messages it has, on all branches.
    pub messages: u64,
}

impl About {
    /// The name, else the first prompt in quotes.
    #[must_use]
    pub fn title(&self) -> Option<String> {
        let quoted = || Some(format!("\"{}\"", self.first_prompt.as_deref()?));
        self.name.clone().or_else(quoted)
    }
}

/// An entry of a session file.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The entry as it stands in the file.
    pub entry: Map<String, Value>,
    /// Whether it leads to the end of the file, where the session goes on; others are on branches
    /// that were left.
    pub on_path: bool,
}

/// Reads what a listing tells of a session; most of the file is only passed over.
pub fn about(path: &Path) -> io::Result<About> {
    let mut about = About::default();
    let (named, message) = (
        memmem::Finder::new(br#""session_info""#),
        memmem::Finder::new(br#""message""#),
    );
    each_line(path, |line| {
        // Every agent writes the type of an entry near the beginning of its line.
        let head = &line[..line.len().min(64)];
        let is_message = message.find(head).is_some();
        about.messages += u64::from(is_message);
        if named.find(head).is_some() || (is_message && about.first_prompt.is_none()) {
            let Ok(entry) = serde_json::from_slice::<Map<String, Value>>(line) else {
                return;
            };
            if entry.get("type").is_some_and(|kind| kind == "session_info") {
                let name = entry.get("name").and_then(Value::as_str).map(first_line);
                about.name = name.filter(|name| !name.is_empty());
            } else if let Some(message) = entry.get("message")
                && message["role"] == "user"
            {
                let text = first_line(&text_of(&message["content"]));
                about.first_prompt = Some(text).filter(|text| !text.is_empty());
            }
        }
    })?;
    Ok(about)
}

/// Gives every entry of a session file to `each`, the header included, in the order of the file.
pub fn entries(path: &Path, mut each: impl FnMut(Line)) -> io::Result<()> {
    let on_path = path_to_leaf(path)?;
    each_line(path, |line| {
        if let Ok(entry) = serde_json::from_slice::<Map<String, Value>>(line) {
            // The header and the entries of the first version have no place in a tree.
            let id = entry.get("id").and_then(Value::as_str);
            let is_header = entry.get("type").is_some_and(|kind| kind == "session");
            let on_path = is_header || id.is_none_or(|id| on_path.contains(id));
            each(Line { entry, on_path });
        }
    })
}

/// The ids from the last entry up to the first.
fn path_to_leaf(path: &Path) -> io::Result<HashSet<String>> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Node {
        #[serde(rename = "type")]
        kind: String,
        id: Option<String>,
        parent_id: Option<String>,
    }
    let mut parents = HashMap::new();
    let mut leaf = None;
    each_line(path, |line| {
        if let Ok(node) = serde_json::from_slice::<Node>(line)
            && let Some(id) = node.id
            && node.kind != "session"
        {
            leaf = Some(id.clone());
            parents.insert(id, node.parent_id);
        }
    })?;
    let mut on_path = HashSet::new();
    while let Some(id) = leaf {
        leaf = parents.get(&id).cloned().flatten();
        if !on_path.insert(id) {
            break;
        }
    }
    Ok(on_path)
}

fn each_line(path: &Path, mut each: impl FnMut(&[u8])) -> io::Result<()> {
    let mut reader = BufReader::with_capacity(1 << 16, File::open(path)?);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        each(&line);
        line.clear();
    }
    Ok(())
}

/// The texts of a content, which is a text itself or a list of blocks.
#[must_use]
pub fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// The first line that says something, without control characters and not too long.
#[must_use]
pub fn first_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    let mut chars = line.unwrap_or_default().chars();
    let mut short: String = chars
        .by_ref()
        .take(TITLE)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if chars.next().is_some() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn file(lines: &[Value]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        let text: Vec<String> = lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(file.path(), text.concat()).unwrap();
        file
    }

    fn said(id: &str, parent: &Value, text: &str) -> Value {
        json!({ "type": "message", "id": id, "parentId": parent,
                "message": { "role": "user", "content": text } })
    }

    #[test]
    fn a_session_is_told_by_its_name_or_its_first_prompt() {
        let header = json!({ "type": "session", "id": "s" });
        let first = said("a", &Value::Null, "\n  Do\u{1b} it\nnow");
        let second = said("b", &json!("a"), "More");
        let read = |lines: &[Value]| about(file(lines).path()).unwrap();
        let told = read(&[header.clone(), first.clone(), second]);
        assert_eq!(told.messages, 2);
        assert_eq!(told.title().unwrap(), "\"Do  it\"");
        let name = |name: &str| json!({ "type": "session_info", "id": "n", "name": name });
        let told = read(&[header.clone(), first.clone(), name("One"), name("Two")]);
        assert_eq!(told.title().unwrap(), "Two");
        let told = read(&[header.clone(), first, name("One"), name("")]);
        assert_eq!(told.title().unwrap(), "\"Do  it\"");
        assert_eq!(read(&[header]).title(), None);
    }

    #[test]
    fn the_path_leads_from_the_last_entry_to_the_first() {
        let lines = file(&[
            json!({ "type": "session", "id": "s" }),
            said("a", &Value::Null, "1"),
            said("b", &json!("a"), "left"),
            json!("no entry"),
            said("c", &json!("a"), "2"),
        ]);
        let mut on_path = Vec::new();
        entries(lines.path(), |line| on_path.push(line.on_path)).unwrap();
        assert_eq!(on_path, [true, true, false, true]);
    }

    #[test]
    fn a_tree_that_bites_its_tail_has_an_end() {
        let lines = file(&[said("a", &json!("b"), "1"), said("b", &json!("a"), "2")]);
        let mut count = 0;
        entries(lines.path(), |_| count += 1).unwrap();
        assert_eq!(count, 2);
    }

    #[test]
    fn entries_without_ids_are_one_path() {
        let lines = file(&[json!({ "type": "message" }), json!({ "type": "message" })]);
        entries(lines.path(), |line| assert!(line.on_path)).unwrap();
    }

    #[test]
    fn a_long_line_is_cut() {
        assert_eq!(first_line(&"ä".repeat(81)), "ä".repeat(80) + "…");
        assert_eq!(first_line(&"ä".repeat(80)), "ä".repeat(80));
    }
}
