"""Recorded sessions, as the protocol lists them."""

from __future__ import annotations

from pathlib import Path

from acp import schema

from harness_tui.config.places import Places
from harness_tui.config.project import find_project
from harness_tui.sessions.store import SessionStore


def recorded(cwd: str | None) -> list[schema.SessionInfo]:
    """Return the sessions of the project of ``cwd``, or all of them; subagents' are left out."""
    store = SessionStore(Places.from_environment().database)
    try:
        infos = store.list(find_project(Path(cwd)).root if cwd else None)
    finally:
        store.close()
    return [
        schema.SessionInfo(session_id=info.session, cwd=info.root, title=info.title, updated_at=info.updated)
        for info in infos
        if info.parent is None and info.messages
    ]
