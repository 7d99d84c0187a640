"""Remembers for a day which model of a provider is its best, so that a start without configuration asks nobody.

A cache and nothing more: damaged, or not to be written, it costs one more look at the provider's list.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, cast

from harness_tui.core.errors import HarnessError
from harness_tui.core.limits import MIB
from harness_tui.core.paths import make_private_folder, read_regular, write_atomic

DAY_S: Final = 24 * 3600.0


class ChosenModels:
    """The best model of each provider at each address. Reads and writes a file: call it in a thread."""

    def __init__(self, path: Path, *, now: Callable[[], float] = time.time) -> None:
        self._path = path
        self._now = now

    def get(self, provider: str, base_url: str) -> str | None:
        """Return what was chosen within the last day, else ``None``."""
        entry = self._read().get(provider)
        if not isinstance(entry, dict):
            return None
        fields = cast(dict[str, Any], entry)
        model, since = fields.get("model"), fields.get("time")
        if fields.get("base_url") != base_url or not isinstance(model, str) or not isinstance(since, int | float):
            return None
        return model if 0 <= self._now() - since < DAY_S else None

    def put(self, provider: str, base_url: str, model: str) -> None:
        """Remember ``model``."""
        chosen = {**self._read(), provider: {"base_url": base_url, "model": model, "time": self._now()}}
        with contextlib.suppress(OSError):
            make_private_folder(self._path.parent)
            write_atomic(self._path, json.dumps(chosen).encode(), mode=0o600)

    def _read(self) -> dict[str, Any]:
        try:
            data: Any = json.loads(read_regular(self._path, max_bytes=MIB))
        except (HarnessError, ValueError, RecursionError):
            return {}
        return cast(dict[str, Any], data) if isinstance(data, dict) else {}
