"""Sigmoid of each logit in place of softmax: sums of weights, independence, constants of a row, size of outputs."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import sympy as sp

from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength
from lengthgen.proofs_checks.enclosing import ball, short
from lengthgen.proofs_checks.identity import derivative, require_equal, same_by_sympy
from lengthgen.proofs_checks.papers.swat import SOURCE, sigmoid, softmax
from lengthgen.theory import laws
from lengthgen.theory.encodings import rotary
from lengthgen.theory.encodings.encoding import Encoding, Law, Normaliser
from lengthgen.theory.exact import Undecided

Number = Callable[[sp.Expr], sp.Expr]
Weights = Callable[[Sequence[sp.Expr]], Sequence[sp.Expr]]

_LOGIT, _OTHER, _ADDED = sp.symbols("l m c", real=True)
_REST = sp.Symbol("S", positive=True)


def worked_example(
    *, weights: Weights, logits: Sequence[sp.Rational], stated: Sequence[str], alone: Number
) -> Evidence:
    """Decide that the weights of the logits are the stated decimals, and that those of `alone` sum to more than 4."""
    facts = []
    for value, expected in zip(weights(logits), stated, strict=True):
        half_a_unit = sp.Rational(1, 2 * 10 ** len(expected.partition(".")[2]))
        if not abs(ball(value - sp.Rational(expected))) <= ball(half_a_unit):
            raise Refuted(f"logits {', '.join(map(str, logits))}: the weight {expected} is {short(ball(value))}")
        facts.append(f"{short(ball(value))} is {expected} rounded")
    total = ball(sp.Add(*map(alone, logits)))
    if not total > 4:
        raise Refuted(f"the weights of each logit alone sum to {short(total)}")
    return Evidence(
        strength=Strength.INTERVAL,
        facts=(*facts, f"the sigmoid's weights of these logits sum to {short(total)}"),
    )


def independence(*, alone: Weights, together: Weights) -> Evidence:
    """Decide that a weight of `alone` depends on its own logit only, and one of `together` falls with every other."""
    logits = (_LOGIT, _OTHER, sp.log(_REST))
    own, shared = alone(logits)[0], together(logits)[0]
    if own.free_symbols - {_LOGIT}:
        before, after = (own.subs({_LOGIT: 0, _REST: 1, _OTHER: other}) for other in (0, sp.log(2)))
        raise Refuted(f"key 1 has the weight {before} beside logits 0, 0 and {after} beside log 2, 0")
    if _OTHER not in shared.free_symbols:
        raise Refuted(f"the weight {shared} of key 1 has no logit of another key in it")
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            f"the sigmoid's weight {own} has no other logit in it",
            require_equal(
                "softmax: the derivative of p_1 by the logit of key 2 is -p_1 p_2, below 0",
                lambda: derivative(shared, _OTHER),
                lambda: -together(logits)[0] * together(logits)[1],
            ),
        ),
        assumptions=("softmax: S > 0 is the sum of e^l over all further keys, so any number of them",),
    )


def bias_by_key_alone(*, encoding: Encoding, kept_under: Normaliser, broken_under: Normaliser) -> Evidence:
    """Decide that the relative law holds under both normalisers, and when the term s j of the query may be dropped.

    Args:
        encoding: RoPE with a linear bias.
        kept_under: normaliser under which the bias -s i of the key alone keeps the law of translation.
        broken_under: normaliser under which it breaks it.
    """
    facts = []
    query, key = sp.symbols("j i", real=True)
    law_of_bias = encoding.bias
    assert law_of_bias is not None
    by_key = replace(encoding, bias=lambda query, key, _: -rotary.SWAT_SLOPE * key)
    cases = [(encoding, Law.RELATIVE, normaliser, True) for normaliser in Normaliser]
    cases += [(by_key, Law.TRANSLATION, kept_under, True), (by_key, Law.TRANSLATION, broken_under, False)]
    for record, law, normaliser, holds in cases:
        ruling = laws.decide_law(replace(record, normaliser=normaliser), law)
        if ruling.holds is None:
            raise Undecided(f"{law} under {normaliser}: {ruling.reason}")
        if ruling.holds != holds:
            raise Refuted(f"{normaliser}, {law}: {ruling.reason}")
        bias = "-s i" if record is by_key else "s (j - i)"
        facts.append(f"{bias} under {normaliser}: {law} {'holds' if holds else 'fails'}, {ruling.reason}")
    dropped = require_equal(
        "what is dropped is s j, the same for all keys",
        lambda: law_of_bias(query, key, sp.S.One) - -rotary.SWAT_SLOPE * key,
        lambda: rotary.SWAT_SLOPE * query,
    )
    return Evidence(strength=Strength.GENERAL, facts=(dropped, *facts))


def constants_of_a_row(*, ignoring: Weights, changing: Number) -> Evidence:
    """Decide that a constant added to all logits leaves the weights of `ignoring` and raises those of `changing`."""
    logits = (_LOGIT, _OTHER, sp.log(_REST))
    moved = (_LOGIT + _ADDED, _OTHER + _ADDED, sp.log(_REST * sp.exp(_ADDED)))
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            require_equal(
                "softmax(l + c) = softmax(l), S the sum of e^l over further keys",
                lambda: ignoring(moved)[0],
                lambda: ignoring(logits)[0],
            ),
            require_equal(
                "sigma(l + c) - sigma(l) = sinh(c/2) / (cosh(c/2) + cosh(l + c/2))",
                lambda: changing(_LOGIT + _ADDED) - changing(_LOGIT),
                lambda: sp.sinh(_ADDED / 2) / (sp.cosh(_ADDED / 2) + sp.cosh(_LOGIT + _ADDED / 2)),
            ),
            "which has the sign of c: the sigmoid's weight of every key rises with c, so no level of logits is free",
        ),
    )


def growth_with_window(*, alone: Number, slopes: Callable[[int], Sequence[sp.Expr]]) -> Evidence:
    """Decide that at zero content two heads of opposite slopes give each key the weights p and 1 - p, for all windows.

    So the weights of a window of W keys sum to W/2 in the mean of the heads. `slopes` are those of H heads.
    """
    distance = sp.Symbol("D", nonnegative=True)
    for heads in range(2, 65, 2):
        given = slopes(heads)
        if sorted(given) != sorted(-slope for slope in given):
            total = sp.Add(*(alone(slope) for slope in given)) / heads
            raise Refuted(f"{heads} heads, D = 1: the mean weight is {short(ball(total))}, not 1/2")
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            require_equal(
                "sigma(s D) + sigma(-s D) = 1",
                lambda: alone(rotary.SWAT_SLOPE * distance) + alone(-rotary.SWAT_SLOPE * distance),
                lambda: sp.Integer(1),
            ),
            same_by_sympy("sigma(0)", alone(sp.S.Zero), sp.Rational(1, 2)),
            "so W keys have weights that sum to W/2 in the mean of both heads, and a window of W' keys at inference "
            "scales an output of equal values by W'/W; softmax's weights sum to 1 for every window",
            "the balanced slopes of 2, 4, ..., 64 heads are opposite in pairs",
        ),
        assumptions=("content 0, as for small initial weights; the window is full",),
    )


def output_bound(*, together: Weights, alone: Number, bound: Number) -> Evidence:
    """Decide |y| <= max |v| under softmax and |y| < `bound(W)` max |v| under the sigmoid, with no smaller bound."""
    window = sp.Symbol("W", integer=True, positive=True)
    logits = (_LOGIT, _OTHER, sp.log(_REST))
    for count, odds in ((3, 1), (3, 9), (5, 99)):  # e^l = odds for all keys, all values 1
        reached = count * alone(sp.log(sp.Integer(odds)))
        if ball(reached - bound(sp.Integer(count))) >= 0:
            raise Refuted(f"{count} equal values of norm 1 with e^l = {odds}: |y| = {reached}, not below the bound")
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            require_equal(
                "softmax: the weights are positive and sum to 1, so y is a convex combination: |y| <= max |v|",
                lambda: sp.Add(*together(logits)),
                lambda: sp.Integer(1),
            ),
            require_equal(
                "sigmoid: 1 - sigma(l) = sigma(-l), above 0, so each weight is below 1 and |y| < W max |v|",
                lambda: 1 - alone(_LOGIT),
                lambda: alone(-_LOGIT),
            ),
            same_by_sympy(
                "with equal values |y|/|v| = W sigma(l) goes to the bound as l grows",
                sp.limit(window * alone(_LOGIT), _LOGIT, sp.oo),
                bound(window),
            ),
        ),
        assumptions=("softmax: S > 0 is the sum of e^l over all further keys, so any number of them",),
    )


_LOGITS = tuple(map(sp.Rational, ("1.5", "5", "2.4", "0.5", "1.3")))
_STATED = ("0.0265", "0.877", "0.0651", "0.0097", "0.0217")


def _each_alone(logits: Sequence[sp.Expr]) -> list[sp.Expr]:
    return [sigmoid(logit) for logit in logits]


CLAIMS = (
    Claim(
        id="swat-1",
        source=SOURCE.at("comparison of softmax and sigmoid weights; the sum is ours"),
        statement="Softmax gives the logits 1.5, 5, 2.4, 0.5, 1.3 the weights 0.0265, 0.877, 0.0651, 0.0097, 0.0217; "
        "the sigmoid's weights of these logits sum to more than 4.",
        latex=r"\mathrm{softmax}(1.5,5,2.4,.5,1.3)\approx(.0265,.877,.0651,.0097,.0217),\quad"
        r"\sum_i\sigma(l_i)>4",
        label="P",
        check=worked_example,
        holds={"weights": softmax, "logits": _LOGITS, "stated": _STATED, "alone": sigmoid},
        answers=("stated",),
        falsifiers={
            "temperature 2": {"weights": lambda logits: softmax([logit / 2 for logit in logits])},
            "the sigmoid's weights": {"weights": _each_alone},
        },
    ),
    Claim(
        id="swat-3",
        source=SOURCE.at("sigmoid in place of softmax: tokens do not compete"),
        statement="Under the sigmoid the weight of a key does not depend on other keys; under softmax it falls with "
        "the logit of every other key.",
        latex=r"\partial\sigma(l_n)/\partial l_m=0,\qquad\partial p_n/\partial l_m=-p_np_m<0\quad(m\ne n)",
        label="P",
        check=independence,
        holds={"alone": _each_alone, "together": softmax},
        falsifiers={
            "softmax's weights depend on their own logits": {"alone": softmax},
            "sigmoid weights depend on the others": {"together": _each_alone},
        },
    ),
    Claim(
        id="swat-4",
        source=SOURCE.at("attention of SWAT: RoPE, slope and sigmoid; the bias of the key alone is ours"),
        statement="With RoPE and the bias s (j - i) scores depend on j - i alone, so the relative law holds under "
        "both normalisers. Code that adds -s i for s (j - i) has the same weights under softmax, and under the "
        "sigmoid weights that a shift of all positions changes.",
        latex=r"\mathrm{softmax}_i(x_{ji}-si)=\mathrm{softmax}_i(x_{ji}+s(j-i)),\qquad "
        r"\sigma(x_{ji}-si)\ne\sigma(x_{ji}+s(j-i))",
        label="F",
        check=bias_by_key_alone,
        holds={
            "encoding": rotary.SWAT,
            "kept_under": Normaliser.SOFTMAX,
            "broken_under": Normaliser.SIGMOID,
        },
        falsifiers={
            "the key alone suffices for the sigmoid": {"kept_under": Normaliser.SIGMOID},
            "it does not for softmax": {"broken_under": Normaliser.SOFTMAX},
            "a slope that grows with the query": {
                "encoding": replace(rotary.SWAT, bias=lambda query, key, _: rotary.SWAT_SLOPE * query * (query - key))
            },
        },
    ),
    Claim(
        id="swat-5",
        source=SOURCE.at("sigmoid in place of softmax; the consequence is ours"),
        statement="Softmax ignores a constant added to all logits of a row; under the sigmoid it raises or lowers "
        "every weight, so SWAT has no free level of logits.",
        latex=r"\mathrm{softmax}(l+c)=\mathrm{softmax}(l),\qquad "
        r"\sigma(l+c)-\sigma(l)=\frac{\sinh(c/2)}{\cosh(c/2)+\cosh(l+c/2)}",
        label="F",
        check=constants_of_a_row,
        holds={"ignoring": softmax, "changing": sigmoid},
        falsifiers={
            "the sigmoid ignores it": {"ignoring": _each_alone},
            "a constant weight": {"changing": lambda logit: sp.Rational(1, 2) + 0 * logit},
        },
    ),
    Claim(
        id="swat-7",
        source=SOURCE.at("balanced slopes, sigmoid without an offset; the statement is ours"),
        statement="At zero content the weights of a full window of W keys sum to W/2 in the mean of two heads of "
        "opposite slopes, as balanced slopes are: outputs grow with the window, which softmax's do not.",
        latex=r"\sigma(sD)+\sigma(-sD)=1\Rightarrow\tfrac12\sum_{D<W}\big(\sigma(sD)+\sigma(-sD)\big)=\tfrac W2",
        label="F",
        check=growth_with_window,
        holds={"alone": sigmoid, "slopes": lambda heads: rotary.swat_slopes(heads, "balanced")},
        falsifiers={
            "negative slopes alone": {"slopes": lambda heads: rotary.swat_slopes(heads, "negative")},
            "weights that sum to 1 for every window": {"alone": lambda logit: sp.exp(logit) / (sp.exp(logit) + 2)},
        },
    ),
    Claim(
        id="swat-9",
        source=SOURCE.at("sigmoid in place of softmax; the bounds are ours"),
        statement="Under softmax an output is at most as long as the longest value. Under the sigmoid it is shorter "
        "than W times the longest value for a window of W keys, and no smaller bound holds.",
        latex=r"\lVert y\rVert\le\max_i\lVert v_i\rVert\ \text{(softmax)},\qquad "
        r"\sup\frac{\lVert y\rVert}{\max_i\lVert v_i\rVert}=W\ \text{(sigmoid)}",
        label="F",
        check=output_bound,
        holds={"together": softmax, "alone": sigmoid, "bound": lambda window: window},
        falsifiers={
            "the sigmoid's output is at most max |v|": {"bound": lambda window: sp.S.One},
            "at most W/2 max |v|": {"bound": lambda window: window / 2},
            "sigmoid weights sum to 1": {"together": _each_alone},
        },
    ),
)
