"""LRC of a pattern as plain data: by scale, over all scales, and for every standard encoding what stops it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from lengthgen.scales import ScalesError
from theory.formula.structure import Structure, structure
from theory.generalization import JudgedRelation, Judgement, judge, judge_standard_encodings
from theory.growth import growth
from theory.lrc import level_sets, profile
from theory.outcome import LearnedPattern, Levels, learn, levels_of
from theory.pattern import Pattern, Value

MAX_SCALE = 1_000_000
"""Of a pattern of one position or of the distance, for which the scale's length is looked at, not its pairs."""
MAX_SCALE_OF_PAIRS = 5_000
MAX_SCALE_EXACT = 300
"""Where entries are computed one by one: irrational ones, and those of the user's own functions."""
MAX_SCALE_OF_FAMILY = 100
"""Of a pattern that depends on the scale, whose cells are triples."""
MAX_SCALE_EXPLAINED = 500


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
        if explain:
            most, why = min(most, MAX_SCALE_EXPLAINED), "every pair is judged"
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
        "undefined_from": found.undefined_from,
        "undefined_at": found.undefined_at,
        "reason": found.reason,
    }


def _explanation(pattern: Pattern, train: int, test: int) -> dict[str, Any]:
    levels = levels_of(pattern, test)
    merged = level_sets(pattern, test, merge_undecided=True)
    return {
        "ideal": _ideal(levels),
        "relations": [
            _relation(answer, judge(merged, answer.relation, train=train, test=test), levels)
            for answer in judge_standard_encodings(levels.relation, train=train, test=test)
        ],
    }


def _ideal(pattern: Levels) -> list[dict[str, Any]]:
    """The ideal relation: for every label its entry, how many cells have it, and the first."""
    labels, first, counts = np.unique(pattern.levels, return_index=True, return_counts=True)
    return [
        {"label": label, "value": _text(pattern.entries[label]), "cells": count, "first": list(pattern.cells[at])}
        for label, at, count in zip(labels.tolist(), first.tolist(), counts.tolist(), strict=True)
    ]


def _relation(answer: JudgedRelation, merged: Judgement, pattern: Levels) -> dict[str, Any]:
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
        "learned": _learned(learn(pattern, answer.relation, train=judgement.train), pattern),
    }


def _learned(outcome: LearnedPattern, pattern: Levels) -> dict[str, Any]:
    """What a learner does under the relation."""
    at = int(np.argmax(outcome.wrong))
    found = outcome.first_wrong
    return {
        "wrong_cells": int(np.count_nonzero(outcome.wrong)),
        "cells": len(outcome.wrong),
        "largest_error": outcome.largest_error,
        "first_wrong": None if found is None else list(found),
        "entry_there": None if found is None else _text(pattern.entries[pattern.levels[at]]),
        "learned_there": None if found is None else _text(outcome.parameters[outcome.class_of[at]]),
    }


def _text(value: Value) -> str:
    return f"[{', '.join(map(_text, value))}]" if isinstance(value, tuple) else str(value)
