"""Randomized positional encodings (arXiv 2305.16843): n tokens get n of M positions at random, sorted.

Positions are 0 .. M - 1 here, 1 .. M in the paper.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import combinations, combinations_with_replacement, pairwise, permutations

import sympy as sp

from lengthgen.proofs_checks.claim import Refuted, Source, Strength
from lengthgen.proofs_checks.paper import Facts, PaperClaims
from lengthgen.theory.encodings import randomized, rotary
from lengthgen.theory.encodings.encoding import LENGTH

SOURCE = Source(paper="Randomized Positional Encodings Boost Length Generalization of Transformers", arxiv="2305.16843")

Draws = Callable[[int, int], Iterable[tuple[int, ...]]]
OfSizes = Callable[[sp.Expr, sp.Expr], sp.Expr]
Distance = Callable[..., int]
"""(drawn numbers, first=, second=) -> distance of two tokens."""
OfDraw = Callable[[tuple[int, ...]], bool]

_LARGEST_M = 7
_LENGTH, _RANGE = sp.symbols("n M", integer=True, positive=True)


def _sizes(least: int = 1) -> list[tuple[int, int]]:
    """List of all (n, M) with least <= n <= M <= 7."""
    return [(length, longest) for longest in range(1, _LARGEST_M + 1) for length in range(least, longest + 1)]


def _steps(positions: tuple[int, ...], longest: int) -> tuple[int, ...]:
    """Steps from -1 over the drawn positions to M."""
    return tuple(after - here for here, after in pairwise((-1, *positions, longest)))


def _require_law(
    distance: Distance, drawn: tuple[int, ...], length: int, *, one_for_each_offset: bool, additive: bool
) -> None:
    """Raise Refuted unless the distances of the tokens 0 .. n - 1 have both properties as stated."""

    def of(first: int, second: int) -> int:
        return distance(drawn, first=first, second=second)

    by_offset = [{of(first, first + offset) for first in range(length - offset)} for offset in range(length)]
    if all(len(values) == 1 for values in by_offset) != one_for_each_offset:
        raise Refuted(f"drawn {drawn}: tokens 0, 1 and 1, 2 have the distances {of(0, 1)} and {of(1, 2)}")
    triples = combinations(range(length), 3)
    broken = [(i, j, k) for i, j, k in triples if of(i, j) + of(j, k) != of(i, k)]
    if additive == bool(broken):
        i, j, k = (*broken, (0, 1, 2))[0]
        raise Refuted(f"drawn {drawn}: tokens {i}, {j}, {k} have the distances {of(i, j)}, {of(j, k)} and {of(i, k)}")


def _difference(drawn: tuple[int, ...], *, first: int, second: int) -> int:
    """Distance of the positions drawn for two tokens."""
    return drawn[second] - drawn[first]


def _released(drawn: tuple[int, ...], *, first: int, second: int) -> int:
    """Distance of two tokens in the released code."""
    return randomized.released_distance(drawn, first=first, second=second)


CLAIMS = PaperClaims(SOURCE)


@CLAIMS.claim(
    "rpe-1",
    "sampling without replacement, then sorting",
    r"0\le p_0<p_1<\dots<p_{n-1}\le M-1",
    label="P",
    strength=Strength.EXHAUSTIVE,
    reach=f"M <= {_LARGEST_M}",
    falsifiers={
        "drawn with replacement": {
            "draws": lambda length, longest: combinations_with_replacement(range(longest), length)
        },
        "not sorted": {"draws": lambda length, longest: permutations(range(longest), length)},
    },
)
def strictly_increasing(
    draws: Draws = lambda length, longest: randomized.draws(length=length, longest=longest),
) -> Facts:
    """Randomized positions keep the order of tokens: every draw is strictly increasing. Every draw is checked for M <=
    7.
    """
    for length, longest in _sizes():
        counts = Counter(draws(length, longest))
        for positions in counts:
            if any(after <= here for here, after in pairwise(positions)):
                raise Refuted(f"n = {length}, M = {longest}: {positions} is drawn")
        if sum(counts.values()) != sp.binomial(longest, length) or max(counts.values()) > 1:
            raise Refuted(f"n = {length}, M = {longest}: {sum(counts.values())} draws, {len(counts)} of them different")
        if {position for positions in counts for position in positions} != set(range(longest)):
            raise Refuted(f"n = {length}, M = {longest}: positions other than 0 .. {longest - 1}")
    first, last = sp.symbols("p0 p1", integer=True)
    substitution = {randomized.POSITIONS[token, LENGTH]: place for token, place in ((0, first), (1, last))}
    base = rotary.ROPE.score(query_position=last, key_position=first)
    yield (
        "score of tokens 1, 0 = RoPE's at the positions drawn for them",
        lambda: randomized.ROPE.score(query_position=sp.S.One, key_position=sp.S.Zero).xreplace(substitution),
        base,
    )
    yield f"every draw for 1 <= n <= M <= {_LARGEST_M} is strictly increasing; there are C(M, n) of them"
    yield "at any size: distinct numbers in order increase strictly"


@CLAIMS.claim(
    "rpe-2",
    "the uniform draw of n out of M positions",
    r"\Pr[\,p\in\{p_0,\dots,p_{n-1}\}\,]=n/M",
    falsifiers={
        "1/M": {"coverage": lambda length, longest: 1 / sp.sympify(longest)},
        "as with replacement": {"coverage": lambda length, longest: 1 - (1 - 1 / sp.sympify(longest)) ** length},
    },
)
def share_of_draws(
    coverage: OfSizes = lambda length, longest: randomized.coverage(length=length, longest=longest),
) -> Facts:
    """Every position of the range is used with the same probability n/M."""
    for length, longest in [*_sizes(), (4, 9)]:
        drawn_positions = list(randomized.draws(length=length, longest=longest))
        used = Counter(position for positions in drawn_positions for position in set(positions))
        for position in range(longest):
            share = sp.Rational(used[position], len(drawn_positions))
            if share != coverage(sp.Integer(length), sp.Integer(longest)):
                raise Refuted(f"n = {length}, M = {longest}: position {position} is used with probability {share}")
    without_last, fewer, rest = sp.symbols("(M-1)! (n-1)! (M-n)!", positive=True)
    with_position = without_last / (fewer * rest)
    all_draws = _RANGE * without_last / (_LENGTH * fewer * rest)
    yield "C(M - 1, n - 1) of the C(M, n) draws use a given position: the others are chosen among M - 1"
    yield (
        "C(M-1, n-1)/C(M, n), factorials written out",
        lambda: with_position / all_draws,
        lambda: coverage(_LENGTH, _RANGE),
    )
    yield f"counted for 1 <= n <= M <= {_LARGEST_M}; M = 9, n = 4: {sp.N(coverage(sp.Integer(4), sp.Integer(9)), 4)}"


@CLAIMS.claim(
    "rpe-3",
    "the uniform draw of n out of M positions",
    r"\mathbb{E}[p_{a+k}-p_a]=\frac{k(M+1)}{n+1},\quad\mathbb{E}[p_k]=\frac{(k+1)(M+1)}{n+1}-1",
    falsifiers={
        "k M/n": {"gap": lambda length, longest: sp.sympify(longest) / length},
        "token k at (k + 1) M/n - 1": {
            "position": lambda rank, length, longest: (rank + 1) * sp.sympify(longest) / length - 1
        },
    },
)
def mean_positions(
    position: Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr] = lambda rank, length, longest: (
        randomized.expected_position(rank, length=length, longest=longest)
    ),
    gap: OfSizes = lambda length, longest: randomized.expected_gap(length=length, longest=longest),
) -> Facts:
    """Tokens a and a + k are k (M + 1)/(n + 1) apart on average, and token k is at (k + 1)(M + 1)/(n + 1) - 1."""
    for length, longest in _sizes():
        drawn_positions = list(randomized.draws(length=length, longest=longest))
        sizes = sp.Integer(length), sp.Integer(longest)
        for rank in range(length):
            mean = sp.Rational(sum(positions[rank] for positions in drawn_positions), len(drawn_positions))
            stated = position(sp.Integer(rank), *sizes)
            if mean != stated:
                raise Refuted(f"n = {length}, M = {longest}: token {rank} is at {mean} on average, not at {stated}")
        for first, second in combinations(range(length), 2):
            mean = sp.Rational(
                sum(positions[second] - positions[first] for positions in drawn_positions), len(drawn_positions)
            )
            stated = (second - first) * gap(*sizes)
            if mean != stated:
                raise Refuted(f"n = {length}, M = {longest}: tokens {first}, {second} are {mean} apart, not {stated}")
        steps = Counter(_steps(positions, longest) for positions in drawn_positions)
        for swapped in range(length):
            order = [*range(swapped), swapped + 1, swapped, *range(swapped + 2, length + 1)]
            if steps != Counter(tuple(sequence[place] for place in order) for sequence in steps):
                raise Refuted(f"n = {length}, M = {longest}: steps {swapped} and {swapped + 1} differ in law")
    rank = sp.Symbol("k", integer=True, nonnegative=True)
    mean_gap = gap(_LENGTH, _RANGE)
    yield (
        "the steps from -1 over the n positions to M are n + 1 positive numbers with the sum M + 1, and every such "
        "sequence of steps is one draw: in any order they are as likely, so all have one mean"
    )
    yield "(n + 1) mean step = M + 1", lambda: (_LENGTH + 1) * mean_gap, lambda: _RANGE + 1
    yield "mean of token k", lambda: position(rank, _LENGTH, _RANGE), lambda: (rank + 1) * mean_gap - 1
    yield f"counted, and the steps exchanged, for 1 <= n <= M <= {_LARGEST_M}"


@CLAIMS.claim(
    "rpe-4",
    "the range M is chosen above all test lengths",
    r"N\le M\iff\{p_0,\dots,p_{N-1}\}\subseteq\{p:\Pr_{\mathrm{train}}[p]>0\}\text{ can hold}",
    label="P",
    falsifiers={
        "one token more": {"longest_test": lambda longest: longest + 1},
        "twice the range": {"longest_test": lambda longest: 2 * longest},
    },
)
def in_support(
    longest_test: Callable[[int], int] = lambda longest: int(randomized.ROPE.limit.subs(randomized.LONGEST, longest)),
) -> Facts:
    """A test of up to M tokens uses only positions that training uses with positive probability; a longer test must use
    others.
    """
    for length, longest in _sizes():
        trained = {p for p in range(longest) if randomized.coverage(length=length, longest=longest) > 0}
        for tokens in range(1, longest_test(longest) + 1):
            needed = range(longest) if tokens <= longest else range(tokens)
            unseen = sorted(set(needed) - trained)
            if unseen:
                raise Refuted(
                    f"M = {longest}, training on {length}: {tokens} distinct positions need position {unseen[0]}, of "
                    "probability 0 in training"
                )
    positive = randomized.coverage(length=_LENGTH, longest=_RANGE).is_positive
    if not positive:
        raise Refuted(f"the probability {randomized.coverage(length=_LENGTH, longest=_RANGE)} is not above 0 for n = 1")
    yield "n/M > 0 for n >= 1: training uses every position 0 .. M - 1; any N <= M tokens are placed among them"
    yield "more than M distinct positions are not all among 0 .. M - 1"
    yield f"M up to {_LARGEST_M}, training on any n <= M, decided"


@CLAIMS.claim(
    "rpe-5",
    "derived: training on n, test on N tokens",
    r"\Pr[p_{k+1}-p_k=g]=\binom{M-g}{n-1}\Big/\binom{M}{n}",
    falsifiers={
        "one law of gaps at all lengths": {"same_law": lambda trained, tested: True},
        "one law from length 3 on": {
            "same_law": lambda trained, tested: trained == tested or min(trained, tested) >= 3
        },
    },
)
def gaps_shift(same_law: Callable[[int, int], bool] = lambda trained, tested: trained == tested) -> Facts:
    """A shift of distribution remains: gaps between neighbours have different distributions at lengths n and N, with
    means (M + 1)/(n + 1) and (M + 1)/(N + 1), though for N > n every gap of the test occurs in training.
    """
    laws = {}
    for length, longest in _sizes(least=2):
        drawn_positions = list(randomized.draws(length=length, longest=longest))
        counts = Counter(after - here for positions in drawn_positions for here, after in pairwise(positions))
        laws[length, longest] = [
            sp.Rational(counts[distance], len(drawn_positions) * (length - 1)) for distance in range(1, longest)
        ]
        for distance, share in enumerate(laws[length, longest], start=1):
            stated = randomized.gap_probability(distance, length=length, longest=longest)
            if share != stated:
                raise Refuted(f"n = {length}, M = {longest}: a gap of {distance} has probability {share}, not {stated}")
    for (length, longest), law in laws.items():
        if [share > 0 for share in law] != [gap <= longest - length + 1 for gap in range(1, longest)]:
            raise Refuted(f"n = {length}, M = {longest}: gaps have the probabilities {law}")
        for other in range(2, longest + 1):
            if (law == laws[other, longest]) != same_law(length, other):
                raise Refuted(
                    f"M = {longest}: neighbours are 1 apart with probability {law[0]} at n = {length}, "
                    f"{laws[other, longest][0]} at N = {other}; mean gaps "
                    f"{randomized.expected_gap(length=length, longest=longest)}, "
                    f"{randomized.expected_gap(length=other, longest=longest)}"
                )
    other = sp.Symbol("N", integer=True, positive=True)
    means = [randomized.expected_gap(length=length, longest=_RANGE) for length in (_LENGTH, other)]
    yield (
        "difference of the mean gaps (M + 1)/(n + 1), (M + 1)/(N + 1)",
        lambda: means[0] - means[1],
        lambda: (_RANGE + 1) * (other - _LENGTH) / ((_LENGTH + 1) * (other + 1)),
    )
    yield "it is 0 only for N = n, so the laws of gaps differ for all N != n"
    yield "a gap g has positive probability iff g <= M - n + 1: for N > n the test's gaps occur in training"
    yield f"law of a gap C(M - g, n - 1)/C(M, n) counted for 2 <= n <= M <= {_LARGEST_M}"


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
    released_rows: Callable[[sp.Expr], sp.Expr] = lambda longest: longest,
    released_shares_from: int = -1,
    mended_rows: Callable[[sp.Expr], sp.Expr] = lambda longest: 2 * longest,
) -> Facts:
    """The released table for relative positions is too short: offsets -1, 0, +1, +2, .. all read its last row (errata
    F19). A table of 2M rows gives every offset its own.

    Args:
        released_rows: M -> number of rows of the released table.
        released_shares_from: the smallest offset that reads the last row.
        mended_rows: M -> number of rows of the corrected table.
    """
    for longest in range(6, 10):
        offsets = range(1 - longest, longest)
        released = {o: randomized.row(sp.Integer(o), longest=longest, rows=released_rows(longest)) for o in offsets}
        for first, second in [(1, 5), *combinations(offsets, 2)]:
            stated = min(first, second) >= released_shares_from
            if (released[first] == released[second]) != stated:
                rows = f"rows {released[first]} and {released[second]}"
                raise Refuted(f"M = {longest} rows: offsets {first:+} and {second:+} read {rows}")
        rows = mended_rows(sp.Integer(longest))
        read = {o: randomized.row(sp.Integer(o), longest=longest, rows=rows) for o in offsets}
        for first, second in pairwise(offsets):
            if read[first] == read[second]:
                raise Refuted(f"M = {longest}, {rows} rows: offsets {first:+} and {second:+} read row {read[first]}")
    beyond = sp.Symbol("a", integer=True, nonnegative=True)
    short = randomized.row(beyond - 1, longest=_RANGE, rows=released_rows(_RANGE))
    full = randomized.row(_RANGE - 1 - beyond, longest=_RANGE, rows=mended_rows(_RANGE))
    yield "M rows: offsets -1, 0, 1, .. read row M - 1", short, lambda: _RANGE - 1
    yield "2M rows: offset M - 1 - a reads row 2M - 1 - a", full, lambda: 2 * _RANGE - 1 - beyond
    yield (
        "so with M rows a key one to the left, the token itself and all keys to the right share a code; with 2M "
        "rows no two offsets do"
    )
    yield "every pair of offsets decided for M = 6 .. 9"


@CLAIMS.claim(
    "rpe-6-distances",
    "released code, relative positions and ALiBi with noise: distances are drawn, not positions",
    r"d_k+d_l=d_{k+l}\ \forall k,l\iff d_k=k\,d_1;\quad (p_j-p_i)+(p_l-p_j)=p_l-p_i",
    falsifiers={
        "drawn distances add up": {"multiples": lambda drawn: True},
        "drawn distances add up if the second is twice the first": {
            "multiples": lambda drawn: drawn[1] == 2 * drawn[0]
        },
        "drawn positions have one distance for each offset": {"even": lambda drawn: True},
        "the code draws positions": {
            "released": lambda drawn, first, second: _difference((0, *drawn), first=first, second=second)
        },
    },
)
def distances(
    released: Distance = _released,
    positions: Distance = _difference,
    multiples: OfDraw = lambda drawn: all(distance == k * drawn[0] for k, distance in enumerate(drawn, 1)),
    even: OfDraw = lambda drawn: len({after - here for here, after in pairwise(drawn)}) == 1,
) -> Facts:
    """The released relative codes and ALiBi draw distances: tokens k apart have the drawn distance d_k in the whole
    sequence, and distances add up only if d_k = k d_1. Distances of drawn positions, as here, always add up, and are
    one number for each offset only if all gaps are equal.

    Args:
        released: distance of two tokens from the n - 1 drawn distances.
        positions: distance of two tokens from the n drawn positions.
        multiples: whether the released distances of this draw add up.
        even: whether the distances of these positions depend on the offset alone.
    """
    for length, longest in _sizes(least=3):
        for drawn in combinations(range(1, longest), length - 1):
            _require_law(released, drawn, length, one_for_each_offset=True, additive=multiples(drawn))
        for drawn in randomized.draws(length=length, longest=longest):
            _require_law(positions, drawn, length, one_for_each_offset=even(drawn), additive=True)
    yield f"every draw for 3 <= n <= M <= {_LARGEST_M}"
    yield (
        "at any size: d_(j - i) is one number for each offset; if d_k + d_l = d_(k + l) for all k and l, then "
        "d_k = k d_1, by induction"
    )
    yield "at any size: (p_j - p_i) + (p_l - p_j) = p_l - p_i; one number for each offset makes all gaps equal"
