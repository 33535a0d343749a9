"""Comparison of the relation that a finished run learned with the ideal relation of its task."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from lengthgen.circuits.roles import IRRELEVANT, Role, ideal_relation, role_labels
from lengthgen.empirical.encodings.lbpe import LBPE
from lengthgen.empirical.encodings.learned_relation import LearnedRelationError, compare, open_queries
from lengthgen.empirical.experiment.evaluation import load_trained
from lengthgen.stored import store_in, stored_run


def relation_answer(name: str, scales: Sequence[int], *, out: Path) -> dict[str, Any]:
    """Return the number of pairs whose learned label means the ideal role, at the queries of `open_queries`.

    Raises:
        StoreError: the run does not exist or is broken, or `out` is no folder.
        LearnedRelationError: the run's encoding learns no relation.
        ScaleError: as for `lengthgen.empirical.experiment.evaluation.load_trained`.
    """
    store = store_in(out)
    run = stored_run(store, name)
    setting, model = load_trained(run, store, scales, "cpu")
    [encoding] = model.encoding.each()
    if not isinstance(encoding, LBPE):
        raise LearnedRelationError(f"'{run.encoding}' of {run.id} learns no relation: name a run of lbpe or lbpe-sh")
    circuit = setting.analysis.circuit
    weights = {}
    for scale in scales:
        positions = torch.arange(setting.analysis.traces[scale - 1].length - 1)
        with torch.inference_mode():
            weights[scale] = encoding.label_weights(positions, positions, torch.tensor(scale)).numpy()
    queries = open_queries(setting.analysis)
    ideal = ideal_relation(circuit, scale_hint=True)
    comparison = compare(weights, ideal, queries={scale: queries[scale] for scale in scales})
    names = {IRRELEVANT: "irrelevant"} | {label: _role_text(role) for role, label in role_labels(circuit).items()}
    return {
        "run": run.id,
        "train": list(run.train),
        "roles": {str(label): names[label] for label in comparison.pairs},
        "meaning": {str(learned): ideal for learned, ideal in comparison.meaning.items()},
        "scales": {
            str(scale): {str(label): {"agreeing": count[0], "pairs": count[1]} for label, count in counts.items()}
            for scale, counts in comparison.scales.items()
        },
        "agreeing": {str(label): count for label, count in comparison.agreeing.items()},
        "pairs": {str(label): count for label, count in comparison.pairs.items()},
        "disagreements": [asdict(pair) for pair in comparison.disagreements],
    }


def _role_text(role: Role) -> str:
    """Return a role as text."""
    return ", ".join(f"operator {operator + 1} slot {slot}" for operator, slot in sorted(role))
