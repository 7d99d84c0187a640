"""``harness sessions``: recorded sessions and their events."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from harness_tui.cli.common import json_option, print_json, print_line, print_table, root_option
from harness_tui.cli.streams import write_result
from harness_tui.cli.verbs.sessions_undo import undo
from harness_tui.config.places import Places
from harness_tui.core.envelope import Envelope
from harness_tui.core.events import MessageAdded, Notice, RunFinished, TextFinished, ToolFinished, ToolStarted
from harness_tui.core.redaction import redact_data
from harness_tui.sessions.store import SessionStore


@click.group(short_help="List and show sessions.")
def command() -> None:
    """List and show recorded sessions."""


command.add_command(undo)


def _store() -> SessionStore:
    return SessionStore(Places.from_environment().database)


@command.command("list")
@click.option("--all", "everywhere", is_flag=True, help="Those of every project.")
@root_option
@json_option
def list_sessions(everywhere: bool, root: Path, as_json: bool) -> int:
    """List the sessions of this project, latest first."""
    from harness_tui.config.project import find_project

    store = _store()
    infos = store.list(None if everywhere else find_project(root).root)
    rows: list[dict[str, Any]] = [
        {
            "session": info.session,
            "title": info.title,
            "root": str(info.root),
            "created": info.created,
            "updated": info.updated,
            "messages": info.messages,
            "bytes": info.bytes,
            "live": info.live,
        }
        for info in infos
    ]
    if as_json:
        print_json(rows)
    elif not rows:
        print_line("no session is recorded for this project")
    else:
        print_table(rows, ["session", "updated", "messages", "live", "title"])
    return 0


@command.command("show")
@click.argument("session")
@root_option
@json_option
def show(session: str, root: Path, as_json: bool) -> int:
    """Show the events of SESSION (an id, or its unique beginning)."""
    store = _store()
    info = store.info(session)
    if as_json:
        _print_array(store.events(info.session))
        return 0
    print_line(f"{info.session}  {info.title or ''}")
    for envelope in store.events(info.session):
        line = _line(envelope)
        if line:
            print_line(line)
    return 0


def _print_array(envelopes: Iterable[Envelope]) -> None:
    # Written as it is read: a long session is not held in memory.
    separator = "["
    for envelope in envelopes:
        write_result(separator + json.dumps(redact_data(envelope.to_json()), ensure_ascii=False))
        separator = ",\n"
    write_result("[]\n" if separator == "[" else "]\n")


def _line(envelope: Envelope) -> str | None:
    match envelope.event:
        case MessageAdded(message=message, origin=origin):
            return f"\n> {message.text}" if origin == "prompt" else f"\n> ({origin}) {message.text}"
        case TextFinished(text=text):
            return f"\n{text}"
        case ToolStarted(title=title, tool=tool):
            return f"\n* {tool}: {title}"
        case ToolFinished(output=output, is_error=is_error):
            return f"  {'error: ' if is_error else ''}{output}"
        case Notice(level=level, source=source, text=text):
            return f"\n! {level}: {source}: {text}"
        case RunFinished(reason=reason, error=error):
            return f"\n-- {reason}{': ' + error.message if error else ''}"
        case _:
            return None
