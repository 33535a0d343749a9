"""Forgetting Transformer (FoX, arXiv 2503.02130): the law of its bias, its properties, and its use in practice.

The law is a product of gates along the path. The bias is a sum along it: its additivity and signs, the tokens that it
reads, equivalent forms. Practice: pruning, initial timescales, rounding of running sums (errata F24), later keys, and
hard gates.
"""

import math
from collections.abc import Callable
from typing import Any

import flint
import numpy as np
import sympy as sp
from numpy.typing import NDArray

from lengthgen.proofs_checks.claim import Refuted, Source, Strength
from lengthgen.proofs_checks.facts import combine, empty_value, last_term, require_equal, same_by_sympy
from lengthgen.proofs_checks.paper import Assumption, Facts, PaperClaims
from lengthgen.theory.encodings import biases, grape, paths
from lengthgen.theory.zero import sympy_engine
from lengthgen.theory.zero.enclosure import enclose

SOURCE = Source(paper="Forgetting Transformer (FoX)", arxiv="2503.02130")

PathFormula = Callable[[sp.Expr, sp.Expr], sp.Expr]
Formula = Callable[[sp.Expr], sp.Expr]
Recurrence = Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr]
Weight = Callable[[sp.Expr, sp.Expr], sp.Expr]
RowTerm = Callable[[sp.Expr, sp.Expr], sp.Expr]
Threshold = Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr]
Gates = NDArray[np.float32]
PathSum = Callable[[Gates, int, int], float]
Words = NDArray[np.int64]
Visible = Callable[[Words, int, int], NDArray[np.bool_]]

_BITS = 100
OVER_PATHS = "induction on the length of the path, so any positions"
_KEYS, _BOUND, _MASS = 64, sp.Integer(3), sp.exp(-5)
_TINY = sp.Rational(1, 10**9)
DISTANCES = (1, 20, 200, 2000)
_BLOCK = 64
_UNIT = float(np.finfo(np.float32).eps) / 2
_KEY, _QUERY = sp.symbols("i j", integer=True)
_TOKENS = 8


def _refute_bound(room: sp.Expr, x: sp.Symbol) -> None:
    """Raise `Refuted` if the bound minus -log f is negative at some e^-z."""
    for exponent in range(-2, 3):
        value = sp.N(room.subs(x, sp.Integer(2) ** exponent), 15)
        if value < 0:
            raise Refuted(f"e^-z = {sp.Integer(2) ** exponent}: -log f exceeds the bound by {sp.N(-value, 5)}")


CLAIMS = PaperClaims(SOURCE)


@CLAIMS.claim(
    "fox-1",
    "definition of D and F",
    r"e^{D_{ij}}=\prod_{l=i+1}^{j}f_l=F_{ij},\quad"
    r"\mathrm{softmax}_i(S+D)=\frac{F_{ij}e^{S_{ij}}}{\sum_{i'}F_{i'j}e^{S_{i'j}}}",
    label="P",
    assumptions=("gates in (0, 1), written f = exp(log f)", "induction on j - i, so any path and row length"),
    falsifiers={
        "gate of the key included": {"gate": lambda key, query: paths.fox_path_gate(key=key - 1, query=query)},
        "gates one step early": {"gate": lambda key, query: paths.fox_path_gate(key=key - 1, query=query - 1)},
        "gates added, not multiplied": {
            "gate": lambda key, query: sp.Sum(*paths.fox_path_gate(key=key, query=query).args)
        },
    },
)
def path_product(
    bias: PathFormula = lambda key, query: paths.fox_bias(key=key, query=query),
    gate: PathFormula = lambda key, query: paths.fox_path_gate(key=key, query=query),
) -> Facts:
    """If the bias is the sum of log forget gates after the key, up to the query, attention is weighted by the product
    of these gates: softmax(S + D) is F exp(S), normalised.
    """
    i, j = sp.symbols("i j", integer=True)
    total, content, other_total, other_content = sp.symbols("D S D_ S_", real=True)
    added = last_term("bias", bias(i, j), bias(i, j + 1))
    multiplied = last_term("gate", gate(i, j), gate(i, j + 1))
    # Under the hypothesis exp(D) = F the gate of the path may be written exp(D).
    yield (
        "base: exp(D_ii) = F_ii",
        lambda: sp.exp(empty_value("bias", bias(i, i))),
        lambda: empty_value("gate", gate(i, i)),
    )
    yield (
        "step: exp(D_i,j+1) = F_i,j+1",
        lambda: sp.exp(combine(bias(i, j), total, added)),
        lambda: combine(gate(i, j), sp.exp(total), multiplied),
    )
    yield (
        "ratio of any two weights of a row: softmax(S + D) = normalised F exp(S)",
        lambda: sp.exp(content + total) / sp.exp(other_content + other_total),
        lambda: sp.exp(total) * sp.exp(content) / (sp.exp(other_total) * sp.exp(other_content)),
    )


@CLAIMS.claim(
    "fox-2",
    "ALiBi as forget gates without data",
    r"f\equiv e^{-m}\ \Rightarrow\ D_{ij}=-m(j-i)",
    label="P",
    assumptions=("the same gate at all tokens: W = 0", "induction on j - i, so any path"),
    falsifiers={
        "f = m": {"gate": lambda slope: slope},
        "f = e^m": {"gate": sp.exp},
        "f = 1 - m": {"gate": lambda slope: 1 - slope},
    },
)
def constant_gates(gate: Formula = lambda slope: sp.exp(-slope)) -> Facts:
    """With the gate e^-m at all tokens the bias is that of ALiBi with slope m."""
    i, j = sp.symbols("i j", integer=True)
    slope, total = sp.Symbol("m", positive=True), sp.Symbol("D", real=True)
    path = paths.fox_bias(key=i, query=j)
    last = last_term("D", path, paths.fox_bias(key=i, query=j + 1))
    until, longer = (biases.alibi_bias(slope, query_position=end, key_position=i) for end in (j, j + 1))
    yield (
        "base: exp(D_ii) = 1",
        lambda: sp.exp(empty_value("D", paths.fox_bias(key=i, query=i))),
        lambda: sp.exp(biases.alibi_bias(slope, query_position=i, key_position=i)),
    )
    yield (
        "one more gate: exp(D_i,j+1) = exp(D_ij) f",
        lambda: sp.exp(combine(path, total, last)),
        lambda: sp.exp(total) * sp.exp(last),
    )
    yield "step: exp(-m (j - i)) f = exp(-m (j + 1 - i))", lambda: sp.exp(until) * gate(slope), lambda: sp.exp(longer)
    yield (
        "(j - i) log f with log f = -m",
        lambda: paths.fox_constant_bias(sp.Integer(-1) * slope, query_position=j, key_position=i),
        until,
    )


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
    (j - i) e^-z.
    """
    z, x = sp.Symbol("z", real=True), sp.Symbol("x", positive=True)
    gate = sp.exp(paths.fox_log_gate(z))
    facts = [
        require_equal("1 - sigma(z) = 1/(1 + e^z), which is positive", lambda: 1 - gate, lambda: 1 / (1 + sp.exp(z)))
    ]
    logarithm = paths.fox_log_gate(z).subs(sp.exp(-z), x)
    _refute_bound(bound(x) + logarithm, x)
    slope = sp.together((bound(x) + logarithm).diff(x))
    signs = [sp.Poly(part, x).coeffs() for part in sp.fraction(slope)]
    if (bound(x) + logarithm).subs(x, 0) != 0 or any(coefficient < 0 for part in signs for coefficient in part):
        raise sympy_engine.Undecided(f"the sign of {slope} for x > 0 is not read off its coefficients")
    at_twenty: Any = enclose(-paths.fox_log_gate(sp.Integer(20)), bits=_BITS)
    rounded = np.float32(1 / (1 + np.exp(-20.0)))
    facts += [
        f"x = e^-z: bound - log(1 + x) is 0 at x = 0 and its derivative {slope} >= 0",
        f"-log sigma(20) = {at_twenty.str(6, radius=False)}; float32 rounds sigma(20) to {rounded}",
    ]
    yield from facts
    yield "so |D_ij| <= (j - i) e^-z: at each distance D tends to 0 as z grows, and is never 0"


@CLAIMS.claim(
    "fox-4",
    "relation to linear attention with a forget gate",
    r"S_t=f_tS_{t-1}+v_t\phi(k_t)^\top\ \Rightarrow\ S_j=\sum_{i\le j}F_{ij}v_i\phi(k_i)^\top",
    label="P",
    assumptions=("any feature map, any values", "induction on the number of tokens"),
    falsifiers={
        "gate applied after the write": {"carried": lambda state, gate, written: gate * (state + written)},
        "write weighed by 1 - f": {"carried": lambda state, gate, written: gate * state + (1 - gate) * written},
        "state not gated": {"carried": lambda state, gate, written: state + written},
    },
)
def recurrence(
    carried: Recurrence = lambda state, gate, written: paths.fox_state(state, gate=gate, written=written),
) -> Facts:
    """Linear attention whose state is multiplied by f_t before each write weights a value by the same F_ij: FoX is this
    with exp(q.k) as the kernel.

    The recurrence is linear in the state and in what is written, so each token's write may be followed alone. It enters
    at its own time, when the state contains nothing of it, and nothing of it is written later.
    """
    i, j = sp.symbols("i j", integer=True)
    gate, product, written, state, other_state, other_write = sp.symbols("f F w S S_ w_", real=True)
    path = paths.fox_path_gate(key=i, query=j)
    last = last_term("F", path, paths.fox_path_gate(key=i, query=j + 1))
    longer = combine(path, product, last)
    zero = sp.Integer(0)
    tests = (
        (
            "linear in state and write",
            lambda: carried(state + other_state, gate, written + other_write),
            lambda: carried(state, gate, written) + carried(other_state, gate, other_write),
        ),
        (
            "base t = i: the write enters with F_ii",
            lambda: carried(zero, gate, written),
            lambda: empty_value("F_ii", paths.fox_path_gate(key=i, query=i)) * written,
        ),
        ("step: F_i,t+1 w", lambda: carried(product * written, sp.exp(last.args[0]), zero), lambda: longer * written),
    )
    yield from tests
    yield (
        "with w_i = v_i phi(k_i)^T in S and phi(k_i) in z: S_j phi(q_j) / z_j.phi(q_j) weighs v_i by "
        "F_ij phi(q_j).phi(k_i), normalised; FoX has exp(q.k) in the place of phi(q).phi(k)"
    )


def along_path(key: sp.Expr, query: sp.Expr) -> sp.Sum:
    """Return the bias of FoX: the sum of the log gates after the key, up to the query."""
    return paths.fox_bias(key=key, query=query)


def _with_other_sign(key: sp.Expr, query: sp.Expr) -> sp.Sum:
    """The path with minus the log gates."""
    path = paths.fox_bias(key=key, query=query)
    return sp.Sum(-path.function, *path.limits)


def one_gate(what: str, step: sp.Expr) -> sp.Expr:
    """Return the single log gate that a step of the path consists of. Raises `Refuted` if it is anything else."""
    if len(step.free_symbols) != 1:
        raise Refuted(f"{what} is {step}, not one log gate")
    return next(iter(step.free_symbols))


def _read_at_old_positions(path: sp.Sum, was_at: Callable[[sp.Expr], sp.Expr]) -> sp.Sum:
    """The path with gates read at the old positions of the tokens."""
    step = path.limits[0][0]
    return sp.Sum(path.function.subs(step, was_at(step)), *path.limits)


def softmax(own: sp.Expr, rest: sp.Expr) -> sp.Expr:
    """Weight of a key under softmax, from exp(its logit) and the sum of the other keys' exponentials."""
    return own / (own + rest)


def sigmoid(own: sp.Expr, rest: sp.Expr) -> sp.Expr:
    """Weight of a key under sigmoid attention, from exp(its logit) alone; `rest` has no effect."""
    return own / (1 + own)


def _difference(at_query: sp.Expr, at_key: sp.Expr) -> sp.Expr:
    """The whole c_j - c_i."""
    return at_query - at_key


@CLAIMS.claim(
    "fox-5",
    "definition of D",
    r"D_{ij}=D_{il}+D_{lj},\quad D_{ii}=0,\quad D_{i,j+1}\le D_{ij}\le D_{i+1,j}\le 0",
    label="P",
    assumptions=("gates in (0, 1)", OVER_PATHS),
    answers=("in_query", "in_key"),
    falsifiers={
        "the other sign": {"bias": _with_other_sign},
        "the gate of the query left out": {"bias": lambda key, query: paths.fox_bias(key=key, query=query - 1)},
        "gate of the key included": {"bias": lambda key, query: paths.fox_bias(key=key - 1, query=query)},
    },
)
def cocycle(bias: PathFormula = along_path, in_query: int = -1, in_key: int = 1) -> Facts:
    """Biases add up along the path, D_ij = D_il + D_lj; D is 0 at the query itself, never positive, rises with the
    position of the key and falls with that of the query.

    Args:
        bias: the path sum, a function of key and query.
        in_query: sign of the change when the query moves on by one, -1 or 1.
        in_key: sign of the change when the key moves on by one.
    """
    i, middle, j = sp.symbols("i l j", integer=True)
    total, first, second = sp.symbols("D_ij D_il D_lj", real=True)
    size = sp.Symbol("p", positive=True)  # minus a log gate
    path, tail = bias(i, j), bias(middle, j)
    added = last_term("D_i,j+1", path, bias(i, j + 1))
    added_to_tail = last_term("D_l,j+1", tail, bias(middle, j + 1))
    one_step = empty_value("D_i,i+1", bias(i, i + 1))
    tests = (
        ("base j = l: D_il + D_ll = D_il", lambda: first + empty_value("D_ll", bias(middle, middle)), first),
        (
            "step: D_i,j+1 - D_ij = D_l,j+1 - D_lj",
            lambda: combine(path, total, added) - total,
            lambda: combine(tail, second, added_to_tail) - second,
        ),
    )
    yield same_by_sympy("D_ii = 0", empty_value("D_ii", bias(i, i)), sp.Integer(0))
    yield from tests
    if not paths.LOG_GATES[i].is_negative:
        raise sympy_engine.Undecided("the logarithm of a gate is not known to be negative")
    gates = [one_gate("D_i,j+1 - D_ij", added), one_gate("D_i,i+1", one_step)]
    yield f"a step of the path is one log gate, {gates[1]} = -p < 0"
    changes = {
        "D_i,j+1 - D_ij": (in_query, added.subs(gates[0], -size)),
        "D_i+1,j - D_ij = -D_i,i+1": (in_key, -one_step.subs(gates[1], -size)),
    }
    for what, (sign, change) in changes.items():
        if not (sign * change).is_nonnegative:
            raise Refuted(f"{what} = {change.subs(size, 1)} where the gate passed is e^-1")
        yield f"{what} = {change}, p > 0"
    yield "so D <= 0, and it is greater the nearer the key"


@CLAIMS.claim(
    "fox-6",
    "the bias; GRAPE: arXiv 2512.07805, Section 5",
    r"(I+c_jE)\hat q\cdot(I-c_iE)^\top\hat k=q\cdot k+c_j-c_i",
    label="P",
    assumptions=(
        "content enters by q.k, so every head width",
        "D_ij = c_j - c_i (fox-8); the path's product is grape-10",
    ),
    falsifiers={
        "I - psi E for I + psi E": {"link": lambda total: grape.fox_link(log_gate=-total)},
        "links transposed": {"link": lambda total: grape.fox_link(log_gate=total).T},
    },
)
def endpoint_actions(link: Callable[[sp.Expr], sp.Matrix] = lambda total: grape.fox_link(log_gate=total)) -> Facts:
    """FoX is GRAPE-A with the query multiplied by I + c_j E and the key by the transpose of I - c_i E, c the running
    sum of log gates.  (That it is Cable too is claim cable-1.)

    `link` gives the matrix of a running sum of log gates.
    """
    z, content, at_query, at_key, between = sp.symbols("z c c_j c_i D", real=True)
    inverse, inverse_between = link(at_key).inv(), link(between).inv().T
    yield "exp(log f) = sigma(z)", sp.exp(paths.fox_log_gate(z)), lambda: paths.fox_gate(z)
    yield (
        "action of j after the inverse of that of i = that of the path",
        lambda: link(at_query) * inverse,
        lambda: link(at_query - at_key),
    )
    yield (
        "L(-c_j) q^ . L(c_i)^T k^ = q.k + c_j - c_i",
        lambda: grape.extended_score(content, query_action=link(-at_query), key_action=link(at_key).T),
        lambda: content + at_query - at_key,
    )
    yield (
        "path of D, on the key",
        lambda: grape.extended_score(content, query_action=sp.eye(2), key_action=inverse_between),
        lambda: content + between,
    )


@CLAIMS.claim(
    "fox-7",
    "the bias without position embeddings",
    r"D_{i-1,j-1}(x_{\setminus 0})=D_{ij}(x),\quad i\ge1",
    assumptions=("the log gates are given", "one token at a time, so a prefix of any length", OVER_PATHS),
    falsifiers={
        "a token between them taken out": {"key_after": lambda key: key},
        "two tokens named away": {"key_after": lambda key: key - 2},
        "gates stay where they were": {"was_at": lambda position: position},
    },
)
def token_removed(
    key_after: Callable[[sp.Expr], sp.Expr] = lambda key: key - 1,
    was_at: Callable[[sp.Expr], sp.Expr] = lambda position: position + 1,
) -> Facts:
    """Biases among tokens do not change when a prefix before them is removed; they do not depend on the distance alone,
    because they move with the tokens.

    `key_after` gives the key's new position, `was_at` the old position of the token now at l.
    """
    i, j = sp.symbols("i j", integer=True)
    before = along_path(i, j)
    start, step = (_read_at_old_positions(along_path(key_after(i), end - 1), was_at) for end in (i + 1, j))
    longer = _read_at_old_positions(along_path(key_after(i), j), was_at)
    total = sp.Symbol("D", real=True)
    added, added_without = last_term("D", before, along_path(i, j + 1)), last_term("D without it", step, longer)
    yield same_by_sympy("D_ij reads no gate before that of i + 1", before.limits[0][1], i + 1)
    yield same_by_sympy("base: D_i,i+1", empty_value("D without it", start), empty_value("D", along_path(i, i + 1)))
    yield same_by_sympy(
        "step: the same gate is added", combine(step, total, added_without), combine(before, total, added)
    )
    yield "so the gate of token 0 is never read"


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
def gauge(weight: Weight = softmax, kept: RowTerm = lambda at_query, at_key: -at_key) -> Facts:
    """Only differences of the running sums matter; under softmax the query's part may be dropped as well, so that -c_i
    for the key suffices.  Under sigmoid attention it may not be dropped.

    Decide D_ij = c_j - c_i with c_t = D_st for a base s, and that the weights of a row need only the `kept` part.

    `kept` takes c_j and c_i.
    """
    s, i, j = sp.symbols("s i j", integer=True)
    total, at_query, at_key, at_other, content, other, shift = sp.symbols("D c_j c_i c_k S_i S_k g", real=True)
    path, from_base = paths.fox_bias(key=i, query=j), paths.fox_bias(key=s, query=j)
    last, last_from_base = (
        last_term("D", path_sum, paths.fox_bias(key=key, query=j + 1)) for path_sum, key in ((path, i), (from_base, s))
    )

    def weight_under(law: RowTerm) -> sp.Expr:
        return weight(sp.exp(content + law(at_query, at_key)), sp.exp(other + law(at_query, at_other)))

    tests = (
        (
            "step: c_j+1 - c_j = D_i,j+1 - D_ij",
            lambda: combine(from_base, at_query, last_from_base) - at_query,
            lambda: combine(path, total, last) - total,
        ),
        ("c + g: no change", lambda: (at_query + shift) - (at_key + shift), lambda: at_query - at_key),
        (
            "weight by S + c_j - c_i = weight by S + what is kept",
            lambda: weight_under(_difference),
            lambda: weight_under(kept),
        ),
    )
    yield same_by_sympy("base j = i: D_ii = 0", empty_value("D_ii", paths.fox_bias(key=i, query=i)), sp.Integer(0))
    yield from tests


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


def _float64_prefix(gates: Gates, key: int, query: int) -> float:
    """Sum of the path as c_j - c_i in float64."""
    running = np.cumsum(gates.astype(np.float64))
    return float(running[query] - running[key])


def same_block(words: Words, key: int, query: int) -> NDArray[np.bool_]:
    """True if no gate after the key, up to the query, is 0: a token with gate 0 begins a block."""
    blocks: Words = (words == 0).cumsum(1)
    return np.equal(blocks[:, key], blocks[:, query])


@CLAIMS.claim(
    "fox-9",
    "adaptive computation pruning (follow-up paper and released code)",
    r"\sum_{i:D_{ij}<\delta}a_{ij}\le\varepsilon,\quad\delta=-(2U+\ln T)+\ln\varepsilon",
    label="P",
    assumptions=("|q.k|/sqrt(d) <= U for all pairs of the row", "any T, U and eps"),
    falsifiers={
        "without 2U": {
            "threshold": lambda bound, keys, mass: paths.fox_pruning_threshold(
                bound=sp.Integer(0), keys=keys, mass=mass
            )
        },
        "U for 2U": {
            "threshold": lambda bound, keys, mass: paths.fox_pruning_threshold(bound=bound / 2, keys=keys, mass=mass)
        },
        "without log T": {
            "threshold": lambda bound, keys, mass: paths.fox_pruning_threshold(
                bound=bound, keys=sp.Integer(1), mass=mass
            )
        },
    },
)
def pruned_mass(
    threshold: Threshold = lambda bound, keys, mass: paths.fox_pruning_threshold(bound=bound, keys=keys, mass=mass),
) -> Facts:
    """If |q.k|/sqrt(d) <= U, the keys of a row with D_ij < -(2U + log T) + log eps have at most the weight eps
    together.

    Each of them has exp(S + D) < e^(U + threshold), and there are fewer than T of them. The query's own key has D = 0
    and adds at least e^-U to the sum. So their weights sum to less than T e^(2U + threshold).
    """
    worst = _adversarial_mass(threshold)
    bound, keys, mass = sp.symbols("U T eps", positive=True)
    delta = threshold(bound, keys, mass)
    try:
        exactly = require_equal("T e^(2U + threshold) = eps", lambda: keys * sp.exp(2 * bound + delta), mass)
    except Refuted as difference:
        raise sympy_engine.Undecided(f"no row found that loses more than eps, but {difference}") from difference
    at_least_one = sp.expand_log(delta.subs({keys: 1 + keys, mass: 1 / (1 + sp.Symbol("e", positive=True))}))
    if not at_least_one.is_negative:
        raise sympy_engine.Undecided(f"the sign of {at_least_one} is not known")
    yield exactly
    yield f"with T + 1 keys and eps = 1/(1 + e) the threshold is {at_least_one} < 0: the query's own key stays"
    yield "D rises with the key's position (fox-5), so what is pruned is a prefix of the row"
    yield f"a row of {_KEYS} keys made to lose most, U = {_BOUND}, eps = e^-5 = {sp.N(_MASS, 4)}: {worst}"


@CLAIMS.claim(
    "fox-10",
    "released code: initial bias of data-independent gates",
    r"b=-\log(e^{1/T}-1)\ \Rightarrow\ -1/\log\sigma(b)=T,\quad b=\log T-\tfrac1{2T}+O(T^{-2})",
    label="P",
    assumptions=("T > 0",),
    falsifiers={
        "b = log T": {"logit": sp.log},
        "b = log T - 1/(2T)": {"logit": lambda timescale: sp.log(timescale) - 1 / (2 * timescale)},
        "b = log(e^(1/T) - 1)": {"logit": lambda timescale: -paths.fox_timescale_logit(timescale)},
    },
)
def timescale(logit: Formula = lambda value: paths.fox_timescale_logit(timescale=value)) -> Facts:
    """The logit b = -log(e^(1/T) - 1) gives the gate e^(-1/T), that is -1/log f = T, exactly; b = log T only for large
    T.
    """
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
    yield from facts


@CLAIMS.claim(
    "fox-11",
    "running sums of log gates in the released code",
    r"|\hat D-D|\le nu\,|D|\ \text{blockwise};\quad |\hat c_j-\hat c_i-D|\sim u\,|c|",
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
    path_sum: PathSum = blockwise,
    gates: Callable[[], Gates] = after_a_hard_run,
    tolerance: Callable[[int, float], float] = lambda terms, size: 1.01 * terms * _UNIT * size,
) -> Facts:
    """A path sum computed block by block is right to float32's digits whatever came before; computed from a float32
    running sum it is lost after a run of strongly forgetting gates, in bfloat16 at once (errata F24).

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
        "not positive there": {"next_key": lambda log_gate: log_gate},
        "zero there": {"next_key": lambda log_gate: sp.Integer(0)},
    },
)
def after_the_query(next_key: Callable[[sp.Expr], sp.Expr] = lambda log_gate: -log_gate) -> Facts:
    """The bias is defined for keys up to the query: continued to later keys, c_j - c_i is positive and grows.

    Additivity leaves one continuation: D_ij + D_ji = D_ii = 0.
    """
    j = sp.Symbol("j", integer=True)
    total, size = sp.Symbol("D", real=True), sp.Symbol("p", positive=True)
    forward = empty_value("D_j,j+1", along_path(j, j + 1))
    gate = one_gate("D_j,j+1", forward)
    continued = along_path(j + 1, j).doit().xreplace({paths.LOG_GATES[j + 1]: gate})
    n = sp.Symbol("n", integer=True, nonnegative=True)
    added = last_term("D_j,j+n+1", along_path(j, j + n), along_path(j, j + n + 1))
    yield "D_j+1,j + D_j,j+1 = 0", lambda: continued + forward, sp.Integer(0)
    yield same_by_sympy("the next key's bias", -forward.subs(gate, -size), next_key(-size))
    yield (
        "one key further it is greater by p",
        lambda: -combine(along_path(j, j + n), total, added.subs(added, -size)) + total,
        size,
    )
    yield "-log f = p > 0: a bonus, which grows without bound the further the key is after the query"


@CLAIMS.claim(
    "fox-13",
    "what data-dependent gates can do",
    r"f\in\{0,1\}^T:\ F_{ij}=\mathbb 1[\text{no } f_l=0,\ i<l\le j]",
    strength=Strength.EXHAUSTIVE,
    reach=f"{_TOKENS} gates",
    assumptions=("gates 0 and 1, the limits of sigmoid gates", f"up to {_TOKENS} tokens"),
    falsifiers={
        "the separator is hidden too": {
            "visible": lambda words, key, query: (words[:, key : query + 1] != 0).all(1) | (key == query)
        },
        "the separator sees what is before it": {
            "visible": lambda words, key, query: (words[:, key + 1 : query] != 0).all(1)
        },
        "one gate for all tokens": {"gates_of": lambda words: np.repeat(words[:, :1], _TOKENS, axis=1)},
    },
)
def block_causal(visible: Visible = same_block, gates_of: Callable[[Words], Words] = lambda words: words) -> Facts:
    """With gates of 0 and 1 attention is causal within blocks: a token of gate 0 begins a block, stays visible in it
    and hides all that came before.  One gate for all tokens cannot do this. Decided on all words of 8 gates.

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
    yield f"all {len(words)} words of {_TOKENS} gates, all {_TOKENS * (_TOKENS + 1) // 2} pairs: F_ij is the mask"
