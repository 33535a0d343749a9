"""Modular addition from text (arXiv 2601.04283): a classifier of expressions at other positions than in training."""

COMMANDS = {
    "modular-addition": {
        "after": "text",
        "module": "modular_command",
        "line": "Train classifiers of additions written as text",
        "resumes": True,
    }
}
