"""The commonest shapes of front matter, read without YAML, which would take ten times as long.

What is read here is read as the YAML loader reads it; anything that looks the least odd is left to the loader.
"""

from __future__ import annotations

from typing import Final

from harness_tui.core.late_pattern import late_pattern
from harness_tui.library.yaml_loader import Mapping, Node, Pair, Parsed, Scalar, Sequence

_KEY: Final = late_pattern(r"([A-Za-z][A-Za-z0-9_-]*):(?: +(.*)|)")
_INNER_KEY: Final = late_pattern(r"( +)([A-Za-z][A-Za-z0-9_-]*): +(.*)")
_ITEM: Final = late_pattern(r"( *)- +(.*)")
_PLAIN: Final = late_pattern(r"[^\W_].*|[/(<.$_+=].*")
_QUOTED: Final = late_pattern(r"""(?:"([^"\\]*)"|'([^']*)') *""")
_WORDS: Final = r"[A-Za-z0-9][A-Za-z0-9_./-]*(?: [A-Za-z0-9_./-]+)*"
_FLOW: Final = late_pattern(rf"(\[ *(?:{_WORDS}(?:, *{_WORDS})*)? *\]) *")
_BLOCK: Final = late_pattern(r"([|>])(-?) *")
_BEYOND: Final = late_pattern(r"\[[^\[\]\"'#&*!|>%@`{}]*\][ \t]+[^\s#].*")


def read_plain(header: str) -> Parsed | None:
    """Return the pairs of ``header``, ``None`` when it takes the YAML loader to read it."""
    lines = header.split("\n")
    pairs: list[Pair] = []
    number = 0
    while number < len(lines):
        if not lines[number]:
            number += 1
            continue
        match = _KEY.fullmatch(lines[number])
        if match is None:
            return None
        found = _value(match[2] or "", lines, number + 1)
        if found is None:
            return None
        pairs.append(Pair(match[1], found[0], number))
        number = found[1]
    return Parsed(tuple(pairs))


def is_beyond(value: str) -> bool:
    """Tell whether no YAML loader can read this value of one line: ``[a] [b]``, the commonest fault there is."""
    return _BEYOND.fullmatch(value) is not None


def _value(text: str, lines: list[str], after: int) -> tuple[Node, int] | None:
    """Return the value that begins with ``text`` and the number of the line behind it."""
    if not text:
        return _below(lines, after)
    if block := _BLOCK.fullmatch(text):
        return _block(block[1], block[2], lines, after)
    if after < len(lines) and lines[after].startswith((" ", "\t")):
        return None  # goes on in the next line
    if flow := _FLOW.fullmatch(text):
        words = flow[1][1:-1].strip(" ")
        items = tuple(Scalar(word.strip(" ")) for word in words.split(",")) if words else ()
        return Sequence(items, flow[1], flow=True), after
    scalar = _scalar(text)
    return (scalar, after) if scalar is not None else None


def _scalar(text: str) -> Scalar | None:
    if not text.isprintable():
        return None
    if _PLAIN.fullmatch(text):
        value = text.rstrip(" ")
        return None if ": " in value or " #" in value or value.endswith(":") else Scalar(value)
    if quoted := _QUOTED.fullmatch(text):
        return Scalar(quoted[1] if quoted[1] is not None else quoted[2], plain=False)
    return None


def _below(lines: list[str], start: int) -> tuple[Node, int] | None:
    """Return the list or map of one level in the lines below a key, or nothing if there is none."""
    if start == len(lines) or not lines[start] or _KEY.fullmatch(lines[start]):
        # A blank line may stand before what belongs to the key.
        follows = next((line for line in lines[start:] if line), "x:")
        return (Scalar(""), start) if _KEY.fullmatch(follows) else None
    shape = _ITEM if _ITEM.fullmatch(lines[start]) else _INNER_KEY
    indent: str | None = None
    found: list[tuple[str, Scalar]] = []
    end = start
    while end < len(lines) and (match := shape.fullmatch(lines[end])):
        value = _scalar(match[match.lastindex or 0])
        if value is None or indent not in (None, match[1]):
            return None
        indent = match[1]
        found.append((match[2], value))
        end += 1
    if not found or (end < len(lines) and lines[end] and not _KEY.fullmatch(lines[end])):
        return None
    source = "\n".join(lines[start:end]).strip()
    if shape is _ITEM:
        return Sequence(tuple(value for _, value in found), source, flow=False), end
    return Mapping(tuple(found), source, flow=False), end


def _block(sign: str, chomp: str, lines: list[str], start: int) -> tuple[Node, int] | None:
    """Return a text of several lines, all indented alike, with no blank line in between."""
    end = start
    while end < len(lines) and lines[end].startswith(" "):
        end += 1
    texts = [line.lstrip(" ") for line in lines[start:end]]
    indents = {len(line) - len(text) for line, text in zip(lines[start:end], texts, strict=True)}
    after = end
    while after < len(lines) and not lines[after]:
        after += 1
    if len(indents) != 1 or not all(text and text.isprintable() for text in texts):
        return None
    if after < len(lines) and not _KEY.fullmatch(lines[after]):
        return None
    text = ("\n" if sign == "|" else " ").join(texts)
    return Scalar(text if chomp or end == len(lines) else f"{text}\n", plain=False), after
