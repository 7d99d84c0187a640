"""The page that shows the shell in a browser: textual-serve's server on loopback, with a token and our processes.

The token in the address that is printed becomes a cookie of this host; without it there is nothing to be had. Requests
with another host's name (one that was bound to loopback) or from another page are refused, and the page loads nothing
from elsewhere.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import secrets
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Final

import aiohttp_jinja2
from aiohttp import web
from textual_serve.app_service import AppService
from textual_serve.server import Server, to_int

from harness_tui.core.seams import Child, ProcessSpawner

COOKIE: Final = "harness_token"
PAGES: Final = 8
"""How many pages may be open at once: each is a whole shell."""

END_S: Final = 5.0
"""How long the shell of a page that was closed may take to close its project."""

_POLICY: Final = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; font-src 'self'; "
    "img-src 'self' data:; connect-src 'self' {socket}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class _Process:
    """A child of ours as textual-serve takes a process: its standard error is kept elsewhere, so that pipe is empty."""

    def __init__(self, child: Child) -> None:
        self.stdin, self.stdout = child.stdin, child.stdout
        self.stderr = asyncio.StreamReader()
        self.stderr.feed_eof()


class PageShell(AppService):
    """One open page and its shell."""

    def __init__(self, spawner: ProcessSpawner, asked: Mapping[str, Any], folder: Path, **sides: Any) -> None:
        super().__init__("harness", **sides)
        self._spawner = spawner
        self._asked = asked
        self._folder = folder
        self._child: Child | None = None

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Any:
        asked = json.dumps({**self._asked, "width": width, "height": height})
        self._child = await self._spawner.spawn(
            [sys.executable, "-P", "-m", "harness_tui.tui.page", asked],
            owner="web",
            cwd=self._folder,
            env=dict(os.environ) | {"TEXTUAL_COLOR_SYSTEM": "truecolor", "TERM_PROGRAM": "textual"},
            stdin="pipe",
            stdout="pipe",
        )
        process: Any = _Process(self._child)
        self._process, self._stdin = process, process.stdin
        return process

    async def stop(self) -> None:
        """Let the shell leave, and end it when it does not."""
        task, self._task = self._task, None
        if task is not None:
            await self._download_manager.cancel_app_downloads(app_service_id=self.app_service_id)
            await self.send_meta({"type": "quit"})
        if self._child is not None:
            await asyncio.wait({asyncio.ensure_future(self._child.wait())}, timeout=END_S)
            await self._child.stop()
        if task is not None:
            task.cancel()
            await asyncio.wait({task})

    def complaint(self) -> str:
        """What the shell wrote to its standard error: why it did not start."""
        return self._child.stderr_tail() if self._child is not None else ""


class PageServer(Server):
    """Serves the page and its shells on ``host`` and ``port``. ``tell`` gets what a person should know."""

    def __init__(
        self,
        folder: Path,
        asked: Mapping[str, Any],
        *,
        spawner: ProcessSpawner,
        host: str,
        port: int,
        tell: Callable[[str], None],
    ) -> None:
        super().__init__("harness", host=host, port=port, title=f"Harness: {folder.name}")
        self.token = secrets.token_urlsafe(24)
        self._folder = folder
        self._asked = {**asked, "folder": str(folder)}
        self._spawner = spawner
        self._tell = tell
        self._open = 0

    @property
    def address(self) -> str:
        """The address with the token in it."""
        return f"{self.public_url}/?token={self.token}"

    async def run(self, started: Callable[[], None] = lambda: None) -> None:
        """Serve until the task is cancelled. Raises ``OSError`` when the port cannot be had."""
        runner = web.AppRunner(await self._make_app(), handle_signals=False, access_log=None, shutdown_timeout=END_S)
        await runner.setup()
        try:
            site = web.TCPSite(runner, self.host, self.port)
            await site.start()
            if self.port == 0:
                self.port = runner.addresses[0][1]
            self.public_url = f"http://{'[::1]' if self.host == '::1' else self.host}:{self.port}"
            started()
            await asyncio.Event().wait()
        finally:
            await runner.cleanup()

    async def on_startup(self, app: web.Application) -> None:
        """Say nothing: the verb tells the address."""

    async def _make_app(self) -> web.Application:
        app = await super()._make_app()
        app.middlewares.append(self._guard)
        return app

    @web.middleware
    async def _guard(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        names = {f"{name}:{self.port}" for name in ("127.0.0.1", "localhost", "[::1]")}
        if request.host not in names:
            return web.Response(status=421, text="this server answers to loopback names only\n")
        if request.headers.get("Origin", f"http://{request.host}") != f"http://{request.host}":
            return web.Response(status=403, text="another page may not talk to this one\n")
        given = request.query.get("token")
        if request.path == "/" and given is not None and self._is_token(given):
            found = web.Response(status=303, headers={"Location": "/", "Referrer-Policy": "no-referrer"})
            found.set_cookie(self._cookie, self.token, httponly=True, samesite="Strict", path="/")
            return found
        if not self._is_token(request.cookies.get(self._cookie, "")):
            return web.Response(status=401, text="open the address that `harness web` has printed\n")
        response = await handler(request)
        if not response.prepared:
            response.headers["Content-Security-Policy"] = _POLICY.format(socket=f"ws://{request.host}")
            response.headers["Referrer-Policy"] = "no-referrer"
            response.headers["X-Content-Type-Options"] = "nosniff"
        return response

    @property
    def _cookie(self) -> str:
        return f"{COOKIE}_{self.port}"  # cookies do not know ports: two servers must not take each other's

    def _is_token(self, text: str) -> bool:
        return hmac.compare_digest(text.encode(), self.token.encode())

    @aiohttp_jinja2.template("app_index.html")
    async def handle_index(self, request: web.Request) -> dict[str, Any]:
        """Return what the page needs: addresses of the host that it was asked for by."""
        base = f"//{request.host}"
        return {
            "font_size": max(6, min(to_int(request.query.get("fontsize", "16"), 16), 60)),
            "app_websocket_url": f"ws:{base}/ws",
            "config": {"static": {"url": f"http:{base}/static/"}},
            "application": {"name": self.title},
        }

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """Start a shell for a page, and end it with the page."""
        socket = web.WebSocketResponse(heartbeat=15, max_msg_size=16 * 2**20)
        await socket.prepare(request)
        if self._open >= PAGES:
            await socket.close(code=1013, message=b"too many pages are open")
            self._tell(f"a page was refused: {PAGES} are open already")
            return socket
        self._open += 1
        shell = PageShell(
            self._spawner,
            self._asked,
            self._folder,
            write_bytes=socket.send_bytes,
            write_str=socket.send_str,
            close=socket.close,
            download_manager=self.download_manager,
        )
        try:
            await shell.start(
                to_int(request.query.get("width", "80"), 80), to_int(request.query.get("height", "24"), 24)
            )
            await self._process_messages(socket, shell)
        except (ValueError, TypeError, LookupError, AssertionError) as error:
            self._tell(f"a page sent what is no message: {error}")
        finally:
            self._open -= 1
            await asyncio.shield(shell.stop())
            if complaint := shell.complaint():
                self._tell(complaint)
        return socket
