"""``harness sessions export|import``: a session as a file."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from harness_tui.cli.common import json_option, print_json, print_line, root_option, warn
from harness_tui.cli.record import opened_record
from harness_tui.cli.streams import write_result
from harness_tui.core.errors import UsageError


@click.command("export", short_help="Write a session as Markdown, JSON or HTML.")
@click.argument("session")
@click.option(
    "--format",
    "kind",
    type=click.Choice(["md", "json", "html"]),
    default=None,
    help="[default: what --output ends in, else md]",
)
@click.option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), help="Write to this file, mode 0600.")
@root_option
@json_option
def export_session(session: str, kind: str | None, output: Path | None, root: Path, as_json: bool) -> int:
    """Write SESSION to standard output or a file. JSON can be imported again; HTML is one page that loads nothing."""
    from harness_tui.sessions.exporting import export, form_of, write

    kind = kind or (form_of(output) if output else None) or ("json" if as_json else "md")
    with opened_record() as store:
        session = store.info(session).session
        pieces = export(store, session, kind)
        if output is None:
            for piece in pieces:
                write_result(piece)
            return 0
        size = write(output, pieces)
    if as_json:
        print_json({"session": session, "format": kind, "path": str(output), "bytes": size})
    else:
        print_line(f"{output}: {size} bytes")
    return 0


@click.command("import", short_help="Read a session from JSON.")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@root_option
@json_option
def import_session(file: Path, root: Path, as_json: bool) -> int:
    """Record the session of FILE (- is standard input) as one of this project; a taken id is replaced by a new one."""
    from harness_tui.config.project import find_project
    from harness_tui.sessions.portable import MAX_BYTES, import_json, read_document

    if str(file) == "-":
        data = sys.stdin.buffer.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise UsageError(f"standard input is larger than {MAX_BYTES} bytes")
        text = data.decode("utf-8-sig", "replace")
    else:
        text = read_document(file)
    with opened_record() as store:
        made = import_json(store, text, find_project(root).root)
    if made.left_out:
        warn(f"{made.left_out} events of types that this version does not know were left out")
    if as_json:
        row = {"session": made.info.session, "renamed_from": made.renamed_from, "messages": made.info.messages}
        print_json(row | {"left_out": made.left_out})
    else:
        note = f" (the id {made.renamed_from} is taken)" if made.renamed_from else ""
        print_line(f"{made.info.session}{note}")
    return 0
