"""FoX: NoPE as its limit, prefixes, running sums and their rounding (errata F24), later keys, and hard gates."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from lengthgen.proofs_checks.claim import Strength
from lengthgen.proofs_checks.facts import Formula, ball, combine, empty_value, last_term, next_term, same_by_sympy
from lengthgen.proofs_checks.paper import Assumption, Facts, PaperClaims, refute
from lengthgen.proofs_checks.papers.fox import OVER_PATHS, SOURCE, along_path, i, j, one_gate, path_gate, sigmoid
from lengthgen.theory.encodings import paths
from lengthgen.theory.zero.sympy_engine import Undecided

CLAIMS = PaperClaims(SOURCE)
Gates = NDArray[np.float32]
Words = NDArray[np.int64]
DISTANCES = (1, 20, 200, 2000)
_BLOCK = 64
_UNIT = float(np.finfo(np.float32).eps) / 2
_TOKENS = 8


@CLAIMS.claim(
    "fox-3",
    "gates of the type none",
    r"0<-\log\sigma(z)\le e^{-z}",
    assumptions=("one logit z for all tokens",),
    falsifiers={
        "0, exactly NoPE": {"bound": lambda x: 0 * x},
        "at most e^-2z": {"bound": lambda x: x**2},
        "at most e^-z / 2": {"bound": lambda x: x / 2},
    },
)
def near_nope(bound: Formula = lambda x: x) -> Facts:
    """A gate is below 1 at every logit, so FoX is NoPE in the limit only: with one logit z at all tokens 0 < -D_ij <=
    (j - i) e^-z for i < j.
    """
    z, x = sp.Symbol("z", real=True), sp.Symbol("x", positive=True)
    gate = sp.exp(paths.fox_log_gate(z))
    yield "1 - sigma(z) = 1/(1 + e^z), which is positive", lambda: 1 - gate, lambda: 1 / (1 + sp.exp(z))
    room = bound(x) + paths.fox_log_gate(z).subs(sp.exp(-z), x)
    for power in (sp.Integer(2) ** exponent for exponent in range(-2, 3)):
        value = sp.N(room.subs(x, power), 15)
        refute(value < 0, f"e^-z = {power}: -log f exceeds the bound by {sp.N(-value, 5)}")
    slope = sp.together(room.diff(x))
    signs = [coefficient < 0 for part in sp.fraction(slope) for coefficient in sp.Poly(part, x).coeffs()]
    if room.subs(x, 0) != 0 or any(signs):
        raise Undecided(f"the sign of {slope} for x > 0 is not read off its coefficients")
    at_twenty = ball(-paths.fox_log_gate(sp.Integer(20)))
    rounded = np.float32(1 / (1 + np.exp(-20.0)))
    yield f"x = e^-z: bound - log(1 + x) is 0 at x = 0 and its derivative {slope} >= 0"
    yield f"-log sigma(20) = {at_twenty.str(6, radius=False)}; float32 rounds sigma(20) to {rounded}"
    yield "so |D_ij| <= (j - i) e^-z: at each distance from 1 on D tends to 0 as z grows, and is never 0"


@CLAIMS.claim(
    "fox-7",
    "the bias without position embeddings",
    r"D_{i-1,j-1}(x_{\setminus 0})=D_{ij}(x),\quad i\ge1",
    assumptions=("the log gates are given", "one token at a time, so a prefix of any length", OVER_PATHS),
    falsifiers={
        "a token between them taken out": {"key_after": lambda key: key},
        "two tokens named away": {"key_after": lambda key: key - 2},
        "gates stay where they were": {"was_at": lambda position: position},
        "on the distance alone at any gates": {"read": lambda position: sp.S.One},
    },
)
def token_removed(
    key_after: Formula = lambda key: key - 1,
    was_at: Formula = lambda position: position + 1,
    read: Formula = lambda position: position + 1,
) -> Facts:
    """Given the log gates, biases among tokens do not change when a prefix before them is removed; they depend on the
    distance alone only if all gates but the first are equal.

    `key_after` gives the key's new position, `was_at` the old position of the token now at l, `read` the token whose
    gate is the bias at distance 1.
    """

    def without(query: sp.Expr) -> sp.Sum:
        path = along_path(key_after(i), query)
        step = path.limits[0][0]
        return sp.Sum(path.function.subs(step, was_at(step)), *path.limits)

    before, D = along_path(i, j), sp.Symbol("D", real=True)
    longer = combine(before, D, next_term("D", along_path, i, j))
    longer_without = combine(without(j - 1), D, last_term("D without it", without(j - 1), without(j)))
    start = empty_value("D without it", without(i))
    yield same_by_sympy("D_ij reads no gate before that of i + 1", before.limits[0][1], i + 1)
    yield same_by_sympy("base: D_i,i+1", start, empty_value("D", along_path(i, i + 1)))
    yield same_by_sympy("step: the same gate is added", longer_without, longer)
    yield "so the gate of token 0 is never read"
    one_gate_read = sp.Symbol(str(paths.LOG_GATES[read(i)]), real=True)
    yield same_by_sympy(
        "D_i,i+1 is the log gate of the token after the key", empty_value("D", along_path(i, i + 1)), one_gate_read
    )
    yield "so biases that are equal at distance 1 for all keys have all these gates equal"


@CLAIMS.claim(
    "fox-8",
    "running sums of log gates",
    r"\mathrm{softmax}_i(S_{ij}+c_j-c_i)=\mathrm{softmax}_i(S_{ij}-c_i)",
    assumptions=(
        "any base s not after the key, so that c is defined up to a constant",
        "a row of two keys i and k; in longer rows any two weights keep their ratio, and with it all of them",
    ),
    falsifiers={
        "sigmoid attention": {"weight": sigmoid},
        "the key's part dropped": {"kept": lambda at_query, at_key: at_query},
        "+c_i": {"kept": lambda at_query, at_key: at_key},
    },
)
def gauge(weight: Formula = lambda own, rest: own / (own + rest), kept: Formula = lambda c_j, c_i: -c_i) -> Facts:
    """Only differences of the running sums matter; under softmax the query's part may be dropped as well, so that -c_i
    for the key suffices.  Under sigmoid attention it may not be dropped.
    """
    s = sp.Symbol("s", integer=True)
    D, c_j, c_i, c_k, S_i, S_k, g = sp.symbols("D c_j c_i c_k S_i S_k g", real=True)
    last, last_from_base = (next_term("D", along_path, key, j) for key in (i, s))
    path, from_base = along_path(i, j), along_path(s, j)

    def weight_under(law: Formula) -> sp.Expr:
        return weight(sp.exp(S_i + law(c_j, c_i)), sp.exp(S_k + law(c_j, c_k)))

    yield same_by_sympy("base j = i: D_ii = 0", empty_value("D_ii", along_path(i, i)), sp.S.Zero)
    step = "step: c_j+1 - c_j = D_i,j+1 - D_ij"
    yield step, lambda: combine(from_base, c_j, last_from_base) - c_j, lambda: combine(path, D, last) - D
    yield "c + g: no change", lambda: (c_j + g) - (c_i + g), lambda: c_j - c_i
    same_weight = "weight by S + c_j - c_i = weight by S + what is kept"
    yield same_weight, lambda: weight_under(lambda c_j, c_i: c_j - c_i), lambda: weight_under(kept)


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


def global_prefix(gates: NDArray[np.floating[Any]], key: int, query: int) -> float:
    """Sum of the path as c_j - c_i, with c running over the whole sequence in the dtype of the gates."""
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


@CLAIMS.claim(
    "fox-11",
    "running sums of log gates in the released code",
    r"|\hat D-D|\le1.01\,nu\,|D|\ \text{over its own }n\text{ gates};\quad |\hat c_j-\hat c_i-D|>1.01\,nu\,|D|",
    strength=Strength.NUMERIC,
    falsifiers={
        "float32 prefix over the whole sequence": {"path_sum": global_prefix},
        "float32 prefix accurate to 0.1": {"path_sum": global_prefix, "tolerance": lambda terms, size: 1e-1},
        "bfloat16 prefix of 4096 gates accurate to 0.01": {
            "path_sum": bfloat16_prefix,
            "gates": slow_decay,
            "tolerance": lambda terms, size: 1e-2,
        },
    },
)
def accurate(
    path_sum: Callable[[Gates, int, int], float] = blockwise,
    gates: Callable[[], Gates] = after_a_hard_run,
    tolerance: Callable[[int, float], float] = lambda terms, size: 1.01 * terms * _UNIT * size,
) -> Facts:
    """A path sum in float32 over its own gates is off by at most one rounding per gate whatever came before; computed
    from a float32 running sum it is lost after a run of strongly forgetting gates, from one in bfloat16 after 4,096
    weak ones as well (errata F24).
    """
    log_gates, facts, lost = gates(), [], []
    query = len(log_gates) - 1
    for distance in DISTANCES:
        key = query - distance
        _, first, last = along_path(sp.Integer(key), sp.Integer(query)).limits[0]
        exact = math.fsum(log_gates[int(first) : int(last) + 1].tolist())
        computed, wide_sum = path_sum(log_gates, key, query), global_prefix(log_gates.astype(np.float64), key, query)
        error, allowed = abs(computed - exact), tolerance(distance, abs(exact))
        facts.append(
            f"{distance} gates, D = {exact:.4g}: off by {error:.1g}, allowed {allowed:.1g}; "
            f"by {abs(wide_sum - exact):.1g} from a float64 prefix"
        )
        if not error <= allowed:
            off = f"off by {error:.2g}, more than {allowed:.1g}"
            lost.append(f"{distance} gates: {computed:.4g} for {exact:.4g}, {off}")
    refute(lost, f"T = {len(log_gates)}, {'; '.join(lost)}")
    yield f"running sum at the end: {math.fsum(log_gates.tolist()):.4g}"
    yield from facts
    yield Assumption(f"gates of {gates.__name__}, T = {len(log_gates)}, keys {DISTANCES} before the last token")
    yield Assumption("tolerance: one rounding of each addition, as all terms have one sign")


@CLAIMS.claim(
    "fox-12",
    "causal attention only",
    r"D_{j+1,j}=-\log f_{j+1}>0",
    assumptions=("gates in (0, 1)", OVER_PATHS),
    falsifiers={
        "gates above 1": {"log_gate": lambda p: p},
        "gates of 1": {"log_gate": lambda p: sp.S.Zero},
    },
)
def after_the_query(log_gate: Formula = lambda p: -p) -> Facts:
    """The bias is defined for keys up to the query: continued to later keys, c_j - c_i is positive and grows with each.

    Additivity leaves one continuation: D_ij + D_ji = D_ii = 0. `log_gate` is the log of a gate, made of p > 0.
    """
    D, p = sp.Symbol("D", real=True), sp.Symbol("p", positive=True)
    forward = empty_value("D_j,j+1", along_path(j, j + 1))
    gate = one_gate("D_j,j+1", forward)
    continued = along_path(j + 1, j).doit().xreplace({paths.LOG_GATES[j + 1]: gate})
    end = j + sp.Symbol("n", integer=True, nonnegative=True)
    added = next_term("D_j,j+n+1", along_path, j, end)
    farther = combine(along_path(j, end), D, added.subs(added, log_gate(p)))
    yield "D_j+1,j + D_j,j+1 = 0", lambda: continued + forward, sp.S.Zero
    yield same_by_sympy("the next key's bias", -forward.subs(gate, log_gate(p)), p)
    yield "one key further it is greater by p", lambda: -farther + D, p
    yield "-log f = p > 0: a bonus, which grows with each further key after the query"


def same_block(words: Words, key: int, query: int) -> NDArray[np.bool_]:
    """True if no gate after the key, up to the query, is 0: a token with gate 0 begins a block."""
    blocks: Words = (words == 0).cumsum(1)
    return np.equal(blocks[:, key], blocks[:, query])


@CLAIMS.claim(
    "fox-13",
    "what data-dependent gates can do",
    r"f\in\{0,1\}^T:\ F_{ij}=\mathbb 1[\text{no } f_l=0,\ i<l\le j]",
    strength=Strength.EXHAUSTIVE,
    reach=f"{_TOKENS} gates",
    assumptions=("gates 0 and 1, the limits of sigmoid gates", f"up to {_TOKENS} tokens"),
    falsifiers={
        "the separator is hidden too": {"visible": lambda words, i, j: (words[:, i : j + 1] != 0).all(1) | (i == j)},
        "the separator sees what is before it": {"visible": lambda words, i, j: (words[:, i + 1 : j] != 0).all(1)},
        "one gate for all tokens": {"gates_of": lambda words: np.repeat(words[:, :1], _TOKENS, axis=1)},
    },
)
def block_causal(
    visible: Callable[[Words, int, int], NDArray[np.bool_]] = same_block,
    gates_of: Callable[[Words], Words] = lambda words: words,
) -> Facts:
    """With gates of 0 and 1 attention is causal within blocks: a token of gate 0 begins a block, stays visible in it
    and hides all that came before.  One gate for all tokens cannot do this. Decided on all words of 8 gates.

    `visible` is the expected mask; `gates_of` changes the words before they are used as gates.
    """
    words: Words = np.array(np.meshgrid(*[[0, 1]] * _TOKENS, indexing="ij")).reshape(_TOKENS, -1).T
    symbols = sp.symbols(f"f:{_TOKENS}", positive=True)
    logarithms = {paths.LOG_GATES[at]: sp.log(symbol) for at, symbol in enumerate(symbols)}
    for query in range(_TOKENS):
        for key in range(query + 1):
            gate = path_gate(sp.Integer(key), sp.Integer(query)).doit().subs(logarithms)
            values: Any = np.broadcast_to(sp.lambdify(symbols, gate, "numpy")(*gates_of(words).T), len(words))
            for wrong in np.flatnonzero(values != visible(words, key, query)):
                word = "".join(map(str, words[wrong]))
                refute(True, f"word {word}: F = {int(values[wrong])} for key {key} and query {query}")
    yield f"all {len(words)} words of {_TOKENS} gates, all {_TOKENS * (_TOKENS + 1) // 2} pairs: F_ij is the mask"
