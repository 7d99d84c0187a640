"""Resuming a session: which project it belongs to is told only when that changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness_tui.core.events import Notice
from harness_tui.workspace.workspace import OpenOptions, Workspace


async def notices_of_resume(home: Path, recorded_in: str, resumed_in: str) -> list[str]:
    for name in (recorded_in, resumed_in):
        (home / name).mkdir(exist_ok=True)
    options = OpenOptions(environ={"HOME": str(home), "PATH": "/usr/bin:/bin"}, start_servers=False)
    first = await Workspace.open(home / recorded_in, options)
    try:
        session = (await first.new_session()).id
    finally:
        await first.close()
    second = await Workspace.open(home / resumed_in, options)
    try:
        live = await second.resume(session)
        reader = live.stream.subscribe()
        await second.start_session(live)
        return [item.event.text for item in reader.take() if isinstance(item.event, Notice)]
    finally:
        await second.close()


@pytest.mark.parametrize("name", ["project", "büro"])
async def test_a_session_that_goes_on_in_its_own_project_says_nothing_about_the_place(
    tmp_path: Path, name: str
) -> None:
    assert await notices_of_resume(tmp_path, name, name) == []


async def test_a_session_that_goes_on_in_another_project_names_both(tmp_path: Path) -> None:
    home = tmp_path.resolve()
    assert await notices_of_resume(tmp_path, "here", "there") == [
        f"this session was recorded in {home}/here; it goes on in {home}/there"
    ]
