//! A line of a stream as JSON, borrowed from its bytes.
//!
//! A document is a flat list of [nodes](Node) in document order instead of a tree, so a line costs no
//! allocation of its own once the list has grown, and strings without escapes stay where they are.

mod number;
#[cfg(test)]
mod tests;
pub(crate) mod types;

use std::borrow::Cow;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

pub use number::Number;
use types::Types;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

/// One JSON document.
#[derive(Clone, Debug, Default)]
pub struct Document<'a> {
    nodes: Vec<Node<'a>>,
}

/// A piece of a document. The parts of an array or object follow it.
#[derive(Clone, Debug)]
enum Node<'a> {
    Null,
    Boolean(bool),
    Number(Number),
    String(Cow<'a, str>),
    /// `len` items; the next node after the last of them is at `end`.
    Array {
        len: usize,
        end: usize,
    },
    /// `len` times a key and its value; the next node after the last of them is at `end`.
    Object {
        len: usize,
        end: usize,
    },
}

/// Why bytes are no JSON document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} at column {column}")]
pub struct SyntaxError {
    /// What is wrong, such as `expected value`.
    pub what: String,
    /// The byte in the line where it shows, from 1.
    pub column: usize,
    /// Whether a whole value came first: something follows it.
    pub trailing: bool,
    /// Whether the line ends within the value.
    pub cut: bool,
    /// Whether it is JSON so far, but nested deeper than [`MAX_DEPTH`].
    pub deep: bool,
}

/// How many arrays and objects may stand within each other.
pub const MAX_DEPTH: usize = 127;

impl<'a> Document<'a> {
    /// Reads one line; `scratch` is a document that is not needed any more.
    ///
    /// # Errors
    /// The first place where it is no JSON. A number beyond the range of a double is such a place,
    /// and so is an escaped lone surrogate: neither has a value that a reader could use.
    pub fn read(line: &'a str, scratch: Document<'_>) -> Result<Self, SyntaxError> {
        let mut nodes = recycle(scratch.nodes);
        let mut reader = serde_json::Deserializer::from_str(line);
        let fault = |error: &serde_json::Error, trailing| {
            let what = what(error);
            SyntaxError {
                column: error.column(),
                trailing,
                cut: error.is_eof(),
                deep: what == TOO_DEEP,
                what,
            }
        };
        Builder(&mut nodes)
            .deserialize(&mut reader)
            .map_err(|error| fault(&error, false))?;
        reader.end().map_err(|error| fault(&error, true))?;
        Ok(Self { nodes })
    }

    /// The whole value; `null` for a document that was never read.
    #[must_use]
    pub fn root(&self) -> Value<'_, 'a> {
        Value {
            nodes: &self.nodes,
            at: 0,
        }
    }
}

/// The same vector, emptied, for nodes that borrow from something else.
fn recycle<'b>(mut nodes: Vec<Node<'_>>) -> Vec<Node<'b>> {
    nodes.clear();
    // Nothing is left to map; collecting in place keeps the allocation.
    nodes.into_iter().map(|_| Node::Null).collect()
}

/// What `serde_json` says of a value beyond [`MAX_DEPTH`]; it has no kind of its own for it.
const TOO_DEEP: &str = "recursion limit exceeded";

/// The message of `serde_json` without its place.
fn what(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or(&text).to_owned()
}

/// A value within a document.
#[derive(Clone, Copy)]
pub struct Value<'d, 'a> {
    nodes: &'d [Node<'a>],
    at: usize,
}

impl<'d, 'a> Value<'d, 'a> {
    fn node(self) -> Option<&'d Node<'a>> {
        self.nodes.get(self.at)
    }

    /// Its JSON type: `null`, `boolean`, `number`, `string`, `array` or `object`.
    #[must_use]
    pub fn kind(self) -> &'static str {
        match self.node() {
            None | Some(Node::Null) => "null",
            Some(Node::Boolean(_)) => "boolean",
            Some(Node::Number(_)) => "number",
            Some(Node::String(_)) => "string",
            Some(Node::Array { .. }) => "array",
            Some(Node::Object { .. }) => "object",
        }
    }

    /// The types that JSON Schema has for it.
    #[inline]
    pub(crate) fn types(self) -> Types {
        match self.node() {
            None | Some(Node::Null) => Types::NULL,
            Some(Node::Boolean(_)) => Types::BOOLEAN,
            Some(Node::Number(number)) if number.is_integer() => Types::INTEGER,
            Some(Node::Number(_)) => Types::FRACTION,
            Some(Node::String(_)) => Types::STRING,
            Some(Node::Array { .. }) => Types::ARRAY,
            Some(Node::Object { .. }) => Types::OBJECT,
        }
    }

    /// Where it stands among all values and keys of its document.
    pub(crate) fn position(self) -> usize {
        self.at
    }

    /// The objects within, itself included.
    pub(crate) fn objects(self) -> impl Iterator<Item = Self> {
        let nodes = self.nodes;
        (self.at..after(nodes, self.at))
            .map(move |at| Self { nodes, at })
            .filter(|value| value.is_object())
    }

    /// The text, if it is a string.
    #[must_use]
    pub fn as_str(self) -> Option<&'d str> {
        match self.node() {
            Some(Node::String(text)) => Some(text),
            _ => None,
        }
    }

    /// `true` or `false`, if it is one.
    #[must_use]
    pub fn as_bool(self) -> Option<bool> {
        match self.node() {
            Some(Node::Boolean(value)) => Some(*value),
            _ => None,
        }
    }

    /// The number, if it is one.
    #[must_use]
    pub fn as_number(self) -> Option<Number> {
        match self.node() {
            Some(Node::Number(number)) => Some(*number),
            _ => None,
        }
    }

    /// The number, if it is whole and from 0 to 2^64 - 1, however it is written.
    #[must_use]
    pub fn as_u64(self) -> Option<u64> {
        self.as_number()?.as_u64()
    }

    /// Whether it is an object.
    #[must_use]
    pub fn is_object(self) -> bool {
        matches!(self.node(), Some(Node::Object { .. }))
    }

    /// Whether it is an array.
    #[must_use]
    pub fn is_array(self) -> bool {
        matches!(self.node(), Some(Node::Array { .. }))
    }

    /// Whether it is `null`.
    #[must_use]
    pub fn is_null(self) -> bool {
        matches!(self.node(), None | Some(Node::Null))
    }

    /// How many items or fields it has; 0 for anything else.
    #[must_use]
    pub fn len(self) -> usize {
        match self.node() {
            Some(Node::Array { len, .. } | Node::Object { len, .. }) => *len,
            _ => 0,
        }
    }

    /// Whether [`len`](Self::len) is 0.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The items, if it is an array; else none.
    #[must_use]
    pub fn items(self) -> Items<'d, 'a> {
        let left = if self.is_array() { self.len() } else { 0 };
        Items {
            nodes: self.nodes,
            at: self.at + 1,
            left,
        }
    }

    /// The fields in the order of the line, if it is an object; else none. A key that stands twice
    /// comes twice.
    #[must_use]
    pub fn fields(self) -> Fields<'d, 'a> {
        let left = if self.is_object() { self.len() } else { 0 };
        Fields {
            nodes: self.nodes,
            at: self.at + 1,
            left,
        }
    }

    /// The field of an object; of a key that stands twice the last, as most readers take it.
    #[must_use]
    pub fn get(self, key: &str) -> Option<Self> {
        let mut found = None;
        for (name, value) in self.fields() {
            if name == key {
                found = Some(value);
            }
        }
        found
    }

    /// The field of an object; of a key that stands twice the first, which is cheaper to find.
    #[inline]
    pub(crate) fn first(self, key: &str) -> Option<Self> {
        let mut fields = self.fields();
        fields
            .find(|(name, _)| *name == key)
            .map(|(_, value)| value)
    }

    /// The item of an array, from 0.
    #[must_use]
    pub fn item(self, index: usize) -> Option<Self> {
        self.items().nth(index)
    }

    /// The value at a JSON pointer.
    #[must_use]
    pub fn pointer(self, pointer: &str) -> Option<Self> {
        if pointer.is_empty() {
            return Some(self);
        }
        let mut value = self;
        for step in pointer.strip_prefix('/')?.split('/') {
            let step = if step.contains('~') {
                Cow::Owned(step.replace("~1", "/").replace("~0", "~"))
            } else {
                Cow::Borrowed(step)
            };
            value = if value.is_array() {
                value.item(step.parse().ok()?)?
            } else {
                value.get(&step)?
            };
        }
        Some(value)
    }

    /// A number that equal values share, whatever the order of their keys and the way their numbers
    /// are written.
    #[must_use]
    pub fn fingerprint(self) -> u64 {
        match self.node() {
            None | Some(Node::Null) => of(&0_u8),
            Some(Node::Boolean(value)) => of(&(1_u8, value)),
            Some(Node::Number(number)) => of(&(2_u8, number.canonical())),
            Some(Node::String(text)) => of(&(3_u8, &**text)),
            Some(Node::Array { .. }) => {
                let mut hasher = DefaultHasher::new();
                4_u8.hash(&mut hasher);
                for item in self.items() {
                    item.fingerprint().hash(&mut hasher);
                }
                hasher.finish()
            }
            Some(Node::Object { .. }) => {
                // A sum, so that the order of the keys does not count.
                let fields = self.fields().fold(5_u64, |sum, (key, value)| {
                    sum.wrapping_add(of(&(6_u8, key, value.fingerprint())))
                });
                of(&fields)
            }
        }
    }

    /// The value as an untyped tree of its own.
    #[must_use]
    pub fn to_value(self) -> serde_json::Value {
        match self.node() {
            None | Some(Node::Null) => serde_json::Value::Null,
            Some(Node::Boolean(value)) => (*value).into(),
            Some(Node::Number(Number::Unsigned(number))) => (*number).into(),
            Some(Node::Number(Number::Signed(number))) => (*number).into(),
            Some(Node::Number(Number::Float(number))) => (*number).into(),
            Some(Node::String(text)) => text.as_ref().into(),
            Some(Node::Array { .. }) => self.items().map(Self::to_value).collect(),
            Some(Node::Object { .. }) => {
                let fields = self.fields();
                serde_json::Value::Object(
                    fields
                        .map(|(key, value)| (key.to_owned(), value.to_value()))
                        .collect(),
                )
            }
        }
    }
}

fn of(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Equality as JSON Schema has it: the order of keys does not count, and `3` and `3.0` are one number.
impl PartialEq for Value<'_, '_> {
    fn eq(&self, other: &Self) -> bool {
        match (self.node(), other.node()) {
            (None | Some(Node::Null), None | Some(Node::Null)) => true,
            (Some(Node::Boolean(a)), Some(Node::Boolean(b))) => a == b,
            (Some(Node::Number(a)), Some(Node::Number(b))) => a == b,
            (Some(Node::String(a)), Some(Node::String(b))) => a == b,
            (Some(Node::Array { len: a, .. }), Some(Node::Array { len: b, .. })) => {
                a == b && self.items().eq(other.items())
            }
            (Some(Node::Object { len: a, .. }), Some(Node::Object { len: b, .. })) => {
                a == b
                    && (self.fields().eq(other.fields())
                        || self
                            .fields()
                            .all(|(key, value)| other.get(key) == Some(value)))
            }
            _ => false,
        }
    }
}

/// The value as JSON.
impl fmt::Display for Value<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_value().fmt(f)
    }
}

impl fmt::Debug for Value<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The node after the value at `at`.
fn after(nodes: &[Node<'_>], at: usize) -> usize {
    match nodes.get(at) {
        Some(Node::Array { end, .. } | Node::Object { end, .. }) => *end,
        _ => at + 1,
    }
}

/// The items of an array.
#[derive(Clone, Debug)]
pub struct Items<'d, 'a> {
    nodes: &'d [Node<'a>],
    at: usize,
    left: usize,
}

impl<'d, 'a> Iterator for Items<'d, 'a> {
    type Item = Value<'d, 'a>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let value = Value {
            nodes: self.nodes,
            at: self.at,
        };
        self.at = after(self.nodes, self.at);
        Some(value)
    }
}

/// The fields of an object.
#[derive(Clone, Debug)]
pub struct Fields<'d, 'a> {
    nodes: &'d [Node<'a>],
    at: usize,
    left: usize,
}

impl<'d, 'a> Iterator for Fields<'d, 'a> {
    type Item = (&'d str, Value<'d, 'a>);

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let Some(Node::String(key)) = self.nodes.get(self.at) else {
            return None;
        };
        let value = Value {
            nodes: self.nodes,
            at: self.at + 1,
        };
        self.at = after(self.nodes, self.at + 1);
        Some((key, value))
    }
}

/// Appends the nodes of the next value.
struct Builder<'b, 'a>(&'b mut Vec<Node<'a>>);

impl<'a> DeserializeSeed<'a> for Builder<'_, 'a> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'a> Visitor<'a> for Builder<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        self.0.push(Node::Null);
        Ok(())
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<(), E> {
        self.0.push(Node::Boolean(value));
        Ok(())
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<(), E> {
        self.0.push(Node::Number(Number::Unsigned(number)));
        Ok(())
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<(), E> {
        self.0.push(Node::Number(Number::Signed(number)));
        Ok(())
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<(), E> {
        self.0.push(Node::Number(Number::Float(number)));
        Ok(())
    }

    fn visit_borrowed_str<E: de::Error>(self, text: &'a str) -> Result<(), E> {
        self.0.push(Node::String(Cow::Borrowed(text)));
        Ok(())
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<(), E> {
        self.0.push(Node::String(Cow::Owned(text.to_owned())));
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut items: A) -> Result<(), A::Error> {
        let nodes = self.0;
        let at = nodes.len();
        nodes.push(Node::Null);
        let mut len = 0;
        while items.next_element_seed(Builder(nodes))?.is_some() {
            len += 1;
        }
        nodes[at] = Node::Array {
            len,
            end: nodes.len(),
        };
        Ok(())
    }

    fn visit_map<A: MapAccess<'a>>(self, mut fields: A) -> Result<(), A::Error> {
        let nodes = self.0;
        let at = nodes.len();
        nodes.push(Node::Null);
        let mut len = 0;
        while fields.next_key_seed(Builder(nodes))?.is_some() {
            fields.next_value_seed(Builder(nodes))?;
            len += 1;
        }
        nodes[at] = Node::Object {
            len,
            end: nodes.len(),
        };
        Ok(())
    }
}
