"""A sweep on a Ray cluster outlives its nodes: runs end with the bits of local ones, and none is trained twice."""

import os
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest
from packaging.version import Version

from lengthgen.empirical.experiment import cluster
from lengthgen.empirical.experiment.store import RunStore
from lengthgen.empirical.experiment.sweep import SweepError, group_job, train_all
from lengthgen.empirical.experiment.train import train
from lengthgen.empirical.model.backend import CPU, Backend
from lengthgen.infrastructure.files import locked
from tests.empirical.experiment.test_sweep import (
    brake,
    epochs,
    held,
    logged_run,
    nothing_is_left,
    same_numbers,
    started_sweep,
)
from tests.processes import PATIENCE, is_alive, parent, started, wait_until

needs_ray = pytest.mark.skipif(not find_spec("ray"), reason="Ray is not installed: pip install '.[cluster]'")
joins_the_head = pytest.mark.skipif(
    bool(find_spec("ray")) and Version(version("ray")) < Version("2.54"),
    reason="of two nodes on one machine, older Ray has the caller join either, so also the one that is killed",
)

NODES = """
import sys
from ray.cluster_utils import Cluster

node = {"num_cpus": 1, "num_gpus": 0, "object_store_memory": 80_000_000}
HEAD = {"include_dashboard": False, "include_log_monitor": False, "no_monitor": True}
cluster = Cluster(initialize_head=True, head_node_args=node | HEAD)
second = cluster.add_node(**node)
print("nodes at", cluster.address, second.all_processes["raylet"][0].process.pid, flush=True)
sys.stdin.read()
cluster.shutdown()
"""
"""Two nodes of one CPU; says where they are and which process is the daemon of the second. Ends with its input."""
ROOT = Path(__file__).parents[3]
QUICK_TO_NOTICE = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_health_check_period_ms": "500",
    "RAY_health_check_failure_threshold": "3",
}
"""Settings of a cluster that soon sees that a node is dead."""


@pytest.fixture(scope="module")
def second_daemon(common):
    """The daemon of the second of two nodes, which RAY_ADDRESS names; a test run has them once at a time."""
    with (
        locked(common / "nodes.lock", "runs a cluster"),
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        started(
            [sys.executable, "-c", NODES],
            env=os.environ | QUICK_TO_NOTICE | {"PYTHONPATH": str(ROOT), "RAY_TMPDIR": folder},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        ) as nodes,
        pytest.MonkeyPatch.context() as patch,
    ):  # fmt: skip
        lines = []
        while not lines or not lines[-1].startswith("nodes at "):
            lines.append(nodes.stdout.readline())
            assert lines[-1], f"the nodes did not start: {''.join(lines)}"
        address, daemon = lines[-1].split()[2:]
        patch.setenv("RAY_ADDRESS", address)
        yield int(daemon)
        nodes.communicate("", timeout=PATIENCE)


def job_of(run, root):
    return group_job((run,), root, {})


def sweep(runs, store, backend=CPU):
    train_all(runs, store, backend=backend, provenance={}, engine=cluster.ray)


@needs_ray
def test_a_device_that_no_node_has_is_refused(second_daemon, small_run, tmp_path):
    with pytest.raises(SweepError, match=r"no node of the Ray cluster has a GPU"):
        sweep([small_run()], RunStore(tmp_path), backend=Backend("cuda"))


@needs_ray
def test_when_the_caller_ends_its_workers_end(second_daemon, tmp_path):
    runs, store = [logged_run(tmp_path, name) for name in "ab"], RunStore(tmp_path / "runs")
    with ExitStack() as stack:
        callers = {}
        for run, how in zip(runs, (signal.SIGINT, signal.SIGKILL), strict=True):
            stack.enter_context(brake(run, 1))
            out = tmp_path / how.name
            callers[run] = how, stack.enter_context(started_sweep([run], store, out, cluster.ray))
        for run, (how, caller) in callers.items():
            worker = wait_until(lambda run=run: held(run, 1))
            os.kill(caller.pid, how)
            assert caller.ends() != 0
            wait_until(lambda worker=worker: not is_alive(worker))


@needs_ray
@joins_the_head
def test_when_a_node_dies_every_run_ends_with_the_bits_of_a_local_one_and_none_is_trained_twice(
    second_daemon, tmp_path
):
    """The last test of the nodes, since one is then gone."""
    runs = [logged_run(tmp_path, name, epochs=9, evaluate_every=5) for name in "abc"]
    store, alone = RunStore(tmp_path / "runs"), RunStore(tmp_path / "alone")

    def on_second_node():
        return next((run for run in runs if (pid := held(run, 7)) and parent(pid) == second_daemon), None)

    with ThreadPoolExecutor(1) as beside_us, ExitStack() as brakes:
        for run in runs:
            brakes.enter_context(brake(run, 7))
        sweeping = beside_us.submit(sweep, runs, store)
        victim = wait_until(lambda: on_second_node() or sweeping.done())
        worker = held(victim, 7)
        os.kill(second_daemon, signal.SIGKILL)
        wait_until(lambda: not is_alive(worker))
        brakes.close()
        sweeping.result()

    all_epochs = list(range(10))
    for run in runs:
        assert list(epochs(run).values()) == ([all_epochs[:8], all_epochs[5:]] if run == victim else [all_epochs])
        train([run], alone)
        assert same_numbers(run, store, alone)
    assert nothing_is_left(store)
    assert not list((store.root / ".locks").glob("sweep-*"))


def test_without_ray_it_says_what_to_install(small_run, tmp_path, monkeypatch):
    (tmp_path / "ray.py").write_text("raise ModuleNotFoundError(name='ray')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(SweepError, match=r"^--engine ray needs Ray: pip install '\.\[cluster\]' in the clone"):
        sweep([small_run()], RunStore(tmp_path / "runs"))


@needs_ray
def test_without_a_cluster_it_says_how_to_start_one(small_run, tmp_path, monkeypatch):
    monkeypatch.setenv("RAY_ADDRESS", "nowhere")
    with pytest.raises(SweepError, match=r"^no Ray cluster at RAY_ADDRESS=nowhere \(.*\): start one with  ray start"):
        sweep([small_run()], RunStore(tmp_path / "runs"))


def test_a_daemon_that_ends_under_its_caller_is_a_lost_cluster(small_run, tmp_path, monkeypatch):
    def connected():
        raise BrokenPipeError("the daemon has ended")

    for name in ("end_with_parent", "os.dup2"):
        monkeypatch.setattr(f"lengthgen.empirical.experiment.cluster.{name}", lambda *_: None)
    monkeypatch.setattr(cluster, "_connected", connected)
    answers, to_caller = cluster.multiprocessing.Pipe(duplex=False)
    cluster._drive_cluster(to_caller, [job_of(small_run(), tmp_path)], CPU, None, os.getpid())
    with answers, to_caller, pytest.raises(SweepError, match="the Ray cluster was lost: run the same command again"):
        cluster._receive(answers)


def test_ray_has_a_limited_number_of_groups_at_once_and_every_group_is_answered(small_run, tmp_path, monkeypatch):
    at_once = []

    class Library:
        def remote(self, *job, **options):
            """Both `ray.remote`, which makes a task of a function, and `remote` of the task, which starts it."""
            return object() if job else lambda function: self

        @contextmanager
        def connected(self):
            yield self

        def wait(self, tasks, num_returns):
            at_once.append(len(tasks))
            return [tasks[-1]], tasks[:-1]

    monkeypatch.setattr(cluster, "AT_ONCE", 3)
    monkeypatch.setattr(cluster, "_connected", Library().connected)
    monkeypatch.setattr(cluster, "_check_nodes", lambda *_: None)
    monkeypatch.setattr(cluster, "_outcome", lambda library, task, job: job.name)
    for name in ("end_with_parent", "os.dup2"):
        monkeypatch.setattr(f"lengthgen.empirical.experiment.cluster.{name}", lambda *_: None)
    jobs = [job_of(small_run(seed=seed), tmp_path) for seed in range(8)]
    answers, to_caller = cluster.multiprocessing.Pipe(duplex=False)
    with answers, to_caller:
        cluster._drive_cluster(to_caller, jobs, CPU, None, os.getpid())
        assert cluster._receive(answers) == cluster.JOINED
        ended = [cluster._receive(answers) for _ in jobs]
    assert sorted(ended) == [(index, job.name) for index, job in enumerate(jobs)]
    assert at_once == [3] * 5 + [3, 2, 1]


def test_only_a_worker_with_the_same_code_folder_and_locks_trains(small_run, tmp_path):
    with cluster._with_beacon(tmp_path) as common:
        assert cluster._reason_not_to_train(common) is None
        assert "is not the caller's" in cluster._reason_not_to_train(replace(common, source="other"))
        assert "it does not share" in cluster._reason_not_to_train(
            replace(common, beacon=tmp_path / ".locks" / "another")
        )
        (tmp_path / "free").touch()
        assert "do not hold between nodes" in cluster._reason_not_to_train(replace(common, beacon=tmp_path / "free"))

        refused = cluster._train_on_worker(job_of(small_run(), tmp_path), CPU, replace(common, source="other"))
        assert refused.startswith(f"{small_run().id}: node ")
        assert not RunStore(tmp_path).finished(small_run())
    assert not common.beacon.exists()
    assert "it does not share" in cluster._reason_not_to_train(common), "the caller has ended"


def test_a_worker_that_can_train_trains_its_group_into_the_common_store(small_run, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "_end_with_node", lambda: None)
    monkeypatch.setattr(cluster, "_reason_not_to_train", lambda common: None)
    monkeypatch.chdir(tmp_path)
    common = cluster.Common(root=tmp_path / "runs", beacon=tmp_path / "beacon", source="", folder=tmp_path)
    run = small_run()
    job = replace(job_of(run, Path("elsewhere")), provenance={run.id: {"b": "c"}})
    assert cluster._train_on_worker(job, CPU, common) is None
    assert RunStore(tmp_path / "runs").environment(run)["b"] == "c"
