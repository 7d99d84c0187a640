"""The program's own log goes to a private file, without secrets, and never to the terminal."""

from __future__ import annotations

import logging
import stat
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness_tui.workspace.logs import PrivateFile, log_to_file


@pytest.fixture(autouse=True)
def own_handlers() -> Iterator[None]:
    root = logging.getLogger()
    before = list(root.handlers)
    yield
    for handler in [handler for handler in root.handlers if handler not in before]:
        root.removeHandler(handler)
        handler.close()


def test_a_warning_and_its_traceback_go_to_a_private_file_without_secrets(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    log_to_file(tmp_path / "logs")
    try:
        raise ValueError("Bearer abcdefghijklmnop")
    except ValueError:
        logging.getLogger("harness_tui.agent").exception("a tool failed")
    path = tmp_path / "logs" / "harness.log"
    text = path.read_text()
    assert "ERROR harness_tui.agent: a tool failed" in text
    assert "ValueError: Bearer [redacted]" in text
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert capfd.readouterr().err == ""


def test_asking_twice_logs_once(tmp_path: Path) -> None:
    log_to_file(tmp_path)
    log_to_file(tmp_path)
    logging.getLogger("harness_tui").warning("once")
    assert (tmp_path / "harness.log").read_text().count("once") == 1


def test_a_folder_that_cannot_be_made_costs_the_log_alone(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    log_to_file(tmp_path / "file" / "logs")
    logging.getLogger("harness_tui").warning("nowhere")
    assert capfd.readouterr().err == ""
    assert not any(isinstance(handler, PrivateFile) for handler in logging.getLogger().handlers)


def test_a_warning_of_a_library_goes_there_too(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    logging.captureWarnings(False)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        log_to_file(tmp_path)
        warnings.warn("this setting is ignored", UserWarning, stacklevel=1)
    logging.captureWarnings(False)
    assert "WARNING py.warnings:" in (tmp_path / "harness.log").read_text()
    assert "this setting is ignored" in (tmp_path / "harness.log").read_text()
    assert capfd.readouterr().err == ""
