"""``replay:FILE``: a model that plays a script, so that the whole product is driven and tested offline.

One instance per script and process, shared with subagents. Each request takes the next turn of its list; afterwards
every answer is ``(end of script)``. Requests for compaction and titles have their own list and never take a turn.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import AsyncGenerator, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, cast

from harness_tui.core.codec import encode
from harness_tui.core.messages import AssistantMessage, Message, ToolCall
from harness_tui.core.patterns import matches
from harness_tui.core.redaction import redact_data
from harness_tui.core.seams import (
    CallChunk,
    Finished,
    ModelError,
    ModelEvent,
    ModelSettings,
    ReasoningChunk,
    ScriptedAnswer,
    TextChunk,
)
from harness_tui.core.values import ToolSpec
from harness_tui.models.script import Script, Turn, load_script

END: Final = "(end of script)"
SUMMARY: Final = "(summary)"

_WAIT_POLL_S: Final = 0.02
_WORD: Final = re.compile(r"\s*\S+\s*|\s+")
_COUNTED: Final = re.compile(r"c(\d{1,9})")


class ReplayModel:
    """Plays ``script``; satisfies ``Model`` and ``AnswerScript``. ``name`` is ``replay:FILE`` as it was asked for."""

    def __init__(self, name: str, script: Script) -> None:
        self._name = name
        self._script = script
        self._requests = 0
        self._played: dict[str | None, int] = {}
        self._internal = 0
        self._numbers: dict[str, int] = {}
        self._answers = list(script.answers)

    @classmethod
    def load(cls, name: str, path: Path) -> ReplayModel:
        """Read the script at ``path``; call it in a thread. Raises ``UsageError`` with file and line."""
        return cls(name, load_script(path))

    @property
    def name(self) -> str:
        """``replay:FILE``."""
        return self._name

    @property
    def context_limit(self) -> int | None:
        """``context`` of the script."""
        return self._script.context

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], settings: ModelSettings
    ) -> AsyncGenerator[ModelEvent, None]:
        """Play one turn. Raises ``ModelError`` where the script says so, and when the log cannot be written."""
        self._requests += 1
        number, turn = self._requests, self._next_turn(settings)
        calls = self._calls(turn, messages, settings)
        if self._script.log is not None:
            line = self._log_line(number, messages, tools, settings)
            try:
                await asyncio.to_thread(_append, self._script.log, line)
            except OSError as error:
                raise ModelError(
                    "request", f"the log {self._script.log} cannot be written: {error.strerror}"
                ) from error
        if turn.wait is not None:
            while not turn.wait.exists():  # noqa: ASYNC110 - another process makes the file
                await asyncio.sleep(_WAIT_POLL_S)
        first = True
        for chunk in _chunks(turn):
            if not first:
                await asyncio.sleep(self._script.delay)
            first = False
            yield chunk
        if turn.error is not None:
            error = turn.error
            raise ModelError(error.kind, error.message, retry_after=error.retry_after, hint=error.hint)
        if turn.cut:
            raise ModelError("cut", "the stream broke before the answer was whole")
        for call in calls:
            if not first:
                await asyncio.sleep(self._script.delay)
            first = False
            yield CallChunk(call)
        yield Finished(turn.usage, reason="calls" if calls else "stop")

    def _next_turn(self, settings: ModelSettings) -> Turn:
        if settings.purpose == "internal":
            self._internal += 1
            return _at(self._script.internal, self._internal - 1) or Turn(text=SUMMARY)
        agent = settings.agent if settings.subagent else None
        turns = self._script.turns if agent is None else self._script.agents.get(agent, ())
        index = self._played.get(agent, 0)
        self._played[agent] = index + 1
        return _at(turns, index) or Turn(text=END)

    def _calls(self, turn: Turn, messages: Sequence[Message], settings: ModelSettings) -> list[ToolCall]:
        """Give ids to the turn's calls: ``c{n}``, n counted through the session, also after a resume.

        What was counted is remembered where the session is named: a compaction takes calls away.
        """
        counted = self._numbers.get(settings.session, 0) if settings.session is not None else 0
        number = max(counted, settings.calls, highest_call(messages))
        given = {call.call for call in turn.calls if call.call is not None}
        calls: list[ToolCall] = []
        for call in turn.calls:
            name = call.call
            while name is None:
                number += 1
                name = f"c{number}" if f"c{number}" not in given else None
            calls.append(ToolCall(name, call.tool, call.arguments, call.raw))
        if settings.session is not None:
            self._numbers[settings.session] = number
        return calls

    def _log_line(
        self, number: int, messages: Sequence[Message], tools: Sequence[ToolSpec], settings: ModelSettings
    ) -> bytes:
        given: dict[str, Any] = {
            "temperature": settings.temperature,
            "reasoning_effort": settings.reasoning_effort,
            "max_output_tokens": settings.max_output_tokens,
        }
        data = {
            "n": number,
            "agent": settings.agent,
            "model": self._name,
            "system": settings.system,
            "messages": [_logged(message) for message in messages],
            "tools": [
                {"name": tool.name, "description": tool.description, "parameters": tool.parameters} for tool in tools
            ],
            "settings": {name: value for name, value in given.items() if value is not None},
        }
        if settings.purpose == "internal":
            data["purpose"] = "internal"
        text = json.dumps(redact_data(data), ensure_ascii=False, default=str)
        return text.encode("utf-8", "backslashreplace") + b"\n"

    # --- answers in place of a person --------------------------------------------------------------

    def take_answer(self, kind: str, value: str) -> ScriptedAnswer | None:
        """Return the first unused answer of ``kind`` whose ``match`` fits ``value``, and use it up."""
        for answer in self._answers:
            if answer.kind == kind and matches(answer.match, value):
                self._answers.remove(answer)
                return answer
        return None

    def unused_answers(self) -> Sequence[ScriptedAnswer]:
        """Return what nobody asked for."""
        return tuple(self._answers)


def highest_call(messages: Sequence[Message]) -> int:
    """Return the highest n of the ids ``c{n}`` in ``messages``, 0 when there is none."""
    calls = (call.call for message in messages if isinstance(message, AssistantMessage) for call in message.calls)
    return max((int(found[1]) for call in calls if (found := _COUNTED.fullmatch(call))), default=0)


def words(text: str) -> list[str]:
    """Split ``text`` into words, each with the blanks after it; joined they are the text again."""
    return _WORD.findall(text)


def _chunks(turn: Turn) -> Iterator[ModelEvent]:
    yield from map(ReasoningChunk, words(turn.reasoning))
    yield from map(TextChunk, words(turn.text))


def _at(turns: Sequence[Turn], index: int) -> Turn | None:
    return turns[index] if index < len(turns) else None


def _logged(message: Message) -> dict[str, Any]:
    """Return the message as it is logged: as front ends see it, with the text of what is attached, never an image."""
    data = cast(dict[str, Any], encode(message))
    for shown, attachment in zip(data.get("attachments", ()), getattr(message, "attachments", ()), strict=True):
        if attachment.kind != "image" and attachment.content is not None:
            shown["content"] = attachment.content
    return data


def _append(path: Path, line: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.write(descriptor, line)
    finally:
        os.close(descriptor)


__all__ = ["END", "SUMMARY", "ReplayModel", "highest_call", "words"]
