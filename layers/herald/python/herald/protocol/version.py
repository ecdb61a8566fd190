"""Which version of A2A a request speaks (sections 3.6 and 14.2.1)."""

from __future__ import annotations

import re

from herald.protocol.errors import VersionNotSupportedError

VERSION = "1.0"
VERSION_HEADER = "A2A-Version"  # also the name of the query parameter
EXTENSIONS_HEADER = "A2A-Extensions"

_OURS = re.compile(r"1\.0(\.[0-9]+)?")
_UNSAID = "0.3"  # what a request without a version speaks


def check(header: str | None, query: str | None) -> None:
    """Refuse a request in a version that isn't ours. The header counts before the query parameter.

    Raises:
        VersionNotSupportedError: neither says 1.0 or 1.0.x; an absent or empty version is 0.3.
    """
    said = (header or "").strip() or (query or "").strip()
    if _OURS.fullmatch(said):
        return
    asked = said[:20] or _UNSAID
    raise VersionNotSupportedError(
        f"A2A version {asked} isn't supported; send {VERSION_HEADER}: {VERSION}."
        if said
        else f"A request without {VERSION_HEADER} speaks A2A {_UNSAID}, which isn't supported; "
        f"send {VERSION_HEADER}: {VERSION}.",
        metadata={"requestedVersion": asked, "supportedVersions": VERSION},
    )
