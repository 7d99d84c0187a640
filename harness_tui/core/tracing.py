"""The trace that what is done now belongs to: one id for a call and all that comes of it.

Where OpenTelemetry is set up, whose library we never import ourselves, it is the id of its trace; else one of our own,
of the same form (W3C trace context: 32 hexadecimal digits).
"""

from __future__ import annotations

import secrets
import sys
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

_TRACE: Final[ContextVar[str | None]] = ContextVar("trace", default=None)


def current_trace() -> str | None:
    """Return the id of the trace that goes on here, of OpenTelemetry's where there is none of ours, else ``None``."""
    return _TRACE.get() or _exported()


@contextmanager
def traced(known: str | None = None) -> Generator[str, None, None]:
    """Let what is done here belong to one trace: ``known``, else the one that goes on already, else a new one."""
    found = known or _TRACE.get() or _exported() or secrets.token_hex(16)
    token = _TRACE.set(found)
    try:
        yield found
    finally:
        _TRACE.reset(token)


def _exported() -> str | None:
    """Return the id of the span of OpenTelemetry that goes on here, ``None`` where nothing is set up to record one."""
    api: Any = sys.modules.get("opentelemetry.trace")
    if api is None:
        return None
    context = api.get_current_span().get_span_context()
    return f"{context.trace_id:032x}" if context.is_valid else None
