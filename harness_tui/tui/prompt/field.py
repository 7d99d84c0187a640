"""The prompt: the message editor with history and completion.

Completion is attached once the rest of the program is there; until then the field only takes text.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from textual import events, on
from textual.message import Message
from textual.widgets import TextArea

from harness_tui.tui.prompt.editor import MessageEditor

if TYPE_CHECKING:
    from typing import Protocol

    from harness_tui.library.slash_completion import Completer
    from harness_tui.tui.prompt.history import PromptHistory
    from harness_tui.tui.prompt.popup import CompletionPopup

    class Previewer(Protocol):
        """Shows what stands in the prompt as it would be sent."""

        @property
        def is_open(self) -> bool: ...
        def typed(self, text: str) -> None: ...
        def dismiss(self) -> None: ...
        def show_all(self) -> None: ...


PROMPT_KEYS: Final = (
    ("Enter", "Send; waits in the queue while a run goes on"),
    ("Ctrl+S", "Send into the run that goes on, at its next step"),
    ("Shift+Enter, Ctrl+J, Alt+Enter, \\ Enter", "New line"),
    ("↑ ↓", "Earlier messages, at the first and last line"),
    ("Alt+↑", "Take the last waiting message back"),
    ("Tab", "Complete a /name, and what an own command takes"),
    ("F3", "Read the whole of what would be sent: text, attachments, commands that would run; nothing is sent or run"),
    ("Ctrl+_, Ctrl+Y", "Take back what was typed, and bring it back"),
    ("?", "Help, in the empty prompt"),
)
"""What the prompt's keys do, for the help."""


class PromptField(MessageEditor):
    """Where messages to the agent are written."""

    empties = True

    class CompletionOpened(Message):
        """A ``/`` was typed, or somebody came back: a good moment to look whether commands or skills changed."""

    class HelpWanted(Message):
        """``?`` was typed into the empty prompt."""

    class QueueEditWanted(Message):
        """The last waiting message is wanted back."""

    class Steered(Message):
        """``text`` is for the run that goes on, at its next step."""

        def __init__(self, text: str, typed: str) -> None:
            super().__init__()
            self.text, self.typed = text, typed

    def __init__(self) -> None:
        super().__init__(id="prompt", placeholder="Message, /command or !shell   ? for help")
        self._popup: CompletionPopup | None = None
        self._completer: Completer | None = None
        self._previewer: Previewer | None = None
        self._dismissed: str | None = None
        self._offered: tuple[str, str] | None = None
        self._sent: PromptHistory | None = None
        self._typed_at = 0.0

    def attach_completion(self, popup: CompletionPopup, completer: Completer) -> None:
        """Offer what ``completer`` finds in ``popup`` from now on."""
        self._popup, self._completer = popup, completer
        self._on_typed()

    def attach_preview(self, previewer: Previewer) -> None:
        """Let ``previewer`` show what stands here as it would be sent, from now on."""
        self._previewer = previewer
        self._tell_previewer()

    @property
    def still_for(self) -> float:
        """Seconds since the text changed."""
        return time.monotonic() - self._typed_at

    @property
    def sent(self) -> PromptHistory:
        """What was sent before."""
        if self._sent is None:
            from harness_tui.tui.prompt.history import PromptHistory

            self._sent = PromptHistory()
        return self._sent

    def handle_key_first(self, event: events.Key) -> bool:
        """Take the keys of the popup and of the history."""
        if self._popup is not None and self._popup.is_open:
            if self._typed_part() != self._offered:
                self._complete()  # keys came quicker than the list was drawn anew
            if self._popup.is_open:
                return self._key_of_popup(self._popup, event.key)
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
            case "tab" if self._typed_part() is not None:
                self._dismissed = None
                self._complete()
                return True
            case "escape" if self._previewer is not None and self._previewer.is_open:
                self._previewer.dismiss()
                return True
            case "f3" if self._previewer is not None:
                self._previewer.show_all()
                return True
            case _:
                return False

    def _key_of_popup(self, popup: CompletionPopup, key: str) -> bool:
        match key:
            case "up":
                popup.move(-1)
            case "down":
                popup.move(1)
            case "pageup":
                popup.action_page(-1)
            case "pagedown":
                popup.action_page(1)
            case "escape":
                self._dismissed = self.text
                popup.close()
                self._tell_previewer()
            case "tab":
                self._accept(popup, send=False)
            case "enter" if popup.is_marked:
                self._accept(popup, send=True)
            case _:
                return False
        return True

    def _accept(self, popup: CompletionPopup, *, send: bool) -> None:
        """Put the marked name into the prompt; Enter sends a name that stands there whole or takes no arguments."""
        candidate = popup.chosen
        popup.close()
        if candidate is None:
            return
        whole = self.text == f"/{candidate.name}"
        if send and (whole or not candidate.takes_arguments):
            self.set_text(f"/{candidate.name}")
            self._dismissed = self.text
            self.submit()
            return
        self.set_text(f"/{candidate.name} {self._behind_name()}")

    def _behind_name(self) -> str:
        """Return what stands behind the name, where it is the name that is completed."""
        if self._name_prefix() is None or not any(character.isspace() for character in self.text):
            return ""
        return "".join(self.text.split(maxsplit=1)[1:])

    def accept_clicked(self) -> None:
        """A candidate was clicked."""
        if self._popup is not None:
            self._accept(self._popup, send=False)
            self.focus()

    # --- completion ----------------------------------------------------------------------------------

    @on(TextArea.Changed)
    def _on_typed(self) -> None:
        self._typed_at = time.monotonic()
        if self.text != self._dismissed:
            self._dismissed = None
        self._complete()
        self.suggestion = self._hint()
        self._tell_previewer()

    @on(events.Focus)
    def _on_focused(self, event: events.Focus) -> None:
        if event.from_app_focus:  # somebody was elsewhere, perhaps in their editor
            self.post_message(self.CompletionOpened())

    def refresh_completion(self) -> None:
        """Look again: the candidates changed."""
        self._complete()
        self._tell_previewer()

    def _hint(self) -> str:
        if self._completer is None or not self.text.startswith("/") or not self.cursor_at_end_of_text:
            return ""
        from harness_tui.library.slash_completion import name_typed

        typed = name_typed(self.text)
        return self._completer.hint(*typed) if typed is not None else ""

    def _name_prefix(self) -> str | None:
        """Return the part of a ``/name`` that stands before the cursor."""
        line, column = self.cursor_location
        if self._completer is None or line != 0 or not self.text.startswith("/"):
            return None
        from harness_tui.library.slash_completion import name_being_typed

        return name_being_typed(self.text, column)

    def _typed_part(self) -> tuple[str, str] | None:
        """Return what is to be completed: ``("", prefix)`` for a name, name and prefix for the one argument of it."""
        prefix = self._name_prefix()
        if prefix is not None:
            return "", prefix
        line, column = self.cursor_location
        if self._completer is None or line != 0 or not self.text.startswith("/"):
            return None
        from harness_tui.library.slash_completion import value_being_typed

        return value_being_typed(self.text, column)

    def _complete(self) -> None:
        popup, completer, part = self._popup, self._completer, self._typed_part()
        if popup is None or completer is None:
            return
        if part is None or self._dismissed is not None:
            popup.close()
            return
        name, prefix = part
        if not popup.is_open and part == ("", ""):
            self.post_message(self.CompletionOpened())
        self._offered = part
        room = self.app.size.height - self.outer_size.height - 4
        found = completer.values(name, prefix) if name else completer.candidates(prefix)
        popup.offer(found, room, marked=not name)

    @property
    def shown_to_previewer(self) -> str:
        """What stands here, nothing while a list of completions or a request takes its place."""
        covered = not self.display or (self._popup is not None and self._popup.is_open)
        return "" if covered else self.text

    def _tell_previewer(self) -> None:
        if self._previewer is not None:
            self._previewer.typed(self.shown_to_previewer)

    def close_completion(self) -> None:
        """Close the list."""
        if self._popup is not None:
            self._popup.close()
            self._tell_previewer()

    def _steer(self) -> bool:
        typed, text = self.text, self.expanded
        if typed.strip():
            self.take_text()
            self.post_message(self.Steered(text, typed))
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
