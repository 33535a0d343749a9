"""FoX in practice: pruning, initial timescales, rounding of running sums (errata F24), later keys, and hard gates."""

import math
from collections.abc import Callable
from typing import Any

import flint
import numpy as np
import sympy as sp
from numpy.typing import NDArray

from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength
from lengthgen.proofs_checks.identity import require_equal, same_by_sympy
from lengthgen.proofs_checks.induction import combine, empty_value, last_term
from lengthgen.proofs_checks.papers.fox import SOURCE
from lengthgen.proofs_checks.papers.fox.bias import OVER_PATHS, along_path, one_gate
from lengthgen.theory import exact
from lengthgen.theory.enclosure import enclose
from lengthgen.theory.encodings import paths

Threshold = Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr]

_KEYS, _BOUND, _MASS = 64, sp.Integer(3), sp.exp(-5)
_TINY = sp.Rational(1, 10**9)
_BITS = 100

Formula = Callable[[sp.Expr], sp.Expr]

Gates = NDArray[np.float32]
PathSum = Callable[[Gates, int, int], float]
Tolerance = Callable[[int, float], float]

DISTANCES = (1, 20, 200, 2000)
_BLOCK = 64
_UNIT = float(np.finfo(np.float32).eps) / 2
_KEY, _QUERY = sp.symbols("i j", integer=True)

Words = NDArray[np.int64]
Visible = Callable[[Words, int, int], NDArray[np.bool_]]

_TOKENS = 8


def pruned_mass(*, threshold: Threshold) -> Evidence:
    """Decide that keys with D_ij < threshold have at most the weight eps together, where |S| <= U over T keys.

    Each of them has exp(S + D) < e^(U + threshold), and there are fewer than T of them. The query's own key has D = 0
    and adds at least e^-U to the sum. So their weights sum to less than T e^(2U + threshold).
    """
    worst = _adversarial_mass(threshold)
    bound, keys, mass = sp.symbols("U T eps", positive=True)
    delta = threshold(bound, keys, mass)
    try:
        exactly = require_equal("T e^(2U + threshold) = eps", lambda: keys * sp.exp(2 * bound + delta), mass)
    except Refuted as difference:
        raise exact.Undecided(f"no row found that loses more than eps, but {difference}") from difference
    at_least_one = sp.expand_log(delta.subs({keys: 1 + keys, mass: 1 / (1 + sp.Symbol("e", positive=True))}))
    if not at_least_one.is_negative:
        raise exact.Undecided(f"the sign of {at_least_one} is not known")
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            exactly,
            f"with T + 1 keys and eps = 1/(1 + e) the threshold is {at_least_one} < 0: the query's own key stays",
            "D rises with the key's position (fox-5), so what is pruned is a prefix of the row",
            f"a row of {_KEYS} keys made to lose most, U = {_BOUND}, eps = e^-5 = {sp.N(_MASS, 4)}: {worst}",
        ),
        assumptions=("|q.k|/sqrt(d) <= U for all pairs of the row", "any T, U and eps"),
    )


def _adversarial_mass(threshold: Threshold) -> str:
    """Text on the mass that the worst row loses: S = -U for its own key, S = U and D below the threshold elsewhere.

    Raises `Refuted` if it is more than eps.
    """
    query = _KEYS - 1
    delta = threshold(_BOUND, sp.Integer(_KEYS), _MASS)
    log_gates = [-_TINY] * query + [delta - _TINY]
    terms: list[Any] = []
    with flint.ctx.workprec(_BITS):
        for key in range(query):
            _, first, last = paths.fox_bias(key=sp.Integer(key), query=sp.Integer(query)).limits[0]
            bias = sp.Add(*log_gates[int(first) : int(last) + 1])
            terms.append(enclose(sp.exp(_BOUND + bias), bits=_BITS))
        own: Any = enclose(sp.exp(-_BOUND), bits=_BITS)
        allowed: Any = enclose(_MASS, bits=_BITS)
        pruned = sum(terms)
        lost = pruned / (pruned + own)
    if lost > allowed:
        raise Refuted(
            f"T = {_KEYS}, U = {_BOUND}, eps = {allowed.str(3, radius=False)}: with S = -U for its own key, U and "
            f"D = {sp.N(delta, 5)} for the others, a row loses {lost.str(3, radius=False)} of its mass"
        )
    return f"loses {lost.str(4, radius=False)}"


def timescale(*, logit: Formula) -> Evidence:
    """Decide sigma(b) = e^(-1/T), that is -1/log sigma(b) = T, for the logit b of a timescale T; and the timescales."""
    rate = sp.Symbol("r", positive=True)
    facts = [
        same_by_sympy("sigma(b) = e^(-1/T), with r = 1/T", sp.exp(paths.fox_log_gate(logit(1 / rate))), sp.exp(-rate)),
        *_expansion(logit),
    ]
    shortest, longest = sp.Integer(2), sp.Integer(512)
    spread = paths.fox_timescales(5, shortest=shortest, longest=longest)
    tests = (
        ("ends", sp.Matrix([spread[0], spread[-1]]), sp.Matrix([shortest, longest])),
        (
            "equal ratios: T_h^2 = T_h-1 T_h+1",
            sp.Matrix([value**2 for value in spread[1:-1]]),
            sp.Matrix([before * after for before, after in zip(spread, spread[2:], strict=False)]),
        ),
        (
            "one head: the shortest",
            sp.Matrix(paths.fox_timescales(1, shortest=shortest, longest=longest)),
            sp.Matrix([shortest]),
        ),
    )
    facts += [same_by_sympy(f"timescales {', '.join(map(str, spread))}: {what}", *sides) for what, *sides in tests]
    return Evidence(strength=Strength.GENERAL, facts=tuple(facts), assumptions=("T > 0",))


def _expansion(logit: Formula) -> list[str]:
    """Facts that compare b with log T - 1/(2T) at some timescales."""
    facts = []
    for value in (1, 10, 1000):
        off: Any = enclose(logit(sp.Integer(value)) - sp.log(value), bits=_BITS)
        facts.append(f"T = {value}: b - log T = {off.str(6, radius=False)}, -1/(2T) = {-1 / (2 * value)}")
    return facts


def after_a_hard_run() -> Gates:
    """Return 65,536 log gates: 5,000 gates of -30, so that any model forgets all before them, then log 0.999."""
    gates = np.full(65536, math.log(0.999), dtype=np.float32)
    gates[:5000] = -30
    return gates


def slow_decay() -> Gates:
    """Return 4,096 log gates log 0.999."""
    return np.full(4096, math.log(0.999), dtype=np.float32)


def blockwise(gates: Gates, key: int, query: int) -> float:
    """Sum of the path in float32: the query's block up to the query, plus the rest from its start back to the key."""
    start = max(query // _BLOCK * _BLOCK, key + 1)
    within, before = gates[start : query + 1], gates[key + 1 : start][::-1]
    return float(sum((np.cumsum(part)[-1] for part in (within, before) if len(part)), start=np.float32(0)))


def global_prefix(gates: Gates, key: int, query: int) -> float:
    """Sum of the path in float32 as c_j - c_i, with c running over the whole sequence."""
    running = np.cumsum(gates)
    return float(running[query] - running[key])


def bfloat16_prefix(gates: Gates, key: int, query: int) -> float:
    """Sum of the path in bfloat16 as c_j - c_i, with every gate and every step of c rounded."""
    running, total = [], np.float32(0)
    for gate in gates:
        total = _bfloat16(total + _bfloat16(gate))
        running.append(total)
    return float(_bfloat16(running[query] - running[key]))


def _bfloat16(value: Any) -> Any:
    """The float32 with its last 16 bits rounded away, half to even."""
    bits = int(np.float32(value).view(np.uint32))
    rounded_bits = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
    return np.uint32(rounded_bits).view(np.float32)


def accurate(*, path_sum: PathSum, gates: Callable[[], Gates], tolerance: Tolerance) -> Evidence:
    """Decide that computed path sums to the last token are within the tolerance, for keys at some distances from it.

    `tolerance` takes the number of gates and the size of the exact sum.
    """
    log_gates = gates()
    query = len(log_gates) - 1
    _, first, last = paths.fox_bias(key=_KEY, query=_QUERY).limits[0]
    facts, lost = [], []
    for distance in DISTANCES:
        at = {_KEY: query - distance, _QUERY: query}
        exact = math.fsum(log_gates[int(first.subs(at)) : int(last.subs(at)) + 1].tolist())
        computed, wide_sum = (
            sum_of_path(log_gates, query - distance, query) for sum_of_path in (path_sum, _float64_prefix)
        )
        error, allowed = abs(computed - exact), tolerance(distance, abs(exact))
        facts.append(
            f"{distance} gates, D = {exact:.4g}: off by {error:.1g}, allowed {allowed:.1g}; "
            f"by {abs(wide_sum - exact):.1g} from a float64 prefix"
        )
        if not error <= allowed:
            lost.append(
                f"{distance} gates: {computed:.4g} for {exact:.4g}, off by {error:.2g}, more than {allowed:.1g}"
            )
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
    """Sum of the path as c_j - c_i in float64."""
    running = np.cumsum(gates.astype(np.float64))
    return float(running[query] - running[key])


def after_the_query(*, next_key: Callable[[sp.Expr], sp.Expr]) -> Evidence:
    """Decide the value of c_j - c_i at the next key after the query, and how it continues.

    Additivity leaves one continuation: D_ij + D_ji = D_ii = 0.
    """
    j = sp.Symbol("j", integer=True)
    total, size = sp.Symbol("D", real=True), sp.Symbol("p", positive=True)
    forward = empty_value("D_j,j+1", along_path(j, j + 1))
    gate = one_gate("D_j,j+1", forward)
    continued = along_path(j + 1, j).doit().xreplace({paths.LOG_GATES[j + 1]: gate})
    n = sp.Symbol("n", integer=True, nonnegative=True)
    added = last_term("D_j,j+n+1", along_path(j, j + n), along_path(j, j + n + 1))
    facts = (
        require_equal("D_j+1,j + D_j,j+1 = 0", lambda: continued + forward, sp.Integer(0)),
        same_by_sympy("the next key's bias", -forward.subs(gate, -size), next_key(-size)),
        require_equal(
            "one key further it is greater by p",
            lambda: -combine(along_path(j, j + n), total, added.subs(added, -size)) + total,
            size,
        ),
    )
    return Evidence(
        strength=Strength.GENERAL,
        facts=(*facts, "-log f = p > 0: a bonus, which grows without bound the further the key is after the query"),
        assumptions=("gates in (0, 1)", OVER_PATHS),
    )


def same_block(words: Words, key: int, query: int) -> NDArray[np.bool_]:
    """True if no gate after the key, up to the query, is 0: a token with gate 0 begins a block."""
    blocks: Words = (words == 0).cumsum(1)
    return np.equal(blocks[:, key], blocks[:, query])


def block_causal(*, visible: Visible, gates_of: Callable[[Words], Words]) -> Evidence:
    """Decide that F_ij, for every word of gates in {0, 1}, is 1 where the key is visible and 0 elsewhere.

    `visible` is the expected mask; `gates_of` changes the words before they are used as gates.
    """
    words: Words = np.array(np.meshgrid(*[[0, 1]] * _TOKENS, indexing="ij")).reshape(_TOKENS, -1).T
    symbols = sp.symbols(f"f:{_TOKENS}", positive=True)
    logarithms = {paths.LOG_GATES[at]: sp.log(symbol) for at, symbol in enumerate(symbols)}
    columns = gates_of(words).T
    for query in range(_TOKENS):
        for key in range(query + 1):
            gate = paths.fox_path_gate(key=sp.Integer(key), query=sp.Integer(query)).doit().subs(logarithms)
            gate_values: Any = np.broadcast_to(sp.lambdify(symbols, gate, "numpy")(*columns), len(words))
            wrong = np.flatnonzero(gate_values != visible(words, key, query))
            if len(wrong):
                word = "".join(map(str, words[wrong[0]]))
                raise Refuted(f"word {word}: F = {int(gate_values[wrong[0]])} for key {key} and query {query}")
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
        id="fox-9",
        source=SOURCE.at("adaptive computation pruning (follow-up paper and released code)"),
        statement="If |q.k|/sqrt(d) <= U, the keys of a row with D_ij < -(2U + log T) + log eps have at most the "
        "weight eps together.",
        latex=r"\sum_{i:D_{ij}<\delta}a_{ij}\le\varepsilon,\quad\delta=-(2U+\ln T)+\ln\varepsilon",
        label="P",
        check=pruned_mass,
        holds={"threshold": lambda bound, keys, mass: paths.fox_pruning_threshold(bound=bound, keys=keys, mass=mass)},
        falsifiers={
            "without 2U": {
                "threshold": lambda bound, keys, mass: paths.fox_pruning_threshold(
                    bound=sp.Integer(0), keys=keys, mass=mass
                )
            },
            "U for 2U": {
                "threshold": lambda bound, keys, mass: paths.fox_pruning_threshold(
                    bound=bound / 2, keys=keys, mass=mass
                )
            },
            "without log T": {
                "threshold": lambda bound, keys, mass: paths.fox_pruning_threshold(
                    bound=bound, keys=sp.Integer(1), mass=mass
                )
            },
        },
    ),
    Claim(
        id="fox-10",
        source=SOURCE.at("released code: initial bias of data-independent gates"),
        statement="The logit b = -log(e^(1/T) - 1) gives the gate e^(-1/T), that is -1/log f = T, exactly; b = log T "
        "only for large T.",
        latex=r"b=-\log(e^{1/T}-1)\ \Rightarrow\ -1/\log\sigma(b)=T,\quad b=\log T-\tfrac1{2T}+O(T^{-2})",
        label="P",
        check=timescale,
        holds={"logit": lambda value: paths.fox_timescale_logit(timescale=value)},
        falsifiers={
            "b = log T": {"logit": sp.log},
            "b = log T - 1/(2T)": {"logit": lambda timescale: sp.log(timescale) - 1 / (2 * timescale)},
            "b = log(e^(1/T) - 1)": {"logit": lambda timescale: -paths.fox_timescale_logit(timescale)},
        },
    ),
    Claim(
        id="fox-11",
        source=SOURCE.at("running sums of log gates in the released code"),
        statement="A path sum computed block by block is right to float32's digits whatever came before; computed from "
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
    Claim(
        id="fox-12",
        source=SOURCE.at("causal attention only"),
        statement="The bias is defined for keys up to the query: continued to later keys, c_j - c_i is positive and "
        "grows.",
        latex=r"D_{j+1,j}=-\log f_{j+1}>0",
        label="F",
        check=after_the_query,
        holds={"next_key": lambda log_gate: -log_gate},
        falsifiers={
            "not positive there": {"next_key": lambda log_gate: log_gate},
            "zero there": {"next_key": lambda log_gate: sp.Integer(0)},
        },
    ),
    Claim(
        id="fox-13",
        source=SOURCE.at("what data-dependent gates can do"),
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
