//! The stream that is being told: where its lines go, its clock and ids, runs and messages.

use std::io;
use std::time::{Duration, UNIX_EPOCH};

use super::random::{Deck, Random};
use super::text;
use crate::contract::{SCHEMA_HASH, SCHEMA_VERSION};
use crate::event::tracker::Tracker;
use crate::event::{
    AgentAbortCause, AgentEndEvent, AgentMessage, AgentStartEvent, AssistantMessage, Cost,
    ImageContent, InputContent, MessageEndEvent, MessageStartEvent, ModelRef, Outcome, QuipuEvent,
    SessionHeader, SessionHeaderVersion, SessionReplaceReason, StreamEndEvent, StreamError,
    StreamInfo, TextContent, ThinkingLevel, ToolResultMessage, TurnEndEvent, TurnStartEvent, Usage,
    UserContent, UserMessage, WireName,
};

/// When the first sample begins, in ms since the Unix epoch.
const BEGIN: u64 = 1_790_000_000_000;

/// A model that answers: provider, id, API.
pub(super) type Service = (&'static str, &'static str, &'static str);

const SERVICES: &[Service] = &[
    ("anthropic", "claude-sonnet-4-5", "anthropic-messages"),
    ("openai", "gpt-5.1", "openai-responses"),
    ("openrouter", "qwen/qwen3-coder:free", "openai-completions"),
    ("google", "gemini-3-pro", "google-generative-ai"),
    ("offline", "offline", "offline"),
];

/// Takes a line and the time at which it is written.
pub(super) type Sink<'o> = dyn FnMut(QuipuEvent, u64) -> io::Result<()> + 'o;

/// A native stream that is being told.
pub(super) struct Script<'o> {
    pub(super) random: Random,
    pub(super) seed: u64,
    /// 0 for the stream itself, 1 for that of a background agent, and so on.
    pub(super) depth: u8,
    texts: Deck<&'static str>,
    levels: Deck<ThinkingLevel>,
    services: Deck<Service>,
    images: Deck<(&'static str, &'static str)>,
    pub(super) service: Service,
    /// Ms since the Unix epoch.
    pub(super) clock: u64,
    ids: u64,
    /// Requests so far; what may be there or not takes turns by it.
    pub(super) requests: u64,
    pub(super) deltas: u64,
    /// How many deltas there should be at the least.
    pub(super) target: u64,
    lines: u64,
    tracker: Tracker,
    /// The messages of the open run.
    run: Vec<AgentMessage>,
    running: bool,
    /// Lines of background agents that are still to come, by agent; the next ones are last.
    pub(super) background: Vec<Vec<QuipuEvent>>,
    sink: &'o mut Sink<'o>,
}

impl<'o> Script<'o> {
    pub(super) fn new(seed: u64, depth: u8, sink: &'o mut Sink<'o>) -> Self {
        let mut random = Random::new(seed);
        let mut services = Deck::new(SERVICES);
        let service = services.deal(&mut random);
        let clock = BEGIN + random.below(10_000_000_000);
        Self {
            random,
            seed,
            depth,
            texts: Deck::new(text::TEXTS),
            levels: Deck::new(ThinkingLevel::ALL),
            services,
            images: Deck::new(text::IMAGES),
            service,
            clock,
            ids: 0,
            requests: 0,
            deltas: 0,
            target: 0,
            lines: 0,
            tracker: Tracker::default(),
            run: Vec::new(),
            running: false,
            background: Vec::new(),
            sink,
        }
    }

    /// Writes an event, and now and then the next lines of a background agent.
    pub(super) fn emit(&mut self, event: impl Into<QuipuEvent>) -> io::Result<()> {
        self.put(event.into())?;
        while !self.background.is_empty() && self.random.below(3) > 0 {
            let at = self.random.index(self.background.len());
            self.background_line(at)?;
        }
        Ok(())
    }

    fn put(&mut self, event: QuipuEvent) -> io::Result<()> {
        let legal = self.tracker.observe(&event);
        debug_assert_eq!(legal, Ok(()), "{event:?}");
        self.clock += self.random.below(40);
        self.lines += 1;
        if matches!(event, QuipuEvent::MessageUpdate(_)) {
            self.deltas += 1;
        }
        (self.sink)(event, self.clock)
    }

    fn background_line(&mut self, at: usize) -> io::Result<()> {
        if let Some(line) = self.background[at].pop() {
            return self.put(line);
        }
        self.background.remove(at);
        Ok(())
    }

    /// Writes all that background agents still have to say.
    pub(super) fn drain(&mut self) -> io::Result<()> {
        while !self.background.is_empty() {
            let at = self.random.index(self.background.len());
            self.background_line(at)?;
        }
        Ok(())
    }

    // What lines hold.

    pub(super) fn id(&mut self, prefix: &str) -> String {
        self.ids += 1;
        format!("{prefix}{}", self.ids)
    }

    /// Eight hexadecimal digits, as of session entries.
    pub(super) fn hex(&mut self) -> String {
        format!("{:08x}", self.random.below(1 << 32))
    }

    /// Eight hexadecimal digits that no other agent of the stream has.
    pub(super) fn agent_id(&mut self) -> String {
        self.ids += 1;
        format!("{:04x}{:04x}", self.random.below(1 << 16), self.ids)
    }

    pub(super) fn text(&mut self) -> String {
        self.texts.deal(&mut self.random).to_owned()
    }

    pub(super) fn level(&mut self) -> ThinkingLevel {
        self.levels.deal(&mut self.random)
    }

    /// Takes another model, and gives it.
    pub(super) fn next_service(&mut self) -> Service {
        self.service = self.services.deal(&mut self.random);
        self.service
    }

    /// The model as `provider/id`.
    pub(super) fn route_model(&self) -> String {
        let (provider, id, _) = self.service;
        format!("{provider}/{id}")
    }

    pub(super) fn image(&mut self) -> InputContent {
        let (data, mime_type) = self.images.deal(&mut self.random);
        ImageContent {
            data: data.into(),
            mime_type: mime_type.into(),
        }
        .into()
    }

    /// The usage of a request. Of three in a row one is large and one has no optional fields.
    pub(super) fn usage(&mut self) -> Usage {
        let scale = if self.requests.is_multiple_of(3) {
            1_000_000_000
        } else {
            3_000
        };
        let mut tokens = || self.random.below(scale);
        let (input, output, cache_read, cache_write) = (tokens(), tokens() + 1, tokens(), tokens());
        let bare = self.requests % 3 == 1;
        Usage {
            input,
            output,
            cache_read,
            cache_write,
            cache_write1h: (!bare).then_some(cache_write / 3),
            reasoning: (!bare).then_some(output / 2),
            total_tokens: input + output + cache_read + cache_write,
            cost: cost([input, output, cache_read, cache_write]),
        }
    }

    // Frame.

    pub(super) fn header(
        &mut self,
        parent: Option<&str>,
        agent_type: Option<&str>,
    ) -> io::Result<()> {
        let mut bytes = [0; 10];
        bytes[..8].copy_from_slice(&self.random.next().to_be_bytes());
        let id = uuid::Builder::from_unix_timestamp_millis(self.clock, &bytes).into_uuid();
        let time = UNIX_EPOCH + Duration::from_millis(self.clock);
        self.emit(SessionHeader {
            version: SessionHeaderVersion,
            id: id.to_string(),
            timestamp: humantime::format_rfc3339_millis(time).to_string(),
            cwd: "/projects/quipu".into(),
            parent_session: parent.map(Into::into),
            agent_type: agent_type.map(Into::into),
            stream: StreamInfo {
                wire: WireName::Quipu,
                version: SCHEMA_VERSION.into(),
                schema: SCHEMA_HASH.into(),
            },
        })
    }

    /// Writes the last line.
    pub(super) fn end(
        &mut self,
        outcome: Outcome,
        exit_code: u64,
        error: Option<StreamError>,
    ) -> io::Result<()> {
        self.drain()?;
        let totals = self.tracker.totals();
        let end = StreamEndEvent {
            outcome,
            exit_code,
            error,
            usage: totals.usage.clone(),
            turns: totals.turns,
            lines: self.lines + 1,
        };
        self.put(end.into())
    }

    // Runs.

    pub(super) fn agent_start(&mut self) -> io::Result<()> {
        self.running = true;
        let known = self.requests.is_multiple_of(2);
        let (provider, id, _) = self.service;
        let model = known.then(|| ModelRef {
            provider: provider.into(),
            id: id.into(),
        });
        let thinking_level = known.then(|| self.level());
        self.emit(AgentStartEvent {
            model,
            thinking_level,
        })
    }

    pub(super) fn agent_end(
        &mut self,
        will_retry: bool,
        replaced: Option<SessionReplaceReason>,
    ) -> io::Result<()> {
        self.running = false;
        let messages = std::mem::take(&mut self.run);
        self.emit(AgentEndEvent {
            messages,
            will_retry,
            abort_cause: replaced.map(|reason| AgentAbortCause { reason }),
        })
    }

    pub(super) fn turn_start(&mut self) -> io::Result<()> {
        self.emit(TurnStartEvent {})
    }

    pub(super) fn turn_end(
        &mut self,
        message: AssistantMessage,
        tool_results: Vec<ToolResultMessage>,
    ) -> io::Result<()> {
        self.emit(TurnEndEvent {
            message,
            tool_results,
        })
    }

    /// Writes a message that is whole from its begin.
    pub(super) fn message(&mut self, message: impl Into<AgentMessage>) -> io::Result<()> {
        let message = message.into();
        self.emit(MessageStartEvent {
            message: message.clone(),
        })?;
        self.message_end(message)
    }

    pub(super) fn message_end(&mut self, message: AgentMessage) -> io::Result<()> {
        self.keep(message.clone());
        self.emit(MessageEndEvent { message })
    }

    /// Counts a message among those of the open run.
    pub(super) fn keep(&mut self, message: AgentMessage) {
        if self.running {
            self.run.push(message);
        }
    }

    /// Writes what the user says.
    pub(super) fn user(&mut self, content: UserContent) -> io::Result<()> {
        let timestamp = self.clock;
        self.message(UserMessage { content, timestamp })
    }

    /// Writes a prompt of one text block.
    pub(super) fn prompt(&mut self) -> io::Result<()> {
        let text = self.text();
        self.user(vec![plain(text)].into())
    }

    /// A run up to its first answer: a turn has begun and the prompt is written.
    pub(super) fn begin_run(&mut self) -> io::Result<()> {
        self.agent_start()?;
        self.turn_start()?;
        self.prompt()
    }
}

/// A text block without a signature.
pub(super) fn plain(text: impl Into<String>) -> InputContent {
    TextContent {
        text: text.into(),
        text_signature: None,
    }
    .into()
}

/// What so many tokens of input, output, read and written cache cost.
pub(super) fn cost(tokens: [u64; 4]) -> Cost {
    let prices = [3e-6, 15e-6, 0.3e-6, 3.75e-6];
    #[allow(clippy::cast_precision_loss, reason = "a price, not a count")]
    let [input, output, cache_read, cache_write] =
        std::array::from_fn(|at| tokens[at] as f64 * prices[at]);
    Cost {
        input: input.into(),
        output: output.into(),
        cache_read: cache_read.into(),
        cache_write: cache_write.into(),
        total: (input + output + cache_read + cache_write).into(),
    }
}

/// No tokens, no cost.
pub(super) fn nothing() -> Usage {
    Usage {
        input: 0,
        output: 0,
        cache_read: 0,
        cache_write: 0,
        cache_write1h: None,
        reasoning: None,
        total_tokens: 0,
        cost: cost([0; 4]),
    }
}
