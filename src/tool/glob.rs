//! Glob patterns over the paths of a tree: the `pattern` of `find`, the `glob` of `grep`.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};

use super::ToolError;

/// A pattern without a slash is about names, at any depth; one with a slash is about the path from
/// the searched folder. A slash at the end asks for folders.
#[derive(Debug)]
pub(super) struct Pattern {
    matcher: GlobMatcher,
    of_names: bool,
    of_folders: bool,
}

impl Pattern {
    /// Reads `given`, which may also be an absolute path below `root`.
    pub(super) fn new(given: &str, root: &Path) -> Result<Self, ToolError> {
        let invalid = |reason: String| ToolError::Glob {
            pattern: given.to_owned(),
            reason,
        };
        let rooted = root.to_str().and_then(|root| given.strip_prefix(root));
        let rooted = rooted.filter(|rest| rest.is_empty() || rest.starts_with('/'));
        let anchored = rooted.unwrap_or(given).trim_start_matches("./");
        let pattern = anchored.trim_end_matches('/');
        let of_folders = pattern.len() < anchored.len();
        let of_names = !pattern.contains('/');
        let pattern = pattern.trim_start_matches('/');
        if pattern.is_empty() {
            return Err(invalid("it is empty".to_owned()));
        }
        let glob = GlobBuilder::new(pattern)
            .literal_separator(true)
            .empty_alternates(true)
            .build()
            .map_err(|error| invalid(error.kind().to_string()))?;
        Ok(Self {
            matcher: glob.compile_matcher(),
            of_names,
            of_folders,
        })
    }

    /// Whether the pattern names this path, which is relative to the searched folder.
    pub(super) fn is_match(&self, relative: &Path, is_folder: bool) -> bool {
        if self.of_folders && !is_folder {
            return false;
        }
        if self.of_names {
            let name = relative.file_name();
            return name.is_some_and(|name| self.matcher.is_match(name));
        }
        self.matcher.is_match(relative)
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;
    use std::path::Path;

    #[test]
    fn patterns_are_about_names_or_paths() {
        let root = Path::new("/somewhere/[odd] root");
        for (pattern, path, expected) in [
            ("*.rs", "main.rs", true),
            ("*.rs", "src/deep/main.rs", true),
            ("*.rs", "src/main.rst", false),
            ("*.{ts,tsx}", "a/b.tsx", true),
            ("src/*.rs", "src/main.rs", true),
            ("./src/*.rs", "src/main.rs", true),
            ("/src/*.rs", "src/main.rs", true),
            ("/somewhere/[odd] root/src/*.rs", "src/main.rs", true),
            ("src/*.rs", "src/deep/main.rs", false),
            ("src/*.rs", "lib/src/main.rs", false),
            ("src/**/*.ts", "src/a.ts", true),
            ("src/**/*.ts", "src/b/c/a.ts", true),
            ("**/src/*.ts", "lib/src/a.ts", true),
            ("**/*.ts", "a.ts", true),
            ("/main.rs", "src/main.rs", false),
            ("/main.rs", "main.rs", true),
            ("[mn]ain.??", "src/main.rs", true),
            ("src/", "lib/src", false),
            ("\\*", "*", true),
            ("\\*", "a", false),
        ] {
            let got = Pattern::new(pattern, root)
                .unwrap()
                .is_match(Path::new(path), false);
            assert_eq!(got, expected, "{pattern} on {path}");
        }
        let folders = Pattern::new("src/", root).unwrap();
        assert!(folders.is_match(Path::new("lib/src"), true));
        for wrong in ["{a", "[a", "", "/", "./"] {
            let error = Pattern::new(wrong, root).unwrap_err().to_string();
            assert!(
                error.contains(&format!("\"{wrong}\" is not a valid glob")),
                "{error}"
            );
        }
    }
}
