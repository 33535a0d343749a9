"""Runs that a cell lacks: so many more with one outcome decide it, and one fewer does not."""

from math import ceil

import pytest

from lengthgen.empirical.experiment.judge import e_process
from lengthgen.empirical.trial.conjecture import MOST_LIKELY, judge, lacking_runs, likely_runs
from tests.empirical.trial.trials import FAILS, MAIN, NO, SOLVES, UNFIT, YES, evidence, histories

COUNTS = [
    ({SOLVES: 9}, YES),
    ({SOLVES: 4}, YES),
    ({FAILS: 3, UNFIT: 2}, YES),
    ({SOLVES: 2, FAILS: 5}, NO),
    ({SOLVES: 3, FAILS: 3}, NO),
    ({SOLVES: 1}, YES),
    ({UNFIT: 4}, NO),
    ({FAILS: 2}, None),
]
"""Runs and prediction of each cell: one is decided, one has no prediction, and the others are open."""


@pytest.fixture
def judged(small_run):
    """Function that judges the cells with more runs of one outcome in one of them."""

    def of(index=0, outcome=SOLVES, more=0):
        cells = []
        for place, (counts, prediction) in enumerate(COUNTS):
            added = {outcome: counts.get(outcome, 0) + more} if place == index else {}
            cells.append(evidence(histories(small_run(), counts | added), prediction, f"parity/aligned/e{place}"))
        return judge(cells, MAIN)

    return of


def test_a_decided_cell_and_one_without_prediction_lack_nothing(judged):
    lacking = lacking_runs(judged())
    assert lacking[0] is None and lacking[-1] is None
    assert all(runs >= 1 for runs in lacking[1:-1])


@pytest.mark.parametrize("index", range(1, len(COUNTS) - 1))
def test_so_many_more_runs_decide_and_one_fewer_does_not(judged, index):
    lacking = lacking_runs(judged())[index]
    after = {
        more: [judged(index, kind, more)[index].decided for kind in (SOLVES, FAILS)] for more in range(lacking + 1)
    }
    assert any(after.pop(lacking))
    assert not any(decided for both in after.values() for decided in both)


def test_a_cell_alone_that_no_run_has_fitted_lacks_five(small_run):
    cells = judge([evidence(histories(small_run(), {UNFIT: 2}), YES)], MAIN)
    assert lacking_runs(cells) == [5]


def test_the_likely_number_of_runs_is_the_first_at_which_expected_counts_decide(small_run):
    """A cell alone, 19 of 28 fitting runs with 2 unfit: share 20/30, and 29 of 32 runs fit."""
    [likely] = likely_runs(judge([evidence(histories(small_run(), {SOLVES: 19, FAILS: 9, UNFIT: 2}), YES)], MAIN))
    more, share = likely["fitting"], 20 / 30
    e_values = [e_process(19 + round(share * k), 28 + k).above for k in range(1, more + 1)]
    assert likely["share"] == pytest.approx(share) and likely["runs"] == ceil(more / (29 / 32))
    assert e_values[-1] >= 20 and max(e_values[:-1]) < 20


def test_a_cell_near_one_half_needs_more_than_is_named_and_a_closed_one_none(judged):
    likely = likely_runs(judged())
    named = [None if each is None else each["fitting"] for each in likely]
    assert likely[0] is likely[6] is likely[7] is None, "decided, not learnt, no prediction"
    assert named[4] is None and likely[4]["most"] == MOST_LIKELY, "3 of 6"
    assert all(named[place] >= lacking_runs(judged())[place] for place in (1, 2, 3, 5))
