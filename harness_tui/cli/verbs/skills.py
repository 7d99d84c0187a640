"""``harness skills``: what skills there are, what the model is told of them, and what is wrong with any."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness_tui.cli.common import (
    fail,
    json_option,
    print_json,
    print_line,
    print_table,
    root_option,
    warn,
)
from harness_tui.cli.creating import create_from_template, place_option
from harness_tui.config.folders import tool_of
from harness_tui.core.codec import encode
from harness_tui.core.errors import UsageError
from harness_tui.core.text import cut_end

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness_tui.core.remote_skills import RemoteSkill
    from harness_tui.library.diagnostics import Diagnostic
    from harness_tui.library.skill_file import Skill


@click.group(short_help="List, show, check and create skills.")
def command() -> None:
    """List, show, check and create skills."""


@command.command("list")
@root_option
@json_option
def list_skills(root: Path, as_json: bool) -> int:
    """List every skill, also those that cannot be used."""
    from harness_tui.cli.library import denied_skills, open_library, server_skills

    opened = open_library(root)
    denied = denied_skills(opened)
    rows = [_row(skill, denied) for skill in opened.library.skills()]
    rows += [_server_row(skill, denied) for skill in server_skills(opened)]
    if as_json:
        print_json(rows)
        return 0
    shown = [row | {"description": cut_end(row["description"], 70)} for row in rows]
    print_table(shown, ["name", "source", "tool", "in_catalog", "hidden_reason", "description"])
    return 0


def _row(skill: Skill, denied: Container[str]) -> dict[str, Any]:
    reason = skill.hidden_reason or ("denied" if skill.name in denied else None)
    row: dict[str, Any] = {
        "name": skill.name,
        "source": skill.source,
        "tool": "harness" if skill.scope == "bundled" else tool_of(skill.path),
        "path": str(skill.path),
        "description": skill.description,
        "trusted": skill.trusted,
        "in_catalog": reason is None,
    }
    return row if reason is None else row | {"hidden_reason": reason}


def _server_row(skill: RemoteSkill, denied: Container[str]) -> dict[str, Any]:
    reason = skill.problem or ("denied" if skill.name in denied else None)
    row: dict[str, Any] = {
        "name": skill.name,
        "source": "mcp",
        "tool": skill.server,
        "path": skill.uri,
        "description": skill.description,
        "trusted": True,
        "in_catalog": reason is None,
    }
    return row if reason is None else row | {"hidden_reason": reason}


@command.command("show")
@click.argument("name")
@root_option
@json_option
def show_skill(name: str, root: Path, as_json: bool) -> int:
    """Show the skill NAME: where it comes from and what it says."""
    from harness_tui.cli.library import denied_skills, open_library, server_skills
    from harness_tui.library.skill_text import file_lines

    opened = open_library(root)
    library, denied = opened.library, denied_skills(opened)
    for skill in server_skills(opened):
        if skill.name == name:
            return _show_server_skill(skill, denied, as_json)
    found = library.find_skill(name) or next((skill for skill in library.skills() if skill.name == name), None)
    if found is None:
        fail(UsageError(f"there is no skill {name!r}", mend="harness skills list shows all", code="unknown-skill"))
    text = found.body().body if found.loaded else ""
    if as_json:
        warnings = [str(item) for item in found.diagnostics]
        print_json(_row(found, denied) | {"license": found.license, "warnings": warnings, "body": text})
        return 0
    for key, value in _row(found, denied).items():
        print_line(f"{key}: {value}")
    print_line("\n".join(["", text.strip(), "", *file_lines(found.folder)]))
    for diagnostic in found.diagnostics:
        warn(str(diagnostic))
    return 0


def _show_server_skill(skill: RemoteSkill, denied: Container[str], as_json: bool) -> int:
    if as_json:
        files = [encode(file) for file in skill.files]
        print_json(_server_row(skill, denied) | {"set": skill.set, "front_matter": skill.front_matter, "files": files})
    else:
        print_line(skill.shown)
    return 0


@command.command("check")
@click.argument("paths", nargs=-1, type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="[PATH]...")
@root_option
@json_option
def check_skills(paths: tuple[Path, ...], root: Path, as_json: bool) -> int:
    """Check skills: all that are found, or each PATH (the folder of one skill, or a folder of skills)."""
    from harness_tui.cli.library import open_library
    from harness_tui.library.skills import read_folder

    if paths:
        indexes = [read_folder(path) for path in paths]
        skills = [skill for index in indexes for skill in index.skills]
        problems = [problem for index in indexes for problem in index.problems]
    else:
        library = open_library(root).library
        skills, problems = library.skills(), library.skill_problems()
    rows = _checked(skills, problems)
    if as_json:
        print_json([row | {"warnings": [str(item) for item in row["warnings"]]} for row in rows])
    else:
        for row in rows:
            print_line(f"{'ok' if row['loaded'] else 'not loaded'}: {row['name']} ({row['path']})")
            for item in row["warnings"]:
                print_line(f"  {item.level}: {item}")
        print_line(f"{len(skills)} skill(s), {sum(not skill.loaded for skill in skills)} not loaded")
    return 1 if any(problem.level == "error" for problem in problems) else 0


def _checked(skills: Sequence[Skill], problems: Sequence[Diagnostic]) -> list[dict[str, Any]]:
    """Return one row for each skill, and one for each other path that something is wrong with, with its findings."""
    rows: dict[str, dict[str, Any]] = {
        str(skill.path): {
            "path": str(skill.path),
            "loaded": skill.loaded,
            "name": skill.name,
            "description": skill.description,
            "warnings": [],
            "in_catalog": skill.hidden_reason is None,
        }
        for skill in skills
    }
    folders = {str(skill.folder): str(skill.path) for skill in skills}
    for problem in problems:
        path = folders.get(problem.path, problem.path)
        other = {"path": path, "loaded": False, "name": Path(path).name, "description": "", "in_catalog": False}
        rows.setdefault(path, other | {"warnings": []})["warnings"].append(problem)
    return list(rows.values())


@command.command("new")
@click.argument("name")
@place_option
@root_option
@json_option
def new_skill(name: str, user: bool, root: Path, as_json: bool) -> int:
    """Create the skill NAME from a template, ready to be edited."""
    return create_from_template("skills", name, root, user=user, as_json=as_json)
