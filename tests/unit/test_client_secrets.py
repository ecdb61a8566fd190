"""What a client gives to be shown to its receiver."""

from __future__ import annotations

import base64

import pytest

from herald.client_secrets import hmac_key


@pytest.mark.parametrize("token", ["", "plain", "WHSEC_abc", "xwhsec_abc"])
def test_another_token_is_no_hmac_secret(token: str) -> None:
    assert hmac_key(token) is None


@pytest.mark.parametrize("size", [24, 32, 64])
def test_24_to_64_bytes_make_an_hmac_key(size: int) -> None:
    assert hmac_key("whsec_" + base64.b64encode(bytes(size)).decode()) == bytes(size)


@pytest.mark.parametrize(
    "token", ["whsec_", "whsec_!!!!", "whsec_" + base64.b64encode(bytes(23)).decode(), "whsec_" + "A" * 88 + "AAA="]
)
def test_a_damaged_hmac_secret_is_refused_without_being_told(token: str) -> None:
    with pytest.raises(ValueError, match="24 to 64 bytes") as error:
        hmac_key(token)

    assert str(error.value) == "a whsec_ token must be base64 of 24 to 64 bytes after its prefix"
