"""What holds for every template and every argument line, and that these properties catch a bad expander."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass

import pytest
from fakes.fake_gates import FakeShellGate
from fakes.fake_processes import FakeProcesses
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness_tui.library.arguments import read_line
from harness_tui.library.expand import TemplateSource, expand_template
from harness_tui.library.expansion import Expansion, Surroundings
from harness_tui.library.header import Header

FEW = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

# Any text, thick with the signs that mean something.
SIGNS = [
    "$1",
    "$2",
    "${1}",
    "${2:-d}",
    "$ARGUMENTS",
    "${ARGUMENTS",
    "$ARGUMENTS[0]",
    "$10",
    "$0",
    "\\$1",
    "\\",
    "$name",
]
SIGNS += [
    "!`run a`",
    "!`run $1 '$name'`",
    "!`",
    "`",
    "``",
    "\n```\n",
    "\n```!\nrun b\n```\n",
    "~~~",
    "<!--",
    "-->",
    "-->\n",
]
SIGNS += [
    "@file",
    '@"a b"',
    "@$1",
    "@",
    "\n",
    "\n\n",
    " ",
    "    ",
    "word",
    "é",
    "---\n",
    "/help",
    "{",
    "}",
    "\r",
    "\u2028",
]
TEMPLATES = st.lists(st.sampled_from(SIGNS) | st.text(max_size=3), max_size=12).map("".join)
LINES = st.lists(
    st.sampled_from(
        ["a", "it's", '"b c"', "'d'", '"', "=", "\\", "$1", "$(evil)", "!`evil`", "@evil", ";evil", " ", "\n"]
    )
    | st.text(max_size=3),
    max_size=6,
).map("".join)
PLAIN = st.text(st.characters(exclude_characters="$@\\!`<~", exclude_categories=["Cs", "Cc"]), max_size=60)


@dataclass
class Seen:
    """What an expansion became, and what it ran on the way."""

    expansion: Expansion
    asked: list[str]
    processes: FakeProcesses


Expand = Callable[[str, str], Seen]


@pytest.fixture(scope="module")
def expand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Expand]:
    root = tmp_path_factory.mktemp("root").resolve()
    with asyncio.Runner() as runner:

        def run(body: str, line: str) -> Seen:
            gate, processes = FakeShellGate(), FakeProcesses()
            around = Surroundings(root, ["build"], lambda _: True, spawner=processes, shell_gate=gate)
            return Seen(
                runner.run(_expand(body, line, around)), [c for asked, _ in gate.asked for c in asked], processes
            )

        yield run


def _expand(body: str, line: str, around: Surroundings) -> Awaitable[Expansion]:
    return expand_template(TemplateSource("t", "t.md", Header(arguments={"name": 2}), body), line, around)


@pytest.mark.rule("3.1.6", "3.2.7", "3.8.10")
@FEW
@given(TEMPLATES, LINES)
def test_any_template_with_any_line_gives_a_message_or_a_named_error(expand: Expand, body: str, line: str) -> None:
    found = expand(body, line).expansion
    assert found.error in (None, "empty-command", "shell-denied")
    assert bool(found.message) == (found.error is None)
    assert found.message == found.message.strip()


@pytest.mark.rule("3.3.5", "3.3.6", "3.3.8", "3.3.16", "3.1.7")
@FEW
@given(TEMPLATES, LINES)
def test_what_runs_stands_in_the_template_and_was_asked_about(expand: Expand, body: str, line: str) -> None:
    seen = expand(body, line)
    run = [argv[2] for argv in seen.processes.argv]
    assert len(run) == (len(seen.asked) if len(seen.asked) <= 20 else 0)
    for written, command, argv in zip(seen.asked, run, seen.processes.argv, strict=False):
        assert written in body
        assert "evil" not in command
        for piece in re.split(r"\$\{\d+\}?", command):
            assert piece in written
        assert argv[1] == "-c"
        assert argv[3] == "harness"
        assert tuple(argv[4:]) == read_line(line).values


@pytest.mark.rule("3.2.28")
@FEW
@given(PLAIN, LINES)
def test_a_line_without_a_place_for_it_is_never_dropped(expand: Expand, body: str, line: str) -> None:
    given_line = line.replace("\x00", "").strip()
    found = expand(body, line).expansion
    assert found.message == "\n\n".join(part for part in (body.strip(), given_line) if part)


@pytest.mark.rule("3.1.3")
@FEW
@given(PLAIN)
def test_text_without_tokens_stays_as_it_is(expand: Expand, body: str) -> None:
    seen = expand(body, "")
    assert seen.expansion.message == body.strip()
    assert seen.expansion.attachments == ()
    assert seen.asked == []


# --- templates with a known result ---------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A template, the words of a line, and what an expander must make of them."""

    body: str
    words: tuple[str, ...]
    wanted: str


@st.composite
def cases(draw: st.DrawFn) -> Case:
    words = tuple(draw(st.lists(st.sampled_from(["red", "it's", "$1", "!`evil`", "C:\\x", "/help"]), max_size=4)))
    line = " ".join(words)
    first = words[0] if words else ""
    numbers = draw(st.lists(st.integers(1, 3), max_size=3))
    highest = max(numbers, default=0)
    pieces = [
        (f"${number}", " ".join(words[number - 1 :] if number == highest else words[number - 1 : number]))
        for number in numbers
    ]
    others = [
        ("$ARGUMENTS", line),
        ("${ARGUMENTS:-none}", line or "none"),
        ("\n```\n$ARGUMENTS !`x`\n```\n", f"\n```\n{line} !`x`\n```\n"),
        ("\\$1 \\$ARGUMENTS", "$1 $ARGUMENTS"),
        ("!`date`", "ran(0)"),
        ("<!-- $2 !`evil` -->", "<!-- $2 !`evil` -->"),
        ("costs $1.50 and $HOME", "costs $1.50 and $HOME"),
    ]
    if numbers:  # these count for which number is the highest
        others += [("${1:-one}", first or "one"), ("$ARGUMENTS[0]", first)]
    chosen = draw(st.lists(st.sampled_from(others), max_size=4, unique=True))
    takes = bool(numbers) or any(piece in others[:3] for piece in chosen)
    body, wanted = (" / ".join(part) for part in zip(("Do:", "Do:"), *pieces, *chosen, strict=True))
    return Case(body, words, wanted.strip() if takes or not line else f"{wanted.strip()}\n\n{line}")


def holds(expander: Callable[[str, str], str], case: Case) -> bool:
    return expander(case.body, " ".join(case.words)) == case.wanted


@pytest.mark.rule("3.1.3", "3.1.5", "3.1.7", "3.2.2", "3.2.17", "3.2.18", "3.2.20", "3.2.24", "3.2.26")
@settings(FEW, max_examples=120)
@given(cases())
def test_a_template_with_a_known_result_gives_it(expand: Expand, case: Case) -> None:
    assert expand(case.body, " ".join(case.words)).expansion.message == case.wanted


@pytest.mark.rule("3.1.3")
@pytest.mark.parametrize(
    "bad",
    [
        lambda body, line: body,
        lambda body, line: f"{body}\n\n{line}".strip(),
    ],
    ids=["unchanged", "appended"],
)
def test_an_expander_that_does_not_expand_fails_most_of_these(bad: Callable[[str, str], str]) -> None:
    counts: Counter[bool] = Counter()

    @settings(max_examples=60, database=None, deadline=None)
    @given(cases())
    def count(case: Case) -> None:
        counts[holds(bad, case)] += 1

    count()
    assert counts[False] >= counts.total() / 2
