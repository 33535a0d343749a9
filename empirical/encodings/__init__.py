"""Position encodings as torch modules, a module per family as in theory/encodings; `base` defines the hooks."""

from lengthgen.empirical.encodings.absolute import LearnedAbsolute
from lengthgen.empirical.encodings.base import PositionEncoding
from lengthgen.empirical.encodings.relations import Relational

__all__ = ["LearnedAbsolute", "PositionEncoding", "Relational"]
