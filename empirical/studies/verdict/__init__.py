"""Verdicts on predictions: answers that are frozen first, seeds that derive from them, and judgement of the runs."""

COMMANDS = {
    "verdict": {
        "after": "conjecture",
        "module": "verdict_command",
        "line": "Judge rules of prediction by runs on random tasks",
        "resumes": True,
    }
}
FIGURES = ("cell_figures", "rule_figures")
VIEW = "report_view"
WEAK = frozenset({"name", "k-sparse", "encodings-order"})
"""Rules that always-no beats: registered opponents that show little."""
