"""Where a server's own words may lead a login: never to this machine and its networks, in whatever spelling.

Each place where an address can stand is proved to be followed: with a rule that opens it the trap is reached.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpcore2
import httpx2
import pytest
from fakes.fake_web import PUBLIC, FakeNetwork, FakeResolver, FakeWeb, answer
from mcp.client.auth import OAuthFlowError

from harness_tui.config.settings import EgressEntry, EgressSettings, McpServerSettings
from harness_tui.core.calls import QuestionReply, QuestionRequest
from harness_tui.core.errors import HarnessError
from harness_tui.egress.egress import Egress
from harness_tui.mcp.authorisation import login_of
from harness_tui.mcp.means import Means
from harness_tui.mcp.people import People, asked_by
from harness_tui.mcp.token_store import TokenStore

pytestmark = pytest.mark.filterwarnings("ignore:Omitting `issuer`")

SPELLINGS = (
    "127.0.0.1",
    "localhost",
    "any.localhost",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0x7f.0.0.1",
    "0177.0.0.1",
    "0.0.0.0",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "[fe80::1%25lo]",
    "１２７.0.0.1",
    "inside.test",
    "both.test",
    "metadata.test",
    "169.254.169.254",
    "10.0.0.5",
)
PLACES = (
    *("challenge", "login server", "token endpoint", "registration", "page", "redirect of metadata", "kept endpoint"),
    *("redirect of the server", "identity provider's answer"),
)


@pytest.fixture
async def web() -> AsyncIterator[FakeWeb]:
    async with FakeWeb() as web:
        yield web


@pytest.fixture
async def trap() -> AsyncIterator[FakeWeb]:
    async with FakeWeb() as trap:
        yield trap


@pytest.fixture(autouse=True)
def no_outside(web: FakeWeb, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    dialled: list[tuple[str, int]] = []
    monkeypatch.setattr(httpcore2, "AnyIOBackend", lambda: FakeNetwork(web, dialled))
    return dialled


def page(fields: dict[str, Any]) -> bytes:
    return answer(json.dumps(fields).encode(), content_type="application/json")


def set_trap(web: FakeWeb, place: str, there: str, folder: Path) -> dict[str, Any]:
    """Let ``web`` lead to ``there`` at ``place``; return the mapping ``oauth`` of the server's entry."""
    base = f"http://127.0.0.1:{web.port}"
    challenge = "Bearer" if place != "challenge" else f'Bearer resource_metadata="{there}/prm"'
    refusal = answer(b"", status="401 Unauthorized", www_authenticate=challenge)
    login_server = there if place == "login server" else base
    metadata = {
        "issuer": base,
        "authorization_endpoint": f"{there if place == 'page' else base}/authorize",
        "token_endpoint": f"{there if place == 'token endpoint' else base}/token",
        "registration_endpoint": f"{there if place == 'registration' else base}/register",
    }
    web.pages |= {
        "/mcp": refusal,
        "/.well-known/oauth-protected-resource/mcp": page(
            {"resource": f"{base}/mcp", "authorization_servers": [login_server]}
        ),
        "/.well-known/oauth-authorization-server": page(metadata),
        "/register": page({"client_id": "me", "redirect_uris": ["http://127.0.0.1/callback"]}),
    }
    match place:
        case "redirect of metadata":
            web.pages["/.well-known/oauth-authorization-server"] = answer(b"", status="302 Found", location=f"{there}/")
        case "redirect of the server":
            web.pages["/mcp"] = answer(b"", status="307 Temporary Redirect", location=f"{there}/mcp")
        case "kept endpoint":
            kept = metadata | {"token_endpoint": f"{there}/token"}
            tokens = {"access_token": "old-old-old", "refresh_token": "again-again", "expires_in": 1}
            store = TokenStore(folder / "logins.json")
            client = {"client_id": "me", "redirect_uris": ["http://127.0.0.1/callback"]}
            store.write("docs", f"{base}/mcp", tokens=tokens, client=client, metadata=kept)
            data = json.loads((folder / "logins.json").read_text())
            data["servers"]["docs"]["received"] = time.time() - 60
            (folder / "logins.json").write_text(json.dumps(data))
        case "identity provider's answer":
            web.pages["/idp"] = answer(b"", status="307 Temporary Redirect", location=f"{there}/token")
            identity = {"token_endpoint": f"{base}/idp", "id_token": "eyJh.eyJi.c2ln"}
            client = {"client_id": "a", "client_secret": "b", "issuer": base}
            return {"grant": "identity_assertion", "identity_provider": identity, **client}
        case _:
            pass
    machine = {"grant": "client_credentials", "client_id": "job", "client_secret": "sesame-sesame"}
    return {} if place in ("registration", "page", "kept endpoint") else machine


async def visit(web: FakeWeb, folder: Path, oauth: dict[str, Any], allow: tuple[str, ...]) -> list[str]:
    """Ask the server once; return the pages that the person was shown."""
    shown: list[str] = []

    async def person(request: QuestionRequest) -> QuestionReply:
        shown.append(request.url or "")
        return QuestionReply("decline")

    resolver = FakeResolver()
    resolver.knows("inside.test", ["127.0.0.1"])
    resolver.knows("both.test", ["10.0.0.5", "::1"])
    resolver.knows("metadata.test", ["169.254.169.254"])
    rules = tuple(EgressEntry(rule, "config.yaml:1") for rule in allow)
    egress = Egress(EgressSettings(allow=rules), environ={}, resolve=resolver)
    url = f"http://127.0.0.1:{web.port}/mcp"
    server = McpServerSettings(name="docs", url=url, transport="http", oauth=oauth)
    means = Means(None, egress, folder, People(present=True), TokenStore(folder / "logins.json"))  # type: ignore[arg-type]
    async with egress.client("mcp:docs", configured=url, auth=login_of(server, means), timeout=10) as http:
        failures = (HarnessError, httpx2.HTTPError, httpx2.InvalidURL, OAuthFlowError, ValueError)
        with asked_by(person), contextlib.suppress(*failures):
            await http.post(url, content=b"{}")
    return shown


@pytest.mark.parametrize("place", PLACES)
async def test_the_trap_receives_nothing_in_any_spelling(
    web: FakeWeb, trap: FakeWeb, tmp_path: Path, place: str, no_outside: list[tuple[str, int]]
) -> None:
    for spelling in SPELLINGS:
        # What is no address of this machine goes over TLS: in the clear it would be refused for that alone.
        named = spelling.endswith(".test")
        there = f"{'https' if named else 'http'}://{spelling}:{trap.port}"
        shown = await visit(web, tmp_path, set_trap(web, place, there, tmp_path), ())
        assert not [url for url in shown if url.startswith(there) and not named], spelling
        assert trap.connections == 0, spelling
    assert {host for host, _ in no_outside} <= {"127.0.0.1", PUBLIC}
    assert {port for host, port in no_outside if host != PUBLIC} == {web.port}


@pytest.mark.parametrize("place", [place for place in PLACES if "redirect" not in place and "answer" not in place])
async def test_a_rule_that_opens_the_place_lets_the_login_go_there(
    web: FakeWeb, trap: FakeWeb, tmp_path: Path, place: str
) -> None:
    there = f"http://127.0.0.1:{trap.port}"
    shown = await visit(web, tmp_path, set_trap(web, place, there, tmp_path), (f"127.0.0.1:{trap.port}",))
    if place == "page":
        assert [url.startswith(f"{there}/authorize?") for url in shown] == [True]
    else:
        assert trap.connections >= 1


async def test_a_name_that_moves_between_check_and_connection_is_looked_up_once(
    web: FakeWeb, trap: FakeWeb, no_outside: list[tuple[str, int]]
) -> None:
    resolver = FakeResolver()
    resolver.knows("moves.test", [PUBLIC], ["127.0.0.1"])
    egress = Egress(environ={}, resolve=resolver)
    web.pages["*"] = answer(b"public")
    async with egress.client("mcp:docs") as http:
        assert (await http.get("http://moves.test/")).text == "public"
        with pytest.raises(HarnessError, match=r"127\.0\.0\.1, a loopback address"):
            await http.get("http://moves.test/")
    assert (resolver.asked, no_outside) == (["moves.test", "moves.test"], [(PUBLIC, 80)])
