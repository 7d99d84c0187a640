"""Skills of servers as the library meets them: what is known, one entry as it is now, one file from its own server."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness_tui.core.remote_skills import RemoteSkill
from harness_tui.mcp.supervisor import Supervisor


class McpSkills:
    """The skills of the servers in ``supervisors``; satisfies ``core.remote_skills.RemoteSkillSource``.

    ``find`` returns a supervisor by name, or raises ``HarnessError`` with the names that there are.
    """

    def __init__(self, supervisors: Mapping[str, Supervisor], find: Callable[[str], Supervisor]) -> None:
        self._supervisors = supervisors
        self._find = find

    def skills(self) -> Sequence[RemoteSkill]:
        """Return the entries known now, by server, then label. Fetches nothing."""
        return [
            skill
            for supervisor in self._supervisors.values()
            if supervisor.offered and supervisor.listing is not None
            for skill in supervisor.listing.skills
        ]

    def serves(self, name: str) -> tuple[str, str] | None:
        """Return server and address of ``server:address``; of several servers that fit the longest name counts."""
        able = [server for server in self._supervisors if name.startswith(f"{server}:")]
        server = max(able, key=len, default=None)
        return (server, name[len(server) + 1 :]) if server is not None else None

    async def skill(self, server: str, uri: str) -> RemoteSkill:
        """Ask ``server`` for the entry at ``uri`` as it is now. Raises ``HarnessError``."""
        supervisor = self._find(server)
        found = await supervisor.ask(f"the skill {uri}", lambda client: _skills().get_skill(client, server, uri))
        listing = supervisor.listing
        if listing is None or all(known.uri != uri for known in listing.skills):
            return replace(found, label=uri)  # not listed: it has no name but its address
        entries = [found if known.uri == uri else known for known in listing.skills]
        skills = _skills().labelled(entries)
        supervisor.take(replace(listing, skills=skills))
        return next(known for known in skills if known.uri == uri)

    def publishing(self) -> bool:
        """Tell whether any server publishes skills, also such as it does not list."""
        listings = (supervisor.listing for supervisor in self._supervisors.values() if supervisor.offered)
        return any(listing is not None and listing.publishes for listing in listings)

    async def skill_file(self, server: str, uri: str) -> bytes:
        """Return the bytes of a file, unchecked, from ``server`` and no other. Raises ``HarnessError``."""
        return await self._find(server).ask(f"reading {uri}", lambda client: _skills().read_file(client, uri))


def _skills() -> Any:
    from harness_tui.mcp import skills  # the SDK is there by now

    return skills
