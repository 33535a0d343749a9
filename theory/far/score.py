"""Effect of a whole encoding on the scores of far keys."""

from dataclasses import replace

import sympy as sp

from lengthgen.theory import laws, twice
from lengthgen.theory.encodings.encoding import LENGTH, Actions, Encoding, Law, Normaliser
from lengthgen.theory.far.bias import bias_cases, entries_by_position, far_bias
from lengthgen.theory.far.content import positions_of
from lengthgen.theory.far.effects import UNBOUNDED, Cases, FarCase, FarField, join_ranges
from lengthgen.theory.far.kernel import kernel_cases, vector_cases
from lengthgen.theory.far.limits import DISTANCE, POSITION, QUERY_POSITION, limit_of


@twice.remembered
def far_cases(encoding: Encoding) -> Cases:
    """Effect of position on keys far before the query, one case per range of the parameters; decided once a process."""
    cases = _cases_without_window(encoding)
    if encoding.window is sp.oo:
        return cases
    within = [
        FarCase(where=join_ranges(case.where, f"D < {encoding.window}"), behaviour=case.behaviour) for case in cases
    ]
    return (*within, FarCase(where=f"D >= {encoding.window}", behaviour=FarField.HIDDEN))


def _cases_without_window(encoding: Encoding) -> Cases:
    """Effect of position on far keys if a query saw all keys before it."""
    if not encoding.hooks:
        return (FarCase(behaviour=FarField.NONE),)
    if encoding.embed or (encoding.positions and not encoding.relation):
        return (FarCase(behaviour=FarField.UNDEFINED),)
    encoding, _ = without_query_factor(encoding)
    pair = POSITION + DISTANCE, POSITION
    # A key vector that goes to a constant leaves the answer to the kernel of the actions.
    of_kernel = _combined(vector_cases(encoding, *pair), kernel_cases(encoding, *pair))
    if not encoding.bias:
        return of_kernel
    of_bias = _weight_cases(bias_cases(encoding, *pair), encoding.normaliser)
    if entries_by_position(far_bias(encoding, *pair)):
        of_bias = tuple(
            replace(case, behaviour=FarField.UNDEFINED) if case.behaviour is FarField.CONSTANT else case
            for case in of_bias
        )
    if not (encoding.rotate or encoding.relative_key):
        return of_bias
    return tuple(case for bias_case in of_bias for case in _with_kernel(bias_case, of_kernel))


def _combined(first: Cases, second: Cases) -> Cases:
    """Effect of two terms of a score: that of the one if the other is constant, else not decided."""
    for constant, other in ((first, second), (second, first)):
        if all(case.behaviour is FarField.CONSTANT for case in constant):
            return other
    return (FarCase(behaviour=FarField.UNDECIDED),)


def _with_kernel(bias_case: FarCase, of_kernel: Cases) -> Cases:
    """Effect of kernel and bias together, in the range of one case of the bias.

    An unbounded bias outweighs a bounded kernel; if the bias is constant, the kernel decides.  If positions enter the
    bias, they enter the score.
    """
    if bias_case.behaviour is FarField.UNDEFINED:
        return (bias_case,)
    if bias_case.behaviour in UNBOUNDED and _excludes(of_kernel, FarField.GROWING):
        return (bias_case,)
    if bias_case.behaviour is FarField.CONSTANT:
        return tuple(replace(case, where=join_ranges(bias_case.where, case.where)) for case in of_kernel)
    return (replace(bias_case, behaviour=FarField.UNDECIDED),)


def bounded(encoding: Encoding) -> bool | None:
    """True if the effect of positions on a score is bounded over all distances and parameters; None if not decided.

    A window leaves finitely many distances, so it bounds all scores that depend on the distance alone.
    """
    if encoding.window is not sp.oo and laws.decide_law(encoding, Law.RELATIVE).holds:
        return True
    _, factor = without_query_factor(encoding)
    limit = limit_of(factor.xreplace({QUERY_POSITION: positions_of(encoding, DISTANCE, POSITION)[0]}))
    if limit is None or limit.is_infinite:
        return None if limit is None else False
    unbounded = _any_case(_cases_without_window(encoding), UNBOUNDED)
    return None if unbounded is None else not unbounded


def causal_only(encoding: Encoding) -> bool | None:
    """True if a key after its query would have an unbounded score or no score; None if not decided.

    A window ends at the query, so keys after it have no score.
    """
    if encoding.window is not sp.oo:
        return True
    if encoding.embed or (encoding.positions and not encoding.relation):
        return False
    encoding, _ = without_query_factor(encoding)
    behind = POSITION, POSITION + DISTANCE
    parts = (kernel_cases, vector_cases, bias_cases)
    cases = tuple(case for part in parts for case in part(encoding, *behind))
    return _any_case(cases, {FarField.GROWING, FarField.UNDEFINED})


def _any_case(cases: Cases, behaviours: set[FarField]) -> bool | None:
    """True if some range has one of the wanted effects; None if none is known to have one and some are undecided."""
    if any(case.behaviour in behaviours for case in cases):
        return True
    return None if any(case.behaviour is FarField.UNDECIDED for case in cases) else False


def _weight_cases(cases: Cases, normaliser: Normaliser) -> Cases:
    """Cases of a bias as those of the weight: under the sigmoid a bias that grows makes the weight 1."""
    if normaliser == Normaliser.SOFTMAX:
        return cases
    return tuple(
        replace(case, behaviour=FarField.SATURATED) if case.behaviour is FarField.GROWING else case for case in cases
    )


def _excludes(cases: Cases, behaviour: FarField) -> bool:
    """True if all cases are decided and none has this effect."""
    return all(case.behaviour not in (behaviour, FarField.UNDECIDED) for case in cases)


@twice.remembered
def without_query_factor(encoding: Encoding) -> tuple[Encoding, sp.Expr]:
    """Encoding without the factor that all scores of a query share, and this factor, in terms of `QUERY_POSITION`.

    The factor is 1, and the encoding unchanged, if there is none, or if scores depend on the distance alone with it, or
    do not without it. xPos has lambda^j as a factor of its queries, but not as a factor of its scores: lambda^(j - i).
    """
    unchanged = encoding, sp.S.One
    if not encoding.rotate or encoding.embed or encoding.relative_key:
        return unchanged
    rotate = encoding.rotate
    on_query = rotate(QUERY_POSITION, LENGTH)[0].applyfunc(sp.factor)
    bias = sp.factor(encoding.bias(QUERY_POSITION, POSITION, LENGTH)) if encoding.bias else sp.S.Zero
    common = set.intersection(*(set(sp.Mul.make_args(entry)) for entry in (*on_query, bias) if entry != 0))
    factor = sp.Mul(*(part for part in common if QUERY_POSITION in part.free_symbols))
    if factor == 1 or laws.decide_law(encoding, Law.RELATIVE).holds:
        return unchanged
    on_query, bias = on_query / factor, bias / factor

    def rotate_only(position: sp.Expr, length: sp.Expr) -> Actions:
        return on_query.xreplace({QUERY_POSITION: position, LENGTH: length}), rotate(position, length)[1]

    def bias_only(query: sp.Expr, key: sp.Expr, length: sp.Expr) -> sp.Expr:
        return bias.xreplace({QUERY_POSITION: query, POSITION: key, LENGTH: length})

    rest = replace(encoding, rotate=rotate_only, bias=bias_only if encoding.bias else None)
    return (rest, factor) if laws.decide_law(rest, Law.RELATIVE).holds else unchanged
