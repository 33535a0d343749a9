"""LRC of a pattern as plain data: by scale, over all scales, and the obstacle for every standard encoding."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from lengthgen.scales import ScalesError
from lengthgen.theory.formula.structure import Structure, structure
from lengthgen.theory.generalization import (
    JudgedRelation,
    Judgement,
    LearnedPattern,
    Levels,
    judge,
    judge_standard_encodings,
    learn,
    levels_of,
)
from lengthgen.theory.growth import Growth, growth
from lengthgen.theory.growth_within import growth_within
from lengthgen.theory.lrc import level_sets, profile
from lengthgen.theory.lrc_within import array_of_floats, bounds_within
from lengthgen.theory.pattern import Pattern, Value

MAX_SCALE = 1_000_000
"""Largest scale of a pattern of one position or of the offset: work grows with the scale, not with its pairs."""
MAX_SCALE_OF_PAIRS = 5_000
"""Largest scale if every pair is computed."""
MAX_SCALE_OF_ARRAY = 20_000
"""Largest scale of an array of numbers: its distinct entries stay in memory, at most 1.6 gigabytes."""
MAX_SCALE_EXACT = 300
"""Largest scale if entries are computed one by one: irrational entries, and those of the user's own functions."""
MAX_SCALE_OF_FAMILY = 100
"""Largest scale of a pattern that depends on the scale, whose cells are triples (i, j, n)."""
MAX_SCALE_EXPLAINED = 500
"""Largest scale if relations are judged pair by pair."""


def lrc_answer(
    pattern: Pattern, scales: Sequence[int], *, explain: bool = False, within: Fraction | None = None
) -> dict[str, Any]:
    """Return LRC by scale, its growth, and if some relation generalizes from the first scale to the last.

    Args:
        pattern: the pattern.
        scales: ascending.
        explain: True to judge the relation of every standard encoding as well.
        within: largest error of an entry, if LRC within that error is asked for as well.

    Raises:
        FormulaError, PatternError: the pattern has no value at some pair, or is not given at some scale.
        ScalesError: a scale is too large to compute.
    """
    train, test = scales[0], scales[-1]
    _require_feasible(pattern, test, explain=explain, by_entry=within is not None)
    pattern.require(test)
    lrc_profile = profile(pattern, test)
    bounds = {scale: lrc_profile.bounds(scale) for scale in scales}
    return {
        "expression": pattern.name,
        "structure": structure(pattern.formula).value if pattern.formula else None,
        "scale_hint": pattern.scale_hint,
        "lrc": {str(scale): high if low == high else None for scale, (low, high) in bounds.items()},
        "bounds": {str(scale): list(pair) for scale, pair in bounds.items()},
        "constant_from": lrc_profile.constant_from,
        "generalizes": lrc_profile.generalizes(train, test),
        "from_scale": train,
        "to_scale": test,
        "growth": _growth(growth(pattern)),
        **_as_bias(pattern),
        **({} if within is None else {"within": _within(pattern, scales, within)}),
        **(_explanation(pattern, train, test) if explain else {}),
        "label": "F",
    }


def _as_bias(pattern: Pattern) -> dict[str, Any]:
    """Return the encodings of the catalogue whose bias the pattern is, and if softmax cancels it as a bias."""
    if pattern.formula is None:
        return {"laws": [], "softmax_cancels": False}
    from lengthgen.theory.containing import containing

    laws = containing(pattern.formula)
    alike = structure(pattern.formula) in (Structure.CONSTANT, Structure.QUERY)
    return {
        "laws": [
            {
                "encoding": law.encoding.name,
                "parameters": {_name(symbol): _constant(value) for symbol, value in law.values.items()},
                "weights_only": law.weights_only,
            }
            for law in laws
        ],
        "softmax_cancels": pattern.shape == () and (alike or any(law.encoding.name == "nope" for law in laws)),
    }


def _name(symbol: Any) -> str:
    """Return the name of a parameter, of an indexed family without its index."""
    return str(getattr(symbol, "label", symbol))


def _constant(value: Any) -> str:
    """Return the value of a parameter; of a function that is the same for all arguments, this number."""
    return str(getattr(value, "expr", value))


def _within(pattern: Pattern, scales: Sequence[int], epsilon: Fraction) -> dict[str, Any]:
    """Return LRC within epsilon by scale, null where its bounds differ, and its growth over all scales."""
    bounds = bounds_within(pattern, epsilon, scales)
    return {
        "epsilon": str(epsilon),
        "lrc": {str(scale): high if low == high else None for scale, (low, high) in bounds.items()},
        "bounds": {str(scale): list(pair) for scale, pair in bounds.items()},
        "growth": _growth(growth_within(pattern, epsilon)),
    }


def _require_feasible(pattern: Pattern, scale: int, *, explain: bool, by_entry: bool) -> None:
    """Raise ScalesError if the scale is too large for the pattern."""
    formula_structure = structure(pattern.formula) if pattern.formula else Structure.GENERAL
    one_by_one = pattern.formula.exact_only if pattern.formula else pattern.limit is None
    if pattern.scale_hint:
        largest, why = MAX_SCALE_OF_FAMILY, "the pattern depends on the scale"
    elif pattern.array is not None and not explain and (not by_entry or array_of_floats(pattern) is not None):
        largest, why = MAX_SCALE_OF_ARRAY, "all its entries are sorted in memory"
    elif formula_structure in (Structure.PRODUCT, Structure.SUM, Structure.GENERAL) or explain:
        largest, why = MAX_SCALE_OF_PAIRS, "every pair is computed"
        if one_by_one:
            largest, why = MAX_SCALE_EXACT, "entries are computed one by one"
        if explain:
            largest, why = min(largest, MAX_SCALE_EXPLAINED), "every pair is judged"
    elif by_entry:
        largest, why = MAX_SCALE_OF_PAIRS, "all entries are compared"
    else:
        largest, why = MAX_SCALE, "every position is computed"
    if scale > largest:
        raise ScalesError(f"scale {scale} is too large: {why}, so take at most {largest}")


def _growth(result: Growth | None) -> dict[str, Any] | None:
    """Return a growth over all scales; None if it is not known."""
    if result is None:
        return None
    return {
        "kind": result.kind.value,
        "low": result.low,
        "high": result.high,
        "from_scale": result.from_scale,
        "strength": result.strength,
        "undefined_from": result.undefined_from,
        "undefined_at": result.undefined_at,
        "reason": result.reason,
    }


def _explanation(pattern: Pattern, train: int, test: int) -> dict[str, Any]:
    """Return the ideal relation, and the judgement of every standard encoding's relation."""
    levels = levels_of(pattern, test)
    merged = level_sets(pattern, test, merge_undecided=True)
    return {
        "ideal": _ideal(levels),
        "relations": [
            _judged_relation(answer, judge(merged, answer.relation, train=train, test=test), levels)
            for answer in judge_standard_encodings(levels.relation, train=train, test=test)
        ],
    }


def _ideal(pattern: Levels) -> list[dict[str, Any]]:
    """Return the ideal relation: for every label its entry, its number of cells, and its first cell."""
    labels, first, counts = np.unique(pattern.levels, return_index=True, return_counts=True)
    return [
        {
            "label": label,
            "value": _value_text(pattern.entries[label]),
            "cells": count,
            "first": list(pattern.cells[index]),
        }
        for label, index, count in zip(labels.tolist(), first.tolist(), counts.tolist(), strict=True)
    ]


def _judged_relation(answer: JudgedRelation, merged: Judgement, pattern: Levels) -> dict[str, Any]:
    """Return the judgement of one relation, with the values that a learner gets under it."""
    judgement = answer.judgement
    agreed = judgement.generalizes == merged.generalizes
    return {
        "relation": answer.relation.name,
        "encodings": answer.encodings,
        "generalizes": judgement.generalizes if agreed else None,
        "why": judgement.why if agreed else "It depends on entries that are neither proved equal nor different.",
        "limits": None if answer.limits is None else list(answer.limits),
        "represents": judgement.consistent,
        "covered": judgement.covered,
        "conflict": None if judgement.conflict is None else [list(cell) for cell in judgement.conflict],
        "unseen": None if judgement.unseen is None else list(judgement.unseen),
        "learned": _learner_result(learn(pattern, answer.relation, train=judgement.train), pattern),
    }


def _learner_result(outcome: LearnedPattern, pattern: Levels) -> dict[str, Any]:
    """Return the result of a learner under the relation: wrong cells, largest error, first wrong cell."""
    first = int(np.argmax(outcome.wrong))
    cell = outcome.first_wrong
    return {
        "wrong_cells": int(np.count_nonzero(outcome.wrong)),
        "cells": len(outcome.wrong),
        "largest_error": outcome.largest_error,
        "first_wrong": None if cell is None else list(cell),
        "entry_there": None if cell is None else _value_text(pattern.entries[pattern.levels[first]]),
        "learned_there": None if cell is None else _value_text(outcome.parameters[outcome.class_of[first]]),
    }


def _value_text(value: Value) -> str:
    """Return an entry as text."""
    return f"[{', '.join(map(_value_text, value))}]" if isinstance(value, tuple) else str(value)
