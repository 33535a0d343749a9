"""Position encodings as torch modules, one file per mechanism; `base` defines the hooks."""

from lengthgen.empirical.encodings.base import PositionEncoding
from lengthgen.empirical.encodings.learned import LearnedAbsolute
from lengthgen.empirical.encodings.relational import Relational

__all__ = ["LearnedAbsolute", "PositionEncoding", "Relational"]
