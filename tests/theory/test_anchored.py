"""RPE-Square's score is its double sum, sharp anchors make it a relation, and ideal slots keep one label."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from lengthgen.theory import relation
from lengthgen.theory.learning import anchored
from lengthgen.theory.learning.anchored import AnchorAttention

Floats = NDArray[np.float64]


def _random_attention(rng: np.random.Generator, size: int) -> AnchorAttention:
    return AnchorAttention(query=rng.normal(size=(2, size)), key=rng.normal(size=(2, size)))


def _softmax(logits: list[float]) -> list[float]:
    weights = [math.exp(logit) for logit in logits]
    return [weight / sum(weights) for weight in weights]


def _logits(embedded: Floats, attention: AnchorAttention, position: int) -> list[float]:
    query = attention.query @ embedded[position]
    return [float(query @ (attention.key @ embedded[k])) for k in range(position + 1)]


def _score(embedded: Floats, table: Floats, query: AnchorAttention, key: AnchorAttention, i: int, j: int) -> Any:
    middle = len(table) // 2
    of_query, of_key = _softmax(_logits(embedded, query, j)), _softmax(_logits(embedded, key, i))
    return sum(of_query[k] * of_key[m] * table[middle + (j - k) - (i - m)] for k in range(j + 1) for m in range(i + 1))


@pytest.mark.parametrize("trailing", [(), (3,)])
@pytest.mark.parametrize("spare", [0, 4])
def test_soft_scores_are_the_double_sum(trailing: tuple[int, ...], spare: int) -> None:
    rng = np.random.default_rng(1)
    length = 6
    embedded = rng.normal(size=(length, 4))
    table = rng.normal(size=(2 * (length + spare) - 1, *trailing))
    query, key = _random_attention(rng, 4), _random_attention(rng, 4)
    scores = anchored.soft_scores(embedded, table, query=query, key=key)
    assert scores.shape == (length, length, *trailing)
    for i in range(length):
        for j in range(length):
            expected = _score(embedded, table, query, key, i, j) if i <= j else 0
            np.testing.assert_allclose(scores[i, j], expected, atol=1e-12)


def test_the_offset_law_is_a_distribution_over_earlier_positions() -> None:
    rng = np.random.default_rng(2)
    law = anchored.offset_law(rng.normal(size=(7, 3)), _random_attention(rng, 3))
    np.testing.assert_allclose(law.sum(axis=1), 1)
    assert (np.triu(law, 1) == 0).all()


def test_large_logits_do_not_overflow() -> None:
    rng = np.random.default_rng(3)
    law = anchored.offset_law(rng.normal(size=(5, 3)), _random_attention(rng, 3).sharpened(1e6))
    assert np.isfinite(law).all()


@pytest.mark.parametrize("seed", range(5))
def test_sharper_attention_comes_within_the_bound_of_the_hard_scores(seed: int) -> None:
    rng = np.random.default_rng(seed)
    embedded, table = rng.normal(size=(8, 4)), rng.normal(size=15)
    attention = _random_attention(rng, 4)
    anchors, lead = anchored.hard_anchors(embedded, attention)
    for position in range(8):
        ranked = sorted(_logits(embedded, attention, position))
        assert anchors[position] == 1 + int(np.argmax(_logits(embedded, attention, position)))
        assert position == 0 or ranked[-1] - ranked[-2] >= lead - 1e-12
    hard = anchored.hard_scores(anchors, table)
    errors = []
    for scale in (1.0, 10.0, 30 / lead):
        sharp = attention.sharpened(scale)
        gaps = np.abs(anchored.soft_scores(embedded, table, query=sharp, key=sharp) - hard)
        assert gaps.max() <= anchored.hard_limit_error(table, lead=scale * lead, length=8) + 1e-12
        errors.append(gaps.max())
    assert errors[-1] < 1e-9 < errors[0]


def test_hard_scores_are_the_table_at_the_index() -> None:
    anchors, table = [1, 1, 3, 3, 2], np.arange(-4.0, 5.0)
    scores = anchored.hard_scores(anchors, table)
    for i in range(1, 6):
        for j in range(i, 6):
            assert scores[i - 1, j - 1] == (j - anchors[j - 1]) - (i - anchors[i - 1])


def test_zigzag_is_one_to_one_onto_the_naturals() -> None:
    integers = np.arange(-50, 50)
    assert sorted(anchored.zigzag(integers).tolist()) == list(range(100))


def _copy(scale: int) -> list[str]:
    return ["BOS", *"x" * scale, "=", *"x" * scale, "EOS"]


def _addition(first: int, second: int) -> list[str]:
    return ["BOS", *"a" * first, "+", *"b" * second, "=", *"c" * (max(first, second) + 1), "EOS"]


def _anchors(tokens: list[str]) -> list[int]:
    anchor, anchors = 0, []
    for position, token in enumerate(tokens, 1):
        anchor = position if token in ("BOS", "+", "=") else anchor
        anchors.append(anchor)
    return anchors


@pytest.mark.parametrize("scale", range(1, 9))
def test_the_anchors_of_copy_are_the_last_special_tokens(scale: int) -> None:
    assert anchored.copy_anchors(scale).tolist() == _anchors(_copy(scale))


@pytest.mark.parametrize("first", range(1, 5))
@pytest.mark.parametrize("second", range(1, 5))
def test_the_anchors_of_addition_are_the_last_special_tokens(first: int, second: int) -> None:
    assert anchored.addition_anchors(first, second).tolist() == _anchors(_addition(first, second))


def _slot_label(law: relation.Relation, scale: int, step: int) -> int:
    return int(law.labels(2 * scale + 3, scale)[step + 1, scale + 1 + step])


def test_the_slot_of_copy_has_one_label_at_every_scale_where_relative_has_one_a_scale() -> None:
    square = anchored.rpe_square(anchored.copy_anchors)
    pairs = [(scale, step) for scale in range(1, 12) for step in range(scale)]
    assert {_slot_label(square, *pair) for pair in pairs} == {1}
    assert {pair: _slot_label(relation.relative(), *pair) for pair in pairs} == {pair: pair[0] for pair in pairs}


@pytest.mark.parametrize("scale", range(1, 9))
def test_no_other_key_of_an_output_query_has_the_label_of_the_slot(scale: int) -> None:
    labels = anchored.rpe_square(anchored.copy_anchors).labels(2 * scale + 3, scale)
    for step in range(scale):
        assert np.flatnonzero(labels[:, scale + 1 + step] == 1).tolist() == [step + 1]


def test_at_the_query_that_ends_a_copy_no_key_has_the_label_of_the_slot() -> None:
    labels = anchored.rpe_square(anchored.copy_anchors).labels(13, 5)
    assert not (labels[:, 11] == 1).any()


@pytest.mark.parametrize(("first", "second"), [(1, 1), (2, 5), (5, 2), (4, 4)])
def test_both_operands_of_an_addition_have_one_index_at_every_step(first: int, second: int) -> None:
    index = anchored.anchor_index(anchored.addition_anchors(first, second))
    tokens = _addition(first, second)
    equals = tokens.index("=")
    for step in range(max(first, second) + 1):
        met = [at for at in range(equals + step + 1) if index[at, equals + step] == -1]
        wanted = [1 + step] * (step < first) + [first + 2 + step] * (step < second)
        assert met == wanted


ONE = AnchorAttention(query=np.ones((1, 2)), key=np.ones((1, 2)))


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: anchored.gather(np.zeros(4), np.array([0])), "odd number"),
        (lambda: anchored.gather(np.zeros(5), np.array([3])), "longer table"),
        (lambda: anchored.gather(np.zeros(5), np.array([-3])), "longer table"),
        (lambda: anchored.soft_scores(np.eye(2), np.zeros(1), query=ONE, key=ONE), "longer table"),
        (lambda: anchored.hard_scores([1, 1, 1, 4], np.zeros(3)), "longer table"),
        (lambda: anchored.hard_anchors(np.eye(2), ONE), "tie"),
        (lambda: anchored.anchor_logits(np.eye(3), ONE), "do not fit"),
        (lambda: anchored.anchor_logits(np.zeros((0, 2)), ONE), "T >= 1"),
        (lambda: anchored.anchor_index([1, 3]), r"position 2 must be in 1\.\.2, not 3"),
        (lambda: anchored.anchor_index([0]), r"position 1 must be in 1\.\.1, not 0"),
        (lambda: anchored.anchor_index([1.0]), "float64"),
        (lambda: anchored.last_anchor((2, 3), length=4), "from 1 on"),
        (lambda: anchored.last_anchor((1, 3, 3), length=4), "increasing"),
        (lambda: anchored.rpe_square(anchored.copy_anchors).labels(6, 1), "has 5 positions, not 6"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_in_one_line(call: Callable[[], object], says: str) -> None:
    with pytest.raises(ValueError, match=says) as refusal:
        call()
    assert "\n" not in str(refusal.value)
