"""Relations of a user's own, however they fail: predictions and training refuse them in one line."""

import pytest

from lengthgen.empirical.encodings.modules import MAX_LABELS, EncodingError
from lengthgen.empirical.experiment.ensemble import Setup
from lengthgen.empirical.experiment.store import RunStore
from lengthgen.empirical.experiment.sweep import SweepError, train_all
from lengthgen.empirical.model.backend import CPU
from tests.empirical.conftest import smoke_run
from tests.lengthgen.refusal import refused

HEAD = """
import sys
import numpy as np
from lengthgen.theory.relation import Relation, from_function, from_labels


def raising(error):
    def fails(*_):
        raise error
    return fails


def relation(law, **options):
    return Relation(name="mine", law=law, **options)


class Has:
    def __init__(self, relation):
        self.relation = relation


class Fails:
    @property
    def relation(self):
        raise RuntimeError("no relation")
    needs_labels = relation


class Recursive:
    @property
    def __class__(self):
        raise RuntimeError("no class")
"""

MADE = {
    "exits at import": ("sys.exit(0)", "encoding file 'mine.py' fails: SystemExit: 0"),
    "is nothing": ("None", "has no attribute 'relation'"),
    "has text": ("Has('relative')", "its attribute 'relation' must be a Relation, not 'relative'"),
    "has what fails": ("Fails()", "'mine.py:mine': its attribute 'relation' fails: RuntimeError: no relation"),
    "is without class": ("Recursive()", "has no attribute 'relation'"),
    "exits": ("relation(lambda *_: sys.exit(0))", "the law of relation 'mine' fails for "),
    "exits for a long one": (
        "relation(lambda k, q, n: sys.exit(0) if q.max() > 9 else q - k)",
        "the law of relation 'mine' fails for ",
    ),
    "has a hint that is no bool": (
        "relation(lambda k, q, n: q - k, scale_hint=print)",
        "the scale_hint of relation 'mine' must be True or False",
    ),
    "recurs": ("relation(raising(RecursionError()))", "RecursionError"),
    "gives nothing": ("relation(lambda *_: None)", "its law must return one integer per pair"),
    "gives another shape": ("relation(lambda *_: np.zeros(3, dtype=int))", "its law must return one integer per pair"),
    "gives a table of infinite size": (
        "relation(lambda *_: np.broadcast_to(np.int8(0), (10**9, 10**9)))",
        "its law must return one integer per pair",
    ),
    "gives floats": ("relation(lambda k, q, n: (q - k) / 2)", "its law must return one integer per pair"),
    "gives negative labels": ("relation(lambda k, q, n: k - q - 1)", "labels are integers >= 0"),
    "needs a scale that it does not get": ("relation(lambda k, q, n: q * n)", "fails for "),
    "reaches too short": ("from_labels(np.triu(np.ones((3, 3), dtype=int)), name='mine')", "positions 1..3"),
}


@pytest.mark.parametrize("name", MADE)
def test_a_hostile_relation_is_one_line(run, name, mine):
    code, says = MADE[name]
    mine(HEAD, f"mine = {code}")
    ended = run("predict", "parity", "--encoding", "mine.py:mine", "--train", "1-2", "--test", "1-3")
    if name in ("is nothing", "is without class"):
        assert ended[::2] == (0, "")
        assert says in " ".join(ended[1].split())
    else:
        refused(ended, says)


@pytest.mark.parametrize("labels", ["(q - k) + 2**62", "(q - k) * 10**15"])
def test_huge_labels_are_labels_like_others(answer, labels, mine):
    mine(HEAD, f"mine = relation(lambda k, q, n: {labels})")
    question = ("predict", "parity", "--train", "1-2", "--test", "1-3", "--encoding")
    mine, relative = (answer(*question, name)["predictions"][name] for name in ("mine.py:mine", "rpe"))
    assert (mine["generalizes"], mine["breaks_at"]) == (relative["generalizes"], relative["breaks_at"])


def test_no_table_of_huge_labels_is_made(mine):
    mine(HEAD, f"mine = relation(lambda k, q, n: (q - k) * {MAX_LABELS})")
    setup = Setup.of(smoke_run("mine.py:mine"), "cpu")
    with pytest.raises(EncodingError, match=r"labels, and each takes a table row: number them 0, 1, 2, \.\.\."):
        setup.encoding()


def test_a_property_that_fails_is_named(mine):
    mine(HEAD, "mine = Fails()")
    with pytest.raises(EncodingError, match="its attribute 'relation' fails: RuntimeError: no relation"):
        Setup.of(smoke_run("mine.py:mine"), "cpu")


def test_user_code_that_exits_ends_its_run_and_not_the_sweep(tmp_path, monkeypatch):
    """A single worker for all: the runs behind the one that exits are trained."""
    runs = [smoke_run(name) for name in ("rpe", "nope", "ape")]
    trained = []

    def train(group, store, **_):
        if group[0].encoding == "nope":
            raise SystemExit(0)
        trained.extend(group)

    def engine(jobs, backend):
        for job in jobs:
            yield job, job.failure(backend)

    monkeypatch.setattr("lengthgen.empirical.experiment.train.train", train)
    with pytest.raises(SweepError, match=f"{runs[1].id}: SystemExit: 0"):
        train_all(runs, RunStore(tmp_path), backend=CPU, provenance={}, engine=engine)
    assert {run.encoding for run in trained} == {"rpe", "ape"}
