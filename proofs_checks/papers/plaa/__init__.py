"""Low-Dimension-to-High-Dimension Generalization And Its Implications for Length Generalization (arXiv 2410.08898).

Only its title and abstract could be read: attention with advice (PLAA), its min-degree bias, and RPE-Square.
"""

from proofs_checks.papers.plaa import bias, function_class, pola_case, rpe_square

CLAIMS = (*function_class.CLAIMS, *bias.CLAIMS, *pola_case.CLAIMS, *rpe_square.CLAIMS)
