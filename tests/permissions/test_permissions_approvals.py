"""Approvals turn an ask into an allow, are kept where the person said, and never fail open."""

from __future__ import annotations

import fcntl
import json
import os
import stat
from pathlib import Path

import pytest

from harness_tui.core.errors import HarnessError
from harness_tui.core.values import Rule

ECHO = ("mcp", "srv_echo")


def approve(gate, call, scope: str) -> None:
    """Allow what ``call`` is about, as the narrow offer does."""
    gate.remember(call, scope, [Rule(check.permission, check.value, "allow") for check in call.checks])


def file_of(project) -> Path:
    return project.places.approvals_file


@pytest.mark.parametrize("scope", ["session", "project", "user"])
def test_an_approval_covers_the_next_call_and_says_where_it_came_from(project, make_call, scope: str) -> None:
    gate = project.gate()
    approve(gate, make_call(ECHO), scope)
    decision = gate.decide(make_call(ECHO))
    assert (decision.action, decision.scope, decision.parts[0].layer) == ("allow", scope, "approval")
    assert gate.decide(make_call(("mcp", "srv_other"))).action == "ask"


def test_a_session_approval_is_in_memory_and_counts_in_its_session_only(project, make_call) -> None:
    gate = project.gate()
    approve(gate, make_call(ECHO), "session")
    assert gate.decide(make_call(ECHO, session="s2")).action == "ask"
    assert project.gate().decide(make_call(ECHO)).action == "ask"
    assert not file_of(project).exists()


def test_a_project_approval_counts_in_its_project_and_a_user_approval_in_all(
    project, make_call, tmp_path: Path
) -> None:
    gate = project.gate()
    approve(gate, make_call(ECHO), "project")
    approve(gate, make_call(("mcp", "srv_all")), "user")
    (tmp_path / "other").mkdir()
    elsewhere = project.gate(approvals=project.approvals(tmp_path / "other"))
    assert project.gate().decide(make_call(ECHO)).scope == "project"
    assert elsewhere.decide(make_call(ECHO)).action == "ask"
    assert elsewhere.decide(make_call(("mcp", "srv_all"))).scope == "user"


def test_the_file_is_private_and_holds_what_was_shown(project, make_call) -> None:
    approve(project.gate(), make_call(ECHO, fingerprint="f1"), "project")
    data = json.loads(file_of(project).read_text())
    (entry,) = data["projects"][str(project.root)]
    assert {key: entry[key] for key in ("permission", "pattern", "fingerprint")} == {
        "permission": "mcp",
        "pattern": "srv_echo",
        "fingerprint": "f1",
    }
    assert stat.S_IMODE(file_of(project).stat().st_mode) == 0o600
    assert stat.S_IMODE(file_of(project).parent.stat().st_mode) == 0o700
    assert [path.name for path in file_of(project).parent.iterdir() if path.name.startswith(".harness-")] == []


def test_an_approval_of_a_foreign_tool_ends_when_its_description_changes(project, make_call) -> None:
    gate = project.gate()
    for scope in ("session", "user"):
        approve(gate, make_call(ECHO, fingerprint="f1"), scope)
    assert gate.decide(make_call(ECHO, fingerprint="f1")).action == "allow"
    assert gate.decide(make_call(ECHO, fingerprint="f2")).action == "ask"
    assert gate.decide(make_call(ECHO)).action == "ask"


def test_an_approval_never_lifts_a_deny_or_covers_another_command(project, make_call) -> None:
    approvals = project.approvals()
    gate = project.gate(approvals=approvals)
    call = make_call(("bash", "touch 1.txt"))
    gate.remember(call, "session", gate.decide(call).offers[0].rules)
    assert gate.decide(make_call(("bash", "touch 1.txt"))).action == "allow"
    assert gate.decide(make_call(("bash", "rm 1.txt"))).action == "ask"
    assert gate.decide(make_call(("bash", "touch 1.txt; rm 1.txt"))).action == "ask"
    denying = project.gate(("bash touch * deny",), approvals=approvals)
    assert denying.decide(make_call(("bash", "touch 1.txt"))).action == "deny"
    assert gate.decide(make_call(("bash", "touch 1.txt"), mode="plan")).action == "deny"


def test_a_sweeping_approval_leaves_protected_names_at_ask(project, make_call) -> None:
    gate = project.gate()
    gate.remember(make_call(("edit", "a.py")), "user", [Rule("edit", "*", "allow")])
    assert gate.decide(make_call(("edit", "a.py"))).action == "allow"
    assert gate.decide(make_call(("edit", ".git/config"))).action == "ask"


def test_doom_loop_denies_and_asks_are_not_kept(project, make_call) -> None:
    gate = project.gate()
    gate.remember(make_call(("doom_loop", "bash")), "user", [Rule("doom_loop", "bash", "allow")])
    gate.remember(make_call(ECHO), "user", [Rule("mcp", "srv_echo", "deny"), Rule("mcp", "srv_echo", "ask")])
    gate.remember(make_call(ECHO), "once", [Rule("mcp", "srv_echo", "allow")])
    assert gate.approvals.list() == []
    assert not file_of(project).exists()


def test_the_newest_comes_first_session_before_project_before_user(project, make_call) -> None:
    gate = project.gate()
    for scope, name in (("user", "a"), ("user", "b"), ("session", "c"), ("project", "d"), ("session", "e")):
        approve(gate, make_call(("mcp", f"srv_{name}")), scope)
    assert [(one.scope, one.rule.pattern) for one in gate.approvals.list()] == [
        ("session", "srv_e"),
        ("session", "srv_c"),
        ("project", "srv_d"),
        ("user", "srv_b"),
        ("user", "srv_a"),
    ]


def test_a_change_by_another_shell_counts_at_the_next_call(project, make_call) -> None:
    first, second = project.gate(), project.gate()
    assert second.decide(make_call(ECHO)).action == "ask"
    approve(first, make_call(ECHO), "user")
    assert second.decide(make_call(ECHO)).action == "allow"
    first.approvals.revoke("mcp", "srv_echo")
    assert second.decide(make_call(ECHO)).action == "ask"


def test_two_shells_that_write_lose_nothing(project, make_call) -> None:
    first, second = project.gate(), project.gate()
    approve(first, make_call(("mcp", "srv_a")), "user")
    approve(second, make_call(("mcp", "srv_b")), "project")
    approve(first, make_call(("mcp", "srv_c")), "user")
    assert {one.rule.pattern for one in second.approvals.list()} == {"srv_a", "srv_b", "srv_c"}


def test_revoke_takes_back_what_fits_and_returns_it(project, make_call) -> None:
    gate = project.gate()
    for scope in ("session", "project", "user"):
        approve(gate, make_call(ECHO), scope)
    approve(gate, make_call(("mcp", "srv_b")), "user")
    assert [one.scope for one in gate.approvals.revoke("mcp", "srv_echo", scope="project")] == ["project"]
    assert [one.scope for one in gate.approvals.revoke("mcp", "srv_echo")] == ["session", "user"]
    assert [one.rule.pattern for one in gate.approvals.list()] == ["srv_b"]
    assert gate.approvals.revoke("mcp", "srv_nothing") == []


def test_one_bad_entry_is_reported_once_skipped_and_kept(project, make_call) -> None:
    file_of(project).parent.mkdir(parents=True)
    bad = {"permission": "mpc", "pattern": "srv_x"}
    good = {"permission": "mcp", "pattern": "srv_echo", "added": "2026-01-02T03:04:05Z"}
    file_of(project).write_text(json.dumps({"version": 1, "user": [bad, 7, good], "projects": {"/other": "?"}}))
    gate = project.gate()
    assert gate.decide(make_call(ECHO)).action == "allow"
    assert gate.decide(make_call(ECHO)).action == "allow"
    texts = [str(fault) for fault in project.faults]
    assert len(texts) == 3
    assert any("user[0]: unknown permission 'mpc'" in text for text in texts)
    assert any("user[1]: not an object" in text for text in texts)
    assert any("projects./other" in text for text in texts)
    approve(gate, make_call(("mcp", "srv_new")), "user")
    assert json.loads(file_of(project).read_text())["user"][:2] == [bad, 7]


@pytest.mark.parametrize(
    "content",
    [b"{", b"[]", b"\x00\x00", b"\xff\xfe", b"", b"[" * 100_000],
    ids=["cut", "a list", "NUL", "no UTF-8", "empty", "deep"],
)
def test_a_damaged_file_approves_nothing_and_is_set_aside_by_the_next_approval(
    project, make_call, content: bytes
) -> None:
    file_of(project).parent.mkdir(parents=True)
    file_of(project).write_bytes(content)
    gate = project.gate()
    assert gate.decide(make_call(ECHO)).action == "ask"
    assert len(project.faults) == 1
    approve(gate, make_call(ECHO), "user")
    assert gate.decide(make_call(ECHO)).action == "allow"
    (aside,) = file_of(project).parent.glob("approvals.json.broken-*")
    assert aside.read_bytes() == content


def test_a_file_that_is_no_file_approves_nothing_and_the_approval_is_kept_for_the_session(project, make_call) -> None:
    file_of(project).mkdir(parents=True)
    gate = project.gate()
    approve(gate, make_call(ECHO), "user")
    assert gate.decide(make_call(ECHO)).scope == "session"
    assert any("cannot be read" in str(fault) for fault in project.faults)


def test_a_fifo_in_its_place_does_not_hang(project, make_call) -> None:
    file_of(project).parent.mkdir(parents=True)
    os.mkfifo(file_of(project))
    assert project.gate().decide(make_call(ECHO)).action == "ask"


def test_an_approval_that_cannot_be_written_is_reported_and_kept_for_the_session(project, make_call) -> None:
    project.places.state.write_text("a file where a folder belongs")
    gate = project.gate()
    approve(gate, make_call(ECHO), "user")
    assert gate.decide(make_call(ECHO)).scope == "session"
    assert [fault.where for fault in project.faults] == [str(file_of(project))]


def test_a_lock_that_is_held_too_long_is_reported(project, make_call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness_tui.permissions.approvals_file._LOCK_WAIT_S", 0.05)
    file_of(project).parent.mkdir(parents=True)
    with file_of(project).with_name("approvals.json.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        approve(project.gate(), make_call(ECHO), "user")
    assert "locked" in str(project.faults[0])
    assert not file_of(project).exists()


def test_revoking_in_a_file_that_cannot_be_written_is_an_error(project, make_call) -> None:
    gate = project.gate()
    approve(gate, make_call(ECHO), "user")
    lock = file_of(project).with_name("approvals.json.lock")
    lock.unlink()
    lock.mkdir()
    with pytest.raises(HarnessError, match="cannot be written"):
        gate.approvals.revoke("mcp", "srv_echo")
    assert gate.decide(make_call(ECHO)).action == "allow"
