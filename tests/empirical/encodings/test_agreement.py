"""A module agrees with its formulas only if every logit and every code does."""

from dataclasses import replace

import pytest
import torch

from lengthgen.empirical.encodings.absolute import LearnedAbsolute
from lengthgen.empirical.encodings.agreement import HEAD_DIM, HEADS, SIZES, TOLERANCE, largest_difference
from lengthgen.empirical.encodings.biases import ALiBi
from lengthgen.empirical.encodings.rotary import Rotary, XPos
from lengthgen.theory.encodings import absolute, biases, rotary


def frequency(plane):
    return 10_000 ** (-2 * plane / HEAD_DIM)


def rate(plane):
    return float(rotary.xpos_rate(plane, head_dim=HEAD_DIM, scale_base=512))


def record_with(record, values, **changes):
    return replace(record, values=values, **changes)


def with_frequencies(shift=0):
    return record_with(rotary.ROPE, lambda module, head, plane: {rotary.FREQUENCY: frequency(plane + shift)})


def with_table(side=0):
    def values(module, head, plane):
        return {absolute.TABLE: lambda position, entry: module.table[position, 2 * plane + entry - side].item()}

    return record_with(absolute.LEARNED, values)


def with_rates(sign=1):
    return record_with(
        rotary.XPOS,
        lambda module, head, plane: {rotary.FREQUENCY: frequency(plane), rotary.XPOS_RATE: sign * rate(plane)},
    )


def with_slopes(**changes):
    return record_with(biases.ALIBI, lambda module, head, plane: {biases.ALIBI_SLOPE: module.slopes[head]}, **changes)


class Blind(ALiBi):
    """ALiBi that has no number for one pair of one head."""

    def bias(self, *positions, **options):
        table = super().bias(*positions, **options)
        table[1, 5, 3] = torch.nan
        return table


class Silent(LearnedAbsolute):
    """A table that is not added to anything."""

    def embed(self, x_BLD, positions):
        return x_BLD


class OneSided(Rotary):
    """RoPE whose keys are not rotated."""

    def rotate(self, q_BHLC, k_BHLC, positions, content=None):
        return super().rotate(q_BHLC, k_BHLC, positions)[0], k_BHLC


class Shrinking(ALiBi):
    """ALiBi divided by the length for which the module is made."""

    def bias(self, *positions, **options):
        return super().bias(*positions, **options) / SIZES["length"]


def shrinking_bias(query_position, key_position, length):
    return biases.ALIBI.bias(query_position, key_position, length) / length


ALIBI, ROPE, DECAYING = ALiBi(heads=HEADS), Rotary(head_dim=HEAD_DIM), XPos(head_dim=HEAD_DIM)
TABLE_SIZES = {"length": SIZES["length"], "width": SIZES["width"]}
TABLE = LearnedAbsolute(**TABLE_SIZES)


@pytest.mark.parametrize(
    ("encoding", "module", "agrees"),
    [
        (with_slopes(), ALIBI, True),
        (with_slopes(bias=shrinking_bias), Shrinking(heads=HEADS), True),
        (with_frequencies(), ROPE, True),
        (with_table(), TABLE, True),
        (with_rates(), DECAYING, True),
        (with_slopes(), Blind(heads=HEADS), False),
        (with_frequencies(shift=1), ROPE, False),
        (with_frequencies(), OneSided(head_dim=HEAD_DIM), False),
        (with_frequencies(), ALIBI, False),
        (with_frequencies(), TABLE, False),
        (with_table(side=1), TABLE, False),
        (with_table(), Silent(**TABLE_SIZES), False),
        (with_rates(sign=-1), DECAYING, False),
    ],
)
def test_a_module_agrees_with_its_own_formulas_alone(encoding, module, agrees):
    assert (largest_difference(encoding, module) < TOLERANCE) == agrees
