"""Time behind a seam, so that tests can hold it."""

from __future__ import annotations

import time
from datetime import UTC, datetime


def rfc3339(moment: datetime) -> str:
    """Return ``moment`` in UTC as RFC 3339 with milliseconds and ``Z``."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class SystemClock:
    """The machine's clock; satisfies :class:`harness_tui.core.seams.Clock`."""

    def now(self) -> datetime:
        """Return the present moment, in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Return seconds that never go back."""
        return time.monotonic()
