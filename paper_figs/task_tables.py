"""Tables of tasks, of their formats, and of encodings with their position relations."""

import numpy as np

from lengthgen.circuits.analysis import analyse
from lengthgen.circuits.encoding_spec import ENCODINGS, EncodingSpec, HintNeeded, NoRelation, relation_of
from lengthgen.circuits.formats import in_format
from lengthgen.circuits.task import Task
from lengthgen.circuits.tasks import TASKS, load
from lengthgen.paper_figs.declaration import Entry
from lengthgen.paper_figs.saving import Drawing, plain_table
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
                "parameters": ", ".join(f"{key} = {option.default}" for key, option in record.options.items()) or "-",
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


FIGURES = (
    Entry(place=200, name="table-tasks", title="Tasks, with an instance of each (table)", make=lambda _: tasks()),
    Entry(place=210, name="table-formats", title="Formats of the six tasks (table)", make=lambda _: formats()),
    Entry(place=220, name="table-relations", title="Encodings and their relations (table)", make=lambda _: relations()),
)
