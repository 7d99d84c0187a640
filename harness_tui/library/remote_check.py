"""Whether a file of a server's skill is the one that its entry lists, and its front matter that of the entry.

A file that does not fit is not used at all, whatever the reason: changed since, damaged, or swapped.
"""

from __future__ import annotations

import hashlib
from typing import Any, Final, cast

from harness_tui.core.errors import HarnessError
from harness_tui.core.late_pattern import late_pattern
from harness_tui.core.limits import FRONT_MATTER_BYTES
from harness_tui.core.remote_skills import RemoteFile, RemoteSkill
from harness_tui.library.yaml_loader import FrontMatterYamlError, Mapping, Node, Scalar, Sequence, parse

_FENCE: Final = late_pattern(r"---[ \t]*")
_TRUE: Final = frozenset({"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON", "y", "Y"})
_FALSE: Final = frozenset({"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF", "n", "N"})


class UnverifiedError(HarnessError):
    """Content that is not what its entry says."""

    def __init__(self, what: str, skill: RemoteSkill) -> None:
        super().__init__(what, where=f"skill {skill.name}", code="unverified")


def check_file(skill: RemoteSkill, file: RemoteFile, data: bytes) -> None:
    """Raise :class:`UnverifiedError` unless ``data`` has the size and the digest of ``file``."""
    shown = file.uri.removeprefix(f"{skill.root}/")
    if len(data) != file.size:
        raise UnverifiedError(f"{shown} has {len(data)} bytes, its entry says {file.size}: it is not used", skill)
    if f"sha256:{hashlib.sha256(data).hexdigest()}" != file.digest:
        raise UnverifiedError(f"{shown} has another digest than its entry says: it is not used", skill)


def body_of(skill: RemoteSkill, data: bytes) -> str:
    """Return what stands behind the front matter of a ``SKILL.md``.

    Raises :class:`UnverifiedError` unless the front matter is that of the entry, field by field.
    """
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise UnverifiedError("its SKILL.md is no text", skill) from error
    if "\x00" in text:
        raise UnverifiedError("its SKILL.md is no text", skill)
    lines = text.split("\n")
    closing = next((number for number, line in enumerate(lines[1:], 1) if _FENCE.fullmatch(line)), None)
    if not _FENCE.fullmatch(lines[0]) or closing is None:
        raise UnverifiedError("its SKILL.md has no front matter", skill)
    header = "\n".join(lines[1:closing])
    if len(header.encode("utf-8", "replace")) > FRONT_MATTER_BYTES:
        raise UnverifiedError(f"its front matter has more than {FRONT_MATTER_BYTES} bytes", skill)
    try:
        pairs = parse(header).pairs or ()
    except FrontMatterYamlError as error:
        raise UnverifiedError(f"its front matter cannot be read: {error.problem}", skill) from error
    written = [(pair.key, pair.value) for pair in pairs]
    difference = _difference(written, skill.front_matter)
    if difference is not None:
        raise UnverifiedError(f"its front matter differs from its entry in {difference}: it is not used", skill)
    return "\n".join(lines[closing + 1 :])


def _difference(written: list[tuple[str, Node]], listed: dict[str, Any]) -> str | None:
    """Return the first key whose values differ, ``None`` when there is none."""
    names = [key for key, _ in written]
    for key, value in written:
        if names.count(key) > 1 or key not in listed or not _same(value, listed[key]):
            return repr(key[:60])
    missing = sorted(listed.keys() - set(names))
    return repr(missing[0][:60]) if missing else None


def _same(written: Node, listed: Any) -> bool:
    """Tell whether a value of the file is that of the entry. YAML is read as text: a number is what it says."""
    match written:
        case Scalar():
            return _same_scalar(written, listed)
        case Sequence(items=items):
            if not isinstance(listed, list) or len(cast(list[Any], listed)) != len(items):
                return False
            return all(_same(item, other) for item, other in zip(items, cast(list[Any], listed), strict=True))
        case Mapping(pairs=pairs):
            if not isinstance(listed, dict):
                return False
            return _difference(list(pairs), cast(dict[str, Any], listed)) is None


def _same_scalar(written: Scalar, listed: Any) -> bool:
    match listed:
        case None:
            return written.absent
        case bool():
            return written.plain and written.text in (_TRUE if listed else _FALSE)
        case int() | float():
            return written.plain and _number(written.text) == listed
        case str():
            return written.text == listed
        case _:
            return False


def _number(text: str) -> float | int | None:
    plain = text.replace("_", "")
    try:
        return int(plain, 0) if not plain.lstrip("+-").startswith("0") or len(plain) == 1 else float(plain)
    except ValueError:
        pass
    for base in (0, 8):
        try:
            return int(plain, base)
        except ValueError:
            continue
    try:
        return float(plain)
    except ValueError:
        return None
