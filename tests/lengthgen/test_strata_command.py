"""`lengthgen strata`: random questions on which two theories disagree."""

import pytest

from tests.lengthgen.refusal import refused


def test_strata_are_listed_with_their_cells_and_costs(answer, run):
    arguments = ("strata", "--questions", "12", "--per-stratum", "1", "--seed", "0")
    got = answer(*arguments)
    assert (got["seed"], got["questions"], got["first"], got["second"]) == (0, 12, "src-coverage", "k-sparse")
    assert got["strata"] and all(stratum["seconds_per_cell"] > 0 for stratum in got["strata"])
    code, table, errors = run(*arguments)
    assert (code, errors) == (0, "") and got["strata"][0]["cells"][0]["name"] in table.replace("\n", "")
    assert got["frozen"] in table


@pytest.mark.parametrize(("arguments", "hint"), [
    (["--first", "src-coverag"], "did you mean src-coverage?"),
    (["--second", "src-coverage"], "does not disagree with itself"),
])  # fmt: skip
def test_theories_that_cannot_disagree_are_refused(run, arguments, hint):
    refused(run("strata", *arguments), hint)


@pytest.mark.parametrize("name", ["random-language-9-2-0-0", "random-language-2-9-0-0", "random-language-2-2-0"])
def test_a_random_language_that_does_not_exist_is_refused(run, name):
    refused(run("src", name, "--scales", "1-2"), "random-language-STATES-SYMBOLS-SEED-INDEX")
