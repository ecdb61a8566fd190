"""Sealer and the secrets' versions: what every sealer must do, and what the real one does beyond."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

import pytest

from fakes.clock import FakeClock
from fakes.world import FakeSealer
from herald.adapters.aws import AwsClients
from herald.adapters.secrets import SecretsSealer, SecretVersions
from herald.ports import Sealer

TEXT = "the-sealing-secret-of-this-test"


@pytest.fixture
def secret_id(aws: AwsClients) -> str:
    return aws.secretsmanager.create_secret(Name="sealing", SecretString=TEXT)["ARN"]


@pytest.fixture
def versions(aws: AwsClients, secret_id: str, clock: FakeClock) -> SecretVersions:
    return SecretVersions(lambda: aws.secretsmanager, secret_id, clock)


@pytest.fixture(params=["fake", "secrets"])
def sealer(request: pytest.FixtureRequest) -> Iterator[Sealer]:
    if request.param == "fake":
        yield FakeSealer()
        return
    yield SecretsSealer(request.getfixturevalue("versions"))


@pytest.mark.parametrize("plain", ["", "secret", "ö\x00\n", "x" * 10_000])
def test_what_is_sealed_opens_at_its_place(sealer: Sealer, plain: str) -> None:
    sealed = sealer.seal(plain, "place")
    assert sealer.open(sealed, "place") == plain
    assert plain == "" or plain not in sealed


def test_what_is_sealed_may_stand_in_a_query_string(sealer: Sealer) -> None:
    for length in range(12):
        assert re.fullmatch(r"[A-Za-z0-9._-]+", sealer.seal("ö" * length, "place"))


def test_c12_what_is_sealed_for_one_place_does_not_open_at_another(sealer: Sealer) -> None:
    sealed = sealer.seal("secret", "place")
    with pytest.raises(ValueError, match=r"place|elsewhere"):
        sealer.open(sealed, "other place")


@pytest.mark.parametrize(
    "sealed", ["", "secret", "v1.", "v1.x.y", "v2.a.b", "v1." + "0" * 36 + ".AAAA", "v1." + "ö" * 36 + ".AA"]
)
def test_what_was_never_sealed_does_not_open(sealer: Sealer, sealed: str) -> None:
    with pytest.raises(ValueError, match="seal"):
        sealer.open(sealed, "place")


def test_a_changed_text_does_not_open(versions: SecretVersions) -> None:
    sealer = SecretsSealer(versions)
    form, version, text = sealer.seal("secret", "place").split(".")
    raw = bytearray(base64.urlsafe_b64decode(text + "=="))
    assert sealer.open(f"{form}.{version}.{base64.urlsafe_b64encode(raw).decode()}", "place") == "secret"
    for position in (0, 12, len(raw) - 1):
        changed = raw.copy()
        changed[position] ^= 1
        with pytest.raises(ValueError, match="changed"):
            sealer.open(f"{form}.{version}.{base64.urlsafe_b64encode(changed).decode()}", "place")


def test_the_same_text_is_never_sealed_alike(versions: SecretVersions) -> None:
    sealer = SecretsSealer(versions)
    assert sealer.seal("secret", "place") != sealer.seal("secret", "place")


def test_a_text_that_was_sealed_before_a_rotation_opens_after_it(
    aws: AwsClients, secret_id: str, versions: SecretVersions, clock: FakeClock
) -> None:
    before = SecretsSealer(versions).seal("secret", "place")
    aws.secretsmanager.put_secret_value(SecretId=secret_id, SecretString="another")
    clock.advance(300)

    fresh = SecretsSealer(SecretVersions(lambda: aws.secretsmanager, secret_id, clock))
    after = fresh.seal("secret", "place")

    assert after.split(".")[1] != before.split(".")[1]
    assert fresh.open(before, "place") == fresh.open(after, "place") == "secret"


def test_the_current_version_is_looked_at_again_after_five_minutes(
    aws: AwsClients, secret_id: str, versions: SecretVersions, clock: FakeClock
) -> None:
    first = versions.current()
    assert first.text == TEXT
    aws.secretsmanager.put_secret_value(SecretId=secret_id, SecretString="another")
    clock.advance(299.9)
    assert versions.current() == first
    clock.advance(0.1)
    assert versions.current().text == "another"


def test_around_a_rotation_all_stages_are_listed_once(
    aws: AwsClients, secret_id: str, versions: SecretVersions, clock: FakeClock
) -> None:
    assert [version.text for version in versions.all()] == [TEXT]
    aws.secretsmanager.put_secret_value(SecretId=secret_id, SecretString="next", VersionStages=["AWSPENDING"])
    clock.advance(300)
    assert [version.text for version in versions.all()] == [TEXT, "next"]
    pending = versions.stage("AWSPENDING")
    assert pending is not None
    assert pending.text == "next"
    assert versions.by_id(pending.version_id) == pending


def test_a_secret_without_versions_says_so(aws: AwsClients, clock: FakeClock) -> None:
    nothing = SecretVersions(lambda: aws.secretsmanager, "arn:aws:secretsmanager:eu-central-1:1:secret:none", clock)
    with pytest.raises(LookupError, match="no current version"):
        nothing.current()


def test_invariant_8_a_version_does_not_show_its_text(versions: SecretVersions) -> None:
    assert TEXT not in repr(versions.current())
    assert TEXT not in repr(versions)
