"""Sinusoidal codes (arXiv 1706.03762), learned tables (arXiv 1705.03122): what they tell apart; neither is relative."""

from itertools import pairwise, product
from math import lcm

import sympy as sp

from lengthgen.proofs_checks.claim import Source
from lengthgen.proofs_checks.facts import Formula, same_by_sympy, sign
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.proofs_checks.papers.sinusoidal import PLANES, SOURCE
from lengthgen.theory.encodings import absolute, rotary
from lengthgen.theory.encodings.encoding import KEY, QUERY
from lengthgen.theory.zero import sympy_engine

LEARNED_SOURCE = Source(
    paper="Convolutional Sequence to Sequence Learning", arxiv="1705.03122", place="Section 3.1, position embeddings"
)
CLAIMS = PaperClaims(SOURCE)
p, D, w = sp.symbols("p D omega", real=True)


def _code(position: sp.Expr, frequency: sp.Expr = w) -> sp.Matrix:
    return absolute.sinusoidal_code(position, frequency=frequency)


@CLAIMS.claim(
    "sin-2",
    "",
    r"PE(p)\cdot PE(p')=\sum_l\cos\big((p-p')\theta_l\big)",
    assumptions=(PLANES,),
    answers=("first_rise",),
    falsifiers={
        "half the frequencies": {"frequencies": lambda width: [theta / 2 for theta in rotary.frequencies(width)]},
        "it tells the direction": {"law": lambda angle: sp.cos(angle) + sp.sin(angle)},
        "sum of sines": {"law": sp.sin},
    },
)
def similarity(law: Formula = sp.cos, frequencies: Formula = rotary.frequencies, first_rise: int = 4) -> Facts:
    """The scalar product of two codes is a sum of cosines of their distance: it depends only on the distance, not on
    the direction, and at width 16 it is not monotone: it rises at distance 4.
    """
    yield "PE(p + D) . PE(p) = cos(D omega)", lambda: _code(p + D).dot(_code(p)), lambda: law(D * w)
    yield "the same before and after: law(-D) = law(D)", lambda: law(-D * w), lambda: law(D * w)
    sums = [sum(law(sp.Integer(distance) * theta) for theta in frequencies(16)) for distance in range(16)]
    rise = 1 + [sign(after - before) for before, after in pairwise(sums)].index(1)
    values = ", ".join(f"{sp.N(sums[distance], 6)} at {distance}" for distance in range(rise + 1))
    product = f"width 16: by distance the product is {values}"
    refute(rise != first_rise, f"{product}: it rises at {rise}, not at {first_rise}")
    yield f"{product}: it is not monotone (signs by ball arithmetic)"


@CLAIMS.claim(
    "sin-3",
    "",
    r"\lVert PE(p)\rVert^2=D/2",
    assumptions=(PLANES,),
    falsifiers={
        "squared norm D": {"total": lambda width: width},
        "sines alone, whose norm varies": {"code": lambda position: sp.Matrix([_code(position)[0], 0])},
    },
)
def squared_norm(code: Formula = _code, total: Formula = lambda width: width / 2) -> Facts:
    """All codes have the squared norm D/2."""
    width, plane = sp.Symbol("D", integer=True, positive=True), sp.Symbol("l", integer=True)
    yield "one plane: |PE(p)|^2 = 1", lambda: code(p).dot(code(p)), sp.Integer(1)
    yield same_by_sympy("sum over D/2 planes", sp.Sum(1, (plane, 0, width / 2 - 1)).doit(), total(width))


@CLAIMS.claim(
    "sin-4",
    "",
    r"p,p'\in\mathbb{Z},\ PE(p)=PE(p')\Rightarrow p=p'",
    assumptions=("pi is irrational (Lambert)", "base 10000 for what is said of real positions"),
    answers=("repeats",),
    falsifiers={
        "real positions": {"domain": sp.S.Reals},
        "base 1000": {"frequency": lambda plane, head_dim: rotary.frequency(plane, head_dim=head_dim, base=1000)},
        "all frequencies in 2 pi Q": {"frequency": lambda plane, head_dim: 2 * sp.pi / (plane + 3)},
    },
)
def injective(
    frequency: Formula = rotary.frequency, domain: sp.Set = sp.S.Integers, repeats: sp.Expr = 200 * sp.pi
) -> Facts:
    """Different integer positions have different codes, at every width; different real positions need not (width 4
    repeats after 200 pi).
    """
    difference = _code(p + D) - _code(p)
    square = "|PE(p + D) - PE(p)|^2 = (2 sin(D omega/2))^2"
    yield square, lambda: difference.dot(difference), lambda: 4 * sp.sin(D * w / 2) ** 2
    facts_on_reals = []
    for width in (2, 4, 8, 16):
        turns = [frequency(sp.Integer(plane), head_dim=sp.Integer(width)) for plane in range(width // 2)]
        ratios = [turn / turns[0] for turn in turns]
        if not all(ratio.is_rational for ratio in ratios):
            facts_on_reals.append(f"width {width}: the codes of all real positions differ")
            refute(width == 4, facts_on_reals[-1])
            continue
        repeat = 2 * sp.pi / turns[0] * lcm(*(int(sp.denom(ratio)) for ratio in ratios))
        facts_on_reals.append(f"width {width}: real positions {repeat} apart share a code")
        shared = repeat * sp.denom(repeat) if domain is sp.S.Integers else repeat
        same = domain.contains(shared) is sp.true and all(
            _code(shared, turn) == _code(sp.S.Zero, turn) for turn in turns
        )
        refute(same, f"width {width}: positions 0 and {shared} share a code")
        refute(width == 4 and repeat != repeats, f"width 4 repeats after {repeat}, not {repeats}")
    first = frequency(sp.S.Zero, head_dim=sp.Symbol("D", positive=True))
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
    assumptions=("contents x, y and W are free",),
    falsifiers={
        "relative for every W": {"relative": lambda weights: True},
        "relative for a quarter turn W": {
            "relative": lambda weights: weights in (sp.zeros(2, 2), sp.Matrix([[0, 1], [-1, 0]]))
        },
        "relative for W = diag(1, 0)": {"relative": lambda weights: weights in (sp.zeros(2, 2), sp.diag(1, 0))},
        "relative for W = I": {"relative": lambda weights: weights in (sp.zeros(2, 2), sp.eye(2))},
        "not even for W = 0": {"relative": lambda weights: False},
    },
)
def relative_logits(relative: Formula = lambda weights: weights.is_zero_matrix) -> Facts:
    """With codes added to the embeddings the logit is not relative: for all contents a shift of both positions leaves
    it unchanged only if W_q^T W_k = 0.
    """
    embed = absolute.SINUSOIDAL.embed
    assert embed is not None
    i, offset, shift, theta = sp.symbols("i D s theta", positive=True)
    weights = sp.Matrix(2, 2, sp.symbols("w11 w12 w21 w22", real=True))
    query, key = sp.Matrix(sp.symbols("x1 x2", real=True)), sp.Matrix(sp.symbols("y1 y2", real=True))

    def code(position: sp.Expr) -> sp.Matrix:
        return embed(position).subs(rotary.FREQUENCY, theta)

    def logit(by: sp.Matrix, position: sp.Expr) -> sp.Expr:
        return (query + code(position + offset)).dot(by * (key + code(position)))

    plain = absolute.SINUSOIDAL.score(query, key, query_position=i + offset, key_position=i)
    change = logit(weights, i + shift) - logit(weights, i)
    steps = [code(sp.Integer(to)) - code(sp.Integer(to - 1)) for to in (1, 2)]
    own = "W = I is the score of the encoding"
    yield own, lambda: logit(sp.eye(2), i), lambda: plain.subs(rotary.FREQUENCY, theta)
    slope = "the change by a shift s has the slope W (PE(i + s) - PE(i)) in x"
    yield slope, change.diff(query), lambda: weights * (code(i + shift) - code(i))
    determinant = "det(PE(1) - PE(0), PE(2) - PE(1)) = -2 sin(theta)(1 - cos(theta))"
    yield determinant, lambda: sp.Matrix.hstack(*steps).det(), lambda: -2 * sp.sin(theta) * (1 - sp.cos(theta))
    yield "not 0 for 0 < theta < pi, and every theta_l is in (0, 1]: so W = 0 if the slope vanishes at i = 0, 1, s = 1"
    yield (
        "with several planes e^(i theta n) of distinct theta in (0, pi) are independent functions of n, so the slope "
        "vanishes only if each block of W does"
    )
    alone = "with W = I codes alone score cos(D theta)"
    yield alone, lambda: code(i + offset).dot(code(i)), lambda: sp.cos(offset * theta)
    units = [[int(entry == place) for entry in range(4)] for place in range(4)]
    for entries in ([0, 0, 0, 0], [1, 0, 0, 1], *units, [1, 2, 3, 4], [0, 1, -1, 0]):
        case = sp.Matrix(2, 2, entries)
        name, here, there = f"W = {case.tolist()}", logit(case, i), logit(case, i + shift)
        if relative(case):
            same_by_sympy(f"{name}: logits at (i + D, i) and at (i + s + D, i + s)", here, there)
        else:
            refute(sympy_engine.is_zero(here - there), f"{name}: the logit is {here} at every shift")


@CLAIMS.claim(
    "ape-1",
    LEARNED_SOURCE,
    r"(\partial\mathcal{L}/\partial P_r=0\ \forall\mathcal{L})\iff r\ge n",
    assumptions=("gradients alone: weight decay moves every row",),
    falsifiers={
        "rows beyond the training length move": {"moves": lambda row, length: True},
        "the last trained row stays": {"moves": lambda row, length: row < length - 1},
    },
)
def untrained_rows(moves: Formula = lambda row, length: row < length) -> Facts:
    """The gradient to row r of the table is zero for every loss iff no training sequence has more than r tokens: rows
    that no training sequence reaches keep their initial values.
    """
    length = sp.Symbol("n", integer=True, positive=True)
    before, after = sp.symbols("a b", integer=True, nonnegative=True)
    inside = absolute.table_code(length - 1 - before)
    beyond = [absolute.TABLE[length + after, coordinate] for coordinate in (0, 1)]
    slopes = sp.Matrix([[entry.diff(parameter) for entry in inside] for parameter in beyond])
    point = dict(zip([*QUERY, *KEY], (1, 2, 3, 5), strict=True))
    for tokens in range(1, 5):
        entries = [
            sp.Symbol(f"x_{token}_{coordinate}") + entry
            for token in range(tokens)
            for coordinate, entry in enumerate(absolute.table_code(sp.Integer(token)))
        ]
        loss = sp.Function("loss")(*entries)  # any differentiable loss of all embedded tokens
        score = absolute.LEARNED.score(query_position=sp.Integer(tokens - 1), key_position=sp.S.Zero)
        for row in range(tokens + 2):
            slope = score.diff(absolute.TABLE[row, 0])
            value = slope.subs(point).subs(dict.fromkeys(slope.atoms(sp.Indexed), 7))
            at = f"the score of query {tokens - 1} and key 0 has slope {value} in P[{row}, 0]"
            moved = any(loss.diff(absolute.TABLE[row, coordinate]) != 0 for coordinate in (0, 1))
            refute(moved != moves(row, tokens), f"sequences of {tokens}: {at}")
    yield same_by_sympy("dP[p]/dP[r] for p = n - 1 - a, r = n + b, all a, b >= 0", slopes, sp.zeros(2, 2))
    yield (
        "a loss of sequences of n tokens reads x_p + P[p] for p < n alone: its gradient to row r >= n is 0, and the "
        "sum of these entries has one to every row r < n"
    )
    yield "for an arbitrary loss, sequences of 1 to 4 tokens, every row: a gradient iff r < n"


@CLAIMS.claim(
    "ape-2",
    LEARNED_SOURCE,
    r"(q+P_{j+s})\cdot(k+P_{i+s})=(q+P_j)\cdot(k+P_i)\ \forall q,k,s\iff P_0=P_1=\dots",
    assumptions=("contents q and k are free", "no projections, or an invertible W_q^T W_k, which changes nothing here"),
    falsifiers={
        "a random table": {"relative": lambda rows: True},
        "equal steps between rows": {
            "relative": lambda rows: len({(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(rows)}) == 1
        },
        "no table at all": {"relative": lambda rows: False},
    },
)
def relative_tables(relative: Formula = lambda rows: len(set(rows)) == 1) -> Facts:
    """A learned table leaves scores unchanged under a common shift of positions, for all contents, only if all its rows
    are equal.
    """
    i, offset, shift = sp.symbols("i D s", integer=True, nonnegative=True)
    score = absolute.LEARNED.score
    here, there = (score(query_position=at + offset, key_position=at) for at in (i, i + shift))
    step = absolute.table_code(i + shift) - absolute.table_code(i)
    slope = "the change by a shift s has the slope P[i + s] - P[i] in q"
    yield slope, lambda: _with_symbols((there - here).diff(QUERY)), lambda: _with_symbols(step)
    tables = [
        ("constant", [(2, 3)] * 4),
        ("random", [(3, -1), (4, 1), (-5, 9), (2, 6)]),
        ("linear", [(0, 1), (2, 4), (4, 7), (6, 10)]),
        *(("two-valued", [(1, second) for second in seconds]) for seconds in product((1, 2), repeat=4)),
    ]
    for name, rows in tables:
        values = {absolute.TABLE[p, c]: sp.Integer(rows[p][c]) for p in range(len(rows)) for c in (0, 1)}
        first, *others = (
            score(query_position=sp.Integer(query), key_position=sp.Integer(query - 1)).subs(values)
            for query in range(1, len(rows))
        )
        table = f"{name} table {list(rows)}"
        if relative(rows):
            for query, other in enumerate(others, start=2):
                same_by_sympy(f"{table}: scores at (1, 0) and ({query}, {query - 1})", first, other)
        else:
            same = len({sp.expand(score) for score in (first, *others)}) == 1
            refute(same, f"{table}: the score at distance 1 is {sp.expand(first)} everywhere")
    yield "it vanishes for all q, i and s only if all rows are equal; then no score depends on positions"
    yield "tables of 4 rows decided: a random one, a linear one, every one whose rows are (1, 1) or (1, 2)"


def _with_symbols(expression: sp.Matrix) -> sp.Matrix:
    """Return the expression with each entry of the table replaced by a plain symbol."""
    return sp.Matrix(expression).xreplace({entry: sp.Symbol(str(entry)) for entry in expression.atoms(sp.Indexed)})


@CLAIMS.claim(
    "ape-3",
    LEARNED_SOURCE,
    r"P_p:=PE(p)\ (0\le p<L)\ \Rightarrow\ \text{learned}=\text{sinusoidal}",
    assumptions=("plane by plane, so every even width follows",),
    falsifiers={
        "beyond the table": {"positions": lambda rows: rows + 1},
        "at twice the rows": {"positions": lambda rows: 2 * rows},
        "at all rows but the last": {"positions": lambda rows: rows - 1},
    },
)
def holds_sinusoidal(positions: Formula = lambda rows: rows) -> Facts:
    """Some learned table of L rows equals the sinusoidal code exactly, at positions 0 .. L - 1 and at no others."""
    i, offset = sp.symbols("i D", integer=True, nonnegative=True)
    for count in range(1, 6):
        rows = absolute.LEARNED.limit.subs(absolute.TABLE_ROWS, count)
        stated = int(positions(sp.Integer(count)))
        for position in range(max(int(rows), stated)):
            code = list(sp.N(_code(sp.Integer(position), sp.S.One), 6))
            refute(position >= rows, f"a table of {count} rows has none for position {position}, code {code}")
            refute(position >= stated, f"a table of {count} rows has one for position {position}, code {code}")
    at = {"query_position": i + offset, "key_position": i}
    copied = absolute.LEARNED.score(**at).replace(
        sp.Indexed, lambda _, position, coordinate: _code(position, rotary.FREQUENCY)[coordinate]
    )
    yield "score with P[p] := PE(p)", copied, lambda: absolute.SINUSOIDAL.score(**at)
    yield "rows are independent parameters, so P[p] := PE(p) is one table; it has a row for p < L and no other"
