"""A person's own themes: ``themes/NAME.yaml`` beside their configuration, read as plain values."""

from __future__ import annotations

from dataclasses import field
from typing import Any, Final, cast

from harness_tui.config.places import Places
from harness_tui.core.errors import HarnessError
from harness_tui.core.record import record

THEMES: Final = 200
_SUFFIXES: Final = (".yaml", ".yml")


@record
class ThemeFile:
    """One file: ``base`` is the theme that it changes, ``colors`` are roles and colours, ``problem`` its fault."""

    name: str
    path: str
    base: str = ""
    colors: dict[str, str] = field(default_factory=dict[str, str])
    problem: str = ""


def read_theme_files(places: Places) -> list[ThemeFile]:
    """Return the themes in the person's folder, by name. Reads files: call it in a thread."""
    folder = places.config / "themes"
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix in _SUFFIXES)
    except OSError:
        return []
    return [_read(path.stem, path) for path in paths[:THEMES]]


def _read(name: str, path: Any) -> ThemeFile:
    from harness_tui.config.yaml_source import read_yaml

    try:
        document = read_yaml(path)
    except (HarnessError, OSError) as error:
        return ThemeFile(name, str(path), problem=str(error))
    if document.broken or not isinstance(document.values, dict):
        reason = str(document.problems[-1]) if document.problems else "expected 'base' and 'colors'"
        return ThemeFile(name, str(path), problem=reason)
    values = cast(dict[str, Any], document.values)
    unknown = [key for key in values if key not in ("base", "colors")]
    base, colors = values.get("base", ""), values.get("colors", {})
    if unknown or not isinstance(base, str) or not isinstance(colors, dict):
        text = "'base' is a name, 'colors' a mapping"
        if unknown:
            text = f"unknown key {unknown[0]!r}; known are base, colors"
        return ThemeFile(name, str(path), problem=text)
    plain = {str(role): str(color) for role, color in cast(dict[Any, Any], colors).items() if color is not None}
    return ThemeFile(name, str(path), base, plain)
