"""What the first frame needs, and what the person last chose of the screen: one small JSON file in the cache.

Losing it loses no more than a width or a tab, so whatever is wrong with it counts as empty.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any, Final, cast

from harness_tui.core.atomic import staged
from harness_tui.core.paths import make_private_folder

_MOST_BYTES: Final = 65_536


def read_start_values(path: Path) -> dict[str, Any]:
    """Return the values, none where the file is missing or is not what it should be."""
    try:
        with path.open("rb") as file:
            data: object = json.loads(file.read(_MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    return cast(dict[str, Any], data) if isinstance(data, dict) else {}


def keep_start_values(path: Path, values: dict[str, Any]) -> None:
    """Put ``values`` into the file and leave the others in it as they are. A file that cannot be written is left."""
    merged = read_start_values(path) | values
    with contextlib.suppress(OSError):
        make_private_folder(path.parent)
        with staged(path, json.dumps(merged, ensure_ascii=False).encode(), mode=0o600) as new:
            new.replace()
