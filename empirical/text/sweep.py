"""Training of the text protocol: the models of one encoding, in one process."""

from dataclasses import asdict, replace
from time import monotonic
from typing import Any

from lengthgen.circuits.encoding_spec import NoRelation, parse_encoding
from lengthgen.empirical.model.backend import Backend
from lengthgen.empirical.runs.environment import environment
from lengthgen.empirical.runs.profile import ProfileError
from lengthgen.empirical.text.corpus import corpus
from lengthgen.empirical.text.profile import TextProfile
from lengthgen.empirical.text.run import TextRun
from lengthgen.empirical.training.sealed_sweep import steps_shown
from lengthgen.infrastructure.memory import keep_freed_memory
from lengthgen.theory.encodings.catalogue import ENCODINGS

TRAINED_ROTATION = "rope"
STRETCHED = ("interpolation[scale={scale:g}]", "ntk[scale={scale:g}]", "dynamic-ntk", "yarn[scale={scale:g}]")
"""Encodings under which models trained with RoPE are tested as well, without training, for a length `scale` times the
trained one.
"""


def usual_encodings(profile: TextProfile) -> list[str]:
    """Return the registered encodings that need no task, with enough positions to draw from where they are drawn.

    Left out are those whose relation is that of a task's circuit, and those that see later tokens.
    """
    from lengthgen.empirical.encodings.modules import label_relation

    names = []
    for name, record in ENCODINGS.items():
        spec = parse_encoding(name)
        try:
            label_relation(spec, None)
        except NoRelation:
            continue
        too_few = record.drawn_from and int(dict(spec.options)["longest"]) < profile.lengths[-1]
        if record.causal:
            names.append(f"{name}[longest={profile.lengths[-1]}]" if too_few else name)
    return names


def trained(run: TextRun, backend: Backend) -> dict[str, Any]:
    """Train and measure the models of a run; return the result as JSON.

    On one machine and backend the numbers are the same each time: on a CPU one thread computes.

    Raises:
        TextError: a loss is not finite.
        EncodingError, RelationError, ProfileError: there is no such model, or the user's file has changed since.
    """
    import torch

    from lengthgen.empirical.text.language_model import LanguageModels

    torch.set_num_threads(1)
    keep_freed_memory()
    started = monotonic()
    if replace(run).config != run.config:
        raise ProfileError(f"{run.encoding}, or a module beside it, was changed meanwhile: run the same command again")
    spec, profile = parse_encoding(run.encoding), run.profile
    models = LanguageModels(spec, profile, corpus(), backend)
    losses = [values.tolist() for values in models.train()]
    tests = {run.encoding: [asdict(models.measure(length)) for length in profile.lengths]}
    if run.encoding == TRAINED_ROTATION:
        for text in STRETCHED:
            tests[text.partition("[")[0]] = [
                asdict(models.measure(length, under=other) if length > profile.length else models.measure(length))
                for length in profile.lengths
                for other in [parse_encoding(text.format(scale=length / profile.length))]
            ]
    return {
        **run.config,
        "losses": [losses[step] for step in steps_shown(len(losses))],
        "steps_shown": steps_shown(len(losses)),
        "tests": tests,
        "seconds": round(monotonic() - started, 1),
        "environment": environment(backend.device),
    }
