"""Shape of a certificate: its fields, and the allowed values of each field."""

from typing import Any

SCALE, ARITY, COUNT, PLACE = range(1, 129), range(1, 9), range(1, 2001), range(1, 1_000_000)
SHAPES: dict[str, tuple[Any, ...]] = {
    "format": (1,),
    "task": (str,),
    "base": (None, PLACE),
    "layout": ("unaligned", "aligned", "filled"),
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
"""Fields of a certificate, and the allowed shapes of each (`fits`)."""


class CertificateError(ValueError):
    """Error of a text that is no certificate, or does not prove its statement; the message is one line."""


def need(condition: object, otherwise: str) -> None:
    """Raise CertificateError with the message `otherwise` unless the condition holds."""
    if not condition:
        raise CertificateError(f"certificate: {otherwise}")


def fits(value: Any, shape: Any) -> bool:
    """True if JSON has a shape: a type, a range, [each], (first, second), {str: each}, {field: its shape}."""
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
