"""`lengthgen report` as a user calls it, on folders with different content."""

import json
import os
import re
import sys
from functools import partial

import pytest

from lengthgen.circuits.encoding_spec import EncodingSpec
from lengthgen.circuits.tasks import TaskSpec
from lengthgen.cli import main
from lengthgen.empirical.experiment.run import plan
from lengthgen.infrastructure.digests import HOME
from lengthgen.paper_figs.report.relations import QUICK, explore
from lengthgen.proofs_checks.registry import selection
from lengthgen.questions import report
from lengthgen.questions.experiment import TaskOptions, stored_predictions, task_experiment
from lengthgen.reproduce import PROTOCOL
from tests.paper_figs.report.examples import FLIP
from tests.paper_figs.report.test_page import Elements
from tests.pool_here import pool_here
from tests.proofs_checks import stores

CLAIMS = ("rope-1", "fig4-hint")
"""A claim on formulas and one on runs."""


def page_data(out):
    """Return the function that reads data of the written page by name."""
    return Elements((out / "report.html").read_bytes()).data


@pytest.fixture
def run(monkeypatch, capsys):
    """Call the command and return (exit code, stdout, stderr).

    It knows two tasks, up to scale 6, and two claims, and works on them in this process.
    """
    monkeypatch.setattr("lengthgen.terminal.progress.pool", pool_here)
    monkeypatch.setitem(report.BOUNDS, "quick", {"largest": (6,)})
    monkeypatch.setattr("lengthgen.proofs_checks.registry.selection", partial(selection, CLAIMS))
    monkeypatch.setattr(report, "TASKS", {name: report.TASKS[name] for name in ("copy", "parity-direct")})

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["lengthgen", "report", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        return ended.value.code, captured.out, captured.err

    return call


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """The user's cache for all tests here: of explored tasks, but of no claim, which others decide meanwhile."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def out(tmp_path, cache, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    return tmp_path


def test_the_report_is_written_where_nothing_is_stored(run, out):
    code, printed, _ = run("--out", str(out), "--json")
    answer = json.loads(printed)
    assert code == 0
    assert (out / "report.html").stat().st_size == answer["bytes"]
    assert {"count": 0, "of": "runs"} in answer["counts"]
    [verify] = [entry["made_by"] for entry in answer["missing"] if "claims" in entry["what"]]
    assert verify == "lengthgen verify"
    assert any(entry["made_by"].startswith("lengthgen conjecture fig1 ") for entry in answer["missing"])


def test_a_page_that_is_not_complete_names_what_is_left_and_a_complete_one_has_it(run, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    out = tmp_path / "out"
    code, printed, _ = run("--profile", "smoke", "--out", str(out), "--json")
    [left] = [entry for entry in json.loads(printed)["missing"] if "larger scales" in entry["what"]]
    assert code == 0
    assert left["what"] == "larger scales and predictions of all encodings for 6 of 6 tasks and formats"
    assert left["made_by"] == f"lengthgen report --complete --profile smoke --out {out}"
    first = (out / "report.html").read_bytes()
    assert run("--profile", "smoke", "--out", str(out))[0] == 0 and (out / "report.html").read_bytes() == first, (
        "and says the same again"
    )
    code, printed, _ = run("--complete", "--profile", "smoke", "--out", str(out), "--json")
    assert code == 0 and not [entry for entry in json.loads(printed)["missing"] if "larger scales" in entry["what"]]
    again = run("--profile", "smoke", "--out", str(out), "--json")[1]
    assert len(json.loads(again)["missing"]) == len(json.loads(printed)["missing"]), "what was computed stays"


def test_a_users_task_is_shown_without_its_file_and_comes_first(run, out, monkeypatch):
    """The file is gone when the page is made; `conjecture` stored all before training."""
    path = out / "my_task.py"
    path.write_text(FLIP)
    pairs = [("aligned", EncodingSpec(name=name)) for name in ("ipe", "rpe")]
    options = TaskOptions(train=range(1, 3), test=range(1, 5))
    own = task_experiment(f"{path}:flip", pairs, options, profile="smoke", out=out)
    predictions = stored_predictions(own)
    (out / "flip" / "circuits.json").write_text("{")
    assert stored_predictions(own) == predictions, "and a damaged file is made again"
    path.unlink()
    code, printed, _ = run("--profile", "smoke", "--out", str(out), "--json")
    data = page_data(out)
    [judge] = json.loads(printed)["unjudged"]
    assert code == 0 and judge["what"] == "flip"
    assert [task["task"] for task in data("tasks")["tasks"]] == ["flip", "copy", "parity-direct"]
    [shown] = [exploration for exploration in data("relations")["found"] if exploration["task"] == "flip"]
    assert (shown["src"], shown["train"]) == ([[1, 1]] * 4, [1, 2])
    assert {name for name, its in shown["encodings"].items() if "prediction" in its} == {"ipe", "rpe"}
    assert [len(instance["steps"]) for instance in shown["scales"]] == [1, 2, 3, 4]


def test_tasks_of_runs_that_no_trial_judges_come_first_with_the_file_that_the_user_has(run, out):
    from lengthgen.empirical.experiment.store import RunStore

    (out / "my_task.py").write_text(FLIP)
    for name, base in ((f"{out / 'my_task.py'}:flip", None), ("copy", 4)):
        pairs = [("aligned", EncodingSpec(name="ipe"))]
        options = TaskOptions(base=base, train=range(1, 3), test=range(1, 5))
        experiment = task_experiment(name, pairs, options, profile="smoke", out=out)
        run_of = next(iter(plan(experiment.protocol, count=1).values()))
        RunStore(out / "runs").note_progress(run_of, 1)
    (out / "my_task.py").unlink()
    assert run("--out", str(out))[0] == 0
    data = page_data(out)
    first, second, *_ = data("tasks")["tasks"]
    assert (first["task"], first["file"]) == ("flip", f"{out / 'my_task.py'}:flip")
    assert (second["task"], second["base"]) == ("copy base 4", 4) and second["layout"].startswith("`x1")
    explored = {exploration["task"] for exploration in data("relations")["found"]}
    assert "copy base 4" in explored and "flip" not in explored


def test_every_address_in_the_documents_leads_to_something():
    """Addresses of the page in the documents, after `reproduce`, which trains the protocol PROTOCOL."""
    documents = [*(HOME.parent / "docs").rglob("*.md"), HOME.parent / "README.md"]
    addresses = {
        address for path in documents for address in re.findall(r"report\.html#(\w+)/([\w.-]+)", path.read_text())
    }
    claims = {claim.id for claim in selection().claims}
    assert addresses
    for view, name in addresses:
        if view == "claims":
            assert name in claims
        elif view == "verdicts":
            assert name == PROTOCOL
        else:
            assert view in ("tasks", "relations")
            assert explore(TaskSpec(name=name), QUICK)["src"]


def test_a_second_report_of_the_same_is_the_same(run, out):
    assert run("--out", str(out))[0] == 0
    first = (out / "report.html").read_bytes()
    code, _, err = run("--out", str(out))
    assert (code, (out / "report.html").read_bytes()) == (0, first)
    assert "circuits and predictions" not in err


def test_a_corrupt_run_is_named_and_the_page_is_whole(run, out):
    store = stores.fill(out, "fig4", lambda cell, seed: stores.solves if seed == 0 else None)
    damaged, *others = sorted(stored.name for stored in store.contents())
    (store.root / damaged / "metrics.parquet").write_bytes(b"")
    code, _, err = run("--out", str(out))
    page = (out / "report.html").read_text()
    assert code == 1
    [line] = [line for line in err.splitlines() if line.startswith("error: ")]
    assert damaged in line and "metrics.parquet" in line
    assert damaged in page and page.rstrip().endswith("</html>")
    assert all(f'"name":"{name}"' in page for name in others)
    assert f'"name":"{damaged}"' not in page


def test_a_damaged_claims_json_is_named_and_the_page_is_written(run, out):
    (out / "claims.json").write_text("{")
    code, _, err = run("--out", str(out))
    assert (code, "error: claims.json: " in err, (out / "report.html").exists()) == (1, True, True)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_one_line(run, out):
    out.chmod(0o500)
    code, _, err = run("--out", str(out / "new"))
    assert code == 2 and err.startswith("error: ") and err.count("\n") == 1


def test_a_file_in_place_of_the_folder_is_one_line(run, tmp_path):
    (tmp_path / "out").write_text("")
    code, _, err = run("--out", str(tmp_path / "out"))
    assert code == 2 and err.startswith("error: ") and err.count("\n") == 1


def test_an_unknown_profile_is_one_line(run, out):
    code, _, err = run("--out", str(out), "--profile", "nonsense")
    assert code == 2 and "unknown profile 'nonsense'" in err
