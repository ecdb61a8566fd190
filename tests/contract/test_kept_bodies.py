"""KeptBodies: what every implementation must do."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest

from builders.records import a_ref
from builders.stores import BUCKET
from fakes.clock import START, FakeClock
from fakes.kept import FakeKeptBodies
from herald.adapters.aws import AwsClients
from herald.adapters.s3 import S3Bodies, S3KeptBodies
from herald.ports import KeptBodies, Unavailable

EXPIRES = START // 1000 + 86_400


@pytest.fixture(params=["fake", "s3"])
def kept(request: pytest.FixtureRequest) -> KeptBodies:
    if request.param == "fake":
        return FakeKeptBodies()
    aws: AwsClients = request.getfixturevalue("aws")
    aws.s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": "eu-central-1"})
    return S3KeptBodies(lambda: aws.s3, BUCKET)


def test_what_is_kept_comes_back(kept: KeptBodies) -> None:
    key = kept.keep(a_ref(), "000000000001-task-whole", "é\x00".encode(), EXPIRES)
    assert kept.get(key) == "é\x00".encode()


def test_what_is_there_already_stays(kept: KeptBodies) -> None:
    first = kept.keep(a_ref(), "name", b"first", EXPIRES)
    assert kept.keep(a_ref(), "name", b"second", EXPIRES) == first
    assert kept.get(first) == b"first"


def test_tasks_and_names_are_kept_apart(kept: KeptBodies) -> None:
    one = kept.keep(a_ref(), "name", b"1", EXPIRES)
    others = [
        kept.keep(a_ref(), "other", b"2", EXPIRES),
        kept.keep(a_ref(owner="bob"), "name", b"3", EXPIRES),
        kept.keep(a_ref("t2"), "name", b"4", EXPIRES),
        kept.keep(a_ref(tenant="b"), "name", b"5", EXPIRES),
    ]
    assert [kept.get(key) for key in (one, *others)] == [b"1", b"2", b"3", b"4", b"5"]


def test_what_is_not_there_is_a_fault_of_ours(kept: KeptBodies) -> None:
    with pytest.raises(Unavailable):
        kept.get("bodies/nothing")


def test_the_buckets_link_is_signed_and_good_for_as_long_as_was_asked(aws: AwsClients) -> None:
    link = urlsplit(S3KeptBodies(lambda: aws.s3, BUCKET).link("bodies/a/b", 300))
    asked = parse_qs(link.query)
    assert link.path.endswith("/bodies/a/b")
    assert (asked["X-Amz-Algorithm"], asked["X-Amz-Expires"]) == (["AWS4-HMAC-SHA256"], ["300"])


def test_what_is_kept_lies_where_an_erasure_looks(aws: AwsClients, clock: FakeClock) -> None:
    aws.s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": "eu-central-1"})
    key = S3KeptBodies(lambda: aws.s3, BUCKET).keep(a_ref(), "name", b"1", EXPIRES)
    assert S3Bodies(lambda: aws.s3, BUCKET).list("bodies/TASK#acme#alice#") == [key]
