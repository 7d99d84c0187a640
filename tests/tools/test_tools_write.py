"""Writing whole files, and what language servers say afterwards."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness_tui.core.errors import HarnessError, StalePreviewError, ToolError
from harness_tui.core.event_parts import DiffPreview
from harness_tui.core.events import DiagnosticsReported, FileChanged, Notice
from harness_tui.core.paths import digest
from harness_tui.core.values import DiagnosticItem, ServerVerdict, Severity, Verdict, VerdictWord


def item(line: int, severity: Severity, message: str) -> DiagnosticItem:
    return DiagnosticItem("src/a.py", line, 1, line, 5, severity, message)


async def test_a_new_file_and_its_folders_are_made(bench: Any) -> None:
    prepared = await bench.prepare("write", path="new/deep/a.txt", content="one\ntwo\n")
    assert prepared.preview == DiffPreview(
        "new/deep/a.txt", "--- /dev/null\n+++ new/deep/a.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n"
    )
    assert not (bench.root / "new").exists()
    result = await bench.run("write", prepared)
    path = bench.root / "new" / "deep" / "a.txt"
    assert path.read_bytes() == b"one\ntwo\n"
    assert result.output == "Created new/deep/a.txt (+2 -0)"
    umask = os.umask(0)
    os.umask(umask)
    after, mode = digest(b"one\ntwo\n"), 0o666 & ~umask
    assert bench.of(FileChanged) == [FileChanged("new/deep/a.txt", 2, 0, None, after, None, mode, ("new", "new/deep"))]
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask
    assert [entry.name for entry in path.parent.iterdir()] == ["a.txt"]


async def test_an_existing_file_must_have_been_read(bench: Any) -> None:
    (bench.root / "a").write_text("mine\n")
    with pytest.raises(ToolError, match="was not read"):
        await bench.call("write", path="a", content="yours\n")
    assert (bench.root / "a").read_text() == "mine\n"
    await bench.call("read", path="a")
    assert (await bench.call("write", path="a", content="yours\n")).output == "Wrote a (+1 -1)"
    await bench.call("write", path="a", content="ours\n")
    assert (bench.root / "a").read_text() == "ours\n"


@pytest.mark.parametrize(
    ("old", "content", "expected"),
    [
        (b"a\r\nb\r\n", "x\ny\n", b"x\r\ny\r\n"),
        (b"a\r\nb\r\n", "x\r\ny\n", b"x\r\ny\n"),
        (b"a\r\nb\n", "x\ny\n", b"x\ny\n"),
        (b"a\rb\r", "x\ny\n", b"x\ry\r"),
        (b"\xef\xbb\xbfa\n", "x\n", b"\xef\xbb\xbfx\n"),
        (b"\xef\xbb\xbfa\n", "\ufeffx\n", b"\xef\xbb\xbfx\n"),
        ("a\n".encode("utf-16"), "ü\n", "ü\n".encode("utf-16")),
        (b"gr\xfcn\n", "grün\n", "grün\n".encode()),
        (b"a\0b", "text\n", b"text\n"),
        (b"", "a\n", b"a\n"),
    ],
)
async def test_encoding_mark_and_line_ends_of_what_was_there_are_kept(
    bench: Any, old: bytes, content: str, expected: bytes
) -> None:
    (bench.root / "a").write_bytes(old)
    await bench.call("write", bench.context(origin="call"), path="a", content=content)
    assert (bench.root / "a").read_bytes() == expected


async def test_the_same_content_writes_nothing(bench: Any) -> None:
    (bench.root / "a").write_text("x\n")
    result = await bench.call("write", bench.context(origin="call"), path="a", content="x\n")
    assert "nothing was written" in result.output
    assert bench.of(FileChanged) == []


async def test_a_file_that_appears_meanwhile_is_not_written_over(bench: Any) -> None:
    prepared = await bench.prepare("write", path="a", content="yours\n")
    (bench.root / "a").write_text("mine\n")
    with pytest.raises(StalePreviewError):
        await bench.run("write", prepared)
    assert (bench.root / "a").read_text() == "mine\n"


async def test_a_folder_in_the_way_is_told(bench: Any) -> None:
    (bench.root / "folder").mkdir()
    (bench.root / "file").write_text("")
    for path, message in [("folder", "this is a folder"), ("new/", "this is a folder"), ("file/a", "Not a directory")]:
        with pytest.raises(ToolError, match=message):
            await bench.call("write", path=path, content="x")


async def test_a_folder_that_may_not_be_written_is_told_and_nothing_is_left(bench: Any) -> None:
    if os.geteuid() == 0:
        pytest.skip("root writes everywhere")
    bench.root.chmod(0o500)
    try:
        with pytest.raises(ToolError, match="could not be written: Permission denied"):
            await bench.call("write", path="a", content="x")
    finally:
        bench.root.chmod(0o700)
    assert list(bench.root.iterdir()) == []


async def test_errors_of_a_fresh_verdict_end_the_output(bench: Any) -> None:
    servers = (ServerVerdict("ty", "fresh", 40), ServerVerdict("ruff", "fresh", 9))
    items = (
        item(3, "error", "Expected `int`,\n  found \x1b[31m`str`"),
        item(4, "warning", "unused"),
        item(9, "error", "x is undefined"),
    )
    bench.diagnostics.verdict = Verdict("src/a.py", "fresh", 41, items, servers)
    result = await bench.call("write", path="src/a.py", content="x\n")
    assert result.output == (
        "Created src/a.py (+1 -0)\n"
        "LSP errors detected in this file, please fix:\n"
        "src/a.py: L3: Expected `int`, found `str`\n"
        "src/a.py: L9: x is undefined"
    )
    assert bench.diagnostics.told == [("touch", "a.py"), ("wait None", "a.py")]
    assert bench.of(DiagnosticsReported) == [
        DiagnosticsReported("src/a.py", "fresh", 41, ("ty", "ruff"), items, False, None, servers)
    ]
    kept = result.metadata["diagnostics"]
    assert kept["verdict"] == "fresh"
    assert [(each["line"], each["severity"]) for each in kept["items"]] == [(3, "error"), (4, "warning"), (9, "error")]
    assert not result.is_error


async def test_errors_that_became_known_later_are_told_once_and_before_the_file_s_own(bench: Any) -> None:
    other = replace(item(7, "error", "x is gone"), path="src/b.py")
    bench.diagnostics.verdict = Verdict("src/a.py", "fresh", 41, (item(3, "error", "wrong"),))
    bench.diagnostics.late = [Verdict("src/b.py", "fresh", 900, (other, item(8, "warning", "w")), late=True)]
    result = await bench.call("write", path="src/a.py", content="x\n")
    assert result.output == (
        "Created src/a.py (+1 -0)\n"
        "LSP errors detected in other files, or late after earlier edits:\n"
        "src/b.py: L7: x is gone\n"
        "LSP errors detected in this file, please fix:\n"
        "src/a.py: L3: wrong"
    )
    again = await bench.call("write", path="src/a.py", content="y\n")
    assert "src/b.py" not in again.output


@pytest.mark.parametrize("word", ["unchanged", "unknown", "skipped"])
async def test_other_verdicts_are_for_people_only(bench: Any, word: VerdictWord) -> None:
    bench.diagnostics.verdict = Verdict("a.py", word, 1500, (item(1, "error", "old"),), reason="no answer in time")
    result = await bench.call("write", path="a.py", content="x\n")
    assert result.output == "Created a.py (+1 -0)"
    assert result.metadata["diagnostics"]["verdict"] == word
    (event,) = bench.of(DiagnosticsReported)
    assert (event.verdict, event.reason) == (word, "no answer in time")


async def test_a_clean_fresh_verdict_adds_nothing(bench: Any) -> None:
    bench.diagnostics.verdict = Verdict("a.py", "fresh", 10, (item(1, "warning", "w"),))
    assert (await bench.call("write", path="a.py", content="x\n")).output == "Created a.py (+1 -0)"


async def test_very_many_errors_are_counted(bench: Any) -> None:
    items = tuple(item(line, "error", "bad") for line in range(1, 31))
    bench.diagnostics.verdict = Verdict("a.py", "fresh", 10, items)
    lines = (await bench.call("write", path="a.py", content="x\n")).output.splitlines()
    assert lines[-2:] == ["src/a.py: L20: bad", "... and 10 more"]


async def test_a_server_that_fails_never_fails_the_write(bench: Any) -> None:
    bench.diagnostics.error = HarnessError("it crashed")
    result = await bench.call("write", path="a.py", content="x\n")
    assert (bench.root / "a.py").read_text() == "x\n"
    assert result.output == "Created a.py (+1 -0)"
    (notice,) = bench.of(Notice)
    assert notice.text == "no diagnostics for a.py: it crashed"


async def test_without_language_servers_nothing_is_told(bench: Any, tmp_path: Path) -> None:
    from harness_tui.tools.toolset import BuiltinTools

    bench.tools = BuiltinTools(bench.registry, None)
    result = await bench.call("write", path="a.py", content="x\n")
    assert "diagnostics" not in result.metadata
    assert bench.of(DiagnosticsReported) == []
