"""Completion in the prompt: which list is due, what a key does to it, what is put in its place.

Names come at once, from a list in memory. Mentions are looked for in a thread: until they are there the list of the key
before stays, and a key that takes one waits for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from harness_tui.core.text import clean_for_display
from harness_tui.library.slash_completion import (
    Candidate,
    Completer,
    name_being_typed,
    name_typed,
    value_being_typed,
)
from harness_tui.library.typed_mention import TypedMention, mention_being_typed

if TYPE_CHECKING:
    from harness_tui.tui.backend_prompt import MentionRow
    from harness_tui.tui.backend_servers import ValueRow
    from harness_tui.tui.prompt.field import PromptField
    from harness_tui.tui.prompt.popup import CompletionPopup

Part: TypeAlias = tuple[str, str]
"""What is completed: ``("", prefix)`` a name, ``(name, prefix)`` the one argument of it, ``("@", typed)`` a mention."""

MENTION: Final = "@"
ARGUMENT: Final = "="
"""Stands for an argument of a server's prompt: the part is ``("=", "name arguments")``."""


class PromptCompletion:
    """Completion of ``field`` in ``popup``. ``look`` is called with a mention to look for, the answer to :meth:`found`.

    ``opened`` is called when a list of names is opened.
    """

    def __init__(
        self,
        field: PromptField,
        popup: CompletionPopup,
        completer: Completer,
        look: Callable[[TypedMention], None],
        opened: Callable[[], None],
        look_for_values: Callable[[str, str], None] | None = None,
    ) -> None:
        self._field = field
        self._popup = popup
        self._completer = completer
        self._look = look
        self._opened = opened
        self._look_for_values = look_for_values
        self._dismissed: str | None = None
        self._offered: Part | None = None
        self._wanted: Part | None = None
        self._accept_when_found: str | None = None

    @property
    def is_open(self) -> bool:
        """Whether a list is shown."""
        return self._popup.is_open

    # --- what is typed -------------------------------------------------------------------------------

    def typed(self) -> None:
        """The text changed."""
        if self._field.text != self._dismissed:
            self._dismissed = None
        self._accept_when_found = None
        self.refresh()

    def hint(self) -> str:
        """Return what is left of the hint of the command at the end of the text."""
        field = self._field
        if not field.text.startswith("/") or not field.cursor_at_end_of_text:
            return ""
        typed = name_typed(field.text)
        return self._completer.hint(*typed) if typed is not None else ""

    def leave(self, text: str) -> None:
        """Offer nothing for ``text``, which is put into the prompt whole."""
        self._dismissed = text

    def refresh(self) -> None:
        """Look what is due."""
        part = self._part()
        if part is None or self._dismissed is not None:
            self.close()
            return
        name, prefix = part
        if name == MENTION:
            self._look_for_mention(part)
            return
        if name == ARGUMENT:
            self._look_for_argument(part)
            return
        self._wanted = None
        if not self._popup.is_open and part == ("", ""):
            self._opened()
        self._offered = part
        found = self._completer.values(name, prefix) if name else self._completer.candidates(prefix)
        self._popup.offer(found, self._room, marked=not name)

    def close(self) -> None:
        """Close the list."""
        self._wanted = self._offered = None
        self._popup.close()

    def _look_for_mention(self, part: Part) -> None:
        if self._offered is not None and self._offered[0] != MENTION:
            self._popup.close()
        mention = self._mention()
        if mention is not None and part != self._wanted:
            self._wanted = part
            self._look(mention)

    def found(self, mention: TypedMention, rows: Sequence[MentionRow]) -> None:
        """Offer what was found for ``mention``, unless something else stands there by now."""
        part = (MENTION, mention.typed)
        if self._part() != part or self._dismissed is not None:
            return
        self._offered = part
        self._popup.offer([_candidate(row) for row in rows], self._room)
        key, self._accept_when_found = self._accept_when_found, None
        if key is not None and not self._accept_mention(key) and key == "enter":
            self._field.submit()

    def _look_for_argument(self, part: Part) -> None:
        if self._offered != part:
            self._popup.close()  # what fitted the text before fits no more
        if part != self._wanted and self._look_for_values is not None:
            self._wanted = part
            name, _, typed = part[1].partition(" ")
            self._look_for_values(name, typed)

    def values_found(self, name: str, typed: str, rows: Sequence[ValueRow]) -> None:
        """Offer the values of an argument, unless something else stands there by now. Enter sends what was typed."""
        part = (ARGUMENT, f"{name} {typed}")
        if self._part() != part or self._dismissed is not None:
            return
        self._offered = part
        offered = [row for row in rows if row.text != typed]
        candidates = [
            Candidate(clean_for_display(row.value, one_line=True), sign="", insert=row.text) for row in offered
        ]
        self._popup.offer(candidates, self._room, marked=False)

    def _accept_value(self) -> bool:
        candidate = self._popup.chosen
        if candidate is None or self._offered is None:
            return False
        name = self._offered[1].partition(" ")[0]
        self.close()
        text = f"/{name} {candidate.insert}"
        if not text.endswith(" "):
            self._dismissed = text  # it was the last one: there is nothing more to say
        self._field.set_text(text)
        return True

    @property
    def _room(self) -> int:
        return self._field.app.size.height - self._field.outer_size.height - 4

    def _part(self) -> Part | None:
        line, column = self._field.cursor_location
        text = self._field.text
        if line == 0 and text.startswith("/"):
            prefix = name_being_typed(text, column)
            if prefix is not None:
                return "", prefix
            argument = self._argument(text, column)
            if argument is not None:
                return argument
            value = value_being_typed(text, column)
            if value is not None and "@" not in value[1]:
                return value
        mention = self._mention()
        return (MENTION, mention.typed) if mention is not None else None

    def _argument(self, text: str, column: int) -> Part | None:
        name, blank, typed = text[1:].partition(" ")
        if not blank or column != len(text) or "\n" in text or "@" in typed or not self._completer.is_prompt(name):
            return None
        return ARGUMENT, f"{name} {typed}"

    def _mention(self) -> TypedMention | None:
        row, column = self._field.cursor_location
        line = self._field.document.get_line(row)
        if "@" not in line[:column]:
            return None
        before = "".join(f"{self._field.document.get_line(number)}\n" for number in range(row))
        return mention_being_typed(before, line, column)

    # --- keys ----------------------------------------------------------------------------------------

    def key(self, key: str) -> bool:
        """Take a key while a list is shown; return whether it was taken."""
        part = self._part()
        if part is not None and part[0] == MENTION and self._offered != part and key in ("tab", "enter"):
            self._accept_when_found = key
            return True
        if part != self._offered:
            self.refresh()  # keys came quicker than the list was drawn anew
        return self._popup.is_open and self._key_of_popup(key)

    def tab(self) -> bool:
        """Open the list for what stands at the cursor; return whether there is something to complete."""
        if self._part() is None:
            return False
        self._dismissed = self._wanted = None
        self.refresh()
        return True

    def _key_of_popup(self, key: str) -> bool:
        popup = self._popup
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
                self._dismissed = self._field.text
                self.close()
                self._field.tell_previewer()
            case "tab" | "enter" if self._offered is not None and self._offered[0] == MENTION:
                return self._accept_mention(key)
            case "tab":
                self.accept(send=False)
            case "enter" if popup.is_marked and self._offered is not None and self._offered[0] == ARGUMENT:
                return self._accept_value()
            case "enter" if popup.is_marked:
                self.accept(send=True)
            case _:
                return False
        return True

    def accept(self, *, send: bool) -> None:
        """Put the marked one into the prompt; Enter sends a name that stands there whole or takes no arguments."""
        if self._offered is not None and self._offered[0] == MENTION:
            self._accept_mention("tab")
            return
        if self._offered is not None and self._offered[0] == ARGUMENT:
            self._accept_value()
            return
        field, candidate = self._field, self._popup.chosen
        self.close()
        if candidate is None:
            return
        whole = field.text == f"/{candidate.name}"
        if send and (whole or not candidate.takes_arguments):
            field.set_text(f"/{candidate.name}")
            self._dismissed = field.text
            field.submit()
            return
        field.set_text(f"/{candidate.name} {self._behind_name()}")

    def _behind_name(self) -> str:
        """Return what stands behind the name, where it is the name that is completed."""
        text = self._field.text
        part = self._part()
        if part is None or part[0] or not any(character.isspace() for character in text):
            return ""
        return "".join(text.split(maxsplit=1)[1:])

    def _accept_mention(self, key: str) -> bool:
        """Write the marked mention. Tab goes into a folder. Enter does nothing for what stands there whole already."""
        mention, candidate = self._mention(), self._popup.chosen
        if mention is None or candidate is None or not candidate.insert or not self._popup.is_open:
            return False
        field = self._field
        row, _ = field.cursor_location
        line = field.document.get_line(row)
        if key == "enter" and line[mention.start : mention.end] == candidate.insert:
            self.close()
            return False
        into = key == "tab" and not candidate.takes_arguments
        followed = line[mention.end : mention.end + 1].isspace()
        text = candidate.insert if into or followed else f"{candidate.insert} "
        field.replace(text, (row, mention.start), (row, mention.end))
        end = mention.start + len(text) + (1 if followed and not into else 0)
        field.move_cursor((row, end - 1 if into and text.endswith('"') else end))
        if not into:
            self._dismissed = field.text
            self.close()
        return True


def _candidate(row: MentionRow) -> Candidate:
    label, about = clean_for_display(row.label, one_line=True), clean_for_display(row.about, one_line=True)
    reason = "" if row.insert else about
    source = "" if row.source == "folder" else row.source
    return Candidate(label, about, "", source, not row.is_folder, reason, sign="", insert=row.insert)
