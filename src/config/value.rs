//! Values of configuration files that may stand for a secret.

use std::fmt;
use std::time::Duration;

use serde::Deserialize;

use super::{Environment, command};
use crate::model::Secret;

/// An API key or header value as a file gives it: `!command`, the name of a set variable,
/// `$NAME`, text with `${NAME}` in it, or the value itself. `$!` and `$$` at the start stand for a
/// plain `!` and `$`.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct ConfigValue(String);

/// Why a [`ConfigValue`] gives nothing. No text quotes the value, a command or its output.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// A variable that the value names with `$` is not set.
    #[error("names the variable {0}, which is not set")]
    Unset(String),
    /// The command could not be started.
    #[error("is a command that cannot be started: {0}")]
    Start(String),
    /// The command failed.
    #[error("is a command that failed ({0}); run it by hand to see why")]
    Failed(String),
    /// The command did not end in time.
    #[error("is a command that gave no answer within {} s", .0.as_secs_f64())]
    Timeout(Duration),
    /// The value, or what the command printed, cannot be sent.
    #[error("gives {0}")]
    Unusable(&'static str),
}

impl ConfigValue {
    /// The value it stands for, without surrounding blanks. A command runs in `sh` and may take
    /// `limit`; this blocks.
    pub fn resolve(
        &self,
        environment: &Environment,
        limit: Duration,
    ) -> Result<Secret, ValueError> {
        let raw = self.0.trim();
        let value = if let Some(command) = raw.strip_prefix('!') {
            command::output(command, limit)?
        } else if let Some(rest) = raw.strip_prefix("$!") {
            format!("!{rest}")
        } else if let Some(rest) = raw.strip_prefix("$$") {
            format!("${rest}")
        } else if let Some(name) = raw.strip_prefix('$').filter(|name| is_name(name)) {
            variable(name, environment)?.to_owned()
        } else if let Some(value) = environment.text(raw).filter(|_| is_name(raw)) {
            value.to_owned()
        } else {
            fill_in(raw, environment)?
        };
        usable(&value)
    }

    /// The value it stands for, if that can be told without running a command.
    pub(super) fn known(&self, environment: &Environment) -> Option<Secret> {
        let is_command = self.0.trim_start().starts_with('!');
        (!is_command)
            .then(|| self.resolve(environment, Duration::ZERO).ok())
            .flatten()
    }

    /// Whether it looks like the name of a key variable that is not set, which is then sent as it
    /// is: hardly what was meant.
    pub(super) fn looks_like_an_unset_variable(&self, environment: &Environment) -> bool {
        let raw = self.0.trim();
        raw.contains('_')
            && (raw.ends_with("KEY") || raw.ends_with("TOKEN"))
            && raw
                .bytes()
                .all(|byte| matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b'_'))
            && environment.get(raw).is_none()
    }

    /// Whether it comes from elsewhere: a command or a variable.
    pub(super) fn is_indirect(&self, environment: &Environment) -> bool {
        self.0.trim_start().starts_with('!')
            || self
                .variables()
                .iter()
                .any(|name| environment.get(name).is_some())
    }

    /// The variables whose values it may take, set or not.
    pub(super) fn variables(&self) -> Vec<&str> {
        let raw = self.0.trim();
        if raw.starts_with('!') || raw.starts_with("$!") || raw.starts_with("$$") {
            return Vec::new();
        }
        let whole = raw.strip_prefix('$').unwrap_or(raw);
        if is_name(whole) {
            return vec![whole];
        }
        raw.split("${")
            .skip(1)
            .filter_map(|rest| rest.split_once('}'))
            .map(|(name, _)| name)
            .filter(|name| is_name(name))
            .collect()
    }
}

impl From<&str> for ConfigValue {
    fn from(value: &str) -> Self {
        Self(value.to_owned())
    }
}

/// Never the value.
impl fmt::Debug for ConfigValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ConfigValue(…)")
    }
}

/// `value` without surrounding blanks, if an HTTP header can carry it.
pub(super) fn usable(value: &str) -> Result<Secret, ValueError> {
    let value = value.trim();
    if value.is_empty() {
        return Err(ValueError::Unusable("nothing"));
    }
    if value.bytes().any(|byte| byte.is_ascii_control()) {
        return Err(ValueError::Unusable(
            "more than one line, or control characters",
        ));
    }
    if !value.is_ascii() {
        return Err(ValueError::Unusable("characters outside ASCII"));
    }
    Ok(Secret::new(value))
}

fn variable<'a>(name: &str, environment: &'a Environment) -> Result<&'a str, ValueError> {
    environment
        .text(name)
        .ok_or_else(|| ValueError::Unset(name.to_owned()))
}

fn fill_in(raw: &str, environment: &Environment) -> Result<String, ValueError> {
    let mut value = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((before, after)) = rest.split_once("${") {
        value.push_str(before);
        if let Some((name, after)) = after.split_once('}').filter(|(name, _)| is_name(name)) {
            value.push_str(variable(name, environment)?);
            rest = after;
        } else {
            value.push_str("${");
            rest = after;
        }
    }
    value.push_str(rest);
    Ok(value)
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|first: char| first.is_ascii_digit())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(10);

    fn resolve(value: &str) -> Result<String, ValueError> {
        let environment: Environment = [("MY_KEY", "from-variable"), ("EMPTY", "")]
            .into_iter()
            .collect();
        ConfigValue::from(value)
            .resolve(&environment, LIMIT)
            .map(|secret| secret.expose().to_owned())
    }

    #[test]
    fn a_command_then_a_variable_then_the_value_itself() {
        for (value, expected) in [
            ("!printf '  from-command\\n\\n'", "from-command"),
            ("! echo $((6 * 7))", "42"),
            ("MY_KEY", "from-variable"),
            ("$MY_KEY", "from-variable"),
            ("${MY_KEY}", "from-variable"),
            ("Bearer ${MY_KEY}!", "Bearer from-variable!"),
            ("OTHER_KEY", "OTHER_KEY"),
            ("EMPTY", "EMPTY"),
            ("  sk-plain \n", "sk-plain"),
            ("pa$$word${", "pa$$word${"),
            ("$!echo", "!echo"),
            ("$$MY_KEY", "$MY_KEY"),
        ] {
            assert_eq!(resolve(value).as_deref(), Ok(expected), "{value}");
        }
    }

    #[test]
    fn says_what_is_wrong_without_the_value() {
        for (value, expected) in [
            ("$NOT_SET", "names the variable NOT_SET, which is not set"),
            (
                "x${NOT_SET}",
                "names the variable NOT_SET, which is not set",
            ),
            (
                "!exit 3",
                "is a command that failed (exit status: 3); run it by hand to see why",
            ),
            (
                "!kill -9 $$",
                "is a command that failed (signal: 9 (SIGKILL)); run it by hand to see why",
            ),
            ("!true", "gives nothing"),
            ("", "gives nothing"),
            (
                "!printf 'a\\nb'",
                "gives more than one line, or control characters",
            ),
            ("!printf '\\377'", "gives bytes that are not UTF-8"),
            ("schlüssel", "gives characters outside ASCII"),
        ] {
            assert_eq!(resolve(value).unwrap_err().to_string(), expected, "{value}");
        }
    }

    #[test]
    fn names_the_variables_it_may_read() {
        let names = |value| ConfigValue::from(value).variables().join(" ");
        assert_eq!(names("MY_KEY"), "MY_KEY");
        assert_eq!(names("$A"), "A");
        assert_eq!(names("x${A}-${B}${1}"), "A B");
        assert_eq!(names("!echo ${A}"), "");
        assert_eq!(names("sk-plain"), "");
    }
}
