"""ALiBi (arXiv 2108.12409): its slopes, its bias and its effect on attention; and the bias as a group action.

The claims are on the slopes, the laws that the bias keeps, sharp bounds on the attention beyond a window, and the
dimension that u^T exp((j - i) A) w needs for the causal and the two-sided form.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import sympy as sp

from lengthgen.proofs_checks.claim import Refuted, Source, Strength
from lengthgen.proofs_checks.facts import derivative, require_equal
from lengthgen.proofs_checks.paper import Facts, PaperClaims
from lengthgen.theory import rational
from lengthgen.theory.encodings import biases, grape
from lengthgen.theory.encodings.encoding import LENGTH
from lengthgen.theory.zero.enclosure import enclose

SOURCE = Source(paper="ALiBi", arxiv="2108.12409")

Slopes = Callable[[int], Sequence[sp.Expr]]
Bias = Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr]
Normaliser = Callable[[sp.Expr, sp.Expr], sp.Expr]
Bound = Callable[[sp.Expr, sp.Expr, sp.Expr, sp.Expr], sp.Expr]
UniformBound = Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr]
BiasAtDistance = Callable[[sp.Expr, sp.Expr], sp.Expr]
AtOffset = Callable[[sp.Expr], sp.Expr]

MOST_HEADS = 64
_BITS = 128
_SLOPES_OF_8 = tuple(sp.Rational(1, 2**head) for head in range(1, 9))
_WINDOWS_OF_8 = ("13.8", "27.6", "55.3", "110.5", "221.0", "442.1", "884.2", "1768.4")
_SLOPE, _CONTENT = sp.symbols("m C", positive=True)
_WINDOW, _LENGTH = sp.symbols("W T", integer=True, positive=True)
_CONTENT_BOUNDS = (sp.S.Zero, sp.log(2))
"""Bounds of the content logits that are tried in numbers; e^0 and e^(log 2) keep everything rational."""
MOST_POSITIONS = 8


def _certainly_positive(positive: sp.Expr) -> bool:
    """True if an enclosure shows that the number is positive."""
    ball = enclose(positive, bits=_BITS)
    return ball is not None and bool(ball > 0)


def _geometric(start: sp.Expr, ratio: sp.Expr, count: int) -> list[sp.Expr]:
    return [start * ratio**head for head in range(count)]


def _between_neighbours(heads: int, start: Callable[[int], sp.Expr]) -> list[sp.Expr]:
    """Slopes for the largest power of two, then the geometric means of neighbours in 1, m_1, m_2, ..."""
    power = 2 ** (len(bin(heads)) - 3)
    power_slopes = _geometric(start(power), start(power), power)
    return (
        power_slopes
        + [sp.sqrt(before * after) for before, after in pairwise([sp.Integer(1), *power_slopes])][: heads - power]
    )


def _start(heads: int) -> sp.Expr:
    return sp.Integer(2) ** sp.Rational(-8, heads)


def _published(slope: sp.Expr, query: sp.Expr, key: sp.Expr) -> sp.Expr:
    return biases.alibi_bias(slope, query_position=query, key_position=key)


def _softmax(logit: sp.Expr, other: sp.Expr) -> sp.Expr:
    return sp.exp(logit) / (sp.exp(logit) + sp.exp(other))


def _geometric_sums(bias: BiasAtDistance | None = None) -> Facts:
    """Facts that the weights e^b(D) for a <= D < b sum to S(a, b), by induction on b."""
    law = bias or _linear
    first, last = sp.symbols("a b", integer=True, nonnegative=True)
    total = _sum(_SLOPE, first, last)
    yield "base: S(a, a) = 0", lambda: total.subs(last, first), sp.S.Zero
    yield (
        "step: S(a, b + 1) - S(a, b) = e^(bias at distance b)",
        lambda: total.subs(last, last + 1) - total,
        lambda: sp.exp(law(_SLOPE, last)),
    )


def _extremal_content(bound: Bound) -> Facts:
    """Facts that the mass is largest with content C on all far keys and -C on all near ones."""
    far, near, lost, gained = sp.symbols("X Y x y", positive=True)
    top, bottom = sp.exp(_CONTENT), sp.exp(-_CONTENT)
    sums = _sum(_SLOPE, _WINDOW, _LENGTH), _sum(_SLOPE, sp.S.Zero, _WINDOW)
    attained = top * sums[0] / (top * sums[0] + bottom * sums[1])
    excess = (far * gained + lost * near) / ((far + near) * (far - lost + near + gained))
    yield (
        "X/(X + Y) - (X - x)/(X - x + Y + y), not negative for 0 <= x <= X and y >= 0",
        lambda: far / (far + near) - (far - lost) / (far - lost + near + gained),
        excess,
    )
    yield "so the mass is largest with content C on every far key and -C on every near one, and there it is attained"
    yield "attained mass = stated bound", attained, lambda: bound(_SLOPE, _CONTENT, _WINDOW, _LENGTH)


def _truncation(bound: Bound, values: int) -> Facts:
    """Facts on the output minus that of the window: mass (F - N), for mean far values F and mean near values N."""
    far, near, far_value, near_value, size = sp.symbols("X Y F N V", positive=True)
    mass = far / (far + near)
    output = (far * far_value + near * near_value) / (far + near)
    opposite = {far_value: size, near_value: -size}
    yield (
        "output - output of the window = mass (F - N)",
        lambda: output - near_value,
        lambda: mass * (far_value - near_value),
    )
    yield (
        "all far values V, all near ones -V: the difference is as large as stated",
        lambda: (output - near_value).subs(opposite),
        lambda: values * size * mass,
    )
    yield f"|F| and |N| are at most max |v|, so {values} max |v| mass bounds the difference"


def _compare_with_numbers(bound: Bound, content: sp.Expr, window: int, length: int) -> None:
    mass = _largest_mass(_linear, content, window, length)
    stated = bound(sp.log(2), content, sp.Integer(window), sp.Integer(length))
    if mass != stated:
        case = f"m = log 2, C = {content}, W = {window}, T = {length}"
        raise Refuted(f"{case}: the largest mass at distance {window} and more is {mass}, not {stated}")


def _largest_mass(bias: BiasAtDistance, content: sp.Expr, window: int, length: int) -> sp.Expr:
    """Mass beyond the window with content C on far keys and -C on near ones, summed term by term."""
    weights = [sp.exp(bias(sp.log(2), sp.Integer(distance))) for distance in range(length)]
    far, near = sp.exp(content) * sp.Add(*weights[window:]), sp.exp(-content) * sp.Add(*weights[:window])
    return far / (far + near)


def _linear(slope: sp.Expr, distance: sp.Expr) -> sp.Expr:
    return biases.alibi_bias(slope, query_position=distance, key_position=sp.S.Zero)


def _sum(slope: sp.Expr, first: sp.Expr, last: sp.Expr) -> sp.Expr:
    """S(a, b): the sum of e^(-m D) for a <= D < b."""
    return (sp.exp(-slope * first) - sp.exp(-slope * last)) / (1 - sp.exp(-slope))


def _share(slope: sp.Expr, window: sp.Expr, length: sp.Expr) -> sp.Expr:
    """The mass h at distance W and more if all contents are equal."""
    return (sp.exp(-slope * window) - sp.exp(-slope * length)) / (1 - sp.exp(-slope * length))


def _mass_bound(share: sp.Expr, content: sp.Expr) -> sp.Expr:
    """The bound e^(2C) h / (1 - h + e^(2C) h)."""
    return sp.exp(2 * content) * share / (1 - share + sp.exp(2 * content) * share)


def _clipped(slope: sp.Expr, distance: sp.Expr) -> sp.Expr:
    return _linear(slope, sp.Min(distance, 3))


CLAIMS = PaperClaims(SOURCE)


@CLAIMS.claim(
    "alibi-1",
    "section 3, slopes; other numbers of heads after the released code",
    r"m_h=2^{-8h/H}\ (H=2^k);\quad m_{n_0+h}=\sqrt{m_{h-1}m_h},\ m_0=1,\ n_0=2^{\lfloor\log_2 H\rfloor}",
    label="P",
    strength=Strength.EXHAUSTIVE,
    reach=f"H <= {MOST_HEADS}",
    falsifiers={
        "start 2^-8, ratio 2": {"stated": lambda heads: _geometric(sp.Rational(1, 256), sp.Integer(2), heads)},
        "one geometric sequence for every H": {"stated": lambda heads: _geometric(_start(heads), _start(heads), heads)},
        "divided by sqrt(64) (errata F21)": {
            "stated": lambda heads: [slope / 8 for slope in _between_neighbours(heads, _start)]
        },
        "from h = 0": {"stated": lambda heads: _geometric(sp.Integer(1), _start(heads), heads)},
    },
)
def slope_set(stated: Slopes = lambda heads: _between_neighbours(heads, _start)) -> Facts:
    """For H = 2^k heads the slopes start at 2^(-8/H) and fall by this factor; for other H come the slopes of the next
    lower power of two, then the geometric means of neighbours in 1, m_1, m_2, ..., up to H slopes. Decided for H <= 64.

    Decide that the stated slopes are those of `alibi.slopes`, in order, for every number of heads up to 64.
    """
    for heads in range(1, MOST_HEADS + 1):
        slopes, expected = biases.alibi_slopes(heads), stated(heads)
        if len(slopes) != len(expected):
            raise Refuted(f"{heads} heads have {len(slopes)} slopes, not {len(expected)}")
        for head, (value, wanted) in enumerate(zip(slopes, expected, strict=True), start=1):
            if value != wanted:
                raise Refuted(
                    f"head {head} of {heads} has the slope {value} = {value.n(4)}, not {wanted} = {wanted.n(4)}"
                )
    eight = ", ".join(map(str, biases.alibi_slopes(8)))
    yield f"equal as numbers, head by head, for 1 to {MOST_HEADS} heads"
    yield f"8 heads: {eight}"
    yield f"12 heads: those of 8, then {', '.join(map(str, biases.alibi_slopes(12)[8:]))}"


@CLAIMS.claim(
    "alibi-2",
    "section 3; the bias of the key alone is that of the released code",
    r"\mathrm{softmax}_i(s_{ij}-m(j-i))=\mathrm{softmax}_i(s_{ij}+mi)",
    label="P",
    falsifiers={
        "for a sigmoid of each logit (errata F25)": {"normaliser": lambda logit, other: 1 / (1 + sp.exp(-logit))},
        "key bias of the other sign": {"key_bias": lambda slope, key: _published(slope, key, sp.S.Zero)},
        "key bias of twice the slope": {"key_bias": lambda slope, key: _published(2 * slope, sp.S.Zero, key)},
    },
)
def key_only(
    key_bias: Callable[[sp.Expr, sp.Expr], sp.Expr] = lambda slope, key: _published(slope, sp.S.Zero, key),
    normaliser: Normaliser = _softmax,
) -> Facts:
    """Under softmax the bias m i of the key alone gives the attention weights that -m (j - i) gives."""
    slope = biases.ALIBI_SLOPE
    query, key, other, score, other_score = sp.symbols("j i i_ s s_", real=True)
    full_logits = [content + _published(slope, query, at) for content, at in ((score, key), (other_score, other))]
    short_logits = [content + key_bias(slope, at) for content, at in ((score, key), (other_score, other))]
    yield (
        "weight of the key at i, beside the one at i_",
        lambda: normaliser(*full_logits),
        lambda: normaliser(*short_logits),
    )
    yield "a weight of a row of any length is 1 / sum over k of exp(l_k - l_i), and this decides every e^(l_k - l_i)"


@CLAIMS.claim(
    "alibi-3",
    "section 3",
    r"b(j+s,i+s)=b(j,i)=-m(j-i)",
    label="P",
    falsifiers={
        "-m i j / T": {"bias": lambda slope, query, key: -slope * query * key / LENGTH},
        "the key alone, as a score": {"bias": lambda slope, query, key: _published(slope, sp.S.Zero, key)},
        "growing with distance": {"bias": lambda slope, query, key: _published(slope, key, query)},
    },
)
def relative_law(bias: Bias = _published) -> Facts:
    """ALiBi's bias depends on positions through j - i alone, so a common shift of all positions changes no score,
    weight or output.
    """
    slope = biases.ALIBI_SLOPE
    i, shift = sp.symbols("i s", real=True)
    distance = sp.Symbol("D", nonnegative=True)
    assert biases.ALIBI.bias is not None
    two_sided = biases.ALIBI.bias
    stated = bias(slope, i + distance, i)
    yield "b(j + s, i + s) = b(j, i)", lambda: bias(slope, i + distance + shift, i + shift), stated
    yield "b(i + D, i) = -m D", stated, lambda: -slope * distance
    yield "two-sided form, key before the query", lambda: two_sided(i + distance, i, LENGTH), stated
    yield "two-sided form, key after the query", lambda: two_sided(i, i + distance, LENGTH), stated
    yield "all scores of a row so keep under a shift of all positions, and with them the weights and the output"


@CLAIMS.claim(
    "alibi-4",
    "section 3, the recency bias of the method; the bound is ours",
    r"\sum_{D\ge W}a_D\le\frac{e^{2C}h}{1-h+e^{2C}h},\quad h=\frac{e^{-mW}-e^{-mT}}{1-e^{-mT}}",
    assumptions=("softmax over the keys at distances 0 .. T - 1", "m > 0, C >= 0, 1 <= W <= T"),
    falsifiers={
        "without e^(2C)": {"bound": lambda slope, content, window, length: _share(slope, window, length)},
        "e^C for e^(2C)": {
            "bound": lambda slope, content, window, length: _mass_bound(_share(slope, window, length), content / 2)
        },
        "no mass at all, a hard window": {"bound": lambda slope, content, window, length: sp.S.Zero},
        "max |v| for 2 max |v|": {"values": 1},
    },
)
def sharp_window(
    bound: Bound = lambda slope, content, window, length: _mass_bound(_share(slope, window, length), content),
    values: int = 2,
) -> Facts:
    """If every content logit is within [-C, C], at most e^(2C) h / (1 - h + e^(2C) h) of a query's attention lies at
    distance W or more, h = (e^(-mW) - e^(-mT)) / (1 - e^(-mT)) for T keys, and this bound is attained; a window of W
    changes the output by at most 2 max |v| times that, which is attained too.
    """
    for content, window, length in product(_CONTENT_BOUNDS, range(1, 4), range(2, 7)):
        _compare_with_numbers(bound, content, window, max(length, window))
    yield from _geometric_sums()
    yield from _extremal_content(bound)
    yield from _truncation(bound, values)


@CLAIMS.claim(
    "alibi-5",
    "section 3, extrapolation; the bound is ours",
    r"\|y_T-y_W\|\le 2\max\|v\|\,\frac{e^{2C-mW}}{1-e^{-mW}+e^{2C-mW}}\quad\forall\,T\ge W",
    assumptions=("one attention layer; contents within [-C, C] at every length", "any context of T >= W keys"),
    falsifiers={
        "for NoPE": {"bias": lambda slope, distance: sp.S.Zero},
        "for ALiBi's bias bounded from distance 3 on": {"bias": _clipped},
        "without e^(2C)": {"bound": lambda slope, content, window: sp.exp(-slope * window)},
    },
)
def suffix_is_enough(
    bias: BiasAtDistance = _linear,
    bound: UniformBound = lambda slope, content, window: _mass_bound(sp.exp(-slope * window), content),
) -> Facts:
    """A query's outputs on a context of any length and on its last W keys differ by at most 2 max |v| times e^(2C - mW)
    / (1 - e^(-mW) + e^(2C - mW)), which does not depend on the length.
    """
    for content, window, length in product(_CONTENT_BOUNDS, range(1, 4), (8, 64)):
        mass, stated = _largest_mass(bias, content, window, length), bound(sp.log(2), content, sp.Integer(window))
        if mass > stated:
            case = f"m = log 2, C = {content}, W = {window}, T = {length}"
            raise Refuted(f"{case}: up to {mass.n(4)} of the attention is beyond the window, more than {stated.n(4)}")
    mass, more = sp.symbols("h h_", positive=True)
    weight = sp.exp(2 * _CONTENT)
    limit = _mass_bound(sp.exp(-_SLOPE * _WINDOW), _CONTENT)
    share = _share(_SLOPE, _WINDOW, _LENGTH)
    ends = [sp.exp(-_SLOPE * _WINDOW), sp.exp(-_SLOPE * _LENGTH)]
    gap = ends[1] * (1 - ends[0]) / (1 - ends[1])
    rise = weight * (more - mass) / ((1 - mass + weight * mass) * (1 - more + weight * more))
    yield from _geometric_sums(bias)
    yield "e^(-mW) - h(T) = e^(-mT) (1 - e^(-mW)) / (1 - e^(-mT)) > 0", lambda: ends[0] - share, gap
    yield (
        "the bound rises with h: g(h') - g(h), positive for 1 >= h' > h",
        lambda: _mass_bound(more, _CONTENT) - _mass_bound(mass, _CONTENT),
        rise,
    )
    yield "so e^(-mW), the limit of h for T to infinity, bounds all T", lambda: bound(_SLOPE, _CONTENT, _WINDOW), limit
    yield (
        "it is below e^(2C - mW): e^(2C - mW) / g - 1 = (e^(2C) - 1) e^(-mW)",
        lambda: sp.exp(2 * _CONTENT - _SLOPE * _WINDOW) / limit - 1,
        lambda: (weight - 1) * ends[0],
    )
    yield "the outputs differ by at most 2 max |v| times that (claim alibi-4), which falls to 0 as the window grows"


@CLAIMS.claim(
    "alibi-6",
    "section 3, slopes; the windows are ours",
    r"e^{-m_hD}<10^{-3}\iff D>\ln(1000)/m_h=13.8\cdot 2^{h-1}",
    strength=Strength.INTERVAL,
    assumptions=("equal contents, so that the weights are as e^(-m D)", "windows rounded to one decimal"),
    falsifiers={
        "slopes from h = 0": {"slopes": (sp.Integer(1), *_SLOPES_OF_8[:-1])},
        "slopes divided by sqrt(64) (errata F21)": {"slopes": tuple(slope / 8 for slope in _SLOPES_OF_8)},
        "to 1/100": {"ratio": sp.Rational(1, 100)},
    },
)
def effective_windows(
    slopes: Sequence[sp.Expr] = biases.alibi_slopes(8),
    windows: Sequence[str] = _WINDOWS_OF_8,
    ratio: sp.Rational = sp.Rational(1, 1000),
) -> Facts:
    """At equal content the weight of a key is less than 1/1000 of that of the query's own position from 13.8, 27.6,
    55.3, 110.5, 221.0, 442.1, 884.2, 1768.4 tokens on, in heads 1 to 8 of 8.

    Decide by enclosures the distances at which a key of equal content has `ratio` times the query's own weight.
    """
    for slope, stated in zip(slopes, windows, strict=True):
        exact = -sp.log(ratio) / slope
        if not _certainly_positive(sp.Rational(1, 20) - abs(exact - sp.Rational(stated))):
            raise Refuted(f"slope {slope}: the weight falls to {ratio} at distance {exact.n(6)}, not {stated}")
        last = int(sp.floor(exact))
        for distance, below in ((last, False), (last + 1, True)):
            bias = biases.alibi_bias(slope, query_position=sp.Integer(distance), key_position=sp.S.Zero)
            gap = sp.log(ratio) - bias
            if not _certainly_positive(gap if below else -gap):
                side = "not below" if below else "below"
                raise Refuted(f"slope {slope}, distance {distance}: the weight {sp.exp(bias).n(4)} is {side} {ratio}")
        yield f"slope {slope}: {stated} tokens; distance {last} weighs more than {ratio}, {last + 1} less"


def _facts_for_three(size: int, weights: list[Fraction]) -> list[str]:
    """Facts that the group with this size and these weights gives |n| for T = 3."""
    n = sp.Symbol("n", real=True)
    shift = sp.Matrix(size, size, lambda row, column: int(column == row + 1))
    group = sp.Matrix(
        size, size, lambda row, column: n ** (column - row) / sp.factorial(column - row) if column >= row else 0
    )
    column = sp.Matrix([sp.Rational(weight.numerator, weight.denominator) for weight in weights])
    reached = (group * column)[0]
    offsets = range(-2, 3)
    return [
        require_equal(f"T = 3: G(0) = I, {size} x {size}", lambda: group.subs(n, 0), lambda: sp.eye(size)),
        require_equal("T = 3: G' = N G, so G(n) = exp(nN)", lambda: derivative(group, n), lambda: shift * group),
        require_equal(
            f"T = 3: e_1^T G(n) w = {reached} at n = -2 .. 2",
            lambda: sp.Matrix([reached.subs(n, offset) for offset in offsets]),
            lambda: sp.Matrix([-_two_sided(sp.Integer(offset)) / biases.ALIBI_SLOPE for offset in offsets]),
        ),
    ]


def _two_sided(offset: sp.Expr) -> sp.Expr:
    """Two-sided ALiBi at an offset."""
    assert biases.ALIBI.bias is not None
    return biases.ALIBI.bias(offset, sp.S.Zero, LENGTH)


def _matrix(bias: AtOffset, positions: int) -> list[list[int]]:
    """Matrix -b/m with a row for every query and a column for every key."""
    return [[_number(bias(sp.Integer(j - i))) for i in range(positions)] for j in range(positions)]


def _number(bias: sp.Expr) -> int:
    """The integer -b/m."""
    return int(-bias / biases.ALIBI_SLOPE)


def _second_difference(bias: AtOffset, middle: sp.Expr) -> sp.Expr:
    """Second difference of the bias at an offset."""
    return bias(middle + 1) - 2 * bias(middle) + bias(middle - 1)


@CLAIMS.claim(
    "alibi-7",
    "section 3; as a one-parameter group of two more dimensions: GRAPE, arXiv 2512.07805",
    r"\det\big(|i-j|\big)_{i,j<T}=(-1)^{T-1}(T-1)2^{T-2}\ne 0,\quad\mathrm{rank}\,\big(j-i\big)_{i,j<T}=2",
    falsifiers={
        "two more dimensions are enough": {"rank": lambda positions: 2},
        "one more than the causal form needs": {"rank": lambda positions: min(positions, 3)},
        "full rank in the causal form": {
            "bias": lambda offset: biases.alibi_bias(biases.ALIBI_SLOPE, query_position=offset, key_position=sp.S.Zero)
        },
    },
)
def toeplitz_rank(bias: AtOffset = _two_sided, rank: Callable[[int], int] = lambda positions: positions) -> Facts:
    """The matrix of two-sided ALiBi on T positions has the determinant (-m)^T (-1)^(T-1) (T-1) 2^(T-2) and so rank T:
    no u^T exp((j - i) A) w of dimension below T gives it, and no dimension gives it for every offset in Z; the causal
    form has rank 2 (errata F26).
    """
    for positions in range(2, MOST_POSITIONS + 1):
        matrix = _matrix(bias, positions)
        matrix_rank = rational.rank(matrix)
        if matrix_rank != rank(positions):
            raise Refuted(
                f"T = {positions}: the matrix of -b/m has rank {matrix_rank}, not {rank(positions)}: {matrix}"
            )
    for positions in range(2, MOST_POSITIONS + 1):
        determinant = int(rational.exact_matrix(_matrix(bias, positions)).det().p)
        if determinant != (-1) ** (positions - 1) * (positions - 1) * 2 ** (positions - 2):
            raise Refuted(f"T = {positions}: the matrix of -b/m has the determinant {determinant}")
    further = sp.Symbol("k", integer=True, nonnegative=True)

    def second_differences(*middles: sp.Expr) -> sp.Matrix:
        return sp.Matrix([_second_difference(bias, middle) for middle in middles])

    slope, last = biases.ALIBI_SLOPE, LENGTH - 1
    corner = sp.Matrix(
        [[bias(sp.S.Zero), bias(-last)], [bias(sp.S.One) - bias(sp.S.Zero), bias(1 - last) - bias(-last)]]
    )
    j, i = sp.symbols("j i", real=True)
    one_sided = biases.alibi_bias(slope, query_position=j, key_position=i)
    assert grape.ADDITIVE.bias is not None
    of_group = grape.ADDITIVE.bias(j, i, LENGTH).subs(grape.GRAPE_SLOPE, slope)
    for query, key in ((1, 0), (0, 1)):
        added, causal = (form.subs({j: query, i: key}) for form in (of_group, one_sided))
        if added != causal:
            raise Refuted(f"GRAPE-A's bias at query {query} and key {key} is {added}, the causal form's {causal}")
    minor = sp.Matrix(2, 2, lambda a, b: one_sided.subs({j: a, i: b}))
    yield (
        "second difference of the bias at offsets beside 0",
        lambda: second_differences(-1 - further, 1 + further),
        sp.zeros(2, 1),
    )
    yield "second difference at 0", lambda: second_differences(sp.S.Zero), -2 * slope
    yield "so row operations of determinant 1 turn rows 3 .. T into -2m times the unit rows of columns 2 to T - 1"
    yield "rows 1, 2 in columns 1 and T: determinant", corner.det, lambda: -last * slope**2
    yield (
        "moving column T past T - 2 others: det = (-m)^T (-1)^(T-1) (T-1) 2^(T-2), not 0; in numbers as well for "
        "T = 2 .. 8 (T = 3: 4 (-m)^3)"
    )
    yield (
        "in dimension N the matrix is a product through N columns, exp((j - i) A) = exp(jA) exp(-iA), of rank N at "
        "most: on T positions N >= T, and on all of Z no N is enough"
    )
    yield (
        "causal form: -m (j - i) = (-m j, 1) . (1, m i), so rank 2 at most",
        lambda: sp.Matrix([[-slope * j, 1]]) * sp.Matrix([1, slope * i]),
        lambda: sp.Matrix([one_sided]),
    )
    yield "and not less: its minor at positions 0 and 1", minor.det, lambda: slope**2
    yield "GRAPE-A's bias is the causal form, for keys after the query too", of_group, one_sided


@CLAIMS.claim(
    "alibi-7-window",
    "section 3; as a one-parameter group: GRAPE, arXiv 2512.07805",
    r"e_1^\top e^{nN}w=|n|\ \ \forall\,|n|<T\iff \mathrm{size}(N)\ge 2T-1;\quad T=3:\ |n|=\tfrac76n^2-\tfrac16n^4",
    strength=Strength.BOUNDED,
    reach=f"T = 3 .. {MOST_POSITIONS}",
    assumptions=(f"T = 3 .. {MOST_POSITIONS}", "w is given for -b/m = |n|, u = e_1, N the shift"),
    falsifiers={
        "in no dimension": {"size": lambda positions: None},
        "size T": {"size": lambda positions: positions},
        "size 2T - 2": {"size": lambda positions: 2 * positions - 2},
    },
)
def smallest_unipotent(size: Callable[[int], int | None] = lambda positions: 2 * positions - 1) -> Facts:
    """On T positions two-sided ALiBi is u^T exp((j - i) N) w with N nilpotent of size 2T - 1, and of no smaller size:
    size 5 for T = 3.  Decided for T = 3 .. 8.

    u^T exp(nN) w with a nilpotent N of size s is a polynomial in n of degree below s, and a single block gives all of
    these.
    """
    facts = []
    for positions in range(3, MOST_POSITIONS + 1):
        offsets = range(1 - positions, positions)
        powers = [
            [Fraction(offset**power, int(sp.factorial(power))) for power in range(len(offsets))] for offset in offsets
        ]
        values = [[_number(_two_sided(sp.Integer(offset)))] for offset in offsets]
        solved = rational.solve(rational.exact_matrix(np.array(powers)), rational.exact_matrix(values))
        weights = rational.fractions(solved)[:, 0].tolist()
        needed = max(power for power, weight in enumerate(weights) if weight) + 1
        column = ", ".join(map(str, weights[:needed]))
        stated = size(positions)
        if stated is None:
            raise Refuted(
                f"T = {positions}: exp(nN) with one nilpotent block of size {needed}, u = e_1 and w = ({column}) gives "
                f"|n| for all |n| < {positions}"
            )
        if stated != needed:
            degree = f"the polynomial that is |n| for all |n| < {positions} has degree {needed - 1}"
            raise Refuted(f"T = {positions}: {degree}, so size {needed} is needed and enough, not {stated}")
        facts.append(f"T = {positions}: size {needed}, w = ({column})")
        if positions == 3:
            facts += _facts_for_three(needed, weights)
    yield from facts
    yield "the values at 2T - 1 offsets fix a polynomial of degree below 2T - 1, so no smaller size does"
