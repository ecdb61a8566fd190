"""`make token`: whose token it is, and what is said where there can't be one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey
from local import stack, token
from local.environments import ROOT
from local.terminal import LocalError

ISSUER = "http://localhost:4999/_issuer"
KEY = ECKey.generate_key("P-256")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stack's folder, with a key and the addresses of one that is up."""
    monkeypatch.setattr(stack, "ROOT", tmp_path)
    found = tmp_path / "there"
    found.mkdir()
    (found / "issuer.pem").write_bytes(KEY.as_pem(private=True))
    (found / "stack.json").write_text(json.dumps({"issuer": ISSUER}))
    return found


def claims(environment: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Header and claims of the token, its signature verified."""
    found = jwt.decode(token.asked({"LOCAL_DIR": "there", **environment}), KEY)
    return dict(found.header), dict(found.claims)


@pytest.mark.usefixtures("folder")
def test_a_token_is_alices_unless_somebody_is_named() -> None:
    header, said = claims({})

    assert header == {"alg": "ES256", "typ": "at+jwt", "kid": KEY.thumbprint()}
    assert (said["iss"], said["aud"], said["sub"]) == (ISSUER, "herald-local", "alice")
    assert (said["scope"], said["exp"] - said["iat"]) == ("herald/call", 3600)
    assert "tenant" not in said


@pytest.mark.usefixtures("folder")
def test_owner_tenant_scope_and_time_are_what_is_asked_for() -> None:
    _, said = claims({"OWNER": "bob", "TENANT": "acme", "SCOPE": "a b", "EXPIRES": "-5"})

    assert (said["sub"], said["tenant"], said["scope"], said["exp"] - said["iat"]) == ("bob", "acme", "a b", -5)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("seconds", ["soon", "1.5", "--1", "-"])
def test_a_time_that_is_none_is_named(seconds: str) -> None:
    with pytest.raises(LocalError, match="EXPIRES"):
        token.asked({"LOCAL_DIR": "there", "EXPIRES": seconds})


def test_without_a_stack_the_way_to_one_is_said(folder: Path) -> None:
    (folder / "stack.json").unlink()

    with pytest.raises(LocalError, match="make up"):
        token.asked({"LOCAL_DIR": "there"})


@pytest.mark.parametrize("issuer", [{}, {"issuer": "https://cognito-idp.us-east-1.amazonaws.com/us-east-1_x"}])
def test_a_stack_that_takes_other_tokens_is_told_of(folder: Path, issuer: dict[str, str]) -> None:
    (folder / "stack.json").write_text(json.dumps(issuer))

    with pytest.raises(LocalError, match="AUTH=cognito"):
        token.asked({"LOCAL_DIR": "there"})


@pytest.mark.parametrize("auth", stack.AUTH)
def test_each_way_to_authenticate_says_all_that_another_may_have_said(auth: str) -> None:
    """A parameter that isn't named keeps the value of the last deployment."""
    told = stack.AUTH[auth]("http://localhost:4999")

    assert set(told) == {"AuthMode", "Issuer", "Audience", "RequiredScopes", "TenantClaim", "TokenUrl"}
    assert stack.variant_from({"AUTH": auth}).auth == auth


def test_tokens_of_the_local_issuer_are_the_default() -> None:
    assert stack.variant_from({}).auth == "jwt"


def test_another_way_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(LocalError, match="AUTH=basic is none of jwt, cognito, iam, none"):
        stack.variant_from({"AUTH": "basic"})


def test_the_samples_keys_are_public() -> None:
    document = json.loads((ROOT / "events" / "keys" / "issuer.json").read_text())

    assert [set(key) & {"d", "p", "q", "k"} for key in document["keys"]] == [set()]
