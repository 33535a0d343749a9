"""The scores that BAM can give: shifts of positions, SSMax beside ALiBi, RoPE, and pairs that it tells apart."""

from collections.abc import Callable

import sympy as sp

from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength
from lengthgen.proofs_checks.identity import require_equal, same_by_sympy
from lengthgen.proofs_checks.papers.bam import SOURCE
from lengthgen.theory.encodings import biases, rotary
from lengthgen.theory.encodings.encoding import LENGTH
from lengthgen.theory.relation import Relation

Logit = Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr]
"""(content score, query position, key position) -> logit."""
Score = Callable[[sp.Matrix, sp.Matrix, sp.Expr], sp.Expr]
"""(query, key, distance) -> score."""

_POSITION, _SHIFT = sp.symbols("i s", integer=True, nonnegative=True)
_DISTANCE, _OTHER = sp.symbols("D D_", integer=True, nonnegative=True)
_SLOPE, _FACTOR = biases.ALIBI_SLOPE, sp.Symbol("s_h", positive=True)


def shifted(*, logit: Logit, multiplied: Callable[[sp.Expr, sp.Expr], sp.Expr]) -> Evidence:
    """Decide what a shift of all positions by s does to the difference of two logits of one query.

    `multiplied` is (query position, s) -> stated factor of the difference.
    """
    content, other_content = sp.symbols("l l_", real=True)
    query = _POSITION + _DISTANCE + _OTHER

    def difference(shift: sp.Expr) -> sp.Expr:
        near, far = (query - distance + shift for distance in (_DISTANCE, _OTHER))
        return logit(content, query + shift, near) - logit(other_content, query + shift, far)

    factor = multiplied(query, _SHIFT)
    before, after = difference(sp.S.Zero), difference(_SHIFT)
    values = {_POSITION: 1, _DISTANCE: 0, _OTHER: 1, _SHIFT: 3, content: 0, other_content: 1}
    plain = {
        biases.BAM_LOG_SCALE: 0,
        biases.BAM_EXPONENT: 1,
        biases.BAM_SMALLEST: biases.BAM_RELEASED_SMALLEST,
        biases.BAM_FACTOR: 1,
        biases.BAM_LOCATION: 0,
    }
    numbers = [sp.N(side.subs(values | plain), 8) for side in (after, factor * before)]
    if abs(numbers[0] - numbers[1]) > sp.Rational(1, 10**6):
        raise Refuted(f"query 2, keys 2 and 1, shifted by 3: the logits differ by {numbers[0]}, not {numbers[1]}")
    equal = require_equal if factor != 1 else same_by_sympy
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            equal(
                f"l - l_ of the shifted keys, against ({factor}) times that of the keys before",
                after,
                factor * before,
            ),
            "the weights of a row follow from these differences, and its output from the weights",
        ),
        assumptions=("a shift moves the tokens along", "query at i + D + D_, its keys at the distances D and D_"),
    )


def slopes_by_row(*, factor: Callable[[sp.Expr], sp.Expr], tokens: int) -> Evidence:
    """Decide that BAM with SSMax at th_beta = 1 is not ALiBi on this many tokens: its slope differs from row to row.

    `factor` is query position -> factor of the row's logits.
    """
    row = sp.Symbol("j", integer=True, positive=True)
    values = {"log_scale": sp.log(_SLOPE), "exponent": sp.S.One, "smallest": biases.BAM_RELEASED_SMALLEST}

    def slope(query: sp.Expr) -> sp.Expr:
        near, far = (factor(query) * biases.bam_log_prior(-sp.Integer(distance), **values) for distance in (0, 1))
        return near - far

    stated = require_equal(
        "slope of row j, the log prior at distance 0 less that at 1: m times the factor of the row",
        lambda: slope(row),
        lambda: _SLOPE * factor(row),
    )
    rows = [sp.Integer(query) for query in range(1, tokens)]
    slopes = [sp.expand(factor(query) / _FACTOR) for query in rows]
    if len(set(slopes)) < 2:
        raise Refuted(f"{tokens} tokens: all rows have the slope m s_h {', '.join(map(str, set(slopes)))}: it is ALiBi")
    ratio = sp.simplify(slopes[1] / slopes[0])
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            stated,
            f"rows 1 and 2 differ by the factor {ratio} = {ratio.n(4)} for every m and s_h, while ALiBi has one slope",
            "row 0 has one key, and no slope",
        ),
        assumptions=("th_beta = 1 and mu = 0, without which even one row is not linear", "three tokens or more"),
    )


def rope_outside(*, score: Score, frequency: sp.Expr) -> Evidence:
    """Decide that no static bias gives RoPE's scores, whatever maps of queries and keys stand beside it.

    In such a model the scores of one key token at two distances of one query differ by B(D) - B(D_), whatever the
    tokens. `score` is the encoding to be imitated, with the frequency of its plane.
    """
    query, key = (sp.Matrix(sp.symbols(names, real=True)) for names in ("q1 q2", "k1 k2"))
    near, far = sp.symbols("D D_", integer=True, nonnegative=True)

    def difference(content: sp.Matrix, first: sp.Expr, second: sp.Expr) -> sp.Expr:
        return score(query, content, first * frequency) - score(query, content, second * frequency)

    flips = require_equal(
        "k -> -k turns S(q, k, D) - S(q, k, D_) into its negative",
        lambda: difference(-key, near, far),
        lambda: -difference(key, near, far),
    )
    unit = sp.Matrix([1, 0])
    witness = sp.simplify(score(unit, unit, sp.S.Zero) - score(unit, unit, frequency))
    if witness == 0:
        raise Refuted(f"frequency {frequency}: q = k = (1, 0) has one score at the distances 0 and 1: B = 0 gives it")
    if not witness.is_positive:
        raise Refuted(f"the difference {witness} of the scores at the distances 0 and 1 is not positive")
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            flips,
            "a static bias leaves that difference at B(D) - B(D_) for k and for -k, so it would be 0 for all tokens",
            f"but q = k = (1, 0) has the difference {witness} = {witness.n(4)} between the distances 0 and 1",
        ),
        assumptions=(
            "one layer; tokens with the keys k and -k both occur",
            "any maps of tokens to queries and keys beside the bias, and any number added to a row",
        ),
    )


def pairs_told_apart(*, factor: Callable[[sp.Expr], sp.Expr], relation: Relation) -> Evidence:
    """Decide that with SSMax no two pairs of positions have one score for all contents, as its relation has it.

    `factor` is query position -> factor of the row's logits; `relation` is that of the encoding, with positions from 1.
    """
    row = sp.Symbol("j", nonnegative=True)
    rise = sp.diff(factor(row), row)
    if not rise.is_positive:
        raise Refuted(f"the factor of row j changes by {rise}: rows 1 and 2 have {factor(sp.S.One)} both")
    time, scale, exponent = sp.Symbol("t", real=True), biases.BAM_LOG_SCALE, biases.BAM_EXPONENT
    assert biases.BAM_SSMAX.bias is not None
    written = biases.BAM_SSMAX.bias(_POSITION + _DISTANCE, _POSITION, LENGTH)
    prior = biases.bam_log_prior(-_DISTANCE, log_scale=scale, exponent=exponent, smallest=biases.BAM_SMALLEST)
    labels = relation.labels(SCALE)
    seen = labels[labels >= 0]
    if len(set(seen.tolist())) < len(seen):
        raise Refuted(f"up to scale {SCALE} the relation has {len(set(seen.tolist()))} labels for {len(seen)} pairs")
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            f"the factor of row j rises with j: its derivative is {rise}",
            "so equal scores for all contents, of which it is the coefficient, mean one query",
            require_equal(
                "bias of the record: the factor times the log prior",
                lambda: written,
                lambda: factor(_POSITION + _DISTANCE) * prior,
            ),
            require_equal(
                "in t = log(D + eps) the log prior has the derivative b times itself, of one sign for b not 0",
                lambda: sp.Derivative(biases.bam_power(sp.exp(time), log_scale=scale, exponent=exponent), time),
                lambda: -exponent * sp.exp(scale + exponent * time),
            ),
            f"so in a row each distance has its own bias; up to scale {SCALE} each of {len(seen)} pairs has its label",
        ),
        assumptions=("th_beta is not 0", "queries from position 1 on: at position 0 there is one key"),
    )


SCALE = 16
"""Scale up to which the labels of the relation are counted."""


def _bam(content: sp.Expr, query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """Logit of BAM, with a location."""
    return content + biases.bam_log_prior(
        key - query,
        log_scale=biases.BAM_LOG_SCALE,
        exponent=biases.BAM_EXPONENT,
        smallest=biases.BAM_SMALLEST,
        location=biases.bam_location(biases.BAM_LOCATION),
    )


def _ssmax(content: sp.Expr, query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """Logit of BAM with SSMax."""
    return _temperature(query) * _bam(content, query, key)


def _temperature(query: sp.Expr) -> sp.Expr:
    """Factor of the logits of a query."""
    return biases.bam_temperature(query, factor=_FACTOR)


def _rope(query: sp.Matrix, key: sp.Matrix, angle: sp.Expr) -> sp.Expr:
    """Score of RoPE on a plane."""
    return (query.T * rotary.rotation(-angle) * key)[0]


CLAIMS = (
    Claim(
        id="bam-8",
        source=SOURCE.at("the prior depends on the offset; the released code"),
        statement="A shift of all positions changes no logit difference of a query under BAM, with any location.",
        latex=r"l_{j+s,i+s}-l_{j+s,i^\prime+s}=l_{j,i}-l_{j,i^\prime}",
        label="P",
        check=shifted,
        holds={"logit": _bam, "multiplied": lambda query, shift: sp.S.One},
        falsifiers={
            "with SSMax too": {"logit": _ssmax},
            "of the distance from the start": {
                "logit": lambda content, query, key: _bam(content, sp.S.Zero, key) + query
            },
        },
    ),
    Claim(
        id="bam-8-ssmax",
        source=SOURCE.at("SSMax; that it breaks the relative law is ours"),
        statement="Under BAM with SSMax a shift by s multiplies the logit differences of the query at j by "
        "log(j + s + 1)/log(j + 1), so attention sharpens.",
        latex=r"l_{j+s,i+s}-l_{j+s,i^\prime+s}=\frac{\ln(j+s+1)}{\ln(j+1)}(l_{j,i}-l_{j,i^\prime})",
        label="F",
        check=shifted,
        holds={
            "logit": _ssmax,
            "multiplied": lambda query, shift: sp.log(query + shift + 1) / sp.log(query + 1),
        },
        falsifiers={
            "by no factor": {"multiplied": lambda query, shift: sp.S.One},
            "without SSMax": {"logit": _bam},
            "log n of the content alone": {
                "logit": lambda content, query, key: _temperature(query) * content + _bam(sp.S.Zero, query, key)
            },
        },
    ),
    Claim(
        id="bam-9",
        source=SOURCE.at("SSMax; that it leaves ALiBi out is ours"),
        statement="BAM with SSMax does not contain ALiBi on three tokens or more: at th_beta = 1 the slope of row j is "
        "m s_h log(j + 1), another in every row.",
        latex=r"m\,s\ln(j+1)\ne m'\ \text{for two rows}",
        label="F",
        check=slopes_by_row,
        holds={"factor": _temperature, "tokens": 3},
        falsifiers={
            "on two tokens": {"tokens": 2},
            "a factor of all rows": {"factor": lambda query: _FACTOR},
            "from the second row on one factor": {"factor": lambda query: _FACTOR * sp.log(sp.Min(query, 1) + 1)},
        },
    ),
    Claim(
        id="bam-10",
        source=SOURCE.at("which encodings are priors of positions alone; the proof is ours"),
        statement="RoPE is outside BAM and outside every static bias, whatever maps give queries and keys: the sign of "
        "its score difference of two distances flips with the key.",
        latex=r"q^\top(R_{D}-R_{D'})k\ne B(D)-B(D')",
        label="F",
        check=rope_outside,
        holds={"score": _rope, "frequency": sp.S.One},
        falsifiers={
            "with a full turn for each step": {"frequency": 2 * sp.pi},
            "ALiBi": {"score": lambda query, key, angle: (query.T * key)[0] - angle},
            "a score that is even in the key": {"score": lambda query, key, angle: _rope(query, key, angle) ** 2},
        },
    ),
    Claim(
        id="bam-13",
        source=SOURCE.at("SSMax; its relation is ours"),
        statement="With SSMax and th_beta not 0 no two pairs of positions have one score for all contents: log(j + 1) "
        "tells queries apart and the prior the distances of one query, so its relation is the absolute one.",
        latex=r"\phi(i,j)=(i,j)",
        label="F",
        check=pairs_told_apart,
        holds={"factor": _temperature, "relation": biases.BAM_SSMAX.relation},
        falsifiers={
            "one factor for all queries": {"factor": lambda query: _FACTOR},
            "the relation of BAM": {"relation": biases.BAM.relation},
        },
    ),
)
