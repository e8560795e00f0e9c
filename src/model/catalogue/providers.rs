//! The providers that are known without a `models.json`.

/// A built-in provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltIn {
    /// Its name in `provider/id`.
    pub name: &'static str,
    /// Root of the service.
    pub base_url: &'static str,
    /// Name of the API.
    pub api: &'static str,
    /// Variables that may hold its key; the first that is set counts.
    pub variables: &'static [&'static str],
    /// Whether it is a server on this machine, which needs no key.
    pub local: bool,
}

const fn service(
    name: &'static str,
    base_url: &'static str,
    api: &'static str,
    variables: &'static [&'static str],
) -> BuiltIn {
    BuiltIn {
        name,
        base_url,
        api,
        variables,
        local: false,
    }
}

const fn local(name: &'static str, base_url: &'static str) -> BuiltIn {
    BuiltIn {
        name,
        base_url,
        api: CHAT,
        variables: &[],
        local: true,
    }
}

const CHAT: &str = "openai-completions";

/// Every built-in provider.
pub const PROVIDERS: &[BuiltIn] = &[
    service(
        "anthropic",
        "https://api.anthropic.com",
        "anthropic-messages",
        &["ANTHROPIC_API_KEY"],
    ),
    service(
        "openai",
        "https://api.openai.com/v1",
        // Chat Completions takes no tools from the newest models while they think:
        // developers.openai.com/api/docs/models/gpt-6-luna.
        "openai-responses",
        &["OPENAI_API_KEY"],
    ),
    service(
        "google",
        "https://generativelanguage.googleapis.com/v1beta",
        "google-generative-ai",
        &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    ),
    service(
        "openrouter",
        "https://openrouter.ai/api/v1",
        CHAT,
        &["OPENROUTER_API_KEY"],
    ),
    service(
        "groq",
        "https://api.groq.com/openai/v1",
        CHAT,
        &["GROQ_API_KEY"],
    ),
    service("xai", "https://api.x.ai/v1", CHAT, &["XAI_API_KEY"]),
    service(
        "mistral",
        "https://api.mistral.ai/v1",
        CHAT,
        &["MISTRAL_API_KEY"],
    ),
    service(
        "deepseek",
        "https://api.deepseek.com/v1",
        CHAT,
        &["DEEPSEEK_API_KEY"],
    ),
    local("ollama", "http://127.0.0.1:11434/v1"),
    local("lmstudio", "http://127.0.0.1:1234/v1"),
    local("llama.cpp", "http://127.0.0.1:8080/v1"),
    local("vllm", "http://127.0.0.1:8000/v1"),
];
