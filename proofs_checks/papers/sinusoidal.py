"""The sinusoidal code of the Transformer (arXiv 1706.03762, Section 3.5)."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import lcm

import sympy as sp

from lengthgen.proofs_checks.claim import Refuted, Source
from lengthgen.proofs_checks.facts import same_by_sympy, sign
from lengthgen.proofs_checks.paper import Facts, PaperClaims
from lengthgen.theory.encodings import absolute, rotary
from lengthgen.theory.zero import sympy_engine

SOURCE = Source(
    paper="Attention Is All You Need", arxiv="1706.03762", place="Section 3.5, PE(pos, 2i) = sin, PE(pos, 2i+1) = cos"
)

OfPlane = Callable[[sp.Expr, sp.Expr], sp.Expr]

_PLANES = "the code is a direct sum of planes, each with its own frequency, so every even width D follows"
_WIDTHS = (2, 4, 8, 16)
_LONGEST = 16


def _common_period(frequencies: list[sp.Expr]) -> sp.Expr | None:
    """Least positive multiple of 2 pi / theta_0 after which every plane returns; None if there is none."""
    ratios = [frequency / frequencies[0] for frequency in frequencies]
    if not all(ratio.is_rational for ratio in ratios):
        return None
    return 2 * sp.pi / frequencies[0] * lcm(*(int(sp.denom(ratio)) for ratio in ratios))


CLAIMS = PaperClaims(SOURCE)


@CLAIMS.claim(
    "sin-1",
    "",
    r"PE(p+k)=M_k\,PE(p),\quad "
    r"M_k=\bigoplus_l\begin{pmatrix}\cos k\theta_l&\sin k\theta_l\\-\sin k\theta_l&\cos k\theta_l\end{pmatrix}",
    label="P",
    assumptions=(_PLANES,),
    falsifiers={
        "M_k transposed": {"shift": lambda offset, frequency: absolute.sinusoidal_shift(offset, frequency=frequency).T},
        "cosine first with the same M_k": {
            "code": lambda position, frequency: sp.Matrix(absolute.sinusoidal_code(position, frequency=frequency)[::-1])
        },
        "twice the shift": {
            "shift": lambda offset, frequency: absolute.sinusoidal_shift(2 * offset, frequency=frequency)
        },
    },
)
def linear_shift(
    code: OfPlane = lambda position, frequency: absolute.sinusoidal_code(position, frequency=frequency),
    shift: OfPlane = lambda offset, frequency: absolute.sinusoidal_shift(offset, frequency=frequency),
) -> Facts:
    """The code of position p + k is a fixed orthogonal matrix M_k times the code of p, for every p."""
    position, offset, w = sp.symbols("p k omega", real=True)
    moving = shift(offset, w)
    yield "M_k PE(p) = PE(p + k)", lambda: moving * code(position, w), lambda: code(position + offset, w)
    yield "M_k^T M_k = I", lambda: moving.T * moving, sp.eye(2)


@CLAIMS.claim(
    "sin-2",
    "",
    r"PE(p)\cdot PE(p')=\sum_l\cos\big((p-p')\theta_l\big)",
    assumptions=(_PLANES,),
    answers=("first_rise",),
    falsifiers={
        "half the frequencies": {"frequencies": lambda width: [theta / 2 for theta in rotary.frequencies(width)]},
        "it tells the direction": {
            "law": lambda offset, frequency: sp.cos(offset * frequency) + sp.sin(offset * frequency)
        },
        "sum of sines": {"law": lambda offset, frequency: sp.sin(offset * frequency)},
    },
)
def similarity(
    law: OfPlane = lambda offset, frequency: sp.cos(offset * frequency),
    frequencies: Callable[[int], Sequence[sp.Expr]] = rotary.frequencies,
    first_rise: int = 4,
) -> Facts:
    """The scalar product of two codes is a sum of cosines of their distance: it depends only on the distance, not on
    the direction, and is not monotone (at width 16 it rises at distance 4).

    PE(p) = law(D) = law(-D) on one plane, and the distance at which the sum first rises.

    The sum is taken at width 16, over `frequencies(16)`.
    """
    position, offset, w = sp.symbols("p D omega", real=True)
    yield (
        "PE(p + D) . PE(p) = cos(D omega)",
        lambda: absolute.sinusoidal_code(position + offset, frequency=w).dot(
            absolute.sinusoidal_code(position, frequency=w)
        ),
        lambda: law(offset, w),
    )
    yield "the same before and after: law(-D) = law(D)", lambda: law(-offset, w), lambda: law(offset, w)
    sums = [sum(law(sp.Integer(distance), frequency) for frequency in frequencies(16)) for distance in range(_LONGEST)]
    signs = [sign(after - before) for before, after in pairwise(sums)]
    rise = 1 + signs.index(1)
    values = ", ".join(f"{sp.N(sums[distance], 6)} at {distance}" for distance in range(rise + 1))
    if rise != first_rise:
        raise Refuted(f"width 16: by distance the product is {values}: it rises at {rise}, not at {first_rise}")
    yield f"width 16: by distance the product is {values}: it is not monotone (signs by ball arithmetic)"


@CLAIMS.claim(
    "sin-3",
    "",
    r"\lVert PE(p)\rVert^2=D/2",
    assumptions=(_PLANES,),
    falsifiers={
        "squared norm D": {"total": lambda width: width},
        "sines alone, whose norm varies": {
            "code": lambda position, frequency: sp.Matrix(
                [absolute.sinusoidal_code(position, frequency=frequency)[0], 0]
            )
        },
    },
)
def squared_norm(
    code: OfPlane = lambda position, frequency: absolute.sinusoidal_code(position, frequency=frequency),
    total: Callable[[sp.Expr], sp.Expr] = lambda width: width / 2,
) -> Facts:
    """All codes have the squared norm D/2.

    Decide on one plane that |PE(p)|^2 = 1, and that the sum over D/2 planes is `total(D)`.
    """
    position, w = sp.symbols("p omega", real=True)
    width, plane = sp.Symbol("D", integer=True, positive=True), sp.Symbol("l", integer=True)
    yield "one plane: |PE(p)|^2 = 1", lambda: code(position, w).dot(code(position, w)), sp.Integer(1)
    yield same_by_sympy("sum over D/2 planes", sp.Sum(1, (plane, 0, width / 2 - 1)).doit(), total(width))


@CLAIMS.claim(
    "sin-4",
    "",
    r"p,p'\in\mathbb{Z},\ PE(p)=PE(p')\Rightarrow p=p'",
    assumptions=("pi is irrational (Lambert)", "base 10000 for what is said of real positions"),
    answers=("repeats",),
    falsifiers={
        "real positions": {"domain": sp.S.Reals},
        "base 100": {"frequency": lambda plane, width: rotary.frequency(plane, head_dim=width, base=100)},
        "all frequencies in 2 pi Q": {"frequency": lambda plane, width: 2 * sp.pi / (plane + 3)},
    },
)
def injective(
    frequency: OfPlane = lambda plane, width: rotary.frequency(plane, head_dim=width),
    domain: sp.Set = sp.S.Integers,
    repeats: sp.Expr = 200 * sp.pi,
) -> Facts:
    """Different integer positions have different codes, at every width; different real positions need not (width 4
    repeats after 200 pi).

    Decide if two positions of the domain have the same code; `frequency` takes plane and width.

    `repeats` is the distance after which the codes of width 4 repeat.
    """
    position, offset, w = sp.symbols("p D omega", real=True)
    difference = absolute.sinusoidal_code(position + offset, frequency=w) - absolute.sinusoidal_code(
        position, frequency=w
    )
    yield (
        "|PE(p + D) - PE(p)|^2 = (2 sin(D omega/2))^2",
        lambda: difference.dot(difference),
        lambda: 4 * sp.sin(offset * w / 2) ** 2,
    )
    facts_on_reals = []
    for width in _WIDTHS:
        turns = [frequency(sp.Integer(plane), sp.Integer(width)) for plane in range(width // 2)]
        repeat = _common_period(turns)
        if repeat is None:
            facts_on_reals.append(f"width {width}: the codes of all real positions differ")
            continue
        facts_on_reals.append(f"width {width}: real positions {repeat} apart share a code")
        shared = repeat * sp.denom(repeat) if domain is sp.S.Integers else repeat
        if domain.contains(shared) is sp.true and all(
            absolute.sinusoidal_code(shared, frequency=w) == absolute.sinusoidal_code(sp.S.Zero, frequency=w)
            for w in turns
        ):
            raise Refuted(f"width {width}: positions 0 and {shared} share a code")
        if width == 4 and repeat != repeats:
            raise Refuted(f"width 4 repeats after {repeat}, not {repeats}")
    first = frequency(sp.S.Zero, sp.Symbol("D", positive=True))
    if domain is not sp.S.Integers or not (first.is_rational and first.is_nonzero):
        raise sympy_engine.Undecided(f"the first plane has the frequency {first}")
    yield "so codes are equal iff D theta_l is a multiple of 2 pi for every plane l"
    yield (
        f"theta_0 = {first} for every width: a whole D with D theta_0 = 2 pi m, m not 0, would make pi rational; "
        "m = 0 is D = 0"
    )
    yield from facts_on_reals


@CLAIMS.claim(
    "sin-5",
    "",
    r"(x+p_j)^\top W(y+p_i)=(x+p_{j+s})^\top W(y+p_{i+s})\ \forall x,y,i,j,s\iff W=0",
    assumptions=(
        "contents x, y and W are free",
        "several planes: e^(i theta n) of distinct theta in (0, pi) are independent, so each block of W vanishes",
    ),
    falsifiers={
        "relative for every W": {"relative": lambda weights: True},
        "relative for W = I": {"relative": lambda weights: weights in (sp.zeros(2, 2), sp.eye(2))},
        "not even for W = 0": {"relative": lambda weights: False},
    },
)
def relative_logits(relative: Callable[[sp.Matrix], bool] = lambda weights: weights.is_zero_matrix) -> Facts:
    """With codes added to the embeddings the logit is not relative: for all contents a shift of both positions leaves
    it unchanged only if W_q^T W_k = 0.

    `relative` takes W and returns True if the logit should be unchanged.
    """
    embed = absolute.SINUSOIDAL.embed
    assert embed is not None
    i, offset, shift, w = sp.symbols("i D s theta", positive=True)
    weights = sp.Matrix(2, 2, sp.symbols("w11 w12 w21 w22", real=True))
    query, key = sp.Matrix(sp.symbols("x1 x2", real=True)), sp.Matrix(sp.symbols("y1 y2", real=True))

    def code(position: sp.Expr) -> sp.Matrix:
        return embed(position).subs(rotary.FREQUENCY, w)

    def logit(by: sp.Matrix, position: sp.Expr) -> sp.Expr:
        return (query + code(position + offset)).dot(by * (key + code(position)))

    plain = absolute.SINUSOIDAL.score(query, key, query_position=i + offset, key_position=i)
    change = logit(weights, i + shift) - logit(weights, i)
    steps = [code(sp.Integer(to)) - code(sp.Integer(to - 1)) for to in (1, 2)]
    yield "W = I is the score of the encoding", lambda: logit(sp.eye(2), i), lambda: plain.subs(rotary.FREQUENCY, w)
    yield (
        "the change by a shift s has the slope W (PE(i + s) - PE(i)) in x",
        change.diff(query),
        lambda: weights * (code(i + shift) - code(i)),
    )
    yield (
        "det(PE(1) - PE(0), PE(2) - PE(1)) = -2 sin(theta)(1 - cos(theta))",
        lambda: sp.Matrix.hstack(*steps).det(),
        lambda: -2 * sp.sin(w) * (1 - sp.cos(w)),
    )
    yield "not 0 for 0 < theta < pi, and every theta_l is in (0, 1]: so W = 0 if the slope vanishes at i = 0, 1, s = 1"
    yield "with W = I codes alone score cos(D theta)", lambda: code(i + offset).dot(code(i)), lambda: sp.cos(offset * w)
    for case in (sp.zeros(2, 2), sp.eye(2), sp.Matrix([[1, 2], [3, 4]]), sp.Matrix([[0, 1], [0, 0]])):
        if relative(case):
            what = f"W = {case.tolist()}: logits at (i + D, i) and at (i + s + D, i + s)"
            same_by_sympy(what, logit(case, i), logit(case, i + shift))
        elif sympy_engine.is_zero(logit(case, i) - logit(case, i + shift)):
            raise Refuted(f"W = {case.tolist()}: the logit is {logit(case, i)} at every shift")
