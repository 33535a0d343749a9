"""`lengthgen encodings`: position encodings with the properties that are computed from their formulas."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Group

from lengthgen.infrastructure.cache import UserCached
from lengthgen.infrastructure.digests import file_digest, source_digest
from lengthgen.infrastructure.files import user_cache
from lengthgen.infrastructure.shapes import FLAG, TEXT, list_of, mapping_to, one_of, record
from lengthgen.infrastructure.userfile import user_code
from lengthgen.terminal.answers import show
from lengthgen.terminal.layout import Screen, filled, titled, yes_no
from lengthgen.terminal.options import ENCODING_NAMES, Details, Json

if TYPE_CHECKING:
    from lengthgen.theory.encodings.encoding import Encoding


def encodings(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Encodings by name, or path/to/file.py[:name].",
            show_default="all",
            autocompletion=ENCODING_NAMES.complete,
        ),
    ] = None,
    details: Details = False,
    as_json: Json = False,
) -> None:
    """Print the properties of position encodings, computed from their formulas, and which of two contains the other."""
    if names:
        listed = selected(names)
        answer = matrix_answer(listed) | {"containments": containments_answer(listed)}
    else:
        answer = full_matrix()
    show(answer, encodings_table(answer) if details else encodings_screen(answer), as_json)


RELATIVE = ("yes", "up to L", "no", "not decided")
"""Answers of `lengthgen.theory.laws.relative_law`, in the order of the groups of a screen."""
DECIDED = ("translation", "norm_preserving", "streaming", "relabelling", "causal_only", "bounded")
"""Properties that are decided: True, False or None."""
_MOST_PAIRS = 6
"""Pairs of encodings whose answers are all on the first screen."""
_ROW = record(
    **dict.fromkeys(
        ("name", "title", "weights", "window", "learned", "far_field", "auxiliary_losses", "defined_for"), TEXT
    ),
    **dict.fromkeys(("hooks", "parameters"), list_of(TEXT)),
    relative=one_of(RELATIVE),
    **dict.fromkeys((*DECIDED, "bidirectional"), FLAG),
)
_MATRIX = record(encodings=list_of(_ROW), without_formulas=mapping_to(TEXT), label=TEXT)


def selected(names: Sequence[str]) -> "list[Encoding]":
    """Return the encodings of these names, and those of the user's own files.

    Raises:
        EncodingError: a name is unknown (the message has the closest ones), an encoding that is named or all those of a
            file have no formulas (but one that can be compared with others that are named), or a file defines none or
            fails.
    """
    from lengthgen.theory.containment import STAND_INS
    from lengthgen.theory.encodings.catalogue import named
    from lengthgen.theory.encodings.encoding import EncodingError
    from lengthgen.theory.encodings.own import is_file, records

    encodings = []
    for name in names:
        of_name = records(name) if is_file(name) else [named(name)]
        alone = len(names) == 1 or of_name[0].name not in STAND_INS
        if alone and all(encoding.no_formula for encoding in of_name):
            raise EncodingError(f"'{of_name[0].name}' has no formulas: {of_name[0].no_formula}")
        encodings += of_name
    return encodings


def matrix_answer(encodings: "Sequence[Encoding]") -> dict[str, Any]:
    """Return a row of properties for each encoding, computed from its formulas, or the reason why it has none."""
    from lengthgen.theory.encodings.encoding import EncodingError

    rows = []
    for encoding in encodings:
        if not encoding.no_formula:
            with user_code(f"the formulas of '{encoding.name}' fail", error=EncodingError):
                rows.append(_row(encoding))
    return {"encodings": rows, "without_formulas": _without_formulas(encodings), "label": "F"}


def containments_answer(encodings: "Sequence[Encoding]") -> list[dict[str, Any]]:
    """Return for each ordered pair if one encoding contains the other, up to W_q and W_k, and why."""
    from lengthgen.theory.containment import RECORDS, compare
    from lengthgen.theory.encodings.encoding import EncodingError

    compared = [RECORDS.get(each.name, each) if each.no_formula else each for each in dict.fromkeys(encodings)]
    answers = []
    for by, of in permutations([each for each in compared if not each.no_formula], 2):
        with user_code(f"the formulas of '{by.name}' or '{of.name}' fail", error=EncodingError):
            answers.append(asdict(compare(by, of)))
    return answers


def full_matrix() -> dict[str, Any]:
    """Return the rows of all registered encodings with formulas, the reason why the others have none, and other names.

    Rows are cached until the formulas, or the code that decides their properties, change.
    """
    from lengthgen.circuits.encoding_spec import ENCODINGS
    from lengthgen.theory.encodings.catalogue import with_formulas

    entry = UserCached(
        path=user_cache("matrix") / "encodings.json", code=source_digest("theory"), inputs=file_digest(Path(__file__))
    )
    rows: dict[str, Any] = entry.computed(lambda: matrix_answer(with_formulas()), _MATRIX)
    aliases = {name: list(encoding.aliases) for name, encoding in ENCODINGS.items()}
    return rows | {"without_formulas": _without_formulas(ENCODINGS.values()), "aliases": aliases}


def own_encodings_answer(encodings: "Sequence[Encoding]") -> dict[str, Any]:
    """Return the rows of a user's encodings, and the declarations of each; `holds` is True if all of them hold."""
    from lengthgen.proofs_checks.own import declarations

    declared = [
        {"encoding": each.encoding, "what": each.what, "holds": each.ruling.holds, "reason": each.ruling.reason}
        for encoding in encodings
        for each in declarations(encoding)
    ]
    return matrix_answer(encodings) | {"declared": declared, "holds": all(law["holds"] for law in declared)}


def _without_formulas(encodings: "Iterable[Encoding]") -> dict[str, str]:
    """Return name -> reason of the encodings that have no formulas."""
    return {encoding.name: encoding.no_formula for encoding in encodings if encoding.no_formula}


def _row(encoding: "Encoding") -> dict[str, Any]:
    """Return the properties of one encoding."""
    import sympy as sp

    from lengthgen.theory import domains, far, laws
    from lengthgen.theory.encodings.encoding import Law

    decided = {
        "translation": Law.TRANSLATION,
        "norm_preserving": Law.NORM,
        "streaming": Law.STREAMING,
        "relabelling": Law.RELABELLING,
    }
    return {
        "name": encoding.name,
        "title": encoding.title,
        "hooks": list(encoding.hooks),
        "weights": str(encoding.normaliser),
        "window": "every key" if encoding.window is sp.oo else f"{encoding.window} keys",
        "parameters": list(domains.domain_texts(encoding)),
        "learned": str(encoding.learned),
        "relative": laws.relative_law(encoding),
        **{name: laws.decide_law(encoding, law).holds for name, law in decided.items()},
        "bidirectional": not encoding.causal,
        "causal_only": far.causal_only(encoding),
        "bounded": far.bounded(encoding),
        "far_field": str(far.far_field(encoding)),
        "auxiliary_losses": encoding.auxiliary or "none",
        "defined_for": "every position" if encoding.limit is sp.oo else f"{encoding.limit} positions",
    }


def encodings_screen(answer: Mapping[str, Any]) -> Screen:
    """Return the property matrix, or if it is longer than a screen the encodings by two of their properties."""
    return Screen([encodings_table(answer), Group(_groups(answer), *_containments(answer, details=False))])


def _containments(answer: Mapping[str, Any], details: bool = True) -> list[Group]:
    """Return the table of the ordered pairs of the named encodings, if any; of many only those that are not refuted."""
    words = {True: "yes", False: "no", None: "open"}
    pairs = answer.get("containments", [])
    shown = pairs if details or len(pairs) <= _MOST_PAIRS else [each for each in pairs if each["holds"] is not False]
    rows = [(f"{each['by']} contains {each['of']}", words[each["holds"]], each["reason"]) for each in shown]
    note = "for every head of the second, some head of the first has the same weights: docs/theory/containment.md"
    left = f"no: the {len(pairs) - len(shown)} other pairs (--details)" if len(shown) < len(pairs) else ""
    table = filled(("up to W_q and W_k", "", "why"), rows)
    return [titled("Containment [F]", table, *filter(None, (left, note)))] if pairs else []


def _groups(answer: Mapping[str, Any]) -> Group:
    """Return the names of encodings by whether they are relative, and by what becomes of far keys."""
    groups: dict[tuple[str, str], list[str]] = {}
    for row in answer["encodings"]:
        far = "as its parameters say" if ":" in row["far_field"] else row["far_field"]
        groups.setdefault((row["relative"], far), []).append(row["name"])
    in_order = sorted(groups.items(), key=lambda item: (RELATIVE.index(item[0][0]), -len(item[1])))
    table = filled(("relative", "far keys", "encodings"), ((*kind, ", ".join(names)) for kind, names in in_order))
    without = answer.get("without_formulas", {})
    return titled(
        f"{len(answer['encodings']) + len(without)} position encodings [F]",
        table,
        *([f"without formulas: {', '.join(without)}"] if without else []),
        "relative: scores depend on the distance alone, L is the trained length; far keys: what becomes of their "
        "scores. All properties of one: lengthgen encodings NAME; of all: --details",
    )


def encodings_table(answer: Mapping[str, Any]) -> Group:
    """Return the property matrix, a row for each encoding."""
    headings = ("hooks", "trained", "relative", "shift", "norms", "cache", "permute", "causal", "bounded", "far keys")
    rows = (
        (
            row["name"],
            ", ".join([*row["hooks"], *_weights(row)]) or "-",
            *(row[what] for what in ("learned", "relative")),
            *(yes_no(row[what], "?") for what in DECIDED),
            row["far_field"],
        )
        for row in answer["encodings"]
    )
    notes = [
        "trained: number of trained values, for H heads of width d, model width D; shift: attention weights unchanged "
        "when all positions move; cache: no score changes as the sequence grows; permute: a permutation of the tokens "
        "permutes the scores; causal: for keys up to the query only"
    ]
    notes += [
        f"{row['name']} is trained with losses of its own: {row['auxiliary_losses']}"
        for row in answer["encodings"]
        if row["auxiliary_losses"] != "none"
    ]
    notes += without_formulas(answer)
    also = [f"{name} ({', '.join(aliases)})" for name, aliases in answer.get("aliases", {}).items() if aliases]
    notes += [f"other names: {', '.join(also)}"] if also else []
    properties = titled("Position encodings [F]", filled(("encoding", *headings), rows), *notes)
    return Group(properties, *_containments(answer))


def without_formulas(answer: Mapping[str, Any]) -> list[str]:
    """Return a line on each encoding that has no formulas, with the reason."""
    return [f"{name} has no formulas: {why}" for name, why in answer.get("without_formulas", {}).items()]


def declared_lines(answer: Mapping[str, Any]) -> list[str]:
    """Return the verdict on each declaration of a user's encodings with its reason, those that fail first."""
    words = {False: "fails", None: "is not decided", True: "holds"}
    laws = sorted(answer["declared"], key=lambda law: [*words].index(law["holds"]))
    lines = [f"{law['encoding']}: {law['what']} {words[law['holds']]}: {law['reason']}" for law in laws]
    return lines or ["no laws or special cases are declared"]


def _weights(row: Mapping[str, Any]) -> list[str]:
    """Return the normaliser and the window of an encoding, if they are not softmax over all keys."""
    normaliser = [] if row["weights"] == "softmax" else [row["weights"]]
    return normaliser if row["window"] == "every key" else [*normaliser, f"window of {row['window']}"]
