//! A session file line by line, for people to read.
//!
//! Files of other programs and of other versions are shown too, so entries are taken as they are and
//! what is no JSON object is passed over.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use memchr::memmem;
use serde_json::{Map, Value};

use super::SessionError;
use super::file::{open_to_read, reading};
use super::lines::{Lines, Shape, readable, shape};
use super::tree::Tree;
use super::upgrade::header;

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
            let Some(entry) = object(line) else {
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

/// Reads every entry of a session file, the header included, in the order of the file. One line is in
/// memory, and a few dozen bytes for each entry.
///
/// # Errors
/// [`SessionError::Read`] if the file cannot be read, [`SessionError::NoSession`] if it is no file.
pub fn entries(path: &Path) -> Result<Entries, SessionError> {
    let open =
        || open_to_read(path).map(|file| Lines::new(BufReader::with_capacity(1 << 16, file)));
    let mut tree = Tree::default();
    let mut lines = open()?;
    let mut linear = false;
    while let Some(line) = lines.next().map_err(|error| reading(path, error))? {
        if line.number == 1 {
            // The first version had no tree.
            linear = matches!(header(path, Some(line.text)), Ok((0..=1, _)));
        }
        if let Some((id, parent)) = place_in_tree(line.text) {
            tree.add(&id, parent.as_deref());
        }
    }
    let mut on_path = vec![linear; tree.len()];
    for place in tree.path() {
        on_path[place] = true;
    }
    Ok(Entries {
        file: path.to_owned(),
        lines: open()?,
        on_path,
        place: 0,
    })
}

/// The entries of a session file; see [`entries`].
#[derive(Debug)]
pub struct Entries {
    file: PathBuf,
    lines: Lines<BufReader<File>>,
    /// Of each entry with a place in the tree, whether it leads to the end.
    on_path: Vec<bool>,
    place: usize,
}

impl Iterator for Entries {
    type Item = Result<Line, SessionError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let line = match self.lines.next() {
                Ok(line) => line?,
                Err(error) => return Some(Err(reading(&self.file, error))),
            };
            // The header and the entries of the first version have no place in the tree.
            let mut on_path = true;
            if place_in_tree(line.text).is_some() {
                // The file may have grown since the tree was read.
                on_path = self.on_path.get(self.place).is_none_or(|on_path| *on_path);
                self.place += 1;
            }
            if let Some(entry) = object(line.text) {
                return Some(Ok(Line { entry, on_path }));
            }
        }
    }
}

/// Id and parent of an entry; `None` for what is no entry or has no id.
fn place_in_tree(line: &[u8]) -> Option<(String, Option<String>)> {
    match shape(line) {
        Shape::Entry(head) if head.kind != "session" => Some((head.id?, head.parent_id)),
        _ => None,
    }
}

fn object(line: &[u8]) -> Option<Map<String, Value>> {
    let read = serde_json::from_slice(line).or_else(|_| serde_json::from_str(&readable(line)));
    read.ok()
}

fn each_line(path: &Path, mut each: impl FnMut(&[u8])) -> io::Result<()> {
    let mut lines = Lines::new(BufReader::with_capacity(1 << 16, File::open(path)?));
    while let Some(line) = lines.next()? {
        each(line.text);
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

    fn on_path(lines: &[Value]) -> Vec<bool> {
        let file = file(lines);
        let lines = entries(file.path()).unwrap();
        lines.map(|line| line.unwrap().on_path).collect()
    }

    #[test]
    fn the_path_leads_from_the_last_entry_to_the_first() {
        let found = on_path(&[
            json!({ "type": "session", "id": "s" }),
            said("a", &Value::Null, "1"),
            said("b", &json!("a"), "left"),
            json!("no entry"),
            said("c", &json!("a"), "2"),
        ]);
        assert_eq!(found, [true, true, false, true]);
    }

    #[test]
    fn the_path_leads_over_a_line_that_is_not_there() {
        let found = on_path(&[
            json!({ "type": "session", "id": "s" }),
            said("a", &Value::Null, "early"),
            said("b", &Value::Null, "left"),
            said("c", &json!("a"), "early"),
            said("e", &json!("d"), "late"),
            said("f", &json!("e"), "late"),
        ]);
        assert_eq!(found, [true, true, false, true, true, true]);
    }

    #[test]
    fn a_tree_that_bites_its_tail_has_an_end() {
        let found = on_path(&[said("a", &json!("b"), "1"), said("b", &json!("a"), "2")]);
        assert_eq!(found, [true, true]);
        let found = on_path(&[said("a", &json!("a"), "1"), said("a", &json!("a"), "2")]);
        assert_eq!(found, [true, true]);
    }

    #[test]
    fn the_first_version_is_one_path() {
        let found = on_path(&[json!({ "type": "message" }), json!({ "type": "message" })]);
        assert_eq!(found, [true, true]);
        let found = on_path(&[
            json!({ "type": "session", "id": "s", "timestamp": "t", "cwd": "/" }),
            said("a", &Value::Null, "1"),
            said("b", &Value::Null, "2"),
        ]);
        assert_eq!(found, [true, true, true]);
    }

    #[test]
    fn halves_of_characters_do_not_cost_the_entry() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let line = br#"{"type":"message","id":"a","message":{"content":"a\ud83d"}}"#;
        std::fs::write(file.path(), line).unwrap();
        let mut lines = entries(file.path()).unwrap();
        let entry = lines.next().unwrap().unwrap().entry;
        assert_eq!(entry["message"]["content"], "a\u{fffd}");
    }

    #[test]
    fn a_long_line_is_cut() {
        assert_eq!(first_line(&"ä".repeat(81)), "ä".repeat(80) + "…");
        assert_eq!(first_line(&"ä".repeat(80)), "ä".repeat(80));
    }
}
