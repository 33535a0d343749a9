"""SeqPE (arXiv 2506.13277): the digits that it reads, the size of its encoder, its labels, and its ALiBi baseline.

The abstract and the released code were at hand, not the paper's tables and theorems.
"""

from collections.abc import Sequence
from itertools import product

import sympy as sp

from lengthgen.proofs_checks.claim import Source, Strength
from lengthgen.proofs_checks.facts import Formula, same_by_sympy
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.theory.encodings import biases, seqpe
from lengthgen.theory.encodings.encoding import WIDTH

SOURCE = Source(paper="SeqPE", arxiv="2506.13277", place="released code")
CLAIMS = PaperClaims(SOURCE)
_SMALL = ((1, 1), (2, 1), (1, 2))
"""Numbers of digits and of coordinates for which all positions are read."""
_PAIR = ((1, 23), (12, 3))
"""Positions of two coordinates whose digits are the same in a row."""
_POSITIONS = 40
ROOT = sp.Symbol("r", positive=True)
"""Square root of the head width, which is then r^2."""


def _unpadded(position: Sequence[int], *, digits: int) -> tuple[int, ...]:
    """Digits of the coordinates in a row, without zeros in front."""
    return tuple(int(digit) for coordinate in position for digit in str(coordinate))


def _without_first(position: Sequence[int], *, digits: int) -> tuple[int, ...]:
    """Digits of each coordinate without the highest one, except if it is the only one."""
    rows = (seqpe.tokens((coordinate,), digits=digits) for coordinate in position)
    return tuple(token for row in rows for token in row[int(digits > 1) :])


@CLAIMS.claim(
    "seqpe-1",
    "reading of positions",
    r"[0,10^k)^n\hookrightarrow\{0,\dots,9\}^{nk}",
    label="P",
    assumptions=("in words: induction on k, digit by digit, and one coordinate after the other",),
    falsifiers={
        "no zeros in front": {"read": _unpadded},
        "without the highest digit": {"read": _without_first},
        "digits modulo 5": {"last_digit": lambda number: sp.Mod(number, 5)},
    },
)
def injective(
    read: Formula = seqpe.tokens, last_digit: Formula = seqpe.last_digit, other_digits: Formula = seqpe.other_digits
) -> Facts:
    """With k digits for each coordinate, zeros in front, the tokens determine the position: for every k and number n of
    coordinates. Without the zeros (1, 23) and (12, 3) have the same tokens.
    """
    first, second = (read(position, digits=2) for position in _PAIR)
    refute(first == second, f"{_PAIR[0]} and {_PAIR[1]} are both read as {first}")
    for digits, coordinates in _SMALL:
        seen: dict[tuple[int, ...], tuple[int, ...]] = {}
        for position in product(range(seqpe.BASE**digits), repeat=coordinates):
            tokens = read(position, digits=digits)
            same = seen.setdefault(tokens, position)
            refute(same != position, f"k = {digits}: {same} and {position} are both read as {tokens}")
        for tokens, position in seen.items():
            refute(len(tokens) != digits * coordinates, f"k = {digits}: {position} is read as {tokens}")
    rest = sp.Symbol("q", integer=True, nonnegative=True)
    for digit in range(seqpe.BASE):
        split = seqpe.BASE * rest + digit
        same_by_sympy(f"last digit of 10 q + {digit}", last_digit(split), sp.Integer(digit))
        same_by_sympy(f"10 q + {digit} without it", other_digits(split), rest)
    for number in (0, 7, 90, 482):
        before, tokens = read((number // seqpe.BASE,), digits=2), read((number,), digits=3)
        extends = tokens == (*before, number % seqpe.BASE)
        refute(not extends, f"{number} is read as {tokens}, its front digits as {before}")
    yield "10 q + r with r = 0 .. 9 has the last digit r and the rest q, for every q >= 0: sympy evaluates both"
    yield (
        "induction: k = 0 digits hold the position 0 alone; a position below 10^(k+1) is 10 q + r with q below "
        "10^k, its last token is r and the tokens before are those of q, so they determine r, q and the position"
    )
    yield "each of n coordinates has k tokens at fixed places, so a row of n k tokens determines each coordinate"
    yield f"all positions read for (k, n) in {', '.join(map(str, _SMALL))}; {_PAIR[0]} and {_PAIR[1]} for k = 2"


def _digit_of_each_slot(digits: sp.Expr, *, width: sp.Expr, coordinates: sp.Expr, axes: sp.Expr) -> sp.Expr:
    own = seqpe.encoder_count(digits, width=width, coordinates=coordinates, axes=axes)
    return own + (seqpe.BASE - 1) * coordinates * digits * width


_COORDINATES = sp.Symbol("n", integer=True, positive=True)


@CLAIMS.claim(
    "seqpe-2",
    "size of the encoder",
    r"\#\theta(k+1)-\#\theta(k)=nD",
    label="P",
    assumptions=("an encoder as wide as the model, with 2 layers",),
    answers=("per_digit",),
    falsifiers={
        "a learned table": {"count": lambda digits, width, coordinates, axes: coordinates * seqpe.BASE**digits * width},
        "an embedding for each digit at each slot": {"count": _digit_of_each_slot},
    },
)
def trained_numbers(count: Formula = seqpe.encoder_count, per_digit: sp.Expr = _COORDINATES * WIDTH) -> Facts:
    """Every position below 10^k has a code, and one more digit costs n D trained numbers: they grow with the logarithm
    of the number of positions, where a table grows with the number itself.
    """
    sizes = {"width": WIDTH, "coordinates": _COORDINATES, "axes": _COORDINATES}
    for few in range(1, 5):
        added = sp.expand(count(sp.Integer(few + 1), **sizes) - count(sp.Integer(few), **sizes))
        numbers = f"from {10**few} to {10 ** (few + 1)} positions: {added} trained numbers more"
        refute(sp.expand(added - per_digit) != 0, numbers)
    digits = sp.Symbol("k", integer=True, positive=True)
    added = "numbers for k + 1 digits minus numbers for k"
    yield added, lambda: count(digits + 1, **sizes) - count(digits, **sizes), lambda: _COORDINATES * WIDTH
    yield "k digits serve 10^k positions of an axis, so P need n D log10(P) numbers and a part that P does not change"
    yield same_by_sympy(
        "for n = 1 with the map to query and key codes",
        sp.expand(count(seqpe.DIGITS, width=WIDTH, coordinates=1, axes=0) + 2 * WIDTH**2 + 2 * WIDTH),
        sp.expand(seqpe.SEQPE.learned),
    )


def _by_digits(pivot: int, candidates: Sequence[int]) -> int:
    """Candidate with the fewest digits that differ from the pivot's."""
    own, *others = (seqpe.tokens((number,), digits=2) for number in (pivot, *candidates))
    differing = [sum(a != b for a, b in zip(own, other, strict=True)) for other in others]
    return differing.index(min(differing))


@CLAIMS.claim(
    "seqpe-3-label",
    "label of the contrastive loss",
    r"l=\arg\min_c|p-c|",
    label="P",
    strength=Strength.EXHAUSTIVE,
    reach=f"positions below {_POSITIONS}",
    falsifiers={
        "fewest digits that differ": {"label": _by_digits},
        "the last of several": {"label": lambda pivot, candidates: 1 - seqpe.nearest(pivot, candidates[::-1])},
    },
)
def labels(label: Formula = seqpe.nearest) -> Facts:
    """The label is the candidate at the least distance from the pivot, the first of several, even where another one has
    more digits in common. Decided for two candidates and all positions below 40.
    """
    for pivot, *candidates in product(range(_POSITIONS), repeat=3):
        chosen, (first, second) = label(pivot, candidates), candidates
        stated = f"pivot {pivot}, candidates {first} and {second}: the label is {candidates[chosen]}"
        refute(chosen != int(abs(first - pivot) > abs(second - pivot)), stated)
    yield f"all {_POSITIONS**3} choices of a pivot and two candidates"


@CLAIMS.claim(
    "seqpe-7",
    "ALiBi baseline",
    r"b_{ji}=\tfrac{m\,i}{\sqrt d}\ \equiv\ -\tfrac{m}{\sqrt d}(j-i)",
    label="P",
    printed={"slope": lambda slope, root: slope},
    falsifiers={
        "the slopes of Press et al.": {"slope": lambda slope, root: slope},
        "slopes m/d": {"slope": lambda slope, root: slope / root**2},
    },
)
def released_baseline(slope: Formula = lambda slope, root: slope / root) -> Facts:
    """The released ALiBi baseline has the slopes m/sqrt(d) (errata F21): it adds ALiBi's bias before the division by
    sqrt(d), so its decay is 8 times weaker at d = 64 than that of Press et al.

    `slope` takes the slope m of the head and the root r of its width.
    """
    first, second, query = sp.symbols("a b j", integer=True, nonnegative=True)

    def released(key: sp.Expr) -> sp.Expr:
        return seqpe.released_alibi(biases.ALIBI_SLOPE, key_position=key, head_dim=ROOT**2)

    def press(key: sp.Expr) -> sp.Expr:
        return biases.alibi_bias(slope(biases.ALIBI_SLOPE, ROOT), query_position=query, key_position=key)

    difference = "difference of the biases of two keys a and b, r = sqrt(d)"
    yield difference, lambda: released(first) - released(second), lambda: press(first) - press(second)
    yield "softmax sees such differences alone; d = 64 makes the decay 8 times weaker"
