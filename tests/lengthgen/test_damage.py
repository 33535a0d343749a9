"""`figures` and `report` on derived files that were damaged: one line that names the file, and no edited value.

What is drawn or shown all the same is what is drawn and shown of the undamaged files.
"""

import json
import os
import random
import re
import shutil
from pathlib import Path

import pytest

from lengthgen.circuits.tasks import TaskSpec
from lengthgen.infrastructure.cache import Cached
from lengthgen.infrastructure.files import SEAL, write_sealed_json
from lengthgen.paper_figs.declaration import catalogue
from lengthgen.paper_figs.report.relations import Bounds, explore, pool_labels
from lengthgen.paper_figs.sources import Sources
from lengthgen.proofs_checks.report import as_json
from lengthgen.proofs_checks.runner import run_claim
from lengthgen.questions import report
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


def damages(content, rng):
    """Yield other contents of a file, damaged in each way that a disk, an editor or a hostile hand would."""
    text = content.decode()
    at = rng.randrange(len(content))
    numbers, words = [*re.finditer(r"\d+", text)], [*re.finditer(r'"[a-z ]{3,}"', text)]
    number, word = (rng.choice(matches) if matches else None for matches in (numbers, words))
    kinds = [
        lambda: content[:at],
        lambda: content[:at] + bytes([content[at] ^ 1 << rng.randrange(7)]) + content[at + 1 :],
        lambda: content[:at] + b"\xff\xfe" + content[at:],
        lambda: rng.choice([b"", b"null", b"[]", b"NaN", b"7", b'"text"', b"{}", b'{"answer": {"claims": [7]}}']),
        lambda: b"[" * 200_000 + b"]" * 200_000,
        lambda: b"[" + b"0," * 200_000 + b"0]",
        lambda: content + content,
        lambda: number and (text[: number.start()] + "987654321" + text[number.end() :]).encode(),
        lambda: word and (text[: word.start()] + '"edited"' + text[word.end() :]).encode(),
        lambda: number and (text[: number.start()] + rng.choice(["null", "[]", "NaN"]) + text[number.end() :]).encode(),
        lambda: re.sub(rf'\s*"{SEAL}": "\w+",?', "", text).encode(),
    ]
    for kind in kinds:
        if (result := kind()) not in (None, content):
            yield result


def test_no_damage_of_a_derived_file_is_a_traceback_or_shown(ask):
    out, call = ask
    first = call()
    assert (first[0][0], first[2][0]) == (0, 0), (first[0][2], first[2][2])
    originals = {name: (out / name).read_bytes() for name in READ_BY}
    rng = random.Random(0)
    cases = [
        (name, number, damaged)
        for name, content in originals.items()
        for number, damaged in enumerate(damages(content, rng))
    ]
    assert len(cases) > 10 * len(READ_BY), "each file is damaged in each way"
    for name, number, damaged in cases:
        (out / name).write_bytes(damaged)
        (code, _, err), files, (code_of_report, _, err_of_report), content = call(READ_BY[name])
        assert "Traceback" not in err + err_of_report
        for file, written in files.items():
            assert written == first[1][file], (number, name)
        for part in ("claims", "trials", "runs"):
            assert_nothing_new(content[part], first[3][part], (number, name))
        if READ_BY[name] == "both":
            assert code == 1 and code_of_report == 1, (number, name)
            assert all(
                Path(name).name in message and "make it again with" in message for message in (err, err_of_report)
            )
        elif name.startswith("made-up/"):
            assert (code, code_of_report) == (0, 1) and name in err_of_report
        else:
            assert (code, code_of_report) == (0, 0), (number, name)
            assert READ_BY[name] == "report" or files.keys() == first[1].keys(), (number, name)
        (out / name).write_bytes(originals[name])


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


def places(content, so_far=()):
    yield so_far
    keys = range(min(len(content), 2)) if isinstance(content, list) else content if isinstance(content, dict) else ()
    for key in keys:
        yield from places(content[key], (*so_far, key))


@pytest.mark.parametrize("name", ["claims.json", "made-up/conjecture.json"])
def test_values_of_wrong_types_under_a_whole_seal_are_one_line(ask, name):
    """A file of another version of the program may have values of other types."""
    out, call = ask
    content = json.loads((out / name).read_text())
    del content[SEAL]
    rng = random.Random(1)
    every = [place for place in places(content) if place]
    refused = 0
    for _ in range(12):
        changed = json.loads(json.dumps(content))
        *before, last = rng.choice(every)
        inner = changed
        for key in before:
            inner = inner[key]
        inner[last] = rng.choice([None, "12", [], {}, 1e308, -1, True, [[None]], 10**300, float("nan")])
        write_sealed_json(out / name, changed)
        (code, _, err), _, (code_of_report, _, err_of_report), _ = call()
        assert (code, code_of_report) in {(0, 0), (1, 1), (1, 0)}
        assert "Traceback" not in err + err_of_report
        refused += code
    assert refused


def test_a_pipe_or_a_folder_in_place_of_a_derived_file_is_no_traceback_and_not_waited_for(ask):
    out, call = ask
    assert call()[0][0] == 0
    for name, commands in READ_BY.items():
        for make in (os.mkfifo, os.mkdir):
            content = (out / name).read_bytes()
            (out / name).unlink()
            make(out / name)
            (_, _, err), _, (_, _, err_of_report), _ = call(commands)
            assert "Traceback" not in err + err_of_report
            if (out / name).is_dir():
                (out / name).rmdir()
            else:
                (out / name).unlink()  # the pipe, or the file that was written in its place
            (out / name).write_bytes(content)
