"""Claims on longer text are decided by the stored losses of their own models, and by nothing else."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from scipy.stats import t

from lengthgen.empirical.studies.text.corpus import load_profile
from lengthgen.empirical.studies.text.text_run import TextRun
from lengthgen.infrastructure.files import write_sealed_json
from lengthgen.proofs_checks.claim import Refuted, Unsettled
from lengthgen.proofs_checks.majority import decide_mean, p_values
from lengthgen.proofs_checks.papers.runs.longer_text import CLAIMS
from lengthgen.proofs_checks.result import Verdict
from lengthgen.proofs_checks.runner import run_claim
from lengthgen.proofs_checks.trained import Runs
from tests.sealed_results import text_result

PROFILE = load_profile("quick")
FLAT, RISING, WIDE = ((2.0, 1.995, 2.01), (2.5, 2.6, 2.4), (0.5, 2.0, 3.6))
"""Losses of three seeds at the longest length; at the trained length all have 2, 1.99 and 2.01."""

Store = Callable[[Mapping[str, Mapping[str, Sequence[float]]]], Runs]


@pytest.fixture
def stored(tmp_path: Path) -> Store:
    """Function that stores results: encoding -> encoding of the test -> losses at the longest length."""

    def store(losses: Mapping[str, Mapping[str, Sequence[float]]]) -> Runs:
        for encoding, tests in losses.items():
            run = TextRun(encoding=encoding, profile_name="quick", profile=PROFILE)
            longer = len(PROFILE.lengths) - 1
            at = {under: [(2.0, 1.99, 2.01), *[last] * longer] for under, last in tests.items()}
            write_sealed_json(run.path(tmp_path), text_result(run, at))
        return Runs(out=tmp_path, profile="quick")

    return store


def verdict(claim_id: str, runs: Runs) -> Verdict:
    [claim] = [claim for claim in CLAIMS if claim.id == claim_id]
    return run_claim(claim.given(runs)).verdict


@pytest.mark.parametrize(
    ("alibi", "rope", "verdicts"),
    [
        (FLAT, RISING, (Verdict.VERIFIED, Verdict.VERIFIED)),
        (RISING, RISING, (Verdict.REFUTED, Verdict.UNSETTLED)),
        (WIDE, RISING, (Verdict.UNSETTLED, Verdict.UNSETTLED)),
    ],
)
def test_losses_decide(
    stored: Store, alibi: Sequence[float], rope: Sequence[float], verdicts: tuple[Verdict, Verdict]
) -> None:
    runs = stored({"alibi": {"alibi": alibi}, "rope": {"rope": rope}})
    assert (verdict("text-alibi", runs), verdict("text-rope", runs)) == verdicts


def test_an_interpolation_is_compared_with_rope_at_the_longest_length(stored: Store) -> None:
    runs = stored({"rope": {"rope": RISING, "ntk": FLAT, "yarn": RISING, "interpolation": (3.0, 3.2, 3.1)}})
    assert verdict("text-ntk", runs) == Verdict.VERIFIED
    assert verdict("text-yarn", runs) == Verdict.UNSETTLED
    assert verdict("text-pi", runs) == Verdict.REFUTED


def test_what_is_missing_or_damaged_is_named(stored: Store, tmp_path: Path) -> None:
    [fox] = [claim for claim in CLAIMS if claim.id == "text-fox"]

    def says(runs: Runs) -> str:
        with pytest.raises(Unsettled) as error:
            fox.check(**fox.given(runs).holds)
        return str(error.value)

    assert "lengthgen text --encoding fox --profile quick" in says(Runs(out=None, profile="quick"))
    assert "lengthgen text --encoding fox" in says(Runs(out=tmp_path, profile="quick"))
    assert "unknown profile 'huge'" in says(Runs(out=tmp_path, profile="huge"))
    runs = stored({"fox": {"fox": FLAT}})
    fox.check(**fox.given(runs).holds)
    path = TextRun(encoding="fox", profile_name="quick", profile=PROFILE).path(tmp_path)
    path.write_text(path.read_text().replace("2.01", "2.02"))
    assert "is not as it was written" in says(runs)


def test_the_refutation_has_the_numbers(stored: Store) -> None:
    [alibi] = [claim for claim in CLAIMS if claim.id == "text-alibi"]
    with pytest.raises(Refuted, match=r"alibi at the longest length: 2.500; .* \+0.500, \+0.610, \+0.390"):
        alibi.check(**alibi.given(stored({"alibi": {"alibi": RISING}})).holds)


def test_p_values_are_those_of_students_t() -> None:
    statistic = (0.2 - 0.5) / (0.1 / 3**0.5)
    expected = {"below": t.cdf(statistic, 2), "above": t.sf(statistic, 2)}
    assert p_values([0.1, 0.2, 0.3], 0.5) == pytest.approx(expected)


@pytest.mark.parametrize("differences", [[0.1], [0.1, 0.1], [0.9, 0.9, 0.9]])
def test_one_seed_and_equal_differences_decide_nothing(differences: list[float]) -> None:
    assert p_values(differences, 0.5) == {"below": 1, "above": 1}
    for side in ("below", "above"):
        with pytest.raises(Unsettled, match="not decided"):
            decide_mean(differences, side, 0.5, seen="")


def test_the_same_losses_in_every_seed_are_no_rise_but_no_gain_either(stored: Store) -> None:
    equal = (2.0, 1.99, 2.01)
    runs = stored({"alibi": {"alibi": equal}, "rope": {"rope": RISING, "ntk": RISING}})
    assert verdict("text-alibi", runs) == Verdict.VERIFIED
    assert verdict("text-ntk", runs) == Verdict.UNSETTLED


def test_seeds_with_the_same_loss_decide_nothing(stored: Store) -> None:
    alibi = next(claim for claim in CLAIMS if claim.id == "text-alibi")
    same = stored({"alibi": {"alibi": (2.0, 2.0, 2.01)}, "rope": {"rope": RISING}})
    with pytest.raises(Unsettled, match="two seeds have the same loss"):
        alibi.check(**alibi.given(same).holds)
