"""SeqPE's two losses: which order of scores the contrastive one demands, and when the distillation one is zero."""

from collections.abc import Callable, Sequence
from itertools import product

import sympy as sp

from lengthgen.proofs_checks.claim import Refuted, Strength
from lengthgen.proofs_checks.enclosing import ball
from lengthgen.proofs_checks.identity import derivative
from lengthgen.proofs_checks.paper import Facts, PaperClaims
from lengthgen.proofs_checks.papers.seqpe import SOURCE
from lengthgen.theory.encodings import seqpe

Loss = Callable[[Sequence[sp.Expr], int], sp.Expr]
Label = Callable[[int, Sequence[int]], int]
Summand = Callable[[sp.Expr, sp.Expr], sp.Expr]
Codes = Sequence[Sequence[int]]

_POSITIONS = 40
_FAR: dict[str, Codes] = {
    "the same codes": ((1, 0), (0, 2), (1, 1)),
    "a coordinate with one value more": ((1, 0, 1), (0, 2, 1), (1, 1, 1)),
    "turned by a right angle": ((0, 1), (-2, 0), (-1, 1)),
    "doubled": ((2, 0), (0, 4), (2, 2)),
    "in another order": ((0, 2), (1, 0), (1, 1)),
}
"""Codes of a far window, compared with those of the near one, the first here."""


def _by_digits(pivot: int, candidates: Sequence[int]) -> int:
    """Candidate with the fewest digits that differ from the pivot's."""
    own = seqpe.tokens((pivot,), digits=2)

    def differing(candidate: int) -> int:
        return sum(a != b for a, b in zip(own, seqpe.tokens((candidate,), digits=2), strict=True))

    return min(range(len(candidates)), key=lambda index: differing(candidates[index]))


def _last_nearest(pivot: int, candidates: Sequence[int]) -> int:
    return len(candidates) - 1 - seqpe.nearest(pivot, candidates[::-1])


def _gram(codes: Codes) -> sp.Matrix:
    vectors = sp.Matrix(codes)
    return vectors * vectors.T


def _log_weights(gram: sp.Matrix) -> list[sp.Expr]:
    """Log of the softmax of each row, row by row."""
    totals = [sp.log(sp.Add(*map(sp.exp, gram.row(index)))) for index in range(gram.rows)]
    return [gram[index] - totals[index // gram.cols] for index in range(len(gram))]


def _differ_by_a_number(near: sp.Matrix, far: sp.Matrix) -> bool:
    return len(set(far - near)) == 1


def _differ_by_a_factor(near: sp.Matrix, far: sp.Matrix) -> bool:
    return any(far == factor * near for factor in (1, 4))


CLAIMS = PaperClaims(SOURCE)


@CLAIMS.claim(
    "seqpe-3",
    "contrastive loss",
    r"\mathcal L<\log 2\Rightarrow s_l>s_c\ \forall c\ne l",
    assumptions=("any number of candidates, real scores",),
    falsifiers={
        "up to log 3": {"below": sp.log(3)},
        "with scores halved": {
            "loss": lambda scores, label: seqpe.contrastive([score / 2 for score in scores], label) - sp.log(2) / 2
        },
        "with the label's own term left out": {
            "loss": lambda scores, label: (
                sp.log(sp.Add(*(sp.exp(score) for at, score in enumerate(scores) if at != label))) - scores[label]
            )
        },
    },
)
def separation(loss: Loss = seqpe.contrastive, below: sp.Expr = sp.log(2)) -> Facts:
    """If the contrastive loss of a pivot is less than log 2, the nearest candidate has the largest score, whatever the
    number of candidates; the loss has the infimum 0 and no minimum.

    Decide that the label has the largest score if the contrastive loss is less than `below`, for any candidates.
    """
    for count in (2, 3):
        for scores in product((sp.S.Zero, sp.Rational(1, 2), sp.Integer(3)), repeat=count):
            small = ball(loss(scores, 0) - below) < 0
            if small and max(scores) > scores[0]:
                raise Refuted(f"scores {list(scores)} with the label 0: the loss is {sp.N(loss(scores, 0), 6)}")
    score = sp.Symbol("s", real=True)
    others = sp.Symbol("R", positive=True)

    def total() -> sp.Expr:
        return loss((score, sp.log(others)), 0)

    yield (
        "e^loss, s the score of the label and R the sum of e^score over all others: log R takes their place",
        lambda: sp.exp(total()),
        lambda: 1 + others * sp.exp(-score),
    )
    yield "loss < log 2 iff R < e^s; each other score c has e^c <= R, so c < s"
    yield (
        "slope of the loss in s",
        lambda: derivative(sp.log(sp.exp(score) + others) - score, score),
        lambda: -others / (sp.exp(score) + others),
    )
    yield (
        "so a step down the loss raises the score of the label and lowers all others; it has no minimum, only the "
        "infimum 0 as s - log R grows"
    )


@CLAIMS.claim(
    "seqpe-3-label",
    "label of the contrastive loss",
    r"l=\arg\min_c|p-c|",
    label="P",
    strength=Strength.EXHAUSTIVE,
    reach=f"positions below {_POSITIONS}",
    falsifiers={"fewest digits that differ": {"label": _by_digits}, "the last of several": {"label": _last_nearest}},
)
def labels(label: Label = seqpe.nearest) -> Facts:
    """The label is the candidate at the least distance from the pivot, the first of several, and not the one with the
    most digits in common. Decided for all positions below 40.
    """
    for pivot, first, second in product(range(_POSITIONS), repeat=3):
        chosen = label(pivot, (first, second))
        wanted = 0 if abs(first - pivot) <= abs(second - pivot) else 1
        if chosen != wanted:
            raise Refuted(f"pivot {pivot}, candidates {first} and {second}: the label is {(first, second)[chosen]}")
    yield f"all {_POSITIONS**3} choices of a pivot and two candidates"


@CLAIMS.claim(
    "seqpe-4",
    "distillation loss",
    r"\mathcal L=0\iff\exists r\ \forall a,b:\ \langle z'_a,z'_b\rangle=\langle z_a,z_b\rangle+r",
    assumptions=("any number of positions and coordinates",),
    falsifiers={
        "only for equal Gram matrices": {"agree": lambda near, far: near == far},
        "also for scaled codes": {"agree": _differ_by_a_factor},
        "without logarithms": {"summand": lambda a, b: sp.exp(a) - sp.exp(b)},
    },
)
def agreement(
    summand: Summand = seqpe.distillation, agree: Callable[[sp.Matrix, sp.Matrix], bool] = _differ_by_a_number
) -> Facts:
    """The distillation loss is at least 0, and 0 iff the Gram matrices of the two windows differ by one number that all
    their entries share: the codes need not agree, nor their scalar products.

    Decide that the distillation loss is at least 0, and 0 iff the two Gram matrices of codes `agree`.
    """
    near = _gram(_FAR["the same codes"])
    for name, codes in _FAR.items():
        far = _gram(codes)
        loss = sp.Add(*(summand(a, b) for a, b in zip(_log_weights(near), _log_weights(far), strict=True)))
        positive = bool(ball(loss) > 0)
        if positive == agree(near, far):
            shown = sp.N(loss, 6) if positive else "0"
            raise Refuted(f"codes {list(codes)} ({name}): the loss is {shown}")
    a, b = sp.symbols("a b", real=True)
    entry, row, column = sp.symbols("g r_i r_j", real=True)
    yield (
        "a summand with the log weights a, b",
        lambda: summand(a, b),
        lambda: 2 * sp.exp((a + b) / 2) * sp.sinh((a - b) / 2) * (a - b),
    )
    yield "sinh(h/2) has the sign of h and is 0 at h = 0 alone: each summand is at least 0, and 0 iff a = b"
    yield (
        "two summands of KL in both directions, p = e^a and q = e^b: p (a - b) + q (b - a)",
        lambda: sp.exp(a) * (a - b) + sp.exp(b) * (b - a),
        lambda: summand(a, b),
    )
    yield "equal softmax of a row: the entries of the two Gram matrices differ by one number r_i for the row"
    yield (
        "Gram matrices are symmetric: (g + r_i) - (g + r_j) = r_i - r_j must be 0, so all rows have one number",
        lambda: (entry + row) - (entry + column),
        lambda: row - column,
    )
    yield f"decided for these codes of a far window: {', '.join(_FAR)}"


@CLAIMS.claim(
    "seqpe-4-orthogonal",
    "distillation loss",
    r"\langle Rx,Ry\rangle=\langle x,y\rangle",
    falsifiers={
        "codes are doubled": {"action": lambda product_with_v, square: (sp.Integer(2), sp.S.Zero)},
        "codes are projected": {"action": lambda product_with_v, square: (sp.S.One, -product_with_v / square)},
    },
)
def invariance(
    action: Callable[[sp.Expr, sp.Expr], tuple[sp.Expr, sp.Expr]] = lambda product_with_v, square: (
        sp.S.One,
        -2 * product_with_v / square,
    ),
) -> Facts:
    """Both losses are the same after one orthogonal map of all codes, for every width; after a scaling they are not.

    `action` takes v.x and v.v and returns beta and alpha.
    """
    own, own_x, own_y = sp.Symbol("vv", positive=True), sp.Symbol("vx", real=True), sp.Symbol("vy", real=True)
    inner = sp.Symbol("xy", real=True)

    def acted() -> sp.Expr:
        (beta_x, alpha_x), (beta_y, alpha_y) = action(own_x, own), action(own_y, own)
        return beta_x * beta_y * inner + beta_x * alpha_y * own_x + beta_y * alpha_x * own_y + alpha_x * alpha_y * own

    yield "x'.y' in terms of x.y, v.x, v.y and v.v", acted, inner * 1
    yield "every orthogonal map of R^d is a product of at most d reflections (Cartan, Dieudonne), for every d"
    yield "both losses read codes through their scalar products alone"
