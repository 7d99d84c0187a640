"""The registry of skills: which skill a name means, which are shadowed or hidden, and why."""

from __future__ import annotations

import difflib
import html
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import TypeAlias

from harness_tui.core.patterns import matches
from harness_tui.core.record import record
from harness_tui.core.text import clean_for_display
from harness_tui.core.values import AgentDefinition
from harness_tui.library.diagnostics import Diagnostic
from harness_tui.library.discovery import Found, Walk, skill_file
from harness_tui.library.roots import RANK, Root
from harness_tui.library.skill_cache import SkillCache
from harness_tui.library.skill_file import Skill, folder_name, read_skill, slug

Denied: TypeAlias = Callable[[str], bool]
"""Tells whether a skill of that name is denied by a permission rule."""


@record
class SkillIndex:
    """All skills at one moment. ``names`` holds those in use, by name; the rest is found by slug or folder."""

    skills: tuple[Skill, ...] = ()
    names: dict[str, Skill] = field(default_factory=dict[str, Skill])
    slugs: dict[str, Skill] = field(default_factory=dict[str, Skill])
    folders: dict[str, Skill] = field(default_factory=dict[str, Skill])
    untrusted: dict[str, Skill] = field(default_factory=dict[str, Skill])
    problems: tuple[Diagnostic, ...] = ()

    def find(self, name: str) -> Skill | None:
        """Return the skill that ``name`` means: its name, else its slug, else its folder.

        A name may be written as it stands in the catalogue, where ``&`` is ``&amp;``.
        """
        for text in dict.fromkeys((name, html.unescape(name))):
            exact = _exact(text)
            found = self.names.get(exact) or self.slugs.get(slug(text)) or self.folders.get(exact)
            if found is not None:
                return found
        return None

    def find_untrusted(self, name: str) -> Skill | None:
        """Return the skill that ``name`` would mean if its folder were trusted."""
        return self.untrusted.get(slug(name))

    def suggest(self, name: str) -> str | None:
        """Return the name that is closest to ``name``, if one is close."""
        close = difflib.get_close_matches(name, self.names, n=1)
        return close[0] if close else None


class SkillRegistry:
    """Builds the index; files that did not change are not read again. ``cache`` is a folder for the next start."""

    def __init__(self, cache: Path | None = None) -> None:
        self._cache = SkillCache(cache)
        self._looked: tuple[tuple[Root, list[Found], list[Diagnostic]], ...] | None = None
        self._index = SkillIndex()

    def refresh(self, roots: Sequence[Root]) -> SkillIndex:
        """Return the index of ``roots``, which come in rising order. Blocking: belongs into a thread."""
        walks = [(root, Walk(root.path)) for root in _falling(roots)]
        looked = tuple((root, walk.skills(), walk.problems) for root, walk in walks)
        if looked == self._looked:
            return self._index
        problems: list[Diagnostic] = []
        skills: list[Skill] = []
        seen: set[str] = set()
        for root, found, faults in looked:
            problems += faults
            if root.singular is not None and found:
                message = f"read as well, but the usual spelling is {root.singular}"
                problems.append(Diagnostic(str(root.path), 1, "folder-name", message, "info"))
            loaded = self._cache.load(root, [file for file in found if file.stamp.real not in seen])
            seen.update(file.stamp.real for file in found)
            problems += [note for skill in loaded for note in skill.diagnostics]
            skills += loaded
        self._cache.keep_only({str(skill.path) for skill in skills})
        self._looked = looked
        index = build_index(skills, problems)
        if index != self._index:
            self._index = index
        return self._index


def _falling(roots: Sequence[Root]) -> list[Root]:
    """Return ``roots`` in falling order, those that cannot be used last."""
    order = roots[::-1]
    return [root for root in order if root.trusted] + [root for root in order if not root.trusted]


def build_index(skills: Iterable[Skill], problems: Iterable[Diagnostic] = ()) -> SkillIndex:
    """Settle which skill each name means; of two with one name the first counts, an untrusted one never.

    Copies that are the same to the byte are no reason for a warning.
    """
    notes = list(problems)
    names: dict[str, Skill] = {}
    marked: list[Skill] = []
    untrusted: dict[str, Skill] = {}
    for skill in skills:
        winner = names.get(skill.name) if skill.loaded and skill.trusted else None
        if winner is not None:
            if winner.digest != skill.digest:
                message = f"the skill {skill.name!r} is {winner.path} and shadows {skill.path}"
                notes.append(Diagnostic(str(winner.path), 1, "shadowed", message))
            marked.append(replace(skill, shadowed_by=str(winner.path)))
            continue
        marked.append(skill)
        if skill.loaded and skill.trusted:
            names[skill.name] = skill
        elif skill.loaded:
            untrusted.setdefault(skill.slug, skill)
    slugs = _slugs(names, notes)
    folders: dict[str, Skill] = {}
    for skill in names.values():
        folders.setdefault(folder_name(skill.folder), skill)
    marked.sort(key=lambda skill: (skill.name, -RANK[skill.scope]))
    return SkillIndex(tuple(marked), names, slugs, folders, untrusted, tuple(notes))


def _slugs(names: dict[str, Skill], notes: list[Diagnostic]) -> dict[str, Skill]:
    """Return the skills by slash command. One that is named so itself comes first, then the nearest."""
    found = {name: skill for name, skill in names.items() if skill.slug == name}
    for skill in names.values():
        winner = found.setdefault(skill.slug, skill)
        if winner is not skill:
            message = f"/{skill.slug} is the skill {winner.name!r}, {winner.path}: this one has no command of its own"
            notes.append(Diagnostic(str(skill.path), 1, "same-command", message))
    return found


def _exact(name: str) -> str:
    return clean_for_display(unicodedata.normalize("NFKC", name), one_line=True)


def read_folder(path: Path) -> SkillIndex:
    """Read the skill whose folder is ``path``, or the skills in a folder of them, with all that is wrong there."""
    own = skill_file(path)
    if own is not None:
        skill = read_skill(own, "user", trusted=True)
        return build_index([skill], skill.diagnostics)
    return SkillRegistry().refresh([Root(path, "user", True)])


def hidden_reason(skill: Skill, agent: AgentDefinition | None = None, denied: Denied | None = None) -> str | None:
    """Return why the model is not told of ``skill``; ``None`` when it is."""
    if skill.hidden_reason is not None:
        return skill.hidden_reason
    if agent is not None and not allowed_for(agent, skill.name):
        return f"not for the agent {agent.name}"
    if denied is not None and denied(skill.name):
        return "denied"
    return None


def allowed_for(agent: AgentDefinition, name: str) -> bool:
    """Tell whether ``agent`` may use the skill ``name``: its ``skill`` entry, else the last pattern that fits."""
    setting = agent.tools.get("skill")
    if setting is None:
        for pattern, value in agent.tools.items():
            if matches(pattern, "skill"):
                setting = value
    if isinstance(setting, tuple):
        return any(matches(pattern, name) for pattern in setting)
    return setting is not False


def offered(index: SkillIndex, agent: AgentDefinition | None = None, denied: Denied | None = None) -> list[Skill]:
    """Return the skills that the model is told of, sorted by name."""
    skills = (index.names[name] for name in sorted(index.names))
    return [skill for skill in skills if hidden_reason(skill, agent, denied) is None]
