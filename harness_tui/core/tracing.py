"""The trace that something is done in, where the process is traced.

OpenTelemetry is no dependency: whoever configures an exporter has imported it by then, and nobody else pays for it.
"""

from __future__ import annotations

import sys
from typing import Any


def current_trace() -> str | None:
    """Return the id of the present trace as 32 hexadecimal digits, ``None`` where nothing is traced."""
    module: Any = sys.modules.get("opentelemetry.trace")
    if module is None:
        return None
    context = module.get_current_span().get_span_context()
    return f"{context.trace_id:032x}" if context.is_valid else None
