"""A server that asks in the middle of a call, through the whole program."""

from __future__ import annotations

import sys
from pathlib import Path

from e2e_home import Home

SERVER = Path(__file__).parents[1] / "mcp" / "servers" / "asks.py"


def test_a_form_is_answered_by_the_script_and_the_answer_is_in_the_record(home: Home) -> None:
    home.user_config(f"""
        mcp: {{asks: {{command: [{sys.executable}, {SERVER}]}}}}
        permission: [{{permission: mcp, pattern: asks_form, action: allow}}]
        """)
    home.write(
        "script.yaml",
        """
        turns:
          - {tools: [{name: asks_form, arguments: {}}]}
          - {text: "done"}
        answers:
          - {kind: form, match: "Who*", action: accept, content: {name: Ada}}
        """,
    )
    ran = home.run("go", "--model", "replay:script.yaml")
    assert ran.code == 0, ran.err
    (asked,), (answered,), (finished,) = ran.of("question_asked"), ran.of("question_answered"), ran.of("tool_finished")
    assert (asked["source"], asked["title"]) == ("asks", "Who are you?")
    assert answered["content"] == {"name": "Ada"}
    assert '"colour": "green"' in finished["output"]
    home.assert_nothing_left()
