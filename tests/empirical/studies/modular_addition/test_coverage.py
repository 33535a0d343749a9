"""Predictions from labels and tokens: exact against all texts of a small profile, and right on published numbers."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from lengthgen.circuits.encoding_spec import EncodingError
from lengthgen.empirical.studies.modular_addition.conditions import (
    CONDITIONS,
    KINDS,
    ConditionError,
    bidirectional,
    labels_of_offsets,
    load_profile,
)
from lengthgen.empirical.studies.modular_addition.coverage import predict, shift_invariance
from lengthgen.empirical.studies.modular_addition.draws import Data, Kind
from lengthgen.empirical.studies.modular_addition.texts import PAD

SMOKE, PAPER = load_profile("smoke"), replace(load_profile("paper"), seeds=(42,))
PUBLISHED = {
    "released-baseline": (99.0, 0.7, 0.3, 1.3, 1.0, 1.0, 1.0),
    "released-shift": (5.7, 8.0, 97.0, 98.0, 97.3, 98.3, 97.7),
}


def by_evaluation(name, profile=PAPER, **changes):
    return {row.evaluation: row for row in predict(replace(CONDITIONS[name], **changes), profile)}


@pytest.mark.parametrize("name", PUBLISHED)
def test_rows_predict_the_published_accuracies_by_position(name):
    rows = by_evaluation(name)
    for position, accuracy in zip(PAPER.positions, PUBLISHED[name], strict=True):
        assert rows[f"B at {position}"].holds == (accuracy > 50), position


def met(inputs, label, *, masked, cls):
    """Pairs that attention meets in some inputs, one by one: what meets them, label, token."""
    pairs = set()
    for tokens, start, end in zip(inputs.tokens.tolist(), inputs.starts, inputs.ends, strict=True):
        expression = range(start, end)
        keys = [row for row, token in enumerate(tokens) if token != PAD or not masked]
        if cls:
            pairs |= {("readout", label(-1, row), tokens[row]) for row in keys}
        seen = expression if cls else keys
        pairs |= {("expression", label(query, row), tokens[row]) for query, row in product(expression, seen)}
    return pairs


@pytest.mark.parametrize(
    ("name", "encoding", "cls"),
    [
        ("released-shift", "ape", True),
        ("described-words", "ape", True),
        ("rope", "rope", True),
        ("t5", "t5-bidirectional", True),
        ("nope", "nope", True),
        ("attached-rope", "rope", False),
        ("described-alibi", "alibi", False),
    ],
)
def test_predictions_are_those_of_all_pairs_met_one_by_one(name, encoding, cls):
    """Texts are drawn until every pair has come up, which the small profile allows."""
    profile = replace(SMOKE, seeds=(7,), modulus=7, tests=20)
    condition = replace(CONDITIONS[name], readout="cls" if cls else "expression")
    data, offsets = Data(condition, profile, 7), np.arange(-profile.length, profile.length + 1)
    labels = dict(zip(offsets.tolist(), labels_of_offsets(bidirectional(encoding))(offsets).tolist(), strict=True))

    def label(query, row):
        return row if KINDS[encoding] == "row" else labels[row - query]

    trained = np.tile(data.train, 150)
    pairs = data.tested(all_pairs=condition.tests_all_pairs)
    options = {"masked": condition.masked, "cls": cls}
    shown = met(data.evaluation(Kind(name="A"), trained), label, **options)
    for row in predict(condition, profile):
        if row.evaluation[0] in "BS":
            kind = Kind(name=row.evaluation[0], at=int(row.evaluation.split()[-1]))
            unseen = met(data.evaluation(kind, np.tile(pairs, 40)), label, **options) - shown
            assert (row.unseen, row.holds) == (len(unseen), not unseen), row.evaluation


def test_reasons_name_the_first_pair_that_training_does_not_show():
    rows = by_evaluation("released-baseline")
    assert rows["B at 0"].why == "training shows every pair of label and token that is met"
    assert rows["B at 8"].why.startswith("training never shows '0' of the expression in row 8 to the readout: ")
    row = by_evaluation("attached-rope")["B at 8"]
    assert (row.holds, row.holds_in_expression, row.unseen_in_expression) == (False, True, 0)
    assert "beside the expression at offset -14 to the expression" in row.why


def test_a_position_is_covered_iff_all_rows_of_its_expressions_are():
    rows = by_evaluation("described-shift", replace(PAPER, positions=(9, 10, 70, 71)))
    assert [rows[f"B at {position}"].holds for position in (9, 10, 70, 71)] == [False, True, True, False]


def test_shift_invariance_needs_hidden_padding_and_a_readout_that_moves():
    invariant = {name for name in CONDITIONS if shift_invariance(CONDITIONS[name])[0]}
    assert invariant == {"attached-rope", "nope", "released-alibi"}
    attached = CONDITIONS["attached-rope"]
    assert "CLS stays" in shift_invariance(replace(attached, readout="cls"))[1]
    assert "padding is seen" in shift_invariance(replace(attached, masked=False))[1]
    assert "rows of the text" in shift_invariance(replace(attached, encoding="ape"))[1]
    rows = by_evaluation("attached-rope")
    assert all(row.holds for evaluation, row in rows.items() if evaluation[0] == "S")


def test_labels_of_t5_have_a_side_and_share_far_buckets():
    label = labels_of_offsets(bidirectional("t5-bidirectional"))
    assert label(np.array([-3, 0, 3, 100, 101])).tolist() == [-3, 0, 3, 15, 15]
    assert labels_of_offsets(bidirectional("alibi"))(np.array([-3, 3])).tolist() == [3, 3]
    assert labels_of_offsets(bidirectional("nope"))(np.array([-3, 3])).tolist() == [0, 0]


@pytest.mark.parametrize("name", ["t5", "fox", "rpe", "ipe", "random-rope", "xpos"])
def test_encodings_for_keys_up_to_the_query_are_refused_in_one_line(name):
    with pytest.raises(ConditionError, match=f"'{name}.*' is not used in an encoder") as error:
        bidirectional(name)
    assert str(error.value).count("\n") == 0
    assert ("use t5-bidirectional" in str(error.value)) == (name == "t5")
    with pytest.raises(EncodingError, match="unknown encoding 'ropee'"):
        bidirectional("ropee")
