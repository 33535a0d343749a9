"""Can a model be built for an encoding and a length? Checked before anything is computed, and without torch."""

from pathlib import Path

from lengthgen.circuits.encoding_spec import EncodingError, EncodingSpec
from lengthgen.empirical.runs.profile import Model, ProfileError
from lengthgen.infrastructure.userfile import split_file
from lengthgen.theory.encodings.encoding import LENGTH, Encoding

MOST_TOKENS = 10_000
"""Largest number of tokens that a model reads: attention compares each token with all before it."""


def require_buildable(spec: EncodingSpec, model: Model, tokens: int) -> None:
    """Raise an error unless a model of this encoding and size can read so many tokens.

    Raises:
        EncodingError: the file of the user's own encoding does not exist.
        ProfileError: no such model can be built. The user's own object may still refuse when it is made.
    """
    own = split_file(spec.name)
    if own and not Path(own[0]).is_file():
        raise EncodingError(f"encoding file '{own[0]}' does not exist")
    record = None if spec.is_own else spec.record
    if record and (refusal := training_refusal(str(spec), causal=record.causal, has_structure=record.has_structure)):
        raise ProfileError(refusal)
    require_sizes(spec, model)
    if tokens > MOST_TOKENS:
        raise ProfileError(
            f"a sequence has {tokens:,} tokens, and a model reads at most {MOST_TOKENS:,}: lower the scales"
        )
    if record and record.drawn_from:
        require_positions(tokens, int(dict(spec.options)["longest"]))


def require_sizes(spec: EncodingSpec, model: Model) -> None:
    """Raise ProfileError unless the widths of a model suit the encoding; a user's own object may refuse later."""
    record = None if spec.is_own else spec.record
    head_width = model.width // model.heads
    if record and record.planes == "head" and head_width % 2:
        raise ProfileError(
            f"'{spec}' needs an even head width, but width {model.width} with {model.heads} heads gives {head_width}"
        )
    if record and head_width < 2 and _turns(record):
        raise ProfileError(
            f"'{spec}' rotates a plane of each head, but width {model.width} with {model.heads} heads has head width 1"
        )
    if record and record.planes == "width" and model.width % 2:
        raise ProfileError(f"'{spec}' needs an even width, not {model.width}")
    rank = dict(spec.options).get("rank")
    if isinstance(rank, int) and (rank > head_width or rank % 2):
        raise ProfileError(f"'{spec}' needs an even rank up to the width of a head, {head_width}")


def saturation(spec: EncodingSpec, tokens: int) -> str:
    """Warning if the counts of an encoding end before the tokens that a model reads; empty if they do not.

    It is no reason to refuse: gates that reset may need no count so large (claim prism-8).
    """
    positions = dict(spec.options).get("positions")
    if not isinstance(positions, int) or tokens < positions:
        return ""
    return (
        f"'{spec}' counts to {positions - 1:,}, and a sequence has {tokens:,} tokens: unless its gates reset, the last "
        f"tokens share one position; set positions={tokens + 1}"
    )


def training_refusal(name: str, *, causal: bool, has_structure: bool) -> str:
    """Reason why an encoding cannot be trained on the next token of a task; empty if it can."""
    reasons = [] if causal else ["it attends to later tokens, and so to those that it should predict"]
    reasons += ["it needs a graph of the tokens, and no task gives one"] if has_structure else []
    return f"'{name}' is not trained on the next token: {'; '.join(reasons)}" if reasons else ""


def _turns(record: Encoding) -> bool:
    """True if the encoding's actions mix the two coordinates of a plane, or treat them differently."""
    import sympy as sp  # slow to import, and only models of head width 1 need it

    if record.rotate is None:
        return False
    actions = record.rotate(sp.Symbol("p", integer=True, nonnegative=True), LENGTH)
    return any(action != action[0, 0] * sp.eye(2) for action in actions)


def require_positions(tokens: int, longest: int) -> None:
    """Raise ProfileError unless so many tokens can have different positions below `longest`."""
    if tokens > longest:
        raise ProfileError(
            f"a sequence has {tokens:,} tokens, whose positions are drawn from {longest:,}: set longest={tokens}"
        )
