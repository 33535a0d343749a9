"""Randomized positions (arXiv 2305.16843): the use of each, distances of tokens, what the released code does instead.

Positions are 0 .. M - 1 here, 1 .. M in the paper.
"""

from collections import Counter
from itertools import combinations, pairwise

import sympy as sp

from lengthgen.proofs_checks.facts import Formula
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.proofs_checks.papers.randomized import LARGEST_M, SOURCE, M, n, sizes
from lengthgen.theory.encodings import randomized

CLAIMS = PaperClaims(SOURCE)
_DRAW = "the uniform draw of n out of M positions"
Draw = tuple[int, ...]


def _draws(length: int, longest: int) -> list[Draw]:
    return list(randomized.draws(length=length, longest=longest))


@CLAIMS.claim(
    "rpe-2",
    _DRAW,
    r"\Pr[\,p\in\{p_0,\dots,p_{n-1}\}\,]=n/M",
    falsifiers={
        "1/M": {"coverage": lambda length, longest: 1 / longest},
        "as with replacement": {"coverage": lambda length, longest: 1 - (1 - 1 / longest) ** length},
    },
)
def share_of_draws(coverage: Formula = randomized.coverage) -> Facts:
    """Every position of the range is used with the same probability n/M."""
    for length, longest in [*sizes(), (4, 9)]:
        draws, stated = _draws(length, longest), coverage(length=sp.Integer(length), longest=sp.Integer(longest))
        used = Counter(position for draw in draws for position in set(draw))
        for position in range(longest):
            share = sp.Rational(used[position], len(draws))
            where = f"n = {length}, M = {longest}: position {position}"
            refute(share != stated, f"{where} is used with probability {share}")
    without_last, fewer, rest = sp.symbols("(M-1)! (n-1)! (M-n)!", positive=True)
    with_position, all_draws = without_last / (fewer * rest), M * without_last / (n * fewer * rest)
    yield "C(M - 1, n - 1) of the C(M, n) draws use a given position: the others are chosen among M - 1"
    written = "C(M-1, n-1)/C(M, n), factorials written out"
    yield written, lambda: with_position / all_draws, lambda: coverage(length=n, longest=M)
    four_of_nine = coverage(length=sp.Integer(4), longest=sp.Integer(9))
    yield f"counted for 1 <= n <= M <= {LARGEST_M}; M = 9, n = 4: {sp.N(four_of_nine, 4)}"


@CLAIMS.claim(
    "rpe-3",
    _DRAW,
    r"\mathbb{E}[p_{a+k}-p_a]=\frac{k(M+1)}{n+1},\quad\mathbb{E}[p_k]=\frac{(k+1)(M+1)}{n+1}-1",
    assumptions=("tokens are 0 .. n - 1, positions 0 .. M - 1",),
    falsifiers={
        "k M/n": {"gap": lambda length, longest: longest / length},
        "token k at (k + 1) M/n - 1": {"position": lambda rank, length, longest: (rank + 1) * longest / length - 1},
    },
)
def mean_positions(position: Formula = randomized.expected_position, gap: Formula = randomized.expected_gap) -> Facts:
    """Tokens a and a + k are k (M + 1)/(n + 1) apart on average, and token k is at (k + 1)(M + 1)/(n + 1) - 1."""
    for length, longest in sizes():
        draws, case = _draws(length, longest), f"n = {length}, M = {longest}"
        exact = {"length": sp.Integer(length), "longest": sp.Integer(longest)}
        for rank in range(length):
            mean, stated = (
                sp.Rational(sum(draw[rank] for draw in draws), len(draws)),
                position(sp.Integer(rank), **exact),
            )
            refute(mean != stated, f"{case}: token {rank} is at {mean} on average, not at {stated}")
        for first, second in combinations(range(length), 2):
            mean = sp.Rational(sum(draw[second] - draw[first] for draw in draws), len(draws))
            stated = (second - first) * gap(**exact)
            refute(mean != stated, f"{case}: tokens {first}, {second} are {mean} apart, not {stated}")
        steps = Counter(tuple(after - here for here, after in pairwise((-1, *draw, longest))) for draw in draws)
        for swapped in range(length):
            order = [*range(swapped), swapped + 1, swapped, *range(swapped + 2, length + 1)]
            alike = steps == Counter(tuple(sequence[place] for place in order) for sequence in steps)
            refute(not alike, f"{case}: steps {swapped} and {swapped + 1} differ in law")
    rank, mean_gap = sp.Symbol("k", integer=True, nonnegative=True), gap(length=n, longest=M)
    yield (
        "the steps from -1 over the n positions to M are n + 1 positive numbers with the sum M + 1, and every such "
        "sequence of steps is one draw: in any order they are as likely, so all have one mean"
    )
    yield "(n + 1) mean step = M + 1", lambda: (n + 1) * mean_gap, lambda: M + 1
    yield "mean of token k", lambda: position(rank, length=n, longest=M), lambda: (rank + 1) * mean_gap - 1
    yield f"counted, and the steps exchanged, for 1 <= n <= M <= {LARGEST_M}"


@CLAIMS.claim(
    "rpe-5",
    "derived: training on n, test on N tokens",
    r"\Pr[p_{k+1}-p_k=g]=\binom{M-g}{n-1}\Big/\binom{M}{n}",
    assumptions=("2 <= n, N <= M, and n is not N",),
    falsifiers={
        "one law of gaps at all lengths": {"same_law": lambda trained, tested: True},
        "one law from length 3 on": {"same_law": lambda trained, tested: trained == tested or min(trained, tested) > 2},
    },
)
def gaps_shift(same_law: Formula = lambda trained, tested: trained == tested) -> Facts:
    """A shift of distribution remains: gaps between neighbours have different distributions at lengths n and N, with
    means (M + 1)/(n + 1) and (M + 1)/(N + 1), though for N > n every gap of the test occurs in training.
    """
    laws = {}
    for length, longest in sizes(least=2):
        draws = _draws(length, longest)
        counts = Counter(after - here for draw in draws for here, after in pairwise(draw))
        law = [sp.Rational(counts[gap], len(draws) * (length - 1)) for gap in range(1, longest)]
        laws[length, longest] = law
        for gap, share in enumerate(law, start=1):
            stated = randomized.gap_probability(gap, length=length, longest=longest)
            numbers = f"a gap of {gap} has probability {share}, not {stated}"
            refute(share != stated, f"n = {length}, M = {longest}: {numbers}")
    for (length, longest), law in laws.items():
        possible = [gap <= longest - length + 1 for gap in range(1, longest)]
        wrong = [share > 0 for share in law] != possible
        refute(wrong, f"n = {length}, M = {longest}: gaps have the probabilities {law}")
        for other in range(2, longest + 1):
            mean, other_mean = (randomized.expected_gap(length=tokens, longest=longest) for tokens in (length, other))
            first, other_first = law[0], laws[other, longest][0]
            refute(
                (law == laws[other, longest]) != same_law(length, other),
                f"M = {longest}: neighbours are 1 apart with probability {first} at n = {length}, {other_first} at "
                f"N = {other}; mean gaps {mean}, {other_mean}",
            )
    other = sp.Symbol("N", integer=True, positive=True)
    mean, other_mean = (randomized.expected_gap(length=tokens, longest=M) for tokens in (n, other))
    difference = "difference of the mean gaps (M + 1)/(n + 1), (M + 1)/(N + 1)"
    yield difference, lambda: mean - other_mean, lambda: (M + 1) * (other - n) / ((n + 1) * (other + 1))
    yield "it is 0 only for N = n, so the laws of gaps differ for all N != n"
    yield "a gap g has positive probability iff g <= M - n + 1: for N > n the test's gaps occur in training"
    yield (
        "law of a gap C(M - g, n - 1)/C(M, n): the n other steps of rpe-3 are positive with the sum M + 1 - g; counted "
        f"for 2 <= n <= M <= {LARGEST_M}"
    )


@CLAIMS.claim(
    "rpe-6",
    "released code, relative positions with noise: a table of M rows, read at offset + M",
    r"\min(o+M,\,M-1)=M-1\ (o\ge-1);\quad\min(o+M,\,2M-1)=o+M",
    assumptions=("gathers clamp an index beyond the table to its last row, as JAX does by default",),
    answers=("released_shares_from",),
    falsifiers={
        "one row more is released": {"released_rows": lambda longest: longest + 1},
        "2M rows are released": {"released_rows": lambda longest: 2 * longest},
        "one row fewer is enough": {"mended_rows": lambda longest: 2 * longest - 1},
    },
)
def clamped_codes(
    released_rows: Formula = lambda longest: longest,
    released_shares_from: int = -1,
    mended_rows: Formula = lambda longest: 2 * longest,
) -> Facts:
    """The released table for relative positions is too short: offsets -1, 0, +1, +2, .. all read its last row (errata
    F19). A table of 2M rows gives every offset its own.

    `released_shares_from` is the smallest offset that reads the last row.
    """
    for longest in range(6, 10):
        offsets = range(1 - longest, longest)
        released, mended = (
            {o: randomized.row(sp.Integer(o), longest=longest, rows=rows(longest)) for o in offsets}
            for rows in (released_rows, mended_rows)
        )
        for first, second in [(1, 5), *combinations(offsets, 2)]:
            rows, stated = (released[first], released[second]), min(first, second) >= released_shares_from
            both = f"offsets {first:+} and {second:+} read rows {rows[0]} and {rows[1]}"
            refute((rows[0] == rows[1]) != stated, f"M = {longest} rows: {both}")
        for first, second in pairwise(offsets):
            both = f"offsets {first:+} and {second:+} read row {mended[first]}"
            refute(mended[first] == mended[second], f"M = {longest}, {mended_rows(longest)} rows: {both}")
    beyond = sp.Symbol("a", integer=True, nonnegative=True)
    short = randomized.row(beyond - 1, longest=M, rows=released_rows(M))
    full = randomized.row(M - 1 - beyond, longest=M, rows=mended_rows(M))
    yield "M rows: offsets -1, 0, 1, .. read row M - 1", short, lambda: M - 1
    yield "2M rows: offset M - 1 - a reads row 2M - 1 - a", full, lambda: 2 * M - 1 - beyond
    yield (
        "so with M rows a key at the offset -1, the token itself and all keys to the right share a code; with 2M "
        "rows no two offsets do"
    )
    yield "every pair of offsets decided for M = 6 .. 9"


def _difference(drawn: Draw, *, first: int, second: int) -> int:
    """Distance of the positions drawn for two tokens."""
    return drawn[second] - drawn[first]


@CLAIMS.claim(
    "rpe-6-distances",
    "released code, relative positions and ALiBi with noise: distances are drawn, not positions",
    r"d_k+d_l=d_{k+l}\ \forall k,l\iff d_k=k\,d_1;\quad (p_j-p_i)+(p_l-p_j)=p_l-p_i",
    assumptions=(
        "keys on one side of the query: each side may have its own draw, and the released ALiBi adds 1/2 to the "
        "negated distance of keys before the query",
    ),
    falsifiers={
        "drawn distances add up": {"multiples": lambda drawn: True},
        "drawn distances add up if the second is twice the first": {"multiples": lambda draw: draw[1] == 2 * draw[0]},
        "drawn positions have one distance for each offset": {"even": lambda drawn: True},
        "the code draws positions": {"released": lambda drawn, **tokens: _difference((0, *drawn), **tokens)},
    },
)
def distances(
    released: Formula = randomized.released_distance,
    positions: Formula = _difference,
    multiples: Formula = lambda drawn: all(distance == k * drawn[0] for k, distance in enumerate(drawn, 1)),
    even: Formula = lambda drawn: len({after - here for here, after in pairwise(drawn)}) == 1,
) -> Facts:
    """The released relative codes and ALiBi draw distances: tokens k apart have the drawn distance d_k in the whole
    sequence, and distances add up only if d_k = k d_1. Distances of drawn positions, as here, always add up, and are
    one number for each offset only if all gaps are equal.

    `multiples` says whether the released distances of a draw add up, `even` whether distances depend on the offset.
    """
    for length, longest in sizes(least=3):
        for drawn in combinations(range(1, longest), length - 1):
            _require_law(released, drawn, length, one_for_each_offset=True, additive=multiples(drawn))
        for drawn in _draws(length, longest):
            _require_law(positions, drawn, length, one_for_each_offset=even(drawn), additive=True)
    yield f"every draw for 3 <= n <= M <= {LARGEST_M}"
    yield (
        "at any size: d_(j - i) is one number for each offset; if d_k + d_l = d_(k + l) for all k and l, then "
        "d_k = k d_1, by induction"
    )
    yield "at any size: (p_j - p_i) + (p_l - p_j) = p_l - p_i; one number for each offset makes all gaps equal"


def _require_law(distance: Formula, drawn: Draw, length: int, *, one_for_each_offset: bool, additive: bool) -> None:
    """Raise Refuted unless the distances of the tokens 0 .. n - 1 have both properties as stated."""

    def of(first: int, second: int) -> int:
        return int(distance(drawn, first=first, second=second))

    by_offset = [{of(first, first + offset) for first in range(length - offset)} for offset in range(length)]
    wrong = all(len(values) == 1 for values in by_offset) != one_for_each_offset
    refute(wrong, f"drawn {drawn}: tokens 0, 1 and 1, 2 have the distances {of(0, 1)} and {of(1, 2)}")
    triples = combinations(range(length), 3)
    broken = [(i, j, k) for i, j, k in triples if of(i, j) + of(j, k) != of(i, k)]
    i, j, k = (*broken, (0, 1, 2))[0]
    sides = f"tokens {i}, {j}, {k} have the distances {of(i, j)}, {of(j, k)} and {of(i, k)}"
    refute(additive == bool(broken), f"drawn {drawn}: {sides}")
