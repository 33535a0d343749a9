"""Encodings as experiments name them, and the relation by which each encoding distinguishes pairs of positions.

An encoding is a name, a name with options (`clipped[limit=8]`), or an object in the user's own file
(`path/to/file.py:object`). Encodings of theory/encodings/ are known by their names and aliases; encodings whose
relation is that of a task's circuit are registered here. The relation of each name is our reading [F]: an encoding can
treat two pairs differently only if their labels differ, so its relation is the finest that its scores may depend on.
"""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lengthgen.circuits.circuit import Circuit
from lengthgen.circuits.formats import PAD
from lengthgen.circuits.roles import Change, ScaleHintNeeded, ideal_relation
from lengthgen.circuits.src import MAX_ARITY
from lengthgen.circuits.task import Task
from lengthgen.infrastructure.userfile import shown, user_code
from lengthgen.theory.encodings.catalogue import ENCODINGS, named, register
from lengthgen.theory.encodings.encoding import Encoding, EncodingError, Value, table_start
from lengthgen.theory.encodings.own import record
from lengthgen.theory.encodings.relations import LABEL_START
from lengthgen.theory.learning.anchored import zigzag
from lengthgen.theory.relation import Labels, Relation

__all__ = [
    "ENCODINGS",
    "EncodingError",
    "EncodingSpec",
    "HintNeeded",
    "NoRelation",
    "accepted",
    "option_text",
    "parse_encoding",
    "parse_encodings",
    "relation_of",
]


class NoRelation(EncodingError):
    """Error of an encoding without a known relation of positions; the message says why."""


class HintNeeded(EncodingError):
    """Error of an ideal relation that does not exist without scale hint.

    Attributes:
        change: first pair whose role changes.
    """

    change: Change


def rpe_square_of(task: Task) -> Relation:
    """Relation of sharp RPE-Square on a task: (j - l_j) - (i - l_i) (arXiv 2410.08898; theory/learning/anchored.py).

    l is the last fixed token of the prompt at or before a position, 0 if there is none. Padding of an operand belongs
    to the operand and is no anchor [F]. Labels are zigzag numbers. The relation depends on the scale, because it sees
    positions and no text.
    """

    def law(keys: Labels, queries: Labels, scale: int | None) -> Labels:
        assert scale is not None
        padding = (task.alphabet.index(PAD),) if PAD in task.alphabet else None
        given = task.given(scale).items()
        fixed = [key for key, allowed in given if len(allowed) == 1 and allowed != padding]
        anchors = np.array([0, *fixed])

        def offset(positions: Labels) -> Labels:
            back: Labels = positions - anchors[np.searchsorted(anchors, positions, side="right") - 1]
            return back

        return zigzag(offset(queries) - offset(keys))

    return Relation(name="rpe-square", law=law, scale_hint=True)


def _ideal(circuit: Circuit | None) -> Relation:
    """Return the ideal relation of a circuit without scale hint; raise HintNeeded if there is none."""
    circuit = _required(circuit)
    try:
        return ideal_relation(circuit, scale_hint=False)
    except ScaleHintNeeded as needed:
        hint = "a scale hint (ipe-sh, lbpe-sh)"
        mend = hint if PAD in circuit.task.alphabet else f"the aligned format or {hint}"
        error = HintNeeded(f"task '{circuit.task.name}': {needed.change}: use {mend}")
        error.change = needed.change
        raise error from None


def _ideal_hinted(circuit: Circuit | None) -> Relation:
    return ideal_relation(_required(circuit), scale_hint=True)


def _required(circuit: Circuit | None) -> Circuit:
    """Return the circuit; raise NoRelation if the task has none."""
    if circuit is None:
        raise NoRelation(
            f"some step needs more than {MAX_ARITY} arguments, so the task has no circuit and no roles to encode; at "
            "smaller scales it may have"
        )
    return circuit


_OF_CIRCUIT = {"no_formula": "its relation is that of a task's circuit"}
_LEARNED: dict[str, Any] = {
    "options": LABEL_START,
    "no_formula": "training has to find these labels",
    "learns_labels": True,
}
_LEARNED["caveat"] = _LEARNED["no_formula"]

for _name, _summary, _relation_of, _fields in (
    ("ipe", "ideal", _ideal, {"aliases": ("ideal",), "options": LABEL_START, **_OF_CIRCUIT}),
    ("ipe-sh", "ideal with scale hint", _ideal_hinted, {"options": LABEL_START, **_OF_CIRCUIT}),
    (
        "rpe-square",
        "relative to anchors (RPE-Square)",
        lambda circuit: rpe_square_of(_required(circuit).task),
        {
            "title": "RPE-Square",
            "arxiv": "2410.08898",
            "options": table_start(0.02),
            "no_formula": "its anchors are found in the prompt",
            "caveat": "training has to find the anchors",
        },
    ),
    ("lbpe", "learned labels", _ideal, _LEARNED),
    ("lbpe-sh", "learned labels with scale hint", _ideal_hinted, _LEARNED),
):
    register(Encoding(**({"title": _name.upper()} | _fields), name=_name, summary=_summary, relation_of=_relation_of))


@dataclass(frozen=True, kw_only=True)
class EncodingSpec:
    """Encoding as an experiment names it; two specs are equal iff they name the same encoding.

    Attributes:
        name: name or alias of a registered encoding, or path/to/file.py:object.
        options: every option of a registered encoding with its value, sorted by name; options not given have their
            defaults. An object of the user's own has none.

    Raises:
        EncodingError: the name is unknown (the message has the nearest names), or an option is unknown or does not fit.
    """

    name: str
    options: tuple[tuple[str, Value], ...] = ()

    def __post_init__(self) -> None:
        if not self.is_own:
            object.__setattr__(self, "name", named(self.name).name)
        registered = {} if self.is_own else ENCODINGS[self.name].options
        for key, value in self.options:
            if key not in registered:
                names = ", ".join(registered) or "none"
                raise EncodingError(f"encoding '{self.name}' has no option '{key}'; its options: {names}")
            if not registered[key].admits(value):
                raise EncodingError(f"encoding '{self.name}': {key} must be {registered[key]}, not {value!r}")
        if len(dict(self.options)) < len(self.options):
            raise EncodingError(f"encoding '{self.name}': an option is given twice")
        values = {key: option.default for key, option in registered.items()} | dict(self.options)
        typed = {key: type(registered[key].default)(value) for key, value in values.items()}
        object.__setattr__(self, "options", tuple(sorted(typed.items())))

    def __str__(self) -> str:
        """Return the shortest text that `parse_encoding` reads as this encoding."""
        registered = {} if self.is_own else ENCODINGS[self.name].options
        changed = [f"{key}={option_text(value)}" for key, value in self.options if value != registered[key].default]
        return f"{self.name}[{','.join(changed)}]" if changed else self.name

    @property
    def is_own(self) -> bool:
        """True if it is an object in the user's own file."""
        return self.name.rpartition(":")[0].endswith(".py")

    @property
    def record(self) -> Encoding:
        """The encoding itself. A user's own file is run.

        Raise EncodingError if the user's file does not exist, fails, or does not define the object.
        """
        return record(self.name) if self.is_own else ENCODINGS[self.name]


def option_text(value: Value) -> str:
    """Return the value of an option as `read_value` reads it: numbers without a useless decimal point."""
    return str(value).lower() if isinstance(value, bool) else str(value).removesuffix(".0")


NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", re.IGNORECASE)
LONGEST_NUMBER = 40
"""Largest number of characters of a number that is read."""


def parse_encoding(text: str) -> EncodingSpec:
    """Return the encoding that a text names: `name`, `name[key=value,...]` or `path/to/file.py:object`.

    >>> parse_encoding("clipped[start=0.02]").options
    (('limit', 8), ('start', 0.02))

    Raise EncodingError if the text has none of these forms, or as for EncodingSpec.
    """
    name, opened, inside = text.strip().partition("[")
    parts = [part.partition("=") for part in inside.removesuffix("]").split(",")] if opened else []
    if (opened and not inside.endswith("]")) or not all(key and equals and value for key, equals, value in parts):
        raise EncodingError(f"'{text}' is no encoding: write name or name[key=value,...]")
    return EncodingSpec(name=name, options=tuple((key.strip(), read_value(value.strip())) for key, _, value in parts))


def read_value(text: str) -> Value:
    """Return the truth value or number that a text of at most 40 characters writes; any other text unchanged."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    if not NUMBER.fullmatch(text) or len(text) > LONGEST_NUMBER:
        return text
    return int(text) if text.lstrip("+-").isdigit() else float(text)


def parse_encodings(text: str) -> tuple[EncodingSpec, ...]:
    """Return the encodings of a comma-separated list, each once; commas in brackets separate options.

    Raise EncodingError as for `parse_encoding`.
    """
    parts = re.split(r",(?![^\[\]]*\])", text)
    return tuple(dict.fromkeys(parse_encoding(part) for part in parts))


def accepted(function: Callable[..., Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values whose keys are names of the function's parameters."""
    names = inspect.signature(function).parameters
    return {name: value for name, value in values.items() if name in names}


def relation_of(spec: EncodingSpec, circuit: Circuit | None) -> Relation:
    """Return the relation of an encoding on a circuit; the circuit is None for a task without one.

    Raises:
        HintNeeded: the encoding is ideal without scale hint, and the roles of the circuit change with the scale.
        NoRelation: no relation of the encoding is known.
        EncodingError: as for `EncodingSpec.record`.
        RelationError: the options do not go together.
    """
    encoding = spec.record
    if encoding.relation_of is not None:
        if not spec.is_own:
            return encoding.relation_of(circuit, **accepted(encoding.relation_of, dict(spec.options)))
        with user_code(f"'{spec}': its relation_of fails", error=EncodingError):
            relation = encoding.relation_of(circuit)
            if not isinstance(relation, Relation):
                raise EncodingError(f"'{spec}': relation_of must give a Relation, not {shown(relation)}")
            return relation
    if encoding.relation is None:
        raise NoRelation(encoding.no_relation or "the relation through which positions act is not known")
    return encoding.relation
