"""Common style of all figures: the look (colour, marker, line) of every encoding and of every argument slot.

Colour is never the only difference: marker and line style differ too, and the colours differ in lightness, so that a
figure printed in grey stays readable. Figures are made without pyplot, so there is no window, no global state and
nothing to close.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, Literal
from zlib import crc32

import matplotlib
import numpy as np
from matplotlib.colors import LinearSegmentedColormap, ListedColormap, to_hex, to_rgb

from lengthgen.circuits.encoding_spec import ENCODINGS, EncodingSpec, option_text, parse_encoding
from lengthgen.infrastructure.errors import LengthgenError, one_line, writable
from lengthgen.theory.encodings.encoding import Encoding

PAGE_WIDTH = 7.0
"""Width of a page in inches. Figures are made at their printed width, so that font sizes are exact in print."""

WIDTHS = {
    "page": PAGE_WIDTH,
    "column": 3.25,
    "neurips": 5.5,
    "icml": 6.75,
    "icml-column": 3.25,
    "acl": 6.3,
    "acl-column": 3.03,
}
"""Widths in inches of a page and of a column, and those of the style files of conferences."""

WIDEST_COLUMN = 3.5
"""Largest width in inches of a column of a page with two columns; a wider figure stands across both."""

TALLEST = 9.0
"""Largest height of a figure in inches: that of a page, with a caption below."""

SMALLEST_TEXT = 6.0
"""Smallest font size, in points."""

TRAINED = "0.92"
"""Grey behind what training showed."""

DIVERGING = LinearSegmentedColormap.from_list("diverging", ["#4F8FC4", "#FFFFFF", "#C87420"])
"""Colours of numbers around 0, which is white. Both ends are equally dark, so that grey shows the size of a number, and
light enough for black text."""

_HUES = ("#004488", "#997700", "#994455", "#117733", "#884499")
_MOST_HUES = 12
"""Largest number of shades that differ in hue; with more, only the order of lightness shows."""

Dashes = Literal["-"] | tuple[float, tuple[float, ...]]
"""Line style of matplotlib: solid, or (offset, lengths of dashes and gaps)."""

_LONGEST = 100
"""Largest number of characters shown of a name that the user gave."""
_SETTINGS = {
    # The STIX fonts come with matplotlib, and their digits are narrow enough for the cells of a label matrix.
    "font.family": "STIXGeneral",
    "mathtext.fontset": "stix",
    "text.usetex": False,
    "font.size": 8.0,
    "axes.titlesize": 8.0,
    "axes.labelsize": 8.0,
    "xtick.labelsize": 7.0,
    "ytick.labelsize": 7.0,
    "legend.fontsize": 8.0,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.unicode_minus": False,
    "pdf.fonttype": 42,
    "pgf.rcfonts": False,  # PGF has the fonts of the document
    "svg.hashsalt": "lengthgen",  # without it, identifiers are random
    "savefig.bbox": None,
    "axes.titley": 1.0,  # a fixed place saves the search for labels above the axes, which no figure has
}


Fill = Literal["full", "none", "left", "right", "top", "bottom"]


class StyleError(LengthgenError):
    """Error for encodings that one figure cannot tell apart."""


@dataclass(frozen=True, kw_only=True)
class Look:
    """Look of one encoding, the same in all figures."""

    label: str
    colour: str
    marker: str
    fill: Fill
    line: Dashes


_SOLID: Dashes = "-"
_LONG: Dashes = (0, (5, 1.5))
_SHORT: Dashes = (0, (2.2, 1.2))
_DOTTED: Dashes = (0, (0.9, 1.1))
_DASH_DOT: Dashes = (0, (3, 1.2, 0.8, 1.2))
_DASH_DOT_DOT: Dashes = (0, (5, 1.2, 0.9, 1.2, 0.9, 1.2))
_LONG_SHORT: Dashes = (0, (6, 1.2, 2.2, 1.2))
_SPARSE: Dashes = (0, (8, 2.8))

# Each family has a hue. No two marks are equal, nor two lines of one hue; hues that share a line differ in grey.
_IDEAL, _RELATIVE, _ABSOLUTE, _ROTARY, _LINEAR = "#004488", "#BB5566", "#C8961E", "#5A7522", "#791FCB"
_NONE, _OWN = "#000000", "#4A9EB8"

_ROWS: Sequence[tuple[str, str, str, str, Fill, Dashes]] = (
    ("ipe", "IPE", _IDEAL, "o", "full", _SOLID),
    ("ipe-sh", "IPE-SH", _IDEAL, "o", "none", _LONG),
    ("lbpe", "LBPE", _IDEAL, "<", "full", _SHORT),
    ("lbpe-sh", "LBPE-SH", _IDEAL, "<", "none", _DASH_DOT_DOT),
    ("rpe", "RPE", _RELATIVE, "s", "none", _LONG),
    ("clipped", "clipped RPE", _RELATIVE, "s", "full", _SOLID),
    ("t5", "T5", _RELATIVE, "P", "full", _DASH_DOT),
    ("rpe-square", "RPE-Square", _RELATIVE, "X", "full", _SHORT),
    ("random-rpe", "random RPE", _RELATIVE, "X", "none", _DOTTED),
    ("ape", "APE", _ABSOLUTE, "^", "full", _DASH_DOT),
    ("sinusoidal", "sinusoidal", _ABSOLUTE, "^", "none", _SOLID),
    ("offset-ape", "offset APE", _ABSOLUTE, "P", "none", _SPARSE),
    ("random-ape", "random APE", _ABSOLUTE, "d", "none", _DOTTED),
    ("rope", "RoPE", _ROTARY, "D", "full", _DASH_DOT_DOT),
    ("random-rope", "random RoPE", _ROTARY, ">", "none", _DOTTED),
    ("alibi", "ALiBi", _LINEAR, "v", "full", _SHORT),
    ("fire", "FIRE", _LINEAR, "v", "none", _SOLID),
    ("random-alibi", "random ALiBi", _LINEAR, "*", "none", _DOTTED),
    ("nope", "NoPE", _NONE, "D", "none", _DOTTED),
)
_LOOKS = {
    name: Look(label=label, colour=colour, marker=marker, fill=fill, line=line)
    for name, label, colour, marker, fill, line in _ROWS
}

_RESERVE = (("*", _LONG_SHORT), (">", _LONG), ("d", _DASH_DOT_DOT), ("p", _SHORT))
"""Shape and line of encodings that the user defines."""

_SHAPES = ("p", "P", "X", "*", "<", ">", "d", "^", "v")
_LINES = (_SOLID, _LONG, _SHORT, _DOTTED, _DASH_DOT, _DASH_DOT_DOT, _LONG_SHORT)
"""Shapes and lines of registered encodings without a look in `_LOOKS`, used in turn within a family."""

_VARIANTS: tuple[tuple[Fill, float], ...] = (("left", -0.4), ("right", 0.3), ("top", -0.7), ("bottom", 0.5))
"""Fill and shade of further encodings with an equal look; a negative shade adds black, a positive one adds white."""


@dataclass(frozen=True, kw_only=True)
class SlotLook:
    """Look of one argument slot: the mark of its argument and the line of its edges."""

    colour: str
    marker: str
    line: Dashes


_SLOTS = (
    SlotLook(colour="#C04000", marker="o", line="-"),
    SlotLook(colour="#000000", marker="s", line=(0, (3, 1.5))),
    SlotLook(colour="#00696B", marker="D", line=(0, (1, 1.2))),
    SlotLook(colour="#7A3E9D", marker="p", line=(0, (4, 1.2, 1, 1.2))),
    SlotLook(colour="#806000", marker="v", line=(0, (6, 1.2, 1, 1.2, 1, 1.2))),
)


def look(encoding: str) -> Look:
    """Return the look of an encoding; its parameters change only the label.

    An encoding of the user has one of a few reserved looks, always the same for the same file name and object name.

    Raises:
        EncodingError: the text names no encoding.
    """
    spec = parse_encoding(encoding)
    if spec.is_own:
        label = spec.name.replace("\\", "/").rpartition("/")[2]
        marker, line = _RESERVE[crc32(writable(label).encode()) % len(_RESERVE)]
        return Look(label=_drawable(label), colour=_OWN, marker=marker, fill="full", line=line)
    base = _LOOKS.get(spec.name) or _family_look(spec)
    _, bracket, options = str(spec).partition("[")
    return replace(
        base, label=f"{base.label} ({options.removesuffix(']').replace(',', ', ')})" if bracket else base.label
    )


def _family_look(spec: EncodingSpec) -> Look:
    """Return the look of an encoding without one in `_LOOKS`: hue of its family, next free shape and line."""
    hue = _hue(spec.record)
    number = [name for name, record in ENCODINGS.items() if name not in _LOOKS and _hue(record) == hue].index(spec.name)
    taken = {(other.marker, other.fill) for other in _LOOKS.values() if other.colour == hue}
    fills: tuple[Fill, ...] = ("full", "none", "left", "right")
    marks = [(shape, fill) for fill in fills for shape in _SHAPES if (shape, fill) not in taken]
    marker, fill = marks[number]
    return Look(label=spec.record.title, colour=hue, marker=marker, fill=fill, line=_LINES[number % len(_LINES)])


def _hue(record: Encoding) -> str:
    """Hue of the family of an encoding, by what it acts on: embedding, bias or rotation, the first that it has."""
    hues = {"embed": _ABSOLUTE, "bias": _LINEAR, "rotate": _ROTARY}
    return next((hue for hook, hue in hues.items() if hook in record.hooks), _RELATIVE)


def looks(encodings: Iterable[str], *, caption: bool = True) -> dict[str, Look]:
    """Return the looks of all encodings of one figure, in their order; equal looks are varied in fill and shade.

    Where a caption says the start of tables (`glossary`), labels have it only if encodings differ in nothing else.

    Raises:
        EncodingError: as `look`.
        StyleError: more than five encodings have an equal look.
    """
    look_of: dict[str, Look] = {}
    times_used: Counter[Look] = Counter()
    bases = {encoding: look(encoding) for encoding in encodings}
    plain = Counter(_without_start(encoding) for encoding in bases)
    if caption:
        bases |= {
            encoding: replace(base, label=look(short).label)
            for encoding, base in bases.items()
            if plain[short := _without_start(encoding)] == 1
        }
    labels = Counter(base.label for base in bases.values())
    for encoding, base in bases.items():
        labelled = replace(base, label=base.label if labels[base.label] == 1 else _drawable(encoding))
        without_label = replace(base, label="")
        number = times_used[without_label]
        if number > len(_VARIANTS):
            raise StyleError(
                f"'{encoding}' is the sixth encoding with the same look: draw fewer similar encodings in one figure"
            )
        if number:
            fill, share = _VARIANTS[number - 1]
            labelled = replace(labelled, fill=fill, colour=_shaded(base.colour, share))
        times_used[without_label] += 1
        look_of[encoding] = labelled
    return look_of


def _without_start(encoding: str) -> str:
    spec = parse_encoding(encoding)
    return str(replace(spec, options=tuple((name, value) for name, value in spec.options if name != "start")))


def line_style(its: Look) -> dict[str, Any]:
    """Keyword arguments of `Axes.plot` for a curve with its marks."""
    return {
        "color": its.colour,
        "linestyle": its.line,
        "linewidth": 1.0,
        "marker": its.marker,
        "markersize": 3.4,
        "markeredgewidth": 0.8,
        "fillstyle": "full" if its.fill == "none" else its.fill,
        "markerfacecolor": "white" if its.fill == "none" else its.colour,
        "markerfacecoloralt": "white",
    }


def mark_style(its: Look) -> dict[str, Any]:
    """Keyword arguments of `Axes.plot` for a mark without a line."""
    return line_style(its) | {"linestyle": "none", "markersize": 3.4, "markeredgewidth": 0.7}


def _drawable(name: str) -> str:
    """Return a name from the user as a figure can show it: on one line, and without mathematics."""
    return one_line(name, longest=_LONGEST).replace("$", "_")


def _shaded(colour: str, share: float) -> str:
    ground = 1.0 if share > 0 else 0.0
    red, green, blue = (ground * abs(share) + part * (1 - abs(share)) for part in to_rgb(colour))
    return to_hex((red, green, blue))


def glossary(encodings: Iterable[str], *, trained: bool = False) -> str:
    """Return a sentence of a caption: full names of the labels of encodings, with parameters. Raises as `looks`.

    For trained models the sentence of `starts_of_tables` follows.
    """
    parts = []
    for encoding, own_look in looks(encodings).items():
        spec = parse_encoding(encoding)
        name = own_look.label.partition(" (")[0]
        title = "our own" if spec.is_own else spec.record.summary.removesuffix(f" ({name})")
        options = {key: option_text(value) for key, value in spec.options if key != "start"}
        parts.append(f"{own_look.label}: {title}" + "".join(f", {key} {text}" for key, text in options.items()))
    return f"{'; '.join(parts)}.{starts_of_tables(encodings) if trained else ''}"


def starts_of_tables(encodings: Iterable[str]) -> str:
    """Return a sentence, after a space, with the start of the encodings' tables; nothing if they have none."""
    starts = defaultdict(list)
    for encoding, own_look in looks(encodings).items():
        for name, value in parse_encoding(encoding).options:
            if name == "start":
                starts[option_text(value)].append(own_look.label)
    texts = [*starts] if len(starts) == 1 else [f"{start} ({', '.join(labels)})" for start, labels in starts.items()]
    return f" Standard deviation of tables before training: {'; '.join(texts)}." if starts else ""


MOST_SLOTS = len(_SLOTS)
"""Number of argument slots that can be told apart."""


def slot_look(slot: int) -> SlotLook:
    """Return the look of an argument slot, counted from 1.

    Raises:
        ValueError: the slot is larger than the number of looks.
    """
    if not 1 <= slot <= len(_SLOTS):
        raise ValueError(f"slot {slot} has no look: add one to paper_figs/style.py")
    return _SLOTS[slot - 1]


def shades(count: int) -> ListedColormap:
    """Return colours of 0..count: white for 0, then darker and darker colours, so that they differ in grey too.

    Up to 12 colours change in hue, because they can be told apart; more are shades of one hue. Black text stays legible
    on all of them.
    """
    hues = np.array([to_rgb(hue) for hue in (_HUES if count <= _MOST_HUES else _HUES[:1])])
    full = hues[np.arange(count) % len(hues)]
    darkness = 0.1 + 0.4 * (np.arange(count) + 0.5) / max(count, 1)
    tinted = 1 - (1 - full) * (darkness / (1 - full @ (0.299, 0.587, 0.114)))[:, None]
    return ListedColormap([(1.0, 1.0, 1.0), *map(tuple, tinted.tolist())])


def context() -> AbstractContextManager[None]:
    """Context manager that sets the style while a figure is drawn or saved; settings of the user are ignored."""
    defaults: Any = {key: value for key, value in matplotlib.rcParamsDefault.items() if not key.startswith("backend")}
    return matplotlib.rc_context(defaults | _SETTINGS)
