"""Predictions follow from what training shows: operators, labels and table entries."""

import math
from collections.abc import Sequence

import pytest

from circuits.prediction import ENCODINGS, Prediction, analyse, predict
from circuits.task import TaskError
from circuits.tasks import parity
from tests.circuits.conftest import Analyses
from tests.circuits.examples import direct_parity

LARGEST = 10
TEST = range(1, LARGEST + 1)

# task, format, encoding -> the first scale that breaks when training is 1..N0, as a function of N0
RULE = {
    ("parity", "aligned", "ipe"): None,
    ("parity", "unaligned", "ipe"): None,
    ("parity", "aligned", "rpe"): None,
    ("parity", "unaligned", "rpe"): "next",
    ("parity", "aligned", "ape"): "next",
    ("parity", "unaligned", "ape"): "next",
    ("parity", "aligned", "nope"): "second",
    ("parity", "unaligned", "nope"): "second",
    ("copy", "aligned", "ipe"): None,
    ("copy", "aligned", "rpe"): None,
    ("copy", "unaligned", "rpe"): "next",
    ("permutation", "aligned", "ipe"): "next",
    ("permutation", "unaligned", "ipe"): "next",
    ("permutation", "aligned", "rpe"): "next",
}


@pytest.mark.parametrize("largest_train", [2, 5])
@pytest.mark.parametrize("case", RULE, ids="-".join)
def test_who_generalizes_and_where_the_others_break(
    case: tuple[str, str, str], largest_train: int, analyses: Analyses
) -> None:
    name, layout, encoding = case
    largest = LARGEST if name != "permutation" else 6
    found = predict(
        analyses(name, layout, largest), encoding, train=range(1, largest_train + 1), test=range(1, largest + 1)
    )
    expected = {None: None, "next": largest_train + 1, "second": 2}[RULE[case]]
    assert found.breaks_at == expected
    assert found.generalizes == (expected is None)
    if expected is not None:
        assert f"at scale {expected} it" in found.why


def _parity(
    analyses: Analyses, layout: str, encoding: str, train: Sequence[int], test: Sequence[int] = TEST
) -> Prediction:
    return predict(analyses("parity", layout, LARGEST), encoding, train=train, test=test)


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
    found = _parity(analyses, layout, encoding, range(1, 6))
    assert (found.complexity_train, found.complexity_test) == (low, high)


def test_the_ideal_relation_takes_the_hint_only_where_the_format_needs_it(analyses: Analyses) -> None:
    assert not _parity(analyses, "aligned", "ipe", [1, 2]).scale_hint
    assert _parity(analyses, "unaligned", "ipe", [1, 2]).scale_hint
    assert not any(_parity(analyses, "unaligned", name, [1, 2]).scale_hint for name in ("rpe", "ape", "nope"))


def test_a_label_met_only_beyond_training_is_a_new_operator(analyses: Analyses) -> None:
    found = _parity(analyses, "unaligned", "rpe", [4], [4, 5])
    assert not found.labels_covered
    assert found.complexity_test == found.complexity_train + 1
    assert "labels" in found.why


def test_src_alone_does_not_do_entries_must_be_covered(analyses: Analyses) -> None:
    """One operator at scale 1 and at every scale, yet no digit meets a digit before scale 2."""
    found = _parity(analyses, "aligned", "ipe", [1])
    assert found.complexity_train == found.complexity_test == 1
    assert found.labels_covered
    assert not found.entries_covered
    assert (found.breaks_at, "entries" in found.why) == (2, True)


@pytest.mark.parametrize(
    ("layout", "encoding", "breaks_at"),
    [
        ("aligned", "ipe", None),
        ("unaligned", "ipe", None),
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


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("layout", ["aligned", "unaligned"])
def test_order_and_repeats_of_scales_change_nothing(encoding: str, layout: str, analyses: Analyses) -> None:
    plain = _parity(analyses, layout, encoding, [2, 3, 4], [2, 3, 6, 7])
    assert _parity(analyses, layout, encoding, [4, 2, 3, 2], [7, 3, 6, 2, 7]) == plain
    assert _parity(analyses, layout, encoding, (2, 3, 4), [6, 7]) == plain


def test_within_the_training_scales_whatever_can_compute_generalizes(analyses: Analyses) -> None:
    for layout in ("aligned", "unaligned"):
        for encoding in ENCODINGS:
            found = _parity(analyses, layout, encoding, range(1, 6), range(1, 6))
            assert found.generalizes == (encoding != "nope")
            assert found.complexity_train == found.complexity_test


def test_unseen_distractors_are_counted_but_do_not_decide(analyses: Analyses) -> None:
    width = LARGEST + 1

    def shown(scales: Sequence[int]) -> set[tuple[int, str]]:
        """(distance, token) of irrelevant keys in aligned parity, from its layout: x1..xn, filling, '=', y1..."""
        found = set()
        for n in scales:
            for t in range(1, n + 2):
                query = width + t
                tokens = {
                    i: "01" if i <= n else "_" if i <= width else "=" if i == width + 1 else "01"
                    for i in range(1, query)
                }
                found |= {(query - i, token) for i, allowed in tokens.items() if i != t for token in allowed}
        return found

    found = _parity(analyses, "aligned", "rpe", range(1, 6))
    assert found.unseen_distractors == len(shown(TEST) - shown(range(1, 6))) > 0
    assert found.generalizes
    for layout in ("aligned", "unaligned"):
        assert _parity(analyses, layout, "ipe", range(1, 6)).unseen_distractors == 0


@pytest.mark.parametrize(
    ("encoding", "train", "test", "says"),
    [
        ("rope", [1], [2], "unknown encoding 'rope': choose among ipe, rpe, ape, nope"),
        ("ipe", [], [1], r"1\.\.10, at least one"),
        ("ipe", [1], [], r"1\.\.10, at least one"),
        ("ipe", [0, 1], [2], r"1\.\.10"),
        ("ipe", [1], [LARGEST + 1], r"1\.\.10"),
    ],
)
def test_what_cannot_be_predicted_is_refused(
    encoding: str, train: list[int], test: list[int], says: str, analyses: Analyses
) -> None:
    with pytest.raises(TaskError, match=says):
        _parity(analyses, "aligned", encoding, train, test)


@pytest.mark.parametrize("layout", ["aligned", "unaligned"])
def test_a_task_that_needs_ever_more_arguments_is_refused(layout: str) -> None:
    with pytest.raises(TaskError, match="too many arguments"):
        analyse(direct_parity(), layout, 9)


@pytest.mark.parametrize("layout", ["aligned", "unaligned"])
def test_scale_zero_is_refused_as_a_task_error(layout: str) -> None:
    with pytest.raises(TaskError):
        analyse(parity(), layout, 0)
