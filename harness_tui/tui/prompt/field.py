"""The prompt: the message editor with history and completion.

Completion is attached once the rest of the program is there; until then the field only takes text.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from textual import events, on
from textual.content import Content
from textual.message import Message
from textual.widgets import TextArea

from harness_tui.tui.prompt.editor import MessageEditor

if TYPE_CHECKING:
    from typing import Protocol

    from harness_tui.tui.prompt.completing import PromptCompletion
    from harness_tui.tui.prompt.history import PromptHistory

    class Previewer(Protocol):
        """Shows what stands in the prompt as it would be sent."""

        @property
        def is_open(self) -> bool: ...
        def typed(self, text: str) -> None: ...
        def dismiss(self) -> None: ...
        def show_all(self) -> None: ...


Aid: TypeAlias = Literal["history", "editor", "image", "dropped", "queue", "take_back", "put_aside"]
"""What the prompt asks for that it cannot do alone."""

AID_KEYS: Final[dict[str, Aid]] = {
    "ctrl+r": "history",
    "ctrl+g": "editor",
    "alt+v": "image",
    "alt+up": "take_back",
    "alt+q": "queue",
    "f7": "queue",
    "alt+s": "put_aside",
    "f6": "put_aside",
}

AID_TEXTS: Final[dict[Aid, str]] = {
    "history": "Search what was typed before, in every session",
    "put_aside": "Put the draft aside; in the empty prompt bring it back",
    "take_back": "Take the last waiting message back, with its attachments",
    "queue": "Waiting messages: edit, move, delete, send at the next step",
    "editor": "Write in your own editor; on the chip of a paste, edit the paste",
    "image": "Attach the image in the clipboard; the pasted path of an image is attached as well",
}

PROMPT_KEYS: Final = (
    ("Enter", "Send; waits in the queue while a run goes on"),
    ("Ctrl+S", "Send into the run that goes on, at its next step"),
    ("Shift+Enter, Ctrl+J, Alt+Enter, \\ Enter", "New line"),
    ("↑ ↓", "Earlier messages, at the first and last line"),
    ("Tab", "Complete a /name, what an own command takes, or a mention behind @; open the chip of a paste"),
    ("@", "Mention a file, a folder, lines of a file (@file#L10-20), an agent, a resource of a server"),
    ("! and //", "At the start: run a command of the shell; send a message that begins with a slash"),
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

    class Wanted(Message):
        """Something is wanted that the prompt cannot do alone."""

        def __init__(self, aid: Aid) -> None:
            super().__init__()
            self.aid: Aid = aid

    class Steered(Message):
        """``text`` is for the run that goes on, at its next step."""

        def __init__(self, text: str, typed: str) -> None:
            super().__init__()
            self.text, self.typed = text, typed

    def __init__(self) -> None:
        super().__init__(id="prompt", placeholder="Message, /command or !shell   ? for help")
        self.aid_keys: dict[str, Aid] = AID_KEYS
        self._completion: PromptCompletion | None = None
        self._previewer: Previewer | None = None
        self._sent: PromptHistory | None = None
        self._typed_at = 0.0
        self._notes: dict[str, str] = {}

    def attach_completion(self, completion: PromptCompletion) -> None:
        """Offer what ``completion`` finds from now on."""
        self._completion = completion
        self._on_typed()

    def attach_preview(self, previewer: Previewer) -> None:
        """Let ``previewer`` show what stands here as it would be sent, from now on."""
        self._previewer = previewer
        self.tell_previewer()

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

    def show_note(self, name: str, text: str) -> None:
        """Say something on the lower edge of the field, under a name by which it is taken away with an empty text."""
        self._notes[name] = text
        self.border_subtitle = Content(" · ".join(note for note in self._notes.values() if note))

    def handle_key_first(self, event: events.Key) -> bool:
        """Take the keys of the list, of the history, and those that ask for something."""
        completion = self._completion
        if completion is not None and completion.is_open and completion.key(event.key):
            return True
        if (aid := self.aid_keys.get(event.key)) is not None:
            self.post_message(self.Wanted(aid))
            return True
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
            case "tab" if self.chip() is not None:
                if not self.open_chip():
                    self.post_message(self.Wanted("editor"))
                return True
            case "tab" if completion is not None:
                return completion.tab()
            case "escape" if self._previewer is not None and self._previewer.is_open:
                self._previewer.dismiss()
                return True
            case "f3" if self._previewer is not None:
                self._previewer.show_all()
                return True
            case _:
                return False

    def accept_clicked(self) -> None:
        """A candidate was clicked."""
        if self._completion is not None:
            self._completion.accept(send=False)
            self.focus()

    async def _on_paste(self, event: events.Paste) -> None:
        from harness_tui.tui.prompt.paste import dropped_images

        if not event.text:  # what some terminals make of an image
            event.stop()
            event.prevent_default()
            self.post_message(self.Wanted("image"))
            return
        mentions = dropped_images(event.text)
        if mentions is None:
            await super()._on_paste(event)
            return
        event.stop()
        event.prevent_default()
        self.write_mention(mentions)

    def write_mention(self, mention: str) -> None:
        """Insert mentions at the cursor, with blanks around them."""
        line, column = self.cursor_location
        text = self.document.get_line(line)
        before = " " if column and not text[column - 1].isspace() else ""
        after = "" if text[column : column + 1].isspace() else " "
        self.insert(f"{before}{mention}{after}")

    # --- completion ----------------------------------------------------------------------------------

    @on(TextArea.Changed)
    def _on_typed(self) -> None:
        self._typed_at = time.monotonic()
        if self._completion is not None:
            self._completion.typed()
            self.suggestion = self._completion.hint()
        self.tell_previewer()

    @on(events.Focus)
    def _on_focused(self, event: events.Focus) -> None:
        if event.from_app_focus:  # somebody was elsewhere, perhaps in their editor
            self.post_message(self.CompletionOpened())

    def refresh_completion(self) -> None:
        """Look again: the candidates changed."""
        if self._completion is not None:
            self._completion.refresh()
        self.tell_previewer()

    @property
    def shown_to_previewer(self) -> str:
        """What stands here, nothing while a list of completions or a request takes its place."""
        covered = not self.display or (self._completion is not None and self._completion.is_open)
        return "" if covered else self.text

    def tell_previewer(self) -> None:
        if self._previewer is not None:
            self._previewer.typed(self.shown_to_previewer)

    def close_completion(self) -> None:
        """Close the list."""
        if self._completion is not None:
            self._completion.close()
            self.tell_previewer()

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
        self.put(text)
        return True

    def put(self, text: str) -> None:
        """Replace what stands here by something that was written before; it opens no list over itself."""
        if self._completion is not None:
            self._completion.leave(text)
        self.set_text(text)

    def _on_first_row(self) -> bool:
        return self.wrapped_document.location_to_offset(self.cursor_location).y == 0

    def _on_last_row(self) -> bool:
        return self.wrapped_document.location_to_offset(self.cursor_location).y >= self.wrapped_document.height - 1
