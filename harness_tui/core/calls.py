"""The values of a call on its way: what is decided on, what a tool is given, what it gives back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

from harness_tui.core.event_parts import Offer, Preview
from harness_tui.core.events import Event
from harness_tui.core.messages import AssistantMessage, Attachment, UserMessage
from harness_tui.core.record import record
from harness_tui.core.values import Action, Question, Rule, Scope

Origin: TypeAlias = Literal["model", "call", "person"]
"""Who wants it: the model; a person through ``/call`` or ``tools call`` (gated like the model); a person by typing it
(``!cmd``, a mention, an MCP prompt: allowed unless denied)."""


@record
class Check:
    """One thing to be decided: a permission key and the value that patterns are matched against.

    ``display`` is what a person is shown for it, such as one simple command of a longer one. ``folder`` is where a
    command runs, the start folder without it.
    """

    permission: str
    value: str
    display: str | None = None
    folder: str | None = None


@record
class GateCall:
    """A call before the gate. ``grants`` are allow rules of this run only (a trusted file's ``allowed-tools``).

    ``fingerprint`` is the hash of a foreign tool's ``definition``, the text that a person can compare.
    """

    call: str
    tool: str
    checks: tuple[Check, ...]
    session: str
    agent: str
    mode: str
    origin: Origin = "model"
    fingerprint: str | None = None
    definition: str | None = None
    grants: tuple[Rule, ...] = ()
    agent_rules: tuple[Rule, ...] = ()


@record
class LayerResult:
    """What one layer says of one check; ``source`` is ``file:line``."""

    layer: str
    decision: Action
    rule: str
    source: str


@record
class PartDecision:
    """The decision on one check, with the rule that made it and every layer that had a say."""

    check: Check
    decision: Action
    rule: str
    layer: str
    source: str
    layers: tuple[LayerResult, ...] = ()


@record
class GateDecision:
    """The decision on a call: the strictest of its parts. ``offers`` is what a wider approval would store.

    ``scope`` is where the approval came from when an approval turned an ask into allow. ``changes`` is the unified
    diff of a tool's definition since it was allowed, where that is why it is asked about again.
    """

    action: Action
    parts: tuple[PartDecision, ...]
    offers: tuple[Offer, ...] = ()
    reason: str | None = None
    scope: Scope | Literal["rule"] = "rule"
    changes: str | None = None


@record
class SamplingRequest:
    """What a server wants the session's model to answer: a conversation, and at most how many tokens."""

    messages: tuple[UserMessage | AssistantMessage, ...]
    max_tokens: int
    system: str = ""
    temperature: float | None = None


@record
class QuestionRequest:
    """A request to a person that a tool or server makes: questions, a form by schema, or a page.

    ``sampling`` is one to the model, which a person has to allow; the reply's content is ``text``, ``model`` and
    ``stop``, the last ``length`` for an answer that was cut.
    """

    kind: Literal["question", "form", "sampling", "auth"]
    source: str
    title: str
    questions: tuple[Question, ...] | None = None
    schema: dict[str, Any] | None = None
    url: str | None = None
    sampling: SamplingRequest | None = None


@record
class QuestionReply:
    """How a request to a person ended. ``nobody``: there was no person who could have answered."""

    action: Literal["accept", "decline", "cancel"]
    content: dict[str, Any] = field(default_factory=dict[str, Any])
    nobody: bool = False


DONE: Literal["done"] = "done"
"""With this word a question is cancelled whose answer came by another way: from the page that was opened."""

AskPerson: TypeAlias = Callable[[QuestionRequest], Awaitable[QuestionReply]]


@record
class EditHooks:
    """What ran after an edit: ``ran`` are names of programs, ``blocked`` is why one of them refuses the change."""

    ran: tuple[str, ...] = ()
    blocked: str | None = None


AfterEdit: TypeAlias = Callable[[Path], Awaitable[EditHooks]]


@record
class TextChange:
    """``text`` in the place of the characters from ``start`` up to ``end`` of a file's text.

    They are counted in code points of the text without its byte order mark, each line end as one; so are the line ends
    of ``text``, which gets those of the file.
    """

    start: int
    end: int
    text: str


@record
class FileChange:
    """What is to become of one file. ``path`` is absolute.

    ``before`` is the SHA-256 of the bytes in which the places of ``changes`` were counted, ``None`` for a file that is
    to be created. ``moved_to`` is the absolute path that it gets.
    """

    path: Path
    before: str | None
    changes: tuple[TextChange, ...] = ()
    moved_to: Path | None = None


@record
class ToolContext:
    """What a call may use.

    ``root`` is the project root, ``cwd`` the start folder (relative paths and ``bash`` start there). ``session_dir``
    is created by whoever writes into it first. ``ask`` is ``None`` where nobody can be asked. ``after_edit`` is awaited
    after a file was written and before anybody looks at it: what it runs may change the file again. ``recorded``: the
    session leaves a record, so that what is done in it can be undone.
    """

    session: str
    run: str | None
    call: str
    agent: str
    root: Path
    cwd: Path
    session_dir: Path
    origin: Origin
    emit: Callable[[Event], None]
    ask: AskPerson | None = None
    after_edit: AfterEdit | None = None
    recorded: bool = True


@record
class ProposedFile:
    """A text file as it is (``None`` for a new one) and as a call would leave it; line ends are ``\\n``."""

    path: str
    before: str | None
    after: str


class Proposal(Protocol):
    """What a call would write, for a person who may alter it before they allow it."""

    def files(self) -> Sequence[ProposedFile]:
        """Return every file that would be written. Blocks. Raises ``ToolError`` for what is no plain text."""
        ...

    def amended(self, edits: Mapping[str, str | None]) -> Amended:
        """Return the call with ``edits`` (path to its whole text, ``None``: leave the file alone) in it.

        It has the same checks, and is made from the same bytes. Blocks. Raises ``ToolError`` for an unknown path, for
        text that the file cannot hold, and where nothing is left of the change.
        """
        ...


@record
class PreparedCall:
    """A call whose arguments fit, ready for the gate.

    ``title`` is one line for a person (verb and target), ``checks`` empty when nothing needs a decision. ``state``
    carries what :meth:`Tool.run` needs (parsed arguments, the hash that the preview was made from). ``polls``: it asks
    how something stands that goes on by itself, so that asking again and again is no loop. ``proposal`` is there where
    a person may alter what would be written.
    """

    title: str
    checks: tuple[Check, ...]
    preview: Preview
    state: Any = None
    polls: bool = False
    proposal: Proposal | None = None


@record
class Amended:
    """A call as a person altered it; ``told`` is what the model is told of that, empty where nothing differs."""

    prepared: PreparedCall
    told: str


@record
class ToolResult:
    """What a call gives: ``output`` for the model (limits already applied), ``metadata`` for people.

    ``full_output`` is where the whole is when ``output`` was cut, ``full_bytes`` its size. ``grants`` are allow rules
    for the rest of the run that a trusted file brings along (``allowed-tools`` of a skill).
    """

    output: str
    is_error: bool = False
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])
    attachments: tuple[Attachment, ...] = ()
    full_output: str | None = None
    full_bytes: int = 0
    grants: tuple[Rule, ...] = ()


class CallCancelled(asyncio.CancelledError):
    """Raised by a tool that was cancelled while it ran and can say what came of it until then: ``result``."""

    def __init__(self, result: ToolResult) -> None:
        super().__init__()
        self.result = result


@record
class PromptArgument:
    """One argument of a prompt."""

    name: str
    description: str = ""
    required: bool = False


@record
class PromptSpec:
    """A prompt of a server, usable as a command."""

    server: str
    name: str
    description: str = ""
    arguments: tuple[PromptArgument, ...] = ()


@record
class PromptMessage:
    """One message of a rendered prompt, verbatim."""

    role: Literal["user", "assistant"]
    text: str
    attachments: tuple[Attachment, ...] = ()
