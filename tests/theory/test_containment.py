"""Containment of encodings: the whole table, its page, and heads that are compared as numbers."""

from collections.abc import Callable
from dataclasses import replace
from itertools import permutations, product
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

from lengthgen.proofs_checks.recovery_graph import NON_EDGES
from lengthgen.theory import containment
from lengthgen.theory.containment import ALL, CONSTRUCTIONS, OPEN, PROPERTIES, RECORDS, compare, containments, decided
from lengthgen.theory.encodings import biases
from lengthgen.theory.encodings.catalogue import named
from lengthgen.theory.encodings.encoding import LENGTH, Encoding, Family, Parameter, Recovery
from lengthgen.theory.scenes import Heads, visible_value

PAGE = Path(__file__).parents[2] / "docs/theory/containment.md"


def _contains(by: str, of: str) -> bool:
    return by == of or bool(containments()[by, of].holds)


def test_every_ordered_pair_has_an_answer_and_few_are_open():
    answers = containments()
    assert len(ALL) == 47
    assert set(answers) == set(permutations(ALL, 2))
    counts = [sum(answer.holds is value for answer in answers.values()) for value in (True, False, None)]
    assert counts == [120, 2_032, 10]
    assert f"**{counts[0]} are contained, {counts[1]:,} are not, and {counts[2]} are open.**" in PAGE.read_text("utf-8")


def test_containment_is_transitive():
    for by, of, last in permutations(ALL, 3):
        if _contains(by, of) and _contains(of, last):
            assert _contains(by, last)


def test_the_page_lists_what_each_contains():
    classes: list[list[str]] = []
    for name in ALL:
        home = next((each for each in classes if _contains(each[0], name) and _contains(name, each[0])), None)
        classes.append([name]) if home is None else home.append(name)
    lines = PAGE.read_text("utf-8").splitlines()
    for members in classes:
        below = [each[0] for each in classes if each is not members and _contains(members[0], each[0])]
        direct = [name for name in below if not any(other != name and _contains(other, name) for other in below)]
        unknown = [name for name in ALL if (members[0], name) in OPEN]
        assert f"| {' = '.join(members)} | {', '.join(direct) or '-'} | {', '.join(unknown) or '-'} |" in lines


def test_pairs_that_a_claim_of_its_own_refutes_are_not_contained():
    """But for one: W_q and W_k may leave a gate of GRAPE-A nothing to read."""
    pairs = [(edge.by, edge.of) for edge in NON_EDGES if edge.of in ALL and edge.by != "grape-gated"]
    assert len(pairs) >= 9
    assert _contains("grape-gated", "alibi")
    assert not any(_contains(*pair) for pair in pairs)


def test_a_property_that_refutes_a_head_is_a_contradiction():
    (path,) = (each for each in PROPERTIES if each.name == "path")
    wrong = replace(path, kept_by=(*path.kept_by, "cable-log"), broken_by=("nope",))
    with pytest.raises(containment.Contradiction, match="contains nope"):
        decided(CONSTRUCTIONS, (wrong,))


def test_no_property_tells_an_encoding_from_what_it_contains():
    for each in PROPERTIES:
        for by, of in product(each.kept_by, each.broken_by):
            assert by == of or not _contains(by, of), (each.name, by, of)
    (blind,) = (each for each in PROPERTIES if each.name == "blind query")
    assert visible_value(blind.equation(Heads(encoding=RECORDS["rope"])), RECORDS["rope"]) is not None
    assert blind.equation(Heads(encoding=RECORDS["alibi"])).expand() == 0


def test_codes_are_arbitrary_vectors_where_all_heads_are_meant():
    """W_q and W_k act on codes as well, so a property of the codes themselves is none of the heads."""
    heads = (Heads(encoding=RECORDS["sinusoidal"], any_codes=every) for every in (False, True))
    own, every = (each.preference("0 0", 1, (0, 1)) for each in heads)
    theta = sp.Symbol("theta", positive=True)
    assert sp.simplify(own - (sp.cos(theta) - 1)) == 0
    assert len(every.free_symbols) == 6


RATE = sp.Symbol("c", positive=True)
POWER = sp.Symbol("p", positive=True)
ANGLE = sp.Symbol("k", integer=True)
OF_TOKENS = sp.IndexedBase("g", real=True)


def _own(name: str, bias: Callable[[sp.Expr, sp.Expr], sp.Expr], *parameters: Parameter, **others: Any) -> Encoding:
    return Encoding(name=name, title=name, bias=lambda query, key, _: bias(query, key), parameters=parameters, **others)


def test_own_encodings_are_compared_as_far_as_laws_and_equations_go():
    crossed = _own("crossed", lambda query, key: -RATE * query * key)
    answer = compare(named("alibi"), crossed)
    assert answer.holds is False and "common shift" in answer.reason
    assert compare(crossed, named("rope")).holds is False
    assert compare(crossed, named("alibi")).holds is None


def test_an_own_encoding_of_a_registered_name_is_not_taken_for_it():
    nothing = _own("alibi", lambda query, key: sp.S.Zero)
    assert compare(named("fox"), nothing).holds is None
    assert compare(nothing, named("rope")).holds is False


def test_a_special_case_outside_the_domain_is_none():
    reaching = _own(
        "reaching",
        lambda query, key: -RATE * (query - key),
        Parameter(RATE, "rate"),
        recovers=(Recovery("nope", {RATE: sp.S.Zero}),),
    )
    assert compare(reaching, named("nope")).holds is None
    also = replace(reaching, recovers=(Recovery("alibi", {RATE: biases.ALIBI_SLOPE}),))
    assert compare(also, named("alibi")).holds is True


@pytest.mark.parametrize(
    ("mine", "general"),
    [
        (_own("line", lambda j, i: -RATE * (j - i) ** POWER, Parameter(POWER, "", domain=sp.FiniteSet(1))), "alibi"),
        (
            _own(
                "turn",
                lambda j, i: sp.cos(sp.pi * ANGLE * (j - i) / 2),
                Parameter(ANGLE, "", domain=sp.FiniteSet(4, 8)),
            ),
            "nope",
        ),
        (_own("of keys", lambda j, i: OF_TOKENS[i], Parameter(OF_TOKENS, "", family=Family.TOKENS)), "ape"),
        (_own("next", lambda j, i: OF_TOKENS[i + 1], Parameter(OF_TOKENS, "", family=Family.TOKENS)), "nope"),
        (_own("last", lambda j, i: OF_TOKENS[i - 1], Parameter(OF_TOKENS, "", family=Family.TOKENS)), "nope"),
        (_own("table of 1", lambda j, i: OF_TOKENS[j - i], Parameter(OF_TOKENS, "", domain=sp.FiniteSet(1))), "nope"),
        (_own("by length", lambda j, i: RATE * LENGTH, Parameter(RATE, "")), "nope"),
        (_own("near", lambda j, i: -RATE * sp.log(1 + j - i), Parameter(RATE, ""), window=sp.Integer(2)), "alibi"),
        (_own("short", lambda j, i: -RATE * sp.Min(j - i, 3), Parameter(RATE, ""), limit=sp.Integer(4)), "alibi"),
        (_own("so far", lambda j, i: OF_TOKENS[i], Parameter(OF_TOKENS, "", family=Family.PREFIX)), "nope"),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_no_head_of_an_own_encoding_is_made_up(mine, general):
    """Values stay in their domains, and a function of tokens need not have the values that an equation would break."""
    assert compare(named(general), mine).holds is None


@pytest.mark.parametrize(("tokens", "hops"), [((0, 1), 1), ((1, 2), 2), ((3, 6), 4)])
def test_hops_are_those_of_a_tree(tokens, hops):
    graph = RECORDS["graph-alibi"]
    names = " ".join("0" for _ in range(7))
    score = Heads(encoding=graph).score(names, tokens[1], tokens[0])
    slope = graph.parameters[0].symbol
    assert int(visible_value(-score / slope, graph)) == hops
