"""T5 beyond its buckets: where they saturate, what far keys see, and how long ALiBi is one of its tables."""

from itertools import combinations
from typing import Any

import sympy as sp

from lengthgen.proofs_checks.facts import Formula
from lengthgen.proofs_checks.formulas import alibi
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.proofs_checks.papers.t5 import BEYOND, PLACE, RELEASED, RULE, SOURCE, causal_rule, row
from lengthgen.theory.encodings import biases
from lengthgen.theory.encodings.biases import T5_BUCKETS, T5_LONGEST

CLAIMS = PaperClaims(SOURCE)
_ANY_SLOPE: dict[str, Any] = RELEASED | {"assumptions": (*RELEASED["assumptions"], "any slope m > 0")}


@CLAIMS.claim(
    "t5-2",
    RULE,
    r"\beta(D)=31\iff D\ge 113",
    **RELEASED,
    answers=("first",),
    falsifiers={
        "the rule for distances up to 64": {"bucket": causal_rule(T5_BUCKETS, 64)},
        "the rule of 31 buckets": {"bucket": causal_rule(T5_BUCKETS - 1, T5_LONGEST)},
    },
)
def saturation(bucket: Formula = biases.t5_bucket, first: int = 113) -> Facts:
    """All distances from 113 on share bucket 31, and no nearer one has it. Decided for the released rule of the
    decoder: 32 buckets, up to distance 128.
    """
    last = T5_BUCKETS - 1
    refute(bucket(BEYOND) != last, f"distance 128 + k has bucket {bucket(BEYOND)}, not {last}")
    for distance in range(T5_LONGEST + 1):
        number = int(bucket(sp.Integer(distance)))
        stated = f"saturation is said to begin at {first}"
        refute((number == last) != (distance >= first), f"distance {distance} has bucket {number}, though {stated}")
    yield f"distance {first - 1} has bucket {bucket(sp.Integer(first - 1))}, distance {first} bucket {last}"
    yield f"so have all from {first} to 128, one by one, and every 128 + k"


@CLAIMS.claim(
    "t5-4",
    RULE,
    r"\min\{F:\ D,D'\ge F\Rightarrow a_{D}/a_{D'}=e^{s_D-s_{D'}}\ \forall w\}=113",
    **RELEASED,
    answers=("first",),
    falsifiers={
        "the rule for distances up to 64": {"bucket": causal_rule(T5_BUCKETS, 64)},
        "the rule of 34 buckets": {"bucket": causal_rule(T5_BUCKETS + 2, T5_LONGEST)},
        "the bidirectional form": {"bucket": row(biases.T5_BIDIRECTIONAL)},
    },
)
def far_keys(bucket: Formula = biases.t5_bucket, first: int = 113) -> Facts:
    """Among keys at distance 113 or more, and from no smaller distance on, the attention weights depend on content
    alone for every table: there T5 is NoPE. Decided for the released rule of the decoder: 32 buckets, up to distance
    128.
    """
    last = bucket(BEYOND)
    for distance in range(first, T5_LONGEST):
        number = bucket(sp.Integer(distance))
        table = f"with w_{number} = 1 and w_{last} = 0 equal contents at these distances weigh {sp.E.n(4)} to 1"
        refute(number != last, f"distance {distance} has bucket {number}, distance 128 bucket {last}: {table}")
    refute(bucket(sp.Integer(first - 1)) == last, f"distance {first - 1} has bucket {last} too")
    content, other = sp.symbols("s s_", real=True)
    weight = sp.Symbol(str(biases.T5_WEIGHTS[last]), real=True)
    weights = [sp.exp(logit + weight) for logit in (content, other)]
    yield f"distances {first} to 127 have bucket {last} one by one, and so has every 128 + k"
    what = "ratio of the weights of two such keys, for any contents and any w"
    yield what, lambda: weights[0] / weights[1], lambda: sp.exp(content) / sp.exp(other)


@CLAIMS.claim(
    "t5-5",
    PLACE,
    r"\exists w,c:\ w[\beta(j-i)]+c_j=-m(j-i)\ \forall\,0\le i\le j<T\iff T\le 17",
    **_ANY_SLOPE,
    answers=("longest_context",),
    falsifiers={
        "the rule of 64 buckets": {"bucket": causal_rule(2 * T5_BUCKETS, T5_LONGEST)},
        "the bidirectional form": {"bucket": row(biases.T5_BIDIRECTIONAL)},
    },
)
def alibi_as_table(bucket: Formula = row(biases.T5), longest_context: int = 17) -> Facts:
    """For contexts of 17 positions some table of T5 gives any bias that depends on the distance; for longer contexts no
    table gives ALiBi's bias, not even up to a constant in each row. Decided for the released rule of the decoder: 32
    buckets, up to distance 128.
    """
    longer = longest_context + 1
    clash = _clash(bucket, longest_context)
    refute(clash, f"T = {longest_context}: {clash}")
    clash = _clash(bucket, longer)
    refute(not clash, f"T = {longer}: all {longer} distances have buckets of their own too")
    yield f"T = {longest_context}: the distances 0 to {longest_context - 1} have buckets of their own, so w_b = -m b"
    yield f"T = {longer} and so every longer context: {clash}"
    yield "a constant added to a row cancels in the difference of its two keys, so it is of no help"


def _clash(bucket: Formula, context: int) -> str:
    """Two keys of a row that share a bucket although ALiBi gives them different biases; empty if there are none."""
    buckets = [bucket(sp.Integer(distance)) for distance in range(context)]
    for near, far in combinations(range(context), 2):
        gap = sp.expand(alibi(sp.Integer(near)) - alibi(sp.Integer(far)))
        if buckets[near] == buckets[far] and not gap.is_zero:
            return f"distances {near} and {far} share bucket {buckets[near]}, and ALiBi's biases there differ by {gap}"
    return ""
