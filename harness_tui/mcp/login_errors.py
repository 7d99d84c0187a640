"""Logins that did not come about, in words: what a login server answers is JSON that nobody wants to read."""

from __future__ import annotations

import json
from typing import Any, Final, cast

from harness_tui.core.errors import HarnessError
from harness_tui.mcp.reasons import one_line

_MEANINGS: Final = {
    "invalid_grant": "what was shown to it is not valid, or is no longer",
    "invalid_client": "it does not know this client, or not by this secret or key",
    "unauthorized_client": "this client may not ask in this way",
    "unsupported_grant_type": "it does not know this way to ask",
    "invalid_scope": "it does not give this scope",
    "invalid_target": "it gives no token for this server",
    "invalid_dpop_proof": "it does not accept the proof of possession; this machine's clock may be wrong",
    "access_denied": "access was denied",
}


class LoginError(HarnessError):
    """A login that did not come about. ``by_hand``: a person can do it; else the configuration has to change."""

    def __init__(
        self, what: str, *, where: str, mend: str | None = None, code: str = "login", by_hand: bool = True
    ) -> None:
        super().__init__(what, where=where, mend=mend, code=code)
        self.by_hand = by_hand


def refusal_of(status: int, body: bytes) -> str:
    """Return how a login server refused: its error (RFC 6749, 5.2) with what that means, or its status alone."""
    fields = json_object(body)
    error = fields.get("error")
    if not isinstance(error, str):
        return f"HTTP status {status}"
    said = fields.get("error_description")
    meaning = said if isinstance(said, str) and said else _MEANINGS.get(error, "")
    return one_line(f"{error}: {meaning}" if meaning else error)


def json_object(body: bytes) -> dict[str, Any]:
    """Return the JSON object in ``body``, empty for anything else."""
    try:
        found: object = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return cast(dict[str, Any], found) if isinstance(found, dict) else {}
