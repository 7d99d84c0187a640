"""``glob`` and ``grep``: files by name, lines by content, without what the project's ignore files leave out."""

from __future__ import annotations

import asyncio
import os
import re
import stat
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from harness_tui.config.bundled_rules import SECRET_FILES
from harness_tui.core.errors import ToolError
from harness_tui.core.event_parts import ArgumentsPreview
from harness_tui.core.limits import MIB
from harness_tui.core.nofollow import stat_file
from harness_tui.core.paths import irregular
from harness_tui.core.patterns import matches
from harness_tui.core.seams import PreparedCall, ProcessSpawner, ToolContext, ToolResult
from harness_tui.core.text import cut_end
from harness_tui.tools.builtin import BuiltinTool, title_of
from harness_tui.tools.confirming import existing, holds
from harness_tui.tools.globs import matches_glob
from harness_tui.tools.names import shown_name
from harness_tui.tools.outputs import limited_result
from harness_tui.tools.ripgrep import SEARCH, run_ripgrep
from harness_tui.tools.targets import Target, check_unmoved, find_target, shown_all

_FILES: Final = 200_000
_SHOWN_FILES: Final = 1_000
_MATCHES: Final = 10_000
_SHOWN_MATCHES: Final = 250
_SEARCHED_BYTES: Final = 1024 * MIB
_ERROR_LINES: Final = 12
_ERROR_CHARS: Final = 2_000
_PLAIN_NAME: Final = re.compile(r"[\w.*?-]+")
_PATH: Final = {"type": "string", "description": "Folder to search, by default the working folder"}


class GlobTool(BuiltinTool):
    """Finds files by a pattern of their path."""

    name = "glob"
    description = (
        "Find files by a pattern such as **/*.py or src/*.{js,ts}; a pattern without / fits names in every folder. "
        "Ignored files are left out."
    )
    properties = {  # noqa: RUF012
        "pattern": {"type": "string", "description": "Pattern of the path, relative to path"},
        "path": _PATH,
    }
    required = ("pattern",)
    read_only = True

    def __init__(self, spawner: ProcessSpawner) -> None:
        super().__init__()
        self._spawner = spawner

    async def prepare(self, arguments: dict[str, Any], context: ToolContext) -> PreparedCall:
        """Resolve the folder. Raises ``ToolError``."""
        checked = self.checked(arguments)
        pattern: str = checked["pattern"]
        if not pattern or pattern.startswith(("/", "~")) or ".." in pattern.split("/"):
            raise ToolError(
                "the pattern is relative to path", where=f"glob: {pattern!r}", mend="name the folder as path"
            )
        target = find_target(self.name, checked.get("path", "."), context)
        return PreparedCall(
            title=title_of("Glob", pattern if "path" not in checked else f"{pattern} in {target.name}"),
            checks=target.checks("read"),
            preview=ArgumentsPreview(checked),
            state=(target, pattern),
        )

    async def run(self, prepared: PreparedCall, context: ToolContext) -> ToolResult:
        """List the files. Raises ``ToolError``."""
        target, pattern = prepared.state
        check_unmoved(self.name, target, context)
        if not target.path.is_dir():
            raise ToolError("there is no such folder", where=f"glob: {target.name}", code="not-found")
        output = await run_ripgrep(
            self._spawner,
            self.name,
            ["--files", "--null"],
            root=context.root,
            cwd=target.path,
            separator=b"\0",
            max_records=_FILES,
        )
        names = await asyncio.to_thread(_matching, output.records, pattern)
        shown = await asyncio.to_thread(existing, target.path, names[:_SHOWN_FILES])
        lines = await asyncio.to_thread(shown_all, [target.path / name for name in shown], context)
        notes: list[str] = []
        if len(names) > _SHOWN_FILES:
            notes.append(f"[{len(names)} files fit, {_SHOWN_FILES} are shown: use a narrower pattern]")
        if output.more is not None:
            notes.append(f"[not every file was looked at: {output.more}]")
        if not names:
            notes.insert(0, "No files fit.")
        return await limited_result(
            "\n".join(map(shown_name, lines)),
            context,
            notes="\n".join(notes),
            metadata={"path": target.name, "count": len(names)},
        )


def _matching(records: list[bytes], pattern: str) -> list[str]:
    names = (record.decode("utf-8", "surrogateescape").removeprefix("./") for record in records)
    return sorted(name for name in names if matches_glob(pattern, name))


@dataclass(frozen=True, slots=True)
class _Match:
    path: str
    line: int
    text: str


class GrepTool(BuiltinTool):
    """Finds lines by a regular expression."""

    name = "grep"
    description = (
        "Search files by a regular expression (ripgrep's syntax) and get path:line: text. include is a pattern of file "
        "names such as *.py. Ignored files are left out."
    )
    properties = {  # noqa: RUF012
        "pattern": {"type": "string", "description": "Regular expression"},
        "path": {"type": "string", "description": "Folder or file to search, by default the working folder"},
        "include": {"type": "string", "description": "Pattern of the files to search, such as *.{ts,tsx}"},
    }
    required = ("pattern",)
    read_only = True

    def __init__(self, spawner: ProcessSpawner) -> None:
        super().__init__()
        self._spawner = spawner

    async def prepare(self, arguments: dict[str, Any], context: ToolContext) -> PreparedCall:
        """Resolve the path. Raises ``ToolError``."""
        checked = self.checked(arguments)
        if not checked["pattern"] or "\0" in checked["pattern"]:
            raise ToolError("the pattern is empty or holds a NUL byte", where="grep")
        target = find_target(self.name, checked.get("path", "."), context)
        pattern = checked["pattern"]
        return PreparedCall(
            title=title_of("Grep", pattern if "path" not in checked else f"{pattern} in {target.name}"),
            checks=target.checks("read"),
            preview=ArgumentsPreview(checked),
            state=(target, pattern, checked.get("include")),
        )

    async def run(self, prepared: PreparedCall, context: ToolContext) -> ToolResult:
        """Search. Raises ``ToolError``, with ripgrep's words for a pattern that is none."""
        target, pattern, include = prepared.state
        check_unmoved(self.name, target, context)
        folder, what = await asyncio.to_thread(_searched, target)
        output = await run_ripgrep(
            self._spawner,
            self.name,
            [*SEARCH, f"--max-count={_MATCHES + 1}", *_include_options(include), f"--regexp={pattern}", "--", what],
            root=context.root,
            cwd=folder,
            separator=b"\n",
            max_records=_MATCHES,
        )
        if output.code == 2 and not output.records:
            raise ToolError(_last_words(output.errors) or "the search failed", where="grep", code="search")
        found, secret = await asyncio.to_thread(_kept, output.records, include, target)
        return await self._result(
            found, secret, output.more, output.errors if output.code == 2 else "", target, context
        )

    async def _result(
        self, found: list[_Match], secret: set[str], more: str | None, errors: str, target: Target, context: ToolContext
    ) -> ToolResult:
        folder = target.path if target.path.is_dir() else target.path.parent
        shown = await asyncio.to_thread(_confirmed, found[:_SHOWN_MATCHES], folder)
        gone = min(len(found), _SHOWN_MATCHES) - len(shown)
        paths = list(dict.fromkeys(match.path for match in found))
        names = dict(zip(paths, map(shown_name, shown_all((folder / path for path in paths), context)), strict=True))
        lines = [f"{names[match.path]}:{match.line}: {match.text}" for match in shown]
        notes: list[str] = []
        if not found:
            notes.append("No lines match.")
        if len(found) > _SHOWN_MATCHES:
            notes.append(f"[{len(found)} matches in {len(names)} files, {_SHOWN_MATCHES} are shown: narrow the search]")
        if gone:
            notes.append(f"[{gone} of the matches are not shown: their files changed during the search]")
        if more is not None:
            notes.append(f"[not everything was searched: {more}]")
        if secret:
            listed = ", ".join(map(shown_name, sorted(secret)[:5]))
            notes.append(f"[matches in {listed} are not shown: such files are searched only when path names them]")
        if errors.strip():
            notes.append(f"[not everything could be searched: {errors.strip().splitlines()[-1]}]")
        metadata = {"path": target.name, "matches": len(found), "files": len(names)}
        return await limited_result("\n".join(lines), context, notes="\n".join(notes), metadata=metadata)


def _searched(target: Target) -> tuple[Path, str]:
    """Return the folder to search in, and what in it. Raises ``ToolError`` for what ripgrep would never be done with.

    It opens what it is named and waits: for a FIFO's writer, or for the end of a device.
    """
    where = f"grep: {target.name}"
    try:
        status = stat_file(target.path)
    except FileNotFoundError as error:
        raise ToolError("there is no such file or folder", where=where, code="not-found") from error
    except OSError as error:
        raise ToolError(error.strerror or str(error), where=where, code="unreadable") from error
    if stat.S_ISDIR(status.st_mode):
        return target.path, "."
    if not stat.S_ISREG(status.st_mode):
        raise ToolError(irregular(status.st_mode), where=where, code="not-regular")
    if status.st_size > _SEARCHED_BYTES:
        raise ToolError(
            f"the file has {status.st_size} bytes, {_SEARCHED_BYTES // MIB} MiB at most are searched",
            where=where,
            mend="use bash with rg or grep, in the background",
            code="too-large",
        )
    return target.path.parent, f"./{target.path.name}"


def _last_words(errors: str) -> str:
    """Return what ripgrep says, without what it was given: that may be long, and stands in the call."""
    lines = errors.strip().splitlines()
    return cut_end("\n".join(lines if len(lines) <= _ERROR_LINES else lines[-_ERROR_LINES:]), _ERROR_CHARS)


def _include_options(include: str | None) -> list[str]:
    # A type only narrows; --glob would also bring back what the ignore files leave out. Patterns that are more than a
    # name are applied to the matches alone.
    if include is None or not _PLAIN_NAME.fullmatch(include):
        return []
    return [f"--type-add=wanted:{include}", "--type=wanted"]


def _kept(records: list[bytes], include: str | None, target: Target) -> tuple[list[_Match], set[str]]:
    """Return the matches to show, in order, and the names of secret files whose matches are held back.

    Reading such a file needs a permission of its own, which a search of its folder does not have.
    """
    found: list[_Match] = []
    secret: set[str] = set()
    whole = target.path.is_dir()
    folder = target.path if whole else target.path.parent
    begun = b""  # of a name with a line end in it
    for record in records:
        name, is_match, rest = record.partition(b"\0")
        number, _, text = rest.partition(b":")
        if not is_match or not number.isdigit():  # "binary file matches" and the like
            begun += record + b"\n"
            continue
        path = _path_of(begun, name, folder)
        begun = b""
        if include is not None and not matches_glob(include, path):
            continue
        if whole and _is_secret(path):
            secret.add(path)
            continue
        found.append(_Match(path, int(number), text.decode("utf-8", "replace").rstrip("\r")))
    return sorted(found, key=lambda match: (match.path, match.line)), secret


def _path_of(begun: bytes, name: bytes, folder: Path) -> str:
    """Return the path of a match; ``begun`` are the lines before it, which may be the beginning of its name."""
    whole = begun + name
    while b"\n" in whole:
        path = whole.decode("utf-8", "surrogateescape").removeprefix("./")
        if os.path.lexists(folder / path):
            return path
        whole = whole.partition(b"\n")[2]
    return name.decode("utf-8", "surrogateescape").removeprefix("./")


def _confirmed(found: list[_Match], folder: Path) -> list[_Match]:
    """Return the matches that are still there when no link is followed; ``found`` is in order of the paths."""
    kept: list[_Match] = []
    for path, group in groupby(found, key=lambda match: match.path):
        matches_of_file = list(group)
        there = holds(folder / path, [(match.line, match.text) for match in matches_of_file])
        kept += [match for match, is_there in zip(matches_of_file, there, strict=True) if is_there]
    return kept


def _is_secret(path: str) -> bool:
    name = Path(path).name.lower()
    return any(matches(pattern, name) for pattern in SECRET_FILES)
