"""Property table of encodings: laws, boundedness and far keys (theory/far/), computed from their formulas."""

import sympy as sp

from lengthgen.theory import far, laws
from lengthgen.theory.encodings.encoding import Encoding, Law, Parameter


def domains(encoding: Encoding) -> tuple[str, ...]:
    """Each parameter with its values: "m positive", "L positive whole", "p in (0, 2]", "w function"."""
    return tuple(f"{_name(parameter.symbol)} {_domain(parameter)}" for parameter in encoding.parameters)


def _name(symbol: sp.Basic | type[sp.Function]) -> str:
    return str(symbol.label if isinstance(symbol, sp.IndexedBase) else symbol)


def _domain(parameter: Parameter) -> str:
    symbol, domain = parameter.symbol, parameter.domain
    if isinstance(symbol, sp.Symbol) and isinstance(domain, sp.Interval):
        ends = f"{domain.start}, {domain.end}"
        return f"in {'(' if domain.left_open else '['}{ends}{')' if domain.right_open else ']'}"
    if not isinstance(symbol, sp.Symbol | sp.IndexedBase):
        return "function"
    value = symbol[sp.Symbol("l", integer=True)] if isinstance(symbol, sp.IndexedBase) else symbol
    signs = {"positive": value.is_positive, "negative": value.is_negative, "nonnegative": value.is_nonnegative}
    real = ("nonzero real" if value.is_nonzero else "real") if value.is_real else "any"
    sign = next((name for name, holds in signs.items() if holds), real)
    return f"{sign} whole" if value.is_integer else sign


def relative_law(encoding: Encoding) -> str:
    """Do scores depend on distances only? "yes", "no", "not decided", or "up to L", within a trained length L."""
    holds = laws.decide_law(encoding, Law.RELATIVE).holds
    if holds is None:
        return "not decided"
    return "yes" if holds else "up to L" if laws.relative_within(encoding) else "no"


def far_field(encoding: Encoding) -> str:
    """Effect of position on far keys, for each range of the parameters with its own answer."""
    return far.cases_text(far.far_cases(encoding))


def bounded(encoding: Encoding) -> bool | None:
    """True if the effect of positions on a score is bounded over all distances and parameters; None if not decided."""
    return far.bounded(encoding)


def causal_only(encoding: Encoding) -> bool | None:
    """True if a key after its query would have an unbounded score or no score; None if not decided."""
    return far.causal_only(encoding)
