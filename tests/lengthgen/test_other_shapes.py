"""Stored JSON of another shape, whatever its seal says: one line that names the file, or the same answer again."""

import copy
import json
import random
from pathlib import Path

import pytest

from lengthgen.circuits.prediction_record import PREDICTION, Prediction
from lengthgen.circuits.tasks import TaskSpec
from lengthgen.empirical.experiment.protocol import Cell
from lengthgen.empirical.experiment.sealed import SealedRun
from lengthgen.empirical.experiment.store import NOTE, RunStore, read_note
from lengthgen.empirical.studies.court.trial import GUESS, guess_as_json
from lengthgen.empirical.studies.modular_addition.conditions import load_profile as load_modular_profile
from lengthgen.empirical.studies.modular_addition.modular_run import ModularRun
from lengthgen.empirical.studies.text.corpus import load_profile
from lengthgen.empirical.studies.text.text_run import TextRun
from lengthgen.empirical.studies.verdict import judging
from lengthgen.empirical.studies.verdict.judgement import judge
from lengthgen.empirical.studies.verdict.stored import JUDGEMENT
from lengthgen.empirical.trial.frozen import frozen_protocol, read_predictions
from lengthgen.empirical.trial.record import read_record
from lengthgen.infrastructure.cache import UserCached
from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.infrastructure.files import read_json, read_sealed_json, write_json, write_sealed_json
from lengthgen.infrastructure.shapes import WrongShape
from lengthgen.paper_figs.figures import learned_labels
from lengthgen.paper_figs.report.relations import Bounds, explore, pool_labels
from lengthgen.paper_figs.sources import RECORDS
from lengthgen.paper_figs.stored import exploration, read_circuits
from lengthgen.proofs_checks import ledger, registry
from lengthgen.proofs_checks.formal import recorded
from lengthgen.proofs_checks.result import RESULT, Result
from lengthgen.proofs_checks.runner import run_claim
from lengthgen.questions import encodings
from lengthgen.theory.encodings.catalogue import named
from tests.attack.damage import of_other_types, places
from tests.empirical.conftest import smoke_run
from tests.empirical.studies.verdict.made_up import frozen, frozen_cell, outcomes
from tests.proofs_checks import toys
from tests.sealed_results import modular_result, text_result

MOST = 12
"""Changes of each content."""


def plain(content):
    return json.loads(json.dumps(content))


def changed(content, *, gaps):
    """Yield MOST copies with a value of another type somewhere, or with a gap: null, or a key left out."""
    pick = random.Random(0)
    for _ in range(MOST):
        other = copy.deepcopy(content)
        every = [place for place in places(other) if place[0][place[1]] is not None]
        depth = pick.choice(sorted({depth for *_, depth in every}))
        holder, key, _ = pick.choice([place for place in every if place[-1] == depth])
        if not gaps:
            holder[key] = pick.choice(of_other_types(holder[key]))
        elif isinstance(holder, dict) and pick.random() < 0.5:
            del holder[key]
        else:
            holder[key] = None
        yield other


def small_judgement():
    cells = [frozen_cell(f"random-local-invariant-{n}[base=2]", always_no=(0.0, 3)) for n in range(4)]
    return judge(frozen(cells), outcomes(frozen(cells), {cell.name: [None, 3, None] for cell in cells}))


CLAIM = toys.CLAIMS["toy-accept"]
CERTIFICATE = {
    "holds": True, "left": ["+", "x", ["q", "1/2"], ["^", "x", 2]], "right": ["*", ["sin", "x"], ["d", "x", "x"]],
    "roots": {"r": ["q", "2"]}, "units": [[["1", {"x": 1}]]], "relations": [], "cofactors": [],
    "arguments": [["angle", "x", [1]]], "point": {"x": ["1", "0"]},
}  # fmt: skip
SHAPES = {
    "claim": (RESULT, lambda: run_claim(CLAIM).as_plain() | {"identities": [CERTIFICATE]}),
    "prediction": (PREDICTION, lambda: next(filter(None, (its["prediction"] for its in recorded_predictions())))),
    "guess": (GUESS, lambda: guess_as_json(ledger_guess())),
    "matrix": (encodings._MATRIX, lambda: encodings.matrix_answer([named("alibi")])),
    "exploration": (
        exploration, lambda: explore(TaskSpec(name="copy", format="aligned"), Bounds(largest=(2,), train=range(1, 2)))
    ),
    "judgement": (JUDGEMENT, small_judgement),
}  # fmt: skip


def ledger_guess():
    from lengthgen.empirical.studies.theories.rival import no

    return no("it grows", breaks_at=3)


@pytest.mark.parametrize("name", SHAPES)
def test_no_value_of_another_type_is_read_from_a_cache(name):
    shape, make = SHAPES[name]
    content = plain(make())
    shape(content, "answer")
    for other in changed(content, gaps=False):
        with pytest.raises(WrongShape):
            shape(other, "answer")


@pytest.mark.parametrize("gaps", [False, True])
def test_a_claim_whose_stored_result_has_another_shape_is_run_again(tmp_path, gaps, capsys):
    entry = UserCached(path=tmp_path / "claim.json", code="")
    content = plain(SHAPES["claim"][1]())
    chosen = ledger.Selection(claims=(CLAIM,), find=registry.find, home=registry.home)
    for other in changed(content, gaps=gaps):
        entry.keep(other)
        read = ledger._stored(chosen, {CLAIM.id: entry}).get(CLAIM.id)
        assert read is None or (gaps and read.strength), "what may be absent may be"
        assert read is not None or "claim.json was damaged and is made again" in capsys.readouterr().err
    entry.keep(content)
    assert isinstance(ledger._stored(chosen, {CLAIM.id: entry})[CLAIM.id], Result)


def of_run(run: SealedRun, out: Path):
    result = run.result(out)
    assert result is not None
    return result


TEXT_RUN = TextRun(encoding="nope", profile_name="smoke", profile=load_profile("smoke"))
MODULAR_RUN = ModularRun(
    condition_name="described-shift", profile_name="smoke", profile=load_modular_profile("smoke")
)  # fmt: skip


def whole_text(out):
    numbers = [[0.5] * TEXT_RUN.profile.seeds] * len(TEXT_RUN.profile.lengths)
    return text_result(TEXT_RUN, {"nope": numbers})


def whole_modular(out):
    return modular_result(MODULAR_RUN, {}, [0.5] * len(MODULAR_RUN.profile.seeds))


def note(out):
    run = smoke_run()
    store = RunStore(out)
    store.note_progress([run], 2)
    return read_sealed_json(store.state_path([run]).with_name(NOTE))


def circuits(out):
    explorations, pool = pool_labels([plain(SHAPES["exploration"][1]())])
    return {"key": "", "answer": {"explorations": explorations, "pool": pool}}


def of_record(name):
    return lambda out: {key: its for key, its in read_json(RECORDS / name).items() if key != "seal"}


def first_relation(out):
    return {"relations": read_json(RECORDS / "quick/until-decided/fig4/relations.json")["relations"][:1]}


def recorded_predictions():
    """Predictions of a recorded cell, as predictions.json holds them."""
    first = read_record(RECORDS / "padding-sink/decimal").runs[0]
    cell = Cell(task=first.run.task, encoding=first.run.encoding).as_json()
    modes = first.predictions.items()
    return [{"cell": cell, "mode": mode, "prediction": its and its.as_json()} for mode, its in modes]


def predictions(path):
    return [entry["prediction"] and Prediction.from_json(entry["prediction"]) for entry in read_predictions(path, "")]


def record_of_coq(path):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recorded, "RECORD", path)
        return recorded.record.__wrapped__()


VERDICT = "verdict/random-tasks"
STORED = {
    "frozen answers": ("mine/frozen.json", of_record("padding-sink/decimal/frozen.json"), frozen_protocol),
    "predictions": ("mine/predictions.json", lambda out: {"answer": recorded_predictions()}, predictions),
    "circuits": ("mine/circuits.json", circuits, lambda path: read_circuits(path, "")),
    "learned relations": ("relations.json", first_relation, learned_labels.read_relations),
    "text": (TEXT_RUN.path(Path()), whole_text, lambda path: of_run(TEXT_RUN, path.parents[2])),
    "modular": (MODULAR_RUN.path(Path()), whole_modular, lambda path: of_run(MODULAR_RUN, path.parents[2])),
    "modular predictions": (
        MODULAR_RUN.path(Path()).with_suffix(".predictions.json"), MODULAR_RUN.predictions,
        lambda path: MODULAR_RUN.predictions(path.parents[2]),
    ),
    "note": (f"{smoke_run().id}/{NOTE}", note, lambda path: read_note(path.parent)),
}  # fmt: skip
UNSEALED = {
    "gate": ("mine/gate.json", of_record(f"{VERDICT}/gate.json"),
             lambda path: judging.stored_gate("mine", path.parents[1])),
    "environment": ("mine/environment.json", of_record(f"{VERDICT}/environment.json"),
                    lambda path: judging._trained_on(path.parent)),
    "deviations": ("mine/deviations.json", lambda out: ["One.", "Two."], lambda path: judging._deviations(path.parent)),
    "Coq": ("recorded.json", lambda out: read_json(recorded.RECORD), record_of_coq),
}  # fmt: skip


@pytest.mark.parametrize("name", [*STORED, *UNSEALED])
def test_a_stored_file_of_another_shape_is_named_in_one_line(tmp_path, name):
    file, make, read = (STORED | UNSEALED)[name]
    write = write_sealed_json if name in STORED else write_json
    path, content = tmp_path / file, plain(make(tmp_path))
    write(path, content)
    read(path)
    for gaps in (False, True):
        refused = 0
        for other in changed(content, gaps=gaps):
            write(path, other)
            try:
                read(path)
            except LengthgenError as error:
                refused += 1
                assert path.name in str(error) and "\n" not in str(error)
        assert refused or gaps, "none of these changes is seen"
    write_json(path, None)
    with pytest.raises(LengthgenError, match=path.name.replace("+", r"\+")):
        read(path)
