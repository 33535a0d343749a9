"""ALiBi's bias: its slopes, the laws that it keeps, and sharp bounds on the attention beyond a window."""

from collections.abc import Callable, Sequence
from itertools import pairwise, product

import sympy as sp

from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength
from lengthgen.proofs_checks.identity import require_equal
from lengthgen.proofs_checks.papers.alibi import SOURCE
from lengthgen.theory.enclosure import enclose
from lengthgen.theory.encodings import biases
from lengthgen.theory.encodings.encoding import LENGTH

Slopes = Callable[[int], Sequence[sp.Expr]]

MOST_HEADS = 64
_BITS = 128

_SLOPES_OF_8 = tuple(sp.Rational(1, 2**head) for head in range(1, 9))
_WINDOWS_OF_8 = ("13.8", "27.6", "55.3", "110.5", "221.0", "442.1", "884.2", "1768.4")

Bias = Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr]
Normaliser = Callable[[sp.Expr, sp.Expr], sp.Expr]

Bound = Callable[[sp.Expr, sp.Expr, sp.Expr, sp.Expr], sp.Expr]
UniformBound = Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr]
BiasAtDistance = Callable[[sp.Expr, sp.Expr], sp.Expr]

_SLOPE, _CONTENT = sp.symbols("m C", positive=True)
_WINDOW, _LENGTH = sp.symbols("W T", integer=True, positive=True)
_CONTENT_BOUNDS = (sp.S.Zero, sp.log(2))
"""Bounds of the content logits that are tried in numbers; e^0 and e^(log 2) keep everything rational."""


def slope_set(*, stated: Slopes) -> Evidence:
    """Decide that the stated slopes are those of `alibi.slopes`, in order, for every number of heads up to 64."""
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
    return Evidence(
        strength=Strength.EXHAUSTIVE,
        reach=f"H <= {MOST_HEADS}",
        facts=(
            f"equal as numbers, head by head, for 1 to {MOST_HEADS} heads",
            f"8 heads: {eight}",
            f"12 heads: those of 8, then {', '.join(map(str, biases.alibi_slopes(12)[8:]))}",
        ),
    )


def effective_windows(*, slopes: Sequence[sp.Expr], windows: Sequence[str], ratio: sp.Rational) -> Evidence:
    """Decide by enclosures the distances at which a key of equal content has `ratio` times the query's own weight."""
    facts = []
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
        facts.append(f"slope {slope}: {stated} tokens; distance {last} weighs more than {ratio}, {last + 1} less")
    return Evidence(
        strength=Strength.INTERVAL,
        facts=tuple(facts),
        assumptions=("equal contents, so that the weights are as e^(-m D)", "windows rounded to one decimal"),
    )


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


def key_only(*, key_bias: Callable[[sp.Expr, sp.Expr], sp.Expr], normaliser: Normaliser) -> Evidence:
    """Decide that a bias of the key alone gives the same attention weights as ALiBi, for any two keys of any row."""
    slope = biases.ALIBI_SLOPE
    query, key, other, score, other_score = sp.symbols("j i i_ s s_", real=True)
    full_logits = [content + _published(slope, query, at) for content, at in ((score, key), (other_score, other))]
    short_logits = [content + key_bias(slope, at) for content, at in ((score, key), (other_score, other))]
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            require_equal(
                "weight of the key at i, beside the one at i_",
                lambda: normaliser(*full_logits),
                lambda: normaliser(*short_logits),
            ),
            "a weight of a row of any length is 1 / sum over k of exp(l_k - l_i), and this decides every e^(l_k - l_i)",
        ),
    )


def relative_law(*, bias: Bias) -> Evidence:
    """Decide that a common shift of positions does not change the bias, and that the two-sided form extends it."""
    slope = biases.ALIBI_SLOPE
    i, shift = sp.symbols("i s", real=True)
    distance = sp.Symbol("D", nonnegative=True)
    assert biases.ALIBI.bias is not None
    two_sided = biases.ALIBI.bias
    stated = bias(slope, i + distance, i)
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            require_equal("b(j + s, i + s) = b(j, i)", lambda: bias(slope, i + distance + shift, i + shift), stated),
            require_equal("b(i + D, i) = -m D", stated, lambda: -slope * distance),
            require_equal("two-sided form, key before the query", lambda: two_sided(i + distance, i, LENGTH), stated),
            require_equal("two-sided form, key after the query", lambda: two_sided(i, i + distance, LENGTH), stated),
            "all scores of a row so keep under a shift of all positions, and with them the weights and the output",
        ),
    )


def _softmax(logit: sp.Expr, other: sp.Expr) -> sp.Expr:
    return sp.exp(logit) / (sp.exp(logit) + sp.exp(other))


def sharp_window(*, bound: Bound, values: int) -> Evidence:
    """Decide the largest attention mass at distance W and more, for T keys and contents in [-C, C]."""
    for content, window, length in product(_CONTENT_BOUNDS, range(1, 4), range(2, 7)):
        _compare_with_numbers(bound, content, window, max(length, window))
    facts = [*_geometric_sums(), *_extremal_content(bound), *_truncation(bound, values)]
    return Evidence(
        strength=Strength.GENERAL,
        facts=tuple(facts),
        assumptions=("softmax over the keys at distances 0 .. T - 1", "m > 0, C >= 0, 1 <= W <= T"),
    )


def suffix_is_enough(*, bias: BiasAtDistance, bound: UniformBound) -> Evidence:
    """Decide how much a query's output can differ between the whole context and its last W keys, for every length."""
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
    facts = (
        *_geometric_sums(bias),
        require_equal("e^(-mW) - h(T) = e^(-mT) (1 - e^(-mW)) / (1 - e^(-mT)) > 0", lambda: ends[0] - share, gap),
        require_equal(
            "the bound rises with h: g(h') - g(h), positive for 1 >= h' > h",
            lambda: _mass_bound(more, _CONTENT) - _mass_bound(mass, _CONTENT),
            rise,
        ),
        require_equal(
            "so e^(-mW), the limit of h for T to infinity, bounds all T",
            lambda: bound(_SLOPE, _CONTENT, _WINDOW),
            limit,
        ),
        require_equal(
            "it is below e^(2C - mW): e^(2C - mW) / g - 1 = (e^(2C) - 1) e^(-mW)",
            lambda: sp.exp(2 * _CONTENT - _SLOPE * _WINDOW) / limit - 1,
            lambda: (weight - 1) * ends[0],
        ),
        "the outputs differ by at most 2 max |v| times that (claim alibi-4), which falls to 0 as the window grows",
    )
    return Evidence(
        strength=Strength.GENERAL,
        facts=facts,
        assumptions=("one attention layer; contents within [-C, C] at every length", "any context of T >= W keys"),
    )


def _geometric_sums(bias: BiasAtDistance | None = None) -> list[str]:
    """Facts that the weights e^b(D) for a <= D < b sum to S(a, b), by induction on b."""
    law = bias or _linear
    first, last = sp.symbols("a b", integer=True, nonnegative=True)
    total = _sum(_SLOPE, first, last)
    return [
        require_equal("base: S(a, a) = 0", lambda: total.subs(last, first), sp.S.Zero),
        require_equal(
            "step: S(a, b + 1) - S(a, b) = e^(bias at distance b)",
            lambda: total.subs(last, last + 1) - total,
            lambda: sp.exp(law(_SLOPE, last)),
        ),
    ]


def _extremal_content(bound: Bound) -> list[str]:
    """Facts that the mass is largest with content C on all far keys and -C on all near ones."""
    far, near, lost, gained = sp.symbols("X Y x y", positive=True)
    top, bottom = sp.exp(_CONTENT), sp.exp(-_CONTENT)
    sums = _sum(_SLOPE, _WINDOW, _LENGTH), _sum(_SLOPE, sp.S.Zero, _WINDOW)
    attained = top * sums[0] / (top * sums[0] + bottom * sums[1])
    excess = (far * gained + lost * near) / ((far + near) * (far - lost + near + gained))
    return [
        require_equal(
            "X/(X + Y) - (X - x)/(X - x + Y + y), not negative for 0 <= x <= X and y >= 0",
            lambda: far / (far + near) - (far - lost) / (far - lost + near + gained),
            excess,
        ),
        "so the mass is largest with content C on every far key and -C on every near one, and there it is attained",
        require_equal("attained mass = stated bound", attained, lambda: bound(_SLOPE, _CONTENT, _WINDOW, _LENGTH)),
    ]


def _truncation(bound: Bound, values: int) -> list[str]:
    """Facts on the output minus that of the window: mass (F - N), for mean far values F and mean near values N."""
    far, near, far_value, near_value, size = sp.symbols("X Y F N V", positive=True)
    mass = far / (far + near)
    output = (far * far_value + near * near_value) / (far + near)
    opposite = {far_value: size, near_value: -size}
    return [
        require_equal(
            "output - output of the window = mass (F - N)",
            lambda: output - near_value,
            lambda: mass * (far_value - near_value),
        ),
        require_equal(
            "all far values V, all near ones -V: the difference is as large as stated",
            lambda: (output - near_value).subs(opposite),
            lambda: values * size * mass,
        ),
        f"|F| and |N| are at most max |v|, so {values} max |v| mass bounds the difference",
    ]


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


CLAIMS = (
    Claim(
        id="alibi-1",
        source=SOURCE.at("section 3, slopes; other numbers of heads after the released code"),
        statement="For H = 2^k heads the slopes start at 2^(-8/H) and fall by this factor; for other H come the slopes "
        "of the next lower power of two, then the geometric means of neighbours in 1, m_1, m_2, ..., up to H slopes. "
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
        id="alibi-2",
        source=SOURCE.at("section 3; the bias of the key alone is that of the released code"),
        statement="Under softmax the bias m i of the key alone gives the attention weights that -m (j - i) gives.",
        latex=r"\mathrm{softmax}_i(s_{ij}-m(j-i))=\mathrm{softmax}_i(s_{ij}+mi)",
        label="P",
        check=key_only,
        holds={"key_bias": lambda slope, key: _published(slope, sp.S.Zero, key), "normaliser": _softmax},
        falsifiers={
            "for a sigmoid of each logit (errata F25)": {"normaliser": lambda logit, other: 1 / (1 + sp.exp(-logit))},
            "key bias of the other sign": {"key_bias": lambda slope, key: _published(slope, key, sp.S.Zero)},
            "key bias of twice the slope": {"key_bias": lambda slope, key: _published(2 * slope, sp.S.Zero, key)},
        },
    ),
    Claim(
        id="alibi-3",
        source=SOURCE.at("section 3"),
        statement="ALiBi's bias depends on positions through j - i alone, so a common shift of all positions changes "
        "no score, weight or output.",
        latex=r"b(j+s,i+s)=b(j,i)=-m(j-i)",
        label="P",
        check=relative_law,
        holds={"bias": _published},
        falsifiers={
            "-m i j / T": {"bias": lambda slope, query, key: -slope * query * key / LENGTH},
            "the key alone, as a score": {"bias": lambda slope, query, key: _published(slope, sp.S.Zero, key)},
            "growing with distance": {"bias": lambda slope, query, key: _published(slope, key, query)},
        },
    ),
    Claim(
        id="alibi-4",
        source=SOURCE.at("section 3, the recency bias of the method; the bound is ours"),
        statement="If every content logit is within [-C, C], at most e^(2C) h / (1 - h + e^(2C) h) of a query's "
        "attention lies at distance W or more, h = (e^(-mW) - e^(-mT)) / (1 - e^(-mT)) for T keys, and this bound is "
        "attained; a window of W changes the output by at most 2 max |v| times that, which is attained too.",
        latex=r"\sum_{D\ge W}a_D\le\frac{e^{2C}h}{1-h+e^{2C}h},\quad h=\frac{e^{-mW}-e^{-mT}}{1-e^{-mT}}",
        label="F",
        check=sharp_window,
        holds={
            "bound": lambda slope, content, window, length: _mass_bound(_share(slope, window, length), content),
            "values": 2,
        },
        falsifiers={
            "without e^(2C)": {"bound": lambda slope, content, window, length: _share(slope, window, length)},
            "e^C for e^(2C)": {
                "bound": lambda slope, content, window, length: _mass_bound(_share(slope, window, length), content / 2)
            },
            "no mass at all, a hard window": {"bound": lambda slope, content, window, length: sp.S.Zero},
            "max |v| for 2 max |v|": {"values": 1},
        },
    ),
    Claim(
        id="alibi-5",
        source=SOURCE.at("section 3, extrapolation; the bound is ours"),
        statement="A query's outputs on a context of any length and on its last W keys differ by at most 2 max |v| "
        "times e^(2C - mW) / (1 - e^(-mW) + e^(2C - mW)), which does not depend on the length.",
        latex=r"\|y_T-y_W\|\le 2\max\|v\|\,\frac{e^{2C-mW}}{1-e^{-mW}+e^{2C-mW}}\quad\forall\,T\ge W",
        label="F",
        check=suffix_is_enough,
        holds={"bias": _linear, "bound": lambda slope, content, window: _mass_bound(sp.exp(-slope * window), content)},
        falsifiers={
            "for NoPE": {"bias": lambda slope, distance: sp.S.Zero},
            "for ALiBi's bias bounded from distance 3 on": {"bias": _clipped},
            "without e^(2C)": {"bound": lambda slope, content, window: sp.exp(-slope * window)},
        },
    ),
    Claim(
        id="alibi-6",
        source=SOURCE.at("section 3, slopes; the windows are ours"),
        statement="At equal content the weight of a key is less than 1/1000 of that of the query's own position from "
        "13.8, 27.6, 55.3, 110.5, 221.0, 442.1, 884.2, 1768.4 tokens on, in heads 1 to 8 of 8.",
        latex=r"e^{-m_hD}<10^{-3}\iff D>\ln(1000)/m_h=13.8\cdot 2^{h-1}",
        label="F",
        check=effective_windows,
        holds={"slopes": biases.alibi_slopes(8), "windows": _WINDOWS_OF_8, "ratio": sp.Rational(1, 1000)},
        falsifiers={
            "slopes from h = 0": {"slopes": (sp.Integer(1), *_SLOPES_OF_8[:-1])},
            "slopes divided by sqrt(64) (errata F21)": {"slopes": tuple(slope / 8 for slope in _SLOPES_OF_8)},
            "to 1/100": {"ratio": sp.Rational(1, 100)},
        },
    ),
)
