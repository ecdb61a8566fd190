"""How a message of a2a.proto becomes a pydantic model: the rules of ProtoJSON, once for all (sections 5.5 to 5.7).

In: camelCase and snake_case names, unknown members ignored, null as absent, enums by name or number, integers as text.
Out: camelCase, in the order of the proto, without what has its default value, except for what the proto calls REQUIRED.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from enum import Enum
from operator import attrgetter, methodcaller
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, NamedTuple, Self, TypeVar, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, FailFast, Field, PlainValidator, Strict, ValidationError, ValidationInfo
from pydantic import model_validator as _model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from herald.protocol.codec import MAX_DIGITS, ExactFloat, parse_base64, parse_timestamp, print_base64, timestamp
from herald.protocol.errors import FieldViolation, InvalidParamsError

MAX_LEVELS = 100  # of arrays and objects in one `data` or `metadata`

E = TypeVar("E", bound=Enum)
T = TypeVar("T")


def camel(name: str) -> str:
    """The JSON name of a field of the proto: ``oauth2_metadata_url`` is ``oauth2MetadataUrl``."""
    first, *rest = name.split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)


class Member(NamedTuple):
    """How one field is written."""

    attribute: str
    name: str
    required: bool  # always written
    presence: bool  # written unless it is None; else unless it is empty
    print: Callable[[Any], Any] | None


class Model(BaseModel):
    """A message of a2a.proto. Frozen; attributes have the proto's names; a field without a default is REQUIRED."""

    model_config = ConfigDict(
        frozen=True,
        extra="ignore",
        alias_generator=camel,
        validate_by_name=True,
        validate_by_alias=True,
        hide_input_in_errors=True,
        defer_build=True,  # a function builds the schemas of the messages that it reads, and no others
    )

    oneof: ClassVar[tuple[str, ...]] = ()
    """The fields of which exactly one is set."""

    choices: ClassVar[dict[str, str]] = {}
    """Both names of each field of the oneof, and the field that they mean."""

    members: ClassVar[tuple[Member, ...]] = ()
    """The fields in the order of the proto."""

    flags: ClassVar[frozenset[str]] = frozenset()
    """Both names of each field that is a boolean."""

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        hints = get_type_hints(cls, include_extras=True)
        cls.members = tuple(
            Member(
                attribute=name,
                name=field.alias or name,
                required=field.is_required(),
                presence=not field.is_required() and field.default is None,
                print=_printer(hints[name]),
            )
            for name, field in cls.model_fields.items()
        )
        cls.choices = {said: name for name in cls.oneof for said in (name, camel(name))}
        flags = [name for name in cls.model_fields if _is_flag(hints[name])]
        cls.flags = frozenset([*flags, *map(camel, flags)])
        _JSON_NAMES.update((member.attribute, member.name) for member in cls.members)

    @classmethod
    def parse(cls, obj: Any, at: str = "") -> Self:
        """Check what ``codec.loads`` gave and make it a model.

        Args:
            obj: an object in JSON's types.
            at: path of the object in the request, put before the paths of wrong fields.

        Raises:
            InvalidParamsError: it isn't a valid message; its violations name fields like ``message.parts[0].text``.
        """
        try:
            return cls.model_validate(obj, context=_FROM_JSON)
        except ValidationError as error:
            raise _invalid(error, at) from None

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> dict[str, Any]:
        """Query parameters for ``parse``: where a field is a boolean, ``true`` and ``false`` are (section 11.5)."""
        return {name: _TRUTH.get(text, text) if name in cls.flags else text for name, text in query.items()}

    def wire(self) -> dict[str, Any]:
        """The message as ProtoJSON, ready for ``codec.dumps``. Values of ``data`` and ``metadata`` are shared."""
        values = self.__dict__
        out: dict[str, Any] = {}
        for attribute, name, required, presence, to_json in self.members:
            value = values[attribute]
            if required or (value is not None if presence else value):
                out[name] = value if to_json is None else to_json(value)
        return out

    @_model_validator(mode="before")
    @classmethod
    def _read(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        if None in value.values():
            value = cls._without_nulls(value)
        if cls.oneof:
            choices = cls.choices
            if len({choices[name] for name in value if name in choices}) != 1:
                names = ", ".join(map(camel, cls.oneof))
                raise PydanticCustomError("oneof", "must have exactly one of {names}", {"names": names})
        return value

    @classmethod
    def _without_nulls(cls, value: dict[str, Any]) -> dict[str, Any]:
        return {name: member for name, member in value.items() if member is not None}


def one_of(kinds: type[E]) -> PlainValidator:
    """An enum of the proto by name or number; what it doesn't know, UNSPECIFIED included, is an error.

    The members stand in the order of their numbers, from 1. A number may be a text, which it is in a query.
    """
    known: dict[object, E] = {}
    for number, kind in enumerate(kinds, start=1):
        known[kind.value] = known[number] = known[str(number)] = kind
    names = ", ".join(str(kind.value) for kind in kinds)

    def read(value: Any) -> E:
        found = known.get(value) if isinstance(value, str) or type(value) is int else None
        if found is None:
            raise PydanticCustomError("enum", "must be one of {names}", {"names": names})
        return found

    return PlainValidator(read)


def _int32(value: Any) -> int:
    if isinstance(value, str):
        value = int(value) if _is_whole(value) else None
    elif isinstance(value, float) and math.isfinite(value) and value.is_integer():
        value = int(value)
    if type(value) is not int:
        raise PydanticCustomError("int", "must be an integer")
    if not -(2**31) <= value < 2**31:
        raise PydanticCustomError("int", "must be an integer of 32 bits")
    return value


def _is_whole(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) <= MAX_DIGITS


def _moment(*, up: bool) -> PlainValidator:
    def read(value: Any, info: ValidationInfo) -> int:
        if type(value) is int and info.context is not _FROM_JSON:  # our own code's, already in milliseconds
            return value
        if not isinstance(value, str):
            raise PydanticCustomError("time", "must be an RFC 3339 time like 2025-10-28T10:30:00.000Z")
        try:
            return parse_timestamp(value, up=up)
        except ValueError as error:
            raise PydanticCustomError("time", "{reason}", {"reason": str(error)}) from None

    return PlainValidator(read)


def _bytes(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    if not isinstance(value, str):
        raise PydanticCustomError("base64", "must be base64 text")
    try:
        return parse_base64(value)
    except ValueError as error:
        raise PydanticCustomError("base64", "{reason}", {"reason": str(error)}) from None


def _json_value(value: Any) -> Any:
    _check_json(value, MAX_LEVELS)
    return value


def _json_object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise PydanticCustomError("object", "must be an object")
    _check_json(value, MAX_LEVELS)
    return value


def _check_json(value: Any, levels: int) -> None:
    kind = type(value)
    if kind in _SCALARS:
        if kind is float and not math.isfinite(value):
            raise PydanticCustomError("json", "must not hold NaN or Infinity")
        return
    if not isinstance(value, (dict, list, tuple)):
        raise PydanticCustomError("json", "must hold JSON values only, not {kind}", {"kind": kind.__name__})
    if not levels:
        raise PydanticCustomError("json", "must not have more than {levels} levels", {"levels": MAX_LEVELS})
    if isinstance(value, dict):
        if not all(type(key) is str for key in value):
            raise PydanticCustomError("json", "must have strings as the keys of its objects")
        value = value.values()
    for member in value:
        if type(member) not in _PLAIN_SCALARS:
            _check_json(member, levels - 1)


class _Prints(NamedTuple):
    """Beside a type: how its value is written, where that isn't plain from the type."""

    function: Callable[[Any], Any]


# The types of fields. Filled and Some are for REQUIRED ones, which may not be empty. A list is read up to its first
# wrong item, so that a body of a million wrong ones costs no more than a body of one.
Many = Annotated[list[T], FailFast()]
Some = Annotated[list[T], FailFast(), Field(min_length=1)]
Text = Annotated[str, Strict()]
FilledText = Annotated[str, Strict(), Field(min_length=1)]
Flag = Annotated[bool, Strict()]
Int32 = Annotated[int, PlainValidator(_int32)]
Bytes = Annotated[bytes, PlainValidator(_bytes), _Prints(print_base64)]
Moment = Annotated[int, _moment(up=False), _Prints(timestamp)]  # milliseconds since 1970
MomentRoundedUp = Annotated[int, _moment(up=True), _Prints(timestamp)]
Json = Annotated[Any, PlainValidator(_json_value)]  # google.protobuf.Value
Struct = Annotated[dict[str, Any], PlainValidator(_json_object)]  # google.protobuf.Struct

_FROM_JSON = object()
_PLAIN_SCALARS = frozenset({str, int, bool, NoneType, ExactFloat})
_SCALARS = _PLAIN_SCALARS | {float}
_JSON_NAMES: dict[str, str] = {}
_TRUTH = {"true": True, "false": False}


def _is_flag(annotation: Any) -> bool:
    if get_origin(annotation) in (Annotated, Union, UnionType):
        return _is_flag(get_args(annotation)[0])
    return annotation is bool


def _printer(annotation: Any) -> Callable[[Any], Any] | None:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        told = next((mark.function for mark in arguments[1:] if isinstance(mark, _Prints)), None)
        return told or _printer(arguments[0])
    if origin in (Union, UnionType):
        return _printer(next(kind for kind in arguments if kind is not NoneType))
    if origin is list:
        return _each(_printer(arguments[0]))
    if origin is dict:
        return _each_value(_printer(arguments[1]))
    if isinstance(annotation, type) and issubclass(annotation, Model):
        return methodcaller("wire")
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return attrgetter("value")
    return None


def _each(to_json: Callable[[Any], Any] | None) -> Callable[[Any], Any] | None:
    return None if to_json is None else lambda values: [to_json(value) for value in values]


def _each_value(to_json: Callable[[Any], Any] | None) -> Callable[[Any], Any] | None:
    return None if to_json is None else lambda values: {key: to_json(value) for key, value in values.items()}


# pydantic's kinds of error in our words; what isn't here is one of our own validators, or said by pydantic well enough.
_WORDS = {
    "missing": "is required",
    "string_type": "must be a string",
    "string_unicode": "must be valid Unicode",
    "string_too_short": "must not be empty",
    "too_short": "must not be empty",
    "bool_type": "must be true or false",
    "list_type": "must be an array",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
}


def _invalid(error: ValidationError, at: str) -> InvalidParamsError:
    violations = [
        FieldViolation(_path(problem["loc"], at), _in_words(problem))
        for problem in error.errors(include_url=False, include_input=False)
    ]
    return InvalidParamsError(
        "; ".join(f"{each.field or 'the request'}: {each.description}" for each in violations), violations=violations
    )


def _path(steps: tuple[int | str, ...], at: str) -> str:
    path = at
    for step in steps:
        path += f"[{step}]" if isinstance(step, int) else ("." if path else "") + _JSON_NAMES.get(step, step)
    return path


def _in_words(problem: ErrorDetails) -> str:
    words = _WORDS.get(problem["type"])
    return problem["msg"] if words is None else words.format_map(problem.get("ctx", {}))
