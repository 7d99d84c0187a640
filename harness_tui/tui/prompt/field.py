"""The prompt: the message editor with history and completion."""

from __future__ import annotations

from typing import Final

from textual import events, on
from textual.message import Message
from textual.widgets import TextArea

from harness_tui.tui.prompt.completion import Completer, name_being_typed, name_typed
from harness_tui.tui.prompt.editor import MessageEditor
from harness_tui.tui.prompt.history import PromptHistory
from harness_tui.tui.prompt.popup import CompletionPopup
from harness_tui.tui.row_list import RowList

PROMPT_KEYS: Final = (
    ("Enter", "Send; waits in the queue while a run goes on"),
    ("Ctrl+S", "Send into the run that goes on, at its next step"),
    ("Shift+Enter, Ctrl+J, Alt+Enter, \\ Enter", "New line"),
    ("↑ ↓", "Earlier messages, at the first and last line"),
    ("Alt+↑", "Take the last waiting message back"),
    ("Tab", "Complete a /name"),
    ("?", "Help, in the empty prompt"),
)
"""What the prompt's keys do, for the help."""


class PromptField(MessageEditor):
    """Where messages to the agent are written."""

    class CompletionOpened(Message):
        """A ``/`` was typed: a good moment to look whether commands or skills changed."""

    class HelpWanted(Message):
        """``?`` was typed into the empty prompt."""

    class QueueEditWanted(Message):
        """The last waiting message is wanted back."""

    class Steered(Message):
        """``text`` is for the run that goes on, at its next step."""

        def __init__(self, text: str, typed: str) -> None:
            super().__init__()
            self.text, self.typed = text, typed

    def __init__(self, popup: CompletionPopup, completer: Completer) -> None:
        super().__init__(id="prompt", placeholder="Message, /command or !shell   ? for help")
        self._popup = popup
        self._completer = completer
        self._dismissed: str | None = None
        self.sent = PromptHistory()

    def handle_key_first(self, event: events.Key) -> bool:
        """Take the keys of the popup and of the history."""
        if self._popup.is_open:
            return self._key_of_popup(event.key)
        match event.key:
            case "up" if self._on_first_row():
                return self._recall(self.sent.older(self.text))
            case "down" if self._on_last_row():
                return self._recall(self.sent.newer())
            case "question_mark" if not self.text:
                self.post_message(self.HelpWanted())
                return True
            case "ctrl+s":
                return self._steer()
            case "alt+up":
                self.post_message(self.QueueEditWanted())
                return True
            case "tab" if self._completer_text() is not None:
                self._dismissed = None
                self._complete()
                return True
            case _:
                return False

    def _key_of_popup(self, key: str) -> bool:
        match key:
            case "up":
                self._popup.action_move(-1)
            case "down":
                self._popup.action_move(1)
            case "pageup":
                self._popup.action_page(-1)
            case "pagedown":
                self._popup.action_page(1)
            case "escape":
                self._dismissed = self.text
                self._popup.close()
            case "tab":
                self._accept(send=False)
            case "enter":
                self._accept(send=True)
            case _:
                return False
        return True

    def _accept(self, *, send: bool) -> None:
        """Put the marked name into the prompt; Enter sends a name that stands there whole or takes no arguments."""
        candidate = self._popup.chosen
        self._popup.close()
        if candidate is None:
            return
        whole = name_being_typed(self.text, len(self.text)) == candidate.name
        if send and (whole or not candidate.takes_arguments):
            self.set_text(f"/{candidate.name}")
            self._dismissed = self.text
            self.submit()
            return
        rest = self.text.split(maxsplit=1)[1:] if any(c.isspace() for c in self.text) else []
        self.set_text(f"/{candidate.name} {rest[0] if rest else ''}")

    @on(RowList.Chosen)
    def _on_clicked_candidate(self) -> None:
        self._accept(send=False)

    # --- completion ----------------------------------------------------------------------------------

    @on(TextArea.Changed)
    def _on_typed(self) -> None:
        if self.text != self._dismissed:
            self._dismissed = None
        self._complete()
        name = name_typed(self.text)
        self.suggestion = self._completer.hint(name) if name and self.cursor_at_end_of_text else ""

    def refresh_completion(self) -> None:
        """Look again: the candidates changed."""
        self._complete()

    def _completer_text(self) -> str | None:
        line, column = self.cursor_location
        return name_being_typed(self.text, column) if line == 0 else None

    def _complete(self) -> None:
        prefix = self._completer_text()
        if prefix is None or self._dismissed is not None:
            self._popup.close()
            return
        if not self._popup.is_open and prefix == "":
            self.post_message(self.CompletionOpened())
        room = self.app.size.height - self.outer_size.height - 4
        self._popup.offer(self._completer.candidates(prefix), room)

    def _steer(self) -> bool:
        typed = self.text
        if typed.strip():
            self.post_message(self.Steered(self.expanded, typed))
        return True

    # --- history -------------------------------------------------------------------------------------

    def _recall(self, text: str | None) -> bool:
        if text is None:
            return False
        self._dismissed = text  # a recalled command opens no list over itself
        self.set_text(text)
        return True

    def _on_first_row(self) -> bool:
        return self.wrapped_document.location_to_offset(self.cursor_location).y == 0

    def _on_last_row(self) -> bool:
        return self.wrapped_document.location_to_offset(self.cursor_location).y >= self.wrapped_document.height - 1
