"""SeqPE: a small network reads the decimal digits of a position and gives its code; codes are trained by two losses.

Source: arXiv 2506.13277 and its released code (ghrua/seqpe), whose settings for text are the defaults here.  A position
has k digits, so positions are 0 .. 10^k - 1.  The width is D; a head has d coordinates.  The network is not written as
a formula: its codes are a table of numbers u[p, c] for queries and w[p, c] for keys, which it computes at every p.
"""

from collections.abc import Callable, Sequence
from typing import Literal, get_args

import sympy as sp

from lengthgen.theory.encodings.encoding import HEAD_DIM, WIDTH, Encoding, Law, Option, Parameter, Properties, Recovery
from lengthgen.theory.relation import absolute

Injection = Literal["attn_scalar", "input_add"]
"""Ways in which codes act: a bias of the products of codes, or codes added to the token embeddings."""

BASE = 10
MOST_DIGITS = 17
"""Largest k: an edit of a position may add a digit to it before it is cut, and must fit into 64 bits."""
DIGITS = sp.Symbol("k", integer=True, positive=True)
QUERY_CODES, KEY_CODES = sp.IndexedBase("u", real=True), sp.IndexedBase("w", real=True)
COORDINATE = sp.Symbol("c", integer=True, nonnegative=True)
Code = Callable[[sp.Expr], sp.Expr]
"""Code of one position: coordinate -> number."""


def last_digit(position: sp.Expr) -> sp.Expr:
    """Last digit of a position.  [P]"""
    return sp.Mod(position, BASE)


def other_digits(position: sp.Expr) -> sp.Expr:
    """Position without its last digit: the digits before it are the digits of this number.  [P]"""
    return sp.floor(position / BASE)


def tokens(position: Sequence[int], *, digits: int) -> tuple[int, ...]:
    """Tokens that the network reads for an n-dimensional position: k digits for each coordinate, the first one first.

    A shorter number has zeros in front.  [P]
    """
    read: list[int] = []
    for coordinate in position:
        rest, backwards = sp.Integer(coordinate), []
        for _ in range(digits):
            backwards.append(int(last_digit(rest)))
            rest = other_digits(rest)
        read += reversed(backwards)
    return tuple(read)


def bias(query_code: Code, key_code: Code, *, head_dim: sp.Expr = HEAD_DIM) -> sp.Expr:
    """Bias <u, w> / sqrt(d) of a head, from the codes of the query's position and of the key's.  [P, code]"""
    products = query_code(COORDINATE) * key_code(COORDINATE)
    return sp.Sum(products, (COORDINATE, 0, head_dim - 1)) / sp.sqrt(head_dim)


def contrastive(scores: Sequence[sp.Expr], label: int) -> sp.Expr:
    """Contrastive loss -log softmax(s)_l, l the label, of the scores PE(p).PE(c) of candidates c.  [P, code]"""
    return sp.log(sp.Add(*(sp.exp(score) for score in scores))) - scores[label]


def nearest(pivot: int, candidates: Sequence[int]) -> int:
    """Label of the contrastive loss: index of the candidate nearest to the pivot, the first of several.  [P, code]"""
    return min(range(len(candidates)), key=lambda index: abs(candidates[index] - pivot))


def distillation(log_near: sp.Expr, log_far: sp.Expr) -> sp.Expr:
    """Summand (e^a - e^b)(a - b) of the distillation loss, for one entry with the log weights a and b.

    The log weights are those of the row softmax of two Gram matrices of codes: positions in the training range, and as
    many in another window.  Their sum over an entry's row is KL(near|far) + KL(far|near).  [P, code]
    """
    return (sp.exp(log_near) - sp.exp(log_far)) * (log_near - log_far)


def encoder_count(digits: sp.Expr, *, width: sp.Expr, coordinates: sp.Expr, axes: sp.Expr) -> sp.Expr:
    """Number of trained numbers of the network: embeddings, two layers, and the output.  [P, code]

    A layer has two normalisations, the projections of attention, and an MLP of 4D units.  Each of n coordinates has
    k slots; for n > 1 there is also a vector for each coordinate (`axes` is n then, and 0 for n = 1).
    """
    embeddings = (BASE + coordinates * digits + axes + 1) * width
    layer = (4 * width**2 + 4 * width) + (8 * width**2 + 5 * width) + 4 * width
    return embeddings + 2 * layer + 2 * width + (width**2 + width)


def released_alibi(slope: sp.Expr, *, key_position: sp.Expr, head_dim: sp.Expr) -> sp.Expr:
    """Bias m i / sqrt(d) of the ALiBi baseline in the released code: it is added before the division.  [P, code]"""
    return slope * key_position / sp.sqrt(head_dim)


SEQPE = Encoding(
    name="seqpe",
    title="SeqPE",
    arxiv="2506.13277",
    summary="a network of the digits, absolute (SeqPE)",
    options={
        "digits": Option(default=5, least=1, most=MOST_DIGITS),
        "injection": Option(default="attn_scalar", words=get_args(Injection)),
    },
    caveat="one network gives the codes of all positions, trained and not",
    parameters=(
        Parameter(
            QUERY_CODES,
            "code of each position for queries: the network of the digits, then half of a linear map",
            learned=encoder_count(DIGITS, width=WIDTH, coordinates=sp.S.One, axes=sp.S.Zero) + WIDTH**2 + WIDTH,
        ),
        Parameter(KEY_CODES, "code for keys: the other half of the map", learned=WIDTH**2 + WIDTH),
    ),
    bias=lambda query_position, key_position, _: bias(
        lambda coordinate: QUERY_CODES[query_position, coordinate],
        lambda coordinate: KEY_CODES[key_position, coordinate],
    ),
    limit=BASE**DIGITS,
    relation=absolute(),
    auxiliary="a contrastive loss and a distillation loss of its codes, with the weight 0.1 each",
    laws=(Law.NORM, Law.STREAMING),
    properties=Properties(far="the position enters", width="d", learned=27 * WIDTH**2 + (42 + DIGITS) * WIDTH),
    recovers=(Recovery("nope", {QUERY_CODES: sp.S.Zero}),),
)
"""SeqPE; its formulas are those of the default injection."""

ENCODINGS = (SEQPE,)
