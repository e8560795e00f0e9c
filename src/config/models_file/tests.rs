use super::*;
use std::fs;

fn load(text: &str) -> Result<ModelsFile, String> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("models.json");
    fs::write(&path, text).unwrap();
    ModelsFile::load(&path).map_err(|error| {
        error
            .to_string()
            .replace(&format!("{}/", dir.path().display()), "")
    })
}

#[test]
fn every_key_is_read_and_null_is_absent() {
    let file = load(
        r#"{"providers": {
          "local": {
            "baseUrl": "http://127.0.0.1:8080/v1", "api": "openai-completions", "apiKey": "x",
            "headers": {"x-a": "b"}, "authHeader": true, "compat": {"maxTokensField": "max_tokens"},
            "models": [
              {"id": "a", "name": "A", "api": "anthropic-messages", "baseUrl": "http://h",
               "reasoning": true, "input": ["text", "image"],
               "cost": {"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75},
               "contextWindow": 8192, "maxTokens": 1024, "headers": {"x-c": "d"},
               "compat": {"supportsStore": true}, "thinkingLevelMap": {"off": null, "high": "hard"}},
              {"id": "b", "name": null, "cost": {"output": 1}}
            ],
            "modelOverrides": {"b": {"maxTokens": 5}, "c": {"reasoning": true}}
          },
          "bare": {}
        }}"#,
    )
    .unwrap();
    assert_eq!(
        file.models().collect::<Vec<_>>(),
        [("local", "a"), ("local", "b"), ("local", "c")]
    );
    let local = file.provider("local").unwrap();
    assert_eq!(local.base_url.as_deref(), Some("http://127.0.0.1:8080/v1"));
    assert_eq!(local.auth_header, Some(true));
    let [Some(a), None] = local.entries("a") else {
        panic!("{local:?}")
    };
    assert_eq!(
        *a,
        ModelEntry {
            id: "a".into(),
            name: Some("A".into()),
            api: Some("anthropic-messages".into()),
            base_url: Some("http://h".into()),
            reasoning: Some(true),
            input: Some(vec!["text".into(), "image".into()]),
            cost: Some(CostEntry {
                input: Some(3.0),
                output: Some(15.0),
                cache_read: Some(0.3),
                cache_write: Some(3.75),
                unknown: UnknownKeys::default(),
            }),
            context_window: Some(8192),
            max_tokens: Some(1024),
            headers: Some([("x-c".into(), "d".into())].into()),
            compat: serde_json::json!({"supportsStore": true})
                .as_object()
                .cloned(),
            thinking_level_map: Some(
                [("off".into(), None), ("high".into(), Some("hard".into()))].into()
            ),
            unknown: UnknownKeys::default(),
        }
    );
    let [Some(b), Some(over)] = local.entries("b") else {
        panic!("{local:?}")
    };
    assert_eq!(
        (b.name.as_deref(), b.cost.as_ref().unwrap().output),
        (None, Some(1.0))
    );
    assert_eq!(over.max_tokens, Some(5));
    assert_eq!(file.unknown_keys("local", "a"), [""; 0]);
}

#[test]
fn a_file_that_is_not_there_is_empty() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("models.json");
    let file = ModelsFile::load(&path).unwrap();
    assert_eq!(file.models().count(), 0);
    assert_eq!(file.path(), path);
}

#[test]
fn unknown_keys_are_told_for_the_model_they_bear_on() {
    let file = load(
        r#"{"x": 1, "providers": {
          "p": {"y": 1, "models": [{"id": "a"}, {"id": "b", "z": 1, "cost": {"tiers": []}}],
                "modelOverrides": {"b": {"w": 1}}},
          "q": {"v": 1}
        }}"#,
    )
    .unwrap();
    assert_eq!(file.unknown_keys("p", "a"), ["x", "providers.p.y"]);
    assert_eq!(
        file.unknown_keys("p", "b"),
        [
            "x",
            "providers.p.y",
            "providers.p.models[1].z",
            "providers.p.models[1].cost.tiers",
            "providers.p.modelOverrides.b.w"
        ]
    );
    assert_eq!(file.unknown_keys("other", "a"), ["x"]);
}

#[test]
fn switches_that_are_not_known_or_make_no_sense_are_told() {
    let load = |provider: &str, model: &str| {
        let (provider, model) = (format!(r#"{{"compat": {provider},"#), model);
        load(&format!(
            r#"{{"providers": {{"p": {provider} "models": [{{"id": "a", {model}}}]}}}}}}"#
        ))
        .unwrap()
    };
    let file = load(
        r#"{"supportsstore": true, "thinkingFormat": "nonsense", "supportsStore": "yes", "requiresMistralToolIds": null}"#,
        r#""thinkingLevelMap": {"hgih": "x"},
           "compat": {"thinkingLevelMap": 5, "reasoningEffortMap": {"low": 5, "lwo": "x"}}"#,
    );
    assert_eq!(
        file.unknown_keys("p", "a"),
        [
            "providers.p.compat.supportsstore",
            "providers.p.models[0].thinkingLevelMap.hgih",
            "providers.p.models[0].compat.reasoningEffortMap.lwo",
        ]
    );
    let told = file.nonsense("p", "a");
    assert_eq!(told.len(), 4, "{told:?}");
    for (text, (path, expected)) in told.iter().zip([
        ("providers.p.compat.thinkingFormat", "\"openrouter\", "),
        ("providers.p.compat.supportsStore", "true or false"),
        (
            "providers.p.models[0].compat.thinkingLevelMap",
            "an object of thinking levels",
        ),
        (
            "providers.p.models[0].compat.reasoningEffortMap.low",
            "a text or null",
        ),
    ]) {
        let begins = format!("`{path}` is ignored: expected ");
        assert!(
            text.starts_with(&begins) && text.contains(expected),
            "{text}"
        );
    }
    let good = load(
        r#"{"thinkingFormat": "zai", "maxTokensField": "max_tokens", "requiresThinkingAsText": false}"#,
        r#""compat": {"thinkingLevelMap": {"off": null, "max": "most"}}"#,
    );
    assert_eq!(good.unknown_keys("p", "a"), [""; 0]);
    assert_eq!(good.nonsense("p", "a"), [""; 0]);
}

#[test]
fn mistakes_name_line_and_field() {
    for (text, expected) in [
        (
            "{\"providers\": {\n\"p\": {\n\"models\": [{\"id\": \"a\", \"contextWindow\": \"big\"}]}}}",
            "models.json:3:45: `providers.p.models[0].contextWindow` is a string, expected a whole \
             number (0 or more). Correct the value; `--model offline` works without this file.",
        ),
        (
            "{\"providers\": {\"p\": {\"models\": [\n{\"id\": \"a\"},\n{\"name\": \"B\"}\n]}}}",
            "models.json:4:1: `providers.p.models[1]` lacks `id`, the model's name at its service. \
             Correct the value; `--model offline` works without this file.",
        ),
        (
            r#"{"providers": {"p": {"models": [{"id": "a", "maxTokens": 0}]}}}"#,
            "models.json:1:59: `providers.p.models[0].maxTokens` is 0, expected a number of tokens (1 \
             or more). Correct the value; `--model offline` works without this file.",
        ),
        (
            r#"{"providers": {"p": {"modelOverrides": {"a": {"contextWindow": 0}}}}}"#,
            "models.json:1:65: `providers.p.modelOverrides.a.contextWindow` is 0, expected a number of \
             tokens (1 or more). Correct the value; `--model offline` works without this file.",
        ),
        (
            r#"{"providers": {"p": {"models": [{"id": "a", "cost": {"input": -1}}]}}}"#,
            "models.json:1:65: `providers.p.models[0].cost.input` is negative, expected US dollars \
             per million tokens (0 or more). Correct the value; `--model offline` works without \
             this file.",
        ),
        (
            r#"{"providers": []}"#,
            "models.json:1:14: `providers` is a list, expected an object. Correct the value; \
             `--model offline` works without this file.",
        ),
        (
            r#"{"providers": {"p": {"headers": {"a": 1}}}}"#,
            "models.json:1:39: `providers.p.headers.a` is a number, expected a string. Correct the \
             value; `--model offline` works without this file.",
        ),
        (
            r#"{"providers": {"p": {"api": "a", "api": "b"}}}"#,
            "models.json:1:38: `providers.p` has `api` twice. Correct the value; `--model \
             offline` works without this file.",
        ),
        (
            "{\"providers\": {\n  \"p\": {},\n}}",
            "models.json:3:1: not valid JSON: trailing comma. Remove the comma before the closing \
             bracket; plain JSON allows none there.",
        ),
    ] {
        assert_eq!(load(text).unwrap_err(), expected, "{text}");
    }
}

#[test]
fn variables_of_keys_and_headers_are_known() {
    let file = load(
        r#"{"providers": {
          "p": {"apiKey": "P_KEY", "headers": {"a": "Bearer ${H_KEY}", "b": "plain text"},
                "models": [{"id": "a", "headers": {"c": "$M_KEY"}}],
                "modelOverrides": {"b": {"headers": {"c": "!echo ${X}"}}}}
        }}"#,
    )
    .unwrap();
    let mut names: Vec<_> = file.variables().collect();
    names.sort_unstable();
    assert_eq!(names, ["H_KEY", "M_KEY", "P_KEY"]);
}
