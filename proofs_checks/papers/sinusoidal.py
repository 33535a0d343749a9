"""The sinusoidal code of the Transformer (arXiv 1706.03762, Section 3.5): a shift is a linear map of the code."""

import sympy as sp

from lengthgen.proofs_checks.claim import Source
from lengthgen.proofs_checks.facts import Formula
from lengthgen.proofs_checks.paper import Facts, PaperClaims
from lengthgen.theory.encodings import absolute

SOURCE = Source(
    paper="Attention Is All You Need", arxiv="1706.03762", place="Section 3.5, PE(pos, 2i) = sin, PE(pos, 2i+1) = cos"
)
CLAIMS = PaperClaims(SOURCE)
PLANES = "the code is a direct sum of planes, each with its own frequency, so every even width D follows"


@CLAIMS.claim(
    "sin-1",
    f"{SOURCE.place}; a linear map in the paper, that M_k is orthogonal is ours",
    r"PE(p+k)=M_k\,PE(p),\quad "
    r"M_k=\bigoplus_l\begin{pmatrix}\cos k\theta_l&\sin k\theta_l\\-\sin k\theta_l&\cos k\theta_l\end{pmatrix}",
    label="P",
    assumptions=(PLANES,),
    falsifiers={
        "M_k transposed": {"shift": lambda offset, **at: absolute.sinusoidal_shift(offset, **at).T},
        "cosine first with the same M_k": {"code": lambda p, **at: sp.Matrix(absolute.sinusoidal_code(p, **at)[::-1])},
        "twice the shift": {"shift": lambda offset, **at: absolute.sinusoidal_shift(2 * offset, **at)},
    },
)
def linear_shift(code: Formula = absolute.sinusoidal_code, shift: Formula = absolute.sinusoidal_shift) -> Facts:
    """The code of position p + k is a fixed orthogonal matrix M_k times the code of p, for every p."""
    position, offset, w = sp.symbols("p k omega", real=True)
    moving = shift(offset, frequency=w)
    moved = "M_k PE(p) = PE(p + k)"
    yield moved, lambda: moving * code(position, frequency=w), lambda: code(position + offset, frequency=w)
    yield "M_k^T M_k = I", lambda: moving.T * moving, sp.eye(2)
