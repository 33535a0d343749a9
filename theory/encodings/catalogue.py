"""Registry of the position encodings, by name and alias.

Encodings whose relation depends on the circuit of a task are registered in circuits/encoding_spec.py.
"""

from lengthgen.infrastructure.discovery import sibling_modules
from lengthgen.infrastructure.errors import LengthgenError, nearest
from lengthgen.theory.encodings.encoding import Encoding, EncodingError


class UnknownEncoding(EncodingError):
    """The name belongs to no encoding."""


class DuplicateEncoding(LengthgenError):
    """The name or alias belongs to another encoding already."""


FAMILIES = (
    "encoding",
    "absolute",
    "seqpe",
    "prism",
    "relations",
    "biases",
    "rotary",
    "randomized",
    "grape",
    "paths",
    "hope",
)
"""Modules of this package in the order of tables and figures; modules that are not named here follow, by name."""
LAST = ("swat", "wavelet", "graph-alibi")
"""Encodings that tables and figures show after all families."""
ENCODINGS: dict[str, Encoding] = {}
"""Registered encodings by name, in the order of registration."""
_BY_NAME: dict[str, Encoding] = {}
"""Registered encodings by name and alias, in lower case (casefolded)."""


def register(*encodings: Encoding) -> None:
    """Register encodings under their names and aliases; upper and lower case do not differ.

    Raises:
        DuplicateEncoding: a name or alias is taken.
    """
    for encoding in encodings:
        for name in (encoding.name, *encoding.aliases):
            if name.casefold() in _BY_NAME:
                owner = _BY_NAME[name.casefold()].name
                raise DuplicateEncoding(f"encoding '{encoding.name}': the name '{name}' already belongs to '{owner}'")
        ENCODINGS[encoding.name] = encoding
        _BY_NAME.update({name.casefold(): encoding for name in (encoding.name, *encoding.aliases)})


def called(name: str) -> Encoding | None:
    """Encoding with this name or alias, in any case; None if there is none."""
    return _BY_NAME.get(name.strip().casefold())


def named(name: str) -> Encoding:
    """Encoding with this name or alias, in any case.

    >>> named("RoPE").name
    'rope'

    Raises:
        UnknownEncoding: there is none; the message suggests the closest names.
    """
    encoding = called(name)
    if encoding is None:
        listed = "`lengthgen encodings` lists all; your own: path/to/file.py:object"
        hint = nearest(name.strip(), _BY_NAME, listed=listed)
        raise UnknownEncoding(f"unknown encoding '{name}': {hint}")
    return encoding


def with_formulas() -> tuple[Encoding, ...]:
    """Registered encodings that have formulas, in the order of registration."""
    return tuple(encoding for encoding in ENCODINGS.values() if not encoding.no_formula)


def _register_modules() -> None:
    """Register what each module of this package lists in its ENCODINGS."""
    modules = {module.__name__.rpartition(".")[2]: module for module in sibling_modules(__name__)}
    of_families = [encoding for name in FAMILIES for encoding in modules.pop(name).ENCODINGS]
    register(*sorted(of_families, key=lambda encoding: LAST.index(encoding.name) if encoding.name in LAST else -1))
    for module in modules.values():
        register(*getattr(module, "ENCODINGS", ()))


_register_modules()
