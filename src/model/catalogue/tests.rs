mod known;

use super::*;
use crate::config::ConfigValue;
use crate::event::ErrorCode;
use crate::model::{Api, Prices};
use pretty_assertions::assert_eq;
use std::fs;

const MODELS: &str = r#"{"providers": {
  "mock": {
    "baseUrl": "http://127.0.0.1:9/", "api": "anthropic-messages", "apiKey": "mock-key",
    "models": [{"id": "mock-1", "name": "The First"}, {"id": "mock-big"}, {"id": "llama:high"}]
  },
  "other": {
    "baseUrl": "https://h/v1", "api": "anthropic-messages",
    "models": [{"id": "mock-1"}, {"id": "vendor/deep/id"}]
  },
  "mock/sub": {
    "baseUrl": "https://h", "api": "anthropic-messages", "models": [{"id": "x"}]
  },
  "chat": {"baseUrl": "https://h", "api": "smoke-signals", "models": [{"id": "only-chat"}]}
}}"#;

fn file(text: &str) -> ModelsFile {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("models.json");
    fs::write(&path, text).unwrap();
    ModelsFile::load(&path).unwrap()
}

/// What `models` gives for the flags and the defaults, the folder of the file left out.
fn choose(
    models: &ModelsFile,
    flags: (Option<&str>, Option<&str>),
    defaults: (Option<&str>, Option<&str>),
) -> Result<Selection, (ErrorCode, String)> {
    choose_with(models, flags, defaults, &[])
}

/// The same with keys of these providers at hand.
fn choose_with(
    models: &ModelsFile,
    flags: (Option<&str>, Option<&str>),
    defaults: (Option<&str>, Option<&str>),
    keys: &[&str],
) -> Result<Selection, (ErrorCode, String)> {
    let keys = keys.iter().map(|name| (*name).to_owned()).collect();
    let settings = Settings {
        default_provider: defaults.0.map(str::to_owned),
        default_model: defaults.1.map(str::to_owned),
        ..Settings::default()
    };
    let folder = models
        .path()
        .parent()
        .map(|folder| format!("{}/", folder.display()));
    let plain = |text: &str| text.replace(folder.as_deref().unwrap_or("\0"), "");
    select(&Request {
        provider: flags.0,
        model: flags.1,
        settings: &settings,
        settings_file: Path::new("settings.json"),
        models_file: models,
        keys: &keys,
    })
    .map(|selection| Selection {
        warnings: selection.warnings.iter().map(|text| plain(text)).collect(),
        ..selection
    })
    .map_err(|error| (error.code(), plain(&error.to_string())))
}

/// `provider/id` or `provider/id:level` of `--model name`, then the warnings.
fn named(name: &str) -> Result<Vec<String>, String> {
    choose(&file(MODELS), (None, Some(name)), (None, None))
        .map(told)
        .map_err(|(_, text)| text)
}

fn told(selection: Selection) -> Vec<String> {
    let level = selection
        .thinking
        .map_or(String::new(), |level| format!(":{level:?}"));
    let name = format!("{}/{}{level}", selection.model.provider, selection.model.id);
    [name].into_iter().chain(selection.warnings).collect()
}

fn error(name: &str) -> String {
    named(name).unwrap_err()
}

#[test]
fn names_in_full_and_in_part() {
    for (name, expected) in [
        ("mock/mock-1", "mock/mock-1"),
        ("other/mock-1", "other/mock-1"),
        ("other/vendor/deep/id", "other/vendor/deep/id"),
        ("vendor/deep/id", "other/vendor/deep/id"),
        // The longest known provider is tried first.
        ("mock/sub/x", "mock/sub/x"),
        ("mock-big", "mock/mock-big"),
        ("MOCK-BIG", "mock/mock-big"),
        ("Mock/Mock-Big", "mock/mock-big"),
        ("mock/MOCK-1", "mock/mock-1"),
    ] {
        assert_eq!(named(name), Ok(vec![expected.to_owned()]), "{name}");
    }
    for (name, expected) in [
        ("big", "mock/mock-big"),
        ("first", "mock/mock-1"),
        ("mock/big", "mock/mock-big"),
    ] {
        assert_eq!(
            named(name),
            Ok(vec![
                expected.to_owned(),
                format!("`{name}` is taken for the model `{expected}`")
            ])
        );
    }
}

#[test]
fn a_level_may_follow_unless_the_model_is_called_so() {
    for (name, expected) in [
        ("mock/mock-1:high", "mock/mock-1:High"),
        ("mock-big:off", "mock/mock-big:Off"),
        ("mock/llama:high", "mock/llama:high"),
        ("mock/llama:high:low", "mock/llama:high:Low"),
        ("offline:max", "offline/offline:Max"),
    ] {
        assert_eq!(named(name), Ok(vec![expected.to_owned()]), "{name}");
    }
    // No level: part of the id.
    assert_eq!(named("vllm/a:8b").unwrap()[0], "vllm/a:8b");
    assert_eq!(named("vllm/a:high").unwrap()[0], "vllm/a:High");
}

#[test]
fn the_offline_model_needs_no_file_and_is_never_a_guess() {
    let none = ModelsFile::default();
    for flags in [
        (None, Some("offline")),
        (None, Some("offline/offline")),
        (Some("offline"), None),
        (Some("offline"), Some("offline")),
    ] {
        assert_eq!(
            choose(&none, flags, (None, None)).unwrap(),
            Selection {
                model: Model::offline(),
                thinking: None,
                access: Access {
                    key_optional: true,
                    ..Access::default()
                },
                unpriced: Unpriced::None,
                warnings: Vec::new()
            }
        );
        assert!(Request::is_offline(flags.0, flags.1));
    }
    assert!(Request::is_offline(None, Some("offline:low")));
    for flags in [
        (None, None),
        (None, Some("mock-1")),
        (Some("mock"), None),
        (Some("mock"), Some("offline")),
        (Some("offline"), Some("mock-1")),
    ] {
        assert!(!Request::is_offline(flags.0, flags.1), "{flags:?}");
    }
    assert_eq!(
        choose(&none, (Some("offline"), Some("mock-1")), (None, None))
            .unwrap_err()
            .1,
        "--model names `mock-1`, which fits no known model (did you mean offline?). Name it as \
         PROVIDER/ID (`quipu models` lists them), add it to , or use `--model offline`"
    );
    // The settings may name it: that is a choice too.
    assert_eq!(
        told(choose(&none, (None, None), (Some("offline"), Some("offline"))).unwrap()),
        ["offline/offline"]
    );
}

#[test]
fn flags_come_before_the_settings() {
    let models = file(MODELS);
    let chosen = |flags, defaults| {
        choose(&models, flags, defaults)
            .map(told)
            .unwrap()
            .remove(0)
    };
    let defaults = (Some("mock"), Some("mock-big"));
    assert_eq!(chosen((None, None), defaults), "mock/mock-big");
    assert_eq!(
        chosen((None, None), (None, Some("mock/mock-1:low"))),
        "mock/mock-1:Low"
    );
    assert_eq!(
        chosen((None, Some("vendor/deep/id")), defaults),
        "other/vendor/deep/id"
    );
    assert_eq!(
        chosen((Some("other"), Some("mock-1")), defaults),
        "other/mock-1"
    );
    assert_eq!(
        chosen((Some("other"), Some("other/mock-1")), defaults),
        "other/mock-1"
    );
    assert_eq!(chosen((Some("mock"), None), defaults), "mock/mock-big");
    // The only model of a provider needs no name.
    assert_eq!(chosen((Some("mock/sub"), None), defaults), "mock/sub/x");
    // An id that several providers have is the default provider's.
    assert_eq!(chosen((None, Some("mock-1")), defaults), "mock/mock-1");
}

#[test]
fn no_model_says_three_ways_to_choose_one() {
    assert_eq!(
        choose(&ModelsFile::default(), (None, None), (None, None)),
        Err((
            ErrorCode::Configuration,
            "no model is chosen. Choose one in one of these ways: `--model PROVIDER/ID`; \
             \"defaultProvider\" and \"defaultModel\" in settings.json; or `--model offline`, the \
             built-in model that needs no network and no key"
                .to_owned()
        ))
    );
    let models = file(r#"{"providers": {"p": {"models": [{"id": "a"}, {"id": "b"}]}}}"#);
    let (code, text) = choose(&models, (None, None), (None, None)).unwrap_err();
    assert_eq!(code, ErrorCode::Configuration);
    assert!(
        text.contains("`--model PROVIDER/ID` (models.json has p/a, p/b); "),
        "{text}"
    );
}

#[test]
fn a_provider_alone_needs_a_model() {
    let models = file(MODELS);
    assert_eq!(
        choose(&models, (Some("mock"), None), (None, None)).unwrap_err(),
        (
            ErrorCode::Usage,
            "--provider names the provider `mock` but no model; it has mock/mock-1, \
             mock/mock-big, mock/llama:high. Add `--model ID`, or use `--model offline`"
                .to_owned()
        )
    );
    assert_eq!(
        choose(&models, (None, None), (Some("ollama"), None)).unwrap_err(),
        (
            ErrorCode::Configuration,
            "`defaultProvider` of the settings names the provider `ollama` but no model. Add \
             `defaultModel` there, or `--model` on the command line"
                .to_owned()
        )
    );
    assert_eq!(
        error("ollama/"),
        "--model names the provider `ollama` but no model. Add the model's id after it"
    );
    // What is known is offered, but never taken: nobody has named it.
    let text = error("deepseek/");
    assert!(
        text.contains("no model; it has deepseek/deepseek-flash, deepseek/deepseek-v4-pro. Add"),
        "{text}"
    );
}

#[test]
fn several_models_that_fit_are_listed() {
    assert_eq!(
        choose(&file(MODELS), (None, Some("mock-1")), (None, None)).unwrap_err(),
        (
            ErrorCode::Usage,
            "--model names `mock-1`, which fits several models: mock/mock-1, other/mock-1. Name \
             one of them in full"
                .to_owned()
        )
    );
    assert_eq!(
        error("mock/mock-"),
        "--model names `mock/mock-`, which fits several models: mock/mock-1, mock/mock-big. Name \
         one of them in full"
    );
    let many: Vec<_> = (0..12).map(|n| format!(r#"{{"id": "m{n}"}}"#)).collect();
    let models = file(&format!(
        r#"{{"providers": {{"p": {{"models": [{}]}}}}}}"#,
        many.join(",")
    ));
    let (code, text) = choose(&models, (None, None), (None, Some("p/m"))).unwrap_err();
    assert_eq!(code, ErrorCode::Configuration);
    assert!(
        text.ends_with("p/m8, p/m9 and 2 more. Name one of them in full"),
        "{text}"
    );
}

#[test]
fn unknown_names_are_usage_errors_with_suggestions() {
    let models = file(MODELS);
    assert_eq!(
        choose(&models, (None, Some("elsewhere")), (None, None)).unwrap_err(),
        (
            ErrorCode::Usage,
            "--model names `elsewhere`, which fits no known model. Name it as PROVIDER/ID (`quipu \
             models` lists them), add it to models.json, or use `--model offline`"
                .to_owned()
        )
    );
    assert_eq!(
        error("mock-bgi"),
        "--model names `mock-bgi`, which fits no known model (did you mean mock/mock-big?). Name it \
         as PROVIDER/ID (`quipu models` lists them), add it to models.json, or use `--model offline`"
    );
    assert_eq!(
        error("ofline"),
        "--model names `ofline`, which fits no known model (did you mean offline?). Name it as \
         PROVIDER/ID (`quipu models` lists them), add it to models.json, or use `--model offline`"
    );
    let known = "Known: anthropic, openai, google, openrouter, groq, xai, mistral, deepseek, \
                 ollama, lmstudio, llama.cpp, vllm, chat, mock, mock/sub, other; others go into \
                 models.json, and `--model offline` needs none";
    assert_eq!(
        error("antropic/claude"),
        format!(
            "--model names `antropic`, which is no known provider (did you mean anthropic?). {known}"
        )
    );
    assert_eq!(
        choose(&models, (Some("nowhere"), Some("m")), (None, None)).unwrap_err(),
        (
            ErrorCode::Usage,
            format!("--provider names `nowhere`, which is no known provider. {known}")
        )
    );
    assert_eq!(
        choose(&models, (None, None), (Some("nowhere"), Some("m")))
            .unwrap_err()
            .0,
        ErrorCode::Configuration
    );
}

#[test]
fn a_known_provider_is_asked_for_an_id_that_is_not_listed() {
    let models = file(MODELS);
    let selection = choose(&models, (None, Some("anthropic/new")), (None, None)).unwrap();
    assert_eq!(
        selection,
        Selection {
            model: Model {
                provider: "anthropic".into(),
                id: "new".into(),
                name: "new".into(),
                api: Api::AnthropicMessages,
                base_url: "https://api.anthropic.com".into(),
                headers: Vec::new(),
                reasoning: false,
                images: false,
                cost: Prices::default(),
                context_window: None,
                max_tokens: None,
                auth_header: false,
                compat: serde_json::Map::new(),
                thinking_budgets: std::collections::BTreeMap::new(),
            },
            thinking: None,
            access: Access {
                api_key: None,
                headers: Vec::new(),
                variables: &["ANTHROPIC_API_KEY"],
                key_optional: false,
                models_file: models.path().to_owned(),
            },
            unpriced: Unpriced::All,
            warnings: vec![
                "the model `anthropic/new` is neither known nor in models.json: its limits are \
                 unknown and its cost counts as 0"
                    .to_owned()
            ],
        }
    );
    let selection = choose(&models, (Some("mock"), Some("mock-gib")), (None, None)).unwrap();
    assert_eq!(
        told(selection),
        [
            "mock/mock-gib",
            "the model `mock/mock-gib` is neither known nor in models.json: its limits are unknown \
             and its cost counts as 0 (did you mean mock/mock-big or mock/mock-1?)"
        ]
    );
}

#[test]
fn a_listed_model_has_the_files_values_or_the_defaults() {
    let models = file(
        r#"{"providers": {"p": {
          "baseUrl": "https://h/", "api": "anthropic-messages", "authHeader": true,
          "headers": {"X-A": "1", "x-b": "2"}, "compat": {"supportsStore": true, "requiresThinkingAsText": true},
          "models": [
            {"id": "bare"},
            {"id": "full", "name": "Full", "baseUrl": "https://m", "reasoning": true,
             "input": ["text", "image"], "cost": {"input": 3, "output": 15, "cacheRead": 0.3},
             "contextWindow": 1000, "maxTokens": 100, "headers": {"x-a": "3"}, "compat": {"requiresThinkingAsText": false},
             "thinkingLevelMap": {"low": null, "max": "most"}}
          ],
          "modelOverrides": {"full": {"maxTokens": 50}, "changed": {"contextWindow": 7}}
        }}}"#,
    );
    let chosen = |name| choose(&models, (Some("p"), Some(name)), (None, None)).unwrap();
    let bare = chosen("bare").model;
    assert_eq!(
        (bare.name.as_str(), bare.reasoning, bare.images, bare.cost),
        ("bare", false, false, Prices::default())
    );
    assert_eq!(
        (bare.context_window, bare.max_tokens),
        (Some(128_000), Some(16_384))
    );
    assert_eq!(
        (bare.base_url.as_str(), bare.auth_header),
        ("https://h", true)
    );

    let full = chosen("full");
    assert_eq!(full.warnings, [""; 0]);
    assert_eq!(
        full.access.headers,
        [
            ("x-b".to_owned(), ConfigValue::from("2")),
            ("x-a".to_owned(), ConfigValue::from("3"))
        ]
    );
    assert_eq!(
        full.model,
        Model {
            provider: "p".into(),
            id: "full".into(),
            name: "Full".into(),
            api: Api::AnthropicMessages,
            base_url: "https://m".into(),
            headers: Vec::new(),
            reasoning: true,
            images: true,
            cost: Prices {
                input: 3.0,
                output: 15.0,
                cache_read: 0.3,
                cache_write: 0.0
            },
            context_window: Some(1000),
            max_tokens: Some(50),
            auth_header: true,
            compat: serde_json::json!({
                "supportsStore": true, "requiresThinkingAsText": false,
                "thinkingLevelMap": {"low": null, "max": "most"}
            })
            .as_object()
            .cloned()
            .unwrap(),
            thinking_budgets: std::collections::BTreeMap::new(),
        }
    );
    // What only an override names has no limits but those.
    let changed = chosen("changed");
    assert_eq!(changed.warnings, [""; 0]);
    assert_eq!(
        (changed.model.context_window, changed.model.max_tokens),
        (Some(7), None)
    );
}

#[test]
fn an_entry_changes_a_built_in_provider() {
    let models =
        file(r#"{"providers": {"anthropic": {"baseUrl": "http://localhost:1", "apiKey": "k"}}}"#);
    let selection = choose(&models, (None, Some("anthropic/m")), (None, None)).unwrap();
    assert_eq!(selection.model.base_url, "http://localhost:1");
    assert_eq!(selection.model.api, Api::AnthropicMessages);
    assert_eq!(selection.access.api_key, Some("k".into()));
    assert_eq!(selection.access.variables, ["ANTHROPIC_API_KEY"]);
    assert!(selection.access.key_optional);
}

#[test]
fn only_a_server_here_or_a_header_makes_a_key_needless() {
    let models = file(
        r#"{"providers": {"p": {"baseUrl": "https://h", "api": "anthropic-messages",
            "models": [{"id": "a"}, {"id": "b", "headers": {"X-Api-Key": "k"}}]}}}"#,
    );
    let optional = |name| {
        choose(&models, (None, Some(name)), (None, None))
            .unwrap()
            .access
            .key_optional
    };
    assert!(!optional("p/a"));
    assert!(optional("p/b"));
}

#[test]
fn an_entry_that_cannot_be_used_is_told_when_it_is_selected() {
    let chosen =
        |text: &str, name| choose(&file(text), (None, Some(name)), (None, None)).unwrap_err();
    assert_eq!(
        chosen(MODELS, "only-chat"),
        (
            ErrorCode::Configuration,
            "the model `chat/only-chat` uses the api `smoke-signals` (models.json), which is not \
             supported. Supported: anthropic-messages, openai-completions, openai-responses, \
             google-generative-ai; \
             choose another model, or `--model offline`"
                .to_owned()
        )
    );
    assert_eq!(
        chosen(r#"{"providers": {"p": {"models": [{"id": "a"}]}}}"#, "p/a").1,
        "models.json: the model `p/a` has no `api`; add one to `providers.p`, such as \
         \"anthropic-messages\""
    );
    assert_eq!(
        chosen(
            r#"{"providers": {"p": {"api": "anthropic-messages", "models": [{"id": "a"}]}}}"#,
            "p/a"
        ),
        (
            ErrorCode::Configuration,
            "models.json: the model `p/a` has no `baseUrl`; add one to `providers.p`, such as \
             \"http://127.0.0.1:8080\""
                .to_owned()
        )
    );
    assert_eq!(
        chosen(
            r#"{"providers": {"p": {"baseUrl": "h:1", "api": "anthropic-messages"}}}"#,
            "p/a"
        )
        .1,
        "models.json: the model `p/a` has a `baseUrl` that begins with neither http:// nor \
         https://; correct it"
    );
}

#[test]
fn unknown_keys_are_one_warning_of_the_selected_model() {
    let models = file(
        r#"{"providers": {"p": {"baseUrl": "http://h", "api": "anthropic-messages", "oauth": "x",
            "models": [{"id": "a", "samplingParams": {}},
                {"id": "b", "compat": {"thinkingFormat": "x"}}]}}}"#,
    );
    let warnings = |name| {
        choose(&models, (None, Some(name)), (None, None))
            .unwrap()
            .warnings
    };
    assert_eq!(
        warnings("p/a"),
        [
            "models.json: ignored unknown `providers.p.oauth`, `providers.p.models[0].samplingParams`"
        ]
    );
    let told = warnings("p/b");
    assert_eq!(told[0], "models.json: ignored unknown `providers.p.oauth`");
    let nonsense = "models.json: `providers.p.models[1].compat.thinkingFormat` is ignored: ";
    assert!(told[1].starts_with(nonsense), "{}", told[1]);
}

#[test]
fn what_is_said_to_be_supported_is() {
    for api in SUPPORTED_APIS {
        assert!(!matches!(Api::from(api), Api::Other(_)), "{api}");
    }
}
