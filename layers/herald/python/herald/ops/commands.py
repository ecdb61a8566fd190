"""The operator's commands and what they need: arguments, a deployed stack, and somebody to talk to."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from herald.adapters.aws import FAILURES
from herald.bootstrap import Platform
from herald.ops import erase, rotate_keys
from herald.ports import Unavailable

Run = Callable[[argparse.Namespace, Platform], int]

COMMANDS: dict[str, tuple[Callable[[Any], None], Run]] = {
    "erase": (erase.arguments, erase.run),
    "rotate-keys": (rotate_keys.arguments, rotate_keys.run),
}
"""Each command's arguments, and what runs it; it returns the process's exit code."""


def main(words: Sequence[str], environ: Mapping[str, str], platform: Platform | None = None) -> int:
    """Run a command: 0 when it is done, 1 when it failed, 2 for wrong arguments, 3 when it isn't done yet."""
    parser = argparse.ArgumentParser(prog="python -m herald.ops", description="Commands for a deployed Herald stack.")
    commands = parser.add_subparsers(dest="command", required=True)
    for arguments, _ in COMMANDS.values():
        arguments(commands)
    told = parser.parse_args(words)
    try:
        return COMMANDS[told.command][1](told, platform or Platform(environ))
    except (Unavailable, *FAILURES) as error:
        print(f"AWS failed or refused: {error}\nThe same command goes on where this one stopped.", file=sys.stderr)
    except KeyboardInterrupt:
        print("\nStopped. Run the same command to go on.", file=sys.stderr)
    return 1
