# Made from the schema by `quipu schema generate python --wire session`; do not edit.
"""Types of what `json.loads` makes of each line; for Python 3.11 and later.

A reader keeps what it knows, and narrows by the discriminator:

    value = json.loads(line)
    if is_session_entry(value):
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


class StoredSessionHeader(typing.TypedDict):
    """The first line of every session file."""

    type: typing.Literal["session"]
    """Kind of line; always `session`."""

    version: typing.Literal[3]
    """Version of the session format; always 3."""

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


class MessageEntry(typing.TypedDict):
    """A message of the conversation, stored before the line that announces its end is written. A
    message of the host or of a hook is a `custom_message` entry instead.
    """

    type: typing.Literal["message"]
    """Kind of entry; always `message`."""

    id: str
    """Id of the entry, unique in its file; usually 8 hex digits."""

    parentId: typing.Optional[str]
    """Id of the entry that this one follows; null when it follows none, as the first entry of a
    file.
    """

    timestamp: str
    """When the entry was stored: ISO 8601 in UTC, with milliseconds and `Z`."""

    message: AgentMessage
    """The whole message."""


ModelChangeReason: typing.TypeAlias = typing.Union[
    typing.Literal[
        "fallback",
        "fallback-revert",
    ],
    str,
]
"""Why the model of a session changed without being chosen: `fallback` when another stands in for
one that fails, `fallback-revert` when that one is back. Known values: `fallback`,
`fallback-revert`; a later version may add more.
"""


class ModelChangeEntry(typing.TypedDict):
    """The model that answers from here on. A fresh session begins with one."""

    type: typing.Literal["model_change"]
    """Kind of entry; always `model_change`."""

    id: str
    """Id of the entry, unique in its file; usually 8 hex digits."""

    parentId: typing.Optional[str]
    """Id of the entry that this one follows; null when it follows none, as the first entry of a
    file.
    """

    timestamp: str
    """When the entry was stored: ISO 8601 in UTC, with milliseconds and `Z`."""

    provider: str
    """Provider of the model."""

    modelId: str
    """Id of the model at its provider."""

    reason: typing.NotRequired[ModelChangeReason]
    """Why the model changed, if not because somebody chose it. Absent otherwise."""

    originalProvider: typing.NotRequired[str]
    """Provider of the model that the session should have. Absent unless another stands in for it.
    """

    originalModelId: typing.NotRequired[str]
    """Id of the model that the session should have. Absent unless another stands in for it."""


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


class ThinkingLevelChangeEntry(typing.TypedDict):
    """How much the model thinks from here on. A fresh session stores one after its model."""

    type: typing.Literal["thinking_level_change"]
    """Kind of entry; always `thinking_level_change`."""

    id: str
    """Id of the entry, unique in its file; usually 8 hex digits."""

    parentId: typing.Optional[str]
    """Id of the entry that this one follows; null when it follows none, as the first entry of a
    file.
    """

    timestamp: str
    """When the entry was stored: ISO 8601 in UTC, with milliseconds and `Z`."""

    thinkingLevel: ThinkingLevel
    """The level now."""

    thinkingSelection: typing.NotRequired[typing.Any]
    """How the level was chosen, in the shape of the program that stored it. Kept as read; absent in
    entries of Quipu.
    """


class CompactionEntry(typing.TypedDict):
    """A summary that takes the place of the messages before `firstKeptEntryId`."""

    type: typing.Literal["compaction"]
    """Kind of entry; always `compaction`."""

    id: str
    """Id of the entry, unique in its file; usually 8 hex digits."""

    parentId: typing.Optional[str]
    """Id of the entry that this one follows; null when it follows none, as the first entry of a
    file.
    """

    timestamp: str
    """When the entry was stored: ISO 8601 in UTC, with milliseconds and `Z`."""

    summary: str
    """The summary, in Markdown."""

    firstKeptEntryId: str
    """Id of the first entry that stays in the context as it is."""

    tokensBefore: int
    """Tokens in the context before the compaction."""

    details: typing.NotRequired[typing.Any]
    """Further data on the summary, by default `readFiles` and `modifiedFiles`, two lists of paths.
    Absent when there is none.
    """

    usage: typing.NotRequired[Usage]
    """Tokens and cost of the summary requests. Absent when no model wrote the summary, or its usage
    is not known.
    """

    fromHook: typing.NotRequired[bool]
    """True when a hook or an extension wrote the summary. Absent when it is not known."""


class BranchSummaryEntry(typing.TypedDict):
    """A summary of a branch that was left, at the place where another begins."""

    type: typing.Literal["branch_summary"]
    """Kind of entry; always `branch_summary`."""

    id: str
    """Id of the entry, unique in its file; usually 8 hex digits."""

    parentId: typing.Optional[str]
    """Id of the entry that this one follows; null when it follows none, as the first entry of a
    file.
    """

    timestamp: str
    """When the entry was stored: ISO 8601 in UTC, with milliseconds and `Z`."""

    fromId: str
    """Id of the entry where the branch that was left ended, or `root`."""

    summary: str
    """What happened on that branch, in Markdown."""

    details: typing.NotRequired[typing.Any]
    """Further data on the summary, by default `readFiles` and `modifiedFiles`, two lists of paths.
    Absent when there is none.
    """

    usage: typing.NotRequired[Usage]
    """Tokens and cost of the summary requests. Absent when no model wrote the summary, or its usage
    is not known.
    """

    fromHook: typing.NotRequired[bool]
    """True when a hook or an extension wrote the summary. Absent when it is not known."""


class CustomEntry(typing.TypedDict):
    """Data that the program or an extension keeps with the session. The model never sees it."""

    type: typing.Literal["custom"]
    """Kind of entry; always `custom`."""

    customType: str
    """Name of the kind of data, chosen by whoever stored it."""

    data: typing.NotRequired[typing.Any]
    """The data, in the shape of its kind. Absent when there is none."""

    id: str
    """Id of the entry, unique in its file; usually 8 hex digits."""

    parentId: typing.Optional[str]
    """Id of the entry that this one follows; null when it follows none, as the first entry of a
    file.
    """

    timestamp: str
    """When the entry was stored: ISO 8601 in UTC, with milliseconds and `Z`."""


class CustomMessageEntry(typing.TypedDict):
    """A message put into the session by the host, a hook or an extension. The model reads it like a
    user's message.
    """

    type: typing.Literal["custom_message"]
    """Kind of entry; always `custom_message`."""

    customType: str
    """Name of the kind of message, chosen by whoever put it in."""

    content: UserContent
    """What it says: a string or blocks."""

    display: bool
    """True when it is meant to be shown to people too."""

    details: typing.NotRequired[typing.Any]
    """Further data in the sender's own shape; the model does not see it. Absent when there is none.
    """

    id: str
    """Id of the entry, unique in its file; usually 8 hex digits."""

    parentId: typing.Optional[str]
    """Id of the entry that this one follows; null when it follows none, as the first entry of a
    file.
    """

    timestamp: str
    """When the entry was stored: ISO 8601 in UTC, with milliseconds and `Z`."""


class LabelEntry(typing.TypedDict):
    """A name that somebody gave to an entry, to find it again."""

    type: typing.Literal["label"]
    """Kind of entry; always `label`."""

    id: str
    """Id of the entry, unique in its file; usually 8 hex digits."""

    parentId: typing.Optional[str]
    """Id of the entry that this one follows; null when it follows none, as the first entry of a
    file.
    """

    timestamp: str
    """When the entry was stored: ISO 8601 in UTC, with milliseconds and `Z`."""

    targetId: str
    """Id of the entry that is named."""

    label: typing.NotRequired[str]
    """The name. Absent when the entry loses its name."""


class SessionInfoEntry(typing.TypedDict):
    """The name of the session. The last such entry of a file counts."""

    type: typing.Literal["session_info"]
    """Kind of entry; always `session_info`."""

    id: str
    """Id of the entry, unique in its file; usually 8 hex digits."""

    parentId: typing.Optional[str]
    """Id of the entry that this one follows; null when it follows none, as the first entry of a
    file.
    """

    timestamp: str
    """When the entry was stored: ISO 8601 in UTC, with milliseconds and `Z`."""

    name: str
    """The name, on one line; empty when the session loses its name."""


SessionEntry: typing.TypeAlias = typing.Union[
    StoredSessionHeader,
    MessageEntry,
    ModelChangeEntry,
    ThinkingLevelChangeEntry,
    CompactionEntry,
    BranchSummaryEntry,
    CustomEntry,
    CustomMessageEntry,
    LabelEntry,
    SessionInfoEntry,
]
"""One line of a session file, told apart by `type`: the header on the first line, an entry on every
other. Entries form a tree by `parentId`; the last entry of the file is where the session goes
on. Readers skip a line whose `type` they do not know.
"""

SESSION_ENTRY_TYPES: typing.Final = (
    "session",
    "message",
    "model_change",
    "thinking_level_change",
    "compaction",
    "branch_summary",
    "custom",
    "custom_message",
    "label",
    "session_info",
)
"""Every `type` of SessionEntry that this module knows."""


def is_session_entry(value: object) -> typing.TypeGuard[SessionEntry]:
    """Whether `value` is a dictionary with a `type` that this module knows; the rest of it is taken
    on trust.
    """
    return _tag(value, "type") in SESSION_ENTRY_TYPES
