"""Position encodings as torch modules, one file per mechanism; `base` defines the hooks."""

from empirical.encodings.base import PositionEncoding
from empirical.encodings.learned import LearnedAbsolute
from empirical.encodings.relational import Relational

__all__ = ["LearnedAbsolute", "PositionEncoding", "Relational"]
