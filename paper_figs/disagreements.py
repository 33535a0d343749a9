"""Table of the cells whose runs disagree with their prediction, with possible explanations of each."""

from lengthgen.paper_figs.names import short_task_names
from lengthgen.paper_figs.saving import Drawing, Printed
from lengthgen.paper_figs.trial_cells import (
    Trial,
    judging_rule,
    key_of,
    label_of,
    main_cells,
    main_rule,
    predicted_text,
    predicting_rule,
    run_counts,
    trial_figure,
    yes_no,
)

HEADINGS = ("task", "format", "encoding", "predicted", "literal", "generalize | fit", "verdict", "e against", "finding")


def drawing(trial: Trial, protocol: str) -> Drawing:
    """Table of the cells that disagree with their prediction or with the literal rule."""
    shown = {main_rule(trial), "literal"}
    disagreeing = [cell for cell in main_cells(trial) if shown & {*cell["disagrees_with"]}]
    rows: list[dict[str, object]] = [
        {
            **key_of(cell),
            **{key: yes_no(cell[key]) for key in ("predicted", "literal")},
            "generalize": cell["generalizes_given_fit"]["successes"],
            "fit": cell["generalizes_given_fit"]["trials"],
            "verdict": cell["verdict"],
            "e_against": cell["e_against"],
            "disagrees_with": " ".join(cell["disagrees_with"]),
            "findings": "; ".join(f"{finding['kind']}: {finding['says']}" for finding in cell["diagnosis"]),
        }
        for cell in disagreeing
    ]
    names = short_task_names(cell["task"] for cell in main_cells(trial))
    lines = [
        (
            names[cell["task"]],
            cell["format"],
            label_of(cell),
            predicted_text(cell, main_rule(trial)),
            yes_no(cell["literal"]),
            run_counts(cell["generalizes_given_fit"]),
            cell["verdict"],
            "-" if cell["e_against"] is None else f"{cell['e_against']:.3g}",
            "; ".join(finding["kind"] for finding in cell["diagnosis"]) or "-",
        )
        for cell in disagreeing
    ]
    cell_count = len(main_cells(trial))
    caption = (
        f"Cells of protocol {protocol} that disagree with their prediction or with the literal rule: "
        f"{len(disagreeing)} of {cell_count}; "
        f"{judging_rule(trial)}. "
        f"Predicted: {predicting_rule(trial)}; literal: by equal complexity alone. Generalize | fit: runs "
        "that solve every scale, out of the runs that fit. e against: e-value against "
        "the prediction; 20 or more decides a cell alone, and e-BH decides cells together. The CSV file has the "
        "findings in full."
    )
    empty_rows: list[dict[str, object]] = [{"task": "none"}]
    empty_lines = [("none", *[""] * (len(HEADINGS) - 1))]
    return Drawing(
        shown=Printed(headings=HEADINGS, lines=lines or empty_lines, columns="lllllllrp{3.2cm}"),
        rows=rows or empty_rows,
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
