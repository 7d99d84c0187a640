"""What a page or a model must not reach through us: literals in every spelling, names, redirects, rebinding."""

from __future__ import annotations

import pytest
from egress_world import PUBLIC, World, answer, settings

from harness_tui.core.errors import ToolError
from harness_tui.egress.egress import Egress

T = "{trap}"  # the port of the trap

LITERALS = [
    (f"http://127.0.0.1:{T}/", "is a loopback address"),
    (f"http://127.0.0.1:{T}/?u=https://site.test/", "is a loopback address"),
    (f"http://127.1.2.3:{T}/", "is a loopback address"),
    (f"HTTP://127.0.0.1:{T}/", "is a loopback address"),
    (f"http://127.0.0.1.:{T}/", "different addresses"),
    (f"http://127.0.0.1..:{T}/", "different addresses"),
    (f"http://127.1:{T}/", "different addresses"),
    (f"http://127.0.1:{T}/", "different addresses"),
    (f"http://2130706433:{T}/", "different addresses"),
    (f"http://0x7f000001:{T}/", "different addresses"),
    (f"http://0X7F000001:{T}/", "different addresses"),
    (f"http://0x7f.0.0.1:{T}/", "different addresses"),
    (f"http://0x7f.1:{T}/", "different addresses"),
    (f"http://0177.0.0.1:{T}/", "different addresses"),
    (f"http://0177.1:{T}/", "different addresses"),
    (f"http://017700000001:{T}/", "different addresses"),
    (f"http://127.0.0.01:{T}/", "different addresses"),
    (f"http://127.0.0.0x1:{T}/", "different addresses"),
    (f"http://0000127.0.0.1:{T}/", "different addresses"),
    (f"http://127.0.0.1.0x:{T}/", "different addresses"),
    (f"http://4294967297:{T}/", "different addresses"),
    (f"http://0:{T}/", "different addresses"),
    (f"http://０x7f.1:{T}/", "in other signs"),
    (f"http://127。0。0。1:{T}/", "in other signs"),
    (f"http://１２７.0.0.1:{T}/", "in other signs"),
    (f"http://①②⑦.⓪.⓪.①:{T}/", "in other signs"),
    (f"http://0.0.0.0:{T}/", "is an unspecified address"),
    (f"http://0.1.2.3:{T}/", "is an unspecified address"),
    (f"http://[::1]:{T}/", "is a loopback address"),
    (f"http://[0:0:0:0:0:0:0:1]:{T}/", "is a loopback address"),
    (f"http://[0000:0000:0000:0000:0000:0000:0000:0001]:{T}/", "is a loopback address"),
    (f"http://[::]:{T}/", "is an unspecified address"),
    (f"http://[::ffff:127.0.0.1]:{T}/", "is an IPv4-mapped address"),
    (f"http://[::ffff:7f00:1]:{T}/", "is an IPv4-mapped address"),
    (f"http://[::FFFF:7F00:0001]:{T}/", "is an IPv4-mapped address"),
    (f"http://[::127.0.0.1]:{T}/", "is a reserved address"),
    (f"http://[::ffff:0:127.0.0.1]:{T}/", "is an IPv4-translated address"),
    (f"http://[64:ff9b::127.0.0.1]:{T}/", "is a NAT64 address"),
    (f"http://[64:ff9b::7f00:1]:{T}/", "is a NAT64 address"),
    ("http://[64:ff9b::a9fe:a9fe]/latest/meta-data/", "is a NAT64 address"),
    ("http://[64:ff9b:1::7f00:1]/", "is a NAT64 address"),
    (f"http://[2002:7f00:1::]:{T}/", "is a 6to4 address"),
    ("http://[2002:a9fe:a9fe::1]/", "is a 6to4 address"),
    ("http://[2001:0:4136:e378:8000:63bf:80ff:fffe]/", "is a Teredo address"),
    ("http://[2001:470::5efe:7f00:1]/", "is a reserved address"),
    (f"http://[fe80::1%25lo]:{T}/", "names a network interface"),
    (f"http://[fe80::1%lo]:{T}/", "names a network interface"),
    (f"http://[::1%25lo]:{T}/", "names a network interface"),
    ("http://[fe80::1]/", "is a link-local address"),
    ("http://[fec0::1]/", "is a private address"),
    ("http://[fc00::1]/", "is a private address"),
    ("http://[fd12:3456:789a::1]/", "is a private address"),
    ("http://[ff02::1]/", "is a multicast address"),
    ("http://[2001:db8::1]/", "is an address of documentation"),
    ("http://[100::1]/", "is a reserved address"),
    ("http://10.0.0.1/", "is a private address"),
    ("http://10.255.255.255/", "is a private address"),
    ("http://172.16.0.1/", "is a private address"),
    ("http://172.31.255.254/", "is a private address"),
    ("http://192.168.1.1/", "is a private address"),
    ("http://100.64.0.1/", "of a provider's own network"),
    ("http://100.127.255.254/", "of a provider's own network"),
    ("http://169.254.1.1/", "is a link-local address"),
    ("http://198.18.0.1/", "of test networks"),
    ("http://192.0.0.1/", "is a reserved address"),
    ("http://192.0.2.1/", "of documentation"),
    ("http://192.88.99.1/", "is a 6to4 relay"),
    ("http://224.0.0.1/", "is a multicast address"),
    ("http://240.0.0.1/", "is a reserved address"),
    ("http://255.255.255.255/", "is a reserved address"),
    ("http://169.254.169.254/latest/meta-data/", "is the metadata service"),
    ("http://169.254.170.2/v2/credentials", "is the metadata service"),
    ("http://100.100.100.200/latest/meta-data", "is the metadata service"),
    ("http://168.63.129.16/machine", "is the metadata service"),
    ("http://192.0.0.192/opc/v2/", "is the metadata service"),
    ("http://[fd00:ec2::254]/latest/meta-data/", "is the metadata service"),
    ("http://[::ffff:169.254.169.254]/", "is an IPv4-mapped address"),
    ("http://0xa9fea9fe/", "different addresses"),
    ("http://2852039166/", "different addresses"),
    ("http://0251.0376.0251.0376/", "different addresses"),
    (f"http://site.test@127.0.0.1:{T}/", "holds credentials"),
    (f"http://site.test:80@127.0.0.1:{T}/", "holds credentials"),
    (f"http://127.0.0.1:{T}@site.test/", "holds credentials"),
    (f"http://@127.0.0.1:{T}/", "holds credentials"),
    (f"http://127.0.0.1:{T}\\@site.test/", "a backslash"),
    (f"http://site.test\\@127.0.0.1:{T}/", "a backslash"),
    (f"http:\\\\127.0.0.1:{T}\\", "a backslash"),
    (f"http:///127.0.0.1:{T}/", "names no host"),
    (f"http:127.0.0.1:{T}/", "no complete http or https address"),
    (f"//127.0.0.1:{T}/", "no complete http or https address"),
    (f"http://127.0.0.1%2f:{T}/", "is no host name"),
    (f"http://127%2e0%2e0%2e1:{T}/", "is no host name"),
    (f"http://127.0.0.1%00.site.test:{T}/", "is no host name"),
    (f"http://127.0.0.1\t:{T}/", "control characters"),
    (f"http://127.0.0.1 .site.test:{T}/", "control characters"),
    (f"http://\u2028127.0.0.1:{T}/", "control characters"),
    ("http://site.test:99999/", "a port that is none"),
    ("http://site.test:0/", "a port that is none"),
    ("http://site.test:-1/", "a port that is none"),
    ("http://site.test:８０/", "a port that is none"),
    ("http://site..test/", "is no host name"),
    ("http://.site.test/", "is no host name"),
    ("http://-site.test/", "is no host name"),
    ("http://[::1/", "brackets that do not close"),
    ("http://[127.0.0.1]/", "is no IPv6 address"),
    ("file:///etc/passwd", "file: is not fetched"),
    ("gopher://127.0.0.1:70/_x", "gopher: is not fetched"),
    ("ftp://127.0.0.1/", "ftp: is not fetched"),
    ("ws://127.0.0.1/", "ws: is not fetched"),
    ("data:text/plain,x", "no complete http or https address"),
    ("javascript:alert(1)", "no complete http or https address"),
    ("", "no complete http or https address"),
]

NAMES = [
    ("localhost", [], "leads to 127.0.0.1, a loopback address"),
    ("LOCALHOST", [], "leads to 127.0.0.1, a loopback address"),
    ("localhost.", [], "leads to 127.0.0.1, a loopback address"),
    ("foo.localhost", [PUBLIC], "leads to 127.0.0.1, a loopback address"),
    ("ＬＯＣＡＬＨＯＳＴ", [], "leads to 127.0.0.1, a loopback address"),
    ("to-loopback.test", ["127.0.0.1"], "leads to 127.0.0.1, a loopback address"),
    ("to-loopback.test.", ["127.0.0.1"], "leads to 127.0.0.1, a loopback address"),
    ("to-zero.test", ["0.0.0.0"], "leads to 0.0.0.0, an unspecified address"),
    ("to-six.test", ["::1"], "leads to ::1, a loopback address"),
    ("to-mapped.test", ["::ffff:127.0.0.1"], "leads to ::ffff:7f00:1, a loopback address"),
    ("to-nat64.test", ["64:ff9b::7f00:1"], "leads to 64:ff9b::7f00:1, a loopback address"),
    ("to-sixtofour.test", ["2002:7f00:1::"], "leads to 2002:7f00:1::, a 6to4 address"),
    ("to-teredo.test", ["2001::1"], "leads to 2001::1, a Teredo address"),
    ("to-private.test", ["192.168.0.1", "10.0.0.1"], "leads to 192.168.0.1, a private address"),
    ("to-carrier.test", ["100.64.3.4"], "of a provider's own network"),
    ("to-scoped.test", ["fe80::1%1"], "a link-local address"),
    ("metadata.google.internal", ["169.254.169.254"], "the metadata service of a cloud"),
    ("xn--bcher-kva.test", ["127.0.0.1"], "leads to 127.0.0.1"),
    ("bücher.test", ["127.0.0.1"], "leads to 127.0.0.1"),
]


@pytest.mark.parametrize(("address", "why"), LITERALS)
async def test_an_address_that_is_refused_is_never_connected_to(world: World, address: str, why: str) -> None:
    with pytest.raises(ToolError, match=r"(?s)^webfetch: ") as caught:
        await world.fetch(address.replace(T, str(world.trap.port)))
    assert why in caught.value.what
    assert (world.trap.connections, world.dialled, world.resolver.asked) == (0, [], [])


@pytest.mark.parametrize(("name", "addresses", "why"), NAMES)
async def test_a_name_that_leads_inside_is_never_connected_to(
    world: World, name: str, addresses: list[str], why: str
) -> None:
    for known in (name.rstrip("."), "xn--bcher-kva.test"):
        world.resolver.knows(known, addresses)
    with pytest.raises(ToolError) as caught:
        await world.fetch(f"http://{name}:{world.trap.port}/")
    assert why in caught.value.what
    assert (world.trap.connections, world.dialled) == (0, [])


ALLOWED = [
    ("http://127.0.0.1:{web}/", ["127.0.0.1"]),
    ("http://127.0.0.1:{web}/", ["127.0.0.1:{web}"]),
    ("http://127.0.0.1:{web}/", ["127.0.0.0/8"]),
    ("http://localhost:{web}/", ["localhost"]),
    ("http://localhost.:{web}/", ["localhost:{web}"]),
    ("http://localhost:{web}/", ["127.0.0.1:{web}"]),
    ("http://[::ffff:127.0.0.1]:{web}/", ["127.0.0.1"]),
    ("http://api.corp.test:{web}/", ["*.corp.test"]),
    ("http://API.CORP.TEST:{web}/", ["api.corp.test:{web}"]),
    ("http://site.test/", []),
    ("http://SITE.test./", []),
    (f"http://{PUBLIC}/", []),
    ("http://mixed.test/", []),
    ("http://mapped.test/", []),
]


@pytest.mark.parametrize(("address", "allow"), ALLOWED)
async def test_a_host_that_is_permitted_answers_through_the_same_client(
    world: World, address: str, allow: list[str]
) -> None:
    world.web.pages["/"] = answer(b"permitted")
    world.resolver.knows("api.corp.test", ["127.0.0.1"])
    world.resolver.knows("mixed.test", ["127.0.0.1", "10.0.0.1", PUBLIC])
    world.resolver.knows("mapped.test", [f"::ffff:{PUBLIC}"])
    port = str(world.web.port)
    egress = world.egress(allow=[rule.replace("{web}", port) for rule in allow])
    result = await world.fetch(address.replace("{web}", port), egress)
    assert (result.output, result.is_error) == ("permitted", False)
    assert world.trap.connections == 0
    assert all(host in ("127.0.0.1", PUBLIC) for host, _ in world.dialled)


STILL_REFUSED = [
    ("http://127.0.0.1:{trap}/", {"allow": ["127.0.0.1:1"]}),
    ("http://127.0.0.1:{trap}/", {"allow": ["127.0.0.2", "localhost"]}),
    ("http://127.0.0.1:{trap}/", {"allow": ["127.0.0.1"], "deny": ["127.0.0.0/8"]}),
    ("http://localhost:{trap}/", {"allow": ["localhost"], "deny": ["localhost"]}),
    ("http://localhost:{trap}/", {"allow": ["localhost"], "deny": ["*:{trap}"]}),
    ("http://localhost:{trap}/", {"allow": ["localhost"], "deny": ["127.0.0.1", "::1"]}),
    ("http://localhost.:{trap}/", {"allow": ["*"], "deny": ["localhost"]}),
    ("http://[::ffff:127.0.0.1]:{trap}/", {"allow": ["*"], "deny": ["127.0.0.1"]}),
    ("http://corp.test:{trap}/", {"allow": ["*.corp.test"]}),
    ("http://notcorp.test:{trap}/", {"allow": ["corp.test", "*.corp.test"]}),
    ("http://metadata.corp.test/", {"allow": ["*.corp.test", "*"]}),
    ("http://evil.test:{trap}/", {"allow": ["127.0.0.1", "127.0.0.0/8", "localhost"]}),
    ("http://site.test/", {"deny": ["site.test"]}),
    ("http://SITE.TEST./", {"deny": ["site.test"]}),
    ("http://site.test/", {"deny": ["*.test"], "allow": ["site.test"]}),
    ("http://site.test/", {"deny": [PUBLIC]}),
    ("http://site.test/", {"deny": ["93.184.0.0/16:80"]}),
    ("http://site.test/", {"default": "deny"}),
    ("http://site.test/", {"default": "deny", "allow": ["site.test:443", "10.0.0.0/8"]}),
    (f"http://{PUBLIC}/", {"default": "deny", "allow": ["site.test"]}),
]


@pytest.mark.parametrize(("address", "rules"), STILL_REFUSED)
async def test_a_rule_opens_what_it_says_and_a_deny_beats_it(
    world: World, address: str, rules: dict[str, object]
) -> None:
    for name in ("corp.test", "notcorp.test", "evil.test"):
        world.resolver.knows(name, ["127.0.0.1"])
    world.resolver.knows("metadata.corp.test", ["169.254.169.254"])
    port = str(world.trap.port)
    filled = {
        key: [rule.replace("{trap}", port) for rule in value] if isinstance(value, list) else value
        for key, value in rules.items()
    }
    with pytest.raises(ToolError):
        await world.fetch(address.replace("{trap}", port), world.egress(**filled))
    assert (world.trap.connections, world.dialled) == (0, [])


async def test_a_name_is_looked_up_once_for_a_connection(world: World) -> None:
    world.resolver.knows("rebind.test", [PUBLIC], ["127.0.0.1"])
    world.web.pages["/"] = answer(b"the first answer")
    assert (await world.fetch("http://rebind.test/")).output == "the first answer"
    assert (world.resolver.asked, world.dialled) == (["rebind.test"], [(PUBLIC, 80)])


async def test_a_name_that_changes_between_two_requests_is_refused_at_the_second(world: World) -> None:
    world.resolver.knows("rebind.test", [PUBLIC], ["127.0.0.1"])
    world.web.pages["/"] = answer(status="302 Found", location="/again")
    with pytest.raises(ToolError, match=r"leads to 127\.0\.0\.1, a loopback address"):
        await world.fetch("http://rebind.test/")
    assert world.dialled == [(PUBLIC, 80)]


async def test_the_host_that_is_asked_for_is_the_one_in_the_url(world: World) -> None:
    world.web.pages["/"] = answer()
    await world.fetch("http://Site.Test.:80/")
    assert "\r\nHost: site.test\r\n" in world.web.seen[0]


async def test_what_is_refused_is_audited_without_the_rest_of_the_url(world: World) -> None:
    egress: Egress = world.egress(deny=["site.test"])
    for address in ("http://127.0.0.1:1/path?token=hunter22", "http://site.test/path?token=hunter22"):
        with pytest.raises(ToolError) as caught:
            await world.fetch(address, egress)
        assert "hunter22" not in str(caught.value)
        assert "path" not in str(caught.value)
    first, second = world.audit.records
    assert first == {
        "kind": "egress_blocked",
        "surface": "webfetch",
        "text": "it is a loopback address",
        "host": "127.0.0.1",
        "port": 1,
        "reason": "inside-address",
        "rule": None,
    }
    assert (second["host"], second["reason"], second["rule"]) == ("site.test", "denied", "site.test")


async def test_a_refusal_says_which_rule_would_allow_it_and_that_rule_does(world: World) -> None:
    with pytest.raises(ToolError) as caught:
        await world.fetch(f"http://127.0.0.1:{world.web.port}/")
    rule = f"127.0.0.1:{world.web.port}"
    assert caught.value.mend == f'if it is meant, write in your configuration: egress: {{allow: ["{rule}"]}}'
    world.web.pages["/"] = answer(b"ok")
    assert (await world.fetch(f"http://127.0.0.1:{world.web.port}/", world.egress(allow=[rule]))).output == "ok"


async def test_a_denied_host_names_the_rule_and_its_place(world: World) -> None:
    with pytest.raises(ToolError, match=r"denied by the rule '\*\.test' \(config\.yaml:2\)"):
        await world.fetch("http://site.test/", world.egress(deny=["*.test"]))


async def test_credentials_in_a_url_are_not_repeated(world: World) -> None:
    with pytest.raises(ToolError) as caught:
        await world.fetch("https://ada:hunter22@site.test/")
    assert "hunter22" not in str(caught.value)


def test_the_table_is_as_large_as_it_says() -> None:
    assert len(LITERALS) + len(NAMES) + len(STILL_REFUSED) >= 140
    assert settings(allow=["a.test"]).allow[0].rule == "a.test"
