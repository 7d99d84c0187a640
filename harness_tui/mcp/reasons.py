"""Failures of servers in plain words.

The SDK wraps what went wrong in groups of groups; a person wants one sentence: not found, exited with code N, did not
answer, refused with this message.
"""

from __future__ import annotations

import signal
from typing import Final

from harness_tui.core.errors import HarnessError, ToolError
from harness_tui.core.late_pattern import late_pattern
from harness_tui.core.text import clean_for_display, cut_end

_LINE_CHARS: Final = 200
_IDLE_LINE: Final = late_pattern(
    r"^npm (?:error|ERR!)(?: A complete log|\s+/|\s*$)|^npm notice|^Node\.js v[\d.]+$|^\s*(?:\^+|[}\])]+;?)\s*$"
    r"|^\s+(?:at |code: |errno: |syscall: |requireStack: |path: |spawnargs: )"
)
"""Lines with which programs end and that say nothing: the place of a log, a version, the foot of a stack."""

CONNECTION_CLOSED: Final = -32000
METHOD_NOT_FOUND: Final = -32601
UNSUPPORTED_PROTOCOL: Final = -32022
TOO_LARGE: Final = -32098
"""Ours, never on the wire: an answer was over the limit of one message."""


class StartError(HarnessError):
    """A server that could not be started.

    ``exited`` tells that it went away before it answered, ``timed_out`` that it stayed silent, ``rpc`` is the code of
    its refusal, ``needs_auth`` that it wants a login.
    """

    def __init__(
        self,
        what: str,
        *,
        where: str,
        mend: str | None = None,
        exited: bool = False,
        rpc: int | None = None,
        needs_auth: bool = False,
        timed_out: bool = False,
    ) -> None:
        super().__init__(what, where=where, mend=mend, code="server-failed")
        self.timed_out = timed_out
        self.exited = exited
        self.rpc = rpc
        self.needs_auth = needs_auth


class CallError(ToolError):
    """A call that failed.

    ``effect_unknown`` tells that the server may have acted on it all the same, ``lost`` that it went away meanwhile.
    """

    def __init__(
        self, what: str, *, where: str, mend: str | None = None, effect_unknown: bool = False, lost: bool = False
    ) -> None:
        super().__init__(what, where=where, mend=mend, code="call-failed")
        self.effect_unknown = effect_unknown
        self.lost = lost


def leaves(error: BaseException) -> list[BaseException]:
    """Return the errors inside nested groups, in order; a plain error is its own leaf."""
    if isinstance(error, BaseExceptionGroup):
        return [leaf for part in error.exceptions for leaf in leaves(part)]
    return [error]


def rpc_error(error: BaseException) -> tuple[int, str] | None:
    """Return code and message of the first JSON-RPC error in ``error``."""
    for leaf in leaves(error):
        code, message = getattr(leaf, "code", None), getattr(leaf, "message", None)
        if isinstance(code, int) and isinstance(message, str):
            return code, one_line(message)
    return None


def exit_words(returncode: int | None) -> str:
    """Say how a process ended."""
    if returncode is None:
        return "closed its connection"
    if returncode >= 0:
        return f"exited with code {returncode}"
    try:
        name = signal.Signals(-returncode).name
    except ValueError:
        name = f"signal {-returncode}"
    return f"was ended by {name}"


def last_line(tail: str) -> str:
    """Return the last line of standard error that says something, for use inside a sentence."""
    lines = [line for line in tail.splitlines() if line.strip()]
    return one_line(next((line for line in reversed(lines) if not _IDLE_LINE.search(line)), lines[-1] if lines else ""))


def one_line(text: str) -> str:
    """Return foreign ``text`` as one clean line of bounded length."""
    return cut_end(clean_for_display(text, one_line=True), _LINE_CHARS)


def plain_words(error: BaseException) -> str:
    """Return one sentence for whatever a connection raised."""
    found = rpc_error(error)
    if found is not None:
        code, message = found
        if code == TOO_LARGE:
            return message
        return f"answered with error {code}: {message}" if message else f"answered with error {code}"
    leaf = leaves(error)[0]
    if isinstance(leaf, HarnessError):
        return leaf.what
    if isinstance(rounds := getattr(leaf, "max_rounds", None), int):  # the SDK's words are for who writes a client
        return f"it wanted something more than {rounds} times before it answered: given up"
    text = one_line(str(leaf))
    return f"protocol error: {text}" if text else f"protocol error: {type(leaf).__name__}"
