"""Claims on models of modular addition are decided by their stored accuracies, and by nothing else."""

import pytest

from lengthgen.empirical.studies.modular_addition.conditions import load_profile
from lengthgen.empirical.studies.modular_addition.modular_run import ModularRun
from lengthgen.infrastructure.files import write_sealed_json
from lengthgen.proofs_checks.claim import Refuted, Unsettled
from lengthgen.proofs_checks.papers.runs.modular_runs import CLAIMS, without_order
from lengthgen.proofs_checks.result import Verdict
from lengthgen.proofs_checks.runner import run_claim
from lengthgen.proofs_checks.trained import Runs
from tests.sealed_results import modular_result

PROFILE = load_profile("quick")
HIGH, LOW, WIDE = (0.97, 0.96), (0.01, 0.02), (0.95, 0.05)


@pytest.fixture
def stored(tmp_path):
    """Function that stores measurements: condition -> (position -> accuracy by seed, accuracy otherwise)."""

    def store(conditions, profile="quick", trained=(1.0, 1.0)):
        for name, (positions, otherwise) in conditions.items():
            run = ModularRun(condition_name=name, profile_name=profile, profile=PROFILE)
            at = {f"B at {position}": shares for position, shares in positions.items()}
            write_sealed_json(run.path(tmp_path), modular_result(run, at, otherwise, trained=trained))
        return Runs(out=tmp_path, profile="quick")

    return store


def settled(claim_id, runs):
    [claim] = [claim for claim in CLAIMS if claim.id == claim_id]
    return run_claim(claim.given(runs))


CLIFF = dict.fromkeys(PROFILE.positions[1:], LOW)
INSIDE = [at for at in PROFILE.positions if PROFILE.shortest_prefix <= at <= PROFILE.longest_prefixes[-1]]
SHIFTED = {at: (0.95, 0.96) if at in INSIDE else LOW for at in PROFILE.positions}


def test_a_cliff_and_none(stored):
    runs = stored({"described-baseline": (CLIFF, HIGH), "described-shift": (SHIFTED, HIGH)})
    for claim_id in ("mod-9a", "mod-9b"):
        result = settled(claim_id, runs)
        assert (result.verdict, [row.rejected for row in result.falsifiers]) == (
            Verdict.VERIFIED,
            [True] * len(result.falsifiers),
        ), result


def test_no_cliff_refutes_one_and_a_hole_in_the_range_the_other(stored):
    runs = stored({"described-baseline": ({8: (0.95, 0.96)}, HIGH), "described-shift": ({INSIDE[1]: LOW}, HIGH)})
    assert settled("mod-9a", runs).verdict == Verdict.REFUTED
    assert settled("mod-9b", runs).verdict == Verdict.REFUTED


def test_models_that_do_not_fit_decide_nothing(stored):
    runs = stored({"described-baseline": (CLIFF, HIGH)}, trained=(1.0, 0.3))
    result = settled("mod-9a", runs)
    assert result.verdict == Verdict.UNSETTLED
    assert "models of described-baseline do not fit their training pairs: 100%, 30% right" in result.reason


def test_seeds_that_disagree_decide_nothing(stored):
    runs = stored({"described-baseline": ({8: WIDE}, HIGH), "described-shift": ({INSIDE[1]: WIDE}, HIGH)})
    assert settled("mod-9a", runs).verdict == Verdict.UNSETTLED
    assert settled("mod-9b", runs).verdict == Verdict.UNSETTLED


def test_accuracies_that_fall_alike_by_chance_decide_nothing(stored):
    cliff = dict.fromkeys(PROFILE.positions[1:], (0.02, 0.01))
    runs = stored({"described-baseline": (cliff, HIGH), "described-shift": (SHIFTED, HIGH)})
    assert settled("mod-9a", runs).verdict == Verdict.UNSETTLED


@pytest.mark.parametrize(
    ("alibi", "verdict"), [(HIGH, Verdict.VERIFIED), (LOW, Verdict.REFUTED), ((0.36, 0.39), Verdict.UNSETTLED)]
)
def test_alibi_is_compared_with_the_best_predictor_without_order(stored, alibi, verdict):
    assert without_order(PROFILE, {}) == [3453 / 9409] * 2
    runs = stored({"described-alibi": ({}, alibi), "released-alibi": ({}, (0.20, 0.21))})
    assert settled("mod-9c", runs).verdict == verdict


def test_equal_accuracies_are_equal_to_the_last_digit(stored):
    described = {"described-shift": ({}, HIGH), "described-shift-plain": ({4: WIDE}, HIGH)}
    runs = stored({"released-shift": ({}, HIGH), "released-shift-plain": ({}, HIGH), **described})
    assert settled("mod-9d", runs).verdict == Verdict.VERIFIED
    runs = stored({"released-shift-plain": ({2: (0.97, 0.9600001)}, HIGH)})
    assert settled("mod-9d", runs).verdict == Verdict.REFUTED


def test_what_is_missing_or_damaged_is_named(stored, tmp_path):
    [claim] = [claim for claim in CLAIMS if claim.id == "mod-9c"]

    def says(runs):
        with pytest.raises(Unsettled) as error:
            claim.check(**claim.given(runs).holds)
        return str(error.value)

    command = "lengthgen modular-addition --condition described-alibi --profile quick"
    assert command in says(Runs(out=None, profile="quick"))
    assert command in says(Runs(out=tmp_path, profile="quick"))
    assert "unknown profile 'huge'" in says(Runs(out=tmp_path, profile="huge"))
    runs = stored({"described-alibi": ({}, LOW)})
    with pytest.raises(Refuted, match=r"described-alibi, held-out pairs: 0.015; .* by seed -0.357, -0.347"):
        claim.check(**claim.given(runs).holds)
    path = ModularRun(condition_name="described-alibi", profile_name="quick", profile=PROFILE).path(tmp_path)
    path.write_text(path.read_text().replace("0.02", "0.03"))
    assert "is not as it was written" in says(runs)
