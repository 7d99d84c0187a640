"""Leaves out of a library what is never asked of it: half of Anthropic's are 1,100 modules about organizations,
sessions and vaults, 15 MB and a third of a second for a program that sends messages.

They are imported by name at the top of other modules, so each gets a stand-in whose every name is an empty class. When
a newer library does not import that way, it is imported as it is.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Final

_TOPICS: Final = (
    "beta.agents",
    "beta.compliance",
    "beta.environments",
    "beta.memory_stores",
    "beta.organization",
    "beta.sessions",
    "beta.skills",
    "beta.tunnels",
    "beta.user_profiles",
    "beta.vaults",
    "organization",
)
UNUSED: Final = frozenset(f"anthropic.{side}.{topic}" for side in ("resources", "types") for topic in _TOPICS)
"""Packages of the Anthropic library that have nothing to do with messages."""


class _StandIn(Loader):
    """Makes modules that have every name."""

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        def missing(name: str) -> type:
            if name.startswith("__"):
                raise AttributeError(name)
            made = type(name, (), {"__module__": module.__name__})
            setattr(module, name, made)
            return made

        module.__dict__["__getattr__"] = missing


class LeftOut(MetaPathFinder):
    """Finds a stand-in for each of ``packages`` and everything below it."""

    def __init__(self, packages: Iterable[str]) -> None:
        self._packages = frozenset(packages)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a stand-in, ``None`` for a module that is imported as it is."""
        steps = fullname.split(".")
        if any(".".join(steps[:count]) in self._packages for count in range(3, len(steps) + 1)):
            return ModuleSpec(fullname, _StandIn(), is_package=True)
        return None


def import_lean(module: str, *, library: str, unused: Iterable[str]) -> None:
    """Import ``module``, and with it ``library`` without its ``unused`` packages. Raises ``ImportError``."""
    if library in sys.modules:  # somebody was quicker: what is there is there
        importlib.import_module(module)
        return
    before = set(sys.modules)
    finder = LeftOut(unused)
    sys.meta_path.insert(0, finder)
    try:
        importlib.import_module(module)
        return
    except Exception:  # noqa: BLE001 - a stand-in can break whatever it is used in
        made = set(sys.modules) - before
    finally:
        with suppress(ValueError):
            sys.meta_path.remove(finder)
    for name in made:
        if name.split(".")[0] == library or name == module:
            sys.modules.pop(name, None)
    importlib.import_module(module)
