"""The last messages between us and one server, kept for whoever asks why it says what it says.

Always kept, so that a fault need not be waited for a second time; each is cut, so that a server costs half a megabyte
at most. Texts of documents pass here: what is shown goes through the redaction first.
"""

from __future__ import annotations

from collections import deque
from datetime import UTC, datetime
from typing import Final

from harness_tui.core.late_pattern import late_pattern
from harness_tui.core.redaction import redact
from harness_tui.core.text import clean_for_display

MESSAGES: Final = 250
SHOWN_BYTES: Final = 2_000
"""So much of each message is kept."""
_UNSAFE: Final = 400

_METHOD: Final = late_pattern(r'"method"\s*:\s*"([^"\\]{1,100})"')
_ID: Final = late_pattern(r'"id"\s*:\s*("[^"\\]{0,40}"|-?\d{1,20})')


class Trace:
    """A ring of messages over the lives of one server at one root."""

    def __init__(self) -> None:
        self._kept: deque[tuple[datetime, str, int, bytes]] = deque(maxlen=MESSAGES)
        self._count = 0

    def sent(self, body: bytes | memoryview) -> None:
        """Keep a message of ours."""
        self._keep("→", body)

    def received(self, body: bytes) -> None:
        """Keep a message of the server's, understood or not."""
        self._keep("←", body)

    def _keep(self, arrow: str, body: bytes | memoryview) -> None:
        self._count += 1
        self._kept.append((datetime.now(UTC), arrow, len(body), bytes(body[:SHOWN_BYTES])))

    def text(self) -> str:
        """Return the messages, oldest first: a line with time (UTC), direction, method, id and size, then the JSON."""
        lines: list[str] = []
        if self._count > len(self._kept):
            lines.append(f"--- {self._count - len(self._kept)} older messages are not kept")
        for moment, arrow, size, head in self._kept:
            shown = redact(head.decode("utf-8", "replace"))
            more = size - SHOWN_BYTES
            if more > 0:
                shown = shown[:-_UNSAFE]  # half a secret at the end would not be known as one
            method, number = _METHOD.search(shown), _ID.search(shown)
            kind = method[1] if method is not None else "answer"
            which = f" #{number[1]}" if number is not None else ""
            when = f"{moment:%H:%M:%S}.{moment.microsecond // 1000:03d}"
            lines.append(f"--- {when} {arrow} {kind}{which} ({size:,} bytes)")
            lines.append(clean_for_display(shown, one_line=True) + (" …" if more > 0 else ""))
        return "\n".join(lines)
