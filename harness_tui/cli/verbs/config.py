"""``harness config``: what is configured, where it comes from, what is wrong with it; the import from other tools."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness_tui.cli.common import json_option, print_json, print_line, print_table, root_option, warn

if TYPE_CHECKING:
    from harness_tui.config.layers import Origin
    from harness_tui.config.loader import Loaded
    from harness_tui.config.migration.importing import ForeignTool
    from harness_tui.config.migration.levels import Target
    from harness_tui.config.problems import Problem


@click.group(short_help="Show and check the configuration, import that of other tools.")
def command() -> None:
    """Show and check the configuration, import that of other tools."""


def _load(root: Path) -> Loaded:
    from harness_tui.config.loader import load
    from harness_tui.config.places import Places
    from harness_tui.config.project import find_project

    return load(find_project(root), Places.from_environment())


@command.command("show")
@root_option
@json_option
def show(root: Path, as_json: bool) -> int:
    """Print each value with the file and line that it comes from. Secrets are left out."""
    loaded = _load(root)
    rows = [_row(origin) for origin in loaded.origins]
    if as_json:
        print_json(rows)
    else:
        print_table(rows, ["key", "value", "state", "source"])
    errors = sum(problem.level == "error" for problem in loaded.problems)
    if errors:
        warn(f"{errors} error{'s' if errors > 1 else ''} in the configuration; see 'harness config check'")
    return 0


def _row(origin: Origin) -> dict[str, Any]:
    from harness_tui.config.masking import masked

    value = masked(origin.key.split("."), origin.value)
    return {"key": origin.key, "value": value, "state": origin.state, "source": origin.source}


@command.command("check")
@root_option
@json_option
def check(root: Path, as_json: bool) -> int:
    """Print everything that is wrong in the configuration; exit code 1 when anything is an error."""
    loaded = _load(root)
    problems = [*loaded.problems, *_key_problems(loaded)]
    if as_json:
        print_json([problem.to_json() for problem in problems])
    else:
        for problem in problems:
            print_line(str(problem))
        if not problems:
            print_line("The configuration is valid.")
    return 1 if any(problem.level == "error" for problem in problems) else 0


def _key_problems(loaded: Loaded) -> list[Problem]:
    """Say what is wrong with a person's own keys; whoever has none needs no screen for it."""
    from harness_tui.config.problems import Problem

    keys = loaded.settings.tui.keys
    if not keys:
        return []
    from harness_tui.tui.app import HarnessApp
    from harness_tui.tui.keymap import actions, read_keys

    places = {origin.key: origin.source for origin in loaded.origins if origin.state == "used"}
    _, wrong = read_keys(keys, actions(HarnessApp.BINDINGS))
    return [
        Problem(places.get(f"tui.keys.{name}", ""), "keys", f"tui.keys.{name}: {text}", "see docs/keys.md", "warning")
        for name, text in wrong.items()
    ]


@command.command("schema")
@json_option
def schema(as_json: bool) -> int:
    """Print the JSON Schema of config.yaml, for editors."""
    from harness_tui.config.schema import json_schema

    print_json(json_schema())
    return 0


@command.command("path")
@root_option
@json_option
def path(root: Path, as_json: bool) -> int:
    """Print the configuration files, in rising precedence."""
    import os

    from harness_tui.config.places import Places
    from harness_tui.config.project import find_project
    from harness_tui.config.sources import config_files

    named = os.environ.get("HARNESS_CONFIG")
    extra = Path(named).expanduser().absolute() if named else None
    files = config_files(find_project(root), Places.from_environment(), extra)
    # Of the files in which other tools keep servers only one is everybody's; the others are shown where they are.
    shown = [file for file in files if file.layer != "servers" or file.path.name == ".mcp.json" or file.path.exists()]
    rows = [{"layer": file.layer, "path": str(file.path), "exists": file.path.exists()} for file in shown]
    if as_json:
        print_json(rows)
    else:
        print_table(rows, ["layer", "exists", "path"])
    return 0


@command.command("import")
@click.argument("tool", type=click.Choice(["claude", "opencode", "codex", "gemini"]))
@click.option("--dry-run", is_flag=True, help="Only show what would be written, as a diff.")
@click.option("--user", "target", flag_value="user", help="Everything into your own file.")
@click.option("--project", "target", flag_value="project", help="Everything into this project's file.")
@click.option("--store-keys", is_flag=True, help="Keep keys of providers that stand there in clear text.")
@root_option
@json_option
def import_tool(
    tool: ForeignTool, dry_run: bool, target: Target | None, store_keys: bool, root: Path, as_json: bool
) -> int:
    """Bring permissions, servers, agents and models of another TOOL into your configuration.

    What is yours goes into your file, what is this project's into the project's. What is configured already stays.
    Nothing becomes wider than it was; what has no equal is listed, and is asked about.
    """
    import os

    from harness_tui.cli.importing import print_report, report_json
    from harness_tui.config.migration.importing import import_settings
    from harness_tui.config.places import Places
    from harness_tui.config.project import find_project

    places, project = Places.from_environment(), find_project(root)
    report = import_settings(tool, project, places, os.environ, target=target, store_keys=store_keys, write=not dry_run)
    stored = _store_keys(report.keys, root) if store_keys and not dry_run else []
    if as_json:
        print_json(report_json(report, written=not dry_run, stored=stored))
    else:
        print_report(report, written=not dry_run, stored=stored)
    return 0


def _store_keys(keys: dict[str, str], root: Path) -> list[str]:
    """Keep the keys of providers, each for the address that its provider has now; return whose were kept."""
    import os

    from harness_tui.config.places import Places
    from harness_tui.models.key_store import KeyStore
    from harness_tui.models.keys import address

    settings, store = _load(root).settings, KeyStore(Places.from_environment())
    for provider, key in keys.items():
        store.add(provider, key, address(provider, settings, os.environ))
    return list(keys)
