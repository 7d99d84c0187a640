"""Another process swaps a file or a folder for a link to the outside again and again: nothing outside is reached."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from harness_tui.core.errors import HarnessError

SWAPS = 500

SWAPPER = """
import ctypes, os, select, sys
path, outside, least = sys.argv[1].encode(), sys.argv[2], int(sys.argv[3])
spare = path + b".spare"
os.symlink(outside, spare)
libc = ctypes.CDLL(None, use_errno=True)
swaps = 0
while swaps < least or swaps % 2 or not select.select([sys.stdin], [], [], 0)[0]:
    if sys.platform == "darwin":
        failed = libc.renamex_np(path, spare, 2)
    else:
        failed = libc.renameat2(-100, path, -100, spare, 2)
    if failed:
        sys.exit(os.strerror(ctypes.get_errno()))
    swaps += 1
os.unlink(spare)
print(swaps)
"""
"""Swaps two names at once, so that there is always one or the other."""


@contextmanager
def swapping(path: Path, outside: Path) -> Iterator[None]:
    """Swap ``path`` for a link to ``outside`` and back, 500 times at least, while the block runs."""
    swapper = subprocess.Popen(
        [sys.executable, "-c", SWAPPER, str(path), str(outside), str(SWAPS)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield
        out, _ = swapper.communicate("\n", timeout=60)
        assert swapper.returncode == 0
        assert int(out) >= SWAPS
    finally:
        swapper.kill()
        swapper.wait()


@pytest.fixture
async def outside(bench: Any, tmp_path: Path) -> AsyncIterator[Path]:
    """A folder beside the project with a file ``a.txt``; neither is changed by the test."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "a.txt").write_text("SECRET\n")
    (bench.root / "sub").mkdir()
    for name in ("a.txt", "sub/a.txt"):
        (bench.root / name).write_text("inside\n")
    yield folder
    assert {path.name: path.read_text() for path in folder.iterdir()} == {"a.txt": "SECRET\n"}


async def tried(bench: Any, tool: str, times: int = 150, **arguments: object) -> list[str]:
    """Call ``tool`` many times and return what came of it."""
    found: list[str] = []
    for number in range(times):
        values = {
            name: value.format(n=number) if isinstance(value, str) else value for name, value in arguments.items()
        }
        context = bench.context("person")
        try:
            prepared = await bench.prepare(tool, context, **values)
            if any(check.permission == "external_directory" for check in prepared.checks):
                continue  # the gate would ask
            found.append((await bench.run(tool, prepared, context)).output)
        except HarnessError as error:
            found.append(f"refused: {error}")
    return found


@pytest.mark.parametrize("name", ["a.txt", "sub/a.txt"])
async def test_a_swapped_path_is_never_read(bench: Any, outside: Path, name: str) -> None:
    swapped = bench.root / name.split("/")[0]
    with swapping(swapped, outside if swapped.is_dir() else outside / "a.txt"):
        found = await tried(bench, "read", path=name)
    assert not [text for text in found if "SECRET" in text]
    assert any("inside" in text for text in found)


async def test_a_swapped_folder_is_never_listed(bench: Any, outside: Path) -> None:
    (outside / "a.txt").rename(outside / "hidden.txt")
    try:
        with swapping(bench.root / "sub", outside):
            found = await tried(bench, "list", path="sub")
    finally:
        (outside / "hidden.txt").rename(outside / "a.txt")
    assert not [text for text in found if "hidden" in text]
    assert "a.txt" in found


@pytest.mark.parametrize("name", ["a.txt", "sub/a.txt"])
async def test_a_swapped_path_is_never_written(bench: Any, outside: Path, name: str) -> None:
    swapped = bench.root / name.split("/")[0]
    with swapping(swapped, outside if swapped.is_dir() else outside / "a.txt"):
        await tried(bench, "write", path=name, content="inside {n}\n")


async def test_a_swapped_folder_gets_no_new_file(bench: Any, outside: Path) -> None:
    with swapping(bench.root / "sub", outside):
        await tried(bench, "write", path="sub/new-{n}/b.txt", content="b\n")
        await tried(bench, "write", path="sub/new-{n}.txt", content="b\n")


async def test_a_swapped_path_is_never_edited(bench: Any, outside: Path) -> None:
    (bench.root / "sub/a.txt").write_text("SECRET\n")
    with swapping(bench.root / "sub", outside):
        await tried(bench, "edit", path="sub/a.txt", old="SECRET", new="SECRET{n}")


@pytest.mark.parametrize(("tool", "key"), [("grep", "pattern"), ("glob", "pattern")])
async def test_a_swapped_folder_is_never_searched(bench: Any, outside: Path, tool: str, key: str) -> None:
    (outside / "a.txt").rename(outside / "hidden.txt")
    try:
        with swapping(bench.root / "sub", outside):
            found = await tried(bench, tool, 25, path="sub", **{key: "SECRET" if tool == "grep" else "hidden*"})
    finally:
        (outside / "hidden.txt").rename(outside / "a.txt")
    assert not [text for text in found if "hidden" in text or "SECRET" in text]
