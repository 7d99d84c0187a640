"""Expanding a command file: the message, what goes with it, and what stops it."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes.fake_gates import FakeShellGate
from library_scene import Expand


@pytest.mark.rule("3.2.28", "3.2.1")
async def test_a_line_without_a_place_for_it_is_added_after_a_blank_line(expand: Expand) -> None:
    assert (await expand("Review it.\n", "  with  care ")).message == "Review it.\n\nwith  care"


@pytest.mark.rule("3.2.28")
async def test_a_body_that_is_empty_sends_the_line_alone(expand: Expand) -> None:
    found = await expand("---\nagent: plan\n---\n", "do it")
    assert (found.message, found.agent) == ("do it", "plan")


@pytest.mark.rule("3.5.10")
async def test_nothing_at_all_is_an_error(expand: Expand) -> None:
    found = await expand("---\nagent: plan\n---\n \n")
    assert found.error == "empty-command"
    assert found.message == ""


@pytest.mark.rule("3.1.9")
async def test_a_result_that_begins_with_a_slash_is_a_message(expand: Expand) -> None:
    assert (await expand("/help $1", "me")).message == "/help me"


@pytest.mark.rule("3.5.2", "3.5.6")
async def test_overrides_hold_for_this_run(expand: Expand) -> None:
    found = await expand("---\nagent: plan\nmodel: acme/large#high\ncontext: fork\n---\nGo")
    assert (found.agent, found.model, found.subtask) == ("plan", "acme/large#high", True)


@pytest.mark.rule("3.5.4")
async def test_inherit_and_nothing_are_no_override(expand: Expand) -> None:
    found = await expand("---\nagent: inherit\nmodel:\n---\nGo")
    assert (found.agent, found.model, found.subtask) == (None, None, False)


@pytest.mark.rule("3.5.3", "3.8.9")
async def test_an_unknown_model_is_a_warning(expand: Expand) -> None:
    found = await expand("---\nmodel: other/one\n---\nGo")
    assert (found.model, found.error) == (None, None)
    assert any("model" in warning and "other/one" in warning for warning in found.warnings)


@pytest.mark.rule("3.5.1", "3.1.4")
async def test_an_unknown_agent_stops_before_anything_runs(shell: Expand) -> None:
    gate = FakeShellGate()
    found = await shell("---\nagent: ghost\n---\n!`echo x`", gate=gate)
    assert found.error == "unknown-agent"
    assert "build, plan" in (found.error_text or "")
    assert gate.asked == []


@pytest.mark.rule("3.5.7")
async def test_a_command_for_the_model_only_is_refused(expand: Expand) -> None:
    assert (await expand("---\nuser-invocable: no\n---\nGo")).error == "not-user-invocable"


@pytest.mark.rule("3.1.1", "3.8.5", "3.8.10")
@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("---\nagent: plan\nGo", "unterminated-frontmatter"),
        ("a\x00b", "binary-file"),
        ("---\nd: " + "x" * 20_000 + "\n---\nGo", "frontmatter-too-large"),
        ("x" * 300_000, "template-too-large"),
    ],
)
async def test_a_file_that_cannot_be_read_is_never_sent(expand: Expand, text: str, error: str) -> None:
    found = await expand(text, "args")
    assert (found.error, found.message) == (error, "")


@pytest.mark.rule("3.8.11")
async def test_front_matter_that_is_no_map_goes_as_text_with_a_warning(expand: Expand) -> None:
    found = await expand("---\n- a\n---\nGo")
    assert found.message == "---\n- a\n---\nGo"
    assert "mapping" in found.warnings[0]


@pytest.mark.rule("3.1.6")
async def test_the_message_names_its_command_file(expand: Expand, tmp_path: Path) -> None:
    found = await expand("Go")
    assert found.command is not None
    assert (found.command.name, found.command.source) == ("t", str(tmp_path.resolve() / "t.md"))


@pytest.mark.rule("3.2.12")
async def test_names_may_be_a_list_or_a_line_and_bad_ones_keep_their_position(expand: Expand) -> None:
    found = await expand("---\narguments: issue, 2nd branch\n---\n$issue on $branch", "7 x dev")
    assert found.message == "7 on dev"
    assert any("2nd" in warning for warning in found.warnings)


@pytest.mark.rule("3.3.12")
async def test_grants_are_mapped_and_the_rest_is_told(expand: Expand) -> None:
    found = await expand("---\nallowed-tools: Bash(git log:*), Read, WebSearch\n---\nGo")
    assert [(rule.permission, rule.pattern, rule.action) for rule in found.grants] == [
        ("bash", "git log *", "allow"),
        ("read", "*", "allow"),
    ]
    assert found.grants[0].source is not None
    assert found.grants[0].source.endswith("t.md:2")
    assert any("WebSearch" in warning for warning in found.warnings)


@pytest.mark.rule("3.1.3", "3.1.6")
async def test_a_large_template_is_filled_like_a_small_one(expand: Expand) -> None:
    found = await expand("x" * 100_000 + " $1", "end")
    assert found.message.endswith("x end")
    assert len(found.message) == 100_004
