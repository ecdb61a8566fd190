"""What is wrong with a file, as a sentence that names the row and the column."""

from __future__ import annotations

SHOWN_CHARACTERS = 40


class Fault(Exception):
    """A statement that can't be used.

    Args:
        what: what is wrong and the way out, without a full stop.
        row: as a spreadsheet counts them, the first one is 1; None when the fault isn't in a row.
        column: the column's name; None when it is the whole row.
    """

    def __init__(self, what: str, *, row: int | None = None, column: str | None = None) -> None:
        place = [f"row {row}"] if row is not None else []
        if column is not None:
            place.append(f"column {column}")
        sentence = f"{', '.join(place)}: {what}." if place else f"{what}."
        super().__init__(sentence[0].upper() + sentence[1:])
        self.what = what
        self.row = row
        self.column = column

    def in_column(self, column: str) -> Fault:
        """The same fault, with the column called what the file calls it."""
        return Fault(self.what, row=self.row, column=column)


def shown(text: str) -> str:
    """A cell's text as an error shows it: in quotation marks, printable, cut when it is long."""
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    if len(text) > SHOWN_CHARACTERS:
        text = text[: SHOWN_CHARACTERS - 1] + "…"
    return f"“{text}”"
