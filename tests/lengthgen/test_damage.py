"""`figures` and `report` on derived files that were damaged: one line that names the file, and no edited value.

What is drawn or shown all the same is what is drawn and shown of the undamaged files.
"""

import itertools
import json
import re
import shutil
from pathlib import Path

import pytest

from lengthgen.circuits.tasks import TaskSpec
from lengthgen.infrastructure.cache import Cached
from lengthgen.paper_figs.declaration import catalogue
from lengthgen.paper_figs.report.relations import Bounds, explore, pool_labels
from lengthgen.paper_figs.sources import Sources
from lengthgen.proofs_checks.report import as_json
from lengthgen.proofs_checks.runner import run_claim
from lengthgen.questions import report
from tests.attack.damage import CONTENTS, STRANGE, NotApplicable, damage
from tests.paper_figs.made_up import PROTOCOL, sources
from tests.proofs_checks import toys

SMALL = PROTOCOL.replace('tasks = ["copy", "parity"]', 'tasks = ["copy"]').replace("seeds = 5", "seeds = 2")
FIGURES = ("disagreements-made-up", "results-made-up", "ledger")
READ_BY = {
    "claims.json": "both", "made-up/conjecture.json": "both", "made-up/predictions.json": "report",
    "made-up/circuits.json": "report", "report/runs.json": "report",
    "figures/.drawn/disagreements-made-up.json": "figures",
    "figures/.drawn/results-made-up.json": "figures", "figures/results-made-up.csv": "figures",
}  # fmt: skip


def keep(path, answer):
    Cached(path=path, code="").keep(answer)


@pytest.fixture(scope="module")
def pristine(tmp_path_factory):
    """A folder with runs, verdicts and claims, and the protocol's file."""
    folder = tmp_path_factory.mktemp("whole")
    given, name = sources(folder, SMALL)
    keep(given.out / "made-up" / "predictions.json", [])
    explorations, pool = pool_labels([explore(TaskSpec(name="copy"), Bounds(largest=(2,), train=range(1, 2)))])
    keep(given.out / "made-up" / "circuits.json", {"explorations": explorations, "pool": pool})
    keep(given.out / "claims.json", as_json([run_claim(toys.CLAIMS["toy-accept"])]))
    return given.out, name


@pytest.fixture
def ask(pristine, run, tmp_path, monkeypatch, explored_here):
    """Return the folder, and a function that calls one or both commands on it: their ends, what is drawn, and the page.

    What is the same of every call and takes long is left out: other protocols, and the hash and revision of the source.
    """
    out = tmp_path / "out"
    shutil.copytree(pristine[0], out)
    options = ("--profile", "smoke", "--out", str(out))
    monkeypatch.setattr(report, "TASKS", {"copy": report.TASKS["copy"]})
    monkeypatch.setattr("lengthgen.proofs_checks.registry.selection", lambda runs: toys.selection("toy-accept"))
    monkeypatch.setattr(report, "revision", lambda: "unknown")
    monkeypatch.setattr("lengthgen.paper_figs.report.trials.names", list)
    for module in ("figures", "report"):
        monkeypatch.setattr(f"lengthgen.questions.{module}.source_digest", lambda *_: "code")
    entries = catalogue(Sources(out=out, profile="smoke", width=7.0), [pristine[1]])
    monkeypatch.setattr(
        "lengthgen.paper_figs.declaration.catalogue", lambda *_: {name: entries[name] for name in FIGURES}
    )

    def call(commands="both"):
        drawn = shown = (0, "", "")
        files = {}
        if commands != "report":
            drawn = run("figures", *FIGURES, *options, "--protocol", pristine[1], "--json")
            figures = json.loads(drawn[1])["figures"] if drawn[1] else {}
            files = {file: (out / "figures" / file).read_bytes() for written in figures.values() for file in written}
        if commands != "figures":
            shown = run("report", *options)
        return drawn, files, shown, page(out)

    return out, call


def page(out):
    """Content that the page's scripts read, by name."""
    text = (out / "report.html").read_text()
    blocks = re.findall(r'<script type="application/json" id="data-(\w+)">(.*?)</script>', text, re.DOTALL)
    return {name: json.loads(content) for name, content in blocks}


NOTICED = ({*CONTENTS} - {"cut_out"}) | {"number_edited", "text_edited", "type_changed"}
"""Kinds of damage, but for one that may take away nothing but blanks."""


def test_no_damage_of_a_derived_file_is_a_traceback_or_shown(ask):
    out, call = ask
    first = call()
    assert (first[0][0], first[2][0]) == (0, 0), (first[0][2], first[2][2])
    originals = {name: (out / name).read_bytes() for name in READ_BY}
    for name, kind in itertools.product(READ_BY, [*sorted(NOTICED), *STRANGE]):
        try:
            damage(out / name, kind, f"{name} {kind}", ())
        except NotApplicable:
            continue
        (code, _, err), files, (code_of_report, _, err_of_report), content = call(READ_BY[name])
        assert "Traceback" not in err + err_of_report
        restored(out / name, originals[name])
        if kind in STRANGE:  # it is missing, or made again
            continue
        for file, written in files.items():
            assert written == first[1][file], (kind, name)
        for part in ("claims", "trials", "runs"):
            assert_nothing_new(content[part], first[3][part], (kind, name))
        if READ_BY[name] == "both":
            assert code == 1 and code_of_report == 1, (kind, name)
            assert all(
                Path(name).name in message and "make it again with" in message for message in (err, err_of_report)
            )
        elif name.startswith("made-up/"):
            assert (code, code_of_report) == (0, 1) and name in err_of_report, (kind, name)
        else:
            assert (code, code_of_report) == (0, 0), (kind, name)
            assert READ_BY[name] == "report" or files.keys() == first[1].keys(), (kind, name)


def restored(path, content):
    """Put a file back in place of whatever is there."""
    if path.is_dir():
        path.rmdir()
    else:
        path.unlink(missing_ok=True)  # a pipe, or the file that was written in its place
    path.write_bytes(content)


def assert_nothing_new(shown, original, which):
    """Check that lists have only members of the original's, or open claims, and that everything else is as it was."""
    if isinstance(original, list):
        assert all(entry in original or entry.get("verdict") == "not run" for entry in shown), which
    else:
        for key, value in original.items():
            if key in ("trials", "runs", "groups"):
                assert all(entry in value for entry in shown[key]), which
            else:
                assert shown[key] == value, which


@pytest.mark.parametrize("name", ["claims.json", "made-up/conjecture.json"])
def test_values_of_wrong_types_under_a_whole_seal_are_one_line(ask, name):
    """A file of another version of the program may have values of other types."""
    out, call = ask
    content, refused = (out / name).read_bytes(), 0
    for number in range(12):
        damage(out / name, "another_shape", str(number), ())
        (code, _, err), _, (code_of_report, _, err_of_report), _ = call()
        assert (code, code_of_report) in {(0, 0), (1, 1), (1, 0)}
        assert "Traceback" not in err + err_of_report
        refused += code
        restored(out / name, content)
    assert refused
