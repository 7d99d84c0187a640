"""``harness sessions rename|pin|unpin|delete|fork``: what changes recorded sessions."""

from __future__ import annotations

from pathlib import Path

import click

from harness_tui.cli.common import json_option, print_json, print_line, root_option
from harness_tui.cli.record import opened_record
from harness_tui.config.places import Places
from harness_tui.core.clock import SystemClock
from harness_tui.core.errors import UsageError


@click.command("rename", short_help="Give a session a title.")
@click.argument("session")
@click.argument("title", nargs=-1, required=True)
@root_option
@json_option
def rename(session: str, title: tuple[str, ...], root: Path, as_json: bool) -> int:
    """Give SESSION the TITLE."""
    with opened_record() as store:
        info = store.info(session)
        store.rename(info.session, " ".join(title))
        info = store.info(info.session)
    if as_json:
        print_json({"session": info.session, "title": info.title})
    else:
        print_line(f"{info.session}  {info.title}")
    return 0


def _pin(session: str, pinned: bool, as_json: bool) -> int:
    with opened_record() as store:
        info = store.info(session)
        store.pin(info.session, pinned)
    if as_json:
        print_json({"session": info.session, "pinned": pinned})
    else:
        print_line(f"{info.session} is {'kept whatever room it takes' if pinned else 'no longer pinned'}")
    return 0


@click.command("pin", short_help="Keep a session whatever room it takes.")
@click.argument("session")
@root_option
@json_option
def pin(session: str, root: Path, as_json: bool) -> int:
    """Never remove SESSION to make room."""
    return _pin(session, True, as_json)


@click.command("unpin", short_help="Take a pin off.")
@click.argument("session")
@root_option
@json_option
def unpin(session: str, root: Path, as_json: bool) -> int:
    """Let SESSION be removed when room is needed."""
    return _pin(session, False, as_json)


@click.command("delete", short_help="Delete sessions.")
@click.argument("sessions", nargs=-1, required=True, metavar="SESSION...")
@root_option
@json_option
def delete(sessions: tuple[str, ...], root: Path, as_json: bool) -> int:
    """Delete each SESSION with its subagents' sessions, its outputs, and what only it refers to."""
    from harness_tui.sessions.blobs import BlobStore
    from harness_tui.sessions.search import forget
    from harness_tui.sessions.upkeep import shrink, sweep_contents

    places = Places.from_environment()
    with opened_record() as store:
        names = list(dict.fromkeys(store.info(session).session for session in sessions))
        for name in names:
            store.delete(name)
        sweep_contents(store, BlobStore(places.blobs))
        shrink(store)
        forget(store, places.search_index)
    if as_json:
        print_json({"deleted": names})
    else:
        for name in names:
            print_line(f"deleted {name}")
    return 0


@click.command("fork", short_help="Copy a session, whole or up to a point.")
@click.argument("session")
@click.option("--at", type=click.IntRange(min=1), metavar="SEQ", help="The last event of the copy [default: the end].")
@click.option("--title", help="The title of the copy.")
@root_option
@json_option
def fork(session: str, at: int | None, title: str | None, root: Path, as_json: bool) -> int:
    """Copy SESSION, which may be open, and print the id of the copy; go on in it with run --session."""
    from harness_tui.sessions import copying

    if title is not None and not title.strip():
        raise UsageError("the title is empty")
    with opened_record() as store:
        info = store.info(session)
        made = copying.fork(store, info.session, SystemClock(), at=at, title=title)
        last = store.last_seq(made.session) - 1
    if as_json:
        print_json({"session": made.session, "forked_from": info.session, "at": last, "title": made.title})
    else:
        print_line(made.session)
    return 0
