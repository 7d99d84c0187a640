"""An edit changes the bytes that it names and no other, whatever the file is; an undo gives every byte back."""

from __future__ import annotations

import asyncio
import codecs
import os
import stat
import tempfile
from itertools import product
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness_tui.core.errors import HarnessError
from harness_tui.core.events import Event, FileChanged
from harness_tui.core.seams import ToolContext
from harness_tui.sessions.blobs import BlobStore
from harness_tui.sessions.undo_log import LoggedRun, redo_steps, undo_steps
from harness_tui.tools.changes import FileChanges
from harness_tui.tools.edit_tool import EditTool
from harness_tui.tools.file_ledger import FileLedger
from harness_tui.tools.restoring import Restorer
from harness_tui.tools.write_tool import WriteTool


class Desk:
    """The edit and write tools on a folder, as a person calls them; what they told is in ``events``."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "project"
        self.root.mkdir()
        self.blobs = BlobStore(folder / "blobs")
        self.events: list[Event] = []
        changes = FileChanges(FileLedger(), None, self.blobs)
        self._tools = {"edit": EditTool(changes), "write": WriteTool(changes)}

    async def call(self, name: str, **arguments: Any) -> None:
        context = ToolContext(
            "s", "r", "c", "build", self.root, self.root, self.root.parent / "s", "call", self.events.append
        )
        tool = self._tools[name]
        await tool.run(await tool.prepare(arguments, context), context)

    def run(self) -> LoggedRun:
        """Return what was done as one run."""
        changed = [(f"{number:06}", event) for number, event in enumerate(self.events)]
        return LoggedRun("r", "0", [(time, event) for time, event in changed if isinstance(event, FileChanged)])

    def restorer(self) -> Restorer:
        return Restorer(self.blobs, self.root, self.root.parent / "s" / "backups")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing wait for the disk: no power goes here."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


# --- the matrix ----------------------------------------------------------------------------------

ENDS: Final = {"lf": "\n\n\n", "crlf": ("\r\n",) * 3, "cr": "\r\r\r", "mixed": ("\r\n", "\n", "\r")}
KINDS: Final = {
    # encoding of the words, byte order mark, a first line that declares it, what is beside the words, what goes in
    "utf-8": ("utf-8", codecs.BOM_UTF8, "", "grün 日本 \U0001f600".encode(), "neu: ü"),
    "utf-8 with stray bytes": ("utf-8", codecs.BOM_UTF8, "", b"gr\xfc \x80\xff \xe6\x97", "new"),
    "latin-1": ("latin-1", b"", "", b"gr\xfc\xdfe \xa0", "new"),
    "latin-1, declared": ("latin-1", b"", "# -*- coding: latin-1 -*-", b"gr\xfc\xdfe \xa0", "neu: ü"),
    "shift-jis": ("cp932", b"", "", "表示\u30bd".encode("cp932"), "new"),
    "shift-jis, declared": ("cp932", b"", "# coding: cp932", "表示\u30bd".encode("cp932"), "ソ"),
    "utf-16-le": ("utf-16-le", codecs.BOM_UTF16_LE, "", "grün 日本 \U0001f600".encode("utf-16-le"), "neu: ü日"),
    "utf-16-be": ("utf-16-be", codecs.BOM_UTF16_BE, "", "grün 日本 \U0001f600".encode("utf-16-be"), "neu: ü日"),
    "utf-32-le": ("utf-32-le", codecs.BOM_UTF32_LE, "", "grün 日本".encode("utf-32-le"), "neu: ü日"),
}


@pytest.mark.parametrize("kind", KINDS)
async def test_an_edit_of_any_line_leaves_every_other_byte(desk: Desk, kind: str) -> None:
    encoding, bom, declared, beside, new = KINDS[kind]
    path = desk.root / "a"
    for mark, ends, last, place in product({b"", bom}, ENDS, (True, False), range(3)):
        if encoding.startswith("utf-32") and not mark:
            continue  # nobody can know
        words = ["first = 1", "middle = 2", "last = 3"]
        tails = [end.encode(encoding) for end in ENDS[ends]]
        head = declared.encode(encoding) + tails[0] if declared else b""

        def made(changed: int | None) -> bytes:
            lines = [new if index == changed else word for index, word in enumerate(words)]  # noqa: B023
            parts = [line.encode(encoding) + beside + tails[index] for index, line in enumerate(lines)]  # noqa: B023
            data = mark + head + b"".join(parts)  # noqa: B023
            return data if last else data.removesuffix(tails[2])  # noqa: B023

        path.write_bytes(made(None))
        await desk.call("edit", path="a", old=words[place], new=new)
        assert path.read_bytes() == made(place), (mark, ends, last, place)


@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if kind not in ("utf-8 with stray bytes", "latin-1", "shift-jis")]
)
async def test_deleting_everything_leaves_the_mark(desk: Desk, kind: str) -> None:
    encoding, bom, declared, beside, _ = KINDS[kind]
    text = f"{declared}\n" + beside.decode(encoding) + "\r\nlast"
    (desk.root / "a").write_bytes(bom + text.encode(encoding))
    await desk.call("edit", path="a", old=text.replace("\r\n", "\n"), new="")
    assert (desk.root / "a").read_bytes() == bom


async def test_a_character_that_the_encoding_does_not_have_is_refused(desk: Desk) -> None:
    data = "# coding: latin-1\nx = 'ü'\n".encode("latin-1")
    (desk.root / "a").write_bytes(data)
    with pytest.raises(HarnessError, match="'日' cannot be written in iso8859-1, the encoding of the file"):
        await desk.call("edit", path="a", old="x =", new="日 =")
    assert (desk.root / "a").read_bytes() == data


async def test_a_new_text_is_written_in_the_encoding_that_it_declares_still(desk: Desk) -> None:
    path = desk.root / "a"
    for content, encoding in [
        ("# coding: latin-1\ny = 'ä'\n", "latin-1"),
        ("y = 'ä'\n", "utf-8"),
        ("# coding: latin-1\n日\n", "utf-8"),
    ]:
        path.write_bytes("# coding: latin-1\nx = 'ü'\n".encode("latin-1"))
        await desk.call("write", path="a", content=content)
        assert path.read_bytes() == content.encode(encoding)


async def test_an_empty_old_text_is_for_a_new_or_empty_file(desk: Desk) -> None:
    for name, data in [("new/a", None), ("empty", b""), ("mark", codecs.BOM_UTF8)]:
        if data is not None:
            (desk.root / name).write_bytes(data)
        await desk.call("edit", path=name, old="", new="x\r\ny\n")
        assert (desk.root / name).read_bytes() == (data or b"") + b"x\r\ny\n"
    (desk.root / "full").write_bytes(b"\n")
    with pytest.raises(HarnessError, match="old is empty, and the file is not"):
        await desk.call("edit", path="full", old="", new="x")
    with pytest.raises(HarnessError, match="no such file"):
        await desk.call("edit", path="none", old="x", new="y")


# --- what a file is besides its bytes --------------------------------------------------------------


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755, 0o4711, 0o2664])
@pytest.mark.parametrize("linked", [False, True])
async def test_modes_and_links_stay(desk: Desk, mode: int, linked: bool) -> None:
    path = desk.root / "a"
    path.write_bytes(b"one\n")
    (desk.root / "soft").symlink_to("a")
    if linked:
        os.link(path, desk.root / "twin")
    path.chmod(mode)
    kept = stat.S_IMODE(path.stat().st_mode)
    await desk.call("edit", path="soft", old="one", new="three")
    assert stat.S_IMODE(path.stat().st_mode) == kept
    assert path.read_bytes() == b"three\n"
    assert (desk.root / "soft").readlink() == Path("a")
    assert not linked or (desk.root / "twin").samefile(path)
    assert sorted(entry.name for entry in desk.root.iterdir()) == sorted(["a", "soft", *(["twin"] if linked else [])])


@pytest.mark.parametrize("mode", [0o444, 0o555, 0o400])
async def test_a_read_only_file_is_refused_and_stays(desk: Desk, mode: int) -> None:
    path = desk.root / "a"
    path.write_bytes(b"one\n")
    path.chmod(mode)
    for name, arguments in [("edit", {"old": "one", "new": "two"}), ("write", {"content": "two\n"})]:
        with pytest.raises(HarnessError, match=r"the file is read-only.*chmod u\+w a"):
            await desk.call(name, path="a", **arguments)
    assert path.read_bytes() == b"one\n"
    assert stat.S_IMODE(path.stat().st_mode) == mode


async def test_attributes_stay(desk: Desk) -> None:
    path = desk.root / "a"
    path.write_bytes(b"one\n")
    try:
        os.setxattr(path, "user.note", b"kept")
    except (AttributeError, OSError):
        pytest.skip("no attributes on this file system")
    await desk.call("edit", path="a", old="one", new="two")
    assert (path.read_bytes(), os.getxattr(path, "user.note")) == (b"two\n", b"kept")


async def test_an_owner_stays(desk: Desk) -> None:
    path = desk.root / "a"
    path.write_bytes(b"one\n")
    try:
        os.chown(path, 12_345, 12_345)
    except OSError:
        pytest.skip("only root gives files away")
    await desk.call("edit", path="a", old="one", new="two")
    assert (path.read_bytes(), path.stat().st_uid, path.stat().st_gid) == (b"two\n", 12_345, 12_345)


@pytest.mark.parametrize("linked", [False, True])
async def test_a_full_disk_leaves_the_old_bytes(desk: Desk, linked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    path = desk.root / "a"
    path.write_bytes(b"one\n")
    if linked:
        os.link(path, desk.root / "twin")
    before = os.listdir(desk.root)
    real = os.write

    def full(descriptor: int, data: Any) -> int:
        if str(desk.root) in os.readlink(f"/proc/self/fd/{descriptor}"):
            raise OSError(28, "No space left on device")
        return real(descriptor, data)

    monkeypatch.setattr(os, "write", full)
    if linked:
        from harness_tui.tools import writing

        kept = writing._overwrite
        failing = iter([True, False])

        def full_once(target: Path, data: bytes) -> None:
            if next(failing):
                target.write_bytes(data[:1])
                raise OSError(28, "No space left on device")
            kept(target, data)

        monkeypatch.setattr(writing, "_overwrite", full_once)
    with pytest.raises(HarnessError, match="No space left"):
        await desk.call("edit", path="a", old="one", new="two")
    with pytest.raises(HarnessError, match="No space left"):
        await desk.call("write", path="new/b", content="x")
    assert path.read_bytes() == b"one\n"
    assert sorted(os.listdir(desk.root)) == sorted(before)
    assert desk.run().files == []


async def test_bytes_that_cannot_be_kept_do_not_hold_an_edit_up_and_it_is_told(desk: Desk) -> None:
    (desk.root / "a").write_bytes(b"one\n")
    desk.blobs.folder.write_text("a file in the way")
    await desk.call("edit", path="a", old="one", new="two")
    assert (desk.root / "a").read_bytes() == b"two\n"
    assert [event.type for event in desk.events] == ["file_changed", "notice"]
    restored = desk.restorer().restore(undo_steps(desk.run()))
    assert (restored.paths, list(restored.conflicts)) == ([], ["a"])
    assert (desk.root / "a").read_bytes() == b"two\n"


# --- any edits ---------------------------------------------------------------------------------------

WORDS: Final = ("a", "b", "ab", " ", "\t", "ü", "日", "\U0001f600", "\\1", "$&", "\x0c", "\u2028")
LINE_ENDS: Final = ("\n", "\r\n", "\r")
STRAY: Final = ("\udcff", "\udc80")
RELAXED: Final = settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))


def raw(pieces: list[str]) -> bytes:
    return "".join(pieces).encode("utf-8", "surrogateescape")


def seen(pieces: list[str]) -> str:
    return "".join("\n" if piece in LINE_ENDS else piece for piece in pieces)


def found(text: str, old: str) -> int:
    return sum(text.startswith(old, place) for place in range(len(text)))


@st.composite
def edits(draw: st.DrawFn) -> tuple[bytes, list[tuple[str, str]], bytes]:
    """Return a file, edits of it, and what the same edits on its bytes in memory make of it."""
    has_stray = draw(st.booleans())
    # A carriage return and a line feed side by side would be one end of a line: they are kept apart.
    pieces = draw(st.lists(st.sampled_from(WORDS + LINE_ENDS + (STRAY if has_stray else ())), max_size=30))
    pieces = [
        piece for index, piece in enumerate(pieces) if not (piece == "\n" and index and pieces[index - 1] == "\r")
    ]
    before, made = raw(pieces), list[tuple[str, str]]()
    words = [word for word in WORDS if word.isascii() or not has_stray]
    for _ in range(draw(st.integers(1, 4))):
        if not pieces:
            break
        start = draw(st.integers(0, len(pieces) - 1))
        end = draw(st.integers(start + 1, min(len(pieces), start + 6)))
        if any(piece in STRAY for piece in pieces[start:end]):
            continue
        # Ends of lines stay; what is between them is replaced.
        new = [
            piece if piece in LINE_ENDS else draw(st.sampled_from(words))
            for piece in pieces[start:end]
            if piece in LINE_ENDS or draw(st.booleans())
        ]
        changed = pieces[:start] + new + pieces[end:]
        joined = [index for index in range(1, len(changed)) if changed[index - 1 : index + 1] == ["\r", "\n"]]
        old = seen(pieces[start:end])
        if joined or old == seen(new) or found(seen(pieces), old) != 1:
            continue
        made.append((old, seen(new)))
        pieces = changed
    return before, made, raw(pieces)


@RELAXED
@given(case=edits(), together=st.booleans())
def test_edits_through_the_tool_equal_the_same_edits_in_memory_and_are_undone_exactly(
    case: tuple[bytes, list[tuple[str, str]], bytes], together: bool
) -> None:
    before, wanted, after = case

    async def play(desk: Desk) -> None:
        path = desk.root / "a"
        path.write_bytes(before)
        pairs = [{"old": old, "new": new} for old, new in wanted]
        if together and pairs:
            await desk.call("edit", path="a", edits=pairs)
        else:
            for pair in pairs:
                await desk.call("edit", path="a", **pair)
        assert path.read_bytes() == after
        run = desk.run()
        restored = desk.restorer().restore(undo_steps(run))
        assert restored.conflicts == {}
        assert path.read_bytes() == before
        run.restored = tuple(restored.paths)
        desk.restorer().restore(redo_steps(run))
        assert path.read_bytes() == after

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(play(Desk(Path(folder))))


@RELAXED
@given(
    case=edits(), theirs=st.binary(max_size=20) | st.none(), writes=st.lists(st.text("ab\n", max_size=5), max_size=3)
)
def test_an_undo_gives_the_exact_bytes_back_or_changes_nothing(
    case: tuple[bytes, list[tuple[str, str]], bytes], theirs: bytes | None, writes: list[str]
) -> None:
    before, wanted, _ = case

    async def play(desk: Desk) -> None:
        path, new = desk.root / "a", desk.root / "deep" / "new"
        path.write_bytes(before)
        for old, text in wanted:
            await desk.call("edit", path="a", old=old, new=text)
        for content in writes:
            await desk.call("write", path="deep/new", content=content)
        left = {mine: mine.read_bytes() if mine.exists() else None for mine in (path, new)}
        for mine in (path, new):
            if theirs is not None and mine.exists():
                mine.write_bytes(theirs)
        restored = desk.restorer().restore(undo_steps(desk.run()))
        for mine, original in ((path, before), (new, None)):
            data = mine.read_bytes() if mine.exists() else None
            if left[mine] == original:  # never changed, or changed and changed back: nobody's business
                assert data == (left[mine] if theirs is None or left[mine] is None else theirs)
            elif theirs is None or theirs in (left[mine], original):
                assert data == original
            else:
                assert data == theirs
                assert mine.relative_to(desk.root).as_posix() in restored.conflicts

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(play(Desk(Path(folder))))
