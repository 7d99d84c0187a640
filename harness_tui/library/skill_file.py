"""One skill file: read leniently, checked against the Agent Skills format, its body read only when it is used."""

from __future__ import annotations

import contextlib
import heapq
import os
import re
import unicodedata
from dataclasses import field
from pathlib import Path
from typing import Final

from harness_tui.core.errors import HarnessError
from harness_tui.core.late_pattern import late_pattern
from harness_tui.core.limits import TEMPLATE_BYTES
from harness_tui.core.paths import digest, read_regular
from harness_tui.core.record import record
from harness_tui.core.text import clean_for_display
from harness_tui.library.coercion import Reader
from harness_tui.library.diagnostics import Diagnostic, Findings
from harness_tui.library.front_matter import Document, read_document
from harness_tui.library.header import RUN_KEYS, Header, read_header
from harness_tui.library.roots import Scope
from harness_tui.library.yaml_loader import Mapping, Scalar

SKILL_KEYS: Final = RUN_KEYS | {"name", "license", "compatibility", "metadata"}
NAME_CHARS: Final = 64
DESCRIPTION_CHARS: Final = 1024
COMPATIBILITY_CHARS: Final = 500
LISTED_FILES: Final = 100

_UNUSABLE: Final = late_pattern(r"[/\\<>\x00-\x1f\x7f-\x9f]")
_NO_TEXT: Final = late_pattern(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]+")
_SLUG: Final = late_pattern(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_SCANNED: Final = 2_000
_PASSED_OVER: Final = frozenset({"node_modules", "__pycache__"})


@record
class Skill:
    """A skill. ``loaded`` is false when it cannot be used; ``shadowed_by`` is the path of the one used in its place.

    ``description`` is one line with single blanks. ``digest`` is over the bytes of the file. ``downloaded`` skills come
    from elsewhere, their shell parts never run.
    """

    name: str
    path: Path
    scope: Scope
    trusted: bool
    loaded: bool
    description: str = ""
    header: Header = field(default_factory=Header)
    license: str | None = None
    compatibility: str | None = None
    metadata: dict[str, str] = field(default_factory=dict[str, str])
    diagnostics: tuple[Diagnostic, ...] = ()
    digest: str = ""
    shadowed_by: str | None = None
    downloaded: bool = False

    @property
    def folder(self) -> Path:
        """The folder that its references are relative to."""
        return self.path.parent

    @property
    def slug(self) -> str:
        """The name as a slash command."""
        return slug(self.name) or slug(self.folder.name) or self.name

    @property
    def source(self) -> str:
        """Where it comes from: ``bundled``, ``user`` or ``project``."""
        return self.scope

    @property
    def argument_hint(self) -> str:
        """What is shown for its arguments when it is used as a command."""
        return self.header.argument_hint

    @property
    def hidden_reason(self) -> str | None:
        """Why the model is not told of it, whichever agent it works as; ``None`` when it is."""
        if not self.loaded:
            return "not loaded"
        if not self.trusted:
            return "untrusted"
        if self.shadowed_by is not None:
            return "shadowed"
        return "manual only" if self.header.disable_model_invocation else None

    def body(self) -> Document:
        """Read the file as it is now. Raises ``HarnessError`` when it cannot be used any more."""
        document = read_document(read_regular(self.path, max_bytes=TEMPLATE_BYTES), str(self.path), SKILL_KEYS)
        if document.error is not None or document.entries is None:
            raise HarnessError("the skill's file is broken now", where=str(self.path), mend="run harness skills check")
        return document


def slug(name: str) -> str:
    """Return ``name`` in lower case, everything but letters and digits as single hyphens."""
    if _SLUG.fullmatch(name):
        return name
    folded = unicodedata.normalize("NFKC", name).lower()
    return re.sub(r"[\W_]+", "-", folded).strip("-")


def folder_name(folder: Path) -> str:
    """Return the name of a folder as a skill's name: what no text can hold, such as line ends, is a blank."""
    if _SLUG.fullmatch(folder.name):
        return folder.name
    name = _NO_TEXT.sub(" ", unicodedata.normalize("NFKC", folder.name))
    return clean_for_display(name, one_line=True) or "skill"


def read_skill(path: Path, scope: Scope, *, trusted: bool) -> Skill:
    """Read a skill file; whatever is wrong is in its diagnostics. Never raises."""
    findings = Findings(str(path))
    folder = folder_name(path.parent)
    data = _read(path, findings)
    document = read_document(data, str(path), SKILL_KEYS) if data is not None else Document("", error="unreadable")
    findings.extend(document.diagnostics)
    odd_name = path.name != "SKILL.md"
    if odd_name and path.name != "skill.md":
        findings.error(1, "file-name", f"the file must be named SKILL.md, not {path.name}")
    if document.error is None and document.entries is None and document.mapping:
        findings.error(1, "front-matter", "the front matter is missing: a skill needs name and description")
    if document.entries is None:
        quiet = path.name == "skill.md"  # any text may be called so: only one with front matter was meant as a skill
        return Skill(folder, path, scope, trusted, False, diagnostics=() if quiet else findings.told())
    header = read_header(document, findings)
    reader = Reader(document, findings)
    name = _name(reader, folder, findings)
    if not header.description:
        findings.error(reader.line("description"), "description", "the description is missing or empty: not loaded")
    elif len(header.description) > DESCRIPTION_CHARS:
        message = f"the description has {len(header.description)} characters, more than {DESCRIPTION_CHARS}"
        findings.warn(reader.line("description"), "description", f"{message}: it is cut in the catalogue")
    if odd_name and not header.description:
        return Skill(name, path, scope, trusted, False)
    if path.name == "skill.md":
        findings.warn(1, "file-name", "the file should be named SKILL.md")
    if not document.body.strip():
        findings.warn(document.body_line, "body", "the body is empty: there is nothing to activate")
    if path.parent.name.startswith("."):
        findings.error(1, "hidden", "the folder is hidden: not loaded")
    return Skill(
        name,
        path,
        scope,
        trusted,
        loaded=not any(item.level == "error" for item in findings.items),
        description=header.description,
        header=header,
        license=reader.text("license"),
        compatibility=_compatibility(reader, findings),
        metadata=_metadata(document, findings),
        diagnostics=findings.told(),
        digest=digest(data or b""),
    )


def _read(path: Path, findings: Findings) -> bytes | None:
    try:
        return read_regular(path, max_bytes=TEMPLATE_BYTES)
    except HarnessError as problem:
        code = "template-too-large" if problem.code == "too-large" else problem.code
        findings.error(1, code, problem.what)
        return None


def _name(reader: Reader, folder: str, findings: Findings) -> str:
    """Return the identity; every breach of the format's rules for names is a warning."""
    if reader.text("name") == folder and len(folder) <= NAME_CHARS and _SLUG.fullmatch(folder):
        return folder  # as the format wants it
    line = reader.line("name")
    written = " ".join(unicodedata.normalize("NFKC", reader.text("name") or "").split())
    name = written if _UNUSABLE.search(written) else clean_for_display(written, one_line=True)
    if not name:
        findings.warn(1, "name", f"the name is missing: the name of the directory is used, {folder}")
        return folder
    if _UNUSABLE.search(name):
        message = f"the name holds characters that no name can: the name of the directory is used, {folder}"
        findings.warn(line, "name", message)
        return folder
    if len(name) > NAME_CHARS:
        findings.warn(line, "name", f"the name has {len(name)} characters, more than {NAME_CHARS}")
    if name != name.lower():
        findings.warn(line, "name", "the name should be lowercase")
    if name != written:
        findings.warn(line, "name", "the name holds invisible characters: they are left out")
    if not all(character.isalnum() or character == "-" for character in name):
        findings.warn(line, "name", "the name should have no other characters than letters, digits and hyphens")
    if name.startswith("-") or name.endswith("-") or "--" in name:
        findings.warn(line, "name", "the name should not begin or end with a hyphen, or hold two in a row")
    if name != folder:
        findings.warn(line, "name", f"the name differs from its directory, {folder}: the name counts")
    return name


def _compatibility(reader: Reader, findings: Findings) -> str | None:
    text = reader.text("compatibility")
    if text is not None and len(text) > COMPATIBILITY_CHARS:
        message = f"compatibility has {len(text)} characters, more than {COMPATIBILITY_CHARS}"
        findings.warn(reader.line("compatibility"), "compatibility", message)
    return text


def _metadata(document: Document, findings: Findings) -> dict[str, str]:
    entry = document.get("metadata")
    if entry is None or (isinstance(entry.value, Scalar) and entry.value.absent):
        return {}
    if not isinstance(entry.value, Mapping):
        findings.warn(entry.line, "metadata", "metadata should be a map of texts: left out")
        return {}
    kept: dict[str, str] = {}
    for key, value in entry.value.pairs:
        if isinstance(value, Scalar):
            kept[key] = value.text
        else:
            findings.warn(entry.line, "metadata", f"metadata should be a map of texts: {key} is left out")
    return kept


@record
class FolderList:
    """The files of a skill's folder: the first :data:`LISTED_FILES` names, and how many were found but not named.

    ``whole`` is false when there may be even more: the walk ends in a folder that is too large.
    """

    names: tuple[str, ...]
    left_out: int
    whole: bool = True


def list_files(folder: Path) -> FolderList:
    """Return what lies beside a skill's file, sorted, relative to ``folder``. Blocking, and bounded.

    Hidden files, the skill file itself and folders of other programs' making are left out; links to folders are not
    followed, so that nothing outside is listed.
    """
    names: list[str] = []
    waiting = [""]
    whole = True
    while waiting:
        if len(names) >= _SCANNED:
            whole = False
            break
        below = waiting.pop()
        folders: list[str] = []
        with contextlib.suppress(OSError), os.scandir(os.path.join(folder, below)) as entries:
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in _PASSED_OVER:
                        folders.append(f"{below}{entry.name}/")
                elif below or entry.name.lower() != "skill.md":
                    names.append(below + entry.name)
        waiting += sorted(folders, reverse=True)
    shown = heapq.nsmallest(LISTED_FILES, names)
    return FolderList(tuple(shown), len(names) - len(shown), whole)
