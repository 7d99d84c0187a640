"""Bodies of answers on their way in: decoded here, piece by piece, and never more than the limit.

The HTTP library would decode a whole body into memory when somebody asks for all of it; so it gets bytes that are
decoded already, and counted.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Iterator
from typing import Any, Final

import httpx2

from harness_tui.egress.errors import EgressLimitError

ENCODINGS: Final = "gzip, deflate"
"""What requests ask for, and all that is understood."""

_PIECE: Final = 64 * 1024
_WINDOWS: Final = {"gzip": zlib.MAX_WBITS | 16, "x-gzip": zlib.MAX_WBITS | 16, "deflate": zlib.MAX_WBITS}


class BodyError(EgressLimitError, httpx2.StreamError):
    """A body that is too large or cannot be decoded; also an error that users of the HTTP library expect."""


class Decoder:
    """Decodes one body. ``encoding`` is the value of ``Content-Encoding``. Raises ``BodyError`` for an unknown one."""

    def __init__(self, encoding: str, where: str) -> None:
        self._where = where
        names = [name for name in encoding.lower().replace(" ", "").split(",") if name not in ("", "identity")]
        if len(names) > 1 or (names and names[0] not in _WINDOWS):
            what = f"it answered in an encoding that was not asked for: {encoding[:40]!r}"
            raise BodyError(what, where=where, code="encoding")
        self._name = names[0] if names else None
        self._inflater: Any = None if self._name is None else zlib.decompressobj(_WINDOWS[self._name])
        self._fresh = True
        self._ended = False

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """Return what ``data`` decodes to, in pieces of bounded size. Raises ``BodyError``."""
        if self._inflater is None:
            yield data
            return
        data = self._after_end(data)
        while data:
            try:
                piece = self._inflater.decompress(data, _PIECE)
            except zlib.error as error:
                if self._fresh and self._name == "deflate":  # some servers send it without its header
                    self._fresh, self._inflater = False, zlib.decompressobj(-zlib.MAX_WBITS)
                    continue
                raise BodyError(
                    "its answer is not the gzip that it says", where=self._where, code="encoding"
                ) from error
            self._fresh = False
            if piece:
                yield piece
            data = self._inflater.unconsumed_tail
            if self._inflater.eof:
                self._ended = True
                data = self._after_end(self._inflater.unused_data)

    def _after_end(self, data: bytes) -> bytes:
        """Begin the next member of a file of several; zeros between and after them are padding."""
        if not self._ended:
            return data
        data = data.lstrip(b"\0")
        if data:
            self._ended, self._inflater = False, zlib.decompressobj(_WINDOWS[self._name or ""])
        return data


class LimitedBody(httpx2.AsyncByteStream):
    """A body, decoded, that raises ``BodyError`` when there is more of it than ``max_bytes``; ``None`` is no limit.

    Nothing is wrong with an encoding until somebody reads the body: an answer may be of interest without it.
    """

    def __init__(self, inner: Any, encoding: str, *, max_bytes: int | None, where: str) -> None:
        self._inner = inner
        self._encoding = encoding
        self._max_bytes = max_bytes
        self._where = where

    async def __aiter__(self) -> AsyncIterator[bytes]:
        decoder = Decoder(self._encoding, self._where)
        count = 0
        async for data in self._inner:
            for piece in decoder.pieces(data):
                count += len(piece)
                if self._max_bytes is not None and count > self._max_bytes:
                    what = f"its answer is over {self._max_bytes} bytes"
                    raise BodyError(what, where=self._where, code="too-large")
                yield piece

    async def aclose(self) -> None:
        """Close the connection, or give it back."""
        await self._inner.aclose()
