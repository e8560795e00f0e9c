//! A key never shows in the `Debug` or `Display` of what holds or refuses it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::credentials::{Access, COMMAND_TIMEOUT, Sources, unlock};
use super::models_file::ModelsFile;
use super::settings::Settings;
use super::{Environment, Paths};
use crate::model::{Secret, catalogue};

const CANARY: &str = "sk-canary-0123456789";

#[track_caller]
fn assert_clean(text: &str) {
    assert!(!text.contains("canary"), "{text}");
}

/// Every way to put a key where another type belongs.
fn misplaced() -> Vec<String> {
    let value = format!("\"{CANARY}\"");
    let mut texts = Vec::new();
    for field in [
        "baseUrl",
        "api",
        "apiKey",
        "headers",
        "authHeader",
        "compat",
        "models",
        "modelOverrides",
    ] {
        for value in [
            value.clone(),
            format!("[{value}]"),
            format!("{{\"a\": {value}}}"),
        ] {
            texts.push(format!(
                r#"{{"providers": {{"p": {{"{field}": {value}}}}}}}"#
            ));
        }
    }
    for field in [
        "name",
        "reasoning",
        "input",
        "cost",
        "contextWindow",
        "maxTokens",
        "thinkingLevelMap",
    ] {
        for value in [
            value.clone(),
            format!("[{value}]"),
            format!("{{\"input\": {value}}}"),
        ] {
            texts.push(format!(
                r#"{{"providers": {{"p": {{"models": [{{"id": "a", "{field}": {value}}}]}}}}}}"#
            ));
        }
    }
    texts.extend([
        value.clone(),
        format!("[{value}]"),
        format!(r#"{{"providers": {value}}}"#),
        format!(r#"{{"providers": {{"p": {value}}}}}"#),
        format!(r#"{{"p": {value}}}"#),
        format!(r#"{{"p": {{"type": {value}, "key": {value}}}}}"#),
        format!(r#"{{"p": {{"type": "api_key", "key": [{value}]}}}}"#),
        format!(r#"{{"p": {{"type": "oauth", "access": {value}}}}}"#),
        format!(r#"{{"defaultThinkingLevel": {value}}}"#),
        format!(r#"{{"retry": {value}, "unknown": {value}}}"#),
        format!(r#"{{"retry": {{"enabled": {value}}}}}"#),
        format!(r#"{{"steeringMode": {value}}}"#),
        // Serde quotes a number another way.
        r#"{"p": {"key": 12345678901}}"#.to_owned(),
        format!("{{{value}"),
        CANARY.to_owned(),
    ]);
    texts
}

#[test]
fn no_broken_file_shows_what_it_holds() {
    let dir = tempfile::tempdir().unwrap();
    let environment: Environment = [
        ("QUIPU_HOME", dir.path().to_str().unwrap()),
        ("SOME_KEY", CANARY),
    ]
    .into_iter()
    .collect();
    let paths = Paths::from_environment(&environment).unwrap();
    let mut errors = 0;
    for text in misplaced() {
        for file in [paths.settings(), paths.models(), paths.auth()] {
            fs::write(&file, &text).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        }
        match Settings::load(&paths, Path::new("nowhere"), &environment) {
            Ok(loaded) => assert_clean(&loaded.warnings.join("\n")),
            Err(error) => {
                errors += 1;
                assert_clean(&format!("{error} {error:?}"));
            }
        }
        match ModelsFile::load(&paths.models()) {
            // `compat` and `baseUrl` are no places for keys; they are shown.
            Ok(file) if text.contains("compat") || text.contains("baseUrl") => drop(file),
            Ok(file) => {
                let shown = format!("{file:?}");
                for part in ["apiKey", "headers", "\"key\""] {
                    assert!(
                        !(text.contains(part) && shown.contains("canary")),
                        "{shown}"
                    );
                }
            }
            Err(error) => {
                errors += 1;
                assert_clean(&format!("{error} {error:?}"));
            }
        }
        let mut model = crate::model::Model::offline();
        model.provider = "p".to_owned();
        let sources = Sources {
            flag: None,
            auth_file: &paths.auth(),
            environment: &environment,
            command_timeout: COMMAND_TIMEOUT,
        };
        match unlock(&mut model, &Access::default(), &sources) {
            Ok(credentials) => assert_clean(&format!("{credentials:?} {model:?}")),
            Err(error) => {
                errors += 1;
                let shown = format!("{error} {error:?}");
                assert_clean(&shown);
                assert!(!shown.contains("12345678901"), "{shown}");
            }
        }
    }
    assert!(errors > 50, "only {errors} of the texts were refused");
}

#[test]
fn nothing_that_holds_a_key_shows_it() {
    let dir = tempfile::tempdir().unwrap();
    let environment: Environment = [
        ("QUIPU_HOME", dir.path().to_str().unwrap()),
        ("ANTHROPIC_API_KEY", CANARY),
    ]
    .into_iter()
    .collect();
    let paths = Paths::from_environment(&environment).unwrap();
    fs::write(
        paths.models(),
        format!(
            r#"{{"providers": {{"anthropic": {{"apiKey": "{CANARY}", "headers": {{"x-a": "{CANARY}"}},
               "models": [{{"id": "m", "headers": {{"authorization": "Bearer {CANARY}"}}}}]}}}}}}"#
        ),
    )
    .unwrap();
    let models_file = ModelsFile::load(&paths.models()).unwrap();
    let settings = Settings::default();
    let selection = catalogue::select(&catalogue::Request {
        provider: None,
        model: Some("anthropic/m"),
        settings: &settings,
        settings_file: &paths.settings(),
        models_file: &models_file,
        keys: &std::collections::BTreeSet::new(),
    })
    .unwrap();
    let flag = Secret::new(CANARY);
    for flag in [Some(&flag), None] {
        let mut selection = selection.clone();
        let sources = Sources {
            flag,
            auth_file: &paths.auth(),
            environment: &environment,
            command_timeout: COMMAND_TIMEOUT,
        };
        let credentials = unlock(&mut selection.model, &selection.access, &sources).unwrap();
        assert_eq!(credentials.key.as_ref().map(Secret::expose), Some(CANARY));
        assert_clean(&format!(
            "{models_file:?} {selection:?} {sources:?} {credentials:?} {environment:?}"
        ));
        assert_clean(&credentials.secrets.scrub(&format!("401: bad key {CANARY}")));
    }
}
