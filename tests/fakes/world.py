"""The outside world in memory: queue, executions, names, receivers, keys."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from fakes.clock import FakeClock
from fakes.faults import Faults
from herald.ports import Answer, Ring, TransportFailure, Unopenable
from herald.records import Doorbell, TaskRef

DEDUP_MS = 5 * 60_000


@dataclass(slots=True)
class Queued:
    """A doorbell in the queue. ``receipt`` is what hide and acknowledge take; ``receives`` counts its deliveries."""

    doorbell: Doorbell
    dedup: str
    receipt: str
    visible_at: int = 0
    receives: int = 0
    rung_at: int = 0


class FakeDoorbells(Faults):
    """A FIFO queue: order and one in flight per group (webhook key), deduplication within 5 minutes."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__()
        self._clock = clock
        self._seen: dict[str, int] = {}
        self._lose = 0
        self._double = 0
        self._received = 0
        self.queue: list[Queued] = []
        self.rings: list[Ring] = []  # everything that was rung, lost and doubled ones included
        self.hidden: list[tuple[str, int]] = []  # (receipt, seconds)
        self.flight_seconds = 180

    def lose_next(self, times: int = 1) -> None:
        """Let the next rings get lost though the ringer is told they weren't."""
        self._lose += times

    def double_next(self, times: int = 1) -> None:
        """Let the next rings arrive twice."""
        self._double += times

    def ring(self, rings: Sequence[Ring]) -> None:
        with self._call("ring"):
            for ring in rings:
                self.rings.append(ring)
                if self._lose:
                    self._lose -= 1
                    continue
                now = self._clock.now()
                if now - self._seen.get(ring.dedup, -DEDUP_MS) < DEDUP_MS:
                    continue
                self._seen[ring.dedup] = now
                copies = 1
                if self._double:
                    self._double -= 1
                    copies = 2
                self.queue += [Queued(ring.doorbell, ring.dedup, "", rung_at=now) for _ in range(copies)]

    def hide(self, receipt: str, seconds: int) -> None:
        with self._call("hide"):
            self.hidden.append((receipt, seconds))
            for queued in self.queue:
                if queued.receipt == receipt:
                    queued.visible_at = self._clock.now() + seconds * 1000

    def receive(self) -> Queued | None:
        """The next doorbell whose group isn't waiting, now in flight; None when there is none."""
        waiting: set[str] = set()
        for queued in self.queue:
            if queued.doorbell.key in waiting:
                continue
            if queued.visible_at > self._clock.now():
                waiting.add(queued.doorbell.key)
                continue
            self._received += 1
            queued.receipt = f"receipt-{self._received}"
            queued.receives += 1
            queued.visible_at = self._clock.now() + self.flight_seconds * 1000
            return queued
        return None

    def acknowledge(self, receipt: str) -> None:
        self.queue = [queued for queued in self.queue if queued.receipt != receipt]


class FakeLauncher(Faults):
    """Executions by name; a second start of the same turn is done, as with Step Functions."""

    def __init__(self) -> None:
        super().__init__()
        self.executions: dict[tuple[TaskRef, int, int], str] = {}

    @property
    def started(self) -> list[tuple[TaskRef, int]]:
        """Each execution once, in order: (task, turn)."""
        return [(ref, turn) for ref, turn, _ in self.executions]

    @property
    def stopped(self) -> list[tuple[TaskRef, int]]:
        return [(ref, turn) for (ref, turn, _), state in self.executions.items() if state == "stopped"]

    def start(self, ref: TaskRef, turn: int, opened_at: int) -> None:
        with self._call("start"):
            self.executions.setdefault((ref, turn, opened_at // 1000), "running")

    def stop(self, ref: TaskRef, turn: int, opened_at: int) -> None:
        with self._call("stop"):
            name = (ref, turn, opened_at // 1000)
            if name in self.executions:
                self.executions[name] = "stopped"


class FakeResolver(Faults):
    """Names as told; a host that isn't known has no address. Literal addresses resolve to themselves."""

    def __init__(self, hosts: Mapping[str, Sequence[str]] | None = None) -> None:
        super().__init__()
        self._hosts: dict[str, list[list[str]]] = {host: [list(found)] for host, found in (hosts or {}).items()}

    def set(self, host: str, *answers: Sequence[str]) -> None:
        """Answer these lists one after the other, the last one for ever: a name that changes its address."""
        self._hosts[host] = [list(answer) for answer in answers]

    def resolve(self, host: str, port: int, timeout: float) -> list[str]:
        with self._call("resolve"):
            if host not in self._hosts and (":" in host or host.replace(".", "").isdigit()):
                return [host]
            answers = self._hosts.get(host, [[]])
            found = answers.pop(0) if len(answers) > 1 else answers[0]
            if not found:
                raise TransportFailure("dns_error")
            return list(found)


@dataclass(frozen=True, slots=True)
class Post:
    """What a receiver got."""

    url: str
    address: str
    headers: dict[str, str]
    body: bytes
    seconds: float

    @property
    def event(self) -> dict[str, object]:
        parsed: dict[str, object] = json.loads(self.body)
        return parsed


Reply = int | Answer | BaseException | Callable[[Post], Answer]


def answer(status: int = 200, head: bytes = b"", **headers: str) -> Answer:
    """An answer of a receiver: ``answer(429, retry_after="7")``."""
    return Answer(status, {name.replace("_", "-").lower(): text for name, text in headers.items()}, head, 5)


class FakeTransport(Faults):
    """Receivers by URL with scripted replies; where a script is at its end (or there is none), they answer 200."""

    def __init__(self) -> None:
        super().__init__()
        self._scripts: dict[str, list[Reply]] = {}
        self.posts: list[Post] = []  # those that reached a receiver, whatever it answered

    def script(self, url: str, *replies: Reply) -> None:
        """What ``url`` replies next: a status, an Answer, an exception to be raised, or a function of the Post."""
        self._scripts.setdefault(url, []).extend(replies)

    def to(self, url: str) -> list[Post]:
        return [post for post in self.posts if post.url == url]

    def post(self, url: str, address: str, headers: Mapping[str, str], body: bytes, seconds: float) -> Answer:
        with self._call("post"):
            post = Post(url, address, dict(headers), body, seconds)
            self.posts.append(post)
            script = self._scripts.get(url)
            reply = script.pop(0) if script else 200
            if isinstance(reply, BaseException):
                raise reply
            if isinstance(reply, int):
                return answer(reply)
            return reply if isinstance(reply, Answer) else reply(post)


class FakeSigner(Faults):
    """Signatures that anyone can compute, so that a test can check what was signed."""

    def sign(self, tenant: str, message_id: str, second: int, body: bytes) -> list[str]:
        with self._call("sign"):
            return [fake_signature(tenant, message_id, second, body)]


def fake_signature(tenant: str, message_id: str, second: int, body: bytes) -> str:
    digest = hashlib.sha256(f"{tenant}.{message_id}.{second}.".encode() + body).digest()
    return f"v1a,{base64.b64encode(digest).decode()}"


class FakeSealer(Faults):
    """Readable by anyone, but bound to its place like the real one. ``version`` seals; those in ``gone`` open none."""

    def __init__(self) -> None:
        super().__init__()
        self.version = 1
        self.gone: set[int] = set()

    def seal(self, plain: str, place: str) -> str:
        with self._call("seal"):
            text = json.dumps([place, plain, self.version])
            return "fake." + base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")

    def open(self, sealed: str, place: str) -> str:
        with self._call("open"):
            return self._read(sealed, place)[0]

    def renewed(self, sealed: str, place: str) -> str:
        with self._call("renewed"):
            plain, version = self._read(sealed, place)
            return sealed if version >= self.version else self.seal(plain, place)

    def sealed_by(self, sealed: str) -> int:
        """The version that sealed a text."""
        return int(json.loads(base64.urlsafe_b64decode(sealed.removeprefix("fake.") + "=="))[2])

    def _read(self, sealed: str, place: str) -> tuple[str, int]:
        try:
            sealed_at, plain, version = json.loads(base64.urlsafe_b64decode(sealed.removeprefix("fake.") + "=="))
        except (ValueError, TypeError) as error:
            raise ValueError("this isn't a sealed text") from error
        if version in self.gone:
            raise Unopenable(f"version {version} of the sealing secret is gone")
        if sealed_at != place:
            raise Unopenable("this text was sealed for another place")
        return str(plain), int(version)
