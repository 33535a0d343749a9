"""Predictions follow from what training shows: operators, labels and table entries."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from lengthgen.circuits.analysis import Analysis, analyse
from lengthgen.circuits.encoding_spec import ENCODINGS, EncodingError, HintNeeded, NoRelation, parse_encoding
from lengthgen.circuits.formats import CLOSING
from lengthgen.circuits.prediction import predict
from lengthgen.circuits.prediction_record import VARIANTS, Prediction
from lengthgen.circuits.src import traces_up_to
from lengthgen.circuits.task import Reference, Task, TaskError
from lengthgen.circuits.tasks import load
from lengthgen.circuits.tasks.counter import parity
from tests.circuits.conftest import Analyses
from tests.circuits.examples import direct_parity

LARGEST = 10
TEST = range(1, LARGEST + 1)

# task, format, encoding -> the first scale that breaks when training is 1..N0, as a function of N0
RULE = {
    ("parity", "aligned", "ipe"): None,
    ("parity", "unaligned", "ipe-sh"): None,
    ("parity", "aligned", "rpe"): None,
    ("parity", "unaligned", "rpe"): "next",
    ("parity", "aligned", "ape"): "next",
    ("parity", "unaligned", "ape"): "next",
    ("parity", "aligned", "nope"): "second",
    ("parity", "unaligned", "nope"): "second",
    ("parity", "aligned", "ipe-sh"): None,
    ("parity", "aligned", "lbpe"): None,
    # No relation without scale hint has its roles.
    ("parity", "unaligned", "lbpe"): "second",
    ("parity", "unaligned", "lbpe-sh"): None,
    ("parity", "aligned", "alibi"): None,
    ("parity", "unaligned", "rope"): "next",
    ("parity", "unaligned", "fire"): "next",
    ("copy", "aligned", "ipe"): None,
    ("copy", "aligned", "rpe"): None,
    ("copy", "unaligned", "rpe"): "next",
    ("permutation", "aligned", "ipe-sh"): "next",
    ("permutation", "unaligned", "ipe-sh"): "next",
    ("permutation", "aligned", "rpe"): "next",
}


@pytest.mark.parametrize("largest_train", [2, 5])
@pytest.mark.parametrize("case", RULE, ids="-".join)
def test_which_encodings_generalize_and_where_the_others_break(
    case: tuple[str, str, str], largest_train: int, analyses: Analyses
) -> None:
    name, layout, encoding = case
    largest = LARGEST if name != "permutation" else 6
    prediction = predict(
        analyses(name, layout, largest),
        parse_encoding(encoding),
        train=range(1, largest_train + 1),
        test=range(1, largest + 1),
    )
    expected = {None: None, "next": largest_train + 1, "second": 2}[RULE[case]]
    assert prediction.breaks_at == expected
    assert prediction.generalizes == (expected is None)
    if expected is not None:
        assert f"at scale {expected} it" in prediction.why


def _parity(
    analyses: Analyses, layout: str, encoding: str, train: Sequence[int], test: Sequence[int] = TEST
) -> Prediction:
    return predict(analyses("parity", layout, LARGEST), parse_encoding(encoding), train=train, test=test)


@pytest.mark.parametrize(
    ("layout", "encoding", "low", "high"),
    [
        ("aligned", "ipe", 1, 1),
        ("aligned", "rpe", 1, 1),
        ("aligned", "ape", 6, 11),
        ("aligned", "nope", math.inf, math.inf),
        ("unaligned", "rpe", 5, 10),
        ("unaligned", "ape", 20, 65),
    ],
)
def test_the_complexities_are_those_of_training_and_of_all_scales(
    layout: str, encoding: str, low: float, high: float, analyses: Analyses
) -> None:
    prediction = _parity(analyses, layout, encoding, range(1, 6))
    assert (prediction.complexity_train, prediction.complexity_test) == (low, high)


def test_an_ideal_relation_without_hint_is_never_given_one(analyses: Analyses) -> None:
    assert not _parity(analyses, "aligned", "ipe", [1, 2]).scale_hint
    with pytest.raises(
        HintNeeded, match="key 1 for query 3 changes at scale 2: use the aligned format or a scale hint"
    ):
        _parity(analyses, "unaligned", "ipe", [1, 2])
    learned = _parity(analyses, "unaligned", "lbpe", [1, 2])
    assert not learned.scale_hint
    assert "at scale 2 it needs a scale hint, as the role of key 1 for query 3 changes" in learned.why


@pytest.mark.parametrize(
    ("name", "coverage", "with_token"), [("select-first", 2, None), ("select-middle", 2, None), ("parity", 2, 3)]
)
def test_the_token_at_the_query_may_replace_the_hint_of_learned_labels(
    name: str, coverage: int, with_token: int | None, analyses: Analyses
) -> None:
    scales = range(1, LARGEST + 1)
    prediction = predict(analyses(name, "unaligned", LARGEST), parse_encoding("lbpe"), train=range(1, 6), test=scales)
    assert prediction.selection and prediction.selection_with_token
    assert (prediction.breaks_at, prediction.selection.breaks_at) == (coverage, coverage)
    assert prediction.selection_with_token.breaks_at == with_token
    if with_token:
        reason = f"at scale {with_token} it needs a scale hint, as the role of key 2 for query 5 changes"
        assert prediction.selection_with_token.why == reason


@pytest.mark.parametrize(("train", "test", "breaks_at"), [([5], [5], None), ([4], [4, 7], 7), ([7], [4, 7], 7)])
def test_labels_to_be_found_need_to_exist_at_the_scales_in_use_only(
    train: list[int], test: list[int], breaks_at: int | None, analyses: Analyses
) -> None:
    prediction = _parity(analyses, "unaligned", "lbpe", train, test)
    assert (prediction.breaks_at, prediction.literal) == (breaks_at, breaks_at is None)


@pytest.mark.parametrize(
    ("layout", "encoding", "breaks_at"),
    [
        ("aligned", "ipe", None),
        ("unaligned", "ipe-sh", None),
        ("aligned", "rpe", None),
        # Distances 3, 4 and 5 are known; the first unknown one is that of scale 1.
        ("unaligned", "rpe", 1),
        # Query 2 of the output reads a digit at scales 3 to 5; only at scale 1 does it read the end.
        ("aligned", "ape", 1),
    ],
)
def test_training_need_not_begin_at_scale_1(
    layout: str, encoding: str, breaks_at: int | None, analyses: Analyses
) -> None:
    assert _parity(analyses, layout, encoding, [3, 4, 5]).breaks_at == breaks_at


@pytest.mark.parametrize("layout", ["aligned", "unaligned"])
def test_order_and_repeats_of_scales_change_nothing(layout: str, analyses: Analyses) -> None:
    for encoding in ENCODINGS.keys() - {"ipe"}:
        plain = _parity(analyses, layout, encoding, [2, 3, 4], [2, 3, 6, 7])
        assert _parity(analyses, layout, encoding, [4, 2, 3, 2], [7, 3, 6, 2, 7]) == plain, encoding
        assert _parity(analyses, layout, encoding, (2, 3, 4), [6, 7]) == plain, encoding


def test_unseen_distractors_are_counted_and_decide_a_variant_only(analyses: Analyses) -> None:
    width = LARGEST + CLOSING

    def shown(scales: Sequence[int]) -> set[tuple[int, str]]:
        """(distance, token) of irrelevant keys in aligned parity, from its layout: x1..xn, filling, '=', y1..."""
        pairs = set()
        for n in scales:
            for t in range(1, n + 2):
                query = width + t
                tokens = {
                    i: "01" if i <= n else "_" if i <= width else "=" if i == width + 1 else "01"
                    for i in range(1, query)
                }
                pairs |= {(query - i, token) for i, allowed in tokens.items() if i != t for token in allowed}
        return pairs

    prediction = _parity(analyses, "aligned", "rpe", range(1, 6))
    assert prediction.unseen_distractors == len(shown(TEST) - shown(range(1, 6))) > 0
    assert prediction.generalizes
    first = next(n for n in range(6, LARGEST + 1) if shown([n]) - shown(range(1, 6)))
    assert prediction.distractors.breaks_at == first
    assert prediction.distractors.why.endswith(
        f"at scale {first} it shows at irrelevant keys pairs of label and token that training never showed"
    )
    for layout in ("aligned", "unaligned"):
        ideal = _parity(analyses, layout, "ipe-sh", range(1, 6))
        assert ideal.unseen_distractors == 0
        assert ideal.distractors.generalizes


@pytest.mark.parametrize(("train", "test"), [([], [1]), ([1], []), ([0, 1], [2]), ([1], [LARGEST + 1])])
def test_scales_that_cannot_be_predicted_are_refused(train: list[int], test: list[int], analyses: Analyses) -> None:
    with pytest.raises(TaskError, match=r"1\.\.10, at least one"):
        _parity(analyses, "aligned", "ipe", train, test)


@pytest.mark.parametrize("encoding", [name for name in ENCODINGS if name.startswith("random-")])
def test_positions_drawn_anew_give_no_prediction(encoding: str, analyses: Analyses) -> None:
    prediction = _parity(analyses, "aligned", f"{encoding}[longest=64]", [1, 2])
    assert prediction.generalizes is prediction.literal is prediction.breaks_at is prediction.relation is None
    assert prediction.encoding == f"{encoding}[longest=64]"
    assert "positions anew for each batch" in prediction.why


def test_an_encoding_of_the_user_is_predicted_from_the_relation_that_it_declares(
    tmp_path: Path, analyses: Analyses
) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "from lengthgen.theory.relation import relative\ndistance = relative()\nclass Own: pass\n"
        "knows = Own()\nknows.relation = distance\nsilent = Own()\n"
    )
    expected = _parity(analyses, "unaligned", "rpe", [1, 2, 3])
    for name in ("distance", "knows"):
        prediction = _parity(analyses, "unaligned", f"{path}:{name}", [1, 2, 3])
        assert prediction == replace(expected, encoding=f"{path}:{name}")
    assert _parity(analyses, "unaligned", f"{path}:silent", [1, 2, 3]).generalizes is None
    with pytest.raises(EncodingError, match="defines no 'missing'"):
        _parity(analyses, "unaligned", f"{path}:missing", [1, 2, 3])


@pytest.mark.parametrize("layout", ["aligned", "unaligned"])
def test_predictions_survive_json_and_differ_in_their_digests(layout: str, analyses: Analyses) -> None:
    names = [name for name in ENCODINGS if (name, layout) != ("ipe", "unaligned")]
    predictions = [_parity(analyses, layout, name, range(1, 6)) for name in names]
    for prediction in predictions:
        content = prediction.as_json()
        assert content["generalizes"] is prediction.generalizes
        assert content["literal"] is prediction.literal
        again = Prediction.from_json(json.loads(json.dumps(content, allow_nan=False)))
        assert again == prediction
        assert again.digest == prediction.digest
        before = {key: value for key, value in content.items() if key not in VARIANTS}
        assert Prediction.from_json(before) == replace(prediction, **dict.fromkeys(VARIANTS))
        assert Prediction.from_json(before).digest == prediction.digest, "predictions stored before keep their digest"
    assert len({prediction.digest for prediction in predictions}) == len(predictions)


@pytest.mark.parametrize("encoding", ["ipe-sh", "rpe", "ape", "nope"])
def test_a_constant_output_of_two_symbols_is_selected_by_no_view(encoding: str) -> None:
    """1 0 0 1 0 0 ... whatever the prompt: no step has an argument, so all views are empty."""
    task = Task(
        name="one-and-two-zeros",
        alphabet=("0", "1"),
        prompt=lambda n: [("0", "1")] * n,
        generate=lambda prompt: (["1", "0", "0"] * len(prompt))[: 2 * len(prompt) + 1],
    )
    analysis = analyse(task, "unaligned", 4, "typed")
    prediction = predict(analysis, parse_encoding(encoding), train=[1, 2], test=[1, 2, 3, 4])
    selection = prediction.selection
    assert prediction.generalizes and selection is not None
    assert (selection.complexity_test, selection.breaks_at) == (math.inf, 1)
    assert "position 3 of scale 1 and position 2 of scale 1 show equal views" in selection.why


@pytest.mark.parametrize("name", ["permutation", "log-shift"])
def test_without_its_operators_told_the_relative_encoding_selects_none(name: str) -> None:
    analysis = analyse(load(name, base=2), "aligned", 5)
    for encoding, selects in (("rpe", False), ("ipe-sh", True)):
        prediction = predict(analysis, parse_encoding(encoding), train=[1, 2, 3], test=[1, 2, 3, 4, 5])
        assert prediction.generalizes and prediction.selection is not None
        assert prediction.selection.generalizes is selects
        assert math.isinf(prediction.selection.complexity_train) is not selects


def test_a_prediction_names_what_the_rule_leaves_out(analyses: Analyses) -> None:
    table, law = (_parity(analyses, "unaligned", name, range(1, 6)) for name in ("rpe", "rope"))
    assert "not in the rule" not in table.why
    assert law.why == f"{table.why} (not in the rule: {ENCODINGS['rope'].caveat})"
    assert (law.breaks_at, law.complexity_test) == (table.breaks_at, table.complexity_test)


@pytest.fixture(scope="module")
def addition() -> Analysis:
    return analyse(load("addition", base=8), "unaligned", 6)


def test_entries_that_a_sample_happened_not_to_show_are_not_missing(addition: Analysis) -> None:
    """Carries come in from scale 3 on, and every entry occurs; a trace holds only some of so many prompts."""
    spec = parse_encoding("ipe-sh")
    assert not addition.traces[2].exhaustive
    for train, covered in ((range(1, 6), True), (range(1, 4), True), (range(1, 3), False)):
        prediction = predict(addition, spec, train=train, test=range(1, 7))
        assert (prediction.entries_covered, prediction.generalizes, prediction.literal) == (covered, covered, True)
        assert prediction.breaks_at == (None if covered else 3)
    sampled = predict(addition, spec, train=range(1, 6), test=range(1, 7), more_prompts=())
    assert sampled.entries_covered is False


def test_the_circuit_is_that_of_the_mode() -> None:
    """The reference circuit ends aligned parity by reading '=', for which its query reads a bit at larger scales."""
    spec, scales = parse_encoding("ipe"), range(1, 5)
    free, declared, typed = (analyse(parity(), "aligned", 4, mode) for mode in ("free", "declared", "typed"))
    assert [analysis.mode for analysis in (free, declared, typed)] == ["free", "declared", "typed"]
    assert predict(free, spec, train=scales, test=scales).complexity_train == 1
    with pytest.raises(HintNeeded, match=r"key 2 for query 8 changes at scale 2: use a scale hint"):
        predict(declared, spec, train=scales, test=scales)
    hinted = parse_encoding("ipe-sh")
    assert predict(declared, hinted, train=scales, test=scales).complexity_train == 1
    # The first bit is copied, the end is a constant: operators of one argument and of none beside xor.
    assert predict(typed, hinted, train=scales, test=scales).complexity_train == 3


def test_modes_that_cannot_be_are_refused() -> None:
    with pytest.raises(TaskError, match="unknown mode 'loose': choose one of free, declared, typed"):
        analyse(parity(), "aligned", 3, "loose")
    with pytest.raises(TaskError, match="mode 'declared' needs a reference circuit"):
        analyse(replace(parity(), reference=None), "aligned", 3, "declared")


def test_a_step_without_arguments_meets_no_label() -> None:
    """RPE-Square cannot point to '=' when unaligned copy ends; if the end is a constant it has to point to nothing."""
    spec = parse_encoding("rpe-square")
    for mode, breaks_at in (("free", 5), ("typed", None)):
        prediction = predict(
            analyse(load("unaligned-copy"), "unaligned", 8, mode), spec, train=range(1, 5), test=range(1, 9)
        )
        assert (prediction.breaks_at, prediction.labels_covered) == (breaks_at, breaks_at is None)


def test_positions_that_cannot_be_told_apart_are_noticed_in_sampled_prompts_too() -> None:
    task = load("copy", base=10)
    assert not traces_up_to(task, 8)[-1].exhaustive
    prediction = predict(analyse(task, "unaligned", 8), parse_encoding("nope"), train=[7], test=[8])
    assert (prediction.breaks_at, prediction.complexity_train) == (7, math.inf)


@pytest.mark.parametrize("layout", ["aligned", "unaligned"])
def test_a_task_that_needs_ever_more_arguments_has_no_circuit_and_no_encoding_is_expected_to_do_it(layout: str) -> None:
    analysis = analyse(direct_parity(), layout, 9)
    assert analysis.result is None
    with pytest.raises(TaskError, match="needs more than 8 arguments, so that it has no circuit"):
        _ = analysis.circuit
    for encoding in ("rpe", "nope", "ape"):
        prediction = predict(analysis, parse_encoding(encoding), train=range(1, 6), test=range(1, 10))
        assert (prediction.generalizes, prediction.literal, prediction.breaks_at) == (False, False, 6)
        assert "in training 5 are enough, and at scale 6 they are not" in prediction.why
    with pytest.raises(NoRelation, match="some step needs more than 8 arguments, so the task has no circuit"):
        predict(analysis, parse_encoding("ipe-sh"), train=range(1, 6), test=range(1, 10))
    prediction = predict(analysis, parse_encoding("prism"), train=range(1, 6), test=range(1, 10))
    assert (prediction.generalizes, prediction.relation) == (None, None)
    assert prediction.why.startswith("the tokens decide the position of each token")


def test_the_tasks_own_circuit_is_taken_where_it_tells_fewer_roles_apart() -> None:
    """Mines in two rows: with as many operators a search finds circuits of which later scales show new roles."""

    def steps(columns: int) -> list[tuple[str, tuple[int, ...]]]:
        def cell(row: int, column: int) -> int:
            return row * columns + column + 1 if 0 <= column < columns else 2 * columns + 1  # '=' beyond the border

        beside = [(0, 0), (1, 0), (0, -1), (0, 1), (1, -1), (1, 1)]
        return [
            ("mines", tuple(cell((row + down) % 2, column + right) for down, right in beside))
            for row in range(2)
            for column in range(columns)
        ]

    def mines(_: str, symbols: tuple[str, ...]) -> str:
        return "M" if symbols[0] == "M" else str(symbols[1:].count("M"))

    def generate(prompt: tuple[str, ...]) -> list[str]:
        return [
            mines(operator, tuple(prompt[place - 1] for place in places))
            for operator, places in steps(len(prompt) // 2)
        ]

    task = Task(
        name="mines",
        alphabet=("M", ".", "=", *"012345"),
        prompt=lambda columns: [("M", ".")] * (2 * columns) + [("=",)],
        generate=generate,
        reference=Reference(arity=6, steps=steps, apply=mines),
    )
    free, own = (analyse(task, "aligned", 5, mode) for mode in ("free", "declared"))
    assert len(free.circuit.operators) == 1
    of_search, declared = (
        predict(each, parse_encoding("ipe-sh"), train=range(1, 4), test=range(1, 6)) for each in (free, own)
    )
    assert of_search == declared and of_search.breaks_at is None
