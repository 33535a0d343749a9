"""The bias of Cable: its identity with FoX, its sign and order, and ALiBi and NoPE as special cases."""

from collections.abc import Callable, Mapping

import sympy as sp

from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength
from lengthgen.proofs_checks.identity import derivative, require_equal, same_by_sympy
from lengthgen.proofs_checks.induction import combine, empty_value, last_term
from lengthgen.proofs_checks.papers.cable import SOURCE
from lengthgen.theory import exact
from lengthgen.theory.encodings import biases, paths

Formula = Callable[[sp.Expr], sp.Expr]
Bias = Callable[[sp.Expr, sp.Expr], sp.Expr]
Step = Mapping[str, Formula]

OVER_PATHS = "induction on the length of the path, so any positions"
_LOGITS = (sp.Integer(-1), sp.Integer(0), sp.Integer(1))
"""Logits at which counterexamples are sought."""
_RELEASED = "the released code"
_TEXT = "the text of version 3"


def minus_gated(distance: sp.Expr, gate: sp.Expr) -> sp.Expr:
    """Cable's bias -g D."""
    return paths.cable_bias(distance, gate=gate)


def printed(distance: sp.Expr, gate: sp.Expr) -> sp.Expr:
    """Bias +g D, as Equation 7 of version 3 prints it."""
    return gate * distance


def released_step(logit: sp.Expr) -> sp.Expr:
    """Step of the released code, softplus(z)."""
    return -paths.cable_log_gate(logit)


def text_step(logit: sp.Expr) -> sp.Expr:
    """Step of the text, ReLU(z)."""
    return paths.cable_rectified(logit)


def as_forget_gates(*, cable_logit: Bias) -> Evidence:
    """Decide that Cable's path sum at one logit is FoX's at another, by induction on the path.

    `cable_logit` takes W . x and b, the two parts of FoX's logit.
    """
    content, offset, total, step = sp.symbols("W.x b D s", real=True)
    i, j = sp.symbols("i j", integer=True)
    path, extended = (paths.cable_distance(paths.CABLE_STEPS, key=i, query=end) for end in (j, j + 1))
    gates, more_gates = (paths.fox_bias(key=i, query=end) for end in (j, j + 1))
    added, added_gate = last_term("D of Cable", path, extended), last_term("D of FoX", gates, more_gates)
    gate, empty = sp.Integer(1), empty_value("D of Cable", paths.cable_distance(paths.CABLE_STEPS, key=i, query=i))
    facts = (
        require_equal(
            "e^(log gate) of Cable = sigma(W.x + b) of FoX",
            sp.exp(paths.cable_log_gate(cable_logit(content, offset))),
            lambda: paths.fox_gate(content + offset),
        ),
        same_by_sympy(
            "base: no token on the path", minus_gated(empty, gate), empty_value("D", paths.fox_bias(key=i, query=i))
        ),
        require_equal(
            "step: the sums change alike when -s = log f",
            lambda: minus_gated(combine(path, -total, added.subs(added, step)), gate),
            lambda: combine(gates, total, added_gate.subs(added_gate, -step)),
        ),
        same_by_sympy("trained numbers", paths.CABLE.learned, paths.FOX.learned),
    )
    return Evidence(
        strength=Strength.GENERAL,
        facts=(*facts, "changing both signs twice changes nothing, so either contains the other"),
        assumptions=("every width, as the content enters by W . x", OVER_PATHS),
    )


def order(*, bias: Bias, steps: Step, gate: Formula, ties: frozenset[str]) -> Evidence:
    """Decide B <= 0, B_ii = 0 and that B does not fall as the key moves on; equal neighbours are possible for `ties`.

    Args:
        bias: bias of a distance and a gate.
        steps: version -> step of a logit.
        gate: gate of a logit.
        ties: versions in which a step may be 0, so that two keys have the same bias.
    """
    i, j = sp.symbols("i j", integer=True)
    logit, size = sp.Symbol("z", real=True), sp.Symbol("r", nonnegative=True)
    path = paths.cable_distance(paths.CABLE_RECTIFIED, key=i, query=j)
    added = last_term("D", path, paths.cable_distance(paths.CABLE_RECTIFIED, key=i, query=j + 1))
    one_step = empty_value("D_j,j+1", paths.cable_distance(paths.CABLE_RECTIFIED, key=j, query=j + 1))
    _require_sign("the gate", gate, strict=True)
    facts, with_ties = [f"the gate {gate(logit)} is positive"], set()
    for version, step in steps.items():
        _require_sign(f"the step of {version}", step, strict=False)
        dead = next((value for value in _LOGITS if step(value) == 0), None)
        if dead is not None:
            with_ties.add(version)
        elif not step(logit).is_positive:
            raise exact.Undecided(f"{step(logit)} is neither positive nor 0 at a tried point")
        facts.append(f"{version}: the step {step(logit)} is {'positive' if dead is None else f'0 at z = {dead}'}")
    positive = sp.Symbol("g", positive=True)
    at_query = bias(empty_value("D", paths.cable_distance(paths.CABLE_RECTIFIED, key=i, query=i)), positive)
    change = sp.expand(bias(one_step.subs(one_step, size), positive) - at_query)
    if not change.is_nonpositive:
        value = change.subs({size: 1, positive: 1})
        raise Refuted(f"s = 1, g = 1: a key one token farther away has a bias that is greater by {value}")
    facts += [
        same_by_sympy("B_ii = 0", at_query, sp.Integer(0)),
        same_by_sympy(
            "each token on the path adds one step", added, sp.Symbol(str(paths.CABLE_RECTIFIED[j + 1]), real=True)
        ),
        f"B_i-1,j - B_i,j = {change} <= 0, with r a step: by induction B <= 0, and no nearer key has less",
    ]
    if with_ties != set(ties):
        raise Refuted(f"a step is 0 at some logit in {sorted(with_ties) or 'no version'}, not in {sorted(ties)}")
    return Evidence(
        strength=Strength.GENERAL,
        facts=tuple(facts),
        assumptions=("any real logits", OVER_PATHS),
    )


def _require_sign(what: str, formula: Formula, *, strict: bool) -> None:
    """Raise `Refuted` unless the formula is positive, or not negative, at every real logit."""
    value = formula(sp.Symbol("z", real=True))
    if value.is_positive or (not strict and value.is_nonnegative):
        return
    for logit in _LOGITS:
        if formula(logit) < 0 or (strict and formula(logit) == 0):
            raise Refuted(f"{what} is {formula(logit)} at z = {logit}")
    raise exact.Undecided(f"the sign of {what}, {value}, is not known")


def constant_steps(*, bias: Bias, step: sp.Expr, gate: Formula, offset: Formula) -> Evidence:
    """Decide that steps and gates of one value, which an offset alone can give, make Cable's bias that of ALiBi.

    Args:
        bias: bias of a distance and a gate.
        step: step of every token in the text's version.
        gate: slope -> gate of every query in the text's version.
        offset: slope -> offset b of the released code, with W = 0.
    """
    i, n = sp.Symbol("i", integer=True), sp.Symbol("n", integer=True, nonnegative=True)
    slope, distance = biases.ALIBI_SLOPE, sp.Symbol("D", real=True)
    if not step.is_nonnegative:
        raise Refuted(f"no ReLU is {step}")
    if not gate(slope).is_positive:
        raise Refuted(f"no softplus is {gate(slope)} for every m > 0")
    path, extended = (paths.cable_distance(paths.CABLE_RECTIFIED, key=i, query=i + end) for end in (n, n + 1))
    added = last_term("D", path, extended)
    empty = empty_value("D", paths.cable_distance(paths.CABLE_RECTIFIED, key=i, query=i))
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            require_equal(
                "text: one token more, -g f = -m",
                lambda: (
                    bias(combine(path, distance, added.subs(added, step)), gate(slope)) - bias(distance, gate(slope))
                ),
                lambda: biases.alibi_bias(slope, query_position=n + 1, key_position=n),
            ),
            same_by_sympy("B_ii = 0 = -m 0", bias(empty, gate(slope)), sp.Integer(0)),
            same_by_sympy("released code: softplus(b) = m", released_step(offset(slope)), slope),
        ),
        assumptions=("W = 0, offsets alone; the text has no offsets (claim cable-3-without-bias)", OVER_PATHS),
    )


def without_offset(*, logit: Formula) -> Evidence:
    """Decide that ReLU steps are not one positive number for all content, if the logit is this function of w . x."""
    along = sp.Symbol("p", nonnegative=True)
    both = [text_step(logit(along)), text_step(logit(-along))]
    silent = [value for value in both if value == 0]
    if not silent:
        raise Refuted(f"w = 0: the step is {text_step(logit(sp.Integer(0)))} for all content")
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            f"w.x = p >= 0: the step of x is {both[0]}, that of -x is {both[1]}",
            "of a content and its opposite one has a step 0, and ALiBi's bias changes by m > 0 at every token",
        ),
        assumptions=("with an input x of the layer -x is one too, as after a norm",),
    )


def silent_steps(*, never: Step, at_some_logit: Step) -> Evidence:
    """Decide in which versions steps may all be 0, so that Cable is NoPE, and where this is only a limit.

    Args:
        never: version -> step that is 0 at no logit, but in the limit of logits that fall.
        at_some_logit: version -> step that is 0 at all logits up to 0.
    """
    logit, down = sp.Symbol("z", real=True), sp.Symbol("p", nonnegative=True)
    facts = []
    for version, step in never.items():
        _require_sign(f"the step of {version}", step, strict=True)
        limit = sp.limit(step(logit), logit, -sp.oo)
        if limit != 0:
            raise Refuted(f"{version}: the step {step(logit)} tends to {limit} as z falls")
        facts.append(f"{version}: the step {step(logit)} is positive at every z and tends to 0 as z falls")
    for version, step in at_some_logit.items():
        if step(-down) != 0:
            raise Refuted(f"{version}: the step at z = -1 is {step(sp.Integer(-1))}, not 0")
        facts.append(f"{version}: the step is 0 at every z <= 0, and each bias is minus a gate times 0")
    return Evidence(
        strength=Strength.GENERAL,
        facts=tuple(facts),
        assumptions=("the bias of the next key before the query is minus one step, times the gate",),
    )


def gate_of_one(*, step: Formula, gate_of: Formula) -> Evidence:
    """Decide that Cable without gates is a path product of the gates f = `gate_of`(step), which are 1 where z <= 0."""
    i, j = sp.symbols("i j", integer=True)
    total, size = sp.symbols("D s", real=True)
    logit, down = sp.Symbol("z", negative=True), sp.Symbol("p", nonnegative=True)
    path, extended = (paths.cable_distance(paths.CABLE_RECTIFIED, key=i, query=end) for end in (j, j + 1))
    added = last_term("D", path, extended)
    if gate_of(step(-down)) != 1:
        raise Refuted(f"z = -1: the gate is {sp.N(gate_of(step(sp.Integer(-1))), 4)}, not 1")
    facts = (
        require_equal(
            "step: e^B of a path with one token more = e^B times its gate",
            lambda: sp.exp(minus_gated(combine(path, total, added.subs(added, size)), sp.Integer(1))),
            lambda: sp.exp(minus_gated(total, sp.Integer(1))) * gate_of(size),
        ),
        "the gate is 1 at every z <= 0, which no sigmoid is",
        same_by_sympy("and its derivative there is 0: no gradient", derivative(step(logit), logit), sp.Integer(0)),
    )
    return Evidence(strength=Strength.GENERAL, facts=facts, assumptions=(OVER_PATHS,))


CLAIMS = (
    Claim(
        id="cable-1",
        source=SOURCE.at("released code, first version; FoX: arXiv 2503.02130"),
        statement="The released Cable with weights W and offset b is FoX with -W and -b, for every input (errata F13).",
        latex=r"-\mathrm{softplus}(-z)=\log\sigma(z),\quad\mathrm{Cable}_{W,b}=\mathrm{FoX}_{-W,-b}",
        label="P",
        check=as_forget_gates,
        holds={"cable_logit": lambda content, offset: -content - offset},
        falsifiers={
            "Cable(W, b) = FoX(W, b)": {"cable_logit": lambda content, offset: content + offset},
            "the sign of W alone": {"cable_logit": lambda content, offset: -content + offset},
        },
    ),
    Claim(
        id="cable-2",
        source=SOURCE.at("Equation 7 of version 3; released code"),
        statement="Cable's bias is 0 at the query itself, never positive, and does not fall as the key moves towards "
        "the query; it rises strictly in the released code, while ReLU steps of 0 make equal neighbours (errata F13: "
        "Equation 7 prints g_i (S_i - S_j), which is not negative and grows with the distance).",
        latex=r"B_{ij}=-g_i(S_i-S_j)\le 0,\quad B_{ii}=0,\quad B_{i,j}\le B_{i,j+1}",
        label="P",
        check=order,
        holds={
            "bias": minus_gated,
            "steps": {_RELEASED: released_step, _TEXT: text_step},
            "gate": lambda logit: paths.cable_gate(logit=logit),
            "ties": frozenset({_TEXT}),
        },
        answers=("ties",),
        printed={"bias": printed},
        falsifiers={
            "steps without ReLU": {"steps": {_RELEASED: released_step, _TEXT: lambda logit: logit}},
            "strictly rising in the text too": {"steps": {_RELEASED: released_step, _TEXT: released_step}},
            "gates without softplus": {"gate": lambda logit: logit},
            "-g at the query itself": {"bias": lambda distance, gate: minus_gated(distance + 1, gate)},
        },
    ),
    Claim(
        id="cable-3",
        source=SOURCE.at("ALiBi as a special case; its recipe of weights 2^-h and an offset -1"),
        statement="With steps that read no content Cable is ALiBi: softplus(b) = m in the released code, f = 1 and "
        "g = m in the text.  The printed recipe has f = -1 (our reading), which no ReLU is.",
        latex=r"\mathrm{softplus}(b)=m:\ B_{ij}=-m(i-j);\qquad f=1,\ g=m:\ B_{ij}=-m(i-j)",
        label="P",
        check=constant_steps,
        holds={
            "bias": minus_gated,
            "step": sp.Integer(1),
            "gate": lambda slope: slope,
            "offset": lambda slope: sp.log(sp.exp(slope) - 1),
        },
        printed={"bias": printed, "step": sp.Integer(-1)},
        falsifiers={
            "the printed sign with f = 1": {"bias": printed},
            "the corrected sign with f = -1": {"step": sp.Integer(-1)},
            "f = 2": {"step": sp.Integer(2)},
            "b = log m": {"offset": sp.log},
        },
    ),
    Claim(
        id="cable-3-without-bias",
        source=SOURCE.at("version 3: f = ReLU(x w), without an offset"),
        statement="Without an offset the ReLU steps of the text are not one positive number for all content, so no "
        "weights give ALiBi.",
        latex=r"\mathrm{ReLU}(w\cdot x)\,\mathrm{ReLU}(-w\cdot x)=0",
        label="F",
        check=without_offset,
        holds={"logit": lambda along: along},
        falsifiers={"with an offset of 1": {"logit": lambda along: 0 * along + 1}},
    ),
    Claim(
        id="cable-4",
        source=SOURCE.at("softplus and ReLU as steps; NoPE as a special case"),
        statement="NoPE is Cable of the text where every ReLU is 0; of the released code it is only a limit, because "
        "softplus is positive at finite weights.",
        latex=r"\mathrm{softplus}(z)>0,\quad\lim_{z\to-\infty}\mathrm{softplus}(z)=0,\quad\mathrm{ReLU}(z)=0\ (z\le0)",
        label="F",
        check=silent_steps,
        holds={"never": {_RELEASED: released_step}, "at_some_logit": {_TEXT: text_step}},
        falsifiers={
            "the released code at finite weights": {"at_some_logit": {_RELEASED: released_step}},
            "the text in a limit alone": {"never": {_TEXT: text_step}},
            "softplus and 1 more": {"never": {_RELEASED: lambda logit: released_step(logit) + 1}},
        },
    ),
    Claim(
        id="cable-6",
        source=SOURCE.at("the variant without gates (NW)"),
        statement="Cable without gates is a path product as in FoX, of f = e^(-ReLU(z)): a gate may be exactly 1, and "
        "there it has no gradient.",
        latex=r"e^{B_{ij}}=\prod_{l=j+1}^{i}e^{-\mathrm{ReLU}(z_l)},\quad f_l=1,\ \partial f_l/\partial z_l=0\ (z_l<0)",
        label="F",
        check=gate_of_one,
        holds={"step": text_step, "gate_of": lambda step: sp.exp(-step)},
        falsifiers={
            "softplus, whose gates stay below 1": {"step": released_step},
            "gates that grow": {"gate_of": sp.exp},
            "gates 1 - s": {"gate_of": lambda step: 1 - step},
        },
    ),
)
