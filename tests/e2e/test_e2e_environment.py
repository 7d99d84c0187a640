"""What servers and commands are started with: the environment, and the folder."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from e2e_home import Home

pytestmark = pytest.mark.e2e

TELL = """
import json, os, sys
with open(sys.argv[1], "w") as file:
    json.dump([os.getcwd(), dict(os.environ)], file)
"""
BASE = {
    "LC_TIME": "de_DE.UTF-8",
    "TMPDIR": "/tmp",
    "XDG_RUNTIME_DIR": "/run/nobody",
    "SSL_CERT_FILE": "/etc/own.pem",
    "HTTPS_PROXY": "http://proxy.test:1",
    "no_proxy": "a.test",
}
SECRET = {"OPENAI_API_KEY": "sk-one", "ANTHROPIC_API_KEY": "sk-two", "GITHUB_TOKEN": "three", "XDG_SECRET_KEY": "four"}


def started(home: Home, name: str) -> tuple[str, dict[str, str]]:
    folder, environ = json.loads((home.folder / f"{name}.json").read_text())
    return folder, environ


def test_a_server_gets_the_base_what_is_configured_and_its_folder_and_an_error_names_what_is_missing(
    home: Home,
) -> None:
    home.variables.update(BASE | SECRET | {"SOMETHING": "else", "VIRTUAL_ENV": "/venv"})
    home.write("tell.py", TELL, base=home.folder)

    def entry(name: str, **more: Any) -> dict[str, Any]:
        return {"command": [sys.executable, str(home.folder / "tell.py"), str(home.folder / f"{name}.json")], **more}

    for folder in (home.folder / "x", home.project / "sub", home.folder / ".config/harness/beside"):
        folder.mkdir(parents=True)
    servers = {
        "plain": entry("plain", env={"MY_TOKEN": "abc", "PATH_EXTRA": "1", "OPENAI_API_KEY": "for this one"}),
        "tilde": entry("tilde", cwd="~/x"),
        "beside": entry("beside", cwd="./beside"),
        "gone": entry("gone", cwd="~/gone"),
        "needs": entry("needs", env={"A": "{env:NOT_SET_ANYWHERE}"}),
    }
    home.user_config(json.dumps({"mcp": servers}))
    home.write(".harness/config.yaml", json.dumps({"mcp": {"inner": entry("inner", cwd="./sub")}}))
    home.trust()
    reasons = {row["name"]: row["reason"] for row in json.loads(home.harness("mcp", "list", "--json").out)}

    folder, environ = started(home, "plain")
    assert folder == str(home.project)
    assert {name: environ.get(name) for name in BASE} == BASE
    assert (environ["HOME"], environ["LANG"]) == (str(home.folder), "C.UTF-8")
    assert (environ["MY_TOKEN"], environ["PATH_EXTRA"], environ["OPENAI_API_KEY"]) == ("abc", "1", "for this one")
    assert not {"ANTHROPIC_API_KEY", "GITHUB_TOKEN", "XDG_SECRET_KEY", "SOMETHING", "VIRTUAL_ENV"} & set(environ)
    assert started(home, "tilde")[0] == str(home.folder / "x")
    assert started(home, "beside")[0] == str(home.folder / ".config/harness/beside")
    assert started(home, "inner")[0] == str(home.project / "sub")
    assert not set(SECRET) & set(started(home, "inner")[1])
    assert reasons["gone"] == f"the folder to start in does not exist: {home.folder / 'gone'}"
    assert "the environment variable NOT_SET_ANYWHERE is not set" in reasons["needs"]


def test_a_command_gets_no_secret_and_the_virtual_environment(home: Home) -> None:
    home.variables.update(BASE | SECRET | {"VIRTUAL_ENV": "/venv"})
    home.write("tell.py", TELL, base=home.folder)
    command = f"{sys.executable} {home.folder / 'tell.py'} {home.folder / 'bash.json'}"
    arguments = json.dumps({"command": command})
    assert home.harness("tools", "call", "bash", arguments, "--ask", "allow").code == 0
    folder, environ = started(home, "bash")
    assert folder == str(home.project)
    assert environ["VIRTUAL_ENV"] == "/venv"
    assert environ["HTTPS_PROXY"] == "http://proxy.test:1"
    assert not set(SECRET) & set(environ)
