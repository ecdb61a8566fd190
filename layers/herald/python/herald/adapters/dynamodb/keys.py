"""The keys of the Tasks table: the one place that knows how they are spelled.

Each part of a partition key is percent-encoded, so that no name can reach into another owner's partition.
"""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import quote, unquote
from zlib import crc32

from herald.records import TaskRef, Webhook

HEADER = "TASK"
LOG = "LOG#"
PUSH = "PUSH#"
DUE_SHARDS = 16


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


def log_sk(number: int) -> str:
    return f"LOG#{number:012d}"


def number_from_sk(sk: str) -> int:
    return int(sk.removeprefix(LOG))


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
    """Partition of the byOwner index; ``shards`` spreads an owner's tasks over that many."""
    shard = crc32(ref.task_id.encode()) % shards
    return f"{quote(ref.tenant, safe='')}#{quote(ref.owner, safe='')}#{shard}"


def context_key(ref: TaskRef, context_id: str) -> str:
    """Partition of the byContext index; it holds the owner, since a contextId is a client's own word."""
    return f"{quote(ref.tenant, safe='')}#{quote(ref.owner, safe='')}#{quote(context_id, safe='')}"


def list_key(ref: TaskRef, status_at: int) -> str:
    """Sort key of both listing indexes: status timestamp (ISO, milliseconds), then the task id."""
    moment = datetime.fromtimestamp(status_at // 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{status_at % 1000:03d}Z#{ref.task_id}"


def due_shard(partition: str) -> str:
    """ "00" to "15", by the item's partition key."""
    return f"{crc32(partition.encode()) % DUE_SHARDS:02d}"


def body_key(partition: str, number: int, writer: str) -> str:
    """Where a large body lies in the bucket. The writer is part of it: losers of a race don't overwrite the winner."""
    return f"bodies/{partition}/{number}-{writer}"
