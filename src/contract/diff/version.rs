//! The step between two declared versions.

use super::Step;

/// The step from one declared version to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Declared {
    /// The versions are equal.
    Same,
    /// The version went up by this step. Before 1.0.0 a step counts one higher: from 0.1.0 to
    /// 0.2.0 is a major one, from 0.1.0 to 0.1.1 a minor one.
    Up(Step),
    /// The version went down.
    Down,
}

impl Declared {
    /// Whether the declaration covers changes that ask for `step`.
    #[must_use]
    pub fn allows(self, step: Option<Step>) -> bool {
        match (self, step) {
            (Self::Down, _) => false,
            (Self::Same, step) => step.is_none(),
            (Self::Up(declared), step) => step.is_none_or(|step| declared >= step),
        }
    }
}

/// The step from `old` to `new`; `None` if one of them is no semantic version.
#[must_use]
pub fn declared(old: &str, new: &str) -> Option<Declared> {
    let (old_core, old_pre) = parse(old)?;
    let (new_core, new_pre) = parse(new)?;
    if new_core < old_core {
        return Some(Declared::Down);
    }
    let [major, minor, _] = old_core;
    let step = if new_core[0] > major {
        Step::Major
    } else if new_core[1] > minor {
        if major == 0 { Step::Major } else { Step::Minor }
    } else if new_core > old_core {
        if major == 0 { Step::Minor } else { Step::Patch }
    } else {
        // Pre-releases of one version declare nothing among each other, but the way back from a
        // release to one of its pre-releases is down.
        return Some(match (old_pre, new_pre) {
            (None, Some(_)) => Declared::Down,
            _ => Declared::Same,
        });
    };
    Some(Declared::Up(step))
}

/// The three numbers and the pre-release.
fn parse(version: &str) -> Option<([u64; 3], Option<&str>)> {
    let version = version.split('+').next()?;
    let (core, pre) = match version.split_once('-') {
        Some((core, pre)) => (core, Some(pre)),
        None => (version, None),
    };
    let mut numbers = core.split('.').map(|part| part.parse().ok());
    let core = [numbers.next()??, numbers.next()??, numbers.next()??];
    numbers.next().is_none().then_some((core, pre))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_between_versions() {
        let cases = [
            ("1.0.0", "1.0.0", Some(Declared::Same)),
            ("1.0.0", "1.0.1", Some(Declared::Up(Step::Patch))),
            ("1.0.9", "1.1.0", Some(Declared::Up(Step::Minor))),
            ("1.9.9", "2.0.0", Some(Declared::Up(Step::Major))),
            ("1.9.9", "1.9.8", Some(Declared::Down)),
            ("2.0.0", "1.9.8", Some(Declared::Down)),
            ("0.1.0", "0.1.1", Some(Declared::Up(Step::Minor))),
            ("0.1.0", "0.2.0", Some(Declared::Up(Step::Major))),
            ("1.0.0", "1.1.0-rc.1", Some(Declared::Up(Step::Minor))),
            ("1.1.0-rc.1", "1.1.0", Some(Declared::Same)),
            ("1.1.0", "1.1.0-rc.1", Some(Declared::Down)),
            ("1.1.0", "1.1.0+build", Some(Declared::Same)),
            ("1.1", "1.1.0", None),
            ("1.1.0", "next", None),
            ("1.1.0", "1.1.0.0", None),
        ];
        for (old, new, expected) in cases {
            assert_eq!(declared(old, new), expected, "{old} {new}");
        }
    }

    #[test]
    fn what_a_step_allows() {
        assert!(Declared::Same.allows(None) && !Declared::Same.allows(Some(Step::Patch)));
        assert!(!Declared::Down.allows(None));
        assert!(Declared::Up(Step::Minor).allows(Some(Step::Patch)));
        assert!(!Declared::Up(Step::Minor).allows(Some(Step::Major)));
    }
}
