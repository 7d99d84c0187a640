"""Takes pastes out of the terminal's input before it is read as keys.

The library's parser reads a paste character by character, each one through its key tables: 5 MB take it a quarter of a
minute, in which no key is heard. Here a paste is cut out whole, with the marks of bracketed paste or, where a terminal
sends none, by its size: nobody types hundreds of characters at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Final

from textual import events
from textual._xterm_parser import XTermParser
from textual.drivers import linux_driver
from textual.message import Message

_BEGIN: Final = "\x1b[200~"
_END: Final = "\x1b[201~"
BURST_CHARS: Final = 256
"""So many characters in one read, without an escape, are a paste of a terminal that does not bracket it."""
BURST_S: Final = 0.05
"""A burst goes on as long as no read is further from the last one than this."""
LOST_END_S: Final = 2.0
"""A paste whose end does not come is taken as it stands after this silence: keys must be heard again."""


class PasteParser(XTermParser):
    """The library's parser, which is fed everything but pastes. ``now`` returns seconds of a clock that only grows."""

    def __init__(self, debug: bool = False, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__(debug)
        self._now = now
        self._paste: list[str] | None = None
        self._burst: list[str] | None = None
        self._held = ""
        self._last = ""
        self._at = 0.0

    def feed(self, data: str) -> Iterable[Message]:
        """Return the messages in ``data``; an empty one is the end of the input."""
        if not data:
            yield from self._flush()
            yield from super().feed(data)
            return
        if self._burst is not None and not self._goes_on(data):
            yield from self._flush()
        self._at = self._now()
        while data:
            if self._paste is not None:
                data, message = self._take(self._paste, data)
                if message is not None:
                    yield message
                continue
            if self._burst is not None or (len(data) >= BURST_CHARS and "\x1b" not in data):
                self._burst = [*(self._burst or ()), data]
                return
            data = yield from self._read(data)

    def tick(self) -> Iterable[Message]:
        """Return what a time-out makes of the input so far; called several times a second."""
        silence = self._now() - self._at
        if (self._paste is not None and silence > LOST_END_S) or (self._burst is not None and silence > BURST_S):
            yield from self._flush()
        yield from super().tick()

    def _goes_on(self, data: str) -> bool:
        return "\x1b" not in data and self._now() - self._at <= BURST_S

    def _read(self, data: str) -> Generator[Message, None, str]:
        """Read keys up to the next paste; return what comes after its beginning."""
        begun = self._begun(data)
        if begun:
            # The library has seen the first part of the mark: it gets the rest, and the end, and is done with it.
            keys, rest = data[:begun] + _END, data[begun:]
        else:
            keys, mark, rest = data.partition(_BEGIN)
            begun = len(mark)
        self._last = "" if begun else (self._last + keys)[-len(_BEGIN) :]
        for message in super().feed(keys) if keys else ():
            if not (isinstance(message, events.Paste) and not message.text):
                yield message
        if begun:
            self._paste = []
        return rest

    def _begun(self, data: str) -> int:
        """Return how many characters of ``data`` end a mark that began with the last read, 0 for none."""
        for length in range(1, len(_BEGIN)):
            if self._last.endswith(_BEGIN[:length]) and data.startswith(_BEGIN[length:]):
                return len(_BEGIN) - length
        return 0

    def _take(self, paste: list[str], data: str) -> tuple[str, Message | None]:
        text, mark, rest = (self._held + data).partition(_END)
        if mark:
            self._held = ""
            self._paste = None
            self._last = ""
            return rest, _pasted([*paste, text])
        # The mark may be cut in two by the read.
        keep = len(_END) - 1
        paste.append(text[:-keep])
        self._held = text[-keep:]
        return "", None

    def _flush(self) -> Iterator[Message]:
        texts = [*(self._paste or ()), self._held, *(self._burst or ())]
        self._paste = self._burst = None
        self._held = ""
        if any(texts):
            yield _pasted(texts)


def _pasted(texts: list[str]) -> events.Paste:
    # A terminal may send the Return of a text that it pastes as the key does.
    return events.Paste("".join(texts).replace("\x00", "").replace("\r\n", "\n").replace("\r", "\n"))


def install() -> None:
    """Let the terminal's driver read its input with :class:`PasteParser`."""
    linux_driver.__dict__["XTermParser"] = PasteParser
