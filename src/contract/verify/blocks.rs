//! The blocks of an answer as its deltas tell them.

use super::print::same_fields;
use super::rules::Report;
use crate::contract::Wire;
use crate::contract::grammar::Rule;
use crate::contract::json::{Document, Value};
use crate::event::PartialJson;

/// The blocks of the open answer.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    blocks: Vec<Block>,
    /// Strings of earlier blocks, for the next ones.
    spare: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Thinking,
    Call,
}

#[derive(Debug)]
struct Block {
    index: u64,
    kind: Kind,
    /// The joined pieces, while it is open.
    joined: String,
    /// Of a call: its id and name, as they began.
    id: Option<u64>,
    name: Option<u64>,
    end: Option<End>,
    /// Its end brought a text that no piece had.
    withheld: bool,
    /// A fault of it was told.
    faulty: bool,
    /// Of a call of the dreb wire that is open: what its pieces determine.
    arguments: Option<Box<PartialJson>>,
}

/// What the end of a block settled.
#[derive(Debug)]
enum End {
    Text(u64),
    Call {
        whole: u64,
        arguments: Option<u64>,
        incomplete: bool,
    },
}

impl Kind {
    /// Its name as type of a content block, which is also the key of its text.
    fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Thinking => "thinking",
            Self::Call => "toolCall",
        }
    }
}

const INDEX: &str = "/assistantMessageEvent/contentIndex";

fn print(value: Option<Value<'_, '_>>) -> Option<u64> {
    value.map(Value::fingerprint)
}

fn is_true(value: Value<'_, '_>, key: &str) -> bool {
    value.get(key).and_then(Value::as_bool) == Some(true)
}

impl Blocks {
    pub(super) fn clear(&mut self) {
        for mut block in self.blocks.drain(..) {
            block.joined.clear();
            // One huge answer shall not be paid for ever after.
            if block.joined.capacity() > 0 && block.joined.capacity() < 1 << 20 {
                self.spare.push(block.joined);
            }
        }
        self.spare.truncate(16);
    }

    fn find(&mut self, index: u64) -> Option<&mut Block> {
        self.blocks.iter_mut().rfind(|block| block.index == index)
    }

    /// Takes a `message_update`.
    pub(super) fn update(&mut self, line: Value<'_, '_>, wire: Wire, report: &mut Report<'_>) {
        let Some(delta) = line.get("assistantMessageEvent") else {
            return;
        };
        let what = delta
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let Some((kind, part)) = what.split_once('_') else {
            return;
        };
        let kind = match kind {
            "text" => Kind::Text,
            "thinking" => Kind::Thinking,
            "toolcall" => Kind::Call,
            _ => return,
        };
        let Some(index) = delta.get("contentIndex").and_then(Value::as_u64) else {
            return;
        };
        if part == "start" {
            self.start(index, kind, line, delta, wire, report);
            return;
        }
        let name = kind.name();
        let Some(block) = self
            .find(index)
            .filter(|block| block.kind == kind && block.end.is_none())
        else {
            report.wrong(Rule::Fold, INDEX, || {
                format!("there is no open {name} block {index}")
            });
            return;
        };
        match part {
            "delta" => {
                let piece = delta
                    .get("delta")
                    .and_then(Value::as_str)
                    .unwrap_or_default();
                block.joined.push_str(piece);
                if let Some(arguments) = &mut block.arguments {
                    arguments.push(piece);
                }
            }
            "end" if kind == Kind::Call => block.end_call(delta.get("toolCall"), report),
            "end" => block.end_text(delta.get("content"), report),
            _ => {}
        }
    }

    fn start(
        &mut self,
        index: u64,
        kind: Kind,
        line: Value<'_, '_>,
        delta: Value<'_, '_>,
        wire: Wire,
        report: &mut Report<'_>,
    ) {
        let next = self.blocks.len() as u64;
        if index != next {
            report.wrong(Rule::Fold, INDEX, || {
                format!("block {index} starts where block {next} is the next one")
            });
        }
        let (id, name) = if wire == Wire::Dreb {
            let content = line
                .get("message")
                .and_then(|message| message.get("content"));
            let at = usize::try_from(index).ok();
            let block = at.and_then(|at| content?.item(at));
            (
                block.and_then(|b| b.get("id")),
                block.and_then(|b| b.get("name")),
            )
        } else {
            (delta.get("id"), delta.get("toolName"))
        };
        let call = kind == Kind::Call;
        self.blocks.push(Block {
            index,
            kind,
            joined: self.spare.pop().unwrap_or_default(),
            id: print(id).filter(|_| call),
            name: print(name).filter(|_| call),
            end: None,
            withheld: false,
            faulty: false,
            arguments: (call && wire == Wire::Dreb).then(Box::default),
        });
    }

    /// Holds a finished message against its deltas.
    pub(super) fn agree(&self, message: Value<'_, '_>, broken: bool, report: &mut Report<'_>) {
        let content = message.get("content");
        let len = content.map_or(0, Value::len);
        let told = self.blocks.len();
        if len != told {
            let hint = if told == 0 {
                "; a stream from which lines were left out (--events) can only be checked line by \
                 line (--lines-only)"
            } else {
                ""
            };
            report.wrong(Rule::Fold, "/message/content", || {
                format!("holds {len} blocks, the deltas tell of {told}{hint}")
            });
            return;
        }
        let items = content.into_iter().flat_map(Value::items);
        for (at, (block, item)) in self.blocks.iter().zip(items).enumerate() {
            if block.faulty {
                continue;
            }
            if let Some((field, what)) = block.difference(item, broken) {
                let pointer = format!("/message/content/{at}{field}");
                report.wrong(Rule::Fold, &pointer, || what);
                return;
            }
        }
    }

    /// Holds the message that an update of the dreb wire shows against its deltas.
    pub(super) fn shown(&self, content: Option<Value<'_, '_>>) -> Result<(), (String, String)> {
        let len = content.map_or(0, Value::len);
        let told = self.blocks.len();
        if len != told {
            let what = format!("holds {len} blocks, the deltas tell of {told}");
            return Err((String::new(), what));
        }
        let items = content.into_iter().flat_map(Value::items);
        for (at, (block, item)) in self.blocks.iter().zip(items).enumerate() {
            if block.faulty {
                continue;
            }
            block
                .is_shown(item)
                .map_err(|what| (format!("/{at}"), what))?;
        }
        Ok(())
    }
}

/// `resolvedToolName` is there when a call starts or ends, and only then.
pub(super) fn named(line: Value<'_, '_>, report: &mut Report<'_>) {
    let delta = line.get("assistantMessageEvent");
    let what = delta.and_then(|delta| delta.get("type")?.as_str());
    let what = what.unwrap_or_default();
    let wanted = matches!(what, "toolcall_start" | "toolcall_end");
    let has = line.get("resolvedToolName").is_some();
    if wanted && !has {
        report.wrong(Rule::ResolvedToolName, "", || {
            format!("\"resolvedToolName\" is missing beside {what}")
        });
    } else if has && !wanted {
        report.wrong(Rule::ResolvedToolName, "/resolvedToolName", || {
            format!("does not come with {what}")
        });
    }
}

impl Block {
    fn end_text(&mut self, content: Option<Value<'_, '_>>, report: &mut Report<'_>) {
        let text = content.and_then(Value::as_str).unwrap_or_default();
        if text != self.joined {
            if self.kind == Kind::Thinking && self.joined.is_empty() {
                self.withheld = true;
            } else {
                self.faulty = true;
                report.wrong(Rule::Fold, "/assistantMessageEvent/content", || {
                    format!(
                        "is not what the pieces of the block say: {}",
                        apart(text, &self.joined)
                    )
                });
            }
        }
        self.end = print(content).map(End::Text);
        self.joined.clear();
    }

    fn end_call(&mut self, call: Option<Value<'_, '_>>, report: &mut Report<'_>) {
        let Some(call) = call else {
            return;
        };
        if let Some((field, what)) = self.call_differs(call, true) {
            self.faulty = true;
            let pointer = format!("/assistantMessageEvent/toolCall{field}");
            report.wrong(Rule::Fold, &pointer, || what);
        }
        self.end = Some(End::Call {
            whole: call.fingerprint(),
            arguments: print(call.get("arguments")),
            incomplete: is_true(call, "incomplete"),
        });
        self.arguments = None;
        self.joined.clear();
    }

    /// Where a call differs from its start and its pieces.
    fn call_differs(&self, call: Value<'_, '_>, ended: bool) -> Option<(&'static str, String)> {
        for (field, key, begun) in [("/id", "id", self.id), ("/name", "name", self.name)] {
            if begun.is_some() && begun != print(call.get(key)) {
                return Some((field, "is not that of its toolcall_start".to_owned()));
            }
        }
        let arguments = call.get("arguments")?;
        let incomplete = is_true(call, "incomplete");
        let joined = self.joined.trim_matches([' ', '\t', '\r', '\n']);
        let mut whole = true;
        let mut equal = if joined.is_empty() {
            arguments.is_object() && arguments.is_empty()
        } else {
            Document::read(joined, Document::default())
                .is_ok_and(|told| told.root().is_object() && told.root() == arguments)
        };
        if !equal {
            // They may be cut off, or hold what only a more patient reader takes.
            let mut told = PartialJson::default();
            told.push(&self.joined);
            whole = told.check().is_ok();
            equal = same_fields(told.value(), arguments);
        }
        if !equal {
            let what = "are not what the pieces of the call say".to_owned();
            Some(("/arguments", what))
        } else if ended && whole && incomplete {
            let what = "is true, but the pieces of the call make a whole object".to_owned();
            Some(("/incomplete", what))
        } else if ended && !whole && !incomplete {
            let what = "the pieces of the call are no whole object, but it is not `incomplete`";
            Some(("", what.to_owned()))
        } else {
            None
        }
    }

    /// Where a block of the finished message differs.
    fn difference(&self, item: Value<'_, '_>, broken: bool) -> Option<(&'static str, String)> {
        let kind = item.get("type").and_then(Value::as_str).unwrap_or_default();
        if kind != self.kind.name() {
            let what = format!("is {kind}, the deltas told of a {} block", self.kind.name());
            return Some(("/type", what));
        }
        let (field, key) = match self.kind {
            Kind::Text => ("/text", "text"),
            Kind::Thinking => ("/thinking", "thinking"),
            Kind::Call => ("/arguments", "arguments"),
        };
        match &self.end {
            None if !broken => Some(("", "has no end among the deltas".to_owned())),
            None if self.kind == Kind::Call => self.call_differs(item, false),
            None => {
                let text = item.get(key).and_then(Value::as_str).unwrap_or_default();
                let withheld = is_true(item, "redacted") && self.joined.is_empty();
                (text != self.joined && !withheld).then(|| {
                    let what = apart(text, &self.joined);
                    (
                        field,
                        format!("is not what the pieces of the block say: {what}"),
                    )
                })
            }
            Some(End::Text(text)) => {
                if Some(*text) != print(item.get(key)) {
                    let what = format!("is not the `content` of its {key}_end");
                    Some((field, what))
                } else if self.withheld && !is_true(item, "redacted") {
                    Some((field, "has no pieces, but is not redacted".to_owned()))
                } else {
                    None
                }
            }
            Some(End::Call {
                arguments,
                incomplete,
                ..
            }) => {
                for (field, key, begun) in [("/id", "id", self.id), ("/name", "name", self.name)] {
                    if begun != print(item.get(key)) {
                        return Some((field, "is not that of its toolcall_start".to_owned()));
                    }
                }
                if *arguments != print(item.get(key)) {
                    Some((field, "are not those of its toolcall_end".to_owned()))
                } else if *incomplete != is_true(item, "incomplete") {
                    let what = "differs from its toolcall_end in `incomplete`".to_owned();
                    Some(("", what))
                } else {
                    None
                }
            }
        }
    }

    /// Whether a snapshot shows the block as it is now, and nothing more.
    fn is_shown(&self, item: Value<'_, '_>) -> Result<(), String> {
        let kind = self.kind.name();
        if item.get("type").and_then(Value::as_str) != Some(kind) {
            return Err(format!("is not the {kind} block that the deltas tell of"));
        }
        let (fields, right) = match (&self.end, self.kind) {
            (Some(End::Call { whole, .. }), _) => {
                return if *whole == item.fingerprint() {
                    Ok(())
                } else {
                    Err("is not the call of its toolcall_end".to_owned())
                };
            }
            (None, Kind::Call) => {
                let begun =
                    self.id == print(item.get("id")) && self.name == print(item.get("name"));
                let arguments = item.get("arguments");
                let told = arguments.zip(self.arguments.as_ref());
                let told = told.is_none_or(|(shown, told)| same_fields(told.value(), shown));
                (4, begun && told)
            }
            (None, _) => {
                let text = item.get(kind).and_then(Value::as_str);
                (2, text == Some(&self.joined))
            }
            (Some(End::Text(text)), _) => {
                let withheld = self.withheld && is_true(item, "redacted");
                (
                    2 + usize::from(withheld),
                    Some(*text) == print(item.get(kind)),
                )
            }
        };
        if !right {
            Err("is not what the deltas so far say".to_owned())
        } else if item.len() != fields {
            Err("has other fields than the deltas determine".to_owned())
        } else {
            Ok(())
        }
    }
}

/// Where two texts part, in a few words.
fn apart(is: &str, told: &str) -> String {
    const SHOWN: usize = 24;
    let common = is.bytes().zip(told.bytes());
    let mut at = common.take_while(|(a, b)| a == b).count();
    while !is.is_char_boundary(at) || !told.is_char_boundary(at) {
        at -= 1;
    }
    let piece = |text: &str| {
        let rest: String = text[at..].chars().take(SHOWN).collect();
        let more = if text[at..].chars().nth(SHOWN).is_some() {
            "…"
        } else {
            ""
        };
        format!("{:?}", format!("{rest}{more}"))
    };
    format!("from byte {at} on {} instead of {}", piece(is), piece(told))
}
