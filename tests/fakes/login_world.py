"""An MCP server behind a login, and the login server that it names, in this process on loopback.

Both check what they are sent by the rules of their RFCs, with a library that the product's own code does not use for it
where there is one: signatures, audiences, proofs of possession, secrets. What does not fit is refused as the RFC says.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import secrets
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import jwt

JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
ID_JAG = "urn:ietf:params:oauth:token-type:id-jag"


class Refused(Exception):
    """An answer of the login server that is no token."""

    def __init__(self, error: str, status: int = 400, nonce: str | None = None) -> None:
        super().__init__(error)
        self.error, self.status, self.nonce = error, status, nonce


@dataclass
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def form(self) -> dict[str, str]:
        return {name: values[0] for name, values in parse_qs(self.body.decode()).items()}


@dataclass
class LoginWorld:
    """``grants`` are those that are known; ``seen`` holds each request for a token as its form, with the proof's claims
    under ``proof``. ``dpop``: tokens are bound and the server wants it so; ``nonces``: and wants nonces.
    """

    grants: tuple[str, ...] = ("authorization_code", "refresh_token", "client_credentials", JWT_BEARER, EXCHANGE)
    secret: str = "sesame-sesame"
    client: str = "job"
    scopes: str | None = None
    lasts: int | None = 3600
    dpop: bool = False
    nonces: bool = False
    algorithms: tuple[str, ...] | None = None
    public_key: str | None = None
    audience_key: str | None = None
    needs_scope: str | None = None
    slow: asyncio.Event | None = None
    extra: dict[str, Any] = field(default_factory=dict)
    seen: list[dict[str, Any]] = field(default_factory=list)
    served: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    tokens: dict[str, dict[str, Any]] = field(default_factory=dict)
    refresh: dict[str, str | None] = field(default_factory=dict)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    jtis: set[str] = field(default_factory=set)
    port: int = 0

    async def __aenter__(self) -> LoginWorld:
        self._tasks: set[asyncio.Task[Any]] = set()
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *error: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.base}/mcp"

    @property
    def silent(self) -> str:
        return f"{self.base}/silent"

    # --- HTTP ------------------------------------------------------------------------------------

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                line, *rest = head.strip().split("\r\n")
                headers = {name.lower(): value.strip() for name, _, value in (item.partition(":") for item in rest)}
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                method, target, _ = line.split(" ")
                request = Request(method, target, headers, body)
                self.paths.append(f"{method} {urlsplit(target).path}")
                status, fields, more = await self._answer(request)
                data = json.dumps(fields).encode()
                lines = [f"HTTP/1.1 {status} x", f"Content-Length: {len(data)}", "Content-Type: application/json"]
                lines += [f"{name}: {value}" for name, value in more.items()]
                writer.write("\r\n".join([*lines, "", ""]).encode("latin-1") + data)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _answer(self, request: Request) -> tuple[int, dict[str, Any], dict[str, str]]:
        match urlsplit(request.path).path:
            case "/mcp":
                return await self._resource(request)
            case "/.well-known/oauth-protected-resource/mcp":
                more = {"scopes_supported": self.scopes.split()} if self.scopes else {}
                return 200, {"resource": self.url, "authorization_servers": [self.base], **more}, {}
            case "/.well-known/oauth-authorization-server":
                return 200, self._metadata(), {}
            case "/register":
                client = {**json.loads(request.body), "client_id": self.client}
                return 201, client, {}
            case "/authorize":
                query = {name: values[0] for name, values in parse_qs(urlsplit(request.path).query).items()}
                code = secrets.token_urlsafe(12)
                self.codes[code] = query
                back = f"{query['redirect_uri']}?code={code}&state={query['state']}"
                return 302, {}, {"Location": back}
            case "/silent":
                await asyncio.sleep(60)
                return 404, {}, {}
            case "/token":
                return self._token(request)
            case _:
                return 404, {}, {}

    def _metadata(self) -> dict[str, Any]:
        fields: dict[str, Any] = {
            "issuer": self.base,
            "authorization_endpoint": f"{self.base}/authorize",
            "token_endpoint": f"{self.base}/token",
            "registration_endpoint": f"{self.base}/register",
            "code_challenge_methods_supported": ["S256"],
            "response_types_supported": ["code"],
            **self.extra,
        }
        if self.algorithms is not None:
            fields["dpop_signing_alg_values_supported"] = list(self.algorithms)
        return fields

    # --- the MCP server --------------------------------------------------------------------------

    async def _resource(self, request: Request) -> tuple[int, dict[str, Any], dict[str, str]]:
        kind = "DPoP" if self.dpop else "Bearer"
        metadata = f'resource_metadata="{self.base}/.well-known/oauth-protected-resource/mcp"'
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        known = self.tokens.get(token)
        if known is None or known["ends"] < time.time() or scheme != kind:
            return 401, {}, {"WWW-Authenticate": f"{kind} {metadata}"}
        if self.dpop:
            try:
                self._proof(request, self.url, token=token, bound=known["key"])
            except Refused as refused:
                return self._challenge(refused, metadata)
        if self.needs_scope is not None and self.needs_scope not in (known["scope"] or "").split():
            return 403, {}, {"WWW-Authenticate": f'{kind} error="insufficient_scope", scope="{self.needs_scope}"'}
        self.served.append(token)
        if self.slow is not None and request.body == b'"slow"':
            await self.slow.wait()
        return 200, {"ok": True}, {}

    def _challenge(self, refused: Refused, metadata: str) -> tuple[int, dict[str, Any], dict[str, str]]:
        headers = {"WWW-Authenticate": f'DPoP error="{refused.error}", {metadata}'}
        return 401, {}, headers | ({"DPoP-Nonce": refused.nonce} if refused.nonce else {})

    # --- the login server ------------------------------------------------------------------------

    def _token(self, request: Request) -> tuple[int, dict[str, Any], dict[str, str]]:
        form: dict[str, Any] = dict(request.form)
        self.seen.append(form)
        try:
            key = None
            if "dpop" in request.headers:
                key = self._proof(request, f"{self.base}/token", token=None, bound=None)
                form["proof"] = jwt.decode(request.headers["dpop"], options={"verify_signature": False})
            elif self.dpop:
                raise Refused("invalid_dpop_proof")
            form["client"] = self._client(request, form)
            return 200, self._granted(form, key), {}
        except Refused as refused:
            more = {"DPoP-Nonce": refused.nonce} if refused.nonce else {}
            return refused.status, {"error": refused.error}, more

    def _client(self, request: Request, form: dict[str, Any]) -> str | None:
        header = request.headers.get("authorization", "")
        form["proven"] = bool(header or {"client_secret", "client_assertion"} & form.keys())
        if header.startswith("Basic "):
            name, _, secret = base64.b64decode(header[6:]).decode().partition(":")
            if unquote(secret) != self.secret:
                raise Refused("invalid_client", 401)
            return unquote(name)
        if "client_secret" in form and form["client_secret"] != self.secret:
            raise Refused("invalid_client", 401)
        if "client_assertion" in form:
            assert self.public_key is not None
            try:
                claims = jwt.decode(
                    form["client_assertion"], self.public_key, algorithms=["ES256", "RS256"], audience=self.base
                )
            except jwt.PyJWTError as error:
                raise Refused("invalid_client", 401) from error
            return claims["sub"]
        return form.get("client_id")

    def _code(self, form: dict[str, Any]) -> None:
        asked = self.codes.pop(form["code"], None)
        digest = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest())
        if asked is None or asked["code_challenge"] != digest.rstrip(b"=").decode():
            raise Refused("invalid_grant")
        form.setdefault("scope", asked.get("scope"))

    def _granted(self, form: dict[str, Any], key: str | None) -> dict[str, Any]:
        grant = form.get("grant_type", "")
        if grant not in self.grants:
            raise Refused("unsupported_grant_type")
        match grant:
            case "authorization_code":
                self._code(form)
            case "refresh_token":
                if self.refresh.pop(form["refresh_token"], "unknown") != key:
                    raise Refused("invalid_grant")
            case "client_credentials":
                if form["client"] != self.client or not form["proven"]:
                    raise Refused("invalid_client", 401)
            case _ if grant == JWT_BEARER:
                assert self.audience_key is not None
                try:
                    jwt.decode(form["assertion"], self.audience_key, algorithms=["HS256"], audience=self.base)
                except jwt.PyJWTError as error:
                    raise Refused("invalid_grant") from error
            case _ if grant == EXCHANGE and form.get("requested_token_type") == ID_JAG:
                claims = {"aud": form["audience"], "resource": form["resource"], "exp": time.time() + 60}
                jag = jwt.encode(claims, self.audience_key or "", algorithm="HS256")
                return {"access_token": jag, "issued_token_type": ID_JAG, "token_type": "N_A"}
            case _ if grant == EXCHANGE and form["subject_token"] not in self.tokens:
                raise Refused("invalid_request")
            case _:
                pass
        return self._new_token(form, grant, key)

    def _new_token(self, form: dict[str, Any], grant: str, key: str | None) -> dict[str, Any]:
        token, again = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
        ends = time.time() + (self.lasts or 3600)
        self.tokens[token] = {"ends": ends, "key": key, "scope": form.get("scope"), "grant": grant}
        fields: dict[str, Any] = {"access_token": token, "token_type": "DPoP" if key else "Bearer"}
        if self.lasts is not None:
            fields["expires_in"] = self.lasts
        if form.get("scope"):
            fields["scope"] = form["scope"]
        if grant in ("authorization_code", "refresh_token"):
            self.refresh[again] = key
            fields["refresh_token"] = again
        return fields

    # --- proofs of possession (RFC 9449, 4.3) ----------------------------------------------------

    def _proof(self, request: Request, url: str, *, token: str | None, bound: str | None) -> str:
        """Check a proof and return the thumbprint of its key."""
        proof = request.headers.get("dpop", "")
        try:
            head = jwt.get_unverified_header(proof)
            key = jwt.PyJWK(head["jwk"])
            claims = jwt.decode(proof, key, algorithms=list(self.algorithms or ("ES256", "EdDSA", "RS256")))
        except (jwt.PyJWTError, KeyError) as error:
            raise Refused("invalid_dpop_proof") from error
        thumb = json.dumps({n: head["jwk"][n] for n in sorted(("crv", "kty", "x", "y", "n", "e")) if n in head["jwk"]})
        ath = None
        if token is not None:
            ath = base64.urlsafe_b64encode(hashlib.sha256(token.encode()).digest()).rstrip(b"=").decode()
        fits = (
            head["typ"] == "dpop+jwt"
            and "d" not in head["jwk"]
            and (claims["htm"], claims["htu"], claims.get("ath")) == (request.method, url, ath)
            and abs(claims["iat"] - time.time()) < 30
            and claims["jti"] not in self.jtis
            and bound in (None, thumb)
        )
        if not fits:
            raise Refused("invalid_dpop_proof", 401 if token else 400)
        self.jtis.add(claims["jti"])
        wanted = f"nonce-{'rs' if token else 'as'}-{len(self.served)}"
        if self.nonces and claims.get("nonce") != wanted:
            raise Refused("use_dpop_nonce", 401 if token else 400, wanted)
        return thumb
