"""What comes with Harness: every command and skill is clean, useful without arguments, and true to the format."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest
import skills_ref
from library_scene import Expand

from harness_tui.cli.app import harness
from harness_tui.config.bundled import bundled
from harness_tui.library.commands import CommandRegistry
from harness_tui.library.roots import Root
from harness_tui.library.skills import read_folder

COMMANDS = {"commit", "explain", "fix-diagnostics", "init", "review", "test"}
SKILLS = {
    "connect-an-mcp-server",
    "debug-a-failing-server",
    "set-up-a-language-server",
    "write-a-command",
    "write-a-skill",
}


@pytest.mark.rule("4.3")
def test_the_bundled_commands_are_complete_and_clean() -> None:
    index = CommandRegistry().refresh([Root(bundled("commands"), "bundled", True)])
    assert set(index.names) == COMMANDS
    assert index.problems == ()
    for command in index.commands:
        assert 20 < len(command.description) <= 100
        assert command.argument_hint


@pytest.mark.rule("4.3", "3.2.28")
@pytest.mark.parametrize("name", sorted(COMMANDS))
async def test_a_bundled_command_needs_no_shell_and_takes_its_arguments(expand: Expand, name: str) -> None:
    text = (bundled("commands") / f"{name}.md").read_text()
    bare, full = await expand(text), await expand(text, "the tokenizer, 'as is'")
    for found in (bare, full):
        assert (found.error, found.warnings, found.agent) == (None, (), None)
        assert "$" not in found.message
    assert "the tokenizer, 'as is'" in full.message
    assert len(bare.message) > 500


@pytest.mark.rule("4.3")
def test_the_bundled_skills_are_complete_and_clean() -> None:
    skills = read_folder(bundled("skills")).skills
    assert {skill.name for skill in skills} == SKILLS
    for skill in skills:
        assert skill.loaded
        assert skill.diagnostics == ()
        assert "Use it when" in skill.description


@pytest.mark.rule("4.3", "3.2.28")
@pytest.mark.parametrize("path", sorted(bundled("skills").glob("*/SKILL.md")), ids=lambda path: path.parent.name)
async def test_a_bundled_skill_typed_as_a_command_keeps_its_text(expand: Expand, path: Path) -> None:
    text = path.read_text()
    body = text.split("\n---\n", 1)[1].strip()
    assert (await expand(text, "please")).message == f"{body}\n\nplease"


@pytest.mark.rule("4.3")
@pytest.mark.parametrize("path", sorted(bundled("skills").iterdir()), ids=lambda path: path.name)
def test_a_bundled_skill_passes_the_validator_of_the_format(path: Path) -> None:
    assert skills_ref.validate(path) == []


@pytest.mark.rule("4.3")
def test_the_validator_of_the_format_finds_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other/SKILL.md").write_text("---\nname: some\ndescription: x\n---\nx\n")
    assert len(skills_ref.validate(tmp_path / "other")) == 1


@pytest.mark.rule("4.3")
def test_every_verb_that_the_bundled_texts_name_exists() -> None:
    paths = [*bundled("commands").glob("*.md"), *bundled("skills").glob("*/SKILL.md")]
    named = {
        match.groups()
        for path in paths
        for match in re.finditer(r"`harness ([a-z]+)(?: ([a-z]+))?\b", path.read_text())
    }
    assert len(named) >= 10
    with click.Context(harness) as context:
        for verb, action in named:
            group = harness.get_command(context, verb)  # type: ignore[attr-defined]
            assert group is not None, verb
            if isinstance(group, click.Group):
                assert action in group.commands, f"{verb} {action}"
