"""Relative position encodings with a learned key and value vector for each label of a relation, clipped or not.

Source: Shaw et al., arXiv 1803.02155, eq. 3 and 4.
"""

from lengthgen.theory.encodings.encoding import Encoding, Option
from lengthgen.theory.relation import clipped_relative, relative

LABEL_VECTORS = "it is a learned vector for each label of its relation, and nothing else of a position"

RPE = Encoding(
    name="rpe",
    title="RPE",
    arxiv="1803.02155",
    aliases=("relative", "shaw"),
    summary="relative",
    no_formula=LABEL_VECTORS,
    relation=relative(),
)

CLIPPED = Encoding(
    name="clipped",
    title="clipped RPE",
    arxiv="1803.02155",
    summary="relative, clipped",
    options={"limit": Option(default=8, least=0, most=1_000_000)},
    no_formula=LABEL_VECTORS,
    relation=clipped_relative(8),
    relation_of=lambda circuit, limit: clipped_relative(limit),
)
ENCODINGS = (RPE, CLIPPED)
