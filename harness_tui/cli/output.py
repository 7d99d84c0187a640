"""Prints a session's events: JSON lines, or the answer on standard output and notices on standard error.

Writing happens in a thread, so that a slow reader of our output never stops the run.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Protocol

from harness_tui.cli.common import warn
from harness_tui.cli.streams import OutputError, discard_output, write_result
from harness_tui.core.bus import Subscription
from harness_tui.core.envelope import Envelope
from harness_tui.core.event_parts import RunError
from harness_tui.core.events import ModelRetried, Notice, RunFinished, RunStarted, TextFinished, ToolFinished
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
        """Print a batch. Raises ``OutputError``."""
        lines = [json.dumps(redact_data(envelope.to_json()), ensure_ascii=False) for envelope in envelopes]
        write_result("\n".join(lines) + "\n", flush=True)


class TextPrinter:
    """Keeps the last answer of ``session`` for standard output, and tells what went wrong on standard error.

    A call by hand is answered by its tool; with ``as_json`` the answer is the JSON value that the run ended with, and
    nothing when it did not. What an ``info`` notice says is not told: nobody has to act on it.
    """

    def __init__(self, session: str, *, as_json: bool = False) -> None:
        self._as_json = as_json
        self.answer = ""
        self._session = session
        self._by_hand = True
        self._told = ""

    def write(self, envelopes: Sequence[Envelope]) -> None:
        """Take a batch."""
        for envelope in envelopes:
            if envelope.session == self._session:
                self._take(envelope)

    def _take(self, envelope: Envelope) -> None:
        match envelope.event:
            case RunStarted():
                self._by_hand = False
            case TextFinished(text=text) if not self._as_json:
                self.answer = text
            case ToolFinished(is_error=False, output=output) if self._by_hand:
                self.answer = output
            case Notice(text=told) as notice:
                self._told = told
                warn_notice(notice)
            case ModelRetried() as retry:
                warn(redact(f"{retry.kind}: {retry.message}; trying again in {retry.wait_s:.1f} s"))
            case RunFinished(reason="completed", output=output) if self._as_json:
                self.answer = json.dumps(redact_data(output), ensure_ascii=False)
            case RunFinished(reason=reason, error=error) if reason not in ("completed", "cancelled"):
                if error is not None and error.message == self._told:
                    return  # the notice of a refused message says the same
                warn(redact(f"{reason.replace('_', ' ')}{_reason(error)}"))
            case _:
                pass

    def finish(self) -> None:
        """Print the answer. Raises ``OutputError``."""
        if self.answer:
            write_result(clean_for_display(redact(self.answer)).rstrip("\n") + "\n", flush=True)


def warn_notice(notice: Notice) -> None:
    """Tell a notice on standard error, unless it is mere information."""
    if notice.level != "info":
        hint = f" ({notice.hint})" if notice.hint else ""
        warn(redact(f"{notice.level}: {notice.source}: {notice.text}{hint}"))


def _reason(error: RunError | None) -> str:
    if error is None:
        return ""
    hint = f" ({error.hint})" if error.hint else ""
    return f": {error.message}{hint}"


async def print_until_finished(
    subscription: Subscription,
    printer: Printer,
    session: str,
    on_closed: Callable[[], None],
    going_on: Callable[[], bool],
) -> RunFinished | None:
    """Print events until the run of ``session`` has finished, and return its end; ``None`` when the stream ended.

    While ``going_on()`` says so the next run is printed too: a message that waited has started it.

    When the reader of our output goes away, ``on_closed`` is called once, and the rest is read without being printed.
    Raises ``OutputError`` when the output cannot be written for another reason.
    """
    printing = True
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
        if printing:
            try:
                await asyncio.to_thread(printer.write, batch if end is None else batch[: end + 1])
            except OutputError as error:
                if not isinstance(error.cause, BrokenPipeError):
                    raise
                printing = False
                discard_output()
                on_closed()
        if end is not None:
            event = batch[end].event
            assert isinstance(event, RunFinished)
            return event
