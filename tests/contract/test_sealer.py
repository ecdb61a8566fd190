"""Sealer and the secrets' versions: what every sealer must do, and what the real one does beyond."""

from __future__ import annotations

import base64
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import pytest
from botocore.exceptions import ClientError

from fakes.clock import FakeClock
from fakes.world import FakeSealer
from herald.adapters.aws import AwsClients
from herald.adapters.secrets import SecretsSealer, SecretVersions
from herald.ports import Sealer, Unavailable, Unopenable

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


def test_what_nothing_opens_any_more_is_told_from_what_was_never_sealed(sealer: Sealer) -> None:
    sealed = sealer.seal("secret", "place")
    with pytest.raises(Unopenable):
        sealer.open(sealed, "other place")
    assert sealer.renewed(sealed, "place") == sealed


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


def test_a_version_that_waits_is_published_and_does_not_sign(
    aws: AwsClients, secret_id: str, versions: SecretVersions, clock: FakeClock
) -> None:
    assert [version.text for version in versions.published()] == [TEXT]
    aws.secretsmanager.put_secret_value(SecretId=secret_id, SecretString="next", VersionStages=["AWSPENDING"])
    clock.advance(300)
    assert [version.text for version in versions.published()] == [TEXT, "next"]
    assert [version.text for version in versions.signing()] == [TEXT]


def test_a_new_version_is_published_at_once_and_signs_an_hour_after_it_was_made(
    aws: AwsClients, secret_id: str, versions: SecretVersions, clock: FakeClock
) -> None:
    aws.secretsmanager.put_secret_value(SecretId=secret_id, SecretString="another")
    made = aws.secretsmanager.get_secret_value(SecretId=secret_id)["CreatedDate"]
    hour = 3_600_000
    seen = []
    for age in (0, hour - 1, hour, 25 * hour - 1, 25 * hour, 26 * hour - 1, 26 * hour):
        clock.set(round(made.timestamp() * 1000) + age)
        seen.append([[one.text for one in found] for found in (versions.signing(), versions.published())])

    assert seen == [
        [[TEXT], [TEXT, "another"]],
        [[TEXT], [TEXT, "another"]],
        [["another", TEXT], ["another", TEXT]],
        [["another", TEXT], ["another", TEXT]],
        [["another"], ["another", TEXT]],
        [["another"], ["another", TEXT]],
        [["another"], ["another"]],
    ]


def test_a_sealer_asks_for_the_current_version_every_five_minutes_and_for_nothing_else(
    aws: AwsClients, versions: SecretVersions, clock: FakeClock
) -> None:
    sealer = SecretsSealer(versions)
    with mock.patch.object(aws.secretsmanager, "get_secret_value", wraps=aws.secretsmanager.get_secret_value) as asked:
        for _ in range(3):
            sealed = sealer.seal("secret", "place")
            assert sealer.renewed(sealed, "place") == sealed
            assert sealer.open(sealed, "place") == "secret"
        clock.advance(300)
        sealer.renewed(sealed, "place")

    assert asked.call_count == 2


def test_what_an_older_version_sealed_is_renewed_and_needs_that_version_no_more(
    aws: AwsClients, secret_id: str, versions: SecretVersions, clock: FakeClock
) -> None:
    old = SecretsSealer(versions).seal("secret", "place")
    _rotate(aws, secret_id)
    clock.advance(300)

    sealer = SecretsSealer(versions)
    new = sealer.renewed(old, "place")

    assert new.split(".")[1] == "b" * 32
    assert sealer.renewed(new, "place") == new
    without = SecretsSealer(SecretVersions(lambda: aws.secretsmanager, secret_id, clock))
    with _gone(aws, old.split(".")[1]):
        assert without.open(new, "place") == "secret"
        for attempt in (without.open, without.renewed):
            with pytest.raises(Unopenable, match="of the sealing secret is gone"):
                attempt(old, "place")


def test_a_sealer_that_is_behind_does_not_take_a_newer_versions_text_back(
    aws: AwsClients, secret_id: str, versions: SecretVersions, clock: FakeClock
) -> None:
    behind = SecretsSealer(versions)
    behind.seal("", "place")  # now it knows the first version for five minutes
    _rotate(aws, secret_id)
    new = SecretsSealer(SecretVersions(lambda: aws.secretsmanager, secret_id, clock)).seal("secret", "place")

    assert behind.renewed(new, "place") == new
    assert behind.open(new, "place") == "secret"


def test_a_secret_that_is_gone_as_a_whole_is_a_fault_of_ours_and_no_texts(
    aws: AwsClients, secret_id: str, versions: SecretVersions, clock: FakeClock
) -> None:
    sealed = SecretsSealer(versions).seal("secret", "place")
    nothing = SecretsSealer(
        SecretVersions(lambda: aws.secretsmanager, secret_id.replace("sealing", "none"), FakeClock())
    )
    with pytest.raises(LookupError, match="no current version"):
        nothing.open(sealed, "place")


def _rotate(aws: AwsClients, secret_id: str) -> None:
    """Put a second version, made a minute later than any before it: moto counts in seconds."""
    later = time.time() + 60
    with mock.patch("moto.secretsmanager.models.time.time", return_value=later):
        aws.secretsmanager.put_secret_value(SecretId=secret_id, SecretString="another", ClientRequestToken="b" * 32)


@contextmanager
def _gone(aws: AwsClients, version_id: str) -> Iterator[None]:
    """As if Secrets Manager had deleted a version that has no stage any more."""
    plain = aws.secretsmanager.get_secret_value

    def get_secret_value(**which: str) -> Any:
        if which.get("VersionId") == version_id:
            raise ClientError({"Error": {"Code": "ResourceNotFoundException", "Message": ""}}, "GetSecretValue")
        return plain(**which)

    with mock.patch.object(aws.secretsmanager, "get_secret_value", get_secret_value):
        yield


def test_made_up_versions_are_asked_for_ten_times_a_minute_and_a_real_one_after_it(
    aws: AwsClients, secret_id: str, versions: SecretVersions, clock: FakeClock
) -> None:
    former = versions.current().version_id
    for number in range(10):
        assert versions.by_id(f"{number:032}") is None
    stranger = SecretVersions(lambda: aws.secretsmanager, secret_id, clock)
    with mock.patch.object(aws.secretsmanager, "get_secret_value", side_effect=AssertionError("asked")):
        with pytest.raises(Unavailable, match="too often"):
            versions.by_id("f" * 32)
        assert versions.by_id(former)  # what is known is found whoever asks for what
    assert stranger.by_id(former)
    clock.advance(60)
    assert versions.by_id("f" * 32) is None


def test_a_secret_without_versions_says_so(aws: AwsClients, clock: FakeClock) -> None:
    nothing = SecretVersions(lambda: aws.secretsmanager, "arn:aws:secretsmanager:eu-central-1:1:secret:none", clock)
    with pytest.raises(LookupError, match="no current version"):
        nothing.current()


def test_invariant_8_a_version_does_not_show_its_text(versions: SecretVersions) -> None:
    assert TEXT not in repr(versions.current())
    assert TEXT not in repr(versions)
