"""The shape of ``mcp.<name>.oauth``: how requests to a server behind a URL are authorised.

Imported where ``schema`` is, and nowhere else. Which keys go together is checked by ``login_keys``, once variables and
files are put in.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError


def _text(value: Any) -> Any:
    if isinstance(value, str) and not value.strip():
        raise PydanticCustomError("empty", "must not be empty")
    return value


Text = Annotated[str, BeforeValidator(_text)]
Algorithm = Literal["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]


class LoginPart(BaseModel):
    """No unknown keys, no silent conversions."""

    model_config = ConfigDict(extra="forbid", strict=True)


class IdentityProviderModel(LoginPart):
    """Who vouches for the person: where ``id_token`` (a token, or the path of its file) is exchanged for a grant."""

    token_endpoint: Text
    id_token: Text
    client_id: Text | None = None
    client_secret: Text | None = None


class ExchangeModel(LoginPart):
    """The exchange of the login's token for another one (RFC 8693), which the server is then sent.

    ``actor_token`` is a token, or the path of its file. Without ``token_endpoint`` the login's own server is asked.
    """

    token_endpoint: Text | None = None
    audience: Text | None = None
    resource: Text | None = None
    scope: Text | None = None
    requested_token_type: Text | None = None
    actor_token: Text | None = None
    actor_token_type: Text | None = None
    client_id: Text | None = None
    client_secret: Text | None = None


class LoginModel(LoginPart):
    """How requests to a server are authorised. ``private_key`` and ``assertion`` are texts, or paths of their files.

    ``dpop``: tokens are bound to a key of this machine; left out, where the server asks for it.
    """

    grant: Literal["authorization_code", "client_credentials", "jwt_bearer", "identity_assertion"] | None = None
    scope: Text | None = None
    issuer: Text | None = None
    client_id: Text | None = None
    client_secret: Text | None = None
    client_metadata_url: Text | None = None
    token_auth: Literal["none", "client_secret_basic", "client_secret_post"] | None = None
    redirect_port: Annotated[int, Field(ge=1, le=65535)] | None = None
    private_key: Text | None = None
    signing_algorithm: Algorithm | None = None
    assertion: Text | None = None
    identity_provider: IdentityProviderModel | None = None
    exchange: ExchangeModel | None = None
    dpop: bool | None = None


def no_login(value: Any) -> Any:
    """Return ``{}`` for ``false``, which other tools write for it."""
    return {} if value is False or value is None else value


Login = Annotated[LoginModel, BeforeValidator(no_login)]
