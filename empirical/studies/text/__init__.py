"""Extrapolation in text: byte-level language models trained at one length and tested at longer ones."""

COMMANDS = {
    "text": {
        "after": "relation",
        "module": "text_command",
        "line": "Train language models of text, and test longer contexts",
        "resumes": True,
    }
}
FIGURES = ("loss_figure",)
