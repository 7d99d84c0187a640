"""The way back from a login page: a listener on loopback that takes one answer of a browser.

Only the answer of this very login counts; anything else that comes by is told so and changes nothing. Imports the SDK:
loaded with the first server, in a thread.
"""

from __future__ import annotations

import asyncio
import os
import socket
from typing import Final
from urllib.parse import parse_qs, urlsplit

from mcp.shared.auth import AuthorizationCodeResult

from harness_tui.core.redaction import REDACTOR
from harness_tui.mcp.login_errors import LoginError
from harness_tui.mcp.people import PERSON_S

_STEP: Final = "callback"
PATH: Final = f"/{_STEP}"
_REQUEST_BYTES: Final = 16_384
_PAGE: Final = (
    "<!doctype html><meta charset=utf-8><title>Harness</title><p style='font:16px sans-serif;margin:3em'>{}</p>"
)


class WayBack:
    """One login's listener. ``server`` is the name of the MCP server, for errors."""

    def __init__(self, server: str) -> None:
        self._name = server
        self._listener: socket.socket | None = None
        self._server: asyncio.Server | None = None
        self._coming: asyncio.Future[AuthorizationCodeResult] | None = None
        self._state = ""

    def listen(self, wanted: int, known: int) -> str:
        """Listen and return the address to come back to: at the port ``wanted``, else ``known``, else a free one.

        Raises :class:`LoginError` when the wanted one cannot be had; 0 stands for none.
        """
        self.close()
        port = wanted or known
        try:
            listener = socket.create_server(("127.0.0.1", port))
        except OSError as error:
            if wanted:
                raise LoginError(
                    f"port {port} of this machine cannot be listened on: {os.strerror(error.errno or 0)}",
                    where=self._name,
                    mend="free it, or change oauth.redirect_port",
                ) from error
            listener = socket.create_server(("127.0.0.1", 0))
        listener.setblocking(False)
        self._listener = listener
        return f"http://127.0.0.1:{listener.getsockname()[1]}{PATH}"

    async def expect(self, state: str) -> None:
        """Take the answer of the login with ``state`` from now on."""
        assert self._listener is not None
        self._state = state
        self._coming = asyncio.get_running_loop().create_future()
        self._server = await asyncio.start_server(self._answer, sock=self._listener)
        self._listener = None

    async def answer(self) -> AuthorizationCodeResult:
        """Return what the page sent back. Raises :class:`LoginError`."""
        assert self._coming is not None
        try:
            async with asyncio.timeout(PERSON_S):
                return await self._coming
        except TimeoutError:
            raise LoginError(f"the login was not done within {PERSON_S / 60:.0f} minutes", where=self._name) from None
        finally:
            self.close()

    def give_up(self, error: LoginError) -> None:
        """End the wait with ``error``, unless an answer has come."""
        if self._coming is not None and not self._coming.done():
            self._coming.set_exception(error)

    def close(self) -> None:
        """Listen no more."""
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        if self._server is not None:
            self._server.close()
            self._server = None

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take one request of a browser: anything may come by."""
        words = "This is no part of the login. You can close this page."
        try:
            async with asyncio.timeout(5):
                line = (await reader.readuntil(b"\n"))[:_REQUEST_BYTES].decode("ascii", "replace")
            target = urlsplit(line.split(" ")[1] if line.count(" ") >= 2 else "")
            query = {name: values[0] for name, values in parse_qs(target.query).items()}
            if target.path == PATH and query.get("state") == self._state:
                words = self._take(query)
            body = _PAGE.format(words).encode()
            head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n"
            writer.write(f"{head}Connection: close\r\n\r\n".encode() + body)
            await writer.drain()
        except (OSError, TimeoutError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # whoever it was does not want the answer
        finally:
            writer.close()

    def _take(self, query: dict[str, str]) -> str:
        coming = self._coming
        if coming is None or coming.done():
            return "This login is over. You can close this page."
        if "code" not in query:
            said = query.get("error_description") or query.get("error") or "no reason given"
            coming.set_exception(LoginError(f"the login was refused: {said[:200]}", where=self._name, code="declined"))
            return "The login was refused. You can close this page."
        REDACTOR.add(query["code"])
        coming.set_result(AuthorizationCodeResult(code=query["code"], state=query["state"], iss=query.get("iss")))
        return "You are logged in. You can close this page and go back to Harness."
