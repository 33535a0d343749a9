"""The bias of FoX as a sum along the path: its additivity and signs, the tokens that it reads, and equivalent forms."""

from collections.abc import Callable

import sympy as sp

from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength
from lengthgen.proofs_checks.identity import require_equal, same_by_sympy
from lengthgen.proofs_checks.induction import combine, empty_value, last_term
from lengthgen.proofs_checks.papers.fox import SOURCE
from lengthgen.proofs_checks.papers.fox.law import PathFormula
from lengthgen.theory import exact
from lengthgen.theory.encodings import grape, paths

OVER_PATHS = "induction on the length of the path, so any positions"

Weight = Callable[[sp.Expr, sp.Expr], sp.Expr]
RowTerm = Callable[[sp.Expr, sp.Expr], sp.Expr]


def along_path(key: sp.Expr, query: sp.Expr) -> sp.Sum:
    """Return the bias of FoX: the sum of the log gates after the key, up to the query."""
    return paths.fox_bias(key=key, query=query)


def _with_other_sign(key: sp.Expr, query: sp.Expr) -> sp.Sum:
    """The path with minus the log gates."""
    path = paths.fox_bias(key=key, query=query)
    return sp.Sum(-path.function, *path.limits)


def cocycle(*, bias: PathFormula, in_query: int, in_key: int) -> Evidence:
    """Decide D_ij = D_il + D_lj by induction on j from l, D_ii = 0, and the signs of D's changes in j and in i.

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
    facts = [
        same_by_sympy("D_ii = 0", empty_value("D_ii", bias(i, i)), sp.Integer(0)),
        *(require_equal(*test) for test in tests),
    ]
    if not paths.LOG_GATES[i].is_negative:
        raise exact.Undecided("the logarithm of a gate is not known to be negative")
    gates = [one_gate("D_i,j+1 - D_ij", added), one_gate("D_i,i+1", one_step)]
    facts.append(f"a step of the path is one log gate, {gates[1]} = -p < 0")
    changes = {
        "D_i,j+1 - D_ij": (in_query, added.subs(gates[0], -size)),
        "D_i+1,j - D_ij = -D_i,i+1": (in_key, -one_step.subs(gates[1], -size)),
    }
    for what, (sign, change) in changes.items():
        if not (sign * change).is_nonnegative:
            raise Refuted(f"{what} = {change.subs(size, 1)} where the gate passed is e^-1")
        facts.append(f"{what} = {change}, p > 0")
    return Evidence(
        strength=Strength.GENERAL,
        facts=(*facts, "so D <= 0, and it is greater the nearer the key"),
        assumptions=("gates in (0, 1)", OVER_PATHS),
    )


def one_gate(what: str, step: sp.Expr) -> sp.Expr:
    """Return the single log gate that a step of the path consists of. Raises `Refuted` if it is anything else."""
    if len(step.free_symbols) != 1:
        raise Refuted(f"{what} is {step}, not one log gate")
    return next(iter(step.free_symbols))


def token_removed(*, key_after: Callable[[sp.Expr], sp.Expr], was_at: Callable[[sp.Expr], sp.Expr]) -> Evidence:
    """Decide that D is unchanged if one token is removed and the query moves to j - 1, by induction on j from i + 1.

    `key_after` gives the key's new position, `was_at` the old position of the token now at l.
    """
    i, j = sp.symbols("i j", integer=True)
    before = along_path(i, j)
    start, step = (_read_at_old_positions(along_path(key_after(i), end - 1), was_at) for end in (i + 1, j))
    longer = _read_at_old_positions(along_path(key_after(i), j), was_at)
    total = sp.Symbol("D", real=True)
    added, added_without = last_term("D", before, along_path(i, j + 1)), last_term("D without it", step, longer)
    facts = (
        same_by_sympy("D_ij reads no gate before that of i + 1", before.limits[0][1], i + 1),
        same_by_sympy("base: D_i,i+1", empty_value("D without it", start), empty_value("D", along_path(i, i + 1))),
        same_by_sympy(
            "step: the same gate is added", combine(step, total, added_without), combine(before, total, added)
        ),
    )
    return Evidence(
        strength=Strength.GENERAL,
        facts=(*facts, "so the gate of token 0 is never read"),
        assumptions=("the log gates are given", "one token at a time, so a prefix of any length", OVER_PATHS),
    )


def _read_at_old_positions(path: sp.Sum, was_at: Callable[[sp.Expr], sp.Expr]) -> sp.Sum:
    """The path with gates read at the old positions of the tokens."""
    step = path.limits[0][0]
    return sp.Sum(path.function.subs(step, was_at(step)), *path.limits)


def endpoint_actions(*, link: Callable[[sp.Expr], sp.Matrix]) -> Evidence:
    """Decide that the log gate is that of sigma, and that GRAPE's endpoint actions give the score D.

    `link` gives the matrix of a running sum of log gates.
    """
    z, content, at_query, at_key, between = sp.symbols("z c c_j c_i D", real=True)
    inverse, inverse_between = link(at_key).inv(), link(between).inv().T
    tests = (
        ("exp(log f) = sigma(z)", sp.exp(paths.fox_log_gate(z)), lambda: paths.fox_gate(z)),
        (
            "action of j after the inverse of that of i = that of the path",
            lambda: link(at_query) * inverse,
            lambda: link(at_query - at_key),
        ),
        (
            "L(-c_j) q^ . L(c_i)^T k^ = q.k + c_j - c_i",
            lambda: grape.extended_score(content, query_action=link(-at_query), key_action=link(at_key).T),
            lambda: content + at_query - at_key,
        ),
        (
            "path of D, on the key",
            lambda: grape.extended_score(content, query_action=sp.eye(2), key_action=inverse_between),
            lambda: content + between,
        ),
    )
    return Evidence(
        strength=Strength.GENERAL,
        facts=tuple(require_equal(*test) for test in tests),
        assumptions=(
            "content enters by q.k, so every head width",
            "D_ij = c_j - c_i (fox-8); the path's product is grape-10",
        ),
    )


def softmax(own: sp.Expr, rest: sp.Expr) -> sp.Expr:
    """Weight of a key under softmax, from exp(its logit) and the sum of the other keys' exponentials."""
    return own / (own + rest)


def sigmoid(own: sp.Expr, rest: sp.Expr) -> sp.Expr:
    """Weight of a key under sigmoid attention, from exp(its logit) alone; `rest` has no effect."""
    return own / (1 + own)


def gauge(*, weight: Weight, kept: RowTerm) -> Evidence:
    """Decide D_ij = c_j - c_i with c_t = D_st for a base s, and that the weights of a row need only the `kept` part.

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
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            same_by_sympy("base j = i: D_ii = 0", empty_value("D_ii", paths.fox_bias(key=i, query=i)), sp.Integer(0)),
            *(require_equal(*test) for test in tests),
        ),
        assumptions=(
            "any base s not after the key, so that c is defined up to a constant",
            "a row of two keys i and k; in longer rows any two weights keep their ratio, and with it all of them",
        ),
    )


def _difference(at_query: sp.Expr, at_key: sp.Expr) -> sp.Expr:
    """The whole c_j - c_i."""
    return at_query - at_key


CLAIMS = (
    Claim(
        id="fox-5",
        source=SOURCE.at("definition of D"),
        statement="Biases add up along the path, D_ij = D_il + D_lj; D is 0 at the query itself, never positive, rises "
        "with the position of the key and falls with that of the query.",
        latex=r"D_{ij}=D_{il}+D_{lj},\quad D_{ii}=0,\quad D_{i,j+1}\le D_{ij}\le D_{i+1,j}\le 0",
        label="P",
        check=cocycle,
        holds={"bias": along_path, "in_query": -1, "in_key": 1},
        answers=("in_query", "in_key"),
        falsifiers={
            "the other sign": {"bias": _with_other_sign},
            "the gate of the query left out": {"bias": lambda key, query: paths.fox_bias(key=key, query=query - 1)},
            "gate of the key included": {"bias": lambda key, query: paths.fox_bias(key=key - 1, query=query)},
        },
    ),
    Claim(
        id="fox-6",
        source=SOURCE.at("the bias; GRAPE: arXiv 2512.07805, Section 5"),
        statement="FoX is GRAPE-A with the query multiplied by I + c_j E and the key by the transpose of I - c_i E, c "
        "the running sum of log gates.  (That it is Cable too is claim cable-1.)",
        latex=r"(I+c_jE)\hat q\cdot(I-c_iE)^\top\hat k=q\cdot k+c_j-c_i",
        label="P",
        check=endpoint_actions,
        holds={"link": lambda total: grape.fox_link(log_gate=total)},
        falsifiers={
            "I - psi E for I + psi E": {"link": lambda total: grape.fox_link(log_gate=-total)},
            "links transposed": {"link": lambda total: grape.fox_link(log_gate=total).T},
        },
    ),
    Claim(
        id="fox-7",
        source=SOURCE.at("the bias without position embeddings"),
        statement="Biases among tokens do not change when a prefix before them is removed; they do not depend on the "
        "distance alone, because they move with the tokens.",
        latex=r"D_{i-1,j-1}(x_{\setminus 0})=D_{ij}(x),\quad i\ge1",
        label="F",
        check=token_removed,
        holds={"key_after": lambda key: key - 1, "was_at": lambda position: position + 1},
        falsifiers={
            "a token between them taken out": {"key_after": lambda key: key},
            "two tokens named away": {"key_after": lambda key: key - 2},
            "gates stay where they were": {"was_at": lambda position: position},
        },
    ),
    Claim(
        id="fox-8",
        source=SOURCE.at("running sums of log gates"),
        statement="Only differences of the running sums matter; under softmax the query's part may be dropped as well, "
        "so that -c_i for the key suffices.  Under sigmoid attention it may not be dropped.",
        latex=r"\mathrm{softmax}_i(S_{ij}+c_j-c_i)=\mathrm{softmax}_i(S_{ij}-c_i)",
        label="F",
        check=gauge,
        holds={"weight": softmax, "kept": lambda at_query, at_key: -at_key},
        falsifiers={
            "sigmoid attention": {"weight": sigmoid},
            "the key's part dropped": {"kept": lambda at_query, at_key: at_query},
            "+c_i": {"kept": lambda at_query, at_key: at_key},
        },
    ),
)
