"""What a replay script says: its turns, the answers in place of a person, and where requests are logged."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path
from typing import Any, Final, cast, get_args

from harness_tui.core.paths import expand
from harness_tui.core.record import record
from harness_tui.core.seams import ModelErrorKind, ScriptedAnswer, Usage
from harness_tui.models.script_source import Node, Scalar, Source

_ERROR_KINDS: Final = tuple(kind for kind in get_args(ModelErrorKind) if kind != "cut")
_ANSWER_KINDS: Final = ("permission", "question", "form", "sampling", "auth")
_ANSWER_ACTIONS: Final = ("allow", "deny", "accept", "decline", "cancel")
_SCOPES: Final = ("once", "session", "project", "user")


@record
class ScriptedCall:
    """A call of a turn; ``call`` is its id where the script gives one, ``raw`` malformed arguments."""

    tool: str
    arguments: dict[str, Any]
    call: str | None = None
    raw: str | None = None


@record
class ScriptedError:
    """An error that a turn ends with; ``retry_after`` in seconds."""

    kind: ModelErrorKind
    message: str
    retry_after: float | None = None
    hint: str | None = None


@record
class Turn:
    """One answer. ``wait`` is a file whose appearance it waits for; ``cut`` breaks the stream after the text."""

    text: str = ""
    reasoning: str = ""
    calls: tuple[ScriptedCall, ...] = ()
    usage: Usage = field(default_factory=Usage)
    error: ScriptedError | None = None
    cut: bool = False
    wait: Path | None = None


@record
class Script:
    """A whole script. ``delay`` in seconds between chunks, ``context`` in tokens."""

    path: Path
    turns: tuple[Turn, ...]
    agents: dict[str, tuple[Turn, ...]]
    internal: tuple[Turn, ...]
    answers: tuple[ScriptedAnswer, ...]
    log: Path | None = None
    delay: float = 0.0
    context: int | None = None


def load_script(path: Path) -> Script:
    """Read and check a script; its paths are relative to it. Raises ``UsageError`` with file and line."""
    return _Reader(Source(path)).script()


class _Reader:
    def __init__(self, source: Source) -> None:
        self._source = source

    def script(self) -> Script:
        source = self._source
        entries = source.mapping(
            source.read(), "the script", ("log", "delay", "context", "turns", "agents", "internal", "answers")
        )
        agents: dict[str, tuple[Turn, ...]] = {}
        if "agents" in entries:
            node = entries["agents"]
            names = tuple(getattr(node, "entries", ()))
            agents = {
                name: self._turns(turns, f"agents.{name}")
                for name, turns in source.mapping(node, "agents", names).items()
            }
        return Script(
            path=source.path,
            turns=self._turns(entries["turns"], "turns") if "turns" in entries else (),
            agents=agents,
            internal=self._internal(entries["internal"]) if "internal" in entries else (),
            answers=self._answers(entries["answers"]) if "answers" in entries else (),
            log=self._path(entries["log"], "log") if "log" in entries else None,
            delay=source.number(entries["delay"], "delay") if "delay" in entries else 0.0,
            context=source.count(entries["context"], "context") or None if "context" in entries else None,
        )

    def _path(self, node: Node, what: str) -> Path:
        text = self._source.text(node, what)
        if not text or "\x00" in text:
            self._source.fail(node.line, f"{what} must name a file")
        return expand(text, self._source.path.parent)

    def _turns(self, node: Node, what: str) -> tuple[Turn, ...]:
        return tuple(self._turn(item) for item in self._source.items(node, what))

    def _internal(self, node: Node) -> tuple[Turn, ...]:
        items = self._source.items(node, "internal")
        return tuple(Turn(text=item.text) if isinstance(item, Scalar) else self._turn(item) for item in items)

    def _turn(self, node: Node) -> Turn:
        source = self._source
        entries = source.mapping(node, "a turn", ("text", "reasoning", "tools", "usage", "error", "cut", "wait"))
        return Turn(
            text=source.text(entries["text"], "text") if "text" in entries else "",
            reasoning=source.text(entries["reasoning"], "reasoning") if "reasoning" in entries else "",
            calls=tuple(map(self._call, source.items(entries["tools"], "tools"))) if "tools" in entries else (),
            usage=self._usage(entries["usage"]) if "usage" in entries else Usage(),
            error=self._error(entries["error"]) if "error" in entries else None,
            cut=source.flag(entries["cut"], "cut") if "cut" in entries else False,
            wait=self._path(entries["wait"], "wait") if "wait" in entries else None,
        )

    def _call(self, node: Node) -> ScriptedCall:
        source = self._source
        entries = source.mapping(node, "a call", ("name", "arguments", "id", "raw"))
        if "name" not in entries:
            source.fail(node.line, "a call needs 'name'")
        if "raw" in entries and "arguments" in entries:
            source.fail(entries["raw"].line, "a call has 'arguments' or 'raw', not both")
        return ScriptedCall(
            tool=source.text(entries["name"], "name"),
            arguments=source.json_object(entries["arguments"], "arguments") if "arguments" in entries else {},
            call=source.text(entries["id"], "id") if "id" in entries else None,
            raw=source.text(entries["raw"], "raw") if "raw" in entries else None,
        )

    def _usage(self, node: Node) -> Usage:
        source = self._source
        counts = ("input", "output", "reasoning", "cache_read", "cache_write")
        entries = source.mapping(node, "usage", (*counts, "cost"))
        cost = source.number(entries.pop("cost"), "cost") if "cost" in entries else None
        return Usage(**{name: source.count(value, name) for name, value in entries.items()}, cost=cost)

    def _error(self, node: Node) -> ScriptedError:
        source = self._source
        entries = source.mapping(node, "error", ("kind", "message", "retry_after", "hint"))
        if "kind" not in entries:
            source.fail(node.line, "an error needs 'kind'", f"one of {', '.join(_ERROR_KINDS)}")
        kind = source.word(entries["kind"], "kind", _ERROR_KINDS)
        return ScriptedError(
            kind=cast(ModelErrorKind, kind),
            message=source.text(entries["message"], "message") if "message" in entries else f"scripted {kind}",
            retry_after=source.number(entries["retry_after"], "retry_after") if "retry_after" in entries else None,
            hint=source.text(entries["hint"], "hint") if "hint" in entries else None,
        )

    def _answers(self, node: Node) -> tuple[ScriptedAnswer, ...]:
        return tuple(map(self._answer, self._source.items(node, "answers")))

    def _answer(self, node: Node) -> ScriptedAnswer:
        source = self._source
        entries = source.mapping(node, "an answer", ("kind", "match", "action", "scope", "content", "note"))
        for name in ("kind", "action"):
            if name not in entries:
                source.fail(node.line, f"an answer needs {name!r}")
        return ScriptedAnswer(
            kind=cast(Any, source.word(entries["kind"], "kind", _ANSWER_KINDS)),
            match=source.text(entries["match"], "match") if "match" in entries else "*",
            action=source.word(entries["action"], "action", _ANSWER_ACTIONS),
            scope=source.word(entries["scope"], "scope", _SCOPES) if "scope" in entries else None,
            content=source.json_object(entries["content"], "content") if "content" in entries else None,
            note=source.text(entries["note"], "note") if "note" in entries else None,
        )
