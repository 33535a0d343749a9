"""Cable (arXiv 2503.08067): its bias and special cases, and the distances between tokens that it sums up.

The bias: its identity with FoX, its sign and order, ALiBi and NoPE as special cases. The distances: their additivity
and geometry, prefixes and caches, and the logarithm of K-Cable.
"""

from collections.abc import Callable, Mapping, Sequence

import sympy as sp

from lengthgen.proofs_checks.claim import Refuted, Source
from lengthgen.proofs_checks.facts import combine, derivative, empty_value, last_term, require_equal, same_by_sympy
from lengthgen.proofs_checks.paper import Facts, PaperClaims
from lengthgen.proofs_checks.papers.fox import RowTerm, Weight, sigmoid
from lengthgen.theory.encodings import biases, paths
from lengthgen.theory.zero import sympy_engine

SOURCE = Source(paper="Cable", arxiv="2503.08067")

Formula = Callable[[sp.Expr], sp.Expr]
Bias = Callable[[sp.Expr, sp.Expr], sp.Expr]
Step = Mapping[str, Formula]

OVER_PATHS = "induction on the length of the path, so any positions"
_LOGITS = (sp.Integer(-1), sp.Integer(0), sp.Integer(1))
"""Logits at which counterexamples are sought."""
_RELEASED = "the released code"
_TEXT = "the text of version 3"
_ROW = sp.symbols("g_j g_l D_lj D_il", real=True)
_POINTS = range(1, 6)
"""Numbers of tokens for which the quadratic form is written out."""


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


def _require_sign(what: str, formula: Formula, *, strict: bool) -> None:
    """Raise `Refuted` unless the formula is positive, or not negative, at every real logit."""
    value = formula(sp.Symbol("z", real=True))
    if value.is_positive or (not strict and value.is_nonnegative):
        return
    for logit in _LOGITS:
        if formula(logit) < 0 or (strict and formula(logit) == 0):
            raise Refuted(f"{what} is {formula(logit)} at z = {logit}")
    raise sympy_engine.Undecided(f"the sign of {what}, {value}, is not known")


CLAIMS = PaperClaims(SOURCE)


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
def as_forget_gates(cable_logit: Bias = lambda content, offset: -content - offset) -> Facts:
    """The released Cable with weights W and offset b is FoX with -W and -b, for every input (errata F13).

    `cable_logit` takes W . x and b, the two parts of FoX's logit.
    """
    content, offset, total, step = sp.symbols("W.x b D s", real=True)
    i, j = sp.symbols("i j", integer=True)
    path, extended = (paths.cable_distance(paths.CABLE_STEPS, key=i, query=end) for end in (j, j + 1))
    gates, more_gates = (paths.fox_bias(key=i, query=end) for end in (j, j + 1))
    added, added_gate = last_term("D of Cable", path, extended), last_term("D of FoX", gates, more_gates)
    gate, empty = sp.Integer(1), empty_value("D of Cable", paths.cable_distance(paths.CABLE_STEPS, key=i, query=i))
    yield (
        "e^(log gate) of Cable = sigma(W.x + b) of FoX",
        sp.exp(paths.cable_log_gate(cable_logit(content, offset))),
        lambda: paths.fox_gate(content + offset),
    )
    yield same_by_sympy(
        "base: no token on the path", minus_gated(empty, gate), empty_value("D", paths.fox_bias(key=i, query=i))
    )
    yield (
        "step: the sums change alike when -s = log f",
        lambda: minus_gated(combine(path, -total, added.subs(added, step)), gate),
        lambda: combine(gates, total, added_gate.subs(added_gate, -step)),
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
    bias: Bias = minus_gated,
    steps: Step = {_RELEASED: released_step, _TEXT: text_step},
    gate: Formula = lambda logit: paths.cable_gate(logit=logit),
    ties: frozenset[str] = frozenset({_TEXT}),
) -> Facts:
    """Cable's bias is 0 at the query itself, never positive, and does not fall as the key moves towards the query; it
    rises strictly in the released code, while ReLU steps of 0 make equal neighbours (errata F13: Equation 7 prints g_i
    (S_i - S_j), which is not negative and grows with the distance).

    Decide B <= 0, B_ii = 0 and that B does not fall as the key moves on; equal neighbours are possible for `ties`.

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
            raise sympy_engine.Undecided(f"{step(logit)} is neither positive nor 0 at a tried point")
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
    yield from facts


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
    bias: Bias = minus_gated,
    step: sp.Expr = sp.Integer(1),
    gate: Formula = lambda slope: slope,
    offset: Formula = lambda slope: sp.log(sp.exp(slope) - 1),
) -> Facts:
    """With steps that read no content Cable is ALiBi: softplus(b) = m in the released code, f = 1 and g = m in the
    text.  The printed recipe has f = -1 (our reading), which no ReLU is.

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
    yield (
        "text: one token more, -g f = -m",
        lambda: bias(combine(path, distance, added.subs(added, step)), gate(slope)) - bias(distance, gate(slope)),
        lambda: biases.alibi_bias(slope, query_position=n + 1, key_position=n),
    )
    yield same_by_sympy("B_ii = 0 = -m 0", bias(empty, gate(slope)), sp.Integer(0))
    yield same_by_sympy("released code: softplus(b) = m", released_step(offset(slope)), slope)


@CLAIMS.claim(
    "cable-3-without-bias",
    "version 3: f = ReLU(x w), without an offset",
    r"\mathrm{ReLU}(w\cdot x)\,\mathrm{ReLU}(-w\cdot x)=0",
    assumptions=("with an input x of the layer -x is one too, as after a norm",),
    falsifiers={"with an offset of 1": {"logit": lambda along: 0 * along + 1}},
)
def without_offset(logit: Formula = lambda along: along) -> Facts:
    """Without an offset the ReLU steps of the text are not one positive number for all content, so no weights give
    ALiBi.
    """
    along = sp.Symbol("p", nonnegative=True)
    both = [text_step(logit(along)), text_step(logit(-along))]
    silent = [value for value in both if value == 0]
    if not silent:
        raise Refuted(f"w = 0: the step is {text_step(logit(sp.Integer(0)))} for all content")
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
def silent_steps(never: Step = {_RELEASED: released_step}, at_some_logit: Step = {_TEXT: text_step}) -> Facts:
    """NoPE is Cable of the text where every ReLU is 0; of the released code it is only a limit, because softplus is
    positive at finite weights.

    Args:
        never: version -> step that is 0 at no logit, but in the limit of logits that fall.
        at_some_logit: version -> step that is 0 at all logits up to 0.
    """
    logit, down = sp.Symbol("z", real=True), sp.Symbol("p", nonnegative=True)
    for version, step in never.items():
        _require_sign(f"the step of {version}", step, strict=True)
        limit = sp.limit(step(logit), logit, -sp.oo)
        if limit != 0:
            raise Refuted(f"{version}: the step {step(logit)} tends to {limit} as z falls")
        yield f"{version}: the step {step(logit)} is positive at every z and tends to 0 as z falls"
    for version, step in at_some_logit.items():
        if step(-down) != 0:
            raise Refuted(f"{version}: the step at z = -1 is {step(sp.Integer(-1))}, not 0")
        yield f"{version}: the step is 0 at every z <= 0, and each bias is minus a gate times 0"


@CLAIMS.claim(
    "cable-6",
    "the variant without gates (NW)",
    r"e^{B_{ij}}=\prod_{l=j+1}^{i}e^{-\mathrm{ReLU}(z_l)},\quad f_l=1,\ \partial f_l/\partial z_l=0\ (z_l<0)",
    assumptions=(OVER_PATHS,),
    falsifiers={
        "softplus, whose gates stay below 1": {"step": released_step},
        "gates that grow": {"gate_of": sp.exp},
        "gates 1 - s": {"gate_of": lambda step: 1 - step},
    },
)
def gate_of_one(step: Formula = text_step, gate_of: Formula = lambda step: sp.exp(-step)) -> Facts:
    """Cable without gates is a path product as in FoX, of f = e^(-ReLU(z)): a gate may be exactly 1, and there it has
    no gradient.

    Decide that Cable without gates is a path product of the gates f = `gate_of`(step), which are 1 where z <= 0.
    """
    i, j = sp.symbols("i j", integer=True)
    total, size = sp.symbols("D s", real=True)
    logit, down = sp.Symbol("z", negative=True), sp.Symbol("p", nonnegative=True)
    path, extended = (paths.cable_distance(paths.CABLE_RECTIFIED, key=i, query=end) for end in (j, j + 1))
    added = last_term("D", path, extended)
    if gate_of(step(-down)) != 1:
        raise Refuted(f"z = -1: the gate is {sp.N(gate_of(step(sp.Integer(-1))), 4)}, not 1")
    yield (
        "step: e^B of a path with one token more = e^B times its gate",
        lambda: sp.exp(minus_gated(combine(path, total, added.subs(added, size)), sp.Integer(1))),
        lambda: sp.exp(minus_gated(total, sp.Integer(1))) * gate_of(size),
    )
    yield "the gate is 1 at every z <= 0, which no sigmoid is"
    yield same_by_sympy("and its derivative there is 0: no gradient", derivative(step(logit), logit), sp.Integer(0))


def _written_out(kernel: Callable[[sp.Expr, sp.Expr], sp.Expr], tokens: int) -> str:
    """Fact that the form of this many steps is the sum of 2 s_l A_l^2, for weights of sum 0."""
    weights: Sequence[sp.Expr] = sp.symbols(f"c1:{tokens + 1}", real=True)
    weights = (-sp.Add(*weights), *weights)
    steps = [sp.Symbol(f"s{index}", positive=True) for index in range(tokens + 1)]

    pairs = [(a, b) for a in range(tokens + 1) for b in range(a + 1, tokens + 1)]
    distances = {
        (a, b): paths.cable_distance(paths.CABLE_STEPS, key=sp.Integer(a), query=sp.Integer(b))
        .doit()
        .xreplace({paths.CABLE_STEPS[index]: step for index, step in enumerate(steps)})
        for a, b in pairs
    }
    return require_equal(
        f"{tokens + 1} tokens",
        lambda: sp.Add(*(2 * weights[a] * weights[b] * kernel(distances[a, b], sp.Integer(1)) for a, b in pairs)),
        lambda: sp.Add(*(2 * steps[at] * sp.Add(*weights[:at]) ** 2 for at in range(1, tokens + 1))),
    )


@CLAIMS.claim(
    "cable-5",
    "definition of the bias",
    r"B_{ij}=B_{il}+B_{lj}+(g_l-g_i)(S_l-S_j),\quad j\le l\le i",
    assumptions=(OVER_PATHS,),
    falsifiers={
        "no defect whatever the gates": {"defect": lambda at_query, at_middle, near, far: sp.Integer(0)},
        "the defect of the near part": {"defect": lambda at_query, at_middle, near, far: (at_middle - at_query) * near},
        "the defect where there are no gates": {"gates": lambda at_query, at_middle: (sp.S.One, sp.S.One)},
    },
)
def gated_cocycle(
    defect: Callable[..., sp.Expr] = lambda at_query, at_middle, near, far: (at_middle - at_query) * far,
    gates: Callable[..., tuple[sp.Expr, sp.Expr]] = lambda at_query, at_middle: (at_query, at_middle),
) -> Facts:
    """Distances add up along the path, and so do the biases of Cable without gates; with gates B_ij - B_lj - B_il =
    (g_l - g_j) times the distance from i to l.

    Decide B_ij = B_lj + B_il + `defect`, where the two paths have the gates of their queries.

    Args:
        defect: function of the gates of the queries j and l and of the distances from l to j and from i to l.
        gates: the same gates as they enter the biases with query j and with query l.
    """
    at_query, at_middle, near, far = _ROW
    i, middle, j = sp.symbols("i l j", integer=True)
    path, tail = (paths.cable_distance(paths.CABLE_STEPS, key=key, query=j) for key in (i, middle))
    added, added_to_tail = (
        last_term("D", part, paths.cable_distance(paths.CABLE_STEPS, key=key, query=j + 1))
        for part, key in ((path, i), (tail, middle))
    )
    first, second = gates(at_query, at_middle)
    tests = (
        ("step: D_i,j+1 - D_ij = D_l,j+1 - D_lj", lambda: combine(path, far + near, added) - far,
         lambda: combine(tail, near, added_to_tail)),
        (
            "B_ij = B_lj + B_il + what is stated",
            lambda: minus_gated(far + near, first),
            lambda: minus_gated(near, first) + minus_gated(far, second) + defect(at_query, at_middle, near, far),
        ),
    )  # fmt: skip
    yield same_by_sympy(
        "base j = l: D_ll = 0",
        empty_value("D_ll", paths.cable_distance(paths.CABLE_STEPS, key=j, query=j)),
        sp.Integer(0),
    )
    yield from tests
    yield "the defect is 0 for all paths only if the gates of j and l are equal, as they are without gates"


@CLAIMS.claim(
    "cable-7",
    "the distance between tokens; Kerple's condition: arXiv 2205.09921",
    r"\sum_ic_i=0\Rightarrow-\sum_{i,j}c_ic_j|S_i-S_j|=2\sum_ls_l\Big(\sum_{i<l}c_i\Big)^2\ge0",
    assumptions=("steps are not negative", "any number of tokens: the form is linear in the steps"),
    falsifiers={
        "with the gate of the query": {"kernel": minus_gated},
        "for weights of sum 2": {"total": sp.Integer(2)},
        "+|S_i - S_j|": {"kernel": lambda distance, gate: -minus_gated(distance, sp.Integer(1))},
        "twice the distance": {"kernel": lambda distance, gate: minus_gated(distance, sp.Integer(2))},
    },
)
def geometry(
    kernel: Callable[[sp.Expr, sp.Expr], sp.Expr] = lambda distance, gate: minus_gated(distance, sp.Integer(1)),
    total: sp.Expr = sp.Integer(0),
) -> Facts:
    """|S_i - S_j| is a pseudo-metric on the tokens, a metric in the released code, and -|S_i - S_j| is conditionally
    positive definite for every input; with the gate of the query it is not symmetric.

    Decide that a kernel of the distances is symmetric, and that its form is not negative on weights of sum `total`.

    Args:
        kernel: kernel of a distance |S_i - S_j| and the gate of its row.
        total: sum of the weights.
    """
    gates, distance = sp.symbols("g_1 g_2", positive=True), sp.Symbol("D", positive=True)
    rows = [kernel(distance, gate) for gate in gates]
    if sp.expand(rows[0] - rows[1]) != 0:
        values = {gates[0]: 1, gates[1]: 2, distance: 1}
        raise Refuted(f"D = 1, gates 1 and 2: K_12 = {rows[0].subs(values)}, K_21 = {rows[1].subs(values)}")
    i, j = sp.symbols("i j", integer=True)
    if not (paths.CABLE_STEPS[i].is_positive and paths.CABLE_RECTIFIED[i].is_nonnegative):
        raise sympy_engine.Undecided("the signs of the steps are not known")
    _, first, last = paths.cable_distance(paths.CABLE_STEPS, key=i, query=j).limits[0]
    before, scale = sp.symbols("A s", real=True)
    form = 2 * before * (total - before) * kernel(scale, sp.Integer(1))
    if form.subs({before: 1, scale: 1}) < 0:
        raise Refuted(f"two tokens, s = 1, weights (1, {total - 1}): c^T K c = {form.subs({before: 1, scale: 1})}")
    yield "symmetric: the kernel of a pair does not depend on which of them is the query"
    yield same_by_sympy("a step l is on the path from i to j if i + 1 <= l", first, i + 1)
    yield same_by_sympy("and l <= j", last, j)
    yield (
        "so s_l has the factor 2 A (total - A) K(1), A the sum of the weights before l; this is a square",
        lambda: form,
        lambda: 2 * scale * before**2,
    )
    for tokens in _POINTS:
        yield _written_out(kernel, tokens)
    yield (
        "|S_i - S_j| is a distance of real numbers, so symmetric and triangular; it is 0 for tokens with steps of 0 "
        "between them, which the released code has not, and otherwise positive"
    )


@CLAIMS.claim(
    "cable-8",
    "running sums S",
    r"(S_i+P)-(S_j+P)=S_i-S_j",
    assumptions=("the inputs of the layer at the later tokens are given, as in the first layer", OVER_PATHS),
    falsifiers={
        "the key's running sum alone": {"kept": lambda at_query, at_key: -at_key},
        "the query's running sum alone": {"kept": lambda at_query, at_key: at_query},
    },
)
def after_a_prefix(weight: Weight = sigmoid, kept: RowTerm = lambda at_query, at_key: at_query - at_key) -> Facts:
    """A prefix changes the biases among later tokens only through the layer's inputs: it adds one number to all later
    running sums, and their differences stay, under sigmoid attention too.

    Args:
        weight: weight of a key from exp of its logit, and that of the others.
        kept: part of S_j - S_i that enters the logit, a function of both.
    """
    s, start, j = sp.symbols("s t j", integer=True)
    at_query, at_key, other, content, prefix, gate, total = sp.symbols("S_j S_i w q.k P g S", real=True)
    long, short = (paths.cable_distance(paths.CABLE_STEPS, key=key, query=j) for key in (s, start))
    added, added_to_short = (
        last_term("S", part, paths.cable_distance(paths.CABLE_STEPS, key=key, query=j + 1))
        for part, key in ((long, s), (short, start))
    )

    def weight_with(shift: sp.Expr) -> sp.Expr:
        logit = content + minus_gated(kept(at_query + shift, at_key + shift), gate)
        return weight(sp.exp(logit), sp.exp(other))

    yield (
        "running sums from two origins keep their difference P when a token is added",
        lambda: combine(long, prefix + total, added) - combine(short, total, added_to_short),
        lambda: prefix,
    )
    yield "weight with S + P = weight with S", lambda: weight_with(prefix), lambda: weight_with(sp.Integer(0))


@CLAIMS.claim(
    "cable-9",
    "K-Cable, the logarithmic kernel; its tail is ours",
    r"e^{-\log(1+a^2D^2)}=\frac{1}{1+a^2D^2},\quad\sum_{D}\frac{1}{1+a^2D^2}<\infty",
    assumptions=("equal steps a > 0, equal content",),
    answers=("power", "finite"),
    falsifiers={
        "exponential": {"law": lambda distance: minus_gated(distance, sp.Integer(1))},
        "Kerple's log(1 + D)": {"law": lambda distance: -sp.log(1 + distance)},
        "log(2 + D^2)": {"law": lambda distance: -sp.log(2 + distance**2)},
    },
)
def tail(
    law: Callable[[sp.Expr], sp.Expr] = lambda distance: paths.cable_logarithm(distance_=distance),
    power: sp.Expr = sp.Integer(2),
    finite: bool = True,
) -> Facts:
    """With equal steps the weights of K-Cable fall like the distance to the power -2: their sum is finite, and ALiBi's
    exponential weights are ever smaller beside them.

    Args:
        law: bias of a distance.
        power: -D B'(D) for D to infinity.
        finite: True if the sum of the weights over all whole distances is finite.
    """
    distance, size, slope = sp.Symbol("D", positive=True), sp.Symbol("a", positive=True), sp.Symbol("m", positive=True)
    bias = law(size * distance)
    elasticity = sp.limit(sp.simplify(-distance * bias.diff(distance)), distance, sp.oo)
    if elasticity != power:
        raise Refuted(
            f"-D B'(D) tends to {elasticity}, not {power}: the weight is not a power -{power} of the distance"
        )
    if (power > 1) != finite:
        raise Refuted(f"the sum of D^-{power} over D is {'finite' if power > 1 else 'infinite'}")
    yield f"-D B'(D) tends to {elasticity}"
    yield "1/e^B = 1 + (a D)^2", lambda: 1 / sp.exp(bias), lambda: 1 + (size * distance) ** 2
    yield (
        "(1/(D - 1) - 1/D)/a^2 exceeds 1/(a D)^2 by 1/(a^2 D^2 (D - 1)) > 0: the sum over D >= 2 is below 1/a^2",
        lambda: (1 / (distance - 1) - 1 / distance) / size**2 - 1 / (size * distance) ** 2,
        lambda: 1 / (size**2 * distance**2 * (distance - 1)),
    )
    yield same_by_sympy(
        "ALiBi's weight divided by it tends to 0",
        sp.limit(sp.exp(-slope * distance) * (1 + (size * distance) ** 2), distance, sp.oo),
        sp.Integer(0),
    )


@CLAIMS.claim(
    "cable-10",
    "inference: one number per head and token is cached",
    r"B_{i+1,j}=-g_{i+1}(S_{i+1}-S_j)",
    assumptions=(OVER_PATHS,),
    falsifiers={
        "the row of the query before": {"recalled": lambda running, cached, old, step, gate: old},
        "that row and the new step": {
            "recalled": lambda running, cached, old, step, gate: old + minus_gated(step, gate)
        },
    },
)
def streaming(
    recalled: Callable[..., sp.Expr] = lambda running, cached, old, step, gate: minus_gated(running - cached, gate),
) -> Facts:
    """With the running sum S_i stored beside each key, the biases of the next query are those of a full recomputation,
    with gates and under the logarithm too; rows of biases cannot be stored instead.

    `recalled` takes the running sum at the new query, that cached with the key, the old bias, the step and the new
    gate.
    """
    i, j = sp.symbols("i j", integer=True)
    running, cached, old_gate, new_gate, step = sp.symbols("S_j S_i g_j g_j+1 s_j+1", real=True)
    path = paths.cable_distance(paths.CABLE_RECTIFIED, key=i, query=j)
    added = last_term("D", path, paths.cable_distance(paths.CABLE_RECTIFIED, key=i, query=j + 1))
    anew = combine(path, running - cached, added.subs(added, step))
    old = minus_gated(running - cached, old_gate)
    yield (
        "bias of the query j + 1",
        lambda: minus_gated(anew, new_gate),
        lambda: recalled(running + step, cached, old, step, new_gate),
    )
    yield (
        "K-Cable: e^-B of the query j + 1",
        lambda: sp.exp(-paths.cable_logarithm(new_gate * anew)),
        lambda: 1 + recalled(running + step, cached, old, step, new_gate) ** 2,
    )
    yield "S_i is fixed once the key is read, so it may be stored with it"
