"""A full disk is one line that names a file and says what to do, however many runs or figures it stops."""

import errno
import os

import pytest

from lengthgen.empirical.experiment import cluster
from lengthgen.infrastructure.files import FullDisk, locked, write_bytes
from tests.pool_here import pool_here

SCALES = ("--train", "1-2", "--test", "1-4", "--profile", "smoke")


def full(descriptor, *content):
    """Fail as a write to a full disk does, without the name of the file."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.fixture
def full_at(monkeypatch):
    """Function that leaves no space for files whose path has a given part."""
    fsync = os.fsync

    def fill(part):
        monkeypatch.setattr(
            "os.fsync", lambda number: full(number) if part in os.readlink(f"/proc/self/fd/{number}") else fsync(number)
        )

    return fill


def test_a_file_or_lock_without_space_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("os.fsync", full)
    monkeypatch.setattr("os.write", full)
    with pytest.raises(FullDisk, match=f"^no space is left to write {tmp_path}/file: free some on its disk"):
        write_bytes(tmp_path / "file", b"content")
    with pytest.raises(FullDisk, match=f"^no space is left to write {tmp_path}/lock: "), locked(tmp_path / "lock", ""):
        pass


def test_several_trainings_end_in_one_line(run, tmp_path, monkeypatch, full_at, trained_here):
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    full_at(".unfinished")
    code, out, err = run("conjecture", "parity", *SCALES, "--encoding", "rpe", "--seeds", "4", "--out", str(tmp_path))
    [line] = [line for line in err.splitlines() if line.startswith("error: ")]
    assert (code, out) == (2, "")
    assert line.startswith(f"error: no space is left to write {tmp_path}/runs/.unfinished/")
    assert line.count("no space") == 1 and "not all of" not in line
    assert not list((tmp_path / "runs").glob("[!.]*"))


def test_several_models_of_text_end_in_one_line(run, tmp_path, full_at, trained_here):
    full_at(f"{tmp_path}/text")
    code, out, err = run("text", "--encoding", "rope,alibi", "--profile", "smoke", "--out", str(tmp_path))
    [line] = [line for line in err.splitlines() if line.startswith("error: ")]
    assert (code, out) == (2, "")
    assert line.startswith(f"error: no space is left to write {tmp_path}/text/") and line.count("no space") == 1


def test_several_figures_end_in_one_line(run, tmp_path, monkeypatch, full_at):
    monkeypatch.setattr("lengthgen.terminal.progress.pool", pool_here)
    full_at(f"{tmp_path}/figures")
    names = ("table-hyperparameters", "table-formats", "table-tasks")
    _, _, err = run("figures", *names, "--out", str(tmp_path))
    [line] = [line for line in err.splitlines() if line.startswith("error: ")]
    assert line.startswith(f"error: no space is left to write {tmp_path}/figures/table-")
    assert line.count("no space") == 1


def test_a_full_disk_of_a_cluster_s_node_is_the_same_error():
    class Library:
        """A stand-in for Ray, whose task found a full disk."""

        class exceptions:  # noqa: N801 (as Ray names it)
            class RayTaskError(Exception):
                cause = FullDisk("no space is left to write /shared/state")

        def get(self, done):
            raise self.exceptions.RayTaskError

    with pytest.raises(FullDisk, match="/shared/state"):
        cluster._outcome(Library(), None, ())
