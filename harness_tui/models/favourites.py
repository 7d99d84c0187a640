"""The models that a person likes best: first in every list, kept across restarts."""

from __future__ import annotations

import json
from typing import Any, Final, cast

from harness_tui.config.locking import locked
from harness_tui.config.places import Places
from harness_tui.core.errors import HarnessError
from harness_tui.core.limits import MIB
from harness_tui.core.paths import make_private_folder, read_regular, write_atomic

_MOST: Final = 200


class Favourites:
    """The favourites of one person, in the order in which they were chosen. Reads and writes a file."""

    def __init__(self, places: Places) -> None:
        self._path = places.favourites_file
        self._lock = places.state / "locks" / "favourites.lock"

    def all(self) -> tuple[str, ...]:
        """Return their names; none when the file is missing or damaged, which costs the stars and nothing else."""
        try:
            data: Any = json.loads(read_regular(self._path, max_bytes=MIB))
        except (HarnessError, ValueError, RecursionError):
            return ()
        names: Any = cast(dict[str, Any], data).get("models") if isinstance(data, dict) else None
        return (
            tuple(name for name in cast(list[Any], names) if isinstance(name, str)) if isinstance(names, list) else ()
        )

    def set(self, name: str, favourite: bool) -> bool:
        """Make ``name`` a favourite, or none; return whether that changed anything. Raises ``HarnessError``."""
        with locked(self._lock):
            before = self.all()
            after = tuple(one for one in before if one != name) + ((name,) if favourite else ())
            if (name in before) == favourite:
                return False
            if len(after) > _MOST:
                raise HarnessError(f"there are {_MOST} favourites already", where=name, mend="take some away first")
            try:
                make_private_folder(self._path.parent)
                write_atomic(self._path, json.dumps({"models": after}, indent=1).encode(), mode=0o600)
            except OSError as error:
                message = f"the file cannot be written: {error.strerror or error}"
                raise HarnessError(message, where=str(self._path), code="unwritable") from error
            return True
