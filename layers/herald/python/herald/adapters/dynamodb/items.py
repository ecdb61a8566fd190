"""Records to DynamoDB items and back, without the resource layer: no Decimal, no nested maps, numbers as digits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from herald.adapters.dynamodb import keys
from herald.protocol.states import TaskState
from herald.records import Attempt, Entry, Header, Kind, TakenSend, Webhook, WebhookState

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

Value = Mapping[str, Any]  # {"S": "…"} or {"N": "…"}
Item = dict[str, "AttributeValueTypeDef"]
Image = Mapping[str, Value]

VERSION = "1"
DUE = "due"  # value of a webhook's `snapshot` attribute while its first notification is due

TURN = "turn"  # value of the `opens` attribute of an entry that opens a turn: what the stream's filter looks for

# DynamoDB's own limits, kept by us as well: emulators don't check them all.
ITEM_BYTES = 400 * 1024
KEY_BYTES = {"pk": 2048, "sk": 1024, "ownerKey": 2048, "contextKey": 2048, "listKey": 1024}


class ItemTooLarge(ValueError):
    """An item passes a limit of DynamoDB; nothing was written."""


def guard(item: Item) -> Item:
    """The item itself, if DynamoDB can take it.

    Raises:
        ItemTooLarge: it has more than 400 KB, or a key that is too long.
    """
    size = 0
    for name, value in item.items():
        text = value.get("S")
        if text is None:
            size += len(name) + len(value["N"]) // 2 + 2
            continue
        length = len(text) if text.isascii() else len(text.encode())
        if name in KEY_BYTES and length > KEY_BYTES[name]:
            raise ItemTooLarge(f"{name} has {length} bytes of UTF-8; a key takes {KEY_BYTES[name]} at most")
        size += len(name) + length
    if size > ITEM_BYTES:
        raise ItemTooLarge(f"item {item['sk'].get('S')} has {size} bytes; DynamoDB takes {ITEM_BYTES} at most")
    return item


UNREADABLE = (KeyError, ValueError, TypeError)
"""What reading an item raises that Herald didn't write, or not this version of it."""


def expired(item: Image, now_second: int) -> bool:
    return int(item["expiresAt"]["N"]) <= now_second


def header_item(header: Header, owner_shards: int = 1) -> Item:
    """The TASK item, with the attributes of the indexes that it stands in."""
    ref, partition = header.ref, keys.pk(header.ref)
    item: Item = {
        "pk": {"S": partition},
        "sk": {"S": keys.HEADER},
        "v": {"N": VERSION},
        "expiresAt": {"N": str(header.expires_second)},
        "taskId": {"S": ref.task_id},
        "state": {"S": header.state.value},
        "contextId": {"S": header.context_id},
        "statusAt": {"N": str(header.status_at)},
        "statusNumber": {"N": str(header.status_number)},
        "turn": {"N": str(header.turn)},
        "openedAt": {"N": str(header.opened_at)},
        "run": {"N": str(header.run)},
        "end": {"N": str(header.end)},
        "createdAt": {"N": str(header.created_at)},
        "endBy": {"N": str(header.end_by)},
        "ownerKey": {"S": keys.owner_key(ref, owner_shards)},
        "contextKey": {"S": keys.context_key(ref, header.context_id)},
        "listKey": {"S": keys.list_key(ref, header.status_at)},
    }
    if not header.terminal:
        item["openKey"] = {"S": keys.open_key(ref, owner_shards)}
    if header.send_hash:
        item["sendHash"] = {"S": header.send_hash}
    if header.due_at is not None:
        item["dueShard"] = {"S": keys.due_shard(partition)}
        item["dueAt"] = {"N": str(header.due_at)}
    return guard(item)


def header_update(partition: str, header: Header) -> tuple[str, Item]:
    """Update expression and values that bring a stored header up to date.

    What is fixed at creation isn't among them, the owner's shard above all: only who creates needs to know how many
    there are. ``#state`` and ``#end`` stand for the attributes of those names.
    """
    values: Item = {
        ":state": {"S": header.state.value},
        ":statusAt": {"N": str(header.status_at)},
        ":statusNumber": {"N": str(header.status_number)},
        ":turn": {"N": str(header.turn)},
        ":openedAt": {"N": str(header.opened_at)},
        ":run": {"N": str(header.run)},
        ":end": {"N": str(header.end)},
        ":listKey": {"S": keys.list_key(header.ref, header.status_at)},
    }
    update = (
        "SET #state = :state, statusAt = :statusAt, statusNumber = :statusNumber, turn = :turn,"
        " openedAt = :openedAt, run = :run, #end = :end, listKey = :listKey"
    )
    gone = ["openKey"] if header.terminal else []  # the one thing that tells an open task; set at creation
    if header.due_at is None:
        gone += ["dueAt", "dueShard"]
    else:
        update += ", dueAt = :dueAt, dueShard = :dueShard"
        values[":dueAt"] = {"N": str(header.due_at)}
        values[":dueShard"] = {"S": keys.due_shard(partition)}
    return update + (f" REMOVE {', '.join(gone)}" if gone else ""), values


def header_from_item(item: Image) -> Header:
    return Header(
        ref=keys.ref_from_pk(item["pk"]["S"]),
        context_id=item["contextId"]["S"],
        state=TaskState(item["state"]["S"]),
        status_at=int(item["statusAt"]["N"]),
        status_number=int(item["statusNumber"]["N"]),
        turn=int(item["turn"]["N"]),
        opened_at=int(item["openedAt"]["N"]),
        run=int(item["run"]["N"]),
        end=int(item["end"]["N"]),
        created_at=int(item["createdAt"]["N"]),
        end_by=int(item["endBy"]["N"]),
        expires_second=int(item["expiresAt"]["N"]),
        due_at=int(item["dueAt"]["N"]) if "dueAt" in item else None,
        send_hash=item["sendHash"]["S"] if "sendHash" in item else "",
    )


def entry_item(partition: str, entry: Entry, expires_second: int, body_key: str = "") -> Item:
    """A LOG item. With ``body_key`` the body lies in the bucket and the item only points there."""
    item: Item = {
        "pk": {"S": partition},
        "sk": {"S": keys.log_sk(entry.number)},
        "v": {"N": VERSION},
        "expiresAt": {"N": str(expires_second)},
        "kind": {"S": entry.kind},
        "at": {"N": str(entry.at)},
        "writer": {"S": entry.writer},
        "turn": {"N": str(entry.turn)},
    }
    if body_key:
        item["bodyKey"] = {"S": body_key}
    else:
        item["body"] = {"S": entry.body}
    if entry.run >= 0:
        item["run"] = {"N": str(entry.run)}
    if entry.state is not None:
        item["state"] = {"S": entry.state.value}
    if entry.traceparent:
        item["traceparent"] = {"S": entry.traceparent}
    if entry.opens_turn:
        item["opens"] = {"S": TURN}
    return guard(item)


def entry_from_image(image: Image, body: Callable[[str], str] = lambda _: "") -> Entry:
    """The entry of a LOG item or of its stream image.

    ``body`` loads a body by its key in the bucket. Without it such an entry comes with the body "": enough for who only
    looks at kind, number and turn.
    """
    return Entry(
        number=keys.number_from_sk(image["sk"]["S"]),
        kind=cast("Kind", image["kind"]["S"]),
        body=image["body"]["S"] if "body" in image else body(image["bodyKey"]["S"]),
        at=int(image["at"]["N"]),
        writer=image["writer"]["S"],
        turn=int(image["turn"]["N"]),
        run=int(image["run"]["N"]) if "run" in image else -1,
        state=TaskState(image["state"]["S"]) if "state" in image else None,
        traceparent=image["traceparent"]["S"] if "traceparent" in image else "",
    )


def taken_item(partition: str, once: str, taken: TakenSend, expires_second: int) -> Item:
    """The MSG item of a follow-up message that was taken."""
    return guard(
        {
            "pk": {"S": partition},
            "sk": {"S": keys.message_sk(once)},
            "v": {"N": VERSION},
            "expiresAt": {"N": str(expires_second)},
            "number": {"N": str(taken.number)},
            "contentHash": {"S": taken.content_hash},
        }
    )


def taken_from_item(item: Image) -> TakenSend:
    return TakenSend(int(item["number"]["N"]), item["contentHash"]["S"])


class Stored(NamedTuple):
    """How a field of a webhook is stored: attribute name and type; an attribute is absent while it has ``absent``."""

    attribute: str
    type: str
    absent: object = None


# The fields of a webhook that may change in place. snapshot_due and due_at are the two that aren't stored one to one.
CHANGING: dict[str, Stored] = {
    "cursor": Stored("cursor", "N"),
    "state": Stored("state", "S"),
    "reason": Stored("reason", "S", ""),
    "failures": Stored("failures", "N", 0),
    "attempt": Stored("attempt", "N", 0),
    "next_attempt_at": Stored("nextAttemptAt", "N", 0),
    "delivered": Stored("delivered", "N", 0),
    "first_success_at": Stored("firstSuccessAt", "N", 0),
    "last_success_at": Stored("lastSuccessAt", "N", 0),
    "url": Stored("url", "S"),
    "sealed": Stored("sealed", "S", ""),
    "snapshot": Stored("snapshotNumber", "N"),
    "wire": Stored("wire", "S"),
    "mark": Stored("mark", "S", ""),
    "began": Stored("began", "N", -1),
}
FIXED = ("ref", "config_id", "key", "created_at", "expires_second")
NOWHERE: Value = {"S": keys.RESTING}  # the due shard of a webhook that stands in none
AT_REST = frozenset({WebhookState.PAUSED, WebhookState.DISABLED})


def webhook_item(webhook: Webhook) -> Item:
    """The PUSH item of a webhook."""
    item: Item = {
        "pk": {"S": keys.pk(webhook.ref)},
        "sk": {"S": keys.push_sk(webhook.config_id)},
        "v": {"N": VERSION},
        "expiresAt": {"N": str(webhook.expires_second)},
        "key": {"S": webhook.key},
        "createdAt": {"N": str(webhook.created_at)},
    }
    for name in (*CHANGING, "snapshot_due", "due_at"):
        for attribute, value in stored(webhook, name).items():
            if value is not None:
                item[attribute] = value
    return guard(item)


def stored(webhook: Webhook, name: str) -> dict[str, AttributeValueTypeDef | None]:
    """The attributes that hold one changing field; None where the attribute is absent."""
    value = getattr(webhook, name)
    if name == "snapshot_due":
        return {"snapshot": {"S": DUE} if value else None}
    if name == "due_at":
        if value is None:
            return _resting(webhook) if webhook.state in AT_REST else {"dueAt": None, "dueShard": None}
        return {"dueAt": {"N": str(value)}, "dueShard": {"S": keys.due_shard(keys.pk(webhook.ref))}}
    attribute, kind, absent = CHANGING[name]
    if value == absent:
        return {attribute: None}
    return {attribute: {"S": str(value)} if kind == "S" else {"N": str(value)}}


def _resting(webhook: Webhook) -> dict[str, AttributeValueTypeDef | None]:
    """Where a webhook that waits for an operator stands in the due index: only to be found, the oldest first."""
    return {"dueAt": {"N": str(webhook.created_at)}, "dueShard": {"S": keys.resting_shard(keys.pk(webhook.ref))}}


def webhook_update(webhook: Webhook, changed: Iterable[str]) -> tuple[str, dict[str, str], Item]:
    """Update expression, names and values that bring these fields of a stored webhook up to date."""
    names: dict[str, str] = {}
    values: Item = {}
    sets, removes = [], []
    for name in changed:
        for attribute, value in stored(webhook, name).items():
            names[f"#{attribute}"] = attribute
            if value is None:
                removes.append(f"#{attribute}")
            else:
                values[f":new_{attribute}"] = value
                sets.append(f"#{attribute} = :new_{attribute}")
    parts = [("SET", sets), ("REMOVE", removes)]
    return " ".join(f"{word} {', '.join(changes)}" for word, changes in parts if changes), names, values


def webhook_from_image(image: Image) -> Webhook:
    """The webhook of a PUSH item or of its stream image."""
    fields: dict[str, Any] = {}
    for name, (attribute, kind, _) in CHANGING.items():
        if attribute in image:
            text = image[attribute][kind]
            fields[name] = text if kind == "S" else int(text)
    fields["state"] = WebhookState(fields["state"])
    fields.setdefault("sealed", "")
    return Webhook(
        ref=keys.ref_from_pk(image["pk"]["S"]),
        config_id=keys.config_from_sk(image["sk"]["S"]),
        key=image["key"]["S"],
        snapshot_due="snapshot" in image,
        created_at=int(image["createdAt"]["N"]),
        expires_second=int(image["expiresAt"]["N"]),
        due_at=None if image.get("dueShard", NOWHERE)["S"].startswith(keys.RESTING) else int(image["dueAt"]["N"]),
        **fields,
    )


def attempt_item(webhook: Webhook, attempt: Attempt, expires_second: int) -> Item:
    """The TRY item of a failed attempt."""
    return guard(
        {
            "pk": {"S": keys.pk(webhook.ref)},
            "sk": {"S": keys.try_sk(webhook, attempt.number, attempt.attempt)},
            "v": {"N": VERSION},
            "expiresAt": {"N": str(expires_second)},
            "number": {"N": str(attempt.number)},
            "attempt": {"N": str(attempt.attempt)},
            "outcome": {"S": attempt.outcome},
            "status": {"N": str(attempt.status)},
            "milliseconds": {"N": str(attempt.milliseconds)},
            "head": {"S": attempt.head},
            "at": {"N": str(attempt.at)},
        }
    )


def attempt_from_item(item: Image) -> Attempt:
    return Attempt(
        number=int(item["number"]["N"]),
        attempt=int(item["attempt"]["N"]),
        outcome=item["outcome"]["S"],
        status=int(item["status"]["N"]),
        milliseconds=int(item["milliseconds"]["N"]),
        head=item["head"]["S"],
        at=int(item["at"]["N"]),
    )
