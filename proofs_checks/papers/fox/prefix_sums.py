"""Path sums from running sums: what is lost in narrow numbers, and how not to lose it (errata F24)."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from proofs_checks.claim import Claim, Evidence, Refuted, Strength
from proofs_checks.papers.fox.source import source
from theory.encodings import fox

Gates = NDArray[np.float32]
PathSum = Callable[[Gates, int, int], float]
Tolerance = Callable[[int, float], float]

DISTANCES = (1, 20, 200, 2000)
_BLOCK = 64
_UNIT = float(np.finfo(np.float32).eps) / 2
_KEY, _QUERY = sp.symbols("i j", integer=True)


def after_a_hard_run() -> Gates:
    """65,536 log gates: 5,000 of -30, which no model would notice again, then log 0.999."""
    gates = np.full(65536, math.log(0.999), dtype=np.float32)
    gates[:5000] = -30
    return gates


def slow_decay() -> Gates:
    """4,096 log gates log 0.999."""
    return np.full(4096, math.log(0.999), dtype=np.float32)


def blockwise(gates: Gates, key: int, query: int) -> float:
    """float32: what the query's block holds up to the query, and what there is from its start back to the key."""
    start = max(query // _BLOCK * _BLOCK, key + 1)
    within, before = gates[start : query + 1], gates[key + 1 : start][::-1]
    return float(sum((np.cumsum(part)[-1] for part in (within, before) if len(part)), start=np.float32(0)))


def global_prefix(gates: Gates, key: int, query: int) -> float:
    """float32: c_j - c_i, c running over the whole sequence."""
    running = np.cumsum(gates)
    return float(running[query] - running[key])


def bfloat16_prefix(gates: Gates, key: int, query: int) -> float:
    """bfloat16: c_j - c_i, every gate and every step of c rounded."""
    running, total = [], np.float32(0)
    for gate in gates:
        total = _bfloat16(total + _bfloat16(gate))
        running.append(total)
    return float(_bfloat16(running[query] - running[key]))


def _bfloat16(value: Any) -> Any:
    """The float32 with the last 16 bits rounded away, half to even."""
    bits = int(np.float32(value).view(np.uint32))
    kept = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
    return np.uint32(kept).view(np.float32)


def accurate(*, path_sum: PathSum, gates: Callable[[], Gates], tolerance: Tolerance) -> Evidence:
    """Decide that sums to the last token are within the tolerance, for keys at some distances from it."""
    log_gates = gates()
    query = len(log_gates) - 1
    _, first, last = fox.path_bias(key=_KEY, query=_QUERY).limits[0]
    facts, lost = [], []
    for distance in DISTANCES:
        at = {_KEY: query - distance, _QUERY: query}
        exact = math.fsum(log_gates[int(first.subs(at)) : int(last.subs(at)) + 1].tolist())
        found, wide = (one(log_gates, query - distance, query) for one in (path_sum, _float64_prefix))
        off, allowed = abs(found - exact), tolerance(distance, abs(exact))
        facts.append(
            f"{distance} gates, D = {exact:.4g}: off by {off:.1g}, allowed {allowed:.1g}; by {abs(wide - exact):.1g} "
            "from a float64 prefix"
        )
        if not off <= allowed:
            lost.append(f"{distance} gates: {found:.4g} for {exact:.4g}, off by {off:.2g}, more than {allowed:.1g}")
    if lost:
        raise Refuted(f"T = {len(log_gates)}, {'; '.join(lost)}")
    return Evidence(
        strength=Strength.NUMERIC,
        facts=(f"running sum at the end: {math.fsum(log_gates.tolist()):.4g}", *facts),
        assumptions=(
            f"gates of {gates.__name__}, T = {len(log_gates)}, keys {DISTANCES} before the last token",
            "tolerance: one rounding of each addition, as all terms have one sign",
        ),
    )


def _float64_prefix(gates: Gates, key: int, query: int) -> float:
    running = np.cumsum(gates.astype(np.float64))
    return float(running[query] - running[key])


CLAIMS = (
    Claim(
        id="fox-11",
        source=source("running sums of log gates in the released code"),
        statement="A path sum taken from its own block on is right to float32's digits whatever came before; read off "
        "a float32 running sum it is lost after a run of strongly forgetting gates, in bfloat16 at once (errata F24).",
        latex=r"|\hat D-D|\le nu\,|D|\ \text{blockwise};\quad |\hat c_j-\hat c_i-D|\sim u\,|c|",
        label="F",
        check=accurate,
        holds={
            "path_sum": blockwise,
            "gates": after_a_hard_run,
            "tolerance": lambda terms, size: 1.01 * terms * _UNIT * size,
        },
        falsifiers={
            "float32 prefix over the whole sequence": {"path_sum": global_prefix},
            "float32 prefix accurate to 0.1": {"path_sum": global_prefix, "tolerance": lambda terms, size: 1e-1},
            "bfloat16 prefix of 4096 gates accurate to 0.01": {
                "path_sum": bfloat16_prefix,
                "gates": slow_decay,
                "tolerance": lambda terms, size: 1e-2,
            },
        },
    ),
)
