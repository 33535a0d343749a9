"""Scores of an encoding on a few tokens at given positions, with a symbol for every number of the encoding.

A scene is a short sequence of tokens, each by name: "x y z". Equal names are equal tokens, "2y" has twice the content
of "y", and that of "0" is zero. Everything that the encoding computes from a token, such as its gate, is a symbol with
the token's name in it; at "0" it is the value that the record declares for all tokens at once, if it declares one: its
value at zero. What an encoding draws at random is a symbol for each draw.

A symbol stands for any value, so what holds for the symbols holds for all parameters, contents and gates. As contents
are arbitrary too, it holds for every W_q and W_k: they change the contents. A sum over planes keeps what is linear in
the scores; it also keeps what holds for biases alone, if the planes give 0, as for contents 0, or cancel, as for equal
tokens. Codes that are added to the content are the exception, because W_q and W_k act on them as well. `any_codes`
replaces each by arbitrary vectors, one for queries and one for keys: whatever W_q and W_k make of them.

That a head differs is shown at numbers for the symbols. For what networks compute from tokens or positions this takes
for granted that they can have these values at the few places of a scene.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from random import Random

import sympy as sp
from sympy.core.function import AppliedUndef

from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.theory.encodings.encoding import Encoding, Family, Parameter

ZERO = "0"
"""Token whose content is zero."""
_SIGNS = ("real", "positive", "negative", "nonnegative", "integer")
_TRIALS, _VISIBLE = 20, sp.Rational(1, 10**9)


class OutOfScene(LengthgenError):
    """A formula reads a token that is not there, or a position for which the encoding is not defined."""


@dataclass(frozen=True, kw_only=True)
class Heads:
    """Heads of an encoding: all of them if `any_codes`, else those whose W_q and W_k are the identity."""

    encoding: Encoding
    any_codes: bool = False

    @cache  # noqa: B019  # few heads, and several equations look at the same scenes
    def score(self, tokens: str, query: int, key: int, *, length: int | None = None, draw: int = 0) -> sp.Expr:
        """Score of one plane for the tokens at `query` and `key`, counted from 0, in a sequence of `length` tokens."""
        names = tokens.split()
        for bound, place in ((self.encoding.limit, max(query, key)), (self.encoding.window, query - key)):
            if bound.is_number and bound <= place:
                raise OutOfScene(f"{self.encoding.name} is not defined there, or does not see that far")
        encoding = _with_draw(self.encoding, draw)
        places = sp.Integer(query), sp.Integer(key), sp.Integer(length or len(names))
        contents = content("q", names[query]), content("k", names[key])
        if encoding.embed and self.any_codes:
            at = encoding.positions or (lambda index, length: index)
            codes = (self._read(encoding.embed(at(place, places[2])), names) for place in places[:2])
            contents = tuple(
                content + sp.Matrix([sp.Symbol(f"{side}({entry})[{row}]", real=True) for row, entry in enumerate(code)])
                for content, side, code in zip(contents, "uv", codes, strict=True)
            )
            encoding = replace(encoding, embed=None)
        score = encoding.score(*contents, query_position=places[0], key_position=places[1], length=places[2])
        return self._read(score, names)

    def preference(self, tokens: str, query: int, keys: tuple[int, int], **options: int) -> sp.Expr:
        """Score of the first key less that of the second: the logarithm of their attention weights' ratio."""
        first, second = (self.score(tokens, query, key, **options) for key in keys)
        return first - second

    def _read(self, formula: sp.Basic, names: Sequence[str]) -> sp.Basic:
        """Formula with its families read at the tokens."""
        formula = formula.doit()
        families = {parameter.symbol: parameter for parameter in self.encoding.parameters}
        values = {
            entry: _member(entry, names, families[entry.base])
            for entry in formula.atoms(sp.Indexed)
            if entry.base in families
        }
        return formula.xreplace(values).doit()


def content(side: str, token: str) -> sp.Matrix:
    """Content of a token on one plane, 2 x 1."""
    if token == ZERO:
        return sp.zeros(2, 1)
    times, name = re.fullmatch(r"(\d*)(\w+)", token).groups()  # type: ignore[union-attr]
    return int(times or 1) * sp.Matrix(sp.symbols(f"{side}{name}1 {side}{name}2", real=True))


def _with_draw(encoding: Encoding, draw: int) -> Encoding:
    """Encoding whose positions, if it draws them, are those of this draw: an offset, or a sum of gaps."""
    if not encoding.drawn_from:
        return encoding
    start = sp.Symbol(f"start_{draw}", integer=True, nonnegative=True)

    def drawn(index: sp.Expr, length: sp.Expr) -> sp.Expr:
        gaps = (sp.Symbol(f"gap_{step}_{length}_{draw}", integer=True, positive=True) for step in range(int(index)))
        return start + (index if encoding.consecutive else sp.Add(*gaps))

    return replace(encoding, positions=drawn)


def _member(entry: sp.Indexed, names: Sequence[str], parameter: Parameter) -> sp.Basic:
    """Value of a member of a family: a symbol with the name of what decides it."""
    base, indices = entry.base, entry.indices
    if parameter.family is Family.TABLE:
        return _symbol(base, *indices)
    places = indices[: {Family.PREFIX: 1, Family.STRUCTURE: 2}.get(parameter.family, len(indices))]
    if not all(0 <= place < len(names) for place in places):
        raise OutOfScene(f"{entry} reads a token that is not there")
    if parameter.family is Family.PREFIX:  # of all tokens so far; the other indices are components
        name, components = f"{base.label}_{'-'.join(names[: int(indices[0]) + 1])}", indices[1:]
        signs = {sign: value for sign, value in base.label.assumptions0.items() if sign in _SIGNS}
        return sp.IndexedBase(name, **signs)[components] if components else sp.Symbol(name, **signs)
    if parameter.family is Family.STRUCTURE:  # two tokens are a hop apart, or more
        first, second = sorted(indices[:2])
        hops = sp.Symbol(f"{base.label}_{first}_{second}", integer=True, positive=True)
        return hops if first != second else sp.S.Zero
    tokens = [names[int(index)] for index in indices]
    if ZERO in tokens and isinstance(parameter.domain, sp.FiniteSet):
        return next(iter(parameter.domain))
    return _symbol(base, *tokens, *(indices[0] - index for index in indices[1:]))  # two tokens may count their distance


def _symbol(base: sp.IndexedBase, *parts: object) -> sp.Symbol:
    return sp.Symbol("_".join(map(str, (base.label, *parts))), **base.label.assumptions0)


def visible_value(expression: sp.Expr, encoding: Encoding) -> sp.Expr | None:
    """Value of an expression in scores, clearly not 0, at parameters in their domains; None if no trial shows one.

    A trained length is 2 to 6, a histogram has 2 positions, and hops are those of a binary tree of the tokens.
    """
    for trial in range(_TRIALS):
        value = sp.N(_at_values(expression, encoding, trial), 30)
        if value.is_number and value.is_finite and abs(value) > _VISIBLE:
            return sp.N(value, 4)
    return None


def _at_values(expression: sp.Expr, encoding: Encoding, trial: int) -> sp.Expr:
    """Value at the parameters of one trial; not a number if no value is found in a domain."""
    generator = Random(trial)
    domains = {parameter.symbol: parameter.domain for parameter in encoding.parameters}
    symbols = sorted(expression.free_symbols, key=str)
    values = {symbol: _example(symbol, domains.get(symbol), generator) for symbol in symbols}
    if None in values.values():
        return sp.nan
    lengths = {"L": 2 + trial % 5, "P": 2}
    values |= {
        symbol: sp.Integer(lengths[symbol.name])
        for symbol in symbols
        if symbol.name in lengths and symbol.is_integer and domains.get(symbol) is None
    }
    expression = expression.xreplace(values).doit()
    for entry in sorted(expression.atoms(sp.Indexed), key=str):  # masses of two positions
        mass = sp.Rational(Random(str(entry.base)).randint(1, 8), 9)
        values[entry] = mass if entry.indices[0] == 0 else 1 - mass
    for application in sorted(expression.atoms(AppliedUndef), key=str):
        value = sp.Rational(Random(str(application)).randint(1, 99), 37)
        values[application] = -value if application.is_negative else value
    return expression.xreplace(values).doit()


def _example(symbol: sp.Symbol, domain: sp.Set | None, generator: Random) -> sp.Expr | None:
    """Value of one symbol, in its domain; None if none is found."""
    hops = re.fullmatch(r"hops_(\d+)_(\d+)", symbol.name)
    if hops:
        return sp.Integer(_in_tree(int(hops[1]) + 1, int(hops[2]) + 1))
    integer, share = sp.Integer(generator.randint(1, 3)), sp.Rational(generator.randint(1, 9), generator.randint(5, 9))
    value = integer if symbol.is_integer else share
    if symbol.is_negative or (not symbol.is_integer and not symbol.is_nonnegative and generator.random() < 0.5):
        value = -value
    if domain is None:
        return value
    listed = generator.sample([*domain], len(domain)) if isinstance(domain, sp.FiniteSet) else []
    candidates = (value, *listed, sp.Rational(1, 2), sp.Integer(2), sp.Integer(0))
    return next((each for each in candidates if domain.contains(each) == sp.true), None)


def _in_tree(first: int, second: int) -> int:
    """Hops between two nodes of the binary tree in which node k has the children 2k and 2k + 1."""
    if first == second:
        return 0
    return 1 + _in_tree(min(first, second), max(first, second) // 2)
