"""The SSRF guard: what a webhook's URL may be (cases C6, C8 and C20)."""

from __future__ import annotations

import socket
from ipaddress import ip_address
from typing import Any

import pytest

from herald.adapters.dns import SystemResolver
from herald.delivery.addresses import is_denied
from herald.delivery.url_policy import AllowList, UrlPolicy, UrlRefused, parse
from herald.ports import TransportFailure, Unavailable

PUBLIC = "93.184.216.34"


class Names:
    """A resolver that knows a few names and counts what it was asked."""

    def __init__(self, **known: list[str]) -> None:
        self.known = {name.replace("_", "."): addresses for name, addresses in known.items()}
        self.asked: list[tuple[str, int]] = []

    def resolve(self, host: str, port: int, timeout: float) -> list[str]:
        self.asked.append((host, port))
        if host not in self.known:
            raise TransportFailure("dns_error")
        return self.known[host]


def policy(*addresses: str, allow: str = "") -> UrlPolicy:
    class Always:
        def resolve(self, host: str, port: int, timeout: float) -> list[str]:
            return list(addresses)

    return UrlPolicy(Always(), AllowList.parse(allow))


ABSOLUTE = "must be an absolute https:// URL"
ASCII = "must be visible ASCII: percent-encode other characters, write a host name in its xn-- form"
PORT = "must have a valid host and a port from 1 to 65535"
DECIMAL = "must write an IPv4 address as four decimal numbers"
CANONICAL = "must write an IP address in its canonical form"
BRACKETS = "must have a valid IPv6 address between the brackets"
FULL = "must have a full host name, such as hooks.example.com"
PUBLIC_NAME = "must name a public host"
ADDRESSES = "must name a host whose addresses are all public"
NAME = "must have a valid host name"
USER = "must not contain a user name or password: use authentication instead"
FRAGMENT = "must not have a fragment (#…)"
HTTPS = "must be an https:// URL"
PORT_443 = "must use port 443"
BACKSLASH = "must not contain a backslash"
DOT = "must not end its host name with a dot"

REFUSED = [
    # Not a URL, or another scheme
    ("", "must not be empty"),
    ("not a url", ASCII),
    ("notaurl", ABSOLUTE),
    ("//hooks.example.com/x", ABSOLUTE),
    ("/x", ABSOLUTE),
    ("hooks.example.com", ABSOLUTE),
    ("https:hooks.example.com", ABSOLUTE),
    ("https:/hooks.example.com", ABSOLUTE),
    ("ftp://x", ABSOLUTE),
    ("ftp://hooks.example.com/", ABSOLUTE),
    ("file:///etc/passwd", ABSOLUTE),
    ("gopher://hooks.example.com/", ABSOLUTE),
    ("ws://hooks.example.com/", ABSOLUTE),
    ("javascript://hooks.example.com/%0aalert(1)", ABSOLUTE),
    ("data:text/plain,hi", ABSOLUTE),
    ("unix://var/run/docker.sock", ABSOLUTE),
    ("http+unix://%2Fvar%2Frun%2Fdocker.sock/", ABSOLUTE),
    # Malformed
    ("https://", "must have a host"),
    ("https:///path", "must have a host"),
    ("https://:443/", "must have a host"),
    ("https://?x", "must have a host"),
    ("https://hooks.example.com:/", PORT),
    ("https://hooks.example.com:0/", PORT),
    ("https://hooks.example.com:65536/", PORT),
    ("https://hooks.example.com:-1/", PORT),
    ("https://hooks.example.com:+443/", PORT),
    ("https://hooks.example.com:4_43/", PORT),
    ("https://hooks.example.com:443:443/", PORT),
    ("https://hooks.example.com:https/", PORT),
    ("https://hooks.example.com /", ASCII),
    ("https://hooks.example.com/a b", ASCII),
    ("https://hooks.example.com/\r\nX-Evil: 1", ASCII),
    ("https://hooks.example.com/\tx", ASCII),
    ("https://hooks.example.com/\x00", ASCII),
    ("\thttps://hooks.example.com/", ASCII),
    ("https://hooks.example.com/é", ASCII),
    ("https://hööks.example.com/", ASCII),
    ("https://１２７.0.0.1/", ASCII),
    ("https://ⓛocalhost/", ASCII),
    ("https://hooks。example.com/", ASCII),
    ("https://hooks.example.com\\@127.0.0.1/", BACKSLASH),
    ("https:\\\\hooks.example.com/", BACKSLASH),
    ("https://hooks.example.com/#x", FRAGMENT),
    ("https://hooks.example.com#@127.0.0.1/", FRAGMENT),
    ("https://user@hooks.example.com/", USER),
    ("https://user:pass@hooks.example.com/", USER),
    ("https://@hooks.example.com/", USER),
    ("https://hooks.example.com:443@127.0.0.1/", USER),
    ("https://127.0.0.1%40hooks.example.com/", NAME),
    ("https://hooks%2eexample.com/", NAME),
    ("https://hooks..example.com/", NAME),
    ("https://.example.com/", NAME),
    ("https://-hooks.example.com/", NAME),
    ("https://hooks-.example.com/", NAME),
    ("https://hooks.exam*ple.com/", NAME),
    ("https://hooks.example.com,evil.com/", NAME),
    ("https://" + "a" * 64 + ".example.com/", NAME),
    ("https://" + "a." * 130 + "example.com/", NAME),
    ("https://hooks.example.com/" + "a" * 2048, "must be at most 2,048 characters long"),
    # Names that aren't public
    ("https://localhost/", PUBLIC_NAME),
    ("https://LOCALHOST/", PUBLIC_NAME),
    ("https://app.localhost/", PUBLIC_NAME),
    ("https://printer.local/", PUBLIC_NAME),
    ("https://metadata.google.internal/", PUBLIC_NAME),
    ("https://ip-10-0-0-1.ec2.internal/", PUBLIC_NAME),
    ("https://router.home.arpa/", PUBLIC_NAME),
    ("https://localhost.localdomain/", PUBLIC_NAME),
    ("https://intranet/", FULL),
    ("https://metadata/", FULL),
    ("https://hooks.example.com./", DOT),
    ("https://localhost./", DOT),
    ("https://127.0.0.1./", DOT),
    # IPv4 literals
    ("https://127.0.0.1/", ADDRESSES),
    ("https://127.0.0.1:9001/2018-06-01/runtime/invocation/next", PORT_443),
    ("https://169.254.169.254/latest/meta-data/", ADDRESSES),
    ("https://169.254.170.2/v2/credentials", ADDRESSES),
    ("https://10.0.0.1/", ADDRESSES),
    ("https://172.16.0.1/", ADDRESSES),
    ("https://172.31.255.255/", ADDRESSES),
    ("https://192.168.1.1/", ADDRESSES),
    ("https://100.64.0.1/", ADDRESSES),
    ("https://0.0.0.0/", ADDRESSES),
    ("https://255.255.255.255/", ADDRESSES),
    ("https://224.0.0.1/", ADDRESSES),
    ("https://192.88.99.1/", ADDRESSES),
    ("https://198.18.0.1/", ADDRESSES),
    # Other spellings of an IPv4 address
    ("https://2130706433/", DECIMAL),
    ("https://017700000001/", DECIMAL),
    ("https://0x7f000001/", DECIMAL),
    ("https://0x7f.1/", DECIMAL),
    ("https://0x7f.0x0.0x0.0x1/", DECIMAL),
    ("https://127.1/", DECIMAL),
    ("https://127.0.1/", DECIMAL),
    ("https://0177.0.0.1/", DECIMAL),
    ("https://127.0.0.01/", DECIMAL),
    ("https://127.0.0.0x1/", DECIMAL),
    ("https://256.0.0.1/", DECIMAL),
    ("https://1.2.3.4.5/", DECIMAL),
    ("https://example.0x/", DECIMAL),
    ("https://example.1/", DECIMAL),
    # IPv6 literals
    ("https://[::1]/", ADDRESSES),
    ("https://[::]/", ADDRESSES),
    ("https://[fe80::1]/", ADDRESSES),
    ("https://[fd00:ec2::254]/", ADDRESSES),
    ("https://[64:ff9b::7f00:1]/", ADDRESSES),
    ("https://[64:ff9b:1::1]/", ADDRESSES),
    ("https://[2002:7f00:1::]/", ADDRESSES),
    ("https://[2001::1]/", ADDRESSES),
    ("https://[2001:db8::1]/", ADDRESSES),
    ("https://[3fff::1]/", ADDRESSES),
    ("https://[5f00::1]/", ADDRESSES),
    ("https://[fec0::1]/", ADDRESSES),
    ("https://[ff02::1]/", ADDRESSES),
    ("https://[::ffff:10.0.0.1]/", CANONICAL),
    ("https://[::ffff:a00:1]/", CANONICAL),
    ("https://[::ffff:8.8.8.8]/", CANONICAL),
    ("https://[0:0:0:0:0:0:0:1]/", CANONICAL),
    ("https://[2606:4700:0:0:0:0:0:1111]/", CANONICAL),
    ("https://[::127.0.0.1]/", CANONICAL),
    ("https://[fe80::1%25eth0]/", CANONICAL),
    ("https://[::1/", PORT),
    ("https://[::1]x/", PORT),
    ("https://[]/", PORT),
    ("https://[127.0.0.1]/", PORT),
    ("https://[v1.a]/", BRACKETS),  # an address of the future, to RFC 3986
    # Not TLS, or another port
    ("http://169.254.169.254/", HTTPS),
    ("http://127.0.0.1", HTTPS),
    ("http://[2606:4700::1111]/", HTTPS),
    ("http://hooks.example.com/", HTTPS),
    ("http://hooks.example.com:443/", HTTPS),
    ("https://hooks.example.com:8443/", PORT_443),
    ("https://hooks.example.com:22/", PORT_443),
]

ACCEPTED = [
    ("https://hooks.example.com/", "hooks.example.com", "/"),
    ("https://hooks.example.com", "hooks.example.com", "/"),
    ("HTTPS://Hooks.Example.COM:443/a?b=c&d", "hooks.example.com", "/a?b=c&d"),
    ("https://hooks.example.com?x=1", "hooks.example.com", "/?x=1"),
    ("https://xn--hks-sna.example.com/%C3%A9", "xn--hks-sna.example.com", "/%C3%A9"),
    ("https://_hooks.a-b.example.com/x//y/../z", "_hooks.a-b.example.com", "/x//y/../z"),
    ("https://1password.com/", "1password.com", "/"),
    ("https://0x7f.example.com/", "0x7f.example.com", "/"),
    ("https://localhost.example.com/@user:pass", "localhost.example.com", "/@user:pass"),
    ("https://notlocal.example/", "notlocal.example", "/"),
    ("https://8.8.8.8/", "8.8.8.8", "/"),
    ("https://[2606:4700:4700::1111]/x", "2606:4700:4700::1111", "/x"),
    ("https://[2606:4700:4700::1111]:443/", "2606:4700:4700::1111", "/"),
]


def test_the_tables_hold_more_than_a_hundred_urls() -> None:
    assert len(REFUSED) + len(ACCEPTED) > 100
    assert len({url for url, _ in REFUSED}) == len(REFUSED)


@pytest.mark.parametrize(("url", "sentence"), REFUSED, ids=range(len(REFUSED)))
def test_c6_c20_a_url_is_refused_with_a_sentence_that_names_what_is_wrong(url: str, sentence: str) -> None:
    with pytest.raises(UrlRefused) as refused:
        policy(PUBLIC).vet(url)

    assert refused.value.sentence == sentence


@pytest.mark.parametrize(("url", "host", "path"), ACCEPTED)
def test_a_public_https_url_is_accepted(url: str, host: str, path: str) -> None:
    policy(PUBLIC).vet(url)

    parsed = parse(url)
    assert (parsed.scheme, parsed.host, parsed.port, parsed.path) == ("https", host, 443, path)


DENIED_ADDRESSES = [
    "0.0.0.0",  # noqa: S104 - an address to refuse, not one to bind
    "0.255.255.255",
    "10.0.0.0",
    "10.255.255.255",
    "100.64.0.0",
    "100.127.255.255",
    "127.0.0.1",
    "127.255.255.255",
    "169.254.0.0",
    "169.254.169.254",
    "172.16.0.0",
    "172.31.255.255",
    "192.0.0.1",
    "192.0.2.1",
    "192.31.196.1",
    "192.52.193.1",
    "192.88.99.1",
    "192.168.0.0",
    "192.168.255.255",
    "192.175.48.1",
    "198.18.0.0",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::ffff:10.0.0.1",
    "::ffff:127.0.0.1",
    "::127.0.0.1",
    "::",
    "::1",
    "64:ff9b::808:808",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:2::1",
    "2001:10::1",
    "2001:1ff:ffff::1",
    "2001:db8::1",
    "2002:808:808::1",
    "2620:4f:8000::1",
    "3fff::1",
    "3fff:fff:ffff::1",
    "4000::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fec0::1",
    "ff02::1",
    "fe80::1%eth0",
    "2606:4700::1%eth0",
]

PUBLIC_ADDRESSES = [
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.0",
    "169.253.255.255",
    "169.255.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.0.1.1",
    "192.167.255.255",
    "192.169.0.0",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "::ffff:8.8.8.8",
    "2001:200::1",
    "2001:4860:4860::8888",
    "2606:4700:4700::1111",
    "2a00:1450::1",
    "3ffe::1",
    "3fff:1000::1",
]


@pytest.mark.parametrize("address", DENIED_ADDRESSES)
def test_an_address_that_is_not_public_unicast_is_denied(address: str) -> None:
    assert is_denied(ip_address(address))


@pytest.mark.parametrize("address", PUBLIC_ADDRESSES)
def test_a_public_address_is_let_through(address: str) -> None:
    assert not is_denied(ip_address(address))


@pytest.mark.parametrize(
    "addresses",
    [
        ["10.0.0.1"],
        [PUBLIC, "10.0.0.1"],
        ["10.0.0.1", PUBLIC],
        [PUBLIC, "fd00::1"],
        ["::ffff:169.254.169.254"],
        [PUBLIC, "fe80::1%eth0"],
    ],
)
def test_c6_a_host_with_any_denied_address_is_refused_and_the_address_is_not_told(addresses: list[str]) -> None:
    with pytest.raises(UrlRefused) as refused:
        policy(*addresses).vet("https://hooks.example.com/")

    assert refused.value.sentence == ADDRESSES
    assert not any(address in str(refused.value) for address in addresses)


def test_c8_a_host_that_resolves_public_then_private_is_refused_the_second_time() -> None:
    names = Names(hooks_example_com=[PUBLIC])
    guard = UrlPolicy(names)
    assert guard.vet("https://hooks.example.com/") == PUBLIC

    names.known["hooks.example.com"] = ["169.254.169.254"]
    with pytest.raises(UrlRefused):
        guard.vet("https://hooks.example.com/")


def test_an_ipv4_address_is_preferred_and_a_mapped_one_is_unmapped() -> None:
    assert policy("2606:4700::1111", PUBLIC).vet("https://hooks.example.com/") == PUBLIC
    assert policy("2606:4700::1111").vet("https://hooks.example.com/") == "2606:4700::1111"
    assert policy(f"::ffff:{PUBLIC}").vet("https://hooks.example.com/") == PUBLIC


def test_a_host_without_an_address_is_a_dns_error() -> None:
    with pytest.raises(TransportFailure) as failure:
        UrlPolicy(Names()).vet("https://hooks.example.com/")

    assert failure.value.outcome == "dns_error"


def _raising(number: int) -> UrlPolicy:
    def lookup(*_: object) -> list[Any]:
        raise socket.gaierror(number, "no")

    return UrlPolicy(SystemResolver(lookup))


def test_a_host_that_dns_does_not_answer_for_is_no_fault_of_the_clients() -> None:
    with pytest.raises(Unavailable):
        _raising(socket.EAI_AGAIN).objection("https://hooks.example.com/")


def test_a_host_that_is_not_there_is_the_clients_fault() -> None:
    assert _raising(socket.EAI_NONAME).objection("https://hooks.example.com/") == (
        "must name a host that has an address"
    )


def test_a_url_that_may_be_registered_meets_no_objection_and_another_one_its_sentence() -> None:
    assert policy(PUBLIC).objection("https://hooks.example.com/") is None
    assert policy("10.0.0.1").objection("https://hooks.example.com/") == ADDRESSES


def test_a_literal_address_asks_no_resolver() -> None:
    names = Names()

    UrlPolicy(names).vet("https://8.8.8.8/")

    assert names.asked == []


def test_the_representation_of_a_parsed_url_holds_no_query() -> None:
    assert "s3cret" not in repr(parse("https://hooks.example.com/x?key=s3cret"))


@pytest.mark.parametrize(
    ("allow", "url", "address"),
    [
        ("127.0.0.1:*", "http://127.0.0.1:9999/hook", "127.0.0.1"),
        ("localhost:*", "http://localhost:8000/webhook", "127.0.0.1"),
        ("localhost", "http://localhost/webhook", "127.0.0.1"),
        ("intranet:8443", "https://intranet:8443/", "10.1.2.3"),
        ("10.0.0.0/8", "http://hooks.example.com:8080/", "10.1.2.3"),
        ("other.example, 10.0.0.0/8", "https://10.1.2.3/", "10.1.2.3"),
        ("[::1]:*", "http://[::1]:8000/", "::1"),
        ("fd00::/8", "http://hooks.example.com:81/", "fd00::1"),
        ("HOOKS.corp.internal:443", "https://hooks.corp.internal/", "10.1.2.3"),
    ],
)
def test_the_allow_list_lets_exactly_what_it_names_past_the_guard(allow: str, url: str, address: str) -> None:
    assert policy(address, allow=allow).vet(url) == address


@pytest.mark.parametrize(
    ("allow", "url", "addresses"),
    [
        ("127.0.0.1:8000", "http://127.0.0.1:9001/", ["127.0.0.1"]),
        ("127.0.0.1", "http://127.0.0.1:9001/", ["127.0.0.1"]),
        ("localhost:8000", "http://app.localhost:8000/", ["127.0.0.1"]),
        ("10.0.0.0/8", "http://hooks.example.com/", ["10.0.0.1", PUBLIC]),
        ("10.0.0.0/8", "https://hooks.example.com/", ["10.0.0.1", "192.168.0.1"]),
        ("10.0.0.0/8", "http://hooks.example.com/", [PUBLIC]),
        ("10.0.0.0/8", "https://intranet/", ["10.0.0.1"]),
        ("hooks.example.com:*", "https://user@hooks.example.com/", [PUBLIC]),
        ("127.0.0.1:*", "http://0x7f.1/", ["127.0.0.1"]),
    ],
)
def test_the_allow_list_lets_nothing_else_past_the_guard(allow: str, url: str, addresses: list[str]) -> None:
    with pytest.raises(UrlRefused):
        policy(*addresses, allow=allow).vet(url)


@pytest.mark.parametrize("text", ["10.0.0.1/8", "a b", "host:99999999", "http://x", "*", "::1", "[::1"])
def test_an_allow_list_that_cannot_be_read_is_an_error_that_names_the_part(text: str) -> None:
    with pytest.raises(ValueError, match=r"is none of|isn't a CIDR") as error:
        AllowList.parse(f"localhost, {text}")

    assert text in str(error.value)
