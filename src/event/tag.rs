//! How the generated types read and write their discriminators and const fields.
//!
//! A discriminator that comes first, as every producer writes it, picks the type before the rest
//! of the object is read, so nothing is buffered. One that comes later costs a detour through
//! [`Value`].

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;
use std::marker::PhantomData;

/// An object, or a union of objects, that begins with a discriminator.
pub(super) trait Tagged<'de>: Sized {
    /// The key of the discriminator.
    const TAG: &'static str;
    /// What it may hold.
    const VALUES: &'static [&'static str];

    /// Reads the fields that follow the discriminator `value`, one of [`Self::VALUES`].
    fn fields<D: Deserializer<'de>>(value: &'static str, rest: D) -> Result<Self, D::Error>;
}

/// Reads an object whose discriminator must be one of `T::VALUES`.
pub(super) fn read<'de, T: Tagged<'de>, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    from.deserialize_map(ObjectVisitor(PhantomData))
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Tagged<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with a `{}`", T::TAG)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let mut passed = Map::new();
        while let Some(key) = map.next_key_seed(Key(T::TAG))? {
            let Some(key) = key else {
                let value = map.next_value_seed(Kind {
                    tag: T::TAG,
                    values: T::VALUES,
                })?;
                if passed.is_empty() {
                    return T::fields(value, MapAccessDeserializer::new(map));
                }
                while let Some((key, value)) = map.next_entry()? {
                    passed.insert(key, value);
                }
                return T::fields(value, Value::Object(passed)).map_err(de::Error::custom);
            };
            passed.insert(key, map.next_value()?);
        }
        Err(de::Error::missing_field(T::TAG))
    }
}

/// Reads a key: `None` for the discriminator's.
struct Key(&'static str);

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Option<String>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_identifier(self)
    }
}

impl Visitor<'_> for Key {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: de::Error>(self, key: &str) -> Result<Self::Value, E> {
        Ok((key != self.0).then(|| key.to_owned()))
    }
}

/// Reads the value of a discriminator.
struct Kind {
    tag: &'static str,
    values: &'static [&'static str],
}

impl<'de> DeserializeSeed<'de> for Kind {
    type Value = &'static str;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_str(self)
    }
}

impl Visitor<'_> for Kind {
    type Value = &'static str;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the name of a `{}`", self.tag)
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Self::Value, E> {
        let Self { tag, values } = self;
        values
            .iter()
            .find(|known| **known == value)
            .copied()
            .ok_or_else(|| match values {
                [only] => E::custom(format_args!("{tag} is `{value}` instead of `{only}`")),
                _ => E::custom(format_args!("unknown {tag} `{value}`")),
            })
    }
}

/// Takes the string at `key`, the second discriminator, out of the fields `rest`, and gives all of
/// them back.
pub(super) fn second<'de, D: Deserializer<'de>>(
    rest: D,
    key: &'static str,
) -> Result<(String, Value), D::Error> {
    let fields = Map::deserialize(rest)?;
    match fields.get(key) {
        Some(Value::String(value)) => Ok((value.clone(), Value::Object(fields))),
        Some(_) => Err(de::Error::custom(format_args!("{key} is not a string"))),
        None => Err(de::Error::missing_field(key)),
    }
}

/// Reads an optional field that is there. Absent is `None`; `null` is a value like any other, so
/// only a field of any JSON takes it.
pub(super) fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

/// Reads a string or an array.
pub(super) fn string_or_array<'de, I: Deserialize<'de>, T, D: Deserializer<'de>>(
    from: D,
    string: fn(String) -> T,
    array: fn(Vec<I>) -> T,
) -> Result<T, D::Error> {
    struct Either<I, T>(fn(String) -> T, fn(Vec<I>) -> T);

    impl<'de, I: Deserialize<'de>, T> Visitor<'de> for Either<I, T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string or an array")
        }

        fn visit_str<E: de::Error>(self, value: &str) -> Result<T, E> {
            Ok(self.0(value.to_owned()))
        }

        fn visit_string<E: de::Error>(self, value: String) -> Result<T, E> {
            Ok(self.0(value))
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<T, A::Error> {
            let mut items = Vec::new();
            while let Some(item) = seq.next_element()? {
                items.push(item);
            }
            Ok(self.1(items))
        }
    }

    from.deserialize_any(Either(string, array))
}

/// Gives a struct with `#[serde(tag, rename, remote = "Self")]` its traits: the derived functions
/// do the fields, and reading checks the discriminator, which serde alone would not.
macro_rules! tagged {
    ($name:ident: $tag:literal = $value:literal) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                Self::serialize(self, to)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                $crate::event::tag::read(from)
            }
        }

        impl<'de> $crate::event::tag::Tagged<'de> for $name {
            const TAG: &'static str = $tag;
            const VALUES: &'static [&'static str] = &[$value];

            fn fields<D: serde::Deserializer<'de>>(
                _: &'static str,
                rest: D,
            ) -> Result<Self, D::Error> {
                Self::deserialize(rest)
            }
        }
    };
}
pub(super) use tagged;

/// Gives a unit struct the one value it writes and reads.
macro_rules! constant {
    ($name:ident: $read:ty = $value:literal) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                serde::Serialize::serialize(&$value, to)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let value = <$read as serde::Deserialize>::deserialize(from)?;
                if value == $value {
                    Ok(Self)
                } else {
                    let what = format_args!("`{value}` instead of `{}`", $value);
                    Err(serde::de::Error::custom(what))
                }
            }
        }
    };
}
pub(super) use constant;
