"""Forgetting Transformer (FoX, arXiv 2503.02130): gates along the path, their sum, equal forms, pruning, timescales."""

from functools import partial

import sympy as sp

from lengthgen.proofs_checks.claim import Refuted, Source
from lengthgen.proofs_checks.facts import Formula, ball, combine, empty_value, next_term, require_equal, same_by_sympy
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.theory.encodings import biases, grape, paths
from lengthgen.theory.zero.sympy_engine import Undecided

SOURCE = Source(paper="Forgetting Transformer (FoX)", arxiv="2503.02130")
CLAIMS = PaperClaims(SOURCE)
OVER_PATHS = "induction on the length of the path, so any positions"
i, mid, j = sp.symbols("i l j", integer=True)
_KEYS, _BOUND, _MASS = 64, sp.Integer(3), sp.exp(-5)
_TINY = sp.Rational(1, 10**9)


def along_path(key: sp.Expr, query: sp.Expr) -> sp.Sum:
    """Bias of FoX: the sum of the log gates after the key, up to the query."""
    return paths.fox_bias(key=key, query=query)


def path_gate(key: sp.Expr, query: sp.Expr) -> sp.Product:
    """Product of the gates after the key, up to the query."""
    return paths.fox_path_gate(key=key, query=query)


def one_gate(what: str, step: sp.Expr) -> sp.Expr:
    """Return the single log gate that a step of the path consists of. Raises `Refuted` if it is anything else."""
    refute(len(step.free_symbols) != 1, f"{what} is {step}, not one log gate")
    return next(iter(step.free_symbols))


def sigmoid(own: sp.Expr, rest: sp.Expr) -> sp.Expr:
    """Weight of a key under sigmoid attention, from exp(its logit) alone; `rest` has no effect."""
    return own / (1 + own)


@CLAIMS.claim(
    "fox-1",
    "definition of D and F",
    r"e^{D_{ij}}=\prod_{l=i+1}^{j}f_l=F_{ij},\quad"
    r"\mathrm{softmax}_i(S+D)=\frac{F_{ij}e^{S_{ij}}}{\sum_{i'}F_{i'j}e^{S_{i'j}}}",
    label="P",
    assumptions=("gates in (0, 1), written f = exp(log f)", "induction on j - i, so any path and row length"),
    falsifiers={
        "gate of the key included": {"gate": lambda key, query: path_gate(key - 1, query)},
        "gates one step early": {"gate": lambda key, query: path_gate(key - 1, query - 1)},
        "gates added, not multiplied": {"gate": lambda key, query: sp.Sum(*path_gate(key, query).args)},
    },
)
def path_product(bias: Formula = along_path, gate: Formula = path_gate) -> Facts:
    """If the bias is the sum of log forget gates after the key, up to the query, attention is weighted by the product
    of these gates: softmax(S + D) is F exp(S), normalised.
    """
    D, S, D_, S_ = sp.symbols("D S D_ S_", real=True)
    added, multiplied = next_term("bias", bias, i, j), next_term("gate", gate, i, j)
    # Under the hypothesis exp(D) = F the gate of the path may be written exp(D).
    empty, empty_gate = empty_value("bias", bias(i, i)), empty_value("gate", gate(i, i))
    yield "base: exp(D_ii) = F_ii", lambda: sp.exp(empty), lambda: empty_gate
    summed, product = bias(i, j), gate(i, j)
    step = "step: exp(D_i,j+1) = F_i,j+1"
    yield step, lambda: sp.exp(combine(summed, D, added)), lambda: combine(product, sp.exp(D), multiplied)
    ratio = "ratio of any two weights of a row: softmax(S + D) = normalised F exp(S)"
    yield ratio, lambda: sp.exp(S + D) / sp.exp(S_ + D_), lambda: sp.exp(D) * sp.exp(S) / (sp.exp(D_) * sp.exp(S_))


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
def constant_gates(gate: Formula = lambda m: sp.exp(-m)) -> Facts:
    """With the gate e^-m at all tokens the bias is that of ALiBi with slope m."""
    m, D = sp.Symbol("m", positive=True), sp.Symbol("D", real=True)
    last = next_term("D", along_path, i, j)
    alibi, empty = partial(biases.alibi_bias, m, key_position=i), empty_value("D", along_path(i, i))
    until, longer = alibi(query_position=j), alibi(query_position=j + 1)
    path = along_path(i, j)
    yield "base: exp(D_ii) = 1", lambda: sp.exp(empty), lambda: sp.exp(alibi(query_position=i))
    one_more = "one more gate: exp(D_i,j+1) = exp(D_ij) f"
    yield one_more, lambda: sp.exp(combine(path, D, last)), lambda: sp.exp(D) * sp.exp(last)
    yield "step: exp(-m (j - i)) f = exp(-m (j + 1 - i))", lambda: sp.exp(until) * gate(m), lambda: sp.exp(longer)
    constant = partial(paths.fox_constant_bias, query_position=j, key_position=i)
    yield "(j - i) log f with log f = -m", lambda: constant(sp.Integer(-1) * m), until


@CLAIMS.claim(
    "fox-4",
    "relation to linear attention with a forget gate",
    r"S_t=f_tS_{t-1}+v_t\phi(k_t)^\top\ \Rightarrow\ S_j=\sum_{i\le j}F_{ij}v_i\phi(k_i)^\top",
    label="P",
    assumptions=("any feature map, any values", "induction on the number of tokens"),
    falsifiers={
        "gate applied after the write": {"carry": lambda state, gate, written: gate * (state + written)},
        "write weighed by 1 - f": {"carry": lambda state, gate, written: gate * state + (1 - gate) * written},
        "state not gated": {"carry": lambda state, gate, written: state + written},
    },
)
def recurrence(carry: Formula = paths.fox_state) -> Facts:
    """Linear attention whose state is multiplied by f_t before each write weights a value by the same F_ij: FoX is this
    with exp(q.k) as the kernel.

    The recurrence is linear in the state and in what is written, so each token's write may be followed alone. It enters
    at its own time, when the state contains nothing of it, and nothing of it is written later.
    """
    f, F, w, S, S_, w_ = sp.symbols("f F w S S_ w_", real=True)
    last = next_term("F", path_gate, i, j)
    longer = combine(path_gate(i, j), F, last)
    empty = empty_value("F_ii", path_gate(i, i))

    def after(state: sp.Expr, write: sp.Expr, gate: sp.Expr = f) -> sp.Expr:
        return carry(state, gate=gate, written=write)

    yield "linear in state and write", lambda: after(S + S_, w + w_), lambda: after(S, w) + after(S_, w_)
    yield "base t = i: the write enters with F_ii", lambda: after(sp.S.Zero, w), lambda: empty * w
    yield "step: F_i,t+1 w", lambda: after(F * w, sp.S.Zero, sp.exp(last.args[0])), lambda: longer * w
    yield (
        "with w_i = v_i phi(k_i)^T in S and phi(k_i) in z: S_j phi(q_j) / z_j.phi(q_j) weighs v_i by "
        "F_ij phi(q_j).phi(k_i), normalised; FoX has exp(q.k) in the place of phi(q).phi(k)"
    )


@CLAIMS.claim(
    "fox-5",
    "definition of D",
    r"D_{ij}=D_{il}+D_{lj},\quad D_{ii}=0,\quad D_{i,j+1}\le D_{ij}\le D_{i+1,j}\le 0",
    label="P",
    assumptions=("gates in (0, 1)", OVER_PATHS),
    answers=("in_query", "in_key"),
    falsifiers={
        "the other sign": {
            "bias": lambda key, query: sp.Sum(-along_path(key, query).function, *along_path(key, query).limits)
        },
        "the gate of the query left out": {"bias": lambda key, query: along_path(key, query - 1)},
        "gate of the key included": {"bias": lambda key, query: along_path(key - 1, query)},
    },
)
def cocycle(bias: Formula = along_path, in_query: int = -1, in_key: int = 1) -> Facts:
    """Biases add up along the path, D_ij = D_il + D_lj; D is 0 at the query itself, never positive, never falls
    with the position of the key, and never rises with that of the query.

    `in_query` and `in_key` are the signs of the change when the query, or the key, moves on by one.
    """
    D_ij, D_il, D_lj = sp.symbols("D_ij D_il D_lj", real=True)
    p = sp.Symbol("p", positive=True)  # minus a log gate
    added, added_to_tail = next_term("D_i,j+1", bias, i, j), next_term("D_l,j+1", bias, mid, j)
    one_step = empty_value("D_i,i+1", bias(i, i + 1))
    yield same_by_sympy("D_ii = 0", empty_value("D_ii", bias(i, i)), sp.S.Zero)
    yield "base j = l: D_il + D_ll = D_il", lambda: D_il + empty_value("D_ll", bias(mid, mid)), D_il
    yield (
        "step: D_i,j+1 - D_ij = D_l,j+1 - D_lj",
        lambda: combine(bias(i, j), D_ij, added) - D_ij,
        lambda: combine(bias(mid, j), D_lj, added_to_tail) - D_lj,
    )
    if not paths.LOG_GATES[i].is_negative:
        raise Undecided("the logarithm of a gate is not known to be negative")
    gates = [one_gate("D_i,j+1 - D_ij", added), one_gate("D_i,i+1", one_step)]
    yield f"a step of the path is one log gate, {gates[1]} = -p < 0"
    for what, sign, change in (
        ("D_i,j+1 - D_ij", in_query, added.subs(gates[0], -p)),
        ("D_i+1,j - D_ij = -D_i,i+1", in_key, -one_step.subs(gates[1], -p)),
    ):
        at_one = change.subs(p, 1)
        refute(not (sign * change).is_nonnegative, f"{what} = {at_one} where the gate passed is e^-1")
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
        "I + psi E for I - psi E": {"link": lambda total: grape.fox_link(log_gate=-total)},
        "links transposed": {"link": lambda total: grape.fox_link(log_gate=total).T},
    },
)
def endpoint_actions(link: Formula = lambda total: grape.fox_link(log_gate=total)) -> Facts:
    """FoX is GRAPE-A with the query multiplied by I + c_j E and the key by the transpose of I - c_i E, c the running
    sum of log gates.  (That it is Cable too is claim cable-1.)
    """
    z, c, c_j, c_i, D = sp.symbols("z c c_j c_i D", real=True)
    inverse, inverse_between = link(c_i).inv(), link(D).inv().T

    def scored(query_action: sp.Matrix, key_action: sp.Matrix) -> sp.Expr:
        return grape.extended_score(c, query_action=query_action, key_action=key_action)

    yield "exp(log f) = sigma(z)", sp.exp(paths.fox_log_gate(z)), lambda: paths.fox_gate(z)
    after_inverse = "action of j after the inverse of that of i = that of the path"
    yield after_inverse, lambda: link(c_j) * inverse, lambda: link(c_j - c_i)
    yield "L(-c_j) q^ . L(c_i)^T k^ = q.k + c_j - c_i", lambda: scored(link(-c_j), link(c_i).T), lambda: c + c_j - c_i
    yield "path of D, on the key", lambda: scored(sp.eye(2), inverse_between), lambda: c + D


def _adversarial_mass(delta: sp.Expr) -> str:
    """Text on the mass that the worst row loses: S = -U for its own key, S = U and D just below delta elsewhere.

    Raises `Refuted` if it is more than eps.
    """
    query, pruned = sp.Integer(_KEYS - 1), ball(sp.S.Zero)
    log_gates = [-_TINY] * query + [delta - _TINY]
    for key in range(query):
        first, last = map(int, along_path(sp.Integer(key), query).limits[0][1:])
        pruned += ball(sp.exp(_BOUND + sp.Add(*log_gates[first : last + 1])))
    lost, allowed = pruned / (pruned + ball(sp.exp(-_BOUND))), ball(_MASS)
    refute(
        lost > allowed,
        f"T = {_KEYS}, U = {_BOUND}, eps = {allowed.str(3, radius=False)}: with S = -U for its own key, U and "
        f"D = {sp.N(delta, 5)} for the others, a row loses {lost.str(3, radius=False)} of its mass",
    )
    return f"loses {lost.str(4, radius=False)}"


def threshold(bound: sp.Expr, keys: sp.Expr, mass: sp.Expr) -> sp.Expr:
    """Value of D below which keys are pruned."""
    return paths.fox_pruning_threshold(bound=bound, keys=keys, mass=mass)


@CLAIMS.claim(
    "fox-9",
    "adaptive computation pruning (follow-up paper and released code)",
    r"\sum_{i:D_{ij}<\delta}a_{ij}\le\varepsilon,\quad\delta=-(2U+\ln T)+\ln\varepsilon",
    label="P",
    assumptions=("|q.k|/sqrt(d) <= U for all pairs of the row", "T >= the number of keys of the row, eps > 0"),
    falsifiers={
        "without 2U": {"threshold": lambda bound, keys, mass: threshold(sp.S.Zero, keys, mass)},
        "U for 2U": {"threshold": lambda bound, keys, mass: threshold(bound / 2, keys, mass)},
        "without log T": {"threshold": lambda bound, keys, mass: threshold(bound, sp.S.One, mass)},
    },
)
def pruned_mass(threshold: Formula = threshold) -> Facts:
    """If |q.k|/sqrt(d) <= U, the keys with D_ij < -(2U + log T) + log eps of a row of at most T keys have at most the
    weight eps together.

    Each of them has exp(S + D) < e^(U + threshold), and there are fewer than T of them. The query's own key has D = 0
    and adds at least e^-U to the sum. So their weights sum to less than T e^(2U + threshold).
    """
    worst = _adversarial_mass(threshold(_BOUND, sp.Integer(_KEYS), _MASS))
    bound, keys, mass = sp.symbols("U T eps", positive=True)
    delta = threshold(bound, keys, mass)
    try:
        yield require_equal("T e^(2U + threshold) = eps", lambda: keys * sp.exp(2 * bound + delta), mass)
    except Refuted as difference:
        raise Undecided(f"no row found that loses more than eps, but {difference}") from difference
    at_least_one = sp.expand_log(delta.subs({keys: 1 + keys, mass: 1 / (1 + sp.Symbol("e", positive=True))}))
    if not at_least_one.is_negative:
        raise Undecided(f"the sign of {at_least_one} is not known")
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
def timescale(logit: Formula = paths.fox_timescale_logit) -> Facts:
    """The logit b = -log(e^(1/T) - 1) gives the gate e^(-1/T), that is -1/log f = T, exactly; b is below log T
    and goes to it as T grows.
    """
    rate = sp.Symbol("r", positive=True)
    gate = sp.exp(paths.fox_log_gate(logit(1 / rate)))
    yield same_by_sympy("sigma(b) = e^(-1/T), with r = 1/T", gate, sp.exp(-rate))
    rest = sp.limit((logit(1 / rate) + sp.log(rate) + rate / 2) / rate**2, rate, 0)
    yield "e^(1/T) - 1 > 1/T, so b < log T"
    yield same_by_sympy("(b - log T + 1/(2T)) T^2 goes to -1/24", rest, sp.Rational(-1, 24))
    for value in (1, 10, 1000):
        off = ball(logit(sp.Integer(value)) - sp.log(value))
        yield f"T = {value}: b - log T = {off.str(6, radius=False)}, -1/(2T) = {-1 / (2 * value)}"
    ends = {"shortest": sp.Integer(2), "longest": sp.Integer(512)}
    spread, of_one = (paths.fox_timescales(heads, **ends) for heads in (5, 1))
    ratios = [before * after for before, after in zip(spread, spread[2:], strict=False)]
    for what, left, right in (
        ("ends", [spread[0], spread[-1]], [*ends.values()]),
        ("equal ratios: T_h^2 = T_h-1 T_h+1", [value**2 for value in spread[1:-1]], ratios),
        ("one head: the shortest", [*of_one], [ends["shortest"]]),
    ):
        yield same_by_sympy(f"timescales {', '.join(map(str, spread))}: {what}", sp.Matrix(left), sp.Matrix(right))
