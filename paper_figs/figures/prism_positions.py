"""Positions that trained runs of PRISM give to tokens: histograms, entropy of gates, and the ablation of sharpening."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from statistics import median
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from lengthgen.circuits.encoding_spec import parse_encoding
from lengthgen.empirical.experiment.run import Run
from lengthgen.empirical.experiment.samples import TEST
from lengthgen.empirical.experiment.store import RunStore
from lengthgen.paper_figs.declaration import Entry
from lengthgen.paper_figs.names import count_text
from lengthgen.paper_figs.panels import finish, fix_layout, set_ticks, shade, trained_patch
from lengthgen.paper_figs.saving import Drawing
from lengthgen.paper_figs.sources import Needs, Sources
from lengthgen.paper_figs.style import PAGE_WIDTH, context, slot_look
from lengthgen.theory.encodings.prism import EXPONENTS

Numbers = NDArray[np.float64]

PROTOCOL = "prism"
KINDS = ("operand", "fixed", "output")
"""Kinds of tokens: those of an operand, those that every prompt of the scale has, and outputs."""
SAMPLES = 50
"""Number of test samples over which entropies are averaged."""
_KIND_LOOKS = {kind: slot_look(number) for number, kind in enumerate(KINDS, start=1)}
_ARM_LOOKS = {arm: slot_look(number) for number, arm in enumerate(EXPONENTS, start=1)}
"""Looks of the kinds of tokens, and of the ways of sharpening."""
_LEAST = 1e-3
"""Least mass that is drawn."""
_APART = 0.16
"""Distance between marks of one place, so that equal values do not hide each other."""
# Inches: height of a panel of histograms and of another one, space above histograms, a line of a legend.
_PANEL, _LOW_PANEL, _ABOVE, _LEGEND = 2.3, 1.75, 0.25, 0.17


@dataclass(frozen=True, kw_only=True, eq=False)
class TokenPositions:
    """Positions of the tokens that one run reads at one scale.

    Attributes:
        run: the run.
        scale: scale of the samples.
        symbols: symbols of the first sample.
        kinds: kind of each token, one of KINDS, the same in all samples.
        histograms: histograms of the first sample, [tokens, P].
        gate_entropy: entropy of the gates in bits, mean over the samples, [tokens].
        histogram_entropy: entropy of the histograms in bits, mean over the samples, [tokens].
    """

    run: Run
    scale: int
    symbols: tuple[str, ...]
    kinds: tuple[str, ...]
    histograms: Numbers
    gate_entropy: Numbers
    histogram_entropy: Numbers

    def entropy_of(self, kind: str) -> float:
        """Mean entropy of the gates over the tokens of a kind, in bits."""
        return float(self.gate_entropy[[own == kind for own in self.kinds]].mean())


def runs_by_sharpening(sources: Sources, protocol: str) -> dict[str, dict[str, list[Run]]]:
    """Runs of PRISM in a protocol: title of the task -> option `sharpening` -> runs."""
    chosen: dict[str, dict[str, list[Run]]] = {}
    for condition, runs in sources.runs_of_size(protocol).items():
        spec = parse_encoding(condition.encoding)
        if spec.name == "prism":
            chosen.setdefault(condition.task.title, {})[str(dict(spec.options)["sharpening"])] = runs
    return chosen


def read_positions(run: Run, store: RunStore, scale: int) -> TokenPositions:
    """Read the positions of a finished run of PRISM, on a task whose outputs do not end early.

    Raises:
        StoreError: the run is not finished, or broken.
    """
    import torch

    from lengthgen.empirical.encodings.prism import PRISM
    from lengthgen.empirical.experiment.evaluation import load_trained

    setup, model = load_trained(run, store, [scale], "cpu")
    [encoding] = model.encoding.each()
    assert isinstance(encoding, PRISM)
    read = setup.examples([scale], SAMPLES, split=TEST, seed=0).tokens[:, :-1]
    with torch.inference_mode():
        x_BLD = model.tokens(torch.from_numpy(read.astype(np.int64))[None])[0]
        gates, histograms = encoding.states(x_BLD, torch.arange(read.shape[1]))
    layout = setup.task.layout(scale)
    prompt = [KINDS[2] if allowed is None else KINDS[0] if len(allowed) > 1 else KINDS[1] for allowed in layout]
    return TokenPositions(
        run=run,
        scale=scale,
        symbols=tuple(setup.task.alphabet[token] for token in read[0]),
        kinds=(*prompt, *[KINDS[2]] * (read.shape[1] - len(prompt))),
        histograms=histograms[0].numpy(),
        gate_entropy=entropies(gates.numpy()).mean(axis=0),
        histogram_entropy=entropies(histograms.numpy()).mean(axis=0),
    )


def entropies(masses: Numbers) -> Numbers:
    """Entropy in bits of the distributions on the last axis."""
    logarithms = np.log2(masses, where=masses > 0, out=np.zeros_like(masses))
    result: Numbers = -(masses * logarithms).sum(axis=-1)
    return result


def trained_tokens(sources: Sources, protocol: str) -> Mapping[str, int]:
    """Number of tokens that a model reads at the largest training scale, by title of the task."""
    from lengthgen.empirical.experiment.ensemble import Setup

    largest = sources.protocol(protocol).train[-1]
    return {
        task: Setup.of(next(iter(arms.values()))[0], "cpu").analysis.traces[largest - 1].length - 1
        for task, arms in runs_by_sharpening(sources, protocol).items()
    }


def over_runs(read: Sequence[TokenPositions], measure: str) -> Numbers:
    """Measure of each token, mean over the runs: [tokens]."""
    values: list[Any] = [getattr(positions, measure) for positions in read]
    result: Numbers = np.mean(values, axis=0)
    return result


def _first_runs(sources: Sources, *, protocol: str) -> Drawing:
    """Draw the first run of each cell at the largest test scale: a line of panels for each task, position by token."""
    train, trained = sources.protocol(protocol).train, trained_tokens(sources, protocol)
    last = sources.protocol(protocol).test[-1]
    read = {
        task: [read_positions(runs[0], sources.store, last) for runs in arms.values()]
        for task, arms in runs_by_sharpening(sources, protocol).items()
    }
    first = next(iter(read.values()))[0]
    return Drawing(
        shown=_draw_histograms(read, trained),
        rows=[
            {
                "task": task,
                "encoding": positions.run.encoding,
                "seed": positions.run.seed,
                "scale": positions.scale,
                "token": token,
                "symbol": positions.symbols[token],
                "trained": token < trained[task],
                "position": place,
                "mass": float(mass),
            }
            for task, shown in read.items()
            for positions in shown
            for token, histogram in enumerate(positions.histograms)
            for place, mass in enumerate(histogram)
            if mass >= _LEAST
        ],
        caption=f"Histograms of positions of the tokens of one test sample of scale {first.scale}, trained on scales "
        f"{train[0]}-{train[-1]}: column t holds the histogram of token t, both counted from 0, shaded by mass "
        f"from {_LEAST:g} on, on a logarithmic scale. Framed: the tokens that training showed, "
        f"{'; '.join(f'{task} {number}' for task, number in trained.items())}, and as many positions. Dotted: end "
        f"of the prompt. The run shown is the first one (seed {first.run.seed}) of each cell.",
    )


def _draw_histograms(read: Mapping[str, Sequence[TokenPositions]], trained: Mapping[str, int]) -> Figure:
    columns = len(next(iter(read.values())))
    with context():
        figure = Figure(figsize=(PAGE_WIDTH, len(read) * _PANEL + _ABOVE), layout="constrained")
        grid = figure.subplots(len(read), columns, squeeze=False)
        for row, (task, shown) in enumerate(read.items()):
            most = max(_largest(positions) for positions in shown)
            for axes, positions in zip(grid[row], shown, strict=True):
                mesh = _draw_panel(axes, positions, trained[task], most)
                axes.set_title(f"{task}, {_arm(positions)}", fontweight="bold")
                if row == len(read) - 1:
                    axes.set_xlabel("token t")
            grid[row, 0].set_ylabel("position k")
        figure.colorbar(mesh, ax=grid, label="mass of position k in the histogram of token t", shrink=0.7, pad=0.01)
        fix_layout(figure)
    return figure


def _draw_panel(axes: Axes, positions: TokenPositions, trained: int, most: int) -> QuadMesh:
    shown = np.ma.masked_less(positions.histograms[:, : most + 1].T, _LEAST)
    edges = [np.arange(size + 1) - 0.5 for size in reversed(shown.shape)]
    axes.set_gid(f"histograms:{positions.run.task.title}:{_arm(positions)}")
    mesh = axes.pcolormesh(*edges, shown, cmap="Blues", norm=LogNorm(_LEAST, 1), gid="masses", rasterized=True)
    axes.add_patch(
        Rectangle(
            (-0.5, -0.5), trained, min(trained, most) + 1, facecolor="none", edgecolor="black", linewidth=0.8,
            gid="trained",
        )
    )  # fmt: skip
    end = positions.kinds.index(KINDS[2]) - 0.5
    axes.axvline(end, color="0.3", linewidth=0.7, linestyle=(0, (1, 2)), gid="prompt")
    axes.set(xlim=edges[0][[0, -1]], ylim=edges[1][[0, -1]])
    set_ticks(axes)
    return mesh


def _largest(positions: TokenPositions) -> int:
    """Largest position with a mass that is drawn."""
    return int(np.flatnonzero((positions.histograms >= _LEAST).any(axis=0))[-1])


def _arm(positions: TokenPositions) -> str:
    """Sharpening of a run in words."""
    return "without sharpening" if "sharpening=none" in positions.run.encoding else "sharpened"


ByTask = Mapping[str, Sequence[TokenPositions]]


def _sharpened_runs(sources: Sources, *, protocol: str) -> Drawing:
    """Draw all runs that sharpen: entropy by token at the largest scale, and by kind of token there and in training."""
    train, trained = sources.protocol(protocol).train, trained_tokens(sources, protocol)
    within, beyond = (
        {
            task: [read_positions(run, sources.store, scale) for run in arms["learned"]]
            for task, arms in runs_by_sharpening(sources, protocol).items()
        }
        for scale in (train[-1], sources.protocol(protocol).test[-1])
    )
    first, last = (next(iter(part.values()))[0] for part in (within, beyond))
    return Drawing(
        shown=_draw_gates(within, beyond, trained),
        rows=[
            {
                "task": task,
                "encoding": positions.run.encoding,
                "seed": positions.run.seed,
                "scale": positions.scale,
                "token": token,
                "kind": kind,
                "entropy_bits": float(entropy),
            }
            for part in (within, beyond)
            for task, read in part.items()
            for positions in read
            for token, (kind, entropy) in enumerate(zip(positions.kinds, positions.gate_entropy, strict=True))
        ],
        caption=f"Entropy of the four gates of PRISM (2 bits if all are equal), mean over {SAMPLES} test samples; "
        f"trained on scales {train[0]}-{train[-1]}. Left: by token at scale {last.scale}, a faint line for each run "
        f"({len(next(iter(beyond.values())))} in all) and marks for their mean; the tokens of training are "
        f"shaded. Right: by kind of token at scale {first.scale}, the largest of training, and at scale {last.scale}, "
        "a mark for each run. Kinds: operand, digits of the prompt; fixed, '='; output, digits of the output.",
    )


def _draw_gates(within: ByTask, beyond: ByTask, trained: Mapping[str, int]) -> Figure:
    with context():
        figure = Figure(figsize=(PAGE_WIDTH, len(beyond) * _LOW_PANEL + 0.3), layout="constrained")
        grid = figure.subplots(len(beyond), 2, squeeze=False, sharey="row", width_ratios=(3, 1))
        for line, (task, read) in zip(grid, beyond.items(), strict=True):
            _draw_by_token(line[0], read, trained[task])
            _draw_by_kind(line[1], within[task], read)
            line[0].set(title=task, ylabel="entropy of the gates, bits", ylim=(0, None))
            line[0].title.set_fontweight("bold")
            set_ticks(line[0])
        grid[-1, 0].set_xlabel("token t")
        handles: list[Artist] = [
            *(
                Line2D([], [], color=its.colour, marker=its.marker, linestyle="none", markersize=3.4, label=kind)
                for kind, its in _KIND_LOOKS.items()
            ),
            trained_patch("tokens that training showed"),
        ]
        finish(figure, handles, line=_LEGEND, fontsize=8, handlelength=2)
    return figure


def _draw_by_token(axes: Axes, read: Sequence[TokenPositions], trained: int) -> None:
    axes.set_gid(f"tokens:{read[0].run.task.title}")
    shade(axes, 0, trained - 1, gid="trained")
    for positions in read:
        axes.plot(positions.gate_entropy, color="0.6", linewidth=0.5, zorder=2, gid="run")
    mean, kinds = over_runs(read, "gate_entropy"), read[0].kinds
    for kind, group in groupby(range(len(kinds)), key=lambda token: kinds[token]):
        tokens, its = [*group], _KIND_LOOKS[kind]
        axes.plot(
            tokens, mean[tokens], color=its.colour, marker=its.marker, markersize=2.6, linewidth=0.8, zorder=3, gid=kind
        )
    axes.set_xlim(-0.5, len(kinds) - 0.5)


def _draw_by_kind(axes: Axes, within: Sequence[TokenPositions], beyond: Sequence[TokenPositions]) -> None:
    axes.set_gid(f"kinds:{beyond[0].run.task.title}")
    for place, read in enumerate((within, beyond)):
        for number, (kind, its) in enumerate(_KIND_LOOKS.items()):
            values = [positions.entropy_of(kind) for positions in read]
            axes.plot(
                [place + (number - 1) * _APART] * len(values), values, color=its.colour, marker=its.marker,
                linestyle="none", markersize=3.4, fillstyle="none", gid=f"{kind}:{place}",
            )  # fmt: skip
    labels = [f"scale {read[0].scale}" for read in (within, beyond)]
    axes.set(xticks=(0, 1), xticklabels=labels, xlim=(-0.5, 1.5))


Arms = Mapping[str, Sequence[TokenPositions]]
Scores = Mapping[str, Mapping[int, Sequence[float]]]
"""Option `sharpening` -> scale -> exact match of each run."""


def _both_arms(sources: Sources, *, protocol: str) -> Drawing:
    """Draw all runs, a column for each task: exact match by scale above, entropy of the histograms by token below."""
    loaded, trained = sources.protocol(protocol), trained_tokens(sources, protocol)
    runs_of, train = runs_by_sharpening(sources, protocol), loaded.train
    read = {
        task: {arm: [read_positions(run, sources.store, loaded.test[-1]) for run in runs] for arm, runs in arms.items()}
        for task, arms in runs_of.items()
    }
    scores = {
        task: {
            arm: {scale: [sources.store.final_exact_match(run)[scale] for run in runs] for scale in loaded.test}
            for arm, runs in arms.items()
        }
        for task, arms in runs_of.items()
    }
    arms = next(iter(read.values()))
    last = next(iter(arms.values()))
    rows: list[dict[str, object]] = []
    for task, by_arm in read.items():
        for arm, runs in by_arm.items():
            cell = {"task": task, "sharpening": arm}
            for scale, values in scores[task][arm].items():
                rows += [
                    cell | {"seed": positions.run.seed, "measure": "exact match", "at": scale, "value": value}
                    for positions, value in zip(runs, values, strict=True)
                ]
            for positions in runs:
                rows += [
                    cell | {"seed": positions.run.seed, "measure": "entropy, bits", "at": token, "value": float(value)}
                    for token, value in enumerate(positions.histogram_entropy)
                ]
    return Drawing(
        shown=_draw_sharpening(read, scores, trained, train),
        rows=rows,
        caption="PRISM with learned sharpening (gamma = 1 + softplus(r)) and without (gamma = 1), "
        f"{count_text(len(last), 'run')} each, trained on scales {train[0]}-{train[-1]}. Above: exact match by scale "
        "at the last "
        "checkpoint, a faint line for each run and a marked line for their median. Below: entropy of the histogram of "
        f"token t at scale {last[0].scale}, mean over {SAMPLES} test samples, a faint line for each run and a "
        "marked line for their mean. Marks of one place stand side by side. Shaded: scales of training, and tokens "
        "that training showed.",
    )


def _draw_sharpening(
    read: Mapping[str, Arms], scores: Mapping[str, Scores], trained: Mapping[str, int], train: Sequence[int]
) -> Figure:
    with context():
        figure = Figure(figsize=(PAGE_WIDTH, 2 * _LOW_PANEL + 0.3), layout="constrained")
        grid = figure.subplots(2, len(read), squeeze=False, sharey="row")
        for (above, below), (task, by_arm) in zip(grid.T, read.items(), strict=True):
            above.set_title(task, fontweight="bold")
            above.set_gid(f"exact match:{task}")
            below.set_gid(f"entropy:{task}")
            shade(above, train[0], train[-1])
            shade(below, 0, trained[task] - 1)
            for arm, runs in by_arm.items():
                scales = [*scores[task][arm]]
                by_run = [*zip(*scores[task][arm].values(), strict=True)]
                medians = [median(values) for values in scores[task][arm].values()]
                _draw_runs(above, scales, by_run, medians, arm)
                by_token = [positions.histogram_entropy.tolist() for positions in runs]
                means = over_runs(runs, "histogram_entropy").tolist()
                _draw_runs(below, range(len(means)), by_token, means, arm)
            above.set(xlabel="scale n", xlim=(scales[0] - 0.6, scales[-1] + 0.6), ylim=(-0.04, 1.04))
            below.set(xlabel="token t", xlim=(-0.6, len(means) - 0.4), ylim=(-0.04, None))
        for axes in grid.flat:
            set_ticks(axes)
        grid[0, 0].set_ylabel("exact match")
        grid[1, 0].set_ylabel("entropy, bits")
        handles: list[Artist] = [
            *(Line2D([], [], **_style(arm), label=f"sharpening {arm}") for arm in _ARM_LOOKS),
            trained_patch("in training"),
        ]
        finish(figure, handles, line=_LEGEND, fontsize=8, handlelength=2)
    return figure


def _draw_runs(
    axes: Axes, places: Sequence[int], by_run: Sequence[Sequence[float]], middle: Sequence[float], arm: str
) -> None:
    shift = _APART if arm == "none" else -_APART
    shifted, style = [place + shift for place in places], _style(arm)
    for values in by_run:
        axes.plot(shifted, values, **style | {"marker": "", "linewidth": 0.5}, alpha=0.5, zorder=2, gid=f"run:{arm}")
    axes.plot(shifted, middle, **style, zorder=3, gid=f"middle:{arm}")


def _style(arm: str) -> dict[str, Any]:
    """Keyword arguments of `Axes.plot` for the marked line of one way of sharpening."""
    its = _ARM_LOOKS[arm]
    return {
        "color": its.colour, "linestyle": its.line, "linewidth": 0.9, "marker": its.marker, "markersize": 2.8,
        "fillstyle": "none" if arm == "none" else "full",
    }  # fmt: skip


FIGURES = tuple(
    Entry(
        place=place,
        name=f"prism-{name}",
        title=title,
        make=partial(make, protocol=PROTOCOL),
        needs=Needs(protocols=(PROTOCOL,), record=()),
        least_width=PAGE_WIDTH,
    )
    for place, name, title, make in (
        (160, "histograms", "Histograms of positions of PRISM beyond training", _first_runs),
        (161, "gates", "Entropy of the gates of PRISM by token and kind", _sharpened_runs),
        (162, "sharpening", "PRISM with and without sharpening", _both_arms),
    )
)
