"""Randomized positional encodings (arXiv 2305.16843): n tokens get n of M positions at random, sorted.

Positions are 0 .. M - 1 here, 1 .. M in the paper.
"""

from collections import Counter
from itertools import combinations_with_replacement, pairwise, permutations

import sympy as sp

from lengthgen.proofs_checks.claim import Source, Strength
from lengthgen.proofs_checks.facts import Formula
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.theory.encodings import randomized, rotary
from lengthgen.theory.encodings.encoding import LENGTH

SOURCE = Source(paper="Randomized Positional Encodings Boost Length Generalization of Transformers", arxiv="2305.16843")
CLAIMS = PaperClaims(SOURCE)
LARGEST_M = 7
n, M = sp.symbols("n M", integer=True, positive=True)


def sizes(least: int = 1) -> list[tuple[int, int]]:
    """List of all (n, M) with least <= n <= M <= 7."""
    return [(length, longest) for longest in range(1, LARGEST_M + 1) for length in range(least, longest + 1)]


@CLAIMS.claim(
    "rpe-1",
    "sampling without replacement, then sorting",
    r"0\le p_0<p_1<\dots<p_{n-1}\le M-1",
    label="P",
    strength=Strength.EXHAUSTIVE,
    reach=f"M <= {LARGEST_M}",
    falsifiers={
        "drawn with replacement": {
            "draws": lambda length, longest: combinations_with_replacement(range(longest), length)
        },
        "not sorted": {"draws": lambda length, longest: permutations(range(longest), length)},
    },
)
def strictly_increasing(draws: Formula = randomized.draws) -> Facts:
    """Randomized positions keep the order of tokens: every draw is strictly increasing. Every draw is checked for M <=
    7.
    """
    for length, longest in sizes():
        counts: Counter[tuple[int, ...]] = Counter(draws(length=length, longest=longest))
        case = f"n = {length}, M = {longest}"
        for positions in counts:
            refute(any(after <= here for here, after in pairwise(positions)), f"{case}: {positions} is drawn")
        each_once = counts.total() == sp.binomial(longest, length) and max(counts.values()) == 1
        refute(not each_once, f"{case}: {counts.total()} draws, {len(counts)} of them different")
        used = {position for positions in counts for position in positions}
        refute(used != set(range(longest)), f"{case}: positions other than 0 .. {longest - 1}")
    first, last = sp.symbols("p0 p1", integer=True)
    placed = {randomized.POSITIONS[token, LENGTH]: place for token, place in ((0, first), (1, last))}
    yield (
        "score of tokens 1, 0 = RoPE's at the positions drawn for them",
        lambda: randomized.ROPE.score(query_position=sp.S.One, key_position=sp.S.Zero).xreplace(placed),
        rotary.ROPE.score(query_position=last, key_position=first),
    )
    yield f"every draw for 1 <= n <= M <= {LARGEST_M} is strictly increasing; there are C(M, n) of them"
    yield "at any size: distinct numbers in order increase strictly"


@CLAIMS.claim(
    "rpe-4",
    "the range M is chosen above all test lengths",
    r"N\le M\iff\{p_0,\dots,p_{N-1}\}\subseteq\{p:\Pr_{\mathrm{train}}[p]>0\}\text{ can hold}",
    label="P",
    falsifiers={
        "one token more": {"longest_test": lambda longest: longest + 1},
        "twice the range": {"longest_test": lambda longest: 2 * longest},
        "one token fewer": {"longest_test": lambda longest: longest - 1},
    },
)
def in_support(
    longest_test: Formula = lambda longest: int(randomized.ROPE.limit.subs(randomized.LONGEST, longest)),
) -> Facts:
    """A test of up to M tokens uses only positions that training uses with positive probability; a longer test must use
    others.
    """
    for length, longest in sizes():
        trained = set(range(longest)) if randomized.coverage(length=length, longest=longest) > 0 else set()
        most = longest_test(longest)
        fits = f"M = {longest}, training on {length}: {most + 1} tokens need no other positions"
        refute(most < len(trained), fits)
        for tokens in range(1, most + 1):
            unseen = sorted(set(range(max(tokens, longest))) - trained)
            needed = f"{tokens} distinct positions need position {min(unseen, default='none')}"
            refute(unseen, f"M = {longest}, training on {length}: {needed}, of probability 0 in training")
    share = randomized.coverage(length=n, longest=M)
    refute(not share.is_positive, f"the probability {share} is not above 0 for n = 1")
    yield "n/M > 0 for n >= 1: training uses every position 0 .. M - 1; any N <= M tokens are placed among them"
    yield "more than M distinct positions are not all among 0 .. M - 1"
    yield f"M up to {LARGEST_M}, training on any n <= M, decided"
