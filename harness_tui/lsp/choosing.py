"""Which servers serve a file, and why the others do not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness_tui.core.record import record
from harness_tui.core.values import LspState
from harness_tui.lsp.catalog import install_hint
from harness_tui.lsp.roots import Binaries, Placed, root_for
from harness_tui.lsp.spec import ServerSpec


@record
class Chosen:
    """A server that serves a file: its entry, the folder that it works in, and what is started."""

    spec: ServerSpec
    root: Path
    placed: Placed


@record
class Explained:
    """Why a server serves a file or does not. ``install`` says how it is got, where it is missing."""

    name: str
    serves: bool
    reason: str
    root: str | None
    command: tuple[str, ...]
    install: str | None = None


class Chooser:
    """Chooses among ``specs``, in their order, for the files of the project at ``root``."""

    def __init__(self, root: Path, specs: Sequence[ServerSpec], binaries: Binaries) -> None:
        self._root = root
        self._specs = specs
        self._binaries = binaries

    def choose(self, path: Path) -> list[Chosen]:
        """Return the servers for ``path``: of each group the first found, and every other that knows its name."""
        chosen: list[Chosen] = []
        groups: set[str] = set()
        for spec in self._specs:
            if spec.blocked is not None or not spec.serves(path) or (spec.group is not None and spec.group in groups):
                continue
            root = root_for(spec, path, self._root)
            placed = self._binaries.find(spec, root) if root is not None else None
            if root is None or placed is None:
                continue
            if spec.group is not None:
                groups.add(spec.group)
            chosen.append(Chosen(spec, root, placed))
        return chosen

    def why_nobody(self, path: Path) -> str:
        """Say why :meth:`choose` returned nothing, and what to install."""
        kind = path.suffix or path.name
        specs = [spec for spec in self._specs if spec.serves(path) and root_for(spec, path, self._root) is not None]
        usable = tuple(spec for spec in specs if spec.blocked is None)
        if usable:
            broken = [f"{spec.name}: {why}" for spec in usable if (why := self._broken(spec, path)) is not None]
            said = f" ({'; '.join(broken)})" if broken else ""
            return f"no language server found for {kind}: install {install_hint(usable)}{said}"
        if specs:
            return f"no language server for {kind}: " + "; ".join(f"{spec.name}: {spec.blocked}" for spec in specs)
        return f"no language server for {kind} files"

    def explain(self, path: Path) -> list[Explained]:
        """Return an entry for every server that knows the name of ``path``, in the order of preference."""
        chosen = {entry.spec.name: entry for entry in self.choose(path)}
        serving = {entry.spec.group or "": entry.spec.name for entry in chosen.values() if entry.spec.group is not None}
        entries: list[Explained] = []
        for spec in self._specs:
            if not spec.serves(path):
                continue
            found = chosen.get(spec.name)
            root = root_for(spec, path, self._root)
            placed = self._binaries.find(spec, root) if root is not None else None
            install = None
            if found is not None:
                reason = f"works in {found.root}"
            elif spec.blocked is not None:
                reason = spec.blocked
            elif root is None:
                reason = f"serves only below a folder with {', '.join(spec.roots)}"
            elif placed is None:
                reason, install = self._binaries.reason(spec, root), spec.install
            else:
                reason = f"{serving.get(spec.group or '', 'another server')} serves in its place"
            command = placed.argv if placed is not None else spec.command
            entries.append(
                Explained(spec.name, found is not None, reason, str(root) if root else None, command, install)
            )
        return entries

    def unstarted(self, spec: ServerSpec, serving: str | None) -> tuple[LspState, str, tuple[str, ...]]:
        """Return state, reason and command of a server that nothing has started; ``serving`` serves in its place."""
        placed = self._binaries.find(spec, self._root)
        command = placed.argv if placed is not None else spec.command
        if spec.blocked is not None:
            return "disabled", spec.blocked, command
        if placed is None:
            return "absent", self._binaries.reason(spec, self._root), command
        if serving is not None:
            return "stopped", f"{serving} serves in its place", command
        if spec.only_with_root and root_for(spec, self._root / "x", self._root) is None:
            return "stopped", f"serves folders with {', '.join(spec.roots)}", command
        return "stopped", "starts with the first file that it serves", command

    def _broken(self, spec: ServerSpec, path: Path) -> str | None:
        return self._binaries.broken(spec, root_for(spec, path, self._root) or self._root)
