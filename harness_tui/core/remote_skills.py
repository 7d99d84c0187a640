"""Skills that servers publish: what an entry says, and how its files are fetched.

A skill of a server is what its server *and* its address name: the same address at another server is another skill. An
entry lists every file with its size and digest. What was approved is that list, so any change of it is another skill
to approve. Digests say that entry and file fit each other, nothing about whom to trust.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any, Final, Protocol

from harness_tui.core.record import record
from harness_tui.core.text import clean_for_display

MAX_FILES: Final = 512
"""Files of one skill, its ``SKILL.md`` among them."""
MAX_BYTES: Final = 16 * 1024 * 1024
"""Bytes of all files of one skill together."""

_SET_CHARS: Final = 12


@record
class RemoteFile:
    """One file of a skill. ``digest`` is ``sha256:`` and 64 hexadecimal digits, ``size`` counts bytes."""

    uri: str
    digest: str
    size: int


@record
class RemoteSkill:
    """The entry of one skill. ``uri`` is that of its ``SKILL.md``.

    ``label`` is the skill's name within its server, ``problem`` says why it cannot be loaded.
    """

    server: str
    uri: str
    label: str
    front_matter: dict[str, Any]
    files: tuple[RemoteFile, ...] = ()
    problem: str | None = None

    @property
    def name(self) -> str:
        """What models and people call it: ``server:label``. No skill in a folder is ever meant by it."""
        return f"{self.server}:{self.label}"

    @property
    def description(self) -> str:
        """What its front matter says that it is for, in one clean line."""
        return clean_for_display(" ".join(str(self.front_matter.get("description", "")).split()), one_line=True)

    @property
    def root(self) -> str:
        """The address of its folder, without a slash at the end."""
        return self.uri.rpartition("/")[0]

    @property
    def set(self) -> str:
        """A short digest of the whole entry: another one after any change of a file or of the front matter."""
        shown = [self.server, self.uri, self.front_matter, sorted((file.uri, file.digest) for file in self.files)]
        text = json.dumps(shown, sort_keys=True, ensure_ascii=True, default=str)
        return hashlib.sha256(text.encode("ascii")).hexdigest()[:_SET_CHARS]

    @property
    def approved_as(self) -> str:
        """The value that approvals are bound to: name and set."""
        return f"{self.name}@{self.set}"

    @property
    def shown(self) -> str:
        """What its entry tells a person, line by line, clean."""
        keys = [f"{key}: {value}" for key, value in self.front_matter.items()]
        files = [f"- {file.uri.removeprefix(f'{self.root}/')} ({file.size} bytes)" for file in self.files]
        head = [f"Skill {self.label} of the MCP server {self.server}", f"address: {self.uri}", f"set: {self.set}"]
        problem = [f"cannot be loaded: {self.problem}"] if self.problem is not None else []
        listed = ["", "Files, none fetched before it is needed:", *files] if files else []
        return "\n".join(clean_for_display(line, one_line=True) for line in [*head, *problem, "", *keys, *listed])

    def file(self, uri: str) -> RemoteFile | None:
        """Return the listed file at ``uri``."""
        return next((file for file in self.files if file.uri == uri), None)


class RemoteSkillSource(Protocol):
    """Servers that publish skills."""

    def skills(self) -> Sequence[RemoteSkill]:
        """Return the entries known now, by server, then label. Fetches nothing."""
        ...

    async def skill(self, server: str, uri: str) -> RemoteSkill:
        """Ask ``server`` for the entry at ``uri`` as it is now; its server is started when needed.

        Raises ``HarnessError`` when it serves no skill there.
        """
        ...

    async def skill_file(self, server: str, uri: str) -> bytes:
        """Return the bytes of a file of a skill, unchecked, from ``server`` and no other. Raises ``HarnessError``."""
        ...

    def publishing(self) -> bool:
        """Tell whether any server publishes skills, also such as it does not list."""
        ...

    def serves(self, name: str) -> tuple[str, str] | None:
        """Return server and address of ``server:address``, ``None`` when ``name`` does not begin with a server."""
        ...
