from __future__ import annotations

from harness_tui.config.trust import TrustItem
from harness_tui.workspace.rows import TrustRow, trust_rows


def test_each_thing_says_what_it_is_and_what_it_would_do() -> None:
    files = [
        TrustItem(".harness/commands/say.md", "new", "x", ("command runs: ls", "command with allowed-tools: Bash(a)")),
        TrustItem(".harness/skills/pdf/SKILL.md", "new", "x", ("skill runs: id",)),
        TrustItem(
            ".mcp.json", "new", "x", ("MCP server time: mcp-server-time", "MCP server docs: https://example.test/mcp")
        ),
        TrustItem(".harness/config.yaml", "new", "x", ("allow rule: bash make *",)),
    ]
    assert [row.text for row in trust_rows(files)] == [
        "command say: runs `ls`",
        "command say: with allowed-tools: Bash(a)",
        "skill pdf: runs `id`",
        "MCP server time: runs mcp-server-time",
        "MCP server docs: reaches https://example.test/mcp",
        "allow rule: bash make *",
    ]


def test_files_that_are_text_alone_take_one_row_at_the_end() -> None:
    files = [TrustItem("a.md", "new"), TrustItem("b.md", "new"), TrustItem("c.md", "new", "agent c", ("agent c",))]
    assert trust_rows(files) == (
        TrustRow("", "agent c", "c.md"),
        TrustRow("", "2 files that are text alone", "a.md, b.md"),
    )


def test_in_a_folder_that_was_trusted_before_only_the_difference_is_shown() -> None:
    files = [
        TrustItem("a.md", "same", "command runs: ls", ("command runs: ls",)),
        TrustItem("b.md", "changed", "command runs: id", ("command runs: id",)),
        TrustItem(".harness/config.yaml", "removed"),
    ]
    assert trust_rows(files) == (
        TrustRow("changed", "command b: runs `id`", "b.md"),
        TrustRow("removed", ".harness/config.yaml", ".harness/config.yaml"),
    )
