"""One command file: read, named, and kept as the last good copy while an edit is broken."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from harness_tui.config.folders import Tool
from harness_tui.core.errors import HarnessError
from harness_tui.core.limits import TEMPLATE_BYTES
from harness_tui.core.paths import read_regular
from harness_tui.core.record import record
from harness_tui.library.diagnostics import Diagnostic, Findings
from harness_tui.library.dialects import Dialect, note_marks
from harness_tui.library.discovery import Stamp
from harness_tui.library.expand import TemplateSource
from harness_tui.library.front_matter import Document, read_document
from harness_tui.library.header import RUN_KEYS, Header, read_header
from harness_tui.library.roots import Scope
from harness_tui.library.toml_command import read_toml

_LINK_TEXT: Final = re.compile(r"(?:\.{1,2}/)*[\w.-]+(?:/[\w.-]+)+|[\w.-]+\.md")
_MENU_CHARS: Final = 100


@record
class Command:
    """A command file. ``error`` is the code that stops it; ``shadowed_by`` the path of the file used in its place.

    ``trusted`` is false for a file of a folder that the person has not trusted: it is listed and cannot be used.
    ``raw`` is the whole of a project's file, to be held against what was trusted. ``tool`` is whose folder it lies in.
    """

    name: str
    scope: Scope
    path: Path
    trusted: bool
    header: Header
    body: str
    error: str | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    shadowed_by: str | None = None
    raw: bytes = b""
    tool: Tool = "harness"

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
        if self.description:
            return self.description[:_MENU_CHARS]
        first = next((line.strip(" #\t") for line in self.body.splitlines() if line.strip(" #\t")), "")
        return first[:_MENU_CHARS]

    def template(self) -> TemplateSource:
        """Return what is expanded."""
        return TemplateSource(
            self.name, str(self.path), self.header, self.body, self.error, self.diagnostics, dialect=self.dialect
        )


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
    if path.suffix == ".toml":
        return _read_toml(path, name, scope, trusted=trusted, tool=tool)
    findings = Findings(str(path))
    document = read_template(path, RUN_KEYS)
    findings.extend(document.diagnostics)
    header = read_header(document, findings)
    body = document.body
    if document.error is None:
        _note_body(body, document, findings)
    raw = document.raw if scope == "project" else b""
    return Command(name, scope, path, trusted, header, body, document.error, tuple(findings.items), raw=raw, tool=tool)


def _read_toml(path: Path, name: str, scope: Scope, *, trusted: bool, tool: Tool) -> Command:
    try:
        data = read_regular(path, max_bytes=TEMPLATE_BYTES)
    except HarnessError as problem:
        if problem.code != "too-large":
            raise
        large = Diagnostic(str(path), 1, "template-too-large", problem.what, "error")
        return Command(name, scope, path, trusted, Header(), "", large.code, (large,), tool=tool)
    found = read_toml(data, path)
    raw = data if scope == "project" else b""
    return Command(
        name, scope, path, trusted, found.header, found.body, found.error, found.diagnostics, raw=raw, tool=tool
    )


def read_template(path: Path, known: frozenset[str]) -> Document:
    """Read and take apart a Markdown file. Raises ``HarnessError`` when it cannot be read."""
    try:
        return read_document(read_regular(path, max_bytes=TEMPLATE_BYTES), str(path), known)
    except HarnessError as problem:
        if problem.code != "too-large":
            raise
        diagnostic = Diagnostic(str(path), 1, "template-too-large", problem.what, "error")
        return Document("", error="template-too-large", diagnostics=(diagnostic,))


def _note_body(body: str, document: Document, findings: Findings) -> None:
    text = body.strip()
    note_marks(body, document.body_line, findings)
    if not text:
        findings.warn(document.body_line, "empty-body", "the body is empty: only the arguments are sent")
    elif document.entries is None and _LINK_TEXT.fullmatch(text):
        findings.warn(1, "link", "the whole file is one path: probably a link that was checked out as text")


class CommandCache:
    """Reads each file again only when it changed, and keeps the last good copy of one that broke."""

    def __init__(self) -> None:
        self._read: dict[str, tuple[Stamp, Command]] = {}
        self._good: dict[str, Command] = {}

    def get(
        self, path: str, name: str, scope: Scope, stamp: Stamp, *, trusted: bool, tool: Tool = "harness"
    ) -> Command:
        """Return the command of a file. Raises ``HarnessError`` when it cannot be read and never could."""
        key = path
        cached = self._read.get(key)
        if cached is not None and cached[0] == stamp and (cached[1].trusted, cached[1].scope) == (trusted, scope):
            return cached[1]
        command = read_command(Path(path), name, scope, trusted=trusted, tool=tool)
        good = self._good.get(key)
        if command.error is None:
            self._good[key] = command
        elif good is not None:
            note = Diagnostic(key, 1, "last-good-copy", "the file is broken: its last good copy is used")
            command = replace(good, trusted=trusted, scope=scope, diagnostics=(*command.diagnostics, note))
        self._read[key] = (stamp, command)
        return command

    def keep_only(self, paths: set[str]) -> None:
        """Forget the files that are gone."""
        for store in (self._read, self._good):
            for key in store.keys() - paths:
                del store[key]
