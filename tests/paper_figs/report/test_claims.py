"""Claims on the report page: settled claims have the results of the ledger, and the others are shown as open."""

import json

import pytest

from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.infrastructure.files import write_sealed_json
from lengthgen.paper_figs.report.claim_rows import CACHE, NOT_RUN, RUNS, STORED, claims_data, stored_claims
from lengthgen.proofs_checks import ledger
from lengthgen.proofs_checks.registry import selection
from lengthgen.proofs_checks.report import as_json
from lengthgen.proofs_checks.runner import run_claim
from lengthgen.proofs_checks.trained import Runs
from tests.proofs_checks import stores, toys

ACCEPTED = as_json([run_claim(toys.CLAIMS["toy-accept"])])


class Steps:
    def step(self, name):
        pass


def toy(*names):
    return toys.selection(*names)


def stored(*results):
    return {claim["id"]: claim for claim in as_json(results)["claims"]}


def test_a_claim_settled_in_the_ledger_is_shown_with_its_result(tmp_path):
    [result] = ledger.run(toy("toy-refute"), cache=tmp_path, progress=lambda total: Steps())
    [shown] = claims_data(toy("toy-refute"), tmp_path, {})
    assert (shown["verdict"], shown["reason"], shown["origin"]) == ("refuted", "1 != 2", CACHE)
    assert shown["part"] == "own"
    assert shown["seconds"] == pytest.approx(result.seconds, rel=1e-5)
    assert shown["falsifiers"] == [
        [falsifier.name, falsifier.rejected, falsifier.reason] for falsifier in result.falsifiers
    ]


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
    stores.fill(tmp_path, "fig2", stores.by_encoding([]))
    chosen = selection(["fig4"], runs=Runs(out=tmp_path, profile="quick"))
    shown = claims_data(chosen, tmp_path / "cache", {})
    assert {entry["origin"] for entry in shown} == {RUNS}
    assert [entry["verdict"] for entry in shown] == [str(run_claim(claim).verdict) for claim in chosen.claims]
    assert "verified" in {entry["verdict"] for entry in shown}


def test_without_claims_json_there_are_no_stored_claims(tmp_path):
    assert stored_claims(tmp_path / "claims.json", "again") == {}


@pytest.mark.parametrize(
    "answer",
    [1, {"claims": None}, {"claims": [{"id": "a"}]}, {"claims": [7]}, {"claims": {}}, ACCEPTED | {"claims": "none"}],
)
def test_a_claims_json_of_another_form_is_named(tmp_path, answer):
    path = tmp_path / "claims.json"
    write_sealed_json(path, {"key": "whatever", "answer": answer})
    with pytest.raises(LengthgenError, match=r"claims\.json holds no claims \(.*\): make it again with  again$"):
        stored_claims(path, "again")


def test_only_claims_that_reproduce_stored_are_read(tmp_path):
    path = tmp_path / "claims.json"
    write_sealed_json(path, {"key": "whatever", "answer": ACCEPTED})
    assert stored_claims(path, "again") == {"toy-accept": ACCEPTED["claims"][0]}
    for edited in (
        path.read_text().replace('"verified"', '"refuted"'),
        json.dumps({"key": "whatever", "answer": ACCEPTED}),  # as it was written before there were seals
        "[" * 200_000,
    ):
        path.write_text(edited)
        with pytest.raises(
            LengthgenError, match=r"claims\.json is not as it was written .*: make it again with  again"
        ):
            stored_claims(path, "again")


def test_texts_of_a_claim_are_bounded_and_on_one_line(tmp_path):
    path = tmp_path / "claims.json"
    changes = {"reason": "a\x1b[2J\nb" + "x" * 10**6, "facts": ["\u202e" * 10**5]}
    write_sealed_json(path, {"answer": {"claims": [ACCEPTED["claims"][0] | changes]}})
    [claim] = claims_data(toy("toy-accept"), tmp_path, stored_claims(path, "again"))
    assert claim["origin"] == STORED and claim["reason"].startswith("a\\x1b[2J bxxx")
    assert all(len(text) < 5_000 * 6 and text.isprintable() for text in (claim["reason"], *claim["facts"]))
