"""Settings of a real workspace: written to the right file, taken up at once, refused where they do not count."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness_tui.core.errors import HarnessError, UsageError
from harness_tui.tui.run import Options
from harness_tui.workspace.front import create_backend


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    (tmp_path / "project" / ".git").mkdir(parents=True)
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("CONFIG", "DATA", "STATE", "CACHE"):
        monkeypatch.delenv(f"XDG_{name}_HOME", raising=False)
    return home


async def test_a_change_keeps_comments_counts_at_once_and_can_be_taken_back(home: Path, tmp_path: Path) -> None:
    config = home / ".config" / "harness" / "config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text("# mine\ntheme: harness-dark # dark\n")
    backend = create_backend(tmp_path / "project", Options(model="offline"))
    await backend.open()
    try:
        settings = backend.settings
        assert settings.theme == "harness-dark"
        assert await settings.change("tui.ascii", "yes", project=False) == "~/.config/harness/config.yaml"
        assert settings.screen.ascii is True
        await settings.change("lsp.wait_ms", "900", project=False)
        assert backend.workspace.loaded.settings.lsp.wait_ms == 900
        assert config.read_text().startswith("# mine\ntheme: harness-dark # dark\n")
        row = next(row for row in await settings.rows() if row.key == "lsp.wait_ms")
        assert (row.value, row.source.rpartition(":")[0]) == (900, str(config))
        assert await settings.reset("lsp.wait_ms", project=False)
        assert backend.workspace.loaded.settings.lsp.wait_ms == 1500
        before = config.read_text()
        with pytest.raises(UsageError):
            await settings.change("lsp.wait_ms", "-4", project=False)
        assert config.read_text() == before
    finally:
        await backend.close()


async def test_a_change_that_does_not_count_says_why(home: Path, tmp_path: Path) -> None:
    backend = create_backend(tmp_path / "project", Options(model="offline"))
    await backend.open()
    try:
        with pytest.raises(HarnessError, match="does not count"):
            await backend.settings.change("tui.ascii", "true", project=True)
        with pytest.raises(UsageError, match="not set here"):
            await backend.settings.change("permission", "x", project=False)
    finally:
        await backend.close()
