"""Doubles of the record."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from harness_tui.core.envelope import Envelope
from harness_tui.core.errors import HarnessError


class FakeAppends:
    """Keeps batches in memory. Each write raises ``error`` while it is set, and waits for ``gate``."""

    def __init__(self) -> None:
        self.batches: list[list[Envelope]] = []
        self.error: HarnessError | None = None
        self.gate = threading.Event()
        self.gate.set()

    def append(self, session: str, envelopes: Sequence[Envelope]) -> None:
        """Satisfy ``sessions.recorder.Appends``."""
        if not self.gate.wait(10):
            raise HarnessError("the test never opened the gate")
        if self.error is not None:
            raise self.error
        self.batches.append(list(envelopes))

    @property
    def written(self) -> list[Envelope]:
        """Everything that was written, in order."""
        return [envelope for batch in self.batches for envelope in batch]
