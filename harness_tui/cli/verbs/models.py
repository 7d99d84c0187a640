"""``harness models``: the models that can be used, what they take in and cost, and which ones are favourites."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from harness_tui.cli.common import (
    json_option,
    print_json,
    print_line,
    print_table,
    root_option,
    run_async,
    warn_problems,
)
from harness_tui.core.errors import UsageError

if TYPE_CHECKING:
    from harness_tui.models.catalogue import ModelInfo
    from harness_tui.models.registry import ModelRegistry

_FIELDS: Final = (
    "name",
    "provider",
    "context",
    "output",
    "aliases",
    "available",
    "why",
    "mend",
    "price",
    "favourite",
)


@click.group(short_help="List the models that can be used.")
def command() -> None:
    """List the models that can be used, choose favourites."""


@command.command("list")
@click.option("--all", "ask_hosted", is_flag=True, help="Ask hosted providers for their models too.")
@root_option
@json_option
def list_models(ask_hosted: bool, root: Path, as_json: bool) -> int:
    """List models of the configuration, of keys and of servers on this machine, favourites first.

    Where one cannot be used, the reason is told and how to mend it. Prices are US dollars for a million tokens of
    input and output; a dash means that the price is not known, or that there is none.
    """
    rows = run_async(_rows(_registry(root), ask_hosted))
    if as_json:
        print_json([_data(row) for row in rows])
        return 0
    print_table([_cells(row) for row in rows], ["name", "available", "context", "price", "aliases", "why"])
    return 0


@command.command("favourite")
@click.argument("name")
@click.option("--remove", is_flag=True, help="It is a favourite no more.")
@root_option
@json_option
def favourite(name: str, remove: bool, root: Path, as_json: bool) -> int:
    """Make NAME (provider/model) a favourite: it stands first in lists and in the shell's picker."""
    registry = _registry(root)
    if not remove:
        fault = registry.fault(name)
        if fault is not None and fault.code == "unknown-model":
            raise fault
        if "/" not in name and not name.startswith("local:"):
            raise UsageError("a favourite is named whole", where=name, mend="write provider/model")
    changed = registry.set_favourite(name, not remove)
    if as_json:
        print_json({"name": name, "favourite": not remove, "changed": changed})
    else:
        print_line(f"{name} is {'no favourite' if remove else 'a favourite'}{'' if changed else ' already'}.")
    return 0


def _registry(root: Path) -> ModelRegistry:
    import os

    from harness_tui.config.loader import Flags, load
    from harness_tui.config.places import Places
    from harness_tui.config.project import find_project
    from harness_tui.models.registry import ModelRegistry

    project, places = find_project(root), Places.from_environment()
    loaded = load(project, places, Flags(), os.environ)
    warn_problems(loaded.problems)
    return ModelRegistry(loaded.settings, project_start=project.start, environ=os.environ, places=places)


async def _rows(registry: ModelRegistry, ask_hosted: bool) -> list[ModelInfo]:
    import asyncio

    rows = await registry.catalogue.survey(ask_hosted=ask_hosted)
    priced = await asyncio.to_thread(registry.catalogue.priced, rows)
    return sorted(priced, key=lambda row: not row.favourite)


def _data(row: ModelInfo) -> dict[str, Any]:
    from dataclasses import asdict

    data = asdict(row)
    return {name: list(data[name]) if isinstance(data[name], tuple) else data[name] for name in _FIELDS}


def _cells(row: ModelInfo) -> dict[str, Any]:
    from harness_tui.models.catalogue import price_text

    why = f"{row.why} ({row.mend})" if row.why and row.mend else row.why
    cells = {"available": row.available, "context": row.context, "aliases": row.aliases or None, "why": why}
    return {"name": f"★ {row.name}" if row.favourite else row.name, "price": price_text(row.price), **cells}
