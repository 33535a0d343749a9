"""Results of the public interface: `print` shows the answer in at most ten lines, and notebooks show a table."""

from typing import Any

import pytest

import lengthgen
from lengthgen import (
    ENCODINGS,
    Law,
    analyse,
    certificate,
    check_certificate,
    decide_c_rasp,
    decide_law,
    encoding_named,
    growth,
    induced_complexity,
    judge_standard_encodings,
    learn,
    level_sets,
    levels_of,
    load_task,
    lrc_profile,
    minimal_automaton,
    parse_encodings,
    pattern_from_formula,
    predict,
    relative,
    run_claims,
    select_claims,
    src,
    traces_up_to,
)
from lengthgen.circuits.tasks import TaskSpec

WINDOW = pattern_from_formula("2 if i == j else 1 if j - i == 1 else 0")


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    """Results of public functions by the answer that their short view must have."""
    addition, parity = load_task("addition"), load_task("parity")
    traces = traces_up_to(parity, 7)
    least = src(parity, traces, 2)
    ape, rope = parse_encodings("ape,rope")
    analysis = analyse(parity, "aligned", largest_scale=10)
    levels = levels_of(WINDOW, 12)
    checked = certificate(parity, least, spec=TaskSpec(name="parity"))
    return {
        "parity: symbols 0 1 = $": parity,
        "addition: symbols": addition,
        "scale 7: 128 inputs of 16 positions, all prompts": traces[-1],
        "SRC 1 at scales 1-7; arity 2, exact": least,
        "parity: 1 operator of arity 2 up to scale 7": least.circuit,
        "SRC 1 at scales 1-10; arity 2, exact": analysis,
        "ape, coverage: breaks at scale 5": predict(analysis, ape, train=range(1, 5), test=range(1, 11)),
        "rope, coverage: generalizes": predict(analysis, rope, train=range(1, 5), test=range(1, 11)),
        "induced complexity 1 at scale 1, 2 at scale 2": induced_complexity(least.circuit, relative(), traces),
        "SRC(parity, 7) = 1": check_certificate(checked, parity, seed=0),
        "alibi: linear in the distance": encoding_named("alibi"),
        "holds=True": decide_law(encoding_named("alibi"), Law.RELATIVE),
        "Growth(eventually constant, at least 2, at most 2: ": growth(WINDOW),
        "{4: 2, 1000: 2}": lrc_profile(WINDOW, [4, 1000]),
        "3 level sets, 78 cells": levels,
        "right at all 78 cells": learn(levels, relative(), train=4),
        "relative, generalizes: ": judge_standard_encodings(level_sets(WINDOW, 8), train=4, test=8),
        "Relation(relative)": relative(),
        "Pattern(2 if i == j": WINDOW,
        "2 states over the symbols a b": minimal_automaton("(ab)*"),
        "c_rasp=True": decide_c_rasp(minimal_automaton("(ab)*")),
        "493 claims:": select_claims(),
        "grape-5: The product": select_claims(["grape-5"])[0],
        "2 claims, 1 verified, 1 corrected:": run_claims(select_claims(["grape-5", "rope-1"])),
        "grape-5 corrected, formal: as printed: exp(": run_claims(select_claims(["grape-5"]))[0],
        "general, 4 facts": run_claims(select_claims(["grape-5"]))[0].evidence,
    }


def test_the_short_view_of_every_result_says_the_answer_in_at_most_ten_lines(results) -> None:
    for says, result in results.items():
        text = str(result)
        assert says in text == repr(result)
        assert len(text.splitlines()) <= 10 and len(text) <= 1000, says


def test_every_encoding_is_one_line() -> None:
    assert all(len(repr(encoding)) <= 100 for encoding in ENCODINGS.values())


def test_notebooks_show_a_table_that_says_the_answer_too(results) -> None:
    shown = {says: result._repr_html_() for says, result in results.items() if hasattr(result, "_repr_html_")}
    assert len(shown) > 15
    assert "falsifiers" in shown["grape-5 corrected, formal: as printed: exp("]
    assert shown["493 claims:"].count("<tr>") == 493
    assert ">literal</th>" in shown["ape, coverage: breaks at scale 5"]
    assert "breaks at scale 5" in shown["ape, coverage: breaks at scale 5"]


def test_a_name_of_a_user_is_not_read_as_markup() -> None:
    task = lengthgen.Task(name="<b>", alphabet=("0", "<i>"), prompt=lambda n: [("0",)] * n, generate=lambda x: ["<i>"])
    assert "<b></b>" not in task._repr_html_() and "&lt;b&gt;: symbols 0 &lt;i&gt;" in task._repr_html_()
