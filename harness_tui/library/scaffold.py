"""New commands and skills from a template: one way for the command line and for the shell.

A template passes its own check as it is and never takes the place of a file. What else can be written stands as
comments in its front matter, since a comment in the text would be sent.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from harness_tui.config.places import Places
from harness_tui.config.project import Project
from harness_tui.config.trust import TrustStore
from harness_tui.core.errors import HarnessError, UsageError
from harness_tui.core.paths import short
from harness_tui.library.command_file import command_name, name_key
from harness_tui.library.commands import RESERVED
from harness_tui.library.discovery import COMMAND_DEPTH
from harness_tui.library.roots import RANK, Kind
from harness_tui.library.skill_file import NAME_CHARS, slug

_NAME_BYTES: Final = 200
_SKIPPED: Final = "readme"
_PREFIXES: Final = (*RANK, "skill", "mcp")

_COMMAND: Final = """\
---
description: What /{name} is for, in one line
argument-hint: "[what to look at]"

# Lines that begin with # are not sent. Take it away from what you need:
# agent: plan                      another agent for this run
# model: provider/model            another model for this run
# subtask: true                    a run of its own; only its result comes back
# allowed-tools: Bash(git diff:*)  what need not be asked for in this run, in a trusted folder

# In the text below:
#   $ARGUMENTS      what was typed after the name; without it that is added at the end
#   $1  ${{2:-all}}   single words of it, with a value where there is none
#   @README.md      attaches a file
#   !`git status`   runs a command, and its output takes its place; it is asked for first
---
Write here what the agent is to do with: $ARGUMENTS
"""

_SKILL: Final = """\
---
name: {name}
description: What this skill knows how to do, and when to use it, in words that a model can choose by

# Lines that begin with # are not read. Take it away from what you need:
# disable-model-invocation: true   only people use it, as /{name}
# user-invocable: false            only models use it
# allowed-tools: Read              what need not be asked for while it is used, in a trusted folder

# The text below is read once the skill was chosen. What is long goes into files beside this one, named in the text by
# their path from here: references/details.md, scripts/check.sh
---
# {title}

Write here, step by step, what to do.

1. The first step.
2. The second step.
"""


def create(kind: Kind, name: str, *, user: bool, project: Project, places: Places) -> tuple[str, Path]:
    """Write a new command or skill for ``project``, or for all of the person's; return its name and file.

    A folder that was trusted stays so: the person made this file. Raises ``UsageError``. Blocking.
    """
    new = new_command if kind == "commands" else new_skill
    if user:
        return new(places.config, name)
    store = TrustStore(places)
    trusted = store.status(project).trusted
    made, path = new(project.root / ".harness", name)
    if trusted:
        store.update(project, path)
    return made, path


def new_command(base: Path, name: str) -> tuple[str, Path]:
    """Write the command ``name`` below ``base/commands``; return its name and file.

    ``name`` may begin with ``/`` and have parts with ``/`` or ``:`` between. Raises ``UsageError`` for a name that
    cannot be used and for a file that is there.
    """
    parts = _command_parts(name)
    whole = "/".join(parts)
    path = base.joinpath("commands", *parts[:-1], f"{parts[-1]}.md")
    _write(path, _COMMAND.format(name=whole), "command")
    return whole, path


def new_skill(base: Path, name: str) -> tuple[str, Path]:
    """Write the skill ``name`` into a folder of its own below ``base/skills``; return its name and file.

    Raises ``UsageError`` as :func:`new_command`.
    """
    if not name or slug(name) != name or len(name) > NAME_CHARS or len(name.encode()) > _NAME_BYTES:
        near = slug(name)[:NAME_CHARS].strip("-")
        mend = f"use lowercase letters, digits and single hyphens, {NAME_CHARS} characters at most"
        raise UsageError(f"{name!r} is no name for a skill", mend=f"{mend}: {near}" if near else mend, code="name")
    path = base / "skills" / name / "SKILL.md"
    other = next((found for found in ("SKILL.md", "skill.md") if os.path.lexists(path.parent / found)), None)
    if other is not None:
        raise _taken(path.parent / other, "skill")
    title = name.replace("-", " ").capitalize()
    _write(path, _SKILL.format(name=name, title=title), "skill")
    return name, path


def next_steps(kind: Kind, name: str, path: Path) -> str:
    """Say in one line what to do with a file that was just written."""
    where = short(path)
    if kind == "commands":
        return f"edit {where}, try it with harness commands expand '/{name} ...', use it as /{name}"
    return f"edit {where}, check it with harness skills check {short(path.parent)}, use it as /{name}"


def _command_parts(name: str) -> list[str]:
    mend = "use letters, digits and hyphens, with / between parts"
    given = name.removeprefix("/").removesuffix(".md")
    try:
        parts = name_key(command_name(given.split("/"))).split("/")
    except HarnessError as problem:
        raise UsageError(f"{name!r} is no name for a command: {problem.what}", mend=mend, code="name") from problem
    if any(not part.strip(".") or part.startswith((".", "_")) or part.casefold() == _SKIPPED for part in parts):
        reason = "parts that are empty or README, or begin with a dot or underscore, are passed over"
        raise UsageError(f"{name!r} is no name for a command: {reason}", mend=mend, code="name")
    if len(parts) > 1 and parts[0] in _PREFIXES:
        reason = f"{parts[0]}/ in front of a name says where a command comes from"
        raise UsageError(f"{name!r} is no name for a command: {reason}", mend="use another first part", code="name")
    if any(len(part.encode()) > _NAME_BYTES for part in parts):
        raise UsageError("the name is too long for a file", mend="use a shorter one", code="name")
    if len(parts) > COMMAND_DEPTH:
        raise UsageError(f"{name!r} has more than {COMMAND_DEPTH} parts", mend="use fewer", code="name")
    if "/".join(parts) in RESERVED:
        raise UsageError(f"/{'/'.join(parts)} is one of Harness's own commands", mend="use another name", code="name")
    return parts


def _write(path: Path, text: str, what: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Created only where nothing is, a link that leads nowhere included: there is no moment between look and write.
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    except FileExistsError as error:
        if not os.path.lexists(path):
            mend = "a file stands in the place of the folder: move it away"
            raise UsageError(f"{short(path.parent)} is no folder", mend=mend, code="place") from error
        raise _taken(path, what) from error
    except OSError as error:
        reason = f"the {what} cannot be written: {error.strerror or error}"
        raise UsageError(
            reason, where=str(path), mend="look at the folder and its permissions", code="place"
        ) from error
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)


def _taken(path: Path, what: str) -> UsageError:
    return UsageError(
        f"there is such a {what} already", where=str(path), mend="edit it, or use another name", code="taken"
    )
