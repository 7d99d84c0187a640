"""The gate in the installed program: no escape of the table gets through, and a new user is asked few times."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from e2e_home import Home

sys.path.insert(0, str(Path(__file__).parents[1] / "permissions"))

from shell_escapes import ESCAPES, RULES, make_victim
from shell_grammar import EVIL, EVIL_REDIRECTIONS, EVIL_WORDS
from shell_table import ASKED

pytestmark = pytest.mark.e2e

ECHO_AND_CAT = """
permission:
  - {permission: bash, pattern: "echo *", action: allow}
  - {permission: bash, pattern: "cat *", action: allow}
"""


def calls(commands: list[str]) -> str:
    tools = [{"name": "bash", "arguments": {"command": command}} for command in commands]
    return json.dumps({"turns": [{"tools": tools}]})


def test_no_escape_of_the_table_leaves_a_marker(home: Home) -> None:
    escapes = [
        *ASKED,
        *(f"echo a; {text}" for text in EVIL),
        *(f"echo {word}" for word in EVIL_WORDS if "PWNED" in word),
        *(f"echo a{redirection}" for redirection in EVIL_REDIRECTIONS),
    ]
    escapes = [text for text in dict.fromkeys(escapes) if "\ud800" not in text and "$(<a.txt)" not in text]
    home.write("a.txt", "touch PWNED\n")
    home.write(".env", "SECRET=1\n")
    (home.project / "link").symlink_to("/etc")
    home.user_config(ECHO_AND_CAT)
    home.write("play.yaml", calls(escapes))
    ran = home.run("go", "--model", "replay:play.yaml", "--ask", "refuse", "--max-steps", "3")
    assert len(ran.of("tool_finished")) == len(escapes) > 150
    assert not list(home.folder.rglob("PWNED"))
    asked = {event["call"] for event in ran.of("permission_resolved", decision="deny")}
    allowed = [event["arguments"]["command"] for event in ran.of("tool_started") if event["call"] not in asked]
    # What is left does nothing but print: values that no shell reads again.
    assert not [command for command in allowed if command not in HARMLESS]


def test_no_escape_leaves_a_marker_though_much_is_allowed(home: Home) -> None:
    make_victim(home.project)
    home.user_config(
        "permission:\n" + "".join(f'  - {{permission: bash, pattern: "{rule}", action: allow}}\n' for rule in RULES)
    )
    home.write("play.yaml", calls([*ESCAPES, "echo reached; cat Makefile | wc -l"]))
    ran = home.run("go", "--model", "replay:play.yaml", "--ask", "refuse", "--max-steps", "3")
    finished = ran.of("tool_finished")
    assert len(finished) == len(ESCAPES) + 1
    assert finished[-1]["output"] == "reached\n4\n"
    assert not list(home.folder.rglob("PWNED"))
    assert len(ran.of("permission_resolved", decision="deny")) == len(ESCAPES)


HARMLESS = {
    "echo a\x00b",
    "",
    " ",
    "echo PWNED",
    "echo '$(touch PWNED)'",
    "echo 'a[$(touch PWNED)]'",
    "echo \\`touch PWNED\\`",
    "echo $'\\'; touch PWNED; '",
    "echo --output=PWNED",
    "echo -oPWNED",
    "echo a; A='touch PWNED'",
    "echo a; A='a[$(touch PWNED)]'",
}


def test_quoted_operators_pass_without_a_question(home: Home) -> None:
    home.user_config(ECHO_AND_CAT)
    home.write("play.yaml", calls(['echo "a && b"', "echo 'x;y' | cat", "cat <<'E'\n$(touch PWNED)\nE\n"]))
    ran = home.run("go", "--model", "replay:play.yaml", "--ask", "refuse")
    assert [event["output"] for event in ran.of("tool_finished")] == ["a && b\n", "x;y\n", "$(touch PWNED)\n"]
    assert not ran.of("permission_requested")


def test_a_person_who_takes_the_broadest_offer_for_the_session_is_asked_five_times_at_most(home: Home) -> None:
    home.write("src/a.py", "def f():\n    return 1\n")
    home.write("src/test_a.py", "from a import f\n\n\ndef test_f():\n    assert f() == 2\n")
    tools = [
        ("read", {"path": "src/a.py"}),
        ("grep", {"pattern": "return"}),
        ("edit", {"path": "src/a.py", "old": "return 1", "new": "return 2"}),
        ("bash", {"command": "pytest -q"}),
        ("edit", {"path": "src/a.py", "old": "return 2", "new": "return 1 + 1"}),
        ("bash", {"command": "pytest -q src"}),
        ("bash", {"command": "git status"}),
        ("bash", {"command": "git diff"}),
        ("bash", {"command": "git diff --stat"}),
    ]
    turns = [{"tools": [{"name": name, "arguments": arguments}]} for name, arguments in tools]
    home.write("play.yaml", json.dumps({"turns": [*turns, {"text": "Done."}]}))
    process = home.popen("run", "go", "--json", "--ask", "input", "--model", "replay:play.yaml", stdin=-1)
    assert process.stdin is not None
    assert process.stdout is not None
    asked: list[str] = []
    for line in process.stdout:
        event = json.loads(line)
        if event["type"] != "permission_requested":
            continue
        offers = [(place, offer) for place, offer in enumerate(event["offers"]) if offer["scope"] == "session"]
        place, offer = offers[-1]
        asked.append(offer.get("mode") or " ".join(rule["pattern"] for rule in offer["rules"]))
        answer = {"intent": "answer", "request": event["request"], "action": "allow", "offer": place}
        process.stdin.write(json.dumps(answer) + "\n")
        process.stdin.flush()
    process.stdin.close()
    assert process.wait(30) == 0
    assert asked == ["accept-edits", "pytest *", "git status *", "git diff *"]
