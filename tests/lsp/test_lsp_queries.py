"""The ``lsp`` tool, over the real ty: a symbol is found by its name, whatever its column."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness_tui.core.errors import ToolError
from harness_tui.core.seams import Check
from harness_tui.lsp.symbols import defined, mentions, read_outline, split_name
from harness_tui.lsp.text import character_of

SHOP = '''class Shelf:
    """A shelf."""

    def total(self) -> int:
        return 1


class Box:
    def total(self) -> str:
        return "no total here"


def count(shelf: Shelf) -> int:
    return shelf.total()
'''
USE = 's = "😀é漢"; from shop import Shelf, count\n\nprint(count(Shelf()))\n'


@pytest.fixture
def ask(bench, context):
    """Return a function that asks the tool and returns its text."""
    (bench.project / "shop.py").write_text(SHOP)
    (bench.project / "use.py").write_text(USE)
    _, tool = bench.pool(built_in=("ty",), cold_wait=30.0).tools()

    async def answer(**arguments) -> str:
        return (await tool.run(await tool.prepare(arguments, context), context)).output

    answer.prepare = lambda **arguments: tool.prepare(arguments, context)
    return answer


@pytest.mark.real
async def test_a_symbol_is_found_by_its_name_and_file(ask):
    assert await ask(operation="definition", symbol="count", path="use.py") == (
        "shop.py:13:5: def count(shelf: Shelf) -> int:"
    )
    references = await ask(operation="references", symbol="count", path="shop.py")
    assert sorted(references.splitlines()) == [
        "shop.py:13:5: def count(shelf: Shelf) -> int:",
        f"use.py:1:36: {USE.splitlines()[0]}",
        "use.py:3:7: print(count(Shelf()))",
    ]
    assert "def count(shelf: Shelf) -> int" in await ask(operation="hover", symbol="count", path="use.py", line="3")
    calls = await ask(operation="incoming_calls", symbol="count", path="shop.py")
    assert calls == "use.py:3:7: [module use] print(count(Shelf()))"
    calls = await ask(operation="outgoing_calls", symbol="count", path="shop.py")
    assert calls == "shop.py:4:9: [method total] def total(self) -> int:"


@pytest.mark.real
@pytest.mark.parametrize(
    ("symbol", "line", "answer"),
    [
        ("total", None, "shop.py:4:9: def total(self) -> int:"),
        ("Box.total", None, "shop.py:9:9: def total(self) -> str:"),
        ("Box::total()", None, "shop.py:9:9: def total(self) -> str:"),
        ("total", "-> str", "shop.py:9:9: def total(self) -> str:"),
        ("total", "9", "shop.py:9:9: def total(self) -> str:"),
        ("total", "return shelf.total()", "shop.py:4:9: def total(self) -> int:"),
    ],
)
async def test_a_name_that_stands_in_several_places_is_told_apart(ask, symbol, line, answer):
    given = {"line": line} if line else {}
    assert await ask(operation="definition", symbol=symbol, path="shop.py", **given) == answer


@pytest.mark.real
async def test_a_mention_in_a_text_is_passed_over_for_one_that_means_something(ask, bench):
    (bench.project / "use.py").write_text('s = "count it"; from shop import count\n')
    assert await ask(operation="definition", symbol="count", path="use.py") == (
        "shop.py:13:5: def count(shelf: Shelf) -> int:"
    )
    assert "def count" in await ask(operation="hover", symbol="count", path="use.py")


@pytest.mark.real
async def test_an_outline_and_a_search_in_the_project(ask):
    outline = await ask(operation="symbols", path="shop.py")
    assert [line.split("  L")[0] for line in outline.splitlines()][:2] == ["class Shelf", "  method total"]
    assert await ask(operation="symbols", symbol="COU", path="shop.py") == "function count  L13-14"
    assert "shop.py:13:" in await ask(operation="symbols", symbol="count")
    assert await ask(operation="symbols", symbol="nothing_of_that_name") == (
        "nothing in the project is called nothing_of_that_name"
    )


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({}, "operation is missing or unknown .one of definition, references"),
        ({"operation": "rename"}, "operation is missing or unknown"),
        ({"operation": "hover", "path": "shop.py"}, "symbol is missing"),
        ({"operation": "hover", "symbol": "x"}, "path is missing"),
        ({"operation": "symbols"}, "symbol is missing"),
        ({"operation": "hover", "symbol": 3, "path": "shop.py"}, "symbol must be text"),
        ({"operation": "hover", "symbol": "x", "column": 3}, "unknown arguments: column"),
        ({"operation": "hover", "symbol": "x", "path": "none.py"}, "there is no such file"),
    ],
)
async def test_arguments_that_do_not_fit_are_errors_that_say_how_to_mend_them(ask, arguments, text):
    with pytest.raises(ToolError, match=text):
        await ask.prepare(**arguments)


@pytest.mark.real
@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"symbol": "nothing", "path": "shop.py"}, "nothing does not stand in this file"),
        ({"symbol": "total", "path": "shop.py", "line": "class Shelf"}, "total does not stand on such a line"),
        ({"symbol": "total", "path": "shop.py", "line": "no such text"}, "no line holds 'no such text'"),
        ({"symbol": "x", "path": "README"}, "no language server serves this file"),
    ],
)
async def test_what_cannot_be_answered_says_why(ask, bench, arguments, text):
    (bench.project / "README").write_text("x\n")
    with pytest.raises(ToolError, match=text):
        await ask(operation="definition", **arguments)


async def test_a_search_before_any_server_runs_says_how_one_starts(ask):
    with pytest.raises(ToolError, match="name a file with path"):
        await ask(operation="symbols", symbol="count")


async def test_a_file_outside_needs_both_permissions(ask, tmp_path):
    outside = tmp_path / "o.py"
    outside.write_text("x = 1\n")
    prepared = await ask.prepare(operation="hover", symbol="x", path="../o.py")
    assert prepared.checks == (Check("read", str(outside)), Check("external_directory", str(outside)))


def test_names_are_read_in_every_spelling():
    assert split_name("Shelf.total") == split_name("Shelf::total()") == split_name("Shelf#total") == ("Shelf", "total")
    assert split_name(" x ") == ("x",)


def entry(name, line, **fields):
    span = {"start": {"line": line, "character": 4}, "end": {"line": line + 1, "character": 0}}
    return {"name": name, "kind": 6, "range": span, "selectionRange": span} | fields


def test_an_outline_is_read_nested_and_flat_and_what_has_no_shape_is_left_out():
    nested = read_outline([entry("Shelf", 0, kind=5, children=[entry("total", 3), 7, {"name": 3}]), None])
    assert [(symbol.names, symbol.kind, symbol.line) for symbol in nested] == [
        (("Shelf",), "class", 0),
        (("Shelf", "total"), "method", 3),
    ]
    flat = {"name": "total", "kind": 99, "containerName": "Shelf", "location": {"uri": "file:///a", "range": {}}}
    assert [(symbol.names, symbol.kind, symbol.line) for symbol in read_outline([flat])] == [
        (("Shelf", "total"), "symbol", 0)
    ]
    assert read_outline({"no": "list"}) == read_outline(None) == []


def test_a_method_is_found_however_the_server_writes_it():
    outline = read_outline([entry("(*Shelf).Total", 3), entry("total(int)", 5)])
    assert [symbol.line for symbol in defined(outline, ("Total",))] == [3]
    assert [symbol.line for symbol in defined(outline, ("total",))] == [5]


def test_a_name_is_a_whole_word_and_columns_count_in_the_server_s_units():
    assert list(mentions(["totals = total", "subtotal", "total"], "total")) == [(0, 9), (2, 0)]
    line = "😀é total"
    assert [character_of(line, 4, encoding) for encoding in ("utf-8", "utf-16", "utf-32")] == [7, 4, 3]


def test_a_path_of_names_ends_with_what_was_asked(tmp_path: Path):
    outline = read_outline([entry("a", 0, children=[entry("b", 1, children=[entry("c", 2)])]), entry("c", 9)])
    assert [symbol.line for symbol in defined(outline, ("c",))] == [2, 9]
    assert [symbol.line for symbol in defined(outline, ("b", "c"))] == [2]
    assert defined(outline, ("x", "c")) == []
