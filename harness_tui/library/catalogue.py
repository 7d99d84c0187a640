"""The list of skills that a model is given: sorted, escaped, within a budget, no name ever left out."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import Final

from harness_tui.core.text import cut_end
from harness_tui.library.skill_file import DESCRIPTION_CHARS, Skill

CATALOGUE_CHARS: Final = 16_000

_STEPS: Final = (DESCRIPTION_CHARS, 512, 256, 128, 64, 0)
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_INTRODUCTION: Final = (
    "Skills are instructions for a kind of task. When one fits the task, call the tool `skill` with its name before you"
    " start, and follow what it says."
)


def catalogue_text(skills: Sequence[Skill], *, budget: int = CATALOGUE_CHARS) -> str:
    """Return the catalogue of ``skills``, empty without any.

    Descriptions are cut to 1,024 characters; over ``budget`` characters all are cut shorter, at last left out,
    and a line says so.
    """
    if not skills:
        return ""
    ordered = sorted(skills, key=lambda skill: skill.name)
    entries: list[str] = []
    for limit in _STEPS:
        entries = [_entry(skill, limit) for skill in ordered]
        if sum(map(len, entries)) + len(entries) <= budget:
            break
    else:
        limit = 0
    lines = [_INTRODUCTION, "<available_skills>", *entries, "</available_skills>"]
    if limit < DESCRIPTION_CHARS:
        shortened = sum(len(skill.description) > limit for skill in ordered)
        what = f"cut to {limit} characters" if limit else "left out"
        lines.append(f"(To save space the descriptions of {shortened} of {len(ordered)} skills are {what}.)")
    return "\n".join(lines)


def _entry(skill: Skill, limit: int) -> str:
    description = cut_end(_clean(skill.description), limit) if limit else ""
    name = html.escape(_clean(skill.name))
    return f"<skill><name>{name}</name><description>{html.escape(description)}</description></skill>"


def _clean(text: str) -> str:
    return _CONTROL.sub(" ", text)
