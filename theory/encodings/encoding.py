"""What a position encoding is, symbolically: what it does to one plane of a query and a key.

The hooks have the names that they have on the torch side (empirical/encodings/base.py): `positions`, `embed`, `rotate`,
`bias`.  One plane of one head stands for all: heads and planes differ in the values of parameters alone.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import sympy as sp

from theory.relation import Relation

HEADS, HEAD_DIM, WIDTH, LAYERS = sp.symbols("H d D layers", integer=True, positive=True)
LENGTH = sp.Symbol("n", integer=True, positive=True)
"""Sizes, in which counts of parameters are given: heads, head width, model width, layers; and length
of the sequence, which a law may depend on."""
QUERY = sp.ImmutableMatrix(sp.symbols("q1 q2", real=True))
KEY = sp.ImmutableMatrix(sp.symbols("k1 k2", real=True))
"""One plane of the content."""

Actions = tuple[sp.Matrix, sp.Matrix]
"""What is done to the query and what to the key, 2 x 2 each."""


class Family(StrEnum):
    """What the members of an indexed family are."""

    TABLE = "table"  # a number for each index: a shift of positions meets other members
    TOKENS = "of tokens"  # made of the layer's input at the indices: a shift of positions takes members along
    CONTENT = "of content"  # made of the query or the key that is scored: as much a part of the score's content


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A parameter of a law.

    Attributes:
        symbol: the symbol, indexed family or function that stands for it in the formulas.
        meaning: in words.
        learned: how many numbers are trained, in `HEADS`, `HEAD_DIM`, `WIDTH`, `LAYERS`; 0 where it is fixed.
        family: what the members are, for an indexed family.
        domain: the values that a number may have; None where the symbol's assumptions say it.  For a family of tokens
            or content: the values that all members can have at once, whatever the content.
        network: whether the function that it is, is piecewise linear, as a network of ReLU units is.
    """

    symbol: sp.Basic | type[sp.Function]
    meaning: str
    learned: sp.Expr = sp.S.Zero
    family: Family = Family.TABLE
    domain: sp.Set | None = None
    network: bool = False


class Law(StrEnum):
    """What an encoding may declare of itself; theory/laws.py decides."""

    RELATIVE = "relative"  # a score depends on positions through j - i alone
    TRANSLATION = "translation"  # a common shift of all positions leaves the attention weights as they are
    NORM = "norm preserving"  # queries and keys keep their norms
    STREAMING = "streaming"  # a score does not change when the sequence grows, so keys may be cached


@dataclass(frozen=True, kw_only=True)
class Recovery:
    """Another encoding that comes out as a special case.

    Attributes:
        of: the name of the other.
        assignment: what parameters are set to: a symbol to an expression, an indexed family to one value for all its
            members, a function to a `sympy.Lambda`.  The other's parameters may occur on the right.
        at: values of the other's parameters, where it is recovered at these only.
        within: the case only holds where positions and length do not pass the trained length.
        attained: False where the assignment is at the edge of the parameters' domain, so that it is only a limit.
        function: some function in place of a trained network does it, which that network is not.
    """

    of: str
    assignment: Mapping[sp.Basic | type[sp.Function], sp.Expr]
    at: Mapping[sp.Symbol, sp.Expr] = field(default_factory=dict)
    within: bool = False
    attained: bool = True
    function: bool = False


@dataclass(frozen=True, kw_only=True)
class Encoding:
    """A score law: score = (A_Q(j) (q + e(j))) . (A_K(i) (k + e(i))) + b(j, i), i the key and j the query position.

    Attributes:
        name: its name on the command line, which is that of its file.
        title: what papers call it.
        arxiv: of the paper that proposed it.
        parameters: all that its formulas hold beside positions, length and content.
        positions: (index of a token, length) -> the position that the other hooks see; the index itself where None.
        embed: position -> e, 2 x 1, added to the content; nothing where None.
        rotate: (position, length of the sequence) -> the actions on a query and on a key there; none where None.
        bias: (query position, key position, length) -> b, added to the score; 0 where None.  It is given for a key
            after the query too, if the paper defines it there.
        relation: through which positions act (1-based): pairs of one label have one score for the same content; None
            where content or chance decides.
        limit: the number of positions for which the law is defined; infinity where there is no bound.
        laws: the laws that it declares.
        recovers: the encodings that it declares as special cases.
    """

    name: str
    title: str
    arxiv: str
    parameters: tuple[Parameter, ...] = ()
    positions: Callable[[sp.Expr, sp.Expr], sp.Expr] | None = None
    embed: Callable[[sp.Expr], sp.Matrix] | None = None
    rotate: Callable[[sp.Expr, sp.Expr], Actions] | None = None
    bias: Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr] | None = None
    relation: Relation | None = None
    limit: sp.Expr = sp.oo
    laws: tuple[Law, ...] = ()
    recovers: tuple[Recovery, ...] = ()

    @property
    def hooks(self) -> tuple[str, ...]:
        """The hooks that do something."""
        return tuple(name for name in ("positions", "embed", "rotate", "bias") if getattr(self, name) is not None)

    @property
    def learned(self) -> sp.Expr:
        """How many numbers are trained."""
        return sp.Add(*(parameter.learned for parameter in self.parameters))

    def score(
        self,
        query: sp.Matrix = QUERY,
        key: sp.Matrix = KEY,
        *,
        query_position: sp.Expr,
        key_position: sp.Expr,
        length: sp.Expr = LENGTH,
    ) -> sp.Expr:
        """The score of one plane, before the division by sqrt(d), which the bias does not share."""
        at = self.positions or (lambda index, length: index)
        j, i = at(query_position, length), at(key_position, length)
        if self.embed:
            query, key = query + self.embed(j), key + self.embed(i)
        if self.rotate:
            query, key = self.rotate(j, length)[0] * query, self.rotate(i, length)[1] * key
        content = (query.T * key)[0]
        return content + self.bias(j, i, length) if self.bias else content
