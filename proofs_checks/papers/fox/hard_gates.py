"""Gates of 0 and 1: a token that resets, and what it and its successors then see."""

from collections.abc import Callable
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from proofs_checks.claim import Claim, Evidence, Refuted, Strength
from proofs_checks.papers.fox.source import source
from theory.encodings import fox

Words = NDArray[np.int64]
Visible = Callable[[Words, int, int], NDArray[np.bool_]]

_TOKENS = 8


def same_block(words: Words, key: int, query: int) -> NDArray[np.bool_]:
    """Whether no gate after the key, up to the query, is 0: a token with gate 0 begins a block."""
    blocks: Words = (words == 0).cumsum(1)
    return np.equal(blocks[:, key], blocks[:, query])


def block_causal(*, visible: Visible, gates_of: Callable[[Words], Words]) -> Evidence:
    """Decide that F_ij, for every word of gates in {0, 1}, is 1 where the key is visible and 0 elsewhere."""
    words: Words = np.array(np.meshgrid(*[[0, 1]] * _TOKENS, indexing="ij")).reshape(_TOKENS, -1).T
    symbols = sp.symbols(f"f:{_TOKENS}", positive=True)
    logarithms = {fox.LOG_GATES[at]: sp.log(symbol) for at, symbol in enumerate(symbols)}
    columns = gates_of(words).T
    for query in range(_TOKENS):
        for key in range(query + 1):
            gate = fox.path_gate(key=sp.Integer(key), query=sp.Integer(query)).doit().subs(logarithms)
            found: Any = np.broadcast_to(sp.lambdify(symbols, gate, "numpy")(*columns), len(words))
            wrong = np.flatnonzero(found != visible(words, key, query))
            if len(wrong):
                word = "".join(map(str, words[wrong[0]]))
                raise Refuted(f"word {word}: F = {int(found[wrong[0]])} for key {key} and query {query}")
    return Evidence(
        strength=Strength.EXHAUSTIVE,
        reach=f"{_TOKENS} gates",
        facts=(
            f"all {len(words)} words of {_TOKENS} gates, all {_TOKENS * (_TOKENS + 1) // 2} pairs: F_ij is the mask",
        ),
        assumptions=("gates 0 and 1, the limits of sigmoid gates", f"up to {_TOKENS} tokens"),
    )


CLAIMS = (
    Claim(
        id="fox-13",
        source=source("what data-dependent gates can do"),
        statement="With gates of 0 and 1 attention is causal within blocks: a token of gate 0 begins a block, stays "
        "visible in it and hides all that came before.  One gate for all tokens cannot do this. "
        "Decided on all words of 8 gates.",
        latex=r"f\in\{0,1\}^T:\ F_{ij}=\mathbb 1[\text{no } f_l=0,\ i<l\le j]",
        label="F",
        check=block_causal,
        holds={"visible": same_block, "gates_of": lambda words: words},
        falsifiers={
            "the separator is hidden too": {
                "visible": lambda words, key, query: (words[:, key : query + 1] != 0).all(1) | (key == query)
            },
            "the separator sees what is before it": {
                "visible": lambda words, key, query: (words[:, key + 1 : query] != 0).all(1)
            },
            "one gate for all tokens": {"gates_of": lambda words: np.repeat(words[:, :1], _TOKENS, axis=1)},
        },
    ),
)
