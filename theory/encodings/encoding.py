"""Record of a position encoding: its names, its formulas, its relation, and the options that a user may set.

The formulas describe the effect on one plane (two coordinates) of a query and a key.  One plane of one head is enough,
because heads and planes differ only in the values of parameters.  The hooks `positions`, `embed`, `rotate` and `bias`
have the same names as in the torch modules (empirical/encodings/base.py); `relative_key` is their `scores`.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from enum import StrEnum
from typing import Any, Literal

import sympy as sp

from lengthgen.infrastructure.brief import Brief
from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.theory.relation import Relation, constant

HEADS, HEAD_DIM, WIDTH, LAYERS = sp.symbols("H d D layers", integer=True, positive=True)
"""Sizes for counts of parameters: number of heads, head width, model width, number of layers."""
LENGTH = sp.Symbol("n", integer=True, positive=True)
"""Sequence length n, which a law may depend on."""
QUERY = sp.ImmutableMatrix(sp.symbols("q1 q2", real=True))
KEY = sp.ImmutableMatrix(sp.symbols("k1 k2", real=True))
"""Content of the query and of the key on one plane, each 2 x 1."""

ONE_LAW = "one law gives the scores of all labels, so that those never met follow from the others"
"""Caveat of encodings that are a formula with a few numbers, not a table with an entry for each label."""
DEPENDS_ON_TOKENS = "the tokens between key and query decide its scores, so a pair of positions has no label of its own"
"""Reason why an encoding has no relation if its scores depend on the tokens."""

Actions = tuple[sp.Matrix, sp.Matrix]
"""Matrices that act on the query and on the key, 2 x 2 each."""


class Family(StrEnum):
    """Origin of the members of an indexed family of parameters.

    A structure is given on pairs of tokens, for example the hops between the nodes of a graph. It moves with the
    tokens, and more tokens may bring two of them closer together: its third index is the number of tokens.
    """

    TABLE = "table"  # a number for each index: after a shift of positions, other members are read
    TOKENS = "of tokens"  # computed from the layer's input at the indices: the members shift with the positions
    PREFIX = "of prefixes"  # computed from all tokens up to the index: they shift too, but follow the tokens' order
    CONTENT = "of content"  # computed from the query or key that is scored, and so part of its content
    STRUCTURE = "of structure"  # distance d[u, v, n] of two tokens in a structure that is given with n tokens


@dataclass(frozen=True)
class Parameter:
    """A parameter of a score law.

    Attributes:
        symbol: symbol, indexed family or function that represents it in the formulas.
        meaning: description in words.
        learned: number of trained numbers, in terms of `HEADS`, `HEAD_DIM`, `WIDTH`, `LAYERS`; 0 if it is fixed.
        family: origin of the members, for an indexed family.
        domain: values that a number may have; None if the assumptions of the symbol define them.  For a family of
            tokens or content: the values that all members can have at the same time, whatever the content.
        network: True for a function that is piecewise linear, as a network of ReLU units is.
    """

    symbol: sp.Basic | type[sp.Function]
    meaning: str
    _: KW_ONLY
    learned: sp.Expr = sp.S.Zero
    family: Family = Family.TABLE
    domain: sp.Set | None = None
    network: bool = False


Value = bool | int | float | str


class EncodingError(LengthgenError):
    """An encoding is unknown, an option does not fit, or a file does not define an encoding."""


@dataclass(frozen=True, kw_only=True)
class Option:
    """A value that a user may set, as in `rope[base=500000]`: a number, a truth value, or one of several words.

    Attributes:
        default: value used if none is given; all values have its type.
        least, most: range of a number, both ends included.
        words: words to choose from.
    """

    default: Value
    least: float = -math.inf
    most: float = math.inf
    words: tuple[str, ...] = ()

    def admits(self, value: Value) -> bool:
        """True if the value has the type of the default and is in the range; a float may be given as an integer."""
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
        upper_bound = "" if self.most == math.inf else f" to {_number_text(self.most)}"
        return f"{kind} from {_number_text(self.least)}{upper_bound or ' on'}"


def table_start(deviation: float) -> dict[str, Option]:
    """Option `start` of an encoding with a table: standard deviation of its numbers before training, N(0, start^2)."""
    return {"start": Option(default=deviation, least=0, most=100)}


def _number_text(number: float) -> str:
    """Number as text, without a decimal point if it is an integer."""
    return f"{int(number):,}" if number == int(number) and abs(number) < 1e15 else f"{number:g}"


class Normaliser(StrEnum):
    """Function that turns the logits of a query into attention weights."""

    SOFTMAX = "softmax"  # e^l over the sum of e^l: the weights of a query sum to 1
    SIGMOID = "sigmoid"  # 1 / (1 + e^-l) of each key alone: no key's weight depends on another key


class Law(StrEnum):
    """Properties that an encoding may declare; theory/laws.py decides whether they hold."""

    RELATIVE = "relative"  # a score depends on positions through j - i alone
    TRANSLATION = "translation"  # a common shift of all positions does not change the attention weights
    NORM = "norm preserving"  # queries and keys keep their norms
    STREAMING = "streaming"  # a score does not change when the sequence grows, so causal attention may cache keys
    RELABELLING = "relabelling"  # a permutation of the tokens permutes the scores: their order has no effect


DISTANCE_LAWS = (Law.RELATIVE, Law.TRANSLATION, Law.NORM, Law.STREAMING)
"""All laws but relabelling, which only an encoding that does not see the distance j - i keeps too."""


@dataclass(frozen=True, kw_only=True)
class Properties:
    """Properties of scores that a registered record states; `lengthgen verify` decides each from the formulas.

    Attributes:
        far: effect of the position on far keys, in the words of `theory.far`, by ranges of the parameters if it depends
            on them: "range: effect; range: effect".
        bounded: True if logits are bounded for bounded content.
        causal_only: True if the encoding is not meant for keys after the query.
        width: least number of coordinates beside the content with which scores are products of per-token vectors,
            perhaps by ranges of the parameters; "none" if no fixed number suffices.
        learned: number of trained numbers, where it is stated in another form than the sum over the parameters.
    """

    far: str
    bounded: bool = True
    causal_only: bool = False
    width: str = "0"
    learned: sp.Expr | None = None


@dataclass(frozen=True)
class Recovery:
    """Another encoding that is a special case of this one.

    Attributes:
        of: name of the other encoding.
        assignment: values of the parameters: a symbol -> an expression, an indexed family -> one value for all its
            members or a `sympy.Lambda` from the indices to the value of a member, a function -> a `sympy.Lambda`.  The
            values may contain parameters of the other encoding.
        at: values of the parameters of the other encoding, if it is recovered only at these.
        within: True if the case holds only while positions and length do not exceed the trained length.
        attained: False if the assignment is at the edge of the domain of the parameters, so that it is only a limit.
        function: True if it needs a function that the trained network cannot represent exactly.
        weights_only: True if the attention weights are equal but not the scores: those of one query differ by a number
            that is the same for all its keys, and softmax cancels it.
    """

    of: str
    assignment: Mapping[sp.Basic | type[sp.Function], sp.Expr] = field(hash=False)
    _: KW_ONLY
    at: Mapping[sp.Symbol, sp.Expr] = field(default_factory=dict, hash=False)
    within: bool = False
    attained: bool = True
    function: bool = False
    weights_only: bool = False


@dataclass(frozen=True, kw_only=True, repr=False)
class Encoding(Brief):
    """A position encoding: score = (A_Q(j) (q + e(j))) . (A_K(i) (k + e(i)) + p(j, i)) + b(j, i), key at i, query at j.

    `lengthgen.theory.encodings.catalogue.register` registers it under its name and aliases.  The torch module of a
    registered encoding is attached under the same name in empirical/encodings/modules.py.

    Attributes:
        name: name on the command line and everywhere else.
        aliases: other names.
        title: name that papers use.
        summary: a few words for tables.
        arxiv: arXiv id of the paper that proposed it.
        options: options that a user may set, by name; the names are parameters of its relation and its module.
        parameters: everything in its formulas except positions, length and content.
        positions: (index of a token, length) -> position that the other hooks get; None for the index itself.
        embed: position -> e, 2 x 1, added to the content; None for no embedding.
        rotate: (position, length of the sequence) -> matrices that act on a query and on a key there; None for none.
        relative_key: (query position, key position, length) -> p, 2 x 1, added to the key for this query after the
            actions (Shaw et al., arXiv 1803.02155); None for no vector.  The query sees it: the score gets q . p.
        bias: (query position, key position, length) -> b, added to the score; None for 0.  It is also given for a key
            after the query if the paper defines it there.
        normaliser: function that turns scores into weights.
        window: number of keys that a query sees, itself the last of them; infinity if it sees all.
        no_formula: reason why it has no formulas; if set, the formulas above mean nothing.
        relation: relation through which positions act (1-based), for the default options: pairs with one label have one
            score for the same content.  None if content, chance or the circuit of a task decides.
        relation_of: (circuit of a task or None; **options) -> relation, if it depends on either.  It raises
            `lengthgen.circuits.encoding_spec.NoRelation` or `HintNeeded` if there is none.
        no_relation: reason why it has no relation with any circuit.
        caveat: effect of the encoding that the prediction rule of lengthgen.circuits.prediction ignores.
        repeats: reason why two positions may have one code; empty if every position has a code of its own.
        learns_labels: True if training finds the labels, so that the relation need not exist before training.
        planes: part that is split into planes of two coordinates, so that its width is even: each head, or the width.
        drawn_from: name of the encoding that it applies at positions drawn at random for each batch.
        consecutive: True if positions that are drawn follow each other, so that only the first one is drawn.
        auxiliary: losses of its own that are added to the loss of the task in training, in words; empty for none.
        module: function or class that makes the torch module, called with the sizes and options that it names.  It is
            for user-defined encodings; the module of a registered one is attached under its name.
        values: (module, head, plane) -> values of `parameters` by symbol, taken from the numbers of the module, so that
            module and formulas can be compared.
        causal: True if a query attends to the keys up to its own position; False if it attends to all keys.
        limit: number of positions for which the law is defined; infinity if there is no bound.
        laws: laws that it declares.
        properties: further properties that it states; None if it states none, and no claim is made of its laws either.
        recovers: encodings that it declares as special cases.
    """

    name: str
    title: str
    arxiv: str = ""
    aliases: tuple[str, ...] = ()
    summary: str = ""
    options: Mapping[str, Option] = field(default_factory=dict, hash=False)
    parameters: tuple[Parameter, ...] = ()
    positions: Callable[[sp.Expr, sp.Expr], sp.Expr] | None = None
    embed: Callable[[sp.Expr], sp.Matrix] | None = None
    rotate: Callable[[sp.Expr, sp.Expr], Actions] | None = None
    relative_key: Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Matrix] | None = None
    bias: Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr] | None = None
    normaliser: Normaliser = Normaliser.SOFTMAX
    window: sp.Expr = sp.oo
    causal: bool = True
    limit: sp.Expr = sp.oo
    no_formula: str = ""
    relation: Relation | None = None
    relation_of: Callable[..., Relation] | None = None
    no_relation: str = ""
    caveat: str = ""
    repeats: str = ""
    learns_labels: bool = False
    planes: Literal["head", "width"] | None = None
    drawn_from: str = ""
    consecutive: bool = False
    auxiliary: str = ""
    laws: tuple[Law, ...] = ()
    properties: Properties | None = None
    recovers: tuple[Recovery, ...] = ()
    module: Callable[..., Any] | None = None
    values: Callable[[Any, int, int], Mapping[Any, Any]] | None = None

    @property
    def hooks(self) -> tuple[str, ...]:
        """Names of the hooks that are defined."""
        names = ("positions", "embed", "rotate", "relative_key", "bias")
        return tuple(name for name in names if getattr(self, name) is not None)

    @property
    def learned(self) -> sp.Expr:
        """Number of trained numbers, a formula in the sizes."""
        return sp.Add(*(parameter.learned for parameter in self.parameters))

    @property
    def has_structure(self) -> bool:
        """True if a formula reads a structure on pairs of tokens, which must be given with them."""
        return any(parameter.family is Family.STRUCTURE for parameter in self.parameters)

    def score(
        self,
        query: sp.Matrix = QUERY,
        key: sp.Matrix = KEY,
        *,
        query_position: sp.Expr,
        key_position: sp.Expr,
        length: sp.Expr = LENGTH,
    ) -> sp.Expr:
        """Score of one plane, before the division by sqrt(d); the bias is not divided."""
        at = self.positions or (lambda index, length: index)
        j, i = at(query_position, length), at(key_position, length)
        if self.embed:
            query, key = query + self.embed(j), key + self.embed(i)
        if self.rotate:
            query, key = self.rotate(j, length)[0] * query, self.rotate(i, length)[1] * key
        if self.relative_key:
            key = key + self.relative_key(j, i, length)
        content = (query.T * key)[0]
        return content + self.bias(j, i, length) if self.bias else content

    def _brief(self) -> str:
        return f"{self.name}: {self.summary or self.title}"

    def _details(self) -> dict[str, str | list[str]]:
        return {
            "title": self.title,
            "arXiv": self.arxiv,
            "parameters": [f"{parameter.symbol}: {parameter.meaning}" for parameter in self.parameters],
            "relation": self.relation.name if self.relation else "",
            "laws": ", ".join(self.laws),
            "special cases": ", ".join(recovery.of for recovery in self.recovers),
        }


NOPE = Encoding(
    name="nope",
    title="NoPE",
    arxiv="2305.19466",
    aliases=("none",),
    summary="none",
    relation=constant(),
    caveat="a decoder can count positions by its causal mask",
    laws=tuple(Law),
    properties=Properties(far="no effect"),
)
"""No position encoding; only the causal mask distinguishes positions.  Source: Kazemnejad et al., arXiv 2305.19466."""
ENCODINGS = (NOPE,)
