"""A sweep on a Ray cluster outlives its nodes: runs end with the bits of local ones, and none is trained twice."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from empirical import cluster
from empirical.backend import CPU, Backend
from empirical.files import locked
from empirical.store import RunStore
from empirical.sweep import SweepError, train_all
from empirical.training import train
from tests.empirical.test_sweep import (
    ROOT,
    epochs_done,
    is_alive,
    logged_run,
    nothing_is_left,
    same_numbers,
    started_sweep,
    trainings,
    wait_until,
)

needs_ray = pytest.mark.skipif(not find_spec("ray"), reason="Ray is not installed: pip install 'lengthgen[cluster]'")

NODES = """
import sys
from ray.cluster_utils import Cluster

node = {"num_cpus": 1, "num_gpus": 0, "object_store_memory": 80_000_000}
cluster = Cluster(initialize_head=True, head_node_args=node | {"include_dashboard": False})
second = cluster.add_node(**node)
print("nodes at", cluster.address, second.all_processes["raylet"][0].process.pid, flush=True)
sys.stdin.read()
cluster.shutdown()
"""
"""Two nodes of one CPU; says where they are and which process is the daemon of the second. Ends with its input."""
QUICK_TO_NOTICE = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_health_check_period_ms": "500",
    "RAY_health_check_failure_threshold": "3",
}
"""Settings of a cluster that soon sees that a node is dead."""


@pytest.fixture(scope="module")
def second_daemon():
    """The daemon of the second of two nodes, which RAY_ADDRESS names; a machine has them once at a time."""
    with (
        locked(Path(tempfile.gettempdir()) / "lengthgen-test-nodes.lock"),
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        subprocess.Popen(
            [sys.executable, "-c", NODES],
            env=os.environ | QUICK_TO_NOTICE | {"PYTHONPATH": str(ROOT), "RAY_TMPDIR": folder},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        ) as nodes,
        pytest.MonkeyPatch.context() as patch,
    ):  # fmt: skip
        said = []
        for line in nodes.stdout:
            said.append(line)
            if line.startswith("nodes at "):
                break
        else:
            pytest.fail(f"the nodes did not start: {''.join(said)}")
        address, daemon = line.split()[2:]
        patch.setenv("RAY_ADDRESS", address)
        yield int(daemon)
        nodes.communicate("")


def sweep(runs, store, backend=CPU):
    train_all(runs, store, backend=backend, provenance={}, engine=cluster.ray)


def parent(pid):
    found = subprocess.run(["ps", "-o", "ppid=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return int(found) if found.strip() else None


@needs_ray
def test_a_device_that_no_node_has_is_refused(second_daemon, small_run, tmp_path):
    with pytest.raises(SweepError, match=r"no node of the Ray cluster has a GPU"):
        sweep([small_run()], RunStore(tmp_path), backend=Backend("cuda"))


@needs_ray
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_when_the_caller_ends_its_workers_end(second_daemon, tmp_path, how):
    run, store = logged_run(tmp_path, "a", epochs=10_000), RunStore(tmp_path / "runs")
    caller = started_sweep([run], store, cluster.ray)
    wait_until(lambda: epochs_done(run, store) > 0)
    caller.send_signal(how)
    assert caller.wait() != 0
    [worker] = trainings(run)
    wait_until(lambda: not is_alive(worker), seconds=10)


@needs_ray
def test_when_a_node_dies_every_run_ends_with_the_bits_of_a_local_one_and_none_is_trained_twice(
    second_daemon, tmp_path
):
    """The last test of the nodes, since one is then gone."""
    runs = [logged_run(tmp_path, name, epochs=40, evaluate_every=5) for name in "abc"]
    store, alone = RunStore(tmp_path / "runs"), RunStore(tmp_path / "alone")
    victims, ended, seen = [], threading.Event(), []

    def on_second_node():
        return [run for run in runs if epochs_done(run, store) > 6 and parent(trainings(run)[-1]) == second_daemon]

    def kill():
        wait_until(on_second_node)
        victims.extend(on_second_node())
        seen.append(epochs_done(victims[0], store))
        os.kill(second_daemon, signal.SIGKILL)
        while not ended.wait(0.05):
            if done := epochs_done(victims[0], store):
                seen.append(done)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        sweep(runs, store)
    finally:
        ended.set()
        killer.join()
    [victim] = victims
    assert {run: len(trainings(run)) for run in runs} == {run: 2 if run == victim else 1 for run in runs}
    # A training that goes on first notes the epoch of its checkpoint; one begun anew notes those before it.
    assert min(seen) >= seen[0] // 5 * 5, "it went on from its checkpoint"
    for run in runs:
        train([run], alone)
        assert same_numbers(run, store, alone)
    assert nothing_is_left(store)
    assert not list((store.root / ".locks").glob("sweep-*"))
    assert not is_alive(trainings(victim)[0])


def test_without_ray_it_says_what_to_install(small_run, tmp_path, monkeypatch):
    (tmp_path / "ray.py").write_text("raise ModuleNotFoundError(name='ray')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(SweepError, match=r"^--engine ray needs Ray: pip install 'lengthgen\[cluster\]'$"):
        sweep([small_run()], RunStore(tmp_path / "runs"))


@needs_ray
def test_without_a_cluster_it_says_how_to_start_one(small_run, tmp_path, monkeypatch):
    monkeypatch.setenv("RAY_ADDRESS", "nowhere")
    with pytest.raises(SweepError, match=r"^no Ray cluster at RAY_ADDRESS=nowhere \(.*\): start one with  ray start"):
        sweep([small_run()], RunStore(tmp_path / "runs"))


def test_only_a_worker_with_the_same_code_folder_and_locks_trains(small_run, tmp_path):
    with cluster._common(tmp_path) as common:
        assert cluster._unable(common) is None
        assert "is not the caller's" in cluster._unable(replace(common, source="other"))
        assert "it does not share" in cluster._unable(replace(common, beacon=tmp_path / ".locks" / "another"))
        (tmp_path / "free").touch()
        assert "do not hold between nodes" in cluster._unable(replace(common, beacon=tmp_path / "free"))

        refused = cluster._train((small_run(),), "cpu", {}, replace(common, source="other"))
        assert refused.startswith(f"{small_run().id}: node ")
        assert not RunStore(tmp_path).finished(small_run())
    assert not common.beacon.exists()
    assert "it does not share" in cluster._unable(common), "the caller has ended"
