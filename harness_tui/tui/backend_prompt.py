"""What the prompt needs of the workspace, and nothing more.

Any frozen dataclass with these attributes is a row. Nothing here is imported at run time before the first frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class MentionRow(Protocol):
    """Something that can be written after ``@``. ``insert`` is the whole mention; empty where it only tells something.

    ``label`` is its name, ``about`` says more, ``source`` what kind it is. A folder can be gone into.
    """

    @property
    def insert(self) -> str: ...
    @property
    def label(self) -> str: ...
    @property
    def about(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def is_folder(self) -> bool: ...


class Mentions(Protocol):
    """Finds files, agents and resources."""

    async def find(self, typed: str, *, agents: bool) -> Sequence[MentionRow]:
        """Return what the text behind an ``@`` can become, best first; a later call ends one that still searches."""
        ...

    async def refreshed(self) -> bool:
        """Look at the files again where the list is old; return whether that was done."""
        ...


class PastText(Protocol):
    """What was typed before, the root of its project, and when (RFC 3339 UTC)."""

    @property
    def text(self) -> str: ...
    @property
    def root(self) -> str: ...
    @property
    def time(self) -> str: ...


class PromptAids(Protocol):
    """Each raises ``HarnessError``."""

    @property
    def mentions(self) -> Mentions:
        """What can be mentioned."""
        ...

    async def history(self) -> Sequence[PastText]:
        """Return what was typed before, in every session and project, the newest last."""
        ...

    async def remember(self, text: str) -> None:
        """Keep what was typed."""
        ...

    async def edit_text(self, text: str) -> str:
        """Let the person's editor have a text, and return it as they left it; the screen is theirs meanwhile."""
        ...

    async def edit_named(self, name: str, text: str) -> str:
        """Let the person's editor have a text as a file called like ``name``, and return it exactly as it is then."""
        ...

    async def clipboard_image(self, session: str) -> str:
        """Keep the image in the clipboard with the session, and return how a message mentions it."""
        ...
