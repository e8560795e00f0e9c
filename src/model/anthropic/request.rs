//! What is asked, in the words of the Messages API.

use std::borrow::Cow;
use std::collections::VecDeque;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::event::{AssistantContent, AssistantMessage, ThinkingLevel};
use crate::model::context::{CallResult, NO_IMAGES, NO_OUTPUT, Part, Turn, is_own, plain, turns};
use crate::model::ids::CallIds;
use crate::model::thinking::{budget, word};
use crate::model::{Model, ModelRequest, ToolSpec};

/// Most tokens of an answer of a model whose limit is not known.
const UNKNOWN_MAX: u64 = 8192;
/// The API takes no smaller thinking budget.
const MIN_BUDGET: u64 = 1024;

/// The body of a request.
#[derive(Debug, Serialize)]
pub(in crate::model) struct Body<'a> {
    model: &'a str,
    max_tokens: u64,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Thinking>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Block<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    messages: Vec<Message<'a>>,
}

#[derive(Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Thinking {
    Disabled,
    /// The least that models have which do not take `disabled`.
    BetweenTools,
    Enabled {
        budget_tokens: u64,
    },
    /// The model itself decides how much; without a word the newer ones keep their thoughts to
    /// themselves.
    Adaptive {
        display: &'static str,
    },
}

#[derive(Debug, PartialEq, Serialize)]
struct OutputConfig<'a> {
    effort: &'a str,
}

#[derive(Debug, Serialize)]
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a Value,
}

#[derive(Debug, Serialize)]
struct Message<'a> {
    role: Role,
    content: Vec<Block<'a>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    User,
    Assistant,
}

#[derive(Debug, Serialize)]
struct Block<'a> {
    #[serde(flatten)]
    content: Content<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Content<'a> {
    Text {
        text: Cow<'a, str>,
    },
    Image {
        source: ImageSource<'a>,
    },
    Thinking {
        thinking: &'a str,
        signature: &'a str,
    },
    RedactedThinking {
        data: &'a str,
    },
    ToolUse {
        id: String,
        name: String,
        input: &'a Map<String, Value>,
    },
    ToolResult {
        tool_use_id: String,
        content: Vec<Block<'a>>,
        is_error: bool,
    },
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "base64")]
struct ImageSource<'a> {
    media_type: &'a str,
    data: &'a str,
}

/// Marks the end of what the service is to keep for the next request.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(tag = "type", rename = "ephemeral")]
struct CacheControl {}

impl<'a> From<Content<'a>> for Block<'a> {
    fn from(content: Content<'a>) -> Self {
        Self {
            content,
            cache_control: None,
        }
    }
}

/// The body of the request.
pub(in crate::model) fn body<'a>(model: &'a Model, request: &'a ModelRequest) -> Body<'a> {
    let (max_tokens, thinking) = limits(model, request);
    let adaptive = matches!(thinking, Some(Thinking::Adaptive { .. }));
    let mut system = Vec::new();
    if !request.system_prompt.trim().is_empty() {
        let text = Content::Text {
            text: Cow::Borrowed(&request.system_prompt),
        };
        system.push(Block {
            content: text,
            cache_control: Some(CacheControl {}),
        });
    }
    let tool = |tool: &'a ToolSpec| Tool {
        name: &tool.name,
        description: &tool.description,
        input_schema: &tool.parameters,
    };
    let mut messages = Conversation::new(model).read(&request.messages);
    let last = messages
        .last_mut()
        .filter(|message| message.role == Role::User);
    if let Some(block) = last.and_then(|message| message.content.last_mut()) {
        block.cache_control = Some(CacheControl {});
    }
    Body {
        model: &model.id,
        max_tokens,
        stream: true,
        thinking,
        output_config: adaptive.then(|| OutputConfig {
            effort: effort(model, request.thinking),
        }),
        system,
        tools: request.tools.iter().map(tool).collect(),
        messages,
    }
}

/// Most tokens of the answer, and the part of them that is for thinking.
fn limits(model: &Model, request: &ModelRequest) -> (u64, Option<Thinking>) {
    let ceiling = model.max_tokens.unwrap_or(u64::MAX);
    let answer = model.answer_limit(request).unwrap_or(UNKNOWN_MAX);
    if !model.reasoning {
        return (answer, None);
    }
    let usual = match request.thinking {
        ThinkingLevel::Off => {
            let none = match word(model, ThinkingLevel::Off) {
                Some("between_tools") => Thinking::BetweenTools,
                _ => Thinking::Disabled,
            };
            return (answer, Some(none));
        }
        ThinkingLevel::Minimal => 1024,
        ThinkingLevel::Low => 2048,
        ThinkingLevel::Medium => 8192,
        ThinkingLevel::High | ThinkingLevel::Xhigh | ThinkingLevel::Max => 16_384,
    };
    let wanted = budget(model, request.thinking, usual).max(MIN_BUDGET);
    // Thinking comes on top of the answer where the model has room for both.
    let max_tokens = answer.saturating_add(wanted).min(ceiling);
    if is_adaptive(model) {
        let display = "summarized";
        return (max_tokens, Some(Thinking::Adaptive { display }));
    }
    let budget = if max_tokens > wanted {
        wanted
    } else {
        max_tokens.saturating_sub(MIN_BUDGET)
    };
    // Only a request for a shorter answer than the model's own gets here: see `has_room`.
    if budget < MIN_BUDGET {
        return (answer, Some(Thinking::Disabled));
    }
    (
        max_tokens,
        Some(Thinking::Enabled {
            budget_tokens: budget,
        }),
    )
}

/// Whether the longest answer holds the smallest thinking budget and as much again of an answer.
pub(in crate::model) fn has_room(model: &Model) -> bool {
    is_adaptive(model) || model.max_tokens.is_none_or(|most| most >= 2 * MIN_BUDGET)
}

/// Whether the model takes an effort in place of a budget, as its configuration says
/// (`thinkingFormat`). The service's documentation: Claude 4.6 can, Opus 4.7 and later must.
/// platform.claude.com/docs/en/build-with-claude/thinking and …/effort
fn is_adaptive(model: &Model) -> bool {
    model.compat.get("thinkingFormat").and_then(Value::as_str) == Some("adaptive")
}

/// The service's word for a level: from the configuration, else the level's own name. There is none
/// below `low`.
fn effort(model: &Model, level: ThinkingLevel) -> &str {
    word(model, level).unwrap_or(match level {
        ThinkingLevel::Off | ThinkingLevel::Minimal => ThinkingLevel::Low.as_str(),
        level => level.as_str(),
    })
}

/// Turns become messages whose roles alternate, with ids and names that the API takes.
struct Conversation<'a> {
    model: &'a Model,
    messages: Vec<Message<'a>>,
    /// Ids in use; the API wants each once in the whole conversation.
    used: CallIds,
    /// The ids that the calls of the latest answer got, in their order, which is that of their results.
    latest: VecDeque<String>,
}

impl<'a> Conversation<'a> {
    fn new(model: &'a Model) -> Self {
        Self {
            model,
            messages: Vec::new(),
            used: CallIds::default(),
            latest: VecDeque::new(),
        }
    }

    fn read(mut self, messages: &'a [crate::event::AgentMessage]) -> Vec<Message<'a>> {
        for turn in turns(messages) {
            match turn {
                Turn::User(parts) => {
                    let blocks = self.parts(parts);
                    self.say(Role::User, blocks);
                }
                Turn::Assistant(answer) => {
                    self.latest.clear();
                    let blocks = answer.content.iter();
                    let blocks = blocks
                        .filter_map(|block| self.answered(answer, block))
                        .collect();
                    self.say(Role::Assistant, blocks);
                }
                Turn::Results(results) => {
                    let blocks = results
                        .into_iter()
                        .map(|result| self.result(result))
                        .collect();
                    self.say(Role::User, blocks);
                }
            }
        }
        self.messages
    }

    fn say(&mut self, role: Role, content: Vec<Block<'a>>) {
        if content.is_empty() {
            return;
        }
        if self.messages.is_empty() && role == Role::Assistant {
            // The API wants the user to begin.
            let text = Content::Text {
                text: "(The conversation goes on.)".into(),
            };
            self.messages.push(Message {
                role: Role::User,
                content: vec![text.into()],
            });
        }
        match self.messages.last_mut() {
            Some(last) if last.role == role => last.content.extend(content),
            _ => self.messages.push(Message { role, content }),
        }
    }

    fn parts(&self, parts: Vec<Part<'a>>) -> Vec<Block<'a>> {
        let block = |part| match part {
            Part::Text(text) => Content::Text { text },
            Part::Image(_) if !self.model.images => Content::Text {
                text: NO_IMAGES.into(),
            },
            Part::Image(image) => Content::Image {
                source: ImageSource {
                    media_type: &image.mime_type,
                    data: &image.data,
                },
            },
        };
        parts.into_iter().map(|part| block(part).into()).collect()
    }

    fn answered(
        &mut self,
        answer: &AssistantMessage,
        block: &'a AssistantContent,
    ) -> Option<Block<'a>> {
        let content = match block {
            AssistantContent::Text(text) if text.text.trim().is_empty() => return None,
            AssistantContent::Text(text) => Content::Text {
                text: Cow::Borrowed(&text.text),
            },
            AssistantContent::Thinking(thinking) => {
                // A signature is only good for the model that gave it.
                let own = is_own(answer, self.model);
                let signature = thinking.thinking_signature.as_deref();
                match signature.filter(|signature| own && !signature.is_empty()) {
                    Some(data) if thinking.redacted.is_some() => Content::RedactedThinking { data },
                    Some(signature) => Content::Thinking {
                        thinking: &thinking.thinking,
                        signature,
                    },
                    None if thinking.redacted.is_some() => return None,
                    None if thinking.thinking.trim().is_empty() => return None,
                    None => Content::Text {
                        text: Cow::Borrowed(&thinking.thinking),
                    },
                }
            }
            AssistantContent::ToolCall(call) => {
                let id = self.used.claim(&plain(&call.id, 64));
                self.latest.push_back(id.clone());
                Content::ToolUse {
                    id,
                    name: plain(&call.name, 128),
                    input: &call.arguments,
                }
            }
        };
        Some(content.into())
    }

    fn result(&mut self, result: CallResult<'a>) -> Block<'a> {
        let id = self.latest.pop_front();
        let mut content = self.parts(result.parts);
        if content.is_empty() {
            content.push(
                Content::Text {
                    text: NO_OUTPUT.into(),
                }
                .into(),
            );
        }
        Content::ToolResult {
            tool_use_id: id.unwrap_or_else(|| plain(&result.call.id, 64)),
            content,
            is_error: result.is_error,
        }
        .into()
    }
}

#[cfg(test)]
mod tests;
