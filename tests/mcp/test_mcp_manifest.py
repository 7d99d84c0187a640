"""Cached manifests: what was saved is read again for the same entry only, and damage counts as absence."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path

import pytest

from harness_tui.config.settings import McpServerSettings
from harness_tui.core.seams import PromptArgument, PromptSpec
from harness_tui.mcp.listing import Listing, Quarantined, ToolDefinition
from harness_tui.mcp.manifest import ManifestCache, fingerprint

ENTRY = McpServerSettings(name="s", command=("server", "--port", "1"), env={"KEY": "hidden-value"})
LISTING = Listing(
    tools=(ToolDefinition("a", "A tool", {"type": "object", "properties": {"x": {"type": ["string", "null"]}}}),),
    prompts=(PromptSpec("s", "p", "A prompt", (PromptArgument("who", required=True),)),),
    quarantined=(Quarantined("b", "no schema"),),
    protocol="2025-11-25",
    era="legacy",
    instructions="Lies \ud800 there",
)


@pytest.fixture
def cache(tmp_path: Path) -> ManifestCache:
    return ManifestCache(tmp_path / "cache", tmp_path)


def test_a_listing_comes_back_as_it_was(cache: ManifestCache) -> None:
    cache.save(ENTRY, LISTING)
    assert cache.load(ENTRY) == LISTING


def test_the_file_is_private_and_holds_no_secret_of_the_entry(cache: ManifestCache) -> None:
    cache.save(ENTRY, LISTING)
    path = cache.path(ENTRY)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert b"hidden-value" not in path.read_bytes()


@pytest.mark.parametrize(
    "changed",
    [
        replace(ENTRY, command=("server", "--port", "2")),
        replace(ENTRY, env={"KEY": "other"}),
        replace(ENTRY, cwd="elsewhere"),
        replace(ENTRY, headers={"X": "1"}),
        replace(ENTRY, command=(), url="http://127.0.0.1:1/mcp"),
    ],
)
def test_a_changed_entry_has_no_manifest(cache: ManifestCache, changed: McpServerSettings) -> None:
    cache.save(ENTRY, LISTING)
    assert cache.load(changed) is None


def test_what_does_not_make_another_server_keeps_the_manifest(cache: ManifestCache, tmp_path: Path) -> None:
    same = replace(ENTRY, source="elsewhere:9", tools={"a": False}, lazy=False)
    assert fingerprint(same, tmp_path) == fingerprint(ENTRY, tmp_path)


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"format": 99, "server": "s", "listing": {}}', b"\xff\xfe"])
def test_a_damaged_file_counts_as_absent(cache: ManifestCache, damage: bytes) -> None:
    cache.save(ENTRY, LISTING)
    cache.path(ENTRY).write_bytes(damage)
    assert cache.load(ENTRY) is None


def test_a_fingerprint_of_a_tool_changes_with_what_the_model_reads() -> None:
    tool = LISTING.tools[0]
    assert replace(tool, description="Another").fingerprint != tool.fingerprint
    assert replace(tool, schema={"type": "object"}).fingerprint != tool.fingerprint
    assert replace(tool, title="Title").fingerprint == tool.fingerprint
