"""NoPE: no position encoding; only the causal mask distinguishes positions.

Source: Kazemnejad et al., arXiv 2305.19466.
"""

from lengthgen.theory.encodings.encoding import Encoding, Law
from lengthgen.theory.relation import constant

ENCODING = Encoding(
    name="nope",
    title="NoPE",
    arxiv="2305.19466",
    aliases=("none",),
    summary="none",
    relation=constant(),
    caveat="a decoder can count positions by its causal mask",
    laws=tuple(Law),
)
ENCODINGS = (ENCODING,)
