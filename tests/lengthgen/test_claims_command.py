"""`lengthgen claims`: the list fits a screen, and the page of one claim has all that is known of it."""

import json
import re

import pytest

from lengthgen.proofs_checks import registry
from tests.lengthgen.refusal import refused


@pytest.fixture(autouse=True)
def kept(tmp_path, monkeypatch):
    """Folder of results, of this test alone."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_a_claim_is_found_by_what_it_says(run):
    code, out, err = run("claims", "rope", "special", "case", "grape")
    assert (code, err) == (0, "")
    assert out.splitlines()[0].strip() == "6 claims"
    assert "recovery-grape-commuting-rope GRAPE-M, commuting planes is RoPE" in " ".join(out.split())


@pytest.mark.parametrize("words", [(), ("grape",), ("grpae", "rope", "2104.09864"), ("kerple", "wavelet", "parity")])
def test_a_list_fits_a_screen_and_says_how_many_are_left(run, words):
    code, out, _ = run("claims", *words)
    lines = out.splitlines()
    assert (code, len(lines) <= 25, max(map(len, lines)) <= 100) == (0, True, True)
    total, left = int(lines[0].split()[0]), re.search(r"(\d+) more: add words, or --details", out)
    ids = {claim.id for claim in registry.CLAIMS}
    assert sum(line.split()[0] in ids for line in lines) == total - (int(left[1]) if left else 0)
    complete = run("claims", *words, "--details")[1].splitlines()
    assert sum(line.split()[0] in ids for line in complete) == total
    assert bool(left) == (len(complete) > 25)


def test_a_misspelt_word_and_lacking_words_are_named(run):
    assert "no claim has 'grpae': did you mean grape?" in run("claims", "grpae", "rope")[1]
    assert "no claim has all the words" in run("claims", "kerple", "wavelet", "parity")[1]
    refused(run("claims", "zzz"), "no claim has the words 'zzz': `lengthgen claims` lists all")


def test_a_stored_verdict_is_listed_and_nothing_is_run(run, answer, claims_run_here):
    assert {claim["verdict"] for claim in answer("claims", "grape-5", "rope-1")["claims"]} == {None}
    run("verify", "grape-5")
    assert {claim["id"]: claim["verdict"] for claim in answer("claims", "grape-5", "rope-1")["claims"]} == {
        "grape-5": "corrected",
        "rope-1": None,
    }
    assert "corrected" in run("claims", "grape-5", "rope-1")[1]


def test_the_page_of_a_claim_has_what_is_right_what_is_printed_and_why_that_and_the_falsifiers_are_false(
    run, answer, claims_run_here
):
    code, out, _ = run("claims", "GRAPE-5")
    text = " ".join(out.split())
    claim = registry.find("grape-5")
    assert code == 0 and max(map(len, out.splitlines())) <= 100
    for part in (
        "is RoPE exactly.",
        "Group Representational Position Encoding https://arxiv.org/abs/2512.07805",
        "the paper prints L(e_{2l-1}, e_{2l}), which rotates the other way",
        "verdict corrected",
        "exp(n theta L) = I on the orthogonal complement",
        "grape_is_rope: forall m",
        "proofs_checks/formal/Grape.v",
        "proofs_checks/papers/grape/planes.py#rope_planes",
        *(f"{name}: false, exp(n theta L)" for name in claim.falsifiers),
        claim.latex,
    ):
        assert part in text, part
    page = answer("claims", "grape-5")
    [verified] = answer("verify", "grape-5")["claims"]
    assert {**page, "statement": 0, "seconds": 0} == {**page, **verified, "statement": 0, "seconds": 0}


def test_the_page_of_a_claim_is_not_that_of_one_whose_id_goes_on(answer, claims_run_here):
    assert answer("claims", "alibi-7")["id"] == "alibi-7"


def test_the_page_of_a_claim_on_runs_says_what_is_missing(run):
    code, out, _ = run("claims", "fig4-hint")
    assert code == 0 and "unsettled: " in out


def test_several_ids_are_a_list(answer):
    assert {claim["id"] for claim in json.loads(json.dumps(answer("claims", "fox-1", "rope-1")))["claims"]} == {
        "fox-1",
        "rope-1",
    }
