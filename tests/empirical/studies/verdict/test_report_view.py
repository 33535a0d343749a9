"""The verdict view shows the stored judgement; absence and damage are named, and the page is still written."""

import pytest

from lengthgen.empirical.studies.verdict import WEAK
from lengthgen.empirical.studies.verdict.report_view import view
from lengthgen.empirical.studies.verdict.rule_figures import RANDOM_TASKS
from lengthgen.empirical.studies.verdict.stored import judged
from lengthgen.paper_figs.sources import Sources
from tests.empirical.studies.verdict.made_up_verdict import verdict_sources


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_evidence_stands_beside_the_rule_that_it_speaks_for(tmp_path):
    sources, _ = verdict_sources(tmp_path)
    data = view(sources)
    _, judgement = judged(sources, RANDOM_TASKS)
    assert not data.missing and not data.broken
    assert {pair["part"] for pair in data.content["pairs"]} == {"all", "amendment", "judgement"}
    strong = [pair for pair in judgement["pairs"] if pair["second"] not in WEAK]
    assert len(strong) < len(judgement["pairs"])
    for shown, stored in zip(data.content["pairs"], strong, strict=True):
        assert shown["evidence"] == pytest.approx([stored["against_second"], stored["against_first"]], rel=1e-5)
        if shown["better"] != "undecided":
            favoured = shown["evidence"][shown["better"] == shown["second"]]
            assert favoured == max(shown["evidence"]), "the better rule has the larger e-value"
    assert any(pair["better"] != "undecided" for pair in data.content["pairs"])
    counted = {row["name"]: sum(row[key] for key in ("right_yes", "wrong_yes")) for row in data.content["rules"]}
    assert counted["always-no"] == 0 and data.content["frozen"] == judgement["frozen"]


def test_without_runs_the_command_that_trains_them_is_named(tmp_path):
    data = view(Sources(out=tmp_path / "none", profile="smoke", width=7.0))
    [(_, command)] = data.missing
    assert data.content == {} and command.startswith("lengthgen verdict random-tasks --out ") and "--train" in command
