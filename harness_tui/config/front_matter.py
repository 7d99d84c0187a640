"""The strict front matter of agent files: YAML between two ``---`` lines, then the prompt."""

from __future__ import annotations

from pathlib import Path

from harness_tui.config.document import Document, broken_document, split_front_matter
from harness_tui.config.yaml_source import parse_yaml, read_text
from harness_tui.core.limits import FRONT_MATTER_BYTES, TEMPLATE_BYTES
from harness_tui.core.record import record


@record
class FrontMatter:
    """The parsed front matter of a file (a mapping) and the text after it."""

    document: Document
    body: str


def read_front_matter(path: Path) -> FrontMatter:
    """Read a Markdown file with front matter; faults are problems of its document."""
    text = read_text(path, max_bytes=TEMPLATE_BYTES)
    return FrontMatter(text, "") if isinstance(text, Document) else read_front_matter_text(text, path)


def read_front_matter_text(text: str, path: Path) -> FrontMatter:
    """Take the text of such a file apart; ``path`` is for its problems."""
    matter, body = split_front_matter(text)
    if matter is None:
        if text.lstrip("\ufeff").startswith("---"):
            message, mend = "the front matter is not closed", "end it with a line of three dashes"
            return FrontMatter(broken_document(path, "unterminated-frontmatter", message, mend), "")
        return FrontMatter(Document(path, {}, {(): 1}), text.strip())
    if len(matter.encode("utf-8", "surrogatepass")) > FRONT_MATTER_BYTES:
        message = f"the front matter is larger than {FRONT_MATTER_BYTES} bytes"
        return FrontMatter(broken_document(path, "frontmatter-too-large", message), "")
    document = parse_yaml(matter, path, first_line=2)
    if not isinstance(document.values, dict):
        message, mend = "the front matter is not a mapping", "write 'key: value' lines"
        document = broken_document(path, "front-matter", message, mend, line=2)
    return FrontMatter(document, body.strip())
