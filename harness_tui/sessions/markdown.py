"""A session as Markdown, for people and for other programs' notes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from harness_tui.core.envelope import Envelope
from harness_tui.core.redaction import redact
from harness_tui.core.text import clean_for_display
from harness_tui.sessions import transcript
from harness_tui.sessions.index import SessionInfo
from harness_tui.sessions.transcript import Call, Said, Told

_FENCES: Final = re.compile(r"`{3,}")
_HEADS: Final = {
    "prompt": "You",
    "steer": "You, meanwhile",
    "shell": "You, in the shell",
    "diagnostics": "Diagnostics",
    "other": "Note",
    "answer": "Assistant",
    "reasoning": "Reasoning",
}


def export_markdown(info: SessionInfo, envelopes: Iterable[Envelope]) -> Iterator[str]:
    """Yield the session in pieces. Texts of the model are Markdown already; all else stands in fences."""
    yield f"# {_line(info.title or info.session)}\n\n"
    yield f"Session `{info.session}` in `{_line(info.root)}`, {info.created} to {info.updated}\n"
    for item in transcript.read(envelopes):
        match item:
            case Said(who="reasoning", text=text):
                yield f"\n## {_HEADS[item.who]}\n\n{_quoted(_clean(text))}\n"
            case Said(who="answer", text=text):
                yield f"\n## {_HEADS[item.who]}\n\n{_clean(text)}\n"
            case Said(text=text):
                yield f"\n## {_HEADS[item.who]}\n\n{_fenced(text)}"
                for attached in item.attachments:
                    yield f"- {attached.kind}: `{_line(attached.path or attached.uri or attached.mime)}`\n"
            case Call():
                yield f"\n### {_line(item.tool)}: {_line(item.title)}{' (failed)' if item.is_error else ''}\n\n"
                yield _fenced(item.diff, "diff") if item.diff else _fenced(item.output or "(no result)")
            case Told(level=level, text=text):
                yield f"\n{_quoted(f'{level}: {_clean(text)}')}\n"


def _clean(text: str) -> str:
    return clean_for_display(redact(text)).rstrip("\n")


def _line(text: str) -> str:
    return clean_for_display(redact(text), one_line=True).replace("`", "'")


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def _fenced(text: str, language: str = "text") -> str:
    text = _clean(text)
    longest = max((len(found) for found in _FENCES.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}\n"
