"""A task of an MCP server through the end of the shell: killed in the middle, the next one brings its result."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from e2e_home import Home, request_log

SERVER = Path(__file__).parents[1] / "mcp" / "servers" / "jobs.py"
WAIT_S = 60


def test_a_task_goes_on_after_kill_9_and_its_result_reaches_the_model(home: Home) -> None:
    store = home.folder / "jobs.json"
    log = store.with_suffix(".log")
    server = {"command": [sys.executable, str(SERVER)], "env": {"STORE": str(store)}}
    allow = {"permission": "mcp", "pattern": "jobs_*", "action": "allow"}
    home.user_config(json.dumps({"mcp": {"jobs": server}, "permission": [allow]}))
    home.write("first.yaml", "turns: [{tools: [{name: jobs_work, arguments: {}}]}, {text: never}]")
    running = home.popen("run", "--json", "--model", "replay:first.yaml", "go")
    until = time.monotonic() + WAIT_S
    while not (log.exists() and "get " in log.read_text()):
        assert running.poll() is None
        assert time.monotonic() < until
        time.sleep(0.05)
    running.kill()
    running.communicate()
    store.with_suffix(".go").touch()
    home.write("second.yaml", "{log: log.jsonl, turns: [{text: thanks}]}")
    done = home.run("well?", "--continue", "--model", "replay:second.yaml")
    assert done.code == 0, done.err
    (late,) = done.of("message_added", origin="task")
    assert late["message"]["text"].startswith("The call c1 of the tool jobs_work was interrupted")
    assert late["message"]["text"].endswith("done with work")
    (request,) = request_log(home.project / "log.jsonl")
    assert request["messages"][-1]["text"].endswith("done with work")
    assert [message["is_error"] for message in request["messages"] if message["role"] == "tool"] == [True]
    assert log.read_text().count("create") == 1
    assert "cancel" not in log.read_text()
    assert list(home.folder.glob("**/tasks/*.json")) == []
