"""Do learned labels mean the roles beyond the training scales, and is the scale solved? Counts by cell, as JSON.

PYTHONPATH=. python docs/results/learned-labels/agreement.py OUT, where OUT is the folder in which learned-labels.toml
was trained.
"""

import json
import sys
from collections import Counter
from pathlib import Path

from lengthgen.empirical.experiment.store import RunStore
from lengthgen.questions.runs import relation_answer

TASKS = ("select-first", "select-middle", "second", "second_last")
"""Tasks of one output: the open queries are those of one class of tokens, so that labels should mean one role there."""


def main(out: Path) -> None:
    """Print, for each task and encoding, its runs and how often a scale is solved with all labels right, and not."""
    store, cells = RunStore(out / "runs"), {}
    for name in store.finished_names():
        run = store.look(name).run
        task = run.task.name.rpartition(":")[2]
        if task not in TASKS or run.encoding not in ("lbpe", "lbpe-sh"):
            continue
        # What a label means is decided over all scales, as `lengthgen relation` does.
        by_scale, exact_match = relation_answer(name, run.test, out=out)["scales"], store.final_exact_match(run)
        cell = cells.setdefault(f"{task}, {run.encoding}", Counter())
        cell["runs"] += 1
        for scale in run.test[len(run.train) :]:
            right = all(count["agreeing"] == count["pairs"] for count in by_scale[str(scale)].values())
            solved = exact_match[scale] >= run.evaluation.threshold
            cell[f"{'solved' if solved else 'unsolved'}, {'all labels right' if right else 'some wrong'}"] += 1
    json.dump(cells, sys.stdout, indent=1, sort_keys=True)
    print()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
