"""``harness sessions search|stats``: what was said, and what it cost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from harness_tui.cli.common import json_option, print_json, print_line, print_table, root_option
from harness_tui.cli.record import opened_record
from harness_tui.config.places import Places


@click.command("search", short_help="Find a text in every session.")
@click.argument("text", nargs=-1, required=True)
@click.option("--here", is_flag=True, help="Only sessions of this project.")
@click.option("--limit", type=click.IntRange(min=1, max=10_000), default=50, show_default=True)
@root_option
@json_option
def search(text: tuple[str, ...], here: bool, limit: int, root: Path, as_json: bool) -> int:
    """Find TEXT in the messages and titles of all sessions: whatever its case, inside words as well."""
    from harness_tui.config.project import find_project
    from harness_tui.sessions.search import search as find

    with opened_record() as store:
        infos = {info.session: info for info in store.list(find_project(root).root if here else None)}
        hits = find(store, Places.from_environment().search_index, " ".join(text), sessions=list(infos), limit=limit)
    rows: list[dict[str, Any]] = [
        {
            "session": hit.session,
            "title": infos[hit.session].title,
            "root": infos[hit.session].root,
            "seq": hit.seq,
            "role": hit.role,
            "text": hit.before + hit.found + hit.after,
        }
        for hit in hits
        if hit.session in infos
    ]
    if as_json:
        print_json(rows)
    elif not rows:
        print_line("nothing found")
    else:
        last = ""
        for row in rows:
            if row["session"] != last:
                last = row["session"]
                print_line(f"{last}  {row['title'] or ''}")
            print_line(f"  {row['seq'] or 'title':>6}  {row['role']:<9}  {row['text']}")
    return 0


@click.command("stats", short_help="Tokens, cost and tools of sessions.")
@click.argument("sessions", nargs=-1, metavar="[SESSION...]")
@click.option("--all", "everywhere", is_flag=True, help="Those of every project.")
@root_option
@json_option
def stats(sessions: tuple[str, ...], everywhere: bool, root: Path, as_json: bool) -> int:
    """Count over each SESSION, or over all of this project."""
    from harness_tui.config.project import find_project
    from harness_tui.sessions.stats import COUNTED, SUMMED
    from harness_tui.sessions.stats import stats as count

    with opened_record() as store:
        if sessions:
            names = list(dict.fromkeys(store.info(session).session for session in sessions))
        else:
            names = [info.session for info in store.list(None if everywhere else find_project(root).root)]
        made = count(store, names)
    data = made.to_json()
    if as_json:
        print_json(data)
        return 0
    for name in (*COUNTED, *SUMMED):
        print_line(f"{name:<14}{data[name]}")
    cost = "not known" if data["cost"] is None else f"{data['cost']:.4f} USD"
    note = f" and {made.unpriced} requests without a known price" if made.unpriced and data["cost"] is not None else ""
    print_line(f"{'cost':<14}{cost}{note}")
    print_line(f"{'files changed':<14}{data['files_changed']}")
    if made.tools:
        print_table(
            [{"tool": name, "calls": each.calls, "errors": each.errors} for name, each in sorted(made.tools.items())],
            ["tool", "calls", "errors"],
        )
    return 0
