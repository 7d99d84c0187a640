"""What was typed before: kept across sessions, without secrets, whatever happens to its file."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from harness_tui.core.errors import HarnessError
from harness_tui.sessions import prompt_history
from harness_tui.sessions.prompt_history import PastText, PromptHistoryFile


def history(folder: Path) -> PromptHistoryFile:
    return PromptHistoryFile(folder / "state/prompts.jsonl", folder / "state/locks/prompts.lock")


def past(text: str, root: str = "/srv/a") -> PastText:
    return PastText(text, root, "2026-01-02T03:04:05.000Z")


def test_texts_come_back_in_order_and_the_file_is_the_persons_alone(tmp_path: Path) -> None:
    assert history(tmp_path).load() == []
    history(tmp_path).add(past("one\ntwo"))
    history(tmp_path).add(past("日本語", "/srv/b"))
    assert history(tmp_path).load() == [past("one\ntwo"), past("日本語", "/srv/b")]
    assert stat.S_IMODE((tmp_path / "state/prompts.jsonl").stat().st_mode) == 0o600


def test_blank_and_very_long_texts_are_not_kept_and_secrets_are_hidden(tmp_path: Path) -> None:
    history(tmp_path).add(past("  \n"))
    history(tmp_path).add(past("x" * 16_385))
    history(tmp_path).add(past("use sk-ant-api03-" + "A1b2" * 12))
    (kept,) = history(tmp_path).load()
    assert "A1b2" not in kept.text


def test_a_torn_line_costs_itself_alone(tmp_path: Path) -> None:
    file = tmp_path / "state/prompts.jsonl"
    history(tmp_path).add(past("first"))
    with file.open("ab") as torn:
        torn.write(b'{"text": "half')
    history(tmp_path).add(past("second"))
    with file.open("ab") as more:
        more.write(b'[]\n{"text": 5, "root": "", "time": ""}\n\xff\n')
    assert [item.text for item in history(tmp_path).load()] == ["first", "second"]


def test_a_file_that_has_grown_is_cut_back_to_the_newest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prompt_history, "GROWN_BYTES", 600)
    monkeypatch.setattr(prompt_history, "KEPT", 3)
    for number in (1, 2, 3, 1, 4, 5, 6, 7, 8, 9, 10):
        history(tmp_path).add(past(f"text {number}"))
    kept = [item.text for item in history(tmp_path).load()]
    assert kept[-1] == "text 10"
    assert len(kept) <= 10
    assert len((tmp_path / "state/prompts.jsonl").read_bytes()) < 900


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")
    with pytest.raises(HarnessError):
        history(tmp_path).add(past("text"))
