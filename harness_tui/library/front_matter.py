"""Splits a Markdown file into front matter and body, and keeps every key that can be kept.

A fifth of the files that people have break YAML in one value (``argument-hint: [a] [b]``, a colon in a description).
So a header that does not parse is cut into its top-level keys, each parsed alone, and a value that still fails is kept
as text with a warning. Half-parsed YAML never becomes part of a message.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from harness_tui.core.late_pattern import late_pattern
from harness_tui.core.limits import FRONT_MATTER_BYTES, TEMPLATE_BYTES
from harness_tui.core.record import record
from harness_tui.library.diagnostics import Diagnostic, Findings
from harness_tui.library.plain_yaml import is_beyond, read_plain
from harness_tui.library.yaml_loader import FrontMatterYamlError, Node, Pair, Scalar, parse

_FENCE: Final = late_pattern(r"---[ \t]*")
_KEY_LINE: Final = late_pattern(r"""(?:[^\W\d][\w.-]*|"[^"\n]+"|'[^'\n]+')[ \t]*:(?:[ \t]|$)""")
_TOP_KEY: Final = late_pattern(
    r"""("[^"\n]+"|'[^'\n]+'|[^\s\-#?:\[\]{}"'&*!|>%@`,][^\n:#]*?|-[^\s:][^\n:]*?)[ \t]*:(?:[ \t]+|$)"""
)
_BLOCK_SIGN: Final = late_pattern(r"[|>][+-]?[0-9]?[+-]?")
_CUT_COMMENT: Final = late_pattern(r"\s(#[^\s#].*)$")


@record
class Entry:
    """One key with its value; ``line`` counts from 1 in the file."""

    key: str
    value: Node
    line: int


@record
class Document:
    """A file taken apart.

    ``entries`` is ``None`` when there is no front matter; ``mapping`` is false when there is one that is no map (then
    ``body`` is the whole text). ``error`` is a code of the errors that stop the file. ``body_line`` counts from 1.
    ``raw`` is the whole file.
    """

    body: str
    body_line: int = 1
    entries: dict[str, Entry] | None = None
    mapping: bool = True
    error: str | None = None
    diagnostics: tuple[Diagnostic, ...] = field(default=())
    raw: bytes = b""

    def get(self, key: str) -> Entry | None:
        """Return the entry of a normalised key."""
        return self.entries.get(key) if self.entries is not None else None


def read_document(data: bytes, path: str, known: Collection[str]) -> Document:
    """Take the bytes of a file apart. ``known`` are the keys that mean something, in lower case with hyphens."""
    findings = Findings(path)
    if len(data) > TEMPLATE_BYTES:
        findings.error(1, "template-too-large", f"{len(data)} bytes are more than the limit of {TEMPLATE_BYTES}")
        return _stopped("template-too-large", findings)
    if b"\x00" in data:
        findings.error(
            data[: data.index(b"\x00")].count(b"\n") + 1, "binary-file", "a binary file: it holds a NUL byte"
        )
        return _stopped("binary-file", findings)
    return replace(_split(_normalised(data, findings), findings, known), raw=data)


def _stopped(error: str, findings: Findings) -> Document:
    return Document("", error=error, diagnostics=tuple(findings.items))


def _normalised(data: bytes, findings: Findings) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = data[: problem.start].count(b"\n") + 1
        findings.warn(line, "encoding", "not UTF-8: the bytes that are not text were replaced")
        text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _split(text: str, findings: Findings, known: Collection[str]) -> Document:
    lines = text.split("\n")
    if not _FENCE.fullmatch(lines[0]):
        _note_late_header(lines, findings)
        return Document(text, diagnostics=tuple(findings.items))
    closing = next((number for number, line in enumerate(lines[1:], 1) if _FENCE.fullmatch(line)), None)
    if closing is None:
        if len(lines) > 1 and _KEY_LINE.match(lines[1]):
            findings.error(1, "unterminated-frontmatter", "the front matter has no closing --- line")
            return _stopped("unterminated-frontmatter", findings)
        return Document(text, diagnostics=tuple(findings.items))
    header = "\n".join(lines[1:closing])
    size = len(header.encode("utf-8", "replace"))
    if size > FRONT_MATTER_BYTES:
        message = f"the front matter has {size} bytes, more than the limit of {FRONT_MATTER_BYTES}"
        findings.error(1, "frontmatter-too-large", message)
        return _stopped("frontmatter-too-large", findings)
    pairs = _read_header(header, findings)
    if pairs is None:
        findings.warn(2, "front-matter", "the front matter is not a mapping of keys to values: taken as text")
        return Document(text, mapping=False, diagnostics=tuple(findings.items))
    entries = _entries(pairs, findings, known)
    body = "\n".join(lines[closing + 1 :])
    return Document(body, closing + 2, entries, diagnostics=tuple(findings.items))


def _note_late_header(lines: list[str], findings: Findings) -> None:
    for number, line in enumerate(lines):
        if _FENCE.fullmatch(line):
            if number + 1 < len(lines) and _KEY_LINE.match(lines[number + 1]):
                message = "front matter must start on the first line: this one is sent as text"
                findings.warn(number + 1, "front-matter", message)
            return
        stripped = line.strip()
        if stripped and not stripped.startswith(("#", "<!--")):
            return


# --- the header ----------------------------------------------------------------------------------


def _read_header(header: str, findings: Findings) -> list[Pair] | None:
    """Return the pairs of the header; ``None`` when it is no mapping. Lines of pairs count from 0 in the header."""
    parsed = read_plain(header)
    if parsed is None:
        chunks = list(_chunks(header))
        if any(is_beyond(chunk.first) for chunk in chunks) and all(map(_is_plain, chunks)):
            return _rescue(chunks, FrontMatterYamlError("", 0), findings)  # the loader would find the same later
        try:
            parsed = parse(header)
        except FrontMatterYamlError as problem:
            return _rescue(chunks, problem, findings)
    if parsed.pairs is None:
        return None
    _note_cut_comments(header, parsed.pairs, findings)
    return list(parsed.pairs)


def _note_cut_comments(header: str, pairs: tuple[Pair, ...], findings: Findings) -> None:
    lines = header.split("\n")
    for pair in pairs:
        if not (isinstance(pair.value, Scalar) and pair.value.plain):
            continue
        cut = _CUT_COMMENT.search(lines[pair.line])
        if cut is not None and cut[1] not in pair.value.text:
            message = f"YAML takes {cut[1]!r} as a comment: quote the value of {pair.key} to keep it"
            findings.warn(pair.line + 2, "comment", message)


@dataclass(slots=True)
class _Chunk:
    key: str
    line: int
    first: str
    rest: list[str] = field(default_factory=list[str])


def _is_plain(chunk: _Chunk) -> bool:
    return (is_beyond(chunk.first) and not any(chunk.rest)) or _read_plain_chunk(chunk) is not None


def _rescue(chunks: list[_Chunk], problem: FrontMatterYamlError, findings: Findings) -> list[Pair] | None:
    if not chunks:
        findings.warn(problem.line + 2, "yaml", f"YAML: {problem.problem}")
        return None
    pairs: list[Pair] = []
    failed = False
    for chunk in chunks:
        pair = _parse_chunk(chunk)
        if isinstance(pair, FrontMatterYamlError):
            failed = True
            line = chunk.line + pair.line + 2
            findings.warn(line, "yaml", f"YAML: {pair.problem}; the value of {chunk.key} is kept as text")
            pair = Pair(chunk.key, _plain_value(chunk), chunk.line)
        pairs.append(pair)
    if not failed:
        findings.warn(problem.line + 2, "yaml", f"YAML: {problem.problem}; each key was read alone")
    return pairs


def _chunks(header: str) -> Iterator[_Chunk]:
    current: _Chunk | None = None
    for number, line in enumerate(header.split("\n")):
        match = _TOP_KEY.match(line)
        if match is not None:
            if current is not None:
                yield current
            current = _Chunk(_unquoted(match[1]), number, line[match.end() :])
        elif current is not None and not line.startswith("#"):
            current.rest.append(line)
    if current is not None:
        yield current


def _read_plain_chunk(chunk: _Chunk) -> Pair | None:
    parsed = read_plain("\n".join([f"k: {chunk.first}", *chunk.rest]))
    return parsed.pairs[0] if parsed is not None and parsed.pairs is not None and len(parsed.pairs) == 1 else None


def _parse_chunk(chunk: _Chunk) -> Pair | FrontMatterYamlError:
    plain = _read_plain_chunk(chunk)
    if plain is not None:
        return replace(plain, key=chunk.key, line=chunk.line)
    if is_beyond(chunk.first) and not any(chunk.rest):
        return FrontMatterYamlError("a list in brackets with more behind it", 0)
    text = "\n".join([f"k: {chunk.first}", *chunk.rest])
    try:
        parsed = parse(text)
    except FrontMatterYamlError as problem:
        return problem
    if parsed.pairs is None or len(parsed.pairs) != 1:
        return FrontMatterYamlError("more than one value", 0)
    return Pair(chunk.key, parsed.pairs[0].value, chunk.line)


def _plain_value(chunk: _Chunk) -> Scalar:
    first, rest = chunk.first.strip(), [line.strip() for line in chunk.rest]
    joint = " "
    if rest and _BLOCK_SIGN.fullmatch(first):
        joint = "\n" if first.startswith("|") else " "
        first = ""
    text = joint.join(line for line in [first, *rest] if line)
    unquoted = _unquoted(text)
    return Scalar(unquoted, plain=unquoted is text)


def _unquoted(text: str) -> str:
    if len(text) >= 2 and text[0] in "\"'" and text[-1] == text[0]:
        return text[1:-1]
    return text


def _entries(pairs: list[Pair], findings: Findings, known: Collection[str]) -> dict[str, Entry]:
    entries: dict[str, Entry] = {}
    for pair in pairs:
        line = pair.line + 2
        hyphened = pair.key.strip().replace("_", "-")
        key = hyphened.lower()
        if key not in known:
            key = pair.key
        elif key != hyphened:
            findings.warn(line, "key", f"the key {pair.key!r} is read as {key!r}")
        if key in entries:
            findings.warn(line, "duplicate-key", f"duplicate key {key!r}: this one replaces line {entries[key].line}")
        entries[key] = Entry(key, pair.value, line)
    return entries
