"""The figure and the table of the court show every answer and every score, and nothing that was changed."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

from lengthgen.empirical.studies.court.score_figures import drawing, table
from lengthgen.empirical.studies.court.stored import COURT, SCORES, scores, write_scores
from lengthgen.empirical.studies.court.trial import freeze, judge
from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.paper_figs.saving import Printed
from lengthgen.paper_figs.sources import Missing, Sources
from tests.empirical.studies.court.examples import cell, right, theory
from tests.paper_figs.test_run_figures import on_the_page

CELLS = [
    *(
        cell(right(float(number % 2)), task=f"task {number}", evidence=("early", "late")[number // 4])
        for number in range(8)
    ),
    cell(right(), right(0.0), task="tie", evidence="late"),
    cell({10: 0.0, 20: 0.0, 30: 0.0}, task="unfit", evidence="late"),
]
THEORIES = [
    theory("src", lambda question: 0.9 if question.subject.name[-1] in "1357" else 0.1),
    theory("never", lambda _: 0.1),
    theory("silent", lambda _: None),
]


@pytest.fixture
def answer() -> dict[str, Any]:
    frozen = freeze(THEORIES, {of_cell.name: of_cell.question for of_cell in CELLS})
    return {"evidence": "published"} | judge(CELLS, THEORIES, frozen)


def test_every_answer_is_drawn(answer: dict[str, Any]) -> None:
    drawn = drawing(answer, width=7.0)
    assert isinstance(drawn.shown, Figure)
    on_the_page(drawn.shown)
    counts = Counter((row["theory"], row["answer"]) for row in drawn.rows)
    assert counts == {
        ("src", "right yes"): 4, ("src", "right no"): 4, ("src", "tie"): 1,
        ("never", "right no"): 4, ("never", "wrong no"): 4, ("never", "tie"): 1,
        ("silent", "abstains"): 9,
    }  # fmt: skip
    scores = {text.get_gid(): text.get_text() for text in drawn.shown.axes[0].texts if text.get_gid()}
    assert scores["score:silent"] == "0.250  undecided"
    assert scores["score:src"].endswith("supported")
    assert "9 published cells" in drawn.caption
    answer["theories"]["src"]["title"] = "SRC of the paper"
    assert "Supported: SRC of the paper." in drawing(answer, width=7.0).caption, "named as the line of the figure"


def test_the_table_has_a_line_for_each_theory_and_base_rate(answer: dict[str, Any]) -> None:
    drawn = table(answer)
    assert isinstance(drawn.shown, Printed)
    assert len(drawn.shown.lines) == len(THEORIES) + len(answer["references"])
    (line,) = [line for line in drawn.shown.lines if line[0] == "never"]
    assert line[1:5] == ["9", "4", "0", "4"]


def test_stored_scores_are_read_and_damage_is_named(answer: dict[str, Any], tmp_path: Path) -> None:
    sources = Sources(out=tmp_path, profile="smoke", width=7.0)
    with pytest.raises(Missing, match="lengthgen court"):
        sources.require(SCORES)
    write_scores(tmp_path / COURT, answer)
    sources.require(SCORES)
    assert scores(sources)["theories"]["src"]["verdict"] == "supported"
    text = (tmp_path / COURT).read_text()
    (tmp_path / COURT).write_text(text.replace('"supported"', '"refuted"', 1))
    with pytest.raises(LengthgenError, match=r"published\.json.*lengthgen court"):
        scores(Sources(out=tmp_path, profile="smoke", width=7.0))
