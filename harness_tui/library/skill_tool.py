"""The tool ``skill``: gives the model the instructions of a skill that the catalogue named.

The body is read when it is asked for, so edits count at once. Asked for again unchanged in one session, it is a short
note: the text is in the conversation already.
"""

from __future__ import annotations

import asyncio
import html
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from harness_tui.core.errors import HarnessError, ToolError
from harness_tui.core.event_parts import ArgumentsPreview
from harness_tui.core.limits import TOOL_OUTPUT_BYTES, TOOL_OUTPUT_LINES
from harness_tui.core.paths import digest
from harness_tui.core.seams import Check, PreparedCall, ToolContext, ToolResult
from harness_tui.core.text import clean_for_display, cut_middle
from harness_tui.core.values import SourceRef, ToolSpec
from harness_tui.library.expand import replace_variables
from harness_tui.library.skill_file import Skill, list_files

_DESCRIPTION: Final = (
    "Load the instructions of a skill by its name. Call it when the task fits a skill's description, before you start."
    " File names in its text are relative to the folder that the result names."
)


Covered: TypeAlias = Callable[[Skill, bytes], bool]


class Activations:
    """Which skills each session has loaded, newest last, with the hash of what was given."""

    def __init__(self) -> None:
        self._loaded: dict[str, dict[str, str]] = {}

    def note(self, session: str, name: str, content: str) -> bool:
        """Record that ``content`` of ``name`` is given to ``session``; false when it has exactly that already."""
        loaded = self._loaded.setdefault(session, {})
        mark = digest(content.encode("utf-8", "replace"))
        new = loaded.pop(name, None) != mark
        loaded[name] = mark
        return new

    def active(self, session: str) -> list[str]:
        """Return the skills that ``session`` has loaded, newest first."""
        return list(self._loaded.get(session, {}))[::-1]

    def drop(self, session: str, name: str) -> None:
        """Forget that ``session`` has loaded ``name``: a compaction left its text out."""
        self._loaded.get(session, {}).pop(name, None)

    def forget(self, session: str) -> None:
        """Forget what ``session`` has loaded, when it ends."""
        self._loaded.pop(session, None)


class SkillTool:
    """Implements ``core.seams.Tool``. ``offered`` returns the skills that may be loaded now, sorted by name.

    ``find`` resolves a name tolerantly; what it finds must be among the offered ones. ``refresh`` picks up edits.
    ``covered`` tells whether trust covers a skill with the bytes that its file has now.
    """

    def __init__(
        self,
        offered: Callable[[], Sequence[Skill]],
        find: Callable[[str], Skill | None],
        *,
        refresh: Callable[[], object] | None = None,
        activations: Activations | None = None,
        covered: Covered | None = None,
    ) -> None:
        self._offered = offered
        self._find = find
        self._refresh = refresh
        self.activations = activations or Activations()
        self._covered = covered

    @property
    def spec(self) -> ToolSpec:
        """The tool with the names that exist now; without skills it should not be offered at all."""
        names = [skill.name for skill in self._offered()]
        parameters = {
            "type": "object",
            "properties": {"name": {"type": "string", "enum": names, "description": "The skill's name."}},
            "required": ["name"],
            "additionalProperties": False,
        }
        return ToolSpec("skill", _DESCRIPTION, parameters, SourceRef("skill"), read_only=True)

    def narrowed(self, allowed: Callable[[Skill], bool]) -> SkillTool:
        """Return this tool for an agent that may use only the ``allowed`` skills; it shares what was loaded."""

        def offered() -> list[Skill]:
            return [skill for skill in self._offered() if allowed(skill)]

        return SkillTool(
            offered, self._find, refresh=self._refresh, activations=self.activations, covered=self._covered
        )

    async def prepare(self, arguments: dict[str, Any], context: ToolContext) -> PreparedCall:
        """Find the skill. Raises ``ToolError`` that names the skills there are."""
        unknown = sorted(arguments.keys() - {"name"})
        if unknown:
            raise ToolError(f"unknown arguments: {', '.join(unknown)}", where="skill", mend="the only one is name")
        name = arguments.get("name")
        if not isinstance(name, str) or not name.strip():
            raise ToolError("name is missing or no text", where="skill", mend="give the name of a skill")
        if self._refresh is not None:
            await asyncio.to_thread(self._refresh)
        offered = self._offered()
        skill = self._find(name)
        if skill is None or all(skill.path != other.path for other in offered):
            known = ", ".join(other.name for other in offered) or "there are none"
            raise ToolError(f"no skill is called {name!r}", where="skill", mend=f"known skills: {known}")
        title = clean_for_display(f"skill {skill.name}", one_line=True)
        preview = ArgumentsPreview({"name": skill.name})
        return PreparedCall(title, (Check("skill", skill.name),), preview, skill)

    async def run(self, prepared: PreparedCall, context: ToolContext) -> ToolResult:
        """Read the skill as it is now and return it with its folder and files."""
        skill = prepared.state
        if not isinstance(skill, Skill):
            raise ToolError("this call was not prepared", where="skill")
        try:
            text = await asyncio.to_thread(self._content, skill, {"HARNESS_PROJECT_DIR": str(context.root)})
        except HarnessError as problem:
            raise ToolError(problem.what, where=problem.where, mend=problem.mend) from problem
        metadata = {"skill": skill.name, "folder": str(skill.folder), "path": str(skill.path)}
        if not self.activations.note(context.session, skill.name, text):
            note = f"The skill {skill.name} is loaded already and has not changed: its text is in this conversation."
            return ToolResult(note, metadata={**metadata, "repeated": True})
        where = f"The text was cut; the whole is in {skill.path}."
        cut = cut_middle(text, max_bytes=TOOL_OUTPUT_BYTES, max_lines=TOOL_OUTPUT_LINES, note=where)
        if not cut.omitted:
            return ToolResult(text, metadata=metadata)
        size = len(text.encode("utf-8", "replace"))
        return ToolResult(cut.text, metadata=metadata, full_output=str(skill.path), full_bytes=size)

    def _content(self, skill: Skill, variables: dict[str, str]) -> str:
        """Read a skill's body and wrap it. Blocking. Raises ``HarnessError``."""
        document = skill.body()
        if self._covered is not None and not self._covered(skill, document.raw):
            what = "the skill has changed since its folder was trusted"
            raise HarnessError(what, where=str(skill.path), mend="ask the person to run harness trust")
        folder = str(skill.folder)
        known = {**variables, "HARNESS_SKILL_DIR": folder}
        known |= {name.replace("HARNESS_", "CLAUDE_"): value for name, value in known.items()}
        body = replace_variables(document.body.strip(), known)
        lines = [f'<skill name="{html.escape(skill.name)}" folder="{html.escape(folder)}">', body, "</skill>"]
        return "\n".join([*lines, *file_lines(skill)])


def file_lines(skill: Skill) -> list[str]:
    """Return the lines that name the folder of a skill and the files in it. Blocking."""
    names, more = list_files(skill.folder)
    lines = [f"Folder of the skill: {skill.folder}"]
    if names:
        lines.append("Files in it, not read yet:")
        lines += [f"- {clean_for_display(name, one_line=True)}" for name in names]
    if more:
        lines.append(f"[... {more} more files ...]")
    return lines
