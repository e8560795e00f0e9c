//! The types that JSON Schema tells apart, as a set.

use std::ops::{BitAnd, BitOr};

/// A set of JSON Schema's types. A whole number is an integer and a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Types(u8);

impl Types {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const NULL: Self = Self(1);
    pub(crate) const BOOLEAN: Self = Self(1 << 1);
    pub(crate) const INTEGER: Self = Self(1 << 2);
    /// A number that is not whole.
    pub(crate) const FRACTION: Self = Self(1 << 3);
    pub(crate) const STRING: Self = Self(1 << 4);
    pub(crate) const ARRAY: Self = Self(1 << 5);
    pub(crate) const OBJECT: Self = Self(1 << 6);
    pub(crate) const NUMBER: Self = Self(Self::INTEGER.0 | Self::FRACTION.0);
    pub(crate) const ALL: Self = Self(u8::MAX);

    const NAMES: [(&'static str, Self); 7] = [
        ("null", Self::NULL),
        ("boolean", Self::BOOLEAN),
        ("number", Self::NUMBER),
        ("integer", Self::INTEGER),
        ("string", Self::STRING),
        ("array", Self::ARRAY),
        ("object", Self::OBJECT),
    ];

    /// The type of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let mut known = Self::NAMES.into_iter();
        known.find(|(known, _)| *known == name).map(|(_, set)| set)
    }

    /// Whether they have one in common.
    #[inline]
    pub(crate) fn meet(self, other: Self) -> bool {
        self & other != Self::NONE
    }

    /// The names of the types in it, `integer` only where `number` is not.
    pub(crate) fn names(self) -> impl Iterator<Item = &'static str> {
        let mut left = self;
        Self::NAMES.into_iter().filter_map(move |(name, set)| {
            let whole = left & set == set;
            if whole {
                left = Self(left.0 & !set.0);
            }
            whole.then_some(name)
        })
    }
}

impl BitAnd for Types {
    type Output = Self;

    #[inline]
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl BitOr for Types {
    type Output = Self;

    #[inline]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}
