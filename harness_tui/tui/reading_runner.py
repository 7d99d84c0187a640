"""What the keys of the transcript lead to: copying, opening, searching, and the row that tells of it."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from harness_tui.core.text import clean_for_display
from harness_tui.tui.clipboard import amount, osc52
from harness_tui.tui.editing import open_in_editor
from harness_tui.tui.host import Host
from harness_tui.tui.lines import Line, ListRow, two_ends, wrap
from harness_tui.tui.reading_bar import ReadingBar
from harness_tui.tui.rewind import rewind
from harness_tui.tui.screens.picker import Picker
from harness_tui.tui.screens.reader import Reader
from harness_tui.tui.transcript import blocks as kinds
from harness_tui.tui.transcript.model import Block
from harness_tui.tui.transcript.references import Reference, references
from harness_tui.tui.transcript.texts import (
    answer_of,
    code_of,
    command_of,
    copied_text,
    last_answer,
    last_code,
    searched_text,
    whole_output,
)

if TYPE_CHECKING:
    from harness_tui.tui.app import HarnessApp

WHOLE_BYTES: Final = 1_000_000
"""A longer file is opened in the person's editor."""

ESCAPE_AGAIN_S: Final = 1.5

_NAMES: Final[dict[type[Block], str]] = {
    kinds.UserBlock: "message",
    kinds.MarkdownBlock: "answer",
    kinds.ReasoningBlock: "reasoning",
    kinds.ToolBlock: "call",
    kinds.NoticeBlock: "notice",
    kinds.QuestionBlock: "question",
    kinds.SummaryBlock: "summary",
    kinds.RunEndBlock: "end",
}
_MARK_HINT: Final = "Esc back · ←→ blocks · Enter folds · c copies · o opens · w whole · v selects · F1 all keys"
_FIND_HINT: Final = "↑↓ places · Enter stays there · Esc goes back"


class ReadingRunner:
    """Serves the transcript of ``app``; made with the controller."""

    def __init__(self, app: HarnessApp, host: Host) -> None:
        self._app = app
        self._host = host
        self.bar = ReadingBar(app.palette)
        self._escaped = -ESCAPE_AGAIN_S

    def _run(self, work: Coroutine[Any, Any, Any]) -> None:
        self._app.run_worker(work, group="reading", exit_on_error=False)

    # --- the row -------------------------------------------------------------------------------------

    def changed(self) -> None:
        """Show where the reader is."""
        view = self._app.transcript
        if not self.bar.is_typing and not (view.is_read or view.is_searched):
            self.bar.leave()
            return
        reader = view.reader
        if self.bar.is_typing:
            self.bar.show_state(self._found(), _FIND_HINT)
        elif reader.selection is not None and reader.selection.lines:
            text = amount(reader.selected_text())
            self.bar.show_state(f"{text} selected", "↑↓ more or fewer · c copies · Esc back")
        elif reader.search is not None:
            shown = clean_for_display(reader.search.text, one_line=True)
            self.bar.show_state(f"“{shown}” {self._found()}", f"n N places · {_MARK_HINT}")
        elif reader.on and (block := reader.marked) is not None:
            place = f"{_NAMES.get(type(block), 'block')} {block.index + 1} of {len(self._blocks)}"
            self.bar.show_state(place, _MARK_HINT)
        else:
            self.bar.leave()

    def _found(self) -> str:
        search = self._app.transcript.reader.search
        if search is None:
            return ""
        more = "+" if search.is_full else "" if search.done(self._blocks) else "…"
        if not search.matches:
            return more or "nothing found"
        at = "" if search.current is None else f"{search.current + 1} of "
        return f"{at}{len(search.matches):,}{more}"

    @property
    def _blocks(self) -> list[Block]:
        return self._host.presenter.transcript.blocks

    # --- search --------------------------------------------------------------------------------------

    def find(self, text: str = "") -> None:
        """Take a text to look for; with ``text`` look for it at once."""
        self.bar.ask(text)
        if text:
            self._app.transcript.find(text)
        self.changed()

    def accept(self) -> None:
        """Stay at what was found; without any, go back."""
        search = self._app.transcript.reader.search
        if search is None or (search.done(self._blocks) and not search.matches):
            self.leave_search()
            return
        self.bar.stop_typing()
        self._app.transcript.keep_found()

    def leave_search(self) -> None:
        """Go back to where the search began, and to the prompt."""
        self.bar.stop_typing()
        self._app.transcript.leave_search()
        self._app.transcript.stop_reading()
        self.bar.leave()
        self._app.focus_input()

    # --- wishes --------------------------------------------------------------------------------------

    def want(self, what: str, block: Block) -> None:
        """Do what a key asks for about ``block``."""
        match what:
            case "copy":
                self.copy(copied_text(block), "nothing to copy here")
            case "answer":
                self.copy(answer_of(self._blocks, block.index), "this is no answer")
            case "code":
                self._run(self._copy_code(code_of(self._blocks, block.index)))
            case "command":
                self.copy(command_of(block), "there is no command here")
            case "open":
                self._run(self._open(block))
            case _:
                self._run(self._show_whole(block))

    async def command(self, name: str, argument: str) -> None:
        """Do what one of the own commands about the transcript says."""
        match name:
            case "copy":
                self._copy_command(argument)
            case "rewind":
                await rewind(self._app, self._host)
            case _:
                self.find(argument)

    def escaped(self) -> None:
        """Esc was pressed where it had nothing to do: the second time in a row goes back to an earlier message."""
        now = time.monotonic()
        again, self._escaped = now - self._escaped < ESCAPE_AGAIN_S, now
        if again:
            self._escaped = -ESCAPE_AGAIN_S
            self._run(rewind(self._app, self._host))
        elif any(isinstance(block, kinds.UserBlock) for block in self._blocks):
            self._app.notify("Esc again goes back to before an earlier message", timeout=ESCAPE_AGAIN_S, markup=False)

    def _copy_command(self, argument: str) -> None:
        """Do ``/copy``: the last answer, the last code block, or the block with the mark."""
        marked = self._app.transcript.reader.marked
        match argument:
            case "" | "answer":
                self.copy(last_answer(self._blocks), "there is no answer yet")
            case "code":
                self.copy(last_code(self._blocks), "no answer holds a code block")
            case "block":
                self.copy(copied_text(marked) if marked is not None else "", "mark a block first: Tab, then ←")
            case _:
                self._host.tell("warning", f"/copy {argument} is not known", "write /copy, /copy code or /copy block")

    # --- copying -------------------------------------------------------------------------------------

    def copy(self, text: str, otherwise: str = "nothing is selected") -> None:
        """Put ``text`` on the clipboard and say so; say ``otherwise`` where there is none."""
        if text.strip():
            self._run(self._copy(text))
        else:
            self._say(otherwise)

    async def _copy(self, text: str) -> None:
        sequence = osc52(text, os.environ)
        if sequence:
            self._app.write_terminal(sequence)
        tool = await self._host.guarded(self._host.backend.copy_text(text))
        if tool:
            self._say(f"copied {amount(text)}")
        elif sequence:
            self._say(f"copied {amount(text)} by the terminal, where it takes it (OSC 52)")
        else:
            hint = "/export writes the session to a file"
            self._host.tell("warning", f"{amount(text)} are too much for this terminal, and no tool copies here", hint)

    async def _copy_code(self, found: list[str]) -> None:
        if len(found) < 2:
            self.copy(found[0] if found else "", "there is no code block here")
            return
        rows = [(str(place), _one_line(text), amount(text)) for place, text in enumerate(found)]
        if (picked := await self._pick("Copy a code block", rows)) is not None:
            self.copy(found[int(picked)])

    # --- opening -------------------------------------------------------------------------------------

    async def _open(self, block: Block) -> None:
        info = self._host.info
        folders = [Path(info.root)] if info is not None else []
        folders += [self._app.start_folder]
        path = block.path if isinstance(block, kinds.ToolBlock) else ""
        found = await asyncio.to_thread(references, f"{path}\n{searched_text(block)}", folders)
        if not found:
            self._say("no file that exists and no link is named here")
            return
        reference = found[0]
        if len(found) > 1:
            rows = [(str(place), each.text, each.kind) for place, each in enumerate(found)]
            if (picked := await self._pick("Open a file, copy a link", rows)) is None:
                return
            reference = found[int(picked)]
        await self._open_reference(reference)

    async def _open_reference(self, reference: Reference) -> None:
        match reference.kind:
            case "link":
                await self._copy(reference.text)
                self._say(f"no browser is started; the link is copied: {clean_for_display(reference.text)}")
            case "image":
                await self._copy(reference.path)
                self._say(f"the path of the image is copied: {clean_for_display(reference.path)}")
            case _:
                await self._edit(reference.path, reference.line)

    async def _edit(self, path: str, line: int | None = None) -> None:
        if problem := await open_in_editor(self._app, self._host.backend.library, path, line):
            self._host.tell("error", problem)

    async def _show_whole(self, block: Block) -> None:
        text, title = whole_output(block), "Whole"
        if isinstance(block, kinds.ToolBlock):
            title = block.title
            if block.whole:
                try:
                    text = await asyncio.to_thread(_read, Path(block.whole))
                except OSError as error:
                    self._host.tell("error", f"the whole output cannot be read: {error}")
                    return
                if not text:
                    await self._edit(block.whole)
                    return
        if not text.strip():
            self._say("there is nothing more to read here")
            return

        def lines(width: int) -> list[Line]:
            return [line for row in text.split("\n") for line in wrap([(row, "")], width)]

        self._app.push_screen(Reader(self._app.palette, _one_line(title), lines))

    async def _pick(self, title: str, rows: list[tuple[str, str, str]]) -> str | None:
        def at(width: int) -> list[ListRow]:
            return [
                ListRow((two_ends(((f" {_one_line(left)}", ""),), ((f"{right} ", "muted"),), width),), key)
                for key, left, right in rows
            ]

        return await self._app.push_screen_wait(Picker(self._app.palette, title, at, empty=""))

    def _say(self, text: str) -> None:
        self._app.notify(_one_line(text), timeout=3, markup=False)


def _one_line(text: str) -> str:
    return clean_for_display(text, one_line=True)


def _read(path: Path) -> str:
    """Return a file's text for display, empty for one that is too long for it."""
    if path.stat().st_size > WHOLE_BYTES:
        return ""
    return clean_for_display(path.read_bytes().decode("utf-8", "replace"))
