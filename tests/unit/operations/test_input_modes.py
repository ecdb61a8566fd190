"""ContentTypeNotSupported: a part that the Agent Card doesn't list."""

from __future__ import annotations

from typing import Any

import pytest

from builders.api import ApiBench, message
from herald.operations.call import Limits
from herald.protocol.errors import ContentTypeNotSupportedError, InvalidParamsError

Json = dict[str, Any]

TAKES = ("text/plain", "application/json", "image/*")


def send(parts: list[Json], takes: tuple[str, ...] = TAKES) -> Json:
    api = ApiBench(limits=Limits(input_modes=takes))
    params = {"message": message() | {"parts": parts}, "configuration": {"returnImmediately": True}}
    task: Json = api.call("SendMessage", params)["task"]
    return task


@pytest.mark.parametrize(
    "part",
    [
        {"text": "x"},
        {"text": "x", "mediaType": ""},
        {"text": "x", "mediaType": "text/plain"},
        {"text": "x", "mediaType": "TEXT/Plain; charset=iso-8859-1"},
        {"data": None},
        {"data": [1], "mediaType": "application/json"},
        {"raw": "AA==", "mediaType": "image/png"},
        {"raw": "AA=="},
        {"url": "https://example.com/x"},
        {"url": "https://example.com/x", "mediaType": "IMAGE/svg+xml"},
    ],
    ids=str,
)
def test_what_the_card_lists_is_taken_whatever_its_case_and_parameters(part: Json) -> None:
    assert send([part])["history"][0]["parts"][0].items() >= {k: v for k, v in part.items() if v != ""}.items()


@pytest.mark.parametrize(
    ("parts", "takes", "field", "media_type", "sentence"),
    [
        (
            [{"text": "x"}, {"raw": "AA==", "mediaType": "Application/PDF; a=b"}],
            TAKES,
            "message.parts[1].mediaType",
            "application/pdf",
            (
                "message.parts[1].mediaType: application/pdf isn't taken by this agent. "
                "It takes text/plain, application/json, image/*."
            ),
        ),
        (
            [{"text": "x", "mediaType": "text/html"}],
            TAKES,
            "message.parts[0].mediaType",
            "text/html",
            (
                "message.parts[0].mediaType: text/html isn't taken by this agent. "
                "It takes text/plain, application/json, image/*."
            ),
        ),
        (
            [{"url": "https://example.com/x", "mediaType": "video/mp4"}],
            TAKES,
            "message.parts[0].mediaType",
            "video/mp4",
            (
                "message.parts[0].mediaType: video/mp4 isn't taken by this agent. "
                "It takes text/plain, application/json, image/*."
            ),
        ),
        (
            [{"text": "x"}],
            ("text/csv",),
            "message.parts[0].mediaType",
            "text/plain",
            "message.parts[0].mediaType: is missing, which means text/plain. It takes text/csv.",
        ),
        (
            [{"data": {}}],
            ("text/csv",),
            "message.parts[0].mediaType",
            "application/json",
            "message.parts[0].mediaType: is missing, which means application/json. It takes text/csv.",
        ),
    ],
)
def test_what_the_card_does_not_list_is_refused_by_field_with_what_it_does(
    parts: list[Json], takes: tuple[str, ...], field: str, media_type: str, sentence: str
) -> None:
    with pytest.raises(ContentTypeNotSupportedError) as caught:
        send(parts, takes)

    error = caught.value
    assert (error.row.code, error.row.status, error.row.reason) == (-32005, 400, "CONTENT_TYPE_NOT_SUPPORTED")
    assert error.message == sentence
    assert [each.field for each in error.violations] == [field]
    assert error.metadata == {"mediaType": media_type, "supportedMediaTypes": ", ".join(takes)}


def test_nothing_is_stored_of_what_is_refused() -> None:
    api = ApiBench(limits=Limits(input_modes=("text/csv",)))

    with pytest.raises(ContentTypeNotSupportedError):
        api.send()
    assert not api.world.items


def test_an_agent_whose_card_says_nothing_takes_anything() -> None:
    assert send([{"text": "x", "mediaType": "text/html"}], ())["id"]
    assert send([{"raw": "AA==", "mediaType": "x/y"}], ("*/*",))["id"]


@pytest.mark.parametrize("wrong", ["text", "text/", "image/*", "text/plain\r\nX-Evil: 1", "é/x", " text/plain"])
def test_what_is_no_media_type_is_a_wrong_field(wrong: str) -> None:
    with pytest.raises(InvalidParamsError) as caught:
        send([{"text": "x"}, {"text": "x", "mediaType": wrong}], ())

    assert [each.field for each in caught.value.violations] == ["message.parts[1].mediaType"]
    assert caught.value.message == ("message.parts[1].mediaType: must be a media type like text/plain or image/png")


def test_a_thousand_wrong_ones_are_told_in_a_short_answer() -> None:
    with pytest.raises(InvalidParamsError) as caught:
        send([{"text": "x", "mediaType": "wrong"}] * 1000)

    assert len(caught.value.violations) == 10
