"""The YAML of front matter: text only, no anchors, aliases or tags, duplicate keys seen, depth bounded.

PyYAML is imported at the first use. Typed loaders turn ``12:30`` into 750 and ``on`` into true, and hang or explode on
shared nodes; here every scalar stays text and the composer refuses what front matter never needs.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from harness_tui.core.record import record

if TYPE_CHECKING:
    import yaml

_DEPTH: Final = 24
_NULLS: Final = frozenset({"", "~", "null", "Null", "NULL"})


@record
class Scalar:
    """A text. ``plain`` tells that it was written without quotes, so that ``~`` means nothing is there."""

    text: str
    plain: bool = True

    @property
    def absent(self) -> bool:
        """Whether this is a plain null."""
        return self.plain and self.text in _NULLS


@record
class Sequence:
    """A list with its source text; ``flow`` is the bracketed form."""

    items: tuple[Node, ...]
    source: str
    flow: bool


@record
class Mapping:
    """A map with its source text, keys in file order."""

    pairs: tuple[tuple[str, Node], ...]
    source: str
    flow: bool


Node = Scalar | Sequence | Mapping


@record
class Pair:
    """One top-level key with its value and the line that it stands in, counted from 0."""

    key: str
    value: Node
    line: int


@record
class Parsed:
    """The top level of a document: its pairs in file order, or ``None`` when it is no map."""

    pairs: tuple[Pair, ...] | None


class FrontMatterYamlError(Exception):
    """Text that is not the YAML that we take. ``line`` counts from 0."""

    def __init__(self, problem: str, line: int) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = line


@lru_cache(maxsize=1)
def _loader() -> type[yaml.BaseLoader]:
    import yaml

    class TextLoader(yaml.BaseLoader):
        """Composes nodes of text; refuses shared nodes and constructors."""

        depth = 0

        def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
            event: Any = self.peek_event()
            mark = event.start_mark
            if isinstance(event, yaml.AliasEvent):
                raise yaml.MarkedYAMLError(None, None, f"alias *{event.anchor} is not allowed", mark)
            if event.anchor is not None:
                raise yaml.MarkedYAMLError(None, None, f"anchor &{event.anchor} is not allowed", mark)
            if event.tag is not None:
                raise yaml.MarkedYAMLError(None, None, f"tag {event.tag} is not allowed", mark)
            if self.depth >= _DEPTH:
                raise yaml.MarkedYAMLError(None, None, f"nested deeper than {_DEPTH} levels", mark)
            self.depth += 1
            try:
                return super().compose_node(parent, index)
            finally:
                self.depth -= 1

    return TextLoader


def parse(text: str) -> Parsed:
    """Return the top level of ``text``. Raises :class:`FrontMatterYamlError`, and nothing else."""
    import yaml

    try:
        loader = _loader()(text)
        try:
            root = loader.get_single_node()
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        mark: Any = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error).splitlines()[0]
        raise FrontMatterYamlError(str(problem), mark.line if mark is not None else 0) from error
    except (ValueError, RecursionError) as error:
        raise FrontMatterYamlError(str(error) or type(error).__name__, 0) from error
    if root is None or (isinstance(root, yaml.ScalarNode) and root.style is None and root.value in _NULLS):
        return Parsed(())
    if not isinstance(root, yaml.MappingNode):
        return Parsed(None)
    return Parsed(tuple(_pairs(root, text)))


def _pairs(root: yaml.MappingNode, text: str) -> Iterator[Pair]:
    for key, value in root.value:
        yield Pair(_key(key, text), _node(value, text), key.start_mark.line)


def _key(node: yaml.Node, text: str) -> str:
    value = _node(node, text)
    return value.text if isinstance(value, Scalar) else value.source


def _node(node: Any, text: str) -> Node:
    import yaml

    if isinstance(node, yaml.ScalarNode):
        return Scalar(str(node.value), node.style is None)
    source = text[node.start_mark.index : node.end_mark.index].strip()
    flow = bool(node.flow_style)
    if isinstance(node, yaml.SequenceNode):
        return Sequence(tuple(_node(item, text) for item in node.value), source, flow)
    pairs = tuple((_key(key, text), _node(value, text)) for key, value in node.value)
    return Mapping(pairs, source, flow)
