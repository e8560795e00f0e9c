//! JSON numbers as the documents' producers print them.

use serde::{Deserialize, Serialize, Serializer};

/// A finite floating-point number of a line, such as a cost in US dollars or a duration in
/// milliseconds.
///
/// A whole value prints without a fraction (`0`, not `0.0`), and a value that JSON cannot hold
/// (`NaN`, an infinity) becomes `0`, so no line ever carries `null` where the schema wants a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Deserialize)]
#[serde(from = "f64")]
pub struct Number(f64);

/// Below this magnitude every whole `f64` is exact, so printing it as an integer loses nothing.
const EXACT: f64 = 9_007_199_254_740_992.0;

impl Number {
    /// The value; always finite.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Self(if value.is_finite() { value } else { 0.0 })
    }
}

impl std::ops::Add for Number {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        (self.0 + other.0).into()
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.fract() == 0.0 && self.0.abs() < EXACT {
            #[allow(clippy::cast_possible_truncation)] // whole and below 2^53
            serializer.serialize_i64(self.0 as i64)
        } else {
            serializer.serialize_f64(self.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Number;

    #[test]
    fn prints_whole_values_as_integers_and_never_null() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (12.0, "12"),
            (0.000_315, "0.000315"),
            (f64::NAN, "0"),
            (f64::INFINITY, "0"),
        ] {
            assert_eq!(serde_json::to_string(&Number::from(value)).unwrap(), text);
        }
    }
}
