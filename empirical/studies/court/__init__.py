"""The court: theories of length generalization judged by the same results, published ones or runs of our own."""

COMMANDS = {
    "published": {
        "after": "language", "module": "court_command", "line": "List published results on length generalization",
    },
    "court": {
        "after": "published", "module": "court_command", "line": "Score theories of length generalization by results",
    },
    "strata": {
        "after": "court", "module": "court_command", "line": "Draw random questions on which two theories disagree",
    },
}  # fmt: skip
FIGURES = ("score_figures",)
VIEW = "report_view"
REPRODUCED = "court_command"
