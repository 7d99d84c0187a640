"""Reads configuration files through a cache of what was validated before.

A warm start reads one JSON file and calls ``stat`` on the rest: no YAML, no pydantic. A record is valid while path,
size, times and inode of its file are the same; a damaged cache is ignored and written anew.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from harness_tui._version import __version__
from harness_tui.config.fragment import Fragment
from harness_tui.config.places import Places
from harness_tui.config.problems import Problem
from harness_tui.config.project import Project
from harness_tui.config.risk import Risk
from harness_tui.config.sources import (
    AGENT_FILES,
    FOREIGN_AGENTS,
    MAX_COVERED,
    SourceFile,
    config_files,
    covered_files,
)
from harness_tui.core.errors import HarnessError
from harness_tui.core.limits import TEMPLATE_BYTES
from harness_tui.core.paths import digest, make_private_folder, read_regular, write_atomic

_FORMAT: Final = 1
_CACHE_BYTES: Final = 16 * 1024 * 1024
_TICK_NS: Final = 20_000_000
"""A file that changed less than this before it was read may change again within the same time stamp."""

_CODE: Final = (
    "schema.py",
    "settings.py",
    "egress_rules.py",
    "validation.py",
    "risk.py",
    "brace_forms.py",
    "servers_file.py",
    "server_shapes.py",
    "migration/jsonc.py",
    "migration/agent_files.py",
    "migration/agent_tools.py",
    "migration/claude_rules.py",
    "migration/opencode_rules.py",
    "migration/path_patterns.py",
    "migration/tool_names.py",
    "yaml_source.py",
    "front_matter.py",
)


@dataclass(frozen=True, slots=True)
class FileRecord:
    """What one file gave: its configuration (``None`` for commands and skills) and its risk."""

    source: SourceFile
    fragment: Fragment | None
    risk: Risk


@dataclass(frozen=True, slots=True)
class Inventory:
    """Everything read for a project: configuration files in rising precedence, then what trust covers besides."""

    config: tuple[FileRecord, ...]
    covered: tuple[FileRecord, ...]
    overflow: bool
    problems: tuple[Problem, ...] = ()


def read_inventory(project: Project, places: Places, extra: Path | None = None) -> Inventory:
    """Read every configuration file of ``project``; ``extra`` is the file of ``HARNESS_CONFIG``.

    Takes milliseconds to hundreds of them: call it in a thread.
    """
    cache = _Cache(places, project)
    config = [record for source in config_files(project, places, extra) if (record := cache.record(source))]
    covered: list[FileRecord] = []
    overflow = False
    for source in covered_files(project):
        if len(covered) >= MAX_COVERED:
            overflow = True
            break
        record = cache.record(source)
        if record:
            covered.append(record)
    return Inventory(tuple(config), tuple(covered), overflow, (*cache.save(), *_uncounted(config)))


def _uncounted(config: Sequence[FileRecord]) -> list[Problem]:
    """Say of which folders of agents not all files are read."""
    foreign = [record.source for record in config if record.source.kind in FOREIGN_AGENTS]
    counts = Counter((source.kind, source.layer) for source in foreign)
    return [
        Problem(
            str(next(source.path.parent for source in foreign if (source.kind, source.layer) == key)),
            "too-many-files",
            f"only the first {AGENT_FILES} agent files of a folder are read",
            "move some of them away",
            "warning",
        )
        for key, count in counts.items()
        if count >= AGENT_FILES
    ]


class _Cache:
    """The records of one project, on disk in ``cache/config``."""

    def __init__(self, places: Places, project: Project) -> None:
        name = digest(f"{project.root}\0{project.start}\0{places.config}".encode("utf-8", "surrogateescape"))[:20]
        self._path = places.validated / f"{name}.json"
        self._version = _version()
        self._old = self._load()
        self._new: dict[str, Any] = {}
        self._changed = False

    def _load(self) -> dict[str, Any]:
        try:
            data = json.loads(read_regular(self._path, max_bytes=_CACHE_BYTES))
        except (HarnessError, ValueError, RecursionError):  # missing or damaged: everything is read again
            return {}
        if not isinstance(data, dict) or data.get("version") != self._version:
            return {}
        files = data.get("files")
        return cast(dict[str, Any], files) if isinstance(files, dict) else {}

    def record(self, source: SourceFile) -> FileRecord | None:
        """Return what ``source`` holds, or ``None`` when there is no such file."""
        key = _key(source.file)
        if key is None:
            return None
        name = f"{source.layer}:{source.kind}:{source.file}"
        stored = self._old.get(name)
        if stored is not None:
            try:
                record = _from_json(source, stored, key)
            except (KeyError, TypeError, ValueError, AttributeError):  # damaged: read the file
                record = None
            if record is not None:
                self._new[name] = stored
                return record
        record = _read(source)
        self._changed = True
        if _key(source.file) == key and time.time_ns() - key[1] > _TICK_NS:
            self._new[name] = _to_json(record, key)
        return record

    def save(self) -> list[Problem]:
        """Write the records if any is new or gone; a cache that cannot be written costs time and nothing else."""
        for name, stored in self._old.items():  # HARNESS_CONFIG is there in one start and not in the next
            if name.startswith("file:") and name not in self._new and len(self._new) < MAX_COVERED:
                self._new[name] = stored
        if not self._changed and self._new.keys() == self._old.keys():
            return []
        text = json.dumps({"version": self._version, "files": self._new}, ensure_ascii=True)
        try:
            make_private_folder(self._path.parent)
            write_atomic(self._path, text.encode(), mode=0o600)
        except OSError as error:
            message = f"the cache cannot be written: {error.strerror}"
            return [Problem(str(self._path), "cache", message, "every start reads all files again", "info")]
        return []


def _version() -> list[Any]:
    """Return what a record depends on besides its file: our version, and the code that made it."""
    folder = Path(__file__).parent
    return [_FORMAT, __version__, list(sys.version_info[:2]), [list(_key(str(folder / name)) or ()) for name in _CODE]]


def _key(path: str) -> tuple[int, ...] | None:
    try:
        status = os.stat(path)  # noqa: PTH116 (plain text: there may be thousands)
    except OSError:
        # A dangling link or a folder that may not be entered is no file; an unreadable file has a status.
        return None
    return (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_mode)


def _to_json(record: FileRecord, key: Sequence[int]) -> dict[str, Any]:
    return {
        "key": list(key),
        "fragment": record.fragment.to_json() if record.fragment else None,
        "risk": [record.risk.covered, record.risk.digest, list(record.risk.what)],
    }


def _from_json(source: SourceFile, data: dict[str, Any], key: Sequence[int]) -> FileRecord | None:
    if list(key) != data["key"]:
        return None
    covered, hashed, what = data["risk"]
    fragment = data["fragment"]
    return FileRecord(
        source,
        None if fragment is None else Fragment.from_json(fragment),
        Risk(bool(covered), str(hashed), tuple(str(item) for item in what)),
    )


def _read(source: SourceFile) -> FileRecord:
    """Read and validate one file: the slow way, with YAML and pydantic."""
    match source.kind:
        case "command" | "skill" | "toml":
            return FileRecord(source, None, _text_risk(source))
        case "agent":
            return _read_agent(source)
        case "claude-agent" | "opencode-agent":
            return _read_foreign_agent(source)
        case "config" | "servers":
            return _read_config(source)


def _read_config(source: SourceFile) -> FileRecord:
    from harness_tui.config.risk import config_risk
    from harness_tui.config.servers_file import read_servers_file
    from harness_tui.config.validation import validate_config
    from harness_tui.config.yaml_source import read_yaml

    if source.kind == "servers":
        file = read_servers_file(source.path)
        return FileRecord(source, file.with_errors(validate_config(file.document)), config_risk(file.document.values))
    document = read_yaml(source.path)
    return FileRecord(source, validate_config(document), config_risk(document.values))


def _read_agent(source: SourceFile) -> FileRecord:
    from harness_tui.config.front_matter import read_front_matter
    from harness_tui.config.risk import agent_risk
    from harness_tui.config.validation import validate_agent

    name = source.path.stem
    matter = read_front_matter(source.path)
    fragment = validate_agent(matter.document, name, matter.body)
    return FileRecord(source, fragment, agent_risk(matter.document.values, name))


def _read_foreign_agent(source: SourceFile) -> FileRecord:
    from dataclasses import replace

    from harness_tui.config.migration.agent_files import read_agent_file
    from harness_tui.config.migration.agent_fragment import agent_fragment
    from harness_tui.config.risk import agent_risk

    found = read_agent_file(source.path, "claude" if source.kind == "claude-agent" else "opencode")
    if found is None or found.disabled:
        return FileRecord(source, Fragment(str(source.path)), Risk())
    risk = agent_risk(found.raw, found.name)
    return FileRecord(source, agent_fragment(found), risk if found.raw is not None else replace(risk, digest=""))


def _text_risk(source: SourceFile) -> Risk:
    from harness_tui.config.risk import markdown_risk, toml_risk

    try:
        text = read_regular(source.path, max_bytes=TEMPLATE_BYTES).decode("utf-8", "replace")
    except HarnessError:
        return Risk(covered=True)  # the loader of commands and skills refuses it for the same reason, and says so
    return toml_risk(text) if source.kind == "toml" else markdown_risk(text, source.kind)
