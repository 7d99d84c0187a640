"""``harness protocol``: generate the contract's files from the code, and check that they agree."""

from __future__ import annotations

from pathlib import Path

import click

from harness_tui.cli.common import json_option, print_json, print_line, root_option


@click.group(short_help="Generate and check the protocol contract.")
def command() -> None:
    """Generate and check the protocol contract: the schema of events and intents."""


@command.command("generate")
@root_option
@json_option
def generate_files(root: Path, as_json: bool) -> int:
    """Write the generated files into the folder ``protocol`` of --root."""
    from harness_tui.contract.drift import generate

    changed = [str(path) for path in generate(root / "protocol")]
    if as_json:
        print_json(changed)
    else:
        for name in changed or ["Nothing changed."]:
            print_line(name)
    return 0


@command.command("check")
@root_option
@json_option
def check_files(root: Path, as_json: bool) -> int:
    """Compare the generated files with the code: those in ``protocol`` of --root, else those that are installed."""
    from harness_tui.config.bundled import bundled
    from harness_tui.contract.drift import check

    own = root / "protocol"
    folder = own if own.is_dir() else bundled("protocol")
    problems = check(folder)
    if as_json:
        print_json([{"level": "error", "message": problem} for problem in problems])
    else:
        for problem in problems or [f"{folder} agrees with the code."]:
            print_line(problem)
    return 1 if problems else 0
