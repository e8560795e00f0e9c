//! The linted schema: what every later step reads.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A schema folder without mistakes.
#[derive(Clone, Debug)]
pub struct Schema {
    /// The semantic version of the native wire.
    pub version: String,
    /// What each `$id` begins with, up to and without the path: `https://quipu.dev/schema/v1`.
    pub base: String,
    /// Every def by its title.
    pub defs: BTreeMap<String, Def>,
    /// The wires: file stem (`quipu`) to the title of its union.
    pub wires: BTreeMap<String, String>,
    /// What gets bundles: each wire, and `session`, a line of a session file, if there is
    /// `session/entry.json`. Name to the title of its union.
    pub bundles: BTreeMap<String, String>,
    /// `grammar.json`, if there is one.
    pub grammar: Option<Value>,
}

impl Schema {
    /// The titles that nothing else leads to and that are there for their own sake: the wires, and
    /// what lies in the folders of session files and commands.
    pub fn roots(&self) -> impl Iterator<Item = &str> {
        let apart = |def: &&Def| {
            ["session/", "rpc/"]
                .iter()
                .any(|folder| def.path.starts_with(folder))
        };
        let apart = self.defs.values().filter(apart);
        let wires = self.wires.values().map(String::as_str);
        wires.chain(apart.map(|def| def.title.as_str()))
    }

    /// The titles that `root` leads to, itself included.
    #[must_use]
    pub fn reachable<'a>(&'a self, root: &'a str) -> BTreeSet<&'a str> {
        let mut queue = vec![root];
        let mut seen = BTreeSet::new();
        while let Some(title) = queue.pop() {
            if let Some(def) = self.defs.get(title).filter(|_| seen.insert(title)) {
                queue.extend(def.targets());
            }
        }
        seen
    }
}

/// One schema file.
#[derive(Clone, Debug)]
pub struct Def {
    /// Path below the schema folder.
    pub path: String,
    /// The type's name, unique in the schema.
    pub title: String,
    /// What it is, or when it is written.
    pub description: String,
    /// Valid instances.
    pub examples: Vec<Value>,
    /// Met by readers only: in the open bundle, never emitted.
    pub read_only: bool,
    /// What its values look like.
    pub shape: Shape,
}

/// The four kinds of def.
#[derive(Clone, Debug)]
pub enum Shape {
    /// An object with known fields.
    Object(Object),
    /// One of some strings.
    Enum(Vec<String>),
    /// One of several objects, told apart by a const field.
    Union(Union),
    /// A string or an array: two JSON types, so nothing else tells them apart.
    StringOrArray(StringOrArray),
}

/// A def that is a string or an array.
#[derive(Clone, Debug)]
pub struct StringOrArray {
    /// What the string is.
    pub string: String,
    /// What the array is.
    pub array: String,
    /// The type of the array's items.
    pub items: Type,
}

/// An object def.
#[derive(Clone, Debug)]
pub struct Object {
    /// The fields in wire order.
    pub fields: Vec<Field>,
    /// The discriminator's value; then the first field is the discriminator.
    pub tag: Option<String>,
}

impl Object {
    /// The discriminator's name and value.
    #[must_use]
    pub fn tag(&self) -> Option<(&str, &str)> {
        Some((self.fields.first()?.name.as_str(), self.tag.as_deref()?))
    }

    /// The fields that follow the discriminator.
    #[must_use]
    pub fn payload(&self) -> &[Field] {
        &self.fields[usize::from(self.tag.is_some()).min(self.fields.len())..]
    }
}

/// A field of an object.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its key on the wire.
    pub name: String,
    /// What it holds, its unit, and when it is absent.
    pub description: String,
    /// Whether the key is always there.
    pub required: bool,
    /// Its type.
    pub ty: Type,
}

/// The type of a field or of an array's items.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// Any JSON value.
    Any,
    /// An object with any keys.
    Map,
    /// A string.
    String,
    /// `true` or `false`.
    Boolean,
    /// A whole number, without a sign if `unsigned`.
    Integer {
        /// `minimum: 0`.
        unsigned: bool,
    },
    /// A number.
    Number,
    /// This value and no other: a string, a boolean or a whole number.
    Const(Value),
    /// An array.
    Array(Box<Type>),
    /// The def of this title.
    Ref(String),
    /// The type, or `null`.
    Nullable(Box<Type>),
}

impl Type {
    /// The def this type names, wherever it stands in it.
    #[must_use]
    pub fn target(&self) -> Option<&str> {
        match self {
            Self::Ref(title) => Some(title),
            Self::Array(inner) | Self::Nullable(inner) => inner.target(),
            _ => None,
        }
    }
}

/// A union of objects.
#[derive(Clone, Debug)]
pub struct Union {
    /// The discriminator's name: `type` or `role`.
    pub tag: String,
    /// The members in the order of the file.
    pub members: Vec<Member>,
    /// The def whose fields may stand in each member, right after the discriminator.
    pub stamp: Option<String>,
}

impl Union {
    /// The members by discriminator value, in the order of the first of each value. More than one
    /// in a group are told apart by their second discriminator.
    #[must_use]
    pub fn groups(&self) -> Vec<Vec<&Member>> {
        let mut groups: Vec<Vec<&Member>> = Vec::new();
        for member in &self.members {
            match groups
                .iter_mut()
                .find(|group| group[0].value == member.value)
            {
                Some(group) => group.push(member),
                None => groups.push(vec![member]),
            }
        }
        groups
    }
}

/// What a group of members is called: what their titles have in common at both ends, in whole
/// words.
#[must_use]
pub fn group_title(group: &[&Member]) -> String {
    let Some((first, rest)) = group.split_first() else {
        return String::new();
    };
    let words = |title: &str| -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        for c in title.chars() {
            match words.last_mut().filter(|_| !c.is_ascii_uppercase()) {
                Some(word) => word.push(c),
                None => words.push(c.to_string()),
            }
        }
        words
    };
    let first = words(&first.title);
    let (mut head, mut tail) = (first.len(), first.len());
    for other in rest {
        let other = words(&other.title);
        let same = |(a, b): &(&String, &String)| a == b;
        head = head.min(first.iter().zip(&other).take_while(same).count());
        tail = tail.min(
            first
                .iter()
                .rev()
                .zip(other.iter().rev())
                .take_while(same)
                .count(),
        );
    }
    let tail = tail.min(first.len() - head);
    first[..head].concat() + &first[first.len() - tail..].concat()
}

/// A member of a union.
#[derive(Clone, Debug)]
pub struct Member {
    /// The def's title.
    pub title: String,
    /// The discriminator's value.
    pub value: String,
    /// Name and value of the second discriminator, where another member has the same `value`.
    pub second: Option<(String, String)>,
}

impl Member {
    /// The name of the Rust variant: `message_update` is `MessageUpdate`.
    #[must_use]
    pub fn variant(&self) -> String {
        let second = self
            .second
            .as_ref()
            .map(|(_, value)| super::names::pascal(value));
        super::names::pascal(&self.value) + &second.unwrap_or_default()
    }
}

impl Def {
    /// The object, if it is one.
    #[must_use]
    pub fn object(&self) -> Option<&Object> {
        match &self.shape {
            Shape::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The union, if it is one.
    #[must_use]
    pub fn union(&self) -> Option<&Union> {
        match &self.shape {
            Shape::Union(union) => Some(union),
            _ => None,
        }
    }

    /// The titles this def refers to, in order, with repeats.
    #[must_use]
    pub fn targets(&self) -> Vec<&str> {
        match &self.shape {
            Shape::Object(object) => object
                .fields
                .iter()
                .filter_map(|field| field.ty.target())
                .collect(),
            Shape::Enum(_) => Vec::new(),
            Shape::Union(union) => union
                .members
                .iter()
                .map(|member| member.title.as_str())
                .collect(),
            Shape::StringOrArray(either) => either.items.target().into_iter().collect(),
        }
    }
}
