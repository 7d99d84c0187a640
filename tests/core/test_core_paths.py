"""One way to name, compare, read and write files."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from harness_tui.core.errors import HarnessError
from harness_tui.core.paths import (
    digest,
    expand,
    is_inside,
    make_private_folder,
    name_in,
    read_regular,
    resolve,
    short,
    write_atomic,
)

BASE = Path("/base/dir")


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("a.py", "/base/dir/a.py"),
        ("./a.py", "/base/dir/a.py"),
        ("sub//a.py", "/base/dir/sub/a.py"),
        ("/abs/a.py", "/abs/a.py"),
        ("file:///abs/a.py", "/abs/a.py"),
        ("file://localhost/abs/a.py", "/abs/a.py"),
        ("~", "/home/ada"),
        ("~/a.py", "/home/ada/a.py"),
        ("~bob/a.py", "/base/dir/~bob/a.py"),
        ("a b.py", "/base/dir/a b.py"),
    ],
)
def test_a_text_names_a_path(monkeypatch: pytest.MonkeyPatch, text: str, path: str) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    assert str(expand(text, BASE)) == path


@pytest.mark.parametrize("text", ["", "a\x00b"])
def test_an_empty_path_or_a_nul_is_an_error(text: str) -> None:
    with pytest.raises(HarnessError, match="empty or holds a NUL"):
        expand(text, BASE)


def test_dots_are_resolved_after_links_as_the_system_does(tmp_path: Path) -> None:
    tmp_path = tmp_path.resolve()
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "deep" / "er")
    assert resolve("link/../x", tmp_path) == tmp_path / "deep" / "x"
    assert resolve("a/../b", tmp_path) == tmp_path / "b"
    assert resolve("link/new/file", tmp_path) == tmp_path / "deep" / "er" / "new" / "file"


def test_a_link_out_of_the_root_is_outside(tmp_path: Path) -> None:
    root = tmp_path.resolve() / "project"
    root.mkdir()
    (root / "out").symlink_to(tmp_path)
    target = resolve("out/secret", root)
    assert not is_inside(target, root)
    assert name_in(target, root) == f"{tmp_path.resolve()}/secret"


def test_a_loop_of_links_leads_nowhere_else(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    try:
        found = resolve("a/x", tmp_path)
    except HarnessError:
        return  # until Python 3.12; later ones return the path itself
    assert is_inside(found, tmp_path.resolve())


@pytest.mark.parametrize(
    ("path", "inside", "name"),
    [
        ("/r/project", True, "."),
        ("/r/project/a/b.py", True, "a/b.py"),
        ("/r/project-2/a.py", False, "/r/project-2/a.py"),
        ("/r", False, "/r"),
        ("/r/projec", False, "/r/projec"),
    ],
)
def test_containment_goes_by_components(path: str, inside: bool, name: str) -> None:
    root = Path("/r/project")
    assert is_inside(Path(path), root) is inside
    assert name_in(Path(path), root) == name


def test_the_home_folder_is_written_short_and_its_namesakes_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    assert short("/home/ada/a") == "~/a"
    assert short(Path("/home/ada")) == "~"
    assert short("/home/adam/a") == "/home/adam/a"


def test_a_regular_file_is_read_up_to_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"12345")
    assert read_regular(path, max_bytes=5) == b"12345"
    with pytest.raises(HarnessError, match="5 bytes are more than the limit of 4") as caught:
        read_regular(path, max_bytes=4)
    assert caught.value.code == "too-large"


def test_a_fifo_a_device_and_a_folder_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    for path in (tmp_path / "fifo", Path("/dev/null"), Path("/dev/zero"), tmp_path):
        with pytest.raises(HarnessError) as caught:
            read_regular(path, max_bytes=10)
        assert caught.value.code == "not-regular"
    after = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    assert after == before


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(HarnessError) as caught:
        read_regular(tmp_path / "none", max_bytes=10)
    assert (caught.value.code, caught.value.where) == ("unreadable", str(tmp_path / "none"))


@pytest.mark.parametrize("mode", [0o600, 0o755])
def test_a_write_keeps_the_mode_and_leaves_no_other_file(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(mode)
    write_atomic(path, b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert os.listdir(tmp_path) == ["a"]


def test_a_new_file_gets_the_mode_that_is_asked_for_or_the_usual_one(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        write_atomic(tmp_path / "usual", b"x")
        write_atomic(tmp_path / "private", b"x", mode=0o600)
    finally:
        assert os.umask(old) == 0o027
    assert stat.S_IMODE((tmp_path / "usual").stat().st_mode) == 0o640
    assert stat.S_IMODE((tmp_path / "private").stat().st_mode) == 0o600


def test_a_write_that_fails_leaves_the_old_bytes_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def fail(*_: object, **__: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="no space left"):
        write_atomic(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


def test_a_private_folder_is_closed_to_others(tmp_path: Path) -> None:
    folder = make_private_folder(tmp_path / "a" / "b")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert make_private_folder(folder) == folder


def test_the_digest_is_sha_256() -> None:
    assert digest(b"abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_a_private_folder_and_every_folder_made_above_it_are_the_persons_alone(tmp_path: Path) -> None:
    folder = make_private_folder(tmp_path / "state" / "harness" / "locks")
    assert folder.is_dir()
    for made in (folder, folder.parent, folder.parent.parent):
        assert made.stat().st_mode & 0o777 == 0o700
    assert make_private_folder(folder) == folder


def test_a_path_that_no_system_can_hold_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match="cannot be resolved") as raised:
        resolve("half \ud800", tmp_path)
    assert raised.value.where == "half \\ud800"
