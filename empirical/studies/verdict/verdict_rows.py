"""Rows of the tables of `lengthgen verdict`, which its screens and its page share."""

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any

from lengthgen.circuits.forecast.rates import KINDS, RATE_WITH_SRC
from lengthgen.empirical.studies.verdict import WEAK
from lengthgen.terminal.layout import e_value_text, rounded

JUDGING = "judgement"
"""Part of the tasks that decides, in an answer."""
RULE_HEADINGS = ("rule", "right, in use", "Brier", "right, ideal", "Brier", "right, all", "Brier")
FAIR_HEADINGS = ("rule", "against", *KINDS)
REGISTERED_HEADINGS = ("rule", "against", *KINDS, "e-values", "better")
LEGEND = (
    "tasks won:lost (larger e-value), and by e-BH: + the rule is better, - the baseline, ? open, a second sign where "
    "e-BH over all says otherwise; rates and kinds are not registered: they were asked after the runs"
)


def fair_rows(answer: Mapping[str, Any], rules: Container[str] | None = None) -> Iterator[list[str]]:
    """Yield a row for each comparison of a rule with a baseline: by kind of encoding, the wins and who is better.

    Args:
        answer: a judgement.
        rules: rules that are told; None for all.
    """
    by_pair: dict[tuple[str, str], dict[str, Mapping[str, Any]]] = {}
    for each in answer["fair"]:
        by_pair.setdefault((each["first"], each["second"]), {})[each["kind"]] = each
    for (first, second), of_kinds in by_pair.items():
        if rules is None or first in rules:
            yield [
                first,
                second,
                *(_compared(of_kinds[kind]) if kind in of_kinds else "no task" for kind in KINDS),
            ]


def _compared(each: Mapping[str, Any]) -> str:
    """Return the wins of a comparison, its larger e-value, and by e-BH who is better, by itself and over all."""
    sign = {each["first"]: "+", each["second"]: "-"}
    signs = dict.fromkeys(sign.get(each[key], "?") for key in ("better", "better_over_all") if key in each)
    wins = f"{each['wins_first']}:{each['wins_second']}"
    return f"{wins} ({e_value_text(max(each['against_first'], each['against_second']))}) {'/'.join(signs)}"


def told_rules(answer: Mapping[str, Any]) -> set[str]:
    """Return the rules that a page tells of: those that are registered, and `literal` where SRC differs."""
    with_src = any(each["second"] == RATE_WITH_SRC for each in answer["fair"])
    return {pair["first"] for pair in answer["pairs"]} | ({"literal"} if with_src else set())


def score_rows(answer: Mapping[str, Any], rules: Iterable[str]) -> Iterator[list[str]]:
    """Yield a row for each rule or baseline: cells with a majority on which it is right, and its Brier score."""
    for rule in rules:
        scores = [answer["kinds"][kind]["rules"][rule] for kind in KINDS]
        yield [rule, *(text for score in scores for text in (_right(score), rounded(score["brier"], ".3f")))]


def _right(score: Mapping[str, Any]) -> str:
    right = score["right_yes"] + score["right_no"]
    return f"{right:,} of {right + score['wrong_yes'] + score['wrong_no']:,}"


def registered_pairs(answer: Mapping[str, Any], *, weak: bool) -> list[Mapping[str, Any]]:
    """Return the registered pairs on the half that judges, with weak opponents or with others."""
    return [pair for pair in answer["pairs"] if pair["part"] == JUDGING and (pair["second"] in WEAK) == weak]


def registered_row(pair: Mapping[str, Any]) -> list[str]:
    """Return a registered pair: wins by kind of encoding, e-values, and the better rule, by itself and over all."""
    wins = [wins_text(pair["kinds"][kind]) for kind in KINDS]
    better = pair["better"]
    if pair.get("better_over_all", better) != better:
        better = f"{better} (over all {pair['better_over_all']})"
    return [pair["first"], pair["second"], *wins, e_values_text(pair), better]


def wins_text(pair: Mapping[str, Any]) -> str:
    """Return the numbers of tasks that the first and the second rule of a pair win."""
    return f"{pair['wins_first']} : {pair['wins_second']}"


def e_values_text(pair: Mapping[str, Any]) -> str:
    """Return the e-values for the first and for the second rule of a pair."""
    return f"{e_value_text(pair['against_second'])} : {e_value_text(pair['against_first'])}"
