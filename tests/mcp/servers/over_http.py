"""A server on the official SDK over Streamable HTTP on loopback; prints its port.

PORT chooses it; KEY, when set, is wanted in the header X-Key. CANCELLED is a file that its tool ``hang`` writes to.
"""

import asyncio
import os
import socket
from pathlib import Path

import uvicorn
from official import MCPServer

server = MCPServer("web", log_level="ERROR")


@server.tool()
def work() -> str:
    """Work."""
    return "worked over http"


@server.tool()
async def hang() -> str:
    """Hang until the call is cancelled."""
    Path(os.environ["CANCELLED"]).write_text("hanging")
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        Path(os.environ["CANCELLED"]).write_text("cancelled")
        raise
    return "slept"


async def guarded(scope, receive, send):
    wanted = os.environ.get("KEY", "").encode()
    if scope["type"] == "http" and wanted and dict(scope["headers"]).get(b"x-key") != wanted:
        await send({"type": "http.response.start", "status": 401, "headers": []})
        await send({"type": "http.response.body", "body": b"who are you?"})
        return
    await app(scope, receive, send)


if __name__ == "__main__":
    app = server.streamable_http_app()
    listener = socket.create_server(("127.0.0.1", int(os.environ.get("PORT", "0"))))
    print(listener.getsockname()[1], flush=True)
    uvicorn.Server(uvicorn.Config(guarded, log_level="error", lifespan="on")).run(sockets=[listener])
