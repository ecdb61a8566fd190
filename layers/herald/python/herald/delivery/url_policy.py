"""Which URLs a webhook may have, and which addresses Herald may connect to: the guard against SSRF.

A URL is parsed once, here, and every address of its host is vetted, at registration and again before each connection.
What was vetted is what is dialled: the address is handed to the transport, which resolves nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Literal, Self
from urllib.parse import urlsplit

from herald.delivery.addresses import Address, is_denied, unmapped
from herald.ports import Resolver, TransportFailure, Unavailable

MAX_URL = 2_048
DNS_SECONDS = 2.0
NO_ADDRESS = "must name a host that has an address"

Scheme = Literal["https", "http"]
DEFAULT_PORTS: dict[str, int] = {"https": 443, "http": 80}

_PRIVATE_SUFFIXES = ("localhost", "local", "internal", "localdomain", "home.arpa")
_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
_LOOKS_NUMERIC = re.compile(r"[0-9]+|0x[0-9a-f]*")  # such a last label makes a host an IPv4 address to some parsers


class UrlRefused(ValueError):
    """A URL that no webhook may have. ``sentence`` tells the client what is wrong; it holds no resolved address."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


@dataclass(frozen=True, slots=True)
class ParsedUrl:
    """A URL taken apart. ``host`` is lower-case and bare (no brackets), ``path`` is what follows ``POST``."""

    scheme: Scheme
    host: str
    port: int
    path: str = field(repr=False)  # it may carry a secret in its query
    literal: Address | None = None

    @property
    def authority(self) -> str:
        """The Host header: the port only where it isn't the scheme's own."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"


@dataclass(frozen=True, slots=True)
class AllowList:
    """What is let past the guard, http included: for internal installs and the local stack. Empty by default."""

    hosts: frozenset[tuple[str, int | None]] = frozenset()  # None: any port
    networks: tuple[IPv4Network | IPv6Network, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``host``, ``host:port``, ``host:*`` (IPv6 in brackets) and CIDR blocks, separated by commas.

        A bare host means the schemes' own ports, 443 and 80. A CIDR block means any port.

        Raises:
            ValueError: names the part that can't be read.
        """
        hosts: set[tuple[str, int | None]] = set()
        networks: list[IPv4Network | IPv6Network] = []
        for part in filter(None, (part.strip().lower() for part in text.split(","))):
            if "/" in part:
                try:
                    networks.append(ip_network(part))
                except ValueError:
                    raise ValueError(f"{part!r} isn't a CIDR block such as 10.0.0.0/8") from None
                continue
            match = re.fullmatch(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\*|[0-9]{1,5}))?", part)
            if match is None:
                raise ValueError(f"{part!r} is none of host, host:port, host:* and a CIDR block")
            host, port = match[1].strip("[]"), match[2]
            if port == "*":
                hosts.add((host, None))
            elif port is not None:
                hosts.add((host, int(port)))
            else:
                hosts.update((host, default) for default in DEFAULT_PORTS.values())
        return cls(frozenset(hosts), tuple(networks))

    def has_host(self, host: str, port: int) -> bool:
        return (host, port) in self.hosts or (host, None) in self.hosts

    def has_address(self, address: Address) -> bool:
        return any(address in network for network in self.networks)


@dataclass(frozen=True, slots=True)
class UrlPolicy:
    """The guard of one installation."""

    resolver: Resolver
    allow: AllowList = AllowList()

    def vet(self, url: str) -> str:
        """Parse a URL, resolve its host within 2 s, and choose the one address to connect to, IPv4 before IPv6.

        Raises:
            UrlRefused: the URL may not be a webhook's.
            TransportFailure: "dns_error", its host has no address.
        """
        parsed = parse(url)
        by_name = self.allow.has_host(parsed.host, parsed.port)
        usual = parsed.scheme == "https" and parsed.port == DEFAULT_PORTS["https"]
        if not by_name and parsed.literal is None:
            _refuse_private_name(parsed.host)
        if not by_name and not usual and not self.allow.networks:
            raise _unusual(parsed)
        addresses = self._addresses(parsed)
        if not by_name:
            outside = [address for address in addresses if not self.allow.has_address(address)]
            if any(is_denied(address) for address in outside):
                raise UrlRefused("must name a host whose addresses are all public")
            if outside and not usual:
                raise _unusual(parsed)
        # Lambda outside a VPC has no way out over IPv6.
        return str(min(addresses, key=lambda one: one.version))

    def objection(self, url: str) -> str | None:
        """What is wrong with a URL that a client would register, as ``must …``; None when it may be registered.

        Raises:
            Unavailable: DNS doesn't answer, so that nothing is known of its host.
        """
        try:
            self.vet(url)
        except UrlRefused as refused:
            return refused.sentence
        except TransportFailure as failure:
            if failure.passing:
                raise Unavailable("DNS doesn't answer for a webhook's host") from None
            return NO_ADDRESS
        return None

    def _addresses(self, parsed: ParsedUrl) -> list[Address]:
        if parsed.literal is not None:
            return [parsed.literal]
        resolved = self.resolver.resolve(parsed.host, parsed.port, DNS_SECONDS)
        try:
            found = [unmapped(ip_address(text)) for text in resolved]
        except ValueError:  # a scoped address such as fe80::1%eth0
            raise UrlRefused("must name a host whose addresses are all public") from None
        if not found:
            raise UrlRefused(NO_ADDRESS)
        return found


def parse(url: str) -> ParsedUrl:
    """Take a URL apart, strictly: what two parsers could read in two ways is refused.

    Raises:
        UrlRefused: names what is wrong.
    """
    if len(url) > MAX_URL:
        raise UrlRefused(f"must be at most {MAX_URL:,} characters long")
    if not url:
        raise UrlRefused("must not be empty")
    if not all("!" <= character <= "~" for character in url):
        raise UrlRefused("must be visible ASCII: percent-encode other characters, write a host name in its xn-- form")
    if "\\" in url:
        raise UrlRefused("must not contain a backslash")
    if "#" in url:
        raise UrlRefused("must not have a fragment (#…)")
    scheme, separator, _ = url.partition("://")
    lowered = scheme.lower()
    if not separator or lowered not in ("https", "http"):
        raise UrlRefused("must be an absolute https:// URL")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise UrlRefused("must have a valid host and a port from 1 to 65535") from None
    if "@" in parts.netloc:
        raise UrlRefused("must not contain a user name or password: use authentication instead")
    if port == 0 or parts.netloc.endswith(":"):
        raise UrlRefused("must have a valid host and a port from 1 to 65535")
    host, literal = _host(parts.netloc)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    scheme_: Scheme = "https" if lowered == "https" else "http"
    return ParsedUrl(scheme_, host, port or DEFAULT_PORTS[scheme_], path, literal)


def _host(netloc: str) -> tuple[str, Address | None]:
    if netloc.startswith("["):
        host, _, rest = netloc[1:].partition("]")
        if rest and not re.fullmatch(r":[0-9]+", rest):
            raise UrlRefused("must have a valid host and a port from 1 to 65535")
        return host.lower(), _canonical_v6(host.lower())
    host, _, port = netloc.partition(":")
    if port and not re.fullmatch(r"[0-9]{1,5}", port):  # int() also takes +443 and 4_43
        raise UrlRefused("must have a valid host and a port from 1 to 65535")
    host = host.lower()
    if not host:
        raise UrlRefused("must have a host")
    if host.endswith("."):
        raise UrlRefused("must not end its host name with a dot")
    labels = host.split(".")
    if _LOOKS_NUMERIC.fullmatch(labels[-1]):
        return host, _canonical_v4(host)
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise UrlRefused("must have a valid host name")
    return host, None


def _canonical_v4(host: str) -> IPv4Address:
    try:
        return IPv4Address(host)  # refuses leading zeros, hex, short and decimal forms
    except ValueError:
        raise UrlRefused("must write an IPv4 address as four decimal numbers") from None


def _canonical_v6(host: str) -> IPv6Address:
    try:
        address = IPv6Address(host)
    except ValueError:
        raise UrlRefused("must have a valid IPv6 address between the brackets") from None
    if address.ipv4_mapped is not None or address.scope_id is not None or str(address) != host:
        raise UrlRefused("must write an IP address in its canonical form")
    return address


def _refuse_private_name(host: str) -> None:
    if "." not in host and host != "localhost":
        raise UrlRefused("must have a full host name, such as hooks.example.com")
    if any(host == suffix or host.endswith("." + suffix) for suffix in _PRIVATE_SUFFIXES):
        raise UrlRefused("must name a public host")


def _unusual(parsed: ParsedUrl) -> UrlRefused:
    if parsed.scheme == "http":
        return UrlRefused("must be an https:// URL")
    return UrlRefused("must use port 443")
