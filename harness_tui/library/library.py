"""The library of one project: its commands, skills and prompts under one roof.

Files are looked at again whenever something is used, and read again only when they changed. One index feeds lists,
completion, the model's catalogue and the loader, so they never disagree.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from harness_tui.config.places import Places
from harness_tui.config.project import Project
from harness_tui.core.errors import HarnessError
from harness_tui.core.messages import Attachment
from harness_tui.core.resources import ReadableResources
from harness_tui.core.seams import ProcessSpawner, PromptSource, PromptSpec
from harness_tui.core.values import AgentDefinition
from harness_tui.library.candidates import typed_names
from harness_tui.library.catalogue import CATALOGUE_CHARS, catalogue_text
from harness_tui.library.command_file import Command, name_key
from harness_tui.library.commands import RESERVED, CommandIndex, CommandRegistry
from harness_tui.library.completion import CANDIDATES, Candidate, rank
from harness_tui.library.diagnostics import Diagnostic, Findings
from harness_tui.library.expand import TemplateSource, expand_template
from harness_tui.library.expansion import Expansion, ShellGate, Surroundings, failed
from harness_tui.library.header import read_header
from harness_tui.library.invocation import Invocation, read_invocation
from harness_tui.library.lexer import find_mentions
from harness_tui.library.mentions import MentionReader, ReadGate, inside_only
from harness_tui.library.prompts import expand_prompt, find_prompt, hint, one_line, prompt_names
from harness_tui.library.remote_skills import RemoteSkills
from harness_tui.library.resource_mentions import ResourceMentions
from harness_tui.library.roots import RANK, find_roots
from harness_tui.library.skill_file import Skill, folder_name, slug
from harness_tui.library.skill_text import file_lines
from harness_tui.library.skill_tool import Activations, SkillTool
from harness_tui.library.skills import Denied, SkillIndex, SkillRegistry, offered

Covers: TypeAlias = Callable[[Path, str], bool]
Target: TypeAlias = Command | Skill | PromptSpec


class Library:
    """Commands and skills of ``project``; ``trusted`` tells whether its own ones may be used. Safe to use from threads.

    Nothing is read before :meth:`refresh`, which :meth:`expand` calls itself. ``covers`` tells whether trust covers a
    project's file with the text that it has now: files may change while the shell runs. ``remote`` are the skills of
    servers.
    """

    def __init__(
        self,
        project: Project,
        places: Places,
        *,
        trusted: bool,
        environ: Mapping[str, str] | None = None,
        bundled_commands: Path,
        bundled_skills: Path,
        covers: Covers | None = None,
    ) -> None:
        self._project = project
        self._places = places
        self._trusted = trusted
        self._covers = covers
        self._environ = os.environ if environ is None else environ
        self._bundled = {"commands": bundled_commands, "skills": bundled_skills}
        self._lock = threading.Lock()
        self._version = 0
        cache = places.cache / "library"
        self._command_registry, self._skill_registry = CommandRegistry(cache), SkillRegistry(cache)
        self._commands, self._skills = CommandIndex(), SkillIndex()
        self._candidates: tuple[CommandIndex, SkillIndex, list[Candidate]] | None = None
        self._folders: tuple[SkillIndex, dict[str, Skill]] | None = None
        self._activations = Activations()
        self.remote = RemoteSkills(lambda: self._skills.names)
        self._tool = SkillTool(
            lambda: offered(self._skills),
            self.find_skill,
            refresh=self.refresh,
            activations=self._activations,
            covered=self._covered,
            may_grant=lambda: self._trusted,
            remote=self.remote,
        )

    # --- what there is ---------------------------------------------------------------------------

    def refresh(self) -> None:
        """Look at every folder again and read what changed. Blocking: belongs into a thread."""
        with self._lock:
            before = self._commands, self._skills
            found = {
                kind: find_roots(
                    kind,
                    self._project,
                    self._places,
                    trusted=self._trusted,
                    environ=self._environ,
                    bundled=self._bundled[kind],
                )
                for kind in ("commands", "skills")
            }
            self._commands = self._command_registry.refresh(found["commands"])
            self._skills = self._skill_registry.refresh(found["skills"])
            self._version += self._commands is not before[0] or self._skills is not before[1]

    @property
    def version(self) -> int:
        """A number that is another one after each :meth:`refresh` that found a change."""
        return self._version

    def set_trusted(self, trusted: bool) -> None:
        """Take a change of the folder's trust; it counts from the next :meth:`refresh` on."""
        self._trusted = trusted

    def commands(self) -> list[Command]:
        """Return all command files, also shadowed, broken and untrusted ones."""
        return list(self._commands.commands)

    def skills(self) -> list[Skill]:
        """Return all skill files, also those that cannot be used."""
        return list(self._skills.skills)

    def find_command(self, name: str) -> Command | None:
        """Return the command that ``name`` means, if it may be used."""
        return self._commands.find(name)

    def find_skill(self, name: str) -> Skill | None:
        """Return the skill that ``name`` means, if it may be used."""
        return self._skills.find(name)

    def problems(self) -> list[Diagnostic]:
        """Return everything that is wrong with any file, in the order in which it was found."""
        return [*self._commands.problems, *self._skills.problems]

    def command_problems(self) -> list[Diagnostic]:
        """Return what is wrong with command files and their folders."""
        return list(self._commands.problems)

    def skill_problems(self) -> list[Diagnostic]:
        """Return what is wrong with skill files and their folders."""
        return list(self._skills.problems)

    def suggest(self, name: str, prompts: PromptSource | None = None) -> str | None:
        """Return the known name that is closest to ``name``, without its slash."""
        skills = [skill.slug for skill in self._skills.names.values()]
        specs = prompts.prompts() if prompts is not None else ()
        return self._commands.suggest(name, [*skills, *prompt_names(specs)])

    def complete(self, prefix: str, prompts: PromptSource | None = None, *, limit: int = CANDIDATES) -> list[Candidate]:
        """Return what ``prefix`` (with or without its slash) can become, best first. Reads no files."""
        known = self._known_candidates()
        specs = prompts.prompts() if prompts is not None else ()
        asked = [
            Candidate(name, one_line(spec.description), hint(spec), spec.server, "prompt")
            for name, spec in prompt_names(specs).items()
        ]
        return rank(prefix, [*known, *asked], limit=limit)

    # --- what the model gets ---------------------------------------------------------------------

    def offered(self, agent: AgentDefinition, denied: Denied | None = None) -> list[Skill]:
        """Return the skills that ``agent`` may load, by name, as the latest :meth:`refresh` found them."""
        return offered(self._skills, agent, denied)

    def catalogue(self, agent: AgentDefinition, denied: Denied | None = None, *, budget: int = CATALOGUE_CHARS) -> str:
        """Return the list of skills for the system prompt of ``agent``, empty without any. Blocking: reads files."""
        self.refresh()
        return catalogue_text(self.offered(agent, denied), budget=budget)

    def tools(self) -> Sequence[SkillTool]:
        """Return the tool ``skill``, or nothing while there are no skills (the seam ``ToolSource``)."""
        return [self._tool] if self.remote.publishing or offered(self._skills) else []

    def skill_tool(
        self, skills: Sequence[Skill], may_load: Callable[[str], bool] = lambda name: True
    ) -> SkillTool | None:
        """Return the tool for ``skills`` and what ``may_load`` lets through of those of servers, ``None`` for none."""
        return self._tool.narrowed(skills, may_load) if skills or self.remote.publishing else None

    def forget(self, session: str) -> None:
        """Forget what ``session`` has loaded, when it ends."""
        self._activations.forget(session)
        self.remote.forget(session)

    def name_in(self, folder: str) -> str:
        """Return the name of the skill in use whose folder is ``folder``, else the folder's own name."""
        path = Path(folder)
        found = next((skill for skill in self._skills.names.values() if skill.folder == path), None)
        return found.name if found is not None else folder_name(path)

    def holding(self, path: Path) -> Skill | None:
        """Return the skill in use that ``path`` (a real path) belongs to: its folder, or anything in it. Blocking."""
        skills = self._skills
        if self._folders is None or self._folders[0] is not skills:
            # Its folder is where links lead to: what a link inside it leads to does not belong to it.
            self._folders = skills, {os.path.realpath(skill.folder): skill for skill in skills.names.values()}
        known = self._folders[1]
        return next((known[str(folder)] for folder in (path, *path.parents) if str(folder) in known), None)

    @property
    def activations(self) -> Activations:
        """Which skills each session has loaded."""
        return self._activations

    # --- what a person types ---------------------------------------------------------------------

    async def expand(
        self,
        line: str,
        *,
        agents: Collection[str],
        models: Callable[[str], bool],
        spawner: ProcessSpawner | None = None,
        shell_gate: ShellGate | None = None,
        read_gate: ReadGate | None = None,
        person_gate: ReadGate | None = None,
        resources: ReadableResources | None = None,
        person_resources: ReadableResources | None = None,
        images: bool = True,
        prompts: PromptSource | None = None,
        session: str | None = None,
        stand_in: Callable[[str], str] | None = None,
        denied: Denied | None = None,
    ) -> Expansion:
        """Return what ``/name args`` becomes. Never raises for what was typed, or for what a file says.

        ``read_gate`` decides on mentions in the template, ``person_gate`` on those in the arguments. A first word that
        looks like a path and names no command makes the whole line a plain message. Codes of errors besides those of
        templates: ``unknown-command``, ``untrusted``, ``missing-argument``, ``prompt-failed``, ``broken-skill``,
        ``skill-denied`` (``denied`` tells which skills are). With ``stand_in`` nothing runs, see
        :class:`~harness_tui.library.expansion.Surroundings`.
        """
        around = Surroundings(
            root=self._project.root,
            agents=agents,
            models=models,
            spawner=spawner,
            shell_gate=shell_gate,
            read_gate=read_gate,
            person_gate=person_gate,
            resources=resources,
            person_resources=person_resources,
            images=images,
            session=session,
            may_grant=self._trusted,
            stand_in=stand_in,
        )
        call = read_invocation(line)
        if call is None:
            return await self._as_message(line, around)
        await asyncio.to_thread(self.refresh)
        match self._resolve(call.name, prompts):
            case Command() as command:
                return await self._expand_command(command, call, around)
            case Skill() as skill:
                if denied is not None and denied(skill.name):
                    return failed("skill-denied", f"/{call.name}: a rule denies the skill {skill.name!r}, {skill.path}")
                return await self._expand_skill(skill, call, around)
            case PromptSpec() as spec if prompts is not None:
                name = next(name for name, other in prompt_names(prompts.prompts()).items() if other is spec)
                return await expand_prompt(spec, call.args_line, prompts, name=name)
            case _:
                return await self._not_found(line, call, around, prompts)

    async def attach_mentions(
        self,
        text: str,
        *,
        read_gate: ReadGate | None = None,
        resources: ReadableResources | None = None,
        images: bool = True,
        agents: Collection[str] = (),
    ) -> tuple[tuple[Attachment, ...], tuple[str, ...]]:
        """Return what a typed message mentions, ``agents`` too, and a warning for each that is not attached."""
        reader = MentionReader(self._project.root, images=images, agents=agents)
        named = ResourceMentions(resources, images=images)
        paths = await named.take(find_mentions(text))
        await reader.attach(paths, read_gate or inside_only(self._project.root))
        return (*reader.attachments, *named.attachments), (*reader.warnings, *named.warnings)

    # --- inside ----------------------------------------------------------------------------------

    def _resolve(self, name: str, prompts: PromptSource | None) -> Target | None:
        specs = prompts.prompts() if prompts is not None else ()
        kind, _, rest = name.replace(":", "/", 1).partition("/")
        if kind == "skill" and rest and (named := self._skills.find(rest)) is not None:
            return named
        if (kind == "mcp" or name.startswith("mcp__")) and (spec := find_prompt(name, specs)) is not None:
            return spec
        if name_key(name) in RESERVED:
            return None
        command = self._commands.exact(name)
        skill = self._skills.slugs.get(slug(name)) if "/" not in name_key(name) else None
        if command is not None and skill is not None:
            if name_key(name) not in self._commands.names:  # an alias never takes the place of a name
                return skill
            return skill if RANK[skill.scope] > RANK[command.scope] else command
        return command or skill or self._commands.find(name) or find_prompt(name, specs) or self._skills.find(name)

    async def _expand_command(self, command: Command, call: Invocation, around: Surroundings) -> Expansion:
        try:
            text = await asyncio.to_thread(command.read)
        except HarnessError as problem:
            return failed(problem.code, f"/{command.name} cannot be read: {problem}")
        if not await asyncio.to_thread(self._covered, command, text.raw):
            return _changed(command.name, command.path)
        return await expand_template(text.template, call.args_line, around)

    async def _expand_skill(self, skill: Skill, call: Invocation, around: Surroundings) -> Expansion:
        try:
            document = await asyncio.to_thread(skill.body)
        except HarnessError as problem:
            return failed("broken-skill", str(problem))
        if not await asyncio.to_thread(self._covered, skill, document.raw):
            return _changed(skill.slug, skill.path)
        header = read_header(document, Findings(str(skill.path)))  # of the same bytes as the body
        appendix = "\n".join(await asyncio.to_thread(file_lines, skill.folder))
        source = TemplateSource(
            name=skill.slug,
            path=str(skill.path),
            header=header,
            body=document.body,
            diagnostics=tuple(item for item in skill.diagnostics if item.level == "error"),
            shell=skill.trusted and not skill.downloaded,
            appendix=f"\n\n{appendix}",
            skill=skill.name,
            skill_folder=skill.folder,
        )
        found = await expand_template(source, call.args_line, around)
        # The name of a folder need not be text, a message is.
        return replace(found, message=found.message.encode("utf-8", "replace").decode("utf-8"))

    def _covered(self, item: Command | Skill, raw: bytes) -> bool:
        if self._covers is None or item.scope != "project":
            return True
        return self._covers(item.path, raw.decode("utf-8", "replace"))

    async def _not_found(
        self, line: str, call: Invocation, around: Surroundings, prompts: PromptSource | None
    ) -> Expansion:
        untrusted = self._commands.find_untrusted(call.name) or self._skills.find_untrusted(
            call.name.removeprefix("skill:")
        )
        if untrusted is not None:
            text = f"/{call.name} is in a folder that is not trusted, {untrusted.path}: run harness trust to use it"
            return failed("untrusted", text)
        if name_key(call.name) in RESERVED:
            text = f"/{call.name} is one of Harness's own commands: it works in the shell, not in a message"
            return failed("unknown-command", text)
        if call.looks_like_path:
            return await self._as_message(line, around)
        close = self.suggest(call.name, prompts)
        text = f"unknown command /{call.name}" + (f"; did you mean /{close}?" if close is not None else "")
        return failed("unknown-command", text)

    async def _as_message(self, line: str, around: Surroundings) -> Expansion:
        text = line[1:] if line.startswith("//") else line
        gate = around.person_gate or around.read_gate
        attachments, warnings = await self.attach_mentions(
            text, read_gate=gate, resources=around.person_resources or around.resources, images=around.images
        )
        return Expansion(message=text, attachments=attachments, warnings=warnings)

    def _known_candidates(self) -> list[Candidate]:
        commands, skills = self._commands, self._skills
        if self._candidates is not None and self._candidates[0] is commands and self._candidates[1] is skills:
            return self._candidates[2]
        self._candidates = commands, skills, typed_names(commands, skills)
        return self._candidates[2]


def _changed(name: str, path: Path) -> Expansion:
    text = f"/{name} has changed since its folder was trusted, {path}: run harness trust to see how, and to use it"
    return failed("untrusted", text)
