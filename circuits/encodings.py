"""What an experiment calls an encoding, and the relation by which that encoding tells pairs of positions apart.

An encoding is a name, a name with parameters (`clipped[limit=8]`), or an object of the user's own
(`path/to/file.py:object`). Which relation belongs to which name is our reading [F]: an encoding can treat two pairs
differently only if their labels differ, so its relation is the finest that its scores may depend on.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

import numpy as np

from circuits.circuit import Circuit
from circuits.formats import PAD
from circuits.roles import ScaleHintNeeded, changing_pairs, ideal_relation
from circuits.task import Task
from theory.relation import Labels, Relation, absolute, clipped_relative, constant, relative, t5_buckets
from theory.rpe_square import zigzag
from theory.system.errors import LengthgenError
from theory.system.userfile import run_file, user_code

Value = int | str


class EncodingError(LengthgenError):
    """No encoding is called so, a parameter does not fit, or a file does not hold what it should."""


class NoRelation(EncodingError):
    """What the encoding shows of a pair is no relation of positions that is known; the message says why."""


class HintNeeded(EncodingError):
    """No relation without scale hint has the roles of the circuit.

    Attributes:
        key, query: the first pair whose role changes.
        scale: the first at which it has another role than at a smaller one.
    """

    key: int
    query: int
    scale: int


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A parameter of a built-in encoding: a whole number from `least` to `most`, and its default."""

    default: int
    least: int
    most: int

    def admits(self, value: Value) -> bool:
        """Whether the value is a whole number in the range."""
        return type(value) is int and self.least <= value <= self.most

    def __str__(self) -> str:
        return f"a whole number from {self.least:,} to {self.most:,}"


@dataclass(frozen=True, kw_only=True)
class BuiltIn:
    """An encoding that has a name.

    Attributes:
        title: a few words for tables.
        relation: a circuit, and the parameters by their names -> the relation. Raises HintNeeded or NoRelation.
        parameters: by name.
        caveat: what the rule of circuits.prediction leaves out about it.
        learns_labels: whether the labels are found in training, so that their relation need not exist before it.
    """

    title: str
    relation: Callable[..., Relation]
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    caveat: str = ""
    learns_labels: bool = False


def rpe_square_of(task: Task) -> Relation:
    """The relation of sharp RPE-Square on a task: (j - l_j) - (i - l_i) (arXiv 2410.08898, `theory.rpe_square`).

    l is the last fixed token of the prompt at or before a position, 0 if there is none; what fills an operand belongs
    to the operand and is no anchor [F]. Labels are zigzag numbers. The relation is written with the scale, for it sees
    positions and no text.
    """

    def law(keys: Labels, queries: Labels, scale: int | None) -> Labels:
        assert scale is not None
        filling = (task.alphabet.index(PAD),) if PAD in task.alphabet else None
        fixed = [at for at, allowed in enumerate(task.choices(scale), 1) if len(allowed) == 1 and allowed != filling]
        anchors = np.array([0, *fixed])

        def offset(positions: Labels) -> Labels:
            back: Labels = positions - anchors[np.searchsorted(anchors, positions, side="right") - 1]
            return back

        return zigzag(offset(queries) - offset(keys))

    return Relation(name="rpe-square", law=law, scale_hint=True)


def _ideal(circuit: Circuit | None) -> Relation:
    circuit = _needed(circuit)
    try:
        return ideal_relation(circuit, scale_hint=False)
    except ScaleHintNeeded:
        (key, query), scale = next(iter(changing_pairs(circuit).items()))
        hint = "a scale hint (ipe-sh, lbpe-sh)"
        error = HintNeeded(
            f"task '{circuit.task.name}': the role of key {key} for query {query} changes at scale {scale}: "
            f"use {hint if PAD in circuit.task.alphabet else f'the aligned format or {hint}'}"
        )
        error.key, error.query, error.scale = key, query, scale
        raise error from None


def _ideal_hinted(circuit: Circuit | None) -> Relation:
    return ideal_relation(_needed(circuit), scale_hint=True)


def _needed(circuit: Circuit | None) -> Circuit:
    if circuit is None:
        raise NoRelation("the task has no circuit of bounded arity, whose roles it would show")
    return circuit


def _redrawn(circuit: Circuit | None, *, longest: int) -> Relation:
    raise NoRelation(f"it draws positions from 1..{longest} anew for each batch, so a pair has no label of its own")


def _random(title: str, *, most: int = 65_536) -> BuiltIn:
    return BuiltIn(
        title=f"{title}, random positions",
        relation=_redrawn,
        parameters={"longest": Parameter(default=512, least=1, most=most)},
    )


_LAW = "one law gives the scores of all labels, so that those never met follow from the others"
_FOUND = "training has to find these labels"

ENCODINGS: dict[str, BuiltIn] = {
    "ipe": BuiltIn(title="ideal", relation=_ideal),
    "ipe-sh": BuiltIn(title="ideal with scale hint", relation=_ideal_hinted),
    "rpe": BuiltIn(title="relative", relation=lambda circuit: relative()),
    "clipped": BuiltIn(
        title="relative, clipped",
        relation=lambda circuit, limit: clipped_relative(limit),
        parameters={"limit": Parameter(default=8, least=0, most=1_000_000)},
    ),
    "t5": BuiltIn(
        title="relative, in buckets (T5)",
        relation=lambda circuit, buckets, longest: t5_buckets(buckets, longest),
        parameters={
            "buckets": Parameter(default=32, least=2, most=1_024),
            "longest": Parameter(default=128, least=2, most=100_000),
        },
    ),
    "ape": BuiltIn(
        title="learned absolute",
        relation=lambda circuit: absolute(),
        caveat="pairs share the vectors of their positions",
    ),
    "sinusoidal": BuiltIn(title="sinusoidal absolute", relation=lambda circuit: absolute(), caveat=_LAW),
    "nope": BuiltIn(
        title="none",
        relation=lambda circuit: constant(),
        caveat="a decoder can count positions by its causal mask",
    ),
    "rope": BuiltIn(title="rotary", relation=lambda circuit: relative(), caveat=_LAW),
    "alibi": BuiltIn(title="linear in the distance (ALiBi)", relation=lambda circuit: relative(), caveat=_LAW),
    "fire": BuiltIn(
        title="distance as a part of the query's position (FIRE)", relation=lambda circuit: absolute(), caveat=_LAW
    ),
    "rpe-square": BuiltIn(
        title="relative to anchors (RPE-Square)",
        relation=lambda circuit: rpe_square_of(_needed(circuit).task),
        caveat="training has to find the anchors",
    ),
    "lbpe": BuiltIn(title="learned labels", relation=_ideal, caveat=_FOUND, learns_labels=True),
    "lbpe-sh": BuiltIn(
        title="learned labels with scale hint", relation=_ideal_hinted, caveat=_FOUND, learns_labels=True
    ),
    "random-ape": _random("learned absolute"),
    "random-rpe": _random("relative", most=4_096),  # a label is stored for every pair of positions
    "random-rope": _random("rotary"),
    "random-alibi": _random("linear in the distance (ALiBi)"),
}


@dataclass(frozen=True, kw_only=True)
class EncodingSpec:
    """An encoding as an experiment names it; two are equal iff they are the same encoding.

    Attributes:
        name: one of ENCODINGS, or path/to/file.py:object.
        parameters: every parameter of a built-in encoding with its value, sorted by name; those not given have their
            defaults. An object of the user's own has none.

    Raises:
        EncodingError: no such name, with the nearest ones; or a parameter that it does not have or that does not fit.
    """

    name: str
    parameters: tuple[tuple[str, Value], ...] = ()

    def __post_init__(self) -> None:
        known = self._known()
        for key, value in self.parameters:
            if key not in known:
                has = ", ".join(known) or "none"
                raise EncodingError(f"encoding '{self.name}' has no parameter '{key}'; its parameters: {has}")
            if not known[key].admits(value):
                raise EncodingError(f"encoding '{self.name}': {key} must be {known[key]}, not {value!r}")
        if len(dict(self.parameters)) < len(self.parameters):
            raise EncodingError(f"encoding '{self.name}': a parameter is given twice")
        filled = {key: parameter.default for key, parameter in known.items()} | dict(self.parameters)
        object.__setattr__(self, "parameters", tuple(sorted(filled.items())))

    def __str__(self) -> str:
        """The shortest text that `parse_encoding` reads as this."""
        known = self._known()
        said = [f"{key}={value}" for key, value in self.parameters if value != known[key].default]
        return f"{self.name}[{','.join(said)}]" if said else self.name

    @property
    def is_own(self) -> bool:
        """Whether it is an object of the user's own."""
        return self.name.rpartition(":")[0].endswith(".py")

    def _known(self) -> Mapping[str, Parameter]:
        if self.is_own:
            return {}
        if self.name not in ENCODINGS:
            close = get_close_matches(self.name, ENCODINGS, n=2)
            hint = f"did you mean {' or '.join(close)}?" if close else f"known are {', '.join(ENCODINGS)}"
            raise EncodingError(f"unknown encoding '{self.name}': {hint}; your own: path/to/file.py:object")
        return ENCODINGS[self.name].parameters


def parse_encoding(text: str) -> EncodingSpec:
    """The encoding that a text names: `name`, `name[key=value,...]` or `path/to/file.py:object`.

    Raises:
        EncodingError: the text is none of these, or as for EncodingSpec.
    """
    name, opened, inside = text.strip().partition("[")
    said = [part.partition("=") for part in inside.removesuffix("]").split(",")] if opened else []
    if (opened and not inside.endswith("]")) or not all(key and equals and value for key, equals, value in said):
        raise EncodingError(f"'{text}' is no encoding: write name or name[key=value,...]")
    given = [(key.strip(), _as_number(value.strip())) for key, _, value in said]
    return EncodingSpec(name=name, parameters=tuple(given))


def _as_number(text: str) -> Value:
    """The text as a whole number; as it is where it is none of at most 18 digits, for EncodingSpec to refuse."""
    return int(text) if re.fullmatch(r"-?[0-9]{1,18}", text) else text


def parse_encodings(text: str) -> tuple[EncodingSpec, ...]:
    """The encodings of a comma-separated list, each once; commas in brackets separate parameters.

    Raises:
        EncodingError: as `parse_encoding`.
    """
    parts = re.split(r",(?![^\[\]]*\])", text)
    return tuple(dict.fromkeys(parse_encoding(part) for part in parts))


def own_object(spec: EncodingSpec) -> Any:
    """The user's object that an encoding names. Its file is run: it is the user's own code.

    Raises:
        EncodingError: the encoding is a built-in one; or the file does not exist, fails, or does not define the object.
    """
    if not spec.is_own:
        raise EncodingError(f"encoding '{spec}' is no object of a file")
    path, _, name = spec.name.rpartition(":")
    namespace = run_file(path, what="encoding", error=EncodingError)
    if name not in namespace:
        raise EncodingError(f"encoding file '{path}' defines no '{name}'")
    return namespace[name]


def relation_of(spec: EncodingSpec, circuit: Circuit | None) -> Relation:
    """The relation of an encoding on a circuit; None is that of a task which has none.

    For an object of the user's own that is itself, if it is a Relation, and else its attribute `relation`.

    Raises:
        HintNeeded: it is ideal without scale hint, and the roles of the circuit change with the scale.
        NoRelation: there is none that is known.
        EncodingError: as `own_object`, or its `relation` is no Relation.
        RelationError: parameters that do not go together.
    """
    if not spec.is_own:
        return ENCODINGS[spec.name].relation(circuit, **dict(spec.parameters))
    own = own_object(spec)
    with user_code(f"'{spec}': its attribute 'relation' fails", error=EncodingError):
        relation = own if isinstance(own, Relation) else getattr(own, "relation", None)
        if relation is None:
            raise NoRelation("it has no attribute 'relation', so what it can tell apart is not known")
        if not isinstance(relation, Relation):
            raise EncodingError(
                f"'{spec}': its attribute 'relation' must be a Relation, not a {type(relation).__name__}"
            )
    return relation
