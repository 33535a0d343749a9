"""ALiBi (arXiv 2108.12409): its slopes, and the laws that its bias keeps."""

from itertools import pairwise

import sympy as sp

from lengthgen.proofs_checks.claim import Source, Strength
from lengthgen.proofs_checks.facts import Formula
from lengthgen.proofs_checks.formulas import alibi, bias_of
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.theory.encodings import biases
from lengthgen.theory.encodings.encoding import LENGTH

SOURCE = Source(paper="ALiBi", arxiv="2108.12409")
CLAIMS = PaperClaims(SOURCE)
MOST_HEADS = 64


def _geometric(start: sp.Expr, ratio: sp.Expr, count: int) -> list[sp.Expr]:
    return [start * ratio**head for head in range(count)]


def _start(heads: int) -> sp.Expr:
    return sp.Integer(2) ** sp.Rational(-8, heads)


def _between_neighbours(heads: int) -> list[sp.Expr]:
    """Slopes for the largest power of two, then the geometric means of neighbours in 1, m_1, m_2, ..."""
    power = 2 ** (heads.bit_length() - 1)
    slopes = _geometric(_start(power), _start(power), power)
    means = [sp.sqrt(before * after) for before, after in pairwise([sp.Integer(1), *slopes])]
    return slopes + means[: heads - power]


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
        "divided by sqrt(64) (errata F21)": {"stated": lambda heads: [m / 8 for m in _between_neighbours(heads)]},
        "from h = 0": {"stated": lambda heads: _geometric(sp.Integer(1), _start(heads), heads)},
    },
)
def slope_set(stated: Formula = _between_neighbours) -> Facts:
    """For H = 2^k heads the slopes start at 2^(-8/H) and fall by this factor; for other H come the slopes of the next
    lower power of two, then the geometric means of neighbours in 1, m_1, m_2, ..., up to H slopes. Decided for H <= 64.
    """
    for heads in range(1, MOST_HEADS + 1):
        slopes, expected = biases.alibi_slopes(heads), stated(heads)
        refute(len(slopes) != len(expected), f"{heads} heads have {len(slopes)} slopes, not {len(expected)}")
        for head, (value, wanted) in enumerate(zip(slopes, expected, strict=True), start=1):
            numbers = f"{value} = {value.n(4)}, not {wanted} = {wanted.n(4)}"
            refute(value != wanted, f"head {head} of {heads} has the slope {numbers}")
    yield f"equal as numbers, head by head, for 1 to {MOST_HEADS} heads"
    yield f"8 heads: {', '.join(map(str, biases.alibi_slopes(8)))}"
    yield f"12 heads: those of 8, then {', '.join(map(str, biases.alibi_slopes(12)[8:]))}"


def _softmax(logit: sp.Expr, other: sp.Expr) -> sp.Expr:
    return sp.exp(logit) / (sp.exp(logit) + sp.exp(other))


def _published(slope: sp.Expr, query: sp.Expr, key: sp.Expr) -> sp.Expr:
    return biases.alibi_bias(slope, query_position=query, key_position=key)


def _of_key(slope: sp.Expr, key: sp.Expr) -> sp.Expr:
    return _published(slope, sp.S.Zero, key)


@CLAIMS.claim(
    "alibi-2",
    "section 3; the bias of the key alone is that of the released code",
    r"\mathrm{softmax}_i(s_{ij}-m(j-i))=\mathrm{softmax}_i(s_{ij}+mi)",
    label="P",
    falsifiers={
        "for a sigmoid of each logit (errata F25)": {"normaliser": lambda logit, other: 1 / (1 + sp.exp(-logit))},
        "key bias of the other sign": {"key_bias": lambda slope, key: alibi(key, slope)},
        "key bias of twice the slope": {"key_bias": lambda slope, key: _of_key(2 * slope, key)},
    },
)
def key_only(key_bias: Formula = _of_key, normaliser: Formula = _softmax) -> Facts:
    """Under softmax the bias m i of the key alone gives the attention weights that -m (j - i) gives."""
    query, *pair = sp.symbols("j i i_", real=True)
    scores, slope = sp.symbols("s s_", real=True), biases.ALIBI_SLOPE
    full = [score + _published(slope, query, at) for score, at in zip(scores, pair, strict=True)]
    short = [score + key_bias(slope, at) for score, at in zip(scores, pair, strict=True)]
    yield "weight of the key at i, beside the one at i_", lambda: normaliser(*full), lambda: normaliser(*short)
    yield "a weight of a row of any length is 1 / sum over k of exp(l_k - l_i), and this decides every e^(l_k - l_i)"


@CLAIMS.claim(
    "alibi-3",
    "section 3",
    r"b(j+s,i+s)=b(j,i)=-m(j-i)",
    label="P",
    falsifiers={
        "-m i j / T": {"bias": lambda slope, query, key: -slope * query * key / LENGTH},
        "the key alone, as a score": {"bias": lambda slope, query, key: _of_key(slope, key)},
        "of the squares of the positions": {"bias": lambda slope, query, key: _published(slope, query**2, key**2)},
    },
)
def relative_law(bias: Formula = _published) -> Facts:
    """ALiBi's bias depends on positions through j - i alone, so a common shift of all positions changes no score,
    weight or output.
    """
    slope, two_sided = biases.ALIBI_SLOPE, bias_of(biases.ALIBI)
    i, shift = sp.symbols("i s", real=True)
    distance = sp.Symbol("D", nonnegative=True)
    stated = bias(slope, i + distance, i)
    yield "b(j + s, i + s) = b(j, i)", lambda: bias(slope, i + distance + shift, i + shift), stated
    yield "b(i + D, i) = -m D", stated, lambda: -slope * distance
    yield "two-sided form, key before the query", lambda: two_sided(i + distance, i), stated
    yield "two-sided form, key after the query", lambda: two_sided(i, i + distance), stated
    yield "all scores of a row so keep under a shift of all positions, and with them the weights and the output"
