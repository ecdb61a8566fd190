"""The keys of the Tasks table: the one place that knows how they are spelled.

Each part of a partition key is percent-encoded, so that no name can reach into another owner's partition.
"""

from __future__ import annotations

import base64
import hashlib
from urllib.parse import quote, unquote
from zlib import crc32

from herald.protocol.codec import parse_timestamp, timestamp
from herald.records import Caller, Position, TaskRef, Webhook

HEADER = "TASK"
ORIGINS = "ORIGINS"
LOG = "LOG#"
PUSH = "PUSH#"
DUE_SHARDS = 16
RESTING = "rest"
LAST_MOMENT = 253_402_300_799_999  # 9999-12-31T23:59:59.999Z
LAST_CHARACTER = "\U0010ffff"  # sorts after every other one


_KINDS = {HEADER: "header", "MSG#": "follow-up", PUSH: "webhook", "TRY#": "attempt", ORIGINS: "origins"}


def pk(ref: TaskRef) -> str:
    """``TASK#<tenant>#<owner>#<taskId>``."""
    return f"TASK#{quote(ref.tenant, safe='')}#{quote(ref.owner, safe='')}#{quote(ref.task_id, safe='')}"


def ref_from_pk(key: str) -> TaskRef:
    """The task that a partition key names.

    Raises:
        ValueError: it isn't one of ours.
    """
    parts = key.split("#")
    if len(parts) != 4 or parts[0] != "TASK":
        raise ValueError(f"not a task's partition key: {key!r}")
    return TaskRef(unquote(parts[1]), unquote(parts[2]), unquote(parts[3]))


def owner_pk(owner: Caller) -> str:
    """``OWNER#<tenant>#<owner>``: what is an owner's and no task's."""
    return f"OWNER#{quote(owner.tenant, safe='')}#{quote(owner.owner, safe='')}"


def log_sk(number: int) -> str:
    return f"LOG#{number:012d}"


def number_from_sk(sk: str) -> int:
    return int(sk.removeprefix(LOG))


def kind_from_sk(sk: str) -> str:
    """What an item is that is no log entry, by its sort key."""
    return next((kind for prefix, kind in _KINDS.items() if sk.startswith(prefix)), "other")


def message_sk(once: str) -> str:
    return f"MSG#{once}"


def push_sk(config_id: str) -> str:
    return PUSH + quote(config_id, safe="")


def config_from_sk(sk: str) -> str:
    return unquote(sk.removeprefix(PUSH))


def try_prefix(webhook: Webhook) -> str:
    return f"TRY#{webhook.key}#"


def try_sk(webhook: Webhook, number: int, attempt: int) -> str:
    return f"{try_prefix(webhook)}{number:012d}#{attempt:06d}"


def owner_key(ref: TaskRef, shards: int = 1) -> str:
    """Partition of the byOwner index that a task lies in; ``shards`` spreads an owner's tasks over that many."""
    return owner_shard_key(ref, crc32(ref.task_id.encode()) % shards)


def owner_shard_key(owner: TaskRef | Caller, shard: int) -> str:
    """One partition of the byOwner index."""
    return f"{quote(owner.tenant, safe='')}#{quote(owner.owner, safe='')}#{shard}"


def open_key(ref: TaskRef, shards: int = 1) -> str:
    """Partition of the sparse ``open`` index, in as many shards as ``owner_key``.

    A digest: the index is only counted, and a header stays below 1 KB, where a write costs one unit, with one long name
    less in it.
    """
    return _digest(owner_key(ref, shards))


def open_keys(owner: Caller, shards: int) -> list[str]:
    """Every partition of the ``open`` index that an owner's tasks may stand in."""
    return [_digest(owner_shard_key(owner, shard)) for shard in range(shards)]


def context_key(ref: TaskRef | Caller, context_id: str) -> str:
    """Partition of the byContext index; it holds the owner, since a contextId is a client's own word."""
    return f"{quote(ref.tenant, safe='')}#{quote(ref.owner, safe='')}#{quote(context_id, safe='')}"


def list_key(ref: TaskRef, status_at: int) -> str:
    """Sort key of both listing indexes: status timestamp (ISO, milliseconds), then the task id."""
    return f"{timestamp(status_at)}#{ref.task_id}"


def position_from_key(key: str) -> Position:
    """The position that a sort key of the listing indexes says."""
    moment, _, task_id = key.partition("#")
    return Position(parse_timestamp(moment), task_id)


def list_range(since: int | None, below: Position | None) -> tuple[str, str]:
    """The least and the greatest sort key of what has a status of ``since`` or later and stands below a position.

    Both ends belong to it, which is the one form of a range with two ends that a Query takes.
    """
    lowest = "0" if since is None else timestamp(min(max(since, 0), LAST_MOMENT))
    if below is None:
        return lowest, "~"
    key = f"{timestamp(below.status_at)}#{below.task_id}"
    return lowest, key[:-1] + chr(ord(key[-1]) - 1) + LAST_CHARACTER


def due_shard(partition: str) -> str:
    """ "00" to "15", by the item's partition key."""
    return f"{crc32(partition.encode()) % DUE_SHARDS:02d}"


def resting_shard(partition: str) -> str:
    """ "rest00" to "rest15": shards of the due index in which nothing becomes due."""
    return RESTING + due_shard(partition)


def body_key(partition: str, number: int, writer: str) -> str:
    """Where a large body lies in the bucket. The writer is part of it: losers of a race don't overwrite the winner."""
    return f"bodies/{partition}/{number}-{writer}"


def body_prefix(partition: str) -> str:
    """What the keys of a task's bodies begin with, and no other task's."""
    return f"bodies/{partition}/"


def _digest(text: str) -> str:
    return base64.b32encode(hashlib.sha256(text.encode()).digest()[:16]).decode().rstrip("=").lower()
