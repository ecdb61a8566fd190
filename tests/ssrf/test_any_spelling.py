"""The guard against any address: one of a denied network is refused in every spelling, and a public one is allowed."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from herald.delivery.url_policy import AllowList, UrlPolicy, UrlRefused
from ssrf.urls import PUBLIC, denied_networks

DENIED = denied_networks()
DENIED_V4 = [network for network in DENIED if isinstance(network, IPv4Network)]
DENIED_V6 = [network for network in DENIED if isinstance(network, IPv6Network)]
MANY = settings(max_examples=300, deadline=None)


class Answers:
    """A resolver for any name at all."""

    def __init__(self, *addresses: str) -> None:
        self._addresses = addresses

    def resolve(self, host: str, port: int, timeout: float) -> list[str]:
        return list(self._addresses)


def vet(url: str, *addresses: str) -> str:
    return UrlPolicy(Answers(*(addresses or (PUBLIC,))), AllowList()).vet(url)


def v4_in(networks: list[IPv4Network]) -> st.SearchStrategy[IPv4Address]:
    return st.sampled_from(networks).flatmap(
        lambda network: st.integers(int(network[0]), int(network[-1])).map(IPv4Address)
    )


def v6_in(networks: list[IPv6Network]) -> st.SearchStrategy[IPv6Address]:
    return st.sampled_from(networks).flatmap(
        lambda network: st.integers(int(network[0]), int(network[-1])).map(IPv6Address)
    )


# --------------------------------------------------------------------------------------------------- spellings ----

# One number of an address as inet_aton reads it: decimal, octal, hex; with zeros before it, in either case.
RADICES: list[Callable[[int], str]] = [
    str,
    lambda number: f"0{number:o}",
    lambda number: f"000{number:o}",
    lambda number: f"0x{number:x}",
    lambda number: f"0X{number:X}",
    lambda number: f"0x000{number:x}",
]
DIGITS = ["0123456789", "０１２３４５６７８９", "٠١٢٣٤٥٦٧٨٩", "०१२३४५६७८९", "𝟎𝟏𝟐𝟑𝟒𝟓𝟔𝟕𝟖𝟗"]
DOTS = [".", "。", "．", "｡", "%2e", "%2E"]


@st.composite
def spelled_v4(draw: st.DrawFn) -> str:
    """An IPv4 address of a denied network, as some parser somewhere reads it."""
    address = draw(v4_in(DENIED_V4))
    parts = draw(st.integers(1, 4))
    octets = list(address.packed)
    numbers = [*octets[: parts - 1], int.from_bytes(address.packed[parts - 1 :], "big")]
    text = ".".join(draw(st.sampled_from(RADICES))(number) for number in numbers)
    digits = draw(st.sampled_from(DIGITS))
    text = text.translate(str.maketrans(DIGITS[0], digits)).replace(".", draw(st.sampled_from(DOTS)))
    return text + draw(st.sampled_from(["", ".", "%00", "%20", "\t"]))


EMBEDDED: list[Callable[[int], int]] = [
    lambda v4: v4,  # compatible
    lambda v4: 0xFFFF << 32 | v4,  # mapped
    lambda v4: 0xFFFF << 48 | v4,  # translated
    lambda v4: 0x64FF9B << 96 | v4,  # NAT64
    lambda v4: 0x64FF9B0001 << 80 | v4,  # NAT64, local
    lambda v4: 0x2002 << 112 | v4 << 80,  # 6to4
    lambda v4: 0x20010000 << 96 | v4 << 64,  # Teredo, its server
    lambda v4: 0x20010000 << 96 | (v4 ^ 0xFFFFFFFF),  # Teredo, its client
    lambda v4: 0xFE80 << 112 | 0x5EFE << 32 | v4,  # ISATAP
]

V6_SPELLINGS: list[Callable[[IPv6Address], str]] = [
    str,
    lambda address: address.exploded,
    lambda address: str(address).upper(),
    lambda address: f"{address}%25eth0",
    lambda address: f"{address}%1",
    lambda address: f"{IPv6Address(int(address) >> 32 << 32)}"[:-1] + f":{IPv4Address(int(address) & 0xFFFFFFFF)}",
]

AROUND = ["{}", "{}:443", "{}:80", "user@{}", "{}@{}", "hooks.example.com@{}"]


def url_of(host: str, around: str) -> str:
    return f"https://{around.replace('{}', host)}/"


@MANY
@given(spelled_v4(), st.sampled_from(AROUND))
def test_an_ipv4_address_of_a_denied_network_is_refused_in_every_spelling(host: str, around: str) -> None:
    with pytest.raises(UrlRefused):
        vet(url_of(host, around))


@MANY
@given(v6_in(DENIED_V6), st.sampled_from(V6_SPELLINGS), st.sampled_from(AROUND))
def test_an_ipv6_address_of_a_denied_network_is_refused_in_every_spelling(
    address: IPv6Address, spell: Callable[[IPv6Address], str], around: str
) -> None:
    with pytest.raises(UrlRefused):
        vet(url_of(f"[{spell(address)}]", around))


@MANY
@given(v4_in(DENIED_V4), st.sampled_from(EMBEDDED), st.sampled_from(V6_SPELLINGS), st.sampled_from(AROUND))
def test_an_ipv4_address_that_an_ipv6_one_carries_is_refused(
    address: IPv4Address, embed: Callable[[int], int], spell: Callable[[IPv6Address], str], around: str
) -> None:
    with pytest.raises(UrlRefused):
        vet(url_of(f"[{spell(IPv6Address(embed(int(address))))}]", around))


# -------------------------------------------------------------------------------------------------- resolution ----


@MANY
@given(
    st.one_of(
        v4_in(DENIED_V4),
        v6_in(DENIED_V6),
        v4_in(DENIED_V4).flatmap(lambda v4: st.sampled_from(EMBEDDED).map(lambda embed: IPv6Address(embed(int(v4))))),
    ),
    st.lists(st.sampled_from([PUBLIC, "8.8.8.8", "2606:4700:4700::1111"]), max_size=3),
    st.integers(0, 3),
    st.booleans(),
)
def test_a_name_with_a_denied_address_among_its_addresses_is_refused(
    denied: IPv4Address | IPv6Address, others: list[str], place: int, exploded: bool
) -> None:
    addresses = list(others)
    addresses.insert(place, denied.exploded if exploded else str(denied))
    with pytest.raises(UrlRefused) as refused:
        vet("https://hooks.example.com/", *addresses)

    assert refused.value.sentence == "must name a host whose addresses are all public"


# ---------------------------------------------------------------------------------------------- what is allowed ----


def is_public(address: IPv4Address | IPv6Address) -> bool:
    return not any(address in network for network in DENIED)


@MANY
@given(st.integers(0, 2**32 - 1).map(IPv4Address).filter(is_public))
def test_a_public_ipv4_address_is_allowed(address: IPv4Address) -> None:
    assert vet(f"https://{address}/") == str(address)
    assert vet("https://hooks.example.com/", str(address)) == str(address)
    assert vet("https://hooks.example.com/", f"::ffff:{address}") == str(address)


@MANY
@given(st.integers(0x2000 << 112, (0x4000 << 112) - 1).map(IPv6Address).filter(is_public))
def test_a_public_ipv6_address_is_allowed(address: IPv6Address) -> None:
    assert vet(f"https://[{address}]/") == str(address)
    assert vet("https://hooks.example.com/", address.exploded) == str(address)


@MANY
@given(st.sampled_from(DENIED), st.booleans())
def test_an_address_right_beside_a_denied_network_is_judged_by_itself(
    network: IPv4Network | IPv6Network, after: bool
) -> None:
    number = int(network[-1]) + 1 if after else int(network[0]) - 1
    most = 2**32 if isinstance(network, IPv4Network) else 2**128
    if not 0 <= number < most:
        return
    address = ip_address(number) if isinstance(network, IPv4Network) else IPv6Address(number)
    host = f"[{address}]" if isinstance(address, IPv6Address) else str(address)
    if is_public(address):
        assert vet(f"https://{host}/") == str(address)
    else:
        with pytest.raises(UrlRefused):
            vet(f"https://{host}/")
