"""Choice of the adapter that fits a subject's kind."""

from collections.abc import Mapping
from typing import Any

from lengthgen.empirical.audit.adapter import Adapter, Setting
from lengthgen.empirical.audit.content import ContentAdapter
from lengthgen.empirical.audit.embedding import EmbedAdapter
from lengthgen.empirical.audit.pairs import BiasAdapter, ScoresAdapter
from lengthgen.empirical.audit.rotation import RotateAdapter
from lengthgen.empirical.audit.subject import Kind, Subject

ADAPTERS: Mapping[Kind, type[Adapter]] = {
    Kind.ROTATE: RotateAdapter,
    Kind.BIAS: BiasAdapter,
    Kind.SCORES: ScoresAdapter,
    Kind.EMBED: EmbedAdapter,
    Kind.CONTENT: ContentAdapter,
}


def adapter_for(subject: Subject, setting: Setting, device: str = "cpu", **changed: Any) -> Adapter:
    """Return an adapter around a fresh instance of the subject, in a setting, with some parameters changed."""
    return ADAPTERS[subject.kind](subject, setting, device, **changed)
