"""Training on a GPU, skipped where there is none: every step has the CPU's numbers, and the same bits each time."""

import os

import pytest
import torch

from lengthgen.circuits.encoding_spec import ENCODINGS
from lengthgen.empirical.experiment.evaluation import free_running, load_trained, predicted, teacher_forced
from lengthgen.empirical.experiment.run import training_refusal
from lengthgen.empirical.experiment.samples import TEST
from lengthgen.empirical.experiment.store import RunStore
from lengthgen.empirical.experiment.train import train
from lengthgen.empirical.model.backend import CPU, Backend
from tests.empirical.conftest import smoke_run
from tests.empirical.model.steps import gradients, same_but_for_rounding, train_with_and_without_a_break

if not torch.cuda.is_available():
    pytest.skip("no GPU", allow_module_level=True)

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # as training sets it, before the first product
pytestmark = [
    pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning"),  # of PyTorch's own compiler
    pytest.mark.filterwarnings("ignore:TensorFloat32 tensor cores"),
    pytest.mark.filterwarnings("ignore:The CUDA Graph is empty"),  # PyTorch records an empty one first
    pytest.mark.filterwarnings("ignore:Specified kernel cache directory"),  # the tests' cache is not made yet
]
GPU, COMPILED = Backend("cuda"), Backend("cuda", compiled=True)
TRAINED = [
    f"{name}[longest=64]" if encoding.drawn_from else name
    for name, encoding in ENCODINGS.items()
    if not training_refusal(name, causal=encoding.causal, has_structure=encoding.has_structure)
]


@pytest.fixture
def deterministic():
    """Refuse operations whose result differs from call to call, as training does."""
    before = torch.get_deterministic_debug_mode()
    torch.set_deterministic_debug_mode("error")
    yield
    torch.set_deterministic_debug_mode(before)


@pytest.mark.usefixtures("deterministic")
@pytest.mark.parametrize("encoding", TRAINED)
def test_a_step_is_that_of_the_cpu_and_the_same_each_time(encoding):
    runs = [smoke_run(encoding, seed=seed, batch=8) for seed in (0, 1)]
    on_gpu, again = gradients(runs, GPU), gradients(runs, GPU)
    assert same_but_for_rounding(on_gpu, gradients(runs, CPU))
    assert all(torch.equal(first, second) for first, second in zip(on_gpu, again, strict=True))


@pytest.mark.usefixtures("deterministic")
def test_a_compiled_step_is_the_plain_one():
    runs = [smoke_run(seed=seed, batch=8) for seed in (0, 1)]
    assert same_but_for_rounding(gradients(runs, COMPILED), gradients(runs, GPU))


@pytest.mark.parametrize("backend", [GPU, COMPILED], ids=["plain", "compiled"])
def test_an_interrupted_ensemble_ends_with_the_bits_of_an_uninterrupted_one(tmp_path, backend):
    runs = [smoke_run(seed=seed, evaluate_every=2) for seed in (0, 1)]
    store = train_with_and_without_a_break(runs, tmp_path, backend)
    assert store.environment(runs[0])["device"] == torch.cuda.get_device_name()


@pytest.mark.parametrize("encoding", ["ipe", "ipe-sh", "rope", "random-rpe[longest=64]"])
def test_a_model_trained_on_the_gpu_answers_there_as_on_the_cpu(tmp_path, encoding):
    run, store = smoke_run(encoding), RunStore(tmp_path)
    train([run], store, backend=GPU)
    answers = []
    for device in ("cpu", "cuda"):
        setup, decoder = load_trained(run, store, [4], device)
        data = setup.examples([4], 200, split=TEST, seed=0)
        answers.append(predicted(decoder, setup.geometry, data))
        right = teacher_forced(decoder, setup.geometry, data).all(2)
        assert (free_running(decoder, setup.geometry, data) == right).all()
    # Two logits may be equal but for rounding.
    assert (answers[0] != answers[1]).mean() < 0.01
