"""Which A2A version a request speaks."""

from __future__ import annotations

import pytest

from herald.protocol import version
from herald.protocol.errors import VersionNotSupportedError


@pytest.mark.parametrize(
    ("header", "query"),
    [("1.0", None), ("1.0.0", None), ("1.0.12", None), (" 1.0 ", None), (None, "1.0"), ("", "1.0.1"), ("1.0", "0.3")],
)
def test_ours_are_1_0_and_its_patches(header: str | None, query: str | None) -> None:
    version.check(header, query)


@pytest.mark.parametrize(
    "header", ["0.3", "1", "1.1", "1.00", "1.0.", "1.0.x", "10.0", "v1.0", "1.0, 1.0", "2.0", "1.0\n1", "1.0-rc"]
)
def test_any_other_version_is_refused_and_the_way_out_named(header: str) -> None:
    with pytest.raises(VersionNotSupportedError, match=r"send A2A-Version: 1\.0\.$") as caught:
        version.check(header, None)
    assert caught.value.metadata == {"requestedVersion": header, "supportedVersions": "1.0"}
    with pytest.raises(VersionNotSupportedError):
        version.check(None, header)


@pytest.mark.parametrize(("header", "query"), [(None, None), ("", None), ("", ""), ("  ", None)])
def test_a_request_that_says_none_speaks_0_3(header: str | None, query: str | None) -> None:
    with pytest.raises(VersionNotSupportedError, match=r"0\.3.*send A2A-Version: 1\.0\.$") as caught:
        version.check(header, query)
    assert caught.value.metadata == {"requestedVersion": "0.3", "supportedVersions": "1.0"}


def test_the_header_counts_before_the_query() -> None:
    with pytest.raises(VersionNotSupportedError, match=r"A2A version 0\.3 isn't supported"):
        version.check("0.3", "1.0")


def test_a_long_version_is_cut_in_the_error() -> None:
    with pytest.raises(VersionNotSupportedError) as caught:
        version.check("9" * 5000, None)
    assert len(str(caught.value)) < 100
