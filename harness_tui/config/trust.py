"""Trust in a folder: what it covers, whether it was given, and whether anything changed since.

A folder is known by its real path. What was trusted is remembered file by file as a hash over what can run code or
widen rights (:mod:`harness_tui.config.risk`), so that prose may change freely and a change can be shown.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

from harness_tui.config.files import FileRecord, Inventory, read_inventory
from harness_tui.config.folders import SERVER_FILES
from harness_tui.config.places import Places
from harness_tui.config.problems import Problem
from harness_tui.config.project import Project
from harness_tui.config.risk import Risk, markdown_risk, toml_risk
from harness_tui.config.trust_store import FolderTrust, TrustFile
from harness_tui.core.errors import RefusedError
from harness_tui.core.paths import digest, name_in

Change: TypeAlias = Literal["new", "changed", "same", "removed"]

_CONFIG_KINDS: Final = ("config", "servers")


@dataclass(frozen=True, slots=True)
class TrustItem:
    """One covered file, its path relative to the root. ``what`` says what would run or be allowed, ``""`` for prose.

    ``parts`` says the same thing by thing.
    """

    path: str
    change: Change
    what: str = ""
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TrustStatus:
    """The trust of one folder.

    ``trusted``: what it brings along may be used: it was trusted as it is now, or it brings nothing. ``has_something``:
    it brings something along. ``dismissed``: *Not now* was said to exactly this content. ``files``: everything that is
    covered, those that can do something first. ``granted``: a person gave trust at some time. ``fingerprint`` names the
    content that this was said of.
    """

    trusted: bool
    has_something: bool
    dismissed: bool = False
    files: tuple[TrustItem, ...] = ()
    problems: tuple[Problem, ...] = ()
    granted: bool = False
    fingerprint: str = ""

    @property
    def usable(self) -> bool:
        """Whether what the folder brings along may be used."""
        return self.trusted

    @property
    def ask(self) -> bool:
        """Whether a person should be asked now."""
        return self.has_something and not self.trusted and not self.dismissed


class TrustStore:
    """Gives, takes and looks up trust. Every method reads files: call it in a thread."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._file = TrustFile(places.trust_file)

    def status(self, project: Project, inventory: Inventory | None = None) -> TrustStatus:
        """Return the trust of ``project`` as its files are now; ``inventory`` saves reading them twice."""
        current = _Content(project, inventory or read_inventory(project, self._places))
        folders, fault = self._file.read()
        stored = folders.get(str(project.root), FolderTrust())
        problems = [problem for problem in (fault, current.overflow_problem()) if problem]
        files = current.compare(stored)
        return TrustStatus(
            trusted=not current.present or (stored.granted and not current.overflow and _unchanged(files, current)),
            has_something=bool(current.present),
            dismissed=stored.dismissed is not None and stored.dismissed == current.fingerprint(),
            files=tuple(files),
            problems=tuple(problems),
            granted=stored.granted,
            fingerprint=current.fingerprint(),
        )

    def grant(self, project: Project, *, seen: TrustStatus | None = None) -> TrustStatus:
        """Trust ``project`` as its files are now, and return its status.

        With ``seen`` only if they still are what the person was shown, else ``RefusedError``.
        """
        content = _Content(project, read_inventory(project, self._places))
        if seen is not None and seen.fingerprint != content.fingerprint():
            mend = "look at it again, then trust it"
            raise RefusedError("the folder has changed since it was shown", where=str(project.root), mend=mend)

        def edit(record: FolderTrust) -> None:
            # Files that lie outside what was looked at (another start folder) keep their record.
            gone = [name for name in record.files if name not in content.present]
            kept = {name: record.files[name] for name in gone if (project.root / name).exists()}
            record.granted, record.dismissed = True, None
            record.files = {**kept, **content.digests()}

        self._file.change(str(project.root), edit)
        return self.status(project)

    def revoke(self, project: Project) -> TrustStatus:
        """Forget everything about ``project``, and return its status."""

        def edit(record: FolderTrust) -> None:
            record.granted, record.dismissed, record.files = False, None, {}

        self._file.change(str(project.root), edit)
        return self.status(project)

    def dismiss(self, project: Project) -> TrustStatus:
        """Remember *Not now* for exactly the present content, and return the status."""
        content = _Content(project, read_inventory(project, self._places))
        fingerprint = content.fingerprint()

        def edit(record: FolderTrust) -> None:
            record.dismissed = fingerprint

        self._file.change(str(project.root), edit)
        return self.status(project)

    def update(self, project: Project, path: Path) -> None:
        """Take over one file that Harness itself has just changed, in a folder that was trusted (or empty) before."""
        content = _Content(project, read_inventory(project, self._places))
        name = _name(path, project)

        def edit(record: FolderTrust) -> None:
            if name in content.present:
                record.granted = True
                record.files[name] = content.present[name].digest
            else:
                record.files.pop(name, None)

        self._file.change(str(project.root), edit)

    def covers(self, project: Project, path: Path, text: str) -> bool:
        """Tell whether a command or skill file may be used with the content ``text``.

        For files that are read again while the shell runs: what was added since trust was given (a shell part,
        ``allowed-tools``) is not covered, prose is.
        """
        stored = self._file.read()[0].get(str(project.root))
        risk = toml_risk(text) if path.suffix == ".toml" else markdown_risk(text, "file")
        if stored is None or not stored.granted:
            return False
        return not risk.digest or stored.files.get(_name(path, project)) == risk.digest


class _Content:
    """What a project brings along at this moment."""

    def __init__(self, project: Project, inventory: Inventory) -> None:
        self._project = project
        self.overflow = inventory.overflow
        self.present: dict[str, Risk] = {}
        self.config: set[str] = set()
        inside = f"{project.root}/".replace("//", "/")
        for record in _of_project(inventory):
            # As it was reached, links not followed: every covered file is found below the root.
            name = record.source.file.removeprefix(inside)
            if record.source.kind in _CONFIG_KINDS:
                self.config.add(name)
            if record.risk.covered:
                self.present[name] = record.risk

    def digests(self) -> dict[str, str]:
        return {name: risk.digest for name, risk in self.present.items()}

    def fingerprint(self) -> str:
        """Return one hash over everything that can do something, and over whether there is anything at all."""
        risky = {name: risk.digest for name, risk in self.present.items() if risk.digest}
        return digest(json.dumps(risky, sort_keys=True).encode("utf-8", "surrogatepass"))

    def overflow_problem(self) -> Problem | None:
        if not self.overflow:
            return None
        message = f"the folder holds more than {len(self.present)} commands and skills and cannot be trusted"
        return Problem(str(self._project.root), "too-many-files", message, "move some of them away")

    def compare(self, stored: FolderTrust) -> list[TrustItem]:
        """Return every covered file with its change, those that can do something first."""
        items = [
            TrustItem(name, _change(name, risk, stored), "; ".join(risk.what), risk.what)
            for name, risk in self.present.items()
        ]
        if stored.granted:
            gone = [name for name in stored.files if name not in self.present]
            items += [
                TrustItem(name, "removed")
                for name in gone
                if name in self.config or not (self._project.root / name).exists()
            ]
        return sorted(items, key=lambda item: (not item.what, item.path))


def _change(name: str, risk: Risk, stored: FolderTrust) -> Change:
    if not stored.granted:
        return "new"
    known = stored.files.get(name)
    if known is None:
        return "new"
    return "same" if known == risk.digest else "changed"


def _unchanged(files: Iterable[TrustItem], content: _Content) -> bool:
    """Tell whether nothing that can do something is other than it was trusted.

    New prose is covered, and so is a file that is gone, unless it was configuration: its rules may have restricted
    those of other files.
    """
    for item in files:
        match item.change:
            case "new" | "changed" if item.path in content.present and content.present[item.path].digest:
                return False
            case "removed" if _is_config(item.path):
                return False
            case _:
                continue
    return True


def _is_config(name: str) -> bool:
    return name in (*SERVER_FILES, ".harness/config.yaml", ".harness/config.local.yaml")


def _of_project(inventory: Inventory) -> Iterable[FileRecord]:
    return [record for record in (*inventory.config, *inventory.covered) if record.source.of_project]


def _name(path: Path, project: Project) -> str:
    """Return the name of a file in the record: relative to the root, by the way it was reached, links not followed."""
    return name_in(path, project.root)
