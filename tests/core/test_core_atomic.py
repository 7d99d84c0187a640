"""A file appears whole or not at all, and nothing stays beside it."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from harness_tui.core import atomic
from harness_tui.core.atomic import PREFIX, staged, try_lock, write_atomic


@pytest.fixture(params=["nameless", "named"])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run with files without a name, and as on a system that has none."""
    if request.param == "named":
        monkeypatch.setattr(os, "O_TMPFILE", 0, raising=False)
    return str(request.param)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.usefixtures("kind")
def test_a_write_replaces_the_whole_file_and_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "a"
    write_atomic(path, b"one, and longer")
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask
    path.chmod(0o751)
    write_atomic(path, b"two")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"two", 0o751)
    write_atomic(path, b"three", mode=0o600)
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"three", 0o600)
    assert names(tmp_path) == ["a"]


@pytest.mark.usefixtures("kind")
def test_creating_never_takes_the_place_of_what_is_there(tmp_path: Path) -> None:
    for content in (b"first", b"second"):
        with staged(tmp_path / "a", content) as new:
            if content == b"first":
                new.create()
            else:
                with pytest.raises(FileExistsError):
                    new.create()
    assert (tmp_path / "a").read_bytes() == b"first"
    assert names(tmp_path) == ["a"]


@pytest.mark.usefixtures("kind")
def test_what_is_not_put_in_place_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), staged(tmp_path / "a", b"x"):
        raise RuntimeError
    assert names(tmp_path) == []


@pytest.mark.usefixtures("kind")
def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    real = os.write

    def full(descriptor: int, data: bytes) -> int:
        if len(data) > 2:
            return real(descriptor, bytes(data[:2]))
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(atomic.os, "write", full)
    with pytest.raises(OSError, match="No space left"):
        write_atomic(path, b"new bytes")
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["a"]


@pytest.mark.usefixtures("kind")
def test_names_that_killed_processes_left_go_with_the_next_write(tmp_path: Path) -> None:
    for slot in (0, 2):
        (tmp_path / f"{PREFIX}{slot}").write_bytes(b"half")
    held = os.open(tmp_path / f"{PREFIX}1", os.O_RDWR | os.O_CREAT)
    try:
        assert try_lock(held)
        write_atomic(tmp_path / "a", b"new")
        assert names(tmp_path) == [f"{PREFIX}1", "a"]  # another that writes now keeps its own
    finally:
        os.close(held)
    write_atomic(tmp_path / "a", b"newer")
    assert names(tmp_path) == ["a"]


@pytest.mark.usefixtures("kind")
def test_a_link_or_folder_of_such_a_name_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"mine")
    (tmp_path / f"{PREFIX}0").symlink_to("target")
    (tmp_path / f"{PREFIX}1").mkdir()
    write_atomic(tmp_path / "a", b"new")
    assert (tmp_path / "target").read_bytes() == b"mine"
    assert names(tmp_path) == [f"{PREFIX}0", f"{PREFIX}1", "a", "target"]


def test_a_process_that_is_killed_while_it_writes_leaves_nothing(tmp_path: Path) -> None:
    if not hasattr(os, "O_TMPFILE"):
        pytest.skip("this system has no files without a name")
    script = f"""
        import os, signal
        from pathlib import Path
        from harness_tui.core import atomic
        atomic.os.fsync = lambda descriptor: os.kill(os.getpid(), signal.SIGKILL)
        atomic.write_atomic(Path({str(tmp_path / "a")!r}), b"new")
    """
    (tmp_path / "a").write_bytes(b"old")
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], timeout=60, check=False)
    assert done.returncode == -signal.SIGKILL
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_bytes() == b"old"


def test_writers_at_the_same_time_each_write_whole(tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    contents = [bytes([65 + number]) * 5000 for number in range(20)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda content: write_atomic(tmp_path / "a", content), contents))
    assert (tmp_path / "a").read_bytes() in contents
    assert names(tmp_path) == ["a"]
