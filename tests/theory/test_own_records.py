"""Records in a user's file: what is read, and the message for each part that is not valid."""

from pathlib import Path

import pytest

from lengthgen.theory.encodings.encoding import EncodingError
from lengthgen.theory.encodings.own import record, records

HEAD = "import sympy as sp\nfrom lengthgen import Encoding, relative\n"
TENT = 'Encoding(name="tent", title="Tent", bias=lambda j, i, n: -sp.Min(j - i, 3), relation=relative()%s)'


def write(folder: Path, text: str) -> str:
    path = folder / "mine.py"
    path.write_text(HEAD + text, encoding="utf-8")
    return str(path)


def test_each_record_of_a_file_is_read_once_whatever_else_is_there(tmp_path: Path) -> None:
    file = write(tmp_path, f"tent = {TENT % ''}\nalias = tent\nother = {TENT % ''}\nnumber = 3\n")
    tents = records(file)
    assert [encoding.name for encoding in tents] == ["tent", "tent"]
    assert [encoding.name for encoding in records(f"{file}:alias")] == ["tent"]
    assert int(tents[0].bias(9, 1, 10)) == -3


def test_a_file_without_a_record_is_named(tmp_path: Path) -> None:
    with pytest.raises(EncodingError, match=r"mine\.py' defines no Encoding: make one of"):
        records(write(tmp_path, "number = 3\n"))


INVALID = {
    ', module="Tent"': "'tent': its module must be a function or class",
    ", relation_of=3": "'tent': its relation_of must be a function or class",
    ", values=(1, 2)": "'tent': its values must be a function or class",
    ', drawn_from="rope"': "'tent': only registered encodings are trained at drawn positions",
    ", embed=3": "'tent': its embed must be a function, not 3",
}


@pytest.mark.parametrize("part", INVALID)
def test_a_part_that_is_not_valid_is_named(part: str, tmp_path: Path) -> None:
    file = write(tmp_path, f"tent = {TENT % part}\n")
    with pytest.raises(EncodingError) as error:
        record(f"{file}:tent")
    assert str(error.value) == INVALID[part]


@pytest.mark.parametrize(
    ("parts", "has_formulas"),
    [
        ("module=object", False),
        ("relation=relative()", False),
        ("relation_of=lambda circuit: relative()", False),
        ("", True),
        ("module=object, bias=lambda j, i, n: 0", True),
        ("module=object, normaliser='sigmoid'", True),
        ("module=object, window=4", True),
    ],
)
def test_a_module_or_relation_alone_states_no_formulas(parts: str, has_formulas: bool, tmp_path: Path) -> None:
    [read] = records(write(tmp_path, f'mine = Encoding(name="mine", title="Mine", {parts})\n'))
    assert bool(read.no_formula) is not has_formulas


@pytest.mark.parametrize("left_out", ["module=object", "bias=lambda j, i, n: 0, no_formula='it is secret'"])
def test_laws_are_not_declared_of_formulas_that_are_left_out(left_out: str, tmp_path: Path) -> None:
    text = f'mine = Encoding(name="mine", title="Mine", laws=("relative",), {left_out})\n'
    with pytest.raises(EncodingError, match="'mine' declares laws or special cases without formulas: "):
        records(write(tmp_path, text))


@pytest.mark.parametrize(("field", "what"), [("name", "name of an encoding"), ("title", "title of an encoding")])
def test_a_name_that_is_no_text_is_named(field: str, what: str, tmp_path: Path) -> None:
    text = f"from dataclasses import replace\ntent = replace({TENT % ''}, {field}=3)\n"
    with pytest.raises(EncodingError, match=what):
        record(f"{write(tmp_path, text)}:tent")
