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
    """Waiting submits in order; every change gives the event that tells of it.

    What a record held when the session was opened again is *held*: shown and editable, and never sent by itself.
    """

    def __init__(self, held: Sequence[QueueItem] = ()) -> None:
        self._items = list(held)
        self._held = {item.id for item in held}
        self._submits: dict[str, Submit] = {item.id: Submit(item.text) for item in held}

    def told(self) -> QueueChanged:
        """Return the event that tells what waits."""
        return QueueChanged(tuple(self._items))

    @property
    def texts(self) -> tuple[str, ...]:
        """What waits, in order, the held ones as well."""
        return tuple(item.text for item in self._items)

    @property
    def empty(self) -> bool:
        """Whether nothing waits, not even something held."""
        return not self._items

    @property
    def moving(self) -> bool:
        """Whether a message waits that starts a run by itself."""
        return any(item.id not in self._held for item in self._items)

    def add(self, submit: Submit) -> QueueChanged:
        """Append a message."""
        item = QueueItem(new_id("msg"), submit.text, "steer" if submit.when == "steer" else "queue")
        self._items.append(item)
        self._submits[item.id] = submit
        return self.told()

    def replace(self, items: Sequence[QueueItem]) -> QueueChanged:
        """Take an edited list: texts and order as given; attachments stay with their message.

        What was held stays held, unless its text or its mode was changed: then somebody looked at it.
        """
        before = {item.id: item for item in self._items}
        self._items = list({item.id: item for item in items}.values())
        self._held = {item.id for item in self._items if item.id in self._held and before.get(item.id) == item}
        self._submits = {
            item.id: replace(self._submits.get(item.id, Submit(item.text)), text=item.text) for item in self._items
        }
        return self.told()

    def take_steering(self) -> tuple[list[UserMessage], QueueChanged | None]:
        """Take every message meant for the next step; commands wait for the end of the run."""
        taken = [item for item in self._items if item.mode == "steer" and self._goes_along(item)]
        if not taken:
            return [], None
        self._items = [item for item in self._items if item not in taken]
        submits = [self._submits.pop(item.id) for item in taken]
        return [UserMessage(submit.text, submit.attachments or ()) for submit in submits], self.told()

    def _goes_along(self, item: QueueItem) -> bool:
        return item.id not in self._held and not item.text.startswith("/")

    def take_next(self) -> tuple[Submit, QueueChanged] | None:
        """Take the first message that is not held, to start a run with it."""
        item = next((item for item in self._items if item.id not in self._held), None)
        if item is None:
            return None
        self._items.remove(item)
        return replace(self._submits.pop(item.id), when="now"), self.told()
