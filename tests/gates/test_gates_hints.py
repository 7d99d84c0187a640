"""Every verb and every slash command that a text tells a person to use exists and works."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from harness_tui.cli.app import harness
from harness_tui.cli.entry import VERBS
from harness_tui.library.own_commands import OWN_COMMANDS

_VERB = re.compile(r"(?:`|\$ |^ *)harness ([a-z][a-z-]*)(?: ([a-z][a-z-]*)\b(?![/.:=]))?", re.MULTILINE)
_SLASH = re.compile(r"(?<![\w/.<>\\:)}*~`\"'$-])[`\"']?/([a-z][a-z0-9-]*)(?![\w/.*<{-]|:\w)")

PLACEHOLDERS = frozenset({"name", "command", "db", "migrate", "round-total", "round", "x"})
"""Names that stand for a command of the reader's own."""

PATHS = frozenset({"bin", "dev", "etc", "home", "proc", "run", "srv", "tmp", "usr", "v1", "var"})


def strings(source: str) -> Iterator[str]:
    """Return the texts of a module that a person may see: no docstring."""
    tree = ast.parse(source)
    documents = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    parts: set[int] = set()
    for node in ast.walk(tree):  # an f-string comes before its parts
        if isinstance(node, ast.JoinedStr):
            parts |= {id(part) for part in node.values}
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documents | parts:
            yield node.value


def subcommands(verb: str) -> frozenset[str] | None:
    """Return the words that may follow a verb, ``None`` where anything may."""
    group = harness.get_command(click.Context(harness), verb)
    return frozenset(group.list_commands(click.Context(group))) if isinstance(group, click.Group) else None


def known_slash(root: Path) -> set[str]:
    """Return what can be typed after a slash in a fresh shell."""
    known = {name for own in OWN_COMMANDS if not own.missing for name in (own.name, *own.aliases)}
    known |= {path.stem for path in (root / "commands").glob("*.md")}
    return known | {path.parent.name for path in (root / "skills").glob("*/SKILL.md")}


def wrong_hints(text: str, known: set[str]) -> list[str]:
    """Return the verbs and slash commands of ``text`` that lead nowhere."""
    wrong: list[str] = []
    for verb, word in _VERB.findall(text):
        words = subcommands(verb) if verb in VERBS else None
        if verb not in VERBS or (word and words is not None and word not in words):
            wrong.append(f"harness {verb} {word}".rstrip())
    wrong += [f"/{name}" for name in _SLASH.findall(text) if name not in known | PLACEHOLDERS | PATHS]
    return wrong


def test_every_hint_of_the_program_leads_somewhere(root: Path) -> None:
    known = known_slash(root)
    found: dict[str, list[str]] = {}
    for path in (root / "harness_tui").rglob("*.py"):
        if wrong := [hint for text in strings(path.read_text()) for hint in wrong_hints(text, known)]:
            found[path.relative_to(root).as_posix()] = wrong
    assert found == {}


def test_every_hint_of_the_documents_leads_somewhere(root: Path) -> None:
    known = known_slash(root)
    found: dict[str, list[str]] = {}
    paths = [root / "README.md", root / "CONTRIBUTING.md"]
    for folder in ("docs", "skills", "commands"):
        paths += (root / folder).rglob("*.md")
    for path in paths:
        if wrong := wrong_hints(path.read_text(), known):
            found[path.relative_to(root).as_posix()] = wrong
    assert found == {}


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("use `harness nosuch` for it", ["harness nosuch"]),
        ("    harness skills frobnicate", ["harness skills frobnicate"]),
        ("$ harness mcp list", []),
        ("the harness starts", []),
        ("`harness trust ./here`", []),
        ("untrusted folder: /trust", []),
        ("see `/permisions`", ["/permisions"]),
        ("`/themes` changes colours", ["/themes"]),
        ("in /dev/null or /tmp", []),
        ("`/project:name`, and /nosuch: nothing", ["/nosuch"]),  # what stands in front of a name is none
        ("and/or <x/y> https://a/b", []),
    ],
)
def test_a_hint_that_leads_nowhere_is_found(root: Path, text: str, wrong: list[str]) -> None:
    assert wrong_hints(text, known_slash(root)) == wrong
