"""Logins without a person, tokens bound to a key, exchanged tokens, against a login server that checks all of it."""

from __future__ import annotations

import asyncio
import json
import stat
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from fakes.login_world import EXCHANGE, ID_JAG, JWT_BEARER, LoginWorld

from harness_tui.config.settings import McpServerSettings
from harness_tui.core.calls import QuestionReply, QuestionRequest
from harness_tui.egress.egress import Egress
from harness_tui.mcp.authorisation import login_of
from harness_tui.mcp.login_errors import LoginError
from harness_tui.mcp.means import Means
from harness_tui.mcp.people import People, asked_by
from harness_tui.mcp.token_store import TokenStore
from harness_tui.sessions.audit import AuditLog

pytestmark = pytest.mark.filterwarnings("ignore:Omitting `issuer`")

SHARED = "a-key-that-the-issuer-and-the-login-server-share"


@pytest.fixture
async def world() -> AsyncIterator[LoginWorld]:
    async with LoginWorld(audience_key=SHARED) as world:
        yield world


class Person:
    """Follows a login page at once; ``pages`` are those that were shown."""

    def __init__(self) -> None:
        self.pages: list[str] = []

    async def __call__(self, request: QuestionRequest) -> QuestionReply:
        assert request.url is not None
        self.pages.append(request.url)
        async with httpx2.AsyncClient(trust_env=False, follow_redirects=False) as browser:
            await browser.get((await browser.get(request.url)).headers["location"])
        await asyncio.sleep(30)
        return QuestionReply("accept")


class Client:
    """One process with one server entry; ``audit`` is its log."""

    def __init__(self, world: LoginWorld, folder: Path, oauth: dict[str, Any]) -> None:
        self.server = McpServerSettings(name="docs", url=world.url, transport="http", oauth=oauth, source="c.yaml:3")
        self.audit = AuditLog(folder / "audit.jsonl")
        self.egress = Egress(environ={}, audit=self.audit)
        self.store = TokenStore(folder / "state" / "logins.json")
        means = Means(None, self.egress, folder, People(present=True), self.store)  # type: ignore[arg-type]
        self.auth = login_of(self.server, means)

    async def post(self, body: bytes = b"{}") -> int:
        url = self.server.url or ""
        async with self.egress.client("mcp:docs", configured=url, auth=self.auth) as http:
            return (await http.post(url, content=body)).status_code

    async def refusal(self) -> str:
        with pytest.raises(LoginError) as caught:
            await self.post()
        return caught.value.what

    def kept(self) -> dict[str, Any]:
        return json.loads((self.store.lock.parent.parent / "logins.json").read_text())["servers"]["docs"]

    def events(self) -> list[dict[str, Any]]:
        assert self.audit.close()
        return [json.loads(line) for line in self.audit.path.read_text().splitlines()]


def grow_old(folder: Path) -> None:
    """Let a token that lasts 40 seconds be near its end."""
    file = folder / "state" / "logins.json"
    data = json.loads(file.read_text())
    data["servers"]["docs"]["received"] -= 20
    file.write_text(json.dumps(data))


SECRET = {"grant": "client_credentials", "client_id": "job", "client_secret": "sesame-sesame"}


def pem_of(private: Any) -> tuple[str, str]:
    plain = serialization.NoEncryption()
    secret = private.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    public = private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return secret.decode(), public.decode()


def assertion(audience: str, lasts: float = 60) -> str:
    return jwt.encode({"sub": "me", "aud": audience, "exp": time.time() + lasts}, SHARED, algorithm="HS256")


# --- clients -------------------------------------------------------------------------------------


async def test_a_client_asks_by_its_secret_once_and_the_next_process_uses_the_token(
    world: LoginWorld, tmp_path: Path
) -> None:
    client = Client(world, tmp_path, SECRET)
    assert [await client.post(), await client.post()] == [200, 200]
    assert await Client(world, tmp_path, SECRET).post() == 200
    assert [(form["grant_type"], form["client"]) for form in world.seen] == [("client_credentials", "job")]
    file = tmp_path / "state" / "logins.json"
    assert (stat.S_IMODE(file.stat().st_mode), stat.S_IMODE(file.parent.stat().st_mode)) == (0o600, 0o700)
    # What a client got is no person's login, and not another client's.
    assert client.store.read("docs", world.url) == {}
    assert await Client(world, tmp_path, SECRET | {"client_id": "other"}).refusal() == (
        "its login server refused: invalid_client: it does not know this client, or not by this secret or key"
    )


async def test_a_wrong_secret_is_refused_once_and_told_without_it(world: LoginWorld, tmp_path: Path) -> None:
    client = Client(world, tmp_path, SECRET | {"client_secret": "wrong-wrong-wrong"})
    assert "invalid_client" in await client.refusal()
    assert len(world.seen) == 1
    assert [(event["event"], event.get("result", "")[:14]) for event in client.events()] == [
        ("challenge", ""),
        ("token", "invalid_client"),
    ]
    assert "wrong-wrong" not in client.audit.path.read_text()


async def test_a_client_signs_with_its_key_and_a_wrong_one_is_refused(world: LoginWorld, tmp_path: Path) -> None:
    secret, world.public_key = pem_of(ec.generate_private_key(ec.SECP256R1()))
    file = tmp_path / "key.pem"
    oauth = {"grant": "client_credentials", "client_id": "job", "private_key": str(file), "signing_algorithm": "ES256"}
    assert (
        await Client(world, tmp_path, oauth).refusal() == "oauth.private_key cannot be read: No such file or directory"
    )
    file.write_text("ssh-rsa AAAA")
    assert await Client(world, tmp_path, oauth).refusal() == "oauth.private_key is no key in PEM form"
    file.write_text(pem_of(ec.generate_private_key(ec.SECP256R1()))[0])
    assert "refused: invalid_client" in await Client(world, tmp_path, oauth).refusal()
    assert await Client(world, tmp_path, oauth | {"signing_algorithm": "RS256"}).refusal() == (
        "oauth.private_key does not sign by RS256"
    )
    file.write_text(secret)
    assert await Client(world, tmp_path, oauth).post() == 200
    assert jwt.get_unverified_header(world.seen[-1]["client_assertion"])["alg"] == "ES256"


# --- the identity of a machine -------------------------------------------------------------------


async def test_a_machine_shows_its_token_which_is_read_anew_each_time(world: LoginWorld, tmp_path: Path) -> None:
    file = tmp_path / "token"
    client = Client(world, tmp_path, {"grant": "jwt_bearer", "assertion": str(file), "client_id": "job"})
    file.write_text(assertion(world.base) + "\n")
    assert await client.post() == 200
    world.tokens.clear()  # the server forgot; by then the machine has another token
    file.write_text(assertion(world.base, 90))
    assert await client.post() == 200
    shown = [(form["grant_type"], form["client"], form["assertion"]) for form in world.seen]
    assert [entry[:2] for entry in shown] == [(JWT_BEARER, "job")] * 2
    assert shown[0][2] != shown[1][2]


async def test_a_token_that_has_ended_or_is_for_somebody_else_is_not_shown(world: LoginWorld, tmp_path: Path) -> None:
    ended = Client(world, tmp_path, {"grant": "jwt_bearer", "assertion": assertion(world.base, -600)})
    assert await ended.refusal() == "oauth.assertion has ended, 10 minutes ago"
    other = Client(world, tmp_path, {"grant": "jwt_bearer", "assertion": assertion("https://login.example")})
    assert await other.refusal() == (
        f"oauth.assertion is not made out to {world.base}, which the server names, so it is not sent there"
    )
    opaque = Client(world, tmp_path, {"grant": "jwt_bearer", "assertion": "eyJno.token"})
    assert "is not made out to" in await opaque.refusal()
    assert world.seen == []
    # Where the person names the login server it is sent, and refused once.
    oauth = {"grant": "jwt_bearer", "assertion": assertion("https://login.example"), "issuer": world.base}
    assert "its login server refused: invalid_grant" in await Client(world, tmp_path, oauth).refusal()
    assert len(world.seen) == 1


# --- an enterprise -------------------------------------------------------------------------------


def enterprise(world: LoginWorld, token: str) -> dict[str, Any]:
    identity = {"token_endpoint": f"{world.base}/token", "id_token": token, "client_id": "me"}
    oauth = {"grant": "identity_assertion", "client_id": "job", "client_secret": "sesame-sesame"}
    return oauth | {"issuer": world.base, "identity_provider": identity, "scope": "read"}


async def test_an_enterprise_vouches_for_the_person_at_the_login_server(world: LoginWorld, tmp_path: Path) -> None:
    token = assertion("me")
    client = Client(world, tmp_path, enterprise(world, token))
    assert [await client.post(), await client.post()] == [200, 200]
    first, second = world.seen
    assert {name: first[name] for name in ("grant_type", "requested_token_type", "audience", "resource", "scope")} == {
        "grant_type": EXCHANGE,
        "requested_token_type": ID_JAG,
        "audience": world.base,
        "resource": world.url,
        "scope": "read",
    }
    assert (first["subject_token"], first["client"]) == (token, "me")
    assert (second["grant_type"], second["client"], second["proven"]) == (JWT_BEARER, "job", True)
    assert not any("protected-resource" in path for path in world.paths)  # the server has no say in who is asked
    told = [(event["event"], event.get("grant"), event.get("result")) for event in client.events()]
    assert told == [("challenge", None, None), ("token", EXCHANGE, "ok"), ("token", JWT_BEARER, "ok")]


async def test_an_identity_provider_that_refuses_is_told_and_an_ended_identity_not_shown(
    world: LoginWorld, tmp_path: Path
) -> None:
    ended = Client(world, tmp_path, enterprise(world, assertion("me", -120)))
    assert await ended.refusal() == "oauth.identity_provider.id_token has ended, 2 minutes ago"
    assert world.seen == []
    world.grants = ("authorization_code",)
    assert await Client(world, tmp_path, enterprise(world, assertion("me"))).refusal() == (
        "its identity provider refused: unsupported_grant_type: it does not know this way to ask"
    )


# --- the exchange of a token ---------------------------------------------------------------------


async def test_the_logins_token_is_exchanged_and_the_other_one_is_sent_and_not_kept(
    world: LoginWorld, tmp_path: Path
) -> None:
    oauth = SECRET | {"exchange": {"audience": "inner", "scope": "call", "actor_token": assertion("me")}}
    client = Client(world, tmp_path, oauth)
    assert [await client.post(), await client.post()] == [200, 200]
    base, exchanged = world.seen
    (inner,) = set(world.served)
    assert world.tokens[inner]["grant"] == EXCHANGE
    assert inner not in (tmp_path / "state" / "logins.json").read_text()
    assert {name: exchanged[name] for name in sorted(exchanged) if name not in ("subject_token", "actor_token")} == {
        "actor_token_type": "urn:ietf:params:oauth:token-type:jwt",
        "audience": "inner",
        "client": None,
        "grant_type": EXCHANGE,
        "proven": False,
        "resource": world.url,
        "scope": "call",
        "subject_token_type": "urn:ietf:params:oauth:token-type:access_token",
    }
    assert exchanged["subject_token"] == client.kept()["tokens"]["access_token"]
    assert base["grant_type"] == "client_credentials"


async def test_a_login_server_without_exchange_leaves_the_own_token_and_a_refusal_fails(
    world: LoginWorld, tmp_path: Path
) -> None:
    world.grants = ("client_credentials",)
    client = Client(world, tmp_path, SECRET | {"exchange": {"audience": "inner"}})
    assert [await client.post(), await client.post()] == [200, 200]
    assert [form["grant_type"] for form in world.seen] == ["client_credentials", EXCHANGE]
    world.grants = ("client_credentials", EXCHANGE)
    oauth = SECRET | {"exchange": {"client_id": "x", "client_secret": "not-the-secret"}}
    assert await Client(world, tmp_path, oauth).refusal() == (
        "its token could not be exchanged: invalid_client: it does not know this client, or not by this secret or key"
    )


# --- proofs of possession ------------------------------------------------------------------------


@pytest.mark.parametrize("nonces", [False, True])
async def test_a_bound_token_is_refreshed_with_its_key_also_by_the_next_process(
    world: LoginWorld, tmp_path: Path, nonces: bool
) -> None:
    world.dpop, world.nonces, world.lasts = True, nonces, 40
    client, person = Client(world, tmp_path, {}), Person()
    with asked_by(person):
        assert [await client.post(), await client.post()] == [200, 200]
    assert len(person.pages) == 1
    binding = client.kept()["dpop"]
    assert (binding["algorithm"], binding["bound"]) == ("ES256", True)
    assert stat.S_IMODE((tmp_path / "state" / "logins.json").stat().st_mode) == 0o600
    grow_old(tmp_path)  # and nobody can be asked
    later = Client(world, tmp_path, {})
    assert [await later.post(), await later.post()] == [200, 200]
    grants = [form["grant_type"] for form in world.seen if "proof" in form]
    assert grants == ["authorization_code", "refresh_token"]
    assert later.kept()["dpop"] == binding
    assert len(set(world.served)) == 2


@pytest.mark.parametrize("algorithm", ["EdDSA", "RS256"])
async def test_the_key_is_of_a_kind_that_the_login_server_takes(
    world: LoginWorld, tmp_path: Path, algorithm: str
) -> None:
    world.dpop, world.algorithms = True, (algorithm,)
    client = Client(world, tmp_path, SECRET | {"dpop": True})
    assert await client.post() == 200
    assert client.kept()["dpop"]["algorithm"] == algorithm


async def test_what_cannot_be_bound_is_refused_where_the_person_wants_it_bound(
    world: LoginWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.dpop, world.algorithms = True, ("HS256", "none")
    assert await Client(world, tmp_path, SECRET | {"dpop": True}).refusal() == (
        "its login server takes proofs by HS256, none; known here are ES256, EdDSA, RS256"
    )
    world.dpop, world.algorithms = False, None
    monkeypatch.setattr(world, "_proof", lambda *rest, **options: None)  # it passes over proofs
    assert await Client(world, tmp_path, SECRET | {"dpop": True}).refusal() == (
        "its login server does not bind tokens to a key"
    )
    assert await Client(world, tmp_path, SECRET).post() == 200


async def test_without_dpop_a_server_that_wants_it_refuses(world: LoginWorld, tmp_path: Path) -> None:
    world.dpop = True
    assert "invalid_dpop_proof" in await Client(world, tmp_path, SECRET | {"dpop": False}).refusal()


# --- what holds for all of them ------------------------------------------------------------------


async def test_a_slow_request_does_not_hold_up_the_next_one(world: LoginWorld, tmp_path: Path) -> None:
    client = Client(world, tmp_path, SECRET)
    assert await client.post() == 200
    world.slow = asyncio.Event()
    slow = asyncio.create_task(client.post(b'"slow"'))
    async with asyncio.timeout(10):
        while len(world.served) < 2:
            await asyncio.sleep(0.01)
        assert await client.post() == 200
        assert not slow.done()
        world.slow.set()
        assert await slow == 200


async def test_a_request_with_an_old_token_is_sent_twice_and_no_oftener(world: LoginWorld, tmp_path: Path) -> None:
    client = Client(world, tmp_path, SECRET)
    assert await client.post() == 200
    world.tokens.clear()
    before = world.paths.count("POST /mcp")
    assert await client.post() == 200
    assert world.paths.count("POST /mcp") - before == 2


async def test_no_secret_is_in_the_audit_log(world: LoginWorld, tmp_path: Path) -> None:
    world.dpop, world.nonces = True, True
    client, person = Client(world, tmp_path, {"exchange": {}}), Person()
    with asked_by(person):
        assert await client.post() == 200
    text = json.dumps(client.events())
    secrets = [*world.tokens, *world.refresh, client.kept()["dpop"]["key"]]
    secrets += [form[name] for form in world.seen for name in ("code", "code_verifier") if name in form]
    assert len(secrets) >= 6
    assert [secret for secret in secrets if secret in text or json.dumps(secret)[1:-1] in text] == []
    assert {event["kind"] for event in client.events()} == {"mcp_auth"}
    assert [event["event"] for event in client.events()] == ["challenge", "registration", "page", "token", "token"]


async def test_a_login_is_not_sent_where_others_could_read_it(world: LoginWorld, tmp_path: Path) -> None:
    world.extra = {"token_endpoint": "http://login.example/token"}
    assert await Client(world, tmp_path, SECRET).refusal() == (
        "its login would be sent to http://login.example, which is not encrypted"
    )


async def test_a_login_server_that_stays_silent_is_not_waited_for_without_end(
    world: LoginWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness_tui.mcp.auth_layers.TIMEOUT_S", 0.2)
    client = Client(world, tmp_path, SECRET)
    monkeypatch.setattr(world, "_metadata", lambda: {**LoginWorld._metadata(world), "token_endpoint": world.silent})
    with pytest.raises(httpx2.ReadTimeout):
        await client.post()
    assert world.paths[-1] == "POST /silent"


async def test_more_rights_are_asked_for_when_the_server_wants_them_and_those_there_are_stay(
    world: LoginWorld, tmp_path: Path
) -> None:
    world.scopes = "read"
    client, person = Client(world, tmp_path, {}), Person()
    with asked_by(person):
        assert await client.post() == 200
        world.needs_scope = "write"
        assert await client.post() == 200
    assert [form["scope"] for form in world.seen] == ["read", "read write"]
    # Where nobody can be asked nothing is tried, and the answer is the server's own.
    world.needs_scope = "delete"
    assert await client.post() == 403
    assert len(person.pages) == 2


async def test_a_login_done_by_another_process_is_taken_up(world: LoginWorld, tmp_path: Path) -> None:
    mine, theirs = Client(world, tmp_path, {}), Client(world, tmp_path, {})
    with asked_by(Person()):
        assert await mine.post() == 200
    world.tokens.clear()
    assert await mine.post() == 401  # nobody can be asked
    with asked_by(Person()):
        assert await theirs.post() == 200
    assert await mine.post() == 200


async def test_two_logins_at_once_leave_one_that_is_whole_and_one_refresh(world: LoginWorld, tmp_path: Path) -> None:
    world.lasts = 40
    pair = [Client(world, tmp_path, {}), Client(world, tmp_path, {})]
    with asked_by(Person()):
        assert await asyncio.gather(*(one.post() for one in pair)) == [200, 200]
    kept = pair[0].kept()
    assert kept["tokens"]["refresh_token"] in world.refresh
    grow_old(tmp_path)
    later = [Client(world, tmp_path, {}), Client(world, tmp_path, {})]
    assert await asyncio.gather(*(one.post() for one in later)) == [200, 200]
    assert [form["grant_type"] for form in world.seen].count("refresh_token") == 1
