"""A form over the session: made from a JSON Schema, or of free questions; gives what was filled in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

from textual import events, on, work
from textual.app import ComposeResult

from harness_tui.core import events as ev
from harness_tui.tui.approval.bar import RequestBar
from harness_tui.tui.approval.page import Entry, QuestionPage, numbered
from harness_tui.tui.screens.dialog import Dialog
from harness_tui.tui.styles import beside
from harness_tui.tui.theme import Palette

Faults = Callable[[Mapping[str, Any]], Awaitable[str]]
"""Says what does not fit, empty when all does."""


class FormPage(QuestionPage):
    """The steps of a form that a person opened themselves: there is nobody to decline."""

    def __init__(self, event: ev.QuestionAsked, send: str, filled: Mapping[str, Any] | None = None) -> None:
        super().__init__(event)
        self._send = send
        if filled:
            steps = self._form.steps
            steps[:] = [replace(step, default=filled.get(step.name, step.default)) for step in steps]

    @property
    def head(self) -> str:
        """What is filled in, and how far it is."""
        return self._form.title

    def entries(self) -> list[Entry]:
        """Return the options of the present step, at the end what to do with the whole."""
        if self._form.step is None:
            return numbered([Entry(self._send), Entry("Change it"), Entry("Leave")])
        return super().entries()

    def choose(self, place: int) -> Any:
        """Take entry ``place``."""
        if self._form.step is None and place == 1:
            self._form.place = 0
            return None
        return super().choose(place)


class ToolForm(Dialog[dict[str, Any] | None]):
    """Asks for the properties of ``schema`` and gives them once ``faults`` finds none; ``None`` when it is left."""

    DEFAULT_CSS = beside(__file__)

    def __init__(
        self,
        palette: Palette,
        title: str,
        schema: Mapping[str, Any],
        faults: Faults,
        *,
        send: str = "Call it",
        filled: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__()
        self._event = ev.QuestionAsked("form", "", title, schema=dict(schema))
        self._faults = faults
        self._send = send
        self._filled = filled
        self._bar = RequestBar(palette, grace=0.0)

    def compose(self) -> ComposeResult:
        """The form, where the prompt would be."""
        yield self._bar

    def on_mount(self) -> None:
        """Ask."""
        self._bar.ask(FormPage(self._event, self._send, self._filled))

    @on(RequestBar.Answered)
    def _on_answered(self, event: RequestBar.Answered) -> None:
        event.stop()
        if event.answer.action == "accept":
            self._check(event.answer.content or {})
        else:
            self.leave(None)

    @work(exit_on_error=False, exclusive=True)
    async def _check(self, content: dict[str, Any]) -> None:
        fault = await self._faults(content)
        if not fault:
            self.leave(content)
            return
        page = FormPage(self._event, self._send, content)
        page.error = fault
        self._bar.ask(page)

    @on(events.Key)
    def _on_key_pressed(self, event: events.Key) -> None:
        if event.key == "ctrl+c":
            event.stop()
            event.prevent_default()
            self.leave(None)
