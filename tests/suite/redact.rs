//! Takes out of a stream what differs from run to run, for snapshots.

use std::collections::BTreeMap;

use serde_json::Value;

use quipu::wire::Wire;

use crate::check::{kind, text_at};
use crate::harness::{Run, World};
use crate::wire_check;

/// A snapshot of a run: its stream, then what it said on standard error.
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a choice of a test by itself"
)]
pub(crate) struct Shot<'a> {
    world: &'a World,
    run: &'a Run,
    updates: bool,
    usage: bool,
    joined: bool,
    apart: bool,
    filters: Vec<(&'a str, &'a str)>,
}

impl<'a> Shot<'a> {
    pub(crate) fn new(world: &'a World, run: &'a Run) -> Self {
        Self {
            world,
            run,
            updates: true,
            usage: true,
            joined: false,
            apart: false,
            filters: Vec::new(),
        }
    }

    /// Leaves out progress of tools, whose place among lines of other tools is up to chance.
    pub(crate) fn without_updates(mut self) -> Self {
        self.updates = false;
        self
    }

    /// Leaves out token counts that were estimated from texts with paths in them.
    pub(crate) fn without_usage(mut self) -> Self {
        self.usage = false;
        self
    }

    /// Makes one delta of all neighbours of a block, for texts of unknown length.
    pub(crate) fn joined(mut self) -> Self {
        self.joined = true;
        self
    }

    /// Shows the streams of background agents by themselves: how they run into the others is up to
    /// chance.
    pub(crate) fn apart(mut self) -> Self {
        self.apart = true;
        self
    }

    /// Replaces what matches a regular expression.
    pub(crate) fn filter(mut self, pattern: &'a str, with: &'a str) -> Self {
        self.filters.push((pattern, with));
        self
    }

    /// Compares with `snapshots/NAME.snap`.
    #[track_caller]
    pub(crate) fn assert(self, name: &str) {
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path("snapshots");
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        for (pattern, with) in &self.filters {
            settings.add_filter(pattern, *with);
        }
        let lines = self.run.stream().lines;
        let text = self.text(kept(&lines, self.updates));
        settings.bind(|| insta::assert_snapshot!(name, text));
        for wire in wire_check::OTHERS {
            let bytes = wire_check::project(wire, &lines);
            let text = self.text(kept(&on_wire(&bytes), self.updates));
            settings.set_snapshot_path(format!("snapshots/{}", wire.name()));
            settings.bind(|| insta::assert_snapshot!(name, text));
        }
    }

    /// The text of a stream that was written on another wire.
    pub(crate) fn on(self, wire: Wire) -> String {
        assert_ne!(wire, Wire::Quipu);
        self.text(kept(&on_wire(&self.run.stdout), self.updates))
    }

    fn text(&self, mut lines: Vec<Value>) -> String {
        if self.joined {
            lines.dedup_by(|next, line| join(line, next));
        }
        let agents = agents(&self.run.stdout);
        let mut apart = Vec::new();
        if self.apart {
            let is_apart = |line: &Value| kind(line) == "background_agent_event";
            (apart, lines) = lines.into_iter().partition(is_apart);
            let place = |line: &Value| agents.iter().position(|id| id == text_at(line, "/agentId"));
            apart.sort_by_key(place);
        }
        let mut ids = BTreeMap::new();
        let mut text = String::new();
        let count = lines.len();
        if !apart.is_empty() {
            lines.push(Value::Null);
            lines.extend(apart);
        }
        for mut line in lines {
            if line.is_null() {
                text.push_str("--- background agents\n");
                continue;
            }
            if kind(&line) == "stream_end" {
                line["lines"] = count.into();
            }
            self.value(&mut line, &mut ids);
            text.push_str(&session_names(&named(line.to_string(), &agents)));
            text.push('\n');
        }
        if !self.run.stderr.is_empty() {
            text.push_str("--- stderr\n");
            text.push_str(&named(self.string(&self.run.stderr), &agents));
        }
        text
    }

    fn value(&self, value: &mut Value, ids: &mut BTreeMap<String, usize>) {
        match value {
            Value::Object(fields) => {
                if fields.get("type").is_some_and(|kind| kind == "session") {
                    fields["id"] = "[session]".into();
                    if let Some(Value::Object(stream)) = fields.get_mut("stream") {
                        stream["version"] = "[version]".into();
                        stream["schema"] = "[hash]".into();
                    }
                }
                for (name, value) in fields {
                    match name.as_str() {
                        "timestamp" | "durationMs" => *value = "[time]".into(),
                        "responseId" => *value = "[response]".into(),
                        "usage" if !self.usage => *value = "[usage]".into(),
                        "usage" => *value = short(value).into(),
                        _ => self.value(value, ids),
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item, ids)),
            Value::String(text) => {
                *text = self.string(text);
                if let Some(at) = made_up(text) {
                    let next = ids.len() + 1;
                    let number = *ids.entry(text[at..].to_owned()).or_insert(next);
                    text.replace_range(at.., &format!("[made up {number}]"));
                }
            }
            _ => {}
        }
    }

    fn string(&self, text: &str) -> String {
        let root = self.world.root().to_str().unwrap();
        // The folder of a project's sessions has its path for a name.
        let folder = root.trim_start_matches('/').replace('/', "-");
        let mut text = text.replace(root, "[world]").replace(&folder, "[world]");
        // Files with the full output of a command have random names.
        let tmp = "[world]/tmp/";
        let mut from = 0;
        while let Some(at) = text[from..].find(tmp) {
            let start = from + at + tmp.len();
            let end = text[start..]
                .find([' ', ']', '\n', '"', ')'])
                .map_or(text.len(), |n| start + n);
            text.replace_range(start..end, "[file]");
            from = start;
        }
        text
    }
}

/// The lines of another wire. Of a snapshot of the whole message only what grows is shown.
fn on_wire(bytes: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(bytes).unwrap();
    let lines = text.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        let mut inner = &mut line;
        while kind(inner) == "background_agent_event" {
            inner = &mut inner["event"];
        }
        let line_of = inner;
        if let Some(message) = line_of
            .get("message")
            .filter(|_| kind(line_of) == "message_update")
        {
            let content = message["content"].clone();
            assert_eq!(*message, line_of["assistantMessageEvent"]["partial"]);
            line_of["assistantMessageEvent"]["partial"] = "[as message]".into();
            line_of["message"] = content;
        }
        line
    });
    lines.collect()
}

/// The ids of background agents, in the order of their starts.
fn agents(stream: &[u8]) -> Vec<String> {
    let lines = stream.split(|byte| *byte == b'\n');
    let lines = lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    lines
        .filter(|line| kind(line) == "background_agent_start")
        .map(|line| text_at(&line, "/agentId").to_owned())
        .collect()
}

/// The text with names that tell agents apart in place of their ids.
fn named(mut text: String, agents: &[String]) -> String {
    for (number, id) in (1..).zip(agents) {
        text = text.replace(id.as_str(), &format!("[agent {number}]"));
    }
    text
}

/// The text with made-up names for the folders and files of sessions.
fn session_names(line: &str) -> String {
    let folder = "[world]/config/subagent-sessions/";
    let mut text = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(folder) {
        let (before, after) = rest.split_at(at + folder.len());
        text.push_str(before);
        rest = after.strip_prefix("chain-").unwrap_or(after);
        text.push_str(if rest.len() < after.len() {
            "chain-[folder]"
        } else {
            "[folder]"
        });
        rest = rest.get(12..).unwrap_or_default();
    }
    text.push_str(rest);
    // A date, a time and a UUID.
    let mut from = 0;
    while let Some(end) = text[from..].find(".jsonl").map(|at| from + at) {
        let start = text[..end].rfind('/').map_or(end, |at| at + 1);
        text.replace_range(start..end, "[file]");
        from = start + "[file].jsonl".len();
    }
    text
}

/// A usage in a few characters: the counts in their order on the wire, the total, the price.
fn short(usage: &Value) -> String {
    let mut counts = String::new();
    for (name, value) in usage.as_object().into_iter().flatten() {
        match name.as_str() {
            "totalTokens" => counts = format!("{} = {value}", counts.trim_start()),
            "cost" => counts = format!("{counts}, ${}", value["total"]),
            _ => counts = format!("{counts} {name} {value}"),
        }
    }
    counts
}

/// Where an id that the program made up begins: `call_` and a UUID in hexadecimal.
fn made_up(text: &str) -> Option<usize> {
    let at = text.rfind("call_")?;
    let rest = &text[at + 5..];
    (rest.len() == 32 && rest.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(at)
}

/// Appends the delta of `next` to that of `line` if both belong to one block.
fn join(line: &mut Value, next: &Value) -> bool {
    let (Some(delta), Some(more)) = (
        line.get_mut("assistantMessageEvent"),
        next.get("assistantMessageEvent"),
    ) else {
        return false;
    };
    let same = ["type", "contentIndex"]
        .iter()
        .all(|name| delta[name] == more[name]);
    let joins = same && delta["delta"].is_string();
    if joins {
        delta["delta"] = (text_at(delta, "/delta").to_owned() + text_at(more, "/delta")).into();
        // A snapshot of the message shows both.
        if next["message"].is_array() {
            line["message"] = next["message"].clone();
        }
    }
    joins
}

/// The lines without the progress in between: how often a tool reports depends on the clock, only
/// the first and the last report of a call do not.
fn kept(lines: &[Value], updates: bool) -> Vec<Value> {
    let ids: Vec<String> = lines
        .iter()
        .map(|mut line| {
            let mut id = String::new();
            while kind(line) == "background_agent_event" {
                id = id + text_at(line, "/agentId") + "/";
                line = &line["event"];
            }
            if kind(line) == "tool_execution_update" {
                id + text_at(line, "/toolCallId")
            } else {
                String::new()
            }
        })
        .collect();
    let keep = |index: &usize| {
        let id = &ids[*index];
        let between = ids[..*index].contains(id) && ids[index + 1..].contains(id);
        id.is_empty() || (updates && !between)
    };
    (0..lines.len())
        .filter(keep)
        .map(|index| lines[index].clone())
        .collect()
}
