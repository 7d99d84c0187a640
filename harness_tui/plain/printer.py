"""A session's events as lines that are only ever appended; an answer comes line by line, as soon as one is whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from harness_tui.core import events as ev
from harness_tui.core.envelope import Envelope
from harness_tui.core.messages import UserMessage
from harness_tui.core.redaction import redact
from harness_tui.core.text import clean_for_display, cut_end

_SHOWN_LINES: Final = 12
_SHOWN_ITEMS: Final = 5
_TITLE_CHARS: Final = 200
_SHELL: Final = frozenset({"bash", "bash_output"})
_TROUBLE: Final = frozenset({"degraded", "failed", "crashed", "needs_auth", "absent"})
_TODO: Final = {"pending": "[ ]", "active": "[>]", "done": "[x]"}


class EventPrinter:
    """Writes the events of ``session`` with ``write``, and of its subagents what they do."""

    def __init__(self, write: Callable[[str], None], session: str) -> None:
        self._write = write
        self._session = session
        self._text = ""
        self._streamed = False
        self._thinking = False
        self._tools: dict[str, str] = {}
        self._waiting = 0
        self._told = ""
        self.expected = ""

    def print(self, envelope: Envelope) -> None:
        """Write one event."""
        event = envelope.event
        if envelope.session != self._session:
            if isinstance(event, ev.ToolStarted):
                self._line(f"  (subagent) [{event.tool}] {event.title}")
            return
        match event:
            case ev.TextDelta(text=text):
                self._stream(text)
            case ev.TextFinished(text=text):
                self._end_text(text)
            case ev.ReasoningDelta() if not self._thinking:
                self._thinking = True
                self._line("(thinking)")
            case ev.ToolStarted() | ev.ToolFinished() | ev.FileChanged() | ev.DiagnosticsReported():
                self._end_text(None)
                self._tool(event)
            case ev.RunStarted() | ev.RunFinished():
                self._end_text(None)
                self._run(event)
            case ev.Notice() | ev.ModelRetried() | ev.ServerChanged() | ev.SessionChanged():
                self._surroundings(event)
            case _:
                self._rest(event)

    # --- text ----------------------------------------------------------------------------------------

    def _stream(self, text: str) -> None:
        self._streamed, self._thinking = True, False
        whole, end, self._text = (self._text + text).rpartition("\n")
        if end:
            self._write(redact(whole))

    def _end_text(self, text: str | None) -> None:
        """The text is whole; one that did not come in parts is written now."""
        if text is not None and not self._streamed:
            self._text = text
        if self._text.strip():
            self._write(redact(self._text.rstrip("\n")))
        self._text = ""
        self._streamed = False

    def _line(self, text: str) -> None:
        self._write(clean_for_display(redact(text), one_line=True))

    # --- runs and tools ------------------------------------------------------------------------------

    def _run(self, event: ev.RunStarted | ev.RunFinished) -> None:
        match event:
            case ev.RunStarted(message=UserMessage(text=text, attachments=files), command=command):
                self._thinking = False
                if command is not None:
                    self._line(f"(/{command.name} from {command.source})")
                elif text != self.expected:
                    self._line(f"(now: {_first(text)})")
                for item in files:
                    self._line(f"(attached: {item.path or item.uri or item.kind}{', cut' if item.truncated else ''})")
            case ev.RunFinished(reason="completed"):
                self._line("(done)")
            case ev.RunFinished(reason=reason, error=error):
                told = error is None or error.message == self._told  # a notice may have said the same
                self._line(f"({reason.replace('_', ' ')}{'' if error is None or told else f': {error.message}'})")
                if error is not None and error.hint and not told:
                    self._line(f"  {error.hint}")

    def _tool(self, event: ev.ToolStarted | ev.ToolFinished | ev.FileChanged | ev.DiagnosticsReported) -> None:
        match event:
            case ev.ToolStarted(call=call, tool=tool, title=title):
                self._tools[call] = title
                self._line(f"[{tool}] {cut_end(title, _TITLE_CHARS)}")
            case ev.ToolFinished(call=call, tool=tool, output=output, is_error=is_error):
                title = self._tools.pop(call, "")
                which = f" {cut_end(title, 40)}" if self._tools and title else ""  # several go on at once
                lines = output.rstrip("\n").split("\n") if output.strip() else []
                self._line(f"[{tool}]{which} {'failed' if is_error else 'done'}, {_lines(len(lines))}")
                if is_error or tool in _SHELL:
                    self._block(lines, from_end=not is_error)
                if event.truncated is not None:
                    self._line(f"  all of it: {event.truncated.path}, {event.truncated.bytes} bytes")
            case ev.FileChanged(path=path, added=added, removed=removed, before=before, after=after):
                how = "new, " if before is None else "gone, " if after is None else ""
                self._line(f"[file] {path}: {how}+{added} -{removed}")
            case ev.DiagnosticsReported(path=path, items=items):
                wrong = [item for item in items if item.severity in ("error", "warning")]
                for item in wrong[:_SHOWN_ITEMS]:
                    self._line(f"  {path}:{item.line}: {item.severity}: {item.message}")
                if len(wrong) > _SHOWN_ITEMS:
                    self._line(f"  {path}: {len(wrong) - _SHOWN_ITEMS} more")

    def _block(self, lines: list[str], *, from_end: bool) -> None:
        left = len(lines) - _SHOWN_LINES
        shown = lines[-_SHOWN_LINES:] if from_end else lines[:_SHOWN_LINES]
        if left > 0 and from_end:
            self._line(f"  ({_lines(left)} before, not shown)")
        self._write(redact("\n".join(f"  {line}" for line in shown)))
        if left > 0 and not from_end:
            self._line(f"  ({_lines(left)} more, not shown)")

    # --- everything else -----------------------------------------------------------------------------

    def _surroundings(self, event: ev.Notice | ev.ModelRetried | ev.ServerChanged | ev.SessionChanged) -> None:
        match event:
            case ev.Notice(level=level, source=source, text=text, hint=hint):
                self._told = text
                self._line(f"{'note' if level == 'info' else level}: {source}: {text}{f' ({hint})' if hint else ''}")
            case ev.ModelRetried(kind=kind, message=message, wait_s=wait):
                self._line(f"({kind}: {message}; trying again in {wait:.1f} s)")
            case ev.ServerChanged(kind=kind, name=name, state=state, reason=reason) if state in _TROUBLE:
                if not (kind == "lsp" and state == "absent"):
                    self._line(f"[{kind} {name}] {state.replace('_', ' ')}{f': {reason}' if reason else ''}")
            case ev.ServerChanged(kind="mcp", name=name, state="ready", detail=detail):
                self._line(f"[mcp {name}] ready{f', {detail.tools} tools' if detail.tools else ''}")
            case ev.SessionChanged() as changed:
                facts = {"agent": changed.agent, "model": changed.model, "mode": changed.mode}
                told = ", ".join(f"{name} {value}" for name, value in facts.items() if value)
                if told:
                    self._line(f"({told})")
            case _:
                pass

    def _rest(self, event: ev.Event) -> None:
        match event:
            case ev.TodoUpdated(items=items):
                self._write("\n".join(f"  {_TODO[item.state]} {_first(item.text)}" for item in items))
            case ev.QueueChanged(items=items):
                if len(items) > self._waiting:
                    self._line(f"({len(items)} waiting, the last: {_first(items[-1].text)})")
                self._waiting = len(items)
            case ev.ContextCompacted(before=before, after=after):
                self._line(f"(the history was summed up: {before} tokens before, {after} now)")
            case ev.ContextReported(parts=parts, total=total, limit=limit):
                for part in sorted(parts, key=lambda part: -part.tokens):
                    self._line(f"  {part.tokens:>8,} {part.title}{' (off)' if part.off else ''}")
                self._line(f"  {total:>8,} in all{f' of {limit:,}' if limit else ''}")
            case ev.UndoApplied(paths=paths, conflicts=conflicts) | ev.RedoApplied(paths=paths, conflicts=conflicts):
                word = "taken back" if isinstance(event, ev.UndoApplied) else "in force again"
                self._line(f"({word}; files: {', '.join(paths) or 'none'})")
                if conflicts:
                    self._line(f"warning: left as they are, they changed since: {', '.join(conflicts)}")
            case _:
                pass


def _first(text: str) -> str:
    return cut_end(clean_for_display(text.strip().split("\n", 1)[0], one_line=True), _TITLE_CHARS)


def _lines(count: int) -> str:
    return "1 line" if count == 1 else f"{count} lines"
