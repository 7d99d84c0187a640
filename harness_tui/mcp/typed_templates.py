"""Templates of addresses while somebody types one: which variable is being typed, and what stands before it.

Only ``{name}`` and ``{+name}`` are followed; an address with anything else is made in a form instead.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote, unquote

from harness_tui.core.record import record

_VARIABLE: Final = re.compile(r"\{(\+?)([A-Za-z0-9_.]+)\}")
_RESERVED: Final = ":/?#[]@!$&'()*+,;="


@record
class Typing:
    """``variable`` is being typed, ``value`` of it stands there; ``before`` is the address up to it.

    ``after`` is the text of the template right behind it; ``others`` are the values of the variables before.
    """

    variable: str
    value: str
    before: str
    after: str
    others: dict[str, str]
    reserved: bool = False

    def with_value(self, value: str) -> str:
        """Return the address with ``value`` in its place, and the text behind it."""
        return f"{self.before}{quote(value, safe=_RESERVED if self.reserved else '')}{self.after}"


def begins(template: str) -> str:
    """Return what every address of ``template`` begins with."""
    return template.partition("{")[0]


def typing_of(template: str, text: str) -> Typing | None:
    """Return what is being typed of ``template`` in ``text``; ``None`` where that is none of it, or something else."""
    place = done = 0
    others: dict[str, str] = {}
    matches = list(_VARIABLE.finditer(template))
    for number, match in enumerate(matches):
        literal = template[done : match.start()]
        if "{" in literal or not text.startswith(literal, place):
            return None
        place += len(literal)
        done = match.end()
        end = matches[number + 1].start() if number + 1 < len(matches) else len(template)
        after = template[done:end]
        if "{" in after:
            return None
        close = text.find(after, place) if after else -1
        if close < 0:
            value = text[place:]
            if not match[1] and "/" in value:
                return None
            return Typing(match[2], unquote(value), text[:place], after, others, bool(match[1]))
        others[match[2]] = unquote(text[place:close])
        place = close
    return None
