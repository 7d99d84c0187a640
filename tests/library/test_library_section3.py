"""Every rule of ``section3.md`` is proved by a test that names it, and every test here names rules that exist."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

HERE = Path(__file__).parent
TABLE = (HERE / "section3.md").read_text()
NUMBER = re.compile(r"^- (\d+(?:\.\d+)+) (?=\S)", re.MULTILINE)


def numbers_of(table: str) -> list[str]:
    return NUMBER.findall(table)


def rules_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """Return the numbers that ``@pytest.mark.rule(...)`` names above a test."""
    found: list[str] = []
    for call in node.decorator_list:
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "pytest.mark.rule":
            found += [
                item.value for item in call.args if isinstance(item, ast.Constant) and isinstance(item.value, str)
            ]
    return found


def named_in(source: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each test of a module with the rules that it names."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            yield node.name, rules_of(node)


def faults(table: str, sources: Mapping[str, str], own: frozenset[str]) -> list[str]:
    """Return what is wrong: rules without a test, unknown numbers, and tests in files of ``own`` that name none."""
    known = numbers_of(table)
    named: set[str] = set()
    found: list[str] = []
    for file, source in sources.items():
        for test, rules in named_in(source):
            named |= set(rules)
            found += [f"{file}: {test} names {rule}, which stands in no line" for rule in rules if rule not in known]
            if file in own and not rules:
                found.append(f"{file}: {test} names no rule of section3.md")
    return found + [f"section3.md: no test names {rule}" for rule in known if rule not in named]


@pytest.mark.rule("4.9")
def test_each_rule_has_a_test_and_each_test_its_rules() -> None:
    files = sorted(HERE.parent.glob("*/test_*.py"))
    sources = {str(file.relative_to(HERE.parent)): file.read_text() for file in files}
    marked = {file: source for file, source in sources.items() if "mark.rule(" in source or file.startswith("library/")}
    own = frozenset(file for file in marked if file.startswith("library/"))
    assert faults(TABLE, marked, own) == []


@pytest.mark.rule("4.9")
def test_numbers_stand_in_order_and_once() -> None:
    known = numbers_of(TABLE)
    ordered = sorted(known, key=lambda number: [int(part) for part in number.split(".")])
    assert known == ordered
    assert len(set(known)) == len(known)
    last: dict[str, int] = {}
    for number in known:
        part, _, place = number.rpartition(".")
        assert int(place) == last.get(part, 0) + 1, f"a number is missing before {number}"
        last[part] = int(place)


@pytest.mark.rule("4.9")
def test_what_is_not_covered_unknown_or_not_named_is_found() -> None:
    table = "- 1.1 One.\n- 1.2 Two.\n"
    good = "import pytest\n@pytest.mark.rule('1.1')\ndef test_a(): ...\n"
    both = good.replace("'1.1'", "'1.1', '1.2'")
    assert faults(table, {"f": both}, frozenset({"f"})) == []
    assert faults(table, {"f": good}, frozenset({"f"})) == ["section3.md: no test names 1.2"]
    assert faults(table, {"f": both.replace("1.2", "1.3")}, frozenset()) == [
        "f: test_a names 1.3, which stands in no line",
        "section3.md: no test names 1.2",
    ]
    assert faults(table, {"f": f"{both}\ndef test_b(): ..."}, frozenset({"f"})) == [
        "f: test_b names no rule of section3.md"
    ]
