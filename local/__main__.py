"""The verbs of the local stack: `python3 -m local up|down|environment <name>`; `make help` lists what people use."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from local import environments, stack
from local.terminal import LocalError, say


def up() -> None:
    place = stack.place_from(dict(os.environ))
    answer = stack.up(place, stack.variant_from(dict(os.environ)))
    say(f"The local stack is up. Agent Card: {answer['cardUrl']}")
    say(f"All addresses: {os.path.relpath(place.answer)}. Log lines: make logs. Stop it: make down.")


def down() -> None:
    stopped = stack.down(stack.place_from(dict(os.environ)))
    say("The local stack is down." if stopped else "No local stack was running.")


def environment() -> None:
    for name in sys.argv[2:]:
        environments.ensure(environments.ENVIRONMENTS[name])


VERBS: dict[str, Callable[[], None]] = {"up": up, "down": down, "environment": environment}


def main() -> int:
    verb = VERBS.get(sys.argv[1] if len(sys.argv) > 1 else "")
    if verb is None:
        say(f"usage: python3 -m local {'|'.join(VERBS)}")
        return 2
    try:
        verb()
    except LocalError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
