"""A server of the SDK over HTTP on loopback that wants a login, with its own authorization server; prints its port.

LASTS is how many seconds an access token lasts. Each step of a login is a line in LOG. REFUSE refuses every login.
"""

import os
import secrets
import socket
import time

import uvicorn
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.server.mcpserver import MCPServer
from mcp.shared.auth import OAuthToken

LASTS = int(os.environ.get("LASTS", "3600"))


def note(line):
    with open(os.environ["LOG"], "a", encoding="utf-8") as file:
        file.write(line + "\n")


class Logins(OAuthAuthorizationServerProvider):
    def __init__(self):
        self.clients, self.codes, self.access, self.refresh = {}, {}, {}, {}

    async def get_client(self, client_id):
        return self.clients.get(client_id)

    async def register_client(self, client_info):
        note("register")
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client, params):
        note("authorize")
        back = str(params.redirect_uri)
        if "REFUSE" in os.environ:
            return construct_redirect_uri(back, error="access_denied", state=params.state)
        code = secrets.token_urlsafe(16)
        self.codes[code] = AuthorizationCode(
            code=code,
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            client_id=client.client_id,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        return construct_redirect_uri(back, code=code, state=params.state)

    async def load_authorization_code(self, client, authorization_code):
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(self, client, authorization_code):
        note("exchange")
        del self.codes[authorization_code.code]
        return self.tokens(client, authorization_code.scopes, authorization_code.resource)

    async def load_refresh_token(self, client, refresh_token):
        return self.refresh.get(refresh_token)

    async def exchange_refresh_token(self, client, refresh_token, scopes, *more):
        note("refresh")
        del self.refresh[refresh_token.token]  # each can be used once
        return self.tokens(client, scopes, refresh_token.resource)

    async def load_access_token(self, token):
        found = self.access.get(token)
        return found if found is not None and found.expires_at > time.time() else None

    async def revoke_token(self, token):
        pass

    def tokens(self, client, scopes, resource):
        access, refresh = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
        ends = int(time.time()) + LASTS
        self.access[access] = AccessToken(
            token=access, client_id=client.client_id, scopes=scopes, expires_at=ends, resource=resource
        )
        self.refresh[refresh] = RefreshToken(
            token=refresh, client_id=client.client_id, scopes=scopes, resource=resource
        )
        return OAuthToken(access_token=access, expires_in=LASTS, refresh_token=refresh, scope=" ".join(scopes))


listener = socket.create_server(("127.0.0.1", 0))
base = f"http://127.0.0.1:{listener.getsockname()[1]}"
server = MCPServer(
    "locked",
    log_level="ERROR",
    auth_server_provider=Logins(),
    auth=AuthSettings(
        issuer_url=base,
        resource_server_url=f"{base}/mcp",
        client_registration_options=ClientRegistrationOptions(enabled=True),
        validate_token_resource=True,
    ),
)


@server.tool()
def work() -> str:
    """Work."""
    return "worked behind the login"


print(listener.getsockname()[1], flush=True)
uvicorn.Server(uvicorn.Config(server.streamable_http_app(), log_level="error")).run(sockets=[listener])
