"""Theories of length generalization behind one protocol: a question in, a probability or an abstention out."""

COMMANDS = {
    "language": {
        "after": "encodings", "module": "language", "line": "Is a regular language expressible in C-RASP?",
    }
}  # fmt: skip
