"""``harness trust``: look at what a folder brings along, and trust it or not."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness_tui.cli.common import fail, json_option, print_json, print_line, root_option, warn
from harness_tui.core.errors import RefusedError, UsageError
from harness_tui.core.text import clean_for_display

if TYPE_CHECKING:
    from harness_tui.config.trust import TrustItem, TrustStatus


@click.command(name="trust", short_help="Trust a folder's configuration, commands, skills and servers.")
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.option("--revoke", is_flag=True, help="Take the trust back.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@root_option
@json_option
def command(path: Path | None, revoke: bool, yes: bool, root: Path, as_json: bool) -> int:
    """Trust the project of PATH (default: the current folder): its configuration, commands, skills, agents, servers.

    Lists what would run or be allowed, then asks. Without a terminal, naming PATH is the consent.
    """
    from harness_tui.config.places import Places
    from harness_tui.config.project import find_project
    from harness_tui.config.trust import TrustStore

    project = find_project(root / path if path else root)
    store = TrustStore(Places.from_environment())
    before = store.status(project)
    for problem in before.problems:
        warn(str(problem))
    if revoke:
        after = store.revoke(project)
        _report(project.root, after.files, trusted=False, as_json=as_json)
        return 0
    _consent(project.root, before, named=path is not None, yes=yes)
    after = store.grant(project, seen=before)
    _report(project.root, before.files, trusted=after.trusted, as_json=as_json)
    return 0 if after.trusted else 1


def _consent(root: Path, status: TrustStatus, *, named: bool, yes: bool) -> None:
    """Return when there is consent; raise ``RefusedError`` or ``UsageError`` else."""
    if yes:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        if named:
            return
        fail(UsageError("there is no terminal to ask at", mend=f"name the folder: harness trust {root}"))
    click.echo(f"{clean_for_display(str(root), one_line=True)} brings along:", err=True)
    for item in status.files:
        click.echo(clean_for_display(_line(item)), err=True)
    if not status.files:
        click.echo("  nothing", err=True)
    if not click.confirm("Trust it?", default=False, err=True):
        fail(RefusedError("the folder is not trusted", where=str(root)))


def _report(root: Path, files: tuple[TrustItem, ...], *, trusted: bool, as_json: bool) -> None:
    if as_json:
        rows = [{"path": item.path, "change": item.change, "what": item.what} for item in files]
        print_json({"path": str(root), "trusted": trusted, "files": rows})
        return
    print_line(f"{root}: {'trusted' if trusted else 'not trusted'}")
    for item in files:
        print_line(_line(item))


def _line(item: TrustItem) -> str:
    what = f": {item.what}" if item.what else ""
    return " ".join(f"{item.path} ({item.change}){what}".split()).join(("  ", ""))
