"""The road from a stored entry to a receiver, in memory: stream, doorbells, senders, receivers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from builders.records import DAY, a_header, a_ref, a_webhook, artifact_entry, message_entry, status_entry
from fakes.clock import FakeClock, SequentialIds
from fakes.faults import Faults
from fakes.store import FakeDueIndex, FakeTaskLog, FakeWebhooks, World, log_sk
from fakes.world import FakeDoorbells, FakeResolver, FakeSealer, FakeSigner, FakeTransport, Post, Queued
from herald.client_secrets import Secrets
from herald.delivery.attempt import Sender
from herald.delivery.control import Control
from herald.delivery.cursor import Delivery, Watch
from herald.delivery.message import Notification
from herald.delivery.retry import Outcome
from herald.delivery.ring import Ringer
from herald.delivery.token import BearerTokens
from herald.delivery.url_policy import AllowList, UrlPolicy
from herald.ports import News, Sealer, Signer
from herald.protocol.states import TaskState
from herald.records import Entry, Header, TaskRef, Webhook
from herald.upkeep.webhooks import DueWebhooks

URL = "https://client.example/hook"
ADDRESS = "93.184.216.34"
MIDDLE = 0.5  # what the random number is: a delay is neither shortened nor lengthened


@dataclass
class RecordingWatch:
    """Remembers what was told."""

    attempts: list[tuple[str, int, Outcome]] = field(default_factory=list)  # (config id, number, outcome)
    given_up: list[tuple[str, str]] = field(default_factory=list)  # (config id, reason)
    latencies: list[int] = field(default_factory=list)

    def attempted(self, webhook: Webhook, notification: Notification, outcome: Outcome, now: int) -> None:
        self.attempts.append((webhook.config_id, notification.number, outcome))
        self.latencies.append(now - notification.at)

    def changed(self, webhook: Webhook, news: News) -> None:
        if news is News.DISABLED:
            self.given_up.append((webhook.config_id, webhook.reason))

    @property
    def outcomes(self) -> list[str]:
        return [outcome.name for _, _, outcome in self.attempts]


class RecordingAnnouncer(Faults):
    """Remembers what was announced."""

    def __init__(self) -> None:
        super().__init__()
        self.news: list[tuple[str, str, str]] = []  # (name, config id, outcome)

    def announce(self, news: News, webhook: Webhook, outcome: str, at: int) -> None:
        with self._call("announce"):
            self.news.append((news.value, webhook.config_id, outcome))


class Road:
    """Fakes of every port that delivery uses, and the functions between them.

    The task of ``a_ref()`` has its message entry 0 from the start.
    """

    def __init__(
        self,
        *,
        allow: str = "",
        seconds: float = 15.0,
        signer: Signer | None = None,
        sealer: Sealer | None = None,
        watch: Watch | None = None,
        tokens: BearerTokens | None = None,
    ) -> None:
        self.clock = FakeClock()
        self.ids = SequentialIds()
        self.world = World(self.clock)
        self.log = FakeTaskLog(self.world)
        self.webhooks = FakeWebhooks(self.world)
        self.doorbells = FakeDoorbells(self.clock)
        self.resolver = FakeResolver({"client.example": [ADDRESS], "other.example": [ADDRESS]})
        self.transport = FakeTransport()
        self.signer = FakeSigner()
        self.sealer = FakeSealer()
        self.watch = RecordingWatch()
        self.announcer = RecordingAnnouncer()
        self.random: Callable[[], float] = lambda: MIDDLE
        policy = UrlPolicy(self.resolver, AllowList.parse(allow))
        self.sender = Sender(
            policy, self.transport, signer or self.signer, sealer or self.sealer, self.clock, seconds, tokens
        )
        self.delivery = Delivery(
            self.log,
            self.webhooks,
            self.doorbells,
            self.sender,
            self.clock,
            self.ids,
            watch or self.watch,
            lambda: self.random(),
            self.announcer,
        )
        self.control = Control(self.log, self.webhooks, self.doorbells, self.clock, self.ids)
        self.ringer = Ringer(self.webhooks, self.doorbells)
        self.doorbells_of_senders = self.doorbells  # tests may put themselves between
        self._seen = 0
        self.store(message_entry(0), header=a_header())

    def store(self, entry: Entry, ref: TaskRef | None = None, *, header: Header | None = None) -> None:
        """Put an entry into the log, whatever the task's state."""
        ref = ref or a_ref()
        self.world.write(ref, log_sk(entry.number), entry, 10**12)
        if header is not None:
            self.world.write(ref, "TASK", header, header.expires_second)

    def working(self, number: int, **fields: Any) -> None:
        self.store(status_entry(number, text=f"step {number}", **fields))

    def artifact(self, number: int) -> None:
        self.store(artifact_entry(number, f"chunk {number}", append=True))

    def completed(self, number: int) -> None:
        self.store(status_entry(number, TaskState.COMPLETED))

    def register(self, config_id: str = "cfg-1", *, secrets: Secrets | None = None, **fields: Any) -> Webhook:
        """Store a webhook; with ``secrets`` they are sealed into it."""
        expires = self.clock.now() // 1000 + 60 * DAY
        webhook = a_webhook(config_id, **{"url": URL, "expires_second": expires, **fields})
        if secrets is not None:
            webhook = secrets.sealed_into(self.sealer, webhook)
        self.webhooks.put(webhook)
        return webhook

    def webhook(self, config_id: str = "cfg-1") -> Webhook:
        found = self.webhooks.get(a_ref(), config_id)
        assert found is not None
        return found

    def ring(self) -> None:
        """Let ring_webhooks see what the stream holds since the last time."""
        changed: dict[TaskRef, int] = {}
        for change in self.world.changes(self._seen):
            record = change.record
            if isinstance(record, Entry) and change.event == "INSERT" and record.kind in ("status", "artifact"):
                changed[change.ref] = max(record.number, changed.get(change.ref, -1))
            elif isinstance(record, Webhook) and record.snapshot_due:
                changed.setdefault(change.ref, -1)
        self._seen = len(self.world.stream)
        for ref, number in changed.items():
            self.doorbells.ring(self.ringer.rings(ref, number))

    def answer(self, *, seconds: float = 300.0) -> Queued | None:
        """Let send_webhooks answer the next doorbell; None when none is there to be answered."""
        queued = self.doorbells.receive()
        if queued is None:
            return None
        queue = self.doorbells_of_senders
        hide = self.delivery.answer(queued.doorbell, lambda: seconds, (self.clock.now() - queued.rung_at) / 1000)
        if hide is None:
            queue.acknowledge(queued.receipt)
        else:
            queue.hide(queued.receipt, hide)
        return queued

    def run(self) -> None:
        """Ring and answer until nobody has anything to do at this moment."""
        self.ring()
        while self.answer():
            self.ring()

    def wait(self, seconds: float) -> None:
        """Let time pass, then run."""
        self.clock.advance(seconds)
        self.run()

    def sweep(self) -> None:
        """Let sweep look after the webhooks that are due."""
        due = DueWebhooks(self.log, self.webhooks, self.doorbells, self.clock, self.ids)
        for found in FakeDueIndex(self.world).due(self.clock.now()):
            if found.config_id is not None:
                due.look_after(found.ref, found.config_id)

    def settle(self, rounds: int = 60) -> None:
        """Let an hour pass at a time, sweeping and running, until no webhook is behind: what is late comes now."""
        for _ in range(rounds):
            self.run()
            self.sweep()
            self.run()
            self.clock.advance(3_600)

    def no_more_faults(self) -> None:
        """Forget what was to go wrong and hasn't yet."""
        for fake in (self.log, self.webhooks, self.doorbells, self.resolver, self.transport, self.signer, self.sealer):
            fake.forget_faults()
        self.transport._scripts.clear()
        self.doorbells._lose = self.doorbells._double = 0

    def posts(self, url: str = URL) -> list[Post]:
        return self.transport.to(url)

    def numbers(self, url: str = URL) -> list[int]:
        """The numbers of what a receiver got, in order."""
        return [int(post.headers["webhook-id"].rpartition("_")[2]) for post in self.posts(url)]
