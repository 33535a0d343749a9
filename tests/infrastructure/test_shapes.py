"""Shapes accept what they are of, and name the place of anything else."""

from dataclasses import dataclass

import pytest

from lengthgen.infrastructure import shapes
from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.infrastructure.files import DamagedFile, write_json, write_sealed_json
from lengthgen.infrastructure.shapes import COUNT, FLAG, LIMIT, NUMBER, TEXT, WrongShape, list_of, made_into, record


@dataclass(kw_only=True)
class Made:
    a: int
    b: str = ""


def even(value):
    if value % 2:
        raise LengthgenError("odd")


CASES = [
    (TEXT, ["a", ""], [None, 1, ["a"]], ""),
    (COUNT, [0, -1, 1 << 63], [None, True, 1.0, "1", 10**400], ""),
    (NUMBER, [0, 0.5], [None, True, "1", []], ""),
    (FLAG, [True], [1, None, "true"], ""),
    (LIMIT, [1, 1.5, "inf"], ["1", None, True], ""),
    (shapes.one_of(("a", "b")), ["a"], ["c", None, ["a"]], ""),
    (shapes.or_none(COUNT), [None, 1], ["1"], ""),
    (shapes.either(COUNT, TEXT), [1, "a"], [None], ""),
    (shapes.both(record(a=COUNT), record(b=TEXT)), [{"a": 1, "b": ""}], [{"a": 1}, {"b": ""}], ""),
    (list_of(COUNT), [[], [1, 2]], [None, "12", {}, [1, "2"]], ""),
    (list_of(list_of(COUNT)), [[[1]]], [[[1], ["2"]]], "[1][0]"),
    (shapes.row(COUNT, TEXT), [[1, "a"]], [[1], [1, "a", 1], ["a", 1], None, {}], ""),
    (shapes.mapping_to(COUNT), [{}, {"a": 1}], [{"a": "1"}, [], None], ""),
    (record(a=record(b=TEXT)), [{"a": {"b": "", "c": 1}, "d": 2}], [{"a": {"b": 1}}], ".a.b"),
    (record(), [{}], [None, [], "a"], ""),
    (shapes.if_given(a=COUNT), [{}, {"a": None}, {"a": 1}], [{"a": "1"}, [], None], ""),
    (made_into(Made, a=COUNT, b=TEXT), [{"a": 1}, {"a": 1, "b": ""}], [{}, {"a": 1, "d": 1}, {"b": ""}, []], ""),
    (made_into(Made, a=COUNT, b=TEXT), [], [{"a": 1, "b": None}], ".b"),
    (made_into(Made, a=COUNT, b=TEXT, c=FLAG), [{"a": 1, "c": True}], [{"a": 1}, {"a": 1, "b": ""}], ""),
    (
        shapes.one_for_each({"a": 1, "b": 2}, str.lower, TEXT),
        [["B", "a"]],
        [["a"], ["a", "b", "b"], ["a", 1], "ab"],
        "",
    ),
    (shapes.reads(even), [2], [1], ""),
]


@pytest.mark.parametrize(("shape", "right", "wrong", "place"), CASES)
def test_a_value_of_another_shape_is_refused_with_its_place(shape, right, wrong, place):
    for value in right:
        shape(value, "it")
    for value in wrong:
        with pytest.raises(WrongShape) as error:
            shape(value, "it")
        assert str(error.value).startswith(f"it{place}")


def test_the_shape_of_a_dataclass_has_all_its_fields():
    with pytest.raises(TypeError, match="lacks"):
        made_into(Made, a=COUNT)


@pytest.mark.parametrize("sealed", [True, False])
def test_a_stored_file_of_another_shape_is_named_with_what_makes_it(tmp_path, sealed):
    path = tmp_path / "it.json"
    write = write_sealed_json if sealed else write_json

    def read():
        return shapes.read_stored(path, record(a=COUNT), "number", "make it again", sealed=sealed)

    write(path, {"a": 1})
    assert read() == {"a": 1}
    write(path, {"a": "1"})
    with pytest.raises(DamagedFile, match=r"it\.json holds no number \(number\.a is str.*: make it again$"):
        read()
    path.write_text("[" * 100_000)
    with pytest.raises(DamagedFile, match=r"it\.json is not .*: make it again$"):
        read()
