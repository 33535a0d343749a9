"""The shape of a certificate: its fields, and what each may be."""

from typing import Any

SCALE, ARITY, COUNT, PLACE = range(1, 129), range(1, 9), range(1, 2001), range(1, 1_000_000)
SHAPES: dict[str, tuple[Any, ...]] = {
    "format": (1,),
    "task": (str,),
    "base": (None, PLACE),
    "layout": ("unaligned", "aligned"),
    "largest_scale": (SCALE,),
    "arity": (ARITY,),
    "mode": ("free", "declared", "typed"),
    "scale": (SCALE,),
    "lower": (COUNT, "inf"),
    "upper": (PLACE, "inf", None),
    "prompts": ({str: [str]},),
    "steps": ([(SCALE, PLACE)],),
    "clique": ([range(2000)],),
    "proof": (None, [str]),
    "circuit": (None, {"reference": True}, {"operators": [{str: str}], "wirings": {str: [(range(2000), [PLACE])]}}),
}
"""The fields of a certificate, and what each may be (`fits`)."""


class CertificateError(ValueError):
    """Not a certificate, or one that does not prove what it says; the message is one line."""


def need(holds: object, otherwise: str) -> None:
    """Raises CertificateError, with what is wrong, unless something holds."""
    if not holds:
        raise CertificateError(f"certificate: {otherwise}")


def fits(value: Any, shape: Any) -> bool:
    """Whether JSON is as a shape says: a type, a range, [each], (first, second), {str: each}, {field: its shape}."""
    if isinstance(shape, range):
        return type(value) is int and value in shape
    if isinstance(shape, list):
        return isinstance(value, list) and all(fits(each, shape[0]) for each in value)
    if isinstance(shape, tuple):
        return isinstance(value, list) and len(value) == len(shape) and all(map(fits, value, shape))
    if isinstance(shape, dict):
        each = dict.fromkeys(value, shape[str]) if str in shape and isinstance(value, dict) else shape
        return isinstance(value, dict) and value.keys() == each.keys() and all(fits(value[k], each[k]) for k in each)
    return type(value) is shape if isinstance(shape, type) else type(value) is type(shape) and value == shape
