"""The rotation of a deployment's secrets, as an operator does it: begin it, wait, finish it.

What follows from a new version of the signing secret, and when, is the matter of ``herald.delivery.rotation``; a new
version of the sealing secret is used at once. To begin is to make the versions. To finish is to see that no webhook is
sealed by a former version, and to let go of those. Which of the two is next is told by the secrets themselves, so that
a command that stopped anywhere goes on when it is given again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from herald.adapters.secret_rotation import RotatableSecret, SecretState
from herald.delivery.cursor import UNREADABLE
from herald.delivery.rotation import LEAD_MS, OVERLAP_MS, SAFE_MS
from herald.ports import Clock, Doorbells, Ids, Ring, Webhooks
from herald.records import Webhook, WebhookState

SEALING = "sealing"
WAIT_SECONDS = 60  # for senders to seal anew what they were rung for
LOOK_SECONDS = 2


class Step(StrEnum):
    """What a call has done."""

    STARTED = "started"  # new versions were made
    WAITING = "waiting"  # a rotation is under way, and it is too early to finish it
    RESEALING = "resealing"  # some webhooks are still sealed by a former version
    FINISHED = "finished"  # nothing needs a former version any more


@dataclass(frozen=True, slots=True)
class Schedule:
    """When what follows from a version of the signing secret, in milliseconds since 1970."""

    made_at: int

    @property
    def signs_at(self) -> int:
        """From here on the new keys sign, and the former ones too."""
        return self.made_at + LEAD_MS

    @property
    def alone_at(self) -> int:
        """From here on only the new keys sign."""
        return self.made_at + LEAD_MS + OVERLAP_MS

    @property
    def over_at(self) -> int:
        """From here on the former keys aren't published any more, and the rotation can be finished."""
        return self.made_at + SAFE_MS


@dataclass(frozen=True, slots=True)
class Report:
    """What a call has done, and how things stand.

    Attributes:
        secrets: their versions, by the secrets' names.
        resealed: webhooks that were sealed by a former version and aren't any more.
        left: those that still are.
        unreadable: those that were disabled because nothing opens their secrets any more.
    """

    step: Step
    secrets: Mapping[str, SecretState]
    resealed: int = 0
    left: tuple[Webhook, ...] = ()
    unreadable: tuple[Webhook, ...] = ()

    @property
    def schedules(self) -> dict[str, Schedule]:
        """Of the secrets whose rotation isn't finished."""
        return {
            name: Schedule(state.current.created_at)
            for name, state in self.secrets.items()
            if state.previous is not None
        }


@dataclass(frozen=True, slots=True)
class Rotation:
    """Rotates secrets; ``secrets`` by their names, one of which may be SEALING."""

    secrets: Mapping[str, RotatableSecret]
    every_webhook: Iterable[Webhook]
    webhooks: Webhooks
    doorbells: Doorbells
    clock: Clock
    ids: Ids

    def look(self) -> Report:
        """How things stand; changes nothing."""
        states = self._states()
        return Report(Step.WAITING if self._under_way(states) else Step.FINISHED, states)

    def go_on(self, *, leave: bool = False) -> Report:
        """Begin a rotation, or finish the one that is under way, if it is time.

        Args:
            leave: finish although webhooks are still sealed by a former version.

        Raises:
            Unavailable: a service doesn't answer; the next call goes on.
        """
        states = self._states()
        over = {name for name in self._under_way(states) if self._is_over(states[name])}
        fresh = [name for name, state in states.items() if state.previous is None]
        # While one is over, what has no previous version has been finished already.
        if fresh and not over:
            for name in fresh:
                self.secrets[name].renew(states[name])
            return Report(Step.STARTED, self._states())
        if over != self._under_way(states):
            return Report(Step.WAITING, states)
        return self._finish(states, over, leave=leave)

    def _finish(self, states: Mapping[str, SecretState], over: set[str], *, leave: bool) -> Report:
        resealed, left, unreadable = 0, [], []
        if SEALING in over:
            former = [one for one in self.every_webhook if _sealed_by_another(one, states[SEALING])]
            still = self._after_ringing([one for one in former if not _is_unreadable(one)], states[SEALING])
            left = [one for one in still if not _is_unreadable(one)]
            unreadable = [one for one in [*former, *still] if _is_unreadable(one)]
            resealed = len(former) - len(unreadable) - len(left)
            if left and not leave:
                return Report(Step.RESEALING, states, resealed, tuple(left), tuple(unreadable))
        for name in over:
            if (previous := states[name].previous) is not None:
                self.secrets[name].forget(previous)
        return Report(Step.FINISHED, self._states(), resealed, tuple(left), tuple(unreadable))

    def _after_ringing(self, former: list[Webhook], sealing: SecretState) -> list[Webhook]:
        """Ring for webhooks, whose senders seal them anew; those that are as they were after a minute."""
        left = former
        self.doorbells.ring([Ring(one.doorbell, f"{one.key}-{self.ids.token()}") for one in left])
        until = self.clock.now() + WAIT_SECONDS * 1000
        while left and self.clock.now() < until:
            self.clock.sleep(LOOK_SECONDS)
            stored = [self.webhooks.get(one.ref, one.config_id) for one in left]
            left = [one for one in stored if one is not None and _sealed_by_another(one, sealing)]
        return left

    def _states(self) -> dict[str, SecretState]:
        return {name: secret.state() for name, secret in self.secrets.items()}

    def _under_way(self, states: Mapping[str, SecretState]) -> set[str]:
        return {name for name, state in states.items() if state.previous is not None}

    def _is_over(self, state: SecretState) -> bool:
        return Schedule(state.current.created_at).over_at <= self.clock.now()


def _is_unreadable(webhook: Webhook) -> bool:
    return webhook.state is WebhookState.DISABLED and webhook.reason.startswith(UNREADABLE)


def _sealed_by_another(webhook: Webhook, sealing: SecretState) -> bool:
    """Whether a webhook has secrets that the current version hasn't sealed: the text names the one that has."""
    return bool(webhook.sealed) and f".{sealing.current.version_id}." not in webhook.sealed
