"""`lengthgen court`: published results or stored runs judge the catalogue of theories, or one's own."""

import pytest

from lengthgen.empirical.studies.court.published.load import published_cells
from lengthgen.empirical.studies.court.stored import COURT, read_scores
from lengthgen.empirical.studies.theories.theories import THEORIES
from lengthgen.terminal.layout import LINES
from tests.lengthgen.refusal import refused
from tests.pool_here import pool_here

TASKS = ("(aa)*", "tomita1", "d-2", "parity", "aabbccddee", "tomita4")
"""Tasks whose questions take little time."""


@pytest.fixture
def few_cells(monkeypatch):
    """Only the published cells of TASKS; theories are asked in this process."""
    monkeypatch.setattr("lengthgen.terminal.progress.pool", pool_here)
    chosen = tuple(cell for cell in published_cells() if cell.question.subject.name in TASKS)
    monkeypatch.setattr("lengthgen.empirical.studies.court.published.load.published_cells", lambda: chosen)
    return chosen


def test_published_results_judge_all_theories(few_cells, answer, tmp_path):
    got = answer("court", "--out", str(tmp_path))
    assert [*got["theories"]] == [*THEORIES] and len(got["cells"]) == len(few_cells) >= 12
    assert got["controls"]["fed-with-answers"]["verdict"] == "supported"
    assert got["controls"]["opposite-of-answers"]["verdict"] == "refuted"
    assert got["theories"]["c-rasp"]["answered"] == len(few_cells) - len(got["did_not_fit"])
    assert read_scores(tmp_path / COURT, tmp_path) == got
    again = answer("court", "--theory", "c-rasp", "--out", str(tmp_path / "other"))
    assert [*again["theories"]] == ["src", "c-rasp"]
    assert again["theories"]["c-rasp"] == got["theories"]["c-rasp"]
    assert not (tmp_path / "other").exists(), "a part of the catalogue is not stored as the judgement"


def test_a_theory_of_ones_own_joins_as_post_hoc(few_cells, answer, run, mine):
    mine("def guess(question):", "    return question.encoding == 'nope'")
    got = answer("court", "--theory", "mine.py:guess")
    own = got["theories"]["mine.py:guess"]
    assert own["post_hoc"] and not got["theories"]["src"]["post_hoc"]
    assert own["answered"] == len(few_cells) - len(got["did_not_fit"])
    code, table, _ = run("court", "--theory", "mine.py:guess", "--details")
    assert code == 0 and "post hoc" in table and "as its function says" in table
    code, screen, _ = run("court", "--theory", "mine.py:guess")
    assert code == 0 and len(screen.splitlines()) <= LINES
    assert "mine.py:guess (post hoc)" in screen and "as its function says" not in screen and "control" not in screen


def test_stored_runs_judge_too(answer, run, tmp_path):
    refused(run(*["court", "--evidence", "runs", "--out", str(tmp_path)]), "no finished run")
    sizes = ("--train", "1-2", "--test", "1-4", "--profile", "smoke", "--out", str(tmp_path))
    answer("train", "parity", "--encoding", "rpe", *sizes)
    got = answer("court", "--evidence", "runs", "--out", str(tmp_path))
    (cell,) = got["cells"]
    assert (cell["task"], cell["encoding"], cell["train"], cell["test"]) == ("parity[format=aligned]", "rpe", 2, 4)
    assert cell["runs"] == 1 and cell["guesses"]["src-coverage"]["probability"] is not None


@pytest.mark.parametrize(("arguments", "hint"), [
    (["--theory", "c-rsap"], "did you mean c-rasp?"),
    (["--theory", "nowhere.py:guess"], "nowhere.py"),
])  # fmt: skip
def test_unknown_theories_are_refused_in_one_line(run, arguments, hint):
    refused(run(*["court", *arguments]), hint)


def test_a_theory_of_ones_own_that_fails_is_named(few_cells, run, mine):
    mine("def guess(question):", "    return 2")
    refused(run(*["court", "--theory", "mine.py:guess"]), "mine.py:guess")
