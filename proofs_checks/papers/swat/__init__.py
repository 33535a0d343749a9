"""SWAT (arXiv 2502.18845): sigmoid weights in place of softmax, a window, RoPE and balanced linear biases.

The statements are of the paper's form.  A released layer has sigmoid weights with slopes that all prefer old keys; the
other computes softmax (see theory/encodings/rotary.py).
"""

from collections.abc import Sequence

import sympy as sp

from lengthgen.proofs_checks.claim import Source
from lengthgen.theory.encodings import rotary

SOURCE = Source(paper="SWAT", arxiv="2502.18845")


def sigmoid(logit: sp.Expr) -> sp.Expr:
    """Return SWAT's weight of a key with this logit."""
    return rotary.swat_weight(logit)


def softmax(logits: Sequence[sp.Expr]) -> list[sp.Expr]:
    """Return e^l / (sum of e^l) for each logit l."""
    total = sp.Add(*map(sp.exp, logits))
    return [sp.exp(logit) / total for logit in logits]
