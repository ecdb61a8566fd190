"""Writes into events/ what the code decides: ids, stored items, and what is computed of them. events/README.md has the
command.

All else stays as the files have it, the sealed secrets too: their nonce is random.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from integration import life
from integration.life import ASKED, EVENTS, RAN, RUNG, SENT, SENT_AGAIN, Life, event

STREAMED = ("start-worker", "ring-webhooks")  # functions whose samples are stream records


def main(folder: Path = life.ROOT / "events") -> None:
    with life.beginning() as living:
        renamed = _names(living)
        files = {name: _renamed(path.read_text(), renamed) for name, path in EVENTS.items()}
        for name in (SENT_AGAIN, ASKED):
            living.stack.invoke("api", json.loads(files[name]))
        living.clock.advance(1)
        living.stack.invoke("run_agent", json.loads(files[RAN]))
        stored = living.items
    for name, text in files.items():
        sample = json.loads(text)
        if name[3:].startswith(STREAMED):
            _store(sample["Records"][0]["dynamodb"], stored)
        elif name == RUNG:
            record = sample["Records"][0]
            record["md5OfBody"] = hashlib.md5(record["body"].encode(), usedforsecurity=False).hexdigest()
        (folder / f"{name}.json").write_text(json.dumps(sample, indent=2, ensure_ascii=False) + "\n")


def _names(living: Life) -> dict[str, str]:
    """The task, its context and its webhook's key: what the files call them, and what the handlers do."""
    bell = json.loads(event(RUNG)["Records"][0]["body"])
    message = event("04-start-worker-message")["Records"][0]["dynamodb"]["NewImage"]["body"]["S"]
    task = living.answer(SENT)["result"]["task"]
    return {
        bell["taskId"]: task["id"],
        json.loads(message)["message"]["contextId"]: task["contextId"],
        bell["key"]: living.items["PUSH#ledger"]["key"]["S"],
    }


def _renamed(text: str, names: dict[str, str]) -> str:
    for old, new in names.items():
        text = text.replace(old, new)
    return text


def _store(change: dict[str, Any], stored: Any) -> None:
    """Put the item as it is stored into a stream record."""
    old = change["NewImage"]
    image = {**stored[old["sk"]["S"]], **({"sealed": old["sealed"]} if "sealed" in old else {})}
    change |= {
        "Keys": {name: image[name] for name in ("pk", "sk")},
        "NewImage": image,
        "SizeBytes": len(json.dumps(image)),
    }


if __name__ == "__main__":
    main()
