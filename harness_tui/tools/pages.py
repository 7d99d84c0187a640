"""Documents from the web as text that a model reads: characters decoded, HTML turned into Markdown or plain text.

The HTML library is imported with the first page, in a thread like everything here: a page may be megabytes.
"""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from harness_tui.core.late_pattern import late_pattern
from harness_tui.core.record import record
from harness_tui.core.text import clean_for_display, cut_end

if TYPE_CHECKING:
    from turbohtml import Document, Markdown

Format: TypeAlias = Literal["markdown", "text", "html"]

_HTML: Final = ("text/html", "application/xhtml+xml")
_TEXT: Final = late_pattern(
    r"text/.+|application/(?:.+\+)?(?:json|xml|yaml|toml|x-yaml|x-toml|x-ndjson|ndjson|jsonl|javascript|ecmascript"
    r"|x-javascript|typescript|sql|graphql|x-sh|x-shellscript|rtf|x-tex|x-subrip|xhtml\+xml)|message/.+|image/svg\+xml"
)
_CHARSET: Final = late_pattern(r"""charset\s*=\s*["']?\s*([A-Za-z0-9_.:-]{1,40})""", re.IGNORECASE)
_META: Final = late_pattern(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([A-Za-z0-9_.:-]{1,40})""", re.IGNORECASE)
_CODECS: Final = late_pattern(
    r"ascii|utf-8|utf-16(?:-[lb]e)?|iso8859-\d+|cp125\d|cp874|cp866|koi8-[ru]|mac-(?:roman|cyrillic)|shift_jis|cp932"
    r"|euc_jp|iso2022_jp|gb2312|gbk|gb18030|big5|big5hkscs|euc_kr|cp949"
)
_LATIN: Final = {"ascii": "cp1252", "iso8859-1": "cp1252"}  # what browsers take these names for
_MARKS: Final = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_SNIFFED: Final = 1_024
_UNREAD: Final = "script,style,noscript,template,svg,canvas,iframe,object,embed,[hidden],[aria-hidden=true]"
_TITLE_CHARS: Final = 200


@record
class Page:
    """A document as text. ``title`` is that of an HTML page."""

    text: str
    title: str | None = None


def media_type(content_type: str) -> str:
    """Return the bare media type of a ``Content-Type``, in lower case."""
    return content_type.partition(";")[0].strip().lower()


def is_readable(content_type: str, body: bytes) -> bool:
    """Tell whether a body is text. Without a type the body itself tells: no NUL, and UTF-8."""
    kind = media_type(content_type)
    if kind:
        return _TEXT.fullmatch(kind) is not None
    try:
        head = codecs.getincrementaldecoder("utf-8")().decode(body[:_SNIFFED])
    except UnicodeDecodeError:
        return False
    return "\0" not in head


def read_page(body: bytes, content_type: str, url: str, wanted: Format) -> Page:
    """Return ``body`` as text, cleaned. ``url`` is what relative links are read against. Takes long for large pages."""
    is_html = _is_html(content_type, body)
    text = _decoded(body, content_type, is_html)
    if not is_html or wanted == "html":
        return Page(clean_for_display(text))
    return _converted(text, url, wanted)


def _is_html(content_type: str, body: bytes) -> bool:
    kind = media_type(content_type)
    if kind:
        return kind in _HTML
    return body[:_SNIFFED].lstrip().lower().startswith((b"<!doctype html", b"<html", b"<head", b"<body"))


def _decoded(body: bytes, content_type: str, is_html: bool) -> str:
    """Decode as the mark of the body, its header or its ``meta`` say, in this order; else as UTF-8."""
    for mark, name in _MARKS:
        if body.startswith(mark):
            return body.decode(name, "replace")
    found = _CHARSET.search(content_type)
    label = found[1] if found else None
    if label is None and is_html and (meta := _META.search(body[:_SNIFFED])):
        label = meta[1].decode("ascii")
        if label.lower().startswith("utf-16"):  # it could not have been read then
            label = "utf-8"
    return body.decode(_codec(label), "replace")


def _codec(label: str | None) -> str:
    """Return the codec of a label: only those of texts on the web, for Python knows others that are no such thing."""
    try:
        name = codecs.lookup(label or "utf-8").name
    except (LookupError, ValueError):  # unknown, or nothing that could be a name
        return "utf-8"
    return _LATIN.get(name, name) if _CODECS.fullmatch(name) else "utf-8"


def _converted(html: str, url: str, wanted: Format) -> Page:
    import turbohtml

    document = turbohtml.parse(html, positions=False)
    title = document.find("title")
    words = None if title is None else cut_end(clean_for_display(title.text, one_line=True), _TITLE_CHARS)
    document.remove(_UNREAD)
    for image in document.select('img[src^="data:" i]'):
        del image.attrs["src"]  # a picture in letters
    if wanted == "markdown":
        _resolve(document, url)
    text = document.to_markdown(_options(wanted))
    return Page(clean_for_display(text).strip() + "\n", words or None)


def _resolve(document: Document, url: str) -> None:
    """Make links absolute, so that they can be fetched; those of a page with a broken base stay as they are."""
    try:
        document.resolve_links(document.base_url(url))
    except ValueError:
        return


def _options(wanted: Format) -> Markdown:
    from turbohtml import Markdown

    images: Any = Markdown.Images(mode="markdown" if wanted == "markdown" else "alt")
    if wanted == "markdown":
        return Markdown(images=images)
    return Markdown(
        images=images,
        links=Markdown.Links(ignore=True),
        inline=Markdown.Inline(ignore_emphasis=True),
        tables=Markdown.Tables(mode="strip"),
        escaping=Markdown.Escaping(mode="none", asterisks=False, underscores=False),
    )
