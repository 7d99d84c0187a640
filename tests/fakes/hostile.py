"""Text of others that wants to move the cursor, write the clipboard, or look like another thing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness_tui.core import events as ev
from harness_tui.core.event_parts import DiffPreview, QueueItem, RunError, ServerDetail, Truncation
from harness_tui.core.messages import UserMessage
from harness_tui.core.values import DiagnosticItem, SourceRef

PIECES: tuple[str, ...] = (
    *(
        "\x1b[2J",
        "\x1b[H",
        "\x1b[10A",
        "\x1b]0;pwned\x07",
        "\x1b]52;c;cHduZWQ=\x07",
        "\x1bPq#0~\x1b\\",
        "\x1b[?1049l",
        "\x1b",
    ),
    *(
        "\x9b2J",
        "\x90x\x9c",
        "\x00",
        "\x07",
        "\b\b\b",
        "\r",
        "\r\n",
        "\n",
        "\t",
        "\v\f",
        "\x7f",
        "\x85",
        "\u2028",
        "\ud800",
    ),
    *(
        "\u202e",
        "\u2066",
        "\u200f",
        "\ufeff",
        "\u200b",
        "\U000e0041",
        "שלום",
        "العربية",
        "日本語",
        "한국어",
        "ｆｕｌｌ",
    ),
    *("👩‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪", "👍🏽", "e\u0301\u0301\u0301", "a" + "\u0300" * 30, "\u0301", "ﷺ", "𒐫", "क्षि"),
    *(
        "[/bold]",
        "[red]",
        "[@click=app.quit]x[/]",
        "```\n",
        "| a | b |\n|---|---|\n",
        "# ",
        "- ",
        "> ",
        "@@ -1 +1 @@\n",
        "+",
        "-",
    ),
    *("word ", "a" * 200, " ", "…", "│", "https://x.test/\x1b[1m"),
)


def hostile_events(hostile: Callable[[], Any]) -> list[ev.Event]:
    """Return a run in which every text is what ``hostile()`` gives."""
    text = hostile
    item = DiagnosticItem(text(), 1, 1, 1, 2, "error", text(), code=text(), source=text())
    shown = {"files": [text()], "exit_code": 1, "diff": "@@ -1,2 +1,2 @@\n-" + text() + "\n+" + text()}
    return [
        ev.SessionChanged(title=text(), model=text(), agent=text(), mode=text()),
        ev.RunStarted(text(), text(), text(), UserMessage(text())),
        ev.ReasoningDelta(text()),
        ev.ReasoningFinished(text()),
        ev.TextDelta(text()),
        ev.TextFinished(text()),
        ev.ToolStarted("c1", text(), text(), {text(): text()}, SourceRef("mcp", text())),
        ev.PermissionRequested("r1", "c1", text(), (text(),), DiffPreview(text(), text(), None), ()),
        ev.PermissionResolved("c1", "allow", "once", request="r1", note=text()),
        ev.ToolProgress("c1", 1, 2, text(), text()),
        ev.ToolFinished("c1", "edit", text(), True, shown, Truncation(text(), 9)),
        ev.ToolStarted("c2", "bash", text(), {"command": text(), "path": text()}, SourceRef("builtin")),
        ev.ToolProgress("c2", None, None, text(), text()),
        ev.FileChanged(text(), 1, 1),
        ev.DiagnosticsReported(text(), "fresh", 1, (text(),), (item,), True),
        ev.ServerChanged("mcp", text(), "failed", text(), ServerDetail(stderr_tail=text())),
        ev.Notice("error", text(), text(), text()),
        ev.QueueChanged((QueueItem("q1", text(), "queue"),)),
        ev.ModelRetried(text(), text(), 1, 1.0),
        ev.ContextCompacted(1, 2, text(), (text(),), (text(),)),
        ev.RunFinished("failed", RunError(text(), text(), text())),
    ]
