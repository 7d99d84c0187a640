"""``webfetch`` in the whole program: rules, configuration, audit log, and a trap on loopback that nothing reaches."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator

import pytest
from e2e_home import Home

PAGE = "<title>Notes</title><h1>Grüße</h1><p>See <a href='/more'>more</a>.</p>".encode()


class Site(http.server.ThreadingHTTPServer):
    """Counts what comes in, connections that ask for nothing too."""

    daemon_threads = True

    def __init__(self) -> None:
        self.connections = 0
        self.seen: list[str] = []
        super().__init__(("127.0.0.1", 0), Handler)

    def verify_request(self, request: object, client_address: object) -> bool:
        self.connections += 1
        return True


class Handler(http.server.BaseHTTPRequestHandler):
    server: Site

    def do_GET(self) -> None:
        self.server.seen.append(self.path)
        self.send_response(302 if self.path.startswith("/to?") else 200)
        if self.path.startswith("/to?"):
            self.send_header("Location", self.path.removeprefix("/to?"))
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(PAGE)))
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, format: str, *args: object) -> None:
        pass


def serving() -> Iterator[Site]:
    site = Site()
    thread = threading.Thread(target=site.serve_forever, daemon=True)
    thread.start()
    yield site
    site.shutdown()
    site.server_close()
    thread.join(10)


site = pytest.fixture(serving, name="site")
trap = pytest.fixture(serving, name="trap")


def url(site: Site, path: str = "/", host: str = "127.0.0.1") -> str:
    return f"http://{host}:{site.server_port}{path}"


def call(address: str, **more: str) -> list[dict[str, object]]:
    return [{"name": "webfetch", "arguments": {"url": address} | more}]


def test_a_run_fetches_what_is_allowed_and_nothing_else(home: Home, site: Site, trap: Site) -> None:
    refused = [
        url(trap),
        url(trap, host="localhost"),
        url(trap, host="[::ffff:127.0.0.1]"),
        url(trap, host="0x7f.1"),
        url(trap, host="2130706433"),
        url(trap, host="127.0.0.1."),
        url(trap, host="site.test@127.0.0.1"),
        "http://169.254.169.254/latest/meta-data/",
        "file:///etc/hostname",
    ]
    home.user_config(f'egress: {{allow: ["127.0.0.1:{site.server_port}"]}}')
    turns = [{"tools": call(address)} for address in (url(site), url(site, f"/to?{url(trap)}"), *refused)]
    home.write("play.yaml", json.dumps({"turns": [*turns, {"text": "done"}]}))
    ran = home.run("look", "--model", "replay:play.yaml", "--ask", "allow")
    assert ran.code == 0
    first, second, *others = ran.of("tool_finished")
    assert first["output"] == f"# Grüße\n\nSee [more]({url(site, '/more')}).\n"
    assert (first["is_error"], first["metadata"]["title"], first["metadata"]["status"]) == (False, "Notes", 200)
    assert second["metadata"]["redirect"] == url(trap)
    assert [one["is_error"] for one in others] == [True] * len(refused)
    assert (trap.connections, trap.seen, site.seen) == (0, [], ["/", f"/to?{url(trap)}"])
    log = home.folder / ".local" / "state" / "harness" / "audit.jsonl"
    blocks = [json.loads(line) for line in log.read_text().splitlines()]
    hosts = [block["host"] for block in blocks if block["kind"] == "egress_blocked"]
    assert hosts == ["127.0.0.1", "localhost", "::ffff:7f00:1", "169.254.169.254"]


def test_without_a_rule_a_fetch_is_refused_before_anything_is_sent(home: Home, site: Site) -> None:
    home.user_config(f'egress: {{allow: ["127.0.0.1:{site.server_port}"]}}')
    ran = home.harness("tools", "call", "webfetch", json.dumps({"url": url(site)}))
    assert (ran.code, site.connections) == (3, 0)
    assert f"webfetch {url(site)}" in ran.err


def test_a_rule_on_the_url_decides(home: Home, site: Site) -> None:
    home.user_config(
        f"""
        egress: {{allow: ["127.0.0.1:{site.server_port}"]}}
        permission:
          - {{permission: webfetch, pattern: "{url(site)}*", action: allow}}
          - {{permission: webfetch, pattern: "{url(site)}private/*", action: deny}}
        """
    )
    assert home.harness("tools", "call", "webfetch", json.dumps({"url": url(site, "/a")})).code == 0
    for path in ("/private/x", "/a/../private/x", "/a/%2e%2e/private/x", "/%70rivate/x"):
        assert home.harness("tools", "call", "webfetch", json.dumps({"url": url(site, path)})).code == 3
    assert site.seen == ["/a"]


def test_an_untrusted_folder_opens_nothing(home: Home, trap: Site) -> None:
    home.write(".harness/config.yaml", 'egress: {allow: ["*", "127.0.0.0/8"]}\n')
    ran = home.harness("tools", "call", "webfetch", json.dumps({"url": url(trap)}), "--ask", "allow")
    assert (ran.code, trap.connections) == (1, 0)
    assert "it is a loopback address" in ran.err
