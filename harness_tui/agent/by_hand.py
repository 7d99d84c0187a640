"""Calls that a person makes: ``/call NAME JSON`` and ``!command``."""

from __future__ import annotations

import json
from typing import Any, Final

from harness_tui.agent.calls import Finish
from harness_tui.agent.run_end import RunEnd
from harness_tui.core.errors import HarnessError
from harness_tui.core.event_parts import RunError
from harness_tui.core.messages import UserMessage

_EXAMPLE: Final = '/call read {"path": "README.md"}'


def parse_call(text: str) -> tuple[str, dict[str, Any]] | None:
    """Read ``/call NAME JSON``; ``None`` for any other text. Raises ``HarnessError`` for what is no JSON object."""
    words = text.split(maxsplit=2)
    if not words or words[0] != "/call":
        return None
    if len(words) == 1:
        raise HarnessError("/call needs the name of a tool", mend=_EXAMPLE, code="usage")
    try:
        data = json.loads(words[2]) if len(words) == 3 else {}
    except (ValueError, RecursionError) as error:  # malformed, too deep, or a number too long
        raise HarnessError(f"the arguments of /call are not JSON: {error}", mend=_EXAMPLE, code="usage") from error
    if not isinstance(data, dict):
        raise HarnessError("the arguments of /call are not an object", mend=_EXAMPLE, code="usage")
    return words[1], data


def end_of(finish: Finish) -> RunEnd:
    """Return how a run ends that is one call: nothing goes on after a refusal, whoever refused."""
    if finish.denied:
        return RunEnd("refused", RunError("permission", finish.message.text))
    if finish.message.is_error:
        return RunEnd("failed", RunError("tool", finish.message.text))
    return RunEnd("completed")


def shell_message(command: str, finish: Finish) -> UserMessage:
    """Return what the model is told of a command that the person ran."""
    return UserMessage(f"I ran a command in the shell:\n\n$ {command}\n{finish.message.text}")
