//! Models of the catalogue, and what the user's file makes of them.

use super::*;
use pretty_assertions::assert_eq;

fn chosen(models: &ModelsFile, name: &str) -> Selection {
    choose(models, (None, Some(name)), (None, None)).unwrap()
}

fn names(name: &str) -> Vec<String> {
    told(chosen(&ModelsFile::default(), name))
}

#[test]
fn a_known_model_needs_no_file() {
    for name in [
        "anthropic/claude-haiku-4-5",
        "claude-haiku-4-5",
        "Claude-Haiku-4-5",
    ] {
        assert_eq!(names(name), ["anthropic/claude-haiku-4-5"], "{name}");
    }
    assert_eq!(names("claude-opus-5:max"), ["anthropic/claude-opus-5:Max"]);
    assert_eq!(
        names("opus-4-5"),
        [
            "anthropic/claude-opus-4-5",
            "`opus-4-5` is taken for the model `anthropic/claude-opus-4-5`"
        ]
    );
    // An id may look like a provider and an id.
    assert_eq!(names("openai/gpt-oss-20b"), ["groq/openai/gpt-oss-20b"]);
    let Selection { model, access, .. } = chosen(&ModelsFile::default(), "claude-haiku-4-5");
    assert_eq!(
        model.cost,
        Prices {
            input: 1.0,
            output: 5.0,
            cache_read: 0.1,
            cache_write: 1.25
        }
    );
    assert_eq!(
        (model.context_window, model.max_tokens, model.images),
        (Some(200_000), Some(64_000), true)
    );
    assert_eq!(model.base_url, "https://api.anthropic.com");
    assert_eq!(access.variables, ["ANTHROPIC_API_KEY"]);
    let openai = chosen(&ModelsFile::default(), "openai/gpt-6-luna").model;
    assert_eq!(openai.api, Api::OpenAiResponses);
}

#[test]
fn an_ambiguous_name_lists_the_candidates() {
    let none = ModelsFile::default();
    let (code, text) = choose(&none, (None, Some("haiku")), (None, None)).unwrap_err();
    assert_eq!(code, ErrorCode::Usage);
    assert_eq!(
        text,
        "--model names `haiku`, which fits several models: anthropic/claude-haiku-5-5, \
         anthropic/claude-haiku-4-5, openrouter/anthropic/claude-haiku-4.5. Name one of them in full"
    );
}

#[test]
fn of_several_the_users_own_or_that_of_a_key_is_meant() {
    let none = ModelsFile::default();
    let with = |keys: &[&str], models: &ModelsFile, name| {
        choose_with(models, (None, Some(name)), (None, None), keys)
            .map(|found| told(found).remove(0))
            .map_err(|(_, text)| text)
    };
    // `opus-5.5` and `gpt-oss` each stand in one place.
    assert_eq!(
        with(&["openrouter", "xai"], &none, "haiku"),
        Ok("openrouter/anthropic/claude-haiku-4.5".to_owned())
    );
    assert!(with(&["anthropic", "openrouter"], &none, "haiku").is_err());
    assert!(with(&["xai"], &none, "haiku").is_err());
    let own = file(
        r#"{"providers": {"mine": {"baseUrl": "http://h", "api": "anthropic-messages",
            "models": [{"id": "my-haiku"}]}}}"#,
    );
    assert_eq!(
        with(&["openrouter"], &own, "haiku"),
        Ok("mine/my-haiku".to_owned())
    );
    // What the settings prefer comes first.
    let preferred = choose_with(
        &own,
        (None, Some("haiku")),
        (Some("openrouter"), None),
        &["anthropic"],
    );
    assert_eq!(
        told(preferred.unwrap())[0],
        "openrouter/anthropic/claude-haiku-4.5"
    );
}

#[test]
fn a_name_that_a_known_one_only_goes_on_from_is_asked_for_as_it_is() {
    let told = names("mistral/mistral-large");
    assert_eq!(told[0], "mistral/mistral-large");
    assert!(
        told[1].contains("neither known nor in") && told[1].contains("mistral/mistral-large-4"),
        "{told:?}"
    );
    // A part from within is a pattern.
    assert_eq!(names("mistral/large-4")[0], "mistral/mistral-large-4");
}

#[test]
fn the_users_file_wins_field_by_field() {
    let models = file(
        r#"{"providers": {"anthropic": {
          "compat": {"supportsStore": true},
          "models": [{"id": "claude-opus-5", "maxTokens": 5000, "cost": {"output": 1},
            "thinkingLevelMap": {"max": null}}],
          "modelOverrides": {"claude-haiku-4-5": {"name": "Mine"}}
        }}}"#,
    );
    let opus = chosen(&models, "anthropic/claude-opus-5");
    assert_eq!(opus.warnings, [""; 0]);
    let Model {
        name,
        max_tokens,
        context_window,
        cost,
        compat,
        reasoning,
        ..
    } = opus.model;
    assert_eq!(
        (&*name, max_tokens, context_window, reasoning),
        ("Claude Opus 5", Some(5000), Some(1_000_000), true)
    );
    assert_eq!((cost.input, cost.output, cost.cache_read), (5.0, 1.0, 0.5));
    assert_eq!(
        serde_json::Value::Object(compat),
        serde_json::json!({
            "thinkingFormat": "adaptive", "supportsStore": true,
            "thinkingLevelMap": {"xhigh": "xhigh", "max": null}
        })
    );
    let haiku = chosen(&models, "claude-haiku-4-5").model;
    assert_eq!((&*haiku.name, haiku.max_tokens), ("Mine", Some(64_000)));
}

#[test]
fn the_provider_of_the_file_may_speak_another_api() {
    let models = file(
        r#"{"providers": {"openai": {"baseUrl": "http://h/v1", "api": "openai-completions"}}}"#,
    );
    let model = chosen(&models, "gpt-5").model;
    assert_eq!(model.api, Api::OpenAiCompletions);
    assert_eq!(model.base_url, "http://h/v1");
    assert_eq!(model.context_window, Some(400_000));
}

#[test]
fn a_price_that_nothing_tells_is_said_once() {
    assert_eq!(
        names("openrouter/z-ai/glm-5.3"),
        [
            "openrouter/z-ai/glm-5.3",
            "no price of the model `openrouter/z-ai/glm-5.3` is known: its cost counts as 0"
        ]
    );
    assert_eq!(
        names("claude-fable-5-1"),
        [
            "anthropic/claude-fable-5-1",
            "what the model `anthropic/claude-fable-5-1` takes for cached input is not known: it \
             counts as 0"
        ]
    );
    // The user's own models are free unless the file says otherwise.
    let own = file(r#"{"providers": {"openrouter": {"models": [{"id": "z-ai/glm-5.3"}]}}}"#);
    assert_eq!(chosen(&own, "z-ai/glm-5.3").warnings, [""; 0]);
}

#[test]
fn the_settings_budgets_go_with_the_model() {
    let settings = Settings {
        thinking_budgets: [(ThinkingLevel::Low, 3000)].into(),
        ..Settings::default()
    };
    let selection = select(&Request {
        provider: None,
        model: Some("claude-haiku-4-5"),
        settings: &settings,
        settings_file: Path::new("settings.json"),
        models_file: &ModelsFile::default(),
        keys: &BTreeSet::new(),
    });
    assert_eq!(
        selection.unwrap().model.thinking_budgets,
        settings.thinking_budgets
    );
}
