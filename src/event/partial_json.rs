//! The best-effort parse of a growing JSON object: tool-call arguments while they stream.

#[cfg(test)]
mod tests;

use serde_json::map::Entry;
use serde_json::{Map, Value};

/// Containers may nest this deep.
///
/// A line wraps the arguments in up to eight levels of its own, and common readers refuse a line
/// that nests deeper than 128.
pub const MAX_DEPTH: usize = 100;

/// Reads a JSON object piece by piece and knows at any time what the text so far determines.
///
/// Each piece costs time in proportion to its length plus the nesting depth (at most
/// [`MAX_DEPTH`]); nothing is read twice. How the text is cut makes no difference to the result.
///
/// An open string shows its text so far, an open array or object its members so far. An incomplete
/// escape, number, literal or key is left out until it is certain. An escaped surrogate without its
/// partner becomes U+FFFD. The first fault stops the reading; what was read before it stays.
///
/// ```
/// let mut arguments = quipu::event::PartialJson::default();
/// arguments.push(r#"{"path":"src/ma"#);
/// assert_eq!(arguments.value()["path"], "src/ma");
/// arguments.push(r#"in.rs"}"#);
/// assert_eq!(arguments.finish().unwrap()["path"], "src/main.rs");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartialJson {
    root: Map<String, Value>,
    parser: Parser,
}

/// The string at the very end of a growing object: in its serialised form only this string's quote
/// and the brackets of the open containers come after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenText<'a> {
    /// Where the string begins, in bytes from the begin of the text: no two strings share it.
    pub begin: usize,
    /// The string so far.
    pub text: &'a str,
    /// Containers that are open around it, the object itself included.
    pub depth: usize,
}

/// Why a text is not one whole JSON object. Offsets count bytes from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonFault {
    /// The first thing in the text is not `{`.
    #[error("not a JSON object")]
    NotAnObject,
    /// Something else was needed at this place.
    #[error("at byte {at}: expected {expected}")]
    Syntax {
        /// Offset of the offending byte.
        at: usize,
        /// What may stand there.
        expected: &'static str,
    },
    /// The containers nest deeper than [`MAX_DEPTH`].
    #[error("at byte {at}: nested deeper than {MAX_DEPTH} levels")]
    TooDeep {
        /// Offset of the bracket that is one too many.
        at: usize,
    },
    /// The text ends inside the object.
    #[error("the text ends before its object does")]
    Incomplete,
}

impl PartialJson {
    /// Reads the next piece of the text. After a fault, pieces are ignored.
    pub fn push(&mut self, piece: &str) {
        if self.parser.fault.is_none() {
            self.parser.piece(&mut self.root, piece);
        }
    }

    /// What the text so far determines; empty while it is not an object.
    #[must_use]
    pub fn value(&self) -> &Map<String, Value> {
        &self.root
    }

    /// The string value that is still growing, unless something else of the value comes after it.
    #[must_use]
    pub fn open_text(&self) -> Option<OpenText<'_>> {
        let parser = &self.parser;
        let at_the_end = parser.frames.iter().all(|frame| frame.repeated.is_none());
        if parser.token != Token::Text || !at_the_end {
            return None;
        }
        let mut value = self.root.values().next_back()?;
        loop {
            value = match value {
                Value::String(text) => {
                    return Some(OpenText {
                        begin: parser.text_begin,
                        text,
                        depth: parser.frames.len(),
                    });
                }
                Value::Object(map) => map.values().next_back()?,
                Value::Array(items) => items.last()?,
                _ => return None,
            };
        }
    }

    /// Gives away what the text so far determines.
    #[must_use]
    pub fn into_value(self) -> Map<String, Value> {
        self.root
    }

    /// Whether the text so far is more than white space.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.parser.stage != Stage::Before || self.parser.fault.is_some()
    }

    /// Whether the text so far is one whole object. No text, or only white space, counts as `{}`:
    /// services send nothing for a call without arguments.
    pub fn check(&self) -> Result<(), JsonFault> {
        match &self.parser.fault {
            Some(fault) => Err(fault.clone()),
            None if self.parser.stage == Stage::Inside => Err(JsonFault::Incomplete),
            None => Ok(()),
        }
    }

    /// The whole object, under the rule of [`PartialJson::check`].
    pub fn finish(self) -> Result<Map<String, Value>, JsonFault> {
        self.check()?;
        Ok(self.root)
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Parser {
    /// Bytes of the pieces before the current one.
    before: usize,
    stage: Stage,
    /// One for each open container, the root first.
    frames: Vec<Frame>,
    token: Token,
    /// Offset of the string value that began last.
    text_begin: usize,
    /// The key being read, and the one whose value comes next.
    key: String,
    escape: Escape,
    /// An escaped high surrogate that waits for its low one.
    high: Option<u16>,
    fault: Option<JsonFault>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Stage {
    #[default]
    Before,
    Inside,
    After,
}

/// What an open container may have next.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Expect {
    /// A first member or the end.
    First,
    Key,
    Colon,
    Value,
    /// A comma or the end.
    Next,
}

#[derive(Clone, Debug, PartialEq)]
struct Frame {
    expect: Expect,
    /// Key of the member being read if an earlier member had the same key: then it is not the
    /// last one of its map.
    repeated: Option<String>,
}

/// The token that a piece may have cut.
#[derive(Clone, Debug, Default, PartialEq)]
enum Token {
    #[default]
    None,
    Key,
    Text,
    /// A number or literal.
    Bare(String),
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Escape {
    #[default]
    None,
    Backslash,
    Unicode {
        digits: u8,
        unit: u16,
    },
}

enum Container<'a> {
    Object(&'a mut Map<String, Value>),
    Array(&'a mut Vec<Value>),
}

impl<'a> Container<'a> {
    fn of(value: &'a mut Value) -> Option<Self> {
        match value {
            Value::Object(map) => Some(Self::Object(map)),
            Value::Array(list) => Some(Self::Array(list)),
            _ => None,
        }
    }

    /// The member being read.
    fn current(&mut self, frame: &Frame) -> Option<&mut Value> {
        match (self, &frame.repeated) {
            (Self::Object(map), Some(key)) => map.get_mut(key),
            (Self::Object(map), None) => map.values_mut().next_back(),
            (Self::Array(list), _) => list.last_mut(),
        }
    }
}

/// The unread rest of a piece.
struct Input<'a> {
    piece: &'a str,
    at: usize,
}

impl<'a> Input<'a> {
    fn peek(&self) -> Option<u8> {
        self.piece.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &'a str {
        // Only ASCII is ever stepped over singly, so `at` is a character boundary.
        self.piece.get(self.at..).unwrap_or_default()
    }

    /// Takes the longest run of bytes that `keep` accepts; it must refuse no part of a character.
    fn run(&mut self, keep: impl Fn(u8) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.bytes().position(|byte| !keep(byte));
        let run = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        self.at += run.len();
        run
    }

    fn skip_space(&mut self) {
        self.run(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
    }
}

type Read = Result<(), JsonFault>;

impl Parser {
    fn piece(&mut self, root: &mut Map<String, Value>, piece: &str) {
        let mut input = Input { piece, at: 0 };
        if let Err(fault) = self.document(root, &mut input) {
            self.fault = Some(fault);
        }
        self.before += piece.len();
    }

    fn document(&mut self, root: &mut Map<String, Value>, input: &mut Input<'_>) -> Read {
        if self.stage == Stage::Before {
            input.skip_space();
            match input.peek() {
                None => return Ok(()),
                Some(b'{') => {
                    self.open(input)?;
                    self.stage = Stage::Inside;
                }
                Some(_) => return Err(JsonFault::NotAnObject),
            }
        }
        if self.stage == Stage::Inside {
            self.container(Container::Object(root), 0, input)?;
            if !self.frames.is_empty() {
                return Ok(());
            }
            self.stage = Stage::After;
        }
        input.skip_space();
        match input.peek() {
            None => Ok(()),
            Some(_) => Err(self.syntax(input, "the end of the text")),
        }
    }

    /// Reads inside the container at `depth` until it closes or the piece ends.
    fn container(&mut self, mut open: Container<'_>, depth: usize, input: &mut Input<'_>) -> Read {
        loop {
            if self.frames.len() > depth + 1 {
                if let Some(inner) = open.current(&self.frames[depth]).and_then(Container::of) {
                    self.container(inner, depth + 1, input)?;
                }
                if self.frames.len() > depth + 1 {
                    return Ok(());
                }
                self.frames[depth].expect = Expect::Next;
            }
            if !self.step(&mut open, depth, input)? {
                return Ok(());
            }
        }
    }

    /// Reads one token, or what there is of it. False when the container or the piece has ended.
    fn step(
        &mut self,
        open: &mut Container<'_>,
        depth: usize,
        input: &mut Input<'_>,
    ) -> Result<bool, JsonFault> {
        match &mut self.token {
            Token::None => {
                input.skip_space();
                match input.peek() {
                    None => Ok(false),
                    Some(byte) => self.begin(open, depth, byte, input),
                }
            }
            Token::Key => {
                let mut key = std::mem::take(&mut self.key);
                let closed = self.string(&mut key, input);
                self.key = key;
                let closed = closed?;
                if closed {
                    self.token = Token::None;
                    self.frames[depth].expect = Expect::Colon;
                }
                Ok(closed)
            }
            Token::Text => {
                let closed = match open.current(&self.frames[depth]) {
                    Some(Value::String(text)) => self.string(text, input)?,
                    _ => true,
                };
                if closed {
                    self.token = Token::None;
                    self.frames[depth].expect = Expect::Next;
                }
                Ok(closed)
            }
            Token::Bare(text) => {
                text.push_str(input.run(is_bare));
                if input.peek().is_none() {
                    return Ok(false);
                }
                let Ok(value) = serde_json::from_str(text) else {
                    return Err(self.syntax(input, "a number, true, false or null before this"));
                };
                self.token = Token::None;
                self.place(open, depth, value);
                self.frames[depth].expect = Expect::Next;
                Ok(true)
            }
        }
    }

    /// Starts a token at `byte`, the next one of the input.
    fn begin(
        &mut self,
        open: &mut Container<'_>,
        depth: usize,
        byte: u8,
        input: &mut Input<'_>,
    ) -> Result<bool, JsonFault> {
        let object = matches!(open, Container::Object(_));
        match (self.frames[depth].expect, byte) {
            (Expect::First | Expect::Next, b'}') if object => self.frames.truncate(depth),
            (Expect::First | Expect::Next, b']') if !object => self.frames.truncate(depth),
            (Expect::First | Expect::Key, b'"') if object => {
                self.key.clear();
                self.token = Token::Key;
            }
            (Expect::Colon, b':') => self.frames[depth].expect = Expect::Value,
            (Expect::Next, b',') => {
                self.frames[depth].expect = if object { Expect::Key } else { Expect::Value };
            }
            (Expect::Value, _) => return self.begin_value(open, depth, byte, input),
            (Expect::First, _) if !object => return self.begin_value(open, depth, byte, input),
            (Expect::First, _) => return Err(self.syntax(input, "a key or `}`")),
            (Expect::Key, _) => return Err(self.syntax(input, "a key")),
            (Expect::Colon, _) => return Err(self.syntax(input, "`:`")),
            (Expect::Next, _) if object => return Err(self.syntax(input, "`,` or `}`")),
            (Expect::Next, _) => return Err(self.syntax(input, "`,` or `]`")),
        }
        input.at += 1;
        Ok(self.frames.len() > depth)
    }

    fn begin_value(
        &mut self,
        open: &mut Container<'_>,
        depth: usize,
        byte: u8,
        input: &mut Input<'_>,
    ) -> Result<bool, JsonFault> {
        match byte {
            b'"' => {
                input.at += 1;
                self.text_begin = self.before + input.at;
                self.token = Token::Text;
                self.place(open, depth, Value::String(String::new()));
            }
            b'{' => {
                self.open(input)?;
                self.place(open, depth, Value::Object(Map::new()));
            }
            b'[' => {
                self.open(input)?;
                self.place(open, depth, Value::Array(Vec::new()));
            }
            _ if is_bare(byte) => self.token = Token::Bare(String::new()),
            _ => return Err(self.syntax(input, "a value")),
        }
        Ok(true)
    }

    /// Takes an opening bracket.
    fn open(&mut self, input: &mut Input<'_>) -> Read {
        if self.frames.len() == MAX_DEPTH {
            return Err(JsonFault::TooDeep {
                at: self.before + input.at,
            });
        }
        input.at += 1;
        self.frames.push(Frame {
            expect: Expect::First,
            repeated: None,
        });
        Ok(())
    }

    /// Adds a member. Of members with the same key the last one counts, in the place of the first.
    fn place(&mut self, open: &mut Container<'_>, depth: usize, value: Value) {
        match open {
            Container::Array(list) => list.push(value),
            Container::Object(map) => {
                let key = std::mem::take(&mut self.key);
                self.frames[depth].repeated = match map.entry(key) {
                    Entry::Vacant(entry) => {
                        entry.insert(value);
                        None
                    }
                    Entry::Occupied(mut entry) => {
                        entry.insert(value);
                        Some(entry.key().clone())
                    }
                };
            }
        }
    }

    /// Reads on in a string. True when its closing quote was taken.
    fn string(&mut self, out: &mut String, input: &mut Input<'_>) -> Result<bool, JsonFault> {
        loop {
            match self.escape {
                Escape::None => {
                    let plain = input.run(|byte| byte >= b' ' && byte != b'"' && byte != b'\\');
                    if !plain.is_empty() {
                        self.flush_high(out);
                        out.push_str(plain);
                    }
                    match input.peek() {
                        None => return Ok(false),
                        Some(b'"') => {
                            self.flush_high(out);
                            input.at += 1;
                            return Ok(true);
                        }
                        Some(b'\\') => self.escape = Escape::Backslash,
                        Some(_) => return Err(self.syntax(input, "no bare control character")),
                    }
                    input.at += 1;
                }
                Escape::Backslash => {
                    let Some(byte) = input.peek() else {
                        return Ok(false);
                    };
                    let plain = match byte {
                        b'u' => {
                            input.at += 1;
                            self.escape = Escape::Unicode { digits: 0, unit: 0 };
                            continue;
                        }
                        b'"' | b'\\' | b'/' => char::from(byte),
                        b'b' => '\u{8}',
                        b'f' => '\u{c}',
                        b'n' => '\n',
                        b'r' => '\r',
                        b't' => '\t',
                        _ => return Err(self.syntax(input, "an escape")),
                    };
                    input.at += 1;
                    self.flush_high(out);
                    out.push(plain);
                    self.escape = Escape::None;
                }
                Escape::Unicode { digits: 4, unit } => {
                    self.unit(out, unit);
                    self.escape = Escape::None;
                }
                Escape::Unicode { digits, unit } => {
                    let Some(byte) = input.peek() else {
                        return Ok(false);
                    };
                    let digit = match byte {
                        b'0'..=b'9' => byte - b'0',
                        b'a'..=b'f' => byte - b'a' + 10,
                        b'A'..=b'F' => byte - b'A' + 10,
                        _ => return Err(self.syntax(input, "a hexadecimal digit")),
                    };
                    input.at += 1;
                    self.escape = Escape::Unicode {
                        digits: digits + 1,
                        unit: unit << 4 | u16::from(digit),
                    };
                }
            }
        }
    }

    /// Adds an escaped UTF-16 unit, or keeps it until its partner is there.
    fn unit(&mut self, out: &mut String, unit: u16) {
        let pair = self.high.take().map(|high| [high, unit]);
        if let Some(Ok(whole)) = pair.and_then(|pair| char::decode_utf16(pair).next()) {
            out.push(whole);
            return;
        }
        if pair.is_some() {
            out.push(char::REPLACEMENT_CHARACTER);
        }
        if (0xd800..0xdc00).contains(&unit) {
            self.high = Some(unit);
        } else {
            out.push(char::from_u32(unit.into()).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
    }

    /// A high surrogate that gets no partner.
    fn flush_high(&mut self, out: &mut String) {
        if self.high.take().is_some() {
            out.push(char::REPLACEMENT_CHARACTER);
        }
    }

    fn syntax(&self, input: &Input<'_>, expected: &'static str) -> JsonFault {
        JsonFault::Syntax {
            at: self.before + input.at,
            expected,
        }
    }
}

/// Whether a byte may stand in a number or literal.
fn is_bare(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.')
}
