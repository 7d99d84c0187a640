"""Where the files that come with Harness lie: inside the wheel, or beside the package in a checkout."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeAlias

BundledKind: TypeAlias = Literal["commands", "skills", "protocol", "demo"]


def bundled(kind: BundledKind) -> Path:
    """Return the folder of the built-in ``kind``; it may be missing in a broken installation."""
    package = Path(__file__).resolve().parent.parent
    inside = package / "_bundled" / kind
    return inside if inside.is_dir() else package.parent / kind
