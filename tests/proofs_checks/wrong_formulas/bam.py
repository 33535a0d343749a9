"""Wrong formulas that the claims refute."""

from typing import Any

import sympy as sp


def _rising(distance: sp.Expr, *, log_scale: sp.Expr, exponent: sp.Expr) -> sp.Expr:
    return sp.exp(log_scale) * distance**exponent


def _squared(distance: sp.Expr, *, log_scale: sp.Expr, exponent: sp.Expr) -> sp.Expr:
    return -sp.exp(log_scale) * distance ** (2 * exponent)


def _scaled_inside(distance: sp.Expr, *, log_scale: sp.Expr, exponent: sp.Expr) -> sp.Expr:
    return -((sp.exp(log_scale) * distance) ** exponent)


def _of_the_key(offset: sp.Expr, **values: sp.Expr) -> sp.Expr:
    return -sp.exp(values["log_scale"]) * (offset + values["smallest"]) ** values["exponent"]


WRONG: list[tuple[Any, ...]] = [
    ("biases.bam_posterior", lambda likelihood, prior, others: prior / (prior + others), "bam-1"),
    ("biases.bam_power", _rising, "bam-2 bam-4 bam-6 bam-7 bam-9 bam-11"),
    ("biases.bam_power", _squared, "bam-2 bam-4 bam-5 bam-7 bam-11"),
    ("biases.bam_power", _scaled_inside, "bam-4 bam-7 bam-11"),
    ("biases.bam_log_prior", _of_the_key, "bam-2 bam-9"),
    ("biases.bam_temperature", lambda position, *, factor: factor, "bam-8-ssmax bam-9 bam-13"),
    ("biases.bam_temperature", lambda position, *, factor: factor * sp.log(position + 2), "bam-8-ssmax"),
    ("rotary.rotation", lambda angle: sp.eye(2), "bam-10"),
    (
        "biases.alibi_bias",
        lambda slope, *, query_position, key_position: -2 * slope * (query_position - key_position),
        "bam-2",
    ),
]
