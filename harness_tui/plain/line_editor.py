"""A line with history and completion, for terminals that can place text within it; everything else is appended."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncGenerator, Awaitable, Iterable
from typing import TypeVar

from prompt_toolkit import PromptSession
from prompt_toolkit.application import in_terminal
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.patch_stdout import patch_stdout

from harness_tui.core.errors import HarnessError
from harness_tui.core.text import clean_for_display
from harness_tui.library.slash_completion import SlashCompleter, name_being_typed, offered_candidates
from harness_tui.library.typed_mention import mention_being_typed
from harness_tui.plain.commands import COMMANDS
from harness_tui.plain.terminal import Interrupted
from harness_tui.workspace.front import WorkspaceBackend

T = TypeVar("T")

_MOST = 30


class LineEditor:
    """Satisfies ``plain.terminal.Terminal``; what it completes comes from :meth:`use`."""

    interactive = True

    def __init__(self) -> None:
        self._history = InMemoryHistory()
        self._completer = ChatCompleter()
        output = Vt100_Output.from_pty(sys.stdout, term=os.environ.get("TERM"))
        output.enable_cpr = False  # nothing is asked of the terminal: one that does not answer would cost a wait
        self._prompt: PromptSession[str] = PromptSession(
            history=self._history,
            completer=self._completer,
            complete_while_typing=False,
            enable_suspend=True,
            reserve_space_for_menu=4,
            output=output,
        )

    async def use(self, backend: WorkspaceBackend) -> None:
        """Complete what ``backend`` offers, and bring back what was typed in its project before."""
        root = str(backend.workspace.project.root)
        for past in await backend.prompt.history():
            if past.root == root:
                self._history.append_string(past.text)
        await self._completer.use(backend)

    def write(self, text: str) -> None:
        """Show lines above the one that is typed."""
        sys.stdout.write(f"{clean_for_display(text)}\n")  # while a line is read, it goes above that
        sys.stdout.flush()

    async def read_line(self, prompt: str) -> str | None:
        """Return what was typed. Raises ``Interrupted`` for Ctrl+C."""
        try:
            with patch_stdout(raw=True):
                return await self._prompt.prompt_async(prompt or "... ", handle_sigint=False)
        except EOFError:
            return None
        except KeyboardInterrupt:
            raise Interrupted from None

    def remind(self, prompt: str) -> None:
        """The line that is typed is always there; only its sign changes."""
        self._prompt.message = prompt
        if self._prompt.app.is_running:
            self._prompt.app.invalidate()

    async def lend(self, work: Awaitable[T]) -> T:
        """Let ``work`` have the terminal."""
        async with in_terminal():
            return await work


class ChatCompleter(Completer):
    """Names behind ``/`` and mentions behind ``@``, from the same lists as on the full screen. Tab asks for them."""

    def __init__(self) -> None:
        self._names = SlashCompleter()
        self._backend: WorkspaceBackend | None = None

    async def use(self, backend: WorkspaceBackend) -> None:
        """Take what ``backend`` offers."""
        self._backend = backend
        offers = (await backend.library.look()).offers
        self._names.use([one for one in offered_candidates(offers) if one.source != "harness" or _works(one.name)])

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Return names; mentions are found by :meth:`get_completions_async`."""
        typed = name_being_typed(document.text, document.cursor_position)
        if typed is None:
            return
        for one in self._names.candidates(typed)[:_MOST]:
            about = clean_for_display(one.reason or one.description, one_line=True)
            yield Completion(
                f"/{one.name} ", start_position=-len(typed) - 1, display=f"/{one.name}", display_meta=about
            )

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        """Yield names, or mentions."""
        for completion in self.get_completions(document, complete_event):
            yield completion
        line = document.current_line
        before = document.text[: document.cursor_position - document.cursor_position_col]
        mention = mention_being_typed(before, line, document.cursor_position_col)
        if mention is None or self._backend is None:
            return
        try:
            rows = await self._backend.prompt.mentions.find(mention.typed, agents=mention.agents)
        except HarnessError:
            return
        for row in rows[:_MOST]:
            if row.insert:
                start = mention.start - document.cursor_position_col
                label = clean_for_display(row.label, one_line=True)
                yield Completion(row.insert, start_position=start, display=label, display_meta=row.about)


def _works(name: str) -> bool:
    return name in COMMANDS
