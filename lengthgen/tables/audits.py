"""Audits of implementations, for people."""

from collections.abc import Mapping
from typing import Any

from rich.console import Group
from rich.text import Text

from lengthgen.tables.layout import columns, titled


def audit_table(answer: Mapping[str, Any]) -> Group:
    """For each way in which an encoding acts: every setting, the law by decade, what was found."""
    return Group(
        *(part for one in answer["audits"] for part in (_audited(one), _by_decade(one), Text("\n".join(_found(one)))))
    )


def _audited(one: Mapping[str, Any]) -> Group:
    table = columns(
        "setting", "worst error of the law", "beyond its budget from", "distinct codes", "ways of use that agree"
    )
    for setting, found in one["settings"].items():
        law, ways = found["law"], found["agreement"].values()
        table.add_row(
            setting,
            "not claimed" if law is None else _error(law["worst"]),
            "-" if law is None else _since(law),
            _distinct(found["codes"]["windows"]),
            f"{sum(way['first_beyond'] is None for way in ways)} of {len(ways)}",
        )
    claims = ", ".join(one["claims"]) or "nothing"
    title = f"Audit of {one['subject']} ({one['kind']}), which claims: {claims}; positions to {one['last_position']}"
    return titled(title, table, *_measured(one))


def _measured(one: Mapping[str, Any]) -> list[str]:
    """What is about the first setting, or was not measured."""
    setting, first = next(iter(one["settings"].items()))
    codes, lines = first["codes"], []
    if runs := codes["windows"][1:]:
        lines.append(f"distinct codes: of runs of {runs[0]['of']} from {', '.join(str(run['from']) for run in runs)}")
    if one["slope"]:
        lines.append(f"with the distance the bias {', '.join(one['slope']['directions'])} (by head)")
    if repeated := codes["first_repeated"]:
        lines.append(f"in {setting} the code of {repeated['same_as']} comes again first at {repeated['position']}")
    if codes["clamped_from"] is not None and 2 * codes["clamped_from"] < one["last_offset"]:  # else it is a rounding
        lines.append(f"in {setting} all from {codes['clamped_from']} on have one code")
    return lines + [f"{refused} is refused: {why}" for refused, why in one["refused"].items()]


def _by_decade(one: Mapping[str, Any]) -> Group:
    laws = {setting: found["law"]["decades"] for setting, found in one["settings"].items() if found["law"]}
    if not laws:
        return Group()
    unit = "a logit, over |q| |k|" if one["kind"] in ("rotate", "scores") else "the bias"
    decades = list(next(iter(laws.values())))
    table = columns("setting", *decades)
    for setting, found in laws.items():
        table.add_row(setting, *(_error(found[decade]["error"]) for decade in decades))
    return titled(f"Worst error of the relative law by query position ({unit})", table)


def _found(one: Mapping[str, Any]) -> list[str]:
    lines = []
    for finding in one["findings"]:
        where: dict[int | None, list[str]] = {}
        for setting, position in finding["first"].items():
            where.setdefault(position, []).append(setting)
        parts = [
            ("" if position is None else f"from {position}")
            + ("" if settings == ["all"] else f" in {' / '.join(settings)}")
            for position, settings in where.items()
        ]
        ending = "; ".join(part.strip() for part in parts if part)
        lines.append(f"found: {finding['says']}" + (f" ({ending})" if ending else ""))
    lines += [f"note: {note} ({why})" for note, why in one["notes"].items()]
    return lines or ["nothing found"]


def _distinct(windows: list[Mapping[str, int]]) -> str:
    if all(run["distinct"] == run["of"] for run in windows):
        return "all"
    return ", ".join(str(run["distinct"]) for run in windows[1:]) or f"{windows[0]['distinct']} of {windows[0]['of']}"


def _since(law: Mapping[str, Any]) -> str:
    if law["first_beyond"] is None:
        return "-"
    return f"{'' if law['exact'] else 'at most '}{law['first_beyond']} (offset {law['offset']})"


def _error(value: float | None) -> str:
    return "not finite" if value is None else f"{value:.1e}"
