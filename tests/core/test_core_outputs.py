"""Cut output keeps the whole in a private file and says where."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from harness_tui.core.outputs import limit_output


def test_short_output_stays_as_it_is_and_nothing_is_written(tmp_path: Path) -> None:
    limited = limit_output("a\nb\n", folder=tmp_path / "outputs", name="c1")
    assert (limited.text, limited.path, limited.bytes) == ("a\nb\n", None, 4)
    assert not (tmp_path / "outputs").exists()


def test_long_output_is_kept_whole_in_a_private_file(tmp_path: Path) -> None:
    text = "".join(f"line {number}\n" for number in range(1, 3_001))
    limited = limit_output(text, folder=tmp_path / "outputs", name="c1")
    path = tmp_path / "outputs" / "c1.txt"
    assert limited.path == str(path)
    assert path.read_text() == text
    assert limited.bytes == len(text)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert limited.text.startswith("line 1\n")
    assert "line 3000\n" in limited.text
    assert limited.text.endswith(f"[the whole, {len(text)} bytes, is in {path}]")
    assert "line 1500\n" not in limited.text


def test_limits_can_be_named(tmp_path: Path) -> None:
    limited = limit_output("a\nb\nc\nd\n", folder=tmp_path, name="c", max_lines=3)
    assert limited.text == f"a\n[... 6 bytes left out ...]\n[the whole, 8 bytes, is in {tmp_path}/c.txt]"


@pytest.mark.parametrize("text", ["x" * 60_000, "x\n" * 5_000, "x\n" * 1_999, "ä" * 25_595])
def test_cut_output_is_within_the_limits_with_all_its_notes(tmp_path: Path, text: str) -> None:
    limited = limit_output(text, folder=tmp_path, name="c", notes="[one]\n[two]")
    assert len(limited.text.encode()) <= 50 * 1024
    assert len(limited.text.splitlines()) <= 2_000
    assert limited.text.endswith(f"is in {tmp_path}/c.txt]\n[one]\n[two]")
    assert (tmp_path / "c.txt").read_text() == text


def test_notes_follow_what_is_not_cut(tmp_path: Path) -> None:
    assert limit_output("a", folder=tmp_path, name="c", notes="[one]").text == "a\n[one]"
    assert limit_output("", folder=tmp_path, name="c", notes="[one]").text == "[one]"
    assert list(tmp_path.iterdir()) == []


def test_a_name_from_outside_never_leaves_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "outputs"
    limited = limit_output("x\n" * 5_000, folder=folder, name="../../evil")
    assert limited.path is not None
    assert Path(limited.path).parent == folder
    assert [entry.name for entry in tmp_path.iterdir()] == ["outputs"]


def test_the_same_name_twice_keeps_both(tmp_path: Path) -> None:
    first = limit_output("x\n" * 5_000, folder=tmp_path, name="c1")
    second = limit_output("y\n" * 5_000, folder=tmp_path, name="c1")
    assert first.path == str(tmp_path / "c1.txt")
    assert second.path == str(tmp_path / "c1-2.txt")
    assert Path(first.path).read_text().startswith("x")


def test_a_folder_that_cannot_be_made_is_told_and_the_cut_text_still_comes(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    limited = limit_output("x\n" * 5_000, folder=tmp_path / "file" / "outputs", name="c1")
    assert limited.path is None
    assert "could not be kept" in limited.text
