"""Randomized positions: a sequence gets a random sorted choice of distinct positions from a longer range, or a shift.

Source: Ruoss et al., arXiv 2305.16843.  The paper draws from 1 .. M; here positions are 0 .. M - 1.  The random
positions can be combined with any encoding.  The released code (google-deepmind/randomized_positional_encodings) does
so for sinusoidal, learned and rotary codes.  For relative codes and ALiBi it draws distances instead of positions
(`released_distance`, claim rpe-6-distances); here positions are drawn for these, too.

Huang et al., arXiv 2410.02140, Section 5, shift all positions by one random offset, so that training on short texts
reads every row of a learned table.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations

import sympy as sp

from lengthgen.theory.encodings import absolute, biases, relations, rotary
from lengthgen.theory.encodings.encoding import Encoding, Law, Option, Parameter, Properties
from lengthgen.theory.relation import relative

POSITIONS = sp.IndexedBase("p", integer=True, nonnegative=True)
OFFSET = sp.Symbol("o", integer=True, nonnegative=True)
LONGEST = sp.Symbol("M", integer=True, positive=True)


def draws(*, length: int, longest: int) -> Iterable[tuple[int, ...]]:
    """Sets of distinct positions that a sequence can get, each in ascending order, all equally likely.  [P]"""
    return combinations(range(longest), length)


def coverage(*, length: sp.Expr, longest: sp.Expr) -> sp.Expr:
    """Probability n / M that a given position is used.  [F]"""
    return sp.sympify(length) / longest


def expected_position(rank: sp.Expr, *, length: sp.Expr, longest: sp.Expr) -> sp.Expr:
    """Mean position (k + 1)(M + 1)/(n + 1) - 1 of token k = 0 .. n - 1.  [F]"""
    return (rank + 1) * expected_gap(length=length, longest=longest) - 1


def expected_gap(*, length: sp.Expr, longest: sp.Expr) -> sp.Expr:
    """Mean distance (M + 1)/(n + 1) of neighbouring tokens.  [F]"""
    return (sp.sympify(longest) + 1) / (length + 1)


def gap_probability(gap: int, *, length: int, longest: int) -> sp.Rational:
    """Probability C(M - g, n - 1) / C(M, n) that neighbouring tokens are g apart.  [F]"""
    return sp.Rational(sp.binomial(longest - gap, length - 1), sp.binomial(longest, length))


def row(offset: sp.Expr, *, longest: sp.Expr, rows: sp.Expr) -> sp.Expr:
    """Row min(o + M, rows - 1) of a relative table for the offset o = key - query, if reading past the end is clamped.

    The released code for relative positions has M rows.  Offsets are -(M - 1) .. M - 1.  [P, code]
    """
    return sp.Min(offset + longest, rows - 1)


def released_distance(drawn: Sequence[int], *, first: int, second: int) -> int:
    """Distance of two tokens in the released relative codes and ALiBi: d_k for tokens that are k apart.  [P, code]

    `drawn` are n - 1 distances d_1 < d_2 < .. of 1 .. M - 1, drawn without replacement; d_0 = 0.
    """
    return (0, *drawn)[abs(second - first)]


def at_random_positions(encoding: Encoding, *, most: int = 65_536) -> Encoding:
    """Encoding whose positions are drawn at random for each batch; option `longest` is at most `most`.

    Of the encoding's own options it has the start of its table.
    """
    start = {name: option for name, option in encoding.options.items() if name == "start"}
    random_positions = Parameter(POSITIONS, "p[t, n], position of token t of n, increasing in t, drawn from 0 .. M - 1")
    return replace(
        encoding,
        name=f"random-{encoding.name}",
        title=f"randomized positions ({encoding.title})",
        arxiv="2305.16843",
        aliases=("randomized",) if encoding is rotary.ROPE else (),
        summary=f"{encoding.summary}, random positions",
        options={"longest": Option(default=512, least=1, most=most), **start},
        parameters=(random_positions, *encoding.parameters),
        positions=lambda index, length: POSITIONS[index, length],
        limit=LONGEST,
        relation=None,
        no_relation="it draws positions anew for each batch, so a pair has no label of its own",
        caveat="",
        drawn_from=encoding.name,
        laws=tuple(law for law in encoding.laws if law is Law.NORM),
        properties=Properties(far="the position enters", width="none"),
        recovers=(),
    )


ROPE, ALIBI, APE = map(at_random_positions, (rotary.ROPE, biases.ALIBI, absolute.LEARNED))
RPE = at_random_positions(relations.RPE, most=4_096)  # the relation stores a label for every pair of positions
OFFSET_APE = replace(
    APE,
    name="offset-ape",
    title="learned absolute, random offset",
    arxiv="2410.02140",
    summary="learned absolute, shifted at random",
    parameters=(
        Parameter(OFFSET, "offset of all positions of a batch, drawn from 0 .. M - n"),
        *absolute.LEARNED.parameters,
    ),
    positions=lambda index, length: index + OFFSET,
    no_relation="",
    relation_of=lambda circuit, longest: relative(),  # a model that is right at every offset uses distances alone [F]
    caveat="training has to find that only distances matter",
    consecutive=True,
    laws=(Law.STREAMING,),
    properties=Properties(far="the position enters"),
)
ENCODINGS = (APE, RPE, ROPE, ALIBI, OFFSET_APE)
