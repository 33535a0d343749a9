"""Judge the recorded cells of `quick` again, by the variants of the rule that were stored after its runs.

    python docs/results/quick-variants/judge_again.py > docs/results/quick-variants/cells.json

The observations are those of docs/results/quick, which stay as they were made; only predictions are computed. The
script prints an object per cell: its name, what was observed (null: no run fits, or a tie), the answer of each rule
(null: no prediction), and the reason of the rule with distractors. It stops if it does not get the recorded prediction.
The table of the README is printed on stderr.
"""

import json
import sys
from collections import Counter
from pathlib import Path

from lengthgen.circuits.analysis import Analysis, analyse
from lengthgen.circuits.encoding_spec import parse_encoding
from lengthgen.circuits.prediction import predict
from lengthgen.circuits.prediction_record import RULES
from lengthgen.circuits.tasks import TaskSpec
from lengthgen.empirical.experiment.protocol import load_protocol, names

RECORD = Path(__file__).parents[1] / "quick"


def main() -> None:
    """Print the cells of all protocols that were recorded."""
    answers = []
    for name in names():
        recorded = json.loads((RECORD / name / "conjecture.json").read_text())
        protocol = load_protocol(name, "quick")
        analyses: dict[TaskSpec, Analysis] = {}
        cells = {(cell.task.key, cell.task.format, cell.encoding): cell for cell in protocol.cells}
        for cell in recorded["cells"]:
            print(name, cell["task"], cell["format"], cell["encoding"], file=sys.stderr)
            spec = cells[cell["task"], cell["format"], cell["encoding"]].task
            if spec not in analyses:
                analyses[spec] = analyse(spec.plain(), spec.format, protocol.test[-1])
            encoding = parse_encoding(cell["encoding"])
            prediction = predict(analyses[spec], encoding, train=protocol.train, test=protocol.test)
            if cell["predicted"] != prediction.generalizes:
                raise SystemExit(f"{name}: the recorded prediction of {cell['task']} {cell['encoding']} is another one")
            why = prediction.distractors and prediction.distractors.why
            rules = {rule: prediction.says(rule) for rule in RULES}
            place = {key: cell[key] for key in ("task", "format", "encoding")}
            answers.append({"protocol": name, **place, "observed": cell["observed"], **rules, "distractors_why": why})
    print(json.dumps(answers, indent=1))
    for rule, name in RULES.items():
        counts = Counter((cell[rule], cell["observed"]) for cell in answers)
        row = [counts[predicted, observed] for predicted in (True, False) for observed in (True, False)]
        print(f"| {name} | {' | '.join(map(str, row))} | {row[0] + row[3]} of {sum(row)} |", file=sys.stderr)


if __name__ == "__main__":
    main()
