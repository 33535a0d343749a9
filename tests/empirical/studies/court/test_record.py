"""The recorded judgement: its size, its controls, and the numbers that docs/court.md repeats."""

import re
from pathlib import Path

import pytest

from lengthgen.empirical.studies.court.published.load import published_cells
from lengthgen.empirical.studies.court.stored import COURT, read_scores
from lengthgen.empirical.studies.court.trial import Frozen, guess_as_json, judge
from lengthgen.empirical.studies.theories.rival import Guess
from lengthgen.empirical.studies.theories.theories import THEORIES

DOCS = Path(__file__).parents[4] / "docs"
ANSWER = read_scores(DOCS / "results" / COURT, DOCS / "results")
PAGE = (DOCS / "court.md").read_text(encoding="utf-8")
CHEAP = ("c-rasp", "encodings-order", "depth", "min-degree")
"""Theories that answer at once."""
SMALL = (
    "(aa)*", "aabbccddee", "addition", "anbn", "binary_majority", "d-12", "dyck1", "majority", "parity", "parity-steps",
    "pcfg", "sorting-single", "summation", "tomita1", "tomita4", "tomita5",
)  # fmt: skip
"""Tasks of which every theory answers soon."""


def test_at_least_150_cells_are_scored_by_at_least_six_theories() -> None:
    scored = [cell for cell in ANSWER["cells"] if cell["fit"]]
    answers = [sum(guess["probability"] is not None for guess in cell["guesses"].values()) for cell in scored]
    assert sum(count >= 6 for count in answers) >= 150
    assert {*ANSWER["theories"]} == {*THEORIES}


def test_the_recorded_scores_follow_from_the_recorded_answers() -> None:
    cells = published_cells()
    by_name = {cell["name"]: cell["guesses"] for cell in ANSWER["cells"]}
    guesses = {name: {cell.name: Guess(**by_name[cell.name][name]) for cell in cells} for name in ANSWER["theories"]}
    frozen = Frozen(guesses=guesses)
    again = judge(cells, [THEORIES[name] for name in guesses], frozen)
    assert again["frozen"] == ANSWER["frozen"]
    for part in ("theories", "references", "controls"):
        for name, row in ANSWER[part].items():
            assert again[part][name]["verdict"] == row["verdict"], name
            assert again[part][name]["brier"] == pytest.approx(row["brier"]), name
    assert len(again["disagreements"]) == len(ANSWER["disagreements"])


@pytest.mark.parametrize("name", THEORIES)
def test_the_recorded_answers_are_those_of_the_theory(name: str) -> None:
    by_name = {cell["name"]: cell["guesses"][name] for cell in ANSWER["cells"]}
    for cell in published_cells():
        if name in CHEAP or cell.task in SMALL:
            assert guess_as_json(THEORIES[name].guess(cell.question)) == by_name[cell.name]


def test_controls_act_on_the_record() -> None:
    verdicts = {name: control["verdict"] for name, control in ANSWER["controls"].items()}
    assert verdicts == {
        "opposite-of-src": "refuted",
        "fed-with-answers": "supported",
        "opposite-of-answers": "refuted",
    }


def test_the_page_repeats_the_record() -> None:
    rows = {**ANSWER["theories"], **ANSWER["references"], **ANSWER["controls"]}
    printed = re.findall(
        r"^\| `([a-z-]+)` \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| ([\d.]+) \| .* \| ([-+?]{3}) \| (\w+) \|$",
        PAGE,
        re.M,
    )
    assert {name for name, *_ in printed} == {*rows}
    for name, *numbers, signs, verdict in printed:
        row = rows[name]
        right = row["right_yes"] + row["right_no"]
        expected = [row["answered"], right, row["wrong_yes"], row["wrong_no"], f"{row['brier']:.3f}"]
        assert numbers == [str(value) for value in expected], name
        assert verdict == row["verdict"], name
        sides = [each["verdict"] for each in row["against"].values()]
        assert signs == "".join({"supported": "+", "refuted": "-"}.get(side, "?") for side in sides), name
    assert all(row["kinds"]["ideal"]["cells"] == 0 for row in ANSWER["theories"].values())
    assert ANSWER["frozen"] in PAGE


def test_the_page_repeats_differences_and_reasons_of_the_record() -> None:
    (pair,) = (pair for pair in ANSWER["pairs"] if {pair["first"], pair["second"]} == {"src-coverage", "src-counts"})
    assert f"Brier scores {-pair['value']:.3f}, interval {-pair['high']:.3f} to {-pair['low']:.3f}" in PAGE
    fitting = [cell for cell in ANSWER["cells"] if cell["fit"]]
    right = [cell["guesses"]["src-counts"] for cell in fitting if 2 * cell["generalizes"] > cell["fit"]]
    wrong = [guess["reason"] for guess in right if guess["probability"] is not None and guess["probability"] < 0.5]
    unseen = sum("never showed" in reason for reason in wrong)
    assert f"{unseen} of the {len(wrong)} wrong noes" in PAGE
    lead = [2 * cell["generalizes"] - cell["fit"] for cell in fitting]
    assert f"{sum(value < 0 for value in lead)} of {sum(value != 0 for value in lead)} such" in PAGE
