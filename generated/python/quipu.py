# Made from the schema by `quipu schema generate python --wire quipu`; do not edit.
"""Types of what `json.loads` makes of each line; for Python 3.11 and later.

A reader keeps what it knows, and narrows by the discriminator:

    value = json.loads(line)
    if is_quipu_event(value):
        if value["type"] == …:

A later version may add members to a union, keys to a dictionary, and values to a string that is
typed as a union of literals and `str`, so let what no branch takes pass. Keys that are not
required are absent, never None, where they have nothing to say.
"""

import typing

SCHEMA_VERSION: typing.Final = "1.0.0"
"""Version of the schema that this was made from."""


def _tag(value: object, key: str) -> object:
    if isinstance(value, dict):
        return typing.cast("dict[str, object]", value).get(key)
    return None


WireName: typing.TypeAlias = typing.Union[
    typing.Literal[
        "quipu",
        "senpi",
        "dreb",
    ],
    str,
]
"""Name of a form of the event stream: `quipu` (the native one), `senpi` or `dreb` (the forms of two
other agents). Known values: `quipu`, `senpi`, `dreb`; a later version may add more.
"""


class StreamInfo(typing.TypedDict):
    """Which form of the stream follows, and by which schema it can be checked."""

    wire: WireName
    """Form of the stream."""

    version: str
    """Semantic version of that form's schema."""

    schema: str
    """`sha256:` and the lower-case hexadecimal digest of the bytes of the strict schema bundle."""


class SessionHeader(typing.TypedDict):
    """The first line of every stream, exactly once, written before standard input is read and
    before any request. A resumed session shows its stored id, time and directory; its earlier
    messages are not repeated.
    """

    type: typing.Literal["session"]
    """Kind of line; always `session`."""

    seq: typing.NotRequired[int]
    """Number of the line in the written stream, from 0 and without gaps."""

    at: typing.NotRequired[int]
    """When the line was written, in ms since the Unix epoch."""

    version: typing.Literal[3]
    """Version of the session format; always 3. The version of the stream is in `stream`."""

    id: str
    """Id of the session, a UUID unless the user chose one."""

    timestamp: str
    """When the session was made: ISO 8601 in UTC, with milliseconds and `Z`."""

    cwd: str
    """Absolute path of the working directory of the session."""

    parentSession: typing.NotRequired[str]
    """Path of the session file that this one was forked or spawned from. Absent otherwise."""

    agentType: typing.NotRequired[str]
    """Name of the agent definition of a background agent's own session. Absent otherwise."""

    stream: StreamInfo
    """Form and schema of the lines that follow."""


class ModelRef(typing.TypedDict):
    """Names a model: the provider and the provider's id for it."""

    provider: str
    """Key of the provider in the model list, such as `anthropic` or a local server's name."""

    id: str
    """Id of the model within that provider."""


ThinkingLevel: typing.TypeAlias = typing.Union[
    typing.Literal[
        "off",
        "minimal",
        "low",
        "medium",
        "high",
        "xhigh",
        "max",
    ],
    str,
]
"""How much the model may reason before it answers, from `off` (not at all) upwards to `max`. A
level that a model does not offer is replaced by one that it does, which thinking_level_clamped
tells. Known values: `off`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`; a later version
may add more.
"""


class AgentStartEvent(typing.TypedDict):
    """A run begins: the work on one prompt, one retry, one continuation after a compaction, or one
    delivered result of a background agent. One agent_end closes it before the next run begins.
    On the dreb wire the whole stream is one run, begun right after the header.
    """

    type: typing.Literal["agent_start"]
    """Kind of line; always `agent_start`."""

    seq: typing.NotRequired[int]
    """Number of the line in the written stream, from 0 and without gaps."""

    at: typing.NotRequired[int]
    """When the line was written, in ms since the Unix epoch."""

    model: typing.NotRequired[ModelRef]
    """The model that the run starts with. Absent when none is known."""

    thinkingLevel: typing.NotRequired[ThinkingLevel]
    """The thinking level in force, after clamping. Absent when no model is known."""


class TurnStartEvent(typing.TypedDict):
    """A turn begins: one answer of the model and the tool calls in it. The messages that lead to
    the answer come next; one turn_end closes the turn.
    """

    type: typing.Literal["turn_start"]
    """Kind of line; always `turn_start`."""

    seq: typing.NotRequired[int]
    """Number of the line in the written stream, from 0 and without gaps."""

    at: typing.NotRequired[int]
    """When the line was written, in ms since the Unix epoch."""


class TextContent(typing.TypedDict):
    """A block of text in a message."""

    type: typing.Literal["text"]
    """Kind of block; always `text`."""

    text: str
    """The text; may be empty."""

    textSignature: typing.NotRequired[str]
    """Opaque token of the service that must be sent back with the block. Absent when the service
    gave none.
    """


class ImageContent(typing.TypedDict):
    """An image in a user, custom or tool-result message."""

    type: typing.Literal["image"]
    """Kind of block; always `image`."""

    data: str
    """The bytes of the image in standard base64."""

    mimeType: str
    """Media type, such as `image/png`."""


InputContent: typing.TypeAlias = typing.Union[
    TextContent,
    ImageContent,
]
"""A block of a user, custom or tool-result message, told apart by `type`."""

INPUT_CONTENT_TYPES: typing.Final = (
    "text",
    "image",
)
"""Every `type` of InputContent that this module knows."""


def is_input_content(value: object) -> typing.TypeGuard[InputContent]:
    """Whether `value` is a dictionary with a `type` that this module knows; the rest of it is taken
    on trust.
    """
    return _tag(value, "type") in INPUT_CONTENT_TYPES


UserContent: typing.TypeAlias = typing.Union[str, list[InputContent]]
"""What a user or custom message says: a plain string, or an array of blocks. Prompts are written as
blocks; a string comes from a session file or a hook.
A string: The whole content as one text.
A list: The blocks in order.
"""


class UserMessage(typing.TypedDict):
    """What the user said: a prompt, a steered or queued message, or the result of a background
    agent handed to the model.
    """

    role: typing.Literal["user"]
    """Role of the message; always `user`."""

    content: UserContent
    """What was said: a string or blocks."""

    timestamp: int
    """When the message was made, in ms since the Unix epoch."""


class ThinkingContent(typing.TypedDict):
    """A block of the model's reasoning in an assistant message."""

    type: typing.Literal["thinking"]
    """Kind of block; always `thinking`."""

    thinking: str
    """The reasoning as text; a placeholder when the block is redacted."""

    thinkingSignature: typing.NotRequired[str]
    """Opaque token of the service that must be sent back with the block; holds the encrypted
    reasoning of a redacted block. Absent when the service gave none.
    """

    redacted: typing.NotRequired[typing.Literal[True]]
    """Always true: the service withheld the reasoning. Absent for a readable block."""


class ToolCall(typing.TypedDict):
    """A block in which the model asks for a tool to be run."""

    type: typing.Literal["toolCall"]
    """Kind of block; always `toolCall`."""

    id: str
    """Id of the call, by which its execution and its result refer to it; unique within a message.
    """

    name: str
    """Name of the tool as the model wrote it."""

    arguments: dict[str, typing.Any]
    """The arguments; for a call that never became whole, the best-effort reading of what arrived.
    """

    thoughtSignature: typing.NotRequired[str]
    """Opaque token of the service that must be sent back with the call. Absent when the service
    gave none.
    """

    incomplete: typing.NotRequired[typing.Literal[True]]
    """Always true: the arguments never became whole JSON, so the call is not executed. Absent for a
    whole call.
    """

    errorMessage: typing.NotRequired[str]
    """What was wrong with the arguments. Absent for a whole call."""


AssistantContent: typing.TypeAlias = typing.Union[
    TextContent,
    ThinkingContent,
    ToolCall,
]
"""A block of an assistant message, told apart by `type`."""

ASSISTANT_CONTENT_TYPES: typing.Final = (
    "text",
    "thinking",
    "toolCall",
)
"""Every `type` of AssistantContent that this module knows."""


def is_assistant_content(value: object) -> typing.TypeGuard[AssistantContent]:
    """Whether `value` is a dictionary with a `type` that this module knows; the rest of it is taken
    on trust.
    """
    return _tag(value, "type") in ASSISTANT_CONTENT_TYPES


class Cost(typing.TypedDict):
    """What a request cost, in US dollars, by kind of token. Zero where the model's price is unknown
    or free.
    """

    input: float
    """US dollars for uncached input tokens."""

    output: float
    """US dollars for output tokens, reasoning included."""

    cacheRead: float
    """US dollars for input tokens served from the cache."""

    cacheWrite: float
    """US dollars for input tokens written to the cache."""

    total: float
    """US dollars altogether: the sum of the other four."""


class Usage(typing.TypedDict):
    """Tokens and cost of one request, or of all requests where a line says so. All zero until the
    service has reported something.
    """

    input: int
    """Input tokens that were neither read from nor written to a cache."""

    output: int
    """Output tokens, reasoning included."""

    cacheRead: int
    """Input tokens served from the cache."""

    cacheWrite: int
    """Input tokens written to the cache."""

    cacheWrite1h: typing.NotRequired[int]
    """Tokens of `cacheWrite` that are kept for an hour. Absent when the service does not tell them
    apart.
    """

    reasoning: typing.NotRequired[int]
    """Tokens of `output` spent on reasoning. Absent when the service does not report them."""

    totalTokens: int
    """Tokens altogether, as the service reports them, else the sum of input, output, cacheRead and
    cacheWrite.
    """

    cost: Cost
    """The cost in US dollars at the model's prices."""


StopReason: typing.TypeAlias = typing.Union[
    typing.Literal[
        "pending",
        "stop",
        "length",
        "toolUse",
        "error",
        "aborted",
    ],
    str,
]
"""Why an assistant message stands where it stands: `pending` (still being written, only before its
message_end, never on the dreb wire), `stop` (the model finished), `length` (cut at the output
limit), `toolUse` (the model waits for tool results), `error` (the request or the answer failed),
`aborted` (stopped from our side). Known values: `pending`, `stop`, `length`, `toolUse`, `error`,
`aborted`; a later version may add more.
"""


class AssistantMessage(typing.TypedDict):
    """An answer of the model. While it is being written its `stopReason` is `pending` (on the dreb
    wire `stop`); message_end carries the final one.
    """

    role: typing.Literal["assistant"]
    """Role of the message; always `assistant`."""

    content: list[AssistantContent]
    """The blocks, in the order of their `contentIndex`; empty in a fresh message."""

    api: str
    """Protocol that was spoken with the service, such as `anthropic-messages`."""

    provider: str
    """Key of the provider in the model list; `offline` for the built-in model that needs no
    network.
    """

    model: str
    """Id of the model that was asked."""

    usage: Usage
    """Tokens and cost of this request; zero in a fresh message."""

    stopReason: StopReason
    """Why the message ended, or `pending`."""

    timestamp: int
    """When the request was made, in ms since the Unix epoch."""

    responseId: typing.NotRequired[str]
    """Id that the service gave the answer. Absent in a fresh message and when the service gives
    none.
    """

    responseModel: typing.NotRequired[str]
    """Id of the model that really answered. Absent when it is the one that was asked."""

    errorMessage: typing.NotRequired[str]
    """What went wrong. Absent unless `stopReason` is `error` or `aborted`."""

    durationMs: typing.NotRequired[float]
    """Time from the request to the end of the answer, in ms. Absent in a fresh message."""


class ToolResultMessage(typing.TypedDict):
    """The result of one tool call as it goes back to the model."""

    role: typing.Literal["toolResult"]
    """Role of the message; always `toolResult`."""

    toolCallId: str
    """Id of the call that this answers."""

    toolName: str
    """Name of the tool that ran, or the name that the model asked for when there is no such tool.
    """

    content: list[InputContent]
    """The blocks that the model reads."""

    details: typing.NotRequired[typing.Any]
    """What the tool reports to programs, in the tool's own shape; the model does not see it. Absent
    when the tool gives none.
    """

    isError: bool
    """True when the tool failed or was not run; for a command, also when it exited with another
    code than 0.
    """

    timestamp: int
    """When the result was made, in ms since the Unix epoch."""


class BashExecutionMessage(typing.TypedDict):
    """A command that the user, not the model, ran in the session. It is part of the state and of
    session files; no message event is ever written for it.
    """

    role: typing.Literal["bashExecution"]
    """Role of the message; always `bashExecution`."""

    command: str
    """The command line."""

    output: str
    """What the command printed, possibly only the end of it."""

    exitCode: typing.NotRequired[int]
    """Exit code of the command. Absent when it was killed or never started."""

    cancelled: bool
    """True when the command was stopped before its end."""

    truncated: bool
    """True when `output` is not all that was printed."""

    fullOutputPath: typing.NotRequired[str]
    """Path of a file with the whole output. Absent when nothing was cut off."""

    timestamp: int
    """When the command ended, in ms since the Unix epoch."""

    excludeFromContext: typing.NotRequired[bool]
    """True when the model does not get to see the command. Absent when it does."""


class CustomMessage(typing.TypedDict):
    """A message put into the session by the host, a hook or an extension. The model reads it like a
    user's message.
    """

    role: typing.Literal["custom"]
    """Role of the message; always `custom`."""

    customType: str
    """Name of the kind of message, chosen by whoever put it in."""

    content: UserContent
    """What it says: a string or blocks."""

    display: bool
    """True when it is meant to be shown to people too."""

    details: typing.NotRequired[typing.Any]
    """Further data in the sender's own shape; the model does not see it. Absent when there is none.
    """

    timestamp: int
    """When the message was made, in ms since the Unix epoch."""


class BranchSummaryMessage(typing.TypedDict):
    """The summary of a branch of the session that was left. It is part of the state; no message
    event is ever written for it.
    """

    role: typing.Literal["branchSummary"]
    """Role of the message; always `branchSummary`."""

    summary: str
    """What happened on that branch, in Markdown."""

    fromId: str
    """Id of the session entry where the branch ended, or `root`."""

    timestamp: int
    """When the summary was made, in ms since the Unix epoch."""


class CompactionSummaryMessage(typing.TypedDict):
    """The summary that stands for older messages after a compaction. It is part of the state; no
    message event is ever written for it.
    """

    role: typing.Literal["compactionSummary"]
    """Role of the message; always `compactionSummary`."""

    summary: str
    """The summary, in Markdown."""

    tokensBefore: int
    """Tokens in the context before the compaction."""

    details: typing.NotRequired[typing.Any]
    """Further data on the compaction, in the shape of the result's `details`. Absent when there is
    none.
    """

    timestamp: int
    """When the summary was made, in ms since the Unix epoch."""


AgentMessage: typing.TypeAlias = typing.Union[
    UserMessage,
    AssistantMessage,
    ToolResultMessage,
    BashExecutionMessage,
    CustomMessage,
    BranchSummaryMessage,
    CompactionSummaryMessage,
]
"""A message of the session, told apart by `role`. Only `user`, `assistant`, `toolResult` and
`custom` messages get message events.
"""

AGENT_MESSAGE_ROLES: typing.Final = (
    "user",
    "assistant",
    "toolResult",
    "bashExecution",
    "custom",
    "branchSummary",
    "compactionSummary",
)
"""Every `role` of AgentMessage that this module knows."""


def is_agent_message(value: object) -> typing.TypeGuard[AgentMessage]:
    """Whether `value` is a dictionary with a `role` that this module knows; the rest of it is taken
    on trust.
    """
    return _tag(value, "role") in AGENT_MESSAGE_ROLES


class MessageStartEvent(typing.TypedDict):
    """A message begins. User, custom and tool-result messages are whole and their message_end
    follows directly. An assistant message is empty and `pending` (on the dreb wire `stop`); when
    the request failed or was stopped before an answer began, it is the whole error message
    instead and its message_end follows directly.
    """

    type: typing.Literal["message_start"]
    """Kind of line; always `message_start`."""

    seq: typing.NotRequired[int]
    """Number of the line in the written stream, from 0 and without gaps."""

    at: typing.NotRequired[int]
    """When the line was written, in ms since the Unix epoch."""

    message: AgentMessage
    """The message so far: whole, except for an assistant message that is about to be written."""


class TextStart(typing.TypedDict):
    """A text block begins, empty. Its text_delta lines follow; text_end closes it."""

    type: typing.Literal["text_start"]
    """Kind of delta; always `text_start`."""

    contentIndex: int
    """Place of the block in the message's `content`, from 0."""


class TextDelta(typing.TypedDict):
    """The next piece of an open text block."""

    type: typing.Literal["text_delta"]
    """Kind of delta; always `text_delta`."""

    contentIndex: int
    """Place of the block in the message's `content`, from 0."""

    delta: str
    """The piece, to be appended; may be empty."""


class TextEnd(typing.TypedDict):
    """A text block is complete."""

    type: typing.Literal["text_end"]
    """Kind of delta; always `text_end`."""

    contentIndex: int
    """Place of the block in the message's `content`, from 0."""

    content: str
    """The whole text: the joined pieces."""


class ThinkingStart(typing.TypedDict):
    """A thinking block begins, empty. Its thinking_delta lines follow, none for a redacted block;
    thinking_end closes it.
    """

    type: typing.Literal["thinking_start"]
    """Kind of delta; always `thinking_start`."""

    contentIndex: int
    """Place of the block in the message's `content`, from 0."""


class ThinkingDelta(typing.TypedDict):
    """The next piece of an open thinking block."""

    type: typing.Literal["thinking_delta"]
    """Kind of delta; always `thinking_delta`."""

    contentIndex: int
    """Place of the block in the message's `content`, from 0."""

    delta: str
    """The piece, to be appended; may be empty."""


class ThinkingEnd(typing.TypedDict):
    """A thinking block is complete."""

    type: typing.Literal["thinking_end"]
    """Kind of delta; always `thinking_end`."""

    contentIndex: int
    """Place of the block in the message's `content`, from 0."""

    content: str
    """The whole reasoning: the joined pieces, or a placeholder for a redacted block."""


class ToolcallStart(typing.TypedDict):
    """A tool call begins, with no arguments yet. Its toolcall_delta lines follow; toolcall_end
    closes it.
    """

    type: typing.Literal["toolcall_start"]
    """Kind of delta; always `toolcall_start`."""

    contentIndex: int
    """Place of the block in the message's `content`, from 0."""

    id: str
    """Id of the call."""

    toolName: str
    """Name of the tool as the model wrote it."""


class ToolcallDelta(typing.TypedDict):
    """The next piece of the arguments of an open tool call."""

    type: typing.Literal["toolcall_delta"]
    """Kind of delta; always `toolcall_delta`."""

    contentIndex: int
    """Place of the block in the message's `content`, from 0."""

    delta: str
    """The piece, raw JSON text to be appended; may be empty."""


class ToolcallEnd(typing.TypedDict):
    """A tool call is complete, or will not become more complete."""

    type: typing.Literal["toolcall_end"]
    """Kind of delta; always `toolcall_end`."""

    contentIndex: int
    """Place of the block in the message's `content`, from 0."""

    toolCall: ToolCall
    """The whole call with its arguments read."""


class DoneDelta(typing.TypedDict):
    """An answer is complete. Quipu never writes it, message_end says the same; a reader meets it
    only in streams of other producers.
    For readers only: it is never written.
    """

    type: typing.Literal["done"]
    """Kind of delta; always `done`."""

    reason: StopReason
    """Why the answer ended."""

    message: AssistantMessage
    """The final message."""


class ErrorDelta(typing.TypedDict):
    """An answer failed or was aborted. Quipu never writes it, message_end says the same; a reader
    meets it only in streams of other producers.
    For readers only: it is never written.
    """

    type: typing.Literal["error"]
    """Kind of delta; always `error`."""

    reason: StopReason
    """`error` or `aborted`."""

    error: AssistantMessage
    """The final message, with its error."""


AssistantMessageEvent: typing.TypeAlias = typing.Union[
    TextStart,
    TextDelta,
    TextEnd,
    ThinkingStart,
    ThinkingDelta,
    ThinkingEnd,
    ToolcallStart,
    ToolcallDelta,
    ToolcallEnd,
    DoneDelta,
    ErrorDelta,
]
"""One step in the growth of an assistant message, told apart by `type`. Blocks are kept apart by
`contentIndex`, and several may be open at once.
"""

ASSISTANT_MESSAGE_EVENT_TYPES: typing.Final = (
    "text_start",
    "text_delta",
    "text_end",
    "thinking_start",
    "thinking_delta",
    "thinking_end",
    "toolcall_start",
    "toolcall_delta",
    "toolcall_end",
    "done",
    "error",
)
"""Every `type` of AssistantMessageEvent that this module knows."""


def is_assistant_message_event(value: object) -> typing.TypeGuard[AssistantMessageEvent]:
    """Whether `value` is a dictionary with a `type` that this module knows; the rest of it is taken
    on trust.
    """
    return _tag(value, "type") in ASSISTANT_MESSAGE_EVENT_TYPES


class MessageUpdateEvent(typing.TypedDict):
    """A pending assistant message grows by one delta. Comes between its message_start and its
    message_end, any number of times.
    """

    type: typing.Literal["message_update"]
    """Kind of line; always `message_update`."""

    seq: typing.NotRequired[int]
    """Number of the line in the written stream, from 0 and without gaps."""

    at: typing.NotRequired[int]
    """When the line was written, in ms since the Unix epoch."""

    usage: Usage
    """Latest tokens and cost of this request; may stay zero until the answer ends."""

    assistantMessageEvent: AssistantMessageEvent
    """The delta."""

    resolvedToolName: typing.NotRequired[str]
    """Name of the tool that the call will run; the requested name when no tool matches. Only with
    toolcall_start and toolcall_end, absent with any other delta.
    """


class MessageEndEvent(typing.TypedDict):
    """A message is complete; closes the message_start before it and is what readers should keep.
    With `stopReason` `error` or `aborted` it also closes the blocks that are still open, without
    any text_end, thinking_end or toolcall_end.
    """

    type: typing.Literal["message_end"]
    """Kind of line; always `message_end`."""

    seq: typing.NotRequired[int]
    """Number of the line in the written stream, from 0 and without gaps."""

    at: typing.NotRequired[int]
    """When the line was written, in ms since the Unix epoch."""

    message: AgentMessage
    """The final message."""


class ToolExecutionStartEvent(typing.TypedDict):
    """The run loop takes up a tool call of the answer, in the order of the calls; checks come after
    it. One tool_execution_end with the same `toolCallId` closes it.
    """

    type: typing.Literal["tool_execution_start"]
    """Kind of line; always `tool_execution_start`."""

    seq: typing.NotRequired[int]
    """Number of the line in the written stream, from 0 and without gaps."""

    at: typing.NotRequired[int]
    """When the line was written, in ms since the Unix epoch."""

    toolCallId: str
    """Id of the tool call."""

    toolName: str
    """Name of the tool that runs, or the name that the model asked for when there is no such tool.
    """

    args: typing.Any
    """The arguments as the model gave them, usually an object; the best-effort reading when they
    are not whole JSON.
    """


class ToolResult(typing.TypedDict):
    """What a tool gives back: blocks for the model and details for programs. A partial result has
    the same shape and replaces the one before it.
    """

    content: list[InputContent]
    """The blocks that the model reads; may be empty while a tool is still running."""

    details: typing.NotRequired[typing.Any]
    """Whatever the tool reports to programs, in the tool's own shape; the model does not see it.
    Absent when the tool gives none, an empty object for errors made by the run loop.
    """

    endTurn: typing.NotRequired[bool]
    """True when no further model request follows this turn. Absent when the tool has nothing to say
    about it.
    """


class ToolExecutionUpdateEvent(typing.TypedDict):
    """A running tool reports progress. Comes between the tool_execution_start and
    tool_execution_end of the same `toolCallId`, any number of times.
    """

    type: typing.Literal["tool_execution_update"]
    """Kind of line; always `tool_execution_update`."""

    seq: typing.NotRequired[int]
    """Number of the line in the written stream, from 0 and without gaps."""

    at: typing.NotRequired[int]
    """When the line was written, in ms since the Unix epoch."""

    toolCallId: str
    """Id of the tool call."""

    toolName: str
    """Name of the tool that runs, or the name that the model asked for when there is no such tool.
    """

    args: typing.Any
    """The arguments as the model gave them, usually an object; the best-effort reading when they
    are not whole JSON.
    """

    partialResult: ToolResult
    """The result so far, whole: it replaces the one before it."""


class ToolExecutionEndEvent(typing.TypedDict):
    """A tool call is over, in the order in which calls complete; closes the tool_execution_start of
    the same `toolCallId`. A call that fails its checks ends at once.
    """

    type: typing.Literal["tool_execution_end"]
    """Kind of line; always `tool_execution_end`."""

    seq: typing.NotRequired[int]
    """Number of the line in the written stream, from 0 and without gaps."""

    at: typing.NotRequired[int]
    """When the line was written, in ms since the Unix epoch."""

    toolCallId: str
    """Id of the tool call."""

    toolName: str
    """Name of the tool that runs, or the name that the model asked for when there is no such tool.
    """

    result: ToolResult
    """What the tool gave back."""

    isError: bool
    """True when the tool failed or was not run; for a command, also when it exited with another
    code than 0.
    """


HookPhase: typing.TypeAlias = typing.Union[
    typing.Literal[
        "start",
        "update",
        "end",
    ],
    str,
]
"""Where a hook run stands: `start` (it began), `update` (it changed its status text), `end` (it is
over). Known values: `start`, `update`, `end`; a later version may add more.
"""


HookStatus: typing.TypeAlias = typing.Union[
    typing.Literal[
        "completed",
        "blocked",
        "failed",
    ],
    str,
]
"""How a hook run ended: `completed` (it let the call pass), `blocked` (it stopped the call),
`failed` (the hook itself broke). Known values: `completed`, `blocked`, `failed`; a later version
may add more.
"""


class ToolHookStatusEvent(typing.TypedDict):
    """A hook works on a tool call, between that call's tool_execution_start and tool_execution_end.
    Each hook run is one `start`, any number of `update` and one `end`, held together by
    `hookRunId`.
    """

    type: typing.Literal["tool_hook_status"]
    """Kind of line; always `tool_hook_status`."""

    seq: typing.NotRequired[int]
    """Number of the line in the written stream, from 0 and without gaps."""

    at: typing.NotRequired[int]
    """When the line was written, in ms since the Unix epoch."""

    hookRunId: str
    """Id of this run of the hook; unique in the stream."""

    hookName: str
    """Point in the call's life at which the hook runs, such as `PreToolUse` or `PostToolUse`."""

    toolName: str
    """Name of the tool."""

    toolCallId: str
    """Id of the tool call."""

    extensionPath: str
    """Path of the file that defines the hook, or `<builtin:NAME>`."""

    startedAt: int
    """When the hook run began, in ms since the Unix epoch."""

    phase: HookPhase
    """Where the hook run stands."""

    statusMessage: str
    """What the hook is doing, for people: one short plain line."""

    completedAt: typing.NotRequired[int]
    """When the hook run ended, in ms since the Unix epoch. Absent unless `phase` is `end`."""

    status: typing.NotRequired[HookStatus]
    """How the hook run ended. Absent unless `phase` is `end`."""

    errorMessage: typing.NotRequired[str]
    """Why the call was blocked or what broke. Absent unless `status` is `blocked` or `failed`."""


class TurnEndEvent(typing.TypedDict):
    """A turn is over, after its answer, its tool calls and their result messages; closes the
    turn_start before it.
    """

    type: typing.Literal["turn_end"]
    """Kind of line; always `turn_end`."""

    seq: typing.NotRequired[int]
    """Number of the line in the written stream, from 0 and without gaps."""

    at: typing.NotRequired[int]
    """When the line was written, in ms since the Unix epoch."""

    message: AssistantMessage
    """The answer of this turn, as in its message_end."""

    toolResults: list[ToolResultMessage]
    """The tool results of this turn in the order of the calls; empty when no call was taken up."""


SessionReplaceReason: typing.TypeAlias = typing.Union[
    typing.Literal[
        "new",
        "resume",
        "fork",
    ],
    str,
]
"""How the session of an aborted run was replaced: `new` (an empty one), `resume` (an earlier one
was opened), `fork` (a copy of one was opened). Known values: `new`, `resume`, `fork`; a later
version may add more.
"""


class AgentAbortCause(typing.TypedDict):
    """Why a run was stopped from outside: its session was replaced by another one."""

    type: typing.Literal["session_replaced"]
    """Kind of cause; always `session_replaced`."""

    reason: SessionReplaceReason
    """How the session was replaced."""


class AgentEndEvent(typing.TypedDict):
    """A run is over; closes the agent_start before it."""

    type: typing.Literal["agent_end"]
    """Kind of line; always `agent_end`."""

    seq: typing.NotRequired[int]
    """Number of the line in the written stream, from 0 and without gaps."""

    at: typing.NotRequired[int]
    """When the line was written, in ms since the Unix epoch."""

    messages: list[AgentMessage]
    """The messages that came up in this run, in the order of their message_end. A retry or a
    continuation does not repeat the prompt.
    """

    willRetry: bool
    """True exactly when an auto_retry_start follows. Going on after a compaction is told by
    compaction_end instead.
    """

    abortCause: typing.NotRequired[AgentAbortCause]
    """Why the run was stopped from outside. Absent unless its session was replaced."""


class AutoRetryStartEvent(typing.TypedDict):
    """A failed answer is going to be requested again, from the same model or from the next one of a
    fallback chain; directly after the agent_end of the failed run, before the wait. The retry is
    a run of its own. On the dreb wire it follows the turn_end instead, and the retry is a turn.
    One auto_retry_end closes the whole series, however many auto_retry_start and models it has.
    """

    type: typing.Literal["auto_retry_start"]
    """Kind of line; always `auto_retry_start`."""

    seq: typing.NotRequired[int]
    """Number of the line in the written stream, from 0 and without gaps."""

    at: typing.NotRequired[int]
    """When the line was written, in ms since the Unix epoch."""

    attempt: int
    """Number of the retry, from 1; the first request to a model that takes over is number 1 again.
    """

    maxAttempts: int
    """Most retries that are made with one model; one more for a model that takes over, whose first
    request counts.
    """

    delayMs: int
    """Wait before the retry, in ms; 0 when another model takes over."""

    errorMessage: str
    """The error that is being retried. It also names the model that takes over, if one does."""


class AutoRetryEndEvent(typing.TypedDict):
    """A series of retries is over. On success directly after the message_end of the good answer,
    before its tools and its turn_end; on failure after the agent_end of the last run (on the
    dreb wire: the turn_end of the last turn), or after an auto_retry_start whose wait was cut
    short.
    """

    type: typing.Literal["auto_retry_end"]
    """Kind of line; always `auto_retry_end`."""

    seq: typing.NotRequired[int]
    """Number of the line in the written stream, from 0 and without gaps."""

    at: typing.NotRequired[int]
    """When the line was written, in ms since the Unix epoch."""

    success: bool
    """True when a retry brought an answer."""

    attempt: int
    """Number of the last retry, from 1: that of the last auto_retry_start."""

    finalError: typing.NotRequired[str]
    """The error that ended the series. Absent on success."""


CompactionReason: typing.TypeAlias = typing.Union[
    typing.Literal[
        "manual",
        "threshold",
        "overflow",
    ],
    str,
]
"""What caused a compaction: `manual` (someone asked for it), `threshold` (the context came near the
window), `overflow` (the service refused the context as too long). Known values: `manual`,
`threshold`, `overflow`; a later version may add more.
"""


class CompactionStartEvent(typing.TypedDict):
    """The context is being replaced by a summary: between two runs, between two turns, or between
    agent_start and the first turn_start of a run. One compaction_end closes it.
    """

    type: typing.Literal["compaction_start"]
    """Kind of line; always `compaction_start`."""

    seq: typing.NotRequired[int]
    """Number of the line in the written stream, from 0 and without gaps."""

    at: typing.NotRequired[int]
    """When the line was written, in ms since the Unix epoch."""

    reason: CompactionReason
    """What caused it."""

    requestId: typing.NotRequired[str]
    """Id that start and end of one compaction share. Absent when the producer gives none."""


class CompactionProgressEvent(typing.TypedDict):
    """The summary of a running compaction grows. Comes between compaction_start and compaction_end,
    any number of times. Put together, its lines give the `summary` of the result; when a request
    is made again, a line with `text` takes back what the failed one had written.
    """

    type: typing.Literal["compaction_progress"]
    """Kind of line; always `compaction_progress`."""

    seq: typing.NotRequired[int]
    """Number of the line in the written stream, from 0 and without gaps."""

    at: typing.NotRequired[int]
    """When the line was written, in ms since the Unix epoch."""

    reason: CompactionReason
    """What caused the compaction."""

    delta: typing.NotRequired[str]
    """The next piece of the summary, to be appended. Absent when `text` is given."""

    text: typing.NotRequired[str]
    """The whole summary so far, in place of all before it. Absent when `delta` is given."""


class CompactionResult(typing.TypedDict):
    """The outcome of a compaction: the summary that takes the place of older messages, and from
    where on messages are kept.
    """

    summary: str
    """The summary, in Markdown."""

    firstKeptEntryId: str
    """Id of the first session entry that stays in the context as it is."""

    tokensBefore: int
    """Tokens in the context before the compaction."""

    usage: typing.NotRequired[Usage]
    """Tokens and cost of the summary requests. Absent when no model wrote the summary."""

    details: typing.NotRequired[typing.Any]
    """Further data on the compaction, by default `readFiles` and `modifiedFiles`, two lists of
    paths. Absent when there is none.
    """

    estimatedTokensAfter: typing.NotRequired[int]
    """Estimated tokens in the context after the compaction. Absent when not estimated."""


CompactionRejectionCause: typing.TypeAlias = typing.Union[
    typing.Literal[
        "cancelled-by-extension",
        "external-owner",
        "would-overflow",
        "circuit-breaker",
        "per-turn-cap",
    ],
    str,
]
"""Why a compaction was refused: `cancelled-by-extension` (a hook said no), `external-owner` (the
provider compacts this session itself), `would-overflow` (the result would still not fit),
`circuit-breaker` (too many failures in a row), `per-turn-cap` (the allowed number is used up).
Known values: `cancelled-by-extension`, `external-owner`, `would-overflow`, `circuit-breaker`,
`per-turn-cap`; a later version may add more.
"""


class CompactionEndEvent(typing.TypedDict):
    """A compaction is over; closes compaction_start. It stands alone, without a start, when the
    context overflows a second time in a row and no further compaction is tried.
    """

    type: typing.Literal["compaction_end"]
    """Kind of line; always `compaction_end`."""

    seq: typing.NotRequired[int]
    """Number of the line in the written stream, from 0 and without gaps."""

    at: typing.NotRequired[int]
    """When the line was written, in ms since the Unix epoch."""

    reason: CompactionReason
    """What caused it."""

    result: typing.NotRequired[CompactionResult]
    """The summary and what it replaces. Absent unless the compaction succeeded."""

    aborted: bool
    """True when the compaction was cancelled."""

    willRetry: bool
    """True when a model request follows at once to go on with the work: the one that did not fit is
    made again, or, between two turns of a run, the next turn begins.
    """

    requestId: typing.NotRequired[str]
    """Id that start and end of one compaction share; on the senpi wire only the end has it. Absent
    when it has no start.
    """

    accepted: typing.NotRequired[bool]
    """True when the result was taken over, false when the compaction was refused. Absent when there
    was nothing to decide: it failed, was cancelled, or found nothing to compact, in which case
    its end follows the start without anything else.
    """

    rejectionCause: typing.NotRequired[CompactionRejectionCause]
    """Why the compaction was refused. Absent unless `accepted` is false."""

    errorMessage: typing.NotRequired[str]
    """What went wrong. Absent when nothing did."""

    usage: typing.NotRequired[Usage]
    """Tokens and cost of summary requests that led to no result: they failed, were refused or
    cancelled. Absent when there is a `result`, which has the usage of all requests, and when
    none was counted.
    """


class SummarizationRetryScheduledEvent(typing.TypedDict):
    """The request for a summary failed and is going to be made again; before the wait. One
    summarization_retry_finished closes the series, however many retries it has.
    """

    type: typing.Literal["summarization_retry_scheduled"]
    """Kind of line; always `summarization_retry_scheduled`."""

    seq: typing.NotRequired[int]
    """Number of the line in the written stream, from 0 and without gaps."""

    at: typing.NotRequired[int]
    """When the line was written, in ms since the Unix epoch."""

    attempt: int
    """Number of the retry, from 1."""

    maxAttempts: int
    """Most retries that are made."""

    delayMs: int
    """Wait before the retry, in ms."""

    errorMessage: str
    """The error that is being retried."""


class SummarizationRetryAttemptStartBranchSummaryEvent(typing.TypedDict):
    """The summary of a left branch is requested again; after the wait of the
    summarization_retry_scheduled before it.
    """

    type: typing.Literal["summarization_retry_attempt_start"]
    """Kind of line; always `summarization_retry_attempt_start`."""

    seq: typing.NotRequired[int]
    """Number of the line in the written stream, from 0 and without gaps."""

    at: typing.NotRequired[int]
    """When the line was written, in ms since the Unix epoch."""

    source: typing.Literal["branchSummary"]
    """What is being summarised; always `branchSummary`."""


class SummarizationRetryAttemptStartCompactionEvent(typing.TypedDict):
    """The summary of a compaction is requested again; after the wait of the
    summarization_retry_scheduled before it.
    """

    type: typing.Literal["summarization_retry_attempt_start"]
    """Kind of line; always `summarization_retry_attempt_start`."""

    seq: typing.NotRequired[int]
    """Number of the line in the written stream, from 0 and without gaps."""

    at: typing.NotRequired[int]
    """When the line was written, in ms since the Unix epoch."""

    source: typing.Literal["compaction"]
    """What is being summarised; always `compaction`."""

    reason: CompactionReason
    """What caused the compaction."""


SummarizationRetryAttemptStartEvent: typing.TypeAlias = typing.Union[
    SummarizationRetryAttemptStartBranchSummaryEvent,
    SummarizationRetryAttemptStartCompactionEvent,
]
"""The forms of `summarization_retry_attempt_start` in QuipuEvent, told apart by `source`."""

SUMMARIZATION_RETRY_ATTEMPT_START_EVENT_SOURCES: typing.Final = (
    "branchSummary",
    "compaction",
)
"""Every `source` of SummarizationRetryAttemptStartEvent that this module knows."""


def is_summarization_retry_attempt_start_event(value: object) -> typing.TypeGuard[SummarizationRetryAttemptStartEvent]:
    """Whether `value` is a dictionary with a `source` that this module knows; the rest of it is
    taken on trust.
    """
    return _tag(value, "source") in SUMMARIZATION_RETRY_ATTEMPT_START_EVENT_SOURCES


class SummarizationRetryFinishedEvent(typing.TypedDict):
    """A series of summary retries is over, well or not; closes the summarization_retry_scheduled
    that began it and is not written without one.
    """

    type: typing.Literal["summarization_retry_finished"]
    """Kind of line; always `summarization_retry_finished`."""

    seq: typing.NotRequired[int]
    """Number of the line in the written stream, from 0 and without gaps."""

    at: typing.NotRequired[int]
    """When the line was written, in ms since the Unix epoch."""


class QueueUpdateEvent(typing.TypedDict):
    """The queues of messages that wait for the model have changed; written when one is put in,
    taken out (just before its message_start) or all are dropped.
    """

    type: typing.Literal["queue_update"]
    """Kind of line; always `queue_update`."""

    seq: typing.NotRequired[int]
    """Number of the line in the written stream, from 0 and without gaps."""

    at: typing.NotRequired[int]
    """When the line was written, in ms since the Unix epoch."""

    steering: list[str]
    """Texts of the messages that go in after the present turn, in order."""

    followUp: list[str]
    """Texts of the messages that go in when the run would end, in order."""


class SessionInfoChangedEvent(typing.TypedDict):
    """The name of the session was set, changed or cleared."""

    type: typing.Literal["session_info_changed"]
    """Kind of line; always `session_info_changed`."""

    seq: typing.NotRequired[int]
    """Number of the line in the written stream, from 0 and without gaps."""

    at: typing.NotRequired[int]
    """When the line was written, in ms since the Unix epoch."""

    name: typing.NotRequired[str]
    """The name now. Absent when it was cleared."""


class ThinkingLevelChangedEvent(typing.TypedDict):
    """The thinking level was changed after the start; requests from now on use it. When another
    model takes over from one that failed, between the auto_retry_start and the agent_start. The
    level at the start of a run is in agent_start.
    """

    type: typing.Literal["thinking_level_changed"]
    """Kind of line; always `thinking_level_changed`."""

    seq: typing.NotRequired[int]
    """Number of the line in the written stream, from 0 and without gaps."""

    at: typing.NotRequired[int]
    """When the line was written, in ms since the Unix epoch."""

    level: ThinkingLevel
    """The level now in force."""


ThinkingClampReason: typing.TypeAlias = typing.Union[
    typing.Literal[
        "model-not-reasoning",
        "level-unsupported",
    ],
    str,
]
"""Why a thinking level was replaced: `model-not-reasoning` (the model cannot reason at all),
`level-unsupported` (it can, but not at that level). Known values: `model-not-reasoning`,
`level-unsupported`; a later version may add more.
"""


class ThinkingLevelClampedEvent(typing.TypedDict):
    """A level that was asked for is not offered by the model, so another one is used; once for each
    model and level. For the level asked for on the command line it comes after the header,
    before the first agent_start; for a model that takes over from one that failed, before the
    agent_start of its first run, directly after a thinking_level_changed if there is one.
    """

    type: typing.Literal["thinking_level_clamped"]
    """Kind of line; always `thinking_level_clamped`."""

    seq: typing.NotRequired[int]
    """Number of the line in the written stream, from 0 and without gaps."""

    at: typing.NotRequired[int]
    """When the line was written, in ms since the Unix epoch."""

    provider: str
    """Key of the model's provider."""

    modelId: str
    """Id of the model."""

    requestedLevel: ThinkingLevel
    """The level that was asked for."""

    appliedLevel: ThinkingLevel
    """The level that is used."""

    reason: ThinkingClampReason
    """Why it was replaced."""


InputModality: typing.TypeAlias = typing.Union[
    typing.Literal[
        "text",
        "image",
    ],
    str,
]
"""A kind of input that a model takes: `text` or `image`. Known values: `text`, `image`; a later
version may add more.
"""


class ModelCost(typing.TypedDict):
    """List prices of a model in US dollars per million tokens. Zero means free or unknown."""

    input: float
    """US dollars per million uncached input tokens."""

    output: float
    """US dollars per million output tokens."""

    cacheRead: float
    """US dollars per million input tokens read from the cache."""

    cacheWrite: float
    """US dollars per million input tokens written to the cache."""


class Model(typing.TypedDict):
    """A model as the model list knows it. Addresses, headers and keys are left out, because they
    could hold secrets.
    """

    id: str
    """Id of the model within its provider."""

    name: str
    """Name for people; equal to `id` when the list gives none."""

    api: str
    """Protocol spoken with the service, such as `anthropic-messages`, `openai-completions`,
    `openai-responses` or `google-generative-ai`.
    """

    provider: str
    """Key of the provider in the model list."""

    reasoning: bool
    """True when the model can reason before it answers."""

    input: list[InputModality]
    """Kinds of input that the model takes."""

    cost: ModelCost
    """List prices in US dollars per million tokens."""

    contextWindow: typing.NotRequired[int]
    """Tokens that fit into the model's context. Absent when unknown."""

    maxTokens: typing.NotRequired[int]
    """Most tokens that the model writes in one answer. Absent when unknown."""


class SystemPromptChangeEvent(typing.TypedDict):
    """A change of the model brought another system prompt; requests from now on use it."""

    type: typing.Literal["system_prompt_change"]
    """Kind of line; always `system_prompt_change`."""

    seq: typing.NotRequired[int]
    """Number of the line in the written stream, from 0 and without gaps."""

    at: typing.NotRequired[int]
    """When the line was written, in ms since the Unix epoch."""

    systemPrompt: str
    """The system prompt now in force."""

    previousSystemPrompt: str
    """The system prompt until now."""

    model: Model
    """The model that was chosen."""

    previousModel: typing.NotRequired[Model]
    """The model until now. Absent when there was none."""

    source: typing.Literal["model_select"]
    """What brought the change; always `model_select`."""

    systemPromptName: typing.NotRequired[str]
    """Name of the system prompt. Absent when it has none."""


TaskStatus: typing.TypeAlias = typing.Union[
    typing.Literal[
        "pending",
        "in_progress",
        "completed",
    ],
    str,
]
"""State of one entry of the task list: `pending` (not begun), `in_progress` (being worked on),
`completed` (done). Known values: `pending`, `in_progress`, `completed`; a later version may add
more.
"""


class SessionTask(typing.TypedDict):
    """One entry of the task list that the model keeps for its work."""

    id: str
    """Id that the model chose; not necessarily unique."""

    title: str
    """What is to be done, for people."""

    status: TaskStatus
    """How far it is."""


class TasksUpdateEvent(typing.TypedDict):
    """The model has replaced its task list; written while its tool call runs, between that call's
    tool_execution_start and tool_execution_end.
    """

    type: typing.Literal["tasks_update"]
    """Kind of line; always `tasks_update`."""

    seq: typing.NotRequired[int]
    """Number of the line in the written stream, from 0 and without gaps."""

    at: typing.NotRequired[int]
    """When the line was written, in ms since the Unix epoch."""

    tasks: list[SessionTask]
    """The whole list; empty when it was cleared."""


class SuggestNextEvent(typing.TypedDict):
    """The model suggests what to ask next; written while its tool call runs, between that call's
    tool_execution_start and tool_execution_end.
    """

    type: typing.Literal["suggest_next"]
    """Kind of line; always `suggest_next`."""

    seq: typing.NotRequired[int]
    """Number of the line in the written stream, from 0 and without gaps."""

    at: typing.NotRequired[int]
    """When the line was written, in ms since the Unix epoch."""

    command: str
    """The suggested prompt: one line, never empty."""


class BackgroundAgentStartEvent(typing.TypedDict):
    """A background agent was taken on and will start when there is room; normally while the tool
    call that asked for it runs. One background_agent_end with the same `agentId` closes it,
    possibly long after.
    """

    type: typing.Literal["background_agent_start"]
    """Kind of line; always `background_agent_start`."""

    seq: typing.NotRequired[int]
    """Number of the line in the written stream, from 0 and without gaps."""

    at: typing.NotRequired[int]
    """When the line was written, in ms since the Unix epoch."""

    agentId: str
    """Id of the background agent."""

    agentType: str
    """Name of the agent definition that was asked for."""

    taskSummary: str
    """What it is to do, in a few words for people."""

    sessionDir: typing.NotRequired[str]
    """Directory of its session files; may not exist yet. Absent when it keeps no session."""


ArbitrationStatus: typing.TypeAlias = typing.Union[
    typing.Literal[
        "success",
        "failure",
    ],
    str,
]
"""Outcome of one routing decision: `success` (the agent starts with the final route), `failure` (no
decision, the agent does not start). Known values: `success`, `failure`; a later version may add
more.
"""


class DispatchRoute(typing.TypedDict):
    """Where a background agent's work goes: which agent definition, on which model, at which
    thinking level.
    """

    agent: str
    """Name of the agent definition."""

    model: str
    """The model as `provider/id`; empty when a proposal could not be resolved."""

    thinking: ThinkingLevel
    """Thinking level for that agent."""


RoutePart: typing.TypeAlias = typing.Union[
    typing.Literal[
        "agent",
        "model",
        "thinking",
    ],
    str,
]
"""One part of a dispatch route that an arbiter may change: the `agent` definition, the `model`, or
the `thinking` level. Known values: `agent`, `model`, `thinking`; a later version may add more.
"""


ArbitrationErrorCode: typing.TypeAlias = typing.Union[
    typing.Literal[
        "invalid_config",
        "missing_scope",
        "invalid_guide",
        "arbiter_model",
        "arbiter_thinking",
        "context_too_large",
        "inference_failed",
        "timeout",
        "aborted",
        "malformed_output",
        "unknown_agent",
        "out_of_scope_model",
        "unsupported_thinking",
        "internal_error",
        "observability_failed",
    ],
    str,
]
"""Why a routing decision failed, in groups: settings (`invalid_config`, `missing_scope`,
`invalid_guide`), the arbiter's own model (`arbiter_model`, `arbiter_thinking`), its request
(`context_too_large`, `inference_failed`, `timeout`, `aborted`), its answer (`malformed_output`,
`unknown_agent`, `out_of_scope_model`, `unsupported_thinking`), and the host (`internal_error`,
`observability_failed`: the decision could not be recorded). Known values: `invalid_config`,
`missing_scope`, `invalid_guide`, `arbiter_model`, `arbiter_thinking`, `context_too_large`,
`inference_failed`, `timeout`, `aborted`, `malformed_output`, `unknown_agent`,
`out_of_scope_model`, `unsupported_thinking`, `internal_error`, `observability_failed`; a later
version may add more.
"""


class SubagentArbitrationEvent(typing.TypedDict):
    """The arbiter has decided on the route of a background agent; after its background_agent_start
    and before that agent, or that step of a chain, starts. Written only when an arbiter is set
    up; holds nothing of the task or of the arbiter's reasoning.
    """

    type: typing.Literal["subagent_arbitration"]
    """Kind of line; always `subagent_arbitration`."""

    seq: typing.NotRequired[int]
    """Number of the line in the written stream, from 0 and without gaps."""

    at: typing.NotRequired[int]
    """When the line was written, in ms since the Unix epoch."""

    agentId: str
    """Id of the background agent."""

    status: ArbitrationStatus
    """Whether there is a decision."""

    proposed: DispatchRoute
    """The route that was asked for."""

    final: typing.Optional[DispatchRoute]
    """The route that is taken; null when the decision failed."""

    changed: list[RoutePart]
    """The parts in which the final route differs, in the order agent, model, thinking; empty when
    it does not differ or there is none.
    """

    step: typing.NotRequired[int]
    """Number of the step in a chain, from 1. Absent outside chains."""

    errorCode: typing.NotRequired[ArbitrationErrorCode]
    """Why the decision failed, for programs. Absent on success."""

    errorMessage: typing.NotRequired[str]
    """Why the decision failed, for people. Absent on success."""

    usage: typing.NotRequired[Usage]
    """Tokens and cost of the arbiter's requests. Absent when none was made."""


class BackgroundAgentEvent(typing.TypedDict):
    """A line that a running background agent wrote to its own stream, passed on as it is; between
    its background_agent_start and background_agent_end.
    """

    type: typing.Literal["background_agent_event"]
    """Kind of line; always `background_agent_event`."""

    seq: typing.NotRequired[int]
    """Number of the line in the written stream, from 0 and without gaps."""

    at: typing.NotRequired[int]
    """When the line was written, in ms since the Unix epoch."""

    agentId: str
    """Id of the background agent."""

    event: "QuipuEvent"
    """The line of the background agent."""


class SubagentStepMetadata(typing.TypedDict):
    """One step of a chain of background agents that was carried out."""

    step: int
    """Number of the step in the chain, from 1."""

    agent: str
    """Name of the agent definition that ran it."""

    success: bool
    """True when the step ended well."""

    model: typing.NotRequired[str]
    """Model it ran on, as `provider/id`. Absent when the step never reached a model."""

    thinking: typing.NotRequired[ThinkingLevel]
    """Thinking level it ran at. Absent when the step never reached a model."""


class BackgroundAgentEndEvent(typing.TypedDict):
    """A background agent is over; closes the background_agent_start of the same `agentId`. Its
    result reaches the model as a user message.
    """

    type: typing.Literal["background_agent_end"]
    """Kind of line; always `background_agent_end`."""

    seq: typing.NotRequired[int]
    """Number of the line in the written stream, from 0 and without gaps."""

    at: typing.NotRequired[int]
    """When the line was written, in ms since the Unix epoch."""

    agentId: str
    """Id of the background agent."""

    agentType: str
    """Name of the agent definition that ran, after arbitration."""

    success: bool
    """True when it ended well."""

    model: typing.NotRequired[str]
    """Model it ran on, as `provider/id`. Absent when it never reached a model, and for chains."""

    thinking: typing.NotRequired[ThinkingLevel]
    """Thinking level it ran at. Absent when it never reached a model, and for chains."""

    steps: typing.NotRequired[list[SubagentStepMetadata]]
    """The steps of a chain that were carried out, in order. Absent outside chains."""

    sessionFile: typing.NotRequired[str]
    """Path of its session file. Absent when none was written, and for chains."""


class ParentPausedForBackgroundAgentsEvent(typing.TypedDict):
    """The run stops asking the model because it has used its turns while background agents are
    still at work; it goes on when one of them delivers. The agent_end of the run follows, except
    on the dreb wire, where the run is the whole stream.
    """

    type: typing.Literal["parent_paused_for_background_agents"]
    """Kind of line; always `parent_paused_for_background_agents`."""

    seq: typing.NotRequired[int]
    """Number of the line in the written stream, from 0 and without gaps."""

    at: typing.NotRequired[int]
    """When the line was written, in ms since the Unix epoch."""

    runningAgentCount: int
    """Number of background agents at work."""

    turnsUsed: int
    """Turns taken while they were at work."""

    turnLimit: float
    """Turns that are allowed meanwhile."""


Outcome: typing.TypeAlias = typing.Union[
    typing.Literal[
        "completed",
        "failed",
        "aborted",
        "interrupted",
        "limit",
    ],
    str,
]
"""How the process ended, the worst of its runs deciding: `completed` (the work was done), `failed`
(a model, session, start-up or internal error), `aborted` (stopped on request of the host),
`interrupted` (a signal), `limit` (a limit on turns, cost or time was reached). Known values:
`completed`, `failed`, `aborted`, `interrupted`, `limit`; a later version may add more.
"""


ErrorCode: typing.TypeAlias = typing.Union[
    typing.Literal[
        "auth",
        "rate_limited",
        "overloaded",
        "context_overflow",
        "quota",
        "invalid_request",
        "content_refused",
        "network",
        "timeout",
        "provider_error",
        "usage",
        "configuration",
        "credentials",
        "session",
        "limit",
        "interrupted",
        "internal",
    ],
    str,
]
"""What went wrong, for programs. From the model service: `auth` (the key was refused),
`rate_limited`, `overloaded`, `context_overflow`, `quota`, `invalid_request`, `content_refused`,
`network`, `timeout`, `provider_error` (anything else it sent). From this side: `usage` (bad
flag, value or input file), `configuration` (settings or model list), `credentials` (no key
found), `session` (not readable or not writable), `limit`, `interrupted`, `internal`. Known
values: `auth`, `rate_limited`, `overloaded`, `context_overflow`, `quota`, `invalid_request`,
`content_refused`, `network`, `timeout`, `provider_error`, `usage`, `configuration`,
`credentials`, `session`, `limit`, `interrupted`, `internal`; a later version may add more.
"""


class StreamError(typing.TypedDict):
    """The error that decided a stream's outcome."""

    code: ErrorCode
    """What went wrong, for programs."""

    message: str
    """What went wrong, for people; never holds a credential."""

    retryable: bool
    """True when the same request may well succeed later."""


class StreamEndEvent(typing.TypedDict):
    """The last line of every stream, exactly once, whatever happened; nothing comes after it.
    Before it everything that is open has been closed by its own end event.
    """

    type: typing.Literal["stream_end"]
    """Kind of line; always `stream_end`."""

    seq: typing.NotRequired[int]
    """Number of the line in the written stream, from 0 and without gaps."""

    at: typing.NotRequired[int]
    """When the line was written, in ms since the Unix epoch."""

    outcome: Outcome
    """How the process ended."""

    exitCode: int
    """Exit code of the process: 0 completed, 1 failed, 2 usage, 3 configuration or credentials,
    129, 130 or 143 after a signal.
    """

    error: typing.NotRequired[StreamError]
    """The error that decided the outcome. Absent when there was none."""

    usage: Usage
    """Tokens and cost of all requests of this stream, its background agents and the decisions about
    them, each counted once, failed ones included. Of an agent that left no `stream_end` nothing
    counts.
    """

    turns: int
    """Number of turn_start lines."""

    lines: int
    """Number of lines written, the header and this one included."""


QuipuEvent: typing.TypeAlias = typing.Union[
    SessionHeader,
    AgentStartEvent,
    TurnStartEvent,
    MessageStartEvent,
    MessageUpdateEvent,
    MessageEndEvent,
    ToolExecutionStartEvent,
    ToolExecutionUpdateEvent,
    ToolExecutionEndEvent,
    ToolHookStatusEvent,
    TurnEndEvent,
    AgentEndEvent,
    AutoRetryStartEvent,
    AutoRetryEndEvent,
    CompactionStartEvent,
    CompactionProgressEvent,
    CompactionEndEvent,
    SummarizationRetryScheduledEvent,
    SummarizationRetryAttemptStartEvent,
    SummarizationRetryFinishedEvent,
    QueueUpdateEvent,
    SessionInfoChangedEvent,
    ThinkingLevelChangedEvent,
    ThinkingLevelClampedEvent,
    SystemPromptChangeEvent,
    TasksUpdateEvent,
    SuggestNextEvent,
    BackgroundAgentStartEvent,
    SubagentArbitrationEvent,
    BackgroundAgentEvent,
    BackgroundAgentEndEvent,
    ParentPausedForBackgroundAgentsEvent,
    StreamEndEvent,
]
"""One line of a native stream, told apart by `type`. The header comes first, stream_end last; the
order of the rest is in grammar.json. Readers skip a line whose `type` they do not know.
"""

QUIPU_EVENT_TYPES: typing.Final = (
    "session",
    "agent_start",
    "turn_start",
    "message_start",
    "message_update",
    "message_end",
    "tool_execution_start",
    "tool_execution_update",
    "tool_execution_end",
    "tool_hook_status",
    "turn_end",
    "agent_end",
    "auto_retry_start",
    "auto_retry_end",
    "compaction_start",
    "compaction_progress",
    "compaction_end",
    "summarization_retry_scheduled",
    "summarization_retry_attempt_start",
    "summarization_retry_finished",
    "queue_update",
    "session_info_changed",
    "thinking_level_changed",
    "thinking_level_clamped",
    "system_prompt_change",
    "tasks_update",
    "suggest_next",
    "background_agent_start",
    "subagent_arbitration",
    "background_agent_event",
    "background_agent_end",
    "parent_paused_for_background_agents",
    "stream_end",
)
"""Every `type` of QuipuEvent that this module knows."""


def is_quipu_event(value: object) -> typing.TypeGuard[QuipuEvent]:
    """Whether `value` is a dictionary with a `type` that this module knows; the rest of it is taken
    on trust.
    """
    return _tag(value, "type") in QUIPU_EVENT_TYPES
