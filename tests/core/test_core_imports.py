"""The base stands on the standard library alone."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

import harness_tui.core

FOLDER = Path(harness_tui.core.__file__).parent
MODULES = sorted(FOLDER.rglob("*.py"))


def imported(source: str) -> set[str]:
    """Return every name that ``source`` imports, wherever the import stands."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=aliases):
                names |= {alias.name for alias in aliases}
            case ast.ImportFrom(module=module, level=level):
                names.add("." * level + (module or ""))
            case ast.Call(func=ast.Attribute(attr="import_module") | ast.Name(id="__import__")):
                names.add("a computed import")
            case _:
                pass
    return names


def foreign(source: str) -> set[str]:
    return {
        name
        for name in imported(source)
        if name.split(".")[0] not in sys.stdlib_module_names and not name.startswith("harness_tui.core.")
    }


def test_the_modules_are_found() -> None:
    assert {"bus.py", "events.py", "seams.py"} <= {path.name for path in MODULES}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_core_imports_only_the_standard_library_and_itself(path: Path) -> None:
    assert foreign(path.read_text()) == set()


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import os, json\nfrom harness_tui.core.values import Rule", set()),
        ("def f():\n    import pydantic", {"pydantic"}),
        ("from textual.app import App", {"textual.app"}),
        ("from harness_tui.config import settings", {"harness_tui.config"}),
        ("from . import values", {"."}),
        ("import importlib\nimportlib.import_module('yaml')", {"a computed import"}),
    ],
)
def test_a_foreign_import_would_be_found(source: str, found: set[str]) -> None:
    assert foreign(source) == found


def test_core_starts_nothing() -> None:
    used = {name.split(".")[0] for path in MODULES for name in imported(path.read_text())}
    assert used.isdisjoint({"subprocess", "socket", "multiprocessing", "pty", "webbrowser"})
