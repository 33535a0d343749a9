"""The look of encodings and of argument slots on a light and on a dark ground, from the style of the figures."""

from collections.abc import Iterable
from typing import Any

from matplotlib.colors import to_hex, to_rgb

from circuits.encodings import EncodingError
from paper_figs.report.plain import text
from paper_figs.style import MOST_SLOTS, Dashes, Look, StyleError, look, looks, slot_look

DARK_GROUND = "#14171c"
"""Background of the page; `page/style.css` has it too."""
LEAST_CONTRAST = 4.5
"""Least contrast of a colour with its ground, as WCAG 2 counts it."""


def of_encodings(encodings: Iterable[str]) -> dict[str, dict[str, Any]]:
    """By encoding: its label, colours, marker, fill and dashes; a text that names none is shown in grey as it is."""
    every = list(dict.fromkeys(encodings))
    known = [encoding for encoding in every if _is_one(encoding)]
    try:
        drawn = looks(known)
    except StyleError:  # too many are alike to be told apart; their labels still do it
        drawn = {encoding: look(encoding) for encoding in known}
    return {encoding: _plain(drawn[encoding]) if encoding in drawn else _unknown(encoding) for encoding in every}


def of_slots() -> list[dict[str, Any]]:
    """Colours and dashes of the slots 1, 2, ..."""
    found = [slot_look(slot) for slot in range(1, MOST_SLOTS + 1)]
    return [{"light": one.colour, "dark": on_dark(one.colour), "dashes": _dashes(one.line)} for one in found]


def contrast(one: str, other: str) -> float:
    """The contrast of two colours, 1 to 21."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def on_dark(colour: str) -> str:
    """The colour, with as much white as it takes to be seen on the dark ground."""
    for white in range(101):
        red, green, blue = ((part * (100 - white) + white) / 100 for part in to_rgb(colour))
        mixed = to_hex((red, green, blue))
        if contrast(mixed, DARK_GROUND) >= LEAST_CONTRAST:
            return mixed
    raise ValueError(f"white cannot be seen on {DARK_GROUND}")


def _is_one(encoding: str) -> bool:
    try:
        look(encoding)
    except EncodingError:
        return False
    return True


def _unknown(encoding: str) -> dict[str, Any]:
    grey = {"light": "#555555", "dark": "#a0a6b0"}
    return {"label": text(encoding), **grey, "marker": "o", "fill": "none", "dashes": [1, 2]}


def _plain(its: Look) -> dict[str, Any]:
    return {
        "label": text(its.label),
        "light": its.colour,
        "dark": on_dark(its.colour),
        "marker": its.marker,
        "fill": its.fill,
        "dashes": _dashes(its.line),
    }


def _dashes(line: Dashes) -> list[float]:
    return [] if isinstance(line, str) else [2 * length for length in line[1]]


def _luminance(colour: str) -> float:
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
