"""Print how often predictions came true, by encoding: PYTHONPATH=. python docs/results/modular-addition/shares.py.

With the name of a condition it prints each of its evaluations: predicted, observed, accuracy of both seeds.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CONDITIONS: dict[str, dict[str, Any]] = json.loads((Path(__file__).parent / "answer.json").read_text())["conditions"]
COLUMNS = ("conditions", "decided", "rule", "expression alone", "always-breaks", "always-holds")


def lines() -> Iterator[str]:
    """Yield a line for each encoding: conditions that fit, decided evaluations, and those that each rule gets right."""
    counts: dict[str, Counter[str]] = {}
    for condition in CONDITIONS.values():
        if condition["fitted"]:
            of_encoding = counts.setdefault(condition["encoding"], Counter())
            seen = [each["observed"] for each in condition["evaluations"] if each["agree"] is not None]
            of_encoding.update(
                {
                    "conditions": 1,
                    "decided": condition["decided"],
                    "rule": condition["agree"],
                    "expression alone": condition["agree_in_expression"],
                    "always-breaks": seen.count("breaks"),
                    "always-holds": seen.count("holds"),
                }
            )
    counts["all"] = sum(counts.values(), Counter())
    for encoding, of_encoding in counts.items():
        yield f"| {encoding} | {' | '.join(str(of_encoding[column]) for column in COLUMNS)} |"


def evaluation_lines(condition: str) -> Iterator[str]:
    """Yield a line for each evaluation of a condition, in per cent."""
    for each in CONDITIONS[condition]["evaluations"]:
        shares = ", ".join(f"{100 * share:.0f}" for share in each["accuracy"])
        yield f"| {each['evaluation']} | {each['predicted']} | {each['observed']} | {shares} |"


if __name__ == "__main__":
    print("\n".join(evaluation_lines(" ".join(sys.argv[1:])) if len(sys.argv) > 1 else lines()))
