"""Settings in memory: what the settings screen and the themes are tested against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from harness_tui.core.errors import UsageError


@dataclass(frozen=True, slots=True)
class FakeScreen:
    mouse: bool = True
    ascii: bool = False
    keys: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class FakeThemeFile:
    name: str
    base: str = "harness-dark"
    colors: Mapping[str, str] = field(default_factory=dict[str, str])
    path: str = "/home/ada/.config/harness/themes/own.yaml"
    problem: str = ""


@dataclass(frozen=True, slots=True)
class FakeSetting:
    key: str
    kind: str = "text"
    about: str = ""
    choices: tuple[str, ...] = ()
    default: Any = None
    value: Any = None
    source: str = ""
    state: str = ""


@dataclass
class FakeSettings:
    """``changes`` are the calls that wrote, in order."""

    screen: FakeScreen = FakeScreen()
    theme: str | None = None
    theme_files: tuple[FakeThemeFile, ...] = ()
    settings: tuple[FakeSetting, ...] = ()
    log_text: str = ""
    changes: list[tuple[str, str, bool]] = field(default_factory=list[tuple[str, str, bool]])

    async def themes(self) -> Sequence[FakeThemeFile]:
        return self.theme_files

    async def rows(self) -> Sequence[FakeSetting]:
        return self.settings

    def target(self, *, project: bool) -> str:
        return "/srv/project/.harness/config.yaml" if project else "/srv/home/config.yaml"

    async def change(self, key: str, text: str, *, project: bool) -> str:
        if text == "wrong":
            raise UsageError(f"{key}: expected something else, got 'wrong'")
        self.changes.append((key, text, project))
        if key == "theme":
            self.theme = text
        self.settings = tuple(
            replace(row, value=text, source=f"{self.target(project=project)}:1") if row.key == key else row
            for row in self.settings
        )
        return self.target(project=project)

    async def reset(self, key: str, *, project: bool) -> bool:
        self.changes.append((key, "", project))
        had = any(row.key == key and row.value is not None for row in self.settings)
        self.settings = tuple(replace(row, value=None) if row.key == key else row for row in self.settings)
        return had

    async def log(self) -> str:
        return self.log_text
