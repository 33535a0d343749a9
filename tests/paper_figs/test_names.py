"""Names of figures are valid for file systems, LaTeX files and LaTeX labels, and no two are equal."""

import re
import string
from pathlib import Path

import pytest
from hypothesis import given

from lengthgen.circuits.analysis import analyse
from lengthgen.circuits.circuit import Circuit
from lengthgen.circuits.tasks import load
from lengthgen.infrastructure.settings import ProfileError
from lengthgen.paper_figs.declaration import catalogue
from lengthgen.paper_figs.figures import circuit_diagram
from lengthgen.paper_figs.names import LONGEST, file_name
from lengthgen.paper_figs.saving import Drawing, Printed, write
from lengthgen.paper_figs.sources import Sources
from lengthgen.proofs_checks import latex
from tests.oracles.texts import any_text
from tests.paper_figs.made_up import PROTOCOL

HOSTILE = (
    "50%", "a#b", "a_b", "a{b", "a}b", "a b", "a~b", "a\\b", "a^b", "a&b", "a$b", "größe", "a/b", "../../up", ".hidden",
    "a\nb", "\x1b[2J", "x" * 10_000, "", "-", "\udcff", "v1.2", "%", "#",
)  # fmt: skip
TABLE = Drawing(shown=Printed(headings=["a"], lines=[["1"]], columns="l"), rows=[{"a": 1}], caption="None.")


def test_hostile_names_become_different_names_of_letters_digits_and_strokes() -> None:
    names = [file_name(text) for text in HOSTILE]
    assert all(re.fullmatch(r"[0-9A-Za-z][0-9A-Za-z_-]*", name) and len(name) <= LONGEST for name in names)
    assert len({*names}) == len(HOSTILE)
    assert file_name("a_b") == "a_b" and file_name("labels-fig2-addition-base4") == "labels-fig2-addition-base4"


@given(any_text(longest=30), any_text(longest=30))
def test_different_texts_have_different_names_and_a_name_is_its_own(first: str, second: str) -> None:
    assert file_name(file_name(first)) == file_name(first)
    if first != second and file_name(second) != first and file_name(first) != second:
        assert file_name(first) != file_name(second)


def test_labels_and_file_names_have_no_special_character_of_latex(tmp_path: Path) -> None:
    for text in HOSTILE:
        name = file_name(text)
        environment = latex.figure(name, "Caption.", 3, across=False)
        [label] = re.findall(r"\\label\{(.*)\}", environment)
        [file] = re.findall(r"\\includegraphics\[.*\]\{(.*)\}", environment)
        assert not {*label, *file} - {*string.ascii_letters, *string.digits, *":._-"}
        written = write(TABLE, tmp_path, name)
        assert [path.parent for path in written] == [tmp_path] * 3
        assert rf"\label{{tab:{name}}}" in (tmp_path / f"{name}.tex").read_text()


def test_a_name_that_is_not_safe_is_not_written(tmp_path: Path) -> None:
    for text in ("../up", "a b", "50%"):
        with pytest.raises(ValueError, match="not a safe file name"):
            write(TABLE, tmp_path, text)


@pytest.mark.parametrize("stem", ["50% of #1_{a}", "größe ~x", "v1.2"])
def test_a_protocol_of_any_name_has_figures_of_safe_names(tmp_path: Path, stem: str) -> None:
    path = tmp_path / f"{stem}.toml"
    path.write_text(PROTOCOL)
    entries = catalogue(Sources(out=tmp_path, profile="smoke", width=7.0), [str(path)])
    own = entries.keys() - catalogue(Sources(out=tmp_path, profile="smoke", width=7.0)).keys()
    assert len(own) == 9
    assert all(name == file_name(name) == entries[name].name for name in own)


def test_two_protocols_of_one_name_are_refused(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.toml").write_text(PROTOCOL)
    with pytest.raises(ProfileError, match=r"two/mine\.toml': two figures would be 'accuracy-mine': rename it"):
        catalogue(
            Sources(out=tmp_path, profile="smoke", width=7.0),
            [str(tmp_path / folder / "mine.toml") for folder in ("one", "two")],
        )


def test_the_drawing_of_a_circuit_is_named_safely(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    circuit: Circuit = analyse(load("parity"), "unaligned", 2).circuit
    object.__setattr__(circuit.task, "name", "../50% {of} it")
    monkeypatch.setattr(circuit_diagram, "drawing", lambda *_: TABLE)
    for path in map(Path, circuit_diagram.write(circuit, tmp_path / "drawn", [2])):
        assert path.parent == tmp_path / "drawn" and path.stem == file_name("circuit-../50% {of} it-2")
