"""Answers about symbolic encodings as plain data: the property matrix, and the encodings in a user's file."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import sympy as sp

from lengthgen.circuits.encoding_spec import ENCODINGS
from lengthgen.infrastructure.cache import UserCached
from lengthgen.infrastructure.digests import file_digest, source_digest
from lengthgen.infrastructure.files import user_cache
from lengthgen.infrastructure.shapes import FLAG, TEXT, list_of, mapping_to, one_of, record
from lengthgen.infrastructure.userfile import user_code
from lengthgen.proofs_checks.own import declarations
from lengthgen.tables.encodings import RELATIVE
from lengthgen.theory import laws, properties
from lengthgen.theory.encodings.catalogue import named, with_formulas
from lengthgen.theory.encodings.encoding import Encoding, EncodingError, Law
from lengthgen.theory.encodings.own import is_file, records

_ROW = record(
    **dict.fromkeys(
        ("name", "title", "weights", "window", "learned", "far_field", "auxiliary_losses", "defined_for"), TEXT
    ),
    **dict.fromkeys(("hooks", "parameters"), list_of(TEXT)),
    relative=one_of(RELATIVE),
    **dict.fromkeys(
        ("translation", "norm_preserving", "streaming", "relabelling", "bidirectional", "causal_only", "bounded"), FLAG
    ),
)
_MATRIX = record(encodings=list_of(_ROW), without_formulas=mapping_to(TEXT), label=TEXT)


def selected(names: Sequence[str]) -> list[Encoding]:
    """Return the encodings of these names, and those of the user's own files.

    Raises:
        EncodingError: a name is unknown (the message has the closest ones), an encoding that is named or all those of a
            file have no formulas, or a file defines none or fails.
    """
    encodings = []
    for name in names:
        of_name = records(name) if is_file(name) else [named(name)]
        if all(encoding.no_formula for encoding in of_name):
            raise EncodingError(f"'{of_name[0].name}' has no formulas: {of_name[0].no_formula}")
        encodings += of_name
    return encodings


def matrix_answer(encodings: Sequence[Encoding]) -> dict[str, Any]:
    """Return a row of properties for each encoding, computed from its formulas, or the reason why it has none."""
    rows = []
    for encoding in encodings:
        if encoding.no_formula:
            continue
        with user_code(f"the formulas of '{encoding.name}' fail", error=EncodingError):
            rows.append(_row(encoding))
    return {"encodings": rows, "without_formulas": _without_formulas(encodings), "label": "F"}


def full_matrix() -> dict[str, Any]:
    """Return the rows of all registered encodings with formulas, the reason why the others have none, and other names.

    Rows are cached until the formulas, or the code that decides their properties, change.
    """
    entry = UserCached(
        path=user_cache("matrix") / "encodings.json", code=source_digest("theory"), inputs=file_digest(Path(__file__))
    )
    rows: dict[str, Any] = entry.computed(lambda: matrix_answer(with_formulas()), _MATRIX)
    aliases = {name: list(encoding.aliases) for name, encoding in ENCODINGS.items()}
    return rows | {"without_formulas": _without_formulas(ENCODINGS.values()), "aliases": aliases}


def own_encodings_answer(encodings: Sequence[Encoding]) -> dict[str, Any]:
    """Return the rows of a user's encodings, and the declarations of each; `holds` is True if all of them hold."""
    declared = [declaration for encoding in encodings for declaration in declarations(encoding)]
    return matrix_answer(encodings) | {
        "declared": [
            {
                "encoding": declaration.encoding,
                "what": declaration.what,
                "holds": declaration.ruling.holds,
                "reason": declaration.ruling.reason,
            }
            for declaration in declared
        ],
        "holds": all(declaration.ruling.holds for declaration in declared),
    }


def _without_formulas(encodings: Iterable[Encoding]) -> dict[str, str]:
    """Return name -> reason of the encodings that have no formulas."""
    return {encoding.name: encoding.no_formula for encoding in encodings if encoding.no_formula}


def _row(encoding: Encoding) -> dict[str, Any]:
    """Return the properties of one encoding."""
    return {
        "name": encoding.name,
        "title": encoding.title,
        "hooks": list(encoding.hooks),
        "weights": str(encoding.normaliser),
        "window": "every key" if encoding.window is sp.oo else f"{encoding.window} keys",
        "parameters": list(properties.domains(encoding)),
        "learned": str(encoding.learned),
        "relative": properties.relative_law(encoding),
        "translation": laws.decide_law(encoding, Law.TRANSLATION).holds,
        "norm_preserving": laws.decide_law(encoding, Law.NORM).holds,
        "streaming": laws.decide_law(encoding, Law.STREAMING).holds,
        "relabelling": laws.decide_law(encoding, Law.RELABELLING).holds,
        "bidirectional": not encoding.causal,
        "causal_only": properties.causal_only(encoding),
        "bounded": properties.bounded(encoding),
        "far_field": str(properties.far_field(encoding)),
        "auxiliary_losses": encoding.auxiliary or "none",
        "defined_for": "every position" if encoding.limit is sp.oo else f"{encoding.limit} positions",
    }
