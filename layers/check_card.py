"""Check an agent's card: `python3 check_card.py <folder of the package agent>` says what is wrong, and ends with 1.

`sam build` runs it (build.py), and so does `make test`, so that a card that can't be served isn't deployed. It needs
the package herald, pydantic and PyYAML.
"""

from __future__ import annotations

import sys
from pathlib import Path

from herald.bindings import card
from herald.bindings.card_rules import FILE


def main(arguments: list[str]) -> int:
    folder = Path(arguments[0])
    try:
        card.load(folder / FILE)
    except card.CardError as error:
        print(f"{folder.name}/{error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
