"""The ``diagnostics`` tool."""

from __future__ import annotations

import pytest

from harness_tui.core.errors import ToolError
from harness_tui.core.events import DiagnosticsReported
from harness_tui.core.seams import Check, Tool
from harness_tui.core.values import DiagnosticItem, ServerVerdict, Verdict
from harness_tui.lsp.report import item_line, verdict_text


@pytest.fixture
def tool(bench, scripted) -> Tool:
    found, _ = bench.pool(scripted()).tools()
    return found


async def test_a_file_with_an_error(tool, context, project):
    (project / "a.txt").write_text("fine\nBAD thing\n")
    prepared = await tool.prepare({"path": "a.txt"}, context)
    assert (prepared.title, prepared.checks) == ("Check a.txt", (Check("read", "a.txt"),))

    result = await tool.run(prepared, context)
    assert result.output == ("a.txt: fresh: 1 error (scripted)\na.txt:2:1 error: BAD thing (scripted)")
    assert not result.is_error
    assert result.metadata["diagnostics"][0]["verdict"] == "fresh"
    assert result.metadata["diagnostics"][0]["items"][0]["line"] == 2
    events = context.emit.__self__.of(DiagnosticsReported)
    assert [(event.path, event.verdict, event.late, event.servers) for event in events] == [
        ("a.txt", "fresh", False, ("scripted",))
    ]


async def test_a_clean_file_and_one_without_a_server_read_differently(tool, context, project):
    (project / "a.txt").write_text("fine\n")
    (project / "b.zzz").write_text("fine\n")
    clean = await tool.run(await tool.prepare({"path": "a.txt"}, context), context)
    assert clean.output == "a.txt: fresh: clean (scripted)"
    skipped = await tool.run(await tool.prepare({"path": "b.zzz"}, context), context)
    assert skipped.output == "b.zzz: skipped: no language server for .zzz files"


async def test_without_a_path_every_open_file_is_checked(tool, context, project):
    empty = await tool.run(await tool.prepare({}, context), context)
    assert empty.output == "No file is open in a language server yet: give a path."
    for name in ("a.txt", "b.txt"):
        (project / name).write_text("BAD\n")
        await tool.run(await tool.prepare({"path": name}, context), context)
    prepared = await tool.prepare({}, context)
    assert prepared.checks == (Check("read", "a.txt"), Check("read", "b.txt"))
    result = await tool.run(prepared, context)
    assert [line.split(" (")[0] for line in result.output.splitlines() if "unchanged" in line] == [
        "a.txt: unchanged: 1 error",
        "b.txt: unchanged: 1 error",
    ]


async def test_a_path_outside_needs_both_permissions_and_is_skipped(tool, context, tmp_path):
    outside = tmp_path / "o.txt"
    outside.write_text("BAD\n")
    prepared = await tool.prepare({"path": "../o.txt"}, context)
    assert prepared.checks == (Check("read", str(outside)), Check("external_directory", str(outside)))
    result = await tool.run(prepared, context)
    assert result.output == f"{outside}: skipped: it is outside the project"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"file": "a"}, "unknown arguments: file .*known is path"),
        ({"path": 3}, "path must be text"),
        ({"path": "none.txt"}, "none.txt: there is no such file"),
        ({"path": "."}, "this is a folder"),
        ({"path": "a\0b"}, "NUL"),
    ],
)
async def test_arguments_that_do_not_fit_are_errors_that_say_how_to_mend_them(tool, context, arguments, text):
    with pytest.raises(ToolError, match=text):
        await tool.prepare(arguments, context)


def item(message="m", severity="error", **fields):
    return DiagnosticItem("a.py", 1, 2, 1, 3, severity, message, **fields)


def test_unknown_is_never_called_clean():
    verdict = Verdict("a.py", "unknown", 1500, reason="ty is still starting after 1.5 s")
    assert verdict_text(verdict) == "a.py: unknown: ty is still starting after 1.5 s"


def test_a_message_is_one_line_of_limited_length_without_anything_that_a_terminal_obeys():
    line = item_line(item("first\n\n\u00a0 second \x1b[31mred\x1b[0m " + "x" * 400, code="E\n1", source="s"))
    assert line.startswith("a.py:1:2 error: first second red xxx")
    assert line.endswith("\u2026 [E 1] (s)")
    assert len(line) < 330


def test_errors_come_first_and_the_rest_is_counted():
    items = (*(item(f"w{n}", "warning") for n in range(60)), item("the error"))
    servers = (ServerVerdict("ty", "fresh", 1), ServerVerdict("ruff", "fresh", 1))
    lines = verdict_text(Verdict("a.py", "fresh", 1, items, servers)).splitlines()
    assert lines[0] == "a.py: fresh: 1 error, 60 warnings (ty, ruff)"
    assert lines[1] == "a.py:1:2 error: the error"
    assert (len(lines), lines[-1]) == (52, "... and 11 more")
