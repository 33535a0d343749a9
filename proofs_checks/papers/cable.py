"""Cable (arXiv 2503.08067): its bias beside FoX, its sign and order, ALiBi and NoPE as special cases."""

from collections.abc import Mapping

import sympy as sp

from lengthgen.proofs_checks.claim import Source
from lengthgen.proofs_checks.facts import Formula, combine, empty_value, next_term, same_by_sympy
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.proofs_checks.papers.fox import OVER_PATHS, along_path
from lengthgen.theory.encodings import biases, paths
from lengthgen.theory.zero.sympy_engine import Undecided

SOURCE = Source(paper="Cable", arxiv="2503.08067")
CLAIMS = PaperClaims(SOURCE)
i, j = sp.symbols("i j", integer=True)
_LOGITS = (sp.S.NegativeOne, sp.S.Zero, sp.S.One)
"""Logits at which counterexamples are sought."""
_RELEASED = "the released code"
_TEXT = "the text of version 3"


def minus_gated(distance: sp.Expr, gate: sp.Expr = sp.S.One) -> sp.Expr:
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


def any_distance(key: sp.Expr, query: sp.Expr) -> sp.Expr:
    """Distance between tokens, summed over any steps."""
    return paths.cable_distance(paths.CABLE_STEPS, key=key, query=query)


def text_distance(key: sp.Expr, query: sp.Expr) -> sp.Expr:
    """Distance between tokens, summed over the steps of the text, which may be 0."""
    return paths.cable_distance(paths.CABLE_RECTIFIED, key=key, query=query)


def _require_sign(what: str, formula: Formula, *, strict: bool) -> None:
    """Raise `Refuted` unless the formula is positive, or not negative, at every real logit."""
    value = formula(sp.Symbol("z", real=True))
    if value.is_positive or (not strict and value.is_nonnegative):
        return
    for logit in _LOGITS:
        at_logit = formula(logit)
        refute(at_logit < 0 or (strict and at_logit == 0), f"{what} is {at_logit} at z = {logit}")
    raise Undecided(f"the sign of {what}, {value}, is not known")


@CLAIMS.claim(
    "cable-1",
    "released code, first version; FoX: arXiv 2503.02130",
    r"-\mathrm{softplus}(-z)=\log\sigma(z),\quad\mathrm{Cable}_{W,b}=\mathrm{FoX}_{-W,-b}",
    label="P",
    assumptions=("every width, as the content enters by W . x", OVER_PATHS),
    falsifiers={
        "Cable(W, b) = FoX(W, b)": {"cable_logit": lambda content, offset: content + offset},
        "the sign of W alone": {"cable_logit": lambda content, offset: -content + offset},
    },
)
def as_forget_gates(cable_logit: Formula = lambda Wx, b: -Wx - b) -> Facts:
    """The bias of the released Cable with weights W and offset b is that of FoX with -W and -b, for every input
    (errata F13).
    """
    Wx, b, D, s = sp.symbols("W.x b D s", real=True)
    path, gates = any_distance(i, j), along_path(i, j)
    added, added_gate = next_term("D of Cable", any_distance, i, j), next_term("D of FoX", along_path, i, j)
    empty = minus_gated(empty_value("D of Cable", any_distance(i, i)))
    log_gate = paths.cable_log_gate(cable_logit(Wx, b))
    yield "e^(log gate) of Cable = sigma(W.x + b) of FoX", sp.exp(log_gate), lambda: paths.fox_gate(Wx + b)
    yield same_by_sympy("base: no token on the path", empty, empty_value("D", along_path(i, i)))
    yield (
        "step: the sums change alike when -s = log f",
        lambda: minus_gated(combine(path, -D, added.subs(added, s))),
        lambda: combine(gates, D, added_gate.subs(added_gate, -s)),
    )
    yield same_by_sympy("trained numbers", paths.CABLE.learned, paths.FOX.learned)
    yield "changing both signs twice changes nothing, so either contains the other"


@CLAIMS.claim(
    "cable-2",
    "Equation 7 of version 3; released code",
    r"B_{ij}=-g_i(S_i-S_j)\le 0,\quad B_{ii}=0,\quad B_{i,j}\le B_{i,j+1}",
    label="P",
    assumptions=("any real logits", OVER_PATHS),
    answers=("ties",),
    printed={"bias": printed},
    falsifiers={
        "steps without ReLU": {"steps": {_RELEASED: released_step, _TEXT: lambda logit: logit}},
        "strictly rising in the text too": {"steps": {_RELEASED: released_step, _TEXT: released_step}},
        "gates without softplus": {"gate": lambda logit: logit},
        "-g at the query itself": {"bias": lambda distance, gate: minus_gated(distance + 1, gate)},
    },
)
def order(
    bias: Formula = minus_gated,
    steps: Mapping[str, Formula] = {_RELEASED: released_step, _TEXT: text_step},
    gate: Formula = paths.cable_gate,
    ties: frozenset[str] = frozenset({_TEXT}),
) -> Facts:
    """Cable's bias is 0 at the query itself, never positive, and does not fall as the key moves towards the query; it
    rises strictly in the released code, while ReLU steps of 0 make equal neighbours (errata F13: Equation 7 prints g_i
    (S_i - S_j), which is not negative and grows with the distance).

    `ties` are the versions of `steps` in which a step may be 0, so that two keys have the same bias.
    """
    z, g = sp.Symbol("z", real=True), sp.Symbol("g", positive=True)
    D, r, s = sp.Symbol("D", nonnegative=True), sp.Symbol("r", nonnegative=True), sp.Symbol("s", positive=True)
    added, with_ties = next_term("D", text_distance, i, j), set()
    _require_sign("the gate", gate, strict=True)
    yield f"the gate {gate(z)} is positive"
    for version, step in steps.items():
        _require_sign(f"the step of {version}", step, strict=False)
        dead = next((value for value in _LOGITS if step(value) == 0), None)
        if dead is not None:
            with_ties.add(version)
        elif not step(z).is_positive:
            raise Undecided(f"{step(z)} is neither positive nor 0 at a tried point")
        yield f"{version}: the step {step(z)} is {'positive' if dead is None else f'0 at z = {dead}'}"
    one_step = empty_value("D_j,j+1", text_distance(j, j + 1))
    at_query = bias(empty_value("D", text_distance(i, i)), g)
    change = sp.expand(bias(D + one_step.subs(one_step, r), g) - bias(D, g))
    risen = change.subs({D: 0, r: 1, g: 1})
    refute(risen > 0, f"s = 1, g = 1: a key one token farther away has a bias that is greater by {risen}")
    if not (change.is_nonpositive and change.subs(r, s).is_negative):
        raise Undecided(f"the sign of {change} is not known for D >= 0 and a step r")
    next_step = sp.Symbol(str(paths.CABLE_RECTIFIED[j + 1]), real=True)
    yield same_by_sympy("B_ii = 0", at_query, sp.S.Zero)
    yield same_by_sympy("each token on the path adds one step", added, next_step)
    yield f"B_i-1,j - B_i,j = {change} <= 0, with r a step, and < 0 for r > 0"
    yield "by induction B <= 0, and no nearer key has less"
    versions = sorted(with_ties) or "no version"
    refute(with_ties != ties, f"a step is 0 at some logit in {versions}, not in {sorted(ties)}")


@CLAIMS.claim(
    "cable-3",
    "ALiBi as a special case; its recipe of weights 2^-h and an offset -1",
    r"\mathrm{softplus}(b)=m:\ B_{ij}=-m(i-j);\qquad f=1,\ g=m:\ B_{ij}=-m(i-j)",
    label="P",
    assumptions=("W = 0, offsets alone; the text has no offsets (claim cable-3-without-bias)", OVER_PATHS),
    printed={"bias": printed, "step": sp.Integer(-1)},
    falsifiers={
        "the printed sign with f = 1": {"bias": printed},
        "the corrected sign with f = -1": {"step": sp.Integer(-1)},
        "f = 2": {"step": sp.Integer(2)},
        "b = log m": {"offset": sp.log},
    },
)
def constant_steps(
    bias: Formula = minus_gated,
    step: sp.Expr = sp.S.One,
    gate: Formula = lambda m: m,
    offset: Formula = lambda m: sp.log(sp.exp(m) - 1),
) -> Facts:
    """With steps that read no content Cable is ALiBi: softplus(b) = m in the released code, f = 1 and g = m in the
    text, which has no offset that could give them. The printed recipe has f = -1 (our reading), which no ReLU is.

    `step` and `gate` are those of every token in the text, `offset` is b of the released code with W = 0.
    """
    i, n = sp.Symbol("i", integer=True), sp.Symbol("n", integer=True, nonnegative=True)
    m, D = biases.ALIBI_SLOPE, sp.Symbol("D", real=True)
    refute(not step.is_nonnegative, f"no ReLU is {step}")
    refute(not gate(m).is_positive, f"no softplus is {gate(m)} for every m > 0")
    added = next_term("D", text_distance, i, i + n)
    longer = combine(text_distance(i, i + n), D, added.subs(added, step))
    empty = empty_value("D", text_distance(i, i))
    yield (
        "text: one token more, -g f = -m",
        lambda: bias(longer, gate(m)) - bias(D, gate(m)),
        lambda: biases.alibi_bias(m, query_position=n + 1, key_position=n),
    )
    yield same_by_sympy("B_ii = 0 = -m 0", bias(empty, gate(m)), sp.S.Zero)
    yield same_by_sympy("released code: softplus(b) = m", released_step(offset(m)), m)


@CLAIMS.claim(
    "cable-3-without-bias",
    "version 3: f = ReLU(x w), without an offset",
    r"\mathrm{ReLU}(w\cdot x)\,\mathrm{ReLU}(-w\cdot x)=0",
    assumptions=("with an input x of the layer -x is one too, as after a norm without an offset",),
    falsifiers={"with an offset of 1": {"logit": lambda along: 0 * along + 1}},
)
def without_offset(logit: Formula = lambda p: p) -> Facts:
    """Without an offset the ReLU steps of the text are not one positive number for all content, so no weights give
    ALiBi.
    """
    p = sp.Symbol("p", nonnegative=True)
    both = [text_step(logit(p)), text_step(logit(-p))]
    refute(0 not in both, f"w = 0: the step is {text_step(logit(sp.S.Zero))} for all content")
    yield f"w.x = p >= 0: the step of x is {both[0]}, that of -x is {both[1]}"
    yield "of a content and its opposite one has a step 0, and ALiBi's bias changes by m > 0 at every token"


@CLAIMS.claim(
    "cable-4",
    "softplus and ReLU as steps; NoPE as a special case",
    r"\mathrm{softplus}(z)>0,\quad\lim_{z\to-\infty}\mathrm{softplus}(z)=0,\quad\mathrm{ReLU}(z)=0\ (z\le0)",
    assumptions=("the bias of the next key before the query is minus one step, times the gate",),
    falsifiers={
        "the released code at finite weights": {"at_some_logit": {_RELEASED: released_step}},
        "the text in a limit alone": {"never": {_TEXT: text_step}},
        "softplus and 1 more": {"never": {_RELEASED: lambda logit: released_step(logit) + 1}},
    },
)
def silent_steps(
    never: Mapping[str, Formula] = {_RELEASED: released_step}, at_some_logit: Mapping[str, Formula] = {_TEXT: text_step}
) -> Facts:
    """NoPE is Cable of the text where every ReLU is 0; of the released code it is only a limit, because softplus is
    positive at finite weights.
    """
    z, down = sp.Symbol("z", real=True), sp.Symbol("p", nonnegative=True)
    for version, step in never.items():
        _require_sign(f"the step of {version}", step, strict=True)
        limit = sp.limit(step(z), z, -sp.oo)
        refute(limit != 0, f"{version}: the step {step(z)} tends to {limit} as z falls")
        yield f"{version}: the step {step(z)} is positive at every z and tends to 0 as z falls"
    for version, step in at_some_logit.items():
        refute(step(-down) != 0, f"{version}: the step at z = -1 is {step(sp.S.NegativeOne)}, not 0")
        yield f"{version}: the step is 0 at every z <= 0, and each bias is minus a gate times 0"
