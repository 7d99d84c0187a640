"""Several files as one change: one diff, all or none, every other byte as it was, and one undo."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_tui.core.errors import HarnessError, StalePreviewError, ToolError
from harness_tui.core.event_parts import DiffPreview, PreviewFile
from harness_tui.core.events import FileChanged
from harness_tui.core.paths import digest
from harness_tui.core.seams import Check, EditHooks, FileChange, TextChange
from harness_tui.core.values import DiagnosticItem, Verdict
from harness_tui.sessions.blobs import BlobStore
from harness_tui.sessions.undo_log import FileStep
from harness_tui.tools import joint_changes
from harness_tui.tools.restoring import Restorer
from harness_tui.tools.splicing import splice
from harness_tui.tools.toolset import BuiltinTools


def hashed(path: Path) -> str | None:
    return digest(path.read_bytes()) if path.exists() else None


def change(path: Path, *places: tuple[int, int, str], moved_to: Path | None = None) -> FileChange:
    return FileChange(path, hashed(path), tuple(TextChange(*place) for place in places), moved_to)


@pytest.fixture
def joint(bench, tmp_path):
    bench.blobs = BlobStore(tmp_path / "blobs")
    bench.tools = BuiltinTools(bench.registry, bench.diagnostics, ledger=bench.tools.ledger, blobs=bench.blobs)
    return bench.tools.joint


async def done(joint, bench, *files: FileChange, **context: Any):
    at = replace(bench.context(), **context)
    return await joint.run("rename", await joint.prepare("rename", "Rename a to b", files, at), at)


async def test_one_diff_one_decision_and_every_path_in_it(joint, bench):
    one, two = bench.root / "one.py", bench.root / "two.py"
    one.write_text("a = 1\n")
    two.write_text("x = a\ny = a\n")
    files = [change(one, (0, 1, "b")), change(two, (4, 5, "b"), (10, 11, "b"))]
    prepared = await joint.prepare("rename", "Rename a to b", files, bench.context(), [Check("read", "one.py")])
    assert prepared.title == "Rename a to b"
    assert prepared.checks == (Check("read", "one.py"), Check("edit", "one.py"), Check("edit", "two.py"))
    text = (
        "diff one.py\n--- one.py\n+++ one.py\n@@ -1 +1 @@\n-a = 1\n+b = 1\n"
        "diff two.py\n--- two.py\n+++ two.py\n@@ -1,2 +1,2 @@\n-x = a\n-y = a\n+x = b\n+y = b\n"
    )
    assert prepared.preview == DiffPreview(
        "one.py",
        text,
        digest(b"a = 1\n"),
        files=(
            PreviewFile("one.py", 1, 1, digest(b"a = 1\n"), digest(b"b = 1\n")),
            PreviewFile("two.py", 2, 2, digest(b"x = a\ny = a\n"), digest(b"x = b\ny = b\n")),
        ),
    )
    assert (one.read_text(), two.read_text()) == ("a = 1\n", "x = a\ny = a\n")  # nothing was decided yet

    result = await joint.run("rename", prepared, bench.context())
    assert (one.read_text(), two.read_text()) == ("b = 1\n", "x = b\ny = b\n")
    assert result.output == "Changed 2 files (+3 -3)\none.py (+1 -1)\ntwo.py (+2 -2)"
    assert (result.metadata["path"], result.metadata["files"]) == ("one.py", ["one.py", "two.py"])
    assert [(event.path, event.added, event.removed) for event in bench.of(FileChanged)] == [
        ("one.py", 1, 1),
        ("two.py", 2, 2),
    ]


async def test_a_single_file_reads_as_an_edit_of_it(joint, bench):
    file = bench.root / "a.py"
    file.write_text("a\n")
    prepared = await joint.prepare("rename", "Rename", [change(file, (0, 1, "b"))], bench.context())
    diff = "--- a.py\n+++ a.py\n@@ -1 +1 @@\n-a\n+b\n"
    assert prepared.preview == DiffPreview("a.py", diff, digest(b"a\n"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"\xef\xbb\xbfa = 1\r\nx = a\r\n", b"\xef\xbb\xbfB\r\nB = 1\r\nx = B\r\nB\r\n"),
        (b"a = 1\rx = a\r", b"B\rB = 1\rx = B\rB\r"),
        (b"a = 1\r\nx = a\n", b"B\r\nB = 1\r\nx = B\r\nB\n"),
        ("a = 1\n\x0c\u2028é\r\nx = a".encode(), "B\nB = 1\n\x0c\u2028é\r\nx = B\r\nB".encode()),
    ],
)
async def test_every_byte_that_was_not_asked_for_stays(joint, bench, before, after):
    file = bench.root / "a.py"
    file.write_bytes(before)
    file.chmod(0o751)
    text = before.decode().removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    last = text.rindex("a")
    await done(joint, bench, change(file, (0, 1, "B\nB"), (last, last + 1, "B\nB")))
    assert file.read_bytes() == after
    assert stat.S_IMODE(file.stat().st_mode) == 0o751


async def test_a_hard_link_and_a_link_stay_what_they_are(joint, bench):
    one, two, link, real = (bench.root / name for name in ("one", "two", "link", "real"))
    one.write_text("a\n")
    os.link(one, two)
    real.write_text("a\n")
    link.symlink_to(real)
    await done(joint, bench, change(one, (0, 1, "b")), change(link, (0, 1, "c")))
    assert (two.read_text(), one.stat().st_ino == two.stat().st_ino) == ("b\n", True)
    assert (real.read_text(), link.is_symlink()) == ("c\n", True)


@pytest.mark.parametrize("when", ["prepare", "run"])
async def test_a_file_that_changed_meanwhile_keeps_all_of_them_as_they_are(joint, bench, when):
    one, two = bench.root / "one", bench.root / "two"
    one.write_text("a\n")
    two.write_text("a\n")
    files = [change(one, (0, 1, "b")), change(two, (0, 1, "b"))]
    prepared = await joint.prepare("rename", "Rename", files, bench.context())
    two.write_text("somebody else\n")
    act = joint.run("rename", prepared, bench.context())
    if when == "prepare":
        act.close()
        act = joint.prepare("rename", "Rename", files, bench.context())
    with pytest.raises(StalePreviewError, match="the file changed meanwhile"):
        await act
    assert (one.read_text(), two.read_text(), bench.of(FileChanged)) == ("a\n", "somebody else\n", [])


async def test_a_failure_in_the_middle_takes_back_what_was_written(joint, bench, monkeypatch):
    names = ("new/deep/n", "one", "two")
    (bench.root / "one").write_text("a\n")
    (bench.root / "one").chmod(0o640)
    (bench.root / "two").write_text("a\n")
    write = joint._changes.write

    def broken(change, context):
        if change.target.name == "two":
            raise ToolError("the disk is full")
        return write(change, context)

    monkeypatch.setattr(joint._changes, "write", broken)
    files = [change(bench.root / name, (0, 0 if name == names[0] else 1, "b")) for name in names]
    with pytest.raises(ToolError, match=r"^the disk is full$"):
        await done(joint, bench, *files)
    assert sorted(path.name for path in bench.root.iterdir()) == ["one", "two"]
    assert ((bench.root / "one").read_text(), (bench.root / "two").read_text()) == ("a\n", "a\n")
    assert stat.S_IMODE((bench.root / "one").stat().st_mode) == 0o640
    assert bench.of(FileChanged) == []


async def test_what_cannot_be_taken_back_is_named_and_told(joint, bench, monkeypatch):
    one, two = bench.root / "one", bench.root / "two"
    one.write_text("a\n")
    two.write_text("a\n")
    write = joint._changes.write

    def broken(change, context):
        if change.target.name == "one":
            return write(change, context)
        one.write_text("somebody else\n")  # after our write
        raise ToolError("the disk is full")

    monkeypatch.setattr(joint._changes, "write", broken)
    with pytest.raises(ToolError, match="the disk is full; these files are changed all the same: one"):
        await done(joint, bench, change(one, (0, 1, "b")), change(two, (0, 1, "b")))
    assert (one.read_text(), two.read_text()) == ("somebody else\n", "a\n")
    assert [(event.path, event.after) for event in bench.of(FileChanged)] == [("one", digest(b"b\n"))]


async def test_a_moved_file_keeps_mode_and_bytes_and_an_undo_brings_it_back(joint, bench):
    old, new = bench.root / "old.py", bench.root / "new" / "name.py"
    old.write_bytes(b"\xef\xbb\xbfclass Old:\r\n    pass\r\n")
    old.chmod(0o755)
    prepared = await joint.prepare("rename", "Rename", [change(old, (6, 9, "New"), moved_to=new)], bench.context())
    assert prepared.checks == (Check("edit", "new/name.py"), Check("edit", "old.py"))
    assert isinstance(prepared.preview, DiffPreview)
    assert prepared.preview.text.startswith("diff new/name.py\nmoved from old.py\n--- new/name.py\n")
    result = await joint.run("rename", prepared, bench.context())
    assert new.read_bytes() == b"\xef\xbb\xbfclass New:\r\n    pass\r\n"
    assert (stat.S_IMODE(new.stat().st_mode), old.exists()) == (0o755, False)
    assert result.output.splitlines() == [
        "Changed 2 files (+1 -1)",
        "new/name.py (+1 -1), new",
        "old.py moved to new/name.py",
    ]

    steps = [
        FileStep(event.path, event.after, event.before, event.after_mode, event.before_mode, event.folders or ())
        for event in reversed(bench.of(FileChanged))
    ]
    restored = Restorer(bench.blobs, bench.root, bench.session_dir / "backups").restore(steps)
    assert restored.conflicts == {}
    assert old.read_bytes() == b"\xef\xbb\xbfclass Old:\r\n    pass\r\n"
    assert (stat.S_IMODE(old.stat().st_mode), list(bench.root.iterdir())) == (0o755, [old])


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda root: [FileChange(root / "a", None, (TextChange(0, 0, "x"),))], "there is a file already"),
        (lambda root: [change(root / "a", moved_to=root / "b")], "there is a file already"),
        (lambda root: [change(root / "link", moved_to=root / "c")], "is a link, or has several names"),
        (lambda root: [change(root / "hard", moved_to=root / "c")], "is a link, or has several names"),
        (lambda root: [change(root / "a", (0, 99, ""))], "lies outside the text"),
        (lambda root: [change(root / "a", (0, 3, "x"), (2, 4, "y"))], "overlap"),
        (lambda root: [change(root / "a", (0, 1, "x")), change(root / "link", (0, 1, "y"))], "names this file twice"),
        (lambda root: [change(root / "latin", (0, 1, "x"))], "the file is not UTF-8"),
        (lambda root: [change(root / "binary", (0, 1, "x"))], "this is a binary file"),
        (lambda root: [change(root / "a", (0, 1, "\ud800"))], "half of a surrogate pair"),
        (lambda root: [change(root / "a", (0, 1, "a"))], "nothing would change"),
        (lambda root: [FileChange(root, None, (TextChange(0, 0, "x"),))], "this is a folder|no regular file"),
        (lambda root: [FileChange(root / str(n), None) for n in range(501)], "501 files, more than 500"),
    ],
)
async def test_what_is_not_done_says_why_and_changes_nothing(joint, bench, make, text):
    (bench.root / "a").write_text("a = 1\n")
    (bench.root / "b").write_text("")
    (bench.root / "link").symlink_to("a")
    (bench.root / "first").write_text("a")
    os.link(bench.root / "first", bench.root / "hard")
    (bench.root / "latin").write_bytes(b"caf\xe9\n")
    (bench.root / "binary").write_bytes(b"a\0b")
    before = {path.name: path.read_bytes() for path in bench.root.iterdir()}
    with pytest.raises(HarnessError, match=text):
        await done(joint, bench, *make(bench.root))
    assert {path.name: path.read_bytes() for path in bench.root.iterdir()} == before


async def test_names_outside_and_protected_ones_are_decided_as_for_any_edit(joint, bench, tmp_path):
    outside, start = tmp_path / "out.py", bench.root / ".bashrc"
    outside.write_text("a")
    start.write_text("a")
    prepared = await joint.prepare(
        "rename", "Rename", [change(outside, (0, 1, "b")), change(start, (0, 1, "b"))], bench.context()
    )
    assert prepared.checks == (
        Check("edit", str(outside)),
        Check("external_directory", str(outside)),
        Check("edit", ".bashrc"),
    )


async def test_a_written_file_counts_as_read_and_formatters_have_the_last_word(joint, bench):
    one, two = bench.root / "one", bench.root / "two"
    one.write_text("a\n")
    two.write_text("a\n")

    async def formatted(path: Path) -> EditHooks:
        path.write_text(path.read_text().upper())
        return EditHooks(("upper",), "no shouting" if path.name == "two" else None)

    result = await done(joint, bench, change(one, (0, 1, "b")), change(two, (0, 1, "b")), after_edit=formatted)
    assert result.is_error
    assert result.output.splitlines()[-1].endswith("a hook refuses the change, mend it: two: no shouting")
    assert [event.after for event in bench.of(FileChanged)] == [digest(b"B\n")] * 2
    assert result.metadata["diff"].count("\n+B\n") == 2
    await bench.call("edit", path="two", old="B", new="c")  # without a read
    assert two.read_text() == "c\n"


async def test_a_cancel_while_formatters_run_tells_of_every_file(joint, bench):
    one, two = bench.root / "one", bench.root / "two"
    one.write_text("a\n")
    two.write_text("a\n")
    begun = asyncio.Event()

    async def stuck(path: Path) -> EditHooks:
        begun.set()
        await asyncio.sleep(60)
        return EditHooks()

    task = asyncio.create_task(done(joint, bench, change(one, (0, 1, "b")), change(two, (0, 1, "b")), after_edit=stuck))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [event.path for event in bench.of(FileChanged)] == ["one", "two"]


async def test_errors_in_any_of_the_files_reach_the_model(joint, bench):
    (bench.root / "one").write_text("a\n")
    (bench.root / "two").write_text("a\n")
    item = DiagnosticItem("one", 1, 1, 1, 2, "error", "b is wrong")
    bench.diagnostics.verdict = Verdict("one", "fresh", 3, items=(item,))
    files = [change(bench.root / name, (0, 1, "b")) for name in ("one", "two")]
    result = await done(joint, bench, *files)
    assert result.output.count("one: L1: b is wrong") == 2  # the double says the same of both
    assert len(result.metadata["diagnostics"]) == 2
    told = [kind for kind, _ in bench.diagnostics.told]
    assert told.index("wait None") >= 2  # every file was told of before one was asked about


async def test_two_changes_that_cross_each_other_end_one_after_the_other(joint, bench):
    paths = [bench.root / name for name in ("one", "two", "three")]
    for path in paths:
        path.write_text("a\n")

    async def turn(order: list[Path], letter: str) -> str:
        for _ in range(20):
            with contextlib.suppress(StalePreviewError):
                await done(joint, bench, *(change(path, (0, 1, letter)) for path in order))
                return letter
        return "stale"

    async with asyncio.timeout(20):
        ends = await asyncio.gather(turn(paths, "b"), turn(paths[::-1], "c"), turn(paths, "d"))
    assert ends == ["b", "c", "d"]
    assert len({path.read_text() for path in paths}) == 1


async def test_many_places_in_a_long_file_are_quick_enough_to_be_shown(joint, bench):
    file = bench.root / "a"
    file.write_bytes(b"a = 1\r\n" * 10_000)
    result = await done(joint, bench, change(file, *((6 * n, 6 * n + 1, "b") for n in range(10_000))))
    assert file.read_bytes() == b"b = 1\r\n" * 10_000
    assert (result.metadata["added"], result.metadata["removed"]) == (10_000, 10_000)


async def test_a_name_with_a_line_end_draws_no_lines_of_its_own(joint, bench):
    evil = bench.root / "x\n@@ -1 +1 @@\n+evil"
    evil.write_text("a\n")
    (bench.root / "b").write_text("a\n")
    prepared = await joint.prepare(
        "rename", "Rename", [change(evil, (0, 1, "b")), change(bench.root / "b", (0, 1, "b"))], bench.context()
    )
    assert isinstance(prepared.preview, DiffPreview)
    assert [line for line in prepared.preview.text.splitlines() if line.startswith("@@")] == ["@@ -1 +1 @@"] * 2
    assert "+evil" not in prepared.preview.text.splitlines()


def test_so_many_files_are_the_limit():
    assert joint_changes._FILES == 500


@given(
    st.lists(st.sampled_from(["a", "é", "😀", "\n", "\r\n", "\r", "\x0c"]), max_size=30),
    st.data(),
)
def test_a_splice_is_what_a_person_would_do_by_hand(pieces: list[str], data: st.DataObject):
    raw = "".join(pieces)
    ends = set(re.findall("\r\n|\r|\n", raw))
    normal = raw.replace("\r\n", "\n").replace("\r", "\n")
    cuts = sorted(data.draw(st.lists(st.integers(0, len(normal)), max_size=6, unique=True)))
    changes = [
        TextChange(start, end, data.draw(st.sampled_from(["", "x", "x\ny"])))
        for start, end in zip(cuts[::2], cuts[1::2], strict=False)
    ]
    made = splice(raw, data.draw(st.permutations(changes)), "a")
    expected = normal
    for one in reversed(changes):
        expected = expected[: one.start] + one.text + expected[one.end :]
    if not changes:
        assert made == raw
    if len(ends) <= 1:
        assert made == expected.replace("\n", "".join(ends) or "\n")
    if "\r" not in ends:  # alone it may come to stand before a line feed
        assert made.replace("\r\n", "\n") == expected
