"""Contents are kept once, privately, whole; what nothing refers to is swept, and nothing else."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness_tui.core.errors import HarnessError
from harness_tui.sessions.blobs import BlobStore

EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


@pytest.fixture
def blobs(tmp_path: Path) -> BlobStore:
    return BlobStore(tmp_path / "data" / "blobs")


def files(blobs: BlobStore) -> list[Path]:
    return sorted(path for path in blobs.folder.rglob("*") if path.is_file())


def test_a_content_is_kept_under_its_hash_and_once(blobs: BlobStore) -> None:
    assert blobs.put(b"abc") == blobs.put(b"abc") == ABC
    assert blobs.put(b"") == EMPTY
    assert (blobs.get(ABC), blobs.get(EMPTY)) == (b"abc", b"")
    assert files(blobs) == [blobs.folder / "ba" / ABC, blobs.folder / "e3" / EMPTY]
    assert sorted(blobs.names()) == [ABC, EMPTY]
    assert (blobs.has(ABC), blobs.has("f" * 64), blobs.size(ABC)) == (True, False, 3)


def test_blobs_are_private(blobs: BlobStore) -> None:
    before = os.umask(0)
    try:
        blobs.put(b"abc")
    finally:
        os.umask(before)
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (blobs.folder, blobs.folder / "ba", blobs._path(ABC))]
    assert modes == [0o700, 0o700, 0o600]


@pytest.mark.parametrize("name", ["", "abc", "../../etc/passwd", "F" * 64, EMPTY + "\n"])
def test_a_name_that_is_no_hash_reaches_no_file(blobs: BlobStore, name: str) -> None:
    assert not blobs.has(name)
    with pytest.raises(HarnessError, match="no hash"):
        blobs.get(name)


def test_what_is_missing_or_damaged_is_told_and_put_again(blobs: BlobStore) -> None:
    with pytest.raises(HarnessError, match="not kept"):
        blobs.get(ABC)
    blobs.put(b"abc")
    (path,) = files(blobs)
    path.write_bytes(b"ab")  # as after a power cut
    with pytest.raises(HarnessError, match="damaged"):
        blobs.get(ABC)
    blobs.put(b"abc")
    assert blobs.get(ABC) == b"abc"


def test_a_sweep_takes_what_is_old_and_not_wanted(blobs: BlobStore) -> None:
    wanted, old, young = blobs.put(b"wanted"), blobs.put(b"old"), blobs.put(b"young")
    for name in (wanted, old):
        os.utime(blobs._path(name), (1, 1))
    assert blobs.sweep({wanted}) == 3
    assert sorted(blobs.names()) == sorted([wanted, young])
    os.utime(blobs._path(wanted), (1, 1))
    blobs.put(b"wanted")  # it is young again
    assert blobs.sweep(set()) == 0
    assert blobs.sweep(set(), older_than=0) == 11


def test_sweeping_before_the_first_put_is_nothing(blobs: BlobStore) -> None:
    assert blobs.sweep(set()) == 0
    assert list(blobs.names()) == []


def test_many_that_put_the_same_at_once_keep_it_once(blobs: BlobStore) -> None:
    with ThreadPoolExecutor(8) as pool:
        names = set(pool.map(blobs.put, [bytes([number % 3]) * 1000 for number in range(30)]))
    assert len(names) == 3
    assert len(files(blobs)) == 3


def test_a_folder_that_cannot_be_written_is_told(blobs: BlobStore) -> None:
    blobs.folder.parent.mkdir(parents=True)
    blobs.folder.write_text("a file in the way")
    with pytest.raises(HarnessError, match="could not be kept"):
        blobs.put(b"abc")
