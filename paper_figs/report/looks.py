"""Looks of encodings and argument slots on the report page, on light and dark backgrounds, from the figures' style."""

from collections.abc import Iterable
from typing import Any

from matplotlib.colors import to_hex, to_rgb

from lengthgen.circuits.encoding_spec import EncodingError
from lengthgen.paper_figs.report.plain import text
from lengthgen.paper_figs.style import MOST_SLOTS, Dashes, Look, StyleError, look, looks, slot_look

DARK_GROUND = "#14171c"
"""Dark background of the page; `page/style.css` has the same value."""
LEAST_CONTRAST = 4.5
"""Least contrast of a colour with its background, as defined by WCAG 2."""


def encoding_looks(encodings: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return label, colours, marker, fill and dashes of each encoding; a text that names no encoding is grey."""
    texts = list(dict.fromkeys(encodings))
    valid = [encoding for encoding in texts if _is_encoding(encoding)]
    try:
        look_of = looks(valid, caption=False)
    except StyleError:  # too many look alike; their labels still tell them apart
        look_of = {encoding: look(encoding) for encoding in valid}
    return {
        encoding: _look_data(look_of[encoding]) if encoding in look_of else _unknown_look(encoding)
        for encoding in texts
    }


def slot_looks() -> list[dict[str, Any]]:
    """Return colours and dashes of the slots 1, 2, ..."""
    every_look = [slot_look(slot) for slot in range(1, MOST_SLOTS + 1)]
    return [{"light": slot.colour, "dark": on_dark(slot.colour), "dashes": _dashes(slot.line)} for slot in every_look]


def contrast(first: str, second: str) -> float:
    """Contrast of two colours, from 1 to 21 (WCAG 2)."""
    low, high = sorted((_luminance(first), _luminance(second)))
    return (high + 0.05) / (low + 0.05)


def on_dark(colour: str) -> str:
    """Mix a colour with white until its contrast with the dark background is at least LEAST_CONTRAST."""
    for white in range(101):
        red, green, blue = ((part * (100 - white) + white) / 100 for part in to_rgb(colour))
        mixed = to_hex((red, green, blue))
        if contrast(mixed, DARK_GROUND) >= LEAST_CONTRAST:
            return mixed
    raise ValueError(f"white has too little contrast with {DARK_GROUND}")


def _is_encoding(encoding: str) -> bool:
    try:
        look(encoding)
    except EncodingError:
        return False
    return True


def _unknown_look(encoding: str) -> dict[str, Any]:
    grey = {"light": "#555555", "dark": "#a0a6b0"}
    return {"label": text(encoding), **grey, "marker": "o", "fill": "none", "dashes": [1, 2]}


def _look_data(encoding_look: Look) -> dict[str, Any]:
    return {
        "label": text(encoding_look.label),
        "light": encoding_look.colour,
        "dark": on_dark(encoding_look.colour),
        "marker": encoding_look.marker,
        "fill": encoding_look.fill,
        "dashes": _dashes(encoding_look.line),
    }


def _dashes(line: Dashes) -> list[float]:
    return [] if isinstance(line, str) else [2 * length for length in line[1]]


def _luminance(colour: str) -> float:
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
