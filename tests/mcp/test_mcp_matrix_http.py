"""Everything that a server behind a URL can do wrong, one by one.

As over stdio: a neighbour works all the time, the faulty server fails with words that say what to do, and the same
server works when its fault is gone, in the same session. Which addresses are connected to is in ``test_mcp_egress.py``.
"""

from __future__ import annotations

import asyncio
import os
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fakes.fake_web import FakeWeb
from fakes.mcp_sinks import FakeSink

from harness_tui.config.settings import McpServerSettings, McpTimeouts
from harness_tui.core.errors import ToolError
from harness_tui.core.events import Notice
from harness_tui.mcp import supervisor as supervising
from harness_tui.mcp.diagnosis import Diagnosis
from harness_tui.mcp.pool import McpPool

Make = Callable[..., McpPool]
Entry = Callable[..., McpServerSettings]
SCRIPTS = Path(__file__).parent / "servers"

STARTS = [
    ("401", "auth", "wants a login", "harness mcp login faulty"),
    ("403", "http-status", "answered with HTTP status 403", "refuses the name that it is called by"),
    ("404", "http-status", "answered with HTTP status 404", "transport: sse"),
    ("405", "http-status", "answered with HTTP status 405", "transport: sse"),
    ("421", "http-status", "answered with HTTP status 421", "mostly localhost or 127.0.0.1"),
    ("429", "http-status", "answered with HTTP status 429", "wait, then restart it"),
    ("500", "http-status", "answered with HTTP status 500", "look at its log"),
    ("page", "wrong-protocol", "answered with a web page (text/html) and not with MCP", "for browsers"),
    ("json", "wrong-protocol", "answered with JSON that is no MCP", "documentation"),
    ("mute", "timeout", "did not answer within 1 s", "mcp.faulty.timeout.start sets the limit"),
]

CALLS = [
    ("cut", "", None),
    ("large", "its answer is over 16777216 bytes", None),
    ("hang", "work was silent for 1 s and was cancelled", "mcp.faulty.timeout.idle sets the limit"),
    ("500", "", None),
]
"""What is wrong in a call, some of its words, and what is to be done."""

LIMITS = {"mute": McpTimeouts(start=1), "hang": McpTimeouts(idle=1)}


class Session:
    """A pool with the faulty server over HTTP and a neighbour over stdio."""

    def __init__(self, make_pool: Make, neighbour: McpServerSettings, folder: Path, sink: FakeSink) -> None:
        self.fault, self.log, self.sink = folder / "fault", folder / "log", sink
        self.processes: list[subprocess.Popen[str]] = []
        self._make, self._neighbour = make_pool, neighbour
        self.pool: McpPool
        self.port = 0

    def serve(self, port: int = 0) -> int:
        env = os.environ | {"FAULT": str(self.fault), "LOG": str(self.log), "PORT": str(port)}
        argv = [sys.executable, "-S", str(SCRIPTS / "faulty_http.py")]
        process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=env)
        self.processes.append(process)
        assert process.stdout is not None
        self.port = int(process.stdout.readline())
        return self.port

    def stop(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait(10)
            assert process.stdout is not None
            process.stdout.close()
        self.processes.clear()

    async def open(self, url: str | None = None, **fields: object) -> None:
        url = url or f"http://127.0.0.1:{self.port}/mcp"
        entry = McpServerSettings(name="faulty", url=url, transport="http", lazy=False, **fields)  # type: ignore[arg-type]
        self.pool = self._make(entry, self._neighbour)
        self.pool.start()
        assert await self.pool.wait_started(60)

    async def work(self, server: str = "faulty") -> str:
        return "\n".join(block["text"] for block in (await self.pool.call(server, "work", {})).content)

    async def diagnosis(self) -> Diagnosis:
        return await self.pool.diagnose("faulty")

    async def neighbour_is_untouched(self) -> None:
        assert await self.work("neighbour") == "worked"
        assert self.sink.states("neighbour") == ["starting", "ready"]
        assert [event for event in self.sink.of(Notice) if event.source == "mcp:neighbour"] == []

    def requests(self, word: str) -> int:
        return self.log.read_text().split().count(word)


@pytest.fixture
def session(
    make_pool: Make, server: Entry, tmp_path: Path, sink: FakeSink, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Session]:
    monkeypatch.setattr(supervising, "BACK_OFF_S", (0.01, 0.01, 0.01))
    env = {"FAULT": str(tmp_path / "none"), "PIDS": str(tmp_path / "pids")}
    session = Session(make_pool, server("faulty", name="neighbour", env=env), tmp_path, sink)
    yield session
    session.stop()


@pytest.mark.parametrize(("fault", "kind", "words", "mend"), STARTS, ids=[row[0] for row in STARTS])
async def test_a_server_that_cannot_be_used_says_why_and_works_once_it_can(
    session: Session, capfd: pytest.CaptureFixture[str], fault: str, kind: str, words: str, mend: str
) -> None:
    session.serve()
    session.fault.write_text(fault)
    await session.open(timeout=LIMITS.get(fault, McpTimeouts()))
    found = await session.diagnosis()
    assert (found.ok, found.kind, found.reason) == (False, kind, words)
    assert found.state == ("needs_auth" if kind == "auth" else "failed")
    assert mend in (found.mend or "")
    await session.neighbour_is_untouched()
    session.fault.unlink()
    again = await session.diagnosis()
    assert (again.ok, again.mend, again.protocol, again.tools) == (True, None, "2025-11-25", 1)
    assert await session.work() == "worked"
    await session.neighbour_is_untouched()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(("fault", "words", "mend"), CALLS, ids=[row[0] for row in CALLS])
async def test_a_call_that_goes_wrong_fails_alone_and_the_next_one_works(
    session: Session, capfd: pytest.CaptureFixture[str], fault: str, words: str, mend: str | None
) -> None:
    session.serve()
    await session.open(timeout=LIMITS.get(fault, McpTimeouts()))
    assert await session.work() == "worked"
    session.fault.write_text(fault)
    with pytest.raises(ToolError) as failed:
        await session.work()
    assert words in failed.value.what
    assert failed.value.where == "MCP server faulty"
    assert mend is None or mend in (failed.value.mend or "")
    await session.neighbour_is_untouched()
    session.fault.unlink()
    assert await session.work() == "worked"
    assert capfd.readouterr() == ("", "")


async def test_nobody_listens_until_somebody_does(session: Session) -> None:
    port = session.serve()
    session.stop()
    await session.open()
    found = await session.diagnosis()
    assert (found.kind, found.reason) == ("refused", "cannot be reached: Connection refused")
    assert found.mend == f"nothing listens at 127.0.0.1:{port}: start the server there, or mend the port in 'url'"
    await session.neighbour_is_untouched()
    session.serve(port)
    assert (await session.diagnosis()).ok
    assert await session.work() == "worked"


async def test_a_redirect_to_another_origin_is_told_and_takes_nothing_along(session: Session) -> None:
    session.serve()
    async with FakeWeb() as trap:
        session.fault.write_text(f"redirect http://127.0.0.1:{trap.port}/mcp")
        await session.open(headers={"X-Key": "hunter22"})
        found = await session.diagnosis()
        assert (found.kind, found.reason) == (
            "redirect",
            f"sends on to http://127.0.0.1:{trap.port}/mcp, another server",
        )
        assert trap.connections == 0
    session.fault.unlink()
    assert (await session.diagnosis()).ok
    assert await session.work() == "worked"
    assert session.requests("key=hunter22") == len(session.log.read_text().splitlines())


async def test_a_server_that_forgot_its_session_is_begun_with_anew(session: Session) -> None:
    session.serve()
    await session.open()
    assert await session.work() == "worked"
    session.fault.write_text("forgotten")
    with pytest.raises(ToolError) as failed:
        await session.work()
    assert "mend" not in failed.value.what
    assert await session.work() == "worked"
    assert session.requests("initialize") == 2
    assert session.requests("tools/call") == 3, "no call is made twice"


async def test_a_result_over_a_mebibyte_arrives_as_an_event_too(session: Session) -> None:
    session.serve()
    await session.open()
    session.fault.write_text("big")
    assert await session.work() == "x" * 2_000_000


async def test_cancelling_a_call_tells_the_server_and_leaves_the_others_alone(session: Session) -> None:
    session.serve()
    await session.open()
    session.fault.write_text("hang")
    call = asyncio.create_task(session.work())
    async with asyncio.timeout(20):
        while session.requests("tools/call") == 0:
            await asyncio.sleep(0.02)
        call.cancel()
        await asyncio.wait({call})
        session.fault.unlink()
        while session.requests("notifications/cancelled") == 0:
            await asyncio.sleep(0.02)
        assert await session.work() == "worked"


async def test_twenty_calls_at_once_are_answered_side_by_side(session: Session) -> None:
    session.serve()
    await session.open()
    session.fault.write_text("pause")  # 0.3 s each
    loop = asyncio.get_running_loop()
    began = loop.time()
    async with asyncio.timeout(30):
        assert await asyncio.gather(*(session.work() for _ in range(20))) == ["worked"] * 20
    assert loop.time() - began < 20 * 0.3, "one after the other they take six seconds"


async def test_plain_http_where_tls_is_expected_is_told(session: Session) -> None:
    session.serve()
    await session.open(url=f"https://127.0.0.1:{session.port}/mcp", timeout=McpTimeouts(start=20))
    found = await session.diagnosis()
    assert found.kind == "tls"
    assert "write the URL with http://" in (found.mend or "")
    await session.neighbour_is_untouched()


async def test_a_certificate_that_nobody_vouches_for_is_told(session: Session, tmp_path: Path) -> None:
    certificate, key = self_signed(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    listener = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0, ssl=context)
    async with listener:
        await session.open(url=f"https://127.0.0.1:{listener.sockets[0].getsockname()[1]}/mcp")
        found = await session.diagnosis()
    assert found.kind == "tls"
    assert (found.reason or "").startswith("its certificate is not trusted here")
    assert "SSL_CERT_FILE" in (found.mend or "")


def self_signed(folder: Path) -> tuple[Path, Path]:
    from datetime import UTC, datetime, timedelta

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(1).not_valid_before(now - timedelta(1)).not_valid_after(now + timedelta(1))
    certificate, secret = folder / "cert.pem", folder / "key.pem"
    certificate.write_bytes(builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return certificate, secret
