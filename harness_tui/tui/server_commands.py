"""``/mcp`` and ``/lsp`` with a word: what can be done with one server, without going through the panel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from harness_tui.core.text import clean_for_display
from harness_tui.tui.host import Host
from harness_tui.tui.panels.wants import ShowOutput, ShowTrace
from harness_tui.tui.server_doctor import show_diagnosis, tell_how_to_add
from harness_tui.tui.server_offers import browse_resources, browse_tools

if TYPE_CHECKING:
    from harness_tui.tui.app import HarnessApp

Kind = Literal["mcp", "lsp"]

WORDS: Final[dict[Kind, tuple[str, ...]]] = {
    "mcp": ("tools", "resources", "doctor", "login", "logout", "restart", "stop", "log"),
    "lsp": ("restart", "stop", "log", "trace"),
}
_TABS: Final[dict[Kind, str]] = {"mcp": "servers", "lsp": "diagnostics"}


async def server_command(app: HarnessApp, host: Host, kind: Kind, arguments: str) -> None:
    """Show the panel, or do what ``arguments`` says to a server."""
    if not arguments:
        app.show_panel(_TABS[kind])
        return
    word, _, name = (part.strip() for part in arguments.partition(" "))
    if kind == "mcp" and word in ("tools", "resources"):
        browse = browse_tools if word == "tools" else browse_resources
        await browse(app, host, name or None)
        return
    if kind == "mcp" and word == "doctor":
        await show_diagnosis(app, host, name)
        return
    if kind == "mcp" and word == "add":
        tell_how_to_add(host)
        return
    if word not in WORDS[kind] or not name:
        shown = clean_for_display(arguments, one_line=True)
        words = "|".join(WORDS[kind])
        host.tell("warning", f"/{kind} {shown} is not known", f"write /{kind}, or /{kind} {words} NAME")
        return
    server = host.panels.servers.get((kind, name))
    pid = server.detail.pid if server is not None else None
    match word:
        case "restart":
            await host.guarded(host.backend.restart_server(kind, name))
        case "stop":
            await _stop(host, kind, name, pid)
        case "login" | "logout":
            work = host.backend.log_in(name) if word == "login" else host.backend.log_out(name)
            if (told := await host.guarded(work)) is not None:
                host.tell("info", told)
        case "log":
            app.want(ShowOutput(f"{kind}:{name}", None))
        case _:
            app.want(ShowTrace(name))


async def _stop(host: Host, kind: Kind, name: str, pid: int | None) -> None:
    if pid is not None:
        await host.guarded(host.backend.stop_process(f"{kind}:{name}", pid))
        return
    shown = clean_for_display(name, one_line=True)
    up = [name for (k, name), one in host.panels.servers.items() if k == kind and one.detail.pid is not None]
    host.tell("warning", f"{kind} {shown} does not run", f"running: {', '.join(sorted(up)) or 'none'}")
