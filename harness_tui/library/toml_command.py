"""Commands of Gemini CLI: a TOML file with ``prompt`` and ``description``, read as it stands."""

from __future__ import annotations

from pathlib import Path

from harness_tui.config.brace_forms import TomlFault, read_toml_prompt, unpaired
from harness_tui.core.record import record
from harness_tui.library.diagnostics import Diagnostic, Findings
from harness_tui.library.dialects import note_marks
from harness_tui.library.header import Header


@record
class ParsedFile:
    """What a command file gave, in TOML or Markdown: header and body, or the ``error`` that stops it."""

    header: Header
    body: str
    error: str | None
    diagnostics: tuple[Diagnostic, ...]


def read_toml(data: bytes, path: Path) -> ParsedFile:
    """Read the bytes of a command file in TOML; faults are diagnostics, never exceptions."""
    findings = Findings(str(path))

    def stopped(line: int, code: str, message: str) -> ParsedFile:
        findings.error(line, code, message)
        return ParsedFile(Header(), "", code, findings.told())

    if b"\x00" in data:
        line = data.count(b"\n", 0, data.index(b"\x00")) + 1
        return stopped(line, "binary-file", "a binary file: it holds a NUL byte")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        findings.warn(line, "encoding", "not UTF-8: the bytes that are not text were replaced")
        text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    try:
        found = read_toml_prompt(text.replace("\r\n", "\n").replace("\r", "\n"))
    except TomlFault as fault:
        return stopped(fault.line, fault.code, fault.message)
    if found.odd:
        findings.warn(found.odd, "type", "description should be a string: left out")
    open_at = unpaired(found.prompt)
    if open_at is not None:
        line = found.line + found.prompt.count("\n", 0, open_at)
        findings.warn(line, "braces", f"{found.prompt[open_at : open_at + 2]} is never closed: it stays as text")
    if not found.prompt.strip():
        findings.warn(found.line, "empty-body", "the body is empty: only the arguments are sent")
    note_marks(found.prompt, found.line, findings, "braces")
    header = Header(description=" ".join(found.description.split()))
    return ParsedFile(header, found.prompt, None, findings.told())
