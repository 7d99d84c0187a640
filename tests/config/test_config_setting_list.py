"""The list of settings that is made from the schema, themes in files, and what is shown of values."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness_tui.config.layers import Origin
from harness_tui.config.places import Places
from harness_tui.config.setting_list import Setting, list_settings, read_setting
from harness_tui.config.theme_files import read_theme_files
from harness_tui.config.validation import ConfigFile
from harness_tui.core.errors import UsageError


def by_key(*origins: Origin) -> dict[str, Setting]:
    return {item.key: item for item in list_settings(origins)}


def test_each_key_of_the_schema_is_there_with_its_kind_default_and_help() -> None:
    rows = by_key()
    assert {row.keys[0] for row in rows.values()} == set(ConfigFile.model_fields)
    assert (rows["mode"].kind, rows["mode"].choices) == ("choice", ("ask", "accept-edits", "plan"))
    assert (rows["lsp.wait_ms"].kind, rows["lsp.wait_ms"].default) == ("whole", 1500)
    assert (rows["tui.mouse"].kind, rows["tui.mouse"].default) == ("switch", True)
    assert rows["theme"].kind == "text"
    assert rows["mcp"].kind == rows["permission"].kind == rows["tui.keys"].kind == "file"
    unsaid = [
        row.key for row in rows.values() if row.kind != "file" and not row.about and row.keys[0] in ("tui", "lsp")
    ]
    assert unsaid == ["lsp.memory_mb"]


def test_a_value_has_its_place_and_a_secret_is_never_shown() -> None:
    rows = by_key(
        Origin("lsp.wait_ms", 900, "/c.yaml:3"),
        Origin("providers.local.api_key", "hunter22-hunter22", "/c.yaml:5"),
        Origin("mcp.docs.headers.X-Key", "abcdefgh", "/c.yaml:7"),
        Origin("theme", "old", "/b.yaml:1", "overridden"),
    )
    assert (rows["lsp.wait_ms"].value, rows["lsp.wait_ms"].source) == (900, "/c.yaml:3")
    assert rows["providers.local.api_key"].value == rows["mcp.docs.headers.X-Key"].value == "[redacted]"
    assert rows["providers.local.api_key"].kind == "file"
    assert rows["theme"].value is None


def test_what_is_typed_is_read_by_the_kind_of_the_setting() -> None:
    assert read_setting(Setting("a", "switch", ""), " On ") is True
    assert read_setting(Setting("a", "whole", ""), "12") == 12
    assert read_setting(Setting("a", "choice", "", ("x", "y")), "y") == "y"
    with pytest.raises(UsageError, match="expected a whole number"):
        read_setting(Setting("a", "whole", ""), "1.5")
    with pytest.raises(UsageError, match="one of x, y"):
        read_setting(Setting("a", "choice", "", ("x", "y")), "z")


def test_a_broken_theme_file_says_so_and_its_neighbour_is_read(tmp_path: Path) -> None:
    places = Places.from_environment({"HOME": str(tmp_path)})
    folder = places.config / "themes"
    folder.mkdir(parents=True)
    (folder / "sea.yaml").write_text("base: harness-dark\ncolors: {accent: '#00ffff'}\n")
    (folder / "torn.yaml").write_text("colors: {accent: [\n")
    (folder / "odd.yaml").write_text("colours: {}\n")
    odd, sea, torn = read_theme_files(places)
    assert (sea.base, sea.colors, sea.problem) == ("harness-dark", {"accent": "#00ffff"}, "")
    assert "torn.yaml:" in torn.problem
    assert odd.problem == "unknown key 'colours'; known are base, colors"


def test_the_keys_of_the_screen_are_not_read_in_a_project() -> None:
    from harness_tui.config.own_alone import why_own_alone

    assert why_own_alone(("tui", "keys", "quit"), "f12") is not None
    assert why_own_alone(("theme",), "terminal") is None
