"""The same chain on projects that a seed makes up: other names, files, errors, servers; and with parts missing.

The seed is printed, so that a failure can be repeated: ``HARNESS_TEST_SEED=N`` makes it that of the first of three.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from e2e_home import BIN, Home, Ran, request_log

pytestmark = pytest.mark.e2e

WORDS = ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron", "islet", "joule", "krill", "lemur"]
ZONES = {"Asia/Tokyo": "+09:00", "Asia/Kolkata": "+05:30", "America/Bogota": "-05:00", "Africa/Lagos": "+01:00"}
THREE = pytest.mark.parametrize("number", range(3))


@pytest.fixture
def seed(number: int, testrun_uid: str) -> int:
    """Another seed at every run of the suite, the same for all its workers."""
    base = os.environ.get("HARNESS_TEST_SEED")
    return number + (int(base) if base else int(hashlib.sha256(testrun_uid.encode()).hexdigest()[:7], 16))


@dataclass(frozen=True)
class Story:
    """What a seed makes up. The bad line is in line ``line`` of ``file``."""

    seed: int
    command: str
    server: str
    zone: str
    offset: str
    file: str
    function: str
    number: int
    line: int
    good: str
    bad: str

    @property
    def text(self) -> str:
        head = [f"# {self.function} {index}" for index in range(self.line - 2)]
        return "\n".join([*head, f"def {self.function}() -> int:", self.good]) + "\n"


def make_story(seed: int) -> Story:
    pick = random.Random(seed)
    first, second, third, fourth = pick.sample(WORDS, 4)
    zone = pick.choice(sorted(ZONES))
    number = pick.randrange(2, 900)
    bad = pick.choice([f'    return "{number}"', f"    return {number} + missing_{third}", f"    return [{number}]"])
    return Story(
        seed=seed,
        command=f"{first}-{second}",
        server=third,
        zone=zone,
        offset=ZONES[zone],
        file=f"{fourth}_{number}.py",
        function=f"{first}_{fourth}",
        number=number,
        line=pick.randrange(3, 40),
        good=f"    return {number}",
        bad=bad,
    )


def lay_out(home: Home, story: Story, *, server: bool = True) -> None:
    home.write(story.file, story.text)
    home.write(
        f".harness/commands/{story.command}.md",
        f"---\ndescription: Chain\n---\nChange $1 in {story.file}, it is $2 o'clock.\n",
    )
    binary = str(BIN / "mcp-server-time") if server else f"no-{story.server}-here"
    home.write(".harness/config.yaml", f"mcp:\n  {story.server}: {{command: [{json.dumps(binary)}]}}\n")
    script = {
        "log": "requests.jsonl",
        "turns": [
            {"tools": [{"name": "read", "arguments": {"path": story.file}}]},
            {"tools": [{"name": f"{story.server}_get_current_time", "arguments": {"timezone": story.zone}}]},
            {"tools": [{"name": "edit", "arguments": {"path": story.file, "old": story.good, "new": story.bad}}]},
            {"tools": [{"name": "edit", "arguments": {"path": story.file, "old": story.bad, "new": story.good}}]},
            {"text": f"finished {story.seed}"},
        ],
    }
    home.write("play.yaml", json.dumps(script))
    home.trust()


def play(home: Home, story: Story) -> Ran:
    print(f"seed {story.seed}: {story}")
    message = f"/{story.command} {story.function} {story.number}"
    ran = home.run(message, "--model", "replay:play.yaml", "--ask", "allow")
    assert ran.code == 0, ran.err
    assert ran.of("run_started")[0]["message"]["text"] == (
        f"Change {story.function} in {story.file}, it is {story.number} o'clock."
    )
    assert ran.events[-1]["reason"] == "completed"
    assert ran.of("text_finished")[-1]["text"] == f"finished {story.seed}"
    assert (home.project / story.file).read_text() == story.text
    return ran


@THREE
def test_the_chain_holds_for_a_project_that_a_seed_makes_up(home: Home, seed: int) -> None:
    story = make_story(seed)
    lay_out(home, story)
    ran = play(home, story)
    (time,) = ran.of("tool_finished", tool=f"{story.server}_get_current_time")
    assert not time["is_error"]
    assert json.loads(time["output"])["timezone"] == story.zone
    assert json.loads(time["output"])["datetime"].endswith(story.offset)
    bad, good = ran.of("diagnostics_reported", path=story.file, late=False)
    assert bad["verdict"] == good["verdict"] == "fresh"
    assert {item["line"] for item in bad["items"] if item["severity"] == "error"} == {story.line}
    assert [item for item in good["items"] if item["severity"] == "error"] == []
    first, second = ran.of("tool_finished", tool="edit")
    lines = first["output"].split("LSP errors detected in this file, please fix:\n")[1].splitlines()
    assert all(line.startswith(f"{story.file}: L{story.line}: ") for line in lines)
    assert "LSP errors" not in second["output"]
    told = [item["text"] for item in request_log(home.project / "requests.jsonl")[3]["messages"]]
    assert told[-1] == first["output"]


@THREE
def test_without_the_mcp_server_the_stream_says_so_and_no_answer_is_invented(home: Home, seed: int) -> None:
    story = make_story(seed)
    lay_out(home, story, server=False)
    ran = play(home, story)
    (call,) = ran.of("tool_finished", tool=f"{story.server}_get_current_time")
    assert call["is_error"]
    assert story.zone not in call["output"]
    failures = ran.of("server_changed", kind="mcp", state="failed")  # at the start, and when the call tried again
    assert {failed["name"] for failed in failures} == {story.server}
    assert all(f"no-{story.server}-here" in failed["reason"] for failed in failures)
    assert f"no-{story.server}-here" in call["output"]
    assert any(story.server in event["text"] for event in ran.of("notice"))


@THREE
def test_without_a_language_server_the_verdict_is_skipped_and_nothing_is_appended(home: Home, seed: int) -> None:
    story = make_story(seed)
    lay_out(home, story)
    off = ", ".join(f"{name}: {{disabled: true}}" for name in ("ty", "basedpyright", "pyright", "pyrefly", "ruff"))
    home.user_config(f"lsp: {{servers: {{{off}}}}}\n")
    ran = play(home, story)
    verdicts = ran.of("diagnostics_reported", path=story.file)
    assert [verdict["verdict"] for verdict in verdicts] == ["skipped", "skipped"]
    assert all(verdict["reason"] and verdict["items"] == [] for verdict in verdicts)
    assert all("LSP errors" not in event["output"] for event in ran.of("tool_finished"))


def test_the_servers_of_the_chain_are_real_programs() -> None:
    for name in ("ty", "mcp-server-time"):
        assert (Path(sys.executable).parent / name).exists()
