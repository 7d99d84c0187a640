"""``harness sessions``: the verbs on what real runs recorded."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from e2e_home import Home

pytestmark = pytest.mark.e2e


def recorded(home: Home, text: str = "find the needle") -> str:
    """Run once and return the session."""
    home.write("notes.txt", "alpha\nbeta\n")
    home.write(
        "play.yaml",
        """
        turns:
          - {text: Looking., tools: [{name: read, arguments: {path: notes.txt}}], usage: {input: 10, output: 2}}
          - {text: "It is <b>there</b>.", usage: {input: 20, output: 3}}
        """,
    )
    ran = home.run(text, "--model", "replay:play.yaml")
    assert ran.code == 0, ran.err
    return ran.events[0]["session"]


def asked(home: Home, *arguments: str) -> Any:
    ran = home.harness("sessions", *arguments, "--json")
    assert ran.code == 0, ran.err
    return json.loads(ran.out)


def test_a_session_is_renamed_pinned_searched_counted_and_deleted_by_the_start_of_its_id(home: Home) -> None:
    session = recorded(home)
    start = session[:-3]
    assert asked(home, "rename", start, "my", "work") == {"session": session, "title": "my work"}
    assert asked(home, "pin", start) == {"session": session, "pinned": True}
    (row,) = asked(home, "list")
    assert (row["title"], row["pinned"], row["live"], row["messages"]) == ("my work", True, False, 4)
    assert row["root"] == str(home.project)
    assert [(hit["seq"] > 0, hit["role"]) for hit in asked(home, "search", "NEEDLE")] == [(True, "user")]
    assert [hit["role"] for hit in asked(home, "search", "beta")] == ["tool"]
    assert asked(home, "search", "nowhere") == []
    counted = asked(home, "stats", start)
    assert (counted["runs"], counted["requests"], counted["input"], counted["output"]) == (1, 2, 30, 5)
    assert counted["tools"] == {"read": {"calls": 1, "errors": 0}}
    assert asked(home, "delete", start) == {"deleted": [session]}
    assert asked(home, "list") == []
    unknown = home.harness("sessions", "show", session)
    assert (unknown.code, unknown.out) == (2, "")
    assert "no such session" in unknown.err


def test_a_fork_goes_on_by_itself_and_an_import_brings_a_session_to_another_project(home: Home) -> None:
    session = recorded(home)
    forked = asked(home, "fork", session)["session"]
    home.write("more.yaml", "log: requests.jsonl\nturns: [{text: Again.}]\n")
    ran = home.run("and now?", "--session", forked, "--model", "replay:more.yaml")
    assert ran.code == 0, ran.err
    request = json.loads((home.project / "requests.jsonl").read_text().splitlines()[0])
    assert [message["role"] for message in request["messages"]] == ["user", "assistant", "tool", "assistant", "user"]
    shown = asked(home, "show", session)
    assert shown[-1]["type"] == "run_finished"
    assert [event["seq"] for event in ran.events] == list(
        range(shown[-1]["seq"] + 2, shown[-1]["seq"] + 2 + len(ran.events))
    )
    exported = home.project / "out.json"
    assert asked(home, "export", session, "-o", str(exported))["format"] == "json"
    assert stat.S_IMODE(exported.stat().st_mode) == 0o600
    other = home.folder / "src" / "other"
    other.mkdir()
    brought = asked(home, "import", str(exported), "--root", str(other))
    assert brought["renamed_from"] == session
    (row,) = asked(home, "list", "--root", str(other))
    assert (row["session"], row["messages"]) == (brought["session"], 4)
    piped = home.harness("sessions", "import", "-", "--json", stdin=exported.read_text())
    assert json.loads(piped.out)["renamed_from"] == session
    broken = home.harness("sessions", "import", "-", stdin="{}")
    assert (broken.code, broken.out) == (2, "")


def test_an_export_is_readable_and_escaped(home: Home) -> None:
    session = recorded(home)
    text = home.harness("sessions", "export", session).out
    assert "\n## Assistant\n\nIt is <b>there</b>.\n" in text
    page = home.harness("sessions", "export", session, "--format", "html").out
    assert page.startswith("<!doctype html>")
    assert "It is &lt;b&gt;there&lt;/b&gt;." in page
    assert "<script" not in page
    assert "alpha" in page


def test_a_damaged_record_is_kept_and_told_of_and_work_goes_on(home: Home) -> None:
    session = recorded(home)
    database = home.folder / ".local/share/harness/harness.db"
    damaged = database.read_bytes()[:-4096]
    database.write_bytes(damaged)
    listed = home.harness("sessions", "list", "--json")
    assert listed.code == 0, listed.err
    assert session in listed.out
    folder = next((database.parent / "damaged").iterdir())
    assert str(folder) in listed.err
    assert (folder / "harness.db").read_bytes() == damaged
    database.write_bytes(b"rubbish")
    ran = home.run("on", "--model", "replay:play.yaml")
    assert ran.code == 0, ran.err
    (told,) = ran.of("notice", source="sessions")
    assert "the session database was damaged" in told["text"]
    assert str(database.parent / "damaged") in told["text"]


def test_the_oldest_sessions_go_when_there_is_no_room_and_the_notice_says_so(home: Home) -> None:
    home.user_config("sessions: {total_mb: 1}\n")
    first = recorded(home)
    outputs = home.folder / ".local/share/harness/sessions" / first
    outputs.mkdir(parents=True)
    (outputs / "big.txt").write_bytes(bytes(2_000_000))
    second = recorded(home)
    assert [row["session"] for row in asked(home, "list")] == [second]
    assert not outputs.exists()
    home.write(".harness/config.yaml", "sessions: {total_mb: 1}\n")
    home.trust()
    assert "not read in a project" in home.harness("config", "check").out + home.harness("doctor").out


def test_eight_runs_at_once_in_one_folder_each_have_a_whole_session(home: Home) -> None:
    home.write("play.yaml", "turns: [{text: one two three}]\n")
    processes = [home.popen("run", "--json", "--model", "replay:play.yaml", f"run {n}") for n in range(8)]
    outputs = [process.communicate(timeout=90) for process in processes]
    assert [process.returncode for process in processes] == [0] * 8, outputs
    sessions = {json.loads(out.splitlines()[0])["session"] for out, _ in outputs}
    rows = asked(home, "list")
    assert {row["session"] for row in rows} == sessions
    assert [row["messages"] for row in rows] == [2] * 8


def test_a_session_that_is_open_is_not_opened_twice_and_can_be_read_and_forked(home: Home) -> None:
    home.write("play.yaml", "turns: [{text: half, wait: go.flag}]\n")
    process = home.popen("run", "--json", "--model", "replay:play.yaml", "go")
    assert process.stdout is not None
    first = json.loads(process.stdout.readline())
    while '"run_started"' not in process.stdout.readline():
        assert process.poll() is None
    session = first["session"]
    second = home.harness("run", "--json", "--session", session, "--model", "replay:play.yaml", "me too")
    assert (second.code, second.out) == (1, "")
    assert f"process {process.pid}" in second.err
    assert "sessions show" in second.err
    assert asked(home, "show", session)[0]["type"] == "session_started"
    assert asked(home, "list")[0]["live"] is True
    forked = asked(home, "fork", session)["session"]
    assert forked != session
    assert home.harness("sessions", "delete", session).code == 1
    Path(home.project / "go.flag").touch()
    process.communicate(timeout=60)
    assert process.returncode == 0
