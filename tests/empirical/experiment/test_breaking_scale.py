"""Breaking scale: the median of first failures, with one meaning wherever it is told."""

import pytest

from lengthgen.empirical.experiment.outcome import breaking_scale
from tests.empirical.studies.court.examples import cell, right


@pytest.mark.parametrize(
    ("failures", "scale"),
    [
        ([], None),
        ([None], None),
        ([6, 7], 6.5),
        ([7, 6, 20], 7),
        ([6, None, 7], 7),
        ([6, None], None),
        ([6, 6, 8, None], 7),
        ([6, 6, None, None], None),
    ],
)
def test_the_breaking_scale_is_where_half_of_the_runs_have_failed(
    failures: list[int | None], scale: float | None
) -> None:
    assert breaking_scale(failures) == scale
    assert (scale is None) == (2 * sum(failure is not None for failure in failures) <= len(failures))


def test_the_court_has_the_same_breaking_scale_as_a_trial() -> None:
    fails = {at: right() | dict.fromkeys(range(at, 31, 10), 0.0) for at in (20, 30)}
    assert cell(fails[20], fails[30]).outcome(0.9).breaks_at == breaking_scale([20, 30]) == 25
    assert cell(fails[20], right(), fails[30]).outcome(0.9).breaks_at == breaking_scale([20, None, 30]) == 30
