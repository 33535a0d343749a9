"""The use that fits a subject."""

from typing import Any

from empirical.audit.content import ContentUse
from empirical.audit.embedding import EmbedUse
from empirical.audit.pairs import BiasUse, ScoresUse
from empirical.audit.rotation import RotateUse
from empirical.audit.subject import Kind, Subject
from empirical.audit.use import Setting, Use

USES = {
    Kind.ROTATE: RotateUse,
    Kind.BIAS: BiasUse,
    Kind.SCORES: ScoresUse,
    Kind.EMBED: EmbedUse,
    Kind.CONTENT: ContentUse,
}


def use(subject: Subject, setting: Setting, device: str = "cpu", **changed: Any) -> Use:
    """A fresh instance of the subject, with some parameters changed, in a setting."""
    return USES[subject.kind](subject, setting, device, **changed)
