"""What ``commands new`` and ``skills new`` share: where the file goes, and what is said of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeVar

import click

from harness_tui.cli.common import print_json, print_line, warn

F = TypeVar("F", bound=Callable[..., Any])


def place_option(function: F) -> F:
    """Add ``--user/--project``, passed as ``user: bool``."""
    return click.option(
        "--user/--project",
        "user",
        default=False,
        help="For all projects, in your configuration folder; or for this one, the default.",
    )(function)


def create_from_template(
    kind: Literal["commands", "skills"], name: str, root: Path, *, user: bool, as_json: bool
) -> int:
    """Write the file, print its path, and say on standard error what to do next. Raises ``UsageError``."""
    from harness_tui.config.places import Places
    from harness_tui.config.project import find_project
    from harness_tui.library.scaffold import create, next_steps

    made, path = create(kind, name, user=user, project=find_project(root), places=Places.from_environment())
    if as_json:
        print_json({"name": made, "path": str(path)})
    else:
        print_line(str(path))
        warn(next_steps(kind, made, path))
    return 0
