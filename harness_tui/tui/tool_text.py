"""Calls in the transcript: from the events of a call to one block with its state, time, output and diff."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, Final

from harness_tui.core import events as ev
from harness_tui.core.text import clean_for_display, cut_end
from harness_tui.tui.transcript.blocks import ToolBlock
from harness_tui.tui.transcript.model import TranscriptModel

ARGUMENT_CHARS: Final = 2_000
LIVE_OUTPUT_CHARS: Final = 20_000
"""Of output that still arrives only the end is kept; the result brings the whole."""

_SCOPES: Final = {
    "once": "you allowed it",
    "session": "allowed for this session",
    "project": "allowed for this project",
    "user": "allowed for all projects",
}


def seconds_between(start: str, end: str) -> float | None:
    """Return the seconds between two RFC 3339 moments, ``None`` where one cannot be read."""
    try:
        return max(0.0, (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds())
    except ValueError:
        return None


class ToolLog:
    """The calls of a session by id. ``calls`` counts those of the present run."""

    def __init__(self, transcript: TranscriptModel) -> None:
        self.calls = 0
        self._transcript = transcript
        self._open: dict[str, ToolBlock] = {}
        self._children: dict[str, str] = {}
        self._last: ToolBlock | None = None

    def start(self, event: ev.ToolStarted, moment: str) -> None:
        """A call enters the gate."""
        title = clean_for_display(event.title, one_line=True)
        tool = clean_for_display(event.tool, one_line=True)
        arguments = cut_end(json.dumps(event.arguments, ensure_ascii=False, default=str), ARGUMENT_CHARS)
        source = event.source.kind if event.source.server is None else f"{event.source.kind}:{event.source.server}"
        block = ToolBlock(
            event.call,
            tool,
            title or tool,
            clean_for_display(arguments, one_line=True),
            "" if source == "builtin" else clean_for_display(source, one_line=True),
            started=moment,
        )
        self._open[event.call] = self._last = block
        self.calls += 1
        self._transcript.add(block)

    def progress(self, event: ev.ToolProgress) -> None:
        """A running call reports."""
        if (block := self._open.get(event.call)) is None:
            return
        if event.output_delta:
            block.output = (block.output + clean_for_display(event.output_delta))[-LIVE_OUTPUT_CHARS:]
        if event.message:
            block.note = clean_for_display(event.message, one_line=True)
        if event.progress is not None:
            share = f"{event.progress:g}/{event.total:g}" if event.total else f"{event.progress:g}"
            block.note = f"{share} {clean_for_display(event.message or '', one_line=True)}".strip()
        self._transcript.touch(block)

    def wait(self, event: ev.PermissionRequested) -> None:
        """A call waits for the person."""
        if (block := self._open.get(event.call)) is None:
            return
        block.state, block.note = "waiting", "waiting for you"
        if isinstance(event.preview, ev.DiffPreview):
            block.diff = clean_for_display(event.preview.text)
        self._transcript.touch(block)

    def resolve(self, event: ev.PermissionResolved, moment: str) -> None:
        """A call is allowed or denied; its time begins with that, not with the wait for the person."""
        if (block := self._open.get(event.call)) is None:
            return
        if event.decision == "allow":
            block.started = moment
            block.state, block.note = "running", _SCOPES.get(event.scope, "")
        else:
            reason = {"rule": event.rule or "by a rule", "policy": "nobody can be asked"}.get(event.scope, "by you")
            note = f"denied ({reason})" if not event.note else f"denied: {event.note}"
            block.state, block.note = "denied", clean_for_display(note, one_line=True)
        self._transcript.touch(block)

    def finish(self, event: ev.ToolFinished, moment: str) -> None:
        """A call has its result."""
        block = self._open.pop(event.call, None)
        if block is None:
            return
        if block.state != "denied":
            block.state = "failed" if event.is_error else "done"
            block.note = _result_note(event.metadata)
        block.output = clean_for_display(event.output).rstrip("\n")
        block.diff = clean_for_display(str(event.metadata.get("diff") or block.diff))
        block.seconds = seconds_between(block.started, moment)
        if event.truncated is not None:
            path = clean_for_display(event.truncated.path, one_line=True)
            block.cut = f"cut; all {event.truncated.bytes:,} bytes are in {path}"
        self._transcript.touch(block)

    def file_changed(self, event: ev.FileChanged) -> None:
        """The last call changed a file."""
        block = self._last
        if block is None:
            return
        block.note = f"+{event.added} -{event.removed}"
        self._transcript.touch(block)

    def end_all(self, word: str) -> None:
        """The run is over: nothing runs any more."""
        for block in self._open.values():
            block.state, block.note = "failed", word
            self._transcript.touch(block)
        self._open.clear()
        self._children.clear()

    # --- subagents -----------------------------------------------------------------------------------

    def adopt(self, session: str, call: str) -> None:
        """A session works for ``call``."""
        self._children[session] = call

    def child_step(self, session: str, title: str) -> None:
        """A subagent does something: shown as the note of the call that it works for."""
        block = self._open.get(self._children.get(session, ""))
        if block is not None:
            block.note = title
            self._transcript.touch(block)


def _result_note(metadata: dict[str, Any]) -> str:
    """Return one line on a result from what the tools put into ``metadata``."""
    notes: list[str] = []
    if isinstance(code := metadata.get("exit_code"), int) and code != 0:
        notes.append(f"exit code {code}")
    added, removed = metadata.get("added"), metadata.get("removed")
    if isinstance(added, int) and isinstance(removed, int):
        notes.append(f"+{added} -{removed}")
    diagnostics = metadata.get("diagnostics")
    items = diagnostics.get("items", ()) if isinstance(diagnostics, dict) else diagnostics
    if isinstance(items, list | tuple):
        errors = sum(_severity(item) == "error" for item in items)
        if errors:
            notes.append(f"{errors} error{'s' if errors != 1 else ''}")
    return clean_for_display(", ".join(notes), one_line=True)


def _severity(item: Any) -> str:
    value = item.get("severity") if isinstance(item, dict) else getattr(item, "severity", "")
    return str(value)
