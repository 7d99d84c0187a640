"""What a start may cost: how long the first one may take, and how often one that failed is tried again by itself."""

from __future__ import annotations

from collections import deque
from typing import Final

from harness_tui.config.settings import McpServerSettings, McpTimeouts

RUNNERS: Final = ("npx", "bunx", "pnpx", "uvx", "pipx", "docker", "podman")
"""Programs that fetch what they run, so that their first start takes as long as the network wants."""

INSTALL_S: Final = 120.0
"""How long such a start may take where nothing else is configured."""

FAILURES: Final = 3
FAILURE_WINDOW_S: Final = 300.0


class RestartBudget:
    """Counts failures; times are seconds of the loop's clock. ``spent`` stays until somebody asks for a restart."""

    def __init__(self) -> None:
        self._failures: deque[float] = deque(maxlen=FAILURES)
        self.spent = False

    def failed(self, now: float) -> bool:
        """Count one more failure and tell whether it was the last one that is tried again."""
        while self._failures and self._failures[0] < now - FAILURE_WINDOW_S:
            self._failures.popleft()
        self._failures.append(now)
        self.spent = self.spent or len(self._failures) >= FAILURES
        return self.spent

    def pause(self, now: float, back_off: tuple[float, ...]) -> float:
        """Return the seconds until the next start is allowed; ``back_off`` has those after each failure."""
        if not self._failures:
            return 0.0
        wait = back_off[min(len(self._failures), len(back_off)) - 1]
        return max(0.0, self._failures[-1] + wait - now)

    def close(self) -> None:
        """Allow no start until :meth:`forgive`."""
        self.spent = True

    def forgive(self) -> None:
        """Forget every failure."""
        self._failures.clear()
        self.spent = False


def installing(server: McpServerSettings, *, known: bool) -> str | None:
    """Say that a start may take long because its program has to be fetched first; ``known``: it has run before."""
    program = server.command[0].rpartition("/")[2] if server.command else ""
    if program not in RUNNERS or known:
        return None
    return f"{program} may have to install it first, which can take minutes"


def start_limit(server: McpServerSettings, *, known: bool) -> float:
    """Return the seconds that a start of ``server`` may take."""
    given = server.timeout.start
    return INSTALL_S if given == McpTimeouts().start and installing(server, known=known) else given
