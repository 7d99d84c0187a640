"""``mcp conformance`` proves something of the product only while it runs it: its parts are those of ``run``."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml

from harness_tui.cli.conformance import configuration_of, conform
from harness_tui.cli.conformance_login import login_keys
from harness_tui.cli.headless import RunRequest, run_headless
from harness_tui.config.loader import Flags, load
from harness_tui.config.places import Places
from harness_tui.config.project import find_project
from harness_tui.workspace.workspace import Workspace

SERVER = Path(__file__).parents[1] / "mcp" / "servers" / "over_http.py"


@pytest.fixture
def address() -> Iterator[str]:
    process = subprocess.Popen([sys.executable, str(SERVER)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    yield f"http://127.0.0.1:{int(process.stdout.readline())}/mcp"
    process.kill()
    process.wait(10)
    process.stdout.close()


def parts_of(workspace: Workspace) -> dict[str, object]:
    """Return the classes and functions that a call of this workspace went through."""
    pool: Any = workspace.mcp
    supervisor = pool._supervisors["suite"]
    connection = supervisor._latest
    transport = connection.transport
    client = transport._client()
    return {
        "pool": type(pool),
        "call": type(pool).call,
        "supervisor": type(supervisor),
        "connection": type(connection),
        "exchange": type(connection.exchange),
        "transport": type(transport),
        "login": type(transport._auth),
        "egress": type(transport._egress),
        "client": type(client),
        "network": type(client._transport),
        "gate": type(workspace.gate),
        "decide": type(workspace.gate).decide,
        "one policy": transport._egress is pool._supervisors["suite"]._means.egress,
    }


async def test_the_parts_of_a_conformance_run_are_those_of_a_run(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[dict[str, object]] = []
    close = Workspace.close

    async def look_and_close(workspace: Workspace) -> None:
        if not workspace._closed:
            seen.append(parts_of(workspace))
        await close(workspace)

    monkeypatch.setattr(Workspace, "close", look_and_close)
    for name in [name for name in os.environ if name.startswith(("XDG_", "HARNESS_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    config = tmp_path / "home" / ".config" / "harness" / "config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text(f"mcp: {{suite: {{url: '{address}'}}}}\npermission: [{{permission: mcp, action: allow}}]\n")
    project = tmp_path / "project"
    project.mkdir()
    (project / "play.yaml").write_text("turns:\n  - tools: [{name: suite_work, arguments: {}}]\n  - text: done\n")
    monkeypatch.chdir(project)

    assert await run_headless(RunRequest(project, "go", Flags(model="replay:play.yaml"), ask="refuse")) == 0
    assert await conform(address, dict(os.environ)) == 0
    assert "work: ok" in capsys.readouterr().out
    by_run, by_suite = seen
    assert {name: by_suite[name] is by_run[name] for name in by_run} == dict.fromkeys(by_run, True)
    assert by_run["one policy"] is True
    assert issubclass(by_run["client"], httpx2.AsyncClient)  # type: ignore[arg-type]


CONTEXTS = {
    "auth/pre-registration": {"client_id": "a", "client_secret": "b"},
    "auth/client-credentials-basic": {"client_id": "a", "client_secret": "b"},
    "auth/client-credentials-jwt": {"client_id": "a", "private_key_pem": "-----BEGIN", "signing_algorithm": "ES256"},
    "auth/wif-jwt-bearer": {"client_id": "a", "valid_jwt": "eyJh.eyJi.c", "expired_jwt": "eyJ"},
    "auth/dpop": {},
}


@pytest.mark.parametrize("scenario", CONTEXTS)
async def test_a_conformance_run_sets_only_keys_that_a_person_can_set(tmp_path: Path, scenario: str) -> None:
    url = "http://127.0.0.1:9/mcp"
    settings = configuration_of(url, await login_keys(url, dict(CONTEXTS[scenario]), scenario))
    file = tmp_path / ".config" / "harness" / "config.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(yaml.safe_dump(settings))
    environ = {"HOME": str(tmp_path)}
    (tmp_path / "p").mkdir()
    loaded = load(find_project(tmp_path / "p", tmp_path), Places.from_environment(environ), Flags(), environ)
    assert not loaded.problems
    server = loaded.settings.mcp["suite"]
    assert (server.error, server.repair, server.trusted) == (None, False, True)
    assert set(settings) == {"mcp", "permission", "egress"}
    assert set(settings["mcp"]["suite"]) == {"url", "oauth", "repair"}
