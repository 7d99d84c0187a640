"""Names of MCP tools as models see them, and the way back.

Providers refuse a whole request for one name outside ``[A-Za-z0-9_-]{1,64}``, and two servers may well have a tool of
the same name. A name is never parsed: the map back is exact. The result depends on the set of tools alone, not on the
order in which servers are configured or come up.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Container, Iterable
from typing import Final

from harness_tui.core.limits import TOOL_NAME_CHARS

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_-]")
_HASH_CHARS: Final = 8
_HASH_LIMIT: Final = 64


def exposed_names(tools: Iterable[tuple[str, str]], reserved: Container[str] = ()) -> dict[str, tuple[str, str]]:
    """Map each exposed name to its ``(server, tool)`` pair.

    A tool is ``{server}_{tool}`` with every other character replaced by ``_``. It gets a hash of the pair as suffix
    when that is over 64 characters, is ``reserved``, or fits several tools; of these one keeps the plain name when it
    is the only one that needed no replacement.
    """
    pairs = sorted(set(tools))
    plain: dict[str, list[tuple[str, str]]] = {}
    for pair in pairs:
        plain.setdefault(sanitised("_".join(pair)), []).append(pair)
    names: dict[str, tuple[str, str]] = {}
    hashed: list[tuple[str, str]] = []
    for name, claimants in plain.items():
        exact = [pair for pair in claimants if f"{pair[0]}_{pair[1]}" == name] if len(claimants) > 1 else claimants
        keeper = exact[0] if len(exact) == 1 and len(name) <= TOOL_NAME_CHARS and name not in reserved else None
        if keeper is not None:
            names[name] = keeper
        hashed += [pair for pair in claimants if pair != keeper]
    for pair in sorted(hashed):
        names[_hashed(pair, names, reserved)] = pair
    return names


def sanitised(text: str) -> str:
    """Return ``text`` with every character that a tool's name may not hold replaced by ``_``."""
    return _UNSAFE.sub("_", text)


def _hashed(pair: tuple[str, str], taken: Container[str], reserved: Container[str]) -> str:
    digest = hashlib.sha256("\x00".join(pair).encode("utf-8", "surrogatepass")).hexdigest()
    head = sanitised("_".join(pair))
    for length in range(_HASH_CHARS, _HASH_LIMIT, _HASH_CHARS):
        name = f"{head[: TOOL_NAME_CHARS - length - 1]}_{digest[:length]}"
        if name not in taken and name not in reserved:
            return name
    raise AssertionError("unreachable: SHA-256 collides")  # pragma: no cover
