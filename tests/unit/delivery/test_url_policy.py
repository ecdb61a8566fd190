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
from ssrf.urls import PUBLIC, Allowed, Refused, allowed, refused


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


ADDRESSES = "must name a host whose addresses are all public"


@pytest.mark.parametrize("row", refused(), ids=str)
def test_c6_c20_a_url_is_refused_with_a_sentence_that_names_what_is_wrong(row: Refused) -> None:
    with pytest.raises(UrlRefused) as error:
        policy(*row.addresses).vet(row.url)

    assert error.value.sentence == row.sentence


@pytest.mark.parametrize("row", allowed(), ids=str)
def test_a_public_https_url_is_accepted(row: Allowed) -> None:
    policy(PUBLIC).vet(row.url)

    parsed = parse(row.url)
    assert (parsed.scheme, parsed.host, parsed.port, parsed.path) == ("https", row.host, 443, row.path)


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
