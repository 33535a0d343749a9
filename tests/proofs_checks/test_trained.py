"""Claims on trained runs, over stores of runs that nobody trained: each answer, and what makes another of it."""

from dataclasses import replace
from pathlib import Path

import pytest

from lengthgen.circuits.prediction_record import Prediction
from lengthgen.empirical.experiment.protocol import Cell, load_protocol
from lengthgen.empirical.experiment.store import RunStore
from lengthgen.empirical.trial.frozen import FILE, Frozen, stored_runs
from lengthgen.infrastructure.files import write_sealed_json
from lengthgen.proofs_checks import ledger, registry
from lengthgen.proofs_checks.claim import Claim, Strength
from lengthgen.proofs_checks.papers.runs import longer_text, modular_runs
from lengthgen.proofs_checks.result import Result, Verdict
from lengthgen.proofs_checks.runner import run_claim
from lengthgen.proofs_checks.trained import Arm, Runs
from tests.proofs_checks.stores import Scores, by_encoding, fails, fill, put, runs_of, solves, unfit

SEALED = {claim.id for module in (longer_text, modular_runs) for claim in module.CLAIMS}
ON_RUNS = {claim.id: claim for claim in registry.CLAIMS if claim.on_runs and claim.id not in SEALED}
"""Claims on runs of tasks; those on other models are tested in test_longer_text.py and test_modular_runs.py."""
IDEAL = ("ipe", "ipe-sh")


@pytest.fixture(autouse=True)
def quick_disk(monkeypatch):
    """Skip waiting for the disk: nothing here needs to outlive a power cut."""
    monkeypatch.setattr("os.fsync", lambda handle: None)


def settled(claim_id: str, out: Path | None, profile: str = "quick") -> Result:
    return settled_by(Runs(out=out, profile=profile), claim_id)


def settled_by(runs: Runs, claim_id: str) -> Result:
    return run_claim(ON_RUNS[claim_id].given(runs))


def arms(claim: Claim) -> list[Arm]:
    changes = [claim.holds, *claim.falsifiers.values()]
    return [value for change in changes for value in change.values() if isinstance(value, Arm)]


READ = [arm for claim_id in ("fig2-ideal", "fig2-absolute") for arm in arms(ON_RUNS[claim_id])]
"""Arms of fig2 that two claims and their falsifiers read."""


def test_only_claims_on_runs_are_given_any(tmp_path):
    runs = Runs(out=tmp_path, profile="smoke")
    assert {id for id, claim in ON_RUNS.items() if claim.given(runs).holds["runs"] is runs} == set(ON_RUNS)
    other = registry.find("rope-1")
    assert other.given(runs) is other


@pytest.mark.parametrize("claim_id", ON_RUNS)
@pytest.mark.parametrize("profile", ["smoke", "quick", "paper"])
def test_a_claim_and_its_falsifiers_speak_of_cells_that_there_are(claim_id, profile):
    for arm in arms(ON_RUNS[claim_id]):
        assert arm.cells(load_protocol(arm.protocol, profile))


@pytest.mark.parametrize(
    "arm",
    [
        Arm(protocol="fig2", encodings=("lbpe",)),
        Arm(protocol="fig2", tasks=("reverse",)),
        Arm(protocol="fig2", formats=("unaligned",)),
        Arm(protocol="fig2", encodings=("ipe-sh",), tasks=("copy",)),
    ],
)
def test_a_cell_that_a_protocol_does_not_have_is_named(arm):
    with pytest.raises(ValueError, match="protocol fig2 has no such cell: "):
        arm.cells(load_protocol("fig2", "quick"))


@pytest.mark.parametrize("claim_id", ON_RUNS)
def test_a_claim_without_runs_names_the_command_that_makes_them(claim_id):
    result = settled(claim_id, None)
    assert (result.verdict, result.strength) == (Verdict.UNSETTLED, None)
    assert "runs needed of" in result.reason
    assert "profile quick, are missing: lengthgen sweep" in result.reason
    assert result.reason.endswith("--profile quick --out OUT")
    assert not any(falsifier.rejected for falsifier in result.falsifiers)


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> Path:
    """Folder with runs of all protocols, as the claims predict them."""
    out = tmp_path_factory.mktemp("world")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.fsync", lambda handle: None)
        predict(out, as_predicted)
        fill(out, "fig3", by_encoding(IDEAL))
        fill(out, "fig4", by_encoding(("lbpe", "lbpe-sh")))
        fill(out, "controls", by_encoding(()))
        fill(out, "randomized", lambda cell, seed: solves if cell.encoding.startswith("random-") else fails)
        fill(out, "prism", by_encoding(["prism[positions=256]"]), arms(ON_RUNS["prism-9"]))
    return out


@pytest.fixture(scope="module")
def runs_of_world(world) -> Runs:
    """The runs of that folder, of which each is read once for all claims, as it is for a user."""
    return Runs(out=world, profile="quick")


def generalizes(cell: Cell) -> bool:
    """True if a cell of fig2 is predicted to generalize: relative distances are ideal where each slot has its own."""
    return cell.encoding in IDEAL or (cell.encoding == "rpe" and cell.task.name in ("copy", "parity", "addition"))


def as_predicted(cell: Cell, seed: int) -> Scores:
    return solves if generalizes(cell) else fails


def opposite(cell: Cell, seed: int) -> Scores:
    return fails if generalizes(cell) else solves


def predict(out: Path, scores, *, profile: str = "quick", literal: tuple[str, ...] = (), before=None) -> None:
    """Store predictions for fig2, and then its runs, which name them.

    If `before` is given, the seeds of the runs derive from what it makes of each prediction, as it was frozen.
    """
    predictions = store_predictions(out, profile, literal)
    protocol = load_protocol("fig2", profile)
    if before is not None:
        frozen = {cell: {"free": before(prediction)} for cell, prediction in predictions.items()}
        Frozen.of(protocol, frozen, out / "fig2" / FILE)
    for (cell, _), runs in stored_runs(protocol, out).items():
        for index, run in enumerate(runs):
            digest = predictions[cell].digest
            put(RunStore(out / "runs"), run, scores(cell, index), prediction_sha256_free=digest)


def store_predictions(out: Path, profile: str, literal: tuple[str, ...] = ()) -> dict[Cell, Prediction]:
    """Store predictions for fig2.

    What is predicted to fail has a complexity that grows, but with encodings in `literal` it lacks entries instead.
    """
    generalizing = Prediction(
        encoding="", relation="made up", scale_hint=False, complexity_train=1, complexity_test=1, labels_covered=True,
        entries_covered=True, unseen_distractors=0, breaks_at=None, why="",
    )  # fmt: skip
    answer, predictions = [], {}
    for cell in load_protocol("fig2", profile).cells:
        prediction = replace(generalizing, encoding=cell.encoding)
        if not generalizes(cell):
            prediction = replace(prediction, entries_covered=False, breaks_at=6)
            prediction = prediction if cell.encoding in literal else replace(prediction, complexity_test=2)
        fields = cell.as_json()
        answer.append({"cell": fields, "mode": "free", "prediction": prediction.as_json()})
        predictions[cell] = prediction
    write_sealed_json(out / "fig2" / "predictions.json", {"key": "", "answer": answer})
    return predictions


@pytest.mark.parametrize("claim_id", ON_RUNS)
def test_a_claim_that_the_runs_bear_out_is_verified_and_names_them(claim_id, runs_of_world):
    result = settled_by(runs_of_world, claim_id)
    assert result.verdict is Verdict.VERIFIED, result.reason
    assert result.strength is Strength.STATISTICAL
    assert all(falsifier.rejected and "p = " in falsifier.reason for falsifier in result.falsifiers)
    facts = " ".join(result.evidence.facts)
    assert "p = " in facts
    assert "SHA-256 of their sorted digests: " in facts
    conditions = result.evidence.assumptions[0]
    for words in ("profile quick", "model w64l2h4", "an exact match of 0.95", "last checkpoint"):
        assert words in conditions


def test_the_facts_count_runs_and_give_p_values(runs_of_world):
    facts = settled_by(runs_of_world, "fig2-ideal").evidence.facts
    assert facts[:2] == (
        "p = 0.016, the largest of the cells'",
        "copy, aligned, ipe: 6 of 6 fitting runs generalize, p = 0.016",
    )
    assert facts[-1].startswith("36 runs; ")
    assert settled_by(runs_of_world, "fig3-hint").evidence.facts[1] == (
        "addition (base 4), unaligned, ipe-sh against aligned, ipe: 6 of 6 fitting pairs are at most 0.1 apart, "
        "p = 0.016; differences 0.000 to 0.000; 6 pairs in all"
    )


def test_a_claim_that_the_runs_contradict_is_refuted_with_the_cells(tmp_path):
    fill(tmp_path, "fig2", by_encoding(["ape"]), READ)
    ideal, absolute = settled("fig2-ideal", tmp_path), settled("fig2-absolute", tmp_path)
    assert (ideal.verdict, absolute.verdict) == (Verdict.REFUTED, Verdict.REFUTED)
    assert ideal.reason.startswith("copy, aligned, ipe: 0 of 6 fitting runs generalize; ")
    assert absolute.reason.startswith("copy, aligned, ape: 0 of 6 fitting runs do not generalize; ")


def test_runs_that_do_not_fit_are_neither_for_nor_against(tmp_path):
    def scores(cell, seed):
        if (cell.task.name, cell.encoding) == ("division", "ipe"):
            return unfit
        return solves if cell.encoding in IDEAL else fails

    fill(tmp_path, "fig2", scores, READ)
    result = settled("fig2-ideal", tmp_path)
    assert result.verdict is Verdict.UNSETTLED
    assert result.reason.endswith("division (base 4), aligned, ipe: none of 6 runs fits the training scales, p = 1")
    assert settled("fig2-absolute", tmp_path).verdict is Verdict.VERIFIED


def test_two_of_three_tasks_are_enough_where_the_third_says_nothing_and_one_is_not(tmp_path):
    lost = {"lbpe-sh": ("select-middle",), "lbpe": ("select-middle", "select-last")}
    fill(tmp_path, "fig4", lambda cell, seed: unfit if cell.task.name in lost[cell.encoding] else solves)
    fill(tmp_path, "fig2", by_encoding(IDEAL), arms(ON_RUNS["fig4-hint"]))  # what the falsifier is about
    assert settled("fig4-hint", tmp_path).verdict is Verdict.VERIFIED
    assert settled("fig4-no-hint", tmp_path).verdict is Verdict.UNSETTLED


def test_models_that_all_fail_match_nothing(tmp_path):
    """Two arms at zero are as close as can be; that learned absolute codes match them too gives it away."""
    for protocol in ("fig2", "fig3"):
        fill(tmp_path, protocol, by_encoding(()), arms(ON_RUNS["fig3-hint"]))
    result = settled("fig3-hint", tmp_path)
    assert result.verdict is Verdict.UNSETTLED
    assert "falsifier 'learned absolute codes match it' is not rejected" in result.reason


def test_a_tie_is_no_win(tmp_path):
    fill(tmp_path, "randomized", by_encoding(()), arms(ON_RUNS["rpe-7"]))
    assert settled("rpe-7", tmp_path).verdict is Verdict.REFUTED


def test_runs_of_one_seed_are_compared_and_only_where_both_fit(tmp_path):
    def scores(cell, seed):
        random = cell.encoding.startswith("random-")
        beyond = 0.1 * seed + 0.01 * random
        return unfit if (random, seed) in ((True, 0), (False, 1)) else lambda scale: 1.0 if scale <= 5 else beyond

    fill(tmp_path, "randomized", scores, arms(ON_RUNS["rpe-7"]))
    result = settled("rpe-7", tmp_path)
    assert result.verdict is Verdict.UNSETTLED
    cell = "copy, unaligned, random-ape[longest=128] against unaligned, ape"
    assert f"{cell}: 3 of 3 fitting pairs are better, p = 0.12" in result.reason


def at_25(share: float) -> Scores:
    return lambda scale: share if scale == 25 else 1.0 if scale <= 5 else 0.5


@pytest.mark.parametrize(
    ("prism", "sinusoidal", "verdict"),
    [
        (0.95, 0.19, Verdict.VERIFIED),
        (0.94, 0.19, Verdict.REFUTED),
        (0.95, 0.2, Verdict.REFUTED),
    ],
)
def test_prism_is_judged_at_five_times_the_trained_scale(prism, sinusoidal, verdict, tmp_path):
    shares = {"prism[positions=256]": prism, "sinusoidal": sinusoidal}
    fill(tmp_path, "prism", lambda cell, seed: at_25(shares.get(cell.encoding, 0.0)), arms(ON_RUNS["prism-9"]))
    result = settled("prism-9", tmp_path)
    assert result.verdict is verdict, result.reason
    if verdict is Verdict.VERIFIED:
        assert "exact match at scale 25 0.95 to 0.95 against 0.19 to 0.19" in result.evidence.facts[1]


def test_the_first_of_several_model_sizes_is_read():
    assert settled("fig2-ideal", None, profile="paper").reason.startswith("120 of the 120 runs needed of fig2")


def test_a_missing_run_is_counted(world, tmp_path):
    fill(tmp_path, "fig2", lambda cell, seed: None if seed == 4 else solves, READ)
    result = settled("fig2-ideal", tmp_path)
    assert result.reason == (
        "6 of the 36 runs needed of fig2, profile quick, are missing: lengthgen sweep fig2 --profile quick --out OUT"
    )
    assert settled("fig2-ideal", world, profile="smoke").reason.startswith(
        "12 of the 12 runs needed of fig2, profile smoke"
    )


def test_a_damaged_run_is_named(tmp_path):
    store = fill(tmp_path, "fig2", by_encoding(IDEAL), READ)
    run = next(runs[2] for cell, runs in runs_of("fig2").items() if cell.encoding == "ipe")
    for name in ("metrics.parquet", "checkpoint.safetensors"):
        path = store.folder(run) / name
        undamaged = path.read_bytes()
        path.write_bytes(undamaged[:-1])
        result = settled("fig2-ideal", tmp_path)
        assert result.verdict is Verdict.UNSETTLED
        assert f"{run.id}/{name} is not as it was written: remove {run.id}" in result.reason
        path.write_bytes(undamaged)
    assert settled("fig2-ideal", tmp_path).verdict is Verdict.VERIFIED


class TestTheConjecture:
    """Predictions against observations, over the cells of fig2."""

    def test_the_two_rules_are_judged_each_by_its_own_predictions(self, tmp_path):
        predict(tmp_path, as_predicted, literal=("rpe", "ape", "nope"), before=lambda prediction: prediction)
        runs = Runs(out=tmp_path, profile="quick")
        assert settled_by(runs, "conjecture-coverage").verdict is Verdict.VERIFIED
        assert settled_by(runs, "conjecture-literal").verdict is Verdict.UNSETTLED

    def test_predictions_that_say_the_opposite_are_refuted(self, tmp_path):
        predict(tmp_path, opposite)
        result = settled("conjecture-coverage", tmp_path)
        assert result.verdict is Verdict.REFUTED
        assert result.reason.startswith("0 of 66 observed cells do as predicted, fewer than by chance: p = ")

    def test_where_all_runs_do_the_same_nothing_is_decided(self, tmp_path):
        predict(tmp_path, by_encoding(()))
        reason = settled("conjecture-coverage", tmp_path).reason
        assert reason.startswith("not decided: 51 of 66 observed cells do as predicted, p = ")

    def test_runs_that_were_trained_without_their_predictions_decide_nothing(self, tmp_path):
        fill(tmp_path, "fig2", by_encoding(IDEAL), profile="smoke")
        runs = Runs(out=tmp_path, profile="smoke")
        assert "no stored predictions can be read from" in settled_by(runs, "conjecture-coverage").reason
        store_predictions(tmp_path, "smoke")
        reason = settled_by(runs, "conjecture-coverage").reason
        assert "was not trained under the prediction that is stored now" in reason

    def test_predictions_that_are_not_the_frozen_ones_decide_nothing_whatever_the_runs_name(self, tmp_path):
        def other(prediction: Prediction) -> Prediction:
            return replace(prediction, breaks_at=None if prediction.breaks_at else 6)

        predict(tmp_path, as_predicted, profile="smoke", before=other)
        result = settled("conjecture-coverage", tmp_path, "smoke")
        assert result.verdict is Verdict.UNSETTLED
        assert "is not the one from which the seeds of its runs derive" in result.reason


class Silent:
    def __init__(self, total: int) -> None:
        self.total = total
        assert total == 0, "a claim on runs needs no process"

    def step(self, name: str) -> None:
        raise AssertionError


def test_the_ledger_keeps_nothing_of_runs_and_a_changed_run_changes_the_verdict(tmp_path):
    def verdict() -> Result:
        chosen = registry.selection(["fig2-ideal"], runs=Runs(out=tmp_path, profile="quick"))
        return ledger.run(chosen, cache=tmp_path / "cache", progress=Silent)[0]

    store = fill(tmp_path, "fig2", by_encoding(IDEAL), READ)
    before = verdict()
    assert before.verdict is Verdict.VERIFIED
    assert verdict().evidence == before.evidence
    run = next(runs[0] for cell, runs in runs_of("fig2").items() if cell.encoding == "ipe")
    store.remove(run.id)
    assert verdict().reason.startswith("1 of the 36 runs needed")
    put(store, run, lambda scale: 0.99)
    again = verdict()
    assert again.verdict is Verdict.VERIFIED
    assert again.evidence.facts[:-1] == before.evidence.facts[:-1]
    assert again.evidence.facts[-1] != before.evidence.facts[-1], "other runs, another digest"
    store.remove(run.id)
    put(store, run, fails)
    assert verdict().verdict is Verdict.UNSETTLED
    assert list((tmp_path / "cache").iterdir()) == []
