"""How long a request may take: silence is limited, progress extends it, the whole has a hard cap.

The SDK's own time-out is not extended by progress, and its cancellation may wait for a server that reads nothing. Here
the waiting ends at once; the request is cancelled behind it, which tells the server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias, TypeVar

from harness_tui.config.settings import McpTimeouts
from harness_tui.mcp.reasons import CallError

OnProgress: TypeAlias = Callable[[float, float | None, str | None], None]
"""Progress of a call: value, total where known, message where given."""

T = TypeVar("T")


async def within(
    times: McpTimeouts,
    request: Callable[[OnProgress], Awaitable[T]],
    *,
    server: str,
    what: str,
    on_progress: OnProgress | None,
    abandon: Callable[[asyncio.Future[Any]], None],
    away: Callable[[], float] = lambda: 0.0,
) -> T:
    """Await ``request``; it is given the function to report progress with.

    ``away`` are the seconds, all in all, in which the server waited for a person: they do not count.

    Raises :class:`CallError` when it is too slow, else what the request raises. A request that is given up is handed to
    ``abandon`` while it cancels.
    """
    loop = asyncio.get_running_loop()

    def counted() -> float:
        return loop.time() - away()

    hard_limit = counted() + times.total
    heard = counted()

    def report(progress: float, total: float | None, message: str | None) -> None:
        nonlocal heard
        heard = counted()
        if on_progress is not None:
            on_progress(progress, total, message)

    task = asyncio.ensure_future(request(report))
    try:
        while not task.done():
            limit = min(heard + times.idle, hard_limit)
            if (left := limit - counted()) <= 0:
                raise _too_slow(times, server, what, by_total=limit >= hard_limit)
            await asyncio.wait({task}, timeout=left)
    finally:
        if not task.done():
            task.cancel()
            task.add_done_callback(_look_at)
            abandon(task)
    if task.cancelled():
        raise CallError(f"{what} was cancelled with its connection", where=f"MCP server {server}", effect_unknown=True)
    return task.result()


def _too_slow(times: McpTimeouts, server: str, what: str, *, by_total: bool) -> CallError:
    waited = f"did not finish within {times.total:g} s" if by_total else f"was silent for {times.idle:g} s"
    setting = "total" if by_total else "idle"
    return CallError(
        f"{what} {waited} and was cancelled; whether it had an effect is not known",
        where=f"MCP server {server}",
        mend=f"mcp.{server}.timeout.{setting} sets the limit",
        effect_unknown=True,
    )


def _look_at(task: asyncio.Future[Any]) -> None:
    """Take notice of how an abandoned request ended, so that the loop does not report it as overlooked."""
    if not task.cancelled():
        task.exception()
