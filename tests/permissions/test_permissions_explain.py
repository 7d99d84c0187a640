"""The explanation names the rule that decided, and the list names every rule that could."""

from __future__ import annotations

from harness_tui.core.values import Rule
from harness_tui.permissions.explain import explain, rule_rows


def test_an_explanation_has_the_parts_with_their_layers(project, make_call) -> None:
    gate = project.gate(("bash ls allow",))
    assert explain(gate, make_call(("bash", "ls"))) == {
        "decision": "allow",
        "parts": [
            {
                "permission": "bash",
                "value": "ls",
                "command": "ls",
                "decision": "allow",
                "rule": "bash ls allow",
                "layer": "user",
                "source": "rules:1",
                "layers": [
                    {"layer": "bundled", "decision": "ask", "rule": "bash * ask", "source": "bundled"},
                    {"layer": "user", "decision": "allow", "rule": "bash ls allow", "source": "rules:1"},
                ],
            }
        ],
    }


def test_an_explanation_gives_the_reason_and_names_no_command_where_there_is_none(project, make_call) -> None:
    explained = explain(project.gate(), make_call(("edit", "a.py"), mode="plan"))
    assert explained["decision"] == "deny"
    assert explained["reason"] == "denied by edit * deny (mode plan)"
    assert "command" not in explained["parts"][0]


def test_explaining_stores_nothing(project, make_call) -> None:
    gate = project.gate()
    explain(gate, make_call(("mcp", "srv_echo")))
    assert gate.approvals.list() == []
    assert not project.places.state.exists()


def test_the_list_holds_rules_and_approvals_in_the_order_they_are_asked(project, make_call) -> None:
    gate = project.gate(("mcp srv_* ask",), ("edit docs/* allow",))
    gate.remember(make_call(("mcp", "srv_echo")), "session", [Rule("mcp", "srv_echo", "allow")])
    rows = rule_rows(gate.layers, gate.approvals, agent_rules=[Rule("edit", "*", "deny", "a.md:3")], mode="plan")
    assert [(row["permission"], row["pattern"], row["action"], row["layer"], row["source"]) for row in rows[17:]] == [
        ("mcp", "srv_*", "ask", "user", "rules:1"),
        ("edit", "docs/*", "allow", "project", "rules:1"),
        ("edit", "*", "deny", "agent", "a.md:3"),
        ("edit", "*", "deny", "mode", "mode plan"),
        ("bash", "*", "deny", "mode", "mode plan"),
        ("task", "*", "deny", "mode", "mode plan"),
        ("mcp", "srv_echo", "allow", "approval", "session"),
    ]
