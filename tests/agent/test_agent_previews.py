"""A command is shown as the gate took it apart."""

from __future__ import annotations

from harness_tui.agent.previews import command_parts, with_decisions
from harness_tui.core.event_parts import ArgumentsPreview, CommandPart, CommandPreview
from harness_tui.core.seams import Check, GateDecision, PartDecision
from harness_tui.core.values import Action


def part(permission: str, value: str, decision: Action, display: str | None) -> PartDecision:
    return PartDecision(Check(permission, value, display), decision, "rule", "user", "rules:1")


def test_a_command_is_as_strict_as_the_files_that_it_names() -> None:
    decision = GateDecision(
        "deny",
        (
            part("bash", "echo a", "allow", "echo a > x"),
            part("bash", "cat b", "ask", "cat b"),
            part("edit", "x", "deny", "echo a > x"),
            part("read", "b", "allow", "cat b"),
        ),
    )
    assert command_parts(decision) == (CommandPart("echo a > x", "deny"), CommandPart("cat b", "ask"))


def test_a_redirection_of_a_group_is_a_part_and_the_folder_of_the_call_is_none() -> None:
    decision = GateDecision(
        "ask",
        (
            part("bash", "make", "allow", "make"),
            part("edit", "x", "ask", "> x"),
            part("external_directory", "/srv", "ask", None),
        ),
    )
    assert command_parts(decision) == (CommandPart("make", "allow"), CommandPart("> x", "ask"))


def test_a_command_inside_another_is_shown_by_itself() -> None:
    shown = "find . -exec rm {} +"
    decision = GateDecision("ask", (part("bash", shown, "allow", shown), part("bash", "rm {}", "ask", shown)))
    assert command_parts(decision) == (CommandPart(shown, "allow"), CommandPart("rm {}", "ask"))


def test_only_a_command_gets_the_parts_of_the_gate_and_keeps_its_own_where_the_gate_has_none() -> None:
    decision = GateDecision("ask", (part("bash", "a", "ask", "a"), part("bash", "b", "allow", "b")))
    preview = CommandPreview("a; b", (CommandPart("a; b", "ask"),), "/srv")
    arguments = ArgumentsPreview({"a": 1})
    assert with_decisions(preview, decision) == CommandPreview(
        "a; b", (CommandPart("a", "ask"), CommandPart("b", "allow")), "/srv"
    )
    assert with_decisions(preview, GateDecision("ask", ())) == preview
    assert with_decisions(arguments, decision) is arguments
