"""The Agent Card: what the adopter wrote, completed by what this deployment is (specification sections 4.4 and 8)."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from herald.bindings.gateway import AuthMode
from herald.delivery import retry
from herald.protocol.card import AgentCard
from herald.protocol.errors import A2AError
from herald.protocol.media_types import media_range
from herald.protocol.version import VERSION

FILE = "card.yaml"
PUSH_EXTENSION = "urn:herald:extensions:signed-push:v1"

# Herald knows these itself, and a card that says otherwise would be wrong.
_OURS = ("supportedInterfaces", "supported_interfaces", "signatures")
_UNSUPPORTED = ("streaming", "extendedAgentCard", "extended_agent_card")
_NOWHERE = {"url": "https://unknown.invalid", "protocolBinding": "JSONRPC", "protocolVersion": VERSION}
_SIGV4 = "awsSigV4"
_HEADER_VALUE = re.compile(r"[!-+.-~-]+")  # one of a list in a header


class CardError(Exception):
    """The deployed card.yaml can't be used; the message names the file, the field and what is wrong with it."""


@dataclass(frozen=True, slots=True)
class WrittenCard:
    """The adopter's card, checked.

    Attributes:
        card: its ProtoJSON.
        modified: when the file was written, whole seconds since 1970.
    """

    card: Mapping[str, Any]
    modified: int

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
        """What a message's parts may be: the card's own input modes and those of its skills, each once, as ranges."""
        skills = [mode for skill in self.card["skills"] for mode in skill.get("inputModes", [])]
        ranges = [media_range(mode) for mode in (*self.card["defaultInputModes"], *skills)]
        return tuple(dict.fromkeys(each for each in ranges if each))


@dataclass(frozen=True, slots=True)
class Deployment:
    """What the card says about this deployment."""

    auth: AuthMode
    region: str
    webhook_seconds: float
    webhooks_per_task: int


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
    """Read and check a card.

    Raises:
        CardError: it isn't a valid card.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise CardError(f"{path.name} isn't UTF-8") from error
    return WrittenCard(parse(text, path.name), int(path.stat().st_mtime))


def parse(text: str, name: str = FILE) -> dict[str, Any]:
    """Check a card's YAML; its ProtoJSON, without what a deployment adds.

    Raises:
        CardError: names the field and what is wrong with it.
    """
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times faster where PyYAML has it
    try:
        written = yaml.load(text, Loader=loader)  # noqa: S506 - either one is safe
    except yaml.YAMLError as error:
        raise CardError(f"{name} isn't valid YAML: {error}") from error
    if not isinstance(written, dict):
        raise CardError(f"{name} must be a mapping that begins with the agent's name and description")
    for field in _OURS:
        if field in written:
            raise CardError(f"{name}: {field} is filled in by Herald: leave it out")
    capabilities = written.get("capabilities") or {}
    for field in _UNSUPPORTED:
        if isinstance(capabilities, dict) and capabilities.get(field):
            raise CardError(f"{name}: capabilities.{field} isn't offered by this version of Herald: leave it out")
    try:
        card = AgentCard.parse({**written, "capabilities": capabilities, "supportedInterfaces": [_NOWHERE]})
    except A2AError as error:
        raise CardError(f"{name}: {error.message}") from error
    for complaint in _unusable(card):
        raise CardError(f"{name}: {complaint}")
    return card.wire()


def _unusable(card: AgentCard) -> Iterator[str]:
    """What no request could meet: input modes that no part can have, and extensions that no header can name."""
    modes = {f"defaultInputModes[{number}]": mode for number, mode in enumerate(card.default_input_modes)}
    for place, skill in enumerate(card.skills):
        modes |= {f"skills[{place}].inputModes[{number}]": mode for number, mode in enumerate(skill.input_modes)}
    for field, mode in modes.items():
        if media_range(mode) is None:
            yield f"{field}: must be a media type like text/plain, or a range like image/* or */*"
    for number, extension in enumerate(card.capabilities.extensions):
        if not _HEADER_VALUE.fullmatch(extension.uri):
            yield f"capabilities.extensions[{number}].uri: must be a URI in ASCII, without spaces and commas"


def complete(written: WrittenCard, base_url: str, deployment: Deployment) -> dict[str, Any]:
    """The card as it is served at ``base_url``."""
    capabilities = dict(written.card["capabilities"])
    extensions = list(capabilities.pop("extensions", []))
    capabilities |= {
        "streaming": False,
        "pushNotifications": written.push_notifications,
        "extendedAgentCard": False,
    }
    if written.push_notifications:
        extensions.append(push_extension(base_url, deployment))
    if extensions:
        capabilities["extensions"] = extensions
    card = {
        **written.card,
        "supportedInterfaces": [
            {"url": f"{base_url}/", "protocolBinding": "JSONRPC", "protocolVersion": VERSION},
            {"url": base_url, "protocolBinding": "HTTP+JSON", "protocolVersion": VERSION},
        ],
        "capabilities": capabilities,
    }
    if deployment.auth == "iam":
        card["securitySchemes"] = {**card.get("securitySchemes", {}), _SIGV4: _sigv4(deployment.region)}
        card["securityRequirements"] = [{"schemes": {_SIGV4: {}}}]
    return card


def push_extension(base_url: str, deployment: Deployment) -> dict[str, Any]:
    """How notifications are signed and repeated, as the card announces it; docs/webhooks.md explains it."""
    return {
        "uri": PUSH_EXTENSION,
        "description": "Notifications are signed, delivered in order, at least once, and repeated on failure.",
        "params": {
            "specification": "Standard Webhooks 1.0.0",
            "headers": {
                "id": "webhook-id",
                "timestamp": "webhook-timestamp",
                "signature": "webhook-signature",
                "token": ["X-A2A-Notification-Token", "A2A-Notification-Token"],
            },
            "algorithms": {
                "v1a": "ed25519, public keys at jwksUrl",
                "v1": "hmac-sha256, where the token is whsec_ and the receiver's own key in base64",
            },
            "jwksUrl": f"{base_url}/.well-known/jwks.json",
            "toleranceSeconds": 300,
            "timeoutSeconds": deployment.webhook_seconds,
            "retryAfterSeconds": list(retry.DELAYS),
            "attempts": retry.MAX_ATTEMPTS,
            "webhooksPerTask": deployment.webhooks_per_task,
        },
    }


def _sigv4(region: str) -> dict[str, Any]:
    return {
        "apiKeySecurityScheme": {
            "description": f"AWS Signature Version 4, service execute-api, region {region}.",
            "location": "header",
            "name": "Authorization",
        }
    }
