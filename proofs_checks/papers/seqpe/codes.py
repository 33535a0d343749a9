"""SeqPE's reading of positions: digits of a fixed number, and the trained numbers of the network that reads them."""

from collections.abc import Callable, Sequence
from itertools import product

import sympy as sp

from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength
from lengthgen.proofs_checks.identity import require_equal, same_by_sympy
from lengthgen.proofs_checks.papers.seqpe import SOURCE
from lengthgen.theory.encodings import seqpe
from lengthgen.theory.encodings.encoding import WIDTH

Reading = Callable[..., tuple[int, ...]]
Digit = Callable[[sp.Expr], sp.Expr]
Count = Callable[..., sp.Expr]

_SMALL = ((1, 1), (2, 1), (1, 2))
"""Numbers of digits and of coordinates for which all positions are read."""
_PAIR = ((1, 23), (12, 3))
"""Positions of two coordinates whose digits are the same in a row."""


def injective(*, read: Reading, last_digit: Digit, other_digits: Digit) -> Evidence:
    """Decide that no two positions of n coordinates below 10^k are read as the same tokens, for all k and n.

    `read` takes a position and the number of digits; `last_digit` and `other_digits` split a number.
    """
    first, second = (read(position, digits=2) for position in _PAIR)
    if first == second:
        raise Refuted(f"{_PAIR[0]} and {_PAIR[1]} are both read as {first}")
    for digits, coordinates in _SMALL:
        seen: dict[tuple[int, ...], tuple[int, ...]] = {}
        for position in product(range(seqpe.BASE**digits), repeat=coordinates):
            same = seen.setdefault(read(position, digits=digits), position)
            if same != position:
                raise Refuted(f"k = {digits}: {same} and {position} are both read as {read(position, digits=digits)}")
            if len(read(position, digits=digits)) != digits * coordinates:
                raise Refuted(f"k = {digits}: {position} is read as {read(position, digits=digits)}")
    rest = sp.Symbol("q", integer=True, nonnegative=True)
    for digit in range(seqpe.BASE):
        split = seqpe.BASE * rest + digit
        same_by_sympy(f"last digit of 10 q + {digit}", last_digit(split), sp.Integer(digit))
        same_by_sympy(f"10 q + {digit} without it", other_digits(split), rest)
    for number in (0, 7, 90, 482):
        before, tokens = read((number // seqpe.BASE,), digits=2), read((number,), digits=3)
        if tokens != (*before, number % seqpe.BASE):
            raise Refuted(f"{number} is read as {tokens}, its front digits as {before}")
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            "10 q + r with r = 0 .. 9 has the last digit r and the rest q, for every q >= 0: sympy evaluates both",
            "induction: k = 0 digits hold the position 0 alone; a position below 10^(k+1) is 10 q + r with q below "
            "10^k, its last token is r and the tokens before are those of q, so they determine r, q and the position",
            "each of n coordinates has k tokens at fixed places, so a row of n k tokens determines each coordinate",
            f"all positions read for (k, n) in {', '.join(map(str, _SMALL))}; {_PAIR[0]} and {_PAIR[1]} for k = 2",
        ),
    )


def _unpadded(position: Sequence[int], *, digits: int) -> tuple[int, ...]:
    """Digits of the coordinates in a row, without zeros in front."""
    return tuple(int(digit) for coordinate in position for digit in str(coordinate))


def _without_first(position: Sequence[int], *, digits: int) -> tuple[int, ...]:
    """Digits of each coordinate without the highest one, except if it is the only one."""
    return tuple(
        token
        for coordinate in position
        for token in seqpe.tokens((coordinate,), digits=digits)[1 if digits > 1 else 0 :]
    )


def trained_numbers(*, count: Count, per_digit: sp.Expr) -> Evidence:
    """Decide how many trained numbers one more digit, that is ten times as many positions, adds to the network.

    `count` is the number of trained numbers by digits, width, coordinates and axes; `per_digit` is what it should add.
    """
    digits, coordinates = sp.symbols("k n", integer=True, positive=True)
    sizes = {"width": WIDTH, "coordinates": coordinates, "axes": coordinates}
    for few in range(1, 5):
        added = sp.expand(count(sp.Integer(few + 1), **sizes) - count(sp.Integer(few), **sizes))
        if sp.expand(added - per_digit.subs(sp.Symbol("n", integer=True, positive=True), coordinates)) != 0:
            raise Refuted(f"from {10**few} to {10 ** (few + 1)} positions: {added} trained numbers more")
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            require_equal(
                "numbers for k + 1 digits minus numbers for k",
                lambda: count(digits + 1, **sizes) - count(digits, **sizes),
                lambda: coordinates * WIDTH,
            ),
            "k digits serve 10^k positions, so P positions need n D log10(P) numbers and a part that P does not change",
            same_by_sympy(
                "for n = 1 with the map to query and key codes",
                sp.expand(count(seqpe.DIGITS, width=WIDTH, coordinates=1, axes=0) + 2 * WIDTH**2 + 2 * WIDTH),
                sp.expand(seqpe.SEQPE.learned),
            ),
        ),
        assumptions=("an encoder as wide as the model, with 2 layers",),
    )


def _table(digits: sp.Expr, *, width: sp.Expr, coordinates: sp.Expr, axes: sp.Expr) -> sp.Expr:
    return coordinates * seqpe.BASE**digits * width


def _digit_of_each_slot(digits: sp.Expr, *, width: sp.Expr, coordinates: sp.Expr, axes: sp.Expr) -> sp.Expr:
    own = seqpe.encoder_count(digits, width=width, coordinates=coordinates, axes=axes)
    return own + (seqpe.BASE - 1) * coordinates * digits * width


CLAIMS = (
    Claim(
        id="seqpe-1",
        source=SOURCE.at("reading of positions"),
        statement="With k digits for each coordinate, zeros in front, the tokens determine the position: for every k "
        "and number n of coordinates. Without the zeros (1, 23) and (12, 3) have the same tokens.",
        latex=r"[0,10^k)^n\hookrightarrow\{0,\dots,9\}^{nk}",
        label="P",
        check=injective,
        holds={"read": seqpe.tokens, "last_digit": seqpe.last_digit, "other_digits": seqpe.other_digits},
        falsifiers={
            "no zeros in front": {"read": _unpadded},
            "without the highest digit": {"read": _without_first},
            "the rest by rounding": {"other_digits": lambda number: sp.floor(number / seqpe.BASE + sp.Rational(1, 2))},
        },
    ),
    Claim(
        id="seqpe-2",
        source=SOURCE.at("size of the encoder"),
        statement="Every position below 10^k has a code, and one more digit costs n D trained numbers: they grow with "
        "the logarithm of the number of positions, where a table grows with the number itself.",
        latex=r"\#\theta(k+1)-\#\theta(k)=nD",
        label="P",
        check=trained_numbers,
        holds={
            "count": seqpe.encoder_count,
            "per_digit": sp.Symbol("n", integer=True, positive=True) * WIDTH,
        },
        answers=("per_digit",),
        falsifiers={
            "a learned table": {"count": _table},
            "an embedding for each digit at each slot": {"count": _digit_of_each_slot},
        },
    ),
)
