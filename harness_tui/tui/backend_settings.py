"""What settings screens and themes need of the workspace. Nothing here is imported at run time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol


class ScreenSettings(Protocol):
    """How the screen is to look and behave."""

    @property
    def mouse(self) -> bool: ...
    @property
    def ascii(self) -> bool: ...
    @property
    def keys(self) -> Mapping[str, Any]: ...


class OwnThemeFile(Protocol):
    """A theme of the person's; ``problem`` says why it cannot be read."""

    @property
    def name(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def base(self) -> str: ...
    @property
    def colors(self) -> Mapping[str, str]: ...
    @property
    def problem(self) -> str: ...


class SettingRow(Protocol):
    """One setting. ``value`` without secrets, ``None`` where nothing is set; ``source`` is ``file:line``."""

    @property
    def key(self) -> str: ...
    @property
    def kind(self) -> Literal["switch", "choice", "text", "number", "whole", "file"]: ...
    @property
    def about(self) -> str: ...
    @property
    def choices(self) -> Sequence[str]: ...
    @property
    def default(self) -> Any: ...
    @property
    def value(self) -> Any: ...
    @property
    def source(self) -> str: ...
    @property
    def state(self) -> str: ...


class SettingsAccess(Protocol):
    """The configuration, read and written. Methods raise ``HarnessError``."""

    @property
    def screen(self) -> ScreenSettings: ...
    @property
    def theme(self) -> str | None: ...

    async def themes(self) -> Sequence[OwnThemeFile]:
        """Return the person's own themes."""
        ...

    async def rows(self) -> Sequence[SettingRow]:
        """Return every setting."""
        ...

    def target(self, *, project: bool) -> str:
        """Return the file that is written to."""
        ...

    async def change(self, key: str, text: str, *, project: bool) -> str:
        """Set a setting to what ``text`` means, take it up, and return the file."""
        ...

    async def reset(self, key: str, *, project: bool) -> bool:
        """Take a setting out of the file; return whether it was there."""
        ...

    async def log(self) -> str:
        """Return the end of the program's own log."""
        ...
