"""What a model may name and a project may hold that would hang a search, fill the memory or pass for something else."""

from __future__ import annotations

import itertools
import os
import socket
import warnings
from pathlib import Path
from typing import Any

import pytest

from harness_tui.core.errors import ToolError
from harness_tui.core.limits import MIB
from harness_tui.tools import diffs
from harness_tui.tools.globs import matches_glob
from harness_tui.tools.matching import Edit, apply_edit
from harness_tui.tools.reading import window_of


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("pipe", "this is a FIFO, not a regular file"),
        ("socket", "this is a socket, not a regular file"),
        ("/dev/zero", "this is a device, not a regular file"),
    ],
)
@pytest.mark.parametrize(
    ("tool", "more"), [("read", {}), ("grep", {"pattern": "x"}), ("write", {"content": "x"}), ("edit", {"old": "x"})]
)
async def test_what_is_no_file_is_named_for_what_it_is_and_never_waited_for(
    bench: Any, name: str, message: str, tool: str, more: dict[str, str]
) -> None:
    os.mkfifo(bench.root / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(bench.root / "socket"))
        if tool == "edit":
            more = {**more, "new": "y"}
        with pytest.raises(ToolError) as caught:
            await bench.call(tool, bench.context(origin="user"), path=name, **more)
    assert caught.value.what == message


async def test_a_file_of_twenty_gigabytes_is_not_searched_to_its_end(bench: Any) -> None:
    with (bench.root / "sparse").open("wb") as file:
        file.truncate(20 * 1024 * MIB)
    with pytest.raises(ToolError, match="21474836480 bytes, 1024 MiB at most are searched"):
        await bench.call("grep", pattern="x", path="sparse")


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="no /proc")
async def test_a_file_that_opens_and_cannot_be_read_is_an_error_of_the_call(bench: Any) -> None:
    with pytest.raises(ToolError, match="Input/output error"):
        await bench.call("read", path="/proc/self/mem")


@pytest.mark.parametrize("tool", ["read", "write", "list", "glob", "grep"])
async def test_a_name_that_no_file_can_have_is_an_error_of_the_call(bench: Any, tool: str) -> None:
    more = {"write": {"content": "x"}, "glob": {"pattern": "*"}, "grep": {"pattern": "x"}}.get(tool, {})
    for path in ("n" * 256, "d/" * 3000 + "f"):
        with pytest.raises(ToolError, match="too long for a file") as caught:
            await bench.call(tool, path=path, **more)
        assert len(str(caught.value)) < 400


async def test_a_line_end_in_a_name_is_shown_and_makes_no_second_name(bench: Any) -> None:
    (bench.root / "a\nb.txt").write_text("hit\n")
    (bench.root / "c\x1b[31m").write_text("hit\n")
    os.symlink(b"to\n\xff", bytes(bench.root) + b"/link")
    names = ['"a\\nb.txt"', '"c\\u001b[31m"']
    assert (await bench.call("list")).output.split("\n") == [*names, 'link -> "to\\n\\ufffd"']
    assert (await bench.call("glob", pattern="*")).output.split("\n") == names
    assert (await bench.call("grep", pattern="hit")).output.split("\n") == [f"{name}:1: hit" for name in names]
    assert (await bench.call("read", path="a\nb.txt")).output == "     1\thit"


async def test_more_entries_than_are_looked_at_are_told(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness_tui.tools.list_tool._SCANNED", 3)
    for name in "abcd":
        (bench.root / name).touch()
    output = (await bench.call("list")).output
    assert output.endswith("[the folder has more than 3 entries, the others were not looked at: use glob]")
    (bench.root / "d").unlink()
    assert (await bench.call("list")).output == "a\nb\nc"


def test_no_pattern_takes_longer_than_its_length_and_that_of_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    # Each of these would take more steps than there are seconds in a year if every place of every star were tried.
    assert not matches_glob("n*" * 40 + "x", "n" * 255)
    assert not matches_glob("*a" * 40 + "b", "a" * 255)
    assert matches_glob("*a" * 40 + "b", "a" * 254 + "b")
    assert not matches_glob("**/a/" * 30 + "b", "/".join("a" * 500))
    assert matches_glob("**/a/" * 30 + "b", "/".join("a" * 500 + "b"))
    assert not matches_glob("{a,a}" * 30, "a" * 31)


def test_every_small_pattern_fits_what_trying_all_places_finds() -> None:
    names = ["".join(name) for size in (1, 2, 3) for name in itertools.product("ab", repeat=size)]
    paths = [*names, *(f"{one}/{other}" for one in names for other in names[:6]), "a/b/a", "a/a/b/ab", "b/a/b/a/b"]
    parts = ["**", "*", "a", "a*", "*b", "a*b", "?", "*a*b"]
    patterns = ["/".join(each) for size in (2, 3) for each in itertools.product(parts, repeat=size)]
    for pattern in [*parts, *patterns]:
        wanted = pattern.split("/") if "/" in pattern else ["**", pattern]
        for path in paths:
            assert matches_glob(pattern, path) == _fits(wanted, path.split("/")), (pattern, path)


def _fits(pattern: list[str], path: list[str]) -> bool:
    """Hold components against each other by trying everything."""
    if not pattern:
        return not path
    if pattern[0] == "**":
        if len(pattern) == 1:
            return bool(path)
        return any(_fits(pattern[1:], path[skipped:]) for skipped in range(len(path)))
    return bool(path) and _name_fits(pattern[0], path[0]) and _fits(pattern[1:], path[1:])


def _name_fits(pattern: str, name: str) -> bool:
    if not pattern:
        return not name
    if pattern[0] == "*":
        return any(_name_fits(pattern[1:], name[skipped:]) for skipped in range(len(name) + 1))
    return bool(name) and pattern[0] in ("?", name[0]) and _name_fits(pattern[1:], name[1:])


@pytest.mark.parametrize(
    ("pattern", "name", "fits"),
    [
        ("[[]y]", "[y]", True),
        ("[^-]x", "ax", True),
        ("[^-]x", "-x", False),
        ("[a&&b]", "&", True),
        ("[a-c-e]", "-", True),
        (r"[\d]", "5", False),
        ("[]]", "]", True),
        ("{a,b{c,d}}.py", "bd.py", True),
        ("{a,b{c,d}}.py", "b.py", False),
        ("[{]a,b}", "{a,b}", True),
        ("a**b", "axxb", True),
    ],
)
def test_classes_and_braces_mean_what_shells_mean(pattern: str, name: str, fits: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a warning would be written over the screen
        assert matches_glob(pattern, name) is fits


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le"])
def test_lines_of_wide_characters_are_found_across_the_pieces_that_are_decoded(
    encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness_tui.tools.reading._BLOCK", 8)
    mark = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff", "utf-32-le": b"\xff\xfe\0\0"}[encoding]
    data = mark + "one\r\ntwo\r\rf\U0001f600ur\nlast".encode(encoding)
    assert window_of(data, "f", offset=1, limit=9).lines == ["one", "two", "", "f\U0001f600ur", "last"]
    part = window_of(data, "f", offset=2, limit=2)
    assert (part.lines, part.total) == (["two", ""], 5)
    assert window_of(data, "f", offset=6, limit=1).lines == []


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_replacing_everywhere_gives_new_lines_the_only_end_of_the_file(end: str) -> None:
    raw = f"a{end}b{end}a{end}b"
    done = apply_edit(raw, Edit("a\nb", "x\ny\r\nz", True, "f"))
    assert (done.text, done.count) == (f"x{end}y{end}z{end}x{end}y{end}z", 2)


def test_a_change_of_a_million_lines_is_counted_and_shown_at_both_ends(tmp_path: Path) -> None:
    before = "head\n" + "old\n" * 1_000_000 + "tail"
    after = "head\n" + "new\n" * 900_000 + "tail\n"
    diff = diffs.make_diff(before, after, "f")
    assert (diff.added, diff.removed) == (900_000, 1_000_000)
    assert diff.text.startswith("--- f\n+++ f\n@@ -1,1000002 +1,900002 @@\n head\n-old\n-old\n")
    assert diff.text.endswith("+new\n+new\n tail\n")
    assert "bytes left out" in diff.text
    assert len(diff.text.encode()) <= 50 * 1024
