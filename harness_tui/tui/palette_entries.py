"""What the command palette offers: every action, command, skill, session, model, agent, theme and setting, by name.

Nothing is listed twice by hand: actions come from the bindings, commands from the tables that ``/`` completes from.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from harness_tui.library.own_commands import OWN_COMMANDS
from harness_tui.tui.help import key_names

if TYPE_CHECKING:
    from harness_tui.tui.host import Host
    from harness_tui.tui.keymap import KeyAction
    from harness_tui.tui.settings_runner import SettingsRunner

EntryKind: TypeAlias = Literal["action", "own", "write", "session", "model", "agent", "theme", "setting"]

LIMIT: Final = 200
_SCORE: Final = 65.0


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that the palette does. ``value`` is what its kind needs, ``keys`` the keys that do the same."""

    kind: EntryKind
    value: str
    name: str
    text: str = ""
    keys: str = ""


def entries_at_once(actions: Iterable[KeyAction], host: Host) -> list[Entry]:
    """Return what is known without asking anybody: actions, own commands, commands and skills."""
    acting = [one for one in actions if one.binding]
    found = [Entry("action", one.binding, one.text, one.name, key_names(",".join(one.keys))) for one in acting]
    found += [Entry("own", one.name, f"/{one.name}", one.description) for one in OWN_COMMANDS if not one.missing]
    offered = host.offered.offers if host.offered is not None else ()
    found += [Entry("write", f"/{one.name} ", f"/{one.name}", one.description) for one in offered if not one.reason]
    return found


async def entries_later(host: Host, settings: SettingsRunner) -> list[Entry]:
    """Return what the workspace has to be asked for."""
    backend = host.backend
    found = [
        Entry("session", row.session, row.title or row.session, f"session, {row.messages} messages")
        for row in await backend.sessions()
        if row.messages
    ]
    models = [model for model in await backend.models() if model.available and not model.name.endswith("/*")]
    found += [Entry("model", model.name, model.name, "model") for model in models]
    found += [Entry("agent", agent.name, agent.name, f"agent: {agent.description}") for agent in await backend.agents()]
    found += [Entry("theme", theme.name, theme.name, f"theme: {theme.about}") for theme in await settings.themes()]
    rows = await backend.settings.rows()
    found += [Entry("setting", row.key, row.key, f"setting: {row.about}" if row.about else "setting") for row in rows]
    return found


def rank(wanted: str, entries: Sequence[Entry]) -> list[Entry]:
    """Return the entries that fit, the best first: beginnings, parts of names, all words anywhere, likenesses."""
    wanted = wanted.casefold().strip()
    if not wanted:
        return list(entries)
    words = wanted.split()
    groups: tuple[list[Entry], ...] = ([], [], [], [])
    rest: list[Entry] = []
    for entry in entries:
        name = entry.name.casefold()
        if name.removeprefix("/").startswith(wanted.removeprefix("/")):
            groups[0].append(entry)
        elif wanted in name:
            groups[1].append(entry)
        elif all(word in name for word in words):
            groups[2].append(entry)
        elif all(word in f"{name} {entry.text.casefold()} {entry.kind}" for word in words):
            groups[3].append(entry)
        else:
            rest.append(entry)
    found = [entry for group in groups for entry in group]
    if len(found) < LIMIT and len(wanted) >= 3:
        from rapidfuzz import fuzz, process

        names = [entry.name.casefold() for entry in rest]
        matches = process.extract(wanted, names, scorer=fuzz.WRatio, limit=20, score_cutoff=_SCORE)
        found += [rest[index] for _, _, index in matches]
    return found[:LIMIT]
