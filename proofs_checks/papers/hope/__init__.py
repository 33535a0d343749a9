"""HoPE, hyperbolic rotary encoding (arXiv 2509.05218)."""

from proofs_checks.papers.hope import (
    boost,
    discrimination,
    factorised,
    far_mass,
    horizon,
    monotone,
    normal_form,
    rope,
)

CLAIMS = (
    *boost.CLAIMS,
    *monotone.CLAIMS,
    *far_mass.CLAIMS,
    *rope.CLAIMS,
    *normal_form.CLAIMS,
    *discrimination.CLAIMS,
    *factorised.CLAIMS,
    *horizon.CLAIMS,
)
