"""``harness commands``: what commands there are, what is wrong with them, and what one would send."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from harness_tui.cli.common import (
    ask_option,
    fail,
    json_option,
    print_json,
    print_line,
    print_table,
    root_option,
    run_async,
    warn,
)
from harness_tui.cli.creating import create_from_template, place_option
from harness_tui.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from harness_tui.library.command_file import Command
    from harness_tui.library.diagnostics import Diagnostic
    from harness_tui.library.expansion import Expansion


@click.group(short_help="List, show, check, create and expand commands.")
def command() -> None:
    """List, show, check, create and expand commands."""


@command.command("list")
@root_option
@json_option
def list_commands(root: Path, as_json: bool) -> int:
    """List every command file, also those that cannot be used."""
    from harness_tui.cli.library import open_library

    rows = [_row(item) for item in open_library(root).library.commands()]
    if as_json:
        print_json(rows)
        return 0
    shown = [row | {"note": _note(row)} for row in rows]
    print_table(shown, ["name", "source", "tool", "argument_hint", "description", "note"])
    return 0


def _row(item: Command) -> dict[str, Any]:
    row: dict[str, Any] = {
        "name": item.name,
        "source": item.source,
        "tool": item.tool,
        "path": str(item.path),
        "description": item.description,
        "argument_hint": item.argument_hint or None,
        "agent": item.header.agent,
        "model": item.header.model,
        "trusted": item.trusted,
        "diagnostics": [str(diagnostic) for diagnostic in item.diagnostics],
    }
    return row if item.shadowed_by is None else row | {"shadowed_by": item.shadowed_by}


def _note(row: dict[str, Any]) -> str:
    if not row["trusted"]:
        return "untrusted: harness trust"
    if "shadowed_by" in row:
        return f"shadowed by {row['shadowed_by']}"
    return f"{len(row['diagnostics'])} finding(s)" if row["diagnostics"] else ""


@command.command("show")
@click.argument("name")
@root_option
@json_option
def show_command(name: str, root: Path, as_json: bool) -> int:
    """Show the command NAME: where it comes from and what it says."""
    from harness_tui.cli.library import open_library

    library = open_library(root).library
    wanted = name.removeprefix("/")
    found = library.find_command(wanted) or next((item for item in library.commands() if item.name == wanted), None)
    if found is None:
        close = library.suggest(wanted)
        mend = f"did you mean {close}?" if close is not None else "harness commands list shows all"
        fail(UsageError(f"there is no command {wanted!r}", mend=mend, code="unknown-command"))
    body = found.read().template.body
    if as_json:
        print_json(_row(found) | {"body": body})
        return 0
    for key, value in _row(found).items():
        if value and key != "diagnostics":
            print_line(f"{key}: {value}")
    print_line(f"\n{body.rstrip()}")
    for diagnostic in found.diagnostics:
        warn(str(diagnostic))
    return 0


@command.command("check")
@click.argument("paths", nargs=-1, type=click.Path(exists=True, path_type=Path), metavar="[PATH]...")
@root_option
@json_option
def check_commands(paths: tuple[Path, ...], root: Path, as_json: bool) -> int:
    """Check command files: all that are found, or each PATH (a file, or a folder of commands)."""
    from harness_tui.cli.library import open_library

    if paths:
        findings = [item for path in paths for item in _check(path)]
    else:
        findings = open_library(root).library.command_problems()
    return _report(findings, as_json=as_json)


def _check(path: Path) -> list[Diagnostic]:
    from harness_tui.core.errors import HarnessError
    from harness_tui.library.command_file import read_command
    from harness_tui.library.commands import CommandRegistry
    from harness_tui.library.diagnostics import Diagnostic
    from harness_tui.library.roots import Root

    if path.is_dir():
        return list(CommandRegistry().refresh([Root(path, "user", True)]).problems)
    try:
        return list(read_command(path, path.stem, "user", trusted=True).diagnostics)
    except HarnessError as problem:
        return [Diagnostic(str(path), 1, problem.code, problem.what, "error")]


def _report(findings: Iterable[Diagnostic], *, as_json: bool) -> int:
    found = list(findings)
    if as_json:
        rows = [
            {"level": item.level, "code": item.code, "where": f"{item.path}:{item.line}", "message": item.message}
            for item in found
        ]
        print_json(rows)
    else:
        for item in found:
            print_line(f"{item.level}: {item}")
        print_line(f"{len(found)} finding(s)" if found else "all commands are fine")
    return 1 if any(item.level == "error" for item in found) else 0


@command.command("new")
@click.argument("name")
@place_option
@root_option
@json_option
def new_command(name: str, user: bool, root: Path, as_json: bool) -> int:
    """Create the command NAME from a template, ready to be edited; a / in NAME makes a folder."""
    return create_from_template("commands", name, root, user=user, as_json=as_json)


@command.command("expand")
@click.argument("line", required=False)
@click.option("--file", type=click.Path(path_type=Path), help="Expand this file; it counts as trusted.")
@click.option("--args", "args_line", default="", metavar="LINE", help="The arguments for --file.")
@click.option("--shell", type=click.Choice(["allow", "deny"]), help="With --file: answer what its shell parts ask.")
@click.option("--shell-timeout", type=click.FloatRange(0, min_open=True), metavar="S", help="Seconds for each part.")
@ask_option
@root_option
@json_option
def expand_command(
    line: str | None,
    file: Path | None,
    args_line: str,
    shell: Literal["allow", "deny"] | None,
    shell_timeout: float | None,
    ask: str | None,
    root: Path,
    as_json: bool,
) -> int:
    """Show the message that LINE ('/name args') or a file would send, without sending it."""
    from harness_tui.cli.library import expand_by_file, expand_line

    if (line is None) == (file is None):
        fail(UsageError("name either a line such as '/review src' or --file FILE"))
    if file is not None:
        expansion = run_async(expand_by_file(file, args_line, root, shell=shell, seconds=shell_timeout))
        return _print_expansion(expansion, 1, as_json=as_json)
    if ask == "input":
        fail(UsageError("commands expand takes no answers from standard input", mend="use --ask allow or refuse"))
    text = (line or "").strip()
    expansion, refused = run_async(expand_line(text if text.startswith("/") else f"/{text}", root, ask))
    return _print_expansion(expansion, _exit_code(expansion, refused), as_json=as_json)


def _exit_code(expansion: Expansion, refused: bool) -> int:
    match expansion.error:
        case "untrusted" | "skill-denied" | "prompt-denied":
            return 3
        case "shell-denied":
            return 3 if refused else 1
        case "unknown-command":
            return 2
        case _:
            return 1


def _print_expansion(expansion: Expansion, failure: int, *, as_json: bool) -> int:
    from harness_tui.cli.library import expansion_json

    if as_json:
        print_json(expansion_json(expansion))
    else:
        for warning in expansion.warnings:
            warn(warning)
        if expansion.error is not None:
            warn(f"{expansion.error}: {expansion.error_text}")
        else:
            print_line(expansion.message)
            for item in expansion.attachments:
                warn(f"attached: {item.path or item.uri}")
    return 0 if expansion.error is None else failure
