"""Which changes a server hears of."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness_tui.lsp.watching import CHANGED, CREATED, DELETED, glob_expression, read_watchers, wanted

ROOT = Path("/p")


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("**/*.py", ["a.py", "x/y/a.py"], ["a.pyi", "a.txt"]),
        ("*.py", ["a.py"], ["x/a.py"]),
        ("**", ["a", "x/y"], []),
        ("**/pyproject.toml", ["pyproject.toml", "x/pyproject.toml"], ["xpyproject.toml"]),
        ("src/**", ["src/a", "src/x/y"], ["lib/a"]),
        ("**/*.{ts,js}", ["a.ts", "x/a.js"], ["a.{ts,js}"]),
        ("**/*.{py,py[iw]}", ["a.py", "a.pyi", "a.pyw"], ["a.pyx"]),
        ("a?.txt", ["ab.txt"], ["a/.txt", "a.txt"]),
        ("[!a]x", ["bx"], ["ax", "/x"]),
        ("a+(b).py", ["a+(b).py"], ["aab.py"]),
        ("x{a", ["xa"], ["x"]),
    ],
)
def test_globs_of_the_protocol(pattern, yes, no):
    expression = glob_expression(pattern)
    assert [name for name in yes if not expression.fullmatch(name)] == []
    assert [name for name in no if expression.fullmatch(name)] == []


def test_a_pattern_is_relative_to_its_base_or_to_the_root():
    watchers = read_watchers({"watchers": [{"globPattern": {"baseUri": "file:///lib", "pattern": "*.py"}}]})
    assert wanted(watchers, Path("/lib/a.py"), CHANGED, ROOT)
    assert not wanted(watchers, Path("/p/a.py"), CHANGED, ROOT)
    by_folder = read_watchers(
        {"watchers": [{"globPattern": {"baseUri": {"uri": "file:///p", "name": "p"}, "pattern": "*.py"}}]}
    )
    assert wanted(by_folder, Path("/p/a.py"), CHANGED, ROOT)
    absolute = read_watchers({"watchers": [{"globPattern": "/p/**/*.py"}]})
    assert wanted(absolute, Path("/p/x/a.py"), CHANGED, ROOT)


def test_only_the_kinds_that_were_asked_for_are_reported():
    watchers = read_watchers({"watchers": [{"globPattern": "**", "kind": 1 | 4}]})
    assert [kind for kind in (CREATED, CHANGED, DELETED) if wanted(watchers, Path("/p/a"), kind, ROOT)] == [1, 3]


@pytest.mark.parametrize("options", [None, {}, {"watchers": None}, 5])
def test_no_watchers_want_nothing(options):
    assert read_watchers(options) == []


@pytest.mark.parametrize("entry", [None, {"globPattern": 7}, {"globPattern": "[z-a]"}, {"globPattern": "x" * 2_000}])
def test_a_watcher_that_cannot_be_read_wants_everything(entry):
    assert wanted(read_watchers({"watchers": [entry]}), Path("/p/x/y"), CREATED, ROOT)
