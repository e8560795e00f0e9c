//! Where configuration, credentials and sessions live.

use std::path::{Path, PathBuf};

use super::{ConfigError, Environment};

/// The files and folders of one user: `$QUIPU_HOME`, or `~/.quipu/agent`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    root: PathBuf,
}

impl Paths {
    /// The folder that the environment names: `QUIPU_HOME` with a leading `~` expanded and a
    /// relative path taken from the working directory, else `.quipu/agent` in the home folder.
    /// Nothing is created. [`ConfigError::NoHome`] if neither is known.
    pub fn from_environment(environment: &Environment) -> Result<Self, ConfigError> {
        let root = match environment.get("QUIPU_HOME") {
            Some(root) => expand_home(Path::new(root), environment),
            None => Path::new(environment.get("HOME").ok_or(ConfigError::NoHome)?)
                .join(".quipu")
                .join("agent"),
        };
        Ok(Self {
            root: std::path::absolute(&root).unwrap_or(root),
        })
    }

    /// The folder itself.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The user's settings.
    #[must_use]
    pub fn settings(&self) -> PathBuf {
        self.root.join("settings.json")
    }

    /// Custom providers and models.
    #[must_use]
    pub fn models(&self) -> PathBuf {
        self.root.join("models.json")
    }

    /// The key file.
    #[must_use]
    pub fn auth(&self) -> PathBuf {
        self.root.join("auth.json")
    }

    /// MCP servers.
    #[must_use]
    pub fn mcp(&self) -> PathBuf {
        self.root.join("mcp.json")
    }

    /// The folder of agent definitions.
    #[must_use]
    pub fn agents(&self) -> PathBuf {
        self.root.join("agents")
    }

    /// The folder of session files, unless the settings or `--session-dir` name another.
    #[must_use]
    pub fn sessions(&self) -> PathBuf {
        self.root.join("sessions")
    }

    /// The folder for the folders of background agents' session files.
    #[must_use]
    pub fn agent_sessions(&self) -> PathBuf {
        self.root.join("subagent-sessions")
    }

    /// The folder of a project's own settings, agents and hooks.
    #[must_use]
    pub fn project(cwd: &Path) -> PathBuf {
        cwd.join(".quipu")
    }

    /// The settings of the project in `cwd`.
    #[must_use]
    pub fn project_settings(cwd: &Path) -> PathBuf {
        Self::project(cwd).join("settings.json")
    }
}

/// `path` with a leading `~` replaced by the home folder; unchanged if there is none, or for
/// `~name`.
#[must_use]
pub fn expand_home(path: &Path, environment: &Environment) -> PathBuf {
    match (path.strip_prefix("~"), environment.get("HOME")) {
        (Ok(rest), Some(home)) if rest.as_os_str().is_empty() => PathBuf::from(home),
        (Ok(rest), Some(home)) => Path::new(home).join(rest),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(variables: &[(&str, &str)]) -> Result<PathBuf, ConfigError> {
        Paths::from_environment(&variables.iter().copied().collect()).map(|paths| paths.root)
    }

    #[test]
    fn the_variable_wins_over_the_home_folder() {
        assert_eq!(
            root(&[("HOME", "/home/u")]).unwrap(),
            Path::new("/home/u/.quipu/agent")
        );
        assert_eq!(
            root(&[("HOME", "/home/u"), ("QUIPU_HOME", "/q")]).unwrap(),
            Path::new("/q")
        );
        assert_eq!(
            root(&[("HOME", "/home/u"), ("QUIPU_HOME", "~/q")]).unwrap(),
            Path::new("/home/u/q")
        );
        assert_eq!(
            root(&[("HOME", "/home/u"), ("QUIPU_HOME", "")]).unwrap(),
            Path::new("/home/u/.quipu/agent")
        );
        assert!(
            root(&[("HOME", "/home/u"), ("QUIPU_HOME", "q")])
                .unwrap()
                .is_absolute()
        );
    }

    #[test]
    fn says_what_to_set_when_there_is_no_home() {
        assert_eq!(
            root(&[]).unwrap_err().to_string(),
            "no home folder: neither QUIPU_HOME nor HOME is set. Set QUIPU_HOME to the folder that \
             is to hold settings.json and models.json"
        );
    }

    #[test]
    fn only_a_whole_first_part_is_the_home_folder() {
        let environment: Environment = [("HOME", "/home/u")].into_iter().collect();
        for (path, expanded) in [
            ("~", "/home/u"),
            ("~/a", "/home/u/a"),
            ("~a/b", "~a/b"),
            ("/a/~", "/a/~"),
        ] {
            assert_eq!(
                expand_home(Path::new(path), &environment),
                Path::new(expanded)
            );
        }
    }

    #[test]
    fn files_stand_in_the_folder() {
        let paths = Paths { root: "/q".into() };
        assert_eq!(paths.settings(), Path::new("/q/settings.json"));
        assert_eq!(paths.models(), Path::new("/q/models.json"));
        assert_eq!(paths.auth(), Path::new("/q/auth.json"));
        assert_eq!(paths.sessions(), Path::new("/q/sessions"));
        assert_eq!(
            Paths::project_settings(Path::new("/p")),
            Path::new("/p/.quipu/settings.json")
        );
    }
}
