"""Which TypeScript a folder works with. Two of its servers exist, and each works with one kind only.

Up to version 6 the package holds ``lib/tsserver.js``, which typescript-language-server drives. From version 7 on there
is none: the compiler is a server itself, and typescript-language-server does not start with it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final, cast

from harness_tui.children.lookup import find_binary
from harness_tui.core.record import record

NATIVE_SINCE: Final = 7
_PACKAGE_BYTES: Final = 256 * 1024


@record
class TypeScript:
    """An installed package ``typescript``: its folder and version."""

    folder: Path
    version: str

    @property
    def is_native(self) -> bool:
        """Whether it is a server of its own."""
        return int(self.version.split(".", 1)[0]) >= NATIVE_SINCE

    @property
    def tsserver(self) -> Path | None:
        """The file that typescript-language-server runs, ``None`` when the package has none."""
        file = self.folder / "lib" / "tsserver.js"
        return file if file.is_file() else None

    @property
    def compiler(self) -> Path | None:
        """The program ``tsc``."""
        return find_binary(str(self.folder / "bin" / "tsc"))


def find_typescript(root: Path, project: Path, *, trusted: bool, path: str, beside: str) -> TypeScript | None:
    """Return the package that the folder ``root`` of ``project`` works with.

    Looked for in ``node_modules`` of ``root`` and of the folders above it, inside a trusted project; then where the
    program ``tsc`` of ``path`` belongs to; then beside the program ``beside``, which may bring its own.
    """
    if trusted:
        folder = root
        while True:
            found = _package(folder / "node_modules" / "typescript")
            if found is not None:
                return found
            if folder in (project, folder.parent):
                break
            folder = folder.parent
    for name in ("tsc", beside):
        binary = find_binary(name, path=path)
        found = _package_of(binary) if binary is not None else None
        if found is not None:
            return found
    return None


def _package_of(binary: Path) -> TypeScript | None:
    try:
        real = binary.resolve()
    except (OSError, RuntimeError):
        return None  # a loop of links
    for folder in list(real.parents)[:6]:
        if folder.name == "typescript" and (found := _package(folder)) is not None:
            return found
        if folder.name == "node_modules" and (found := _package(folder / "typescript")) is not None:
            return found
    return None


def _package(folder: Path) -> TypeScript | None:
    file = folder / "package.json"
    try:
        if not file.is_file() or file.stat().st_size > _PACKAGE_BYTES:
            return None
        fields: object = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return None  # half installed: as if it were not there
    version: object = cast(dict[str, Any], fields).get("version") if isinstance(fields, dict) else None
    if not isinstance(version, str) or re.match(r"\d+\.\d+", version) is None:
        return None
    return TypeScript(folder, version)
