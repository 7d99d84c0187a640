"""A session that is killed anywhere goes on: its record is whole, each call has one result, no number is given twice.

``make soak`` kills at two hundred points; here a few of each kind are taken.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from harness_tui.config.loader import Flags
from harness_tui.core import events as ev
from harness_tui.core.intents import Submit
from harness_tui.core.messages import AssistantMessage
from harness_tui.sessions.store import SessionStore
from harness_tui.workspace.workspace import OpenOptions, Workspace

pytestmark = pytest.mark.xdist_group("killed sessions")  # one worker plays the whole that they share
KINDS = ("write", "edit", "compaction", "undo", "commit")
POINTS = int(os.environ.get("HARNESS_SOAK_KILLS", "5")) // len(KINDS)
"""How many points of each kind are killed at."""

SCRIPT = """\
internal: ["a summary of it"]
turns:
  - {text: Writing., tools: [{name: write, arguments: {path: a.txt, content: "one\\ntwo\\nthree\\n"}}, {name: write, arguments: {path: sub/b.txt, content: "b\\n"}}]}
  - {tools: [{name: write, arguments: {path: c.txt, content: "c\\n"}}]}
  - {text: Written.}
  - {tools: [{name: edit, arguments: {path: a.txt, old: two, new: TWO}}, {name: edit, arguments: {path: sub/b.txt, old: b, new: B}}]}
  - {tools: [{name: read, arguments: {path: a.txt}}, {name: edit, arguments: {path: a.txt, old: three, new: THREE}}]}
  - {text: Edited.}
  - {tools: [{name: write, arguments: {path: sub/b.txt, content: "whole\\n"}}, {name: edit, arguments: {path: c.txt, old: c, new: C}}]}
  - {text: Done.}
  - {tools: [{name: edit, arguments: {path: a.txt, old: one, new: ONE}}, {name: write, arguments: {path: d.txt, content: "d\\n"}}]}
  - {text: The end.}
"""  # noqa: E501
CONTENTS = {
    "a.txt": {None, "one\ntwo\nthree\n", "one\nTWO\nthree\n", "one\nTWO\nTHREE\n", "ONE\nTWO\nTHREE\n"},
    "sub/b.txt": {None, "b\n", "B\n", "whole\n"},
    "c.txt": {None, "c\n", "C\n"},
    "d.txt": {None, "d\n"},
}
"""Every text that a file ever has, ``None`` for no file: whatever happens it is one of them."""


class Scene:
    """An empty home, a project with the script, and the program that kills itself."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.project = self.home / "project"
        self.report = folder / "report.json"
        (self.project / ".git").mkdir(parents=True)
        (self.project / "play.yaml").write_text(SCRIPT)
        (self.project / "on.yaml").write_text("log: requests.jsonl\nturns: [{text: Going on.}]\n")
        config = self.home / ".config/harness/config.yaml"
        config.parent.mkdir(parents=True)
        config.write_text("lsp: {enabled: false}\ncompaction: {keep: 1}\n")

    @property
    def database(self) -> Path:
        return self.home / ".local/share/harness/harness.db"

    def play(self, *point: str) -> int:
        program = Path(__file__).with_name("kill_program.py")
        words = [sys.executable, str(program), str(self.home), str(self.project), str(self.report), *point]
        environ = {"HOME": str(self.home), "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
        ran = subprocess.run(words, env=environ, capture_output=True, text=True, timeout=100, check=False)
        assert ran.returncode in (0, -signal.SIGKILL), ran.stderr[-3000:]
        return ran.returncode

    def noted(self) -> dict[str, Any]:
        return json.loads(self.report.read_text())

    async def go_on(self) -> list[ev.Event]:
        """Open the session again, send a message, and return the events of that."""
        options = OpenOptions(
            flags=Flags(model=f"replay:{self.project / 'on.yaml'}"),
            policy="allow",
            environ={"HOME": str(self.home), "PATH": os.environ["PATH"]},
        )
        workspace = await Workspace.open(self.project, options)
        found: list[ev.Event] = []
        try:
            live = await workspace.resume("ses_kill")
            subscription = live.stream.subscribe()
            await workspace.start_session(live)
            await live.send(Submit("and now?"))
            async with asyncio.timeout(60):
                async for envelope in subscription:
                    found.append(envelope.event)
                    if isinstance(envelope.event, ev.RunFinished):
                        return found
        finally:
            await workspace.close()
        raise AssertionError("the stream ended")

    def log(self) -> list[dict[str, Any]]:
        """Return the record, what differs from run to run made the same."""
        store = SessionStore(self.database)
        try:
            lines = [json.dumps(envelope.to_json(), sort_keys=True) for envelope in store.events("ses_kill")]
        finally:
            store.close()
        text = "\n".join(lines)
        text = re.sub(r'"time": "[^"]*"', '"time": ""', text).replace(str(self.home), "~")
        text = re.sub(r'"elapsed_ms": \d+', '"elapsed_ms": 0', text)
        names: dict[str, str] = {}
        text = re.sub(
            r"\b(run|req|msg|hand)_[0-9a-z]{17}\b", lambda m: names.setdefault(m[0], f"{m[1]}{len(names)}"), text
        )
        return [json.loads(line) for line in text.splitlines()]


def check(scene: Scene, seen: int) -> None:
    """The record is whole: one result for each call, numbers that grow, none that was seen is given again."""
    with sqlite3.connect(scene.database) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    store = SessionStore(scene.database)
    envelopes = list(store.events("ses_kill"))
    messages = [item.message for item in store.messages("ses_kill")]
    store.close()
    assert [envelope.seq for envelope in envelopes] == sorted({envelope.seq for envelope in envelopes})
    again = next(e for e in envelopes if isinstance(e.event, ev.RunStarted) and e.event.message.text == "and now?")
    assert again.seq > seen
    asked = Counter(c.call for e in envelopes if isinstance(e.event, ev.StepFinished) for c in e.event.message.calls)
    answered = Counter(e.event.call for e in envelopes if isinstance(e.event, ev.ToolFinished))
    assert asked == answered
    assert set(answered.values()) <= {1}
    open_calls: list[str] = []
    for message in messages:
        if message.role == "tool":
            open_calls.remove(message.call)
            continue
        assert not open_calls
        open_calls = [call.call for call in message.calls] if isinstance(message, AssistantMessage) else []
    assert not open_calls
    for name, contents in CONTENTS.items():
        path = scene.project / name
        assert (path.read_text() if path.exists() else None) in contents, name
    left = {path.name for path in scene.project.rglob("*") if path.is_file()} - {Path(name).name for name in CONTENTS}
    assert {name for name in left if not name.endswith((".yaml", ".jsonl"))} == set()


@pytest.fixture(scope="module")
def counts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    scene = Scene(tmp_path_factory.mktemp("whole"))
    assert scene.play() == 0
    found: dict[str, int] = scene.noted()["counts"]
    return found


def test_there_are_points_enough_of_each_kind(counts: dict[str, int]) -> None:
    assert {kind: counts[kind] >= 40 for kind in KINDS} == dict.fromkeys(KINDS, True), counts


@pytest.mark.timeout(0 if POINTS > 2 else 300)
@pytest.mark.parametrize("kind", KINDS)
def test_a_session_that_was_killed_goes_on(tmp_path: Path, counts: dict[str, int], kind: str) -> None:
    for place in range(POINTS):
        # Spread over all of them, another one for each length of the soak.
        number = 1 + (2 * place + 1) * counts[kind] // (2 * POINTS + 1)
        scene = Scene(tmp_path / f"{kind}-{number}")
        assert scene.play(kind, str(number)) == -signal.SIGKILL
        noted = scene.noted()
        assert (noted["kind"], noted["number"]) == (kind, number)
        if "HARNESS_SOAK_KILLS" in os.environ:
            print(f"killed in {kind} at point {number}: {noted['what']}", flush=True)
        if not recorded(scene):
            assert noted["seen"] <= 2  # it died before its first event was committed
            continue
        events = asyncio.run(scene.go_on())
        end = events[-1]
        assert isinstance(end, ev.RunFinished)
        assert end.reason == "completed", (noted, end)
        check(scene, noted["seen"])


def recorded(scene: Scene) -> bool:
    if not scene.database.exists():
        return False
    store = SessionStore(scene.database)
    try:
        return any(info.session == "ses_kill" for info in store.list()) and store.last_seq("ses_kill") > 0
    finally:
        store.close()


def test_without_a_kill_the_script_gives_the_same_log_each_time(tmp_path: Path) -> None:
    # Names of one length: the folder stands in the prompt, whose tokens are counted.
    scenes = [Scene(tmp_path / name) for name in ("first", "other")]
    for scene in scenes:
        assert scene.play() == 0
    first, second = (scene.log() for scene in scenes)
    assert len(first) > 60
    assert first == second
