"""Tokens that only this machine can use: proofs of possession of a key (DPoP, RFC 9449).

Requests for tokens and requests with them carry a short-lived proof, signed with a key that is kept with the tokens. A
nonce that a server asks for is remembered and the request sent once more. Imports the SDK: loaded with the first
server, in a thread.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import time
import uuid
from collections.abc import AsyncGenerator
from typing import Any, Final, cast

import httpx2
import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from mcp.client.auth.utils import extract_field_from_www_auth

from harness_tui.core.redaction import REDACTOR
from harness_tui.mcp.auth_layers import Flow, Layer, grant_of
from harness_tui.mcp.login_errors import LoginError, json_object
from harness_tui.mcp.login_storage import Storage

ALGORITHMS: Final = ("ES256", "EdDSA", "RS256")
"""What keys are made for, the first that a login server knows."""
_RSA_BITS: Final = 2048
_ASKS_FOR_NONCE: Final = "use_dpop_nonce"
_NONCE: Final = "DPoP-Nonce"
_NONCE_CHARS: Final = 1024


class Key:
    """A private key and what it signs with. ``binding`` is its form in the store."""

    def __init__(self, binding: dict[str, Any]) -> None:
        self.binding = binding
        self.algorithm = str(binding["algorithm"])
        self._private: Any = serialization.load_pem_private_key(str(binding["key"]).encode("ascii"), password=None)
        shown = jwt.get_algorithm_by_name(self.algorithm).to_jwk(self._private.public_key(), as_dict=True)
        self._public = {name: shown[name] for name in ("kty", "crv", "x", "y", "n", "e") if name in shown}

    def proof(self, method: str, url: httpx2.URL, *, token: str | None, nonce: str | None) -> str:
        """Return a proof for one request (RFC 9449, 4.2)."""
        claims: dict[str, Any] = {
            "jti": str(uuid.uuid4()),
            "htm": method,
            "htu": str(url.copy_with(query=None, fragment=None)),
            "iat": int(time.time()),
        }
        if token is not None:
            claims["ath"] = _base64url(hashlib.sha256(token.encode("ascii", "replace")).digest())
        if nonce is not None:
            claims["nonce"] = nonce
        headers = {"typ": "dpop+jwt", "jwk": self._public}
        return jwt.encode(claims, self._private, algorithm=self.algorithm, headers=headers)


def new_binding(algorithm: str) -> dict[str, Any]:
    """Make a key for ``algorithm``. Slow for RSA: call it in a thread."""
    match algorithm:
        case "ES256":
            private: Any = ec.generate_private_key(ec.SECP256R1())
        case "EdDSA":
            private = ed25519.Ed25519PrivateKey.generate()
        case _:
            private = rsa.generate_private_key(public_exponent=65537, key_size=_RSA_BITS)
    pem = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode("ascii")
    REDACTOR.add(pem)
    return {"algorithm": algorithm, "key": pem, "bound": False}


class Possession(Layer):
    """Binds the tokens of the login below to a key: always where ``wanted``, else where the server asks for it."""

    def __init__(self, inner: Flow, storage: Storage, *, server: str, wanted: bool | None) -> None:
        super().__init__(inner)
        self._storage = storage
        self._name = server
        self._wanted = bool(wanted)
        self._asked = False
        self._known: tuple[str, ...] | None = None
        self._key: Key | None = None
        self._nonces: dict[str, str] = {}

    async def _pass(
        self, out: httpx2.Request, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request | httpx2.Response, httpx2.Response]:
        nonce = await self._prove(out, out is request)
        response = yield out
        if nonce is not None and await self._wants_another_nonce(response, nonce):
            await self._prove(out, out is request)
            response = yield out
        if out is request:
            self._look_at_challenge(response)
        elif out.method == "GET":
            await self._look_at_metadata(response)
        elif nonce is not None:
            response = await self._look_at_token(response)
        yield response

    # --- what goes out ---------------------------------------------------------------------------

    @property
    def _bound(self) -> bool:
        binding = self._storage.binding
        return binding is not None and bool(binding.get("bound"))

    async def _prove(self, out: httpx2.Request, is_request: bool) -> str | None:
        """Put a proof on ``out`` where it needs one. Return the nonce in it, empty for none, ``None`` without proof."""
        token: str | None = None
        if is_request:
            scheme, _, token = out.headers.get("Authorization", "").partition(" ")
            if not token or not self._bound:
                out.headers.pop("DPoP", None)
                return None
            del scheme  # the flow below says Bearer whatever the token is
            out.headers["Authorization"] = f"DPoP {token}"
        elif grant_of(out) is None or not (self._wanted or self._asked or self._bound):
            return None
        key = await self._present_key()
        nonce = self._nonces.get(_origin(out.url))
        out.headers["DPoP"] = key.proof(out.method, out.url, token=token, nonce=nonce)
        return nonce or ""

    async def _present_key(self) -> Key:
        """Return the key of the tokens in use; one is made where there is none, or where it is of no use."""
        binding = self._storage.binding
        unknown = self._known is not None and binding is not None and binding["algorithm"] not in self._known
        if binding is None or (unknown and not binding.get("bound")):
            binding = await asyncio.to_thread(new_binding, self._algorithm())
            self._storage.binding = binding
        if self._key is None or self._key.binding["key"] != binding["key"]:
            try:
                self._key = Key(binding)
            except (ValueError, TypeError, KeyError, jwt.PyJWTError) as error:
                self._storage.binding = None
                raise LoginError("the key of its login cannot be read; log in again", where=self._name) from error
        return self._key

    def _algorithm(self) -> str:
        if self._known is None:
            return ALGORITHMS[0]
        for algorithm in ALGORITHMS:
            if algorithm in self._known:
                return algorithm
        theirs = ", ".join(self._known)[:100] or "none"
        raise LoginError(
            f"its login server takes proofs by {theirs}; known here are {', '.join(ALGORITHMS)}",
            where=self._name,
            by_hand=False,
        )

    # --- what comes back -------------------------------------------------------------------------

    async def _wants_another_nonce(self, response: httpx2.Response, sent: str) -> bool:
        """Take the nonce of an answer for later; tell whether the request is to be sent again with it."""
        nonce = response.headers.get(_NONCE, "")
        if not nonce or len(nonce) > _NONCE_CHARS:
            return False
        self._nonces[_origin(response.request.url)] = nonce
        if response.status_code not in (400, 401) or nonce == sent:
            return False
        if extract_field_from_www_auth(response, "error") == _ASKS_FOR_NONCE:
            return True
        return json_object(await response.aread()).get("error") == _ASKS_FOR_NONCE

    def _look_at_challenge(self, response: httpx2.Response) -> None:
        if response.status_code == 401:
            schemes = response.headers.get("WWW-Authenticate", "").lower()
            self._asked = self._asked or schemes.startswith("dpop") or ", dpop" in schemes

    async def _look_at_metadata(self, response: httpx2.Response) -> None:
        """Note what the metadata of the server and of its login server say of proofs; the SDK passes over it."""
        if not response.is_success:
            return
        fields = json_object(await response.aread())
        self._asked = self._asked or fields.get("dpop_bound_access_tokens_required") is True
        listed = fields.get("dpop_signing_alg_values_supported")
        if "token_endpoint" in fields:
            algorithms = cast(list[Any], listed) if isinstance(listed, list) else None
            self._known = None if algorithms is None else tuple(item for item in algorithms if isinstance(item, str))

    async def _look_at_token(self, response: httpx2.Response) -> httpx2.Response:
        """Note whether the new token is bound, and return an answer in the only words that the SDK takes."""
        if not response.is_success:
            return response
        fields = json_object(await response.aread())
        bound = str(fields.get("token_type", "")).lower() == "dpop"
        if self._wanted and not bound:
            raise LoginError(
                "its login server does not bind tokens to a key",
                where=self._name,
                mend="take oauth.dpop away if a token that anybody can use will do",
                by_hand=False,
            )
        if self._storage.binding is not None:
            self._storage.binding = {**self._storage.binding, "bound": bound}
        if not bound:
            return response
        body = json.dumps({**fields, "token_type": "Bearer"}).encode("utf-8")
        headers = {"content-type": "application/json"}
        return httpx2.Response(response.status_code, headers=headers, content=body, request=response.request)


def _origin(url: httpx2.URL) -> str:
    return f"{url.scheme}://{url.netloc.decode('ascii', 'replace')}"


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")
