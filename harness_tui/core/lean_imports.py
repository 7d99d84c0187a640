"""Imports of large libraries: without the parts that are never asked of them, and without stops of the collector.

Half of a library can be what this program has no use for: it is imported by name at the top of other modules, so each
such package gets a stand-in whose every name is an empty class. When a newer library does not import that way, it is
imported as it is. Meanwhile the garbage collector would walk, with every few modules, all that was imported before.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Final, TypeVar

T = TypeVar("T")

_SLICE_S: Final = 0.0002
"""So soon the loop gets the interpreter lock back while a library is imported: a key asks for it several times."""
_lock = threading.Lock()
_holders = 0
_restore: tuple[float, bool] = (0.0, False)
"""The switch interval, and whether the collector was on, before the first of those who hold it."""


class _StandIn:
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


class LeftOut:
    """A finder with a stand-in for each of ``packages`` and everything below it."""

    def __init__(self, packages: Iterable[str]) -> None:
        self._packages = frozenset(packages)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a stand-in, ``None`` for a module that is imported as it is."""
        steps = fullname.split(".")
        if any(".".join(steps[:count]) in self._packages for count in range(2, len(steps) + 1)):
            return ModuleSpec(fullname, _StandIn(), is_package=True)  # type: ignore[arg-type]
        return None


def import_lean(load: Callable[[], T], *, library: str, unused: Iterable[str]) -> T:
    """Return what ``load`` returns, which imports ``library``: without its ``unused`` packages. Raises ``ImportError``.

    ``load`` is called again when it fails without them. The stand-ins stay for modules of the library that are imported
    later; ``forget_stand_ins`` takes them away.
    """
    if library in sys.modules:  # somebody was quicker: what is there is there
        return load()
    before = set(sys.modules)
    finder = LeftOut(unused)
    sys.meta_path.insert(0, finder)  # type: ignore[arg-type]
    try:
        return load()
    except Exception:  # noqa: BLE001 - a stand-in can break whatever it is used in
        made = set(sys.modules) - before
    finally:
        with suppress(ValueError):
            sys.meta_path.remove(finder)  # type: ignore[arg-type]
    for name in made:
        if name.split(".")[0] == library:
            sys.modules.pop(name, None)
    return load()


def forget_stand_ins(library: str) -> None:
    """Let whoever imports a part of ``library`` that was left out get the part itself from now on."""
    for name, module in list(sys.modules.items()):
        spec = getattr(module, "__spec__", None)
        if name.startswith(f"{library}.") and spec is not None and isinstance(spec.loader, _StandIn):
            del sys.modules[name]
            above, _, last = name.rpartition(".")
            if vars(sys.modules.get(above, module)).get(last) is module:
                delattr(sys.modules[above], last)


@contextmanager
def no_pauses() -> Generator[None, None, None]:
    """Hold the garbage collector, a tenth of a second each time with the interpreter lock, and let others in often.

    What was made meanwhile stays, so it need not be walked later either. Nests, and several threads may hold it.
    """
    global _holders, _restore
    with _lock:
        if not _holders:
            _restore = (sys.getswitchinterval(), gc.isenabled())
            gc.disable()
            sys.setswitchinterval(min(_restore[0], _SLICE_S))
        _holders += 1
    try:
        yield
    finally:
        with _lock:
            _holders -= 1
            if not _holders:
                sys.setswitchinterval(_restore[0])
                if _restore[1]:
                    gc.freeze()
                    gc.enable()
