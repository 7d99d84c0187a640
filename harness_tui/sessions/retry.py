"""One more try when the database was found to be damaged: SQLite tells of it wherever the damage happens to lie."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from harness_tui.core.errors import HarnessError


class Rescuable(Protocol):
    """A store whose database can be replaced."""

    def rescue(self) -> None:
        """Keep the damaged database aside, and go on with what can be read of it. Raises ``HarnessError``."""
        ...


S = TypeVar("S", bound=Rescuable)
P = ParamSpec("P")
T = TypeVar("T")


def retried(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """Let ``method`` of a store try once more with the database that takes the place of a damaged one."""

    @functools.wraps(method)
    def guarded(store: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return method(store, *args, **kwargs)
        except HarnessError as error:
            if error.code != "corrupt":
                raise
            store.rescue()
            return method(store, *args, **kwargs)

    return guarded
