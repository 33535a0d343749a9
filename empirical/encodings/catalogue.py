"""Every torch encoding by the name of its symbolic twin (theory/encodings/catalogue.py)."""

import inspect
from collections.abc import Callable
from difflib import get_close_matches
from functools import partial
from typing import Any

from empirical.encodings.alibi import ALiBi
from empirical.encodings.base import PositionEncoding
from empirical.encodings.fire import FIRE
from empirical.encodings.fox import BiasOnlyFoX, FixedFoX, FoX
from empirical.encodings.grape import Grape
from empirical.encodings.grape_additive import GrapeAdditive
from empirical.encodings.grape_commuting import GrapeCommuting
from empirical.encodings.grape_contextual import GrapeContextual
from empirical.encodings.grape_gated import GrapeGated
from empirical.encodings.grape_path import GrapePath
from empirical.encodings.hope import HoPE
from empirical.encodings.interpolation import PositionInterpolation
from empirical.encodings.kerple import KerpleLog, KerplePower
from empirical.encodings.learned import LearnedAbsolute
from empirical.encodings.ntk import DynamicNTK, NTKAware
from empirical.encodings.rotary import Rotary
from empirical.encodings.sinusoidal import Sinusoidal
from empirical.encodings.t5 import T5
from empirical.encodings.xpos import XPos
from empirical.encodings.yarn import YaRN
from theory.system.errors import LengthgenError

ENCODINGS: dict[str, Callable[..., PositionEncoding]] = {
    "nope": PositionEncoding,
    "sinusoidal": Sinusoidal,
    "learned": LearnedAbsolute,
    "t5": T5,
    "t5-bidirectional": partial(T5, bidirectional=True),
    "alibi": ALiBi,
    "kerple-power": KerplePower,
    "kerple-log": KerpleLog,
    "fire": FIRE,
    "rotary": Rotary,
    "xpos": XPos,
    "interpolation": PositionInterpolation,
    "ntk": NTKAware,
    "dynamic-ntk": DynamicNTK,
    "yarn": YaRN,
    "grape": Grape,
    "grape-commuting": GrapeCommuting,
    "grape-contextual": GrapeContextual,
    "grape-additive": GrapeAdditive,
    "grape-gated": GrapeGated,
    "grape-path": GrapePath,
    "fox": FoX,
    "fox-bias-only": BiasOnlyFoX,
    "fox-fixed": FixedFoX,
    "hope": HoPE,
}
"""Randomized positions are none of these: they are a choice of positions for any of them (randomized.py)."""


class EncodingError(LengthgenError):
    """No encoding has this name, or it cannot be made as asked."""


def named(
    name: str, *, heads: int, head_dim: int, layers: int = 1, length: int = 2048, **parameters: Any
) -> PositionEncoding:
    """The encoding of this name for a model of these sizes.

    Args:
        name: as `lengthgen encodings` lists them.
        heads: of the model.
        head_dim: of each head; the model's width is heads * head_dim.
        layers: of the model.
        length: positions of a table, and the trained length of what depends on one.
        parameters: of the encoding itself, as its class names them.

    Raises:
        EncodingError: an unknown name or parameter, or a value that the encoding refuses.
    """
    if name not in ENCODINGS:
        close = get_close_matches(name, ENCODINGS)
        hint = f"did you mean {' or '.join(close)}?" if close else f"known are {', '.join(ENCODINGS)}"
        raise EncodingError(f"no encoding is named {name!r}; {hint}")
    make = ENCODINGS[name]
    accepted = inspect.signature(make).parameters
    unknown = sorted(set(parameters) - set(accepted))
    if unknown:
        raise EncodingError(f"{name} has no parameter {unknown[0]!r}; it has {', '.join(accepted) or 'none'}")
    sizes = {
        "heads": heads,
        "head_dim": head_dim,
        "width": heads * head_dim,
        "layers": layers,
        "length": length,
        "trained_length": length,
    }
    try:
        return make(**{size: value for size, value in sizes.items() if size in accepted} | parameters)
    except ValueError as error:
        raise EncodingError(f"{name}: {error}") from error
