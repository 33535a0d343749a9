"""The cells that do not do as predicted, with what may lie behind each: a table."""

from paper_figs.saving import Drawing, Printed
from paper_figs.trial_cells import Trial, judged_how, key_of, label_of, main_cells, of_runs, said, trial_figure

HEADINGS = ("task", "format", "encoding", "predicted", "literal", "generalize | fit", "verdict", "p against", "finding")


def drawing(trial: Trial, protocol: str) -> Drawing:
    """Every cell that disagrees with the rule of coverage or with the literal one."""
    wrong = [cell for cell in main_cells(trial) if cell["disagrees_with"]]
    rows: list[dict[str, object]] = [
        {
            **key_of(cell),
            **{key: said(cell[key]) for key in ("predicted", "literal")},
            "generalize": cell["generalizes_given_fit"]["successes"],
            "fit": cell["generalizes_given_fit"]["trials"],
            "verdict": cell["verdict"],
            "p_against_holm": cell["p_against_holm"],
            "disagrees_with": " ".join(cell["disagrees_with"]),
            "findings": "; ".join(f"{one['kind']}: {one['says']}" for one in cell["diagnosis"]),
        }
        for cell in wrong
    ]
    lines = [
        (
            cell["task"].rpartition(":")[2],
            cell["format"],
            label_of(cell),
            said(cell["predicted"]),
            said(cell["literal"]),
            of_runs(cell["generalizes_given_fit"]),
            cell["verdict"],
            "-" if cell["p_against_holm"] is None else f"{cell['p_against_holm']:.3g}",
            "; ".join(one["kind"] for one in cell["diagnosis"]) or "-",
        )
        for cell in wrong
    ]
    every = len(main_cells(trial))
    caption = (
        f"Cells of protocol {protocol} that do not do as predicted: {len(wrong)} of {every}; {judged_how(trial)}. "
        "Predicted: by equal complexity and coverage [F]; literal: by equal complexity alone. Generalize | fit: runs "
        "that solve every scale, of those that fit. p against: of at least so many runs against the prediction if half "
        "of all were, corrected by Holm over the cells. The findings in full are in the data beside this table."
    )
    nothing: list[dict[str, object]] = [{"task": "none"}]
    blank = [("none", *[""] * (len(HEADINGS) - 1))]
    return Drawing(
        shown=Printed(headings=HEADINGS, lines=lines or blank, columns="lllllllrp{3.2cm}"),
        rows=rows or nothing,
        caption=caption,
    )


FIGURES = (
    trial_figure(
        "disagreements",
        "cells that do not do as predicted (table)",
        lambda trial, protocol, _: drawing(trial, protocol.name),
        place=570,
    ),
)
