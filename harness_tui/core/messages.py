"""The replay log's messages: what a model is sent, in our own form.

Providers' own shapes are made from these in ``models`` and never stored, except for the opaque
parts that a provider wants back verbatim (signatures, encrypted reasoning).
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, Literal, TypeAlias

from harness_tui.core.codec import private
from harness_tui.core.record import record


@record
class Attachment:
    """Something that goes to the model beside a message's text.

    ``path`` (relative to the project root, else absolute) or ``uri`` names it, ``bytes`` is the whole size.
    ``content`` is text as it is, an image or a PDF (a ``resource``) in base 64; front ends are not sent it.
    """

    kind: Literal["text", "image", "directory", "resource"]
    mime: str
    bytes: int
    path: str | None = None
    uri: str | None = None
    truncated: bool | None = None
    content: str | None = field(default=None, metadata=private())


@record
class ToolCall:
    """A call that a model asks for. ``arguments`` is an object; ``raw`` is the text that was none."""

    call: str
    tool: str
    arguments: dict[str, Any]
    raw: str | None = None


@record
class UserMessage:
    """What a person, a command or the shell says to the model."""

    text: str
    attachments: tuple[Attachment, ...] = ()
    role: Literal["user"] = "user"


@record
class AssistantMessage:
    """What the model said. ``opaque`` holds a provider's parts verbatim, with the provider's name.

    ``cut`` tells that the stream broke, or was cancelled, before the answer was whole.
    """

    text: str = ""
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()
    cut: bool | None = None
    opaque: dict[str, Any] | None = field(default=None, metadata=private())
    role: Literal["assistant"] = "assistant"


@record
class ToolMessage:
    """The one result of a call."""

    call: str
    tool: str
    text: str
    is_error: bool = False
    attachments: tuple[Attachment, ...] = ()
    role: Literal["tool"] = "tool"


Message: TypeAlias = UserMessage | AssistantMessage | ToolMessage
