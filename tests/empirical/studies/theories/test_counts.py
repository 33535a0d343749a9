"""Amendment that reads counts: functions that exist are right on every prompt, and those that cannot are refused."""

import numpy as np
import pytest

from lengthgen.circuits.task import Task
from lengthgen.circuits.trace import trace
from lengthgen.empirical.studies.theories.counts import COUNTS, affine_functions, failure, samples_of
from tests.empirical.studies.theories.questions import about


def answers(name: str, encoding: str = "nope") -> float | None:
    """Probability that the theory gives."""
    return COUNTS.guess(about(encoding, task=name, train=3, test=9)).probability


def test_majority_is_in_and_parity_is_out() -> None:
    assert answers("majority-direct") == pytest.approx(0.9)
    assert answers("parity-direct") == pytest.approx(0.1)


def test_order_is_out() -> None:
    assert answers("copy") == pytest.approx(0.1)
    assert answers("reverse") == pytest.approx(0.1)


def test_says_yes_wherever_coverage_does() -> None:
    assert answers("copy", "ipe-sh") == pytest.approx(0.9)


@pytest.mark.parametrize("seed", range(20))
def test_functions_of_random_separable_samples_exist_and_are_largest(seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts, weights = rng.integers(0, 12, (60, 3)), rng.integers(-9, 10, (4, 4))
    values = np.column_stack([counts, np.ones(60, dtype=np.int64)]) @ weights.T
    ordered = np.sort(values, axis=1)
    strict = ordered[:, -1] > ordered[:, -2]
    counts, outputs = counts[strict], values[strict].argmax(axis=1)
    functions = affine_functions(counts, outputs)
    assert functions is not None
    values = np.column_stack([counts, np.ones(len(counts), dtype=np.int64)]) @ np.stack([*functions.values()]).T
    right = values[np.arange(len(counts)), np.searchsorted(sorted(functions), outputs)]
    assert ((values < right[:, None]).sum(axis=1) == len(functions) - 1).all()


def test_alternation_has_no_functions() -> None:
    counts = np.arange(4)[:, None]
    assert affine_functions(counts, counts[:, 0] % 2) is None
    assert affine_functions(counts, (counts[:, 0] > 1).astype(np.int64)) is not None


def test_three_bands_of_one_count_have_functions() -> None:
    counts = np.arange(9)[:, None]
    assert affine_functions(counts, counts[:, 0] // 3) is not None  # the lines k x - 3 k (k + 1) / 2


def test_equal_counts_with_different_outputs_are_named() -> None:
    task = first_of(2)
    why = failure(samples_of((trace(task, 2), trace(task, 3)), window=1), train=3)
    assert why == "two prompts with equal last tokens and counts have different outputs"


def test_windows_that_tell_the_last_two_positions_apart() -> None:
    task = last_but_one()
    assert COUNTS.guess(about("rpe", task=lambda: task, train=3, test=9)).probability == pytest.approx(0.9)
    assert COUNTS.guess(about("nope", task=lambda: task, train=3, test=9)).probability == pytest.approx(0.1)


def test_an_output_that_training_never_shows_is_named() -> None:
    task = Task(
        name="late",
        alphabet="01",
        prompt=lambda n: [["0"]] * n,
        generate=lambda prompt: ["1" if len(prompt) > 4 else "0"],
    )
    guess = COUNTS.guess(about("nope", task=lambda: task, train=3, test=9))
    assert guess.probability == pytest.approx(0.1)
    assert "never showed" in guess.reason


def first_of(base: int) -> Task:
    """Task whose output is the first of n digits."""
    digits = [str(digit) for digit in range(base)]
    return Task(
        name="first", alphabet=tuple(digits), prompt=lambda n: [digits] * n, generate=lambda prompt: [prompt[0]]
    )


def last_but_one() -> Task:
    """Task whose output is the symbol before the last, or that one if it is alone."""
    return Task(
        name="last-but-one",
        alphabet="01",
        prompt=lambda n: [["0", "1"]] * n,
        generate=lambda prompt: [prompt[-2] if len(prompt) > 1 else prompt[-1]],
    )
