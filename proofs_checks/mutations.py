"""Formulas of an encoding with one thing changed: what the checks of the property matrix must reject.

Each function takes an encoding and returns it with another formula; names, declared laws and parameters stay.
"""

from collections.abc import Callable
from dataclasses import replace

import sympy as sp

from theory.encodings import rotary
from theory.encodings.encoding import LENGTH, Actions, Encoding, Parameter

Formulas = Callable[[Encoding], Encoding]
"""The encoding of the catalogue -> that with the formulas in question."""

_HALVES = sp.diag(1, -1)


def unchanged(encoding: Encoding) -> Encoding:
    """The encoding with its own formulas."""
    return encoding


def with_bias(added: Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr]) -> Formulas:
    """Something added to the score, a function of query position, key position and length."""

    def formulas(encoding: Encoding) -> Encoding:
        law = encoding.bias or (lambda query, key, length: sp.S.Zero)
        return replace(encoding, bias=lambda *at: law(*at) + added(*at))

    return formulas


def with_bias_replaced(by: Callable[[sp.Expr, sp.Expr], sp.Expr]) -> Formulas:
    """Another bias, a function of query and key position, in place of the encoding's own."""
    return lambda encoding: replace(encoding, bias=lambda query, key, length: by(query, key))


def with_queries_doubled(encoding: Encoding) -> Encoding:
    """Every query twice as long: norms change, and nothing that depends on positions does."""
    act = encoding.rotate or _no_action
    return replace(encoding, rotate=lambda *at: (2 * act(*at)[0], act(*at)[1]))


def at_origin(encoding: Encoding) -> Encoding:
    """All tokens placed at position 0."""
    embed, rotate, bias = encoding.embed, encoding.rotate, encoding.bias
    zero = sp.Integer(0)
    return replace(
        encoding,
        embed=(lambda position: embed(zero)) if embed else None,
        rotate=(lambda position, length: rotate(zero, length)) if rotate else None,
        bias=(lambda query, key, length: bias(zero, zero, length)) if bias else None,
    )


def at_origin_by_query(encoding: Encoding) -> Encoding:
    """All tokens placed at position 0, and the query's position added to the scores of its row."""
    return with_bias(lambda query, key, length: query)(at_origin(encoding))


def at_fixed_length(encoding: Encoding) -> Encoding:
    """The formulas of sequences of n tokens, for sequences of any length."""
    positions, rotate, bias = encoding.positions, encoding.rotate, encoding.bias
    return replace(
        encoding,
        positions=(lambda index, length: positions(index, LENGTH)) if positions else None,
        rotate=(lambda position, length: rotate(position, LENGTH)) if rotate else None,
        bias=(lambda query, key, length: bias(query, key, LENGTH)) if bias else None,
    )


def with_plain_rotation(encoding: Encoding) -> Encoding:
    """The rotation of RoPE in place of the encoding's own actions."""
    return replace(encoding, rotate=rotary.ENCODING.rotate)


def with_rotation_for_codes(encoding: Encoding) -> Encoding:
    """The rotation of RoPE in place of position codes."""
    return with_plain_rotation(replace(encoding, embed=None))


def with_drawn_positions_dropped(encoding: Encoding) -> Encoding:
    """Tokens placed at their own indices."""
    return replace(encoding, positions=None)


def with_codes_on_scores(encoding: Encoding) -> Encoding:
    """Position codes that act as the bias e(j)^T diag(1, -1) e(i), and are not added to tokens."""
    embed = encoding.embed
    if embed is None:
        raise ValueError(f"{encoding.name} has no position codes")
    return replace(encoding, embed=None, bias=lambda query, key, length: (embed(query).T * _HALVES * embed(key))[0])


def with_logarithmic_bias(encoding: Encoding) -> Encoding:
    """-log(1 - b) in place of the bias b: ALiBi's -m D becomes -log(1 + m D)."""
    bias = encoding.bias
    if bias is None:
        raise ValueError(f"{encoding.name} has no bias")
    return replace(encoding, bias=lambda *at: -sp.log(1 - bias(*at)))


def with_damping(encoding: Encoding) -> Encoding:
    """Queries multiplied by e^-j and keys by e^i, so that scores fall with the distance like those of xPos."""
    act = encoding.rotate or _no_action

    def rotate(position: sp.Expr, length: sp.Expr) -> Actions:
        on_query, on_key = act(position, length)
        return sp.exp(-position) * on_query, sp.exp(position) * on_key

    return replace(encoding, rotate=rotate)


def with_keys_moved_like_queries(encoding: Encoding) -> Encoding:
    """The action on queries applied to keys as well."""
    act = encoding.rotate or _no_action
    return replace(encoding, rotate=lambda *at: (act(*at)[0], act(*at)[0]))


def on_both_sides(encoding: Encoding) -> Encoding:
    """The bias of a key after the query that the key as far before it has."""
    bias = encoding.bias
    if bias is None:
        raise ValueError(f"{encoding.name} has no bias")
    return replace(encoding, bias=lambda query, key, n: bias(sp.Max(query, key), sp.Min(query, key), n))


def with_another_hook(encoding: Encoding) -> Encoding:
    """An action of 1 in a hook that the encoding does without, or a bias of 0."""
    if encoding.rotate is None:
        return replace(encoding, rotate=_no_action)
    return with_bias(lambda query, key, length: sp.S.Zero)(encoding)


def with_one_parameter_more(encoding: Encoding) -> Encoding:
    """A further parameter, which is not trained."""
    return replace(encoding, parameters=(*encoding.parameters, Parameter(symbol=sp.Symbol("x"), meaning="none")))


def with_any_values(encoding: Encoding) -> Encoding:
    """Parameters that may have any real value and the infinite ones, whatever their own domains are."""
    any_value = sp.Interval(-sp.oo, sp.oo) | sp.FiniteSet(-sp.oo, sp.oo)
    return replace(encoding, parameters=tuple(replace(one, domain=any_value) for one in encoding.parameters))


def with_any_function(encoding: Encoding) -> Encoding:
    """Functions of any kind in place of networks."""
    return replace(encoding, parameters=tuple(replace(one, network=False) for one in encoding.parameters))


def with_one_trained_number_more(encoding: Encoding) -> Encoding:
    """A further trained number in the first parameter, or in a new one."""
    first, *others = encoding.parameters or (Parameter(symbol=sp.Symbol("x"), meaning="none"),)
    return replace(encoding, parameters=(replace(first, learned=first.learned + 1), *others))


def _no_action(position: sp.Expr, length: sp.Expr) -> Actions:
    return sp.eye(2), sp.eye(2)
