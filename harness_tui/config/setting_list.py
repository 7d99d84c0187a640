"""Every setting that there is, made from the schema: what a settings screen shows and how it reads what is typed.

Imports pydantic through the schema: for a thread, when somebody opens the screen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final, Literal, TypeAlias, cast

from harness_tui.config.layers import Origin
from harness_tui.config.masking import masked
from harness_tui.core.errors import UsageError
from harness_tui.core.record import record

SettingKind: TypeAlias = Literal["switch", "choice", "text", "number", "whole", "file"]
_FILE: Final[SettingKind] = "file"
_KINDS: Final[dict[str, SettingKind]] = {"boolean": "switch", "string": "text", "number": "number", "integer": "whole"}
_SECTION_TEXTS: Final = 90


@record
class Setting:
    """One setting. ``value`` is what counts (secrets left out), ``None`` where nothing is set; ``source`` its
    ``file:line``. Of the kind ``file`` are lists and mappings: they are written in the file itself."""

    key: str
    kind: SettingKind
    about: str
    choices: tuple[str, ...] = ()
    default: Any = None
    value: Any = None
    source: str = ""
    state: str = ""

    @property
    def keys(self) -> tuple[str, ...]:
        """The way to it in a file."""
        return tuple(self.key.split("."))


def list_settings(origins: Iterable[Origin]) -> list[Setting]:
    """Return every setting of the schema in its order, then each configured value of an entry (a server, a provider).

    ``origins`` are those of the loaded configuration.
    """
    from harness_tui.config.schema import json_schema

    schema = json_schema()
    known = {item.key: item for item in _walk(schema, schema, ())}
    found: dict[str, Setting] = dict(known)
    for origin in origins:
        if origin.state == "overridden":
            continue
        base = known.get(origin.key)
        value = masked(origin.key.split("."), origin.value)
        base = base or Setting(origin.key, _FILE, _about(known, origin.key))
        found[origin.key] = replace(base, value=value, source=origin.source, state=origin.state)
    return list(found.values())


def read_setting(setting: Setting, text: str) -> Any:
    """Return the value that ``text`` means. Raises ``UsageError``; the file's own check comes after it."""
    text = text.strip()
    try:
        match setting.kind:
            case "switch":
                return {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}[text.lower()]
            case "whole":
                return int(text)
            case "number":
                return float(text)
            case "choice" if text not in setting.choices:
                raise KeyError(text)
            case _:
                return text
    except (KeyError, ValueError):
        wanted = {"switch": "true or false", "whole": "a whole number", "number": "a number"}
        expected = wanted.get(setting.kind, f"one of {', '.join(setting.choices)}")
        raise UsageError(f"{setting.key}: expected {expected}, got {text!r}") from None


def _walk(schema: dict[str, Any], node: dict[str, Any], path: tuple[str, ...]) -> Iterator[Setting]:
    for name, field in cast(dict[str, Any], node.get("properties", {})).items():
        keys = (*path, name)
        field = _resolved(schema, field)
        if "properties" in field:
            yield from _walk(schema, field, keys)
        else:
            yield _setting(".".join(keys), field)


def _resolved(schema: dict[str, Any], field: dict[str, Any]) -> dict[str, Any]:
    """Return a field with what it points at, and without the ``null`` that only means that it may be left out."""
    result = dict(field)
    options = [one for one in result.pop("anyOf", ()) if one.get("type") != "null"]
    for one in (*options[:1], *result.pop("allOf", ())):
        result = {**one, **result}
    if reference := result.pop("$ref", None):
        target = schema["$defs"][str(reference).rsplit("/", 1)[-1]]
        result = {**target, **{key: value for key, value in result.items() if key != "default"}}
    return result


def _setting(key: str, field: dict[str, Any]) -> Setting:
    choices = tuple(map(str, field.get("enum", ())))
    kind = "choice" if choices else _KINDS.get(str(field.get("type", "")), _FILE)
    about = " ".join(str(field.get("description", "")).replace("``", "").split())
    default = field.get("default")
    return Setting(key, kind, about, choices, None if default in ({}, []) else default)


def _about(known: dict[str, Setting], key: str) -> str:
    """Return what the section of an entry says of itself."""
    parts = key.split(".")
    for length in range(len(parts) - 1, 0, -1):
        if (section := known.get(".".join(parts[:length]))) is not None and section.about:
            return section.about[:_SECTION_TEXTS]
    return ""
