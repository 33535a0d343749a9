"""A compiled training computes what a plain one does, and a missing device or compiler is refused before training."""

import os
import shutil
from dataclasses import replace
from functools import partial

import pytest
import torch

from lengthgen.empirical.encodings import relations
from lengthgen.empirical.experiment.evaluation import load_trained
from lengthgen.empirical.experiment.store import RunStore
from lengthgen.empirical.experiment.train import train
from lengthgen.empirical.model import layers
from lengthgen.empirical.model.backend import CPU, Backend, BackendError
from tests.empirical.model.steps import gradients, same_but_for_rounding, train_with_and_without_a_break

COMPILED = Backend(compiled=True)
BATCH = 8
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")  # of PyTorch's own compiler
compiler = pytest.mark.skipif(not shutil.which(os.environ.get("CXX") or "g++"), reason="no C++ compiler")


@pytest.fixture(autouse=True)
def forget():
    torch.compiler.reset()
    torch._dynamo.utils.counters.clear()


@pytest.fixture
def like_training():
    """Compile with the settings of training, so that PyTorch finds the code of the first test again; in this process.

    PyTorch trusts that the compiler knows the vector instructions of this machine, and builds no trial of each.
    """
    import torch._inductor.config as compiler_config

    before = torch.are_deterministic_algorithms_enabled(), torch.utils.deterministic.fill_uninitialized_memory
    torch.use_deterministic_algorithms(True)
    torch.utils.deterministic.fill_uninitialized_memory = False
    with compiler_config.patch({"compile_threads": 1, "cpp.vec_isa_ok": True}):
        yield
    torch.use_deterministic_algorithms(before[0])
    torch.utils.deterministic.fill_uninitialized_memory = before[1]


@pytest.fixture
def shallow(small_run):
    """Function that gives a run of a model of one layer, which is compiled in half of the time.

    All tests compile for two models and the same small batch, so that their kernels are built once.
    """

    def run(seed=0, **training):
        deep = small_run(seed=seed, batch=BATCH, **training)
        return replace(deep, model=replace(deep.model, layers=1))

    return run


def test_a_compiling_process_leaves_no_semaphore_behind_when_it_is_killed():
    """Each process of a killed sweep left the lock of a progress bar, of which Python warns."""
    bars = pytest.importorskip("tqdm").tqdm
    COMPILED.forward_of(torch.nn.Linear(1, 1))
    assert not hasattr(bars.get_lock(), "mp_lock")


@compiler
@pytest.mark.usefixtures("like_training")
def test_compiled_losses_and_gradients_are_the_plain_ones_and_all_seeds_share_a_compilation(shallow):
    for seeds in ((0, 1), (2, 3)):
        runs = [shallow(seed) for seed in seeds]
        assert same_but_for_rounding(gradients(runs, COMPILED), gradients(runs, CPU))
        assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1


def test_what_is_computed_on_a_gpu_compiles_as_one_graph(shallow, monkeypatch):
    monkeypatch.setattr(layers, "_splits", lambda x: torch.is_grad_enabled())
    monkeypatch.setattr(layers, "takes_products", lambda *_: True)
    monkeypatch.setattr(relations, "takes_products", lambda *_: True)
    one_graph = partial(torch.compile, backend="eager", fullgraph=True)
    monkeypatch.setattr(Backend, "forward_of", lambda backend, decoder: one_graph(decoder))
    gradients([shallow(0), shallow(1)], CPU)


@compiler
@pytest.mark.usefixtures("like_training")
def test_an_interrupted_compiled_ensemble_ends_with_the_bits_of_an_uninterrupted_one(shallow, tmp_path):
    runs = [shallow(seed, evaluate_every=2) for seed in (0, 1)]
    store = train_with_and_without_a_break(runs, tmp_path, COMPILED)
    for run in runs:
        assert store.environment(run)["compiled"] is True
        assert store.environment(run)["trained_together"] == 2


def test_cuda_is_refused_where_there_is_none(small_run, tmp_path):
    if torch.cuda.is_available():
        pytest.skip("this machine has one")
    with pytest.raises(BackendError, match="no CUDA device"):
        train([small_run()], RunStore(tmp_path), backend=Backend("cuda"))
    with pytest.raises(BackendError, match="no CUDA device"):
        load_trained(small_run(), RunStore(tmp_path), [1], "cuda")


def test_a_device_of_another_name_is_refused(small_run, tmp_path):
    with pytest.raises(BackendError, match=r"unknown device 'tpu': choose cpu or cuda"):
        train([small_run()], RunStore(tmp_path), backend=Backend("tpu"))


def test_compiling_without_a_compiler_is_refused(small_run, tmp_path, monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(BackendError, match="there is no 'no-such-compiler': install it or leave it out"):
        train([small_run()], RunStore(tmp_path), backend=COMPILED)
