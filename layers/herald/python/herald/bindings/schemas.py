"""JSON Schemas of the protocol's messages, made from their models: what OpenAPI documents of A2A refer to.

A schema says what a message looks like on the wire as ProtoJSON prints it: camelCase, enums by name, integers as
numbers, members that are unset left out. What Herald sends is always so; what it takes is wider (section 5.7), and
whatever fits the schema is taken.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from pydantic.fields import FieldInfo

from herald.protocol.codec import timestamp
from herald.protocol.protojson import Model, camel

JsonObject = dict[str, Any]

REF = "#/components/schemas/"

# Python's types as ProtoJSON prints them. A time is an int that says how it is printed.
_TYPES: dict[Any, JsonObject] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer", "format": "int32"},
    bytes: {"type": "string", "contentEncoding": "base64"},
    Any: {"description": "Any JSON value, null included."},
}
_TIME: JsonObject = {"type": "string", "format": "date-time"}
_BOUNDS = {"ge": "minimum", "le": "maximum"}


def reference(kind: type[Model] | type[Enum]) -> JsonObject:
    """A reference to the schema of a message or an enum."""
    return {"$ref": f"{REF}{kind.__name__}"}


def closure(kinds: Iterable[type[Model]]) -> JsonObject:
    """The schemas of these messages and of all that they refer to, by name."""
    found: dict[str, JsonObject] = {}
    waiting: list[Any] = list(kinds)
    while waiting:
        kind = waiting.pop()
        if kind.__name__ in found:
            continue
        if issubclass(kind, Enum):
            found[kind.__name__] = {
                "type": "string",
                "enum": [member.value for member in kind],
                "description": prose(kind),
            }
            continue
        found[kind.__name__] = message(kind)
        waiting += _named(kind)
    return dict(sorted(found.items()))


def message(kind: type[Model], without: Iterable[str] = ()) -> JsonObject:
    """The schema of one message.

    Args:
        without: JSON names of fields that are said elsewhere, like an id in the path.
    """
    fields = {name: schema for name, schema in properties(kind).items() if name not in without}
    required = [member.name for member in kind.members if member.required and member.name not in without]
    schema: JsonObject = {"type": "object", "description": prose(kind), "properties": fields}
    if required:
        schema["required"] = required
    if kind.oneof:
        schema["oneOf"] = [{"required": [camel(name)]} for name in kind.oneof]
    return schema


def properties(kind: type[Model]) -> JsonObject:
    """The schemas of a message's fields by their JSON names, in the order of the proto."""
    hints = get_type_hints(kind, include_extras=True)
    found = {}
    for member in kind.members:
        schema = _schema(hints[member.attribute])
        field = kind.model_fields[member.attribute]
        found[member.name] = _bounded(schema, field)
    return found


def prose(kind: type) -> str:
    """A docstring's first sentence: what follows is for who reads the code."""
    first = re.sub(r"\s+", " ", inspect.cleandoc(kind.__doc__ or "").partition("\n\n")[0])
    return re.split(r"(?<=[.])\s", first, maxsplit=1)[0].replace("``", "`")


def _schema(annotation: Any) -> JsonObject:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        marks = arguments[1:]
        if any(getattr(mark, "function", None) is timestamp for mark in marks):
            return _TIME
        schema = _schema(arguments[0])
        for mark in marks:
            if isinstance(mark, FieldInfo):
                schema = _bounded(schema, mark)
        return schema
    if origin in (Union, UnionType):  # of a field that may be unset: then it isn't written
        (kind,) = (each for each in arguments if each is not NoneType)
        return _schema(kind)
    if origin is list:
        return {"type": "array", "items": _schema(arguments[0])}
    if origin is dict:
        return {"type": "object"} if arguments[1] is Any else _map(arguments[1])
    if isinstance(annotation, type) and issubclass(annotation, (Model, Enum)):
        return reference(annotation)
    return _TYPES[annotation]


def _map(values: Any) -> JsonObject:
    return {"type": "object", "additionalProperties": _schema(values)}


def _bounded(schema: JsonObject, field: FieldInfo) -> JsonObject:
    bounds: JsonObject = {}
    for mark in field.metadata:
        for said, name in _BOUNDS.items():
            if (bound := getattr(mark, said, None)) is not None:
                bounds[name] = bound
        if shortest := getattr(mark, "min_length", None):
            bounds["minItems" if schema.get("type") == "array" else "minLength"] = shortest
    return {**schema, **bounds} if bounds else schema


def _named(kind: type[Model]) -> list[Any]:
    """The messages and enums that a message's fields are made of."""
    found: list[Any] = []
    waiting: list[Any] = list(get_type_hints(kind, include_extras=True).values())
    while waiting:
        annotation = waiting.pop()
        if isinstance(annotation, type) and not get_origin(annotation) and issubclass(annotation, (Model, Enum)):
            found.append(annotation)
        waiting += get_args(annotation)
    return found
