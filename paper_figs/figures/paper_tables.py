"""Tables of tasks, formats and relations, and of runs: hyper-parameters, coverage of operator entries, results."""

from collections.abc import Sequence
from dataclasses import asdict
from statistics import fmean, median

import numpy as np

from lengthgen.circuits.analysis import analyse
from lengthgen.circuits.encoding_spec import ENCODINGS, EncodingSpec, HintNeeded, NoRelation, option_text, relation_of
from lengthgen.circuits.formats import in_format
from lengthgen.circuits.task import Task
from lengthgen.circuits.tasks import TASKS, load
from lengthgen.empirical.experiment.outcome import by_checkpoint
from lengthgen.empirical.experiment.protocol import Protocol
from lengthgen.empirical.experiment.protocol import names as protocol_names
from lengthgen.paper_figs.declaration import Entry, each_protocol
from lengthgen.paper_figs.saving import Drawing, Printed, plain_table
from lengthgen.paper_figs.seed_scores import interval
from lengthgen.paper_figs.sources import Needs, Sources, model_sizes
from lengthgen.paper_figs.style import look
from lengthgen.theory.relation import NO_LABEL

SHOWN_SCALE = 3
"""Scale of the instances that are shown."""
TRAIN, TEST = 5, 20
"""Largest training and test scale of Figure 2, at which lengths and labels are counted."""


def tasks() -> Drawing:
    """Table of all built-in tasks, with one instance each."""
    rows: list[dict[str, object]] = []
    for name in TASKS:
        task = load(name)
        prompt, output = _instance(task, SHOWN_SCALE)
        rows.append(
            {
                "task": name,
                "symbols": len(task.alphabet),
                "prompt": prompt,
                "output": output,
                "slots": task.reference.arity if task.reference else "unbounded",
            }
        )
    caption = (
        f"Tasks, each with an instance of scale {SHOWN_SCALE} drawn at random: prompt and generated output. Symbols: "
        "size of the alphabet; slots: arity of the reference circuit [F], unbounded where no circuit of bounded arity "
        "is known."
    )
    return plain_table(rows, caption, "lrllr")


def formats() -> Drawing:
    """Table of the six tasks in both formats: an instance, and the number of tokens at three scales."""
    rows: list[dict[str, object]] = []
    for name in ("copy", "shift", "parity", "addition", "multiplication", "division"):
        plain = load(name)
        for format_name in ("unaligned", "aligned"):
            small = in_format(plain, format_name, largest_scale=SHOWN_SCALE)
            large = in_format(plain, format_name, largest_scale=TEST)
            lengths = {scale: len("".join(_tokens(large, scale))) for scale in (1, TRAIN, TEST)}
            rows.append(
                {
                    "task": name,
                    "format": format_name,
                    "instance": " -> ".join(_instance(small, SHOWN_SCALE - 1)),
                    **{f"length at {scale}": length for scale, length in lengths.items()},
                }
            )
    caption = (
        f"Formats: an instance of scale {SHOWN_SCALE - 1}, aligned to scale {SHOWN_SCALE} (operands padded with _ to "
        f"one width and two more), and the tokens of an instance of scales 1, {TRAIN} and {TEST}, there aligned to "
        f"scale {TEST}."
    )
    return plain_table(rows, caption, "lllrrr")


def relations() -> Drawing:
    """Table of encodings with their position relation, and its number of labels on Parity."""
    analysis = analyse(load("parity"), "aligned", TEST)
    rows: list[dict[str, object]] = []
    for name, record in ENCODINGS.items():
        spec = EncodingSpec(name=name)
        try:
            relation = relation_of(spec, analysis.circuit)
        except (HintNeeded, NoRelation) as reason:
            relation_name, hint, counts = "none", "-", {TRAIN: "-", TEST: "-"}
            assert str(reason)
        else:
            relation_name, hint = relation.name, "yes" if relation.scale_hint else "no"
            counts = {
                scale: str(_label_count(relation.labels(analysis.traces[scale - 1].length, scale)))
                for scale in (TRAIN, TEST)
            }
        rows.append(
            {
                "encoding": look(name).label,
                "what": record.summary,
                "relation": relation_name,
                "scale hint": hint,
                "parameters": ", ".join(
                    f"{key} = {option_text(option.default)}" for key, option in record.options.items()
                )
                or "-",
                **{f"labels at {scale}": count for scale, count in counts.items()},
            }
        )
    caption = (
        "Encodings and the relation by which each tells pairs of positions apart [F], with the number of labels in use "
        f"on Parity, operands padded to scale {TEST}, at scales {TRAIN} and {TEST}. None: a pair of "
        "positions has no label of its own, because positions are drawn anew for each batch, or tokens or a graph "
        "decide the score. Learned labels (LBPE): the labels that training should find."
    )
    return plain_table(rows, caption, "lllllrr")


def _label_count(matrix: np.ndarray) -> int:
    return len(set(np.unique(matrix).tolist()) - {NO_LABEL})


def _tokens(task: Task, scale: int) -> list[str]:
    prompts = task.sample_prompts(scale, 1, np.random.default_rng(0))
    return [task.alphabet[number] for number in task.sequences(scale, prompts)[0].tolist()]


def _instance(task: Task, scale: int) -> tuple[str, str]:
    tokens = _tokens(task, scale)
    length = len(task.choices(scale))
    return " ".join(tokens[:length]), " ".join(tokens[length:])


def hyperparameters(protocols: Sequence[Protocol]) -> Drawing:
    """Table of hyper-parameters: a line for each setting, a column for each protocol, all under one profile."""
    settings = {protocol.name: _settings(protocol) for protocol in protocols}
    rows: list[dict[str, object]] = [
        {"setting": name, **{protocol: values[name] for protocol, values in settings.items()}}
        for name in next(iter(settings.values()))
    ]
    caption = (
        f"How models are trained and tested, profile {protocols[0].profile_name}, by protocol. AdamW, a half cosine to "
        "0 after the first learning rate; pre-norm decoder, GELU network four times as wide. Only samples, epochs, "
        "checkpoints and test samples of the profile `paper` are stated by arXiv 2510.04130 [P]; the rest is our "
        "choice."
    )
    return plain_table(rows, caption, "l" + "r" * len(settings))


def _settings(protocol: Protocol) -> dict[str, str]:
    profile = protocol.profile
    training = asdict(profile.training) | {
        "schedule_epochs": profile.training.schedule_epochs or profile.training.epochs
    }
    return {
        "model (width, layers, heads)": "; ".join(f"{m.width}, {m.layers}, {m.heads}" for m in profile.models),
        "seeds": str(profile.seeds),
        "training scales": f"{protocol.train[0]}-{protocol.train[-1]}",
        "test scales": f"{protocol.test[0]}-{protocol.test[-1]}",
        **{name.replace("_", " "): f"{value or 0:g}" for name, value in training.items()},
        "test samples a scale": str(profile.evaluation.samples),
        "solved from": f"{profile.evaluation.threshold:g}",
    }


def coverage(sources: Sources, *, protocol: str) -> Drawing:
    """Table of coverage: share of test steps whose operator entry occurs in the training set, by task and scale."""
    loaded = sources.protocol(protocol)
    beyond = [scale for scale in loaded.test if scale not in loaded.train]
    columns_of_scales = sorted({loaded.train[-1], *beyond[:: max(1, len(beyond) // 4)], beyond[-1]})
    rows: list[dict[str, object]] = []
    shares_of: dict[tuple[str, str], list[dict[int, float]]] = {}
    for condition, runs in sources.runs_of_size(protocol).items():
        for rows_of_run in sources.metrics(runs):
            last = [*by_checkpoint(rows_of_run).values()][-1]
            runs_of_task = shares_of.setdefault((condition.task.title, condition.task.format), [])
            runs_of_task.append({scale: last[scale].seen_steps for scale in loaded.test})
    for (task, form), shares in shares_of.items():
        mean = {scale: fmean(share[scale] for share in shares) for scale in loaded.test}
        rows.append(
            {
                "task": task,
                "format": form,
                "runs": len(shares),
                **{f"n = {scale}": mean[scale] for scale in columns_of_scales},
                "beyond training": fmean(mean[scale] for scale in beyond),
                "least": min(share[scale] for share in shares for scale in beyond),
            }
        )
    lines = [[f"{value:.3f}" if isinstance(value, float) else str(value) for value in row.values()] for row in rows]
    caption = (
        f"Coverage, protocol {loaded.name}: the share of test steps whose operator entry (operator and tokens in its "
        "essential slots [F]) occurs in the training set of the run: the mean over runs by scale, the mean over all "
        "scales beyond training, and the least value of any run and scale there. A failure at a step that training "
        "never showed is no evidence against an encoding."
    )
    columns = "llr" + "r" * (len(columns_of_scales) + 2)
    return Drawing(shown=Printed(headings=[*rows[0]], lines=lines, columns=columns), rows=rows, caption=caption)


def results(sources: Sources, *, protocol: str) -> Drawing:
    """Table of results of the main model size: runs that fit and that generalize, exact match at the last scale."""
    loaded = sources.protocol(protocol)
    threshold, last = loaded.profile.evaluation.threshold, loaded.test[-1]
    rows: list[dict[str, object]] = []
    lines: list[list[str]] = []
    for task, cells in sources.cells(protocol).items():
        for cell in cells:
            fit, solved = (cell.solved(scales, threshold) for scales in (loaded.train, cell.scales))
            low, high = interval(solved, cell.seeds)
            middle, least, greatest = (statistic(cell.exact_match[last]) for statistic in (median, min, max))
            names = {"task": task, "format": cell.format, "encoding": look(cell.encoding).label}
            counts: dict[str, float] = {"runs": cell.seeds, "fit": fit, "generalize": solved, "low": low, "high": high}
            at_last = {f"median at {last}": middle, f"least at {last}": least, f"greatest at {last}": greatest}
            rows.append({**names, **counts, **at_last})
            shares = [f"{fit}/{cell.seeds}", f"{solved}/{cell.seeds}", f"{low:.2f}-{high:.2f}"]
            lines.append([*names.values(), *shares, f"{middle:.3f}", f"{least:.3f}-{greatest:.3f}"])
    caption = (
        f"Results of protocol {loaded.name}, profile {loaded.profile_name}, models of "
        f"{model_sizes(loaded.profile.models[0])}, last checkpoint: runs that solve all training scales (fit) and all "
        f"scales up to {last} (generalize, with the exact 95% interval of its share), a scale being solved from an "
        f"exact match of {threshold:g} on; exact match at scale {last}, median and range over runs."
    )
    headings = ("task", "format", "encoding", "fit", "generalize", "95%", f"median at n = {last}", "range")
    return Drawing(shown=Printed(headings=headings, lines=lines, columns="lllrrrrr"), rows=rows, caption=caption)


FIGURES = (
    Entry(place=200, name="table-tasks", title="Tasks, with an instance of each (table)", make=lambda _: tasks()),
    Entry(place=210, name="table-formats", title="Formats of the six tasks (table)", make=lambda _: formats()),
    Entry(place=220, name="table-relations", title="Encodings and their relations (table)", make=lambda _: relations()),
    Entry(
        place=240,
        name="table-hyperparameters",
        title="How models are trained (table)",
        make=lambda sources: hyperparameters([sources.protocol(name) for name in protocol_names()]),
    ),
    each_protocol("results", "fit, generalization, exact match of every cell (table)", results, place=520),
    each_protocol(
        "coverage", "share of test steps that training shows (table)", coverage, place=530, needs=Needs(record=())
    ),
)
