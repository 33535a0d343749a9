"""One style for all figures: the look of every encoding and of every argument slot, and how figures are saved.

Colour never stands alone: what differs in colour differs in marker and line style too, and the colours differ in
lightness, so that a figure printed in grey says the same. Figures are made without pyplot: no window, no global
state, nothing to close.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import matplotlib
import numpy as np
from matplotlib.colors import LinearSegmentedColormap, ListedColormap, to_rgb
from matplotlib.figure import Figure

from empirical.files import write_bytes

PAGE_WIDTH = 7.0
"""Inches: the width at which figures are printed, so that font sizes are what a reader sees."""

SMALLEST_TEXT = 6.0
"""Points."""

DIVERGING = LinearSegmentedColormap.from_list("diverging", ["#4F8FC4", "#FFFFFF", "#C87420"])
"""Numbers around 0, which is white. Both ends are equally dark, so that grey tells the size, and bear black text."""

_HUES = ("#004488", "#997700", "#994455", "#117733", "#884499")
_MOST_HUES = 12
"""Shades that are told apart; of more than that only the order shows."""

Dashes = Literal["-"] | tuple[float, tuple[float, ...]]

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
    "savefig.bbox": None,
}


@dataclass(frozen=True, kw_only=True)
class Look:
    """How one encoding is drawn, everywhere."""

    label: str
    colour: str
    marker: str
    filled: bool
    line: Dashes


_LOOKS = {
    "ipe": Look(label="IPE", colour="#004488", marker="o", filled=True, line="-"),
    "rpe": Look(label="RPE", colour="#BB5566", marker="s", filled=False, line=(0, (5, 1.5))),
    "ape": Look(label="APE", colour="#C8961E", marker="^", filled=True, line=(0, (3, 1.2, 0.8, 1.2))),
    "nope": Look(label="NoPE", colour="#000000", marker="D", filled=False, line=(0, (0.9, 1.1))),
}


@dataclass(frozen=True, kw_only=True)
class SlotLook:
    """How one argument slot is drawn: the mark of its argument and the line of its edges."""

    colour: str
    marker: str
    line: Dashes


_SLOTS = (
    SlotLook(colour="#C04000", marker="o", line="-"),
    SlotLook(colour="#000000", marker="s", line=(0, (3, 1.5))),
    SlotLook(colour="#00696B", marker="D", line=(0, (1, 1.2))),
    SlotLook(colour="#7A3E9D", marker="^", line=(0, (4, 1.2, 1, 1.2))),
    SlotLook(colour="#806000", marker="v", line=(0, (6, 1.2, 1, 1.2, 1, 1.2))),
)


def look(encoding: str) -> Look:
    """How an encoding is drawn.

    Raises:
        ValueError: the encoding has no look yet.
    """
    if encoding not in _LOOKS:
        raise ValueError(f"encoding '{encoding}' has no look: add it to paper_figs/style.py ({', '.join(_LOOKS)})")
    return _LOOKS[encoding]


def slot_look(slot: int) -> SlotLook:
    """How an argument slot, counted from 1, is drawn.

    Raises:
        ValueError: there are fewer looks than slots.
    """
    if not 1 <= slot <= len(_SLOTS):
        raise ValueError(f"slot {slot} has no look: add one to paper_figs/style.py")
    return _SLOTS[slot - 1]


def shades(count: int) -> ListedColormap:
    """Colours of 0..count: white, then one for each of 1..count, ever darker, so that they differ in grey too.

    They take turns in hue as long as they can be told apart; more than 12 are a ramp of one hue. Black text stays
    legible on all of them.
    """
    hues = np.array([to_rgb(hue) for hue in (_HUES if count <= _MOST_HUES else _HUES[:1])])
    full = hues[np.arange(count) % len(hues)]
    darkness = 0.1 + 0.4 * (np.arange(count) + 0.5) / max(count, 1)
    tinted = 1 - (1 - full) * (darkness / (1 - full @ (0.299, 0.587, 0.114)))[:, None]
    return ListedColormap([(1.0, 1.0, 1.0), *map(tuple, tinted.tolist())])


def context() -> AbstractContextManager[None]:
    """The style, for as long as a figure is drawn or saved; the user's own settings play no part."""
    defaults: Any = {key: value for key, value in matplotlib.rcParamsDefault.items() if not key.startswith("backend")}
    return matplotlib.rc_context(defaults | _SETTINGS)


def save(
    figure: Figure, folder: Path, name: str, *, rows: Sequence[Mapping[str, object]], caption: str
) -> tuple[Path, ...]:
    """Writes NAME.pdf, NAME.png (300 dpi), NAME.csv and NAME.txt; returns the paths.

    Each file is whole or absent, and the same figure gives the same bytes: no time, no random identifier.

    Args:
        figure: at its printed size.
        folder: made if it does not exist.
        name: file name without ending.
        rows: the numbers that the figure shows; all with the same columns, at least one.
        caption: one paragraph.
    """
    paths = []
    metadata: dict[str, dict[str, None]] = {"pdf": {"CreationDate": None}, "png": {"Software": None}}
    with context():
        for ending, fixed in metadata.items():
            drawn = io.BytesIO()
            figure.savefig(drawn, format=ending, dpi=300, metadata=fixed)
            paths.append(folder / f"{name}.{ending}")
            write_bytes(paths[-1], drawn.getvalue())
    for ending, text in {"csv": _csv(rows), "txt": f"{caption}\n".encode()}.items():
        paths.append(folder / f"{name}.{ending}")
        write_bytes(paths[-1], text)
    return tuple(paths)


def _csv(rows: Sequence[Mapping[str, object]]) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()
