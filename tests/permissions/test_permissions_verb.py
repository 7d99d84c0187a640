"""``harness permissions`` lists, explains and revokes what the gate goes by."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness_tui.cli.app import run_verb
from harness_tui.config.places import Places
from harness_tui.core.values import Rule
from harness_tui.permissions.approvals import Approvals


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project with a home of its own, whose configuration allows a little."""
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "HARNESS_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HARNESS_MODEL", "HARNESS_AGENT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    config = tmp_path / "home" / ".config" / "harness"
    config.mkdir(parents=True)
    (config / "config.yaml").write_text(
        "permission:\n"
        '  - {permission: bash, pattern: "git status", action: allow}\n'
        '  - {permission: edit, pattern: "docs/*", action: allow}\n'
        "mcp:\n"
        "  time: {command: [no-such-server]}\n"
    )
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    return project


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = run_verb(["permissions", *words])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def explained(capsys: pytest.CaptureFixture[str], folder: Path, *words: str) -> dict[str, Any]:
    code, out, err = run(capsys, "explain", *words, "--root", str(folder), "--json")
    assert code == 0, err
    return json.loads(out)


def approve(folder: Path, scope: Any, permission: str, pattern: str) -> None:
    approvals = Approvals(Places.from_environment(), folder)
    approvals.add(scope, [Rule(permission, pattern, "allow")], session="s", fingerprint=None)


def test_the_list_holds_bundled_and_configured_rules_with_their_lines(capsys, folder: Path) -> None:
    code, out, _ = run(capsys, "list", "--root", str(folder), "--json")
    rows = json.loads(out)
    assert code == 0
    assert len([row for row in rows if row["layer"] == "bundled"]) == 17
    (status, docs) = [row for row in rows if row["layer"] == "user"]
    assert (status["permission"], status["pattern"], status["action"]) == ("bash", "git status", "allow")
    assert status["source"].endswith("config.yaml:2")
    assert docs["source"].endswith("config.yaml:3")


def test_the_list_holds_kept_approvals_and_the_rules_of_a_mode(capsys, folder: Path) -> None:
    approve(folder, "project", "mcp", "time_now")
    _, out, _ = run(capsys, "list", "--root", str(folder), "--mode", "plan", "--json")
    rows = json.loads(out)
    assert [(row["permission"], row["pattern"], row["layer"]) for row in rows[-4:]] == [
        ("edit", "*", "mode"),
        ("bash", "*", "mode"),
        ("task", "*", "mode"),
        ("mcp", "time_now", "approval"),
    ]


@pytest.mark.parametrize(
    ("words", "decision", "rule"),
    [
        (("read", '{"path": "a.py"}'), "allow", "read * allow"),
        (("read", '{"path": ".env"}'), "ask", "read .env ask"),
        (("edit", '{"path": "docs/a.md", "old": "a", "new": "b"}'), "allow", "edit docs/* allow"),
        (("write", '{"path": "src/a.py", "content": ""}'), "ask", "edit * ask"),
        (("write", '{"path": "src/a.py", "content": ""}', "--mode", "accept-edits"), "allow", "edit * allow"),
        (("write", '{"path": "src/a.py", "content": ""}', "--agent", "plan"), "deny", "edit * deny"),
        (("bash", '{"command": "git status"}'), "allow", "bash git status allow"),
        (("bash", '{"command": "git status; ls"}'), "ask", "bash * ask"),
        (("list", "{}"), "allow", "read * allow"),
        (("webfetch", '{"url": "https://example.test/"}'), "ask", "webfetch * ask"),
        (("webfetch", '{"url": "http://127.0.0.1:8000/"}'), "ask", "webfetch * ask"),
        (("task", '{"agent": "explore", "prompt": "look"}', "--mode", "plan"), "allow", "task * allow"),
        (("doom_loop", '{"tool": "bash"}'), "ask", "doom_loop * ask"),
        (("time_now", "{}"), "ask", "mcp * ask"),
    ],
)
def test_a_call_is_explained_by_the_rule_that_decides(
    capsys, folder: Path, words: tuple[str, ...], decision: str, rule: str
) -> None:
    result = explained(capsys, folder, *words)
    assert result["decision"] == decision
    assert rule in [part["rule"] for part in result["parts"] if part["decision"] == decision]


def test_a_path_outside_the_project_has_a_second_part(capsys, folder: Path) -> None:
    result = explained(capsys, folder, "read", '{"path": "../elsewhere.txt"}')
    assert [(part["permission"], part["decision"]) for part in result["parts"]] == [
        ("read", "allow"),
        ("external_directory", "ask"),
    ]
    assert result["parts"][0]["value"] == str(folder.parent / "elsewhere.txt")


def test_an_approval_shows_up_in_the_explanation(capsys, folder: Path) -> None:
    approve(folder, "user", "bash", "make test")
    part = explained(capsys, folder, "bash", '{"command": "make test"}')["parts"][0]
    assert (part["decision"], part["layer"], part["command"]) == ("allow", "approval", "make test")


def test_a_call_that_needs_nothing_has_no_parts(capsys, folder: Path) -> None:
    assert explained(capsys, folder, "todo", '{"items": []}')["parts"] == []


def test_the_plain_text_names_decision_reason_and_layers(capsys, folder: Path) -> None:
    _, out, _ = run(capsys, "explain", "edit", '{"path": ".git/config"}', "--root", str(folder))
    assert out.splitlines() == [
        "ask: .git is a protected name",
        "",
        "edit .git/config: ask by edit * ask (bundled)",
        "  bundled: ask by edit * ask (bundled)",
    ]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("explain", "nope"), "there is no tool 'nope'"),
        (("explain", "read", "{"), "not JSON"),
        (("explain", "read", "[]"), "not a JSON object"),
        (("explain", "read", '{"pat": "a.py"}'), "pat"),
        (("explain", "webfetch", "{}"), "url is missing"),
        (("explain", "read", '{"path": "a.py"}', "--mode", "yolo"), "no mode 'yolo'"),
        (("list", "--agent", "nobody"), "no agent 'nobody'"),
        (("revoke",), "nothing is named"),
        (("revoke", "mcp", "--all"), "--all goes without"),
    ],
)
def test_what_does_not_fit_is_a_usage_error(capsys, folder: Path, words: tuple[str, ...], text: str) -> None:
    code, out, err = run(capsys, *words, "--root", str(folder))
    assert (code, out) == (2, "")
    assert text in err


def test_revoking_takes_back_by_permission_pattern_and_scope(capsys, folder: Path) -> None:
    for scope in ("project", "user"):
        approve(folder, scope, "mcp", "time_now")
    approve(folder, "user", "mcp", "time_convert")
    options = ("--root", str(folder), "--json")
    code, out, _ = run(capsys, "revoke", "mcp", "time_now", "--scope", "user", *options)
    assert (code, json.loads(out)) == (0, [{"permission": "mcp", "pattern": "time_now", "scope": "user"}])
    _, out, _ = run(capsys, "revoke", "mcp", *options)
    assert sorted(row["pattern"] for row in json.loads(out)) == ["time_convert", "time_now"]
    code, out, err = run(capsys, "revoke", "mcp", *options)
    assert (code, json.loads(out)) == (1, [])
    assert "no kept approval fits" in err
    assert run(capsys, "revoke", "--all", *options)[0] == 0


def test_a_damaged_approvals_file_is_told_on_standard_error(capsys, folder: Path) -> None:
    path = Places.from_environment().approvals_file
    path.parent.mkdir(parents=True)
    path.write_text("{")
    code, out, err = run(capsys, "list", "--root", str(folder), "--json")
    assert code == 0
    assert len(json.loads(out)) == 19
    assert "approvals.json" in err
    assert "is not JSON" in err


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("echo a\x00b", "control characters"),
        ("", None),
        (" \n", None),
        ("\ud800", "no Unicode text"),
        ("(" * 1_000_000, "longer than 64 KiB"),
        ("echo '", "a quote is not closed"),
    ],
    ids=lambda text: repr(text)[:24],
)
def test_any_text_is_explained(capsys, folder: Path, command: str, reason: str | None) -> None:
    result = explained(capsys, folder, "bash", json.dumps({"command": command}))
    assert result["decision"] == "ask"
    assert [part["command"] for part in result["parts"]] == [command]
    assert reason is None or reason in result["reason"]


def test_a_long_text_is_cut_for_a_person(capsys, folder: Path) -> None:
    _, out, _ = run(capsys, "explain", "bash", json.dumps({"command": "(" * 5_000}), "--root", str(folder))
    assert len(out) < 1_000


def test_each_command_and_each_file_that_it_writes_has_its_lines(capsys, folder: Path) -> None:
    _, out, _ = run(capsys, "explain", "bash", '{"command": "git status > log; ls"}', "--root", str(folder))
    file = folder.parent / "home/.config/harness/config.yaml"
    assert [line for line in out.splitlines() if line and not line.startswith(" ")] == [
        "ask",
        f"bash git status: allow by bash git status allow ({file}:2)",
        "bash ls: ask by bash * ask (bundled)",
        "edit log: ask by edit * ask (bundled)",
    ]
