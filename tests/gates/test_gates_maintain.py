"""The guide to updates of the MCP SDK: every path that it names exists, and whatever uses the SDK deeply is in it."""

from __future__ import annotations

import re
from pathlib import Path

OWN_PATH = re.compile(r"`((?:harness_tui|tests|benchmarks)/[\w/]+\.py)`")
PRIVATE = re.compile(r"^\s*(?:from|import) mcp\.(?:client|shared)\b", re.MULTILINE)


def missing(guide: str, root: Path) -> list[str]:
    """Return the paths that the guide names and that are not there."""
    return [name for name in OWN_PATH.findall(guide) if not (root / name).is_file()]


def unnamed(guide: str, root: Path) -> list[str]:
    """Return the modules that use inner parts of the SDK's client, where names move, and that it is silent of."""
    named = set(OWN_PATH.findall(guide))
    modules = sorted((root / "harness_tui").rglob("*.py"))
    using = [path for path in modules if PRIVATE.search(path.read_text(encoding="utf-8"))]
    return [name for path in using if (name := str(path.relative_to(root))) not in named]


def test_every_path_of_the_guide_exists_and_every_user_of_the_sdks_inside_is_in_it(root: Path) -> None:
    guide = (root / "docs" / "maintain-mcp.md").read_text(encoding="utf-8")
    assert len(OWN_PATH.findall(guide)) > 20
    assert missing(guide, root) == []
    assert unnamed(guide, root) == [], "give each a line in docs/maintain-mcp.md"


def test_a_path_that_is_gone_and_a_module_that_is_new_are_found(tmp_path: Path) -> None:
    (tmp_path / "harness_tui").mkdir()
    (tmp_path / "harness_tui" / "new.py").write_text("from mcp.client.auth import OAuthClientProvider\n")
    guide = "| `harness_tui/mcp/gone.py` | a thing |"
    assert missing(guide, tmp_path) == ["harness_tui/mcp/gone.py"]
    assert unnamed(guide, tmp_path) == ["harness_tui/new.py"]
