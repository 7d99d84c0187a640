"""What servers ask a person while they serve a call: forms, pages to open, answers of the model.

A request belongs to the call that it was made for. Servers of the present revision put it into the answer of the call,
so it comes up in the call's own task; older ones send a request of their own, which is put to whoever called last. One
person is asked one thing at a time, and the time that they take is not counted against the call.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, cast
from urllib.parse import urlsplit

from harness_tui.core.calls import AskPerson, QuestionReply, QuestionRequest, SamplingRequest
from harness_tui.core.seams import AuditSink
from harness_tui.core.text import clean_for_display, cut_end
from harness_tui.core.tracing import current_trace, traced

PERSON_S: Final = 600.0
"""How long one answer is waited for."""
ROUNDS: Final = 3
"""How often a form is put again whose answer does not fit it."""
ASKED: Final = 30
"""How often one call may ask."""
AWAY_S: Final = 1_800.0
"""How long a person may be waited for in one call, all in all."""

_TITLE_CHARS: Final = 500
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


class _Asker:
    """Who is asked in one call, how often that was, how long it took, and the trace of the call."""

    def __init__(self, ask: AskPerson) -> None:
        self.ask = ask
        self.trace: str | None = None
        self.asked = 0
        self.waited = 0.0


_ASKER: ContextVar[_Asker | None] = ContextVar("asker", default=None)


@contextmanager
def asked_by(ask: AskPerson | None) -> Generator[None, None, None]:
    """Let servers that are called here ask through ``ask``; ``None`` where nobody can be asked."""
    token = _ASKER.set(_Asker(ask) if ask is not None else None)
    try:
        yield
    finally:
        _ASKER.reset(token)


class People:
    """Puts the requests of servers to the person. Without ``present`` servers are told at the start that there is none.

    ``monotonic`` is the clock of :meth:`away`. ``audit`` is told of each request, and not what was answered.
    """

    def __init__(
        self, *, present: bool, monotonic: Callable[[], float] = time.monotonic, audit: AuditSink | None = None
    ) -> None:
        self.present = present
        self._audit = audit
        self._monotonic = monotonic
        self._turn = asyncio.Lock()
        self._callers: dict[str, list[_Asker | None]] = {}
        self._asking: dict[str, int] = {}
        self._since: dict[str, float] = {}
        self._spent: dict[str, float] = {}

    @contextmanager
    def calling(self, server: str) -> Generator[None, None, None]:
        """Note that a call to ``server`` is under way: who asks for it is asked what the server wants meanwhile."""
        asker, callers = _ASKER.get(), self._callers.setdefault(server, [])
        if asker is not None:
            asker.trace = asker.trace or current_trace()
        callers.append(asker)
        try:
            yield
        finally:
            callers.remove(asker)

    def away(self, server: str) -> float:
        """Return the seconds, all in all, in which ``server`` waited for a person."""
        since = self._since.get(server)
        ongoing = 0.0 if since is None else self._monotonic() - since
        return self._spent.get(server, 0.0) + ongoing

    def reachable(self, server: str) -> bool:
        """Whether somebody stands behind what is done now, or behind a call to ``server`` that is under way."""
        return (_ASKER.get() or (self._callers.get(server) or [None])[-1]) is not None

    async def form(self, server: str, message: str, schema: Mapping[str, Any]) -> QuestionReply:
        """Put a form and return an answer that fits it, defaults filled in."""
        title, asked = _line(message), dict(schema)
        fault = ""
        for _ in range(ROUNDS):
            shown = f"{title} ({fault})" if fault else title
            reply = await self._ask(server, QuestionRequest("form", server, shown, schema=asked))
            if reply.action != "accept":
                return reply
            content = _with_defaults(asked, reply.content)
            fault = await asyncio.to_thread(fault_of, asked, content)
            if not fault:
                return QuestionReply("accept", content)
        return QuestionReply("cancel")

    async def page(self, server: str, message: str, url: str) -> QuestionReply:
        """Ask the person to open ``url``; a kind of address that a browser should not be sent to is declined."""
        host = page_host(url)
        if host is None:
            return QuestionReply("decline")
        title = f"{_line(message)} (opens {_line(host)})"
        return await self._ask(server, QuestionRequest("auth", server, title, url=url))

    async def sample(self, server: str, request: SamplingRequest) -> QuestionReply:
        """Let the session's model answer, if that is allowed."""
        return await self._ask(server, QuestionRequest("sampling", server, "wants an answer", sampling=request))

    async def _ask(self, server: str, request: QuestionRequest) -> QuestionReply:
        callers = self._callers.get(server) or [None]
        asker = _ASKER.get() or callers[-1]
        if asker is None:
            return self._answered(request, QuestionReply("cancel", nobody=True), "nobody")
        with traced(asker.trace):  # a request that comes by itself does not come in the call's own context
            return await self._put(asker, server, request)

    async def _put(self, asker: _Asker, server: str, request: QuestionRequest) -> QuestionReply:
        if asker.asked >= ASKED or asker.waited >= AWAY_S:
            return self._answered(request, QuestionReply("cancel"), "too often")
        asker.asked += 1
        began = self._monotonic()
        self._begin(server)
        try:
            async with self._turn, asyncio.timeout(PERSON_S):
                return self._answered(request, await asker.ask(request))
        except TimeoutError:
            return self._answered(request, QuestionReply("cancel"), "too late")
        finally:
            asker.waited += self._monotonic() - began
            self._end(server)

    def _answered(self, request: QuestionRequest, reply: QuestionReply, why: str | None = None) -> QuestionReply:
        if self._audit is not None:
            fields = sorted(reply.content) if request.kind == "form" else None
            self._audit.record(
                "mcp_asked",
                server=request.source,
                what=request.kind,
                title=request.title,
                action=why or reply.action,
                fields=fields,
                trace=current_trace(),
            )
        return reply

    def _begin(self, server: str) -> None:
        self._asking[server] = self._asking.get(server, 0) + 1
        self._since.setdefault(server, self._monotonic())

    def _end(self, server: str) -> None:
        self._asking[server] -= 1
        if not self._asking[server]:
            self._spent[server] = self.away(server)
            del self._since[server]


def page_host(url: str) -> str | None:
    """Return the host of a page that may be opened: ``https`` anywhere, ``http`` on this machine; else ``None``."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return None
    if not host or parts.username is not None or clean_for_display(url, one_line=True) != url:
        return None
    return host if parts.scheme == "https" or (parts.scheme == "http" and host in _LOOPBACK) else None


def fault_of(schema: Mapping[str, Any], content: Mapping[str, Any]) -> str:
    """Say what of ``content`` does not fit the form ``schema``, empty when all does. Slow: call it in a thread."""
    import jsonschema
    from jsonschema.exceptions import UnknownType

    # A pattern that tries too many ways would hold up everything; forms have none by their specification.
    flat = {
        "type": "object",
        "required": list(schema.get("required") or ()),
        "properties": {name: _without_pattern(field) for name, field in _properties(schema).items()},
        "additionalProperties": False,
    }
    try:
        validator = jsonschema.Draft202012Validator(flat, format_checker=jsonschema.FormatChecker())
        faults = sorted(validator.iter_errors(dict(content)), key=lambda fault: list(map(str, fault.absolute_path)))
    except (jsonschema.SchemaError, UnknownType, TypeError, ValueError) as error:
        return _line(f"the form itself is not valid: {error}")
    return "; ".join(
        _line(f"{'.'.join(map(str, fault.absolute_path))}: {fault.message}".strip(": ")) for fault in faults[:3]
    )


def _with_defaults(schema: Mapping[str, Any], content: Mapping[str, Any]) -> dict[str, Any]:
    given = {name: field["default"] for name, field in _properties(schema).items() if "default" in field}
    return {**given, **content}


def _properties(schema: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    found = schema.get("properties")
    fields = cast(Mapping[str, Any], found) if isinstance(found, Mapping) else {}
    return {name: cast(Mapping[str, Any], field) for name, field in fields.items() if isinstance(field, Mapping)}


def _without_pattern(field: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in field.items() if key not in ("pattern", "$ref")}


def _line(text: str) -> str:
    return cut_end(clean_for_display(text, one_line=True), _TITLE_CHARS)
