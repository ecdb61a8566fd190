"""The table in urls.yaml, read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

PUBLIC = "93.184.216.34"


@dataclass(frozen=True)
class Refused:
    """A URL, the sentence that refuses it, and what its host resolves to: something public, or what refuses it."""

    url: str
    sentence: str
    addresses: tuple[str, ...] = (PUBLIC,)

    def __str__(self) -> str:
        """For a test's id."""
        return ascii(self.url if len(self.url) < 90 else f"{self.url[:60]}… ({len(self.url)})")[1:-1]


@dataclass(frozen=True)
class Allowed:
    """A URL, and how it is read."""

    url: str
    host: str
    path: str

    def __str__(self) -> str:
        return self.url


@cache
def _table() -> Any:
    return yaml.safe_load((Path(__file__).parent / "urls.yaml").read_text(encoding="utf-8"))


def refused() -> list[Refused]:
    """All that are refused, for themselves, for their length, or for what they resolve to."""
    table = _table()
    reasons = table["reasons"]
    found = [Refused(url, reasons[group["reason"]]) for group in table["refused"] for url in group["urls"]]
    found += [Refused(row["url"].replace("*", "a" * row["times"]), reasons[row["reason"]]) for row in table["long"]]
    return found + resolved()


def resolved() -> list[Refused]:
    """Those that are refused for what they resolve to."""
    table = _table()
    return [Refused(row["url"], table["reasons"]["addresses"], tuple(row["addresses"])) for row in table["resolved"]]


def allowed() -> list[Allowed]:
    return [Allowed(**row) for row in _table()["allowed"]]


def denied_networks() -> list[IPv4Network | IPv6Network]:
    return [ip_network(text) for text in _table()["denied networks"]]


def hosts() -> dict[str, tuple[str, ...]]:
    """What DNS answers: for the hosts of ``resolved`` their addresses, for every other name a public one."""
    found: dict[str, tuple[str, ...]] = {row.host: (PUBLIC,) for row in allowed()}
    for row in refused():
        try:
            host = urlsplit(row.url).hostname
        except ValueError:
            continue
        if host:
            found[host] = row.addresses
    return found
