"""``harness mcp add`` and ``harness mcp remove``: servers written into, and taken out of, the configuration."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from harness_tui.cli.common import json_option, print_json, print_line, root_option, warn
from harness_tui.core.errors import UsageError

if TYPE_CHECKING:
    from harness_tui.config.places import Places
    from harness_tui.config.project import Project
    from harness_tui.config.settings import McpServerSettings

_HOW = """\
\b
  harness mcp add time -- uvx mcp-server-time
  harness mcp add --header 'X-Key={env:DOCS_KEY}' docs https://docs.example/mcp
  harness mcp add '{"mcpServers": {"git": {"command": "mcp-server-git"}}}'
  harness mcp add - < servers.json
"""


@click.command("add", context_settings={"allow_interspersed_args": False}, epilog=_HOW)
@click.option("--project", "level", flag_value="project", help="Into this project's .harness/config.yaml.")
@click.option("--user", "level", flag_value="user", default="user", help="Into your own config.yaml (default).")
@click.option("--env", "env", metavar="NAME=VALUE", multiple=True, help="A variable of the server; may be repeated.")
@click.option("--header", "headers", metavar="NAME=VALUE", multiple=True, help="A header of a server behind a URL.")
@click.option("--sse", is_flag=True, help="The URL speaks the older SSE transport.")
@root_option
@json_option
@click.argument("words", metavar="[NAME] COMMAND...|URL|JSON", nargs=-1, required=True)
def add(
    level: Literal["user", "project"],
    env: tuple[str, ...],
    headers: tuple[str, ...],
    sse: bool,
    root: Path,
    as_json: bool,
    words: tuple[str, ...],
) -> int:
    """Add MCP servers: a command line, a URL, or JSON as any tool writes it (- reads it from standard input).

    Options go before the name. A secret in clear text is not written: its place takes {env:NAME}.
    """
    from harness_tui.config.server_adding import add_servers

    project, places, known = _configured(root)
    name, rest = _split(words)
    added = add_servers(
        name,
        rest,
        level=level,
        project=project,
        places=places,
        taken=known,
        env=_pairs(env),
        headers=_pairs(headers),
        sse=sse,
    )
    for variable, what in added.secrets:
        warn(f"{what}: the secret was not written; set {variable} in the environment that harness is started from")
    for note in added.notes:
        warn(note)
    trusted = level == "user" or _trusted(project, places)
    if as_json:
        secrets = [{"variable": variable, "what": what} for variable, what in added.secrets]
        servers = [{"name": new, "entry": entry} for new, entry in added.entries.items()]
        print_json(
            {
                "file": str(added.file),
                "servers": servers,
                "secrets": secrets,
                "notes": list(added.notes),
                "trusted": trusted,
            }
        )
        return 0
    for new, entry in added.entries.items():
        runs = shlex.join(entry["command"]) if "command" in entry else entry["url"]
        print_line(f"added {new} ({runs}) to {added.file}; `harness mcp doctor {new}` tries it")
    if not trusted:
        warn(f"{project.root} is not trusted: the servers of its files start after `harness trust`")
    return 0


@click.command("remove")
@click.argument("name")
@click.option("--project", "level", flag_value="project", help="Only from this project's .harness/config.yaml.")
@click.option("--user", "level", flag_value="user", help="Only from your own config.yaml.")
@root_option
@json_option
def remove(name: str, level: Literal["user", "project"] | None, root: Path, as_json: bool) -> int:
    """Take the server NAME out of the file that it stands in."""
    from harness_tui.config.server_adding import remove_server

    project, places, known = _configured(root)
    path = remove_server(name, level=level, project=project, places=places, known=known)
    if as_json:
        print_json({"file": str(path), "name": name})
    else:
        print_line(f"removed {name} from {path}")
    return 0


def _configured(root: Path) -> tuple[Project, Places, dict[str, McpServerSettings]]:
    from harness_tui.config.loader import load
    from harness_tui.config.places import Places
    from harness_tui.config.project import find_project

    project, places = find_project(root), Places.from_environment()
    return project, places, dict(load(project, places).settings.mcp)


def _split(words: tuple[str, ...]) -> tuple[str | None, list[str]]:
    """Return the name, where one is given, and what is to be added."""
    first, rest = words[0], list(words[1:])
    if not rest:
        return None, [_input() if first == "-" else first]
    if first.lstrip().startswith("{"):
        raise UsageError(
            "the JSON is not one argument", mend="put it into single quotes, or pipe it: harness mcp add -"
        )
    if rest[0] == "--":
        del rest[0]
    return first, [_input()] if rest == ["-"] else rest


def _input() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"it is not UTF-8: {error.reason}", where="standard input") from error


def _pairs(given: tuple[str, ...]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for text in given:
        name, sign, value = text.partition("=")
        if not sign or not name:
            raise UsageError(f"{text!r} is no NAME=VALUE", mend="write it like --env TZ=UTC")
        pairs[name.strip()] = value
    return pairs


def _trusted(project: Project, places: Places) -> bool:
    from harness_tui.config.trust import TrustStore

    return TrustStore(places).status(project).trusted
