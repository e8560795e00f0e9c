//! What is asked, in the words of the Gemini API.

use std::borrow::Cow;
use std::collections::VecDeque;

use serde::Serialize;
use serde_json::{Map, Value};

use super::generation::{Generation, ThinkingConfig};
use crate::event::{AgentMessage, AssistantContent, AssistantMessage, ImageContent, ToolCall};
use crate::model::context::{CallResult, NO_IMAGES, NO_OUTPUT, Part, Turn, is_own, plain, turns};
use crate::model::ids::CallIds;
use crate::model::{Model, ModelRequest, ToolSpec};

/// What the service takes for the signature of a call that none of its models made. Its models from 3
/// on refuse a call without one (ai.google.dev/gemini-api/docs/thought-signatures); that this word is
/// documented for it is told by the release notes of `@ai-sdk/google` 3.0.80 (vercel/ai).
const FOREIGN_CALL: &str = "skip_thought_signature_validator";
const GOES_ON: &str = "(The conversation goes on.)";
const IMAGES_FOLLOW: &str = "(The images follow.)";
const IMAGES: &str = "The images that the tools returned:";

/// The body of a request.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::model) struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<Instruction<'a>>,
    contents: Vec<Content<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tools<'a>>,
    generation_config: GenerationConfig,
}

#[derive(Debug, Serialize)]
struct Instruction<'a> {
    parts: [Said<'a>; 1],
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct GenerationConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_config: Option<ThinkingConfig>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Tools<'a> {
    function_declarations: Vec<Declaration<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Declaration<'a> {
    name: &'a str,
    description: &'a str,
    parameters_json_schema: &'a Value,
}

#[derive(Debug, Serialize)]
struct Content<'a> {
    role: Role,
    parts: Vec<Said<'a>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    User,
    Model,
}

/// A part; the service knows its kind by the one of these fields that it has.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Said<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    thought: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inline_data: Option<InlineData<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_call: Option<FunctionCall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_response: Option<FunctionResponse<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thought_signature: Option<&'a str>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct InlineData<'a> {
    mime_type: &'a str,
    data: &'a str,
}

#[derive(Debug, Serialize)]
struct FunctionCall<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    name: String,
    args: &'a Map<String, Value>,
}

#[derive(Debug, Serialize)]
struct FunctionResponse<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    name: String,
    response: Outcome,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parts: Vec<Said<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
enum Outcome {
    Output(String),
    Error(String),
}

impl<'a> Said<'a> {
    fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self {
            text: Some(text.into()),
            ..Self::default()
        }
    }

    fn image(image: &'a ImageContent) -> Self {
        Self {
            inline_data: Some(InlineData {
                mime_type: &image.mime_type,
                data: &image.data,
            }),
            ..Self::default()
        }
    }
}

/// The body of the request.
pub(in crate::model) fn body<'a>(model: &'a Model, request: &'a ModelRequest) -> Body<'a> {
    let generation = Generation::of(&model.id);
    let answer = model.answer_limit(request);
    let (max_output_tokens, thinking_config) = generation.limits(model, request.thinking, answer);
    let declare = |tool: &'a ToolSpec| Declaration {
        name: &tool.name,
        description: &tool.description,
        parameters_json_schema: &tool.parameters,
    };
    let function_declarations: Vec<_> = request.tools.iter().map(declare).collect();
    let system_prompt = request.system_prompt.as_str();
    Body {
        system_instruction: (!system_prompt.trim().is_empty()).then(|| Instruction {
            parts: [Said::text(system_prompt)],
        }),
        contents: Conversation::new(model, generation).read(&request.messages),
        tools: if function_declarations.is_empty() {
            Vec::new()
        } else {
            vec![Tools {
                function_declarations,
            }]
        },
        generation_config: GenerationConfig {
            max_output_tokens,
            thinking_config,
        },
    }
}

/// Turns become contents in the order that the service wants: the user begins, and the results of
/// an answer's calls follow it in one content of their own.
struct Conversation<'a> {
    model: &'a Model,
    generation: Generation,
    contents: Vec<Content<'a>>,
    /// Ids in use in the whole conversation.
    used: CallIds,
    /// The ids that the calls of the latest answer got, in their order, which is that of their results.
    latest: VecDeque<String>,
}

impl<'a> Conversation<'a> {
    fn new(model: &'a Model, generation: Generation) -> Self {
        Self {
            model,
            generation,
            contents: Vec::new(),
            used: CallIds::default(),
            latest: VecDeque::new(),
        }
    }

    fn read(mut self, messages: &'a [AgentMessage]) -> Vec<Content<'a>> {
        for turn in turns(messages) {
            match turn {
                Turn::User(parts) => {
                    let parts = parts.into_iter().map(|part| self.part(part)).collect();
                    self.user(parts);
                }
                Turn::Assistant(answer) => self.answer(answer),
                Turn::Results(results) => self.results(results),
            }
        }
        self.contents
    }

    fn user(&mut self, parts: Vec<Said<'a>>) {
        self.contents.push(Content {
            role: Role::User,
            parts,
        });
    }

    fn part(&self, part: Part<'a>) -> Said<'a> {
        match part {
            Part::Text(text) => Said::text(text),
            Part::Image(_) if !self.model.images => Said::text(NO_IMAGES),
            Part::Image(image) => Said::image(image),
        }
    }

    fn answer(&mut self, answer: &'a AssistantMessage) {
        self.latest.clear();
        let own = is_own(answer, self.model);
        let mut first_call = true;
        let mut parts = Vec::new();
        for block in &answer.content {
            // A signature is only good for the model that gave it.
            let signed = |signature: &'a Option<String>| {
                let signature = signature.as_deref();
                signature.filter(|signature| own && !signature.is_empty())
            };
            let part = match block {
                AssistantContent::Text(block) => {
                    let thought_signature = signed(&block.text_signature);
                    if block.text.trim().is_empty() && thought_signature.is_none() {
                        continue;
                    }
                    Said {
                        thought_signature,
                        ..Said::text(&block.text)
                    }
                }
                AssistantContent::Thinking(block) => {
                    let thought_signature = signed(&block.thinking_signature);
                    let is_blank = block.thinking.trim().is_empty() || block.redacted.is_some();
                    if is_blank && thought_signature.is_none() {
                        continue;
                    }
                    Said {
                        thought: own.then_some(true),
                        thought_signature,
                        ..Said::text(&block.thinking)
                    }
                }
                AssistantContent::ToolCall(call) => {
                    let own_signature = signed(&call.thought_signature);
                    let needed = self.generation.is_third() && first_call;
                    first_call = false;
                    Said {
                        function_call: Some(self.call(call, own)),
                        thought_signature: own_signature.or(needed.then_some(FOREIGN_CALL)),
                        ..Said::default()
                    }
                }
            };
            parts.push(part);
        }
        if parts.is_empty() {
            return;
        }
        match self.contents.last_mut() {
            Some(last) if last.role == Role::Model => last.parts.extend(parts),
            last => {
                if last.is_none() {
                    self.user(vec![Said::text(GOES_ON)]);
                }
                self.contents.push(Content {
                    role: Role::Model,
                    parts,
                });
            }
        }
    }

    fn call(&mut self, call: &'a ToolCall, own: bool) -> FunctionCall<'a> {
        let id = if own {
            self.used.claim(&call.id)
        } else {
            self.used.claim(&plain(&call.id, 64))
        };
        self.latest.push_back(id.clone());
        FunctionCall {
            // Earlier ones give no ids and pair by name and order.
            id: self.generation.is_third().then_some(id),
            name: plain(&call.name, 64),
            args: &call.arguments,
        }
    }

    fn results(&mut self, results: Vec<CallResult<'a>>) {
        let mut images_after = Vec::new();
        let mut parts = Vec::new();
        for CallResult {
            call,
            parts: content,
            is_error,
        } in results
        {
            let mut text: Vec<Cow<'a, str>> = Vec::new();
            let mut images = Vec::new();
            for part in content {
                match part {
                    Part::Text(words) => text.push(words),
                    Part::Image(_) if !self.model.images => text.push(NO_IMAGES.into()),
                    Part::Image(image) => images.push(Said::image(image)),
                }
            }
            if text.is_empty() {
                let is_seen = !images.is_empty();
                text.push(if is_seen { IMAGES_FOLLOW } else { NO_OUTPUT }.into());
            }
            let text = text.join("\n");
            if !self.generation.is_third() {
                images_after.append(&mut images);
            }
            let id = self.latest.pop_front();
            parts.push(Said {
                function_response: Some(FunctionResponse {
                    id: id.filter(|_| self.generation.is_third()),
                    name: plain(&call.name, 64),
                    response: if is_error {
                        Outcome::Error(text)
                    } else {
                        Outcome::Output(text)
                    },
                    parts: images,
                }),
                ..Said::default()
            });
        }
        self.user(parts);
        if !images_after.is_empty() {
            images_after.insert(0, Said::text(IMAGES));
            self.user(images_after);
        }
    }
}

#[cfg(test)]
mod tests;
