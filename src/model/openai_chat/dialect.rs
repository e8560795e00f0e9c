//! In what services that speak the API differ: by configuration (`compat`), else by their address, else
//! by the name of the provider, since a gateway in front of a service has an address of its own.
//!
//! Sources, read on 2026-11-30. Mistral: `max_completion_tokens` and `store` are refused
//! (Gitlawb/openclaude#739), ids of calls are nine letters and digits (`mistral_common`,
//! `protocol/instruct/validator.py`; anomalyco/opencode#1680), `reasoning_effort` is for some models only
//! (docs.mistral.ai/studio/conversations/reasoning). DeepSeek: api-docs.deepseek.com/guides/thinking_mode.
//! x.ai: older models take no effort (openrouter.ai/x-ai/grok-4), newer ones do
//! (docs.x.ai/developers/model-capabilities/text/reasoning), so it is for the model's entry to say.
//! Z.ai: docs.z.ai/guides/capabilities/thinking-mode. Qwen: help.aliyun.com/en/model-studio/deep-thinking,
//! and for its chat template qwen.readthedocs.io/en/latest/deployment/vllm.html. OpenRouter:
//! openrouter.ai/docs/use-cases/reasoning-tokens.
//! Assumptions, for want of a source: that DeepSeek wants `max_tokens`, that Mistral wants the name of
//! the tool beside its result and thinking as text, and the longest ids.

use serde_json::{Map, Value};

use crate::event::ThinkingLevel;
use crate::model::{Model, http};

/// How to speak with one service.
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a switch of its own in the configuration"
)]
#[derive(Debug, PartialEq)]
pub(super) struct Dialect {
    /// Whether the service keeps answers unless it is told not to.
    pub(super) store: bool,
    /// Whether a thinking model takes its instructions from the role `developer`.
    pub(super) developer_role: bool,
    /// Whether it sends the usage of a stream when asked to.
    pub(super) usage: bool,
    /// Whether the limit of an answer is called by its old name, `max_tokens`.
    pub(super) old_limit: bool,
    pub(super) thinking: ThinkingFormat,
    /// Whether a tool's result names the tool.
    pub(super) result_names: bool,
    /// Whether an answer has to stand between results and what the user says.
    pub(super) answer_after_results: bool,
    /// Whether thinking only goes back as text.
    pub(super) thinking_as_text: bool,
    /// Whether the ids of calls have to be nine letters and digits.
    pub(super) short_ids: bool,
    /// Most characters of the id of a call that another model made, with room for a suffix.
    pub(super) longest_id: usize,
}

/// How a service is told how much to think.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ThinkingFormat {
    /// `reasoning_effort`.
    Effort,
    /// Not at all.
    Silent,
    /// `reasoning.effort`.
    OpenRouter,
    /// `thinking.type`, and `reasoning_effort` while it is on.
    DeepSeek,
    /// `thinking.type`, or `enable_thinking` where the model is served by others.
    Zai,
    /// `enable_thinking`.
    Qwen,
    /// `chat_template_kwargs.enable_thinking`.
    QwenTemplate,
}

/// The services that deviate.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Service {
    OpenAi,
    OpenRouter,
    DeepSeek,
    Mistral,
    XAi,
    Zai,
}

impl Service {
    /// The service of the model, if it is one of them.
    fn of(model: &Model) -> Option<Self> {
        let url = http::base_url(&model.base_url).ok();
        let host = url.as_ref().and_then(|url| url.host_str()).unwrap_or("");
        let at = |domain: &str| {
            host.strip_suffix(domain)
                .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        let here = [
            ("api.openai.com", Self::OpenAi),
            ("openrouter.ai", Self::OpenRouter),
            ("deepseek.com", Self::DeepSeek),
            ("mistral.ai", Self::Mistral),
            ("x.ai", Self::XAi),
            ("z.ai", Self::Zai),
            ("bigmodel.cn", Self::Zai),
        ];
        let here = here.iter().find(|(domain, _)| at(domain));
        // Not OpenAI's name: it is in use for servers of all kinds.
        here.map(|(_, service)| *service)
            .or(match &*model.provider {
                "openrouter" => Some(Self::OpenRouter),
                "deepseek" => Some(Self::DeepSeek),
                "mistral" => Some(Self::Mistral),
                "xai" => Some(Self::XAi),
                "zai" => Some(Self::Zai),
                _ => None,
            })
    }
}

impl Dialect {
    pub(super) fn of(model: &Model) -> Self {
        let switch = |key: &str, usual: bool| {
            let given = model.compat.get(key).and_then(Value::as_bool);
            given.unwrap_or(usual)
        };
        let word = |key: &str| model.compat.get(key).and_then(Value::as_str);
        let service = Service::of(model);
        let openai = service == Some(Service::OpenAi);
        let mistral = service == Some(Service::Mistral);
        let thinking = match word("thinkingFormat") {
            Some("openrouter") => ThinkingFormat::OpenRouter,
            Some("deepseek") => ThinkingFormat::DeepSeek,
            Some("zai") => ThinkingFormat::Zai,
            Some("qwen") => ThinkingFormat::Qwen,
            Some("qwen-chat-template") => ThinkingFormat::QwenTemplate,
            word => match service {
                Some(Service::OpenRouter) if word.is_none() => ThinkingFormat::OpenRouter,
                Some(Service::Zai) if word.is_none() => ThinkingFormat::Zai,
                Some(Service::DeepSeek) if word.is_none() => ThinkingFormat::DeepSeek,
                // Many models of x.ai and Mistral refuse the field.
                _ if switch(
                    "supportsReasoningEffort",
                    !(mistral || service == Some(Service::XAi)),
                ) =>
                {
                    ThinkingFormat::Effort
                }
                _ => ThinkingFormat::Silent,
            },
        };
        Self {
            store: switch("supportsStore", openai),
            // Every service understands `system`; of `developer` some make an error, and the chat
            // templates of local models leave it out without a word.
            developer_role: switch("supportsDeveloperRole", openai),
            usage: switch("supportsUsageInStreaming", true),
            old_limit: match word("maxTokensField") {
                Some(field) => field == "max_tokens",
                None => mistral || service == Some(Service::DeepSeek),
            },
            thinking,
            result_names: switch("requiresToolResultName", mistral),
            answer_after_results: switch("requiresAssistantAfterToolResult", false),
            thinking_as_text: switch("requiresThinkingAsText", mistral),
            short_ids: switch("requiresMistralToolIds", mistral),
            longest_id: if openai { 36 } else { 64 },
        }
    }
}

/// The service's word for a level: from the configuration, else the level's own name. `None` when
/// there is nothing to say.
pub(in crate::model) fn effort(compat: &Map<String, Value>, level: ThinkingLevel) -> Option<&str> {
    let (key, usual) = match level {
        ThinkingLevel::Off => ("off", None),
        ThinkingLevel::Minimal => ("minimal", Some("minimal")),
        ThinkingLevel::Low => ("low", Some("low")),
        ThinkingLevel::Medium => ("medium", Some("medium")),
        ThinkingLevel::High => ("high", Some("high")),
        ThinkingLevel::Xhigh => ("xhigh", Some("xhigh")),
        // The API knows no higher one.
        ThinkingLevel::Max => ("max", Some("xhigh")),
    };
    let given = ["reasoningEffortMap", "thinkingLevelMap"]
        .into_iter()
        .find_map(|map| compat.get(map)?.get(key));
    match given {
        Some(word) => word.as_str(),
        None => usual,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::tests::model;

    fn dialect(base_url: &str, compat: &Value) -> Dialect {
        let mut model = model(base_url);
        model.compat = compat.as_object().unwrap().clone();
        Dialect::of(&model)
    }

    #[test]
    fn an_unknown_server_is_spoken_to_plainly() {
        let plain = Dialect {
            store: false,
            developer_role: false,
            usage: true,
            old_limit: false,
            thinking: ThinkingFormat::Effort,
            result_names: false,
            answer_after_results: false,
            thinking_as_text: false,
            short_ids: false,
            longest_id: 64,
        };
        for url in [
            "http://127.0.0.1:8080/v1",
            "https://notmistral.ai/v1",
            "https://mistral.ai.example.com/v1",
            "https://example.com/api.openai.com",
        ] {
            assert_eq!(dialect(url, &json!({})), plain, "{url}");
        }
    }

    #[test]
    fn known_services_are_known_by_their_address() {
        let openai = dialect("https://api.openai.com/v1", &json!({}));
        assert!(openai.store && openai.developer_role && openai.longest_id == 36);
        let mistral = dialect("https://api.mistral.ai/v1", &json!({}));
        assert!(mistral.old_limit && mistral.short_ids && mistral.result_names);
        assert_eq!(mistral.thinking, ThinkingFormat::Silent);
        let format = |url| dialect(url, &json!({})).thinking;
        assert_eq!(
            format("https://openrouter.ai/api/v1"),
            ThinkingFormat::OpenRouter
        );
        assert_eq!(format("https://api.z.ai/api/paas/v4"), ThinkingFormat::Zai);
        assert_eq!(format("https://api.x.ai/v1"), ThinkingFormat::Silent);
        assert_eq!(
            format("https://api.deepseek.com/v1"),
            ThinkingFormat::DeepSeek
        );
    }

    #[test]
    fn a_service_behind_another_address_is_known_by_its_provider() {
        let named = |provider: &str, base_url: &str, compat: &Value| {
            let mut model = model(base_url);
            provider.clone_into(&mut model.provider);
            model.compat = compat.as_object().unwrap().clone();
            Dialect::of(&model)
        };
        let gateway = "https://gateway.example.com/v1";
        for (provider, address) in [
            ("deepseek", "https://api.deepseek.com/v1"),
            ("openrouter", "https://openrouter.ai/api/v1"),
            ("mistral", "https://api.mistral.ai/v1"),
            ("xai", "https://api.x.ai/v1"),
            ("zai", "https://api.z.ai/api/paas/v4"),
        ] {
            let none = json!({});
            let own = dialect(address, &none);
            assert_ne!(own, dialect(gateway, &none), "{provider}");
            assert_eq!(named(provider, gateway, &none), own, "{provider}");
        }
        // An address that is known says more than the name, and the configuration more than both.
        let other = named("deepseek", "https://openrouter.ai/api/v1", &json!({}));
        assert_eq!(other.thinking, ThinkingFormat::OpenRouter);
        let told = named("deepseek", gateway, &json!({"thinkingFormat": "openai"}));
        assert_eq!(told.thinking, ThinkingFormat::Effort);
        // Servers of all kinds go by this one.
        assert_eq!(
            named("openai", gateway, &json!({})),
            dialect(gateway, &json!({}))
        );
    }

    #[test]
    fn the_configuration_wins() {
        let dialect = dialect(
            "https://api.openai.com/v1",
            &json!({"supportsStore": false, "supportsDeveloperRole": false,
                "supportsReasoningEffort": false, "supportsUsageInStreaming": false,
                "maxTokensField": "max_tokens", "requiresToolResultName": true,
                "requiresAssistantAfterToolResult": true, "requiresThinkingAsText": true,
                "requiresMistralToolIds": true}),
        );
        assert_eq!(
            dialect,
            Dialect {
                store: false,
                developer_role: false,
                usage: false,
                old_limit: true,
                thinking: ThinkingFormat::Silent,
                result_names: true,
                answer_after_results: true,
                thinking_as_text: true,
                short_ids: true,
                longest_id: 36,
            }
        );
        for (word, format) in [
            ("openai", ThinkingFormat::Effort),
            ("openrouter", ThinkingFormat::OpenRouter),
            ("deepseek", ThinkingFormat::DeepSeek),
            ("zai", ThinkingFormat::Zai),
            ("qwen", ThinkingFormat::Qwen),
            ("qwen-chat-template", ThinkingFormat::QwenTemplate),
        ] {
            let compat = json!({ "thinkingFormat": word });
            let got = super::tests::dialect("https://openrouter.ai/api/v1", &compat).thinking;
            assert_eq!(got, format, "{word}");
        }
    }

    #[test]
    fn levels_have_the_words_of_the_service() {
        use ThinkingLevel::{High, Low, Max, Medium, Minimal, Off, Xhigh};
        let plain = Map::new();
        let words = [Off, Minimal, Low, Medium, High, Xhigh, Max].map(|l| effort(&plain, l));
        assert_eq!(
            words,
            [
                None,
                Some("minimal"),
                Some("low"),
                Some("medium"),
                Some("high"),
                Some("xhigh"),
                Some("xhigh")
            ]
        );
        let compat = json!({"reasoningEffortMap": {"low": "default", "off": "none"},
            "thinkingLevelMap": {"low": "x", "max": "max", "high": null}});
        let compat = compat.as_object().unwrap();
        let words = [Off, Low, Medium, High, Max].map(|level| effort(compat, level));
        assert_eq!(
            words,
            [
                Some("none"),
                Some("default"),
                Some("medium"),
                None,
                Some("max")
            ]
        );
    }
}
