"""Rates count what they say, smooth by the share of all, and never count the tasks that are left out."""

import pytest

from lengthgen.circuits.forecast.rates import (
    ALWAYS_NO,
    KINDS,
    RATE,
    RATE_WITH_SRC,
    Counts,
    Rates,
    is_of_kind,
    recorded_rates,
)
from lengthgen.circuits.forecast.record import FITTED, REGISTERED, recorded_cells

CELLS = [
    Counts(encoding="rpe", operands="filled", invariant=True, generalize=3, fit=4),
    Counts(encoding="rpe[start=0.1]", operands="filled", invariant=False, generalize=0, fit=4),
    Counts(encoding="rpe", operands="aligned", invariant=None, generalize=0, fit=2),
]


def test_the_share_of_all_stands_for_one_run_of_an_encoding_and_format() -> None:
    rates, of_all = Rates.of(CELLS), 3 / 10
    probabilities = rates.probabilities("rpe[start=1]", "filled", True)
    assert probabilities == pytest.approx({ALWAYS_NO: 0.1, RATE: (3 + of_all) / 9, RATE_WITH_SRC: (3 + of_all) / 5})
    assert rates.probabilities("rpe", "filled", False)[RATE_WITH_SRC] == pytest.approx(of_all / 5)
    unknown = rates.probabilities("rpe", "aligned", None)
    assert unknown[RATE] == unknown[RATE_WITH_SRC] == pytest.approx(of_all / 3)
    assert rates.probabilities("nope", "filled", True)[RATE] == pytest.approx(of_all), "never seen"
    assert Rates.of([]).probabilities("rpe", "filled", True)[RATE] == 0.5


def test_recorded_rates_count_the_half_of_the_forecast_and_leave_out_what_is_judged() -> None:
    counted = [cell for cell in recorded_cells() if cell.record in REGISTERED and cell.half == FITTED]
    of_half = recorded_rates(frozenset())
    assert of_half.counts[()] == (sum(cell.generalize for cell in counted), sum(cell.fit for cell in counted))
    left_out = counted[0].task
    others = [cell for cell in counted if cell.task != left_out]
    assert (
        recorded_rates(frozenset({left_out})).counts[()][1] == sum(cell.fit for cell in others) < of_half.counts[()][1]
    )


def test_an_encoding_is_of_its_kind_whatever_its_options() -> None:
    names = ("ipe-sh[start=0]", "ipe", "rope", "lbpe")
    kinds = [[kind for kind in KINDS if is_of_kind(name, kind)] for name in names]
    assert kinds == [["ideal", "all"], ["ideal", "all"], ["in use", "all"], ["in use", "all"]]
