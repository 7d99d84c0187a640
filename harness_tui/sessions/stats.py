"""What sessions cost and did: tokens, money, runs, tools, files, counted from their events."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from harness_tui.sessions.store import SessionStore

COUNTED: Final = ("sessions", "runs", "messages", "requests")
SUMMED: Final = ("input", "output", "reasoning", "cache_read", "cache_write")


@dataclass(slots=True)
class ToolCount:
    """How often a tool was called, and how often it failed."""

    calls: int = 0
    errors: int = 0


@dataclass(slots=True)
class Stats:
    """Sums over sessions. Tokens are those of every request; ``cost`` is in US dollars.

    ``unpriced`` counts requests whose price is not known: the cost is that of the others.
    """

    sessions: int = 0
    runs: int = 0
    messages: int = 0
    requests: int = 0
    input: int = 0
    output: int = 0
    reasoning: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cost: float = 0.0
    unpriced: int = 0
    bytes: int = 0
    ends: dict[str, int] = field(default_factory=dict[str, int])
    models: dict[str, int] = field(default_factory=dict[str, int])
    tools: dict[str, ToolCount] = field(default_factory=dict[str, ToolCount])
    files: set[str] = field(default_factory=set[str])

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object of ``sessions stats --json``."""
        return {name: getattr(self, name) for name in (*COUNTED, *SUMMED)} | {
            "cost": round(self.cost, 6) if self.requests > self.unpriced else None,
            "unpriced_requests": self.unpriced,
            "bytes": self.bytes,
            "ends": dict(sorted(self.ends.items())),
            "models": dict(sorted(self.models.items())),
            "tools": {
                name: {"calls": count.calls, "errors": count.errors} for name, count in sorted(self.tools.items())
            },
            "files_changed": len(self.files),
        }


_QUERY = (
    "SELECT type, json FROM events WHERE session = ? AND type IN "
    "('usage_updated', 'tool_finished', 'run_started', 'run_finished', 'file_changed')"
)


def stats(store: SessionStore, sessions: Iterable[str]) -> Stats:
    """Count over ``sessions``."""
    made = Stats()
    for session in sessions:
        info = store.info(session)
        made.sessions += 1
        made.messages += info.messages
        made.bytes += info.bytes
        with store.database.read() as connection:
            events = connection.execute(_QUERY, (info.session,)).fetchall()
        for kind, text in events:
            with contextlib.suppress(ValueError, TypeError, AttributeError, KeyError):  # a damaged event counts nothing
                _count(made, str(kind), json.loads(text))
    return made


def _count(made: Stats, kind: str, data: dict[str, Any]) -> None:
    match kind:
        case "usage_updated":
            made.requests += 1
            for name in SUMMED:
                setattr(made, name, getattr(made, name) + int(data.get(name) or 0))
            cost = data.get("cost")
            if isinstance(cost, int | float):
                made.cost += cost
            else:
                made.unpriced += 1
        case "tool_finished":
            count = made.tools.setdefault(str(data["tool"]), ToolCount())
            count.calls += 1
            count.errors += bool(data.get("is_error"))
        case "run_started":
            made.runs += 1
            model = str(data["model"])
            made.models[model] = made.models.get(model, 0) + 1
        case "run_finished":
            reason = str(data["reason"])
            made.ends[reason] = made.ends.get(reason, 0) + 1
        case _:
            made.files.add(str(data["path"]))
