"""`lengthgen verify`: what is asked for, what is shown, and exit codes that tell."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from lengthgen import reproduce
from lengthgen.cli import main
from lengthgen.infrastructure import cache
from lengthgen.proofs_checks import ledger, registry
from tests.lengthgen.forked import forked
from tests.lengthgen.refusal import refused
from tests.processes import alive, wait_until
from tests.proofs_checks import toys
from tests.proofs_checks.stores import by_encoding, fails, fill, put, runs_of

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def kept(tmp_path, monkeypatch) -> Path:
    """Folder of results, of this test alone."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "lengthgen" / "claims"


@pytest.fixture
def toy(monkeypatch):
    """Function that puts toys in place of the ledger's claims."""

    def put(*ids: str) -> None:
        monkeypatch.setattr(registry, "selection", lambda names, paper, runs: toys.selection(*ids))

    return put


def test_a_settled_claim_is_not_run_again_unless_asked(run, kept, claims_run_here):
    code, out, err = run("verify", "fox-1", "rope-1", "--json")
    assert (code, err.splitlines()[0]) == (0, "verify: 2 claims to do")
    assert [claim["id"] for claim in json.loads(out)["claims"]] == ["rope-1", "fox-1"]
    assert sorted(path.name for path in kept.iterdir()) == ["fox-1.json", "rope-1.json"]
    assert run("verify", "fox-1", "rope-1", "--json") == (0, out, "")
    code, again, err = run("verify", "fox-1", "--json", "--fresh")
    assert (code, err.splitlines()[0]) == (0, "verify: 1 claims to do")
    assert [claim["id"] for claim in json.loads(again)["claims"]] == ["fox-1"]


def test_a_damaged_result_is_named_and_found_again(run, kept, claims_run_here):
    run("verify", "fox-1")
    (kept / "fox-1.json").write_text("{")
    code, out, err = run("verify", "fox-1", "--json")
    assert (code, json.loads(out)["holds"]) == (0, True)
    assert err.splitlines()[0] == f"{kept / 'fox-1.json'} was damaged and is made again"


def test_claims_of_a_paper(answer, claims_run_here):
    output = answer("verify", "fox-1", "rope-1", "--paper", "2503.02130")
    assert [claim["id"] for claim in output["claims"]] == ["fox-1"]
    assert output == answer("verify", "fox-1", "rope-1", "--paper", "forgetting")


def test_only_some_strengths_are_shown_and_the_exit_code_is_about_all(run, toy, claims_run_here):
    toy("toy-0", "toy-refute", "toy-1")
    code, out, err = run("verify", "--json", "--strength", "general")
    assert (code, json.loads(out)) == (1, {"claims": [], "holds": False})
    assert err.splitlines()[-1] == "1 of 3 claims are not shown to hold: toy-refute"
    code, out, err = run("verify", "--json", "--strength", "numeric,general")
    assert code == 1
    assert [claim["id"] for claim in json.loads(out)["claims"]] == ["toy-0", "toy-1"]
    toy("toy-0", "toy-1")
    assert run("verify", "--json", "--strength", "general") == (0, '{\n  "claims": [],\n  "holds": true\n}\n', "")


def test_a_claim_that_passes_its_limit_does_not_hold_and_stops_nobody(run, toy):
    toy("toy-sleep", "toy-0")
    code, out, _ = run("verify", "--json", "--time-limit", "1")
    first, second = json.loads(out)["claims"]
    assert code == 1
    assert (first["verdict"], first["reason"]) == ("unsettled", "passed its time limit of 1 s")
    assert second["verdict"] == "verified"


def test_the_table_says_why(run, toy, claims_run_here):
    toy("toy-0", "toy-refute")
    code, out, _ = run("verify")
    assert code == 1
    assert "toy-0 [F]" in out
    assert "1 != 2" in out


def test_markdown_and_latex(run, toy, claims_run_here):
    toy("toy-0", "toy-refute")
    code, out, _ = run("verify", "--format", "markdown")
    assert (code, out.splitlines()[0]) == (1, "# Claims")
    code, out, _ = run("verify", "--format", "evidence")
    assert (code, out.splitlines()[0]) == (1, "# Evidence")
    code, out, _ = run("verify", "--format", "latex", "--strength", "numeric")
    assert (code, out.splitlines()[0][:17], out.splitlines()[-1]) == (1, r"\begin{longtable}", r"\end{longtable}")
    assert "toy-\\allowbreak{}refute" not in out


def test_claims_on_runs_are_asked_for_by_name_or_with_runs(run, monkeypatch, claims_run_here):
    def chosen(names, paper, runs):
        return full_selection(["rope-1", "fig4-hint"], paper=paper, runs=runs)

    full_selection = registry.selection
    monkeypatch.setattr(registry, "selection", chosen)
    code, out, _ = run("verify", "--json")
    output = json.loads(out)
    assert (code, output["holds"]) == (0, True)
    assert [claim["verdict"] for claim in output["claims"]] == ["verified", "unsettled"]
    code, out, err = run("verify", "fig4-hint", "--json")
    assert (code, json.loads(out)["holds"]) == (1, False)
    assert err.splitlines()[-1] == "1 of 2 claims are not shown to hold: fig4-hint"


def test_runs_decide_and_a_changed_run_decides_anew(run, kept, tmp_path, monkeypatch):
    monkeypatch.setattr("os.fsync", lambda handle: None)
    out = tmp_path / "out"
    store = fill(out, "fig4", by_encoding(["lbpe-sh"]))
    fill(out, "fig2", by_encoding([]))
    command = ("verify", "fig4", "--runs", str(out), "--json")
    code, printed, err = run(*command)
    with_hint, without = json.loads(printed)["claims"]
    assert (code, err) == (1, "1 of 2 claims are not shown to hold: fig4-no-hint\n")
    assert (with_hint["verdict"], with_hint["strength"]) == ("verified", "statistical")
    assert with_hint["facts"][-1].startswith("21 runs; SHA-256 of their sorted digests: ")
    assert (without["verdict"], without["on_runs"]) == ("refuted", True)
    assert run("verify", "fig4-hint", "--runs", str(out))[0] == 0
    lost = [runs for cell, runs in runs_of("fig4").items() if cell.encoding == "lbpe-sh"]
    for runs in lost[:2]:
        for run_ in runs[:4]:  # of seven
            store.remove(run_.id)
            put(store, run_, fails)
    code, printed, _ = run(*command)
    assert (code, json.loads(printed)["claims"][0]["verdict"]) == (1, "unsettled")
    (store.folder(lost[0][0]) / "metrics.parquet").write_bytes(b"")
    code, printed, _ = run(*command)
    assert f"{lost[0][0].id}/metrics.parquet is not as it was written" in json.loads(printed)["claims"][0]["reason"]
    assert not any(kept.iterdir())


def test_the_ledger_of_reproduce_follows_the_runs_in_its_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("os.fsync", lambda handle: None)
    full_selection = registry.selection
    monkeypatch.setattr(registry, "selection", lambda runs: full_selection(["fig4-hint", "fig4-no-hint"], runs=runs))

    def verdicts() -> tuple[bool, list[str]]:
        answer = reproduce._claims(tmp_path, "quick")
        assert json.loads((tmp_path / "claims.json").read_text())["answer"] == answer
        return answer["holds"], [claim["verdict"] for claim in answer["claims"]]

    assert verdicts() == (True, ["unsettled", "unsettled"])
    fill(tmp_path, "fig4", by_encoding(["lbpe-sh"]))
    fill(tmp_path, "fig2", by_encoding([]))
    assert verdicts() == (True, ["verified", "refuted"]), "what runs say is a finding"
    written = (tmp_path / "claims.json").stat().st_mtime_ns
    assert verdicts() == (True, ["verified", "refuted"])
    assert (tmp_path / "claims.json").stat().st_mtime_ns == written


MISTAKES = {
    "unknown claim": (("hopeful",), "did you mean hope"),
    "a paper by its name": (("Attention Is All",), "--paper 'Attention Is All' has its claims"),
    "arXiv id of no claim": (("2512.07806",), "did you mean 2512.07805"),
    "unknown paper": (("--paper", "grpae"), "did you mean grape"),
    "unknown strength": (("--strength", "genral"), "did you mean general"),
    "names and another paper": (("plaa", "--paper", "grape"), "none of the claims named plaa"),
    "no time": (("--time-limit", "0"), "must be a positive number of seconds, not 0"),
    "less than no time": (("--time-limit", "-1"), "must be a positive number of seconds, not -1"),
    "time that is none": (("--time-limit", "soon"), "--time-limit"),
    "unknown format": (("--format", "html"), "'table', 'markdown', 'evidence', 'latex'"),
    "a folder without runs": (("fig4", "--runs", "nowhere"), "there are no runs in nowhere: name the folder"),
    "unknown profile": (("fig4", "--profile", "qick"), "unknown profile 'qick': did you mean quick"),
    "two formats": (("--format", "latex", "--json"), "--json and --format latex exclude each other"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_gets_one_line_that_says_what(run, kept, name):
    arguments, says = MISTAKES[name]
    refused(run("verify", *arguments), says)
    assert not kept.exists()


def test_where_nothing_can_be_kept_the_claim_is_answered_and_one_line_says_so(run, monkeypatch, claims_run_here):
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    cache._tell_once.cache_clear()
    code, out, err = run("verify", "fox-1", "--json")
    assert code == 0 and json.loads(out)["holds"]
    assert err.count("set XDG_CACHE_HOME to another folder") == 1


@pytest.fixture
def copy(tmp_path) -> Path:
    """Copy of the project, to be changed."""
    for package in ("theory", "circuits", "empirical", "proofs_checks", "paper_figs", "lengthgen"):
        shutil.copytree(ROOT / package, tmp_path / "copy" / package, symlinks=True)
    return tmp_path / "copy"


SETTLE_HERE = """
from lengthgen.cli import main
from lengthgen.proofs_checks import ledger
from tests.lengthgen.settled_here import settled_here
ledger._run_in_parallel = settled_here
main()
"""


def verify(project: Path, *names: str) -> tuple[int, dict, str]:
    """The project's answer, in a process of its own; of this one it gets `tests`."""
    done = subprocess.run(
        [sys.executable, "-c", SETTLE_HERE, "verify", "--json", *names],
        cwd=project, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, json.loads(done.stdout), done.stderr


def test_a_wrong_formula_is_found_at_once_and_only_its_claims_are_run_again(copy, answer, claims_run_here):
    assert answer("verify", "kerple-1", "rope-1")["holds"]
    path = copy / "theory" / "encodings" / "rotary.py"
    path.write_text(
        f"{path.read_text()}\n\n_right = rotation\n\n\ndef rotation(angle):\n    return _right(angle) * 2\n"
    )
    code, after, err = verify(copy, "kerple-1", "rope-1")
    assert (code, after["holds"]) == (1, False)
    assert [claim["verdict"] for claim in after["claims"]] == ["verified", "refuted"]
    assert err.splitlines()[0] == "verify: 1 claims to do"


def test_ctrl_c_ends_in_one_line_and_the_next_time_goes_on(run, kept, tmp_path, monkeypatch):
    names = ("rope-1", "fox-1", "pola")

    def command():
        os.cpu_count = lambda: 1  # a worker takes seconds to start
        sys.argv = ["lengthgen", "verify", *names]
        main()

    with forked(command, tmp_path / "stdout", tmp_path / "stderr") as fork:
        fork.comes_to(lambda: len([*kept.glob("[!.]*")]) >= 2)
        os.killpg(fork.pid, signal.SIGINT)
        assert fork.ends() == 130
        wait_until(lambda: not alive(fork.pid))
    lines = fork.err.read_text().splitlines()
    assert lines[-1] == "error: interrupted; what was stored is kept: run the same command again"
    assert not any("Traceback" in line for line in lines)
    total = len(registry.select([*names]))
    assert lines[0] == f"verify: {total} claims to do"
    ended = len([*kept.glob("[!.]*")])
    assert 2 <= ended < total
    monkeypatch.setattr(ledger, "_run_in_parallel", Mock(side_effect=KeyboardInterrupt))
    code, _, err = run("verify", *names)
    assert (code, err.splitlines()[0]) == (130, f"verify: {total - ended} claims to do")
