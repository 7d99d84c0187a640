"""The permissions on the screen: rules with their source, approvals that can be taken back, explanations."""

from __future__ import annotations

from typing import Any

import pytest
from fakes.fake_backend import FakeApproval, FakeBackend, FakePermissions, FakeRule
from fakes.tui_screen import screen_text, until

from harness_tui.tui.lines import line_cells, plain
from harness_tui.tui.panels.permissions import ApprovalKey, explanation_rows, permission_rows

STATE = FakePermissions(
    rules=(
        FakeRule("bash", "*", "ask", "bundled", "bundled"),
        FakeRule("bash", "git diff *", "allow", "project", "/srv/shop/.harness/config.yaml:3"),
        FakeRule("edit", "*", "allow", "mode", "mode accept-edits"),
    ),
    approvals=(FakeApproval("session", "bash", "make test"), FakeApproval("user", "mcp", "time_*", bound=True)),
    mode="accept-edits",
)


def lines_of(state: FakePermissions, wanted: str = "", width: int = 90) -> list[str]:
    return [plain(line).rstrip() for row in permission_rows(state, wanted, width) for line in row.lines]


def test_approvals_come_first_then_the_rules_of_each_layer_with_file_and_line() -> None:
    lines = lines_of(STATE)
    assert lines[:11] == [
        "",
        "Approvals",
        "  allow bash make test" + "this session, 2026-01-02 03:04".rjust(68),
        "  allow mcp time_*" + "everywhere, 2026-01-02 03:04, while the tool stays as it is".rjust(72),
        "",
        "Bundled rules",
        "  ask   bash *",
        "",
        "Rules of this project",
        "  allow bash git diff *" + "/srv/shop/.harness/config.yaml:3".rjust(67),
        "",
    ]
    assert lines[11] == "The mode accept-edits"


def test_paths_below_the_home_folder_are_shown_from_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/srv/somebody")
    state = FakePermissions(
        approvals=(
            FakeApproval("user", "edit", "/srv/somebody/shop/a.py"),
            FakeApproval("user", "bash", "/srv/somebody/run"),
        )
    )
    assert [line[:31].rstrip() for line in lines_of(state)[2:4]] == [
        "  allow edit ~/shop/a.py",
        "  allow bash /srv/somebody/run",
    ]


def test_a_search_looks_at_patterns_layers_files_and_actions() -> None:
    assert [line for line in lines_of(STATE, "config.yaml") if line] == [
        "Approvals",
        "  none",
        "Rules of this project",
        "  allow bash git diff *" + "/srv/shop/.harness/config.yaml:3".rjust(67),
    ]
    assert "  ask   bash *" in lines_of(STATE, "ASK")


def test_the_faults_of_the_approvals_file_come_before_everything() -> None:
    state = FakePermissions(problems=("approvals.json: is not JSON, so nothing in it counts",))
    assert lines_of(state)[0] == "✗ approvals.json: is not JSON, so nothing in it counts"


@pytest.mark.parametrize("width", [12, 30, 60, 120])
def test_no_row_is_wider_than_its_place(width: int) -> None:
    rule = FakeRule("bash", "x\x1b[2J日本語" * 40, "deny", "user", "/very/long" * 20)
    rows = [
        *permission_rows(FakePermissions(rules=(rule, *STATE.rules), approvals=STATE.approvals), "", width),
        *explanation_rows("bash " + "y" * 300, ["deny: denied by x", "", "bash " + "z" * 200, "  user: deny"], width),
    ]
    for row in rows:
        for line in row.lines:
            assert line_cells(line) <= width
            assert "\x1b" not in plain(line)


def test_approvals_and_rules_can_be_marked_and_headings_cannot() -> None:
    keys = [row.key for row in permission_rows(STATE, "", 90)]
    assert keys[:4] == [
        None,
        ApprovalKey("session", "bash", "make test"),
        ApprovalKey("user", "mcp", "time_*"),
        None,
    ]


async def opened(app: Any, pilot: Any, text: str = "/permissions") -> None:
    app.prompt.set_text(text)
    await pilot.press("enter")
    await until(lambda: "Permissions" in screen_text(app))


async def test_an_approval_is_taken_back_with_two_keys(open_app: Any) -> None:
    async with open_app(FakeBackend(permission_rows=STATE)) as (app, pilot, backend):
        await opened(app, pilot)
        await until(lambda: "bash make test" in screen_text(app))
        assert "agent build · mode accept-edits" in screen_text(app)
        await pilot.press("d")
        await until(lambda: "d again takes back: make test" in screen_text(app))
        await pilot.press("down", "d")
        await until(lambda: "d again takes back: time_*" in screen_text(app))
        assert backend.calls.count("revoke") == 0
        await pilot.press("d")
        await until(lambda: "time_*" not in screen_text(app))
        assert [call for call in backend.calls if call.startswith("revoke")] == ["revoke user mcp time_*"]
        await pilot.press("escape")
        await until(lambda: "Approvals" not in screen_text(app))


async def test_a_call_is_explained_and_a_wrong_one_can_be_mended(open_app: Any) -> None:
    async with open_app(FakeBackend(permission_rows=STATE)) as (app, pilot, backend):
        await opened(app, pilot)
        await pilot.press("e")
        await until(lambda: app.focused is not None and app.focused.id == "permissions-text")
        await pilot.press(*"nonsense")
        await pilot.press("enter")
        await until(lambda: "there is no tool 'nonsense'" in screen_text(app))
        assert app.focused.text == "nonsense"
        app.focused.set_text("bash git diff")
        await pilot.press("enter")
        await until(lambda: "allow by bash git * allow (config.yaml:3)" in screen_text(app))
        assert "bundled: ask by bash * ask (bundled)" in screen_text(app)
        assert backend.calls[-1] == "explain bash git diff"
        await pilot.press("escape")
        await until(lambda: "Bundled rules" in screen_text(app))


async def test_a_call_can_be_named_with_the_command(open_app: Any) -> None:
    async with open_app(FakeBackend(permission_rows=STATE)) as (app, pilot, backend):
        await opened(app, pilot, "/permissions explain bash git diff | tee out")
        await until(lambda: "allow by bash git * allow" in screen_text(app))
        assert backend.calls[-1] == "explain bash git diff | tee out"


async def test_a_word_that_is_not_known_says_what_can_be_written(open_app: Any) -> None:
    async with open_app() as (app, pilot, _):
        app.prompt.set_text("/permissions forget everything")
        await pilot.press("enter")
        await until(lambda: "/permissions forget is not known" in screen_text(app))
        assert "/permissions explain bash git status" in screen_text(app)


async def test_the_list_is_searched(open_app: Any) -> None:
    async with open_app(FakeBackend(permission_rows=STATE)) as (app, pilot, _):
        await opened(app, pilot)
        await until(lambda: "Bundled rules" in screen_text(app))
        await pilot.press("slash")
        await until(lambda: app.focused is not None and app.focused.id == "permissions-text")
        await pilot.press(*"diff", "enter")
        await until(lambda: "only what holds 'diff'" in screen_text(app))
        assert "Bundled rules" not in screen_text(app)
        assert "git diff *" in screen_text(app)
        await pilot.press("escape")
        await until(lambda: "Bundled rules" in screen_text(app))


@pytest.mark.parametrize("size", [(200, 60), (80, 24), (40, 12), (20, 5)])
async def test_the_rules_can_be_seen_at_every_size(open_app: Any, size: tuple[int, int]) -> None:
    async with open_app(FakeBackend(permission_rows=STATE), size=size) as (app, pilot, _):
        app.prompt.set_text("/permissions")
        await pilot.press("enter")
        await until(lambda: "allow" in screen_text(app))
        await pilot.press("end")
        await until(lambda: "edit" in screen_text(app))
