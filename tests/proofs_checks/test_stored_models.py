"""Claims on models of text and of modular addition are decided by their stored measurements, and by nothing else."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import t

from lengthgen.empirical.studies.modular_addition.conditions import load_profile as load_modular
from lengthgen.empirical.studies.modular_addition.modular_run import ModularRun
from lengthgen.empirical.studies.text.corpus import load_profile as load_text
from lengthgen.empirical.studies.text.text_run import TextRun
from lengthgen.infrastructure.files import write_sealed_json
from lengthgen.proofs_checks import registry
from lengthgen.proofs_checks.claim import Unsettled
from lengthgen.proofs_checks.majority import decide_mean, p_values
from lengthgen.proofs_checks.papers.runs.modular_runs import without_order
from lengthgen.proofs_checks.result import Result, Verdict
from lengthgen.proofs_checks.runner import run_claim
from lengthgen.proofs_checks.trained import Runs
from tests.sealed_results import modular_result, text_result

TEXT, MODULAR = load_text("quick"), load_modular("quick")
FLAT, RISING, WIDE = ((2.0, 1.995, 2.01), (2.5, 2.6, 2.4), (0.5, 2.0, 3.6))
"""Losses of three seeds at the longest length; at the trained length all have 2, 1.99 and 2.01."""
EQUAL, FALLEN = (2.0, 1.99, 2.01), (3.0, 3.2, 3.1)
HIGH, LOW, APART = (0.97, 0.96), (0.01, 0.02), (0.95, 0.05)
"""Accuracies of two seeds."""
CLIFF = dict.fromkeys(MODULAR.positions[1:], LOW)
INSIDE = [at for at in MODULAR.positions if MODULAR.shortest_prefix <= at <= MODULAR.longest_prefixes[-1]]
SHIFTED = {at: (0.95, 0.96) if at in INSIDE else LOW for at in MODULAR.positions}
VERIFIED, REFUTED, UNSETTLED = Verdict.VERIFIED, Verdict.REFUTED, Verdict.UNSETTLED

Store = Callable[..., Runs]


@pytest.fixture
def stored(tmp_path: Path) -> Store:
    """Function that stores losses (encoding -> encoding of the test -> longest) and accuracies (condition -> ...)."""

    def store(models: Any, trained: tuple[float, float] = (1.0, 1.0)) -> Runs:
        for name, measured in models.items():
            if isinstance(measured, dict):
                text_run = TextRun(encoding=name, profile_name="quick", profile=TEXT)
                longer = len(TEXT.lengths) - 1
                losses = {under: [EQUAL, *[last] * longer] for under, last in measured.items()}
                write_sealed_json(text_run.path(tmp_path), text_result(text_run, losses))
            else:
                run = ModularRun(condition_name=name, profile_name="quick", profile=MODULAR)
                at = {f"B at {position}": shares for position, shares in measured[0].items()}
                write_sealed_json(run.path(tmp_path), modular_result(run, at, measured[1], trained=trained))
        return Runs(out=tmp_path, profile="quick")

    return store


def settled(claim_id: str, runs: Runs) -> Result:
    return run_claim(registry.find(claim_id).given(runs))


ROPE = {"rope": {"rope": RISING}}
BASE, SHIFT = "described-baseline", "described-shift"
DIFFERENT = {"released-shift": ({}, HIGH), SHIFT: ({}, HIGH), "described-shift-plain": ({4: APART}, HIGH)}


@pytest.mark.parametrize(
    ("models", "verdicts"),
    [
        (ROPE | {"alibi": {"alibi": FLAT}}, {"text-alibi": VERIFIED, "text-rope": VERIFIED}),
        (ROPE | {"alibi": {"alibi": RISING}}, {"text-alibi": REFUTED, "text-rope": UNSETTLED}),
        (ROPE | {"alibi": {"alibi": WIDE}}, {"text-alibi": UNSETTLED, "text-rope": UNSETTLED}),
        (
            {"rope": {"rope": RISING, "ntk": FLAT, "yarn": RISING, "interpolation": FALLEN}},
            {"text-ntk": VERIFIED, "text-yarn": UNSETTLED, "text-pi": REFUTED},
        ),
        # The same losses in every seed are no rise, but no gain either
        ({"alibi": {"alibi": EQUAL}, "rope": {"rope": RISING, "ntk": RISING}}, {"text-alibi": VERIFIED}),
        ({BASE: (CLIFF, HIGH), SHIFT: (SHIFTED, HIGH)}, {"mod-9a": VERIFIED, "mod-9b": VERIFIED}),
        ({BASE: ({8: (0.95, 0.96)}, HIGH), SHIFT: ({INSIDE[1]: LOW}, HIGH)}, {"mod-9a": REFUTED, "mod-9b": REFUTED}),
        ({BASE: ({8: APART}, HIGH), SHIFT: ({INSIDE[1]: APART}, HIGH)}, {"mod-9a": UNSETTLED, "mod-9b": UNSETTLED}),
        # Accuracies that fall alike by chance decide nothing
        ({BASE: (dict.fromkeys(CLIFF, LOW[::-1]), HIGH), SHIFT: (SHIFTED, HIGH)}, {"mod-9a": UNSETTLED}),
        *(
            ({"described-alibi": ({}, alibi), "released-alibi": ({}, (0.20, 0.21))}, {"mod-9c": verdict})
            for alibi, verdict in ((HIGH, VERIFIED), (LOW, REFUTED), ((0.36, 0.39), UNSETTLED))
        ),
        *(
            (DIFFERENT | {"released-shift-plain": plain}, {"mod-9d": verdict})
            for plain, verdict in ((({}, HIGH), VERIFIED), (({2: (0.97, 0.9600001)}, HIGH), REFUTED))
        ),
    ],
)
def test_measurements_decide(stored: Store, models: Any, verdicts: dict[str, Verdict]) -> None:
    runs = stored(models)
    for claim_id, verdict in verdicts.items():
        result = settled(claim_id, runs)
        assert result.verdict is verdict, result.reason
        assert verdict is not VERIFIED or all(falsifier.rejected for falsifier in result.falsifiers)


@pytest.mark.parametrize(
    ("claim_id", "models", "reason"),
    [
        ("text-alibi", {"alibi": {"alibi": RISING}}, "alibi at the longest length: 2.500; "),
        ("text-alibi", {"alibi": {"alibi": RISING}}, "+0.500, +0.610, +0.390"),
        ("text-alibi", ROPE | {"alibi": {"alibi": (2.0, 2.0, 2.01)}}, "two seeds have the same loss"),
        ("text-fox", {}, "lengthgen text --encoding fox --profile quick"),
        ("mod-9c", {"described-alibi": ({}, LOW)}, "described-alibi, held-out pairs: 0.015; "),
        ("mod-9c", {"described-alibi": ({}, LOW)}, "by seed -0.357, -0.347"),
        ("mod-9c", {}, "lengthgen modular-addition --condition described-alibi --profile quick"),
    ],
)
def test_the_reason_has_the_numbers_or_the_command(stored: Store, claim_id: str, models: Any, reason: str) -> None:
    runs = stored(models)
    assert reason in settled(claim_id, runs).reason
    assert models or reason in settled(claim_id, Runs(out=None, profile="quick")).reason
    assert "unknown profile 'huge'" in settled(claim_id, Runs(out=runs.out, profile="huge")).reason


def test_models_that_do_not_fit_decide_nothing(stored: Store) -> None:
    result = settled("mod-9a", stored({BASE: (CLIFF, HIGH)}, trained=(1.0, 0.3)))
    assert result.verdict is UNSETTLED
    assert f"models of {BASE} do not fit their training pairs: 100%, 30% right" in result.reason


@pytest.mark.parametrize(
    ("claim_id", "models", "change"),
    [
        ("text-fox", {"fox": {"fox": FLAT}}, ("2.01", "2.02")),
        ("mod-9c", {"described-alibi": ({}, LOW)}, ("0.02", "0.03")),
    ],
)
def test_a_damaged_measurement_is_named(stored: Store, claim_id: str, models: Any, change: tuple[str, str]) -> None:
    runs = stored(models)
    assert runs.out is not None
    [path] = [path for path in runs.out.rglob("*.json") if path.is_file()]
    path.write_text(path.read_text().replace(*change))
    assert "is not as it was written" in settled(claim_id, runs).reason


def test_the_best_predictor_without_order_and_p_values_are_those_of_other_means() -> None:
    assert without_order(MODULAR, {}) == [3453 / 9409] * 2
    statistic = (0.2 - 0.5) / (0.1 / 3**0.5)
    expected = {"below": t.cdf(statistic, 2), "above": t.sf(statistic, 2)}
    assert p_values([0.1, 0.2, 0.3], 0.5) == pytest.approx(expected)


@pytest.mark.parametrize("differences", [[0.1], [0.1, 0.1], [0.9, 0.9, 0.9]])
def test_one_seed_and_equal_differences_decide_nothing(differences: list[float]) -> None:
    assert p_values(differences, 0.5) == {"below": 1, "above": 1}
    for side in ("below", "above"):
        with pytest.raises(Unsettled, match="not decided"):
            decide_mean(differences, side, 0.5, seen="")
