"""Whether two patterns of rules may fit the same text."""

from __future__ import annotations

from typing import Final

_CHARS: Final = 2_000


def may_meet(one: str, other: str) -> bool:
    """Tell whether some text may fit both patterns; true where that is not known (an escape, a very long pattern)."""
    if "\\" in one + other or len(one) + len(other) > _CHARS:
        return True
    forms = [(pattern, pattern[:-2]) if pattern.endswith(" *") else (pattern,) for pattern in (one, other)]
    return any(_meet(first, second) for first in forms[0] for second in forms[1])


def _meet(one: str, other: str) -> bool:
    # reach[j]: what was read of ``one`` may fit the first j signs of ``other``.
    reach = [True] + [False] * len(other)
    for j, sign in enumerate(other):
        reach[j + 1] = reach[j] and sign == "*"
    for mine in one:
        after = [reach[0] and mine == "*"]
        for j, sign in enumerate(other):
            if mine == "*":
                after.append(reach[j + 1] or after[j])
            elif sign == "*":
                after.append(after[j] or reach[j + 1])
            else:
                after.append(reach[j] and (mine == sign or "?" in (mine, sign)))
        reach = after
    return reach[-1]
