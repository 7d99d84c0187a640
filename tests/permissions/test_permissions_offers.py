"""A wider approval stores exactly what is shown, and is offered only where it is sound."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness_tui.core.seams import GateDecision


def shown(decision: GateDecision, scope: str) -> list[list[str]]:
    return [
        [f"{rule.permission} {rule.pattern} {rule.action}" for rule in offer.rules]
        for offer in decision.offers
        if offer.scope == scope and offer.mode is None
    ]


@pytest.mark.parametrize("scope", ["session", "project", "user"])
@pytest.mark.parametrize(
    ("permission", "value", "rules"),
    [
        ("mcp", "srv_echo", [["mcp srv_echo allow"]]),
        ("edit", "src/deep/a.py", [["edit src/deep/a.py allow"], ["edit src/deep/* allow"]]),
        ("edit", "src/.env", [["edit src/.env allow"]]),
        ("edit", ".git/config", [["edit .git/config allow"], ["edit .git/* allow"]]),
        ("edit", "src/a*.py", [[r"edit src/a\*.py allow"], ["edit src/* allow"]]),
        ("edit", "src/a?/b.py", [[r"edit src/a\?/b.py allow"], [r"edit src/a\?/* allow"]]),
        ("bash", "git status -s", [["bash git status -s allow"], ["bash git status * allow"]]),
        ("bash", "grep -n 'a b' f", [["bash grep -n 'a b' f allow"]]),
        ("bash", "ls *.py", [[r"bash ls \*.py allow"], ["bash ls * allow"]]),
        ("bash", 'grep -n "a.*b" f', [[r'bash grep -n "a.\*b" f allow']]),
        ("bash", "a && b", [["bash a allow", "bash b allow"]]),
        (
            "bash",
            "cd src && git diff",
            [["bash cd src allow", "bash git diff allow"], ["bash cd src allow", "bash git diff * allow"]],
        ),
        ("bash", "git diff --ext-diff", [["bash git diff --ext-diff allow"]]),
        ("bash", "npm run build -- --x", [["bash npm run build -- --x allow"], ["bash npm run build * allow"]]),
        ("bash", "make test", [["bash make test allow"], ["bash make test * allow"]]),
        ("bash", "make test CC=x", [["bash make test CC=x allow"]]),
        ("bash", "uv run pytest -q", [["bash uv run pytest -q allow"], ["bash uv run pytest * allow"]]),
        ("bash", "uv run python x.py", [["bash uv run python x.py allow"]]),
        ("bash", "pytest -q", [["bash pytest -q allow"], ["bash pytest * allow"]]),
        ("bash", "python -m pytest", [["bash python -m pytest allow"]]),
        ("bash", "rg a", [["bash rg a allow"]]),
        ("bash", "PATH=x make a", [["bash PATH=x make a allow"]]),
        ("bash", "A=1 make", [["bash make allow"]]),
        ("bash", "find . -name a", [["bash find . -name a allow"]]),
        ("bash", "cat <<END\nx\nEND", []),
        ("bash", "ls\nls", []),
        ("bash", "echo $X", []),
        ("bash", "ls $X", []),
        ("bash", "git diff; ls $X", []),
        ("bash", "echo $(git diff)", []),
        ("bash", "(", []),
        ("bash", "a" * 501, []),
        ("webfetch", "https://example.test/a?b=c", [["webfetch https://example.test/* allow"]]),
        ("webfetch", "http://127.0.0.1:8080/", [["webfetch http://127.0.0.1:8080/* allow"]]),
        ("webfetch", "https://example.test", []),
        ("webfetch", "https://u:p@example.test/", []),
        ("webfetch", "https://*.example.test/", []),
        ("webfetch", "https://example.test:99999/", []),
        ("webfetch", "file:///etc/hosts", []),
        ("webfetch", "nonsense", []),
        ("sampling", "srv", [["sampling srv allow"]]),
        ("doom_loop", "bash", []),
    ],
)
def test_offers(decide, permission: str, value: str, scope: str, rules: list[list[str]]) -> None:
    assert shown(decide(permission, value), scope) == rules


def test_a_file_at_the_root_is_offered_by_its_whole_path_so_that_no_namesake_is_covered(project, make_call) -> None:
    gate = project.gate()
    assert shown(gate.decide(make_call(("edit", "a.py"))), "project") == [
        [f"edit {project.root}/a.py allow"],
        [f"edit {project.root}/* allow"],
    ]


def test_an_asked_skill_is_offered_by_its_name(decide) -> None:
    assert shown(decide("skill", "review", ("skill * ask",)), "user") == [["skill review allow"]]


def test_an_offer_covers_every_part_that_is_asked(project, make_call) -> None:
    decision = project.gate().decide(make_call(("edit", "/elsewhere/a.py")))
    assert shown(decision, "session") == [
        ["edit /elsewhere/a.py allow", "external_directory /elsewhere/a.py allow"],
        ["edit /elsewhere/* allow", "external_directory /elsewhere/* allow"],
    ]


def test_parts_that_are_allowed_already_are_not_in_the_offer(project, make_call) -> None:
    decision = project.gate().decide(make_call(("read", "/elsewhere/a.py")))
    assert shown(decision, "session")[0] == ["external_directory /elsewhere/a.py allow"]


def test_one_part_without_a_sound_rule_leaves_no_offer(project, make_call) -> None:
    assert project.gate().decide(make_call(("mcp", "srv_echo"), ("bash", "a; $b"))).offers == ()


@pytest.mark.parametrize("options", [{}, {"mode": "plan"}])
def test_nothing_is_offered_for_what_is_allowed_or_denied(decide, options: dict[str, str]) -> None:
    assert decide("read", "a.py", **options).offers == ()
    assert decide("edit", "a.py", ("edit * deny",), **options).offers == ()


@pytest.mark.parametrize(
    ("permission", "value"),
    [("mcp", "srv_echo"), ("edit", "a.py"), ("edit", ".env"), ("edit", "/elsewhere/a"), ("bash", "ls -l")],
)
def test_every_offer_once_taken_allows_the_same_call(project, make_call, permission: str, value: str) -> None:
    call = make_call((permission, value))
    for offer in project.gate().decide(call).offers:
        gate = project.gate()
        gate.remember(call, "session", offer.rules)
        assert gate.decide(replace(call, mode=offer.mode or call.mode)).action == "allow"


@pytest.mark.parametrize(
    ("checks", "offered"),
    [
        ((("edit", "src/a.py"),), True),
        ((("edit", "src/a.py"), ("edit", "b.py")), True),
        ((("bash", "echo a > out.txt"),), False),  # the command asks as well
        ((("edit", ".env"),), False),
        ((("edit", ".git/config"),), False),
        ((("edit", "/elsewhere/a.py"),), False),
        ((("edit", "src/a.py"), ("mcp", "srv_echo")), False),
        ((("doom_loop", "edit"), ("edit", "src/a.py")), False),
    ],
)
def test_the_mode_that_allows_edits_is_offered_where_it_would_allow_the_call(
    project, make_call, checks: tuple[tuple[str, str], ...], offered: bool
) -> None:
    call = make_call(*checks)
    modes = [(offer.scope, offer.mode, offer.rules) for offer in project.gate().decide(call).offers if offer.mode]
    assert modes == ([("session", "accept-edits", ())] if offered else [])
    assert (project.gate().decide(replace(call, mode="accept-edits")).action == "allow") is offered


def test_the_mode_is_offered_for_the_files_of_a_command_that_is_allowed_itself(project, make_call) -> None:
    decision = project.gate(("bash echo * allow",)).decide(make_call(("bash", "echo a > out.txt")))
    assert [offer.mode for offer in decision.offers if offer.scope == "session"] == [None, None, "accept-edits"]


@pytest.mark.parametrize(
    "command", ["git diff --ext-diff", "git diff --output=x", "git diff -- ../elsewhere", "git diff $X"]
)
def test_an_offer_for_a_program_leaves_options_that_do_more_at_ask(project, make_call, command: str) -> None:
    call = make_call(("bash", "git diff"))
    gate = project.gate()
    wide = next(offer for offer in gate.decide(call).offers if offer.rules[0].pattern == "git diff *")
    gate.remember(call, "session", wide.rules)
    assert gate.decide(make_call(("bash", "git diff --stat"))).action == "allow"
    assert gate.decide(make_call(("bash", command))).action == "ask"


def test_a_literal_star_that_was_approved_is_no_wildcard(project, make_call) -> None:
    call = make_call(("bash", 'grep -n "a.*b" f'))
    gate = project.gate()
    gate.remember(call, "session", gate.decide(call).offers[0].rules)
    assert gate.decide(call).action == "allow"
    assert gate.decide(make_call(("bash", 'grep -n "a" /x; rm b" f'))).action == "ask"
    assert gate.decide(make_call(("bash", 'grep -n "a.xb" f'))).action == "ask"


def test_a_command_that_writes_is_offered_with_the_file_that_it_writes(project, make_call) -> None:
    assert shown(project.gate().decide(make_call(("bash", "touch src/1.txt"))), "session") == [
        ["bash touch src/1.txt allow", "edit src/1.txt allow"],
        ["bash touch src/1.txt allow", "edit src/* allow"],
    ]


def test_an_offer_of_more_rules_than_a_person_reads_is_not_made(project, make_call) -> None:
    command = "; ".join(f"tool{number}" for number in range(13))
    assert project.gate().decide(make_call(("bash", command))).offers == ()
