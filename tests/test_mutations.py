"""The mutation test of the ledger: what it draws is code of the encodings, and a wrong formula is noticed."""

import ast
import multiprocessing

import pytest

from bench import mutations

COUNT = 60


@pytest.fixture(scope="module")
def drawn() -> list[mutations.Mutation]:
    return mutations.mutations(COUNT, seed=0)


def test_mutations_are_different_and_all_compile(drawn: list[mutations.Mutation]) -> None:
    assert len(set(drawn)) == len(drawn) == COUNT
    for mutation in drawn:
        ast.parse(mutation.source())


def test_one_token_changes(drawn: list[mutations.Mutation]) -> None:
    for mutation in drawn:
        before = mutations._path(mutation.module).read_text().splitlines()
        after = mutation.source().splitlines()
        (changed,) = [line for line, (one, other) in enumerate(zip(before, after, strict=True), 1) if one != other]
        assert changed == mutation.line
        assert before[changed - 1][mutation.column :].startswith(mutation.was)
        assert after[changed - 1][mutation.column :].startswith(mutation.becomes)


def test_a_sample_is_the_same_for_the_same_seed(drawn: list[mutations.Mutation]) -> None:
    assert mutations.mutations(5, seed=0) == drawn[:5] != mutations.mutations(5, seed=4)


def test_a_reversed_bias_is_noticed() -> None:
    text = mutations._path("theory.encodings.alibi").read_text()
    (line,) = [
        number for number, code in enumerate(text.splitlines(), 1) if code.startswith("    return -slope * (query")
    ]
    code = text.splitlines()[line - 1]
    mutation = mutations.Mutation(
        module="theory.encodings.alibi", line=line, column=code.index("- key"), was="-", becomes="+", text=code.strip()
    )
    # In a process of its own, as the mutated module must not stay.
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(mutations.noticed_by, (mutation,))
