"""LRC of a pattern as plain data: by scale, over all scales, and for every standard encoding what stops it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from lengthgen.scales import ScalesError
from theory.formula.structure import Structure, structure
from theory.generalization import Answer, Judgement, judge, judge_standard_encodings
from theory.growth import growth
from theory.lattice import cells_for
from theory.lrc import level_sets, profile
from theory.outcome import learn
from theory.pattern import Pattern, PatternError, Value
from theory.relation import Relation

MAX_SCALE = 1_000_000
"""Of a pattern of one position or of the distance, for which the scale's length is looked at, not its pairs."""
MAX_SCALE_OF_PAIRS = 5_000
MAX_SCALE_EXACT = 300
"""Where entries are computed one by one: irrational ones, and those of the user's own functions."""
MAX_SCALE_OF_FAMILY = 100
"""Of a pattern that depends on the scale, whose cells are triples."""
MAX_SCALE_EXPLAINED = 2_000


def lrc_answer(pattern: Pattern, scales: Sequence[int], *, explain: bool = False) -> dict[str, Any]:
    """LRC by scale, its growth over all scales, and whether some relation generalizes from the first scale to the last.

    Args:
        pattern: what to look at.
        scales: ascending.
        explain: also judge the relation of every standard encoding.

    Raises:
        FormulaError, PatternError: the pattern has no value at some pair, or is not given at some scale.
        ScalesError: a scale too large to look at.
    """
    train, test = scales[0], scales[-1]
    _require_feasible(pattern, test, explain=explain)
    pattern.require(test)
    found = profile(pattern, test)
    bounds = {scale: found.bounds(scale) for scale in scales}
    return {
        "expression": pattern.name,
        "structure": structure(pattern.formula).value if pattern.formula else None,
        "scale_hint": pattern.scale_hint,
        "lrc": {str(scale): high if low == high else None for scale, (low, high) in bounds.items()},
        "bounds": {str(scale): list(pair) for scale, pair in bounds.items()},
        "constant_from": found.constant_from,
        "generalizes": found.generalizes(train, test),
        "from_scale": train,
        "to_scale": test,
        "growth": _growth(pattern),
        **(_explanation(pattern, train, test) if explain else {}),
        "label": "F",
    }


def _require_feasible(pattern: Pattern, scale: int, *, explain: bool) -> None:
    known = structure(pattern.formula) if pattern.formula else Structure.GENERAL
    one_by_one = pattern.formula.exact_only if pattern.formula else pattern.limit is None
    if pattern.scale_hint:
        most, why = MAX_SCALE_OF_FAMILY, "the pattern depends on the scale"
    elif known in (Structure.PRODUCT, Structure.SUM, Structure.GENERAL) or explain:
        most, why = MAX_SCALE_OF_PAIRS, "every pair is looked at"
        if one_by_one:
            most, why = MAX_SCALE_EXACT, "entries are computed one by one"
        elif explain:
            most, why = MAX_SCALE_EXPLAINED, "every pair is judged"
    else:
        most, why = MAX_SCALE, "every position is looked at"
    if scale > most:
        raise ScalesError(f"scale {scale} is too large: {why}, so take at most {most}")


def _growth(pattern: Pattern) -> dict[str, Any] | None:
    found = growth(pattern)
    if found is None:
        return None
    return {
        "kind": found.kind.value,
        "low": found.low,
        "high": found.high,
        "from_scale": found.from_scale,
        "strength": found.strength,
        "reason": found.reason,
    }


def _explanation(pattern: Pattern, train: int, test: int) -> dict[str, Any]:
    apart = level_sets(pattern, test)
    together = level_sets(pattern, test, merge_undecided=True)
    found = []
    for answer in judge_standard_encodings(apart, train=train, test=test):
        other = judge(together, answer.relation, train=train, test=test)
        found.append(_relation(pattern, answer, other))
    return {"ideal": _ideal(pattern, apart, test), "relations": found}


def _ideal(pattern: Pattern, ideal: Relation, test: int) -> list[dict[str, Any]]:
    """The ideal relation: for every label its value, how many cells up to test have it, and the first."""
    cells = cells_for(ideal, scale=test)
    labels, first, counts = np.unique(cells.labels(ideal), return_index=True, return_counts=True)
    scales = None if cells.scales is None else cells.scales[first]
    values, codes = pattern.entries(cells.keys[first], cells.queries[first], scales)
    return [
        {"label": label, "value": _text(values[code]), "cells": count, "first": list(cells[at])}
        for label, code, count, at in zip(labels.tolist(), codes.tolist(), counts.tolist(), first.tolist(), strict=True)
    ]


def _text(value: Value) -> str:
    return f"[{', '.join(map(_text, value))}]" if isinstance(value, tuple) else str(value)


def _relation(pattern: Pattern, answer: Answer, merged: Judgement) -> dict[str, Any]:
    judgement = answer.judgement
    agreed = judgement.generalizes == merged.generalizes
    return {
        "relation": answer.relation.name,
        "encodings": answer.encodings,
        "generalizes": judgement.generalizes if agreed else None,
        "why": judgement.why if agreed else "It hangs on entries that are neither proved equal nor different.",
        "limits": None if answer.limits is None else list(answer.limits),
        "represents": judgement.consistent,
        "covered": judgement.covered,
        "conflict": None if judgement.conflict is None else [list(cell) for cell in judgement.conflict],
        "unseen": None if judgement.unseen is None else list(judgement.unseen),
        "learned": _learned(pattern, answer),
    }


def _learned(pattern: Pattern, answer: Answer) -> dict[str, Any] | None:
    """What a learner does under the relation; None where entries have free parameters."""
    judgement = answer.judgement
    try:
        outcome = learn(pattern, answer.relation, train=judgement.train, test=judgement.test)
    except PatternError:
        return None
    within = outcome.cells.count_within(judgement.train)
    wrong = outcome.wrong
    at = int(np.argmax(wrong))
    return {
        "wrong_cells": int(np.count_nonzero(wrong)),
        "cells": len(wrong),
        "largest_error_in_training": float(outcome.error[:within].max()),
        "largest_error": float(outcome.error.max()),
        "first_wrong": None if outcome.first_wrong is None else list(outcome.first_wrong),
        "there": None if outcome.first_wrong is None else outcome.target[at].tolist(),
        "learned_there": None if outcome.first_wrong is None else outcome.learned[at].tolist(),
    }
