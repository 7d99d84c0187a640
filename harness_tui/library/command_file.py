"""One command file: named, looked through for lists, and read anew whenever it is used."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from harness_tui.config.folders import Tool
from harness_tui.core.errors import HarnessError
from harness_tui.core.limits import TEMPLATE_BYTES
from harness_tui.core.paths import digest, read_regular
from harness_tui.core.record import record
from harness_tui.core.text import cut_end
from harness_tui.library.diagnostics import Diagnostic, Findings
from harness_tui.library.dialects import Dialect, note_marks
from harness_tui.library.expand import TemplateSource
from harness_tui.library.front_matter import Document, read_document
from harness_tui.library.header import RUN_KEYS, Header, read_header
from harness_tui.library.roots import Scope
from harness_tui.library.toml_command import ParsedFile, read_toml

_LINK_TEXT: Final = re.compile(r"(?:\.{1,2}/)*[\w.-]+(?:/[\w.-]+)+|[\w.-]+\.md")
MENU_CHARS: Final = 100
"""As much of a description is shown in menus."""


@record
class Command:
    """A command file. ``error`` is the code that stops it; ``shadowed_by`` the path of the file used in its place.

    ``trusted`` is false for a file of a folder that the person has not trusted: it is listed and cannot be used.
    ``first_line`` is that of the body, ``digest`` is over the bytes of the file, ``tool`` is whose folder it lies in.
    ``kept`` is the last good copy, while the file itself is broken.
    """

    name: str
    scope: Scope
    path: Path
    trusted: bool
    header: Header
    first_line: str = ""
    error: str | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    shadowed_by: str | None = None
    digest: str = ""
    tool: Tool = "harness"
    kept: bytes | None = None

    @property
    def dialect(self) -> Dialect:
        """How its marks are written."""
        if self.path.suffix == ".toml":
            return "braces"
        return "keyed" if self.tool == "codex" else "markdown"

    @property
    def key(self) -> str:
        """The name as it is looked up: ``:`` counts as ``/``."""
        return name_key(self.name)

    @property
    def description(self) -> str:
        """The description of its front matter, empty without one."""
        return self.header.description

    @property
    def argument_hint(self) -> str:
        """What is shown for its arguments, as its author wrote it."""
        return self.header.argument_hint

    @property
    def source(self) -> str:
        """Where it comes from: ``bundled``, ``user`` or ``project``."""
        return self.scope

    @property
    def hidden(self) -> bool:
        """Whether menus leave it out."""
        return self.header.hidden

    @property
    def summary(self) -> str:
        """One line for menus: the description, else the first line of the body."""
        return cut_end(self.description, MENU_CHARS) if self.description else self.first_line

    def read(self) -> CommandText:
        """Return what is expanded, with the bytes it was made of. Raises ``HarnessError`` if there is none any more."""
        data = self.kept if self.kept is not None else read_bytes(self.path)
        found = _parsed(data, self.path)
        diagnostics = self.diagnostics if self.kept is not None else found.diagnostics
        template = TemplateSource(
            self.name, str(self.path), found.header, found.body, found.error, diagnostics, dialect=self.dialect
        )
        return CommandText(template, data if isinstance(data, bytes) else b"")


@record
class CommandText:
    """A command as it is used now: its template, and the file's bytes, to be held against what was trusted."""

    template: TemplateSource
    raw: bytes


def name_key(name: str) -> str:
    """Return ``name`` as it is looked up."""
    return unicodedata.normalize("NFC", name).replace(":", "/")


def command_name(parts: Sequence[str]) -> str:
    """Return the name of the file with these ``parts`` below its root. Raises ``HarnessError`` if it can have none."""
    whole = unicodedata.normalize("NFC", "/".join(parts))
    name = whole.removesuffix(".toml") if whole.endswith(".toml") else whole.removesuffix(".md")
    if not name or any(character.isspace() or not character.isprintable() for character in name):
        raise HarnessError(
            "a command's name may hold no blanks or control characters", mend="rename the file", code="name"
        )
    return name


def read_command(path: Path, name: str, scope: Scope, *, trusted: bool, tool: Tool = "harness") -> Command:
    """Read a command file. A file that cannot be used comes back with its ``error``.

    Raises ``HarnessError`` when there is nothing to read.
    """
    return command_of(read_bytes(path), path, name, scope, trusted=trusted, tool=tool)


def command_of(
    data: bytes | HarnessError, path: Path, name: str, scope: Scope, *, trusted: bool, tool: Tool = "harness"
) -> Command:
    """Return the command that a file with the bytes ``data`` is; an error stands for a file that is too large."""
    found = _parsed(data, path)
    mark = digest(data) if isinstance(data, bytes) else ""
    first = found.body.lstrip(" #\t\n").partition("\n")[0].strip(" #\t")
    return Command(
        name,
        scope,
        path,
        trusted,
        found.header,
        first_line=cut_end(first, MENU_CHARS),
        error=found.error,
        diagnostics=found.diagnostics,
        digest=mark,
        tool=tool,
    )


def read_bytes(path: Path) -> bytes | HarnessError:
    """Return the bytes of a command file; the error itself for one that is too large. Raises ``HarnessError``."""
    try:
        return read_regular(path, max_bytes=TEMPLATE_BYTES)
    except HarnessError as problem:
        if problem.code != "too-large":
            raise
        return problem


def _parsed(data: bytes | HarnessError, path: Path) -> ParsedFile:
    if isinstance(data, HarnessError):
        large = Diagnostic(str(path), 1, "template-too-large", data.what, "error")
        return ParsedFile(Header(), "", large.code, (large,))
    if path.suffix == ".toml":
        return read_toml(data, path)
    findings = Findings(str(path))
    document = read_document(data, str(path), RUN_KEYS)
    findings.extend(document.diagnostics)
    header = read_header(document, findings)
    if document.error is None:
        _note_body(document.body, document, findings)
    return ParsedFile(header, document.body, document.error, findings.told())


def _note_body(body: str, document: Document, findings: Findings) -> None:
    text = body.strip()
    note_marks(body, document.body_line, findings)
    if not text:
        findings.warn(document.body_line, "empty-body", "the body is empty: only the arguments are sent")
    elif document.entries is None and _LINK_TEXT.fullmatch(text):
        findings.warn(1, "link", "the whole file is one path: probably a link that was checked out as text")
