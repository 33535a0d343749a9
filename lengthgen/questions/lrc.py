"""`lengthgen lrc`: a pattern as it is named, its LRC by scale, over all scales, and the obstacle for every encoding."""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.console import Group, RenderableType
from rich.text import Text

from lengthgen.infrastructure.files import require_folder
from lengthgen.infrastructure.userfile import Guarded, load_object, require_file, split_file, user_code
from lengthgen.terminal.answers import show
from lengthgen.terminal.layout import bounds_text, filled, titled, yes_no
from lengthgen.terminal.options import Json, path_option
from lengthgen.terminal.typed import ScalesError, error_bound, parse_scales
from lengthgen.theory.relation import Relation

if TYPE_CHECKING:
    from lengthgen.theory.generalization import JudgedRelation, Judgement, LearnedPattern, Levels
    from lengthgen.theory.growth import Growth
    from lengthgen.theory.pattern import Pattern, Value


def lrc(
    pattern: Annotated[
        str,
        typer.Argument(
            help="Attention pattern A(i, j): a formula in the key i, the query j (1 <= i <= j) and the scale n; a "
            "matrix of formulas [[a, b], [c, d]]; path/to/array.npy; or path/to/file.py:name."
        ),
    ],
    scales: Annotated[
        str, typer.Option(help="Scales, for example 4,8 or 1-20. Training ends at the first, the test at the last.")
    ] = "4,8",
    parameters: Annotated[str, typer.Option(help="Free parameters of the formula, comma-separated.")] = "",
    explain: Annotated[
        bool, typer.Option("--explain", help="Also judge the relation of every standard encoding.")
    ] = False,
    within: Annotated[
        Fraction | None,
        typer.Option(
            parser=error_bound,
            metavar="EPS",
            help="Also compute LRC within this error: each entry may be wrong by 0.01, or 1/100.",
        ),
    ] = None,
    draw: Annotated[
        Path | None, path_option("Folder to write with a figure of the pattern and of the learned values.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Compute the Linear Representation Complexity (LRC) of a pattern: can any position encoding make it generalize?"""
    scale_list = parse_scales(scales, largest=MAX_SCALE)
    if draw:
        require_folder(draw)
    loaded = load_pattern(pattern, [name.strip() for name in parameters.split(",") if name.strip()])
    answer = lrc_answer(loaded, scale_list, explain=explain, within=within)
    if draw:
        from lengthgen.paper_figs.figures import pattern_panels

        answer["figure"] = pattern_panels.write(loaded, draw, train=scale_list[0], test=scale_list[-1])
    show(answer, lrc_table(answer), as_json)


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
MOST_ROWS = 40
"""Largest number of rows shown in full."""


def lrc_answer(
    pattern: "Pattern", scales: Sequence[int], *, explain: bool = False, within: Fraction | None = None
) -> dict[str, Any]:
    """Return LRC by scale, its growth, and if some relation generalizes from the first scale to the last.

    The scales ascend. With `explain` the relation of every standard encoding is judged as well; `within` is the largest
    error of an entry, for LRC within that error as well.

    Raises:
        FormulaError, PatternError: the pattern has no value at some pair, or is not given at some scale.
        ScalesError: a scale is too large to compute.
    """
    from lengthgen.theory.closed_form import closed_form
    from lengthgen.theory.formula.structure import structure
    from lengthgen.theory.growth import growth
    from lengthgen.theory.lrc import profile

    train, test = scales[0], scales[-1]
    _require_feasible(pattern, test, explain=explain, by_entry=within is not None)
    pattern.require(test)
    lrc_profile = profile(pattern, test)
    bounds = {scale: lrc_profile.bounds(scale) for scale in scales}
    return {
        "expression": pattern.name,
        "structure": structure(pattern.formula).value if pattern.formula else None,
        "scale_hint": pattern.scale_hint,
        **_by_scale(bounds),
        "constant_from": lrc_profile.constant_from,
        "generalizes": lrc_profile.generalizes(train, test),
        "from_scale": train,
        "to_scale": test,
        "growth": _growth_answer(growth(pattern)),
        "closed_form": None if (form := closed_form(pattern)) is None else str(form),
        **_as_bias_answer(pattern),
        **({} if within is None else {"within": _within_answer(pattern, scales, within)}),
        **(_explanation(pattern, train, test) if explain else {}),
        "label": "F",
    }


def _as_bias_answer(pattern: "Pattern") -> dict[str, Any]:
    """Return the encodings of the catalogue whose bias the pattern is, and if softmax cancels it as a bias."""
    from lengthgen.theory.formula.structure import Structure, structure

    if pattern.formula is None:
        return {"laws": [], "softmax_cancels": False}
    from lengthgen.theory.containing import containing

    laws = containing(pattern.formula)
    alike = structure(pattern.formula) in (Structure.CONSTANT, Structure.QUERY)
    return {
        "laws": [
            {
                "encoding": law.encoding.name,
                # An indexed family without its index; a function that is the same for all arguments as this number.
                "parameters": {
                    str(getattr(symbol, "label", symbol)): str(getattr(value, "expr", value))
                    for symbol, value in law.values.items()
                },
                "weights_only": law.weights_only,
            }
            for law in laws
        ],
        "softmax_cancels": pattern.shape == () and (alike or any(law.encoding.name == "nope" for law in laws)),
    }


def _within_answer(pattern: "Pattern", scales: Sequence[int], epsilon: Fraction) -> dict[str, Any]:
    """Return LRC within epsilon by scale, null where its bounds differ, and its growth over all scales."""
    from lengthgen.theory.growth_within import growth_within
    from lengthgen.theory.lrc_within import bounds_within

    return {
        "epsilon": str(epsilon),
        **_by_scale(bounds_within(pattern, epsilon, scales)),
        "growth": _growth_answer(growth_within(pattern, epsilon)),
    }


def _by_scale(bounds: Mapping[int, tuple[int, int]]) -> dict[str, Any]:
    """Return LRC by scale, null where its bounds differ, and its bounds."""
    return {
        "lrc": {str(scale): high if low == high else None for scale, (low, high) in bounds.items()},
        "bounds": {str(scale): list(pair) for scale, pair in bounds.items()},
    }


def _require_feasible(pattern: "Pattern", scale: int, *, explain: bool, by_entry: bool) -> None:
    """Raise ScalesError if the scale is too large for the pattern."""
    from lengthgen.theory.formula.structure import Structure, structure
    from lengthgen.theory.lrc_within import array_of_floats

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


def _growth_answer(result: "Growth | None") -> dict[str, Any] | None:
    """Return a growth over all scales; None if it is not known."""
    if result is None:
        return None
    names = ("low", "high", "from_scale", "strength", "undefined_from", "undefined_at", "reason")
    return {"kind": result.kind.value, **{name: getattr(result, name) for name in names}}


def _explanation(pattern: "Pattern", train: int, test: int) -> dict[str, Any]:
    """Return the ideal relation, and the judgement of every standard encoding's relation."""
    from lengthgen.theory.generalization import judge, judge_standard_encodings, levels_of
    from lengthgen.theory.lrc import level_sets

    levels = levels_of(pattern, test)
    merged = level_sets(pattern, test, merge_undecided=True)
    return {
        "ideal": _ideal_answer(levels),
        "relations": [
            _judged_relation(answer, judge(merged, answer.relation, train=train, test=test), levels)
            for answer in judge_standard_encodings(levels.relation, train=train, test=test)
        ],
    }


def _ideal_answer(pattern: "Levels") -> list[dict[str, Any]]:
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


def _judged_relation(answer: "JudgedRelation", merged: "Judgement", pattern: "Levels") -> dict[str, Any]:
    """Return the judgement of one relation, with the values that a learner gets under it."""
    from lengthgen.theory.generalization import learn

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


def _learner_result(outcome: "LearnedPattern", pattern: "Levels") -> dict[str, Any]:
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


def _value_text(value: "Value") -> str:
    """Return an entry as text."""
    return f"[{', '.join(map(_value_text, value))}]" if isinstance(value, tuple) else str(value)


def load_pattern(text: str, parameters: Sequence[str] = ()) -> "Pattern":
    """Return the pattern that the text names.

    Args:
        text: a formula; `path/to/array.npy`, read without copying; or `path/to/file.py:name`. The file is run, and the
            name stands for a function of (i, j) or (i, j, n), an array, a Pattern, or a Relation, whose labels then
            have a free parameter each.
        parameters: names of free real parameters in a formula.

    Raises:
        FormulaError: the formula cannot be read.
        PatternError: the file does not exist or holds no pattern.
    """
    from lengthgen.theory.pattern import PatternError, from_formula

    if text.endswith(".npy"):
        require_file(text, what="array", error=PatternError)
        with user_code(f"array file '{text}' cannot be read", error=PatternError):
            array = np.load(text, mmap_mode="r", allow_pickle=False)
        if not isinstance(array, np.ndarray):
            array.close()
            raise PatternError(f"array file '{text}' holds several arrays: save one by numpy.save")
        return _array_pattern(array, text)
    if split_file(text) is None:
        return from_formula(text, parameters=parameters)
    return _as_pattern(load_object(text, what="pattern", error=PatternError), text)


def _array_pattern(array: Any, name: str) -> "Pattern":
    """Return the pattern of an array, with the name in error messages."""
    from lengthgen.theory.pattern import PatternError, from_array

    try:
        return from_array(array, name=name)
    except PatternError as error:
        raise PatternError(f"'{name}': {error}") from error


def _as_pattern(user_object: Any, name: str) -> "Pattern":
    """Return the pattern that the user's object stands for. Only its type is inspected: its attributes may fail."""
    from lengthgen.theory.pattern import Pattern, PatternError, from_function, from_relation

    kind = type(user_object)
    if issubclass(kind, Pattern):
        return _guarded(user_object, name)
    if issubclass(kind, Relation):
        return from_relation(user_object)
    if issubclass(kind, np.ndarray | list | tuple):
        return _array_pattern(user_object, name)
    if callable(user_object):
        with user_code(f"'{name}' does not show its parameters; wrap it in a function", error=PatternError):
            arguments = len(inspect.signature(user_object).parameters)
        if arguments in (2, 3):
            return from_function(user_object, name=name, scale_hint=arguments == 3)
    raise PatternError(
        f"'{name}' is no pattern: give a function of (i, j) or (i, j, n), an array, a Pattern or a Relation"
    )


def _guarded(pattern: "Pattern", name: str) -> "Pattern":
    """Return the pattern with guarded entries, since they may be a function of the user's own."""
    from lengthgen.theory.pattern import PatternError

    def read(answer: Any) -> tuple[list[Any], Any]:
        values, codes = answer
        codes = np.asarray(codes)
        if (
            codes.ndim != 1
            or codes.dtype.kind not in "iu"
            or (codes.size and not 0 <= codes.min() <= codes.max() < len(values))
        ):
            raise PatternError(f"the entries of '{name}' must be values and, for each pair, the index of its value")
        return list(values), codes

    entries = Guarded(pattern.entries, read=read, fails=lambda *_: f"the entries of '{name}' fail", error=PatternError)
    return replace(pattern, entries=entries)


def lrc_table(answer: Mapping[str, Any]) -> Group:
    """Return the verdict in a sentence, LRC by scale, its growth, and with `relations` the obstacle for each one."""
    within = answer.get("within")
    columns = {"LRC": answer["bounds"]} | ({f"within {within['epsilon']}": within["bounds"]} if within else {})
    scales = list(answer["bounds"])
    shown = scales if len(scales) <= MOST_ROWS else [*scales[:MOST_ROWS], scales[-1]]
    table = filled(["scale", *columns], ([scale, *(_range(of[scale]) for of in columns.values())] for scale in shown))
    notes = []
    if answer["structure"]:
        notes.append(f"the entry is {answer['structure']}")
    if answer["growth"]:
        notes.append(_growth_text(answer["growth"]))
        if answer["closed_form"] and answer["growth"]["kind"] == "unbounded":
            notes.append(f"in closed form: {answer['closed_form']}")
    if within and within["growth"]:
        notes.append(f"within {within['epsilon']}, {_growth_text(within['growth'])}")
    if answer["generalizes"] is not False and (bias := _bias_text(answer)):
        notes.append(bias)
    notes += [f"written: {path}" for path in answer.get("figure", [])]
    parts: list[RenderableType] = [
        Text(_verdict(answer), style="bold"),
        titled(f"LRC of {answer['expression']:.60}", table, *notes),
    ]
    if "relations" in answer:
        parts += [_ideal_table(answer), _relations_table(answer)]
    return Group(*parts)


def _verdict(answer: Mapping[str, Any]) -> str:
    """Return the answer to the question of the command in one sentence."""
    first, last = answer["from_scale"], answer["to_scale"]
    span = f"from scale {first} to {last}"
    hint = " with scale hint" if answer["scale_hint"] else ""
    at_first, at_last = (_range(answer["bounds"][str(scale)]) for scale in (first, last))
    if first == last:
        more = f"a second scale, as in --scales {last},{2 * last}, asks what generalizes"
        return f"LRC is {at_last} at scale {last}; {more} [F]"
    if answer["generalizes"] is None:
        return f"Undecided: LRC at scale {last} is only known to be {at_last}, so it may generalize {span} or not [F]"
    if answer["generalizes"]:
        standard = answer.get("relations", [])[:-1]  # the last is that of the pattern's own level sets
        right = [row["relation"] for row in standard if row["generalizes"]]
        which = f"; of the standard ones {', '.join(right)}" if right else ""
        return f"Yes: some position encoding{hint} makes it generalize {span}, since LRC stays {at_last}{which} [F]"
    growth = answer["growth"]
    ever = " and grows without bound" if growth and growth["kind"] == "unbounded" and growth["strength"] else ""
    grows = f"LRC is {at_first} at scale {first} and {at_last} at scale {last}{ever}"
    bias = _bias_text(answer) or "an encoding whose scores follow one law is not excluded"
    return (
        f"No: no encoding{hint} that learns one value per label makes it generalize {span}, since {grows}; {bias} [F]"
    )


def _bias_text(answer: Mapping[str, Any]) -> str:
    """Return what the pattern is as a bias of scores; empty if nothing is known."""
    if answer["softmax_cancels"]:
        return "as a bias, softmax cancels it: all keys of a query have one entry, so NoPE has the same weights"
    parts = []
    for weights_only, says in (
        (False, "as a bias, these have it at every scale by their law"),
        (True, "up to a number of each query, which softmax cancels"),
    ):
        named = [_law(law) for law in answer["laws"] if law["weights_only"] is weights_only]
        parts += [f"{says}: {', '.join(named)}"] if named else []
    return "; ".join(parts)


def _law(law: Mapping[str, Any]) -> str:
    """Return an encoding with the values of its parameters as text."""
    values = ", ".join(f"{name} = {value}" for name, value in law["parameters"].items())
    return f"{law['encoding']} ({values})" if values else str(law["encoding"])


def _range(bounds: Sequence[int]) -> str:
    """Return a lower and an upper bound as text; a single number if they are equal."""
    low, high = bounds
    return bounds_text(low, high, " to ")


def _growth_text(growth: Mapping[str, Any]) -> str:
    """Return the growth of LRC as text."""
    if growth["low"] == growth["high"]:
        value, bounds = f" at {growth['high']}", ""
    else:
        value, bounds = "", f", {growth['low']} to {growth['high'] or 'more'}"
    since = f" from scale {growth['from_scale']} on" if growth["from_scale"] else ""
    proved = f"proved for all scales ({growth['strength']})" if growth["strength"] else "not proved"
    return f"over all scales: {growth['kind']}{value}{since}{bounds}, {proved}: {growth['reason']}"


def _relations_table(answer: Mapping[str, Any]) -> Group:
    """Return the table of relations."""
    rows = []
    for row in answer["relations"]:
        limits = row["limits"]
        name = row["relation"] + (f" (limits {limits[0]} to {limits[-1]})" if limits else "")
        generalizes = yes_no(row["generalizes"], "undecided")
        rows.append((name, row["encodings"], generalizes, row["why"], _learner_text(row["learned"])))
    return titled(
        f"Trained on scales 1 to {answer['from_scale']}, tested up to {answer['to_scale']} [F]",
        filled(("relation", "encodings with it", "generalizes", "why", "a learner from zero"), rows),
        "An encoding whose scores follow a law (RoPE, ALiBi, FIRE, sinusoids) ties its parameters: one label with two "
        "values excludes it as well; a label never seen in training need not.",
    )


def _ideal_table(answer: Mapping[str, Any]) -> Group:
    """Return the table of the ideal relation."""
    rows = (
        (str(label["label"]), label["value"], str(label["cells"]), _cell_text(label["first"]))
        for label in answer["ideal"][:MOST_ROWS]
    )
    left = len(answer["ideal"]) - MOST_ROWS
    return titled(
        f"The ideal relation up to scale {answer['to_scale']}: the level sets of the pattern, label 0 where it is zero",
        filled(("label", "entry", "cells", "first at"), rows),
        *([f"and {left} more labels"] if left > 0 else []),
    )


def _learner_text(learned: Mapping[str, Any]) -> str:
    """Return the result of a learner as text."""
    if not learned["wrong_cells"]:
        return "is right everywhere"
    return (
        f"is wrong at {learned['wrong_cells']} of {learned['cells']} cells, "
        f"first at {_cell_text(learned['first_wrong'])}: "
        f"{learned['learned_there']:.40} for {learned['entry_there']:.40}"
    )


def _cell_text(cell: list[int]) -> str:
    """Return the positions of a cell as text."""
    return ", ".join(f"{name}={position}" for name, position in zip("ijn", cell, strict=False))
