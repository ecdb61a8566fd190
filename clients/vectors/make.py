"""What the verifiers in Python and in JavaScript must both say: writes vectors.json, from fixed keys.

    python -m clients.vectors.make

A case is one request: ``profile`` names the function ("signature": verify, "jwt": verify_jwt), ``options`` are its
arguments (``jwks`` names one of ``sets``), and ``expect`` is what it reads, or a reason, or "mistake" for an error that
is the caller's. A walk is what becomes of a Jwks in time: at each step, so many seconds after it was made, its address
answers with one of ``sets`` (or with a text that is none, or not at all: null), a case is verified with it, and
``loads`` is how often the address has been asked since the beginning.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from clients.vectors import keys
from clients.vectors.keys import base64url
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256, SHA512

FILE = Path(__file__).with_name("vectors.json")

NOW = 1_767_225_600
ID = "msg_kaaaaaaaaaaaaaaaaaaaaaaaaa_000000000007"
TASK = "mzxw6ytboi4dgnbvgy3tqojqmf"
ISSUER = "https://agent.example"
EVENT = (
    '{"statusUpdate":{"taskId":"' + TASK + '","contextId":"c-1","status":{"state":"TASK_STATE_WORKING",'
    '"timestamp":"2026-01-01T00:00:00.000Z"},"metadata":{"é":"✓ 𝄞","share":1.10}}}'
)
SECRET = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3"
NEW_SECRET = "whsec_" + base64.b64encode(bytes(range(64))).decode()
ODD_SECRET = "whsec_" + base64.b64encode(bytes(range(100, 125))).decode()  # ends with ==

Case = dict[str, Any]
Claims = dict[str, Any]

CURRENT = keys.ed25519_jwk(keys.ED25519_CURRENT, "ed-1")
NEXT = keys.ed25519_jwk(keys.ED25519_NEXT, "ed-2")
RSA_CURRENT = keys.rsa_jwk(keys.RSA_CURRENT, "rsa-1")
RSA_NEXT = keys.rsa_jwk(keys.RSA_NEXT, "rsa-2")
CARD = keys.card_jwk(keys.CARD, "card-1")

SETS: dict[str, Any] = {
    "published": {"keys": [CURRENT, CARD, RSA_CURRENT]},
    "rotating": {"keys": [CURRENT, NEXT, RSA_CURRENT, RSA_NEXT, CARD]},
    "rotated": {"keys": [NEXT, RSA_NEXT, CARD]},
    "other kinds": {
        "keys": [
            {"kty": "OKP", "crv": "X25519", "x": "AAAA"},
            {"kty": "oct", "k": "AAAA", "kid": "rsa-1"},
            {"kty": "XYZ"},
            "no key at all",
            {**CARD, "kid": "rsa-1"},
            {**RSA_CURRENT, "n": "AQAB", "kid": "damaged"},
            {**RSA_CURRENT, "n": base64url((1 << 2_047).to_bytes(256)), "kid": "damaged"},
            {**RSA_CURRENT, "n": 7, "e": None, "kid": "damaged"},
            CURRENT,
            RSA_CURRENT,
        ]
    },
    "card's alone": {"keys": [CARD]},
    "empty": {"keys": []},
    "no set": {},
    "damaged": {"keys": [{**CURRENT, "x": "AAAA"}]},
    "weak": {"keys": [keys.rsa_jwk(keys.RSA_WEAK, "rsa-1")]},
    "for encryption": {"keys": [{**RSA_CURRENT, "use": "enc"}]},
    "for PS256": {"keys": [{**RSA_CURRENT, "alg": "PS256"}]},
    "without use": {"keys": [{name: RSA_CURRENT[name] for name in ("kty", "kid", "n", "e")}]},
    "another's": {"keys": [{**RSA_NEXT, "kid": "rsa-1"}]},
    "two of a name": {"keys": [{**RSA_NEXT, "kid": "rsa-1"}, RSA_CURRENT]},
    "too many": {"keys": [{**CARD, "kid": f"card-{number}"} for number in range(65)]},
}


def b64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def compact(told: object) -> str:
    return json.dumps(told, ensure_ascii=False, separators=(",", ":"))


def content(body: bytes, second: int | str, message_id: str) -> bytes:
    return f"{message_id}.{second}.".encode() + body


def v1a(
    body: str | bytes = EVENT,
    second: int | str = NOW,
    message_id: str = ID,
    key: Ed25519PrivateKey = keys.ED25519_CURRENT,
) -> str:
    return "v1a," + b64(key.sign(content(_bytes(body), second, message_id)))


def v1(body: str | bytes = EVENT, second: int | str = NOW, message_id: str = ID, secret: str = SECRET) -> str:
    key = base64.b64decode(secret.removeprefix("whsec_"))
    return "v1," + b64(hmac.new(key, content(_bytes(body), second, message_id), hashlib.sha256).digest())


def _bytes(body: str | bytes) -> bytes:
    return body if isinstance(body, bytes) else body.encode()


def signed(signature: str, second: int | str = NOW, message_id: str = ID) -> dict[str, str]:
    return {"webhook-id": message_id, "webhook-timestamp": str(second), "webhook-signature": signature}


def case(
    name: str,
    expect: str | dict[str, Any],
    headers: dict[str, str] | list[tuple[str, str]],
    body: str | bytes = EVENT,
    profile: str = "signature",
    **options: Any,
) -> Case:
    raw = _bytes(body)
    try:
        written = {"body": raw.decode()}
    except UnicodeDecodeError:
        written = {"bodyBase64": b64(raw)}
    return {
        "name": name,
        "profile": profile,
        "headers": [list(pair) for pair in (headers.items() if isinstance(headers, dict) else headers)],
        **written,
        "options": {"now": NOW, **options},
        "expect": expect,
    }


def read(**changes: Any) -> dict[str, Any]:
    return {"id": ID, "timestamp": NOW, "number": 7, "kind": "statusUpdate", "taskId": TASK, **changes}


# ------------------------------------------------------------------------------------------------ signatures ----


def genuine_signatures() -> Iterator[Case]:
    known: dict[str, Any] = {"jwks": "published"}
    yield case("v1a, by the published keys", read(), signed(v1a()), **known)
    yield case("v1a, by a key as text", read(), signed(v1a()), keys=["whpk_" + b64(_public(keys.ED25519_CURRENT))])
    yield case("v1, by the receiver's secret", read(), signed(v1()), secret=[SECRET])
    yield case("v1, by a secret without its padding", read(), signed(v1(secret=ODD_SECRET)), secret=[ODD_SECRET[:-2]])
    yield case("v1, by a secret without its prefix", read(), signed(v1()), secret=[SECRET.removeprefix("whsec_")])
    both = signed(f"{v1a()} {v1()}")
    yield case("both, by the published keys", read(), both, **known)
    yield case("both, by the secret", read(), both, secret=[SECRET])
    yield case("both, by either", read(), both, secret=[SECRET], **known)
    yield case("header names in any case", read(), {name.upper(): text for name, text in both.items()}, **known)
    yield case("blanks around and between", read(), signed(f"  {v1()} \t  {v1a()} "), **known)
    yield case(
        "versions that aren't known are passed over", read(), signed(f"v2,!? v1b, {v1(second=1)} {v1a()}"), **known
    )
    rotating = signed(f"{v1a(key=keys.ED25519_NEXT)} {v1a()}")
    for name in ("published", "rotating", "rotated"):
        yield case(f"rotation: both keys sign, the receiver knows the keys {name}", read(), rotating, jwks=name)
    for name, secrets in {"old": [SECRET], "new": [NEW_SECRET], "both": [NEW_SECRET, SECRET]}.items():
        told = signed(f"{v1(secret=NEW_SECRET)} {v1()}")
        yield case(f"rotation of secrets: the receiver knows the {name}", read(), told, secret=secrets)
    yield case("rotation of secrets: one signs", read(), signed(v1()), secret=[NEW_SECRET, SECRET])
    yield case("the sixteenth signature", read(), signed(" ".join([v1a(second=1)] * 15 + [v1a()])), **known)
    yield case("keys of other kinds stand between", read(), signed(v1a()), jwks="other kinds")
    for second in (NOW - 300, NOW + 300):
        yield case(f"sent at {second}", read(timestamp=second), signed(v1a(second=second), second), **known)
    yield case(
        "a shorter tolerance", read(timestamp=NOW - 60), signed(v1a(second=NOW - 60), NOW - 60), **known, tolerance=60
    )
    yield case("a clock with fractions", read(), signed(v1a()), **{**known, "now": NOW + 299.5})
    for kind, event in {
        "task": {"id": TASK, "contextId": "c-1", "status": {"state": "TASK_STATE_COMPLETED"}},
        "artifactUpdate": {"taskId": TASK, "artifact": {"artifactId": "a-1", "parts": [{"text": "x"}]}},
    }.items():
        body = compact({kind: event})
        yield case(f"a notification of the kind {kind}", read(kind=kind), signed(v1a(body)), body, **known)
    body = compact({"message": {"messageId": "m-1", "role": "ROLE_AGENT", "parts": [{"text": "hi"}]}})
    yield case("a message outside a task", read(kind="message", taskId=""), signed(v1a(body)), body, **known)
    body = compact({"task": {"id": 7}})
    yield case("a task without an id", read(kind="task", taskId=""), signed(v1a(body)), body, **known)
    body = ' {"newer": null, "task" : {"id":"' + TASK + '"} }\n'
    yield case("printed otherwise, with a member that isn't known", read(kind="task"), signed(v1a(body)), body, **known)
    for other in ("msg_p5jXN8AQM9LWM0D4loKWxJek", "evt-1", "7", ID + "0"):
        told = signed(v1a(message_id=other), message_id=other)
        yield case(f"the id {other}", read(id=other, number=None), told, **known)


def wrong_signatures() -> Iterator[Case]:
    known: dict[str, Any] = {"jwks": "published"}
    reserialised = json.dumps(json.loads(EVENT), ensure_ascii=False, separators=(",", ":"))
    for name, body in {
        "a blank more": EVENT + " ",
        "parsed and printed again": reserialised,
        "printed with blanks": json.dumps(json.loads(EVENT)),
        "another state": EVENT.replace("WORKING", "COMPLETED"),
        "cut off": EVENT[:-1],
        "empty": "",
    }.items():
        yield case(f"the body: {name}", "wrong_signature", signed(v1a()), body, **known)
        yield case(f"the body, by v1: {name}", "wrong_signature", signed(v1()), body, secret=[SECRET])
    yield case("another id", "wrong_signature", signed(v1a(), message_id=ID.replace("7", "8")), **known)
    yield case("another time", "wrong_signature", signed(v1a(), NOW + 1), **known)
    yield case("the same time, written otherwise", "wrong_signature", signed(v1a(), f"0{NOW}"), **known)
    for name, signature in {
        "by another key": v1a(key=keys.ED25519_OTHER),
        "of zeros": "v1a," + b64(bytes(64)),
        "a byte short": "v1a," + b64(bytes(63)),
        "a byte long": "v1a," + b64(base64.b64decode(v1a()[4:]) + b"\0"),
        "empty": "v1a,",
        "v1a called v1": v1a().replace("v1a,", "v1,"),
        "v1a called v2": v1a().replace("v1a,", "v2,"),
        "of versions in capitals": v1a().replace("v1a,", "V1A,"),
        "v1, whose secret isn't known": v1(),
        "v1, made with the public key": "v1,"
        + b64(hmac.new(_public(keys.ED25519_CURRENT), content(EVENT.encode(), NOW, ID), hashlib.sha256).digest()),
        "the seventeenth": " ".join([v1a(second=1)] * 16 + [v1a()]),
    }.items():
        yield case(f"a signature {name}", "wrong_signature", signed(signature), **known)
    for name, signature in {
        "by another secret": v1(secret=NEW_SECRET),
        "of zeros": "v1," + b64(bytes(32)),
        "a byte short": "v1," + b64(base64.b64decode(v1()[3:])[:-1]),
        "empty": "v1,",
        "v1a, whose key isn't known": v1a(),
    }.items():
        yield case(f"by v1, a signature {name}", "wrong_signature", signed(signature), secret=[SECRET])
    yield case("signed with keys that are gone", "wrong_signature", signed(v1a()), jwks="rotated")


def wrong_headers() -> Iterator[Case]:
    known: dict[str, Any] = {"jwks": "published"}
    for name in signed(v1a()):
        rest = {other: text for other, text in signed(v1a()).items() if other != name}
        yield case(f"without {name}", "missing_header", rest, **known)
        yield case(f"{name} is empty", "missing_header", {**rest, name: ""}, **known)
        pairs = [*signed(v1a()).items(), (name.title(), signed(v1a())[name])]
        yield case(f"{name} is there twice", "missing_header", pairs, **known)
    for second in ("now", "1.5", "-1", "+1", f" {NOW}", f"{NOW}\n", "٣", "9" * 13, "1e9", "0x1"):
        yield case(f"the timestamp {second!a}", "malformed_header", signed(v1a(), second), **known)
    for signature in (
        "v1a",
        "v1a:AAAA",
        "v1a,!!!!",
        "v1a,AAA",
        "v1a,AA==AA",
        "v1a,a,b",
        "v1,AAAA=",
        " ",
        f"{v1a()},",
        f"v1a {v1a()}",
        "v1a,AA-_",
    ):
        shown = signature.replace(v1a(), "<genuine>")
        yield case(f"the signature {shown!r}", "malformed_header", signed(signature), **known)
    # What is signed is id.timestamp.body: with a full stop in the id, one signature would do for two notifications.
    told = signed(v1a(message_id="msg.1", second=NOW), message_id="msg.1")
    yield case("an id with a full stop", "malformed_header", told, **known)
    for name, other in {"a blank": "msg 1", "another script": "msg_é", "too much": "m" * 257}.items():
        yield case(f"an id with {name}", "malformed_header", signed(v1a(message_id=other), message_id=other), **known)


def wrong_times() -> Iterator[Case]:
    known: dict[str, Any] = {"jwks": "published"}
    yield case("sent 301 s ago", "too_old", signed(v1a(second=NOW - 301), NOW - 301), **known)
    yield case("sent 300.5 s ago", "too_old", signed(v1a()), **{**known, "now": NOW + 300.5})
    yield case("sent in 1970", "too_old", signed(v1a(second=0), 0), **known)
    yield case("sent in 301 s", "too_new", signed(v1a(second=NOW + 301), NOW + 301), **known)
    yield case("sent in milliseconds", "too_new", signed(v1a(second="999999999999"), "999999999999"), **known)
    yield case(
        "older than a shorter tolerance", "too_old", signed(v1a(second=NOW - 61), NOW - 61), **known, tolerance=60
    )
    yield case("old, and signed by nobody", "too_old", signed("v1a,", NOW - 301), **known)


def unknown_bodies() -> Iterator[Case]:
    for body in (
        "",
        "[]",
        "7",
        "null",
        "not json",
        "{}",
        '{"id":"t"}',
        '{"task":[]}',
        '{"task":null}',
        '{"task":"t"}',
        '{"task":{},"message":{}}',
        '{"task":{"id":NaN}}',
        '\ufeff{"task":{}}',
        "{'task':{}}",
    ):
        yield case(f"genuine, but {body!a}", "unknown_body", signed(v1a(body)), body, jwks="published")
    for raw in (b"\xff", b'{"task":{"id":"\xe9"}}', '{"task":{}}'.encode("utf-16")):
        yield case(f"genuine, but the bytes {raw!r}", "unknown_body", signed(v1a(raw)), raw, jwks="published")


def mistakes() -> Iterator[Case]:
    given: dict[str, dict[str, Any]] = {
        "no key": {},
        "a set of none": {"jwks": "empty"},
        "a set without an Ed25519 key": {"jwks": "card's alone"},
        "no set": {"jwks": "no set"},
        "a damaged key": {"jwks": "damaged"},
        "a short key as text": {"keys": ["whpk_AAAA"]},
        "a key in another form": {"keys": ["MCowBQYDK2VwAyEA"]},
        "no secret": {"secret": [""]},
        "a short secret": {"secret": ["whsec_" + b64(bytes(23))]},
        "a long secret": {"secret": ["whsec_" + b64(bytes(65))]},
        "a secret that isn't base64": {"secret": ["whsec_" + "!" * 32]},
    }
    for name, options in given.items():
        yield case(f"the receiver gives {name}", "mistake", signed(v1a()), **options)
    yield case("the receiver gives no set for a JWT", "mistake", bearer(), profile="jwt", jwks="no set", issuer=None)


# ------------------------------------------------------------------------------------------------------- JWT ----


def claims(body: str | bytes = EVENT, /, **changes: Any) -> Claims:
    """As the sender makes them. A change to None leaves a claim out."""
    told = {
        "iat": NOW - 5,
        "exp": NOW + 295,
        "iss": ISSUER,
        "jti": ID,
        "taskId": TASK,
        "request_body_sha256": hashlib.sha256(_bytes(body)).hexdigest(),
        **changes,
    }
    return {name: value for name, value in told.items() if value is not None}


def jwt(
    told: Claims | str | None = None,
    key: rsa.RSAPrivateKey = keys.RSA_CURRENT,
    head: dict[str, Any] | str | None = None,
    **header: Any,
) -> str:
    """A token, whose header ``header`` changes; a change to None leaves a member out."""
    made = {"alg": "RS256", "typ": "JWT", "kid": "rsa-1", **header}
    made = {name: value for name, value in made.items() if value is not None}
    written = head if isinstance(head, str) else compact(made)
    payload = told if isinstance(told, str) else compact(claims() if told is None else told)
    text = f"{base64url(written.encode())}.{base64url(payload.encode())}"
    return f"{text}.{base64url(_signature(made['alg'], key, text.encode()))}"


def _signature(algorithm: str, key: rsa.RSAPrivateKey, text: bytes) -> bytes:
    if algorithm == "none":
        return b""
    if algorithm == "HS256":  # with what everybody knows, as if it were a secret
        public = key.public_key().public_numbers()
        return hmac.new(public.n.to_bytes(256), text, hashlib.sha256).digest()
    if algorithm == "ES256":
        r, s = decode_dss_signature(keys.CARD.sign(text, ECDSA(SHA256(), deterministic_signing=True)))
        return r.to_bytes(32) + s.to_bytes(32)
    return key.sign(text, PKCS1v15(), SHA512() if algorithm == "RS512" else SHA256())


def bearer(token: str | None = None, message_id: str = ID, scheme: str = "Bearer") -> dict[str, str]:
    """The headers of the JWT profile; its requests are signed with v1a besides, which is another matter."""
    return {"authorization": f"{scheme} {jwt() if token is None else token}", "webhook-id": message_id}


def jwt_case(
    name: str, expect: str | dict[str, Any], headers: dict[str, str] | list[tuple[str, str]], **how: Any
) -> Case:
    return case(f"JWT: {name}", expect, headers, **{"profile": "jwt", "jwks": "published", "issuer": ISSUER, **how})


def genuine_tokens() -> Iterator[Case]:
    got = read(timestamp=NOW - 5)
    yield jwt_case("by the published keys", got, bearer())
    foreign = bearer(jwt(claims(iss="https://other.example")))
    yield jwt_case("of any issuer", got, foreign, issuer=None)
    yield jwt_case("with the scheme in another case", got, bearer(scheme="bEARER"))
    yield jwt_case("after more blanks", got, bearer(scheme="Bearer  "))
    yield jwt_case("without the webhook-id beside it", got, {"Authorization": bearer()["authorization"]})
    yield jwt_case("with v1a beside it", got, {**signed(v1a()), **bearer()})
    yield jwt_case("with v1a of nobody beside it", got, {**signed("v1a,AAAA"), **bearer()})
    yield jwt_case("without typ", got, bearer(jwt(typ=None)))
    yield jwt_case("with claims that aren't known", got, bearer(jwt(claims(sub="x", nonce=1))))
    yield jwt_case("with a time in fractions", got, bearer(jwt(claims(iat=NOW - 4.5))))
    for kid, key in {"rsa-1": keys.RSA_CURRENT, "rsa-2": keys.RSA_NEXT}.items():
        yield jwt_case(f"rotation: {kid} signs", got, bearer(jwt(key=key, kid=kid)), jwks="rotating")
    for name in ("other kinds", "without use", "two of a name"):
        yield jwt_case(f"by the keys {name}", got, bearer(), jwks=name)
    edge = claims(iat=NOW - 299, exp=NOW + 1)
    yield jwt_case("sent 299 s ago", read(timestamp=NOW - 299), bearer(jwt(edge)))
    edge = claims(iat=NOW - 300, exp=NOW + 1)
    yield jwt_case("sent 300 s ago, and not expired", read(timestamp=NOW - 300), bearer(jwt(edge)))
    edge = claims(iat=NOW + 300, exp=NOW + 600)
    yield jwt_case("sent in 300 s", read(timestamp=NOW + 300), bearer(jwt(edge)))
    body = compact({"task": {"id": TASK, "status": {"state": "TASK_STATE_COMPLETED"}}})
    yield jwt_case("of a task", read(kind="task", timestamp=NOW - 5), bearer(jwt(claims(body))), body=body)
    body = compact({"message": {"messageId": "m-1"}})
    told = claims(body, taskId="")
    yield jwt_case("outside a task", read(kind="message", taskId="", timestamp=NOW - 5), bearer(jwt(told)), body=body)
    told = claims(jti="evt.1")
    yield jwt_case(
        "with an id of another form", read(id="evt.1", number=None, timestamp=NOW - 5), bearer(jwt(told), "evt.1")
    )


def wrong_tokens() -> Iterator[Case]:
    yield jwt_case("none", "missing_header", signed(v1a()))
    yield jwt_case("an empty header", "missing_header", {"authorization": ""})
    twice = [("authorization", bearer()["authorization"]), ("Authorization", bearer()["authorization"])]
    yield jwt_case("twice", "missing_header", twice)
    head, payload, signature = jwt().split(".")
    for name, header in {
        "another scheme": f"Basic {jwt()}",
        "no scheme": jwt(),
        "a scheme alone": "Bearer",
        "credentials that are no token": "Bearer s3cret",
        "two parts": f"Bearer {head}.{payload}",
        "four parts": f"Bearer {jwt()}.",
        "padding": f"Bearer {head}.{payload}.{signature}==",
        "text that isn't base64url": f"Bearer {head}.{payload}.+/{signature}",
        "text of an impossible length": f"Bearer {head}.{payload}.A",
        "a blank within": f"Bearer {head}. {payload}.{signature}",
        "no header": f"Bearer .{payload}.{signature}",
        "another token behind a comma": f"Bearer {jwt()}, Bearer {jwt()}",
        "a header that isn't JSON": f"Bearer {jwt(head='no')}",
        "a header that is a list": f"Bearer {jwt(head='[]')}",
        "a header that never ends": f"Bearer {jwt(head='[' * 5_000)}",
        "more than 8 kB": f"Bearer {jwt(claims(more='x' * 8_192))}",
    }.items():
        yield jwt_case(name, "malformed_header", {"authorization": header, "webhook-id": ID})
    for name, token in {
        "alg none": jwt(alg="none"),
        "alg None, with a signature": jwt(head='{"alg":"None","kid":"rsa-1"}'),
        "HS256 with the public key": jwt(alg="HS256"),
        "ES256 with the card's key": jwt(alg="ES256", kid="card-1"),
        "RS512": jwt(alg="RS512"),
        "no alg": jwt(head='{"kid":"rsa-1"}'),
        "a header that asks for more": jwt(crit=["b64"], b64=False),
        "no kid": jwt(kid=None),
        "an empty kid": jwt(kid=""),
        "a kid that isn't text": jwt(kid=1),
        "claims that aren't JSON": jwt("no"),
        "claims that are a list": jwt("[]"),
    }.items():
        yield jwt_case(name, "malformed_header", bearer(token))
    for name, token, jwks in (
        ("a kid that isn't published", jwt(key=keys.RSA_NEXT, kid="rsa-2"), "published"),
        ("a kid that isn't published any more", jwt(), "rotated"),
        ("the kid of the card's key", jwt(kid="card-1"), "published"),
        ("the kid of an Ed25519 key", jwt(kid="ed-1"), "published"),
        ("a key of 1024 bits", jwt(key=keys.RSA_WEAK), "weak"),
        ("a damaged key", jwt(kid="damaged"), "other kinds"),
        ("a key for encryption", jwt(), "for encryption"),
        ("a key for another algorithm", jwt(), "for PS256"),
        ("a set of none", jwt(), "empty"),
    ):
        yield jwt_case(name, "unknown_key", bearer(token), jwks=jwks)
    forged = base64url(compact(claims(iss="https://evil.example")).encode())
    for name, token, jwks in (
        ("another key under a known kid", jwt(key=keys.RSA_NEXT), "published"),
        ("another's key is published under its kid", jwt(), "another's"),
        ("other claims", f"{head}.{forged}.{signature}", "published"),
        (
            "another header",
            f"{base64url(compact({'kid': 'rsa-1', 'alg': 'RS256'}).encode())}.{payload}.{signature}",
            "published",
        ),
        ("a signature of zeros", f"{head}.{payload}.{base64url(bytes(256))}", "published"),
        ("no signature", f"{head}.{payload}.", "published"),
    ):
        yield jwt_case(name, "wrong_signature", bearer(token), jwks=jwks)


def wrong_claims() -> Iterator[Case]:
    for name in claims():
        yield jwt_case(f"no {name}", "wrong_claims", bearer(jwt(claims(**{name: None}))))
    for name, value in (
        ("iat", str(NOW)),
        ("iat", True),
        ("iat", -1),
        ("iat", 1e12),
        ("exp", [NOW]),
        ("exp", str(NOW)),
        ("iss", ""),
        ("iss", [ISSUER]),
        ("jti", ""),
        ("jti", 7),
        ("taskId", ["x"]),
        ("request_body_sha256", 7),
        ("aud", "https://client.example"),
        ("aud", []),
    ):
        yield jwt_case(f"{name} is {value!r}", "wrong_claims", bearer(jwt(claims(**{name: value}))))
    for issuer in ("https://other.example", f"{ISSUER}/", f"{ISSUER}/acme", ISSUER.upper(), ""):
        yield jwt_case(f"not of the issuer {issuer!r}", "wrong_claims", bearer(), issuer=issuer)
    yield jwt_case("another webhook-id beside it", "wrong_claims", bearer(message_id=ID.replace("7", "8")))
    yield jwt_case("another task in the body", "wrong_claims", bearer(jwt(claims(taskId="other"))))
    yield jwt_case("no task in the body", "wrong_claims", bearer(jwt(claims('{"message":{}}'))), body='{"message":{}}')
    for name, told in {
        "sent 301 s ago": claims(iat=NOW - 301, exp=NOW + 300),
        "expired this second": claims(exp=NOW),
        "sent 300 s ago, as the sender makes it": claims(iat=NOW - 300, exp=NOW),
        "expired before it was issued": claims(exp=0),
    }.items():
        yield jwt_case(name, "too_old", bearer(jwt(told)))
    yield jwt_case("older than a shorter tolerance", "too_old", bearer(jwt(claims(iat=NOW - 61))), tolerance=60)
    yield jwt_case(
        "expired, whatever the tolerance", "too_old", bearer(jwt(claims(iat=NOW - 301, exp=NOW - 1))), tolerance=600
    )
    yield jwt_case("sent in 301 s", "too_new", bearer(jwt(claims(iat=NOW + 301, exp=NOW + 601))))
    reserialised = json.dumps(json.loads(EVENT), ensure_ascii=False, separators=(",", ":"))
    for name, body in {"a blank more": EVENT + " ", "parsed and printed again": reserialised, "empty": ""}.items():
        yield jwt_case(f"the body: {name}", "wrong_body", bearer(), body=body)
    digest = hashlib.sha256(EVENT.encode()).hexdigest().upper()
    yield jwt_case("a digest in capitals", "wrong_body", bearer(jwt(claims(request_body_sha256=digest))))
    yield jwt_case("genuine, but no event", "unknown_body", bearer(jwt(claims("{}"))), body="{}")


# ------------------------------------------------------------------------------------------------------ walks ----


def walks() -> Iterator[dict[str, Any]]:
    """Each step: (seconds, what the address answers, the case, what is expected, loads so far)."""
    ed, ed_next = "v1a, by the published keys", "signed with the next key"
    token, token_next = "JWT: by the published keys", "JWT: rotation: rsa-2 signs"
    forged, forged_token = "a signature by another key", "JWT: another key under a known kid"
    ok, wrong, unknown, none = "accepted", "wrong_signature", "unknown_key", "keys_unavailable"
    table: dict[str, list[tuple[int, str | None, str, str, int]]] = {
        "keys are loaded when they are needed, and kept for an hour": [
            (0, "published", ed, ok, 1),
            (1, None, token, ok, 1),
            (3_599, None, ed, ok, 1),
            (3_600, "published", ed, ok, 2),
        ],
        "a new key is looked for at once, where a minute has passed": [
            (0, "published", ed, ok, 1),
            (59, "rotating", ed_next, wrong, 1),
            (60, "rotating", ed_next, ok, 2),
            (61, None, ed, ok, 2),
        ],
        "a new kid is looked for at once, where a minute has passed": [
            (0, "published", token, ok, 1),
            (59, "rotating", token_next, unknown, 1),
            (60, "rotating", token_next, ok, 2),
            (61, None, token, ok, 2),
        ],
        "forgeries load once a minute": [
            (0, "published", forged, wrong, 1),
            (1, "published", forged, wrong, 1),
            (60, "published", forged, wrong, 2),
            (61, "published", forged, wrong, 2),
            (119, "published", token_next, unknown, 2),
            (120, "published", token_next, unknown, 3),
        ],
        "a wrong signature of a known kid loads nothing": [
            (0, "published", token, ok, 1),
            (600, "rotating", forged_token, wrong, 1),
        ],
        "what is refused without a key loads nothing": [
            (0, "published", "sent 301 s ago", "too_old", 0),
            (0, "published", "JWT: alg none", "malformed_header", 0),
        ],
        "without keys nothing is accepted, and they are looked for every 5 s": [
            (0, None, ed, none, 1),
            (4, "published", ed, none, 1),
            (5, None, token, none, 2),
            (9, "published", token, none, 2),
            (10, "published", token, ok, 3),
        ],
        "an old set does for a day": [
            (0, "published", ed, ok, 1),
            (3_600, None, ed, ok, 2),
            (3_604, "rotated", ed, ok, 2),
            (3_605, None, token, ok, 3),
            (86_399, None, ed, ok, 4),
            (86_400, None, ed, none, 4),
            (86_404, None, ed, none, 5),
            (86_409, "published", ed, ok, 6),
        ],
        "a look for a new key that fails changes nothing": [
            (0, "published", ed, ok, 1),
            (60, None, ed_next, wrong, 2),
            (61, None, ed, ok, 2),
            (65, "rotating", ed_next, ok, 3),
        ],
        "a key that is gone doesn't do any more": [
            (0, "published", ed, ok, 1),
            (60, "rotated", forged, wrong, 2),
            (61, "rotated", ed, wrong, 2),
        ],
        "what is no set, or a damaged one, or too much of one, is none": [
            (0, "no set", ed, none, 1),
            (5, "damaged", ed, none, 2),
            (10, "too many", ed, none, 3),
            (15, "not JSON", ed, none, 4),
            (20, "[" * 10_000, ed, none, 5),
            (25, '{"keys":[]}' + " " * 65_536, ed, none, 6),
            (30, "empty", ed, wrong, 7),
            (90, "published", ed, ok, 8),
        ],
        "a damaged set leaves the old one": [
            (0, "published", ed, ok, 1),
            (3_600, "damaged", ed, ok, 2),
        ],
        "the receiver's own secret needs no key of the sender's": [
            (0, None, "both, by the secret", ok, 0),
        ],
    }
    for name, steps in table.items():
        yield {
            "name": name,
            "steps": [
                {"at": at, "answer": answer, "case": which, "expect": expect, "loads": loads}
                for at, answer, which, expect, loads in steps
            ],
        }


def _public(key: Ed25519PrivateKey) -> bytes:
    return key.public_key().public_bytes_raw()


def vectors() -> dict[str, Any]:
    parts = [
        genuine_signatures(),
        wrong_signatures(),
        wrong_headers(),
        wrong_times(),
        unknown_bodies(),
        mistakes(),
        genuine_tokens(),
        wrong_tokens(),
        wrong_claims(),
        [case("signed with the next key", read(), signed(v1a(key=keys.ED25519_NEXT)), jwks="rotating")],
    ]
    return {
        "about": "Made by clients/vectors/make.py, which says how to read it. Its keys are everybody's.",
        "sets": SETS,
        "cases": [each for part in parts for each in part],
        "walks": list(walks()),
    }


def text() -> str:
    """The file: one case a line, so that a change of one is a change of one line."""
    made = vectors()
    lines = [f'  "about": {json.dumps(made["about"])}']
    for name, told in made.items():
        if isinstance(told, dict):
            inside = ",\n".join(f"    {json.dumps(key)}: {json.dumps(value)}" for key, value in told.items())
            lines.append(f'  "{name}": {{\n{inside}\n  }}')
        elif isinstance(told, list):
            inside = ",\n".join(f"    {json.dumps(value)}" for value in told)
            lines.append(f'  "{name}": [\n{inside}\n  ]')
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
