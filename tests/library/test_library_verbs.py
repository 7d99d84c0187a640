"""The verbs ``commands`` and ``skills``: results, JSON, exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from library_scene import Scene

from harness_tui.cli.app import run_verb

Run = Callable[..., tuple[int, Any, str]]


@pytest.fixture
def harness(scene: Scene, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a verb in the project; return exit code, standard output (parsed with ``--json``), standard error."""
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HARNESS_CONFIG", "HARNESS_MODEL", "HARNESS_AGENT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(scene.home))
    (scene.root / ".harness").mkdir()
    monkeypatch.chdir(scene.root)

    def run(*arguments: str) -> tuple[int, Any, str]:
        code = run_verb(list(arguments))
        output = capsys.readouterr()
        return code, json.loads(output.out) if "--json" in arguments else output.out, output.err

    return run


@pytest.mark.rule("4.1")
def test_a_list_of_commands_names_sources_and_findings(scene: Scene, harness: Run) -> None:
    scene.command("user", "review", "---\ndescription: a: b\nargument-hint: '[x]'\nagent: plan\n---\nx")
    code, rows, _ = harness("commands", "list", "--json")
    found = {(row["name"], row["source"]): row for row in rows}
    path = str(scene.home / ".config/harness/commands/review.md")
    own = found["review", "user"]
    assert code == 0
    assert (own["path"], own["description"], own["argument_hint"], own["agent"], own["model"], own["trusted"]) == (
        path,
        "a: b",
        "[x]",
        "plan",
        None,
        True,
    )
    assert own["diagnostics"][0].startswith(f"{path}:2: yaml: ")
    assert found["review", "bundled"]["shadowed_by"] == path
    assert "shadowed_by" not in own


@pytest.mark.rule("3.7.15", "4.1")
def test_an_untrusted_command_is_listed_as_such(scene: Scene, harness: Run) -> None:
    scene.command("project", "go", "Run !`date`")
    _, rows, _ = harness("commands", "list", "--json")
    assert {row["name"]: row["trusted"] for row in rows}["go"] is False
    code, _, err = harness("commands", "expand", "/go")
    assert code == 3
    assert "harness trust" in err


@pytest.mark.rule("4.1")
def test_a_command_is_shown_by_any_of_its_names(scene: Scene, harness: Run) -> None:
    scene.command("user", "git/pr", "Open it.")
    assert harness("commands", "show", "git:pr", "--json")[1]["body"] == "Open it."
    code, _, err = harness("commands", "show", "git/rp")
    assert code == 2
    assert "git/pr" in err


@pytest.mark.rule("4.1", "3.8.6", "3.8.7")
def test_check_fails_for_errors_only(scene: Scene, harness: Run) -> None:
    assert harness("commands", "check")[0] == 0
    scene.command("user", "warned", "---\nagent: a\nagent: b\n---\nx")
    code, rows, _ = harness("commands", "check", "--json")
    assert (code, [(row["level"], row["code"]) for row in rows]) == (0, [("warning", "duplicate-key")])
    path = scene.command("user", "broken", "---\nagent: a\nx")
    code, rows, _ = harness("commands", "check", str(path), "--json")
    assert (code, rows[0]["where"], rows[0]["code"]) == (1, f"{path}:1", "unterminated-frontmatter")
    assert harness("commands", "check")[0] == 1
    assert harness("commands", "check", str(path.parent))[0] == 1


@pytest.mark.rule("4.1")
def test_a_new_command_is_clean_and_never_overwrites(scene: Scene, harness: Run) -> None:
    code, made, _ = harness("commands", "new", "git:pr", "--json")
    path = scene.root / ".harness/commands/git/pr.md"
    assert (code, made) == (0, {"name": "git/pr", "path": str(path)})
    assert harness("commands", "check", str(path))[0] == 0
    assert harness("commands", "new", "git/pr")[0] == 2
    assert harness("commands", "new", "help")[0] == 2
    for name in ("../x", "a b", "_x", "a//b", ""):
        assert harness("commands", "new", name)[0] != 0
    assert harness("commands", "new", "mine", "--user")[0] == 0
    assert (scene.home / ".config/harness/commands/mine.md").is_file()


@pytest.mark.rule("4.1")
def test_a_file_is_expanded_on_its_own(scene: Scene, harness: Run) -> None:
    provider = "{kind: openai-compatible, base_url: 'http://127.0.0.1:9/v1', models: {small: {}}}"
    scene.write("home/.config/harness/config.yaml", f"providers: {{acme: {provider}}}\n")
    scene.write("root/a.txt", "1")
    file = scene.write("t.md", "---\nagent: plan\nmodel: acme/small\n---\n!`printf '<%s>' \"$2\"` @a.txt @b")
    code, found, _ = harness(
        "commands", "expand", "--file", str(file), "--args", "x 'y z'", "--shell", "allow", "--json"
    )
    assert code == 0
    assert found == {
        "message": "<y z> @a.txt @b",
        "agent": "plan",
        "model": "acme/small",
        "subtask": False,
        "attachments": ["a.txt"],
        "warnings": ["@b: no such file or folder"],
        "error": None,
    }


@pytest.mark.rule("4.1", "3.8.10")
@pytest.mark.parametrize(
    ("text", "shell", "error"),
    [
        ("!`touch ran`", "deny", "shell-denied"),
        ("---\nagent: ghost\n---\n!`touch ran`", "allow", "unknown-agent"),
        ("---\nagent: plan\nGo", "allow", "unterminated-frontmatter"),
        ("", "allow", "empty-command"),
    ],
)
def test_every_error_of_a_file_is_exit_code_one(scene: Scene, harness: Run, text: str, shell: str, error: str) -> None:
    file = scene.write("t.md", text)
    code, found, _ = harness("commands", "expand", "--file", str(file), "--shell", shell, "--json")
    assert (code, found["error"], found["message"]) == (1, error, None)
    assert not (scene.root / "ran").exists()


@pytest.mark.rule("3.3.12", "4.1")
def test_a_configured_deny_is_stronger_than_the_shell_option(scene: Scene, harness: Run) -> None:
    scene.write(
        "home/.config/harness/config.yaml", "permission: [{permission: bash, pattern: 'touch *', action: deny}]\n"
    )
    file = scene.write("t.md", "!`touch ran`")
    code, found, _ = harness("commands", "expand", "--file", str(file), "--shell", "allow", "--json")
    assert (code, found["error"]) == (1, "shell-denied")
    assert not (scene.root / "ran").exists()


@pytest.mark.rule("3.3.20", "4.1")
def test_the_time_of_a_part_can_be_bounded(scene: Scene, harness: Run) -> None:
    file = scene.write("t.md", "!`sleep 60`")
    arguments = ("--file", str(file), "--shell", "allow", "--shell-timeout", "0.3", "--json")
    assert harness("commands", "expand", *arguments)[1]["message"] == "[timed out after 0.3 s]"


@pytest.mark.rule("4.1")
def test_usage_errors_are_exit_code_two(scene: Scene, harness: Run) -> None:
    assert harness("commands", "expand", "--file", str(scene.root / "none.md"))[0] == 2
    assert harness("commands", "expand")[0] == 2
    assert harness("commands", "expand", "/x", "--file", "y")[0] == 2
    code, out, err = harness("commands", "expand", "/reviwe")
    assert (code, out) == (2, "")
    assert "/review" in err


@pytest.mark.rule("3.3.10", "4.1")
def test_a_line_is_expanded_behind_the_gate(scene: Scene, harness: Run) -> None:
    scene.command("user", "say", "Say !`printf '%s' \"$1\"`")
    assert harness("commands", "expand", "/say hi", "--ask", "allow")[:2] == (0, "Say hi\n")
    code, found, _ = harness("commands", "expand", "/say hi", "--json")
    assert (code, found["error"]) == (3, "shell-denied")


@pytest.mark.rule("4.1")
def test_skills_are_listed_with_the_reason_why_one_is_hidden(scene: Scene, harness: Run) -> None:
    scene.skill("user", "plain")
    scene.skill("user", "manual", "---\nname: manual\ndescription: D.\ndisable-model-invocation: true\n---\nx\n")
    _, rows, _ = harness("skills", "list", "--json")
    found = {row["name"]: row for row in rows if row["source"] == "user"}
    assert (found["plain"]["in_catalog"], "hidden_reason" in found["plain"]) == (True, False)
    assert (found["manual"]["in_catalog"], found["manual"]["hidden_reason"]) == (False, "manual only")


@pytest.mark.rule("3.9.15", "4.1")
def test_a_denied_skill_is_marked_in_the_list_and_refused_when_expanded(scene: Scene, harness: Run) -> None:
    scene.skill("user", "plain")
    scene.skill("user", "secret")
    rules = "permission: [{permission: skill, pattern: sec*, action: deny}]\n"
    scene.write("home/.config/harness/config.yaml", rules)
    _, rows, _ = harness("skills", "list", "--json")
    found = {row["name"]: row.get("hidden_reason") for row in rows if row["source"] == "user"}
    assert found == {"plain": None, "secret": "denied"}
    code, result, _ = harness("commands", "expand", "/secret", "--json")
    assert (code, result["error"], result["message"]) == (3, "skill-denied", None)
    code, result, _ = harness("commands", "expand", "/plain", "--json")
    assert (code, result["error"]) == (0, None)


@pytest.mark.rule("4.1")
def test_a_skill_is_shown_with_its_body(scene: Scene, harness: Run) -> None:
    scene.skill("user", "plain")
    _, found, _ = harness("skills", "show", "plain", "--json")
    assert (found["body"], found["warnings"]) == ("Body of plain.\n", [])
    assert harness("skills", "show", "ghost")[0] == 2


@pytest.mark.rule("4.1")
def test_a_skill_folder_and_a_folder_of_skills_are_checked(scene: Scene, harness: Run) -> None:
    good = scene.skill("user", "good")
    scene.skill("user", "bad", "---\nname: bad\n---\nx\n")
    code, rows, _ = harness("skills", "check", str(good.parent), "--json")
    assert (code, rows) == (
        0,
        [
            {
                "path": str(good),
                "loaded": True,
                "name": "good",
                "description": "About good.",
                "warnings": [],
                "in_catalog": True,
            }
        ],
    )
    code, rows, _ = harness("skills", "check", str(good.parent.parent), "--json")
    assert (code, [(row["name"], row["loaded"], row["in_catalog"]) for row in rows]) == (
        1,
        [("bad", False, False), ("good", True, True)],
    )
    assert harness("skills", "check")[0] == 1


@pytest.mark.rule("4.1")
def test_a_new_skill_is_clean_and_its_name_by_the_book(scene: Scene, harness: Run) -> None:
    code, made, _ = harness("skills", "new", "log-trim", "--json")
    path = Path(made["path"])
    assert (code, path) == (0, scene.root / ".harness/skills/log-trim/SKILL.md")
    assert harness("skills", "check", str(path.parent))[0] == 0
    for name in ("Log", "a b", "-a", "a--b", "../a", "", "a" * 65, "log-trim"):
        assert harness("skills", "new", name)[0] == 2
