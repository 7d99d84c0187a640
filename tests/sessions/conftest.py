"""A store in a temporary folder, and events to put into it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness_tui.sessions.store import SessionStore


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "data" / "harness.db"


@pytest.fixture
def store(database: Path) -> Iterator[SessionStore]:
    made = SessionStore(database)
    yield made
    made.close()
