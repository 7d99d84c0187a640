"""Editing changes the named text and no other byte, or nothing."""

from __future__ import annotations

import asyncio
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from harness_tui.core.errors import StalePreviewError, ToolError
from harness_tui.core.event_parts import DiffPreview
from harness_tui.core.events import FileChanged
from harness_tui.core.paths import digest
from harness_tui.core.seams import Check


async def edited(bench: Any, data: bytes, **arguments: Any) -> bytes:
    """Write ``data``, read it, edit it, and return the new bytes."""
    path = bench.root / "a.txt"
    path.write_bytes(data)
    await bench.call("read", path="a.txt")
    await bench.call("edit", path="a.txt", **arguments)
    return path.read_bytes()


async def test_an_edit_is_shown_decided_done_and_told(bench: Any) -> None:
    path = bench.root / "src" / "x.py"
    path.parent.mkdir()
    path.write_text("a = 1\nb = 2\nc = 3\n")
    path.chmod(0o644)
    await bench.call("read", path="src/x.py")
    prepared = await bench.prepare("edit", path="src/x.py", old="b = 2", new="b = 5\nb2 = 6")
    before = digest(b"a = 1\nb = 2\nc = 3\n")
    assert prepared.title == "Edit src/x.py"
    assert prepared.checks == (Check("edit", "src/x.py"),)
    assert prepared.preview == DiffPreview(
        "src/x.py",
        "--- src/x.py\n+++ src/x.py\n@@ -1,3 +1,4 @@\n a = 1\n-b = 2\n+b = 5\n+b2 = 6\n c = 3\n",
        before,
    )
    assert path.read_text() == "a = 1\nb = 2\nc = 3\n"
    result = await bench.run("edit", prepared)
    assert path.read_text() == "a = 1\nb = 5\nb2 = 6\nc = 3\n"
    assert result.output == "Edited src/x.py: 1 replacement (+2 -1)"
    after = digest(b"a = 1\nb = 5\nb2 = 6\nc = 3\n")
    assert bench.of(FileChanged) == [FileChanged("src/x.py", 2, 1, before, after, 0o644, 0o644)]


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("ends", [("\n", "\n"), ("\r\n", "\r\n"), ("\r\n", "\n"), ("\r", "\r")])
@pytest.mark.parametrize("line", [0, 1, 2])
async def test_every_line_keeps_its_own_end(
    bench: Any, bom: bytes, last: bool, ends: tuple[str, str], line: int
) -> None:
    kinds = [ends[0], ends[1], ends[0] if last else ""]
    words = ["first", "middle", "last"]
    data = bom + "".join(word + end for word, end in zip(words, kinds, strict=True)).encode()
    expected = data.replace(words[line].encode(), b"changed")
    assert await edited(bench, data, old=words[line], new="changed") == expected


@pytest.mark.parametrize(
    ("data", "old", "new", "expected"),
    [
        (b"a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\nz\n", b"x\r\ny\r\nz\r\nc\r\n"),
        (b"a\r\nb\nc\n", "a\nb", "x\ny", b"x\r\ny\nc\n"),
        (b"a\r\nb\nc\n", "c", "c\nd", b"a\r\nb\nc\nd\n"),
        (b"a\rb\rc", "b", "b\nB", b"a\rb\rB\rc"),
        (b"a\nb\n", "a\r\nb", "x\r\ny", b"x\ny\n"),
        (b"a\r\nb\r\n", "a\nb\n", "", b""),
        (b"one", "one", "one\ntwo", b"one\ntwo"),
    ],
)
async def test_line_ends_of_new_lines_follow_the_old_ones(
    bench: Any, data: bytes, old: str, new: str, expected: bytes
) -> None:
    assert await edited(bench, data, old=old, new=new) == expected


@pytest.mark.parametrize(
    ("data", "old", "new", "expected"),
    [
        ("grün = 1\n".encode("utf-16"), "= 1", "= 2ü", "grün = 2ü\n".encode("utf-16")),
        (b"gr\xfcn = 1\n", "= 1", "= 2", b"gr\xfcn = 2\n"),
        ("日本 = 1\n".encode(), "日本", "中国", "中国 = 1\n".encode()),
    ],
)
async def test_encodings_are_kept(bench: Any, data: bytes, old: str, new: str, expected: bytes) -> None:
    assert await edited(bench, data, old=old, new=new) == expected


async def test_nothing_is_guessed_into_a_file_of_unknown_encoding(bench: Any) -> None:
    with pytest.raises(ToolError, match="not UTF-8, so only ASCII"):
        await edited(bench, b"gr\xfcn = 1\n", old="= 1", new="= ü")


@pytest.mark.parametrize("new", [r"\1 \g<0> \n", "$1 $& ${x}", "%s {0}", "a\\"])
async def test_the_replacement_is_literal(bench: Any, new: str) -> None:
    assert await edited(bench, b"x = old\n", old="old", new=new) == f"x = {new}\n".encode()


async def test_several_places_are_an_error_with_their_lines_unless_all_are_meant(bench: Any) -> None:
    data = b"x\ny\nx\n\nx x\n"
    with pytest.raises(ToolError, match="more than once: lines 1, 3, 5"):
        await edited(bench, data, old="x", new="z")
    assert await edited(bench, data, old="x", new="z", replace_all=True) == b"z\ny\nz\n\nz z\n"


async def test_overlapping_places_are_ambiguous(bench: Any) -> None:
    with pytest.raises(ToolError, match="more than once: line 1"):
        await edited(bench, b"aaa\n", old="aa", new="b")


async def test_replacing_all_keeps_mixed_line_ends(bench: Any) -> None:
    assert await edited(bench, b"a;\r\nb;\na;\r\n", old=";\n", new=",\n", replace_all=True) == b"a,\r\nb,\na,\r\n"


@pytest.mark.parametrize(
    ("data", "old", "new", "expected"),
    [
        # old is indented less than the file: new gets the same more
        (
            b"if x:\n    if y:\n        go()\n",
            "if y:\n    go()",
            "if z:\n    stop()",
            b"if x:\n    if z:\n        stop()\n",
        ),
        # old is indented more than the file
        (b"def f():\n    a()\n    b()\n", "        a()\n        b()\n", "        c()\n", b"def f():\n    c()\n"),
        # blanks against tabs
        (b"\tif x:\n\t\ty()\n", "    if x:\n        y()\n", "    if x:\n        z()\n", b"\tif x:\n\t\tz()\n"),
        # trailing blanks in the file
        (b"a = 1  \nb = 2\t\n", "a = 1\nb = 2", "c = 3", b"c = 3\n"),
        # trailing blanks in old
        (b"a = 1\nb = 2\n", "a = 1 \nb = 2 ", "c = 3", b"c = 3\n"),
    ],
)
async def test_other_blanks_match_once_and_are_reported(
    bench: Any, data: bytes, old: str, new: str, expected: bytes
) -> None:
    path = bench.root / "a.txt"
    path.write_bytes(data)
    await bench.call("read", path="a.txt")
    result = await bench.call("edit", path="a.txt", old=old, new=new)
    assert path.read_bytes() == expected
    assert "tolerant match" in result.output


@pytest.mark.parametrize(
    ("data", "old", "message"),
    [
        (b"    a()\n  a()\n", "a() ", "but for blanks, more than once: lines 1, 2"),
        (b"    a()\n    b()\n", "a()\n  b()", "old was not found"),  # no consistent change of indentation
        (b"a\n\nb\n", "a\nb", "old was not found"),  # another number of lines
        (
            b"def compute(x):\n    pass\n",
            "def compite(x):\n    pass",
            "nearest to its first line is line 1: def compute",
        ),
        (b"a\n", "  \n", "old was not found"),
        (b"a\n", "", "old is empty, and the file is not"),
    ],
)
async def test_a_tolerant_match_never_guesses(bench: Any, data: bytes, old: str, message: str) -> None:
    with pytest.raises(ToolError, match=message):
        await edited(bench, data, old=old, new="z")
    assert (bench.root / "a.txt").read_bytes() == data


async def test_edits_are_done_in_order_all_or_none(bench: Any) -> None:
    edits = [{"old": "a", "new": "b"}, {"old": "b\nc", "new": "d"}]
    assert await edited(bench, b"a\nc\n", edits=edits) == b"d\n"
    with pytest.raises(ToolError, match=r"a\.txt: edits\[1\]: old was not found"):
        await edited(bench, b"a\nc\n", edits=[edits[0], {"old": "nowhere", "new": "d"}])
    assert (bench.root / "a.txt").read_bytes() == b"a\nc\n"


async def test_the_model_must_have_read_what_it_edits(bench: Any) -> None:
    path = bench.root / "a.txt"
    path.write_text("one\n")
    with pytest.raises(ToolError, match="was not read") as caught:
        await bench.call("edit", path="a.txt", old="one", new="two")
    assert caught.value.code == "not-read"
    await bench.call("read", path="a.txt")
    path.write_text("one\nmine\n")
    with pytest.raises(ToolError, match="changed since it was read"):
        await bench.call("edit", path="a.txt", old="one", new="two")
    with pytest.raises(ToolError, match="was not read"):
        await bench.call("edit", bench.context(session="s2"), path="a.txt", old="one", new="two")
    assert path.read_text() == "one\nmine\n"


async def test_a_person_need_not_read_first(bench: Any) -> None:
    (bench.root / "a.txt").write_text("one\n")
    await bench.call("edit", bench.context(origin="call"), path="a.txt", old="one", new="two")
    assert (bench.root / "a.txt").read_text() == "two\n"


async def test_an_own_edit_counts_as_a_read(bench: Any) -> None:
    assert await edited(bench, b"a\nb\n", old="a", new="A") == b"A\nb\n"
    await bench.call("edit", path="a.txt", old="b", new="B")
    assert (bench.root / "a.txt").read_bytes() == b"A\nB\n"


async def test_a_change_between_approval_and_write_is_never_lost(bench: Any) -> None:
    path = bench.root / "a.txt"
    path.write_text("one\n")
    await bench.call("read", path="a.txt")
    prepared = await bench.prepare("edit", path="a.txt", old="one", new="two")
    path.write_text("one, mine\n")
    with pytest.raises(StalePreviewError):
        await bench.run("edit", prepared)
    assert path.read_text() == "one, mine\n"
    path.unlink()
    with pytest.raises(StalePreviewError):
        await bench.run("edit", prepared)


async def test_many_edits_at_once_are_all_there_or_told(bench: Any) -> None:
    path = bench.root / "a.txt"
    path.write_text("".join(f"line{number};\n" for number in range(10)))
    await bench.call("read", path="a.txt")

    async def edit(number: int) -> None:
        while True:
            prepared = await bench.prepare("edit", path="a.txt", old=f"line{number};", new=f"done{number};")
            await asyncio.sleep(0)
            try:
                await bench.run("edit", prepared)
            except StalePreviewError:
                continue
            return

    async with asyncio.timeout(30):
        await asyncio.gather(*(edit(number) for number in range(10)))
    assert path.read_text() == "".join(f"done{number};\n" for number in range(10))


async def test_mode_links_and_hard_links_are_kept(bench: Any, tmp_path: Path) -> None:
    path = bench.root / "a.txt"
    path.write_text("one\n")
    path.chmod(0o751)
    os.link(path, bench.root / "twin")
    (bench.root / "link").symlink_to("a.txt")
    await bench.call("read", path="link")
    await bench.call("edit", path="link", old="one", new="three")
    assert (bench.root / "link").is_symlink()
    assert path.read_text() == "three\n"
    assert (bench.root / "twin").read_text() == "three\n"
    assert path.stat().st_ino == (bench.root / "twin").stat().st_ino
    assert stat.S_IMODE(path.stat().st_mode) == 0o751
    assert list((bench.session_dir / "backups").iterdir()) == []
    (bench.root / "twin").unlink()
    await bench.call("edit", path="a.txt", old="three", new="four")
    assert path.read_text() == "four\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o751
    assert sorted(entry.name for entry in bench.root.iterdir()) == ["a.txt", "link"]


async def test_a_failed_write_in_place_brings_the_old_bytes_back(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from harness_tui.tools import writing

    path = bench.root / "a.txt"
    path.write_text("one\n")
    os.link(path, bench.root / "twin")
    await bench.call("read", path="a.txt")
    real = writing._overwrite
    calls: list[bytes] = []

    def full_once(target: Path, data: bytes) -> None:
        calls.append(data)
        if len(calls) == 1:
            target.write_bytes(b"tw")
            raise OSError(28, "No space left on device")
        real(target, data)

    monkeypatch.setattr(writing, "_overwrite", full_once)
    with pytest.raises(ToolError, match="No space left"):
        await bench.call("edit", path="a.txt", old="one", new="two")
    assert path.read_text() == "one\n"
    assert bench.of(FileChanged) == []


async def test_what_is_no_text_file_is_refused(bench: Any) -> None:
    (bench.root / "bin").write_bytes(b"a\0b")
    (bench.root / "folder").mkdir()
    context = bench.context(origin="call")
    for name, message in [("bin", "binary file"), ("folder", "this is a folder"), ("none", "no such file")]:
        with pytest.raises(ToolError, match=message):
            await bench.prepare("edit", context, path=name, old="a", new="b")


async def test_a_path_outside_needs_two_decisions(bench: Any, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("one\n")
    prepared = await bench.prepare("edit", bench.context(origin="call"), path="../out", old="one", new="two")
    assert prepared.checks == (Check("edit", f"{tmp_path}/out"), Check("external_directory", f"{tmp_path}/out"))


async def test_a_link_that_is_changed_after_the_decision_is_not_followed(bench: Any, tmp_path: Path) -> None:
    for path in (bench.root / "a.txt", tmp_path / "out"):
        path.write_text("one\n")
    link = bench.root / "link"
    link.symlink_to("a.txt")
    prepared = await bench.prepare("edit", bench.context(origin="call"), path="link", old="one", new="two")
    link.unlink()
    link.symlink_to(tmp_path / "out")
    with pytest.raises(StalePreviewError):
        await bench.run("edit", prepared)
    assert (tmp_path / "out").read_text() == (bench.root / "a.txt").read_text() == "one\n"
