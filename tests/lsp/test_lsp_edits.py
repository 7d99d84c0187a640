"""``rename`` and ``quick_fix``: what a server proposes is one edit that was shown, or nothing at all.

Over a scripted server that may lie, and over the real ty and ruff.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from harness_tui.core.errors import HarnessError, StalePreviewError, ToolError
from harness_tui.core.event_parts import DiffPreview
from harness_tui.core.seams import Check, FileChange
from harness_tui.lsp import edit_tools, refactoring
from harness_tui.tools.toolset import BuiltinTools

SHOP = """\
class Shelf:
    def total(self) -> int:
        return 1


class Box:
    def total(self) -> int:
        return 2
"""


class Tools:
    """The two tools over a pool, with the file tools behind them."""

    def __init__(self, bench: Any, context: Any, *servers: Any, **pool: Any) -> None:
        self.pool = bench.pool(*servers, **pool)
        self.files = BuiltinTools(bench.registry, self.pool)
        self.pool.offer_edits(self.files.joint)
        self.context = context

    async def prepare(self, name: str, **arguments: Any) -> Any:
        (tool,) = [tool for tool in self.pool.tools() if tool.spec.name == name]
        return await tool.prepare(arguments, self.context)

    async def call(self, name: str, **arguments: Any) -> Any:
        (tool,) = [tool for tool in self.pool.tools() if tool.spec.name == name]
        return await tool.run(await tool.prepare(arguments, self.context), self.context)


@pytest.fixture
async def tools(bench, context):
    made: list[Tools] = []

    def make(*servers: Any, **pool: Any) -> Tools:
        made.append(Tools(bench, context, *servers, **pool))
        return made[-1]

    yield make
    for one in made:
        await one.files.close()


def put(project: Path, **texts: str | bytes) -> list[Path]:
    paths = [project / f"{name}.txt" for name in texts]
    for path, text in zip(paths, texts.values(), strict=True):
        path.write_bytes(text.encode() if isinstance(text, str) else text)
    return paths


def span(*numbers: int) -> dict[str, Any]:
    a, b, c, d = numbers
    return {"start": {"line": a, "character": b}, "end": {"line": c, "character": d}}


def edit_of(path: Path, *parts: tuple[tuple[int, int, int, int], str], version: int | None = None) -> dict[str, Any]:
    edits = [{"range": span(*place), "newText": text} for place, text in parts]
    return {"textDocument": {"uri": path.as_uri(), "version": version}, "edits": edits}


# --- renaming ------------------------------------------------------------------------------------


@pytest.mark.real
async def test_a_symbol_gets_another_name_in_every_file_and_nothing_else_does(tools, bench):
    use = bench.project / "use.py"
    (bench.project / "shop.py").write_text(SHOP)
    use.write_bytes('\ufeffs = "😀é total"; from shop import Box, Shelf\r\n\r\nprint(Shelf().total())\r\n'.encode())
    use.chmod(0o640)
    at = tools(built_in=("ty", "ruff"), cold_wait=30.0)
    prepared = await at.prepare("rename", symbol="Shelf.total", to="amount", path="shop.py")
    assert prepared.title == "Rename Shelf.total to amount in 2 files"
    assert prepared.checks == (Check("read", "shop.py"), Check("edit", "shop.py"), Check("edit", "use.py"))
    assert isinstance(prepared.preview, DiffPreview)
    assert [file.path for file in prepared.preview.files or ()] == ["shop.py", "use.py"]
    assert (bench.project / "shop.py").read_text() == SHOP

    result = await at.call("rename", symbol="Shelf.total", to="amount", path="shop.py")
    assert result.output == "Changed 2 files (+2 -2)\nshop.py (+1 -1)\nuse.py (+1 -1)"
    assert (bench.project / "shop.py").read_text() == SHOP.replace("total", "amount", 1)
    expected = '\ufeffs = "😀é total"; from shop import Box, Shelf\r\n\r\nprint(Shelf().amount())\r\n'
    assert (use.read_bytes().decode(), use.stat().st_mode & 0o777) == (expected, 0o640)
    assert [verdict["verdict"] for verdict in result.metadata["diagnostics"]] == ["fresh", "fresh"]

    # Once a server runs, a symbol that the project defines once is found without its file.
    await at.call("rename", symbol="Box", to="Crate")
    assert "class Crate:" in (bench.project / "shop.py").read_text()
    assert "import Crate, Shelf" in use.read_text()
    with pytest.raises(ToolError, match="no symbol of that name is known"):
        await at.call("rename", symbol="Bo", to="x")


@pytest.mark.real
async def test_a_name_that_is_defined_twice_has_to_be_told_apart(tools, bench):
    (bench.project / "shop.py").write_text(SHOP)
    at = tools(built_in=("ty",), cold_wait=30.0)
    with pytest.raises(ToolError, match=r"total is defined 2 times: Shelf\.total in line 2, Box\.total in line 7"):
        await at.call("rename", symbol="total", to="amount", path="shop.py")
    await at.call("rename", symbol="total", to="amount", path="shop.py", line=7)
    assert (bench.project / "shop.py").read_text().splitlines()[6] == "    def amount(self) -> int:"
    with pytest.raises(ToolError, match=r"cannot be renamed|Cannot rename"):
        await at.call("rename", symbol="int", to="whole", path="shop.py")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
async def test_places_are_counted_as_was_agreed_on_and_bytes_stay(tools, bench, scripted, encoding):
    a, b = put(bench.project, a="\ufeff😀é word\r\n\x0cword 漢\r\n", b="x\r\n😀 word\nword\n")
    at = tools(scripted(rename="words", encoding=encoding))
    await at.call("rename", symbol="word", to="другой", path="a.txt")
    assert a.read_bytes().decode() == "\ufeff😀é другой\r\n\x0cдругой 漢\r\n"
    assert b.read_bytes().decode() == "x\r\n😀 другой\nдругой\n"


async def test_a_text_that_the_server_did_not_know_is_shown_to_it_and_it_is_asked_again(tools, bench, scripted):
    put(bench.project, a="word\n", b="word\n")
    server = scripted(rename="words")
    at = tools(server)
    await at.pool.diagnostics(Path("a.txt"))  # it has read both by now
    put(bench.project, b="one more line\nword word\n")  # by somebody who tells nobody
    await at.call("rename", symbol="word", to="w", path="a.txt")
    assert (bench.project / "b.txt").read_text() == "one more line\nw w\n"
    assert len(server.received("textDocument/rename")) == 2


async def test_a_file_that_is_written_while_the_server_thinks_is_never_half_renamed(tools, bench, scripted):
    a, _ = put(bench.project, a="word\n", b="word\n")
    server = scripted(rename="words", on=[str(a), "new first line\nword\n"])
    await tools(server).call("rename", symbol="word", to="w", path="a.txt")
    assert a.read_text() == "new first line\nw\n"


async def test_a_write_between_answer_and_effect_is_stale(tools, bench, scripted):
    a, b = put(bench.project, a="word\n", b="word\n")
    at = tools(scripted(rename="words"))
    prepared = await at.prepare("rename", symbol="word", to="w", path="a.txt")
    b.write_text("word, but later\n")
    (tool,) = [tool for tool in at.pool.tools() if tool.spec.name == "rename"]
    with pytest.raises(StalePreviewError):
        await tool.run(prepared, at.context)
    assert (a.read_text(), b.read_text()) == ("word\n", "word, but later\n")


def lies(project: Path) -> list[tuple[dict[str, Any] | None, str]]:
    """Return edits that no honest server proposes, and why each is refused."""
    a, b = project / "a.txt", project / "b.txt"
    good = edit_of(b, ((0, 0, 0, 4), "w"))

    def with_good(*entries: Any) -> dict[str, Any]:
        return {"documentChanges": [good, *entries]}

    return [
        (None, "the server proposes no change"),
        ({}, "the server proposes no change"),
        (with_good(edit_of(a, ((0, 0, 0, 4), "w"), version=99)), "it is for version 99 of the text, which is at "),
        (with_good(edit_of(a, ((0, 0, 0, 3), "x"), ((0, 2, 0, 4), "y"))), "two of its parts overlap"),
        (with_good(edit_of(a, ((1, 1, 1, 2), "x"))), "inside a character"),
        (with_good({"kind": "delete", "uri": a.as_uri()}), "it would delete a file"),
        (with_good({"kind": "create", "uri": a.as_uri()}), "create a file that is there already"),
        (with_good({"kind": "rename", "oldUri": a.as_uri(), "newUri": b.as_uri()}), "onto one that it has named"),
        (with_good({"kind": "rename", "oldUri": (project / "sub").as_uri(), "newUri": "file:///x"}), "a folder"),
        (with_good(edit_of(project / "none.txt", ((0, 0, 0, 0), "x"))), "the file is not there"),
        (with_good(edit_of(project / "binary.txt", ((0, 0, 0, 0), "x"))), "the file is binary"),
        (with_good({"textDocument": {"uri": "untitled:1"}, "edits": []}), "something that is no file"),
        ({"changes": {b.as_uri(): "all of it"}}, "edits is no list"),
    ]


async def test_a_proposal_that_lies_is_refused_whole_and_changes_nothing(tools, bench, scripted):
    paths = put(bench.project, a="word\n😀\n", b="word\n", binary=b"\0")
    (bench.project / "sub").mkdir()
    before = [path.read_bytes() for path in paths]
    answer = bench.project.parent / "answer.json"
    at = tools(scripted(rename=str(answer)))
    for lie, why in lies(bench.project):
        answer.write_text(json.dumps(lie))
        with pytest.raises(HarnessError, match=why):
            await at.call("rename", symbol="word", to="w", path="a.txt")
        assert [path.read_bytes() for path in paths] == before


async def test_an_edit_outside_the_project_is_decided_on_as_such(tools, bench, scripted, tmp_path):
    put(bench.project, a="word\n")
    outside = tmp_path / "outside.txt"
    outside.write_text("word\n")
    lie = {"documentChanges": [edit_of(outside, ((0, 0, 0, 4), "w"))]}
    prepared = await tools(scripted(rename=lie)).prepare("rename", symbol="word", to="w", path="a.txt")
    assert prepared.checks[1:] == (Check("edit", str(outside)), Check("external_directory", str(outside)))


async def test_beyond_the_line_is_its_end_and_files_are_created_and_moved(tools, bench, scripted):
    a, b = put(bench.project, a="word\r\nnext\r\n", b="word\n")
    made, moved = bench.project / "new" / "made.txt", bench.project / "moved.txt"
    proposal = {
        "documentChanges": [
            edit_of(a, ((0, 4, 0, 999), "!\nmore"), version=1),
            {"kind": "create", "uri": made.as_uri()},
            edit_of(made, ((0, 0, 0, 0), "made\n")),
            {"kind": "rename", "oldUri": b.as_uri(), "newUri": moved.as_uri()},
            edit_of(moved, ((0, 0, 9, 9), "all new")),
        ]
    }
    result = await tools(scripted(rename=proposal)).call("rename", symbol="word", to="w", path="a.txt")
    assert a.read_bytes() == b"word!\r\nmore\r\nnext\r\n"
    assert (made.read_text(), moved.read_text(), b.exists()) == ("made\n", "all new", False)
    assert result.output.splitlines()[1:] == [
        "a.txt (+2 -1)",
        "moved.txt (+1 -1), new",
        "b.txt moved to moved.txt",
        "new/made.txt (+1 -0), new",
    ]


async def test_ten_thousand_parts_in_lines_that_are_not_ascii_are_one_edit(tools, bench, scripted):
    (a,) = put(bench.project, a="é word 😀 word\r\n" * 5_000)
    await tools(scripted(rename="words")).call("rename", symbol="word", to="w", path="a.txt", line="1")
    assert a.read_bytes().decode() == "é w 😀 w\r\n" * 5_000


async def test_more_files_than_stay_open_are_renamed_together(tools, bench, scripted):
    put(bench.project, **{f"f{number}": "word\n" for number in range(70)})
    result = await tools(scripted(rename="words")).call("rename", symbol="word", to="w", path="f0.txt")
    assert result.output.startswith("Changed 70 files (+70 -70)\nf0.txt (+1 -1)\nf1.txt (+1 -1)\n")
    assert {path.read_text() for path in bench.project.iterdir()} == {"w\n"}


MUTE = [
    ({"rename": "words", "prepare": None}, "the server says that word cannot be renamed"),
    ({"rename": "words", "silent": ["textDocument/rename"]}, "has not answered after 0.3 s"),
    ({"rename": "words", "prepare": {}, "silent": ["textDocument/prepareRename"]}, "has not answered after 0.3 s"),
    ({"rename": "words", "die_on": "textDocument/rename"}, "the language server exited with status 3"),
    ({}, "no language server can answer: .* does not answer that"),
]


async def test_a_server_that_does_not_answer_is_told_as_what_it_is(tools, bench, scripted, monkeypatch):
    (a,) = put(bench.project, a="word\n")
    for number, (script, why) in enumerate(MUTE):
        monkeypatch.setattr(edit_tools, "ANSWER_S", 30.0)
        at = tools(scripted(f"s{number}", **script))
        await at.pool.diagnostics(Path("a.txt"))
        if "silent" in script:
            monkeypatch.setattr(edit_tools, "ANSWER_S", 0.3)
        with pytest.raises(ToolError, match=why):
            await at.call("rename", symbol="word", to="w", path="a.txt")
        assert a.read_text() == "word\n"


async def test_a_call_that_is_given_up_is_cancelled_at_the_server(tools, bench, scripted):
    put(bench.project, a="word\n")
    server = scripted(rename="words", silent=["textDocument/rename"])
    at = tools(server)
    task = asyncio.create_task(at.call("rename", symbol="word", to="w", path="a.txt"))
    async with asyncio.timeout(10):
        while not server.received("textDocument/rename"):
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        while not server.received("$/cancelRequest"):
            await asyncio.sleep(0.01)


WRONG = [
    ("rename", {"symbol": "word"}, "to is missing"),
    ("rename", {"symbol": "word", "to": " "}, "to is missing"),
    ("rename", {"symbol": "word", "to": "a\nb", "path": "a.txt"}, "the new name is no name"),
    ("rename", {"symbol": "word", "to": 3}, "to must be text"),
    ("rename", {"symbol": "word", "to": "w", "column": 3}, "unknown arguments: column"),
    ("rename", {"symbol": "word", "to": "w", "path": "none.txt"}, "there is no such file"),
    ("rename", {"symbol": "word", "to": "w", "path": "../out.txt"}, "the file is outside the project"),
    ("rename", {"symbol": "word", "to": "w", "path": "a.md"}, "no language server serves this file"),
    ("rename", {"symbol": "word", "to": "w"}, "no language server that knows the whole project runs yet"),
    ("quick_fix", {"path": "a.txt"}, "line is missing"),
    ("quick_fix", {"path": "a.md", "line": 1}, "no language server serves this file"),
]


async def test_arguments_that_do_not_fit_say_how_to_mend_them(tools, bench, scripted):
    put(bench.project, a="word\n")
    (bench.project / "a.md").write_text("word\n")
    (bench.project.parent / "out.txt").write_text("word\n")
    at = tools(scripted(rename="words"))
    for name, arguments, why in WRONG:
        with pytest.raises(ToolError, match=why):
            await at.call(name, **arguments)


@pytest.mark.parametrize(("seconds", "says_so"), [(0.2, False), (0, True)])
async def test_a_server_that_reads_the_project_is_waited_for_but_not_for_ever(
    tools, bench, scripted, monkeypatch, seconds, says_so
):
    put(bench.project, a="word\n")
    monkeypatch.setattr(refactoring, "_REST_S", 0.4 if says_so else 20.0)
    at = tools(scripted(rename="words", working=seconds))
    prepared = await at.prepare("rename", symbol="word", to="w", path="a.txt")
    assert prepared.title.endswith("in 1 file, and the server is still at work" if says_so else "to w in 1 file")
    result = await at.call("rename", symbol="word", to="w", path="a.txt")
    assert ("scripted was still at work (Reading): it may not know every use." in result.output) == says_so


# --- quick fixes ---------------------------------------------------------------------------------


@pytest.mark.real
async def test_ruff_takes_an_unused_import_away(tools, bench):
    file = bench.project / "a.py"
    file.write_bytes(b"import os\r\nimport sys\r\n\r\nprint(sys.argv, word)\r\n")
    at = tools(built_in=("ruff",), cold_wait=30.0)
    prepared = await at.prepare("quick_fix", path="a.py", line=1)
    assert prepared.title == "Fix a.py: Ruff (F401): Remove unused import: `os`"
    assert prepared.checks == (Check("read", "a.py"), Check("edit", "a.py"))
    result = await at.call("quick_fix", path="a.py", line="import os")
    assert file.read_bytes() == b"import sys\r\n\r\nprint(sys.argv, word)\r\n"
    assert "a.py: L3: Undefined name `word`" in result.output
    with pytest.raises(ToolError, match=r"there is no diagnostic on that line \(lines with one: 3"):
        await at.call("quick_fix", path="a.py", line=1)


def fix(project: Path, title: str, text: str, **fields: Any) -> dict[str, Any]:
    edit = {"documentChanges": [edit_of(project / "a.txt", ((0, 0, 0, 3), text))]}
    return {"title": title, "kind": "quickfix", "edit": edit} | fields


async def test_of_several_fixes_one_is_named_or_the_obvious_one_is_taken(tools, bench, scripted):
    (a,) = put(bench.project, a="BAD\n")
    titles = [fix(bench.project, "Make it good", "good"), fix(bench.project, "Make it better", "better")]
    refactoring = fix(bench.project, "Extract a function", "no", kind="refactor.extract")
    disabled = fix(bench.project, "Make it best", "no", disabled={"reason": "not today"})
    at = tools(scripted(actions=[*titles, refactoring, disabled, "noise", {"title": 7}]))
    with pytest.raises(ToolError, match=r"several fixes \(give the title of one: Make it good; Make it better\)$"):
        await at.call("quick_fix", path="a.txt", line=1)
    with pytest.raises(ToolError, match="several fixes have that in their titles"):
        await at.call("quick_fix", path="a.txt", line=1, title="make it")
    with pytest.raises(ToolError, match="there is no fix of that title"):
        await at.call("quick_fix", path="a.txt", line=1, title="Extract a function")
    await at.call("quick_fix", path="a.txt", line="BAD", title="BETTER")
    assert a.read_text() == "better\n"

    a.write_text("BAD\n")
    preferred = fix(bench.project, "Make it best", "best", isPreferred=True)
    await tools(scripted("other", actions=[*titles, preferred])).call("quick_fix", path="a.txt", line=1)
    assert a.read_text() == "best\n"


async def test_an_edit_that_comes_later_is_asked_for_and_commands_are_never_run(tools, bench, scripted):
    (a,) = put(bench.project, a="BAD\n")
    command = {"title": "run", "command": "server.rewrite", "arguments": []}
    late = fix(bench.project, "Mend", "good", command=command)
    server = scripted(actions=[{"title": "Mend", "data": {"n": 1}}], resolve=late, apply={"changes": {}})
    result = await tools(server).call("quick_fix", path="a.txt", line=1)
    assert a.read_text() == "good\n"
    assert result.output.endswith("The server's command server.rewrite that belongs to it was not run.")
    assert server.received("codeAction/resolve") == [{"title": "Mend", "data": {"n": 1}}]
    assert server.received("workspace/executeCommand") == []
    (reply,) = [message for message in server.received() if message.get("id") == "apply"]
    assert reply["result"]["applied"] is False  # what it asks for by itself is not done
    context = server.received("textDocument/codeAction")[0]["context"]
    assert (context["only"], [item["message"] for item in context["diagnostics"]]) == (["quickfix"], ["BAD"])

    a.write_text("BAD\n")
    for number, action in enumerate([command, {"title": "run", "kind": "quickfix", "command": command}]):
        at = tools(scripted(f"c{number}", actions=[action]))
        with pytest.raises(
            ToolError, match=r"it is a command of the server \(server.rewrite\), and commands .* not run"
        ):
            await at.call("quick_fix", path="a.txt", line=1)
    at = tools(scripted("empty", actions=[{"title": "nothing"}]))
    with pytest.raises(ToolError, match="it changes no text"):
        await at.call("quick_fix", path="a.txt", line=1)
    assert a.read_text() == "BAD\n"


HELPLESS = [
    ({"actions": []}, "no server offers a fix for that line"),
    ({"actions": {"not": "a list"}}, "no server offers a fix for that line"),
    ({}, "no server offers a fix for that line"),
    ({"actions": [], "silent": ["textDocument/codeAction"]}, "has not answered after 0.3 s"),
    ({"actions": [], "die_on": "textDocument/codeAction"}, "exited with status 3"),
    ({"actions": [{"title": "t"}], "resolve": {}, "die_on": "codeAction/resolve"}, "exited with status 3"),
    ({"actions": [], "push": False}, "nothing is known of this file: s6 has not answered after 0.1 s"),
]


async def test_without_a_fix_it_says_why(tools, bench, scripted, monkeypatch):
    (a,) = put(bench.project, a="BAD\n")
    for number, (script, why) in enumerate(HELPLESS):
        monkeypatch.setattr(edit_tools, "ANSWER_S", 30.0)
        at = tools(scripted(f"s{number}", **script), cold_wait=0.3 if "push" in script else 20.0)
        if "after 0" in why:
            await at.pool.diagnostics(Path("a.txt"))
            monkeypatch.setattr(edit_tools, "ANSWER_S", 0.3)
        with pytest.raises(ToolError, match=why):
            await at.call("quick_fix", path="a.txt", line=1)
        assert a.read_text() == "BAD\n"


async def test_a_line_that_is_not_there_is_told(tools, bench, scripted):
    put(bench.project, a="BAD\nfine\n")
    at = tools(scripted(actions=[]))
    for line, why in ((9, "there is no line 9"), (2, "lines with one: 1"), ("nothing such", "no line holds")):
        with pytest.raises(ToolError, match=why):
            await at.call("quick_fix", path="a.txt", line=line)


def test_without_somebody_who_changes_files_there_are_no_such_tools(bench):
    assert [tool.spec.name for tool in bench.pool().tools()] == ["diagnostics", "lsp"]


async def test_the_tools_are_told_apart_from_those_that_only_read(tools):
    at = tools()
    assert [(tool.spec.name, tool.spec.read_only) for tool in at.pool.tools()] == [
        ("diagnostics", True),
        ("lsp", True),
        ("rename", False),
        ("quick_fix", False),
    ]
    assert at.pool.tools()[2].spec.parameters["required"] == ["symbol", "to"]
    assert FileChange(Path("/a"), None).changes == ()
