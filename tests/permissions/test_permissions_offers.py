"""A wider approval stores exactly what is shown, and is offered only where it is sound."""

from __future__ import annotations

import pytest

from harness_tui.core.seams import GateDecision


def shown(decision: GateDecision, scope: str) -> list[list[str]]:
    return [
        [f"{rule.permission} {rule.pattern} {rule.action}" for rule in offer.rules]
        for offer in decision.offers
        if offer.scope == scope
    ]


@pytest.mark.parametrize("scope", ["session", "project", "user"])
@pytest.mark.parametrize(
    ("permission", "value", "rules"),
    [
        ("mcp", "srv_echo", [["mcp srv_echo allow"]]),
        ("edit", "src/deep/a.py", [["edit src/deep/a.py allow"], ["edit src/deep/* allow"]]),
        ("edit", "src/.env", [["edit src/.env allow"]]),
        ("edit", ".git/config", [["edit .git/config allow"], ["edit .git/* allow"]]),
        ("edit", "src/a*.py", [["edit src/* allow"]]),
        ("edit", "src/a?/b.py", []),
        ("bash", "git status -s", [["bash git status -s allow"]]),
        ("bash", "grep -n 'a b' f", [["bash grep -n 'a b' f allow"]]),
        ("bash", "ls *.py", []),
        ("bash", "a && b", []),
        ("bash", "cat <<END\nx\nEND", []),
        ("bash", "echo $HOME", []),
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
    assert project.gate().decide(make_call(("mcp", "srv_echo"), ("bash", "a; b"))).offers == ()


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
        assert gate.decide(call).action == "allow"
