"""Undo and redo from the command line, and what a model is sent afterwards."""

from __future__ import annotations

import json

from e2e.e2e_home import Home, request_log

SCRIPT = """
    log: requests.jsonl
    turns:
      - tools:
          - {name: read, arguments: {path: src/a.py}}
          - {name: edit, arguments: {path: src/a.py, old: "a = 1", new: "a = 2"}}
          - {name: write, arguments: {path: docs/new.md, content: "new\\n"}}
      - {text: done}
"""


def test_a_run_is_undone_and_redone_from_the_command_line(home: Home) -> None:
    home.write("src/a.py", "a = 1\n")
    home.write("play.yaml", SCRIPT)
    a, new = home.project / "src" / "a.py", home.project / "docs" / "new.md"
    ran = home.run("change it", "--model", "replay:play.yaml", "--ask", "allow")
    session, run = ran.events[0]["session"], ran.of("run_started")[0]["run"]
    assert (a.read_text(), new.read_text()) == ("a = 2\n", "new\n")

    done = home.harness("sessions", "undo", session, "--json")
    expected = {"session": session, "redo": False, "runs": [run], "paths": ["src/a.py", "docs/new.md"], "conflicts": []}
    assert (done.code, json.loads(done.out)) == (0, expected)
    assert a.read_text() == "a = 1\n"
    assert not new.parent.exists()

    done = home.harness("sessions", "undo", session[:-4], "--redo")
    assert (done.code, done.out) == (0, f"put in force again: {run}\n  src/a.py\n  docs/new.md\n")
    assert (a.read_text(), new.read_text()) == ("a = 2\n", "new\n")

    a.write_text("a = 2  # mine\n")
    done = home.harness("sessions", "undo", session)
    assert done.code == 1
    assert "src/a.py: left as it is, something else changed it since" in done.out
    assert a.read_text() == "a = 2  # mine\n"
    done = home.harness("sessions", "undo", session)
    assert (done.code, done.out) == (1, "")
    assert "there is nothing to undo" in done.err

    home.write("more.yaml", "log: requests.jsonl\nturns: [{text: hello}]\n")
    home.run("what next", "--model", "replay:more.yaml", "--session", session)
    sent = request_log(home.project / "requests.jsonl")[-1]["messages"]
    assert [message["text"] for message in sent] == ["what next"]
