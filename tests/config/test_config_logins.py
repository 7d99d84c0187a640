"""The keys under ``oauth`` of an MCP server: which go together, and where a fault is."""

from __future__ import annotations

import pytest

from harness_tui.config.schema import json_schema

HEAD = "mcp:\n  docs:\n    url: https://docs.example/mcp\n    oauth:\n"


def problem_of(world, *lines: str) -> str:
    """Return ``line: message, remedy`` of the one problem of a server whose ``oauth`` begins in line 4."""
    world.write_user(HEAD + "".join(f"      {line}\n" for line in lines))
    loaded = world.load()
    (problem,) = loaded.problems
    assert loaded.settings.mcp["docs"].error is not None
    return f"{problem.where.rpartition(':')[2]}: {problem.message}; {problem.mend}"


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (("scopes: x",), "5: unknown key 'mcp.docs.oauth.scopes'; did you mean 'scope'?"),
        (("scope: x", "grant: password"), "6: mcp.docs.oauth.grant: expected one of authorization_code,"),
        (("redirect_port: 70000",), "5: mcp.docs.oauth.redirect_port: input should be less than or equal to 65535"),
        (("dpop: sometimes",), "5: mcp.docs.oauth.dpop: expected true or false, got text"),
        (
            ("identity_provider:", "  token_endpoint: x", "  id_token: x", "  client_secrt: x"),
            "8: unknown key 'mcp.docs.oauth.identity_provider.client_secrt'; did you mean 'client_secret'?",
        ),
        (("private_key: a.pem",), "5: mcp.docs: 'private_key' does not go with the grant authorization_code; say 'gra"),
        (("grant: client_credentials",), "5: mcp.docs: the grant client_credentials needs 'client_id'; add it"),
        (("client_id: a", "grant: client_credentials"), "6: mcp.docs: no proof of who asks; give it a 'client_secret'"),
        (
            ("{grant: client_credentials, client_id: a, client_secret: b, private_key: c.pem}",),
            "5: mcp.docs: both 'client_secret' and 'private_key'; keep one of them",
        ),
        (("grant: jwt_bearer",), "5: mcp.docs: the grant jwt_bearer needs 'assertion'; add it"),
        (
            ("grant: identity_assertion", "client_id: a", "client_secret: b", "issuer: https://login.example"),
            "5: mcp.docs: the grant identity_assertion needs 'identity_provider'; add it",
        ),
        (
            ("token_auth: client_secret_post",),
            "5: mcp.docs: 'token_auth: client_secret_post' without a 'client_secret'",
        ),
        (("issuer: login.example",), "5: mcp.docs: 'login.example' is not an http or https address"),
        (
            ("exchange:", "  token_endpoint: http://sts.example/token"),
            "6: mcp.docs: secrets are sent to it, and http is not encrypted; write it with https",
        ),
        (("client_metadata_url: https://me.example/",), "5: mcp.docs: it is no address of a document"),
    ],
)
def test_a_fault_in_a_login_names_its_line_and_what_to_write(world, lines: tuple[str, ...], words: str) -> None:
    assert problem_of(world, *lines).startswith(words)


def test_a_login_beside_a_command_or_beside_an_authorization_header_is_a_fault(world) -> None:
    world.write_user(
        "mcp:\n  here:\n    command: [x]\n    oauth: {scope: a}\n"
        "  routed:\n    command: [x]\n    server_name: a\n"
        "  twice:\n    url: https://a.example/mcp\n    headers: {authorization: Bearer x}\n    oauth: {scope: a}\n"
        "  fine:\n    url: https://a.example/mcp\n    server_name: a\n    oauth: false\n"
    )
    loaded = world.load()
    told = [f"{problem.where.rpartition(':')[2]}: {problem.message}" for problem in loaded.problems]
    assert told == [
        "4: mcp.here: 'oauth' goes with a 'url' only",
        "7: mcp.routed: 'server_name' goes with a 'url' only",
        "11: mcp.twice: the header 'Authorization' already says who asks, so 'oauth' would not be used",
    ]
    fine = loaded.settings.mcp["fine"]
    assert (fine.error, fine.oauth, fine.server_name, fine.repair) == (None, {}, "a", True)


def test_what_each_grant_needs_is_enough_and_paths_lie_beside_the_file(world) -> None:
    world.environ["TOKEN"] = "eyJhbGciOi.eyJzdWIi.c2ln"
    path = world.write_user(
        "mcp:\n"
        "  key: {url: https://a.example/mcp, oauth: {grant: client_credentials, client_id: a, private_key: a.pem}}\n"
        "  job: {url: https://a.example/mcp, oauth: {grant: jwt_bearer, assertion: /run/token}}\n"
        '  env: {url: https://a.example/mcp, oauth: {grant: jwt_bearer, assertion: "{env:TOKEN}"}}\n'
        "  corp:\n    url: https://a.example/mcp\n    oauth:\n      grant: identity_assertion\n      client_id: a\n"
        "      client_secret: secret88\n      issuer: http://127.0.0.1:9\n      dpop: true\n"
        "      identity_provider: {token_endpoint: https://idp.example/token, id_token: id.jwt}\n"
        "      exchange: {audience: inner, actor_token: actor.jwt}\n"
    )
    loaded = world.load()
    assert not loaded.problems
    servers = loaded.settings.mcp
    assert servers["key"].oauth["private_key"] == str(path.parent / "a.pem")
    assert servers["job"].oauth["assertion"] == "/run/token"
    assert servers["env"].oauth["assertion"] == "eyJhbGciOi.eyJzdWIi.c2ln"
    corp = servers["corp"].oauth
    assert corp["identity_provider"]["id_token"] == str(path.parent / "id.jwt")
    assert corp["exchange"]["actor_token"] == str(path.parent / "actor.jwt")
    assert corp["dpop"] is True


def test_the_schema_for_editors_knows_the_keys_of_a_login() -> None:
    parts = json_schema()["$defs"]
    assert {"grant", "dpop", "exchange", "identity_provider", "assertion"} <= parts["LoginModel"]["properties"].keys()
    assert parts["LoginModel"]["additionalProperties"] is False
