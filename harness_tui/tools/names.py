"""Names of files as lines of a result: each on one line, whatever it is made of.

A name may hold anything but a slash and a NUL. A line break in it would look like a second name, and a control
character reaches a terminal that shows the result; such a name stands as a JSON string, which a file tool takes back as
it is. Bytes that are no text are replaced.
"""

from __future__ import annotations

import json
from typing import Final

from harness_tui.core.late_pattern import late_pattern

_ODD: Final = late_pattern("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def shown_name(name: str) -> str:
    """Return ``name``, which may hold bytes as lone surrogates, as text on one line."""
    text = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return json.dumps(text) if _ODD.search(text) else text
