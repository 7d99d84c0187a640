"""Names that a sweeping allow does not cover: secrets when read, what runs code or widens rights when written.

For them an allow counts only from a pattern that names them: one that would no longer fit if any single letter of the
protected part were another.
"""

from __future__ import annotations

import re
from typing import Final

from harness_tui.config.bundled_rules import SECRET_FILES
from harness_tui.core.late_pattern import late_pattern
from harness_tui.core.seams import Check
from harness_tui.core.values import Rule
from harness_tui.permissions.matching import Matcher, PathValue

PROTECTED_FOLDERS: Final = (
    ".git",
    ".harness",
    ".config/harness",
    ".agents",
    ".claude",
    ".codex",
    ".cursor",
    ".gemini",
    ".idea",
    ".opencode",
    ".vscode",
    ".gnupg",
    ".ssh",
)
"""Folders with everything in them, wherever they lie: version control, settings of this tool and of others, keys."""

PROTECTED_FILES: Final = (
    ".mcp.json",
    "opencode.json",
    "opencode.jsonc",
    ".gitconfig",
    ".gitmodules",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".cshrc",
    ".kshrc",
    ".login",
    ".profile",
    ".tcshrc",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    "config.fish",
    ".env*",
    "*.pem",
    "*.key",
    "id_*",
    "authorized_keys",
)
"""Names of files: servers, shell start files, environments, keys. ``*`` is any text."""

Span = tuple[int, int]


def _file_patterns(names: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    # The group is the literal part: what a pattern has to name.
    found: list[re.Pattern[str]] = []
    for name in names:
        literal = name.strip("*")
        head, tail = (".*" if part else "" for part in (name.startswith("*"), name.endswith("*")))
        found.append(late_pattern(f"{head}({re.escape(literal)}){tail}", re.IGNORECASE | re.DOTALL))
    return tuple(found)


_READ: Final = _file_patterns(SECRET_FILES)
_EDIT: Final = _file_patterns(PROTECTED_FILES)
_EDIT_FOLDERS: Final = tuple(
    late_pattern(f"(?:^|/)({re.escape(name)})(?=/|$)", re.IGNORECASE) for name in PROTECTED_FOLDERS
)


def protected_spans(permission: str, path: PathValue) -> tuple[Span, ...]:
    """Return where in ``path.absolute`` protected names lie, as start and end; empty when nothing is protected.

    The root's own folders above the project do not count, so a project inside ``.vscode`` stays usable.
    """
    if path.relative == ".":
        return ()
    start = 0 if path.relative is None else len(path.absolute) - len(path.relative)
    last = path.absolute.rfind("/") + 1
    patterns, folders = {"read": (_READ, ()), "edit": (_EDIT, _EDIT_FOLDERS)}.get(permission, ((), ()))
    spans: dict[Span, None] = {}
    for pattern in patterns:
        # As a pattern without ``/`` is matched: against the value as a whole, and against its last component.
        for begin in (start, last):
            if match := pattern.fullmatch(path.absolute, begin):
                spans[match.span(1)] = None
    for pattern in folders:
        for match in pattern.finditer(path.absolute[start:]):
            spans[start + match.start(1), start + match.end(1)] = None
    return tuple(spans)


def protected_name(matcher: Matcher, check: Check) -> str | None:
    """Return the protected part of what ``check`` is about, for a person; ``None`` when there is none."""
    if check.permission not in ("read", "edit"):
        return None
    path = matcher.path_value(check.value)
    spans = protected_spans(check.permission, path)
    return path.absolute[spans[0][0] : spans[0][1]] if spans else None


def names_protected(matcher: Matcher, rule: Rule, check: Check) -> bool:
    """Tell whether the pattern of ``rule``, which fits, names every protected part of the path of ``check``."""
    path = matcher.path_value(check.value)
    return all(_names(matcher, rule, path, span) for span in protected_spans(check.permission, path))


def _names(matcher: Matcher, rule: Rule, path: PathValue, span: Span) -> bool:
    for index in range(*span):
        if not path.absolute[index].isalnum():
            continue
        other = f"{path.absolute[:index]}\ufffd{path.absolute[index + 1 :]}"
        if matcher.fits_value(rule, matcher.path_value(other).text):
            return False
    return True
