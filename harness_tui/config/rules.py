"""What configuration adds to the bundled rules: modes, ``*`` as a key, and the rules of a file that cannot be read."""

from __future__ import annotations

from typing import Final

from harness_tui.config.bundled_rules import PERMISSIONS
from harness_tui.core.values import Rule

MODES: Final = ("ask", "accept-edits", "plan")


def ask_for_everything(source: str) -> tuple[Rule, ...]:
    """Return the rules that stand in for those of a file that could not be read: its denies are not known.

    ``question`` stays free: it is itself a question to the person.
    """
    return tuple(Rule(permission, "*", "ask", source) for permission in PERMISSIONS if permission != "question")


def spread(permission: str) -> tuple[str, ...]:
    """Return the keys that ``permission`` stands for: itself, or all of them for ``*``."""
    return PERMISSIONS if permission == "*" else (permission,)
