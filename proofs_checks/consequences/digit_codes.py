"""SeqPE (arXiv 2506.13277), which reads digits: what its losses decide, and the biases that its codes can give."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

import sympy as sp

from lengthgen.proofs_checks.facts import Formula, ball, derivative, is_zero
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.proofs_checks.papers.seqpe import ROOT, SOURCE
from lengthgen.theory import laws
from lengthgen.theory.encodings import biases, seqpe
from lengthgen.theory.encodings.biases import ALIBI_SLOPE
from lengthgen.theory.encodings.encoding import Law
from lengthgen.theory.zero.sympy_engine import Undecided

CLAIMS = PaperClaims(SOURCE)
_QUERY, _KEY, _SHIFT = sp.symbols("j i s", integer=True, nonnegative=True)
_WIDTHS = (1, 2, 3)


@CLAIMS.claim(
    "seqpe-3",
    "contrastive loss",
    r"\mathcal L<\log 2\Rightarrow s_l>s_c\ \forall c\ne l",
    assumptions=("two candidates or more, all real scores",),
    falsifiers={
        "up to log 3": {"below": sp.log(3)},
        "up to 0.7": {"below": sp.Rational(7, 10)},
        "with scores halved and log(2)/2 taken off": {
            "loss": lambda scores, label: seqpe.contrastive([score / 2 for score in scores], label) - sp.log(2) / 2
        },
        "with the label's own term left out": {
            "loss": lambda scores, label: (
                sp.log(sp.Add(*(sp.exp(score) for at, score in enumerate(scores) if at != label))) - scores[label]
            )
        },
    },
)
def separation(loss: Formula = seqpe.contrastive, below: sp.Expr = sp.log(2)) -> Facts:
    """If the contrastive loss of a pivot is less than log 2, the nearest candidate has the largest score, for any two
    candidates or more; over all real scores the loss has the infimum 0 and no minimum.
    """
    lead = sp.log(sp.exp(below) - 1) / 2  # another score this far above the label's has a loss below a larger bound
    for count in (2, 3):
        for scores in product(dict.fromkeys((sp.S.Zero, sp.Rational(1, 2), sp.Integer(3), lead)), repeat=count):
            value = loss(scores, 0)
            wrong = ball(value - below) < 0 and max(scores) > scores[0]
            refute(wrong, f"scores {list(scores)} with the label 0: the loss is {sp.N(value, 6)}")
    score, others = sp.Symbol("s", real=True), sp.Symbol("R", positive=True)
    exponential = "e^loss, s the score of the label and R the sum of e^score over all others: log R takes their place"
    yield exponential, lambda: sp.exp(loss((score, sp.log(others)), 0)), lambda: 1 + others * sp.exp(-score)
    yield "loss < log 2 iff R < e^s; each other score c has e^c <= R, so c < s"
    yield (
        "slope of the loss in s",
        lambda: derivative(loss((score, sp.log(others)), 0), score),
        lambda: -others / (sp.exp(score) + others),
    )
    yield (
        "so a step down the loss raises the score of the label and lowers all others; it has no minimum, only the "
        "infimum 0 as s - log R grows"
    )


Codes = Sequence[Sequence[int]]
_FAR: dict[str, Codes] = {
    "the same codes": ((1, 0), (0, 2), (1, 1)),
    "a coordinate with one value more": ((1, 0, 1), (0, 2, 1), (1, 1, 1)),
    "turned by a right angle": ((0, 1), (-2, 0), (-1, 1)),
    "doubled": ((2, 0), (0, 4), (2, 2)),
    "in another order": ((0, 2), (1, 0), (1, 1)),
}
"""Codes of a far window, compared with those of the near one, the first here."""


def _loss(near: sp.Matrix, far: sp.Matrix, summand: Formula = seqpe.distillation) -> sp.Expr:
    """Return the distillation loss of two Gram matrices."""
    return sp.Add(*(summand(a, b) for a, b in zip(_log_weights(near), _log_weights(far), strict=True)))


def _log_weights(gram: sp.Matrix) -> list[sp.Expr]:
    """Log of the softmax of each row, row by row."""
    totals = [sp.log(sp.Add(*map(sp.exp, gram.row(index)))) for index in range(gram.rows)]
    return [gram[index] - totals[index // gram.cols] for index in range(len(gram))]


@CLAIMS.claim(
    "seqpe-4",
    "distillation loss",
    r"\mathcal L=0\iff\exists r\ \forall a,b:\ \langle z'_a,z'_b\rangle=\langle z_a,z_b\rangle+r",
    assumptions=(
        "any number of positions and coordinates",
        "in words: summands of at least 0 sum to 0 iff each is 0, and rows of equal softmax differ by a number",
    ),
    falsifiers={
        "only for equal Gram matrices": {"agree": lambda near, far: near == far},
        "also for scaled codes": {"agree": lambda near, far: len(set(far - near)) == 1 or far == 4 * near},
        "without logarithms": {"summand": lambda a, b: sp.exp(a) - sp.exp(b)},
    },
)
def agreement(
    summand: Formula = seqpe.distillation, agree: Formula = lambda near, far: len(set(far - near)) == 1
) -> Facts:
    """The distillation loss is at least 0, and 0 iff the Gram matrices of the two windows differ by one number that all
    their entries share: the codes need not agree, nor their scalar products.
    """
    grams = {name: sp.Matrix(codes) * sp.Matrix(codes).T for name, codes in _FAR.items()}
    near = grams["the same codes"]
    for name, far in grams.items():
        loss = _loss(near, far, summand)
        positive = bool(ball(loss) > 0)
        shown = sp.N(loss, 6) if positive else "0"
        refute(positive == agree(near, far), f"codes {list(_FAR[name])} ({name}): the loss is {shown}")
    a, b, entry, row, column = sp.symbols("a b g r_i r_j", real=True)
    sinh = "a summand with the log weights a, b"
    yield sinh, lambda: summand(a, b), lambda: 2 * sp.exp((a + b) / 2) * sp.sinh((a - b) / 2) * (a - b)
    yield "sinh(h/2) has the sign of h and is 0 at h = 0 alone: each summand is at least 0, and 0 iff a = b"
    divergence = "two summands of KL in both directions, p = e^a and q = e^b: p (a - b) + q (b - a)"
    yield divergence, lambda: sp.exp(a) * (a - b) + sp.exp(b) * (b - a), lambda: summand(a, b)
    yield "equal softmax of a row: the entries of the two Gram matrices differ by one number r_i for the row"
    symmetric = "Gram matrices are symmetric: (g + r_i) - (g + r_j) = r_i - r_j must be 0, so all rows have one number"
    yield symmetric, lambda: (entry + row) - (entry + column), lambda: row - column
    yield f"decided for these codes of a far window: {', '.join(_FAR)}"


@CLAIMS.claim(
    "seqpe-4-orthogonal",
    "distillation loss",
    r"\langle Rx,Ry\rangle=\langle x,y\rangle",
    assumptions=("in words: Cartan and Dieudonne's theorem; both losses are functions of scalar products",),
    falsifiers={
        "codes are doubled": {"action": lambda product_with_v, square: (sp.Integer(2), sp.S.Zero)},
        "codes are projected": {"action": lambda product_with_v, square: (sp.S.One, -product_with_v / square)},
    },
)
def invariance(
    action: Formula = lambda product_with_v, square: (sp.S.One, -2 * product_with_v / square),
) -> Facts:
    """Both losses are the same after one orthogonal map of all codes, for every width; doubling all codes can change
    both.

    `action` takes v.x and v.v and returns beta and alpha: x goes to beta x + alpha v.
    """
    own, (own_x, own_y, inner) = sp.Symbol("vv", positive=True), sp.symbols("vx vy xy", real=True)

    def acted() -> sp.Expr:
        (beta_x, alpha_x), (beta_y, alpha_y) = action(own_x, own), action(own_y, own)
        return beta_x * beta_y * inner + beta_x * alpha_y * own_x + beta_y * alpha_x * own_y + alpha_x * alpha_y * own

    yield "x'.y' in terms of x.y, v.x, v.y and v.v", acted, inner
    yield "every orthogonal map of R^d is a product of at most d reflections (Cartan, Dieudonne), for every d"
    yield "both losses read codes through their scalar products alone"
    near, far = (sp.Matrix(_FAR[name]) * sp.Matrix(_FAR[name]).T for name in ("the same codes", "in another order"))
    for name, before, after in (
        ("contrastive loss of the products 1 and 0", seqpe.contrastive((1, 0), 0), seqpe.contrastive((4, 0), 0)),
        ("distillation loss of two windows", _loss(near, far), _loss(4 * near, 4 * far)),
    ):
        values = f"from {sp.N(before, 4)} to {sp.N(after, 4)}"
        refute(bool(ball(after - before).contains(0)), f"doubled codes: the {name} goes {values}")
        yield f"doubled codes have four times the products: the {name} goes {values}"


def _matrix(bias: Formula, queries: list[list[sp.Expr]], keys: list[list[sp.Expr]], width: int) -> sp.Matrix:
    """Matrix of the bias of all pairs, queries by keys."""
    u, w = sp.IndexedBase("u"), sp.IndexedBase("w")
    total = bias(lambda c: u[c], lambda c: w[c], head_dim=sp.Integer(width)).doit()

    def entry(row: int, column: int) -> sp.Expr:
        places = range(width)
        return total.xreplace({u[c]: queries[row][c] for c in places} | {w[c]: keys[column][c] for c in places})

    return sp.Matrix(len(queries), len(keys), entry)


@CLAIMS.claim(
    "seqpe-5",
    "injection attn_scalar",
    r"\{(\langle u_j,w_i\rangle/\sqrt d)_{ji}\}=\{B:\operatorname{rank}B\le d\}",
    assumptions=("codes are free; whether a network of the digits reaches them is not said",),
    falsifiers={
        "the identity of d + 1 positions": {"positions": lambda width: width + 1},
        "with the first coordinate left out": {
            "bias": lambda query, key, *, head_dim: (
                seqpe.bias(query, key, head_dim=head_dim) - query(sp.S.Zero) * key(sp.S.Zero) / sp.sqrt(head_dim)
            )
        },
    },
)
def ranks(bias: Formula = seqpe.bias, positions: Formula = lambda width: width) -> Facts:
    """Biases from codes of width d are exactly the matrices of rank at most d, for every d and every number of
    positions: the identity of more than d positions is not among them.

    `positions` gives, for each d, a number of positions whose identity matrix should be represented.
    """
    for width in _WIDTHS:
        size = positions(width)
        codes = [[sp.Integer((row + 2) ** column) for column in range(width)] for row in range(size)]
        most = _matrix(bias, codes, codes, width).rank()
        rank = f"the identity of {size} positions has the rank {size}, these codes {most}"
        refute(size > most, f"d = {width}: {rank}")
        unit = [[sp.Integer(row == column) for column in range(width)] for row in range(size)]
        reached = _matrix(bias, [[sp.sqrt(width) * entry for entry in row] for row in unit], unit, width)
        refute(reached != sp.eye(size), f"d = {width}: codes sqrt(d) e_j and e_i give {reached.tolist()}")
    x, y, a, b, u, v, w = sp.symbols("x y a b u v w", real=True)

    def summand(query: sp.Expr, key: sp.Expr) -> sp.Expr:
        return bias(lambda _: query, lambda _: key, head_dim=ROOT**2).replace(sp.Sum, lambda part, _: part)

    linear = "each coordinate of the bias is linear in the query's code"
    yield linear, lambda: summand(a * u + b * v, w), lambda: a * summand(u, w) + b * summand(v, w)
    yield (
        "any d + 1 codes in R^d have a combination that is 0, and with the same numbers the rows of the matrix "
        "have one: its rank is at most d, for every d and number of positions"
    )
    product = "a matrix of rank r <= d is a sum of r products x_c(j) y_c(i): codes sqrt(d) x and y, 0 from r on"
    yield product, lambda: summand(ROOT * x, y), lambda: x * y
    yield f"the identity of d positions is represented, for d in {_WIDTHS}; the identity of d + 1 has rank d + 1"


def _alibi_query(position: sp.Expr, coordinate: int) -> sp.Expr:
    """Query code sqrt(d) (-m j, 1) of ALiBi."""
    return ROOT * (-ALIBI_SLOPE * position, sp.S.One)[coordinate]


def _alibi_key(position: sp.Expr, coordinate: int) -> sp.Expr:
    """Key code (1, m i) of ALiBi."""
    return (sp.S.One, ALIBI_SLOPE * position)[coordinate]


@CLAIMS.claim(
    "seqpe-5-alibi",
    "injection attn_scalar",
    r"\tfrac1{\sqrt d}\langle\sqrt d\,(-mj,1),(1,mi)\rangle=-m(j-i)",
    assumptions=(
        "codes are free; those of the released encoder are bounded by its last normalisation, so it can follow "
        "ALiBi on its 10^k positions at most",
    ),
    falsifiers={
        "keys with the other sign": {"key_code": lambda p, c: (sp.S.One, -ALIBI_SLOPE * p)[c]},
        "queries without sqrt(d)": {"query_code": lambda p, c: _alibi_query(p, c) / ROOT},
        "one coordinate": {"query_code": lambda p, c: ROOT * (-ALIBI_SLOPE * p, sp.S.Zero)[c]},
    },
)
def as_alibi(bias: Formula = seqpe.bias, query_code: Formula = _alibi_query, key_code: Formula = _alibi_key) -> Facts:
    """Codes sqrt(d) (-m j, 1) of queries and (1, m i) of keys give ALiBi's bias exactly: two coordinates suffice."""
    query, key = sp.IndexedBase("u"), sp.IndexedBase("w")
    two = bias(lambda c: query[c], lambda c: key[c], head_dim=sp.Integer(2)).doit() * sp.sqrt(2) / ROOT
    values = {query[c]: query_code(_QUERY, c) for c in (0, 1)} | {key[c]: key_code(_KEY, c) for c in (0, 1)}
    yield (
        "(u_0 w_0 + u_1 w_1)/sqrt(d), r = sqrt(d)",
        sp.expand(two).xreplace(values),
        lambda: biases.alibi_bias(ALIBI_SLOPE, query_position=_QUERY, key_position=_KEY),
    )
    yield "the coordinates from 2 on are 0 and add nothing"
    yield "for every slope, position and d >= 2; a factor of m in the query's code is a factor of the bias"


def _circle(position: sp.Expr, coordinate: int) -> sp.Expr:
    return (sp.cos(position), sp.sin(position))[coordinate]


def _line(position: sp.Expr, coordinate: int) -> sp.Expr:
    return (position, sp.S.One)[coordinate]


_FAMILIES: Mapping[str, tuple[Formula, Formula]] = {
    "equal at all positions": (lambda p, c: sp.Integer(c + 1), lambda p, c: sp.Integer(c + 2)),
    "on a circle": (_circle, _circle),
    "of ALiBi": (_alibi_query, _alibi_key),
    "on a line": (_line, _line),
    "growing": (lambda p, c: p ** (c + 1), lambda p, c: sp.Integer(c)),
}
"""Codes of two coordinates for queries and keys."""


@CLAIMS.claim(
    "seqpe-6",
    "injection attn_scalar",
    r"\exists u,w:\ \langle u_{j+s},w_{i+s}\rangle\ne\langle u_j,w_i\rangle",
    assumptions=("codes are free",),
    falsifiers={
        "for every family of codes": {"relative": lambda name: True},
        "for no family of codes": {"relative": lambda name: False},
        "codes that no position changes": {
            "formulas": lambda query, key: seqpe.bias(lambda c: sp.Symbol("u"), lambda c: sp.Symbol("w"))
        },
    },
)
def relative_codes(
    formulas: Formula = seqpe.bias,
    relative: Formula = lambda name: name in ("equal at all positions", "on a circle", "of ALiBi"),
) -> Facts:
    """SeqPE keeps no relative law: for free codes a common shift changes scores. For some codes it does not, such as
    equal codes, codes on a circle, and those of ALiBi.
    """

    def of_tables(query: sp.Expr, key: sp.Expr, _: sp.Expr) -> sp.Expr:
        return formulas(lambda c: seqpe.QUERY_CODES[query, c], lambda c: seqpe.KEY_CODES[key, c])

    ruling = laws.decide_law(replace(seqpe.SEQPE, bias=of_tables), Law.RELATIVE)
    if ruling.holds is None:
        raise Undecided(ruling.reason)
    refute(ruling.holds, f"the relative law holds for all codes: {ruling.reason}")
    yield f"free codes: {ruling.reason}"
    for name, (query_code, key_code) in _FAMILIES.items():
        shifted, by_one, here = (
            sp.Add(*(query_code(_QUERY + shift, c) * key_code(_KEY + shift, c) for c in (0, 1)))
            for shift in (_SHIFT, sp.S.One, sp.S.Zero)
        )
        if not relative(name):
            value = sp.expand(by_one - here).subs({_QUERY: 3, _KEY: 1})
            refute(is_zero(value), f"codes {name}: a shift of query 3 and key 1 by 1 changes nothing")
            yield f"codes {name}: a shift of query 3 and key 1 by 1 adds {value}"
        elif name == "equal at all positions":
            yield f"codes {name}: no position enters"
        else:
            yield f"codes {name}, shifted by s", shifted, here
