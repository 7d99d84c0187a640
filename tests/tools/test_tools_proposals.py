"""A person alters what is proposed: their text is written, every other byte is kept, and the model is told."""

from __future__ import annotations

import pytest

from harness_tui.core.errors import StalePreviewError, ToolError
from harness_tui.core.event_parts import DiffPreview
from harness_tui.core.paths import digest
from harness_tui.core.seams import Amended, FileChange, PreparedCall, ProposedFile, TextChange


async def edit_of(bench, data: bytes, old: str, new: str) -> PreparedCall:
    (bench.root / "a.txt").write_bytes(data)
    await bench.call("read", path="a.txt")
    return await bench.prepare("edit", path="a.txt", old=old, new=new)


def amended(prepared: PreparedCall, **edits: str | None) -> Amended:
    assert prepared.proposal is not None
    return prepared.proposal.amended({name.replace("_", "."): text for name, text in edits.items()})


async def test_a_proposal_is_both_sides_of_each_file_with_plain_line_ends(bench):
    prepared = await edit_of(bench, b"one\r\ntwo\r\n", "two", "TWO")
    assert prepared.proposal.files() == [ProposedFile("a.txt", "one\ntwo\n", "one\nTWO\n")]


async def test_a_persons_text_is_written_with_the_files_line_ends_and_the_model_is_told_the_difference(bench):
    prepared = await edit_of(bench, b"one\r\ntwo\nthree\r\n", "two", "TWO")
    mine = amended(prepared, a_txt="one\nzwei\nthree\n")
    assert isinstance(mine.prepared.preview, DiffPreview)
    assert mine.prepared.preview.text.split("\n", 2)[2] == "@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three\n"
    assert mine.told == (
        "The person changed your proposal before they allowed it. From what you sent to what was written:\n"
        "--- a.txt\n+++ a.txt\n@@ -1,3 +1,3 @@\n one\n-TWO\n+zwei\n three"
    )
    result = await bench.run("edit", mine.prepared)
    assert (bench.root / "a.txt").read_bytes() == b"one\r\nzwei\nthree\r\n"
    assert result.output.startswith("Edited a.txt: 1 replacement, as the person changed it (+1 -1)")
    assert (mine.prepared.checks, mine.prepared.title) == (prepared.checks, prepared.title)


async def test_what_was_altered_is_not_written_over_a_file_that_somebody_else_changed(bench):
    prepared = await edit_of(bench, b"one\ntwo\n", "two", "TWO")
    mine = amended(prepared, a_txt="one\nzwei\n")
    (bench.root / "a.txt").write_text("one\ntwo\nthree\n")
    with pytest.raises(StalePreviewError):
        await bench.run("edit", mine.prepared)
    assert (bench.root / "a.txt").read_text() == "one\ntwo\nthree\n"


async def test_a_text_that_is_the_proposed_one_changes_nothing_and_tells_nothing(bench):
    prepared = await edit_of(bench, b"one\r\ntwo\n", "two", "TWO")
    same = amended(prepared, a_txt="one\nTWO\n")
    assert (same.told, same.prepared.preview) == ("", prepared.preview)


@pytest.mark.parametrize(("text", "why"), [("one\ntwo\n", "nothing of the change"), (None, "nothing of the change")])
async def test_nothing_left_is_not_a_yes(bench, text, why):
    with pytest.raises(ToolError, match=why):
        amended(await edit_of(bench, b"one\ntwo\n", "two", "TWO"), a_txt=text)


async def test_what_a_file_cannot_hold_and_a_file_of_no_change_are_refused(bench):
    latin = "# coding: latin-1\ncafé\ntwo\n".encode("latin-1")
    prepared = await edit_of(bench, latin, "two", "TWO")
    with pytest.raises(ToolError, match="cannot be written in iso8859-1"):
        amended(prepared, a_txt="# coding: latin-1\ncafé\n10 €\n")
    with pytest.raises(ToolError, match=r"no file 'b\.txt'"):
        amended(prepared, b_txt="x")
    mine = amended(prepared, a_txt="# coding: latin-1\ncafé\nüber\n")
    await bench.run("edit", mine.prepared)
    assert (bench.root / "a.txt").read_bytes() == "# coding: latin-1\ncafé\nüber\n".encode("latin-1")


async def test_a_new_file_and_bytes_that_are_no_text(bench):
    prepared = await bench.prepare("write", path="new.py", content="a = 1\r\nb = 2\r\n")
    assert prepared.proposal.files() == [ProposedFile("new.py", None, "a = 1\nb = 2\n")]
    await bench.run("write", amended(prepared, new_py="a = 1\n").prepared)
    assert (bench.root / "new.py").read_bytes() == b"a = 1\r\n"
    binary = await edit_of(bench, b"caf\xe9\ntwo\n", "two", "TWO")
    with pytest.raises(ToolError, match="not UTF-8"):
        binary.proposal.files()


async def test_of_a_change_of_several_files_one_is_left_out_and_a_move_is_left_out_as_a_whole(bench):
    one, two = bench.root / "one.py", bench.root / "two.py"
    one.write_text("a = 1\n")
    two.write_text("x = a\n")
    files = [
        FileChange(one, digest(one.read_bytes()), (TextChange(0, 1, "b"),), moved_to=bench.root / "three.py"),
        FileChange(two, digest(two.read_bytes()), (TextChange(4, 5, "b"),)),
    ]
    prepared = await bench.tools.joint.prepare("rename", "Rename", files, bench.context())
    assert [file.path for file in prepared.proposal.files()] == ["three.py", "two.py"]
    only_two = amended(prepared, three_py=None)
    assert only_two.told.endswith("three.py was left as it is.")
    await bench.tools.joint.run("rename", only_two.prepared, bench.context())
    assert (one.read_text(), two.read_text()) == ("a = 1\n", "x = b\n")
    assert not (bench.root / "three.py").exists()


async def test_a_move_whose_text_was_altered_moves_all_the_same(bench):
    one = bench.root / "one.py"
    one.write_text("a = 1\nc = 2\n")
    files = [FileChange(one, digest(one.read_bytes()), (TextChange(0, 1, "b"),), moved_to=bench.root / "three.py")]
    prepared = await bench.tools.joint.prepare("rename", "Rename", files, bench.context())
    mine = amended(prepared, three_py="a = 1\nc = 3\n")
    assert mine.prepared.preview.text.startswith("diff three.py\nmoved from one.py\n")
    await bench.tools.joint.run("rename", mine.prepared, bench.context())
    assert not one.exists()
    assert (bench.root / "three.py").read_text() == "a = 1\nc = 3\n"
