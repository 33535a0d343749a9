"""Check a user's own encoding: each law and special case that it declares, decided like those of the catalogue."""

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from lengthgen.infrastructure.extras import how_to_install
from lengthgen.infrastructure.userfile import user_code
from lengthgen.theory import domains, laws
from lengthgen.theory.encodings.catalogue import named
from lengthgen.theory.encodings.encoding import Encoding, EncodingError, Recovery
from lengthgen.theory.laws import Ruling


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """Law, special case or agreement that an encoding declares, in words, with the ruling on it."""

    encoding: str
    what: str
    ruling: Ruling


def declarations(encoding: Encoding) -> list[Declaration]:
    """Decide each declared law and special case, and whether the module agrees with the formulas.

    Raises:
        EncodingError: a formula fails, or a special case names no encoding of the catalogue.
    """
    with user_code(f"the formulas of '{encoding.name}' fail", error=EncodingError):
        decided = [_declared(encoding, str(law), laws.decide_law(encoding, law)) for law in encoding.laws]
        for recovery in encoding.recovers:
            other = named(recovery.of)
            where = " up to the trained length" if recovery.within else ""
            at = f", for {_text(recovery.at)}" if recovery.at else ""
            what = f"is {other.title} at {_text(recovery.assignment)}{at}{where}"
            decided.append(_declared(encoding, what, _recovered(encoding, other, recovery)))
        if encoding.module is not None and not encoding.no_formula:
            decided.append(_declared(encoding, "its module agrees with its formulas", _module_agrees(encoding)))
    return decided


def _module_agrees(encoding: Encoding) -> Ruling:
    """Ruling: do the module's logits equal those of the encoding's formulas, in float64 at some positions?"""
    if not find_spec("torch"):
        return Ruling(holds=None, reason=f"PyTorch is not installed: {how_to_install('train')}")
    from lengthgen.empirical.encodings import agreement
    from lengthgen.empirical.encodings.modules import own_module

    assert encoding.module is not None
    module = own_module(encoding.module, agreement.SIZES, encoding.name)
    difference = agreement.largest_difference(encoding, module)
    where = f"at the positions {', '.join(map(str, agreement.POSITIONS))}, in float64"
    return Ruling(
        holds=difference < agreement.TOLERANCE, reason=f"logits and codes differ by at most {difference:.3g} {where}"
    )


def _recovered(encoding: Encoding, other: Encoding, recovery: Recovery) -> Ruling:
    """Ruling on whether the encoding gives the other one's logits for the declared parameters.

    Unless the recovery is declared a limit, these parameters must also be inside their domains.
    """
    ruling = laws.decide_recovery(encoding, other, recovery)
    if not ruling.holds or not recovery.attained or recovery.function:
        return ruling
    domain_ruling = domains.assignment_allowed(encoding, recovery.assignment)
    return ruling if domain_ruling.holds else domain_ruling


def _declared(encoding: Encoding, what: str, ruling: Ruling) -> Declaration:
    """Declaration with its ruling."""
    return Declaration(encoding=encoding.name, what=what, ruling=ruling)


def _text(assignment: Any) -> str:
    return ", ".join(f"{parameter} = {value}" for parameter, value in assignment.items())
