"""Majority claims on runs: the exact tests, their combination over cells, and the three answers."""

from itertools import combinations, product
from math import comb, log

import pytest
from scipy.stats import chi2

from lengthgen.proofs_checks.claim import Refuted, Strength, Unsettled
from lengthgen.proofs_checks.majority import Count, at_least, settle
from lengthgen.proofs_checks.trained import Reading

READING = Reading(arms=(), fact="10 runs", conditions=("as trained",))


def combined(*p_values: float) -> float:
    return float(chi2.sf(-2 * sum(map(log, p_values)), 2 * len(p_values)))


def counts(*pairs: tuple[int, int]) -> list[Count]:
    return [Count(cell=f"cell {at}", did=did, trials=trials, of=5) for at, (did, trials) in enumerate(pairs)]


def answer(*pairs: tuple[int, int], least: int | None = None) -> str:
    try:
        settle(counts(*pairs), least=least or len(pairs), trial="runs", does="generalize", reading=READING)
    except Refuted:
        return "refuted"
    except Unsettled:
        return "unsettled"
    return "shown"


@pytest.mark.parametrize(
    ("pairs", "least", "expected"),
    [
        ([(5, 5)], 1, "shown"),
        ([(4, 5)], 1, "unsettled"),
        ([(0, 5)], 1, "refuted"),
        ([(0, 0)], 1, "unsettled"),
        ([(5, 5)] * 6, 6, "shown"),
        ([(5, 5)] * 5 + [(4, 5)], 6, "unsettled"),
        ([(5, 5)] * 5 + [(0, 0)], 6, "unsettled"),
        ([(5, 5)] * 5 + [(0, 5)], 6, "unsettled"),
        ([(20, 20)] * 5 + [(0, 20)], 6, "refuted"),
        ([(0, 5)] * 2 + [(5, 5)] * 4, 6, "unsettled"),
        ([(0, 5)] * 6, 6, "refuted"),
        ([(0, 5)] * 3 + [(0, 0)] * 3, 6, "refuted"),
        ([(0, 0)] * 6, 6, "unsettled"),
        ([(5, 5)] * 3, 2, "shown"),
        ([(5, 5), (5, 5), (4, 5)], 2, "shown"),
        ([(5, 5), (5, 5), (0, 5)], 2, "unsettled"),
        ([(8, 8), (8, 8), (0, 5)], 2, "shown"),
        ([(5, 5), (5, 5), (0, 0)], 2, "shown"),
        ([(5, 5), (0, 5), (0, 5)], 2, "unsettled"),
        ([(8, 8), (0, 8), (0, 8)], 2, "refuted"),
        ([(5, 5), (0, 5), (0, 0)], 2, "unsettled"),
        ([(8, 8), (0, 8), (0, 0)], 2, "unsettled"),
        ([(0, 5)] * 3, 2, "refuted"),
    ],
)
def test_counts_show_a_claim_refute_it_or_leave_it_unsettled(pairs, least, expected):
    assert answer(*pairs, least=least) == expected


@pytest.mark.parametrize("p_values", [(0.03,), (0.5, 0.04), (1.0, 1.0, 1 / 32), (1e-9, 0.2, 0.9, 1.0)])
def test_fishers_combination_is_a_tail_of_chi_square(p_values):
    assert at_least(p_values, 1) == pytest.approx(combined(*p_values))


def test_the_smallest_of_several_p_values_are_left_out_in_any_order():
    assert at_least([0.2, 0.01, 0.6], 3) == pytest.approx(0.6)
    assert at_least([0.2, 0.01, 0.6], 2) == pytest.approx(combined(0.2, 0.6))
    assert at_least([0.2, 0.01], 3) == at_least([], 1) == 1


def verdicts(trials: int, cells: int, least: int) -> dict[tuple[int, ...], str]:
    return {
        done: answer(*((did, trials) for did in done), least=least) for done in product(range(trials + 1), repeat=cells)
    }


@pytest.mark.parametrize(("trials", "cells", "least"), [(6, 1, 1), (5, 2, 2), (5, 3, 3), (5, 3, 2), (7, 2, 1)])
def test_a_false_claim_is_shown_and_a_true_one_refuted_in_5_percent_at_most(trials, cells, least):
    """Bound the error over all outcomes, with shares of runs from a coarse grid, on the side that matters."""
    answers = verdicts(trials, cells, least)

    def chance(verdict: str, shares: tuple[float, ...]) -> float:
        total = 0.0
        for done, outcome in answers.items():
            if outcome == verdict:
                weight = 1.0
                for did, share in zip(done, shares, strict=True):
                    weight *= comb(trials, did) * share**did * (1 - share) ** (trials - did)
                total += weight
        return total

    for shares in product((0.0, 0.3, 0.5, 0.7, 1.0), repeat=cells):
        if sum(share > 0.5 for share in shares) < least:
            assert chance("shown", shares) <= 0.05
        if sum(share >= 0.5 for share in shares) >= least:
            assert chance("refuted", shares) <= 0.05
    assert chance("shown", (1.0,) * cells) == 1
    assert chance("refuted", (0.0,) * cells) == 1


def test_more_runs_that_agree_never_turn_a_verdict_against_the_claim():
    order = ["refuted", "unsettled", "shown"]
    answers = verdicts(5, 3, 2)
    for fewer, more in combinations(answers, 2):
        if all(a <= b for a, b in zip(fewer, more, strict=True)):
            assert order.index(answers[fewer]) <= order.index(answers[more])


def test_an_answer_says_how_it_was_found():
    evidence = settle(counts((5, 5), (5, 5)), least=2, trial="runs", does="generalize", reading=READING)
    assert evidence.strength is Strength.STATISTICAL
    assert evidence.facts[0] == "p = 0.031, the largest of the cells'"
    assert evidence.facts[1] == "cell 0: 5 of 5 fitting runs generalize, p = 0.031"
    assert evidence.facts[-1] == "10 runs"
    assert evidence.assumptions[0] == "as trained"
    with pytest.raises(Unsettled) as undecided:
        settle(counts((5, 5), (4, 5), (0, 0)), least=3, trial="runs", does="generalize", reading=READING)
    assert str(undecided.value) == (
        "not decided for 3 of 3 cells, p = 1: cell 1: 4 of 5 fitting runs generalize, p = 0.19; "
        "cell 2: none of 5 runs fits the training scales, p = 1"
    )
    with pytest.raises(Refuted) as refuted:
        settle(counts((0, 8), (1, 8), (8, 8)), least=3, trial="runs", does="generalize", reading=READING)
    assert str(refuted.value).startswith("cell 0: 0 of 8 fitting runs generalize; cell 1: 1 of 8 ")
    assert "\n" not in str(refuted.value) + str(undecided.value)


def test_a_refutation_names_the_cells_that_do_the_opposite_and_no_others():
    with pytest.raises(Refuted) as refuted:
        settle(counts((20, 20), (0, 20), (10, 20)), least=3, trial="runs", does="generalize", reading=READING)
    named = str(refuted.value).partition("; that 3 of 3")[0]
    assert "cell 1" in named
    assert "cell 0" not in named and "cell 2" not in named
