"""A session as one HTML page that needs nothing else: no script, no font, no picture from elsewhere.

All text is escaped. The model's Markdown is rendered without raw HTML and without pictures, and the page forbids by its
own policy whatever would load something.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from harness_tui.core.envelope import Envelope
from harness_tui.core.messages import Attachment
from harness_tui.core.redaction import redact
from harness_tui.core.text import clean_for_display
from harness_tui.sessions import transcript
from harness_tui.sessions.index import SessionInfo
from harness_tui.sessions.transcript import Call, Said, Told

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_PICTURES: Final = {"image/png": b"\x89PNG", "image/jpeg": b"\xff\xd8", "image/gif": b"GIF8", "image/webp": b"RIFF"}
_PICTURE_CHARS: Final = 8_000_000
_LINK: Final = re.compile(r"(?i)\s*(https?://|mailto:|#)")
_HEADS: Final = {
    "prompt": "You",
    "steer": "You, meanwhile",
    "shell": "You, in the shell",
    "diagnostics": "Diagnostics",
    "other": "Note",
    "answer": "Assistant",
    "reasoning": "Reasoning",
}
_STYLE: Final = """
:root { color-scheme: light dark; --ink: #1c1e21; --paper: #fff; --faint: #5b616a; --edge: #d6d9de; --soft: #f4f5f7;
  --you: #0b57a4; --bad: #b3261e; --warn: #8a5300; --plus: #12652f; --minus: #a11b12; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e6e9; --paper: #16181b; --faint: #9aa2ad; --edge: #34383e;
  --soft: #1f2226; --you: #7db8f5; --bad: #ff8a80; --warn: #f0b55c; --plus: #7ddb99; --minus: #ff9d94; } }
body { margin: 0 auto; padding: 2rem 1rem 4rem; max-width: 52rem; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; margin: 0; } header p, time { color: var(--faint); font-size: .85rem; }
section { margin: 1.4rem 0; } h2 { font-size: .95rem; margin: 0 0 .3rem; }
.prompt h2, .steer h2, .shell h2 { color: var(--you); }
.prompt > pre, .steer > pre, .shell > pre { border-left: 3px solid var(--you); }
pre { margin: .3rem 0; padding: .6rem .8rem; background: var(--soft); border-radius: 4px; white-space: pre-wrap;
  font: 13px/1.45 ui-monospace, monospace; } code { font: .9em ui-monospace, monospace; background: var(--soft); }
pre code { background: none; } summary { cursor: pointer; } details { border: 1px solid var(--edge); border-radius: 4px;
  padding: .35rem .7rem; } .failed summary, .error { color: var(--bad); } .warning { color: var(--warn); }
.told { color: var(--faint); font-size: .9rem; } .told.error { color: var(--bad); }
.told.warning { color: var(--warn); }
.reasoning { color: var(--faint); } .plus { color: var(--plus); } .minus { color: var(--minus); }
table { border-collapse: collapse; } td, th { border: 1px solid var(--edge); padding: .2rem .5rem; }
img { max-width: 100%; } blockquote { margin-left: 0; padding-left: 1rem; border-left: 3px solid var(--edge); }
"""


def export_html(
    info: SessionInfo, envelopes: Iterable[Envelope], pictures: Mapping[str, str] | None = None
) -> Iterator[str]:
    """Yield the page in pieces. ``pictures`` are images in base 64, by the text of :func:`picture_key`."""
    title = _escaped(info.title or info.session, one_line=True)
    yield (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n"
        f'<meta name="referrer" content="no-referrer">\n<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n'
    )
    yield (
        f"<body>\n<header><h1>{title}</h1>\n<p>Session {_escaped(info.session)} in {_escaped(info.root)}, "
        f"{_escaped(info.created)} to {_escaped(info.updated)}</p></header>\n<main>\n"
    )
    render = _renderer()
    for item in transcript.read(envelopes):
        match item:
            case Said():
                yield _said(item, render, pictures or {})
            case Call():
                yield _call(item)
            case Told(level=level, text=text):
                yield f'<p class="told {level}">{_escaped(text)}</p>\n'
    yield "</main>\n</body>\n</html>\n"


def picture_key(attachment: Attachment) -> str:
    """Return what an image is found by: events name it, messages hold it."""
    return f"{attachment.path or attachment.uri}:{attachment.bytes}"


def _said(item: Said, render: MarkdownIt, pictures: Mapping[str, str]) -> str:
    head = f'<section class="{item.who}"><h2>{_HEADS[item.who]} <time>{_escaped(item.time)}</time></h2>\n'
    if item.who == "reasoning":
        shown = f"<details><summary>shown on demand</summary><pre>{_escaped(item.text)}</pre></details>\n"
    elif item.who == "answer":
        shown = render.render(clean_for_display(redact(item.text)))
    else:
        shown = f"<pre>{_escaped(item.text)}</pre>\n"
    return head + shown + "".join(_attached(each, pictures) for each in item.attachments) + "</section>\n"


def _attached(attachment: Attachment, pictures: Mapping[str, str]) -> str:
    name = _escaped(attachment.path or attachment.uri or attachment.mime, one_line=True)
    data = pictures.get(picture_key(attachment)) if attachment.kind == "image" else None
    if data is not None and _is_picture(attachment.mime, data):
        image = f'<img alt="{name}" src="data:{attachment.mime};base64,{data}">'
        return f"<figure>{image}<figcaption>{name}</figcaption></figure>\n"
    return f"<p>{_escaped(attachment.kind)}: <code>{name}</code></p>\n"


def _is_picture(mime: str, data: str) -> bool:
    """Tell whether ``data`` is base 64 of a picture of this type: what a server says it is may be anything."""
    if mime not in _PICTURES or len(data) > _PICTURE_CHARS:
        return False
    try:
        return base64.b64decode(data, validate=True).startswith(_PICTURES[mime])
    except (ValueError, binascii.Error):
        return False


def _call(item: Call) -> str:
    failed = " failed" if item.is_error else ""
    body = _diff(item.diff) if item.diff else ""
    if item.output is None:
        body += "<p>no result</p>"
    elif item.output or not body:
        body += f"<pre>{_escaped(item.output)}</pre>"
    is_open = " open" if item.diff else ""
    return (
        f'<section class="call{failed}"><details{is_open}><summary><b>{_escaped(item.tool, one_line=True)}</b> '
        f"{_escaped(item.title, one_line=True)}{' (failed)' if failed else ''}</summary>{body}</details></section>\n"
    )


def _diff(text: str) -> str:
    lines: list[str] = []
    for line in clean_for_display(redact(text)).split("\n"):
        shown = html.escape(line)
        kind = "plus" if line.startswith("+") else "minus" if line.startswith("-") else ""
        lines.append(f'<span class="{kind}">{shown}</span>' if kind else shown)
    return "<pre>" + "\n".join(lines) + "</pre>"


def _escaped(text: str, *, one_line: bool = False) -> str:
    return html.escape(clean_for_display(redact(text), one_line=one_line))


def _renderer() -> MarkdownIt:
    from markdown_it import MarkdownIt

    render = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    render.validateLink = lambda url: _LINK.match(url) is not None  # type: ignore[method-assign]
    return render
