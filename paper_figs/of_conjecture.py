"""What was predicted of the runs of a protocol and what came of it: the figures that every protocol has."""

from collections.abc import Callable
from functools import partial

from paper_figs import breaking_scales, disagreements, prediction_matrix, success_shares
from paper_figs.entry import Entry
from paper_figs.saving import Drawing
from paper_figs.sources import Needs, Sources


def predicted(sources: Sources, *, protocol: str) -> Drawing:
    """The matrix of predictions and observations."""
    return prediction_matrix.drawing(sources.trial(protocol), width=sources.width, protocol=_name(sources, protocol))


def success(sources: Sources, *, protocol: str) -> Drawing:
    """Shares of runs that fit and that generalize."""
    return success_shares.drawing(sources.trial(protocol), width=sources.width, protocol=_name(sources, protocol))


def breaking(sources: Sources, *, protocol: str) -> Drawing:
    """Predicted and observed breaking scales."""
    known = sources.protocol(protocol)
    return breaking_scales.drawing(
        sources.trial(protocol), train=known.train, last=known.test[-1], width=sources.width, protocol=known.name
    )


def disagreeing(sources: Sources, *, protocol: str) -> Drawing:
    """The table of disagreements."""
    return disagreements.drawing(sources.trial(protocol), protocol=_name(sources, protocol))


_KINDS: dict[str, tuple[str, Callable[..., Drawing], float]] = {
    # what it is called: title, function, least width in inches
    "predicted": ("predicted against observed, by task and encoding", predicted, 5.5),
    "success": ("P(fit), P(generalizes | fit), P(generalizes) by counts of seeds", success, 5.5),
    "breaking": ("breaking scale, predicted against observed", breaking, 0.0),
    "disagreements": ("cells that do not do as predicted (table)", disagreeing, 0.0),
}


def entries(protocol: str, name: str) -> list[Entry]:
    """Those of one protocol, called `name` in files."""
    needs = Needs(protocols=(protocol,), trial=True)
    return [
        Entry(
            name=f"{kind}-{name}",
            title=f"{name}: {title}",
            make=partial(make, protocol=protocol),
            needs=needs,
            least_width=least,
        )
        for kind, (title, make, least) in _KINDS.items()
    ]


def _name(sources: Sources, protocol: str) -> str:
    return sources.protocol(protocol).name
