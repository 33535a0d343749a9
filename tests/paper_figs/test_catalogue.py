"""Modules of paper_figs declare their figures; the catalogue lists them in order and refuses two with the same name."""

import ast
from pathlib import Path
from types import ModuleType

import pytest

from lengthgen.empirical.experiment.protocol import names as protocol_names
from lengthgen.paper_figs import declaration, figures
from lengthgen.paper_figs.declaration import Entry, catalogue, declared, each_protocol
from lengthgen.paper_figs.saving import Drawing, Printed
from lengthgen.paper_figs.sources import Sources

DRAWING = Drawing(shown=Printed(headings=["a"], lines=[["1"]], columns="l"), rows=[{"a": 1}], caption="None.")
NOT_OF_PROTOCOLS = [
    "figure1", "figure1-next-step", "figure1-smaller-scale", "figure2-small-start", "figure3-small-start",
    "figure2", "figure2-best-on-test", "figure3", "figure4", "figure5", "figure5-scale-hint", "parity-seeds",
    "prism-histograms", "prism-gates", "prism-sharpening", "table-tasks", "table-formats", "table-relations",
    "table-src", "table-hyperparameters", "table-paper-figures",
    "lrc-growth", "score-labels", "pattern-prefix-sum", "pattern-window", "pattern-decay", "pattern-middle",
    "reachable-volume", "forecast-parity", "forecast-reliability", "circuit-parity", "circuit-addition",
    "circuit-multiplication", "induced-complexity", "score-laws", "interpolation-bound", "recovery-lattice",
    "text-losses", "ledger",
    "theories-by-results", "table-theories", "verdict-breaking", "verdict-rules", "verdict-formats",
    "verdict-multiverse", "verdict-strata", "verdict-languages", "verdict-swapped",
]  # fmt: skip
KINDS = ("accuracy", "labels", "results", "coverage", "predicted", "success", "breaking", "disagreements")


def module(name: str, *figures: object) -> ModuleType:
    made = ModuleType(name)
    made.FIGURES = figures  # type: ignore[attr-defined]
    return made


def entry(name: str, place: int) -> Entry:
    return Entry(place=place, name=name, title="made up", make=lambda _: DRAWING)


def test_figures_are_listed_by_place_and_those_of_protocols_follow(tmp_path: Path) -> None:
    names = [*catalogue(Sources(out=tmp_path, profile="smoke", width=7.0))]
    assert names[: len(NOT_OF_PROTOCOLS)] == NOT_OF_PROTOCOLS
    rest = names[len(NOT_OF_PROTOCOLS) :]
    order = [
        (place, KINDS.index(name.partition("-")[0]))
        for name in rest
        for place, protocol in enumerate(protocol_names())
        if name.partition("-")[2].startswith(protocol)
    ]
    assert order == sorted(order) and len(order) == len(rest)


def test_entries_of_one_place_stand_as_declared() -> None:
    figures, families = declared(
        [module("one", entry("c", 2), entry("a", 2)), module("none"), module("two", entry("b", 1))]
    )
    assert [*figures] == ["b", "c", "a"] and not families


def test_two_figures_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="two figures are named 'same': in one and in two"):
        declared([module("one", entry("same", 1)), module("two", entry("same", 2))])


def test_a_new_module_with_a_declaration_has_its_figures_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = module("fresh", entry("new", 305), each_protocol("kind", "any", lambda *_, **__: DRAWING, place=505))
    every = [*declaration._modules(), fresh]
    monkeypatch.setattr("lengthgen.paper_figs.declaration._modules", lambda: every)
    names = [*catalogue(Sources(out=tmp_path, profile="smoke", width=7.0))]
    assert names[names.index("new") - 1] == "lrc-growth"
    assert names[names.index("kind-fig2") + 1] == "labels-fig2-copy"


def test_no_other_module_names_a_figure() -> None:
    """Check that no module but its own names a figure, so that a figure is one module and its test."""
    texts = {
        path.name: {node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)}
        for path in Path(figures.__file__).parent.glob("*.py")
    }
    for name in NOT_OF_PROTOCOLS:
        declaring = [file for file, constants in texts.items() if name in constants]
        assert len(declaring) <= 1, (name, declaring)
