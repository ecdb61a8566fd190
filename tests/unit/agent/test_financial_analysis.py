"""Given a client's messages, then the agent's task goes through these states and delivers these parts."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml

from agent.financial_analysis import FinancialAnalysis
from builders.turns import Bench
from herald.protocol.states import TaskState

ROOT = Path(__file__).parents[3]
FJORDLIGHT = (ROOT / "examples/fjordlight-instruments.csv").read_bytes()
ROASTERS = (ROOT / "examples/three-roasters.csv").read_bytes()
HEADER = "entity,period,revenue,cost_of_goods_sold,operating_cash_flow"
ONE = f"{HEADER}\nA,2024,100,60,10"
TWO = f"{ONE}\nB,2024,100,50,20"

S = TaskState


def file(content: bytes, media_type: str = "text/csv", filename: str = "statement.csv") -> dict[str, Any]:
    return {"raw": base64.b64encode(content).decode(), "mediaType": media_type, "filename": filename}


def run(*parts: dict[str, Any] | str, modes: list[str] | None = None) -> Bench:
    bench = Bench(FinancialAnalysis())
    bench.send([{"text": part} if isinstance(part, str) else part for part in parts], accepted_output_modes=modes)
    bench.run()
    return bench


def answer(bench: Bench, *parts: dict[str, Any] | str) -> Bench:
    said: list[dict[str, Any]] = [{"text": part} if isinstance(part, str) else part for part in parts]
    bench.send(said, message_id=f"m{len(bench.entries)}")
    bench.run()
    return bench


def said(bench: Bench) -> str:
    text: str = bench.task["status"]["message"]["parts"][0]["text"]
    return text


def figures(bench: Bench) -> dict[str, Any]:
    (artifact,) = bench.task["artifacts"]
    found: dict[str, Any] = artifact["parts"][0]["data"]
    return found


def test_the_quarterly_example_becomes_one_artifact_in_three_chunks() -> None:
    bench = run("How did gross margin and cash flow develop?", file(FJORDLIGHT))
    assert bench.states == [S.WORKING, S.WORKING, S.COMPLETED]
    (artifact,) = bench.task["artifacts"]
    assert [part.get("mediaType") for part in artifact["parts"]] == [
        "application/json",
        "text/markdown",
        "text/markdown",
        "text/markdown",
        "image/svg+xml",
    ]
    chunks = [update["artifactUpdate"] for update in bench.updates if "artifactUpdate" in update]
    assert [(chunk.get("append", False), chunk.get("lastChunk", False)) for chunk in chunks] == [
        (False, False),
        (True, False),
        (True, True),
    ]
    assert {chunk["artifact"]["artifactId"] for chunk in chunks} == {"analysis"}
    markdown = "".join(part["text"] for part in artifact["parts"] if "text" in part)
    assert markdown.startswith("# Fjordlight Instruments AS, 2023-Q1 to 2024-Q4\n\nRevenue in 2024-Q4 was NOK")
    svg = ET.fromstring(base64.b64decode(artifact["parts"][-1]["raw"]))  # noqa: S314 - our own
    assert svg.tag == "{http://www.w3.org/2000/svg}svg"


def test_the_quarterly_example_has_the_figures_computed_by_hand() -> None:
    found = figures(run(file(FJORDLIGHT)))
    assert (found["entity"], found["currency"], found["notes"]) == ("Fjordlight Instruments AS", "NOK", [])
    assert [period["grossMargin"] for period in found["periods"]] == [
        *(0.4420, 0.4460, 0.4180, 0.4670),
        *(0.4533, 0.4640, 0.4330, 0.4890),
    ]
    changes = [period["change"] for period in found["periods"]]
    assert changes[0] is None
    assert [change["revenue"]["percent"] for change in changes[1:]] == [7.90, -9.64, 29.96, -13.82, 12.40, -6.92, 32.53]
    assert [change["grossMargin"]["points"] for change in changes[1:]] == [0.40, -2.80, 4.90, -1.37, 1.07, -3.10, 5.60]
    assert [change["operatingCashFlow"]["percent"] for change in changes[1:]] == [
        *(27.68, -131.46, None, -47.03, 32.97, -55.57, 256.59)
    ]
    assert found["periods"][7] == {
        "period": "2024-Q4",
        "revenue": 27890300,
        "costOfGoodsSold": 14251950,
        "grossProfit": 13638350,
        "grossMargin": 0.4890,
        "operatingCashFlow": 5035700,
        "change": {
            "since": "2024-Q3",
            "revenue": {"amount": 6845550, "percent": 32.53},
            "grossMargin": {"points": 5.60},
            "operatingCashFlow": {"amount": 3623500, "percent": 256.59},
        },
    }


def test_the_example_of_several_asks_for_one_and_goes_on_with_the_answer() -> None:
    bench = run("Analyse this, please.", file(ROASTERS))
    assert bench.states == [S.WORKING, S.INPUT_REQUIRED]
    assert said(bench) == (
        "The statement has 3 entities. Which one shall I analyse?\n"
        "1. Altona Kaffeerösterei GmbH\n2. Brûlerie du Canal SARL\n3. Torrefazione Isola S.p.A."
    )
    answer(bench, "brulerie du canal")
    assert bench.states[-1] is S.COMPLETED
    found = figures(bench)
    assert found["entity"] == "Brûlerie du Canal SARL"
    assert [period["grossMargin"] for period in found["periods"]] == [0.4422, 0.3862, 0.4223]
    assert [period["operatingCashFlow"] for period in found["periods"]] == [198400.00, -64380.40, 221905.00]
    assert [period["change"] and period["change"]["revenue"] for period in found["periods"]] == [
        None,
        {"amount": -158350.00, "percent": -7.38},
        {"amount": 323530.00, "percent": 16.28},
    ]


def test_amounts_keep_their_digits_on_the_wire() -> None:
    bench = run(file(ROASTERS), "Altona")
    first = next(entry.body for entry in bench.entries if entry.kind == "artifact")
    assert '"revenue":5236950.50,"costOfGoodsSold":3201275.80,"grossProfit":2035674.70,"grossMargin":0.3887' in first


def test_words_that_name_an_entity_need_no_question() -> None:
    assert figures(run("How is Torrefazione Isola?", file(ROASTERS)))["entity"] == "Torrefazione Isola S.p.A."


@pytest.mark.parametrize(("reply", "entity"), [("2", "B"), ("B please", "B"), ({"data": {"entity": "a"}}, "A")])
def test_a_question_is_answered_by_number_name_or_data(reply: str | dict[str, Any], entity: str) -> None:
    assert figures(answer(run(TWO), reply))["entity"] == entity


def test_an_answer_that_names_nobody_is_asked_again() -> None:
    bench = answer(run(TWO), "the other one")
    assert bench.states == [S.WORKING, S.INPUT_REQUIRED, S.WORKING, S.WORKING, S.INPUT_REQUIRED]
    assert figures(answer(bench, "B"))["entity"] == "B"


def test_two_names_are_asked_about() -> None:
    bench = run("Alpha and Beta", f"{HEADER}\nAlpha,2024,1,1,1\nBeta,2024,1,1,1\nGamma,2024,1,1,1")
    assert said(bench) == "You name 2 entities; I analyse one at a time. Which one?\n1. Alpha\n2. Beta"


def test_many_entities_are_listed_in_part() -> None:
    rows = "".join(f"\nCompany {n:03},2024,1,1,1" for n in range(500))
    bench = run(HEADER + rows)
    assert said(bench).endswith("\n20. Company 019\n… and 480 more")


@pytest.mark.parametrize(
    "parts",
    [
        [ONE],
        [f"Please analyse:\n```\n{ONE}\n```"],
        [{"text": ONE, "mediaType": "text/csv"}],
        [file(ONE.encode())],
        [file(b"\xef\xbb\xbf" + ONE.encode(), "application/octet-stream")],
        [file(ONE.encode("utf-16"), "", "")],
        [file(ONE.encode("latin-1"), "text/csv; charset=ISO-8859-1")],
        [{"data": [{"entity": "A", "period": 2024, "revenue": 100, "cogs": "60", "OCF": 10.0}]}],
        [{"data": {"entity": "A", "rows": [{"period": "2024", "revenue": 100, "cogs": 60, "ocf": 10}]}}],
        [{"data": {"entity": "A", "period": "2024", "revenue": 100, "cogs": 60, "ocf": 10}}],
        [{"data": ONE}],
    ],
)
def test_a_statement_comes_as_text_file_or_data(parts: list[dict[str, Any] | str]) -> None:
    found = figures(run(*parts))
    assert (found["entity"], found["periods"][0]["grossMargin"]) == ("A", 0.4)


@pytest.mark.parametrize(
    ("parts", "fault", "place"),
    [
        (
            [file(FJORDLIGHT.replace(b"10452900", b"ten"))],
            "Row 4, column cost_of_goods_sold: “ten” isn't an amount; write it like 1234.50, with 15 digits at most.",
            {"row": 4, "column": "cost_of_goods_sold"},
        ),
        (
            [file(b"%PDF-1.7", "application/pdf", "statement.pdf")],
            "A file of type “application/pdf” isn't read here; send the statement as text/csv.",
            {"row": None, "column": None},
        ),
        (
            [file(f"{HEADER}\nA,2024,1,1,1\nB\xe9,2024,1,1,1".encode("latin-1"))],
            "Row 3: it isn't UTF-8 text; save the file as CSV UTF-8.",
            {"row": 3, "column": None},
        ),
        (
            [file(b"", "text/csv; charset=ebcdic")],
            "The character set “ebcdic” isn't read here; send the file as UTF-8.",
            {"row": None, "column": None},
        ),
        (
            [{"url": "https://example.com/statement.csv"}],
            "A link isn't followed here; send the statement's content as a text, raw or data part.",
            {"row": None, "column": None},
        ),
        (
            [ONE, file(ONE.encode())],
            "The message holds 2 statements; send one at a time, several entities may share it.",
            {"row": None, "column": None},
        ),
        (
            [{"data": None}],
            "The data part holds neither rows nor words; send rows as objects with the columns as members.",
            {"row": None, "column": None},
        ),
        ([{"data": {"n": 1}}], "The data part has no rows; give them under “rows”.", {"row": None, "column": None}),
    ],
)
def test_a_wrong_file_is_rejected_with_the_place(
    parts: list[dict[str, Any] | str], fault: str, place: dict[str, Any]
) -> None:
    bench = run(*parts)
    assert bench.states == [S.WORKING, S.REJECTED]
    assert said(bench) == fault
    assert bench.task["status"]["message"]["parts"][1] == {"data": place}


def test_words_without_a_statement_are_asked_for_one() -> None:
    bench = run("How is company B doing?")
    assert bench.states == [S.WORKING, S.INPUT_REQUIRED]
    assert said(bench).startswith("Please send a financial statement: CSV in a text part")
    assert figures(answer(bench, TWO))["entity"] == "B"


def test_a_newer_statement_takes_the_place_of_an_older_one() -> None:
    bench = answer(run(TWO), ONE)
    assert figures(bench)["entity"] == "A"


@pytest.mark.parametrize(
    ("request_text", "periods"),
    [
        ("the last two quarters", ["2024-Q3", "2024-Q4"]),
        ("Show the latest quarter", ["2024-Q4"]),
        ("only the last year, please", ["2024-Q1", "2024-Q2", "2024-Q3", "2024-Q4"]),
        ("the past 4 months", ["2024-Q3", "2024-Q4"]),
        ("last 3 periods", ["2024-Q2", "2024-Q3", "2024-Q4"]),
    ],
)
def test_the_last_periods_may_be_asked_for(request_text: str, periods: list[str]) -> None:
    found = figures(run(request_text, file(FJORDLIGHT)))
    assert [period["period"] for period in found["periods"]] == periods
    assert found["periods"][0]["change"] is not None


@pytest.mark.parametrize(
    ("modes", "types"),
    [
        (["application/json"], ["application/json"]),
        (["image/*"], ["image/svg+xml"]),
        (["text/plain"], ["text/plain"] * 3),
        (["TEXT/MARKDOWN; charset=utf-8"], ["text/markdown"] * 3),
        (["*/*"], ["application/json", *["text/markdown"] * 3, "image/svg+xml"]),
    ],
)
def test_only_what_the_client_accepts_is_delivered(modes: list[str], types: list[str]) -> None:
    bench = run(ONE, modes=modes)
    (artifact,) = bench.task["artifacts"]
    assert [part["mediaType"] for part in artifact["parts"]] == types
    last = [update["artifactUpdate"].get("lastChunk", False) for update in bench.updates if "artifactUpdate" in update]
    assert last == [False] * (len(last) - 1) + [True]


def test_a_client_that_accepts_nothing_of_ours_is_told() -> None:
    bench = run(ONE, modes=["audio/mpeg"])
    assert bench.states == [S.REJECTED]
    assert said(bench) == (
        "I can answer in application/json, text/markdown and image/svg+xml; name one of them in acceptedOutputModes."
    )


def test_the_card_says_what_the_agent_takes_and_gives() -> None:
    card = yaml.safe_load((ROOT / "layers/agent/python/agent/card.yaml").read_text())
    assert card["name"] == "financial-analysis"
    assert set(card["defaultOutputModes"]) == {"application/json", "text/markdown", "image/svg+xml"}
    assert "supportedInterfaces" not in card
    for example in card["skills"][0]["examples"]:
        file_of = ROASTERS if "Canal" in example else FJORDLIGHT
        assert run(example, file(file_of)).states[-1] is S.COMPLETED
