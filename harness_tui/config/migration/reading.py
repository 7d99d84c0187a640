"""Opens the files of another tool: what is not there is passed over, what is broken stops the whole import."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from harness_tui.config.document import Document
from harness_tui.config.migration.findings import Findings
from harness_tui.config.migration.jsonc import read_jsonc
from harness_tui.config.migration.toml_file import read_toml_file
from harness_tui.core.errors import UsageError
from harness_tui.core.record import record


@record
class Scene:
    """Where another tool's files are looked for: ``home`` is the person's, ``root`` the project's folder.

    ``config`` is the folder that holds one configuration folder for each tool, ``environ`` the environment.
    """

    home: Path
    root: Path
    config: Path
    environ: Mapping[str, str]

    @property
    def at_home(self) -> bool:
        """Whether the project is the home folder itself, where nothing is a project's own."""
        return self.home.resolve() == self.root.resolve()

    def folder(self, variable: str, default: str) -> Path:
        """Return the folder that ``variable`` names, else ``default`` in the home folder."""
        value = self.environ.get(variable, "")
        return Path(value) if value.startswith("/") else self.home / default


def open_settings(path: Path, findings: Findings) -> Document | None:
    """Return a settings file, JSON or TOML; ``None`` when there is none.

    Raises ``UsageError`` with its line for a broken one: half of a list of rules is no list of rules.
    """
    if not path.exists():
        return None
    document = read_toml_file(path) if path.suffix == ".toml" else read_jsonc(path)
    if document.broken:
        problem = document.problems[-1]
        raise UsageError(
            problem.message, where=problem.where, mend="mend the file; nothing was imported", code=problem.code
        )
    if not isinstance(document.values, dict):
        raise UsageError(
            "expected a mapping of settings", where=f"{path}:1", mend="nothing was imported", code="wrong-type"
        )
    findings.read.append(path)
    return document


def mapping(value: Any) -> dict[str, Any]:
    """Return ``value`` if it is a mapping, else an empty one."""
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def texts(value: Any) -> list[str]:
    """Return the texts of a list."""
    return [item for item in cast(list[Any], value) if isinstance(item, str)] if isinstance(value, list) else []


def leave_others(
    document: Document, findings: Findings, known: Iterable[str], reasons: Mapping[str, str], at: tuple[str, ...] = ()
) -> None:
    """Say of every key at ``at`` that is not among ``known`` that it is not carried over, and why if that is known."""
    values: Any = document.values
    for key in at:
        values = mapping(values).get(key)
    passed = set(known)
    for key, value in mapping(values).items():
        if key in passed or key.startswith("$") or value in (None, {}, []):
            continue
        label = ".".join((*at, key))
        findings.leave(document.where((*at, key)), label, reasons.get(key, "there is no setting like it here"))
