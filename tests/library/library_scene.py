"""The folders of one test, with a library over them."""

from __future__ import annotations

import os
import stat
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness_tui.config.places import Places
from harness_tui.config.project import Project
from harness_tui.library.expansion import Expansion
from harness_tui.library.library import Library

Expand = Callable[..., Awaitable[Expansion]]


@dataclass
class Scene:
    """Folders of one test: ``root`` is the project, ``start`` where the person is, ``home`` their home folder."""

    base: Path
    root: Path
    home: Path
    start: Path

    def write(self, path: str, text: str | bytes) -> Path:
        """Write a file; ``path`` begins with ``root/``, ``home/`` or ``bundled/``."""
        file = self.base / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return file

    def command(self, place: str, name: str, text: str = "body") -> Path:
        """Write a command file into ``bundled``, ``user`` or ``project``."""
        folder = {"bundled": "bundled/commands", "user": "home/.config/harness/commands"}
        return self.write(f"{folder.get(place, 'root/.harness/commands')}/{name}.md", text)

    def skill(self, place: str, name: str, text: str | None = None) -> Path:
        """Write a skill into ``bundled``, ``user`` or ``project``."""
        folder = {"bundled": "bundled/skills", "user": "home/.config/harness/skills"}
        text = f"---\nname: {name}\ndescription: About {name}.\n---\nBody of {name}.\n" if text is None else text
        return self.write(f"{folder.get(place, 'root/.harness/skills')}/{name}/SKILL.md", text)

    def library(self, *, trusted: bool = True, covers: Callable[[Path, str], bool] | None = None) -> Library:
        """Return a library over these folders, read once."""
        places = Places(self.home / ".config/harness", self.base / "data", self.base / "state", self.base / "cache")
        library = Library(
            Project(self.root, self.start),
            places,
            trusted=trusted,
            environ={"HOME": str(self.home)},
            bundled_commands=self.base / "bundled/commands",
            bundled_skills=self.base / "bundled/skills",
            covers=covers,
        )
        library.refresh()
        return library


@contextmanager
def without_privileges(folder: Path) -> Iterator[None]:
    """Run as somebody to whom modes of files apply: of root nothing is kept. ``folder`` stays within reach."""
    if os.geteuid() != 0:
        yield
        return
    modes = {
        parent: stat.S_IMODE(parent.stat().st_mode) for parent in folder.parents if parent.stat().st_mode & 0o77 == 0
    }
    for parent in modes:
        parent.chmod(0o711)
    folder.chmod(0o755)
    os.seteuid(65_534)
    try:
        yield
    finally:
        os.seteuid(0)
        for parent, mode in modes.items():
            parent.chmod(mode)
