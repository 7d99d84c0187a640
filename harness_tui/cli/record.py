"""The store of sessions for a verb: what a person has to know of it is told, and it is closed."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from harness_tui.cli.common import warn
from harness_tui.config.places import Places
from harness_tui.sessions.store import SessionStore


@contextmanager
def opened_record() -> Generator[SessionStore]:
    """Yield the person's sessions."""
    store = SessionStore(Places.from_environment().database)
    store.report_to(warn)
    try:
        yield store
    finally:
        store.close()
