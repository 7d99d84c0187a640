"""The messages that wait: for the end of the run, or for its next step. Visible and editable, never lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness_tui.core.event_parts import QueueItem
from harness_tui.core.events import QueueChanged
from harness_tui.core.ids import new_id
from harness_tui.core.intents import Submit
from harness_tui.core.messages import UserMessage


class MessageQueue:
    """Waiting submits in order; every change gives the event that tells of it."""

    def __init__(self) -> None:
        self._items: list[QueueItem] = []
        self._submits: dict[str, Submit] = {}

    def _changed(self) -> QueueChanged:
        return QueueChanged(tuple(self._items))

    @property
    def texts(self) -> tuple[str, ...]:
        """What waits, in order."""
        return tuple(item.text for item in self._items)

    @property
    def empty(self) -> bool:
        """Whether nothing waits."""
        return not self._items

    def add(self, submit: Submit) -> QueueChanged:
        """Append a message."""
        item = QueueItem(new_id("msg"), submit.text, "steer" if submit.when == "steer" else "queue")
        self._items.append(item)
        self._submits[item.id] = submit
        return self._changed()

    def replace(self, items: Sequence[QueueItem]) -> QueueChanged:
        """Take an edited list: texts and order as given; attachments stay with their message."""
        self._items = list(items)
        self._submits = {
            item.id: replace(self._submits.get(item.id, Submit(item.text)), text=item.text) for item in items
        }
        return self._changed()

    def take_steering(self) -> tuple[list[UserMessage], QueueChanged | None]:
        """Take every message meant for the next step; commands wait for the end of the run."""
        taken = [item for item in self._items if item.mode == "steer" and not item.text.startswith("/")]
        if not taken:
            return [], None
        self._items = [item for item in self._items if item not in taken]
        submits = [self._submits.pop(item.id) for item in taken]
        return [UserMessage(submit.text, submit.attachments or ()) for submit in submits], self._changed()

    def take_next(self) -> tuple[Submit, QueueChanged] | None:
        """Take the first message, to start a run with it."""
        if not self._items:
            return None
        item = self._items.pop(0)
        return replace(self._submits.pop(item.id), when="now"), self._changed()
