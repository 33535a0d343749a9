"""The bias as a sum along the path: its exponential, its additivity, its signs, and what tokens it reads."""

from collections.abc import Callable

import sympy as sp

from proofs_checks.claim import Claim, Evidence, Refuted, Strength
from proofs_checks.identity import require_equal, same_by_sympy
from proofs_checks.induction import combine, empty_value, last_term
from proofs_checks.papers.fox.source import source
from theory import exact
from theory.encodings import fox

PathFormula = Callable[[sp.Expr, sp.Expr], sp.Expr]

_OVER_PATHS = "induction on the length of the path, so any positions"


def _bias(key: sp.Expr, query: sp.Expr) -> sp.Sum:
    return fox.path_bias(key=key, query=query)


def path_product(*, bias: PathFormula, gate: PathFormula) -> Evidence:
    """Decide exp(D_ij) = F_ij by induction on j - i, and with it the equality of the two attentions."""
    i, j = sp.symbols("i j", integer=True)
    total, content, other_total, other_content = sp.symbols("D S D_ S_", real=True)
    added = last_term("bias", bias(i, j), bias(i, j + 1))
    multiplied = last_term("gate", gate(i, j), gate(i, j + 1))
    # Under the hypothesis exp(D) = F the gate of the path may be written exp(D).
    tests = (
        (
            "base: exp(D_ii) = F_ii",
            lambda: sp.exp(empty_value("bias", bias(i, i))),
            lambda: empty_value("gate", gate(i, i)),
        ),
        (
            "step: exp(D_i,j+1) = F_i,j+1",
            lambda: sp.exp(combine(bias(i, j), total, added)),
            lambda: combine(gate(i, j), sp.exp(total), multiplied),
        ),
        (
            "ratio of any two weights of a row: softmax(S + D) = normalised F exp(S)",
            lambda: sp.exp(content + total) / sp.exp(other_content + other_total),
            lambda: sp.exp(total) * sp.exp(content) / (sp.exp(other_total) * sp.exp(other_content)),
        ),
    )
    return Evidence(
        strength=Strength.GENERAL,
        facts=tuple(require_equal(*test) for test in tests),
        assumptions=("gates in (0, 1), written f = exp(log f)", "induction on j - i, so any path and row length"),
    )


def _of_other_sign(key: sp.Expr, query: sp.Expr) -> sp.Sum:
    """The path with minus the log gates."""
    path = fox.path_bias(key=key, query=query)
    return sp.Sum(-path.function, *path.limits)


def cocycle(*, bias: PathFormula, in_query: int, in_key: int) -> Evidence:
    """Decide D_ij = D_il + D_lj by induction on j from l, D_ii = 0, and the signs of D's changes in j and in i."""
    i, middle, j = sp.symbols("i l j", integer=True)
    total, first, second = sp.symbols("D_ij D_il D_lj", real=True)
    size = sp.Symbol("p", positive=True)  # minus a log gate
    whole, tail = bias(i, j), bias(middle, j)
    added = last_term("D_i,j+1", whole, bias(i, j + 1))
    added_to_tail = last_term("D_l,j+1", tail, bias(middle, j + 1))
    one_step = empty_value("D_i,i+1", bias(i, i + 1))
    tests = (
        ("base j = l: D_il + D_ll = D_il", lambda: first + empty_value("D_ll", bias(middle, middle)), first),
        (
            "step: D_i,j+1 - D_ij = D_l,j+1 - D_lj",
            lambda: combine(whole, total, added) - total,
            lambda: combine(tail, second, added_to_tail) - second,
        ),
    )
    facts = [
        same_by_sympy("D_ii = 0", empty_value("D_ii", bias(i, i)), sp.Integer(0)),
        *(require_equal(*test) for test in tests),
    ]
    if not fox.LOG_GATES[i].is_negative:
        raise exact.Undecided("the logarithm of a gate is not known to be negative")
    gates = [_one_gate("D_i,j+1 - D_ij", added), _one_gate("D_i,i+1", one_step)]
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
        assumptions=("gates in (0, 1)", _OVER_PATHS),
    )


def after_the_query(*, next_key: Callable[[sp.Expr], sp.Expr]) -> Evidence:
    """Decide what c_j - c_i, continued to keys after the query, is at the next key, and how it goes on.

    Additivity leaves one continuation: D_ij + D_ji = D_ii = 0.
    """
    j = sp.Symbol("j", integer=True)
    total, size = sp.Symbol("D", real=True), sp.Symbol("p", positive=True)
    forward = empty_value("D_j,j+1", _bias(j, j + 1))
    gate = _one_gate("D_j,j+1", forward)
    continued = _bias(j + 1, j).doit().xreplace({fox.LOG_GATES[j + 1]: gate})
    n = sp.Symbol("n", integer=True, nonnegative=True)
    added = last_term("D_j,j+n+1", _bias(j, j + n), _bias(j, j + n + 1))
    facts = (
        require_equal("D_j+1,j + D_j,j+1 = 0", lambda: continued + forward, sp.Integer(0)),
        same_by_sympy("the next key's bias", -forward.subs(gate, -size), next_key(-size)),
        require_equal(
            "one key further it is greater by p",
            lambda: -combine(_bias(j, j + n), total, added.subs(added, -size)) + total,
            size,
        ),
    )
    return Evidence(
        strength=Strength.GENERAL,
        facts=(*facts, "-log f = p > 0: a bonus, which grows without bound the further the key is after the query"),
        assumptions=("gates in (0, 1)", _OVER_PATHS),
    )


def _one_gate(what: str, step: sp.Expr) -> sp.Expr:
    """The gate that is the whole of a step of the path."""
    if len(step.free_symbols) != 1:
        raise Refuted(f"{what} is {step}, not one log gate")
    return next(iter(step.free_symbols))


def token_removed(*, key_after: Callable[[sp.Expr], sp.Expr], was_at: Callable[[sp.Expr], sp.Expr]) -> Evidence:
    """Decide that D stays, by induction on j from i + 1, when one token is taken out and the query moves to j - 1.

    `key_after` is where the key then is, `was_at` where the token now at l was.
    """
    i, j = sp.symbols("i j", integer=True)
    before = _bias(i, j)
    start, step = (_renamed(_bias(key_after(i), end - 1), was_at) for end in (i + 1, j))
    longer = _renamed(_bias(key_after(i), j), was_at)
    total = sp.Symbol("D", real=True)
    added, added_without = last_term("D", before, _bias(i, j + 1)), last_term("D without it", step, longer)
    facts = (
        same_by_sympy("D_ij reads no gate before that of i + 1", before.limits[0][1], i + 1),
        same_by_sympy("base: D_i,i+1", empty_value("D without it", start), empty_value("D", _bias(i, i + 1))),
        same_by_sympy(
            "step: the same gate is added", combine(step, total, added_without), combine(before, total, added)
        ),
    )
    return Evidence(
        strength=Strength.GENERAL,
        facts=(*facts, "so the gate of token 0 is never read"),
        assumptions=("the log gates are given", "one token at a time, so a prefix of any length", _OVER_PATHS),
    )


def _renamed(path: sp.Sum, was_at: Callable[[sp.Expr], sp.Expr]) -> sp.Sum:
    step = path.limits[0][0]
    return sp.Sum(path.function.subs(step, was_at(step)), *path.limits)


CLAIMS = (
    Claim(
        id="fox-1",
        source=source("definition of D and F"),
        statement="The bias that is the sum of log forget gates after the key, up to the query, weighs attention by "
        "the product of these gates: softmax(S + D) is F exp(S), normalised.",
        latex=r"e^{D_{ij}}=\prod_{l=i+1}^{j}f_l=F_{ij},\quad"
        r"\mathrm{softmax}_i(S+D)=\frac{F_{ij}e^{S_{ij}}}{\sum_{i'}F_{i'j}e^{S_{i'j}}}",
        label="P",
        check=path_product,
        holds={
            "bias": lambda key, query: fox.path_bias(key=key, query=query),
            "gate": lambda key, query: fox.path_gate(key=key, query=query),
        },
        falsifiers={
            "gate of the key included": {"gate": lambda key, query: fox.path_gate(key=key - 1, query=query)},
            "gates one step early": {"gate": lambda key, query: fox.path_gate(key=key - 1, query=query - 1)},
            "gates added, not multiplied": {
                "gate": lambda key, query: sp.Sum(*fox.path_gate(key=key, query=query).args)
            },
        },
    ),
    Claim(
        id="fox-5",
        source=source("definition of D"),
        statement="Biases add up along the path, D_ij = D_il + D_lj; D is 0 at the query itself, never positive, rises "
        "with the key's position and falls with the query's.",
        latex=r"D_{ij}=D_{il}+D_{lj},\quad D_{ii}=0,\quad D_{i,j+1}\le D_{ij}\le D_{i+1,j}\le 0",
        label="P",
        check=cocycle,
        holds={"bias": _bias, "in_query": -1, "in_key": 1},
        answers=("in_query", "in_key"),
        falsifiers={
            "the other sign": {"bias": _of_other_sign},
            "the gate of the query left out": {"bias": lambda key, query: fox.path_bias(key=key, query=query - 1)},
            "gate of the key included": {"bias": lambda key, query: fox.path_bias(key=key - 1, query=query)},
        },
    ),
    Claim(
        id="fox-7",
        source=source("the bias without position embeddings"),
        statement="Biases among tokens do not change when a prefix before them is taken away; they are no law of the "
        "distance, as they go with the tokens.",
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
        id="fox-12",
        source=source("causal attention only"),
        statement="The law is for keys up to the query: continued to later keys, c_j - c_i is positive and grows.",
        latex=r"D_{j+1,j}=-\log f_{j+1}>0",
        label="F",
        check=after_the_query,
        holds={"next_key": lambda log_gate: -log_gate},
        falsifiers={
            "not positive there": {"next_key": lambda log_gate: log_gate},
            "zero there": {"next_key": lambda log_gate: sp.Integer(0)},
        },
    ),
)
