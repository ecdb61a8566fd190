"""The Agent Card as the adopter wrote it: found, read and checked (A2A specification sections 4.4 and 4.5).

``card.yaml`` is the public card. ``extended_card.yaml`` beside it, where there is one, is laid over it for callers who
have said who they are: a member of it takes the place of the public card's, its skills and securitySchemes come beside
the public ones, and take the place of those of the same id or name.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from herald.bindings import card_rules
from herald.bindings.card_rules import EXTENDED_FILE, FILE, PUSH_EXTENSION, Complaint, JsonObject
from herald.protocol.card import AgentCard
from herald.protocol.errors import A2AError
from herald.protocol.media_types import media_range
from herald.protocol.protojson import camel
from herald.protocol.version import VERSION

_NOWHERE = {"url": "https://unknown.invalid", "protocolBinding": "JSONRPC", "protocolVersion": VERSION}


class CardError(Exception):
    """A card can't be used; the message names the file, each field and what is wrong with it."""


@dataclass(frozen=True, slots=True)
class WrittenCard:
    """The adopter's card, checked.

    Attributes:
        card: the public one as ProtoJSON, without what a deployment adds.
        modified: when the files were written, the later one, whole seconds since 1970.
        extended: the one for authenticated callers, whole; None when there is none.
    """

    card: Mapping[str, Any]
    modified: int
    extended: Mapping[str, Any] | None = None

    @property
    def push_notifications(self) -> bool:
        """Whether webhooks may be registered: yes, unless the card says no."""
        return self.card["capabilities"].get("pushNotifications", True) is not False

    @property
    def required_extensions(self) -> frozenset[str]:
        extensions = self.card["capabilities"].get("extensions", [])
        return frozenset(each["uri"] for each in extensions if each.get("required"))

    @property
    def extensions(self) -> tuple[str, ...]:
        """URIs of all extensions that the served card declares, in its order."""
        declared = [each.get("uri", "") for each in self.card["capabilities"].get("extensions", [])]
        return (*declared, PUSH_EXTENSION) if self.push_notifications else tuple(declared)

    @property
    def input_modes(self) -> tuple[str, ...]:
        """What a message's parts may be: the cards' own input modes and those of their skills, each once, as ranges."""
        modes = [mode for card in (self.card, self.extended) if card for mode in _input_modes(card)]
        return tuple(dict.fromkeys(each for each in map(media_range, modes) if each))


def _input_modes(card: Mapping[str, Any]) -> Iterator[str]:
    yield from card["defaultInputModes"]
    for skill in card["skills"]:
        yield from skill.get("inputModes", [])


def find() -> Path:
    """The card.yaml beside the adopter's package ``agent``, which isn't imported for it.

    Raises:
        CardError: there is none.
    """
    package = importlib.util.find_spec("agent")
    folders = list(package.submodule_search_locations or []) if package else []
    for folder in folders:
        if (path := Path(folder, FILE)).is_file():
            return path
    raise CardError(f"The agent layer has no agent/{FILE}: write one beside the agent's code, and deploy again.")


def load(path: Path) -> WrittenCard:
    """Read and check a card, and the extended one beside it.

    Raises:
        CardError: one of them isn't a valid card.
    """
    if not path.is_file():
        raise CardError(f"{FILE}: is missing; write one beside the agent's code")
    files = [each for each in (path, path.with_name(EXTENDED_FILE)) if each.is_file()]
    texts = [_text(each) for each in files]
    return read(*texts, modified=max(int(each.stat().st_mtime) for each in files))


def read(text: str, extended: str | None = None, *, modified: int) -> WrittenCard:
    """Check the text of a card, and of the extended one.

    Raises:
        CardError: one of them isn't a valid card.
    """
    public = parse(text, has_extended=extended is not None)
    return WrittenCard(public, modified, None if extended is None else parse_extended(extended, public))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise CardError(f"{path.name}: isn't UTF-8") from error


def parse(text: str, *, has_extended: bool = False) -> JsonObject:
    """Check the public card's YAML; its ProtoJSON, without what a deployment adds.

    Args:
        has_extended: whether there is an extended card.

    Raises:
        CardError: names the fields and what is wrong with them.
    """
    written = _mapping(text, FILE, "that begins with the agent's name and description")
    if written.get("capabilities") is None:
        written["capabilities"] = {}
    _raise_for(FILE, card_rules.of_the_file(written, has_extended=has_extended))
    card = _checked(FILE, written)
    _raise_for(FILE, card_rules.of_the_card(card))
    return card


def parse_extended(text: str, public: JsonObject) -> JsonObject:
    """Check the extended card's YAML and lay it over the public card; the whole of it.

    Raises:
        CardError: names the fields and what is wrong with them.
    """
    written = _mapping(text, EXTENDED_FILE, "of what authenticated callers see beside or instead of card.yaml")
    _raise_for(EXTENDED_FILE, card_rules.of_the_extended_file(written))
    laid = {**public, **written}
    for name in ("skills", "securitySchemes"):  # as they stand in the file, so that an error names their place there
        laid[name] = written.get(name) or public.get(name)
    card = _checked(EXTENDED_FILE, laid)
    card["securitySchemes"] = {**public.get("securitySchemes", {}), **card.get("securitySchemes", {})}
    _raise_for(EXTENDED_FILE, card_rules.of_the_card(card))
    skills = {skill["id"]: skill for skill in (*public["skills"], *card["skills"])}
    card["skills"] = list(skills.values())
    return card


def _mapping(text: str, name: str, words: str) -> JsonObject:
    """A file's members by their names in JSON."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times faster where PyYAML has it
    try:
        written = yaml.load(text, Loader=loader)  # noqa: S506 - either one is safe
    except yaml.YAMLError as error:
        raise CardError(f"{name}: isn't valid YAML: {error}") from error
    if not isinstance(written, dict) or not written:
        raise CardError(f"{name}: must be a mapping {words}")
    return {camel(str(member)): value for member, value in written.items()}


def _checked(name: str, written: JsonObject) -> JsonObject:
    """A card's ProtoJSON by the specification's own rules, and without a word that these don't know."""
    try:
        card = AgentCard.parse({**written, "supportedInterfaces": [_NOWHERE]}).wire()
    except A2AError as error:
        raise CardError(f"{name}: {error.message}") from error
    del card["supportedInterfaces"]
    _raise_for(name, card_rules.unknown(written, card))
    return card


def _raise_for(name: str, complaints: Iterator[Complaint]) -> None:
    if told := [f"{field}: {words}" for field, words in complaints]:
        raise CardError(f"{name}: {'; '.join(told)}")
