"""``harness models``: the models that can be used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from harness_tui.cli.common import json_option, print_json, print_table, root_option, warn_problems


@click.group(short_help="List the models that can be used.")
def command() -> None:
    """List the models that can be used."""


@command.command("list")
@root_option
@json_option
def list_models(root: Path, as_json: bool) -> int:
    """List configured models and those of keys in the environment, with the reason where one cannot be used."""
    rows = _rows(root)
    if as_json:
        print_json(rows)
    else:
        print_table(rows, ["name", "available", "context", "aliases", "why"])
    return 0


def _rows(root: Path) -> list[dict[str, Any]]:
    import os

    from harness_tui.config.loader import Flags, load
    from harness_tui.config.places import Places
    from harness_tui.config.project import find_project
    from harness_tui.core.codec import encode
    from harness_tui.models.registry import ModelRegistry

    project = find_project(root)
    loaded = load(project, Places.from_environment(), Flags(), os.environ)
    warn_problems(loaded.problems)
    registry = ModelRegistry(loaded.settings, project_start=project.start, environ=os.environ)
    keys = ("name", "provider", "context", "aliases", "available", "why")
    return [{key: row.get(key) for key in keys} for row in map(encode, registry.list())]
