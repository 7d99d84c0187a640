"""The messages that wait: for the end of the run, or for its next step. Visible and editable, never lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness_tui.core.event_parts import QueueItem
from harness_tui.core.events import QueueChanged
from harness_tui.core.ids import new_id
from harness_tui.core.intents import Submit


class MessageQueue:
    """Waiting submits in order; every change gives the event that tells of it.

    What a record held when the session was opened again is *held*: shown and editable, and never sent by itself.
    """

    def __init__(self, held: Sequence[QueueItem] = ()) -> None:
        self._items = list(held)
        self._held = {item.id for item in held}

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
        mode = "steer" if submit.when == "steer" else "queue"
        attachments = submit.attachments or None
        item = QueueItem(new_id("msg"), submit.text, mode, attachments, submit.agent, submit.model, submit.piped)
        self._items.append(item)
        return self.told()

    def replace(self, items: Sequence[QueueItem]) -> QueueChanged:
        """Take an edited list: texts and order as given; what an item does not say stays as it was.

        What was held stays held, unless something of it was changed: then somebody looked at it.
        """
        before = {item.id: item for item in self._items}
        self._items = [_filled(item, before.get(item.id)) for item in {item.id: item for item in items}.values()]
        self._held = {item.id for item in self._items if item.id in self._held and before.get(item.id) == item}
        return self.told()

    @property
    def steering(self) -> tuple[QueueItem, ...]:
        """The messages meant for the next step; commands wait for the end of the run."""
        return tuple(item for item in self._items if item.mode == "steer" and self._goes_along(item))

    def take(self, item: QueueItem) -> QueueChanged | None:
        """Take ``item`` out; ``None`` when it is not there any more as it was."""
        if item not in self._items:
            return None
        self._items.remove(item)
        return self.told()

    def _goes_along(self, item: QueueItem) -> bool:
        return item.id not in self._held and not item.text.startswith("/")

    def take_next(self) -> tuple[Submit, QueueChanged] | None:
        """Take the first message that is not held, to start a run with it."""
        item = next((item for item in self._items if item.id not in self._held), None)
        if item is None:
            return None
        self._items.remove(item)
        return Submit(item.text, item.attachments, item.agent, item.model, piped=item.piped), self.told()


def _filled(item: QueueItem, before: QueueItem | None) -> QueueItem:
    """Return ``item`` with what it does not say taken from what it was."""
    if before is None:
        return item
    attachments = before.attachments if item.attachments is None else item.attachments or None
    return replace(
        item,
        attachments=attachments,
        agent=item.agent or before.agent,
        model=item.model or before.model,
        piped=item.piped or before.piped,
    )
