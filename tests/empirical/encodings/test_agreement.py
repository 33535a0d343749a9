"""A module agrees with its formulas only if every logit and every code does."""

from dataclasses import replace

import pytest
import torch

from lengthgen.empirical.encodings.absolute import LearnedAbsolute
from lengthgen.empirical.encodings.agreement import HEAD_DIM, HEADS, SIZES, TOLERANCE, largest_difference
from lengthgen.empirical.encodings.biases import ALiBi
from lengthgen.empirical.encodings.rotary import Rotary, XPos
from lengthgen.theory.encodings import absolute, biases, rotary
from lengthgen.theory.encodings.encoding import Encoding


def frequency(plane: int) -> float:
    return 10_000 ** (-2 * plane / HEAD_DIM)


def with_slopes() -> Encoding:
    return replace(biases.ALIBI, values=lambda module, head, plane: {biases.ALIBI_SLOPE: module.slopes[head]})


def with_frequencies(shift: int = 0) -> Encoding:
    return replace(rotary.ROPE, values=lambda module, head, plane: {rotary.FREQUENCY: frequency(plane + shift)})


def with_table(side: int = 0) -> Encoding:
    def values(module, head, plane):
        return {absolute.TABLE: lambda position, entry: module.table[position, 2 * plane + entry - side].item()}

    return replace(absolute.LEARNED, values=values)


def with_rates(sign: int = 1) -> Encoding:
    def values(module, head, plane):
        rate = float(rotary.xpos_rate(plane, head_dim=HEAD_DIM, scale_base=512))
        return {rotary.FREQUENCY: frequency(plane), rotary.XPOS_RATE: sign * rate}

    return replace(rotary.XPOS, values=values)


def alibi_module() -> ALiBi:
    return ALiBi(heads=HEADS)


def rope_module() -> Rotary:
    return Rotary(head_dim=HEAD_DIM)


def table_module() -> LearnedAbsolute:
    return LearnedAbsolute(length=SIZES["length"], width=SIZES["width"])


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


@pytest.mark.parametrize(
    ("encoding", "module"),
    [
        (with_slopes(), alibi_module()),
        (with_frequencies(), rope_module()),
        (with_table(), table_module()),
        (with_rates(), XPos(head_dim=HEAD_DIM)),
    ],
)
def test_modules_of_the_catalogue_agree_with_their_formulas(encoding, module):
    assert largest_difference(encoding, module) < TOLERANCE


@pytest.mark.parametrize(
    ("encoding", "module"),
    [
        (with_slopes(), Blind(heads=HEADS)),
        (with_frequencies(shift=1), rope_module()),
        (with_frequencies(), OneSided(head_dim=HEAD_DIM)),
        (with_frequencies(), alibi_module()),
        (with_frequencies(), table_module()),
        (with_table(side=1), table_module()),
        (with_table(), Silent(length=SIZES["length"], width=SIZES["width"])),
        (with_rates(sign=-1), XPos(head_dim=HEAD_DIM)),
    ],
)
def test_another_module_does_not_agree_with_the_formulas(encoding, module):
    assert not largest_difference(encoding, module) < TOLERANCE


class Shrinking(ALiBi):
    """ALiBi divided by the length for which the module is made."""

    def bias(self, *positions, **options):
        return super().bias(*positions, **options) / SIZES["length"]


def test_the_formulas_have_the_length_for_which_the_module_is_made():
    def shrinking_bias(query_position, key_position, length):
        return biases.ALIBI.bias(query_position, key_position, length) / length

    assert largest_difference(replace(with_slopes(), bias=shrinking_bias), Shrinking(heads=HEADS)) < TOLERANCE
