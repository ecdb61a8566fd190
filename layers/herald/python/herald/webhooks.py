"""For receivers: check that a notification is genuine, and read it.

    from herald.webhooks import Jwks, VerificationError, verify

    keys = Jwks("https://agent.example/.well-known/jwks.json")  # one for the process: it keeps what it loaded

    try:
        notification = verify(raw_body, request_headers, jwks=keys)
    except VerificationError as error:
        ...  # answer 400; error.reason says why

Three profiles, one of which a receiver chooses when it registers its webhook:

- ``v1a`` of Standard Webhooks 1.0.0 (ed25519, by the sender's public keys): ``verify(…, jwks=…)``
- ``v1`` of Standard Webhooks 1.0.0 (HMAC-SHA256, by a ``whsec_`` secret of the receiver's own): ``verify(…, secret=…)``
- a JWT in the Authorization header (RS256, by the sender's public keys): ``verify_jwt(…, jwks=…, issuer=…)``

This module stands alone: it needs ``cryptography`` and the standard library, and is also built as the wheel
``herald-webhooks``. ``clients/js`` is the same in JavaScript; both are held by ``clients/vectors/vectors.json``.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import ipaddress
import json
import re
import threading
import time
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NoReturn
from urllib.parse import urlsplit

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey, RSAPublicNumbers
from cryptography.hazmat.primitives.hashes import SHA256

__all__ = ["Jwks", "Notification", "Reason", "VerificationError", "keys_from_jwks", "verify", "verify_jwt"]

TOLERANCE = 300  # seconds
MAX_SIGNATURES = 16  # more than any rotation needs; each costs a check
MAX_TOKEN = 8_192  # characters of a JWT: it is read before anybody has vouched for it
RSA_BITS = range(2_048, 8_193)

KEEP = 3_600  # seconds for which loaded keys are used without a question
KEEP_AT_MOST = 86_400  # seconds, when they can't be loaded anew: as long as two keys sign around a rotation
PAUSE = 60  # seconds between two loads, whatever anybody sends
PAUSE_AFTER_FAILURE = 5
LOAD_SECONDS = 5
MAX_JWKS = 65_536  # bytes
MAX_KEYS = 64

_ID = re.compile(r"[!-\-/-~]{1,256}")  # no full stop: it parts what is signed
_MESSAGE_ID = re.compile(r"msg_[A-Za-z0-9_-]+_([0-9]{12})")
_SECOND = re.compile(r"[0-9]{1,12}")
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
_BASE64URL = re.compile(r"[A-Za-z0-9_-]*")
_BLANKS = re.compile(r"[ \t]+")
_KINDS = frozenset({"task", "message", "statusUpdate", "artifactUpdate"})

Key = Ed25519PublicKey | str
JwkSet = Mapping[str, Any]
Fetch = Callable[[str], bytes]


class Reason(StrEnum):
    """Why a notification isn't accepted."""

    MISSING_HEADER = "missing_header"  # a header of the profile isn't there, or twice
    MALFORMED_HEADER = "malformed_header"
    TOO_OLD = "too_old"  # sent longer ago than the tolerance: perhaps a replay
    TOO_NEW = "too_new"  # from the future: look at this machine's clock
    UNKNOWN_KEY = "unknown_key"  # of a JWT: no RSA key of the set has its kid
    WRONG_SIGNATURE = "wrong_signature"  # no signature fits any key
    WRONG_CLAIMS = "wrong_claims"  # a genuine JWT, but not for this: another issuer, another task, a claim missing
    WRONG_BODY = "wrong_body"  # a genuine JWT, but the body isn't the one that was sent
    UNKNOWN_BODY = "unknown_body"  # genuine, but no A2A StreamResponse
    KEYS_UNAVAILABLE = "keys_unavailable"  # the sender's keys can't be loaded at the moment


class VerificationError(Exception):
    """A notification that must not be trusted; ``reason`` says why."""

    def __init__(self, reason: Reason, sentence: str) -> None:
        super().__init__(sentence)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Notification:
    """A genuine notification.

    ``id`` is equal on every attempt at the same notification: remember it, and skip what was seen. ``number`` grows
    along a webhook's notifications, with gaps; None where the id holds none. ``event`` is the StreamResponse (A2A
    specification section 4.3.3), a JSON object with the one member ``kind``.
    """

    id: str
    timestamp: int  # seconds since 1970, of this attempt; a JWT's is a few seconds early
    number: int | None
    kind: str  # "task", "message", "statusUpdate" or "artifactUpdate"
    event: dict[str, Any]

    @property
    def content(self) -> dict[str, Any]:
        """The Task, Message, TaskStatusUpdateEvent or TaskArtifactUpdateEvent."""
        content: dict[str, Any] = self.event[self.kind]
        return content

    @property
    def task_id(self) -> str:
        """The task that it is about; "" for a message outside a task."""
        told = self.content.get("id" if self.kind == "task" else "taskId")
        return told if isinstance(told, str) else ""


def verify(
    body: bytes,
    headers: Mapping[str, str],
    *,
    jwks: Jwks | JwkSet | None = None,
    keys: Iterable[Key] = (),
    secret: str | Sequence[str] = (),
    tolerance: int = TOLERANCE,
    now: float | None = None,
) -> Notification:
    """Check a notification's ``webhook-signature``, and read it. One signature that fits one key makes it genuine.

    Args:
        body: as received, byte for byte; parsed and printed again, it wouldn't fit.
        headers: of the request, in any case.
        jwks: the sender's published keys: a ``Jwks`` with their address, or a set that was loaded already.
        keys: public keys, as Ed25519PublicKey or ``whpk_…`` text.
        secret: the ``whsec_…`` secret that was registered as the webhook's token; several during its rotation.
        tolerance: seconds by which the sender's time may differ from ``now``.
        now: seconds since 1970; this machine's time when left out.

    Raises:
        VerificationError: it must not be trusted.
        TypeError: ``body`` isn't bytes.
        ValueError: there is no key, or one that can't be read.
    """
    raw = _raw(body)
    public = [_public_key(key) for key in keys]
    secrets = [_secret_key(text) for text in ([secret] if isinstance(secret, str) else secret)]
    if jwks is not None and not isinstance(jwks, Jwks):
        public += keys_from_jwks(jwks)
    if not public and not secrets and not isinstance(jwks, Jwks):
        raise ValueError("verify needs a key: jwks, keys or secret")
    told = _found(headers, "webhook-id", "webhook-timestamp", "webhook-signature")
    message_id, second, signatures = _signed(told)
    _check_time(second, _now(now), tolerance)
    content = f"{message_id}.{told['webhook-timestamp']}.".encode() + raw
    if _fits(signatures, content, public, secrets):
        return _read(message_id, second, raw)
    if isinstance(jwks, Jwks):
        for loaded in _sets(jwks):
            if _fits(signatures, content, keys_from_jwks(loaded), ()):
                return _read(message_id, second, raw)
    raise VerificationError(Reason.WRONG_SIGNATURE, "no signature of the notification fits any of the keys")


def verify_jwt(
    body: bytes,
    headers: Mapping[str, str],
    *,
    jwks: Jwks | JwkSet,
    issuer: str | None,
    tolerance: int = TOLERANCE,
    now: float | None = None,
) -> Notification:
    """Check the JWT in a notification's Authorization header, and read it.

    The JWT is signed with RS256 by the key that its ``kid`` names. Its claims are ``iat``, ``exp`` and ``iss``, ``jti``
    (the webhook-id), ``taskId`` (of the body's task) and ``request_body_sha256`` (of the body's bytes, in hex). It has
    no ``aud``: the issuer tells one tenant's tokens from another's, and the task against those that you know the rest.

    Args:
        body: as received, byte for byte.
        headers: of the request, in any case.
        jwks: the sender's published keys: a ``Jwks`` with their address, or a set that was loaded already.
        issuer: what ``iss`` must be: the agent's address, followed by ``/`` and the tenant if there is one. None for
            any whose key is in ``jwks``.
        tolerance: seconds by which ``iat`` may differ from ``now``; ``exp`` ends it, too.
        now: seconds since 1970; this machine's time when left out.

    Raises:
        VerificationError: it must not be trusted.
        TypeError: ``body`` isn't bytes.
        ValueError: ``jwks`` is no JWK set.
    """
    raw = _raw(body)
    if not isinstance(jwks, Jwks):
        _listed(jwks)
    token = _Token.read(_found(headers, "authorization")["authorization"])
    _check_token(token, jwks)
    claims = _claims(token.payload)
    _check_claims(claims, issuer)
    _check_time(claims["iat"], _now(now), tolerance)
    if claims["exp"] <= _now(now):
        raise VerificationError(Reason.TOO_OLD, "the notification's token has expired")
    if hashlib.sha256(raw).hexdigest() != claims["request_body_sha256"]:
        raise VerificationError(Reason.WRONG_BODY, "the body isn't the one that the token was made for")
    told_id = _value(headers, "webhook-id")
    if told_id and told_id != claims["jti"]:
        _wrong_claim("jti", "isn't the webhook-id")
    notification = _read(claims["jti"], int(claims["iat"]), raw)
    if notification.task_id != claims["taskId"]:
        _wrong_claim("taskId", "isn't the task in the body")
    return notification


def keys_from_jwks(jwks: JwkSet) -> list[Ed25519PublicKey]:
    """The Ed25519 keys of a JWK set (RFC 7517, RFC 8037); keys of other kinds are passed over.

    Raises:
        ValueError: it is no JWK set, or one of its Ed25519 keys is damaged.
    """
    return [
        _ed25519(_base64url(key.get("x")))
        for key in _listed(jwks)
        if key.get("kty") == "OKP" and key.get("crv") == "Ed25519"
    ]


class Jwks:
    """The sender's published keys, by their address. Make one, keep it, and give it to ``verify`` or ``verify_jwt``.

    Keys are loaded when they are first needed and kept for an hour; when they can't be loaded anew then, the old ones
    do for a day. What fits no key makes it load them anew, since the sender may have a new one, but never twice within
    a minute, whatever anybody sends (5 s after a load that failed).

    Threads may share it. Loading blocks for some seconds at most: in an asynchronous server, call ``verify`` as
    ``await asyncio.to_thread(verify, body, headers, jwks=keys)``.
    """

    def __init__(
        self,
        url: str,
        *,
        fetch: Fetch | None = None,
        clock: Callable[[], float] = time.monotonic,
        allow_loopback: bool = False,
    ) -> None:
        """Nothing is loaded yet.

        Args:
            url: the address of the JWK set: from the Agent Card, or from whoever runs the agent; never from a
                notification. https.
            fetch: gets the bytes at an address; the standard library's way when left out, without redirects.
            clock: seconds that never go back.
            allow_loopback: whether ``http`` to this very machine will do, for tests.

        Raises:
            ValueError: the address won't do.
        """
        _check_address(url, allow_loopback=allow_loopback)
        self._url = url
        self._fetch = fetch or _get
        self._clock = clock
        self._lock = threading.Lock()
        self._loaded: tuple[JwkSet, float] | None = None  # the set, and when it came
        self._not_before = clock()  # the next load

    def current(self) -> JwkSet:
        """The keys to try first. Raises VerificationError when there are none."""
        if (fresh := self._younger_than(KEEP)) is not None:
            return fresh  # nobody waits here while another thread loads
        with self._lock:
            failure = None
            if self._younger_than(KEEP) is None and self._clock() >= self._not_before:
                failure = self._load()
            if (usable := self._younger_than(KEEP_AT_MOST)) is not None:
                return usable
        sentence = "the sender's keys can't be loaded at the moment"
        raise VerificationError(Reason.KEYS_UNAVAILABLE, sentence) from failure

    def newer(self, tried: JwkSet) -> JwkSet | None:
        """The keys to try when ``tried`` didn't do; None when there are none, or it isn't time to look yet."""
        with self._lock:
            if self._loaded is not None and self._loaded[0] is not tried:
                return self._loaded[0]
            if self._clock() < self._not_before or self._load() is not None or self._loaded is None:
                return None
            return self._loaded[0]

    def _younger_than(self, seconds: float) -> JwkSet | None:
        loaded = self._loaded
        return loaded[0] if loaded is not None and self._clock() < loaded[1] + seconds else None

    def _load(self) -> Exception | None:
        """Load the keys; what went wrong, if anything did, and the old ones stay."""
        try:
            found = _parsed(self._fetch(self._url))
        except Exception as error:
            self._not_before = self._clock() + PAUSE_AFTER_FAILURE
            return error
        now = self._clock()
        self._loaded = (found, now)
        self._not_before = now + PAUSE
        return None


def _sets(jwks: Jwks | JwkSet) -> Iterator[JwkSet]:
    """The sets to try one after the other."""
    if not isinstance(jwks, Jwks):
        yield jwks
        return
    current = jwks.current()
    yield current
    newer = jwks.newer(current)
    if newer is not None:
        yield newer


# ------------------------------------------------------------------------------------------------ loading keys ----


def _check_address(url: str, *, allow_loopback: bool) -> None:
    parts = urlsplit(url)
    if parts.scheme == "https" and parts.hostname and "@" not in parts.netloc:
        return
    if allow_loopback and parts.scheme == "http" and _is_loopback(parts.hostname or ""):
        return
    raise ValueError("the address of a JWK set must be https, or http to this machine with allow_loopback=True")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _get(url: str) -> bytes:
    """By the standard library, with the environment's proxies. A redirect is an error, since it could lead anywhere."""
    opener = urllib.request.OpenerDirector()
    for handler in (urllib.request.ProxyHandler, urllib.request.HTTPSHandler, urllib.request.HTTPHandler):
        opener.add_handler(handler())
    request = urllib.request.Request(url, headers={"Accept": "application/jwk-set+json, application/json"})  # noqa: S310 - https, see _check_address
    end = time.monotonic() + 2 * LOAD_SECONDS
    found = b""
    with opener.open(request, timeout=LOAD_SECONDS) as answer:
        if answer.status != 200:
            raise ValueError(f"the address of the JWK set answered {answer.status}")
        while len(found) <= MAX_JWKS and (piece := answer.read1(MAX_JWKS)):
            found += piece
            if time.monotonic() > end:
                raise TimeoutError("the keys came too slowly")
    return found


def _parsed(text: bytes) -> JwkSet:
    """A JWK set that can be used. Raises ValueError, RecursionError."""
    if len(text) > MAX_JWKS:
        raise ValueError("the JWK set is too long")
    found: JwkSet = json.loads(text)
    if len(_listed(found)) > MAX_KEYS:
        raise ValueError("the JWK set holds too many keys")
    keys_from_jwks(found)
    return found


# ----------------------------------------------------------------------------------------------------- headers ----


def _raw(body: bytes) -> bytes:
    if not isinstance(body, bytes | bytearray):
        raise TypeError("verify needs the raw body as bytes, not parsed JSON and not text")
    return bytes(body)


def _value(headers: Mapping[str, str], name: str) -> str:
    """A header's value; "" when it isn't there."""
    values = [value for told, value in headers.items() if told.lower() == name]
    if len(values) > 1:
        raise VerificationError(Reason.MISSING_HEADER, f"the header {name} is there twice")
    return values[0] if values else ""


def _found(headers: Mapping[str, str], *names: str) -> dict[str, str]:
    found = {name: _value(headers, name) for name in names}
    for name, value in found.items():
        if not value:
            raise VerificationError(Reason.MISSING_HEADER, f"the header {name} is missing")
    return found


def _malformed(sentence: str) -> NoReturn:
    raise VerificationError(Reason.MALFORMED_HEADER, sentence)


# -------------------------------------------------------------------------------------------- webhook-signature ----


def _signed(headers: Mapping[str, str]) -> tuple[str, int, list[tuple[str, bytes]]]:
    """Id, second and signatures, each as (version, bytes); signatures of unknown versions are passed over."""
    if not _ID.fullmatch(headers["webhook-id"]):
        _malformed("webhook-id holds something else than visible ASCII, or a full stop, or too much")
    if not _SECOND.fullmatch(headers["webhook-timestamp"]):
        _malformed("webhook-timestamp isn't a whole number of seconds")
    signatures = []
    for token in _BLANKS.split(headers["webhook-signature"].strip(" \t"))[:MAX_SIGNATURES]:
        version, comma, text = token.partition(",")
        if not comma:
            _malformed("webhook-signature isn't a list of version,base64")
        if version not in ("v1", "v1a"):
            continue
        if not _BASE64.fullmatch(text):
            _malformed("webhook-signature holds text that isn't base64")
        signatures.append((version, base64.b64decode(text)))
    return headers["webhook-id"], int(headers["webhook-timestamp"]), signatures


def _now(now: float | None) -> float:
    return time.time() if now is None else now


def _check_time(second: float, now: float, tolerance: int) -> None:
    if second < now - tolerance:
        raise VerificationError(Reason.TOO_OLD, f"the notification was sent {now - second:.0f} s ago")
    if second > now + tolerance:
        raise VerificationError(Reason.TOO_NEW, f"the notification comes from {second - now:.0f} s in the future")


def _fits(
    signatures: Iterable[tuple[str, bytes]],
    content: bytes,
    keys: Sequence[Ed25519PublicKey],
    secrets: Sequence[bytes],
) -> bool:
    """Whether one of the signatures is made by one of the keys of its own kind."""
    for version, signature in signatures:
        if version == "v1a":
            if any(_is_signed_by(key, signature, content) for key in keys):
                return True
        elif any(
            hmac.compare_digest(hmac.new(secret, content, hashlib.sha256).digest(), signature) for secret in secrets
        ):
            return True
    return False


def _is_signed_by(key: Ed25519PublicKey | RSAPublicKey, signature: bytes, content: bytes) -> bool:
    try:
        if isinstance(key, RSAPublicKey):
            key.verify(signature, content, PKCS1v15(), SHA256())
        else:
            key.verify(signature, content)
    except InvalidSignature:
        return False
    return True


# --------------------------------------------------------------------------------------------------------- JWT ----


@dataclass(frozen=True, slots=True)
class _Token:
    kid: str
    signed: bytes
    signature: bytes
    payload: bytes

    @classmethod
    def read(cls, authorization: str) -> _Token:
        scheme, _, text = authorization.partition(" ")
        if scheme.lower() != "bearer":
            _malformed("the Authorization header isn't of the scheme Bearer")
        text = text.strip(" ")
        parts = text.split(".")
        if len(text) > MAX_TOKEN or len(parts) != 3:
            _malformed("the Authorization header holds no JWT")
        head, payload, signature = (_base64url(part) for part in parts)
        header = _object(head)
        if head is None or payload is None or signature is None or header is None:
            _malformed("the Authorization header holds no JWT")
        if header.get("alg") != "RS256":
            _malformed("the token isn't signed with RS256")
        if "crit" in header:
            _malformed("the token's header asks for what isn't known here")
        kid = header.get("kid")
        if not isinstance(kid, str) or not kid:
            _malformed("the token names no key")
        return cls(kid, f"{parts[0]}.{parts[1]}".encode(), signature, payload)


def _check_token(token: _Token, jwks: Jwks | JwkSet) -> None:
    """Hold the token's signature against the keys. A new set is asked for where its key isn't known, and not else."""
    for keys in _sets(jwks):
        found = _rsa_keys(keys, token.kid)
        if any(_is_signed_by(key, token.signature, token.signed) for key in found):
            return
        if found:
            raise VerificationError(Reason.WRONG_SIGNATURE, "the token's signature doesn't fit its key")
    raise VerificationError(Reason.UNKNOWN_KEY, "no RSA key of the set has the token's kid")


def _rsa_keys(jwks: JwkSet, kid: str) -> list[RSAPublicKey]:
    """The keys of this name that RS256 may use; others are passed over."""
    found = []
    for key in _listed(jwks):
        usable = key.get("kty") == "RSA" and key.get("use", "sig") == "sig" and key.get("alg", "RS256") == "RS256"
        if usable and key.get("kid") == kid:
            modulus, exponent = (int.from_bytes(_base64url(key.get(name)) or b"") for name in ("n", "e"))
            if modulus.bit_length() in RSA_BITS and modulus % 2 and 3 <= exponent < 2**32 and exponent % 2:
                found.append(RSAPublicNumbers(exponent, modulus).public_key())
    return found


def _claims(payload: bytes) -> dict[str, Any]:
    claims = _object(payload)
    if claims is None:
        _malformed("the token holds no claims")
    return claims


def _check_claims(claims: Mapping[str, Any], issuer: str | None) -> None:
    """What can be said of them without the time and the body. They are the sender's: the signature was checked."""
    for name in ("iat", "exp"):
        value = claims.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 10**12:
            _wrong_claim(name, "is missing, or isn't a number of seconds")
    for name in ("iss", "jti", "taskId", "request_body_sha256"):
        if not isinstance(claims.get(name), str) or (not claims[name] and name != "taskId"):
            _wrong_claim(name, "is missing, or isn't text")
    if "aud" in claims:
        _wrong_claim("aud", "names somebody: it wasn't made for notifications")
    if issuer is not None and claims["iss"] != issuer:
        _wrong_claim("iss", "isn't the issuer that is expected")


def _wrong_claim(name: str, sentence: str) -> NoReturn:
    raise VerificationError(Reason.WRONG_CLAIMS, f"the token's {name} {sentence}")


# -------------------------------------------------------------------------------------------------------- JSON ----


def _object(text: bytes | None) -> dict[str, Any] | None:
    """A JSON object (RFC 8259: UTF-8, no NaN); None for anything else."""
    if text is None:
        return None
    try:
        found = json.loads(text.decode(), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} isn't JSON")


def _read(message_id: str, second: int, body: bytes) -> Notification:
    event = _object(body)
    kinds = [name for name in event if name in _KINDS] if event is not None else []
    if event is None or len(kinds) != 1 or not isinstance(event[kinds[0]], dict):
        raise VerificationError(Reason.UNKNOWN_BODY, "the body isn't an A2A StreamResponse")
    match = _MESSAGE_ID.fullmatch(message_id)
    return Notification(message_id, second, int(match[1]) if match else None, kinds[0], event)


# -------------------------------------------------------------------------------------------------------- keys ----


def _listed(jwks: JwkSet) -> list[Mapping[str, Any]]:
    listed = jwks.get("keys") if isinstance(jwks, Mapping) else None
    if not isinstance(listed, list):
        raise ValueError('a JWK set is an object with an array "keys"')  # noqa: TRY004 - a wrong value of a right type
    return [key for key in listed if isinstance(key, Mapping)]


def _public_key(key: Key) -> Ed25519PublicKey:
    if isinstance(key, Ed25519PublicKey):
        return key
    if not key.startswith("whpk_"):
        raise ValueError("a public key is an Ed25519PublicKey or whpk_ and base64")
    return _ed25519(_unpadded(key.removeprefix("whpk_")))


def _secret_key(text: str) -> bytes:
    key = _unpadded(text.removeprefix("whsec_"))
    if not 24 <= len(key) <= 64:
        raise ValueError("a secret is whsec_ and base64 of 24 to 64 bytes")
    return key


def _unpadded(text: str) -> bytes:
    """Base64 with or without its padding; what can't be read is empty, and refused by its length."""
    bare = text.rstrip("=")
    padded = bare + "=" * (-len(bare) % 4)
    return base64.b64decode(padded) if _BASE64.fullmatch(padded) else b""


def _base64url(text: Any) -> bytes | None:
    """As JWTs and JWKs write it, without padding; None for anything else."""
    if not isinstance(text, str) or not _BASE64URL.fullmatch(text) or len(text) % 4 == 1:
        return None
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _ed25519(raw: bytes | None) -> Ed25519PublicKey:
    if raw is None or len(raw) != 32:
        raise ValueError("an Ed25519 public key is 32 bytes, in base64")
    return Ed25519PublicKey.from_public_bytes(raw)
