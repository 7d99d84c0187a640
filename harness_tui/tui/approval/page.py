"""What the request bar shows for one request, as a small state machine over keys and texts. No Textual here.

A page has a head, a scrollable body, numbered entries and at times a text field. It says what to do next: nothing, send
an answer, or be drawn anew.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from harness_tui.core import events as ev
from harness_tui.core.event_parts import CommandPart, CommandPreview, DiffPreview, FileEdit
from harness_tui.core.forms import FormError, FormRun, read_answer
from harness_tui.core.text import clean_for_display, cut_end
from harness_tui.tui.approval.choices import (
    NO,
    Choice,
    choices_for,
    choices_without,
    part_text,
    preview_lines,
    title_of,
    why_lines,
)
from harness_tui.tui.lines import Line, wrap

if TYPE_CHECKING:
    from harness_tui.core.intents import Answer


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry; ``brief`` stands beside it, ``details`` are shown while it is marked. ``key`` takes it at once.

    ``ticked`` only where several can be chosen. ``verb`` goes before a detail; with one, the details are what would be
    done besides, and nothing of that is done that was not shown.
    """

    label: str
    details: tuple[str, ...] = ()
    ticked: bool | None = None
    brief: str = ""
    verb: str = ""
    key: str = ""


def numbered(entries: Sequence[Entry]) -> list[Entry]:
    """Give each entry its key: 1 to 9, 0 for the tenth; what comes after it is reached with the arrows."""
    return [replace(entry, key="1234567890"[place : place + 1]) for place, entry in enumerate(entries)]


class ApprovalPage:
    """A permission request. Of a command of several parts each is an entry to be ticked, before the choices."""

    def __init__(self, event: ev.PermissionRequested, call_title: str, root: str = "") -> None:
        self.request = event.request
        self.head = title_of(event, call_title)
        self.title = call_title or self.head
        self.error = ""
        self.text_prompt: str | None = None
        self._event = event
        self._original = event.preview
        self._root = root
        self._choices = choices_for(event, root)
        self._noting: Choice | None = None
        self._drawn: tuple[int, list[Line]] | None = None
        self._parts: Sequence[CommandPart] = ()
        if isinstance(event.preview, CommandPreview) and len(event.preview.parts) > 1:
            self._parts = event.preview.parts
        self._left_out: set[int] = set()
        self._edits: tuple[FileEdit, ...] = ()
        self._reviewed = ""
        self._why = False

    @property
    def can_review(self) -> bool:
        """Whether it is about a change of files."""
        return isinstance(self._event.preview, DiffPreview)

    def toggle_why(self) -> None:
        """Show which rules ask, or show that no longer."""
        self._why, self._drawn = not self._why, None

    def use_review(self, edits: tuple[FileEdit, ...], summary: str, text: str, *, empty: bool) -> None:
        """Take what a review came to: what is allowed from now on, and its diff."""
        self._edits, self._reviewed, self._drawn = edits, summary, None
        self.error = "nothing of the change is left: say no, or review it again" if empty else ""
        if isinstance(self._original, DiffPreview):
            preview = replace(self._original, text=text, files=None) if edits else self._original
            self._event = replace(self._event, preview=preview)

    def allow_once(self) -> Answer:
        """Return the answer that allows it once, as it was reviewed."""
        return self._with_edits(Choice("", "allow", scope="once").answer(self.request))

    def _with_edits(self, answer: Answer) -> Answer:
        return replace(answer, edits=self._edits) if self._edits and answer.action == "allow" else answer

    @property
    def first(self) -> int:
        """The entry that is marked at first."""
        return len(self._parts)

    @property
    def hint(self) -> str:
        """What the keys do."""
        keys = f"{_keys(len(self._choices))} or ↑↓ Enter"
        more = " · Space ticks" if self._parts else " · v review" if self.can_review else ""
        return f"{keys}{more} · w why · Esc says no"

    def body(self, width: int) -> list[Line]:
        """Draw the preview; it is drawn again at every key, and may be long."""
        if self._drawn is None or self._drawn[0] != width:
            lines = why_lines(self._event, width) if self._why else []
            if self._reviewed:
                lines += wrap([(f"as you reviewed it: {self._reviewed}", "warning")], width)
            self._drawn = (width, [*lines, *preview_lines(self._event, width)])
        return self._drawn[1]

    def entries(self) -> list[Entry]:
        """Return the parts, then the choices."""
        choices = [
            Entry(self._label(choice), choice.rules, brief=choice.brief, verb=choice.verb) for choice in self._choices
        ]
        return [*(self._part_entry(place) for place in range(len(self._parts))), *numbered(choices)]

    def _label(self, choice: Choice) -> str:
        return f"{choice.label}, as reviewed" if self._edits and choice.action == "allow" else choice.label

    def _part_entry(self, place: int) -> Entry:
        text, decision = part_text(self._parts[place])
        return Entry(text, ticked=place not in self._left_out, brief=decision)

    def choose(self, place: int) -> Answer | None:
        """Take entry ``place``; ``None`` means that something is to be seen or written first."""
        if place < len(self._parts):
            self._tick(place)
            return None
        choice = self._choices[place - len(self._parts)]
        if choice.wants_note:
            self._noting, self.text_prompt = choice, "What should the model do instead?"
            return None
        return self._with_edits(choice.answer(self.request))

    def _tick(self, place: int) -> None:
        self._left_out ^= {place}
        if self._left_out:
            self._choices = choices_without(self._parts, self._left_out)
        else:
            self._choices = choices_for(self._event, self._root)

    def submit_text(self, text: str) -> Answer | None:
        """Take the note."""
        if self._noting is None or not text.strip():
            return None
        return self._noting.answer(self.request, note=text.strip())

    def escape(self) -> Answer | None:
        """Leave the text field, or say no."""
        if self._noting is not None:
            self._noting = self.text_prompt = None
            return None
        return NO.answer(self.request)


class QuestionPage:
    """Questions of the agent, a form of a server, or a page to open."""

    def __init__(self, event: ev.QuestionAsked) -> None:
        self.request = event.request
        self.error = ""
        self.first = 0
        self._form = FormRun(event)
        self._ticked: set[int] = set()

    @property
    def hint(self) -> str:
        """What the keys do."""
        return f"{_keys(len(self.entries()))} or ↑↓ Enter · Esc goes back"

    @property
    def head(self) -> str:
        """Who asks what."""
        return self._form.head

    @property
    def text_prompt(self) -> str | None:
        """What the text field asks for; ``None`` without one."""
        step = self._form.step
        if step is None or not step.free:
            return None
        if step.default is not None:
            return f"Answer (empty: {step.default})"
        return "Another answer" if step.options else "Answer" if step.required else "Answer (may be empty)"

    def body(self, width: int) -> list[Line]:
        """Draw the question, or the page to open."""
        event, step = self._form.event, self._form.step
        lines: list[Line] = []
        if event.url:
            url = clean_for_display(event.url, one_line=True, show_invisible=True)
            lines.extend(wrap([("Open this page yourself: ", "muted"), (url, "link")], width))
        if step is not None:
            lines.extend(wrap([(step.text, "")], width))
        elif not event.url:
            lines.extend(wrap([("Send these answers?", "")], width))
            for name, value in self._form.content.items():
                shown = clean_for_display(f"{name}: {value}", one_line=True)
                lines.extend(wrap([(shown, "muted")], width, first=(("  ", ""),)))
        return lines

    def entries(self) -> list[Entry]:
        """Return the options of the present step, at the end what to do with the whole."""
        step = self._form.step
        if step is None:
            accept = "Done, go on" if self._form.event.url else "Send"
            return numbered([Entry(accept), Entry("Decline"), Entry("Cancel")])
        found = [
            _option_entry(option.label, option.description, self._tick(place))
            for place, option in enumerate(step.options)
        ]
        if step.multiple and step.options:
            found.append(Entry("Done"))
        if not step.required and step.options:  # where an answer is only written, an empty one is left out
            given = clean_for_display(json.dumps(step.default, ensure_ascii=False, default=str), one_line=True)
            found.append(Entry("Leave out" if step.default is None else f"Take the default: {cut_end(given, 60)}"))
        return numbered(found)

    def _tick(self, place: int) -> bool | None:
        step = self._form.step
        return place in self._ticked if step is not None and step.multiple else None

    def choose(self, place: int) -> Answer | None:
        """Take entry ``place``."""
        step = self._form.step
        if step is None:
            return self._form.answer(("accept", "decline", "cancel")[place])
        if place >= len(step.options):
            done = step.multiple and step.options and place == len(step.options)
            return self._give([step.options[i].value for i in sorted(self._ticked)] if done else step.default)
        if step.multiple:
            self._ticked ^= {place}
            return None
        return self._give(step.options[place].value)

    def submit_text(self, text: str) -> Answer | None:
        """Take a typed answer."""
        step = self._form.step
        if step is None:
            return None
        try:
            value = read_answer(step, text)
        except FormError as error:
            self.error = str(error)
            return None
        if step.multiple and step.options and value is not None:
            value = [*(step.options[i].value for i in sorted(self._ticked)), value]
        return self._give(value)

    def escape(self) -> Answer | None:
        """Go back one step; at the first, cancel."""
        self.error, self._ticked = "", set()
        return None if self._form.back() else self._form.answer("cancel")

    def _give(self, value: Any) -> Answer | None:
        self.error, self._ticked = "", set()
        self._form.give(value)
        if self._form.step is None and len(self._form.steps) == 1 and not self._form.event.url:
            return self._form.answer("accept")  # one question needs no second confirmation
        return None


def _keys(count: int) -> str:
    return f"1-{count}" if count < 10 else "1-9, 0"


def _option_entry(label: str, description: str | None, ticked: bool | None) -> Entry:
    return Entry(label, (description,) if description else (), ticked, brief=description or "")


def page_for(
    event: ev.PermissionRequested | ev.QuestionAsked, call_title: str, root: str = ""
) -> ApprovalPage | QuestionPage:
    """Return the page of a request; paths below ``root`` are shown from there."""
    return ApprovalPage(event, call_title, root) if isinstance(event, ev.PermissionRequested) else QuestionPage(event)


def name_of(event: ev.PermissionRequested | ev.QuestionAsked, call_title: str) -> str:
    """Return what a request is called while it waits behind another one."""
    if isinstance(event, ev.PermissionRequested):
        return title_of(event, call_title)
    return f"{event.source} asks: {event.title}" if event.source else event.title
