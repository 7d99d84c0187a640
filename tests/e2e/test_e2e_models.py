"""Models in the whole program: without any, with keys that are kept, and that no key or header is ever seen."""

from __future__ import annotations

import http.server
import json
import os
import pty
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from e2e_home import BIN, Home
from e2e_scene import wait_for
from terminal import Terminal

pytestmark = pytest.mark.e2e

KEY = "kept-AAAA-0123456789"
HEADER = "plain-BBBB-9876543210"
TOKEN = "quoted-CCCC-1357924680"
NO_KEYRING = {"PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"}


class Provider(http.server.ThreadingHTTPServer):
    """Speaks chat completions; with ``broken`` it fails and repeats every header that it was sent."""

    daemon_threads = True

    def __init__(self) -> None:
        self.broken = False
        self.seen: list[dict[str, str]] = []
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(http.server.BaseHTTPRequestHandler):
    server: Provider

    def do_GET(self) -> None:
        self._answer(200, "application/json", json.dumps({"data": [{"id": "gpt-5.1"}]}))

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.seen.append(headers)
        if self.server.broken:
            self._answer(400, "application/json", json.dumps({"error": {"message": f"you sent {headers}"}}))
            return
        usage = {"prompt_tokens": 1_000, "completion_tokens": 100}
        chunks: list[dict[str, Any]] = [
            {"choices": [{"index": 0, "delta": {"content": "Good day."}, "finish_reason": "stop"}]},
            {"choices": [], "usage": usage},
        ]
        lines = [*(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks), "data: [DONE]\n\n"]
        self._answer(200, "text/event-stream", "".join(lines))

    def _answer(self, status: int, kind: str, text: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def provider() -> Iterator[Provider]:
    server = Provider()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join(10)


def state(home: Home, name: str) -> Path:
    return home.folder / ".local/state/harness" / name


def files_with(home: Home, text: str) -> list[str]:
    """Return the names of the files in the home that hold ``text``, in whatever database or log."""
    return [
        str(path.relative_to(home.folder))
        for path in home.folder.rglob("*")
        if path.is_file() and text.encode() in path.read_bytes()
    ]


def test_with_an_empty_home_every_way_in_says_how_to_get_a_model(home: Home) -> None:
    ran = home.harness("run", "hello")
    assert (ran.code, ran.out) == (2, "")
    for way in ("ANTHROPIC_API_KEY", "harness auth add anthropic", "ollama", "local:/path/to/model.gguf", "base_url"):
        assert way in ran.err
    (row,) = [one for one in json.loads(home.harness("doctor", "--json").out) if one["code"] == "no-model"]
    assert row["level"] == "warning"
    assert "harness auth add" in row["mend"]
    listed = home.harness("models", "list", "--json")
    rows = {one["name"]: one for one in json.loads(listed.out)}
    assert listed.code == 0
    assert rows["anthropic/claude-sonnet-5"]["mend"] == "set ANTHROPIC_API_KEY, or run: harness auth add anthropic"
    assert [name for name, one in rows.items() if one["available"]] == ["offline"]
    assert listed.err == ""  # each row says itself what to do
    with Terminal([str(BIN / "harness")], cwd=home.project, env=home.environ(), columns=100, rows=30) as terminal:
        terminal.wait_for("No model yet.")
        terminal.wait_for("it asks for a key")
        terminal.send("/model ")
        terminal.wait_for("/model ")
        terminal.send("\r")
        terminal.wait_for("Choose the model")
        terminal.wait_for("nobody answers on port 11434")
        terminal.send("\x1b")
        terminal.pump(lambda: "Choose the model" not in terminal.text(), 20)
        terminal.send("\x11")
        assert terminal.wait_exit() == 0


def test_a_kept_key_is_used_counted_listed_removed_and_nowhere_seen(home: Home, provider: Provider) -> None:
    home.variables = {**NO_KEYRING, "OPENAI_BASE_URL": provider.url}
    added = home.harness("auth", "add", "openai", "--json", stdin=f"{KEY}\n")
    assert (added.code, json.loads(added.out)["source"]) == (0, "file")
    assert state(home, "keys.json").stat().st_mode & 0o777 == 0o600

    ran = home.run("hello")
    assert ran.code == 0
    assert provider.seen[0]["authorization"] == f"Bearer {KEY}"
    (notice,) = [one for one in ran.of("notice") if one["source"] == "models"]
    assert notice["text"].startswith("using openai/gpt-5.1: no model is configured, and its key is in the stored keys")
    (usage,) = ran.of("usage_updated")
    assert usage["cost"] == pytest.approx(1_000 * 1.25e-6 + 100 * 10e-6)  # $1.25 and $10 for a million
    assert usage["context_limit"] == 400_000

    listed = home.harness("auth", "list", "--json")
    (row,) = json.loads(listed.out)
    assert (row["provider"], row["source"], row["in_use"]) == ("openai", str(state(home, "keys.json")), True)
    both = Home(home.folder, home.project, home.mark, {**home.variables, "OPENAI_API_KEY": "env-DDDD-000000000"})
    rows = json.loads(both.harness("auth", "list", "--json").out)
    assert [(one["source"], one["in_use"]) for one in rows] == [
        ("OPENAI_API_KEY", True),
        (str(state(home, "keys.json")), False),
    ]
    assert KEY[:8] not in ran.out + ran.err + listed.out + both.harness("auth", "list").out + added.out + added.err
    assert files_with(home, KEY) == [".local/state/harness/keys.json"]

    home.variables["OPENAI_BASE_URL"] = "http://127.0.0.1:1/v1"
    elsewhere = home.harness("run", "--model", "openai/gpt-5.1", "hello")
    assert elsewhere.code == 2
    assert "its stored key is for http://127.0.0.1:" in elsewhere.err
    home.variables["OPENAI_BASE_URL"] = provider.url

    assert home.harness("auth", "remove", "openai").code == 0
    assert home.harness("auth", "remove", "openai").code == 1
    assert files_with(home, KEY) == []
    assert len(provider.seen) == 1


def test_no_key_and_no_header_is_seen_when_a_provider_repeats_them(home: Home, provider: Provider) -> None:
    provider.broken = True
    home.variables = {**NO_KEYRING, "LAB_KEY": TOKEN}
    home.user_config(
        f"""
        model: lab/m
        providers:
          lab:
            kind: openai-compatible
            base_url: "{provider.url}"
            api_key: "{{env:LAB_KEY}}"
            headers: {{X-Team: {HEADER}}}
        """
    )
    outputs = [
        home.run("hello"),
        home.harness("run", "hello"),
        home.harness("config", "show", "--json"),
        home.harness("auth", "list", "--json"),
        home.harness("doctor", "--json"),
        home.harness("models", "list", "--all", "--json"),
    ]
    assert (outputs[0].code, provider.seen[0]["x-team"], provider.seen[0]["authorization"]) == (
        1,
        HEADER,
        f"Bearer {TOKEN}",
    )
    assert "you sent" in outputs[1].err, outputs[1].err
    session = outputs[0].events[0]["session"]
    outputs.append(home.harness("sessions", "show", session, "--json"))
    for ran in outputs:
        for secret in (TOKEN, HEADER):
            assert secret not in ran.out
            assert secret not in ran.err
    assert files_with(home, TOKEN) == []
    # The cache of what was read is the file itself in another form, for the person's eyes alone.
    cached = [name for name in files_with(home, HEADER) if name != ".config/harness/config.yaml"]
    assert [Path(name).parent.as_posix() for name in cached] == [".cache/harness/config"]
    assert (home.folder / cached[0]).stat().st_mode & 0o777 == 0o600


def test_a_key_is_asked_for_without_showing_it(home: Home) -> None:
    home.variables = dict(NO_KEYRING)
    pid, master = pty.fork()
    if pid == 0:
        os.chdir(home.project)
        os.execve(BIN / "harness", ["harness", "auth", "add", "anthropic"], home.environ())
    shown = bytearray()

    def read() -> bool:
        try:
            shown.extend(os.read(master, 4096))
        except OSError:
            return True
        return b"Key of anthropic" in shown

    wait_for(read)
    os.write(master, f"{KEY}\n".encode())
    try:
        while data := os.read(master, 4096):
            shown.extend(data)
    except OSError:  # the terminal is closed when the program ends
        pass
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    os.close(master)
    assert KEY.encode() not in shown
    assert json.loads(state(home, "keys.json").read_text())["keys"]["anthropic"]["key"] == KEY


@pytest.mark.parametrize(
    ("arguments", "stdin", "code", "text"),
    [
        (["add", "openai"], "", 2, "there is no key"),
        (["add", "openai"], " \n ", 2, "there is no key"),
        (["add", "openai"], "two words\n", 2, "no blanks"),
        (["add", "openai"], "a-key\nand-another\n", 2, "no blanks"),
        (["add", "openai"], "schl\u00fcssel-0000\n", 2, "no special characters"),
        pytest.param(["add", "openai"], "x" * 20_000, 2, "more than 16384 bytes", id="long"),
        (["add", "opnai"], "a-key-00000000", 2, "did you mean 'openai'?"),
        (["add", "mine"], "a-key-00000000", 2, "needs no key"),
        (["add", "openai", "--store", "keyring"], "a-key-00000000", 1, "no keyring that can be used"),
        (["remove", "openai"], None, 1, "no key is stored"),
    ],
)
def test_a_key_that_is_none_is_refused_and_nothing_is_kept(
    home: Home, arguments: list[str], stdin: str | None, code: int, text: str
) -> None:
    home.variables = dict(NO_KEYRING)
    home.user_config("providers: {mine: {kind: local, models: {x: {path: x.gguf}}}}\n")
    ran = home.harness("auth", *arguments, stdin=stdin)
    assert (ran.code, ran.out) == (code, "")
    assert text in ran.err
    assert not state(home, "keys.json").exists()


def test_a_silent_keyring_holds_nobody_up(home: Home, tmp_path: Path) -> None:
    pytest.importorskip("keyring")
    folder = tmp_path / "backend"
    folder.mkdir()
    (folder / "silent_ring.py").write_text(
        "import time\n"
        "import keyring.backend\n"
        "class Ring(keyring.backend.KeyringBackend):\n"
        "    priority = 9\n"
        "    def get_password(self, *_): time.sleep(600)\n"
        "    set_password = delete_password = get_password\n"
    )
    home.variables = {"PYTHONPATH": str(folder), "PYTHON_KEYRING_BACKEND": "silent_ring.Ring"}
    ran = home.harness("auth", "add", "openai", "--json", stdin=KEY, timeout=60)
    assert (ran.code, json.loads(ran.out)["source"]) == (0, "file")


def test_doctor_tells_what_is_wrong_with_models_and_where(home: Home) -> None:
    home.user_config(
        """
        model: lab/gone
        small_model: nobody/x
        providers:
          lab: {base_url: "http://127.0.0.1:1/v1", models: {here: {}}}
          mine: {kind: local, models: {x: {path: missing.gguf}}}
        agents:
          odd: {model: lab/nothing}
        """
    )
    home.write(".local/state/harness/keys.json", "{}", base=home.folder)
    ran = home.harness("doctor", "--json")
    rows = {(row["code"], row["where"].rsplit("/", 1)[-1]): row for row in json.loads(ran.out)}
    assert ran.code == 1
    assert rows["model", "model"]["level"] == "error"
    assert rows["model", "model"]["mend"] == "did you mean lab/here?"
    assert rows["model", "small_model"]["level"] == "warning"
    assert "lab/nothing" in rows["model", "config.yaml:7"]["message"]
    assert rows["keys", "keys.json"]["mend"] == "move it away and add the keys again"
    local = [row for (code, _), row in rows.items() if code in ("model-file", "missing-extra")]
    assert len(local) == 1
