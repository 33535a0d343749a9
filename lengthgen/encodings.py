"""Answers about symbolic encodings as plain data: the property matrix, and a user's own encoding."""

from collections.abc import Sequence
from typing import Any

import sympy as sp

from circuits.encodings import ENCODINGS
from proofs_checks.own import declarations
from theory import laws, properties
from theory.encodings.catalogue import named, with_formulas
from theory.encodings.encoding import Encoding, EncodingError, Law
from theory.encodings.own import is_file, records
from theory.system.cache import cached
from theory.system.digests import source_digest
from theory.system.files import user_cache
from theory.system.userfile import user_code


def selected(names: Sequence[str]) -> list[Encoding]:
    """The encodings of these names, and those of files of the user's own.

    Raises:
        EncodingError: no such name, with the closest ones; one without formulas; or a file defines none, or fails.
    """
    found = [one for name in names for one in (records(name) if is_file(name) else [named(name)])]
    for encoding in found:
        if encoding.no_formula:
            raise EncodingError(f"'{encoding.name}' has no formulas: {encoding.no_formula}")
    return found


def matrix_answer(encodings: Sequence[Encoding]) -> dict[str, Any]:
    """A row for each encoding, computed from its formulas."""
    rows = []
    for encoding in encodings:
        with user_code(f"the formulas of '{encoding.name}' fail", error=EncodingError):
            rows.append(_row(encoding))
    return {"encodings": rows, "label": "F"}


def whole_matrix() -> dict[str, Any]:
    """The rows of all registered encodings with formulas, and why the others have none.

    Rows are kept until the formulas, or what decides them, change.
    """
    place = user_cache("matrix") / "encodings.json"
    rows: dict[str, Any] = cached(place, source_digest("theory", "lengthgen"), lambda: matrix_answer(with_formulas()))
    without = {name: encoding.no_formula for name, encoding in ENCODINGS.items() if encoding.no_formula}
    return rows | {"without_formulas": without, "aliases": {name: list(one.aliases) for name, one in ENCODINGS.items()}}


def own_answer(encodings: Sequence[Encoding]) -> dict[str, Any]:
    """The rows of a user's encodings, and what each declares; `holds` if all of that is so."""
    declared = [one for encoding in encodings for one in declarations(encoding)]
    return matrix_answer(encodings) | {
        "declared": [
            {"encoding": one.encoding, "what": one.what, "holds": one.ruling.holds, "reason": one.ruling.reason}
            for one in declared
        ],
        "holds": all(one.ruling.holds for one in declared),
    }


def _row(encoding: Encoding) -> dict[str, Any]:
    return {
        "name": encoding.name,
        "title": encoding.title,
        "hooks": list(encoding.hooks),
        "parameters": list(properties.domains(encoding)),
        "learned": str(encoding.learned),
        "relative": properties.relative_law(encoding),
        "translation": laws.decide_law(encoding, Law.TRANSLATION).holds,
        "norm_preserving": laws.decide_law(encoding, Law.NORM).holds,
        "streaming": laws.decide_law(encoding, Law.STREAMING).holds,
        "causal_only": properties.causal_only(encoding),
        "bounded": properties.bounded(encoding),
        "far_field": str(properties.far_field(encoding)),
        "defined_for": "every position" if encoding.limit is sp.oo else f"{encoding.limit} positions",
    }
