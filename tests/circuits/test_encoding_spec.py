"""Names of encodings in experiments: texts and their meaning, and the relation of every name."""

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lengthgen.circuits.encoding_spec import (
    ENCODINGS,
    EncodingError,
    EncodingSpec,
    HintNeeded,
    NoRelation,
    parse_encoding,
    parse_encodings,
    relation_of,
    rpe_square_of,
)
from lengthgen.circuits.formats import in_format
from lengthgen.circuits.roles import ideal_relation
from lengthgen.circuits.tasks import load
from lengthgen.theory.learning.anchored import copy_anchors, rpe_square
from lengthgen.theory.relation import Relation, RelationError, from_function
from tests.circuits.conftest import Analyses

LARGEST = 8


@pytest.mark.parametrize("name", ENCODINGS)
def test_a_name_and_its_defaults_are_one_encoding(name: str) -> None:
    spec = parse_encoding(name)
    assert str(spec) == name
    assert dict(spec.options) == {key: option.default for key, option in ENCODINGS[name].options.items()}
    for count in range(len(spec.options) + 1):
        for some in itertools.combinations(spec.options, count):
            for order in itertools.permutations(some):
                assert EncodingSpec(name=name, options=order) == spec
                if order:
                    options_text = ",".join(f"{key}={value}" for key, value in order)
                    assert parse_encoding(f"{name}[{options_text}]") == spec


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("clipped[limit=0]", "clipped[limit=0]"),
        (" clipped[ limit = 3 ] ", "clipped[limit=3]"),
        ("t5[longest=64,buckets=32]", "t5[longest=64]"),
        ("t5[longest=64,buckets=16]", "t5[buckets=16,longest=64]"),
        ("random-rope[longest=1024]", "random-rope[longest=1024]"),
        ("some/path.py:thing", "some/path.py:thing"),
        ("C:/odd, place/path.py:thing", "C:/odd, place/path.py:thing"),
    ],
)
def test_texts_that_mean_the_same_have_one_canonical_text(text: str, canonical: str) -> None:
    spec = parse_encoding(text)
    assert str(spec) == canonical
    assert parse_encoding(canonical) == spec
    assert hash(parse_encoding(canonical)) == hash(spec)
    assert spec.is_own == (".py:" in text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("rop", "unknown encoding 'rop': did you mean rope or"),
        ("zzzzz", "unknown encoding 'zzzzz': there are [0-9]+, such as .*; `lengthgen encodings` lists all"),
        ("", "unknown encoding ''"),
        ("file.py", "unknown encoding 'file.py': .*path/to/file.py:object"),
        ("rope[limit=8]", "'rope' has no option 'limit'; its options: base, layout"),
        ("clipped[width=8]", "'clipped' has no option 'width'; its options: limit"),
        ("clipped[limit=far]", "'clipped': limit must be a whole number from 0 to 1,000,000, not 'far'"),
        ("clipped[limit=2.0]", "limit must be a whole number from 0 to 1,000,000, not 2.0"),
        ("clipped[limit=-1]", "limit must be a whole number from 0 to 1,000,000, not -1"),
        ("random-ape[longest=0]", "longest must be a whole number from 1 to 65,536, not 0"),
        ("random-ape[longest=1000000000]", "from 1 to 65,536, not 1000000000"),
        ("random-rpe[longest=5000]", "from 1 to 4,096, not 5000"),
        ("clipped[limit=100000000000000000000000]", "from 0 to 1,000,000, not 100000000000000000000000"),
        ("clipped[limit=\u0663]", "a whole number from 0 to 1,000,000"),
        ("clipped[limit=1_0]", "a whole number from 0 to 1,000,000, not '1_0'"),
        ("t5[buckets=100000]", "buckets must be a whole number from 2 to 1,024"),
        ("t5[longest=100000000]", "longest must be a whole number from 2 to 100,000"),
        ("clipped[limit=1,limit=1]", "given twice"),
        ("clipped[]", r"'clipped\[\]' is no encoding: write name or name\[key=value,...\]"),
        ("clipped[limit]", "is no encoding"),
        ("clipped[limit=]", "is no encoding"),
        ("clipped[limit=8", "is no encoding"),
        ("clipped[limit=8]x", "is no encoding"),
        ("file.py:thing[limit=8]", "'file.py:thing' has no option 'limit'"),
    ],
)
def test_an_invalid_encoding_is_refused_in_one_line(text: str, says: str) -> None:
    with pytest.raises(EncodingError, match=says) as refused:
        parse_encoding(text)
    assert "\n" not in str(refused.value)


def test_values_of_another_type_are_refused_without_a_text_too() -> None:
    for value in (8.0, True, "8"):
        with pytest.raises(EncodingError, match="limit must be a whole number"):
            EncodingSpec(name="clipped", options=(("limit", value),))
    with pytest.raises(EncodingError, match="its options: none"):
        EncodingSpec(name="mine.py:thing", options=(("limit", 8),))


def test_a_list_is_split_outside_brackets_and_names_each_encoding_once() -> None:
    specs = parse_encodings("rpe, t5[buckets=8,longest=40],clipped,nope,clipped[limit=8],x.py:y,clipped[limit=2]")
    assert [str(spec) for spec in specs] == [
        "rpe", "t5[buckets=8,longest=40]", "clipped", "nope", "x.py:y", "clipped[limit=2]",
    ]  # fmt: skip
    for text in ("rpe,", "", "rpe,,ape", "clipped[limit=8,rpe", "rpe]"):
        with pytest.raises(EncodingError):
            parse_encodings(text)


def _classes(matrix: np.ndarray[Any, Any]) -> list[int]:
    """Return for each pair the index of the first pair with the same label."""
    labels = matrix[np.triu_indices(len(matrix))].tolist()
    return [labels.index(label) for label in labels]


def _bucket(distance: int) -> int:
    """Causal T5 with 32 buckets and 128 as its longest distance, where floating point is sure of the floor."""
    return distance if distance < 16 else min(31, 16 + int(np.log(distance / 16) / np.log(8) * 16))


# What an encoding's scores can depend on, of key i and query j.
ORACLES: dict[str, Callable[[int, int], Any]] = {
    "rpe": lambda i, j: j - i,
    "rope": lambda i, j: j - i,
    "alibi": lambda i, j: j - i,
    "wavelet": lambda i, j: j - i,
    "clipped": lambda i, j: min(j - i, 8),
    "clipped[limit=0]": lambda i, j: 0,
    "clipped[limit=3]": lambda i, j: min(j - i, 3),
    "t5": lambda i, j: _bucket(j - i),
    "ape": lambda i, j: (i, j),
    "sinusoidal": lambda i, j: (i, j),
    "fire": lambda i, j: (i, j),
    "haar": lambda i, j: (i, j),
    "seqpe": lambda i, j: (i, j),
    "dct": lambda i, j: (i, j),
    "legendre[beyond=clamp]": lambda i, j: (i, j),
    "legendre[beyond=raw]": lambda i, j: (i, j),
    "nope": lambda i, j: 0,
    "swat": lambda i, j: j - i,
    "swat[window=3]": lambda i, j: min(j - i, 3),
}


@pytest.mark.parametrize("text", ORACLES)
def test_pairs_share_a_label_iff_the_scores_cannot_tell_them_apart(text: str, analyses: Analyses) -> None:
    relation = relation_of(parse_encoding(text), analyses("parity", "aligned", LARGEST).circuit)
    assert not relation.scale_hint
    seen = [ORACLES[text](i, j) for i in range(1, 41) for j in range(i, 41)]
    assert _classes(relation.labels(40)) == [seen.index(value) for value in seen]


def test_rescaled_codes_give_a_pair_another_label_at_every_length() -> None:
    relation = relation_of(parse_encoding("legendre"), None)
    pairs = [(i, j, n) for n in range(1, 13) for j in range(1, n + 1) for i in range(1, j + 1)]
    keys, queries, lengths = np.array(pairs).T
    assert len(np.unique(relation.label(keys, queries, lengths))) == len(pairs)


@pytest.mark.parametrize("name", ["copy", "parity", "counter"])
def test_ideal_names_are_the_roles_of_the_circuit(name: str, analyses: Analyses) -> None:
    for layout, hint in (("aligned", False), ("aligned", True), ("unaligned", True)):
        circuit = analyses(name, layout, 6).circuit
        ideal = ideal_relation(circuit, scale_hint=hint)
        for start in ("ipe", "lbpe"):
            relation = relation_of(parse_encoding(f"{start}-sh" if hint else start), circuit)
            assert (relation.name, relation.scale_hint) == (ideal.name, hint)
            for scale, wirings in circuit.wirings.items():
                length = wirings[-1].position
                assert (relation.labels(length, scale) == ideal.labels(length, scale)).all()


@pytest.mark.parametrize("encoding", ["ipe", "lbpe"])
@pytest.mark.parametrize(
    ("name", "layout", "mend"),
    [
        ("parity", "unaligned", "use the aligned format or a scale hint (ipe-sh, lbpe-sh)"),
        ("shift", "unaligned", "use the aligned format or a scale hint (ipe-sh, lbpe-sh)"),
        # In padded data the wrap still moves with the scale: there is no other format to turn to.
        ("shift", "aligned", "use a scale hint (ipe-sh, lbpe-sh)"),
    ],
)
def test_a_role_that_changes_is_named_with_its_scale(
    encoding: str, name: str, layout: str, mend: str, analyses: Analyses
) -> None:
    circuit = analyses(name, layout, 6).circuit
    with pytest.raises(HintNeeded) as refused:
        relation_of(parse_encoding(encoding), circuit)
    change = refused.value.change
    message = f"the role of key {change.key} for query {change.query} changes at scale {change.scale}: {mend}"
    assert str(refused.value) == f"task '{circuit.task.name}': {message}"

    def role(scale: int) -> object:
        """Return the role at a scale; None where no step is computed at the query."""
        computed = {wiring.position - 1 for wiring in circuit.wirings[scale]}
        pair = change.key, change.query
        return circuit.roles(scale).get(pair, "irrelevant") if change.query in computed else None

    before = {role(scale) for scale in range(1, change.scale)} - {None}
    assert len(before) == 1
    assert role(change.scale) not in before | {None}


def _index(symbols: list[str], fixed: list[bool]) -> Callable[[int, int], int]:
    """(j - l_j) - (i - l_i) of a text, by walking back to the last anchor."""

    def back(position: int) -> int:
        at = position
        while at > 0 and not (fixed[at - 1] and symbols[at - 1] != "_"):
            at -= 1
        return position - at

    return lambda i, j: back(j) - back(i)


@pytest.mark.parametrize("layout", ["aligned", "unaligned"])
@pytest.mark.parametrize("name", ["copy", "parity", "addition", "multiplication", "division", "select-middle"])
def test_rpe_square_compares_distances_to_the_last_anchor(name: str, layout: str) -> None:
    task = in_format(load(name), layout, largest_scale=4)
    relation = rpe_square_of(task)
    assert relation.scale_hint
    labels: dict[int, int] = {}
    for scale in range(1, 5):
        allowed = task.prompt(scale)
        prompt = [symbols[-1] for symbols in allowed]
        text = [*prompt, *task.generate(tuple(prompt))]
        fixed = [len(symbols) == 1 for symbols in allowed] + [False] * len(text)
        index, label_matrix = _index(text, fixed), relation.labels(len(text), scale)
        for i in range(1, len(text) + 1):
            for j in range(i, len(text) + 1):
                # Each difference has one label, the same at every scale.
                assert (
                    labels.setdefault(index(i, j), int(label_matrix[i - 1, j - 1])) == label_matrix[i - 1, j - 1] >= 0
                )
    assert len(set(labels.values())) == len(labels)


def test_rpe_square_agrees_with_the_theory_where_a_first_token_is_an_anchor() -> None:
    relation, expected = rpe_square_of(load("unaligned-copy")), rpe_square(copy_anchors)
    for scale in range(1, 7):
        length = 2 * scale + 3
        assert (relation.labels(length, scale) == expected.labels(length, scale)).all()


def test_parameters_that_do_not_go_together_are_refused(analyses: Analyses) -> None:
    spec = parse_encoding("t5[buckets=32,longest=16]")
    with pytest.raises(RelationError, match="longest=16"):
        relation_of(spec, analyses("parity", "aligned", LARGEST).circuit)


OWN = """
from lengthgen.theory.relation import clipped_relative, from_function

parities = from_function(lambda i, j: (j - i) % 2, name="parities")

class Encoding:
    def __init__(self, **relation):
        self.__dict__ |= relation

knows = Encoding(relation=clipped_relative(3))
does_not = Encoding()
says_so = Encoding(relation=None)
wrong = Encoding(relation="clipped")
"""


def test_an_encoding_of_the_user_has_the_relation_that_it_declares(tmp_path: Path, analyses: Analyses) -> None:
    path = tmp_path / "mine.py"
    path.write_text(OWN)
    circuit = analyses("parity", "aligned", LARGEST).circuit

    def relation(name: str) -> Relation:
        return relation_of(parse_encoding(f"{path}:{name}"), circuit)

    expected = from_function(lambda i, j: (j - i) % 2, name="parities")
    assert (relation("parities").labels(9) == expected.labels(9)).all()
    assert relation("knows").name == "clipped-3"
    for name in ("does_not", "says_so"):
        with pytest.raises(NoRelation, match="no attribute 'relation'"):
            relation(name)
    with pytest.raises(EncodingError, match="must be a Relation, not 'clipped'"):
        relation("wrong")
    with pytest.raises(EncodingError, match=r"mine\.py' defines no 'other'"):
        relation("other")
    assert parse_encoding(f"{path}:says_so").record.name == "mine.py:says_so"
