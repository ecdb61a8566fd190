"""Which addresses a webhook may have: the list behind the guard against SSRF."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

Address = IPv4Address | IPv6Address

# `ipaddress.is_global` is no guard: it lets 64:ff9b::/96, 2002::/16, 192.88.99.1, multicast and others pass.
_V4_DENIED = tuple(
    IPv4Network(text)
    for text in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # carriers' NAT
        "127.0.0.0/8",  # loopback: inside Lambda, the runtime API
        "169.254.0.0/16",  # link-local: metadata services
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # AMT
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarking
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
    )
)
_V6_ALLOWED = IPv6Network("2000::/3")  # global unicast; NAT64, unique local, link-local and loopback lie outside
_V6_DENIED = tuple(
    IPv6Network(text)
    for text in (
        "2001::/23",  # protocol assignments: Teredo, benchmarking, ORCHID
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4: carries any IPv4 address
        "2620:4f:8000::/48",  # AS112
        "3fff::/20",  # documentation
    )
)


def is_denied(address: Address) -> bool:
    """True for an address that no webhook may have: everything that isn't plainly public unicast."""
    address = unmapped(address)
    if isinstance(address, IPv4Address):
        return any(address in network for network in _V4_DENIED)
    if address.scope_id is not None:
        return True
    return address not in _V6_ALLOWED or any(address in network for network in _V6_DENIED)


def unmapped(address: Address) -> Address:
    """The IPv4 address that an IPv6 one maps (``::ffff:10.0.0.1``); any other as it is."""
    return getattr(address, "ipv4_mapped", None) or address
