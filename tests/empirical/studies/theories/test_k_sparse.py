"""k-sparse: near dependencies generalize, far ones only with coupled positions, and unbounded ones never."""

import pytest

from lengthgen.circuits.task import Task
from lengthgen.circuits.tasks import load
from lengthgen.empirical.studies.theories.k_sparse import TRAIN, Dependencies, dependencies, guess
from lengthgen.empirical.studies.theories.rival import SURE
from tests.empirical.studies.theories.questions import about


def window_task(width: int) -> Task:
    """After n bits write, for each of n places, the parity of the last `width` tokens."""

    def generate(bits: tuple[str, ...]) -> list[str]:
        text = [int(bit) for bit in bits]
        for _ in bits:
            text.append(sum(text[-width:]) % 2)
        return [str(bit) for bit in text[len(bits) :]]

    return Task(name=f"window-{width}", alphabet=("0", "1"), prompt=lambda n: [("0", "1")] * n, generate=generate)


def copied_window() -> Task:
    return window_task(3)


def test_tokens_that_depend_on_a_window_are_sparse_and_near() -> None:
    assert dependencies(copied_window) == Dependencies(sparsity=3, distance=3, more_at=None, farther_at=None)
    assert guess(about("rope", task=copied_window)).probability == SURE


@pytest.mark.parametrize("name", ["copy", "reverse", "parity"])
def test_far_dependencies_need_coupled_positions(name: str) -> None:
    alone, coupled = guess(about("rope", task=name)), guess(about("ipe", task=name))
    assert alone.probability == pytest.approx(1 - SURE)
    assert alone.breaks_at == 51
    assert coupled.probability == SURE


def test_unbounded_dependencies_fail_with_every_encoding() -> None:
    for encoding in ("rope", "ipe"):
        assert guess(about(encoding, task="parity-direct")).probability == pytest.approx(1 - SURE)


def test_a_copied_symbol_is_farther_from_the_first_test_scale_on() -> None:
    copied = dependencies(lambda: load("copy"))
    assert copied == Dependencies(sparsity=1, distance=TRAIN + 1, more_at=None, farther_at=TRAIN + 1)


def test_a_subject_without_a_task_is_not_answered() -> None:
    answer = guess(about("rope"))
    assert answer.probability is None
    assert "a test" in answer.reason


def test_a_task_that_fails_is_not_answered() -> None:
    def failing() -> Task:
        return Task(name="failing", alphabet=("0",), prompt=lambda n: [()], generate=lambda bits: bits)

    answer = guess(about("rope", task=failing))
    assert answer.probability is None
    assert "cannot be computed" in answer.reason
