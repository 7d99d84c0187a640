"""The list of skills that a model is given: sorted, escaped, within a budget, no name ever left out."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import Final

from harness_tui.core.remote_skills import RemoteSkill
from harness_tui.core.text import clean_for_display, cut_end
from harness_tui.library.skill_file import DESCRIPTION_CHARS, Skill

CATALOGUE_CHARS: Final = 16_000
CATALOGUE_SHARE: Final = 0.2
"""Characters of the catalogue for each token of the model's context: a twentieth of it."""

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_STEPS: Final = (DESCRIPTION_CHARS, 512, 256, 128, 64, 0)
_INTRODUCTION: Final = (
    "Skills are instructions for a kind of task. When one fits the task, call the tool `skill` with its name before you"
    " start, and follow what it says."
)


def catalogue_text(skills: Sequence[Skill | RemoteSkill], *, budget: int = CATALOGUE_CHARS) -> str:
    """Return the catalogue of ``skills``, empty without any.

    Descriptions are cut to 1,024 characters; over ``budget`` characters all are cut shorter, at last left out,
    and a line says so.
    """
    if not skills:
        return ""
    ordered = [(_clean(skill.name), _about(skill)) for skill in sorted(skills, key=lambda one: one.name)]
    entries: list[str] = []
    for limit in _STEPS:
        entries = [_entry(name, description, limit) for name, description in ordered]
        if sum(map(len, entries)) + len(entries) <= budget:
            break
    else:
        limit = 0
    lines = [_INTRODUCTION, "<available_skills>", *entries, "</available_skills>"]
    if limit < DESCRIPTION_CHARS:
        shortened = sum(len(description) > limit for _, description in ordered)
        what = f"cut to {limit} characters, the rest is omitted" if limit else "omitted"
        lines.append(f"(To save space the descriptions of {shortened} of {len(ordered)} skills are {what}.)")
    return "\n".join(lines)


def budget_for(context: int | None) -> int:
    """Return how many characters a catalogue may take where a model's context holds ``context`` tokens."""
    return CATALOGUE_CHARS if context is None else min(CATALOGUE_CHARS, int(context * CATALOGUE_SHARE))


def _entry(name: str, description: str, limit: int) -> str:
    named = f"<name>{html.escape(name)}</name>"
    if not limit:
        return f"<skill>{named}</skill>"
    return f"<skill>{named}<description>{html.escape(cut_end(description, limit))}</description></skill>"


def _about(skill: Skill | RemoteSkill) -> str:
    """Return the description; that of a skill of a server says whose it is before anything else."""
    if isinstance(skill, RemoteSkill):
        return f"(of the MCP server {_clean(skill.server)}) {_clean(skill.description)}"
    return _clean(skill.description)


def _clean(text: str) -> str:
    return clean_for_display(_CONTROL.sub(" ", text), one_line=True)
