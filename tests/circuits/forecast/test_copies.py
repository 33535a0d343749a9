"""Long inputs are answered by a small copy of the question, which keeps the ratio of both ranges."""

import pytest

from lengthgen import forecast
from lengthgen.circuits.forecast.copies import LARGEST, copy_of
from lengthgen.circuits.task import Task


@pytest.mark.parametrize(
    ("train", "test", "answered"),
    [
        ((1, 5), (1, 20), ((1, 5), (1, 20), True, 1)),
        ((3, 12), (1, LARGEST), ((3, 12), (1, LARGEST), True, 1)),
        ((1, 50), (1, 150), ((1, 5), (1, 15), False, 10)),
        ((20, 50), (51, 150), ((2, 5), (5, 15), False, 10)),
        ((1, 40), (1, 41), ((1, 5), (1, 6), False, 8)),
        ((1, 3), (1, 60), ((1, 3), (1, LARGEST), False, 1)),
    ],
)
def test_a_copy_keeps_the_ratio_as_far_as_scales_are_analysed(train, test, answered):
    copy = copy_of(*(range(first, last + 1) for first, last in (train, test)))
    ranges = tuple((scales[0], scales[-1]) for scales in (copy.train, copy.test))
    assert (*ranges, copy.exact, copy.factor) == answered


def test_a_forecast_of_long_inputs_is_that_of_its_copy_in_scales_of_the_question():
    long, copied = (
        forecast("parity", "rpe,nope", train=range(1, first), test=range(1, last), format="unaligned")
        for first, last in ((51, 151), (6, 16))
    )
    assert long.copy == copy_of(range(1, 51), range(1, 151)) and copied.copy is None
    for encoding in ("rpe", "nope"):
        large, small = long[encoding], copied[encoding]
        assert (large.share, large.why) == (small.share, small.why)
        assert large.breaks_at == 10 * small.breaks_at
        assert large.breaks_within == (10 * small.breaks_within[0] - 9, 10 * small.breaks_within[1])
    assert (copied["rpe"].breaks_within[0], long["rpe"].breaks_within[0]) == (6, 51), (
        "the first scale of the copy stands for ten"
    )
    assert long.as_json()["copy"] == {"train": [1, 2, 3, 4, 5], "test": [*range(1, 16)]}


def test_what_changes_beyond_the_copy_is_not_seen():
    """A copy is no proof: a task that changes at a length between those of the copy is answered as if it did not."""
    late = Task(
        name="late",
        alphabet=("0", "1", "="),
        prompt=lambda n: [("0", "1")] * n + [("=",)],
        generate=lambda prompt: [prompt[0] if len(prompt) < 100 else str(1 - int(prompt[0]))],
    )
    assert forecast(late, "ipe", train=range(1, 41), test=range(1, 161))["ipe"].share > 0.5


def test_runs_on_record_at_other_scales_are_not_those_of_a_copy():
    copied = forecast("parity", "rpe", train=range(1, 51), test=range(1, 201))
    assert not copied["rpe"].recorded.runs and forecast("parity", "rpe")["rpe"].recorded.runs
