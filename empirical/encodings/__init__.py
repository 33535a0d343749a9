"""Position encodings as modules with hooks, one file a mechanism."""

from empirical.encodings.base import PositionEncoding
from empirical.encodings.learned import LearnedAbsolute
from empirical.encodings.relational import Relational

__all__ = ["LearnedAbsolute", "PositionEncoding", "Relational"]
