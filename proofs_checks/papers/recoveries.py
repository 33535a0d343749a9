"""Exact recoveries: encodings that equal another one at particular parameters, in symbols and in torch."""

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

import sympy as sp

from lengthgen.proofs_checks import mutations
from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Source, Strength
from lengthgen.proofs_checks.mutations import Formulas
from lengthgen.theory import domains, laws
from lengthgen.theory.encodings import kerple, t5
from lengthgen.theory.encodings.catalogue import named, with_formulas
from lengthgen.theory.encodings.encoding import Encoding, Recovery
from lengthgen.theory.zero.sympy_engine import Undecided


def special_case(
    *,
    by: str,
    formulas: Formulas,
    of: str,
    assignment: Mapping[Any, sp.Expr],
    at: Mapping[sp.Symbol, sp.Expr],
    within: bool,
    attained: bool,
    function: bool,
    weights_only: bool,
) -> Evidence:
    """Decide that one encoding has the scores of another at these parameters, and if it can have these parameters.

    The torch modules of both are compared as well.

    Args:
        by: name of the general encoding.
        formulas: its formulas, perhaps mutated.
        of: name of the special encoding.
        assignment: parameter of the general encoding -> its value.
        at: parameters of the special encoding with the only values for which the recovery holds.
        within: True if it holds only up to the trained length.
        attained: True if the values are in the domains of the parameters, False if they are only a limit.
        function: True if only some function in place of the network attains them.
        weights_only: True if the scores of one query differ by a number that all its keys share.
    """
    encoding = formulas(named(by))
    recovery = Recovery(of=of, assignment=assignment, at=at, within=within, weights_only=weights_only)
    ruling = laws.decide_recovery(encoding, named(of), recovery)
    if ruling.holds is False:
        raise Refuted(f"{by} is not {of}: {ruling.reason}")
    if ruling.holds is None:
        raise Undecided(ruling.reason)
    inside = domains.assignment_allowed(encoding, assignment)
    if inside.holds is None:
        raise Undecided(inside.reason)
    stated = attained and not function
    if inside.holds is False and stated:
        raise Refuted(inside.reason)
    if inside.holds and not stated:
        raise Refuted(f"{inside.reason}: {by} attains it")
    if function and not all(parameter.network for parameter in domains.parameters_outside(encoding, assignment)):
        raise Refuted(f"not only a network is in the way: {inside.reason}")
    where = ", positions and length within the trained length" if within else ""
    same = f"score of {by} = score of {of}" + (" up to a number for each query" if weights_only else "")
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            f"{same} for every key, query and content{where}: {ruling.reason}",
            inside.reason + (_REACH if function else ""),
            _compare_in_torch(by, of),
        ),
        assumptions=("one plane and one head stand for all of them",),
    )


_REACH = ": on whole distances n - 1 units agree with it at n of them, and so FIRE's 32 at 33 (claim fire-3-width)"


def _compare_in_torch(by: str, of: str) -> str:
    """Fact on the largest difference of logits between the torch modules, or on why they are not compared.

    Raises `Refuted` if the logits differ.
    """
    if not find_spec("torch"):
        return "the torch sides are not compared: this needs the extra `train`"
    from lengthgen.empirical.encodings.recoveries import RECOVERIES, TOLERANCE, difference, token_positions

    if (by, of) not in RECOVERIES:
        return "the torch side cannot be set there: a limit, or no parameter of its own"
    difference_of_logits = difference(by, of)
    if not difference_of_logits < TOLERANCE:
        raise Refuted(f"in torch the logits of {by} and {of} differ by {difference_of_logits:.3g}")
    positions = ", ".join(map(str, token_positions(by, of)))
    return f"in torch, float64, at the positions {positions}: logits differ by less than {TOLERANCE:g}"


def _different_value(value: sp.Expr) -> sp.Expr:
    """A different value of a parameter."""
    if isinstance(value, sp.Lambda):
        return sp.Lambda(value.signature, value.expr + sp.Add(*value.variables))
    return 2 * value + 1 if value.is_finite is not False else sp.Integer(1)


def _claim(encoding: Encoding, recovery: Recovery) -> Claim:
    """Claim on one recovery that the encoding declares."""
    other = named(recovery.of)
    setting = _text(recovery.assignment)
    only = f", for {_text(recovery.at)} and no other" if recovery.at else ""
    where = "" if not recovery.within else ", as long as positions and length stay within the trained length"
    limit = "" if recovery.attained else " (a limit: the parameters' domain does not contain it)"
    network = " (for a function f that no network of ReLU units equals)" if recovery.function else ""
    shared = ", up to a number that all keys of a query share, and softmax cancels" if recovery.weights_only else ""
    falsifiers: dict[str, Mapping[str, Any]] = {
        f"another {parameter}": {"assignment": {**recovery.assignment, parameter: _different_value(value)}}
        for parameter, value in recovery.assignment.items()
    }
    if not recovery.attained:
        falsifiers["domains with their edges"] = {"formulas": mutations.with_any_values}
    if recovery.function:
        falsifiers["any function in place of the network"] = {"formulas": mutations.with_any_function}
    if recovery.within:
        falsifiers["beyond the trained length too"] = {"within": False}
    if recovery.weights_only:
        falsifiers["with equal scores"] = {"weights_only": False}
    for parameter, value in recovery.at.items():
        falsifiers[f"for every {parameter}"] = {
            "assignment": {symbol: assigned.subs(value, parameter) for symbol, assigned in recovery.assignment.items()},
            "at": {},
        }
    return Claim(
        id=f"recovery-{encoding.name}-{other.name}",
        source=Source(paper=encoding.title, arxiv=encoding.arxiv, place=f"{other.title} as a special case"),
        statement=f"{encoding.title} is {other.title} at {setting}{only}{where}{limit}{network}{shared}.",
        latex=rf"\mathrm{{{other.title}}}\subset\mathrm{{{encoding.title}}}",
        label="F",
        check=special_case,
        holds={
            "by": encoding.name,
            "formulas": mutations.unchanged,
            "of": other.name,
            "assignment": dict(recovery.assignment),
            "at": dict(recovery.at),
            "within": recovery.within,
            "attained": recovery.attained,
            "function": recovery.function,
            "weights_only": recovery.weights_only,
        },
        answers=("attained", "function"),
        falsifiers=falsifiers,
    )


def _text(assignment: Mapping[Any, sp.Expr]) -> str:
    """Text of the values, such as "s[l] = -log_f[l]" for a family with a value for each member."""
    return ", ".join(
        f"{parameter[value.variables]} = {value.expr}"
        if isinstance(parameter, sp.IndexedBase) and isinstance(value, sp.Lambda)
        else f"{parameter} = {value}"
        for parameter, value in assignment.items()
    )


def table_outside_kernels(*, near: int, far: int, exponent: sp.Expr) -> Evidence:
    """Decide that T5 gives two distances the same bias for every table, and Kerple's kernels never do."""
    distances = sp.Integer(near), sp.Integer(far)
    weight, other_weight = (t5.WEIGHTS[t5.bucket(distance)] for distance in distances)
    if weight != other_weight:
        raise Refuted(f"T5 has a number for each of the distances {near} and {far}: {weight} and {other_weight}")
    (base, power), (other_base, other_power) = (
        (-kerple.power(distance, scale=kerple.SCALE, exponent=exponent) / kerple.SCALE).as_base_exp()
        for distance in distances
    )
    if base == other_base:
        raise Refuted(f"the power kernel is -r1 {base}**{power} at the distances {near} and {far} alike")
    (inside,), (other_inside,) = (
        (-kerple.logarithm(distance, scale=kerple.SCALE, rate=kerple.RATE) / kerple.SCALE).args
        for distance in distances
    )
    if not (power == other_power and power.is_positive and other_base > base > 0):
        raise Undecided(f"{base}**{power} and {other_base}**{other_power} are not known to differ")
    if not sp.expand(other_inside - inside).is_positive:
        raise Undecided(f"log({inside}) and log({other_inside}) are not known to differ")
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            f"T5 at the distances {near} and {far}: {weight}, whatever its table",
            f"power kernel: {base}**{power} < {other_base}**{other_power}",
            f"log kernel: log({inside}) < log({other_inside})",
        ),
        assumptions=("r1 > 0, so neither kernel is constant, and softmax sees the difference",),
    )


_T5_OUTSIDE_KERPLE = Claim(
    id="kerple-t5",
    source=Source(paper="Kerple", arxiv="2205.09921", place="what its kernels can represent"),
    statement="T5's bias equals Kerple's for no parameters: distances 16 and 17 share a bucket, and both of Kerple's "
    "kernels fall strictly.",
    latex=r"\mathrm{T5}\not\subset\mathrm{Kerple}",
    label="F",
    check=table_outside_kernels,
    holds={"near": 16, "far": 17, "exponent": kerple.EXPONENT},
    falsifiers={
        "at distances with buckets of their own": {"near": 14, "far": 15},
        "with the exponent 0 as well": {"exponent": sp.Integer(0)},
    },
)

CLAIMS = (
    *(_claim(encoding, recovery) for encoding in with_formulas() for recovery in encoding.recovers),
    _T5_OUTSIDE_KERPLE,
)
