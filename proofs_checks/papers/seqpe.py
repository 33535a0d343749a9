"""SeqPE (arXiv 2506.13277): the digits that it reads, its losses, and what its scores can represent.

The abstract and the released code were at hand, not the paper's tables and theorems.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product

import sympy as sp

from lengthgen.proofs_checks.claim import Refuted, Source, Strength
from lengthgen.proofs_checks.facts import ball, derivative, is_zero, same_by_sympy
from lengthgen.proofs_checks.paper import Facts, PaperClaims
from lengthgen.theory import laws
from lengthgen.theory.encodings import biases, seqpe
from lengthgen.theory.encodings.encoding import WIDTH, Law
from lengthgen.theory.zero.sympy_engine import Undecided

SOURCE = Source(paper="SeqPE", arxiv="2506.13277", place="released code")

Reading = Callable[..., tuple[int, ...]]
Digit = Callable[[sp.Expr], sp.Expr]
Count = Callable[..., sp.Expr]
Loss = Callable[[Sequence[sp.Expr], int], sp.Expr]
Label = Callable[[int, Sequence[int]], int]
Summand = Callable[[sp.Expr, sp.Expr], sp.Expr]
Codes = Sequence[Sequence[int]]
Bias = Callable[..., sp.Expr]
CodeAt = Callable[[sp.Expr, int], sp.Expr]
"""Coordinate of the code of a position: (position, coordinate) -> number."""

_SMALL = ((1, 1), (2, 1), (1, 2))
"""Numbers of digits and of coordinates for which all positions are read."""
_PAIR = ((1, 23), (12, 3))
"""Positions of two coordinates whose digits are the same in a row."""
_POSITIONS = 40
_FAR: dict[str, Codes] = {
    "the same codes": ((1, 0), (0, 2), (1, 1)),
    "a coordinate with one value more": ((1, 0, 1), (0, 2, 1), (1, 1, 1)),
    "turned by a right angle": ((0, 1), (-2, 0), (-1, 1)),
    "doubled": ((2, 0), (0, 4), (2, 2)),
    "in another order": ((0, 2), (1, 0), (1, 1)),
}
"""Codes of a far window, compared with those of the near one, the first here."""
_ROOT = sp.Symbol("r", positive=True)
"""Square root of the head width, which is then r^2."""
_QUERY, _KEY, _SHIFT = sp.symbols("j i s", integer=True, nonnegative=True)
_WIDTHS = (1, 2, 3)
_RELATIVE = frozenset({"equal at all positions", "on a circle", "of ALiBi"})


def _unpadded(position: Sequence[int], *, digits: int) -> tuple[int, ...]:
    """Digits of the coordinates in a row, without zeros in front."""
    return tuple(int(digit) for coordinate in position for digit in str(coordinate))


def _without_first(position: Sequence[int], *, digits: int) -> tuple[int, ...]:
    """Digits of each coordinate without the highest one, except if it is the only one."""
    return tuple(
        token
        for coordinate in position
        for token in seqpe.tokens((coordinate,), digits=digits)[1 if digits > 1 else 0 :]
    )


def _table(digits: sp.Expr, *, width: sp.Expr, coordinates: sp.Expr, axes: sp.Expr) -> sp.Expr:
    return coordinates * seqpe.BASE**digits * width


def _digit_of_each_slot(digits: sp.Expr, *, width: sp.Expr, coordinates: sp.Expr, axes: sp.Expr) -> sp.Expr:
    own = seqpe.encoder_count(digits, width=width, coordinates=coordinates, axes=axes)
    return own + (seqpe.BASE - 1) * coordinates * digits * width


CLAIMS = PaperClaims(SOURCE)


@CLAIMS.claim(
    "seqpe-1",
    "reading of positions",
    r"[0,10^k)^n\hookrightarrow\{0,\dots,9\}^{nk}",
    label="P",
    falsifiers={
        "no zeros in front": {"read": _unpadded},
        "without the highest digit": {"read": _without_first},
        "the rest by rounding": {"other_digits": lambda number: sp.floor(number / seqpe.BASE + sp.Rational(1, 2))},
    },
)
def injective(
    read: Reading = seqpe.tokens, last_digit: Digit = seqpe.last_digit, other_digits: Digit = seqpe.other_digits
) -> Facts:
    """With k digits for each coordinate, zeros in front, the tokens determine the position: for every k and number n of
    coordinates. Without the zeros (1, 23) and (12, 3) have the same tokens.

    `read` takes a position and the number of digits; `last_digit` and `other_digits` split a number.
    """
    first, second = (read(position, digits=2) for position in _PAIR)
    if first == second:
        raise Refuted(f"{_PAIR[0]} and {_PAIR[1]} are both read as {first}")
    for digits, coordinates in _SMALL:
        seen: dict[tuple[int, ...], tuple[int, ...]] = {}
        for position in product(range(seqpe.BASE**digits), repeat=coordinates):
            same = seen.setdefault(read(position, digits=digits), position)
            if same != position:
                raise Refuted(f"k = {digits}: {same} and {position} are both read as {read(position, digits=digits)}")
            if len(read(position, digits=digits)) != digits * coordinates:
                raise Refuted(f"k = {digits}: {position} is read as {read(position, digits=digits)}")
    rest = sp.Symbol("q", integer=True, nonnegative=True)
    for digit in range(seqpe.BASE):
        split = seqpe.BASE * rest + digit
        same_by_sympy(f"last digit of 10 q + {digit}", last_digit(split), sp.Integer(digit))
        same_by_sympy(f"10 q + {digit} without it", other_digits(split), rest)
    for number in (0, 7, 90, 482):
        before, tokens = read((number // seqpe.BASE,), digits=2), read((number,), digits=3)
        if tokens != (*before, number % seqpe.BASE):
            raise Refuted(f"{number} is read as {tokens}, its front digits as {before}")
    yield "10 q + r with r = 0 .. 9 has the last digit r and the rest q, for every q >= 0: sympy evaluates both"
    yield (
        "induction: k = 0 digits hold the position 0 alone; a position below 10^(k+1) is 10 q + r with q below "
        "10^k, its last token is r and the tokens before are those of q, so they determine r, q and the position"
    )
    yield "each of n coordinates has k tokens at fixed places, so a row of n k tokens determines each coordinate"
    yield f"all positions read for (k, n) in {', '.join(map(str, _SMALL))}; {_PAIR[0]} and {_PAIR[1]} for k = 2"


@CLAIMS.claim(
    "seqpe-2",
    "size of the encoder",
    r"\#\theta(k+1)-\#\theta(k)=nD",
    label="P",
    assumptions=("an encoder as wide as the model, with 2 layers",),
    answers=("per_digit",),
    falsifiers={
        "a learned table": {"count": _table},
        "an embedding for each digit at each slot": {"count": _digit_of_each_slot},
    },
)
def trained_numbers(
    count: Count = seqpe.encoder_count, per_digit: sp.Expr = sp.Symbol("n", integer=True, positive=True) * WIDTH
) -> Facts:
    """Every position below 10^k has a code, and one more digit costs n D trained numbers: they grow with the logarithm
    of the number of positions, where a table grows with the number itself.

    `count` is the number of trained numbers by digits, width, coordinates and axes; `per_digit` is what it should add.
    """
    digits, coordinates = sp.symbols("k n", integer=True, positive=True)
    sizes = {"width": WIDTH, "coordinates": coordinates, "axes": coordinates}
    for few in range(1, 5):
        added = sp.expand(count(sp.Integer(few + 1), **sizes) - count(sp.Integer(few), **sizes))
        if sp.expand(added - per_digit.subs(sp.Symbol("n", integer=True, positive=True), coordinates)) != 0:
            raise Refuted(f"from {10**few} to {10 ** (few + 1)} positions: {added} trained numbers more")
    yield (
        "numbers for k + 1 digits minus numbers for k",
        lambda: count(digits + 1, **sizes) - count(digits, **sizes),
        lambda: coordinates * WIDTH,
    )
    yield "k digits serve 10^k positions, so P positions need n D log10(P) numbers and a part that P does not change"
    yield same_by_sympy(
        "for n = 1 with the map to query and key codes",
        sp.expand(count(seqpe.DIGITS, width=WIDTH, coordinates=1, axes=0) + 2 * WIDTH**2 + 2 * WIDTH),
        sp.expand(seqpe.SEQPE.learned),
    )


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
        "also for scaled codes": {"agree": lambda near, far: any(far == factor * near for factor in (1, 4))},
        "without logarithms": {"summand": lambda a, b: sp.exp(a) - sp.exp(b)},
    },
)
def agreement(
    summand: Summand = seqpe.distillation,
    agree: Callable[[sp.Matrix, sp.Matrix], bool] = lambda near, far: len(set(far - near)) == 1,
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


def _matrix(bias: Bias, queries: list[list[sp.Expr]], keys: list[list[sp.Expr]], width: int) -> sp.Matrix:
    """Matrix of the bias of all pairs, queries by keys."""

    def entry(row: int, column: int) -> sp.Expr:
        total = bias(
            lambda coordinate: sp.IndexedBase("u")[coordinate],
            lambda coordinate: sp.IndexedBase("w")[coordinate],
            head_dim=sp.Integer(width),
        ).doit()
        values = {sp.IndexedBase("u")[c]: queries[row][c] for c in range(width)}
        return total.xreplace(values | {sp.IndexedBase("w")[c]: keys[column][c] for c in range(width)})

    return sp.Matrix(len(queries), len(keys), entry)


def _alibi_query(position: sp.Expr, coordinate: int) -> sp.Expr:
    """Query code sqrt(d) (-m j, 1) of ALiBi."""
    return _ROOT * (-biases.ALIBI_SLOPE * position, sp.S.One)[coordinate]


def _alibi_key(position: sp.Expr, coordinate: int) -> sp.Expr:
    """Key code (1, m i) of ALiBi."""
    return (sp.S.One, biases.ALIBI_SLOPE * position)[coordinate]


_FAMILIES: Mapping[str, tuple[CodeAt, CodeAt]] = {
    "equal at all positions": (lambda p, c: sp.Integer(c + 1), lambda p, c: sp.Integer(c + 2)),
    "on a circle": (lambda p, c: (sp.cos(p), sp.sin(p))[c], lambda p, c: (sp.cos(p), sp.sin(p))[c]),
    "of ALiBi": (_alibi_query, _alibi_key),
    "on a line": (lambda p, c: (p, sp.S.One)[c], lambda p, c: (p, sp.S.One)[c]),
    "growing": (lambda p, c: p ** (c + 1), lambda p, c: sp.Integer(c)),
}
"""Codes of two coordinates for queries and keys."""


def _of_tables(bias: Bias, query_position: sp.Expr, key_position: sp.Expr) -> sp.Expr:
    """Bias of the two positions from the tables of codes."""
    return bias(
        lambda coordinate: seqpe.QUERY_CODES[query_position, coordinate],
        lambda coordinate: seqpe.KEY_CODES[key_position, coordinate],
    )


@CLAIMS.claim(
    "seqpe-5",
    "injection attn_scalar",
    r"\{(\langle u_j,w_i\rangle/\sqrt d)_{ji}\}=\{B:\operatorname{rank}B\le d\}",
    assumptions=("codes are free; whether a network of the digits reaches them is not said",),
    falsifiers={
        "the identity of d + 1 positions": {"positions": lambda width: width + 1},
        "without the division": {
            "bias": lambda query, key, *, head_dim: sp.sqrt(head_dim) * seqpe.bias(query, key, head_dim=head_dim)
        },
    },
)
def ranks(bias: Bias = seqpe.bias, positions: Callable[[int], int] = lambda width: width) -> Facts:
    """Biases from codes of width d are exactly the matrices of rank at most d, for every d and every number of
    positions: the identity of more than d positions is not among them.

    `positions` gives, for each d, a number of positions whose identity matrix should be represented.
    """
    for width in _WIDTHS:
        size = positions(width)
        codes = [[sp.Integer((row + 2) ** column) for column in range(width)] for row in range(size)]
        most = _matrix(bias, codes, codes, width).rank()
        if size > most:
            raise Refuted(f"d = {width}: the identity of {size} positions has the rank {size}, these codes {most}")
        unit = [[sp.Integer(row == column) for column in range(width)] for row in range(size)]
        scaled = [[sp.sqrt(width) * entry for entry in row] for row in unit]
        if _matrix(bias, scaled, unit, width) != sp.eye(size):
            raise Refuted(f"d = {width}: codes sqrt(d) e_j and e_i give {_matrix(bias, scaled, unit, width).tolist()}")
    x, y, a, b, u, v, w = sp.symbols("x y a b u v w", real=True)

    def summand(query: sp.Expr, key: sp.Expr) -> sp.Expr:
        return bias(lambda _: query, lambda _: key, head_dim=_ROOT**2).replace(sp.Sum, lambda part, _: part)

    yield (
        "each coordinate of the bias is linear in the query's code",
        lambda: summand(a * u + b * v, w),
        lambda: a * summand(u, w) + b * summand(v, w),
    )
    yield (
        "any d + 1 codes in R^d have a combination that is 0, and with the same numbers the rows of the matrix "
        "have one: its rank is at most d, for every d and number of positions"
    )
    yield (
        "a matrix of rank r <= d is a sum of r products x_c(j) y_c(i): codes sqrt(d) x and y, 0 from r on",
        lambda: summand(_ROOT * x, y),
        lambda: x * y,
    )
    yield f"the identity of d positions is represented, for d in {_WIDTHS}; the identity of d + 1 has rank d + 1"


@CLAIMS.claim(
    "seqpe-5-alibi",
    "injection attn_scalar",
    r"\tfrac1{\sqrt d}\langle\sqrt d\,(-mj,1),(1,mi)\rangle=-m(j-i)",
    assumptions=(
        "codes are free; those of the released encoder are bounded by its last normalisation, so it can follow "
        "ALiBi on its 10^k positions at most",
    ),
    falsifiers={
        "keys with the other sign": {"key_code": lambda p, c: (sp.S.One, -biases.ALIBI_SLOPE * p)[c]},
        "queries without sqrt(d)": {"query_code": lambda p, c: _alibi_query(p, c) / _ROOT},
        "one coordinate": {"query_code": lambda p, c: _ROOT * (-biases.ALIBI_SLOPE * p, sp.S.Zero)[c]},
    },
)
def as_alibi(bias: Bias = seqpe.bias, query_code: CodeAt = _alibi_query, key_code: CodeAt = _alibi_key) -> Facts:
    """Codes sqrt(d) (-m j, 1) of queries and (1, m i) of keys give ALiBi's bias exactly: two coordinates suffice."""
    query, key = sp.IndexedBase("u"), sp.IndexedBase("w")
    two = bias(lambda c: query[c], lambda c: key[c], head_dim=sp.Integer(2)).doit() * sp.sqrt(2) / _ROOT
    values = {query[c]: query_code(_QUERY, c) for c in (0, 1)} | {key[c]: key_code(_KEY, c) for c in (0, 1)}
    yield (
        "(u_0 w_0 + u_1 w_1)/sqrt(d), r = sqrt(d)",
        sp.expand(two).xreplace(values),
        lambda: biases.alibi_bias(biases.ALIBI_SLOPE, query_position=_QUERY, key_position=_KEY),
    )
    yield "the coordinates from 2 on are 0 and add nothing"
    yield "for every slope, position and d >= 2; a factor of m in the query's code is a factor of the bias"


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
    formulas: Bias = seqpe.bias, relative: Callable[[str], bool] = lambda name: name in _RELATIVE
) -> Facts:
    """SeqPE keeps no relative law: for free codes a common shift changes scores. For some codes it does not, such as
    equal codes, codes on a circle, and those of ALiBi.
    """
    encoding = replace(seqpe.SEQPE, bias=lambda j, i, _: _of_tables(formulas, j, i))
    ruling = laws.decide_law(encoding, Law.RELATIVE)
    if ruling.holds is None:
        raise Undecided(ruling.reason)
    if ruling.holds:
        raise Refuted(f"the relative law holds for all codes: {ruling.reason}")
    yield f"free codes: {ruling.reason}"
    for name, (query_code, key_code) in _FAMILIES.items():

        def product(shift: sp.Expr, query_code: CodeAt = query_code, key_code: CodeAt = key_code) -> sp.Expr:
            return sp.Add(*(query_code(_QUERY + shift, c) * key_code(_KEY + shift, c) for c in (0, 1)))

        if relative(name):
            if name == "equal at all positions":
                yield f"codes {name}: no position enters"
                continue
            yield f"codes {name}, shifted by s", product(_SHIFT), product(sp.S.Zero)
        else:
            change = sp.expand(product(sp.S.One) - product(sp.S.Zero))
            value = change.subs({_QUERY: 3, _KEY: 1})
            if is_zero(value):
                raise Refuted(f"codes {name}: a shift of query 3 and key 1 by 1 changes nothing")
            yield f"codes {name}: a shift of query 3 and key 1 by 1 adds {value}"


@CLAIMS.claim(
    "seqpe-7",
    "ALiBi baseline",
    r"b_{ji}=\tfrac{m\,i}{\sqrt d}\ \equiv\ -\tfrac{m}{\sqrt d}(j-i)",
    label="P",
    printed={"slope": lambda slope, root: slope},
    falsifiers={
        "the slopes of Press et al.": {"slope": lambda slope, root: slope},
        "slopes m/d": {"slope": lambda slope, root: slope / root**2},
    },
)
def released_baseline(slope: Callable[[sp.Expr, sp.Expr], sp.Expr] = lambda slope, root: slope / root) -> Facts:
    """The released ALiBi baseline has the slopes m/sqrt(d) (errata F21): it adds ALiBi's bias before the division by
    sqrt(d), so its decay is 8 times weaker at d = 64 than that of Press et al.

    `slope` takes the slope m of the head and the root r of its width.
    """
    first, second = sp.symbols("a b", integer=True, nonnegative=True)

    def released(key: sp.Expr) -> sp.Expr:
        return seqpe.released_alibi(biases.ALIBI_SLOPE, key_position=key, head_dim=_ROOT**2)

    def press(key: sp.Expr) -> sp.Expr:
        return biases.alibi_bias(slope(biases.ALIBI_SLOPE, _ROOT), query_position=_QUERY, key_position=key)

    yield (
        "difference of the biases of two keys a and b, r = sqrt(d)",
        lambda: released(first) - released(second),
        lambda: press(first) - press(second),
    )
    yield "softmax sees such differences alone; d = 64 makes the decay 8 times weaker"
