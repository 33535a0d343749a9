"""ALiBi's slopes, and from what distance on each head hardly looks."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import sympy as sp

from proofs_checks.claim import Claim, Evidence, Refuted, Strength
from proofs_checks.papers.alibi.source import source
from theory.enclosure import enclose
from theory.encodings import alibi

Slopes = Callable[[int], Sequence[sp.Expr]]

MOST_HEADS = 64
_BITS = 128


def slope_set(*, stated: Slopes) -> Evidence:
    """Decide that the stated slopes are those of `alibi.slopes`, in order, for every number of heads up to 64."""
    for heads in range(1, MOST_HEADS + 1):
        found, expected = alibi.slopes(heads), stated(heads)
        if len(found) != len(expected):
            raise Refuted(f"{heads} heads have {len(found)} slopes, not {len(expected)}")
        for head, (one, other) in enumerate(zip(found, expected, strict=True), start=1):
            if one != other:
                raise Refuted(f"head {head} of {heads} has the slope {one} = {one.n(4)}, not {other} = {other.n(4)}")
    eight = ", ".join(map(str, alibi.slopes(8)))
    return Evidence(
        strength=Strength.EXHAUSTIVE,
        reach=f"H <= {MOST_HEADS}",
        facts=(
            f"equal as numbers, head by head, for 1 to {MOST_HEADS} heads",
            f"8 heads: {eight}",
            f"12 heads: those of 8, then {', '.join(map(str, alibi.slopes(12)[8:]))}",
        ),
    )


def effective_windows(*, slopes: Sequence[sp.Expr], windows: Sequence[str], ratio: sp.Rational) -> Evidence:
    """Decide the distances at which a key of equal content weighs `ratio` of the query's own, by enclosures."""
    facts = []
    for slope, stated in zip(slopes, windows, strict=True):
        exact = -sp.log(ratio) / slope
        if not _surely(sp.Rational(1, 20) - abs(exact - sp.Rational(stated))):
            raise Refuted(f"slope {slope}: the weight falls to {ratio} at distance {exact.n(6)}, not {stated}")
        last = int(sp.floor(exact))
        for distance, below in ((last, False), (last + 1, True)):
            bias = alibi.bias(slope, query_position=sp.Integer(distance), key_position=sp.S.Zero)
            gap = sp.log(ratio) - bias
            if not _surely(gap if below else -gap):
                side = "not below" if below else "below"
                raise Refuted(f"slope {slope}, distance {distance}: the weight {sp.exp(bias).n(4)} is {side} {ratio}")
        facts.append(f"slope {slope}: {stated} tokens; distance {last} weighs more than {ratio}, {last + 1} less")
    return Evidence(
        strength=Strength.INTERVAL,
        facts=tuple(facts),
        assumptions=("equal contents, so that the weights are as e^(-m D)", "windows rounded to one decimal"),
    )


def _surely(positive: sp.Expr) -> bool:
    """Whether an enclosure shows the number to be positive."""
    ball = enclose(positive, bits=_BITS)
    return ball is not None and bool(ball > 0)


def _geometric(start: sp.Expr, ratio: sp.Expr, count: int) -> list[sp.Expr]:
    return [start * ratio**head for head in range(count)]


def _between_neighbours(heads: int, start: Callable[[int], sp.Expr]) -> list[sp.Expr]:
    """The slopes of the largest power of two, then the geometric means of neighbours in 1, m_1, m_2, ..."""
    power = 2 ** (len(bin(heads)) - 3)
    whole = _geometric(start(power), start(power), power)
    return whole + [sp.sqrt(before * after) for before, after in pairwise([sp.Integer(1), *whole])][: heads - power]


def _start(heads: int) -> sp.Expr:
    return sp.Integer(2) ** sp.Rational(-8, heads)


_SLOPES_OF_8 = tuple(sp.Rational(1, 2**head) for head in range(1, 9))
_WINDOWS_OF_8 = ("13.8", "27.6", "55.3", "110.5", "221.0", "442.1", "884.2", "1768.4")

CLAIMS = (
    Claim(
        id="alibi-1",
        source=source("section 3, slopes; other numbers of heads after the released code"),
        statement="For H = 2^k heads the slopes start at 2^(-8/H) and fall by this factor; for other H come the slopes "
        "of the power of two below, then the geometric means of neighbours in 1, m_1, m_2, ..., until there are H. "
        "Decided for H <= 64.",
        latex=r"m_h=2^{-8h/H}\ (H=2^k);\quad m_{n_0+h}=\sqrt{m_{h-1}m_h},\ m_0=1,\ n_0=2^{\lfloor\log_2 H\rfloor}",
        label="P",
        check=slope_set,
        holds={"stated": lambda heads: _between_neighbours(heads, _start)},
        falsifiers={
            "start 2^-8, ratio 2": {"stated": lambda heads: _geometric(sp.Rational(1, 256), sp.Integer(2), heads)},
            "one geometric sequence for every H": {
                "stated": lambda heads: _geometric(_start(heads), _start(heads), heads)
            },
            "divided by sqrt(64) (errata F21)": {
                "stated": lambda heads: [slope / 8 for slope in _between_neighbours(heads, _start)]
            },
            "from h = 0": {"stated": lambda heads: _geometric(sp.Integer(1), _start(heads), heads)},
        },
    ),
    Claim(
        id="alibi-6",
        source=source("section 3, slopes; the windows are ours"),
        statement="At equal content a key weighs less than 1/1000 of the query's own from 13.8, 27.6, 55.3, 110.5, "
        "221.0, 442.1, 884.2, 1768.4 tokens on, head by head of 8.",
        latex=r"e^{-m_hD}<10^{-3}\iff D>\ln(1000)/m_h=13.8\cdot 2^{h-1}",
        label="F",
        check=effective_windows,
        holds={"slopes": alibi.slopes(8), "windows": _WINDOWS_OF_8, "ratio": sp.Rational(1, 1000)},
        falsifiers={
            "slopes from h = 0": {"slopes": (sp.Integer(1), *_SLOPES_OF_8[:-1])},
            "slopes divided by sqrt(64) (errata F21)": {"slopes": tuple(slope / 8 for slope in _SLOPES_OF_8)},
            "to 1/100": {"ratio": sp.Rational(1, 100)},
        },
    ),
)
