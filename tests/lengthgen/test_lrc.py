"""`lengthgen lrc`: what it answers, in JSON and as a table, and one line for every mistake."""

import json

import numpy as np
import pytest

from tests.lengthgen.refusal import refused


def test_the_contract_of_the_worked_cases(answer):
    for pattern, values, yes in (("1", [1, 1], True), ("0.5**(j-i)", [4, 8], False), ("1/(i-9)", [4, 8], False)):
        output = answer("lrc", pattern, "--scales", "4,8")
        assert list(output["lrc"].values()) == values
        assert output["generalizes"] is yes
        assert (output["from_scale"], output["to_scale"], output["label"]) == (4, 8, "F")


def test_growth_is_answered_with_its_reason(answer):
    output = answer("lrc", "min(j - i, 3)", "--scales", "1-10")
    assert output["constant_from"] == 4
    assert output["structure"] == "a function of the distance j - i (Toeplitz)"
    growth = output["growth"]
    assert (growth["kind"], growth["low"], growth["high"], growth["from_scale"]) == ("eventually constant", 3, 3, 4)
    assert growth["strength"] == "general"
    assert answer("lrc", "i * j")["growth"]["kind"] == "unbounded"


def test_a_missing_value_beyond_the_scales_is_named_in_the_growth(answer):
    growth = answer("lrc", "1/(i-9)", "--scales", "4,8")["growth"]
    assert (growth["kind"], growth["undefined_from"], growth["undefined_at"]) == ("undefined", 9, [9, 9])
    assert "division by zero at i=9" in growth["reason"]


def test_irrational_entries_and_free_parameters_stay_exact(answer):
    assert answer("lrc", "sqrt(2)*sqrt(3) if i == j else sqrt(6)")["lrc"] == {"4": 1, "8": 1}
    output = answer("lrc", "a if j - i < 3 else b", "--parameters", "a, b", "--explain")
    assert output["lrc"] == {"4": 2, "8": 2}
    assert [level["value"] for level in output["ideal"]] == ["a", "b"]
    constant = output["relations"][0]
    assert constant["relation"] == "constant"
    assert constant["learned"]["learned_there"] == "9*a/10 + b/10"
    assert constant["learned"]["largest_error"] is None


def test_an_undecided_lrc_is_never_a_number(answer):
    output = answer("lrc", "sin(1)**2 + cos(1)**2 if i < j else exp(pi*sqrt(163)) if j == 1 else 1", "--scales", "1,3")
    assert output["lrc"] == {"1": 1, "3": 2}
    unclear = "log(exp(a)) if i < j else a"
    output = answer("lrc", unclear, "--parameters", "a", "--scales", "1,3")
    low, high = output["bounds"]["3"]
    assert output["lrc"]["3"] == (low if low == high else None)


def test_a_family_that_depends_on_the_scale_wants_the_hint(answer):
    output = answer("lrc", "1 if i == ceil(n/2) else 0", "--explain")
    assert (output["scale_hint"], output["generalizes"], output["lrc"]) == (True, True, {"4": 1, "8": 1})
    verdicts = {row["relation"]: row["generalizes"] for row in output["relations"]}
    assert verdicts.pop("level-sets") is True
    assert not any(verdicts.values())


def test_an_explanation_names_the_pairs_that_break_a_relation(answer):
    output = answer("lrc", "1", "--explain")
    by_name = {row["relation"]: row for row in output["relations"]}
    absolute = by_name["absolute"]
    assert (absolute["generalizes"], absolute["unseen"], absolute["conflict"]) == (False, [1, 5], None)
    assert absolute["learned"] == {
        "wrong_cells": 26, "cells": 36, "largest_error": 1.0,
        "first_wrong": [1, 5], "entry_there": "1", "learned_there": "0",
    }  # fmt: skip
    assert by_name["clipped-0"]["limits"] == [0, 1, 2, 3]


def test_vector_tokens(answer):
    output = answer("lrc", "[[1, min(j - i, 2)], [0, 1]]", "--explain")
    assert output["lrc"] == {"4": 3, "8": 3}
    assert [level["value"] for level in output["ideal"]] == ["[1, 0, 0, 1]", "[1, 1, 0, 1]", "[1, 2, 0, 1]"]


def test_a_table_for_people(run):
    code, out, _ = run("lrc", "0.5**(j-i)", "--explain")
    assert code == 0
    for words in (
        "No: no encoding that learns one value per label makes it generalize from scale 4 to 8",
        "grows without bound",
        "unbounded",
        "proved for all scales",
        "T5 buckets",
        "1/128",
    ):
        assert words in " ".join(out.split())


YES = "Yes: some position encoding makes it generalize from scale 4 to 8, since LRC stays 1"
NO = "No: no encoding that learns one value per label makes it generalize from scale 4 to 8, since LRC is"
FREE = "an encoding whose scores follow one law is not excluded [F]"


@pytest.mark.parametrize(
    ("arguments", "verdict"),
    [
        (["1"], f"{YES} [F]"),
        (["1", "--explain"], f"{YES}; of the standard ones constant, "),
        (["i * j"], f"{NO} 9 at scale 4 and 30 at scale 8 and grows without bound; {FREE}"),
        (["1/(i-9)"], f"{NO} 4 at scale 4 and 8 at scale 8; {FREE}"),
        (
            ["--", "-(j-i)/2"],
            f"{NO} 3 at scale 4 and 7 at scale 8 and grows without bound; as a bias, these have it at every scale by "
            "their law: alibi (m = 1/2), kerple-power (r1 = 1/2, p = 1), ",
        ),
        (
            ["1/j"],
            f"{NO} 4 at scale 4 and 8 at scale 8 and grows without bound; as a bias, softmax cancels it: all keys of a "
            "query have one entry, so NoPE has the same weights [F]",
        ),
        (["1 if i == ceil(n/2) else 0"], "Yes: some position encoding with scale hint makes it generalize"),
        (
            ["j - i", "--scales", "3"],
            "LRC is 2 at scale 3; a second scale, as in --scales 3,6, asks what generalizes [F]",
        ),
    ],
)
def test_the_verdict_is_the_first_sentence(run, arguments, verdict):
    code, out, _ = run("lrc", *arguments)
    assert code == 0
    assert " ".join(out.split()).startswith(verdict)


def test_the_ideal_relation_is_none_of_the_standard_ones(run):
    for pattern in ("1", "1 if i == ceil(n/2) else 0"):
        assert "level-sets" not in run("lrc", pattern, "--explain")[1].partition("[F]")[0]


ONE_LAW = {"alibi", "kerple-power", "grape-additive", "fox", "fox-bias-only", "fox-fixed", "cable"}
"""Encodings that have every linear bias with a negative slope; BAM has it but for a number of each query."""


@pytest.mark.parametrize(
    ("pattern", "exact", "by_weights"),
    [
        ("-(j-i)/2", ONE_LAW, {"bam"}),
        ("-max(j - i, 0) * 3", ONE_LAW, {"bam"}),
        ("i/7 + sqrt(j)", set(), {*ONE_LAW, "bam"}),
        ("-(j-i)**2/3", {"kerple-power"}, set()),
        ("-(j-i)**3", set(), set()),  # beyond the exponents of Kerple
        ("-2*log(1 + (j-i)/3)", {"kerple-log"}, set()),
        ("(j-i)/2", set(), set()),  # rises with the distance
        ("i*j", set(), set()),
        ("min(j-i, 3)", set(), set()),
        ("1 if j - i < 3 else 0", set(), set()),
    ],
)
def test_the_laws_of_the_catalogue_decide_who_has_a_bias(answer, pattern, exact, by_weights):
    output = answer("lrc", f"({pattern})")
    named = {
        weights_only: {law["encoding"] for law in output["laws"] if law["weights_only"] is weights_only}
        for weights_only in (False, True)
    }
    assert named == {False: exact, True: by_weights}
    assert not output["softmax_cancels"]


def test_softmax_cancels_what_depends_on_the_query_alone(answer):
    for pattern, cancels in (("1/j", True), ("3", True), ("floor(j/2)", True), ("1/i", False), ("[[j]]", True),
                             ("[[1, j], [0, 1]]", False)):  # fmt: skip
        assert answer("lrc", pattern)["softmax_cancels"] is cancels


def test_a_formula_that_begins_with_a_minus_is_told_how_to_be_written(run):
    says = 'for a formula, write: lengthgen lrc --scales 4,8 -- "-(j-i)/2"'
    refused(run("lrc", "-(j-i)/2", "--scales", "4,8"), says)
    refused(run("lrc", "-j"), 'write: lengthgen lrc -- "-j"')
    assert "write:" not in run("lrc", "j", "--scale", "4,8")[2]
    assert "write:" not in run("src", "-x")[2]


def test_arrays_and_the_users_own_code(answer, tmp_path):
    np.save(tmp_path / "a.npy", np.triu(np.arange(36).reshape(6, 6) % 4))
    assert answer("lrc", str(tmp_path / "a.npy"), "--scales", "3,6")["lrc"] == {"3": 3, "6": 3}
    (tmp_path / "mine.py").write_text(
        "import numpy as np\n"
        "from lengthgen.theory.relation import clipped_relative\n"
        "def window(i, j): return 1 if j - i < 3 else 0\n"
        "def middle(i, j, n): return 1 if 2 * i == n else 0\n"
        "rows = [[1, 2], [0, 1]]\n"
        "relation = clipped_relative(2)\n"
    )
    for name, lrc in (("window", 1), ("middle", 1), ("relation", 2)):
        assert answer("lrc", f"{tmp_path / 'mine.py'}:{name}", "--scales", "2,2" if name == "rows" else "2")["lrc"] == {
            "2": lrc
        }
    assert answer("lrc", f"{tmp_path / 'mine.py'}:rows", "--scales", "1,2")["lrc"] == {"1": 1, "2": 2}


def test_long_scales_of_a_function_of_the_distance(answer):
    assert answer("lrc", "0.5**(j-i)", "--scales", "4,1000000")["lrc"] == {"4": 4, "1000000": 1_000_000}
    assert answer("lrc", "(j-i) % 7", "--scales", "4,1000000")["lrc"] == {"4": 3, "1000000": 6}


MISTAKES = {
    "division by zero": (("1/(i-2)",), "division by zero at i=2, j=2"),
    "not a whole number": (("gcd(i/2, 3)",), "gcd takes whole numbers, not 1/2 and 3 at i=1, j=1"),
    "complex": (("sqrt(i-3)",), "(-2)**(1/2) is not real at i=1, j=1"),
    "logarithm of zero": (("log(i-1)",), "at i=1, j=1"),
    "depends on a parameter": (("1 if a > 0 else 0", "--parameters", "a"), "depends on a parameter"),
    "bad parameter": (("a", "--parameters", "min"), "'min' cannot name a parameter"),
    "descending scales": (("1", "--scales", "8,4"), "must ascend"),
    "too large": (("i*j", "--scales", "4,100000"), "too large"),
    "below the diagonal": (("HERE/full.npy",), r"A(2, 1) is not 0 although i > j"),
    "array too small": (("HERE/small.npy", "--scales", "1,9"), "scale must be 1 to 2"),
    "no such name": (("HERE/mine.py:nothing",), "defines no 'nothing'"),
    "no pattern": (("HERE/mine.py:text",), "is no pattern"),
    "a file that fails": (("HERE/broken.py:f",), "fails"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_gets_one_line_and_exit_code_two(run, tmp_path, name):
    for file, array in {"full": np.ones((2, 2)), "small": np.eye(2)}.items():
        np.save(tmp_path / f"{file}.npy", array)
    (tmp_path / "mine.py").write_text("text = 'i'\n")
    (tmp_path / "broken.py").write_text("def f(i, j: return i\n")
    arguments, says = MISTAKES[name]
    refused(run("lrc", *(argument.replace("HERE", str(tmp_path)) for argument in arguments)), says)


def test_json_and_table_agree(run):
    _, table, _ = run("lrc", "j - i", "--scales", "2,5")
    _, text, _ = run("lrc", "j - i", "--scales", "2,5", "--json")
    for value in json.loads(text)["lrc"].values():
        assert f"   {value} " in table


def test_lrc_within_an_error(answer, run):
    output = answer("lrc", "0.5**(j-i)", "--scales", "4,8,100", "--within", "0.01")
    growth = output["within"].pop("growth")
    assert (growth["kind"], growth["high"], growth["from_scale"]) == ("eventually constant", 6, 6)
    assert output["within"] == {
        "epsilon": "1/100", "lrc": {"4": 4, "8": 6, "100": 6}, "bounds": {"4": [4, 4], "8": [6, 6], "100": [6, 6]},
    }  # fmt: skip
    assert "within" not in answer("lrc", "1")
    table = run("lrc", "j - i", "--within", "1e-2")[1]
    assert "within 1/100, over all scales: unbounded" in table
    for error in ("-1", "x", "1/0", "nan", "inf", "1e999999999", "", "0.01 "):
        refused(run("lrc", "j - i", "--within", error), "--within")
    code, _, err = run("lrc", "j - i", "--scales", "1000000", "--within", "1")
    assert (code, err) == (2, "error: scale 1000000 is too large: all entries are compared, so take at most 5000\n")
