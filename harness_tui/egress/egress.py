"""The entry of this package: one value for a workspace that makes every HTTP client of it.

Making one is cheap and imports no HTTP library; :meth:`Egress.load` does that in a thread, before the first client.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from harness_tui._version import __version__
from harness_tui.config.settings import EgressSettings
from harness_tui.core.seams import AuditSink
from harness_tui.egress.errors import EgressBlockedError
from harness_tui.egress.policy import Place, Policy, record_block
from harness_tui.egress.proxies import Proxies
from harness_tui.egress.urls import Url, read_url

if TYPE_CHECKING:
    import ssl

    import httpx2

    from harness_tui.egress.network import Resolver

USER_AGENT = f"Harness/{__version__}"


class Egress:
    """Makes clients that connect only where the policy lets them.

    ``environ`` is read for proxies. ``resolve`` looks names up, by default with the resolver of this machine.
    """

    def __init__(
        self,
        settings: EgressSettings | None = None,
        *,
        environ: Mapping[str, str] | None = None,
        audit: AuditSink | None = None,
        resolve: Resolver | None = None,
    ) -> None:
        self._settings = settings or EgressSettings()
        self._proxies = Proxies(os.environ if environ is None else environ)
        self._audit = audit
        self._resolve = resolve
        self._tls: ssl.SSLContext | None = None

    @property
    def audit(self) -> AuditSink | None:
        """The audit log that refusals are written to."""
        return self._audit

    def check(self, url: Url, surface: str, *, record: bool = True) -> None:
        """Refuse ``url`` when that can be told from it alone. Raises ``EgressBlockedError``; nothing is looked up.

        Without ``record`` the refusal is not written to the audit log: nothing was attempted.
        """
        place = Place(url.host, url.port, url.address)
        try:
            Policy(self._settings).check(place)
        except EgressBlockedError as error:
            record_block(self._audit if record else None, surface, place, error)
            raise

    async def load(self) -> None:
        """Import the HTTP library and read the certificates of this machine, once."""
        if self._tls is None:
            self._tls = await asyncio.to_thread(_tls, *_certificates())

    def client(
        self, surface: str, *, configured: str | None = None, max_body: int | None = None, **options: Any
    ) -> httpx2.AsyncClient:
        """Return a client. It follows no redirects, and reads nothing of the environment but what it is given here.

        ``configured`` is a URL that a person wrote down as a target: it may be on a private address. ``max_body``
        limits what one answer decodes to, in bytes, streams of events left out. ``options`` go to the client.
        Raises ``BadUrlError``.
        """
        import httpx2

        from harness_tui.egress.bodies import ENCODINGS
        from harness_tui.egress.network import system_addresses
        from harness_tui.egress.transport import EgressTransport, place_of

        self._tls = self._tls or _tls(*_certificates())
        transport = EgressTransport(
            self._settings,
            surface=surface,
            proxies=self._proxies,
            resolve=self._resolve or system_addresses,
            tls=self._tls,
            configured=None if configured is None else place_of(httpx2.URL(configured)),
            max_body=max_body,
            audit=self._audit,
        )
        headers = {"User-Agent": USER_AGENT, **dict(options.pop("headers", None) or {}), "Accept-Encoding": ENCODINGS}
        return httpx2.AsyncClient(
            transport=transport, headers=headers, follow_redirects=False, trust_env=False, **options
        )


def _certificates() -> tuple[str | None, str | None]:
    """Return where this process is told to look for certificates other than those of the machine."""
    return os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")


@lru_cache(maxsize=4)
def _tls(file: str | None, folder: str | None) -> ssl.SSLContext:
    """Return what checks servers; it takes long to make. The library reads the two variables itself."""
    import httpx2

    return httpx2.create_ssl_context()


__all__ = ["Egress", "Url", "read_url"]
