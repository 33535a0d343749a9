"""Claims on the page: what is settled is as the ledger settled it, and the rest is said to be open."""

import json

import pytest

from paper_figs.report.claims import CACHE, NOT_RUN, RUNS, STORED, claims_data, stored_claims
from proofs_checks import ledger
from proofs_checks.registry import selection
from proofs_checks.report import as_json
from proofs_checks.runner import run_claim
from proofs_checks.trained import Runs
from tests.proofs_checks import stores, toys


class Steps:
    def step(self, name):
        pass


def toy(*names):
    return toys.selection(*names)


def stored(*results):
    return {claim["id"]: claim for claim in as_json(results)["claims"]}


def test_what_the_ledger_settled_is_shown_as_it_settled_it(tmp_path):
    [result] = ledger.run(toy("toy-refute"), cache=tmp_path, progress=lambda total: Steps())
    [shown] = claims_data(toy("toy-refute"), tmp_path, {})
    assert (shown["verdict"], shown["reason"], shown["origin"]) == ("refuted", "1 != 2", CACHE)
    assert shown["seconds"] == pytest.approx(result.seconds, rel=1e-5)
    assert shown["falsifiers"] == [[one.name, one.rejected, one.reason] for one in result.falsifiers]


def test_nothing_is_run(tmp_path, monkeypatch):
    notes = tmp_path / "notes"
    monkeypatch.setenv(toys.NOTES, str(notes))
    [shown] = claims_data(toy("toy-accept"), tmp_path / "cache", {})
    assert (shown["verdict"], shown["strength"], shown["facts"], shown["seconds"]) == (NOT_RUN, "", [], None)
    assert not notes.exists()


def test_a_stored_claim_stands_for_one_that_is_not_settled_only_if_it_says_the_same(tmp_path):
    was = stored(run_claim(toys.CLAIMS["toy-accept"]))
    [shown] = claims_data(toy("toy-accept"), tmp_path, was)
    assert (shown["verdict"], shown["facts"], shown["origin"]) == ("verified", ["accepted"], STORED)
    for change in ({"statement": "another"}, {"latex": "y"}, {"falsifiers": []}):
        [shown] = claims_data(toy("toy-accept"), tmp_path, {"toy-accept": was["toy-accept"] | change})
        assert shown["verdict"] == NOT_RUN


def test_claims_on_runs_are_decided_by_the_runs(tmp_path):
    stores.fill(tmp_path, "fig4", lambda cell, seed: stores.fails if cell.encoding == "lbpe" else stores.solves)
    chosen = selection(["fig4"], runs=Runs(out=tmp_path, profile="quick"))
    shown = claims_data(chosen, tmp_path / "cache", {})
    assert {one["origin"] for one in shown} == {RUNS}
    assert [one["verdict"] for one in shown] == [str(run_claim(claim).verdict) for claim in chosen.claims]
    assert "verified" in {one["verdict"] for one in shown}


def test_no_claims_json_is_no_claims(tmp_path):
    assert stored_claims(tmp_path / "claims.json") == {}


@pytest.mark.parametrize("content", ["{", "[]", '{"answer": 1}', '{"answer": {"claims": [{"id": "a"}]}}'])
def test_a_damaged_claims_json_is_named(tmp_path, content):
    path = tmp_path / "claims.json"
    path.write_text(content)
    with pytest.raises(Exception, match=r"claims\.json") as error:
        stored_claims(path)
    assert type(error.value).__module__ == "theory.errors"


def test_what_reproduce_stored_is_read(tmp_path):
    path = tmp_path / "claims.json"
    answer = as_json([run_claim(toys.CLAIMS["toy-accept"])])
    path.write_text(json.dumps({"key": "whatever", "answer": answer}))
    assert stored_claims(path) == {"toy-accept": answer["claims"][0]}
