//! What is asked, in the words of the Responses API.

use std::borrow::Cow;
use std::collections::VecDeque;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::event::{
    AgentMessage, AssistantContent, AssistantMessage, TextContent, ThinkingContent, ThinkingLevel,
    ToolCall,
};
use crate::model::context::{CallResult, NO_IMAGES, NO_OUTPUT, Part, Turn, is_own, plain, turns};
use crate::model::ids::CallIds;
use crate::model::openai_chat::effort;
use crate::model::{Model, ModelRequest, ToolSpec};

/// The API takes no smaller limit of an answer.
const LEAST_ANSWER: u64 = 16;
/// Most characters of an id; the API takes 64, which leaves room for a suffix.
const LONGEST_ID: usize = 56;
const LONGEST_NAME: usize = 64;

/// The body of a request.
#[derive(Debug, Serialize)]
pub(in crate::model) struct Body<'a> {
    model: &'a str,
    stream: bool,
    /// The service is to keep nothing; what it needs again comes back with the conversation.
    store: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    include: &'static [&'static str],
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Reasoning<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    input: Vec<Item<'a>>,
}

#[derive(Debug, Serialize)]
struct Reasoning<'a> {
    effort: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<&'static str>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "function")]
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
    /// Without a word the API would take the schema for a strict one.
    strict: bool,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Item<'a> {
    Ours(Spoken<'a>),
    /// As the service sent it.
    Reasoning(Map<String, Value>),
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Spoken<'a> {
    Message(Message<'a>),
    FunctionCall {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
        call_id: String,
        name: String,
        arguments: String,
    },
    FunctionCallOutput {
        call_id: String,
        output: Output<'a>,
    },
}

#[derive(Debug, Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
enum Message<'a> {
    User {
        content: Vec<Input<'a>>,
    },
    Assistant {
        #[serde(flatten)]
        answer: Answer<'a>,
    },
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Answer<'a> {
    /// One that the service knows by its id.
    Known {
        id: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        phase: Option<String>,
        status: &'static str,
        content: [OutputText<'a>; 1],
    },
    Plain {
        content: &'a str,
    },
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "output_text")]
struct OutputText<'a> {
    text: &'a str,
    annotations: [(); 0],
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Input<'a> {
    InputText {
        text: Cow<'a, str>,
    },
    InputImage {
        detail: &'static str,
        image_url: String,
    },
}

/// One text is a string, which every server takes.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Output<'a> {
    Text(String),
    Parts(Vec<Input<'a>>),
}

/// The body of the request.
pub(in crate::model) fn body<'a>(model: &'a Model, request: &'a ModelRequest) -> Body<'a> {
    let tool = |tool: &'a ToolSpec| Tool {
        name: &tool.name,
        description: &tool.description,
        parameters: &tool.parameters,
        strict: false,
    };
    let instructions = request.system_prompt.as_str();
    Body {
        model: &model.id,
        stream: true,
        store: false,
        include: if model.reasoning {
            &["reasoning.encrypted_content"]
        } else {
            &[]
        },
        max_output_tokens: model
            .answer_limit(request)
            .map(|limit| limit.max(LEAST_ANSWER)),
        reasoning: reasoning(model, request.thinking),
        instructions: (!instructions.trim().is_empty()).then_some(instructions),
        tools: request.tools.iter().map(tool).collect(),
        input: Conversation::new(model).read(&request.messages),
    }
}

fn reasoning(model: &Model, level: ThinkingLevel) -> Option<Reasoning<'_>> {
    let given = |key: &str| model.compat.get(key);
    let silent = given("supportsReasoningEffort").and_then(Value::as_bool) == Some(false);
    if !model.reasoning || silent {
        return None;
    }
    if level != ThinkingLevel::Off {
        return Some(Reasoning {
            effort: effort(&model.compat, level)?,
            summary: Some("auto"),
        });
    }
    // Unasked the models think; a configuration that has no word for it means that one cannot not.
    let has_word = ["reasoningEffortMap", "thinkingLevelMap"]
        .into_iter()
        .any(|map| given(map).is_some_and(|map| map.get("off").is_some()));
    let effort = if has_word {
        effort(&model.compat, level)?
    } else {
        "none"
    };
    Some(Reasoning {
        effort,
        summary: None,
    })
}

/// Turns become items, with ids and names that the API takes.
struct Conversation<'a> {
    model: &'a Model,
    items: Vec<Item<'a>>,
    /// Ids of calls in use in the whole conversation.
    used: CallIds,
    /// The ids that the calls of the latest answer got, in their order, which is that of their results.
    latest: VecDeque<String>,
}

impl<'a> Conversation<'a> {
    fn new(model: &'a Model) -> Self {
        Self {
            model,
            items: Vec::new(),
            used: CallIds::default(),
            latest: VecDeque::new(),
        }
    }

    fn read(mut self, messages: &'a [AgentMessage]) -> Vec<Item<'a>> {
        for turn in turns(messages) {
            match turn {
                Turn::User(parts) => {
                    let content = parts.into_iter().map(|part| self.input(part)).collect();
                    self.say(Spoken::Message(Message::User { content }));
                }
                Turn::Assistant(answer) => self.answer(answer),
                Turn::Results(results) => {
                    for result in results {
                        let result = self.result(result);
                        self.say(result);
                    }
                }
            }
        }
        self.items
    }

    fn say(&mut self, spoken: Spoken<'a>) {
        self.items.push(Item::Ours(spoken));
    }

    fn input(&self, part: Part<'a>) -> Input<'a> {
        match part {
            Part::Text(text) => Input::InputText { text },
            Part::Image(_) if !self.model.images => Input::InputText {
                text: NO_IMAGES.into(),
            },
            Part::Image(image) => Input::InputImage {
                detail: "auto",
                image_url: format!("data:{};base64,{}", image.mime_type, image.data),
            },
        }
    }

    fn answer(&mut self, answer: &'a AssistantMessage) {
        self.latest.clear();
        // What the service encrypted is only good for the model that gave it, and items that
        // followed a thought have to come without their ids when the thought does not come.
        let own = is_own(answer, self.model);
        let thoughts = |block: &AssistantContent| match block {
            AssistantContent::Thinking(thinking) => own_thought(thinking).is_some(),
            AssistantContent::Text(_) | AssistantContent::ToolCall(_) => true,
        };
        let own = own && answer.content.iter().all(thoughts);
        for block in &answer.content {
            match block {
                AssistantContent::Text(block) => self.text(block, own),
                AssistantContent::Thinking(block) => match own_thought(block).filter(|_| own) {
                    Some(item) => self.items.push(Item::Reasoning(item)),
                    None if block.redacted.is_some() => {}
                    None => self.plain(&block.thinking),
                },
                AssistantContent::ToolCall(call) => self.call(call, own),
            }
        }
        // Nor does the API take a thought that nothing followed.
        while let Some(Item::Reasoning(_)) = self.items.last() {
            self.items.pop();
        }
    }

    fn text(&mut self, block: &'a TextContent, own: bool) {
        let signature = block.text_signature.as_deref().filter(|_| own);
        match signature.and_then(known_message) {
            Some((id, phase)) if !block.text.trim().is_empty() => {
                let answer = Answer::Known {
                    id,
                    phase,
                    status: "completed",
                    content: [OutputText {
                        text: &block.text,
                        annotations: [],
                    }],
                };
                self.say(Spoken::Message(Message::Assistant { answer }));
            }
            _ => self.plain(&block.text),
        }
    }

    fn plain(&mut self, content: &'a str) {
        if !content.trim().is_empty() {
            let answer = Answer::Plain { content };
            self.say(Spoken::Message(Message::Assistant { answer }));
        }
    }

    fn call(&mut self, call: &'a ToolCall, own: bool) {
        let (call_id, item_id) = match call.id.split_once('|') {
            Some((call_id, item_id)) => (call_id, Some(item_id)),
            None => (call.id.as_str(), None),
        };
        let call_id = self.used.claim(&plain(call_id, LONGEST_ID));
        self.latest.push_back(call_id.clone());
        self.say(Spoken::FunctionCall {
            id: item_id.filter(|id| own && id.starts_with("fc_") && id.len() <= 64),
            call_id,
            name: plain(&call.name, LONGEST_NAME),
            arguments: Value::Object(call.arguments.clone()).to_string(),
        });
    }

    fn result(&mut self, result: CallResult<'a>) -> Spoken<'a> {
        let is_seen = |part: &Part<'_>| matches!(part, Part::Image(_)) && self.model.images;
        let output = if result.parts.iter().any(is_seen) {
            let parts = result.parts.into_iter();
            Output::Parts(parts.map(|part| self.input(part)).collect())
        } else {
            let text = |part| match part {
                Part::Text(text) => text,
                Part::Image(_) => NO_IMAGES.into(),
            };
            let texts: Vec<_> = result.parts.into_iter().map(text).collect();
            Output::Text(if texts.is_empty() {
                NO_OUTPUT.to_owned()
            } else {
                texts.join("\n")
            })
        };
        let id = self.latest.pop_front();
        Spoken::FunctionCallOutput {
            call_id: id.unwrap_or_else(|| plain(&result.call.id, LONGEST_ID)),
            output,
        }
    }
}

/// The reasoning item that the signature is, if the service can do something with it: it keeps
/// nothing, so an id alone says nothing to it.
fn own_thought(block: &ThinkingContent) -> Option<Map<String, Value>> {
    let signature = block.thinking_signature.as_deref()?;
    let mut item: Map<String, Value> = serde_json::from_str(signature).ok()?;
    // Some services send nulls that they do not take.
    item.retain(|_, value| !value.is_null());
    let is_filled = |key| match item.get(key) {
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Array(list)) => !list.is_empty(),
        _ => false,
    };
    let is_reasoning = item.get("type").and_then(Value::as_str) == Some("reasoning");
    (is_reasoning && (is_filled("encrypted_content") || is_filled("content"))).then_some(item)
}

/// Id and phase of the message that the signature is of.
fn known_message(signature: &str) -> Option<(String, Option<String>)> {
    let fields: Map<String, Value> = serde_json::from_str(signature).ok()?;
    let field = |name| Some(fields.get(name)?.as_str()?.to_owned());
    let id = field("id").filter(|id| id.starts_with("msg_") && id.len() <= 64)?;
    Some((id, field("phase")))
}

#[cfg(test)]
mod tests;
