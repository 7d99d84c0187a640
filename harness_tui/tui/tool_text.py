"""Calls in the transcript: from the events of a call to one block with its state, time, output and diff."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

from harness_tui.core import events as ev
from harness_tui.core.event_parts import DiffPreview
from harness_tui.core.text import clean_for_display, cut_end
from harness_tui.tui.transcript.blocks import ToolBlock
from harness_tui.tui.transcript.model import TranscriptModel

ARGUMENT_CHARS: Final = 2_000
LIVE_OUTPUT_CHARS: Final = 20_000
"""Of output that still arrives only the end is kept; the result brings the whole."""

_ERRORS: Final = re.compile(r"(?:, )?\d[\d,]* errors?$")

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
        self._steps: dict[str, dict[str, str]] = {}
        self._last: ToolBlock | None = None
        self._edits: dict[str, ToolBlock] = {}

    def start(self, event: ev.ToolStarted, moment: str, *, by_hand: bool = False) -> None:
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
            command=_text_of(event.arguments.get("command")) if event.tool == "bash" else "",
            path=_text_of(event.arguments.get("path")),
            by_hand=by_hand,
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
        if isinstance(event.preview, DiffPreview):
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
            block.note = _result_note(event.tool, event.metadata)
            self._take_problems(block, event.metadata)
        block.output = clean_for_display(event.output).rstrip("\n")
        if event.tool == "task":
            block.output = self._nested(event.call, _answer_of_task(block.output))
        block.diff = clean_for_display(str(event.metadata.get("diff") or block.diff))
        block.seconds = seconds_between(block.started, moment)
        if event.truncated is not None:
            path = clean_for_display(event.truncated.path, one_line=True)
            text, _, last = block.output.rpartition("\n")
            if last.startswith("[") and path in last:  # the model is told the same
                block.output = text
            block.cut = f"cut; all {event.truncated.bytes:,} bytes are in {path}"
            block.whole = event.truncated.path
        self._transcript.touch(block)

    def _take_problems(self, block: ToolBlock, metadata: dict[str, Any]) -> None:
        """Show what language servers found wrong in a file under the call that changed it."""
        if "diff" not in metadata:
            return
        paths, reports = metadata.get("files"), metadata.get("diagnostics")
        for path in paths if isinstance(paths, list | tuple) else (metadata.get("path"),):
            if isinstance(path, str):
                self._edits[path] = block
        fresh = [
            report
            for report in (reports if isinstance(reports, list | tuple) else (reports,))
            if isinstance(report, dict) and report.get("verdict") == "fresh"
        ]
        block.problems = tuple(
            problem
            for report in fresh
            for problem in _problems(report.get("items"), f"{report.get('path')}: " if len(fresh) > 1 else "")
        )

    def report(self, event: ev.DiagnosticsReported) -> None:
        """A verdict that came after its call had ended: it belongs to the last edit of that file."""
        block = self._edits.get(event.path)
        if block is None or not event.late or event.verdict != "fresh":
            return
        block.problems = _problems(event.items)
        block.note = _with_errors(block.note, len(block.problems))
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
        self._steps.clear()

    # --- subagents -----------------------------------------------------------------------------------

    def adopt(self, session: str, call: str) -> None:
        """A session works for ``call``."""
        self._children[session] = call

    def child_step(self, session: str, step: str, title: str, sign: str = "…") -> None:
        """A subagent does something: a line under the call that it works for; ``step`` is the same until it is done."""
        call = self._children.get(session, "")
        block = self._open.get(call)
        if block is None:
            return
        steps = self._steps.setdefault(call, {})
        steps[step] = f"{sign} {title}"
        block.note = title if sign == "…" else f"{len(steps)} step{'' if len(steps) == 1 else 's'}"
        block.output = self._nested(call, "")[-LIVE_OUTPUT_CHARS:]
        self._transcript.touch(block)

    def child_step_done(self, session: str, step: str, *, failed: bool) -> None:
        """A step of a subagent has its result."""
        line = self._steps.get(self._children.get(session, ""), {}).get(step)
        if line is not None:
            self.child_step(session, step, line[2:], "✗" if failed else "✓")

    def _nested(self, call: str, answer: str) -> str:
        steps = "\n".join(self._steps.get(call, {}).values())
        return f"{steps}\n\n{answer}" if steps and answer else steps or answer


def _text_of(value: Any) -> str:
    return clean_for_display(value) if isinstance(value, str) else ""


def _answer_of_task(output: str) -> str:
    """Return what a subagent said, without the frame that the model is given it in."""
    lines = output.split("\n")
    framed = lines[0].startswith("<task ") and lines[-1] == "</task>"
    return "\n".join(lines[1:-1]) if framed else output


def _result_note(tool: str, metadata: dict[str, Any]) -> str:
    """Return one line on a result from what the tools put into ``metadata``."""
    notes = [note for note in (_counts(tool, metadata),) if note]
    if isinstance(code := metadata.get("exit_code"), int) and code != 0:
        notes.append(f"exit code {code}")
    added, removed = metadata.get("added"), metadata.get("removed")
    if isinstance(added, int) and isinstance(removed, int):
        notes.append(f"+{added} -{removed}")
    reports = metadata.get("diagnostics")
    errors = sum(
        _value(item, "severity") == "error"
        for report in (reports if isinstance(reports, list | tuple) else [reports])
        for item in _items(report)
    )
    return clean_for_display(_with_errors(", ".join(notes), errors), one_line=True)


def _counts(tool: str, metadata: dict[str, Any]) -> str:
    """Return how much a call that only looks has found, in a word."""
    found = {name: value for name, value in metadata.items() if isinstance(value, int)}
    match tool:
        case "read" if {"first", "last", "lines"} <= found.keys():
            first, last, lines = found["first"], found["last"], found["lines"]
            return _many(lines, "line") if last - first + 1 == lines else f"lines {first}-{last} of {lines}"
        case "list" | "glob" if "count" in found:
            return _many(found["count"], "entry" if tool == "list" else "file")
        case "grep" if "matches" in found:
            files = f" in {_many(found['files'], 'file')}" if found["matches"] and "files" in found else ""
            return f"{_many(found['matches'], 'match')}{files}"
        case _:
            return ""


def _many(number: int, word: str) -> str:
    plural = {"match": "matches", "entry": "entries"}.get(word, f"{word}s")
    return f"{number:,} {word if number == 1 else plural}"


def _with_errors(note: str, errors: int) -> str:
    """Return ``note`` with the number of errors at its end, in the place of an earlier number."""
    rest = _ERRORS.sub("", note)
    return ", ".join(part for part in (rest, _many(errors, "error") if errors else "") if part)


def _items(report: Any) -> Iterable[Any]:
    items = report.get("items") if isinstance(report, dict) else ()
    return items if isinstance(items, list | tuple) else ()


def _problems(items: Any, before: str = "") -> tuple[str, ...]:
    """Return the error items as ``L8: message``, each in one line, with ``before`` before it."""
    if not isinstance(items, list | tuple):
        return ()
    return tuple(
        clean_for_display(f"{before}L{_value(item, 'line')}: {_first_line(_value(item, 'message'))}", one_line=True)
        for item in items
        if _value(item, "severity") == "error"
    )


def _first_line(message: Any) -> str:
    """Return what a server says first; the rest (overloads, notes) stands in the panel."""
    return str(message).strip().split("\n", 1)[0]


def _value(item: Any, name: str) -> Any:
    return item.get(name, "") if isinstance(item, dict) else getattr(item, name, "")
