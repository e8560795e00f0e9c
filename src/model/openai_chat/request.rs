//! What is asked, in the words of the Chat Completions API.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

use serde::Serialize;
use serde_json::Value;

use super::decode::THINKING_FIELDS;
use super::dialect::{Dialect, ThinkingFormat, effort};
use crate::event::{
    AgentMessage, AssistantContent, AssistantMessage, ImageContent, ThinkingLevel, ToolCall,
};
use crate::model::context::{CallResult, NO_IMAGES, NO_OUTPUT, Part, Turn, is_own, plain, turns};
use crate::model::ids::CallIds;
use crate::model::{Model, ModelRequest, ToolSpec};

const IMAGES_FOLLOW: &str = "(The images follow.)";
const IMAGES: &str = "The images that the tools returned:";
const RESULTS_READ: &str = "I have read the results.";

/// The body of a request.
#[derive(Debug, Serialize)]
pub(in crate::model) struct Body<'a> {
    model: &'a str,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    store: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    #[serde(flatten)]
    thinking: Option<Thinking<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    messages: Vec<Message<'a>>,
}

#[derive(Debug, Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Thinking<'a> {
    Effort {
        reasoning_effort: &'a str,
    },
    OpenRouter {
        reasoning: Effort<'a>,
    },
    DeepSeek {
        thinking: Switch,
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_effort: Option<&'a str>,
    },
    Zai {
        thinking: Switch,
        enable_thinking: bool,
    },
    Qwen {
        enable_thinking: bool,
    },
    QwenTemplate {
        chat_template_kwargs: TemplateArguments,
    },
}

#[derive(Debug, Serialize)]
struct Effort<'a> {
    effort: &'a str,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Switch {
    Enabled,
    Disabled,
}

#[derive(Debug, Serialize)]
struct TemplateArguments {
    enable_thinking: bool,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "function")]
struct Tool<'a> {
    function: Function<'a>,
}

#[derive(Debug, Serialize)]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
}

#[derive(Debug, Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
enum Message<'a> {
    System {
        content: &'a str,
    },
    Developer {
        content: &'a str,
    },
    User {
        content: Content<'a>,
    },
    Assistant {
        content: Option<String>,
        /// By the field that it came in.
        #[serde(flatten)]
        thinking: BTreeMap<&'static str, String>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<Call>,
    },
    Tool {
        tool_call_id: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        content: String,
    },
}

/// One text is a string, which every server takes.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(Cow<'a, str>),
    Blocks(Vec<Block<'a>>),
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block<'a> {
    Text { text: Cow<'a, str> },
    ImageUrl { image_url: ImageUrl },
}

#[derive(Debug, Serialize)]
struct ImageUrl {
    url: String,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "function")]
struct Call {
    id: String,
    function: CalledFunction,
}

#[derive(Debug, Serialize)]
struct CalledFunction {
    name: String,
    arguments: String,
}

/// The body of the request.
pub(in crate::model) fn body<'a>(model: &'a Model, request: &'a ModelRequest) -> Body<'a> {
    let dialect = Dialect::of(model);
    let limit = model.answer_limit(request);
    let tool = |tool: &'a ToolSpec| Tool {
        function: Function {
            name: &tool.name,
            description: &tool.description,
            parameters: &tool.parameters,
        },
    };
    let mut messages = Vec::new();
    if !request.system_prompt.trim().is_empty() {
        let content = request.system_prompt.as_str();
        messages.push(if model.reasoning && dialect.developer_role {
            Message::Developer { content }
        } else {
            Message::System { content }
        });
    }
    Body {
        model: &model.id,
        stream: true,
        stream_options: dialect.usage.then_some(StreamOptions {
            include_usage: true,
        }),
        store: dialect.store.then_some(false),
        max_completion_tokens: limit.filter(|_| !dialect.old_limit),
        max_tokens: limit.filter(|_| dialect.old_limit),
        thinking: thinking(model, dialect.thinking, request.thinking),
        tools: request.tools.iter().map(tool).collect(),
        messages: Conversation::new(model, dialect, messages).read(&request.messages),
    }
}

fn thinking(model: &Model, format: ThinkingFormat, level: ThinkingLevel) -> Option<Thinking<'_>> {
    if !model.reasoning {
        return None;
    }
    let effort = effort(&model.compat, level);
    let enable_thinking = level != ThinkingLevel::Off;
    let thinking = if enable_thinking {
        Switch::Enabled
    } else {
        Switch::Disabled
    };
    Some(match format {
        ThinkingFormat::Silent => return None,
        ThinkingFormat::Effort => Thinking::Effort {
            reasoning_effort: effort?,
        },
        ThinkingFormat::OpenRouter => {
            let effort = if enable_thinking { effort? } else { "none" };
            Thinking::OpenRouter {
                reasoning: Effort { effort },
            }
        }
        ThinkingFormat::DeepSeek => Thinking::DeepSeek {
            thinking,
            reasoning_effort: effort.filter(|_| enable_thinking),
        },
        ThinkingFormat::Zai => Thinking::Zai {
            thinking,
            enable_thinking,
        },
        ThinkingFormat::Qwen => Thinking::Qwen { enable_thinking },
        ThinkingFormat::QwenTemplate => Thinking::QwenTemplate {
            chat_template_kwargs: TemplateArguments { enable_thinking },
        },
    })
}

/// Turns become messages, with ids and names that the service takes.
struct Conversation<'a> {
    model: &'a Model,
    dialect: Dialect,
    messages: Vec<Message<'a>>,
    /// Ids in use in the whole conversation.
    used: CallIds,
    calls: u64,
    /// The ids that the calls of the latest answer got, in their order, which is that of their results.
    latest: VecDeque<String>,
}

impl<'a> Conversation<'a> {
    fn new(model: &'a Model, dialect: Dialect, messages: Vec<Message<'a>>) -> Self {
        Self {
            model,
            dialect,
            messages,
            used: CallIds::default(),
            calls: 0,
            latest: VecDeque::new(),
        }
    }

    fn read(mut self, messages: &'a [AgentMessage]) -> Vec<Message<'a>> {
        for turn in turns(messages) {
            match turn {
                Turn::User(parts) => self.user(parts),
                Turn::Assistant(answer) => self.answer(answer),
                Turn::Results(results) => self.results(results),
            }
        }
        self.messages
    }

    fn user(&mut self, mut parts: Vec<Part<'a>>) {
        if self.dialect.answer_after_results
            && matches!(self.messages.last(), Some(Message::Tool { .. }))
        {
            self.messages.push(Message::Assistant {
                content: Some(RESULTS_READ.to_owned()),
                thinking: BTreeMap::new(),
                tool_calls: Vec::new(),
            });
        }
        if let [Part::Text(text)] = &mut parts[..] {
            let content = Content::Text(std::mem::take(text));
            self.messages.push(Message::User { content });
            return;
        }
        let block = |part| match part {
            Part::Text(text) => Block::Text { text },
            Part::Image(image) => self.image(image),
        };
        let content = Content::Blocks(parts.into_iter().map(block).collect());
        self.messages.push(Message::User { content });
    }

    fn image(&self, image: &ImageContent) -> Block<'a> {
        if !self.model.images {
            return Block::Text {
                text: NO_IMAGES.into(),
            };
        }
        let url = format!("data:{};base64,{}", image.mime_type, image.data);
        Block::ImageUrl {
            image_url: ImageUrl { url },
        }
    }

    fn answer(&mut self, answer: &'a AssistantMessage) {
        self.latest.clear();
        let own = is_own(answer, self.model);
        let mut text: Vec<&str> = Vec::new();
        let mut thinking: BTreeMap<&'static str, String> = BTreeMap::new();
        let mut tool_calls = Vec::new();
        for block in &answer.content {
            match block {
                AssistantContent::Text(block) => text.push(&block.text),
                AssistantContent::Thinking(block) if block.redacted.is_some() => {}
                AssistantContent::Thinking(block) => {
                    let signature = block.thinking_signature.as_deref();
                    let field = THINKING_FIELDS
                        .into_iter()
                        .find(|field| own && signature == Some(field))
                        .filter(|_| !self.dialect.thinking_as_text);
                    match field {
                        Some(field) => {
                            let thoughts = thinking.entry(field).or_default();
                            if !thoughts.is_empty() {
                                thoughts.push('\n');
                            }
                            thoughts.push_str(&block.thinking);
                        }
                        None => text.push(&block.thinking),
                    }
                }
                AssistantContent::ToolCall(call) => tool_calls.push(self.call(call, own)),
            }
        }
        text.retain(|text| !text.trim().is_empty());
        if text.is_empty() && tool_calls.is_empty() {
            return;
        }
        self.messages.push(Message::Assistant {
            content: (!text.is_empty()).then(|| text.join("\n\n")),
            thinking,
            tool_calls,
        });
    }

    fn call(&mut self, call: &'a ToolCall, own: bool) -> Call {
        self.calls += 1;
        let id = if self.dialect.short_ids {
            format!("call{:05}", self.calls)
        } else if own {
            // Some servers keep more in their ids than meets the eye.
            self.used.claim(&call.id)
        } else {
            self.used.claim(&plain(&call.id, self.dialect.longest_id))
        };
        self.latest.push_back(id.clone());
        Call {
            id,
            function: CalledFunction {
                name: plain(&call.name, 64),
                arguments: Value::Object(call.arguments.clone()).to_string(),
            },
        }
    }

    /// A result is text; images follow the results as the user's.
    fn results(&mut self, results: Vec<CallResult<'a>>) {
        let mut images = Vec::new();
        for CallResult { call, parts, .. } in results {
            let mut text: Vec<Cow<'a, str>> = Vec::new();
            let before = images.len();
            for part in parts {
                match part {
                    Part::Text(words) => text.push(words),
                    Part::Image(_) if !self.model.images => text.push(NO_IMAGES.into()),
                    image @ Part::Image(_) => images.push(image),
                }
            }
            if text.is_empty() {
                let is_seen = images.len() > before;
                text.push(if is_seen { IMAGES_FOLLOW } else { NO_OUTPUT }.into());
            }
            let id = self.latest.pop_front();
            self.messages.push(Message::Tool {
                tool_call_id: id.unwrap_or_else(|| call.id.clone()),
                name: self.dialect.result_names.then(|| plain(&call.name, 64)),
                content: text.join("\n"),
            });
        }
        if !images.is_empty() {
            images.insert(0, Part::Text(IMAGES.into()));
            self.user(images);
        }
    }
}

#[cfg(test)]
mod tests;
