"""The web of these tests, with its trap."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import httpcore2
import pytest
from fakes.fake_web import PUBLIC, FakeNetwork, FakeResolver, FakeWeb

sys.path.insert(0, str(Path(__file__).parent))
from egress_world import World


@pytest.fixture
async def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    dialled: list[tuple[str, int]] = []
    async with FakeWeb() as web, FakeWeb() as trap:
        monkeypatch.setattr(httpcore2, "AnyIOBackend", lambda: FakeNetwork(web, dialled))
        resolver = FakeResolver()
        resolver.knows("site.test", [PUBLIC])
        yield World(web, trap, resolver, dialled, tmp_path)
