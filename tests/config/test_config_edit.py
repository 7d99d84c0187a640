"""Edits of configuration files: only what was asked changes, and nothing of another's is lost."""

from __future__ import annotations

import stat

import pytest

from harness_tui.config import edit
from harness_tui.config.edit import append_rule, file_digest, remove_value, set_value
from harness_tui.core.errors import HarnessError, UsageError
from harness_tui.core.values import Rule

RULE = Rule("bash", "ls *", "allow")

TEXT = """\
# top
model: "a/b"   # the model

permission:   # rules
    - {permission: bash, pattern: "git status *", action: allow}   # fine
    - permission: bash
      pattern: 'rm *'
      action: deny

# servers
mcp:
    time: {command: [clock]}   # x
"""


def test_a_rule_is_added_after_the_last_one_and_nothing_else_moves(world):
    path = world.write_user(TEXT)
    append_rule(path, RULE, places=world.places)
    expected = TEXT.replace(
        "      action: deny\n",
        '      action: deny\n    - {permission: bash, pattern: "ls *", action: allow}\n',
    )
    assert path.read_text() == expected
    rules = [rule for layer in world.load().settings.rules if layer.name == "user" for rule in layer.rules]
    assert [(rule.pattern, rule.action) for rule in rules] == [
        ("git status *", "allow"),
        ("rm *", "deny"),
        ("ls *", "allow"),
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", 'permission:\n  - {permission: bash, pattern: "ls *", action: allow}\n'),
        ("model: a/b", 'model: a/b\npermission:\n  - {permission: bash, pattern: "ls *", action: allow}\n'),
        (
            "permission:\n- {permission: bash, pattern: x, action: ask}\nmode: ask\n",
            "permission:\n- {permission: bash, pattern: x, action: ask}\n"
            '- {permission: bash, pattern: "ls *", action: allow}\nmode: ask\n',
        ),
    ],
)
def test_a_rule_is_added_to_files_of_every_usual_shape(world, before, after):
    path = world.write_user(before)
    append_rule(path, RULE, places=world.places)
    assert path.read_text() == after


@pytest.mark.parametrize(
    "before", ["permission: []\n", "permission: [{permission: bash, pattern: x, action: ask}]  # y\n"]
)
def test_a_rule_is_added_to_a_list_in_one_line(world, before):
    path = world.write_user(before)
    append_rule(path, RULE, places=world.places)
    rules = [rule for layer in world.load().settings.rules if layer.name == "user" for rule in layer.rules]
    assert (rules[-1].pattern, rules[-1].action) == ("ls *", "allow")
    assert ("# y" in path.read_text()) is ("# y" in before)


def test_patterns_with_quotes_backslashes_and_other_scripts_survive(world):
    path = world.write_user("permission:\n  - {permission: bash, pattern: x, action: ask}\n")
    pattern = 'grep -n "a: \\d" *\t# 日本 {x}'
    append_rule(path, Rule("bash", pattern, "allow"), places=world.places)
    rules = [rule for layer in world.load().settings.rules if layer.name == "user" for rule in layer.rules]
    assert rules[-1].pattern == pattern


def test_one_value_is_replaced_and_its_comment_stays(world):
    path = world.write_user(TEXT)
    set_value(path, ("model",), "local/qwen", places=world.places)
    assert path.read_text() == TEXT.replace('"a/b"', "local/qwen")


def test_a_new_top_level_value_goes_to_the_end(world):
    path = world.write_user(TEXT)
    set_value(path, ("theme",), "on", places=world.places)
    assert path.read_text() == TEXT + 'theme: "on"\n'
    assert world.load().settings.theme == "on"


def test_a_server_is_added_and_removed_and_comments_stay(world):
    path = world.write_user(TEXT)
    set_value(path, ("mcp", "docs"), {"url": "https://example.test/mcp", "lazy": False}, places=world.places)
    servers = world.load().settings.mcp
    assert (servers["docs"].url, servers["docs"].lazy) == ("https://example.test/mcp", False)
    assert servers["time"].command == ("clock",)
    assert path.read_text() == TEXT + '    docs: {url: "https://example.test/mcp", lazy: false}\n'
    assert remove_value(path, ("mcp", "docs"), places=world.places) is True
    assert path.read_text() == TEXT
    assert remove_value(path, ("mcp", "docs"), places=world.places) is False


def test_line_ends_and_the_byte_order_mark_are_kept(world):
    path = world.write_user("")
    path.write_bytes(b"\xef\xbb\xbfmodel: a/b\r\nmode: ask\r\n")
    set_value(path, ("mode",), "plan", places=world.places)
    assert path.read_bytes() == b"\xef\xbb\xbfmodel: a/b\r\nmode: plan\r\n"


def test_a_new_file_of_the_person_is_private_and_an_old_one_keeps_its_mode(world):
    path = world.places.config_file
    set_value(path, ("model",), "a/b", places=world.places)
    assert path.read_text() == "model: a/b\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o644)
    set_value(path, ("model",), "c/d", places=world.places)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert sorted(item.name for item in path.parent.iterdir()) == ["config.yaml"]


def test_a_linked_file_stays_a_link(world, tmp_path):
    target = tmp_path / "dotfiles.yaml"
    target.write_text("model: a/b\n")
    world.places.config.mkdir(parents=True)
    world.places.config_file.symlink_to(target)
    set_value(world.places.config_file, ("model",), "c/d", places=world.places)
    assert world.places.config_file.is_symlink()
    assert target.read_text() == "model: c/d\n"


def test_the_local_file_of_a_project_is_kept_out_of_git(world):
    path = world.root / ".harness" / "config.local.yaml"
    set_value(path, ("model",), "a/b", places=world.places, project=world.project)
    assert (world.root / ".harness" / ".gitignore").read_text() == "config.local.yaml\n"


def test_what_would_not_be_valid_is_refused_and_nothing_is_written(world):
    path = world.write_user(TEXT)
    with pytest.raises(UsageError, match="accept-edits"):
        set_value(path, ("mode",), "yolo", places=world.places)
    with pytest.raises(UsageError, match="comand"):
        set_value(path, ("mcp", "x"), {"comand": ["y"]}, places=world.places)
    with pytest.raises(UsageError, match="unknown permission"):
        append_rule(path, Rule("bahs", "x", "allow"), places=world.places)
    assert path.read_text() == TEXT


def test_faults_that_were_there_before_do_not_stop_an_edit(world):
    path = world.write_user("modle: x\n")
    set_value(path, ("mode",), "plan", places=world.places)
    assert path.read_text() == "modle: x\nmode: plan\n"


@pytest.mark.parametrize("text", ["model: [\n", "- a\n", "a: 1\n---\nb: 2\n"])
def test_a_file_that_cannot_be_parsed_is_left_alone(world, text):
    path = world.write_user(text)
    with pytest.raises(HarnessError, match="by hand"):
        set_value(path, ("mode",), "plan", places=world.places)
    assert path.read_text() == text


def test_an_edit_of_another_content_than_was_shown_is_refused(world):
    path = world.write_user("model: a/b\n")
    shown = file_digest(path)
    path.write_text("model: c/d\n")
    with pytest.raises(HarnessError, match="changed meanwhile"):
        set_value(path, ("model",), "e/f", places=world.places, expected=shown)
    assert path.read_text() == "model: c/d\n"
    set_value(path, ("model",), "e/f", places=world.places, expected=file_digest(path))
    assert path.read_text() == "model: e/f\n"


def test_a_change_between_reading_and_writing_is_noticed(world, monkeypatch):
    path = world.write_user("model: a/b\n")
    check = edit._Edit._check

    def interrupted(self, *arguments):
        check(self, *arguments)
        path.write_text("model: theirs/x\n")

    monkeypatch.setattr(edit._Edit, "_check", interrupted)
    with pytest.raises(HarnessError, match="changed meanwhile"):
        set_value(path, ("model",), "e/f", places=world.places)
    assert path.read_text() == "model: theirs/x\n"


def test_own_edits_keep_a_project_trusted_and_others_do_not(world):
    path = world.write(".harness/config.yaml", "mcp: {a: {command: [x]}}\n")
    world.store.grant(world.project)
    set_value(path, ("mcp", "b"), {"command": ["y"]}, places=world.places, project=world.project)
    assert world.store.status(world.project).trusted
    path.write_text(path.read_text().replace("y", "z"))
    assert not world.store.status(world.project).trusted
    append_rule(path, RULE, places=world.places, project=world.project)
    assert not world.store.status(world.project).trusted


def test_an_own_edit_covers_its_file_and_no_other(world):
    path = world.write(".harness/config.yaml", "mcp: {a: {command: [x]}}\n")
    other = world.write(".harness/commands/a.md", "Prose.")
    world.store.grant(world.project)
    other.write_text("Do !`id`.")
    append_rule(path, RULE, places=world.places, project=world.project)
    assert not world.store.status(world.project).trusted


def test_the_first_own_entry_of_an_empty_project_is_trusted(world):
    path = world.root / ".harness" / "config.yaml"
    set_value(path, ("mcp", "a"), {"command": ["x"]}, places=world.places, project=world.project)
    assert world.load().settings.mcp["a"].trusted
    world.write(".claude/commands/a.md", "Do !`id`.")
    assert not world.store.status(world.project).trusted
