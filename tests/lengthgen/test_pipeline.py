"""`reproduce` beside other commands in one folder, and what it says of figures that it could not draw."""

import os
import threading
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace

import pytest

from lengthgen import reproduce
from lengthgen.circuits.search.sat import SolverFailed
from lengthgen.empirical.model.backend import Backend
from lengthgen.infrastructure import files
from lengthgen.infrastructure.files import DamagedFile, locked, read_sealed_json, write_bytes
from lengthgen.paper_figs.sources import Sources
from lengthgen.questions import figures
from lengthgen.questions.figures import Drawn
from lengthgen.reproduce import _figures


class Enough(Exception):
    """The part of the command that is tested has been reached."""


@pytest.fixture
def first_part(monkeypatch):
    """Let `reproduce` end where it begins to compute."""

    def stop(*_):
        raise Enough

    monkeypatch.setattr(reproduce, "_computed", stop)


@contextmanager
def in_another_thread(work):
    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        thread.join(30)
        assert not thread.is_alive()


@contextmanager
def waiting_for(lock, work):
    """Do the work in another thread, while this one holds the lock that it needs first."""
    with ExitStack() as held, ExitStack() as joined:
        held.enter_context(locked(lock, "works"))
        joined.enter_context(in_another_thread(work))
        yield
        held.close()


def waits_told(monkeypatch):
    """Lines that tell of a lock that is not free, and an event that is set by the first line."""
    lines, event = [], threading.Event()

    def tell(line):
        lines.append(line)
        event.set()

    monkeypatch.setattr(files, "tell", tell)
    return lines, event


@pytest.mark.usefixtures("first_part")
def test_a_file_that_a_training_is_writing_is_not_swept(tmp_path, monkeypatch):
    writing, go_on = threading.Event(), threading.Event()
    replace = os.replace

    def slow(*paths):
        writing.set()
        assert go_on.wait(30)
        replace(*paths)

    monkeypatch.setattr(os, "replace", slow)
    state = tmp_path / "out" / "runs" / ".unfinished" / "some-run" / "state"
    with in_another_thread(lambda: write_bytes(state, b"of a training")):
        assert writing.wait(30)
        (state.parent / ".left.0.partial").write_bytes(b"by one that was killed")
        with pytest.raises(Enough):
            reproduce.reproduced("smoke", tmp_path / "out", Backend())
        [left] = state.parent.iterdir()
        assert left.name.startswith(".state.")
        go_on.set()
    assert state.read_bytes() == b"of a training"


@pytest.mark.usefixtures("first_part")
def test_a_second_reproduce_names_the_process_that_it_waits_for(tmp_path, monkeypatch):
    lines, event = waits_told(monkeypatch)
    ended = []

    def second():
        with pytest.raises(Enough):
            reproduce.reproduced("smoke", tmp_path, Backend())
        ended.append(True)

    with waiting_for(tmp_path / ".lock", second):
        assert event.wait(30) and not ended
    assert ended
    [line] = lines
    assert line.startswith(f"waiting for process {os.getpid()} on ") and line.endswith(
        f", which reproduces into {tmp_path}"
    )


def test_a_figure_that_another_process_draws_is_waited_for_with_a_message(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    lines, event = waits_told(monkeypatch)
    sources = Sources(out=tmp_path / "out", profile="smoke", width=7.0)
    drawn = []
    lock = tmp_path / "cache" / "lengthgen" / "figures" / "table-formats" / ".lock"
    with waiting_for(lock, lambda: drawn.append(figures.draw_catalogue(sources, tmp_path / "into", ["table-formats"]))):
        assert event.wait(30) and not drawn
    assert [*drawn[0].files] == ["table-formats"]
    assert lines[0].startswith(f"waiting for process {os.getpid()} on ")
    assert lines[0].endswith(", which draws table-formats")


MISSING = {
    "figure2": "120 of the 120 runs of fig2 are missing from out/runs: make it with  lengthgen conjecture fig2",
    "results-fig2": "120 of the 120 runs of fig2 are missing from out/runs: make it with  lengthgen conjecture fig2",
    "labels-x": "unaligned: " + "no circuit of few words " * 20,
}


def test_the_reasons_of_figures_not_drawn_are_in_the_answer_with_the_command_that_lists_them(
    tmp_path, monkeypatch, capsys
):
    made_by = {"lengthgen conjecture fig2": ["figure2", "results-fig2"]}
    drawn = Drawn(
        files={"figure1": ["a"], "figure4": ["b"]}, recorded={"figure4": "docs"}, missing=MISSING, made_by=made_by
    )
    monkeypatch.setattr(reproduce, "draw_catalogue", lambda *_: drawn)
    answer = reproduce._drawn_figures(tmp_path, "smoke")
    command = f"lengthgen figures --profile smoke --out {tmp_path}"
    assert answer == {
        "drawn": ["figure1", "figure4"], "recorded": {"figure4": "docs"}, "missing": MISSING, "made_by": command,
        "broken": {},
    }  # fmt: skip
    assert capsys.readouterr().err == ""
    assert [line.plain for line in _figures(answer)] == [
        "1 figure shows recorded runs, not trained here, as its caption says",
        f"Not drawn: 3 (why, and how to make them: {command})",
    ]
    assert _figures(answer | {"recorded": {}, "missing": {}}) == []


def test_an_answer_that_a_dead_solver_left_open_is_not_stored(tmp_path, monkeypatch):
    cut = SimpleNamespace(result=SimpleNamespace(failed=True, stopped="the SAT solver gave no answer"))
    monkeypatch.setattr(reproduce, "compute", lambda _: cut)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(SolverFailed):
        reproduce._computed(tmp_path / "src.json", "code", [], reproduce._src, reproduce._src_shape())
    assert not [*tmp_path.rglob("src.json")]


def test_claims_that_were_unsettled_for_want_of_time_are_sealed_and_asked_again(tmp_path, monkeypatch):
    claim = {"verdict": "unsettled", "on_runs": False}
    calls = []
    monkeypatch.setattr(reproduce, "_run_claims", lambda *_: calls.append(1) or {"claims": [claim]})
    for _ in range(2):
        assert reproduce._claims(tmp_path, "smoke") == {"claims": [claim]}
    assert len(calls) == 2
    assert read_sealed_json(tmp_path / "claims.json")["answer"] == {"claims": [claim]}
    (tmp_path / "claims.json").write_text((tmp_path / "claims.json").read_text().replace("unsettled", "verified"))
    with pytest.raises(DamagedFile):
        read_sealed_json(tmp_path / "claims.json")
    assert reproduce._claims(tmp_path, "smoke") == {"claims": [claim]}
