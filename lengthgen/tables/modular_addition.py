"""Modular addition from text, as tables for people."""

from collections.abc import Mapping
from statistics import fmean
from typing import Any

from rich.console import Group

from lengthgen.tables.layout import columns, percent, titled, yes_no


def modular_table(answer: Mapping[str, Any]) -> Group:
    """Return a table of the conditions, and one of all evaluations with prediction and observation."""
    summary = columns("condition", "training pairs", "A", "CC", "B, mean", "C0", "C1", "agree", "expression alone")
    detail = columns("condition", "evaluation", "accuracy", "predicted", "observed", "agree", "expression alone")
    detail.columns[0].overflow = "fold"
    for name, row in answer["conditions"].items():
        accuracy = {outcome["evaluation"]: outcome["accuracy"] for outcome in row["evaluations"]}
        shares = (row["trained"], accuracy["A"], row["agreeing"], row["mean_over_positions"])
        summary.add_row(
            name,
            *map(_mean, shares),
            _mean(accuracy["C0"]),
            _mean(accuracy.get("C1")),
            f"{row['agree']}/{row['decided']}",
            f"{row['agree_in_expression']}/{row['decided']}",
        )
        for outcome in row["evaluations"]:
            detail.add_row(
                name,
                outcome["evaluation"],
                " ".join(map(percent, outcome["accuracy"])),
                outcome["predicted"],
                outcome["observed"],
                yes_no(outcome["agree"]),
                yes_no(outcome["agree_in_expression"]),
            )
    return Group(
        titled(f"modular addition mod {answer['modulus']}, mean over seeds {answer['seeds']}", summary),
        titled(
            "predicted from labels and tokens of training, and observed, by seed",
            detail,
            "A: the inputs of training; B at n: n characters of filler; C0, C1: new words without and with markers; "
            "S at n: n hidden tokens",
            f"stored in {answer['folder']}",
            *answer["failures"],
        ),
    )


def _mean(shares: list[float] | None) -> str:
    return percent(fmean(shares) if shares else None)
