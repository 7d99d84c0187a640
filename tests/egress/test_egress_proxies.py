"""Proxies of the environment: who goes through one, who does not, and what is checked all the same."""

from __future__ import annotations

import ipaddress

import pytest
from egress_world import World, answer

from harness_tui.core.errors import HarnessError, ToolError
from harness_tui.core.redaction import redact
from harness_tui.egress.policy import Place
from harness_tui.egress.proxies import Proxies


def place(text: str) -> Place:
    host, _, port = text.rpartition(":")
    try:
        return Place(host.strip("[]"), int(port), ipaddress.ip_address(host.strip("[]")))
    except ValueError:
        return Place(host, int(port))


@pytest.mark.parametrize(
    ("no_proxy", "target", "direct"),
    [
        ("", "example.test:80", False),
        ("*", "example.test:80", True),
        ("example.test", "example.test:80", True),
        ("example.test", "api.example.test:80", True),
        ("example.test", "notexample.test:80", False),
        (".example.test", "api.example.test:80", True),
        (".example.test", "example.test:80", True),
        ("*.example.test", "api.example.test:80", True),
        ("*.example.test", "example.test:80", False),
        ("EXAMPLE.test", "example.test:80", True),
        ("example.test.", "example.test:80", True),
        ("example.test:8080", "example.test:8080", True),
        ("example.test:8080", "example.test:80", False),
        ("other.test,example.test", "example.test:80", True),
        ("other.test, example.test", "example.test:80", True),
        ("other.test example.test", "example.test:80", True),
        ("10.1.2.3", "10.1.2.3:80", True),
        ("10.0.0.0/8", "10.1.2.3:80", True),
        ("10.0.0.0/8", "11.1.2.3:80", False),
        ("10.0.0.0/8", "example.test:80", False),
        ("10.0.0.0/8:81", "10.1.2.3:80", False),
        ("fd00::/8", "[fd00::1]:80", True),
        ("[fd00::1]", "[fd00::1]:80", True),
        ("[fd00::1]:81", "[fd00::1]:80", False),
        ("10.0.0.0/8", "[::ffff:a01:203]:80", True),
        (",, ,", "example.test:80", False),
        ("", "127.0.0.1:80", True),
        ("", "127.9.9.9:80", True),
        ("", "[::1]:80", True),
        ("", "[::ffff:7f00:1]:80", True),
        ("", "localhost:80", True),
        ("", "x.localhost:80", True),
        ("", "notlocalhost:80", False),
    ],
)
@pytest.mark.parametrize("name", ["NO_PROXY", "no_proxy"])
def test_no_proxy_has_its_usual_forms(name: str, no_proxy: str, target: str, direct: bool) -> None:
    proxies = Proxies({"HTTP_PROXY": "http://proxy.test:3128", name: no_proxy})
    assert (proxies.proxy_for("http", place(target)) is None) is direct


@pytest.mark.parametrize(
    ("environ", "scheme", "found"),
    [
        ({}, "http", None),
        ({"HTTP_PROXY": "http://a.test:1"}, "http", "a.test:1"),
        ({"http_proxy": "http://a.test:1"}, "http", "a.test:1"),
        ({"HTTP_PROXY": "http://a.test:1", "http_proxy": "http://b.test:2"}, "http", "b.test:2"),
        ({"HTTP_PROXY": "http://a.test:1", "http_proxy": ""}, "http", None),
        ({"HTTP_PROXY": "http://a.test:1"}, "https", None),
        ({"HTTPS_PROXY": "http://a.test:1"}, "https", "a.test:1"),
        ({"ALL_PROXY": "http://a.test:1"}, "https", "a.test:1"),
        ({"all_proxy": "http://a.test:1", "HTTPS_PROXY": "https://b.test"}, "https", "b.test:443"),
        ({"HTTP_PROXY": "a.test:1"}, "http", "a.test:1"),
        ({"HTTP_PROXY": "http://a.test"}, "http", "a.test:80"),
        ({"HTTP_PROXY": "http://[::1]:8080/"}, "http", "[::1]:8080"),
    ],
)
def test_the_environment_names_the_proxy(environ: dict[str, str], scheme: str, found: str | None) -> None:
    proxy = Proxies(environ).proxy_for(scheme, Place("example.test", 80))
    assert (None if proxy is None else str(proxy.place)) == found


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("socks5://a.test:1080", "socks5 proxies are not known"),
        ("http://a.test:port", "is no address of a proxy"),
        ("http://[::1", "is no address of a proxy"),
        ("http://", "names no host"),
    ],
)
async def test_a_proxy_that_cannot_be_used_is_an_error_and_no_way_around(world: World, value: str, words: str) -> None:
    world.web.pages["/"] = answer()
    with pytest.raises(ToolError, match=words) as caught:
        await world.fetch("http://site.test/", world.egress({"http_proxy": value}))
    assert "http_proxy" in str(caught.value)
    assert world.web.seen == []


def test_the_credentials_of_a_proxy_do_not_show() -> None:
    proxy = Proxies({"HTTP_PROXY": "http://ada:p%40ssword1@a.test:1"}).proxy_for("http", Place("b.test", 80))
    assert proxy is not None
    assert (proxy.user, proxy.password) == ("ada", "p@ssword1")
    assert "ssword1" not in repr(proxy)
    assert redact("it said p@ssword1") == "it said [redacted]"


async def test_a_request_goes_through_the_proxy(world: World) -> None:
    world.web.pages["*"] = answer(b"by the proxy")
    proxy = f"http://ada:secret99@127.0.0.1:{world.web.port}"
    egress = world.egress({"HTTP_PROXY": proxy})
    assert (await world.fetch("http://far.test/page?x=1", egress)).output == "by the proxy"
    head = world.web.seen[0]
    assert head.startswith("GET http://far.test/page?x=1 HTTP/1.1\r\n")
    assert "proxy-authorization: basic " in head.lower()


async def test_a_tunnel_is_asked_for_by_name(world: World) -> None:
    world.web.pages["*"] = answer(status="407 Proxy Authentication Required")
    egress = world.egress({"HTTPS_PROXY": f"http://127.0.0.1:{world.web.port}"})
    with pytest.raises(ToolError, match=r"the proxy 127\.0\.0\.1:\d+ \(HTTPS_PROXY\) does not serve this: 407"):
        await world.fetch("https://far.test/", egress)
    assert world.web.seen[0].startswith("CONNECT far.test:443 HTTP/1.1\r\n")


async def test_a_proxy_that_is_not_there_is_named(world: World) -> None:
    egress = world.egress({"HTTP_PROXY": "http://10.9.9.9:3128"})
    with pytest.raises(ToolError, match=r"the proxy 10\.9\.9\.9:3128 \(HTTP_PROXY\) does not serve this"):
        await world.fetch("http://far.test/", egress)


@pytest.mark.parametrize("url", ["http://127.0.0.1:{web}/", "http://localhost:{web}/"])
@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
async def test_loopback_never_goes_through_a_proxy(world: World, url: str, variable: str) -> None:
    world.web.pages["/"] = answer(b"direct")
    egress = world.egress({variable: f"http://127.0.0.1:{world.trap.port}"}, allow=["localhost", "127.0.0.1"])
    assert (await world.fetch(url.replace("{web}", str(world.web.port)), egress)).output == "direct"
    assert world.trap.connections == 0


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:1/",
        "http://localhost/",
        "http://10.0.0.1/",
        "http://169.254.169.254/latest",
        "http://[::ffff:10.0.0.1]/",
        "http://intranet/",
        "http://printer.local/",
        "http://metadata.google.internal/",
        "http://known-inside.test/",
        "http://denied.test/",
    ],
)
async def test_a_proxy_opens_nothing_that_is_refused(world: World, url: str) -> None:
    world.resolver.knows("known-inside.test", ["10.0.0.7"])
    egress = world.egress({"HTTP_PROXY": f"http://127.0.0.1:{world.trap.port}"}, deny=["denied.test"])
    with pytest.raises(ToolError):
        await world.fetch(url, egress)
    assert world.trap.connections == 0


async def test_a_deny_holds_for_the_proxy_itself(world: World) -> None:
    egress = world.egress({"HTTP_PROXY": f"http://127.0.0.1:{world.trap.port}"}, deny=["127.0.0.1"])
    with pytest.raises(ToolError, match="denied by the rule"):
        await world.fetch("http://far.test/", egress)
    assert world.trap.connections == 0


async def test_a_redirect_of_a_proxied_page_is_held_to_the_same(world: World) -> None:
    world.web.pages["*"] = answer(status="302 Found", location=f"http://127.0.0.1:{world.trap.port}/")
    result = await world.fetch("http://far.test/", world.egress({"HTTP_PROXY": f"http://127.0.0.1:{world.web.port}"}))
    assert result.metadata["redirect"] == f"http://127.0.0.1:{world.trap.port}/"
    assert world.trap.connections == 0


def test_a_wrong_proxy_costs_what_does_not_use_it_nothing() -> None:
    proxies = Proxies({"HTTP_PROXY": "socks5://x"})
    assert proxies.proxy_for("http", Place("localhost", 80)) is None
    with pytest.raises(HarnessError):
        proxies.proxy_for("http", Place("a.test", 80))
