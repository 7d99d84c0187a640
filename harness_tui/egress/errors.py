"""What egress says no to, and what goes over its limits: typed, naming the host, never a path, a query or a secret."""

from __future__ import annotations

from harness_tui.core.errors import HarnessError


class EgressError(HarnessError):
    """A request that egress ended. ``where`` is host and port."""


class EgressBlockedError(EgressError):
    """A connection that the network policy refuses. ``reason`` is a stable word, ``rule`` the rule that decided."""

    def __init__(self, what: str, *, where: str, mend: str | None = None, reason: str, rule: str | None = None) -> None:
        super().__init__(what, where=where, mend=mend, code="egress-blocked")
        self.reason = reason
        self.rule = rule


class BadUrlError(EgressError):
    """A URL that is not requested as it is written: wrong, ambiguous, or with credentials in it."""


class EgressLimitError(EgressError):
    """An answer over a limit: too large, too slow, in an unknown encoding."""
