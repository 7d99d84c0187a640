"""``harness sessions``: recorded sessions, listed and shown; its other verbs lie in modules beside this one."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from harness_tui.cli.common import json_option, print_json, print_line, print_table, root_option
from harness_tui.cli.record import opened_record
from harness_tui.cli.streams import write_result
from harness_tui.cli.verbs.sessions_change import delete, fork, pin, rename, unpin
from harness_tui.cli.verbs.sessions_files import export_session, import_session
from harness_tui.cli.verbs.sessions_search import search, stats
from harness_tui.cli.verbs.sessions_undo import undo
from harness_tui.core.envelope import Envelope
from harness_tui.core.redaction import redact_data
from harness_tui.sessions.index import SessionInfo


@click.group(short_help="Recorded sessions: list, show, search, export, fork, undo.")
def command() -> None:
    """Recorded sessions. SESSION is an id or its beginning, where only one begins so."""


for verb in (search, rename, pin, unpin, export_session, import_session, delete, undo, fork, stats):
    command.add_command(verb)


def row_of(info: SessionInfo) -> dict[str, Any]:
    """Return a session as ``list --json`` shows it."""
    return {
        "session": info.session,
        "title": info.title,
        "root": str(info.root),
        "created": info.created,
        "updated": info.updated,
        "messages": info.messages,
        "bytes": info.bytes,
        "live": info.live,
        "pinned": info.pinned,
        "parent": info.parent.session if info.parent else None,
    }


@command.command("list")
@click.option("--all", "everywhere", is_flag=True, help="Those of every project.")
@root_option
@json_option
def list_sessions(everywhere: bool, root: Path, as_json: bool) -> int:
    """List the sessions of this project, latest first."""
    from harness_tui.config.project import find_project

    with opened_record() as store:
        infos = store.list(None if everywhere else find_project(root).root)
    rows = [row_of(info) for info in infos]
    if as_json:
        print_json(rows)
    elif not rows:
        print_line("no session is recorded for this project")
    else:
        table = [row | {"size": _size(row["bytes"]), "state": _state(row)} for row in rows]
        print_table(table, ["session", "updated", "messages", "size", "state", "title"])
    return 0


def _state(row: dict[str, Any]) -> str:
    words = [word for word in ("live", "pinned") if row[word]]
    return ", ".join([*words, *(["subagent"] if row["parent"] else [])]) or "-"


def _size(count: int) -> str:
    return f"{count / 1_048_576:.1f} MiB" if count >= 1_048_576 else f"{count / 1024:.0f} KiB"


@command.command("show")
@click.argument("session")
@root_option
@json_option
def show(session: str, root: Path, as_json: bool) -> int:
    """Show the events of SESSION; one that is open elsewhere can be read too."""
    from harness_tui.sessions.markdown import export_markdown

    with opened_record() as store:
        info = store.info(session)
        if as_json:
            _print_array(store.events(info.session))
            return 0
        for piece in export_markdown(info, store.events(info.session)):
            write_result(piece)
    return 0


def _print_array(envelopes: Iterable[Envelope]) -> None:
    # Written as it is read: a long session is not held in memory.
    separator = "["
    for envelope in envelopes:
        write_result(separator + json.dumps(redact_data(envelope.to_json()), ensure_ascii=False))
        separator = ",\n"
    write_result("[]\n" if separator == "[" else "]\n")
