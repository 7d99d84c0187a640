"""The tool ``skill``: gives the model the instructions of a skill that the catalogue named.

The body is read when it is asked for, so edits count at once. Asked for again unchanged in one session, it is a short
note: the text is in the conversation already.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeAlias

from harness_tui.core.errors import HarnessError, ToolError
from harness_tui.core.event_parts import ArgumentsPreview
from harness_tui.core.limits import TOOL_OUTPUT_BYTES, TOOL_OUTPUT_LINES
from harness_tui.core.paths import digest
from harness_tui.core.record import record
from harness_tui.core.seams import Check, PreparedCall, ToolContext, ToolResult
from harness_tui.core.text import clean_for_display, cut_end, cut_middle
from harness_tui.core.values import Rule, SourceRef, ToolSpec
from harness_tui.library.diagnostics import Findings
from harness_tui.library.expand import replace_variables
from harness_tui.library.front_matter import Document
from harness_tui.library.grants import granted
from harness_tui.library.header import read_header
from harness_tui.library.remote_skills import Loading, Reading, RemoteSkills
from harness_tui.library.skill_file import Skill
from harness_tui.library.skill_text import file_lines, remote_origin, wrapped

ENUM_NAMES: Final = 250
ENUM_CHARS: Final = 15_000
"""Providers refuse longer lists of values in the schema of a tool."""

_KNOWN_CHARS: Final = 4_000
_LEAST_BYTES: Final = 8_192
_MARKS: Final = 64
_REMOTE_NAME: Final = (
    "The skill's name, exactly as the list of skills has it. A skill that an MCP server names and the list does not:"
    " the server's name, a colon, the address of its SKILL.md."
)
_REMOTE_FILE: Final = "Only for a skill of an MCP server that is loaded: the name of one of its files, to read it"
_DESCRIPTION: Final = (
    "Load the instructions of a skill by its name. Call it when the task fits a skill's description, before you start."
    " File names in its text are relative to the folder that the result names."
)


Covered: TypeAlias = Callable[[Skill, bytes], bool]


class Activations:
    """Which skills each session has loaded, newest last, with the hash of what was given."""

    def __init__(self) -> None:
        self._loaded: dict[str, dict[str, str]] = {}
        self._of_servers: dict[str, dict[str, str]] = {}

    def note(self, session: str, name: str, content: str) -> bool:
        """Record that ``content`` of ``name`` is given to ``session``; false when it has exactly that already."""
        loaded = self._loaded.setdefault(session, {})
        mark = digest(content.encode("utf-8", "replace"))
        new = loaded.pop(name, None) != mark
        loaded[name] = mark
        origin = remote_origin(content)
        if origin is not None:
            self._of_servers.setdefault(session, {})[name] = origin
        return new

    def take(self, session: str, loaded: Iterable[tuple[str, str]]) -> None:
        """Take names and texts of all skills that the conversation of ``session`` holds, in their order."""
        self._loaded[session] = {}
        self._of_servers.pop(session, None)
        for name, text in loaded:
            self.note(session, name, text)

    def active(self, session: str) -> list[str]:
        """Return the skills that ``session`` has loaded, newest first."""
        return list(self._loaded.get(session, {}))[::-1]

    def of_servers(self, session: str) -> list[str]:
        """Return the skills of MCP servers that ``session`` acts on, each as ``name@set``."""
        return list(self._of_servers.get(session, {}).values())

    def forget(self, session: str) -> None:
        """Forget what ``session`` has loaded, when it ends."""
        self._loaded.pop(session, None)
        self._of_servers.pop(session, None)


@record
class _Given:
    """What one call gives: the text, the rules that it brings, and the bytes of the whole where it was cut."""

    text: str
    grants: tuple[Rule, ...]
    whole_bytes: int


class SkillTool:
    """Implements ``core.seams.Tool``. ``offered`` returns the skills that may be loaded now, sorted by name.

    ``find`` resolves a name tolerantly; what it finds must be among the offered ones. ``refresh`` picks up edits.
    ``covered`` tells whether trust covers a skill with the bytes that its file has now, ``may_grant`` whether
    ``allowed-tools`` count (a trusted folder). ``remote`` are the skills of servers, ``may_load``
    tells which of their names may be loaded.
    """

    def __init__(
        self,
        offered: Callable[[], Sequence[Skill]],
        find: Callable[[str], Skill | None],
        *,
        refresh: Callable[[], object] | None = None,
        activations: Activations | None = None,
        covered: Covered | None = None,
        may_grant: Callable[[], bool] = lambda: False,
        remote: RemoteSkills | None = None,
        may_load: Callable[[str], bool] = lambda name: True,
    ) -> None:
        self._offered = offered
        self._find = find
        self._refresh = refresh
        self.activations = activations or Activations()
        self._covered = covered
        self._may_grant = may_grant
        self._remote = remote or RemoteSkills(lambda: ())
        self._may_load = may_load

    @property
    def spec(self) -> ToolSpec:
        """The tool with the names that exist now; without skills it should not be offered at all.

        Names that are too many for a schema are in the catalogue alone.
        """
        names = [skill.name for skill in self._offered()]
        name: dict[str, Any] = {"type": "string", "description": "The skill's name."}
        properties: dict[str, Any] = {"name": name}
        if self._remote.publishing:
            name["description"] = _REMOTE_NAME
            properties["file"] = {"type": "string", "description": _REMOTE_FILE}
        elif len(names) <= ENUM_NAMES and sum(map(len, names)) <= ENUM_CHARS:
            name["enum"] = names
        else:
            name["description"] = "The skill's name, exactly as the list of skills has it."
        parameters = {
            "type": "object",
            "properties": properties,
            "required": ["name"],
            "additionalProperties": False,
        }
        return ToolSpec("skill", _DESCRIPTION, parameters, SourceRef("skill"), read_only=True)

    def narrowed(self, skills: Sequence[Skill], may_load: Callable[[str], bool] = lambda name: True) -> SkillTool:
        """Return this tool for an agent that may use only ``skills``, and of those of servers what ``may_load`` says.

        It shares what was loaded.
        """
        return SkillTool(
            lambda: skills,
            self._find,
            refresh=self._refresh,
            activations=self.activations,
            covered=self._covered,
            may_grant=self._may_grant,
            remote=self._remote,
            may_load=may_load,
        )

    async def prepare(self, arguments: dict[str, Any], context: ToolContext) -> PreparedCall:
        """Find the skill. Raises ``ToolError`` that names the skills there are."""
        known = ("name", "file") if self._remote.publishing else ("name",)
        unknown = sorted(arguments.keys() - set(known))
        if unknown:
            mend = f"known are {', '.join(known)}" if len(known) > 1 else "the only one is name"
            raise ToolError(f"unknown arguments: {', '.join(unknown)}", where="skill", mend=mend)
        name = arguments.get("name")
        if not isinstance(name, str) or not name.strip():
            raise ToolError("name is missing or no text", where="skill", mend="give the name of a skill")
        if self._refresh is not None:
            await asyncio.to_thread(self._refresh)
        file = arguments.get("file")
        if self._remote.means(name):
            if file is not None and not isinstance(file, str):
                raise ToolError("file is no text", where="skill", mend="give a name of the list of its files")
            return await self._remote.prepare(name, file or None, context, self._may_load)
        if file is not None:
            mend = "read the files of this skill with read, from the folder that its text names"
            raise ToolError("file is for skills of MCP servers", where="skill", mend=mend)
        offered = self._offered()
        skill = self._find(name)
        if skill is None or all(skill.path != other.path for other in offered):
            known = cut_end(", ".join(other.name for other in offered), _KNOWN_CHARS) or "there are none"
            raise ToolError(f"no skill is called {name!r}", where="skill", mend=f"known skills: {known}")
        title = clean_for_display(f"skill {skill.name}", one_line=True)
        preview = ArgumentsPreview({"name": skill.name})
        return PreparedCall(title, (Check("skill", skill.name),), preview, skill)

    async def run(self, prepared: PreparedCall, context: ToolContext) -> ToolResult:
        """Read the skill as it is now and return it with its folder and files."""
        skill = prepared.state
        if isinstance(skill, (Loading, Reading)):
            return self._noted(await self._remote.run(prepared, context), skill, context)
        if not isinstance(skill, Skill):
            raise ToolError("this call was not prepared", where="skill")
        try:
            given = await asyncio.to_thread(self._read, skill, {"HARNESS_PROJECT_DIR": _as_text(context.root)})
        except HarnessError as problem:
            raise ToolError(problem.what, where=problem.where, mend=problem.mend) from problem
        # A name in the file system need not be text; what goes into a record is.
        metadata = {"skill": skill.name, "folder": _as_text(skill.folder), "path": _as_text(skill.path)}
        if not self.activations.note(context.session, skill.name, given.text):
            note = f"The skill {skill.name} is loaded already and has not changed: its text is in this conversation."
            return ToolResult(note, metadata={**metadata, "repeated": True}, grants=given.grants)
        if not given.whole_bytes:
            return ToolResult(given.text, metadata=metadata, grants=given.grants)
        return ToolResult(
            given.text,
            metadata=metadata,
            full_output=_as_text(skill.path),
            full_bytes=given.whole_bytes,
            grants=given.grants,
        )

    def _noted(self, result: ToolResult, what: Loading | Reading, context: ToolContext) -> ToolResult:
        if isinstance(what, Reading) or self.activations.note(context.session, what.skill.name, result.output):
            return result
        note = f"The skill {what.skill.name} is loaded already and has not changed: its text is in this conversation."
        return replace(result, output=note, metadata={**result.metadata, "repeated": True})

    def _read(self, skill: Skill, variables: dict[str, str]) -> _Given:
        """Read a skill as it is now. Blocking. Raises ``HarnessError``."""
        document = skill.body()
        if self._covered is not None and not self._covered(skill, document.raw):
            what = "the skill has changed since its folder was trusted"
            raise HarnessError(what, where=str(skill.path), mend="ask the person to run harness trust")
        folder = _as_text(skill.folder)
        known = {**variables, "HARNESS_SKILL_DIR": folder}
        known |= {name.replace("HARNESS_", "CLAUDE_"): value for name, value in known.items()}
        body = replace_variables(document.body.strip(), known)
        files = file_lines(skill.folder)
        around = wrapped(skill.name, folder, "", files)
        # The body alone is cut: what tells where the rest is stays, and so do the marks around it.
        cut = cut_middle(
            body,
            max_bytes=max(_LEAST_BYTES, TOOL_OUTPUT_BYTES - len(around.encode("utf-8", "replace")) - _MARKS),
            max_lines=TOOL_OUTPUT_LINES - around.count("\n"),
            note=f"The text was cut; the whole is in {clean_for_display(str(skill.path), one_line=True)}",
        )
        text = wrapped(skill.name, folder, cut.text, files)
        return _Given(text, self._rules(skill, document), len(body.encode("utf-8", "replace")) if cut.omitted else 0)

    def _rules(self, skill: Skill, document: Document) -> tuple[Rule, ...]:
        if skill.downloaded or not self._may_grant():
            return ()
        header = read_header(document, Findings(str(skill.path)))  # of the same bytes as the body
        rules, _ = granted(header.allowed_tools, f"{skill.path}:{header.allowed_tools_line}")
        return rules


def _as_text(path: Path) -> str:
    return os.fsencode(path).decode("utf-8", "replace")
