"""The financial-analysis agent: a CSV statement and a request in words in, figures, a report and a chart out."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from agent import chart, figures, markdown, names, request, statement, words
from agent.fault import Fault
from agent.figures import Figures
from agent.periods import PARTS_OF_YEAR
from agent.request import Request
from agent.statement import Line
from agent.table import REQUIRED
from herald.agent import Agent, Content, Part, TaskContext, data, raw, text
from herald.protocol.codec import ExactFloat

JSON, MARKDOWN, PLAIN, SVG = "application/json", "text/markdown", "text/plain", "image/svg+xml"
ARTIFACT = "analysis"
LISTED_AT_MOST = 20


class FinancialAnalysis(Agent):
    """Computes gross margin and its fellows for one entity of a statement, and says how they changed.

    The client's words choose the entity, where there are several, and may ask for "the last four quarters". Without a
    clear choice the agent asks for it; a file it can't read is rejected with the row and the column at fault.
    """

    async def run(self, task: TaskContext) -> None:
        """One turn: read, choose, compute, deliver. Repeating it delivers the same artifact again."""
        formats = _formats(task.accepted_output_modes)
        if not formats:
            await task.reject(f"I can answer in {JSON}, {MARKDOWN} and {SVG}; name one of them in acceptedOutputModes.")
            return
        await task.working("Reading the statement.")
        try:
            asked = request.gather(task.message, task.history)
            if asked.statement is None:
                await task.require_input(_how_to_ask())
                return
            read = statement.read(asked.statement)
        except Fault as fault:
            await task.reject([str(fault), data({"row": fault.row, "column": fault.column})])
            return
        chosen = _choose(asked, list(read.entities))
        if len(chosen) != 1:
            await task.require_input(_which(chosen, list(read.entities)))
            return
        lines = read.entities[chosen[0]]
        await task.working(_what_was_read(read.rows, len(read.entities), chosen[0], lines))
        result = figures.compute(chosen[0], lines, _last(asked, lines))
        await _deliver(task, result, formats)
        await task.complete(markdown.summary(result))


def _formats(accepted: Sequence[str]) -> dict[str, str]:
    """What the client takes, as {JSON: …, MARKDOWN: …, SVG: …}: the media type that each part is sent with."""
    if not accepted:
        return {JSON: JSON, MARKDOWN: MARKDOWN, SVG: SVG}
    modes = {mode.split(";")[0].strip().lower() for mode in accepted}
    formats = {
        offered: offered
        for offered in (JSON, MARKDOWN, SVG)
        if modes & {offered, offered.split("/")[0] + "/*", "*/*", "*"}
    }
    if MARKDOWN not in formats and modes & {PLAIN, "text"}:
        formats[MARKDOWN] = PLAIN
    return formats


def _choose(asked: Request, entities: list[str]) -> list[str]:
    """The entity that this turn's words name, or else the earlier ones'; one, or several, or none: then ask."""
    if len(entities) == 1:
        return entities
    return names.named(asked.words, entities, numbered=asked.follow_up) or names.named(asked.earlier, entities)


def _which(chosen: list[str], entities: list[str]) -> Content:
    if chosen:
        question = f"You name {words.counted(len(chosen), 'entity', 'entities')}; I analyse one at a time. Which one?"
    else:
        question = f"The statement has {words.counted(len(entities), 'entity', 'entities')}. Which one shall I analyse?"
    among = chosen or entities
    numbers = {entity: number for number, entity in enumerate(entities, 1)}
    listed = [f"{numbers[entity]}. {entity}" for entity in among[:LISTED_AT_MOST]]
    if len(among) > LISTED_AT_MOST:
        listed.append(f"… and {len(among) - LISTED_AT_MOST:,} more")
    return ["\n".join([question, *listed]), data({"entities": among[:LISTED_AT_MOST], "count": len(among)})]


def _how_to_ask() -> str:
    return (
        "Please send a financial statement: CSV in a text part or a text/csv file, or rows in a data part, with the "
        f"columns {', '.join(REQUIRED[:-1])} and {REQUIRED[-1]}."
    )


def _what_was_read(rows: int, entities: int, entity: str, lines: Sequence[Line]) -> str:
    of = "" if entities == 1 else f" of {entities:,} entities"
    first, last = lines[0].period.label, lines[-1].period.label
    span = first if first == last else f"{first} to {last}"
    return f"Read {words.counted(rows, 'row')}{of}. Computing margins and changes of {entity}, {span}."


def _last(asked: Request, lines: Sequence[Line]) -> int | None:
    """How many periods the words ask for: two years are eight quarters, four quarters are one year."""
    span = request.span(asked.words) or request.span(asked.earlier)
    if span is None:
        return None
    kind = lines[0].period.kind
    if span.unit in PARTS_OF_YEAR and kind in PARTS_OF_YEAR:
        return max(1, -(-span.count * PARTS_OF_YEAR[kind] // PARTS_OF_YEAR[span.unit]))
    return max(1, span.count)


async def _deliver(task: TaskContext, result: Figures, formats: dict[str, str]) -> None:
    """One artifact: the figures with the report's first section, then the next ones as chunks, the chart last."""
    sections: list[list[Part]] = [[]]
    if MARKDOWN in formats:
        sections = [[text(section, media_type=formats[MARKDOWN])] for section in markdown.sections(result)]
    if JSON in formats:
        sections[0].insert(0, data(_exact(figures.as_json(result)), media_type=JSON))
    if SVG in formats:
        sections[-1].append(raw(chart.svg(result).encode(), SVG, chart.FILE))
    for index, parts in enumerate(sections):
        await task.artifact(
            parts,
            artifact_id=ARTIFACT,
            name=f"Analysis of {result.entity}",
            append=index > 0,
            last_chunk=index == len(sections) - 1,
        )


def _exact(value: Any) -> Any:
    """A JSON value whose numbers print every digit that the Decimals have."""
    if isinstance(value, dict):
        return {key: _exact(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_exact(item) for item in value]
    if isinstance(value, Decimal):
        digits = format(value, "f")
        return ExactFloat(digits) if "." in digits else int(digits)
    return value
