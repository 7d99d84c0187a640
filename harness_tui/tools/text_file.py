"""A file's bytes as text and back, without changing a byte that was not asked for: encoding, mark, line endings."""

from __future__ import annotations

import codecs
from typing import Final

from harness_tui.core.errors import ToolError
from harness_tui.core.late_pattern import late_pattern
from harness_tui.core.record import record

LINE_END: Final = late_pattern(r"\r\n|[\r\n]")
_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # begins as that of UTF-16 does
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED: Final = late_pattern(
    rb"""(?:coding[=:][ \t]*|<\?xml[^>]{0,200}?encoding=["']|<meta[^>]{0,200}?charset=["']?)([A-Za-z0-9_.-]{1,40})"""
)
_DECLARED_BYTES: Final = 1_024
_SAMPLE: Final = 64 * 1024
_STATELESS: Final = late_pattern(
    r"iso8859-\d+|cp125\d|cp(?:437|850|852|855|858|866|874|932|949|950)|koi8-[rtu]|mac-\w+|shift_jis|euc_(?:jp|kr)"
    r"|gbk|gb2312|gb18030|big5|big5hkscs|johab"
)
"""Encodings in which a byte means the same wherever it stands at the beginning of a character."""
_SURROGATE: Final = late_pattern("[\ud800-\udfff]")


@record
class TextFile:
    """A decoded file. ``text`` has no byte order mark and the line ends of the file.

    ``encoding`` is UTF-8, what a mark or a declaration in the file says, or UTF-16 without a mark. Bytes that are no
    UTF-8 stay in ``text`` as lone surrogates and come back the same; ``valid`` is then false.
    """

    text: str
    bom: bytes
    encoding: str
    valid: bool

    def encode(self, text: str) -> bytes:
        """Return the bytes of ``text`` in this file's encoding, with its mark."""
        return self.bom + text.encode(self.encoding, "surrogateescape" if self.encoding == "utf-8" else "strict")

    def for_model(self) -> str:
        """Return the text with what could not be decoded replaced."""
        return self.text if self.valid else visible(self.text)

    def check_insert(self, text: str, where: str) -> None:
        """Raise ``ToolError`` when ``text`` cannot be put into this file without guessing at its encoding."""
        check_text(text, where)
        try:
            text.encode(self.encoding, "surrogatepass")
        except UnicodeEncodeError as error:
            raise ToolError(
                f"{text[error.start]!r} cannot be written in {self.encoding}, the encoding of the file",
                where=where,
                mend="write it in another way, or convert the file first",
                code="encoding",
            ) from error
        if not self.valid and not text.isascii():
            raise ToolError(
                "the file is not UTF-8, so only ASCII text can be put into it without harm",
                where=where,
                mend="convert the file first, or change it with a program that knows its encoding",
                code="encoding",
            )


def visible(text: str) -> str:
    """Return ``text`` with bytes that could not be decoded replaced."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def check_text(text: str, where: str) -> None:
    """Raise ``ToolError`` for text that no file can hold: half a surrogate pair."""
    if _SURROGATE.search(text):
        raise ToolError("the text holds half of a surrogate pair", where=where, mend="send whole characters")


def decode(data: bytes, where: str) -> TextFile:
    """Decode the bytes of a text file. Raises ``ToolError`` for a binary one (a NUL byte, a broken UTF-16)."""
    bom, encoding = marked_encoding(data)
    if encoding is None:
        raise binary_error(where, len(data))
    body = data[len(bom) :]
    if encoding == "utf-8" and b"\0" in body:
        raise binary_error(where, len(data))
    try:
        return TextFile(body.decode(encoding), bom, encoding, True)
    except UnicodeDecodeError as error:
        if encoding != "utf-8":
            raise binary_error(where, len(data)) from error
    return TextFile(body.decode(encoding, "surrogateescape"), bom, encoding, False)


def marked_encoding(data: bytes) -> tuple[bytes, str | None]:
    """Return the byte order mark of a text and its encoding; ``None`` for what is no text."""
    for mark, name in _BOMS:
        if data.startswith(mark):
            return mark, name
    return b"", encoding_of(data)


def encoding_of(data: bytes) -> str | None:
    """Return the encoding of a text without a mark, ``None`` for what is no text.

    It is UTF-8 unless the bytes are none and the file itself says what they are (as ``coding: latin-1``), or they can
    only be UTF-16. Nothing is guessed from the letters.
    """
    if b"\0" in data:
        return _utf_16_of(data)
    if is_utf_8(data):
        return "utf-8"
    return _declared(data) or "utf-8"


def is_utf_8(data: bytes) -> bool:
    """Tell whether ``data`` is valid UTF-8; takes no memory for it."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(data), _SAMPLE):
            decoder.decode(data[start : start + _SAMPLE])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _declared(data: bytes) -> str | None:
    found = _DECLARED.search(data[:_DECLARED_BYTES])
    if found is None:
        return None
    try:
        name = codecs.lookup(found[1].decode("ascii")).name
        fits = bool(_STATELESS.fullmatch(name)) and data.decode(name).encode(name) == data
    except (LookupError, UnicodeError):  # unknown, or not what it says
        return None
    return name if fits else None


def _utf_16_of(data: bytes) -> str | None:
    """Return which UTF-16 the bytes are: only characters that a text has, and most of them of one alphabet."""
    if len(data) % 2:
        return None
    best: tuple[int, str] | None = None
    for name in ("utf-16-le", "utf-16-be"):
        try:
            text = data[:_SAMPLE].decode(name)
        except UnicodeDecodeError as error:
            if error.end < min(len(data), _SAMPLE):
                continue
            text = data[: error.start].decode(name)
        if all(character.isprintable() or character in "\t\n\r\f" for character in text):
            plain = sum(character < "\x80" for character in text)
            best = max(best or (0, name), (plain, name), key=lambda item: item[0])
    return best[1] if best is not None and best[0] else None


def binary_error(where: str, size: int) -> ToolError:
    """Return the error for what is no text."""
    return ToolError(
        f"this is a binary file of {size} bytes", where=where, mend="use bash with a fitting program", code="binary"
    )


def split_lines(text: str) -> list[str]:
    """Return the lines of ``text`` without their ends; a last line end opens no further line."""
    lines = LINE_END.split(text)
    if lines[-1] == "":
        lines.pop()
    return lines


def uniform_line_end(text: str) -> str | None:
    """Return the only line end of ``text``, ``None`` when it has none or several."""
    pairs, feeds, returns = text.count("\r\n"), text.count("\n"), text.count("\r")
    if pairs:
        return "\r\n" if pairs == feeds == returns else None
    return None if bool(feeds) == bool(returns) else "\n" if feeds else "\r"


def with_line_end(text: str, end: str) -> str:
    """Return ``text`` with every line end replaced by ``end``."""
    return normal_ends(text).replace("\n", end)


def normal_ends(text: str) -> str:
    """Return ``text`` with every line end as ``\\n``."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
