"""``harness auth``: keys of model providers, given once, never shown again."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import click

from harness_tui.cli.common import json_option, print_json, print_line, print_table, root_option, warn, warn_problems
from harness_tui.core.errors import HarnessError, UsageError

if TYPE_CHECKING:
    from harness_tui.config.settings import Settings
    from harness_tui.models.key_store import KeyStore

_KEY_BYTES: Final = 16 * 1024
_COLUMNS: Final = ["provider", "source", "in_use", "address", "added"]


@click.group(short_help="Keys of model providers: add, list, remove.")
def command() -> None:
    """Keep keys of model providers, in the keyring where there is one, else in a file of yours alone."""


@command.command("add")
@click.argument("provider")
@click.option("--store", type=click.Choice(["keyring", "file"]), default=None, help="Where to keep it.")
@root_option
@json_option
def add(provider: str, store: Literal["keyring", "file"] | None, root: Path, as_json: bool) -> int:
    """Ask for the key of PROVIDER without showing it, or read it from standard input, and keep it.

    It is given to the address that the provider has now, and to no other one.
    """
    import os

    from harness_tui.models.failures import shown_url
    from harness_tui.models.keys import address

    settings, keys = _open(root)
    base_url = address(provider, settings, os.environ)
    row = keys.add(provider, _read_key(provider), base_url, kept=store)
    shown = shown_url(base_url)
    if as_json:
        print_json({"provider": provider, "source": row.kept, "address": shown, "added": row.added})
    else:
        where = "the keyring" if row.kept == "keyring" else keys.path
        print_line(f"The key of {provider} is in {where}, for {shown}.")
    return 0


@command.command("list")
@root_option
@json_option
def list_keys(root: Path, as_json: bool) -> int:
    """List which providers have a key, and where it is: the environment, the configuration, the keyring, a file.

    Nothing of a key is shown. Of several keys of a provider the one in use is marked.
    """
    import os
    from dataclasses import asdict

    from harness_tui.core.redaction import redact_data
    from harness_tui.models.keys import list_keys

    settings, keys = _open(root)
    rows: list[dict[str, Any]] = [redact_data(asdict(row)) for row in list_keys(settings, os.environ, keys)]
    if as_json:
        print_json(rows)
    elif rows:
        print_table(rows, [*_COLUMNS, *(["why"] if any(row["why"] for row in rows) else [])])
    else:
        print_line("No provider has a key; harness auth add PROVIDER keeps one.")
    return 0


@command.command("remove")
@click.argument("provider")
@root_option
@json_option
def remove(provider: str, root: Path, as_json: bool) -> int:
    """Remove the stored key of PROVIDER. One in the environment or the configuration stays."""
    import os

    from harness_tui.models.keys import list_keys

    settings, keys = _open(root)
    removed = keys.remove(provider)
    others = [row.source for row in list_keys(settings, os.environ, keys) if row.provider == provider]
    rest = f"there is still one in {' and in '.join(others)}" if others else None
    if removed is None:
        mend = rest or "see harness auth list"
        raise HarnessError("no key is stored for this provider", where=provider, mend=mend, code="no-key")
    if as_json:
        print_json({"provider": provider, "source": removed.kept, "left": others})
    else:
        print_line(f"The key of {provider} is removed.")
        if rest:
            warn(rest)
    return 0


def _open(root: Path) -> tuple[Settings, KeyStore]:
    from harness_tui.config.loader import load
    from harness_tui.config.places import Places
    from harness_tui.config.project import find_project
    from harness_tui.models.key_store import KeyStore

    places = Places.from_environment()
    loaded = load(find_project(root), places)
    warn_problems(loaded.problems)
    return loaded.settings, KeyStore(places)


def _read_key(provider: str) -> str:
    """Return the key that is typed at the prompt, or piped in. Raises ``UsageError``."""
    from harness_tui.models.keys import checked_key

    if sys.stdin.isatty():
        text = str(click.prompt(f"Key of {provider}", hide_input=True, default="", show_default=False, err=True))
    else:
        data = sys.stdin.buffer.read(_KEY_BYTES + 1)
        if len(data) > _KEY_BYTES:
            raise UsageError(f"more than {_KEY_BYTES} bytes are no key", where="standard input")
        text = data.decode("utf-8-sig", "replace")
    mend = f"type it, or pipe it in: harness auth add {provider} < key.txt"
    return checked_key(text, "standard input", mend)
