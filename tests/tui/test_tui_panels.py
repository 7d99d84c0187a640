from __future__ import annotations

import pytest
from fakes.fake_backend import FakeProcess, FakeSkill, FakeTrustItem

from harness_tui.core import events as ev
from harness_tui.core.event_parts import ServerDetail
from harness_tui.core.values import DiagnosticItem, ServerVerdict
from harness_tui.tui.lines import ListRow, cells, line_cells, plain
from harness_tui.tui.panels.diagnostics import DiagnosticKey, diagnostic_rows
from harness_tui.tui.panels.library import entry_preview, entry_rows, matching_entries
from harness_tui.tui.panels.rows import server_rows
from harness_tui.tui.panels.state import MAX_NOTICES, PanelState
from harness_tui.tui.panels.tabs import TABS, tab_counts, tab_rows
from harness_tui.tui.screens.trust import trust_rows
from harness_tui.tui.state import SessionState
from harness_tui.tui.status import model_name, status_line


def item(severity: str, line: int, message: str = "wrong", path: str = "a.py") -> DiagnosticItem:
    return DiagnosticItem(path, line, 1, line, 2, severity, message)  # type: ignore[arg-type]


def filled() -> PanelState:
    state = PanelState()
    state.report(ev.DiagnosticsReported("b.py", "fresh", 1, ("ty",), (item("warning", 1, path="b.py"),), False))
    state.report(ev.DiagnosticsReported("a.py", "fresh", 1, ("ty",), (item("warning", 2), item("error", 9)), False))
    state.change_server(ev.ServerChanged("mcp", "time", "ready", ServerDetail(tools=2)))
    state.change_server(
        ev.ServerChanged("mcp", "docs", "failed", ServerDetail(stderr_tail="one\nboom\n"), reason="exit code 1")
    )
    state.add_notice(ev.Notice("warning", "mcp", "docs failed", "look at its log"))
    return state


def texts(rows: object) -> list[str]:
    return [plain(line) for row in rows for line in row.lines]  # type: ignore[attr-defined]


def test_files_with_errors_stand_first_and_errors_before_warnings() -> None:
    assert texts(diagnostic_rows(filled(), 40)) == ["a.py", "✗ 9:1 wrong", "! 2:1 wrong", "b.py", "! 1:1 wrong"]


def test_a_diagnostic_becomes_a_request_with_its_place() -> None:
    keys = [row.key for row in diagnostic_rows(filled(), 40)]
    assert keys[:2] == [DiagnosticKey("a.py", 0, "a.py", 1), DiagnosticKey("a.py:9 wrong", 1, "a.py", 9)]
    assert len(set(keys)) == 5


def test_lesser_severities_are_left_out_and_counted() -> None:
    assert texts(diagnostic_rows(filled(), 60, "error")) == [
        "a.py",
        "✗ 9:1 wrong",
        "errors only: 2 of lesser severity not shown",
    ]
    assert texts(diagnostic_rows(filled(), 60, "warning"))[-1] == "errors and warnings"


def test_items_of_an_older_text_are_dimmed_and_said_to_be_old() -> None:
    state = PanelState()
    state.report(ev.DiagnosticsReported("a.py", "fresh", 5, ("ty",), (item("error", 3),), False))
    state.report(ev.DiagnosticsReported("a.py", "unknown", 1500, ("ty",), (), False, "ty has not answered after 1.5 s"))
    rows = diagnostic_rows(state, 60)
    assert texts(rows) == ["a.py  old: ty has not answered after 1.5 s", "✗ 3:1 wrong"]
    assert {style for _, style in rows[1].lines[0]} <= {"muted", ""}
    assert ("wrong", "muted") in rows[1].lines[0]
    state.report(ev.DiagnosticsReported("a.py", "fresh", 5, ("ty",), (item("error", 3),), True))
    rows = diagnostic_rows(state, 60)
    assert texts(rows) == ["a.py  late", "✗ 3:1 wrong"]
    assert ("wrong", "") in rows[1].lines[0]


def test_a_server_shows_its_process_and_how_long_its_last_verdict_took() -> None:
    state = PanelState()
    state.change_server(ev.ServerChanged("lsp", "ty", "ready", ServerDetail(pid=77, restarts=1, root="/p/src")))
    assert texts(server_rows(state, 60))[2:5] == ["Language servers", "✓ ty  ready, 1 restart", "  pid 77 · /p/src"]
    verdict = ServerVerdict("ty", "fresh", 12)
    state.report(ev.DiagnosticsReported("a.py", "fresh", 15, ("ty",), (), False, by_server=(verdict,)))
    state.take_processes([FakeProcess("lsp:ty", 77, rss=30 * 1_048_576)], 1.0)
    assert texts(server_rows(state, 60))[4] == "  pid 77 · 30 MiB · 12 ms · /p/src"


def test_a_file_whose_state_is_not_known_never_looks_clean() -> None:
    state = PanelState()
    state.report(ev.DiagnosticsReported("a.py", "unknown", 1500, ("ty",), (), False, "no answer in time"))
    state.report(ev.DiagnosticsReported("b.py", "fresh", 5, ("ty",), (), False))
    assert texts(diagnostic_rows(state, 60)) == ["a.py  no answer in time", "b.py  clean"]


def test_a_failed_server_shows_why_and_what_it_said_last() -> None:
    lines = texts(server_rows(filled(), 40))
    assert lines[:6] == [
        "MCP servers",
        "✗ docs  failed",
        "  exit code 1",
        "  │ one",
        "  │ boom",
        "✓ time  ready, 2 tools",
    ]
    assert lines[-2:] == ["! mcp: docs failed", "  → look at its log"]


def tabs(width: int, tab: str, most: int = 2) -> list[str]:
    return [" ".join(title for _, title in row) for row in tab_rows(tab_counts(filled()), tab, width, most)]


def test_tabs_have_their_whole_names_and_counts_where_there_is_room() -> None:
    assert tabs(120, "skills", 1) == ["Diagnostics ✗1 !2 Servers 1 ✗1 !1 Skills 0 Changes 0 Todos Context Processes"]
    assert tabs(56, "skills") == [
        "Diagnostics ✗1 !2 Servers 1 ✗1 !1 Skills 0",
        "Changes 0 Todos Context Processes",
    ]


def test_in_a_panel_of_the_usual_width_the_present_tab_has_its_whole_name_and_every_count_is_in_sight() -> None:
    assert tabs(40, "diagnostics") == ["Diagnostics ✗1 !2 Serv 1 ✗1 !1", "Skills 0 Chgs 0 Todos Ctx Proc"]
    assert tabs(40, "processes") == ["Diag ✗1 !2 Serv 1 ✗1 !1 Skills 0", "Chgs 0 Todos Ctx Processes"]


def test_what_does_not_fit_is_behind_an_arrow() -> None:
    assert tabs(40, "diagnostics", 1) == ["Diagnostics ✗1 !2 Serv 1 ✗1 !1 ›"]
    assert tabs(40, "changes", 1) == ["‹ Skills 0 Changes 0 Todos Ctx Proc"]
    assert tabs(30, "processes", 1) == ["‹ Todos Ctx Processes"]
    assert tabs(6, "processes", 1) == ["Processes"]


@pytest.mark.parametrize("most", [1, 2])
@pytest.mark.parametrize("tab", TABS)
def test_no_row_of_tabs_is_wider_than_the_panel(tab: str, most: int) -> None:
    for width in range(24, 130):
        rows = tab_rows(tab_counts(filled()), tab, width, most)
        assert len(rows) <= most
        assert max(sum(cells(title) + (2 if name else 0) for name, title in row) for row in rows) <= width
        shown = [name for row in rows for name, _ in row if name]
        assert tab in shown
        assert list(TABS)[TABS.index(shown[0]) :][: len(shown)] == shown


def test_notices_are_bounded_and_not_doubled() -> None:
    state = PanelState()
    for number in range(MAX_NOTICES + 5):
        state.add_notice(ev.Notice("info", "x", str(number)))
        state.add_notice(ev.Notice("info", "x", str(number)))
    assert len(state.notices) == MAX_NOTICES
    assert state.notices[-1].text == str(MAX_NOTICES + 4)


def test_skills_match_by_name_before_description() -> None:
    skills = [FakeSkill("notes", "about pdf files"), FakeSkill("PDF-tools", "x"), FakeSkill("other", "y")]
    assert [skill.name for skill in matching_entries(skills, "pdf")] == ["PDF-tools", "notes"]
    assert texts(entry_rows(skills, "zzz", 40)) == ["Nothing matches 'zzz'."]


def test_a_skill_that_cannot_be_used_says_so() -> None:
    rows = texts(entry_rows([FakeSkill("a", trusted=False), FakeSkill("b", hidden_reason="denied")], "", 24))
    assert rows == ["○ a            untrusted", "○ b               hidden"]
    lines = texts(entry_preview(FakeSkill("b", "About", hidden_reason="denied by a rule"), "# Body", 40))
    assert "Not offered to the model: denied by a rule" in " ".join(" ".join(lines).split())
    assert lines[-1] == "# Body"
    assert list(entry_preview(None, "", 40)) == []


def test_the_trust_dialog_lists_what_would_run_and_its_files_on_demand() -> None:
    items = [FakeTrustItem("changed", "MCP server time: run [bold]", ".mcp.json:3")]
    assert texts(trust_rows("About.", items, False, 60)) == [
        "About.",
        "",
        "• changed: MCP server time: run [bold]  .mcp.json:3",
    ]
    assert texts(trust_rows("About.", items, True, 60))[-1] == "    .mcp.json:3"


def test_no_row_of_a_panel_is_wider_than_the_panel() -> None:
    state = filled()
    state.add_notice(ev.Notice("error", "日本語" * 9, "x" * 90, "y" * 90))
    state.report(
        ev.DiagnosticsReported("日本語/" * 20, "skipped", 1, (), (item("hint", 1, "z" * 99),), False, "w" * 99)
    )
    for width in (8, 20, 40):
        rows: list[ListRow] = [*diagnostic_rows(state, width), *server_rows(state, width)]
        rows += entry_rows([FakeSkill("日本語" * 20)], "", width)
        rows += entry_preview(FakeSkill("n" * 90, "d" * 90), "t" * 90, width)
        assert all(line_cells(line) <= width for row in rows for line in row.lines), width


# --- status line ---------------------------------------------------------------------------------


def running(**fields: object) -> SessionState:
    state = SessionState(root="/srv/project", agent="build", model="replay/demo", mode="ask")
    for name, value in fields.items():
        setattr(state, name, value)
    return state


def test_an_idle_session_says_so_and_where_it_is() -> None:
    line = plain(status_line(running(), PanelState(), 80, 0.0))
    assert line.startswith(" ● idle  /srv/project")
    assert line.endswith("build · replay/demo · ask")


def test_of_a_script_only_the_file_is_named_and_a_long_name_keeps_both_ends() -> None:
    assert model_name("replay:/srv/a/long/way/to/script.yaml") == "replay:script.yaml"
    assert model_name("anthropic/claude-sonnet") == "anthropic/claude-sonnet"
    assert model_name("ollama/qwen3:8b") == "ollama/qwen3:8b"
    long = model_name("local/a-model-with-a-name-that-never-ends-and-a-date-20260102")
    assert (long.startswith("local/a-model-w"), long.endswith("20260102"), line_cells([(long, "")])) == (True, True, 32)


def test_a_run_shows_its_time_and_how_to_cancel_it() -> None:
    state = running(running=True, run_started=10.0, last_event=74.0, activity="running bash")
    assert plain(status_line(state, PanelState(), 120, 75.0)).startswith(" ◐ 1:05 running bash  Esc cancels")


def test_a_silent_run_says_how_long() -> None:
    state = running(running=True, run_started=0.0, last_event=0.0, activity="waiting for the model")
    assert "nothing for 25 s" in plain(status_line(state, PanelState(), 120, 25.0))


def test_the_status_line_leaves_out_what_has_no_room_and_never_overflows() -> None:
    state = running(running=True, context_used=12_300, context_limit=200_000, activity="x" * 40)
    for width in range(1, 160):
        assert line_cells(status_line(state, filled(), width, 0.0)) <= width
    wide = plain(status_line(state, filled(), 200, 0.0))
    assert wide.endswith("build · replay/demo · ask · 12k/200k 6% · mcp 1/2 ✗1 · ✗1 !2")
