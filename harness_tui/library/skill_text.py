"""A skill as a model is given it: its text with its name, its folder and the files in it.

Whether the model loads it or a person types it, it is found again in a conversation: to carry it over a summary, and
to tell that it was given already.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from harness_tui.core.late_pattern import late_pattern
from harness_tui.core.remote_skills import RemoteSkill
from harness_tui.core.text import clean_for_display, cut_end
from harness_tui.library.skill_file import list_files

_FOLDER: Final = "Folder of the skill: "
FILES_HEAD: Final = "Files in it, not read yet:"
_NAME_CHARS: Final = 400
_LISTED: Final = rf"(?:\n{re.escape(FILES_HEAD)}(?:\n- [^\n]*)*)?(?:\n\[\.\.\. [^\n]* \.\.\.\])?"
_BLOCK: Final = late_pattern(
    r'<(?P<tag>skill(?:-\d+)?) name="(?P<name>[^"\n]*)" folder="[^"\n]*">\n(?s:.*?)\n</(?P=tag)>'
    rf"(?:\n{_FOLDER}[^\n]*)?{_LISTED}"
)
_REMOTE: Final = late_pattern(
    r'<skill(?:-\d+)? name="(?P<name>[^"\n]*)" folder="[^"/\n][^"\n]* of the MCP server [^"\n]*,'
    r' set (?P<set>[0-9a-f]{12})">\n'
)
_TYPED: Final = late_pattern(
    rf"(?P<body>(?s:.*?))\n\n(?P<files>{_FOLDER}(?P<folder>[^\n]+){_LISTED})(?=\n\n|\Z)",
)


def wrapped(name: str, folder: str, body: str, files: Sequence[str]) -> str:
    """Return ``body`` between marks; ``files`` are the lines that follow, see :func:`file_lines`.

    A body that holds the closing mark itself is put between marks that it does not hold.
    """
    tag, number = "skill", 1
    while f"</{tag}>" in body:
        number += 1
        tag = f"skill-{number}"
    shown = clean_for_display(folder, one_line=True)
    head = f'<{tag} name="{html.escape(name)}" folder="{html.escape(shown)}">'
    return "\n".join([head, body, f"</{tag}>", *files])


def remote_folder(skill: RemoteSkill) -> str:
    """Return what stands as the folder of a skill of a server: its address, its server, and the set that it is of."""
    return f"{skill.root} of the MCP server {skill.server}, set {skill.set}"


def remote_origin(text: str) -> str | None:
    """Return name and set, ``name@set``, of the skill of a server that ``text`` begins with; ``None`` for any other."""
    match = _REMOTE.match(text)
    return f"{html.unescape(match['name'])}@{match['set']}" if match is not None else None


def wrapped_in(text: str, start: int = 0) -> list[tuple[str, str]]:
    """Return name and text of the skills between marks that stand in a row in ``text``, from ``start`` on."""
    found: list[tuple[str, str]] = []
    while (match := _BLOCK.match(text, start)) is not None:
        found.append((html.unescape(match["name"]), match[0]))
        start = match.end() + 1
    return found


def typed_in(text: str, name_of: Callable[[str], str]) -> tuple[str, str] | None:
    """Return name and text, put between marks, of the skill that a person typed as a command; ``None`` without one.

    ``name_of`` gives the name of the skill in a folder.
    """
    match = _TYPED.match(text)
    if match is None:
        return None
    name = name_of(match["folder"])
    return name, wrapped(name, match["folder"], match["body"], match["files"].split("\n"))


def file_lines(folder: Path) -> list[str]:
    """Return the lines that name the folder of a skill and the files in it. Blocking."""
    found = list_files(folder)
    lines = [_FOLDER + clean_for_display(str(folder), one_line=True)]
    if found.names:
        lines.append(FILES_HEAD)
        lines += [f"- {cut_end(clean_for_display(name, one_line=True), _NAME_CHARS)}" for name in found.names]
    if found.left_out or not found.whole:
        lines.append(f"[... {'' if found.whole else 'at least '}{found.left_out} more files ...]")
    return lines
