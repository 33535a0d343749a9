"""The record of a position encoding: its names, its formulas, its relation, and what a user may set.

The formulas say what it does to one plane of a query and a key.  One plane of one head stands for all: heads and planes
differ in the values of parameters alone.  The hooks have the names that they have on the torch side
(empirical/encodings/base.py): `positions`, `embed`, `rotate`, `bias`.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

import sympy as sp

from theory.relation import Relation
from theory.system.errors import LengthgenError

HEADS, HEAD_DIM, WIDTH, LAYERS = sp.symbols("H d D layers", integer=True, positive=True)
LENGTH = sp.Symbol("n", integer=True, positive=True)
"""Sizes, in which counts of parameters are given: heads, head width, model width, layers; and length
of the sequence, which a law may depend on."""
QUERY = sp.ImmutableMatrix(sp.symbols("q1 q2", real=True))
KEY = sp.ImmutableMatrix(sp.symbols("k1 k2", real=True))
"""One plane of the content."""

ONE_LAW = "one law gives the scores of all labels, so that those never met follow from the others"
"""The caveat of encodings that are a formula of few numbers, not a table of labels."""
OF_TOKENS = "the tokens between key and query decide its scores, so a pair of positions has no label of its own"

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


Value = bool | int | float | str


class EncodingError(LengthgenError):
    """No encoding is called so, an option does not fit, or a file does not hold what it should."""


@dataclass(frozen=True, kw_only=True)
class Option:
    """A value that a user may set, as in `rope[base=500000]`: a number, a truth value, or one of some words.

    Attributes:
        default: the value where none is given; its type is that of all its values.
        least, most: the range of a number, ends included.
        words: the words to choose from.
    """

    default: Value
    least: float = -math.inf
    most: float = math.inf
    words: tuple[str, ...] = ()

    def admits(self, value: Value) -> bool:
        """Whether the value has the type of the default, a whole number for a real one too, and is in the range."""
        if self.words or type(self.default) is bool:
            return type(value) is type(self.default) and (not self.words or value in self.words)
        if isinstance(value, bool | str) or (isinstance(value, float) and type(self.default) is int):
            return False
        return self.least <= value <= self.most and abs(value) < math.inf

    def __str__(self) -> str:
        if self.words:
            return f"one of {', '.join(self.words)}"
        if type(self.default) is bool:
            return "true or false"
        kind = "a whole number" if type(self.default) is int else "a number"
        above = "" if self.most == math.inf else f" to {_plain(self.most)}"
        return f"{kind} from {_plain(self.least)}{above or ' on'}"


def _plain(number: float) -> str:
    return f"{int(number):,}" if number == int(number) and abs(number) < 1e15 else f"{number:g}"


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
    """A position encoding: score = (A_Q(j) (q + e(j))) . (A_K(i) (k + e(i))) + b(j, i), key at i and query at j.

    `theory.encodings.catalogue.register` makes it known by its name and aliases; the torch module of a registered one
    is attached under the same name in empirical/encodings/catalogue.py.

    Attributes:
        name: its name on the command line and everywhere else.
        aliases: other names that it goes by.
        title: what papers call it.
        summary: a few words for tables.
        arxiv: of the paper that proposed it.
        options: what a user may set, by name; the names are those of its relation's and its module's parameters.
        parameters: all that its formulas hold beside positions, length and content.
        positions: (index of a token, length) -> the position that the other hooks see; the index itself where None.
        embed: position -> e, 2 x 1, added to the content; nothing where None.
        rotate: (position, length of the sequence) -> the actions on a query and on a key there; none where None.
        bias: (query position, key position, length) -> b, added to the score; 0 where None.  It is given for a key
            after the query too, if the paper defines it there.
        no_formula: why it has none, where it has none: the formulas above then say nothing.
        relation: through which positions act (1-based): pairs of one label have one score for the same content; None
            where content, chance or a task's circuit decides.  With the options' defaults.
        relation_of: (circuit of a task, None without one; **options) -> the relation, where it depends on either.  It
            raises `circuits.encodings.NoRelation` or `HintNeeded` where there is none.
        no_relation: why it has none, where it has none whatever the circuit.
        caveat: what the rule of circuits.prediction leaves out about it.
        learns_labels: whether training finds the labels, so that their relation need not exist before it.
        planes: what it splits into planes of two coordinates, so that its width is even: heads, or the whole width.
        drawn_from: the name of the encoding that it is at positions drawn anew for each batch.
        module: what makes the torch module, by calling it with the sizes and options that it names; for an encoding of
            the user's own, since a registered one's is attached under its name.
        values: (module, head, plane) -> the values that the module's numbers give to `parameters`, by symbol, so that
            module and formulas can be compared.
        limit: the number of positions for which the law is defined; infinity where there is no bound.
        laws: the laws that it declares.
        recovers: the encodings that it declares as special cases.
    """

    name: str
    title: str
    arxiv: str = ""
    aliases: tuple[str, ...] = ()
    summary: str = ""
    options: Mapping[str, Option] = field(default_factory=dict)
    parameters: tuple[Parameter, ...] = ()
    positions: Callable[[sp.Expr, sp.Expr], sp.Expr] | None = None
    embed: Callable[[sp.Expr], sp.Matrix] | None = None
    rotate: Callable[[sp.Expr, sp.Expr], Actions] | None = None
    bias: Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr] | None = None
    limit: sp.Expr = sp.oo
    no_formula: str = ""
    relation: Relation | None = None
    relation_of: Callable[..., Relation] | None = None
    no_relation: str = ""
    caveat: str = ""
    learns_labels: bool = False
    planes: Literal["head", "width"] | None = None
    drawn_from: str = ""
    laws: tuple[Law, ...] = ()
    recovers: tuple[Recovery, ...] = ()
    module: Callable[..., Any] | None = None
    values: Callable[[Any, int, int], Mapping[Any, Any]] | None = None

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
