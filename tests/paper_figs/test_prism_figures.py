"""Figures of PRISM's diagnostics: what they show is what the trained modules compute."""

from statistics import median

import numpy as np
import pytest
from matplotlib.axes import Axes

from lengthgen.paper_figs.figures import prism_positions
from lengthgen.paper_figs.sources import Sources
from tests.paper_figs.made_up import protocol_file
from tests.paper_figs.test_run_figures import on_the_page, panel

TEXT = """
title = "Positions"
source = "none"
train = [1, 2]
test = [1, 4]

[[cells]]
tasks = ["copy"]
formats = ["unaligned"]
encodings = ["prism[positions=11]", "prism[positions=11,sharpening=none]", "nope"]

[smoke]
seeds = 2
training.samples = 50
training.epochs = 1
"""
TOKENS, TRAINED = 9, 5
"""Tokens read of `x1 .. xn = x1 .. xn $` at scales 4 and 2."""


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Sources, str]:
    pytest.importorskip("torch")
    from lengthgen.empirical.experiment.train import train

    folder = tmp_path_factory.mktemp("positions")
    given, name = Sources(out=folder, profile="smoke", width=7.0), str(protocol_file(folder, TEXT))
    for runs in given.runs_of_size(name).values():
        train(runs, given.store)
    return given, name


def computed(given: Sources, run, scale: int):
    """Gates and histograms of the first test samples, from the checkpoint's numbers alone."""
    import torch
    from safetensors.torch import load

    from lengthgen.empirical.encodings.prism import PRISM, sequence_starts
    from lengthgen.empirical.experiment.ensemble import Setup
    from lengthgen.empirical.experiment.samples import TEST

    numbers = {key: value.squeeze(0) for key, value in load(given.store.checkpoint(run)).items()}
    encoding = PRISM(width=run.model.width, positions=11, sharpening="none" if "none" in run.encoding else "learned")
    encoding.load_state_dict(
        {key.removeprefix("encoding."): value for key, value in numbers.items() if key.startswith("encoding.")}
    )
    tokens = Setup.of(run, "cpu").examples([scale], prism_positions.SAMPLES, split=TEST, seed=0).tokens[:, :-1]
    starts = sequence_starts(torch.arange(tokens.shape[1]))
    with torch.inference_mode():
        gates = encoding.gates(numbers["tokens.weight"][torch.from_numpy(tokens.astype(np.int64))], starts)
        return gates.numpy(), encoding.histograms(gates, starts).numpy()


def entropy(masses: np.ndarray) -> np.ndarray:
    return np.array([-sum(p * np.log2(p) for p in row if p > 0) for row in masses.reshape(-1, masses.shape[-1])])


def line(axes: Axes, gid: str) -> list[list[float]]:
    return [list(line.get_ydata()) for line in axes.lines if line.get_gid() == gid]


@pytest.mark.parametrize("sharpening", ["learned", "none"])
def test_positions_are_those_of_the_checkpoint(trained: tuple[Sources, str], sharpening: str) -> None:
    given, name = trained
    run = prism_positions.runs_by_sharpening(given, name)["copy"][sharpening][1]
    read = prism_positions.read_positions(run, given.store, 4)
    gates, histograms = computed(given, run, 4)
    np.testing.assert_allclose(read.histograms, histograms[0], atol=1e-6)
    for own, expected in ((read.gate_entropy, gates), (read.histogram_entropy, histograms)):
        np.testing.assert_allclose(own, entropy(expected).reshape(-1, TOKENS).mean(0), atol=1e-5)
    assert read.kinds == (*["operand"] * 4, "fixed", *["output"] * 4)
    assert read.symbols[4] == "=" and read.symbols[:4] == read.symbols[5:]
    assert read.entropy_of("output") == pytest.approx(read.gate_entropy[5:].mean())


def test_entropy_is_in_bits() -> None:
    masses = np.array([[0.25] * 4, [0.5, 0.5, 0, 0], [0, 1, 0, 0]])
    assert prism_positions.entropies(masses).tolist() == [2, 1, 0]


def test_the_tokens_that_training_showed(trained: tuple[Sources, str]) -> None:
    assert prism_positions.trained_tokens(*trained) == {"copy": TRAINED}


def test_histograms_are_drawn_with_the_trained_range_framed(trained: tuple[Sources, str]) -> None:
    given, name = trained
    drawing = prism_positions._first_runs(given, protocol=name)
    on_the_page(drawing.shown)
    for sharpening, gid in (("learned", "sharpened"), ("none", "without sharpening")):
        run = prism_positions.runs_by_sharpening(given, name)["copy"][sharpening][0]
        histograms = prism_positions.read_positions(run, given.store, 4).histograms
        axes = panel(drawing.shown, f"histograms:copy:{gid}")
        [mesh] = [artist for artist in axes.collections if artist.get_gid() == "masses"]
        shown = mesh.get_array()
        assert shown.shape[1] == TOKENS and shown.shape[0] <= 11
        np.testing.assert_array_equal(shown.filled(0), np.where(histograms >= 1e-3, histograms, 0).T[: len(shown)])
        [frame] = [artist for artist in axes.patches if artist.get_gid() == "trained"]
        assert (frame.get_x(), frame.get_width()) == (-0.5, TRAINED)
        rows = [row for row in drawing.rows if row["encoding"] == run.encoding]
        assert {(row["token"], row["position"]): row["mass"] for row in rows} == {
            (t, k): histograms[t, k] for t, k in np.argwhere(histograms >= 1e-3).tolist()
        }
        assert all(row["trained"] == (row["token"] < TRAINED) for row in rows)


def test_gate_entropy_is_drawn_by_token_and_by_kind(trained: tuple[Sources, str]) -> None:
    given, name = trained
    drawing = prism_positions._sharpened_runs(given, protocol=name)
    on_the_page(drawing.shown)
    runs = prism_positions.runs_by_sharpening(given, name)["copy"]["learned"]
    beyond, within = ([prism_positions.read_positions(run, given.store, scale) for run in runs] for scale in (4, 2))
    by_token, by_kind = panel(drawing.shown, "tokens:copy"), panel(drawing.shown, "kinds:copy")
    assert line(by_token, "run") == [list(read.gate_entropy) for read in beyond]
    means = np.mean([read.gate_entropy for read in beyond], axis=0)
    assert [line(by_token, kind)[0] for kind in prism_positions.KINDS] == [
        means[:4].tolist(), means[4:5].tolist(), means[5:].tolist(),
    ]  # fmt: skip
    for kind in prism_positions.KINDS:
        for place, read in enumerate((within, beyond)):
            assert line(by_kind, f"{kind}:{place}") == [[positions.entropy_of(kind) for positions in read]]
    assert len(drawing.rows) == len(runs) * (TOKENS + TRAINED)


def test_both_ways_of_sharpening_are_drawn(trained: tuple[Sources, str]) -> None:
    given, name = trained
    drawing = prism_positions._both_arms(given, protocol=name)
    on_the_page(drawing.shown)
    above, below = panel(drawing.shown, "exact match:copy"), panel(drawing.shown, "entropy:copy")
    for arm, runs in prism_positions.runs_by_sharpening(given, name)["copy"].items():
        scores = [given.store.final_exact_match(run) for run in runs]
        assert line(above, f"run:{arm}") == [[score[scale] for scale in range(1, 5)] for score in scores]
        assert line(above, f"middle:{arm}") == [[median(score[n] for score in scores) for n in range(1, 5)]]
        read = [prism_positions.read_positions(run, given.store, 4).histogram_entropy for run in runs]
        assert line(below, f"run:{arm}") == [list(values) for values in read]
        assert line(below, f"middle:{arm}") == [np.mean(read, axis=0).tolist()]
    assert {row["measure"] for row in drawing.rows} == {"exact match", "entropy, bits"}
