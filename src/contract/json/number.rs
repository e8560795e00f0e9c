//! Numbers as a line has them.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

/// A number as it stands in the line: whole if it is written so and fits.
#[derive(Clone, Copy, Debug)]
pub enum Number {
    /// A whole number from 0.
    Unsigned(u64),
    /// A whole number below 0.
    Signed(i64),
    /// Any other.
    Float(f64),
}

impl Number {
    /// The number, if it is whole and from 0 to 2^64 - 1, however it is written.
    #[must_use]
    pub fn as_u64(self) -> Option<u64> {
        match self.canonical() {
            Self::Unsigned(number) => Some(number),
            _ => None,
        }
    }

    /// The nearest double.
    #[must_use]
    #[allow(
        clippy::cast_precision_loss,
        reason = "what every reader of JSON with doubles makes of it"
    )]
    pub fn as_f64(self) -> f64 {
        match self {
            Self::Unsigned(number) => number as f64,
            Self::Signed(number) => number as f64,
            Self::Float(number) => number,
        }
    }

    /// Whether it has no fraction.
    #[must_use]
    pub fn is_integer(self) -> bool {
        match self {
            Self::Unsigned(_) | Self::Signed(_) => true,
            Self::Float(number) => number.fract() == 0.0,
        }
    }

    /// Which of two is greater, exactly between whole numbers; `None` never comes of a document.
    #[must_use]
    pub fn compare(self, other: Self) -> Option<Ordering> {
        let whole = |number| match number {
            Self::Unsigned(number) => Some(i128::from(number)),
            Self::Signed(number) => Some(i128::from(number)),
            Self::Float(_) => None,
        };
        match (whole(self), whole(other)) {
            (Some(a), Some(b)) => Some(a.cmp(&b)),
            _ => self.as_f64().partial_cmp(&other.as_f64()),
        }
    }

    /// The one form for all ways to write it: `3.0` is `3`.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "only within the range of the whole numbers that doubles tell apart"
    )]
    pub(super) fn canonical(self) -> Self {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        match self {
            Self::Float(number) if number.fract() == 0.0 && number.abs() <= EXACT => {
                if number < 0.0 {
                    Self::Signed(number as i64)
                } else {
                    Self::Unsigned(number as u64)
                }
            }
            number => number,
        }
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        match (self.canonical(), other.canonical()) {
            (Self::Unsigned(a), Self::Unsigned(b)) => a == b,
            (Self::Signed(a), Self::Signed(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => a.to_bits() == b.to_bits(),
            _ => false,
        }
    }
}

impl Hash for Number {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self.canonical() {
            Self::Unsigned(number) => (0_u8, number).hash(state),
            Self::Signed(number) => (1_u8, number).hash(state),
            Self::Float(number) => (2_u8, number.to_bits()).hash(state),
        }
    }
}
