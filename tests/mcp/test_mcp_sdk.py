"""What of the SDK is imported for a server, and what is not."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import asyncio, sys
from harness_tui.mcp import sdk
for over_http in {orders}:
    asyncio.run(sdk.load(over_http=over_http))
print(*sorted({{"cryptography", "mcp.client.auth", *sdk.OVER_HTTP}} & set(sys.modules)))
"""


@pytest.mark.parametrize(
    ("orders", "found"),
    [
        ([False], ""),
        ([True], "cryptography harness_tui.mcp.authorisation harness_tui.mcp.streamable mcp.client.auth"),
        ([False, True], "cryptography harness_tui.mcp.authorisation harness_tui.mcp.streamable mcp.client.auth"),
    ],
)
def test_what_logins_need_is_imported_for_servers_behind_a_url_alone(orders: list[bool], found: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(orders=orders)], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == found
