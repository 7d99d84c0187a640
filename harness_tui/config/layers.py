"""Lays files over each other, key by key, and remembers where each value comes from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias, cast

from harness_tui.config.fragment import Dialect, Fragment, Keys
from harness_tui.config.own_alone import why_own_alone
from harness_tui.config.problems import Problem
from harness_tui.config.sources import SourceFile
from harness_tui.core.record import record

OriginState: TypeAlias = Literal["used", "overridden", "untrusted", "unusable"]

_ADDRESSES: Final[dict[str, tuple[str, ...]]] = {"mcp": ("command", "url"), "providers": ("base_url",)}
_CREDENTIALS: Final = ("headers", "oauth", "env", "inherit", "api_key", "extra_body")


@record
class Origin:
    """One configured value and the place it comes from; ``state`` tells whether it counts."""

    key: str
    value: Any
    source: str
    state: OriginState = "used"


@record
class Leaf:
    """A value that is no mapping. ``path`` is its file, which placeholders and relative paths are read against."""

    value: Any
    source: str
    path: str
    of_project: bool
    dialect: Dialect = "harness"


@dataclass(slots=True)
class Layers:
    """The values of several files. Later files win; lists of rules (agents, ``egress``) and hooks are joined."""

    leaves: dict[Keys, Leaf] = field(default_factory=dict[Keys, Leaf])
    places: dict[Keys, str] = field(default_factory=dict[Keys, str])
    errors: dict[Keys, str] = field(default_factory=dict[Keys, str])
    overridden: list[Origin] = field(default_factory=list[Origin])
    problems: list[Problem] = field(default_factory=list[Problem])

    def lay(self, source: SourceFile, fragment: Fragment, *, only: Iterable[Keys] | None = None) -> None:
        """Lay ``fragment`` over what is there; with ``only`` just the entries of these keys."""
        wanted = None if only is None else tuple(only)
        values = fragment.values
        for keys in _entries_of(values):
            if wanted is None or keys in wanted:
                self._lay_entry(source, fragment, keys, _at(values, keys))
        for keys, reason in fragment.errors.items():
            if wanted is None or keys in wanted:
                self.errors[keys] = reason
                self.places[keys] = fragment.where(keys)

    def _lay_entry(self, source: SourceFile, fragment: Fragment, keys: Keys, value: Any) -> None:
        if keys[0] in _ADDRESSES and isinstance(value, dict):
            self._keep_credentials_at_home(source, fragment, keys, cast(dict[str, Any], value))
        for path, item in _flatten(value, keys):
            mend = why_own_alone(path, item) if source.of_project else None
            if mend is not None:
                text = f"{'.'.join(path)}: this is not read in a project"
                self.problems.append(Problem(fragment.where(path), "not-in-project", text, mend))
                continue
            self.put(path, Leaf(item, fragment.where(path), fragment.path, source.of_project, fragment.dialect))
        if len(keys) > 1:
            self.places[keys] = fragment.where(keys)

    def put(self, keys: Keys, leaf: Leaf) -> None:
        """Set one value; what it replaces is remembered as overridden."""
        old = self.leaves.pop(keys, None)
        if old is not None and _joins(keys):
            leaf = Leaf([*old.value, *leaf.value], leaf.source, leaf.path, leaf.of_project, leaf.dialect)
        elif old is not None:
            self.overridden.append(Origin(".".join(keys), old.value, old.source, "overridden"))
        for length in range(1, len(keys)):  # a list or text that was there in place of a mapping
            above = self.leaves.get(keys[:length])
            if above is not None:
                del self.leaves[keys[:length]]
        if leaf.value != {} or not any(path[: len(keys)] == keys for path in self.leaves):
            self.leaves[keys] = leaf

    def _keep_credentials_at_home(
        self, source: SourceFile, fragment: Fragment, keys: Keys, entry: Mapping[str, Any]
    ) -> None:
        """Drop the other address, and the person's secrets when a project file points the entry elsewhere."""
        moved = False
        for name in _ADDRESSES[keys[0]]:
            old = self.leaves.get((*keys, name))
            if name not in entry:
                continue
            moved = moved or old is None or old.value != entry[name]
            for other in _ADDRESSES[keys[0]]:
                if other != name and other not in entry and self.leaves.pop((*keys, other), None) is not None:
                    self.leaves.pop((*keys, "transport"), None)
        if not moved or not source.of_project:
            return
        dropped = [
            path
            for path, leaf in self.leaves.items()
            if path[: len(keys)] == keys and len(path) > len(keys) and path[len(keys)] in _CREDENTIALS
            if not leaf.of_project and leaf.value not in ({}, [])
        ]
        for path in dropped:
            leaf = self.leaves.pop(path)
            self.overridden.append(Origin(".".join(path), leaf.value, leaf.source, "overridden"))
        if dropped:
            names = ", ".join(sorted({path[len(keys)] for path in dropped}))
            message = (
                f"{'.'.join(keys)} points elsewhere than in your own configuration: your {names} are not given to it"
            )
            mend = "repeat them here if they are meant for this address"
            self.problems.append(Problem(fragment.where(keys), "credentials-kept", message, mend, "warning"))

    def names(self, *section: str) -> list[str]:
        """Return the names of the entries of a section, in the order they first appeared."""
        depth = len(section)
        found = [keys[depth] for keys in (*self.places, *self.leaves) if keys[:depth] == section and len(keys) > depth]
        return list(dict.fromkeys(found))

    def entry(self, keys: Keys) -> dict[str, Any]:
        """Return the leaves of one entry as a nested mapping of :class:`Leaf`."""
        result: dict[str, Any] = {}
        for path, leaf in self.leaves.items():
            if path[: len(keys)] != keys or len(path) == len(keys):
                continue
            target = result
            for key in path[len(keys) : -1]:
                target = target.setdefault(key, {})
            target[path[-1]] = leaf
        return result

    def has_address(self, keys: Keys) -> bool:
        """Tell whether an entry names a command, a URL or a base URL."""
        return any((*keys, name) in self.leaves for name in _ADDRESSES.get(keys[0], ()))

    def origins(self) -> Iterator[Origin]:
        """Return every value that counts, then those that were overridden."""
        for keys, leaf in self.leaves.items():
            if keys[0] == "egress" and isinstance(leaf.value, list):
                for entry in cast(list[dict[str, str]], leaf.value):
                    yield Origin(".".join(keys), entry["rule"], entry["source"])
            else:
                yield Origin(".".join(keys), leaf.value, leaf.source)
        yield from self.overridden


def entries_of(fragment: Fragment) -> list[Keys]:
    """Return the keys of everything in a fragment that is used or left out as one, wrong entries included."""
    return list(dict.fromkeys([*_entries_of(fragment.values), *fragment.errors]))


def closing_entries(fragment: Fragment) -> list[Keys]:
    """Return the keys of what can only narrow where connections go."""
    egress = fragment.values.get("egress", {})
    closing = [("egress", "deny")] if "deny" in egress else []
    return [*closing, ("egress", "default")] if egress.get("default") == "deny" else closing


def _entries_of(values: dict[str, Any]) -> Iterator[Keys]:
    for key, value in values.items():
        if key in ("providers", "mcp", "agents", "egress"):
            yield from ((key, name) for name in value)
        elif key == "lsp":
            for name, item in value.items():
                if name == "servers":
                    yield from (("lsp", "servers", server) for server in item)
                else:
                    yield ("lsp", name)
        else:
            yield (key,)


def _joins(keys: Keys) -> bool:
    """Tell whether the lists of several files at ``keys`` are one list."""
    if len(keys) == 3 and keys[0] == "agents":
        return keys[2] == "permission"
    return keys in (("egress", "allow"), ("egress", "deny")) or (len(keys) == 2 and keys[0] == "hooks")


def _at(values: Any, keys: Keys) -> Any:
    for key in keys:
        values = values[key]
    return values


def _flatten(value: Any, keys: Keys) -> Iterator[tuple[Keys, Any]]:
    if isinstance(value, dict) and value:
        for key, item in cast(dict[str, Any], value).items():
            yield from _flatten(item, (*keys, key))
    else:
        yield keys, value
