"""Order of encodings: the same for every task, and not fitted to any result."""

import itertools

import pytest

from lengthgen.empirical.studies.theories.by_encoding import FIRST, LAST, PROBABILITIES, guess_by_order
from tests.empirical.studies.theories.questions import about


def test_the_order_is_that_of_the_paper() -> None:
    values = [guess_by_order(about(encoding)).probability for encoding in ("nope", "t5", "alibi", "rope")]
    assert values == sorted(values, key=lambda value: -(value or 0))
    assert len(set(values)) == len(values)
    assert guess_by_order(about("sinusoidal")).probability == guess_by_order(about("ape")).probability == values[-1]


def test_probabilities_are_evenly_spaced_around_one_half() -> None:
    distinct = sorted(set(PROBABILITIES.values()))
    gaps = [later - earlier for earlier, later in itertools.pairwise(distinct)]
    assert gaps == pytest.approx([gaps[0]] * len(gaps))
    assert pytest.approx(1) == FIRST + LAST


def test_the_task_does_not_matter() -> None:
    assert guess_by_order(about("t5", task="copy")) == guess_by_order(about("t5", language="(aa)*"))


@pytest.mark.parametrize("alias", ["rotary", "rope[base=500]"])
def test_aliases_and_options_have_the_place_of_the_encoding(alias: str) -> None:
    assert guess_by_order(about(alias)).probability == guess_by_order(about("rope")).probability


def test_an_encoding_without_a_place_is_not_answered() -> None:
    answer = guess_by_order(about("fox"))
    assert answer.probability is None
    assert "fox" in answer.reason
