"""A server over Streamable HTTP without the SDK that does what the word in the file FAULT says, and works without one.

It speaks the handshake revision. PORT chooses its port, which it prints; LOG gets a line for each request.
"""

import json
import os
import socket
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

FAULT, LOG = Path(os.environ["FAULT"]), Path(os.environ["LOG"])
TOOLS = [{"name": "work", "inputSchema": {"type": "object"}}]
STATUS = {"401": 401, "403": 403, "404": 404, "405": 405, "421": 421, "429": 429, "500": 500}


def fault():
    return FAULT.read_text().strip() if FAULT.exists() else ""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    sessions = set()  # noqa: RUF012 - of all requests

    def log_message(self, *parts):
        pass

    def do_GET(self):
        self.plain(405)

    def do_DELETE(self):
        self.plain(200)

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        method = message.get("method")
        with LOG.open("a") as log:
            log.write(f"{method} key={self.headers.get('X-Key')}\n")
        word = fault()
        if word in STATUS:
            return self.plain(STATUS[word])
        if word == "page":
            return self.plain(200, b"<!doctype html><title>Welcome</title>", "text/html")
        if word == "json":
            return self.plain(200, b'{"hello": 1}', "application/json")
        if word.startswith("redirect "):
            return self.plain(307, b"", "text/plain", Location=word.split()[1])
        if word == "mute":
            time.sleep(3)
            return self.plain(500)
        if "id" not in message:
            return self.plain(202)
        if method == "initialize":
            return self.begin(message)
        if method == "server/discover":
            return self.error(message, -32601, "Method not found")
        if method == "tools/list":
            return self.result(message, {"tools": TOOLS})
        return self.call(message, word)

    def begin(self, message):
        session = os.urandom(8).hex()
        self.sessions.add(session)
        result = {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "f", "version": "1"},
        }
        self.result(message, result, **{"Mcp-Session-Id": session})

    def call(self, message, word):
        text = "worked"
        match word:
            case "forgotten":
                FAULT.unlink()
                self.sessions.clear()
            case "hang":
                return self.hang()
            case "cut":
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", "1000")
                self.end_headers()
                self.wfile.write(b'{"jsonrpc"')
                self.close_connection = True
                return None
            case "big":
                text = "x" * 2_000_000
            case "large":
                text = "x" * 17_000_000
            case "pause":
                time.sleep(0.3)
        if self.headers.get("Mcp-Session-Id") not in self.sessions:
            return self.plain(404)
        body = json.dumps(self.answer(message, {"content": [{"type": "text", "text": text}]})).encode()
        if word == "big":
            return self.plain(200, b"event: message\ndata: " + body + b"\n\n", "text/event-stream")
        return self.plain(200, body, "application/json")

    def hang(self):
        self.connection.settimeout(10)
        try:
            gone = self.connection.recv(1) == b""
        except TimeoutError:
            gone = False
        with LOG.open("a") as log:
            log.write("aborted\n" if gone else "not aborted\n")
        self.close_connection = True

    @staticmethod
    def answer(message, result):
        return {"jsonrpc": "2.0", "id": message["id"], "result": result}

    def result(self, message, result, **headers):
        self.plain(200, json.dumps(self.answer(message, result)).encode(), "application/json", **headers)

    def error(self, message, code, text):
        error = {"jsonrpc": "2.0", "id": message["id"], "error": {"code": code, "message": text}}
        self.plain(200, json.dumps(error).encode(), "application/json")

    def plain(self, status, body=b"", kind="text/plain", **headers):
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "0"))), Handler)
    server.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    print(server.server_address[1], flush=True)
    server.serve_forever()
