"""Bounds around position codes: Gram determinant, Rademacher complexity, softmax under a change of bias, far keys."""

from collections.abc import Sequence
from itertools import product

import sympy as sp

from lengthgen.proofs_checks import mutations
from lengthgen.proofs_checks.consequences.orthogonal import SOURCE
from lengthgen.proofs_checks.facts import Formula, ball, derivative, same_by_sympy
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.theory.encodings import absolute, biases
from lengthgen.theory.encodings.encoding import Encoding
from lengthgen.theory.far import bounded as is_bounded
from lengthgen.theory.far import far_field
from lengthgen.theory.zero.sympy_engine import Undecided

CLAIMS = PaperClaims(SOURCE)


@CLAIMS.claim(
    "orthogonal-6",
    "",
    r"\log\det\big(z_i\cdot z_j\big)_{i,j\le N}\le\sum_i\log\lVert z_i\rVert^2;\quad N>D\Rightarrow\det=0",
    assumptions=(
        "so a maximum of log det G above minus infinity is an orthogonal set, and needs N <= D",
        "in words: induction on N, splitting the new vector into its part in the span of the others and the rest",
    ),
    falsifiers={
        "N > D unit codes reach it": {"dimension": lambda count: count - 1},
        "the product of the norms, not squared": {"bound": lambda norms: sp.sqrt(sp.Mul(*norms))},
        "the largest squared norm": {"bound": max},
    },
)
def gram_determinant(bound: Formula = lambda norms: sp.Mul(*norms), dimension: Formula = lambda count: count) -> Facts:
    """At given positive norms the log determinant of the Gram matrix of N <= D codes is largest iff they are
    orthogonal, and is then the sum of log squared norms; for N > D it is minus infinity (our reading of the paper's
    criterion of mutual information).

    `dimension` is the dimension D of the vectors whose Gram matrix G can be regular, for each N.
    """
    for count in (2, 3, 4):
        squares = [sp.Integer(2 + at) for at in range(count)]
        reached = sp.Mul(*squares)
        above = f"det G = {reached}, above the bound"
        refute(reached > bound(squares), f"orthogonal vectors of squared norms {squares}: {above}")
        vectors = sp.Matrix(dimension(count), count, lambda row, column: (column + 1) ** row)
        refute((vectors.T * vectors).det() == 0, f"{count} vectors {vectors.T.tolist()}: det G is 0")
    volume, product_before, height, foot = sp.symbols("d p h s", nonnegative=True)
    norms = sp.symbols("a:4", positive=True)
    yield same_by_sympy("the bound is the product of squared norms", bound(norms), sp.Mul(*norms))
    yield (
        "the new vector is h e + s f: h above the span of the others, with unit vectors e and f; its squared norm is "
        "h^2 + s^2, and subtracting s f, a combination of the others, leaves det G_(N+1) = h^2 det G_N"
    )
    yield (
        "step: p (h^2 + s^2) - h^2 d = (p - d) h^2 + p s^2, not negative if p >= d",
        lambda: product_before * (height**2 + foot**2) - height**2 * volume,
        lambda: (product_before - volume) * height**2 + product_before * foot**2,
    )
    yield "for h, p > 0 it is 0 only if p = d and s = 0: by induction, only for orthogonal vectors"
    yield "more vectors than dimensions: h = 0 from N = D + 1 on, so det G = 0"


@CLAIMS.claim(
    "orthogonal-7",
    "",
    r"\mathfrak R_n\le\frac Bn\Big(\sum_i\lVert z_i\rVert^2\Big)^{1/2}\le\frac{B(R_x+R_{PE})}{\sqrt n}",
    assumptions=(
        "inputs are given; signs are fair coins",
        "in words: Cauchy-Schwarz, induction on n, and that a mean is at most the root of the mean square",
    ),
    falsifiers={
        "a bound without the norm of the code": {"bound": lambda B, R_x, R_PE, n: B * R_x / sp.sqrt(n)},
        "falling like 1/n": {"bound": lambda B, R_x, R_PE, n: B * (R_x + R_PE) / n},
        "a learned code has no trained numbers": {"fixed": (absolute.LEARNED,)},
        "Haar codes do not change the input": {"keeps": (absolute.HAAR,)},
    },
)
def rademacher(
    bound: Formula = lambda B, R_x, R_PE, n: B * (R_x + R_PE) / sp.sqrt(n),
    fixed: Sequence[Encoding] = (absolute.SINUSOIDAL, *absolute.ORTHOGONAL),
    keeps: Sequence[Encoding] = (biases.ALIBI, biases.T5, biases.FIRE),
) -> Facts:
    """The empirical Rademacher complexity of z -> w.z, |w| <= B, on n inputs x + PE, |x| <= R_x and |PE| <= R_PE, is at
    most B (R_x + R_PE)/sqrt(n), which n <= D orthogonal inputs of norm R_x + R_PE reach: a fixed code enters this bound
    through its norm alone, and ALiBi, T5 and FIRE do not change the input (our reading).

    `fixed` are encodings whose codes are added to x and have no trained numbers, `keeps` those that do not change x.
    """
    radius, content, code, count = sizes = sp.symbols("B R_x R_PE n", positive=True)
    stated = radius * (content + code) / sp.sqrt(count)
    for number in (1, 4, 9):
        values = dict(zip(sizes, (3, 2, 5, number), strict=True))
        size, inputs = stated.subs(values), f"{number} orthogonal inputs of norm 7"
        gap = (bound(radius, content, code, sp.Integer(number)) - size).subs(values)
        refute(ball(gap) < 0, f"B = 3, R_x = 2, R_PE = 5, {inputs}: the complexity is {size}")
    for encoding in fixed:
        trained = f"{encoding.name} adds no code, or its code has {encoding.learned} trained numbers"
        refute(encoding.embed is None or encoding.learned != 0, trained)
    for encoding in keeps:
        refute(encoding.embed is not None, f"{encoding.name} adds a code to the input, of 1 vector per position")
    for number in range(1, 9):
        signs = list(product((-1, 1), repeat=number))
        sums = [(sum(row), sum(sign * (at + 1) for at, sign in enumerate(row))) for row in signs]
        mean = sp.Rational(sum(x * x + y * y for x, y in sums), len(sums))
        expected = sum(1 + (at + 1) ** 2 for at in range(number))
        refute(mean != expected, f"n = {number}: the mean of |sum sigma_i z_i|^2 is {mean}, not {expected}")
    square, mixed, added, first, second, off = sp.symbols("a b c x y t", real=True)
    yield "sup over |w| <= B of sum sigma_i w.z_i is B |sum sigma_i z_i| (Cauchy-Schwarz, reached at w along the sum)"
    step = "step, S.S = a, S.z = b, z.z = c: the mean of |S + sigma z|^2 over sigma = -1, 1 is a + c"
    yield step, lambda: ((square + 2 * mixed + added) + (square - 2 * mixed + added)) / 2, lambda: square + added
    yield "by induction the mean of |sum sigma_i z_i|^2 over all signs is the sum of |z_i|^2"
    convex = "(x^2 + y^2)/2 - ((x + y)/2)^2 = (x - y)^2/4: sign by sign, a mean is at most the root of the mean square"
    yield convex, lambda: (first**2 + second**2) / 2 - ((first + second) / 2) ** 2, lambda: (first - second) ** 2 / 4
    triangle = "|z| <= R_x + R_PE: (R_x + R_PE)^2 - |x + PE|^2 = 2 (R_x R_PE - x.PE), for |x| = R_x, |PE| = R_PE"
    yield triangle, lambda: (content + code) ** 2 - (content**2 + 2 * off + code**2), lambda: 2 * (content * code - off)
    yield same_by_sympy("(B/n) sqrt(n) (R_x + R_PE)", sp.simplify(bound(*sizes) - stated), sp.S.Zero)
    yield "reached by orthogonal inputs of this norm: every choice of signs then gives the same length"
    yield "all signs for n = 1 to 8: for z_i = (1, i) the mean square is the sum of |z_i|^2"
    yield from (f"{encoding.name}: no trained numbers, so its norm is all that enters" for encoding in fixed)
    yield from (f"{encoding.name}: x itself is not changed" for encoding in keeps)


def _oscillation(change: Sequence[sp.Expr]) -> sp.Expr:
    """Largest entry minus the least."""
    return max(change, key=ball) - min(change, key=ball)


@CLAIMS.claim(
    "orthogonal-8",
    "",
    r"\lVert\mathrm{softmax}(s+d)-\mathrm{softmax}(s)\rVert_1\le2\tanh\big(\mathrm{osc}(d)/4\big)\le"
    r"\mathrm{osc}(d)/2",
    assumptions=(
        "any number of keys, finite logits",
        "in words: the l1 distance is that of two keys, a set and the rest, whose odds grow at most by e^osc(d)",
    ),
    falsifiers={
        "constant 1/4: osc/4": {"bound": lambda osc: osc / 4},
        "2 tanh(osc/8)": {"bound": lambda osc: 2 * sp.tanh(osc / 8)},
        "the largest entry in place of osc": {"spread": lambda change: max(change, key=ball)},
    },
)
def softmax_change(bound: Formula = lambda osc: 2 * sp.tanh(osc / 4), spread: Formula = _oscillation) -> Facts:
    """If a bias changes by d, the attention weights move by at most 2 tanh(osc(d)/4) <= osc(d)/2 in l1, osc the largest
    entry minus the least; two keys reach it, so no smaller constant will do (our reading).
    """
    odds = sp.Integer(3)
    for ratio in (sp.Rational(3, 2), sp.Integer(2), sp.Integer(5)):  # s = (-t, t), d = (2t, -2t) with e^t = ratio
        stated = bound(spread([2 * sp.log(ratio), -2 * sp.log(ratio)]))
        moved = 2 * (1 / (1 + ratio**-2) - 1 / (1 + ratio**2))
        farther = f"the weights move by {moved}, the bound is {sp.N(stated, 6)}"
        refute(ball((moved - stated).rewrite(sp.exp)) > 0, f"two keys, e^t = {ratio}: {farther}")
        uneven = 2 * (odds * ratio / (1 + odds * ratio) - odds / (1 + odds))
        excess = (uneven - bound(spread([sp.log(ratio), sp.S.Zero]))).rewrite(sp.exp)
        what = f"two keys with odds 3, one bias more by log {ratio}"
        refute(ball(excess) > 0, f"{what}: the weights move by {uneven}")
    z, half, share, low, high = sp.symbols("z o p m M", real=True)
    small = sp.Symbol("o", nonnegative=True)

    def sigma(logit: sp.Expr) -> sp.Expr:
        return 1 / (1 + sp.exp(-logit))

    yield "|p' - p|_1 = 2 (p'(A) - p(A)) for the set A of keys with p' > p, because both sum to 1"
    yield "with the odds p(A)/p(not A) = e^z, p(A) = sigma(z)", lambda: sp.exp(z) / (1 + sp.exp(z)), sigma(z)
    yield (
        "each e^d is between e^m and e^M, m and M the least and the largest d: the odds of A grow at most by e^(M - m)"
    )
    yield (
        "e^M p / (e^m (1 - p)) = e^(M - m) p / (1 - p)",
        lambda: sp.exp(high) * share / (sp.exp(low) * (1 - share)),
        lambda: sp.exp(high - low) * share / (1 - share),
    )
    yield (
        "sigma(z + o) - sigma(z) = sinh(o/2) / (cosh(o/2) + cosh(z + o/2))",
        lambda: sigma(z + half) - sigma(z),
        lambda: sp.sinh(half / 2) / (sp.cosh(half / 2) + sp.cosh(z + half / 2)),
    )
    yield "cosh is at least 1, and is 1 at z = -o/2"
    quarter = "sinh(o/2) / (cosh(o/2) + 1) = tanh(o/4)"
    yield quarter, lambda: sp.sinh(half / 2) / (sp.cosh(half / 2) + 1), lambda: sp.tanh(half / 4)
    reached = "reached: s = (-t, t), d = (2t, -2t), o = 4t, moves by 2 (sigma(2t) - sigma(-2t)) = 2 tanh(t)"
    yield reached, lambda: 2 * (sigma(2 * z) - sigma(-2 * z)), lambda: 2 * sp.tanh(z)
    yield same_by_sympy("the bound at osc = o", bound(small), 2 * sp.tanh(small / 4))
    slope = "tanh(u) <= u for u >= 0: (u - tanh u)' = tanh(u)^2"
    yield slope, lambda: derivative(z - sp.tanh(z), z), lambda: sp.tanh(z) ** 2
    yield same_by_sympy("osc(d) of two numbers", spread([sp.Integer(5), sp.Integer(-2)]), sp.Integer(7))
    yield "so the output, a mean of values, moves by at most osc/2 max |v|"


_CLIPPED = mutations.with_bias_replaced(lambda query, key: -biases.ALIBI_SLOPE * sp.Min(query - key, 8))
_FALLING_T5 = mutations.with_bias(lambda query, key, length: -(query - key))


@CLAIMS.claim(
    "orthogonal-10",
    "",
    r"\sum_{D\ge W}a_D\ge\frac{(T-W)e^{-C}}{(T-W)e^{-C}+We^{C}}\to1\quad(T\to\infty)",
    assumptions=(
        "bounded content; T keys, of which W are near",
        "Legendre codes with rescaling, its default",
        "in words: the share rises with each far weight and falls with each near one",
    ),
    falsifiers={
        "ALiBi clipped at distance 8 has a tail bound": {"falling": (_CLIPPED(biases.ALIBI),)},
        "T5's tail bound holds: it is among those that fall": {"falling": (biases.ALIBI, biases.T5)},
        "T5 with -D more is bounded": {"bounded": (_FALLING_T5(biases.T5),)},
        "contents do not matter": {"least": lambda window, far, size: far / (far + window)},
    },
)
def tail_mass(
    bounded: Sequence[Encoding] = (biases.T5, biases.FIRE, absolute.SINUSOIDAL, *absolute.ORTHOGONAL),
    falling: Sequence[Encoding] = (biases.ALIBI,),
    least: Formula = lambda window, far, size: far * sp.exp(-size) / (far * sp.exp(-size) + window * sp.exp(size)),
) -> Facts:
    """Encodings with bounded logits (T5, FIRE, sinusoidal, Haar, DCT, rescaled Legendre) have no window that holds a
    fixed share of the attention at every length: with logits in [-C, C] the mass beyond W of T keys is at least
    (T - W)/(T - W + W e^(2C)), which goes to 1; ALiBi's tail bound needs a bias that falls without bound (our reading).

    `least` is the least mass beyond W keys of T - W keys more whose logits are within [-C, C], by W, T - W and C.
    """
    for count in (2, 4):
        reached = sp.Integer(count - 1) / (count - 1 + 4)  # e^C = 2, W = 1: far keys weigh 1/2, the near one 2
        stated = least(sp.S.One, sp.Integer(count - 1), sp.log(2))
        mass = f"the mass beyond is {reached}, below {sp.N(stated, 6)}"
        refute(ball(stated - reached) > 0, f"C = log 2, W = 1, T = {count}: {mass}")
    for encoding, stays in [*((each, True) for each in bounded), *((each, False) for each in falling)]:
        answer = is_bounded(encoding)
        if answer is None:
            raise Undecided(f"{encoding.name}: bounded or not is not decided")
        logits = f"{encoding.name}: {'bounded' if answer else 'unbounded'} logits"
        refute(answer != stays, f"{logits}, far keys at D > 0: {far_field(encoding)}")
    window, more = sp.symbols("W k", integer=True, positive=True)
    size, far, near, gained, lost = sp.symbols("C X Y x y", positive=True)
    mass = least(window, more, size)
    yield (
        "the mass X/(X + Y) falls with less weight far and more near",
        lambda: far / (far + near) - (far - lost) / (far - lost + near + gained),
        lambda: (far * gained + lost * near) / ((far + near) * (far - lost + near + gained)),
    )
    extremal = "so it is least with -C on the k far keys and C on the W near ones"
    yield extremal, lambda: more * sp.exp(-size) / (more * sp.exp(-size) + window * sp.exp(size)), mass
    limit = sp.limit(sp.simplify(mass), more, sp.oo)
    yield same_by_sympy("its limit for more and more keys", limit, sp.S.One)
    bounded_names, falling_names = (", ".join(encoding.name for encoding in group) for group in (bounded, falling))
    yield f"bounded logits, so no window holds a fixed share: {bounded_names}"
    yield f"unbounded: {falling_names}; for ALiBi claims alibi-4 and alibi-5 bound it"
