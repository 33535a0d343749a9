"""Learned absolute position codes (arXiv 1705.03122, Section 3.1)."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import sympy as sp

from lengthgen.proofs_checks.claim import Refuted, Source
from lengthgen.proofs_checks.facts import same_by_sympy
from lengthgen.proofs_checks.paper import Facts, PaperClaims
from lengthgen.theory.encodings import absolute, rotary
from lengthgen.theory.encodings.encoding import KEY, QUERY

SOURCE = Source(
    paper="Convolutional Sequence to Sequence Learning", arxiv="1705.03122", place="Section 3.1, position embeddings"
)

Rows = Sequence[Sequence[int]]

_POINT = dict(zip([*QUERY, *KEY], (1, 2, 3, 5), strict=True))


def _has_gradient(row: int, tokens: int) -> bool:
    """True if an arbitrary differentiable loss of all embedded tokens has a gradient in the row."""
    entries = [
        sp.Symbol(f"x_{token}_{coordinate}") + entry
        for token in range(tokens)
        for coordinate, entry in enumerate(absolute.table_code(sp.Integer(token)))
    ]
    loss = sp.Function("loss")(*entries)
    return any(loss.diff(absolute.TABLE[row, coordinate]) != 0 for coordinate in (0, 1))


def _gradient_text(row: int, tokens: int) -> str:
    """Counterexample text: the gradient of one score in a coordinate of the row."""
    score = absolute.LEARNED.score(query_position=sp.Integer(tokens - 1), key_position=sp.S.Zero)
    slope = score.diff(absolute.TABLE[row, 0])
    value = slope.subs(_POINT).subs(dict.fromkeys(slope.atoms(sp.Indexed), 7))
    return f"sequences of {tokens}: the score of query {tokens - 1} and key 0 has slope {value} in P[{row}, 0]"


def _with_symbols(expression: sp.Matrix) -> sp.Matrix:
    """Return the expression with each entry of the table replaced by a plain symbol."""
    return sp.Matrix(expression).xreplace({entry: sp.Symbol(str(entry)) for entry in expression.atoms(sp.Indexed)})


CLAIMS = PaperClaims(SOURCE)


@CLAIMS.claim(
    "ape-1",
    "",
    r"\partial\mathcal{L}/\partial P_r=0\iff r\ge n",
    assumptions=("gradients alone: weight decay moves every row",),
    falsifiers={
        "rows beyond the training length move": {"moves": lambda row, length: True},
        "the last trained row stays": {"moves": lambda row, length: row < length - 1},
    },
)
def untrained_rows(moves: Callable[[int, int], bool] = lambda row, length: row < length) -> Facts:
    """The gradient to row r of the table is zero iff no training sequence has more than r tokens: rows that no training
    sequence reaches keep their initial values.

    Decide which rows of the table have a gradient if sequences have n tokens; `moves` takes row and n.
    """
    length = sp.Symbol("n", integer=True, positive=True)
    before, after = sp.symbols("a b", integer=True, nonnegative=True)
    inside = absolute.table_code(length - 1 - before)
    beyond = [absolute.TABLE[length + after, coordinate] for coordinate in (0, 1)]
    slopes = sp.Matrix([[entry.diff(parameter) for entry in inside] for parameter in beyond])
    for tokens in range(1, 5):
        for row in range(tokens + 2):
            if _has_gradient(row, tokens) != moves(row, tokens):
                raise Refuted(_gradient_text(row, tokens))
    yield same_by_sympy("dP[p]/dP[r] for p = n - 1 - a, r = n + b, all a, b >= 0", slopes, sp.zeros(2, 2))
    yield "a loss of sequences of n tokens reads x_p + P[p] for p < n alone: its gradient to row r >= n is 0"
    yield "for an arbitrary loss, sequences of 1 to 4 tokens, every row: a gradient iff r < n"


@CLAIMS.claim(
    "ape-2",
    "",
    r"(q+P_{j+s})\cdot(k+P_{i+s})=(q+P_j)\cdot(k+P_i)\ \forall q,k,s\iff P_0=P_1=\dots",
    assumptions=("contents q and k are free, W_q and W_k absorbed in them",),
    falsifiers={
        "a random table": {"relative": lambda rows: True},
        "equal steps between rows": {
            "relative": lambda rows: (
                len({(after[0] - here[0], after[1] - here[1]) for here, after in pairwise(rows)}) == 1
            )
        },
        "no table at all": {"relative": lambda rows: False},
    },
)
def relative_tables(relative: Callable[[Rows], bool] = lambda rows: len({tuple(row) for row in rows}) == 1) -> Facts:
    """A learned table leaves scores unchanged under a common shift of positions, for all contents, only if all its rows
    are equal.

    `relative` takes the rows of a table and returns True if the table should be relative.
    """
    i, offset, shift = sp.symbols("i D s", integer=True, nonnegative=True)
    scores = [absolute.LEARNED.score(query_position=at + offset, key_position=at) for at in (i, i + shift)]
    expected = absolute.table_code(i + shift) - absolute.table_code(i)
    yield (
        "the change by a shift s has the slope P[i + s] - P[i] in q",
        lambda: _with_symbols((scores[1] - scores[0]).diff(QUERY)),
        lambda: _with_symbols(expected),
    )
    tables: dict[str, Rows] = {
        "constant": [(2, 3)] * 4,
        "random": [(3, -1), (4, 1), (-5, 9), (2, 6)],
        "linear": [(0, 1), (2, 4), (4, 7), (6, 10)],
        "one row differs": [(1, 1), (1, 1), (1, 1), (1, 2)],
    }
    for name, rows in tables.items():
        values = {absolute.TABLE[p, c]: sp.Integer(rows[p][c]) for p in range(len(rows)) for c in (0, 1)}
        at = [
            absolute.LEARNED.score(query_position=sp.Integer(query), key_position=sp.Integer(query - 1)).subs(values)
            for query in range(1, len(rows))
        ]
        if relative(rows):
            for query, score in enumerate(at[1:], start=2):
                same_by_sympy(f"{name} table {list(rows)}: scores at (1, 0) and ({query}, {query - 1})", at[0], score)
        elif len({sp.expand(score) for score in at}) == 1:
            raise Refuted(f"{name} table {list(rows)}: the score at distance 1 is {sp.expand(at[0])} everywhere")
    yield "it vanishes for all q, i and s only if all rows are equal; then no score depends on positions"
    yield f"tables of 4 rows decided: {', '.join(tables)}"


@CLAIMS.claim(
    "ape-3",
    "",
    r"P_p:=PE(p)\ (0\le p<L)\ \Rightarrow\ \text{learned}=\text{sinusoidal}",
    assumptions=("plane by plane, so every even width follows",),
    falsifiers={
        "beyond the table": {"positions": lambda rows: rows + 1},
        "at twice the rows": {"positions": lambda rows: 2 * rows},
    },
)
def holds_sinusoidal(positions: Callable[[sp.Expr], sp.Expr] = lambda rows: rows) -> Facts:
    """Some learned table of L rows equals the sinusoidal code exactly, at positions 0 .. L - 1 and at no others."""
    i, offset = sp.symbols("i D", integer=True, nonnegative=True)
    rows = absolute.LEARNED.limit
    for count in range(1, 6):
        count_of_positions = positions(sp.Integer(count))
        for position in range(int(count_of_positions)):
            if position >= rows.subs(absolute.TABLE_ROWS, count):
                code = sp.N(absolute.sinusoidal_code(sp.Integer(position), frequency=sp.S.One), 6)
                raise Refuted(f"a table of {count} rows has none for position {position}, code {list(code)}")
    copied = absolute.LEARNED.score(query_position=i + offset, key_position=i).replace(
        sp.Indexed,
        lambda _, position, coordinate: absolute.sinusoidal_code(position, frequency=rotary.FREQUENCY)[coordinate],
    )
    yield (
        "score with P[p] := PE(p)",
        copied,
        lambda: absolute.SINUSOIDAL.score(query_position=i + offset, key_position=i),
    )
    yield "rows are independent parameters, so P[p] := PE(p) is one table; it has a row for p < L and no other"
