"""The court view shows the stored scores and answers; damage and absence are named with the command that mends them."""

import pytest

from lengthgen.empirical.studies.court.report_view import view
from lengthgen.empirical.studies.court.stored import COURT, write_scores
from lengthgen.empirical.studies.court.trial import freeze, judge
from lengthgen.infrastructure.files import read_sealed_json, write_sealed_json
from lengthgen.paper_figs.sources import Sources
from tests.empirical.studies.court.examples import cell, right, theory

CELLS = [cell(right(), task="<b>a</b>"), cell(right(0.0), task="b"), cell({10: 0.0, 20: 0.0, 30: 0.0}, task="c")]
THEORIES = [
    theory("src", lambda _: 0.9),
    theory("other", lambda question: 0.1 if question.subject.name == "b" else None),
]


@pytest.fixture
def out(tmp_path):
    frozen = freeze(THEORIES, {of_cell.name: of_cell.question for of_cell in CELLS})
    answer = {"evidence": "published"} | judge(CELLS, THEORIES, frozen)
    write_scores(tmp_path / COURT, answer)
    return tmp_path


def test_scores_and_answers_are_those_stored(out):
    data = view(Sources(out=out, profile="smoke", width=7.0))
    assert not data.missing and not data.broken and [*data.hashes] == ["court/published.json"]
    scores = {row["name"]: row for row in data.content["scores"]}
    assert (scores["src"]["right_yes"], scores["src"]["wrong_yes"], scores["src"]["kind"]) == (1, 1, "theory")
    assert scores["base-rate"]["kind"] == "base rate" and scores["fed-with-answers"]["kind"] == "control"
    first, second, third = data.content["cells"]
    assert (first["disputed"], second["disputed"], third["fit"]) == (False, True, 0)
    assert ["other", 0.1, "as other says"] in second["answers"] and ["other", None, "as other says"] in first["answers"]


def test_what_is_absent_is_named_with_its_command(tmp_path):
    data = view(Sources(out=tmp_path, profile="smoke", width=7.0))
    [(what, command)] = data.missing
    assert "scores of theories" in what and command.startswith("lengthgen court --out")
    assert data.content == {"scores": [], "cells": []} and not data.broken


def test_what_was_changed_is_named_and_not_shown(out):
    path = out / COURT
    path.write_text(path.read_text().replace('"undecided"', '"supported"', 1))
    data = view(Sources(out=out, profile="smoke", width=7.0))
    assert data.content["scores"] == [] and "lengthgen court" in data.broken["court/published.json"]


def test_an_answer_whose_reason_is_missing_is_no_answer(out):
    stored = read_sealed_json(out / COURT)
    write_sealed_json(out / COURT, {**stored, "reasons": stored["reasons"][:-1]})
    data = view(Sources(out=out, profile="smoke", width=7.0))
    assert data.content["scores"] == [] and "answers without a reason" in data.broken["court/published.json"]
