"""Claims that the registry refuses, and how claims are selected."""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lengthgen.proofs_checks import registry
from lengthgen.proofs_checks.claim import PARTS, Claim, Evidence, Source, Strength

ROWS = ("laws", "far", "cache")


def _accept(*, value: int) -> Evidence:
    return Evidence(strength=Strength.GENERAL, facts=(str(value),))


def _claim(**changes: Any) -> Claim:
    fields: dict[str, Any] = {
        "id": "toy-1",
        "source": Source(paper="toy", arxiv="0000.00000", place="nowhere"),
        "statement": "one is one",
        "latex": "1=1",
        "label": "F",
        "check": _accept,
        "holds": {"value": 1},
        "falsifiers": {"two": {"value": 2}},
    }
    return Claim(**fields | changes)


def _listed_in(package: str) -> list[str]:
    return [claim.id for claim in registry.CLAIMS if package in registry.home(claim).with_suffix("").parts]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"falsifiers": {}}, "toy-1 has no falsifier"),
        ({"falsifiers": {"same": {"value": 1}}}, "'same' is the statement itself"),
        ({"falsifiers": {"empty": {}}}, "'empty' is the statement itself"),
        ({"falsifiers": {"misspelt": {"valeu": 2}}}, r"changes \['valeu'\]"),
        ({"answers": ("value",)}, r"'two' changes the stated answer \['value'\]"),
        ({"answers": tuple("dbeac")}, r"the answers \['a', 'b', 'c', 'd', 'e'\] are no parameters"),
        ({"printed": {"value": 1}}, "the printed statement is the statement itself"),
    ],
)
def test_a_claim_with_a_wrong_part_is_refused(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        _claim(**changes)


def test_duplicate_id_is_refused() -> None:
    with pytest.raises(ValueError, match="two claims have the id 'toy-1'"):
        registry.gather((_claim(),), (replace(_claim(), statement="again"),))


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["grape-1"], ["grape-1"]),
        (
            ["fox"],
            [
                *_listed_in("fox"),
                *(f"{row}-fox" for row in ROWS),
                *("recovery-fox-alibi", "recovery-fox-nope", "recovery-cable-fox"),
            ],
        ),
        (
            ["pi"],
            [*_listed_in("interpolation"), *(f"{row}-interpolation" for row in ROWS), "recovery-interpolation-rope"],
        ),
        (["hope-6"], ["hope-6-complex", "hope-6-real"]),
        (["plaa-rpe-square", "rope-1"], ["rope-1", "plaa-rpe-square-labels", "plaa-rpe-square-limit"]),
        (["pola-2b", "pola"], _listed_in("pola")),
        (["pola-2b"], ["pola-2b"]),
        (["pola-1e"], ["pola-1e", "pola-1e-count"]),
        (["pola"], _listed_in("pola")),
        (["plaa"], _listed_in("plaa")),
        ([], [claim.id for claim in registry.CLAIMS]),
    ],
)
def test_selection_by_id_and_by_family(names: list[str], expected: list[str]) -> None:
    assert [claim.id for claim in registry.select(names)] == expected


@pytest.mark.parametrize(
    "paper", ["2512.07805", "arXiv:2512.07805v2", "GRAPE", "grape", " Grape", "group representational"]
)
def test_selection_by_paper(paper: str) -> None:
    selected = registry.select(paper=paper)
    assert {claim.source.arxiv for claim in selected} == {"2512.07805"}
    assert {claim.id for claim in registry.select(["grape"])} <= {claim.id for claim in selected}


@pytest.mark.parametrize(
    "name",
    [
        "2512.07805",
        "2512.07805v3",
        "arXiv:2512.07805",
        "https://arxiv.org/abs/2512.07805",
        "arxiv.org/pdf/2512.07805v1.pdf",
    ],
)
def test_a_name_may_be_the_arxiv_id_or_address_of_a_paper(name: str) -> None:
    assert registry.select([name]) == registry.select(paper="2512.07805")


def test_each_name_that_is_offered_selects_claims() -> None:
    offered = registry.names()
    assert {"grape", "grape-5", "alibi", "2512.07805"} <= {*offered}
    for name in (name for name in offered if "-" not in name):
        try:
            assert registry.select([name])
        except registry.Unknown as refusal:
            assert "no claim is about" in str(refusal)


def test_a_paper_and_names_select_what_is_in_both() -> None:
    assert [claim.id for claim in registry.select(["grape-5", "plaa"], paper="2512.07805")] == ["grape-5"]


@pytest.mark.parametrize(
    ("ask", "hint"),
    [
        (lambda: registry.select(["grap-1"]), "did you mean grape-1"),
        (lambda: registry.select(["zzz"]), "`lengthgen claims WORDS` searches statements and papers"),
        (lambda: registry.select([""]), "`lengthgen claims WORDS` searches"),
        (lambda: registry.select(["Attention is all"]), "--paper 'Attention is all' has its claims"),
        (lambda: registry.select(["2512.07806"]), "did you mean 2512.07805"),
        (lambda: registry.select(paper="grpae"), "did you mean grape"),
        (lambda: registry.select(paper="2512.07806"), "did you mean 2512.07805"),
        (lambda: registry.select(paper="zzzz"), "`lengthgen claims WORDS` searches papers"),
        (lambda: registry.select(paper=" "), "the"),
        (lambda: registry.select(["plaa"], paper="grape"), "none of the claims named plaa is of a paper 'grape'"),
        (lambda: registry.strengths("genral"), "did you mean general"),
        (lambda: registry.strengths("general,"), "there are 7, such as"),
        (lambda: registry.strengths(""), "the"),
    ],
)
def test_what_is_not_known_is_refused_in_one_line_with_a_hint(ask: Callable[[], object], hint: str) -> None:
    with pytest.raises(registry.Unknown, match=hint) as refusal:
        ask()
    assert "\n" not in str(refusal.value)


def test_strengths_are_read_from_a_list() -> None:
    assert registry.strengths("general, numeric") == (Strength.GENERAL, Strength.NUMERIC)


def test_every_claim_is_found_by_its_id_and_has_the_file_that_lists_it() -> None:
    modules = {
        module.__file__: module
        for name, module in sys.modules.items()
        if name.startswith(tuple(f"lengthgen.proofs_checks.{part}" for part in PARTS))
    }
    for claim in registry.CLAIMS:
        assert registry.find(claim.id) is claim and claim in registry.select([claim.id])
        assert any(listed is claim for listed in modules[str(registry.home(claim))].CLAIMS)
    assert registry.home(registry.find("pola-1a")).parent.name == "pola"


def test_the_order_names_every_module_that_lists_claims_once_and_nothing_else() -> None:
    folder = Path(registry.__file__).parent
    homes = {registry.home(claim).relative_to(folder).with_suffix("").parts[1:] for claim in registry.CLAIMS}
    assert len(set(registry.ORDER)) == len(registry.ORDER)
    assert {name for home in homes for name in (home[0], ".".join(home)) if name in registry.ORDER} == {*registry.ORDER}
    for home in homes:
        assert sum(name in registry.ORDER for name in {home[0], ".".join(home)}) == 1


def test_what_papers_say_comes_before_what_we_add() -> None:
    folder = Path(registry.__file__).parent
    for claim in registry.CLAIMS:
        assert claim.part == registry.home(claim).relative_to(folder).parts[0], claim.id
    parts = [claim.part for claim in registry.CLAIMS]
    assert parts == sorted(parts, key=[*PARTS].index)


def test_every_claim_names_its_place_in_the_paper() -> None:
    for claim in registry.CLAIMS:
        assert claim.source.paper and claim.source.arxiv and claim.source.place, claim.id
