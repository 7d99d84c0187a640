"""Prints a session's events: JSON lines, or the answer on standard output and notices on standard error.

Writing happens in a thread, so that a slow reader of our output never stops the run.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Sequence
from typing import Protocol

from harness_tui.cli.common import warn
from harness_tui.core.bus import Subscription
from harness_tui.core.events import Envelope, ModelRetried, Notice, RunFinished, TextFinished
from harness_tui.core.redaction import redact, redact_data
from harness_tui.core.text import clean_for_display

NO_LIMIT = 2**62


class Printer(Protocol):
    """Takes batches of events, in a thread."""

    def write(self, envelopes: Sequence[Envelope]) -> None:
        """Print a batch."""
        ...


class JsonPrinter:
    """One JSON object a line, flushed with each batch."""

    def write(self, envelopes: Sequence[Envelope]) -> None:
        """Print a batch."""
        lines = [json.dumps(redact_data(envelope.to_json()), ensure_ascii=False) for envelope in envelopes]
        sys.stdout.write("\n".join(lines) + "\n")
        sys.stdout.flush()


class TextPrinter:
    """Keeps the last answer for standard output, and tells notices as they come on standard error."""

    def __init__(self) -> None:
        self.answer = ""

    def write(self, envelopes: Sequence[Envelope]) -> None:
        """Take a batch."""
        for envelope in envelopes:
            match envelope.event:
                case TextFinished(text=text):
                    self.answer = text
                case Notice(level="info"):
                    continue
                case Notice() as notice:
                    hint = f" ({notice.hint})" if notice.hint else ""
                    warn(redact(f"{notice.level}: {notice.source}: {notice.text}{hint}"))
                case ModelRetried() as retry:
                    warn(redact(f"{retry.kind}: {retry.message}; trying again in {retry.wait_s:.1f} s"))
                case _:
                    continue

    def finish(self) -> None:
        """Print the answer."""
        if self.answer:
            sys.stdout.write(clean_for_display(redact(self.answer)).rstrip("\n") + "\n")
            sys.stdout.flush()


async def print_until_finished(
    subscription: Subscription, printer: Printer, session: str, going_on: Callable[[], bool]
) -> RunFinished | None:
    """Print events until the run of ``session`` has finished, and return its end; ``None`` when the stream ended.

    While ``going_on()`` says so the next run is printed too: a message that waited has started it.
    """
    while True:
        await subscription.wait()
        batch = subscription.take()
        if not batch:
            return None
        ends = [
            index
            for index, envelope in enumerate(batch)
            if envelope.session == session and isinstance(envelope.event, RunFinished)
        ]
        end = ends[-1] if ends and not going_on() else None
        await asyncio.to_thread(printer.write, batch if end is None else batch[: end + 1])
        if end is not None:
            event = batch[end].event
            assert isinstance(event, RunFinished)
            return event
