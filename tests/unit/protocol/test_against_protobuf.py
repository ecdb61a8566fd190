"""Our models beside the protobuf types of a2a-sdk: each reads what the other prints, and both print equal JSON.

The values are made from the SDK's own descriptors, so a field that we forget is found.
"""

from __future__ import annotations

import inspect
import json
import re
from functools import cache
from typing import Any

import pytest
from a2a.types import a2a_pb2
from google.api import field_behavior_pb2
from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message as ProtobufMessage
from google.protobuf.message_factory import GetMessageClass
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from herald.protocol import card, codec, model, requests
from herald.protocol.errors import InvalidParamsError
from herald.protocol.protojson import Model

MESSAGES: dict[str, Descriptor] = dict(a2a_pb2.DESCRIPTOR.message_types_by_name)
MODELS: dict[str, type[Model]] = {
    name: kind
    for module in (model, requests, card)
    for name, kind in vars(module).items()
    if inspect.isclass(kind) and issubclass(kind, Model) and name in MESSAGES
}
# Where we refuse an explicit default: an empty contextId or taskId that is sent, an UNSPECIFIED filter.
EMPTY_IS_WRONG = {"SendMessageRequest", "ListTasksRequest"}
EVERY_MESSAGE = pytest.mark.parametrize("name", sorted(MESSAGES))
TRIES = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def is_required(field: FieldDescriptor) -> bool:
    return field_behavior_pb2.REQUIRED in field.GetOptions().Extensions[field_behavior_pb2.field_behavior]


def is_map(field: FieldDescriptor) -> bool:
    return field.message_type is not None and bool(field.message_type.GetOptions().map_entry)


# ---- Values, made from descriptors ----------------------------------------------------------------------------------

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
numbers = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
WELL_KNOWN: dict[str, st.SearchStrategy[Any]] = {
    "google.protobuf.Struct": st.dictionaries(texts, values, max_size=3),
    "google.protobuf.Value": values,
    "google.protobuf.Timestamp": st.integers(0, 2**42).map(codec.timestamp),
}
BOUNDS = {"page_size": st.integers(1, 100), "history_length": st.integers(0, 1000)}


@cache
def objects(descriptor: Descriptor) -> st.SearchStrategy[Any]:
    """JSON of a valid message, written as ProtoJSON writes it."""
    if descriptor.full_name in WELL_KNOWN:
        return WELL_KNOWN[descriptor.full_name]
    oneofs = [[field.name for field in oneof.fields] for oneof in descriptor.oneofs if len(oneof.fields) > 1]
    chosen = {name for names in oneofs for name in names}
    required = {f.json_name: fields(f) for f in descriptor.fields if is_required(f)}
    optional = {f.json_name: fields(f) for f in descriptor.fields if not is_required(f) and f.name not in chosen}
    rest = st.fixed_dictionaries(required, optional=optional)
    for names in oneofs:
        one = st.one_of(
            [
                st.fixed_dictionaries({field.json_name: fields(field)})
                for field in descriptor.fields
                if field.name in names
            ]
        )
        rest = st.builds(lambda some, other: {**some, **other}, one, rest)
    return rest


@cache
def requests_or_objects(name: str) -> st.SearchStrategy[Any]:
    """As ``objects``; a message that is sent is a user's, its ids aren't empty, its media types are such."""
    return objects(MESSAGES[name]).map(as_sent) if name == "SendMessageRequest" else objects(MESSAGES[name])


def as_sent(request: dict[str, Any]) -> dict[str, Any]:
    message = {key: value for key, value in request["message"].items() if value or key not in ("contextId", "taskId")}
    parts = [{**part, "mediaType": "text/x"} if "mediaType" in part else part for part in message["parts"]]
    return {**request, "message": {**message, "role": "ROLE_USER", "parts": parts}}


def fields(field: FieldDescriptor) -> st.SearchStrategy[Any]:
    if is_map(field):
        # An empty required map is printed by us and left out by protobuf: a test of its own.
        return st.dictionaries(texts, single(field.message_type.fields_by_name["value"]), min_size=1, max_size=2)
    one = st.deferred(lambda: single(field))
    if field.is_repeated:
        return st.lists(one, min_size=1 if is_required(field) else 0, max_size=2)
    return one


def single(field: FieldDescriptor) -> st.SearchStrategy[Any]:
    if field.message_type is not None:
        return objects(field.message_type)
    if field.enum_type is not None:
        return st.sampled_from([value.name for value in field.enum_type.values if value.number])
    if field.type == FieldDescriptor.TYPE_BYTES:
        return st.binary(max_size=5).map(codec.print_base64)
    if field.type == FieldDescriptor.TYPE_BOOL:
        return st.booleans()
    if field.type == FieldDescriptor.TYPE_INT32:
        return BOUNDS.get(field.name, st.integers(1, 2**31 - 1))
    return texts.filter(bool) if is_required(field) else texts


# ---- Comparing ------------------------------------------------------------------------------------------------------


def protobuf(name: str, obj: Any) -> ProtobufMessage:
    message: ProtobufMessage = json_format.ParseDict(obj, GetMessageClass(MESSAGES[name])())
    return message


def comparable(value: Any) -> Any:
    """JSON with every number a double, and times without the zeros that only we print."""
    if isinstance(value, dict):
        return {key: comparable(member) for key, member in value.items()}
    if isinstance(value, list):
        return [comparable(member) for member in value]
    if isinstance(value, str):
        return re.sub(r"^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.000Z$", r"\1Z", value)
    return float(value) if type(value) is int else value


# ---- Tests ----------------------------------------------------------------------------------------------------------


def test_every_message_of_the_proto_has_a_model() -> None:
    assert set(MODELS) == set(MESSAGES)
    assert len(MESSAGES) > 40


@EVERY_MESSAGE
def test_a_model_has_the_protos_fields_in_its_order_with_its_json_names_and_its_required_ones(name: str) -> None:
    ours = [(member.attribute, member.name, member.required) for member in MODELS[name].members]
    assert ours == [(field.name, field.json_name, is_required(field)) for field in MESSAGES[name].fields]


@EVERY_MESSAGE
@TRIES
@given(data=st.data())
def test_protobuf_reads_what_we_print(name: str, data: st.DataObject) -> None:
    obj = data.draw(requests_or_objects(name))
    theirs = protobuf(name, obj)
    wire = json.loads(codec.dumps(MODELS[name].parse(obj).wire()))
    assert protobuf(name, wire) == theirs
    assert comparable(json_format.MessageToDict(theirs)) == comparable(wire)


@EVERY_MESSAGE
@TRIES
@given(data=st.data(), snake=st.booleans(), integers=st.booleans(), defaults=st.booleans())
def test_we_read_what_protobuf_prints(
    name: str, data: st.DataObject, snake: bool, integers: bool, defaults: bool
) -> None:
    theirs = protobuf(name, data.draw(requests_or_objects(name)))
    assume(not (defaults and name in EMPTY_IS_WRONG))
    text = json_format.MessageToJson(
        theirs,
        preserving_proto_field_name=snake,
        use_integers_for_enums=integers,
        always_print_fields_with_no_presence=defaults,
    )
    ours = MODELS[name].parse(codec.loads(text))
    assert protobuf(name, ours.wire()) == theirs
    assert comparable(ours.wire()) == comparable(json_format.MessageToDict(theirs))


WRONG: list[Any] = [None, True, 0, -1, 1.5, 2**40, "", "x", "1e3", "é", [], [None], {}]


@EVERY_MESSAGE
@TRIES
@given(data=st.data())
def test_what_protobuf_refuses_we_refuse(name: str, data: st.DataObject) -> None:
    obj = data.draw(requests_or_objects(name))
    assume(obj)
    node, key = data.draw(st.sampled_from(list(places(obj))))
    node[key] = data.draw(st.sampled_from(WRONG))
    try:
        protobuf(name, obj)
    except json_format.ParseError:
        with pytest.raises(InvalidParamsError):
            MODELS[name].parse(obj)


def places(value: Any) -> Any:
    """Each place of a JSON value whose content can be replaced."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in members:
        yield value, key
        yield from places(member)
