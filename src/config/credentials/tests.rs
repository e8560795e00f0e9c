use super::*;
use crate::model::{Api, Prices};
use std::fs;

struct Place {
    dir: tempfile::TempDir,
    environment: Environment,
    access: Access,
    flag: Option<Secret>,
}

impl Place {
    /// A provider with one variable and nothing else.
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let access = Access {
            variables: &["ANTHROPIC_API_KEY"],
            models_file: dir.path().join("models.json"),
            ..Access::default()
        };
        Self {
            dir,
            environment: Environment::default(),
            access,
            flag: None,
        }
    }

    fn auth(&self, text: &str, mode: u32) {
        let file = self.dir.path().join("auth.json");
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn unlock_model(&self) -> Result<(Model, Credentials), String> {
        let mut model = Model {
            thinking_budgets: std::collections::BTreeMap::new(),
            provider: "anthropic".into(),
            id: "m".into(),
            name: "m".into(),
            api: Api::AnthropicMessages,
            base_url: "https://h".into(),
            headers: Vec::new(),
            reasoning: false,
            images: false,
            cost: Prices::default(),
            context_window: None,
            max_tokens: None,
            auth_header: false,
            compat: serde_json::Map::new(),
        };
        let sources = Sources {
            flag: self.flag.as_ref(),
            auth_file: &self.dir.path().join("auth.json"),
            environment: &self.environment,
            command_timeout: COMMAND_TIMEOUT,
        };
        let plain = |text: String| text.replace(&format!("{}/", self.dir.path().display()), "");
        match unlock(&mut model, &self.access, &sources) {
            Ok(mut credentials) => {
                credentials.warnings = credentials.warnings.into_iter().map(plain).collect();
                Ok((model, credentials))
            }
            Err(error) => {
                let code = match error {
                    CredentialsError::File(_) => ErrorCode::Configuration,
                    _ => ErrorCode::Credentials,
                };
                assert_eq!(error.code(), code);
                Err(plain(error.to_string()))
            }
        }
    }

    fn unlock(&self) -> Result<Credentials, String> {
        self.unlock_model().map(|(_, credentials)| credentials)
    }

    fn key(&self) -> Option<String> {
        self.unlock()
            .unwrap()
            .key
            .map(|key| key.expose().to_owned())
    }
}

#[test]
fn the_flag_then_the_key_file_then_the_environment_then_the_models_file() {
    let mut place = Place::new();
    place.flag = Some(Secret::new("from-flag"));
    place.auth(
        r#"{"anthropic": {"type": "api_key", "key": "from-file"}}"#,
        0o600,
    );
    place.environment = [("ANTHROPIC_API_KEY", "from-variable\n")]
        .into_iter()
        .collect();
    place.access.api_key = Some("from-models".into());
    assert_eq!(place.key().as_deref(), Some("from-flag"));
    place.flag = None;
    assert_eq!(place.key().as_deref(), Some("from-file"));
    place.auth(r#"{"openai": {"type": "api_key", "key": "other"}}"#, 0o600);
    assert_eq!(place.key().as_deref(), Some("from-variable"));
    place.environment = Environment::default();
    assert_eq!(place.key().as_deref(), Some("from-models"));
    place.access.api_key = None;
    assert!(place.unlock().is_err());
    place.access.key_optional = true;
    assert_eq!(place.key(), None);
}

#[test]
fn no_key_names_every_place_and_the_ways_out() {
    let mut place = Place::new();
    assert_eq!(
        place.unlock().unwrap_err(),
        "no API key for provider `anthropic`. Looked at: --api-key (not given), auth.json (no such \
         file), the variable ANTHROPIC_API_KEY (not set), `providers.anthropic.apiKey` in \
         models.json (absent). Set ANTHROPIC_API_KEY, or put {\"anthropic\": {\"type\": \
         \"api_key\", \"key\": \"…\"}} into auth.json (mode 600), or pass --api-key; `--model \
         offline` needs no key"
    );
    place.access.variables = &[];
    for (entry, what) in [
        (
            r#"{"type": "oauth", "access": "canary"}"#,
            "its entry `anthropic` is a login and not an API key, which is not supported",
        ),
        (
            r#"{"type": "api_key"}"#,
            "its entry `anthropic` has no `key`",
        ),
    ] {
        place.auth(&format!(r#"{{"anthropic": {entry}}}"#), 0o600);
        assert_eq!(
            place.unlock().unwrap_err(),
            format!(
                "no API key for provider `anthropic`. Looked at: --api-key (not given), auth.json \
                 ({what}), `providers.anthropic.apiKey` in models.json (absent). Set \
                 `providers.anthropic.apiKey` in models.json, or put {{\"anthropic\": {{\"type\": \
                 \"api_key\", \"key\": \"…\"}}}} into auth.json (mode 600), or pass --api-key; \
                 `--model offline` needs no key"
            )
        );
    }
}

#[test]
fn a_key_file_that_everyone_reads_is_refused_and_one_of_the_group_is_told() {
    let mut place = Place::new();
    let text = r#"{"anthropic": {"key": "from-file"}}"#;
    place.auth(text, 0o644);
    assert_eq!(
        place.unlock().unwrap_err(),
        "auth.json: every user of this machine can read the keys (mode 644). Run `chmod 600 \
         auth.json`; change the keys if others use this machine"
    );
    place.auth(text, 0o640);
    assert_eq!(
        place.unlock().unwrap().warnings,
        ["auth.json: its group can read the keys (mode 640); `chmod 600` keeps them to you"]
    );
    // It is not looked at when a key is given.
    place.auth(text, 0o644);
    place.flag = Some(Secret::new("from-flag"));
    assert_eq!(place.key().as_deref(), Some("from-flag"));
}

#[test]
fn values_that_cannot_be_used_name_their_place() {
    let mut place = Place::new();
    place.access.api_key = Some("!exit 1".into());
    assert_eq!(
        place.unlock().unwrap_err(),
        "`providers.anthropic.apiKey` in models.json is a command that failed (exit status: 1); \
         run it by hand to see why. Correct it, or use `--model offline`, which needs no key"
    );
    place.environment = [("ANTHROPIC_API_KEY", "a\nb")].into_iter().collect();
    assert_eq!(
        place.unlock().unwrap_err(),
        "the variable ANTHROPIC_API_KEY gives more than one line, or control characters. Correct \
         it, or use `--model offline`, which needs no key"
    );
    place.auth(r#"{"anthropic": {"key": "$NOT_SET"}}"#, 0o600);
    assert_eq!(
        place.unlock().unwrap_err(),
        "the key of provider `anthropic` in auth.json names the variable NOT_SET, which is not \
         set. Correct it, or use `--model offline`, which needs no key"
    );
    place.auth("{\"anthropic\":\n \"canary\"}", 0o600);
    assert_eq!(
        place.unlock().unwrap_err(),
        "auth.json:2:9: `anthropic` is a string, expected an object. The file looks like \
         {\"PROVIDER\": {\"type\": \"api_key\", \"key\": \"…\"}}; correct it."
    );
    place.flag = Some(Secret::new(" "));
    assert_eq!(
        place.unlock().unwrap_err(),
        "the value of --api-key gives nothing. Correct it, or use `--model offline`, which needs \
         no key"
    );
}

#[test]
fn a_command_over_its_limit_says_so() {
    let place = Place::new();
    let error = ConfigValue::from("!exec sleep 600")
        .resolve(&place.environment, Duration::from_millis(100))
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "is a command that gave no answer within 0.1 s"
    );
}

#[test]
fn a_value_that_looks_like_an_unset_variable_is_told() {
    let mut place = Place::new();
    place.access.api_key = Some("MY_PROXY_KEY".into());
    assert_eq!(
        place.unlock().unwrap().warnings,
        [
            "`providers.anthropic.apiKey` in models.json looks like the name of a variable, but none \
          of that name is set: it is sent as the key itself"
        ]
    );
    place.environment = [("MY_PROXY_KEY", "value")].into_iter().collect();
    assert_eq!(place.unlock().unwrap().warnings, [""; 0]);
}

#[test]
fn headers_are_filled_in_and_the_secret_ones_are_held() {
    let mut place = Place::new();
    place.access.key_optional = true;
    place.environment = [("TOKEN_VARIABLE", "secret-of-variable")]
        .into_iter()
        .collect();
    place.access.headers = vec![
        ("x-title".into(), "Innocent title".into()),
        ("x-team".into(), "${TOKEN_VARIABLE}".into()),
        ("Authorization".into(), "Bearer secret-of-header".into()),
    ];
    let (model, credentials) = place.unlock_model().unwrap();
    let headers: Vec<_> = model
        .headers
        .iter()
        .map(|(n, v)| (n.as_str(), v.as_str()))
        .collect();
    assert_eq!(
        headers,
        [
            ("x-title", "Innocent title"),
            ("x-team", "secret-of-variable"),
            ("Authorization", "Bearer secret-of-header")
        ]
    );
    assert_eq!(
        credentials
            .secrets
            .scrub("Innocent title, secret-of-variable, secret-of-header"),
        "Innocent title, <redacted>, <redacted>"
    );
    place.access.headers = vec![("x-a".into(), "$NOT_SET".into())];
    assert_eq!(
        place.unlock().unwrap_err(),
        "the header `x-a` of provider `anthropic` in models.json names the variable NOT_SET, which \
         is not set. Correct it, or use `--model offline`, which needs no key"
    );
}

#[test]
fn the_key_is_held_unless_it_is_the_providers_name() {
    let mut place = Place::new();
    place.flag = Some(Secret::new("sk-12345678"));
    assert_eq!(
        place.unlock().unwrap().secrets.scrub("a sk-12345678"),
        "a <redacted>"
    );
    place.flag = Some(Secret::new("Anthropic"));
    assert_eq!(
        place.unlock().unwrap().secrets.scrub("by Anthropic"),
        "by Anthropic"
    );
}

#[test]
fn the_offline_model_needs_nothing_and_reads_nothing() {
    let place = Place::new();
    place.auth("broken", 0o644);
    let mut model = Model::offline();
    let sources = Sources {
        flag: Some(&Secret::new("unused-key")),
        auth_file: &place.dir.path().join("auth.json"),
        environment: &place.environment,
        command_timeout: COMMAND_TIMEOUT,
    };
    assert_eq!(
        unlock(&mut model, &Access::default(), &sources)
            .unwrap()
            .key,
        None
    );
}

#[test]
fn key_variables_are_hidden_from_tools() {
    let place = Place::new();
    fs::write(
        place.dir.path().join("models.json"),
        r#"{"providers": {"p": {"apiKey": "MODELS_VARIABLE"}}}"#,
    )
    .unwrap();
    let models = ModelsFile::load(&place.dir.path().join("models.json")).unwrap();
    place.auth(r#"{"anthropic": {"key": "${FILE_VARIABLE}"}}"#, 0o600);
    let place = Place {
        environment: [("FILE_VARIABLE", "v")].into_iter().collect(),
        ..place
    };
    let credentials = place.unlock().unwrap();
    let hidden = hidden_variables(&models, Some(&credentials));
    for name in [
        "ANTHROPIC_API_KEY",
        "GOOGLE_API_KEY",
        "MODELS_VARIABLE",
        "FILE_VARIABLE",
    ] {
        assert!(hidden.contains(name), "{name}");
    }
    assert!(!hidden.contains("PATH"));
    assert!(!hidden_variables(&ModelsFile::default(), None).contains("FILE_VARIABLE"));
}
