"""The gate decides as the rules say, layer by layer, and anything it cannot decide is asked."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness_tui.config.bundled_rules import BUNDLED_RULES
from harness_tui.config.settings import RuleLayer
from harness_tui.core.seams import GateDecision, PermissionGate
from harness_tui.core.values import Rule
from harness_tui.permissions.gate import Gate
from harness_tui.permissions.layers import Subject, layer_result

Decide = Callable[..., GateDecision]


def test_the_bundled_rules_are_the_whole_list() -> None:
    assert [f"{rule.permission} {rule.pattern} {rule.action}" for rule in BUNDLED_RULES] == [
        "read * allow",
        "read .env ask",
        "read .env.* ask",
        "read *.pem ask",
        "read *.key ask",
        "read id_* ask",
        "read *credentials* ask",
        "edit * ask",
        "bash * ask",
        "webfetch * ask",
        "skill * allow",
        "task * allow",
        "question * allow",
        "mcp * ask",
        "sampling * ask",
        "external_directory * ask",
        "doom_loop * ask",
    ]


@pytest.mark.parametrize(
    ("permission", "value", "action"),
    [
        ("read", "a.py", "allow"),
        ("read", ".", "allow"),
        ("read", ".env", "ask"),
        ("read", "sub/.env", "ask"),
        ("read", "sub/.env.local", "ask"),
        ("read", "keys/server.pem", "ask"),
        ("read", "keys/server.pem.txt", "allow"),
        ("read", "id_ed25519", "ask"),
        ("read", "aws-credentials.json", "ask"),
        ("read", "environment.py", "allow"),
        ("edit", "a.py", "ask"),
        ("bash", "ls", "ask"),
        ("webfetch", "https://example.test/", "ask"),
        ("skill", "review", "allow"),
        ("task", "explore", "allow"),
        ("question", "*", "allow"),
        ("mcp", "srv_echo", "ask"),
        ("sampling", "srv", "ask"),
        ("doom_loop", "bash", "ask"),
        ("a_permission_of_tomorrow", "x", "ask"),
    ],
)
def test_without_any_other_rule_the_bundled_ones_decide(
    decide: Decide, permission: str, value: str, action: str
) -> None:
    assert decide(permission, value).action == action


@pytest.mark.parametrize(
    ("user", "own", "agent", "action", "layer"),
    [
        ((), (), (), "ask", "bundled"),
        (("mcp srv_* allow",), (), (), "allow", "user"),
        (("mcp srv_* allow", "mcp srv_echo deny"), (), (), "deny", "user"),
        (("mcp srv_echo deny", "mcp srv_* allow"), (), (), "allow", "user"),
        (("mcp srv_* allow",), ("mcp srv_echo ask",), (), "ask", "project"),
        (("mcp srv_* deny",), ("mcp srv_echo allow",), (), "deny", "user"),
        (("mcp srv_* allow",), ("mcp srv_echo allow",), ("mcp * deny",), "deny", "agent"),
        (("mcp srv_* ask",), ("mcp other_* deny",), ("mcp srv_echo allow",), "allow", "agent"),
        (("mcp srv allow", "mcp srv_ech? allow"), (), (), "allow", "user"),
        (("mcp srv_ech allow",), (), (), "ask", "bundled"),
    ],
)
def test_any_deny_wins_else_the_last_layer_and_in_it_the_last_rule(
    decide: Decide,
    make_rules: Callable[..., tuple[Rule, ...]],
    user: tuple[str, ...],
    own: tuple[str, ...],
    agent: tuple[str, ...],
    action: str,
    layer: str,
) -> None:
    decision = decide("mcp", "srv_echo", user, own, agent_rules=make_rules(*agent))
    assert decision.action == action
    assert decision.parts[0].layer == layer


def test_the_decision_names_the_rule_the_place_and_every_layer_that_had_a_say(decide: Decide) -> None:
    part = decide("mcp", "srv_echo", ("mcp * allow", "mcp srv_echo deny"), ("mcp srv_* ask",)).parts[0]
    assert (part.rule, part.source) == ("mcp srv_echo deny", "rules:2")
    assert [(result.layer, result.decision, result.rule) for result in part.layers] == [
        ("bundled", "ask", "mcp * ask"),
        ("user", "deny", "mcp srv_echo deny"),
        ("project", "ask", "mcp srv_* ask"),
    ]


def test_the_strictest_part_decides_on_a_call(project, make_call) -> None:
    gate = project.gate(("mcp srv_a allow", "mcp srv_c deny"))
    allowed, asked, denied = ("mcp", "srv_a"), ("mcp", "srv_b"), ("mcp", "srv_c")
    assert gate.decide(make_call(allowed)).action == "allow"
    assert gate.decide(make_call(allowed, asked)).action == "ask"
    assert gate.decide(make_call(denied, allowed, asked)).action == "deny"
    assert gate.decide(make_call(denied)).reason == "denied by mcp srv_c deny (rules:2)"


@pytest.mark.parametrize(
    ("permission", "value", "mode", "action"),
    [
        ("edit", "src/a.py", "accept-edits", "allow"),
        ("edit", ".git/config", "accept-edits", "ask"),
        ("edit", ".env", "accept-edits", "ask"),
        ("edit", "/elsewhere/a.py", "accept-edits", "ask"),
        ("bash", "ls", "accept-edits", "ask"),
        ("read", ".env", "accept-edits", "ask"),
        ("edit", "src/a.py", "plan", "deny"),
        ("read", "src/a.py", "plan", "allow"),
        ("task", "explore", "plan", "allow"),
        ("task", "build", "plan", "deny"),
        ("bash", "ls", "plan", "deny"),
        ("bash", "git status", "plan", "allow"),
        ("edit", "src/a.py", "yolo", "ask"),
        ("read", "src/a.py", "yolo", "ask"),
    ],
)
def test_a_mode_adds_its_layer_and_an_unknown_one_asks(
    decide: Decide, permission: str, value: str, mode: str, action: str
) -> None:
    assert decide(permission, value, ("bash git status allow",), mode=mode).action == action


def test_no_mode_turns_a_deny_into_anything_else(decide: Decide) -> None:
    assert decide("edit", "src/a.py", ("edit src/* deny",), mode="accept-edits").action == "deny"


def test_plan_does_not_widen_what_a_rule_asks_about(decide: Decide) -> None:
    assert decide("task", "explore", ("task * ask",), mode="plan").action == "ask"


@pytest.mark.parametrize(
    ("permission", "value", "mode", "action"),
    [
        ("bash", "make test", "ask", "allow"),
        ("bash", "make test", "plan", "allow"),
        ("bash", "rm -r build", "ask", "deny"),
        ("read", ".env", "ask", "allow"),
        ("mcp", "srv_get_prompt", "ask", "allow"),
    ],
)
def test_what_a_person_types_is_allowed_unless_denied(
    decide: Decide, permission: str, value: str, mode: str, action: str
) -> None:
    assert decide(permission, value, ("bash rm * deny",), mode=mode, origin="person").action == action


def test_a_call_by_hand_is_gated_like_the_models(decide: Decide) -> None:
    assert decide("mcp", "srv_echo", origin="call").action == "ask"


def test_a_path_outside_the_root_needs_the_outside_folder_too(project, make_call) -> None:
    decision = project.gate().decide(make_call(("read", "/elsewhere/a.py")))
    assert [(part.check.permission, part.check.value, part.decision) for part in decision.parts] == [
        ("read", "/elsewhere/a.py", "allow"),
        ("external_directory", "/elsewhere/a.py", "ask"),
    ]
    allowing = project.gate(("external_directory /elsewhere/* allow",))
    assert allowing.decide(make_call(("read", "/elsewhere/a.py"))).action == "allow"
    assert allowing.decide(make_call(("read", "/elsewhere2/a.py"))).action == "ask"


def test_the_outside_folder_is_not_decided_twice(project, make_call) -> None:
    checks = (("read", "/elsewhere/a.py"), ("external_directory", "/elsewhere/a.py"))
    assert len(project.gate().decide(make_call(*checks)).parts) == 2


@pytest.mark.parametrize("value", ["../a.py", "src/../../a.py", "", "a\x00b"])
def test_a_value_that_is_no_resolved_path_is_asked_even_where_everything_is_allowed(decide: Decide, value: str) -> None:
    decision = decide("read", value, ("read * allow", "external_directory * allow"))
    assert decision.action == "ask"
    assert decision.reason is not None
    assert "not a resolved path" in decision.reason
    assert decision.offers == ()


def test_a_check_that_cannot_be_decided_does_not_hide_the_deny_of_another(project, make_call) -> None:
    gate = project.gate(("mcp srv_x deny",))
    assert gate.decide(make_call(("read", "../a.py"), ("mcp", "srv_x"))).action == "deny"


def test_a_broken_rule_makes_the_gate_ask_instead_of_raising(project, make_call) -> None:
    broken = RuleLayer("user", (Rule("mcp", None, "allow"),))  # pyright: ignore[reportArgumentType]
    gate = Gate([broken], project.approvals(), root=project.root, cwd=project.root, home=project.home)
    decision = gate.decide(make_call(("mcp", "srv_echo")))
    assert decision.action == "ask"
    assert "could not be applied" in str(decision.reason)


def test_no_rule_at_all_asks(project, make_call) -> None:
    gate = Gate([], project.approvals(), root=project.root, cwd=project.root, home=project.home)
    part = gate.decide(make_call(("read", "a.py"))).parts[0]
    assert (part.decision, part.rule, part.layer, part.layers) == ("ask", "no rule", "none", ())


def test_nothing_to_decide_is_allowed_for_a_tool_of_ours_and_asked_for_a_foreign_one(project, make_call) -> None:
    gate = project.gate()
    assert gate.decide(make_call()).action == "allow"
    assert gate.decide(make_call(fingerprint="f1")).action == "ask"


def test_grants_of_a_run_turn_an_ask_into_allow_and_no_deny(decide: Decide, make_rules) -> None:
    grants = make_rules("mcp srv_* allow", "doom_loop * allow")
    assert decide("mcp", "srv_echo", grants=grants).parts[0].layer == "grant"
    assert decide("mcp", "srv_echo", ("mcp srv_echo deny",), grants=grants).action == "deny"
    assert decide("doom_loop", "bash", grants=grants).action == "ask"


def test_new_layers_count_from_the_next_call(project, make_call, make_rules) -> None:
    gate = project.gate()
    assert gate.decide(make_call(("mcp", "srv_echo"))).action == "ask"
    gate.use_layers([*gate.layers, RuleLayer("project", make_rules("mcp srv_echo deny"))])
    assert gate.decide(make_call(("mcp", "srv_echo"))).action == "deny"


def test_the_gate_satisfies_the_seam(project) -> None:
    gate: PermissionGate = project.gate()
    assert callable(gate.decide)
    assert callable(gate.remember)


def test_a_layer_without_a_matching_rule_has_no_result(project, make_rules, make_call) -> None:
    layer = RuleLayer("user", make_rules("mcp other_* deny"))
    subject = Subject(make_call(("mcp", "srv_echo")).checks[0])
    assert layer_result(layer, subject, project.gate().matcher) is None
