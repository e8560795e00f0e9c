use super::*;
use std::fs;

/// A home and a project folder with the given settings.
fn load(user: Option<&str>, project: Option<&str>) -> (tempfile::TempDir, Result<Loaded, String>) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    fs::create_dir_all(root.join("home")).unwrap();
    fs::create_dir_all(root.join("work/.quipu")).unwrap();
    if let Some(text) = user {
        fs::write(root.join("home/settings.json"), text).unwrap();
    }
    if let Some(text) = project {
        fs::write(root.join("work/.quipu/settings.json"), text).unwrap();
    }
    let environment: Environment = [
        ("QUIPU_HOME", root.join("home").to_str().unwrap()),
        ("HOME", "/home/u"),
    ]
    .into_iter()
    .collect();
    let paths = Paths::from_environment(&environment).unwrap();
    let plain = |text: String| text.replace(&format!("{}/", root.display()), "");
    let result = Settings::load(&paths, &root.join("work"), &environment)
        .map(|loaded| Loaded {
            warnings: loaded.warnings.into_iter().map(plain).collect(),
            ..loaded
        })
        .map_err(|error| {
            assert_eq!(error.code(), crate::event::ErrorCode::Configuration);
            plain(error.to_string())
        });
    (dir, result)
}

fn settings(user: &str, project: &str) -> Settings {
    let loaded = load(Some(user), Some(project)).1.unwrap();
    assert_eq!(loaded.warnings, [""; 0]);
    loaded.settings
}

fn problem(user: &str) -> String {
    load(Some(user), None).1.unwrap_err()
}

#[test]
fn no_file_gives_the_defaults() {
    let loaded = load(None, None).1.unwrap();
    assert_eq!(loaded, Loaded::default());
    let settings = loaded.settings;
    assert_eq!(settings.retry.max_retries, 3);
    assert_eq!(settings.retry.longest_hint(), Some(Duration::from_mins(1)));
    assert_eq!(settings.idle_timeout(), Some(Duration::from_mins(5)));
    assert_eq!(
        settings.stream_start_timeout(),
        Some(Duration::from_secs(90))
    );
    assert_eq!(
        (settings.steering_mode, settings.follow_up_mode),
        (QueueMode::All, QueueMode::OneAtATime)
    );
}

#[test]
fn every_shared_key_is_read() {
    let settings = settings(
        r#"{
          "defaultProvider": "p", "defaultModel": "m", "defaultThinkingLevel": "xhigh",
          "thinkingBudgets": {"low": 1000},
          "retry": {"enabled": false, "maxRetries": 1, "baseDelayMs": 2, "maxDelayMs": 3,
            "modelFallback": false, "fallbackChains": {"p/m": ["p/n:low", "o"]},
            "provider": {"timeoutMs": 4, "maxRetries": 5, "maxRetryDelayMs": 6,
                         "streamStartTimeoutMs": 7}},
          "httpIdleTimeoutMs": 8,
          "compaction": {"enabled": false, "reserveTokens": 9, "keepRecentTokens": 10},
          "steeringMode": "one-at-a-time", "followUpMode": "all",
          "images": {"autoResize": false, "blockImages": true},
          "sessionDir": "~/s", "defaultTools": ["read"],
          "subagentArbiter": {"enabled": true, "model": "p/m", "thinking": "low", "guidePath": "~/g"},
          "backgroundAgents": {"maxConcurrentSubagents": 11, "maxDepth": 2, "parentTurnGuardrail": false,
                               "parentTurnLimit": 12.5},
          "shellPath": "/bin/zsh", "toolsSeeKeys": true
        }"#,
        "{}",
    );
    let unknown = UnknownKeys::default;
    assert_eq!(
        settings,
        Settings {
            default_provider: Some("p".into()),
            default_model: Some("m".into()),
            default_thinking_level: Some(ThinkingLevel::Xhigh),
            thinking_budgets: [(ThinkingLevel::Low, 1000)].into(),
            retry: Retry {
                enabled: false,
                max_retries: 1,
                base_delay_ms: 2,
                max_delay_ms: 3,
                model_fallback: false,
                fallback_chains: [("p/m".into(), vec!["p/n:low".into(), "o".into()])].into(),
                provider: ProviderRetry {
                    timeout_ms: Some(4),
                    max_retries: Some(5),
                    max_retry_delay_ms: Some(6),
                    stream_start_timeout_ms: Some(7),
                    unknown: unknown(),
                },
                unknown: unknown(),
            },
            http_idle_timeout_ms: 8,
            compaction: Compaction {
                enabled: false,
                reserve_tokens: 9,
                keep_recent_tokens: 10,
                unknown: unknown(),
            },
            steering_mode: QueueMode::OneAtATime,
            follow_up_mode: QueueMode::All,
            images: Images {
                auto_resize: false,
                block_images: true,
                unknown: unknown()
            },
            session_dir: Some("/home/u/s".into()),
            default_tools: Some(vec!["read".into()]),
            subagent_arbiter: SubagentArbiter {
                enabled: true,
                model: Some("p/m".into()),
                thinking: Some(ThinkingLevel::Low),
                guide_path: Some("/home/u/g".into()),
                unknown: unknown(),
            },
            background_agents: BackgroundAgents {
                max_concurrent_subagents: 11,
                max_depth: 2,
                parent_turn_guardrail: false,
                parent_turn_limit: 12.5,
                unknown: unknown(),
            },
            shell_path: Some("/bin/zsh".into()),
            tools_see_keys: true,
            unknown: unknown(),
        }
    );
    assert_eq!(
        settings.retry.longest_hint(),
        Some(Duration::from_millis(6))
    );
    assert_eq!(
        settings.stream_start_timeout(),
        Some(Duration::from_millis(7))
    );
}

#[test]
fn a_chain_belongs_to_the_full_name_before_the_bare_one() {
    let chains = r#""fallbackChains": {"p/m": ["a"], "m": ["b"], "n": []}"#;
    let on = settings(&format!(r#"{{"retry": {{{chains}}}}}"#), "{}").retry;
    assert_eq!(on.fallback_chain("p", "m"), ["a"]);
    assert_eq!(on.fallback_chain("q", "m"), ["b"]);
    for (provider, id) in [("p", "n"), ("p", "x"), ("m", "p")] {
        assert_eq!(on.fallback_chain(provider, id), [""; 0]);
    }
    let off = settings(
        &format!(r#"{{"retry": {{{chains}}}}}"#),
        r#"{"retry": {"modelFallback": false}}"#,
    );
    assert_eq!(off.retry.fallback_chain("p", "m"), [""; 0]);
    let wrong = problem(r#"{"retry": {"fallbackChains": {"p/m": "a"}}}"#);
    assert!(
        wrong.contains("`retry.fallbackChains.p/m` is a string, expected a list"),
        "{wrong}"
    );
}

#[test]
fn zero_switches_a_bound_off_and_a_short_idle_bound_shortens_the_start() {
    let off = settings(
        r#"{"httpIdleTimeoutMs": 0, "retry": {"provider": {"streamStartTimeoutMs": 0}, "maxDelayMs": 0}}"#,
        "{}",
    );
    assert_eq!(
        (
            off.idle_timeout(),
            off.stream_start_timeout(),
            off.retry.longest_hint()
        ),
        (None, None, None)
    );
    let short = settings(r#"{"httpIdleTimeoutMs": 5000}"#, "{}");
    assert_eq!(short.stream_start_timeout(), Some(Duration::from_secs(5)));
}

#[test]
fn the_project_is_merged_over_the_user_key_by_key() {
    let settings = settings(
        r#"{"defaultProvider": "p", "defaultModel": "m", "defaultTools": ["read", "bash"],
            "retry": {"maxRetries": 7, "provider": {"timeoutMs": 1, "maxRetryDelayMs": 2}}}"#,
        r#"{"defaultModel": "n", "defaultTools": ["ls"], "defaultProvider": null,
            "retry": {"enabled": false, "provider": {"timeoutMs": 9}}}"#,
    );
    assert_eq!(settings.default_provider.as_deref(), Some("p"));
    assert_eq!(settings.default_model.as_deref(), Some("n"));
    assert_eq!(settings.default_tools, Some(vec!["ls".to_owned()]));
    assert!(!settings.retry.enabled);
    assert_eq!(settings.retry.max_retries, 7);
    assert_eq!(settings.retry.provider.timeout_ms, Some(9));
    assert_eq!(settings.retry.provider.max_retry_delay_ms, Some(2));
}

#[test]
fn a_project_sets_no_keys_no_commands_and_nothing_that_is_the_users() {
    let loaded = load(
        Some(r#"{"shellPath": "/bin/bash"}"#),
        Some(
            r#"{"apiKey": "canary", "providers": {"p": {"apiKey": "canary"}}, "theme": "!touch x",
                "shellPath": "./evil", "toolsSeeKeys": true, "subagentArbiter": {"enabled": true},
                "defaultModel": "!echo m", "retry": {"maxRetries": 1, "token": "canary"}}"#,
        ),
    )
    .1
    .unwrap();
    assert_eq!(
        loaded.settings.shell_path.as_deref(),
        Some(Path::new("/bin/bash"))
    );
    assert_eq!(loaded.settings.default_model, None);
    assert!(!loaded.settings.tools_see_keys && !loaded.settings.subagent_arbiter.enabled);
    assert_eq!(loaded.settings.retry.max_retries, 1);
    assert_eq!(
        loaded.warnings,
        [
            "work/.quipu/settings.json: ignored keys `apiKey`, `providers`, `theme`, `shellPath`, \
             `toolsSeeKeys`, `subagentArbiter`, `defaultModel`, `retry.token`: project settings \
             cannot set keys, commands or what only the user's home/settings.json may set"
        ]
    );
}

#[test]
fn unknown_keys_are_one_warning_a_file_and_never_fatal() {
    let loaded = load(
        Some(
            r#"{"theme": {"a": 1}, "retry": {"fallbackRevertPolicy": "x", "provider": {"x": 1}}}"#,
        ),
        Some(r#"{"tips": false}"#),
    )
    .1
    .unwrap();
    assert_eq!(
        loaded.warnings,
        [
            "home/settings.json: ignored unknown keys `theme`, `retry.fallbackRevertPolicy`, \
             `retry.provider.x`",
            "work/.quipu/settings.json: ignored unknown key `tips`"
        ]
    );
}

#[test]
fn the_projects_own_folder_as_home_is_the_users_file() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().join(".quipu");
    fs::create_dir(&home).unwrap();
    fs::write(home.join("settings.json"), r#"{"shellPath": "/bin/zsh"}"#).unwrap();
    let environment: Environment = [("QUIPU_HOME", &home)].into_iter().collect();
    let paths = Paths::from_environment(&environment).unwrap();
    let loaded = Settings::load(&paths, dir.path(), &environment).unwrap();
    assert_eq!(
        loaded.settings.shell_path.as_deref(),
        Some(Path::new("/bin/zsh"))
    );
    assert_eq!(loaded.warnings, [""; 0]);
}

#[test]
fn a_byte_order_mark_is_no_error() {
    assert_eq!(
        settings("\u{feff}{\"httpIdleTimeoutMs\": 1}", "{}").http_idle_timeout_ms,
        1
    );
}

#[test]
fn wrong_types_name_line_field_and_expectation() {
    for (text, expected) in [
        (
            "{\n  \"retry\": {\n    \"maxRetries\": \"many\"\n  }\n}",
            "home/settings.json:3:24: `retry.maxRetries` is a string, expected a whole number (0 or \
             more). Correct the value, or delete the key to get its default.",
        ),
        (
            r#"{"retry": {"maxRetries": -1}}"#,
            "home/settings.json:1:27: `retry.maxRetries` is a number, expected a whole number (0 or \
             more). Correct the value, or delete the key to get its default.",
        ),
        (
            r#"{"retry": {"provider": {"timeoutMs": 1.5}}}"#,
            "home/settings.json:1:40: `retry.provider.timeoutMs` is a number, expected a whole \
             number (0 or more). Correct the value, or delete the key to get its default.",
        ),
        (
            r#"{"images": {"autoResize": null}}"#,
            "home/settings.json:1:30: `images.autoResize` is null, expected true or false. Correct \
             the value, or delete the key to get its default.",
        ),
        (
            r#"{"compaction": true}"#,
            "home/settings.json:1:19: `compaction` is true or false, expected an object. Correct \
             the value, or delete the key to get its default.",
        ),
        (
            r#"{"defaultTools": "read"}"#,
            "home/settings.json:1:23: `defaultTools` is a string, expected a list. Correct the \
             value, or delete the key to get its default.",
        ),
        (
            r#"{"steeringMode": "some"}"#,
            "home/settings.json:1:23: `steeringMode` has a value that is not known, expected \
             \"all\" or \"one-at-a-time\". Correct the value, or delete the key to get its default.",
        ),
        (
            "[]",
            "home/settings.json:1:0: `.` is a list, expected an object. Correct the value, or \
             delete the key to get its default.",
        ),
    ] {
        assert_eq!(problem(text), expected, "{text}");
    }
}

#[test]
fn broken_json_names_line_column_and_repair() {
    for (text, expected) in [
        (
            "{\n  // mine\n  \"a\": 1\n}",
            "home/settings.json:2:3: not valid JSON: key must be a string. A comment stands there, \
             and plain JSON has none: remove it.",
        ),
        (
            "{\n  \"a\": 1,\n}",
            "home/settings.json:3:1: not valid JSON: trailing comma. Remove the comma before the \
             closing bracket; plain JSON allows none there.",
        ),
        (
            "{\"a\": 1",
            "home/settings.json:1:7: not valid JSON: EOF while parsing an object. The file ends too \
             early: a quote, `}` or `]` is missing.",
        ),
        (
            "{'a': 1}",
            "home/settings.json:1:2: not valid JSON: key must be a string. Strings and keys stand \
             in double quotes.",
        ),
        (
            "{} x",
            "home/settings.json:1:4: not valid JSON: trailing characters. Correct it there; the \
             file must be plain JSON, without comments or trailing commas.",
        ),
        (
            "",
            "home/settings.json:1:0: not valid JSON: EOF while parsing a value. The file ends too \
             early: a quote, `}` or `]` is missing.",
        ),
    ] {
        assert_eq!(problem(text), expected, "{text}");
    }
}

#[test]
fn a_broken_project_file_is_named() {
    let error = load(None, Some("{")).1.unwrap_err();
    assert!(
        error.starts_with("work/.quipu/settings.json:1:1: not valid JSON"),
        "{error}"
    );
}

#[test]
fn what_is_no_regular_text_file_is_refused_at_once() {
    let (dir, _) = load(None, None);
    let home = dir.path().join("home");
    let environment: Environment = [("QUIPU_HOME", &home)].into_iter().collect();
    let paths = Paths::from_environment(&environment).unwrap();
    let file = paths.settings();
    let problem = || {
        let error = Settings::load(&paths, dir.path(), &environment)
            .unwrap_err()
            .to_string();
        error.replace(&format!("{}/", home.display()), "")
    };

    fs::create_dir(&file).unwrap();
    assert_eq!(
        problem(),
        "settings.json: is a folder. Put a regular JSON file there, or move it away"
    );
    fs::remove_dir(&file).unwrap();

    rustix::fs::mknodat(
        rustix::fs::CWD,
        &file,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    assert_eq!(
        problem(),
        "settings.json: is not a regular file. Put a regular JSON file there, or move it away"
    );
    fs::remove_file(&file).unwrap();

    fs::write(&file, b"{\n  \"a\": \"\xff\"}").unwrap();
    assert_eq!(
        problem(),
        "settings.json:2:9: not valid JSON: a byte that is not UTF-8. Save the file as UTF-8."
    );

    fs::File::create(&file)
        .unwrap()
        .set_len(9 * 1024 * 1024)
        .unwrap();
    assert_eq!(
        problem(),
        "settings.json: is larger than 8 MiB. Put a regular JSON file there, or move it away"
    );
}
