"""What each claim is to come out as, why its falsifiers fall, the figures it quotes, and formulas that it refutes."""

from typing import Any

import sympy as sp

from proofs_checks.claim import Strength
from proofs_checks.runner import Verdict
from theory.encodings import grape, grape_commuting, rotary

EXPECTED = {
    "grape-1": (Verdict.VERIFIED, Strength.GENERAL),
    "grape-orientation": (Verdict.CORRECTED, Strength.GENERAL),
    "grape-angle": (Verdict.CORRECTED, Strength.GENERAL),
    "grape-2": (Verdict.VERIFIED, Strength.GENERAL),
    "grape-3": (Verdict.VERIFIED, Strength.GENERAL),
    "grape-4": (Verdict.CORRECTED, Strength.GENERAL),
    "grape-5": (Verdict.CORRECTED, Strength.GENERAL),
    "grape-6": (Verdict.CORRECTED, Strength.GENERAL),
    "grape-7": (Verdict.VERIFIED, Strength.GENERAL),
    "grape-8": (Verdict.VERIFIED, Strength.GENERAL),
    "grape-9": (Verdict.VERIFIED, Strength.GENERAL),
    "grape-10": (Verdict.CORRECTED, Strength.GENERAL),
    "grape-11": (Verdict.CORRECTED, Strength.GENERAL),
    "grape-12": (Verdict.VERIFIED, Strength.GENERAL),
    "grape-13": (Verdict.VERIFIED, Strength.GENERAL),
    "grape-14": (Verdict.VERIFIED, Strength.GENERAL),
    "grape-15": (Verdict.VERIFIED, Strength.GENERAL),
    "grape-15-last-edge": (Verdict.CORRECTED, Strength.GENERAL),
    "grape-15-monotone": (Verdict.VERIFIED, Strength.GENERAL),
    "grape-16": (Verdict.VERIFIED, Strength.GENERAL),
    "grape-17": (Verdict.CORRECTED, Strength.GENERAL),
    "grape-17-lift": (Verdict.CORRECTED, Strength.GENERAL),
    "grape-18": (Verdict.CORRECTED, Strength.BOUNDED),
    "grape-19": (Verdict.VERIFIED, Strength.GENERAL),
    "grape-20": (Verdict.CORRECTED, Strength.GENERAL),
    "grape-21": (Verdict.VERIFIED, Strength.GENERAL),
    "grape-contextual": (Verdict.VERIFIED, Strength.GENERAL),
    "grape-distance": (Verdict.CORRECTED, Strength.GENERAL),
    "grape-gated": (Verdict.VERIFIED, Strength.GENERAL),
}

COUNTEREXAMPLES = {
    "grape-1": {
        "(1 - cos) over s": r"E' = L E, entry 2: 3.43407 != 0.858517 at .* s = 4",
        "s without its root": r"E' = L E, entry 3: -1.02964 != 0.805670 at",
        "time reversed": r"E' = L E, entry 2: -0.599760 != 0.599760 at",
    },
    "grape-orientation": {
        "the exchange is a rotation at d = 2": r"d = 2: det B = -1, not 1",
        "the axes in their order": r"d = 2: B\^T L\(e_1, e_2\) B = J, s = 1, entry 2: 1.00000 != -1.00000",
        "the third axis as it is": r"d = 3: det B = -1, not 1",
    },
    "grape-angle": {
        "the factor once": r"E' = omega L E, entry 2: -1.09260 != -3.99927 at .* omega = 3, s = 5",
        "turned the other way": r"E' = omega L E, entry 2: -3.99927 != 3.99927 at",
    },
    "grape-2": {
        "lengths of a and b swapped": r"coefficients of a and b, entry 1: -7.39549 != -9.88298",
        "a.x and b.x swapped": r"coefficients of a and b, entry 1: 6.67558 != -9.88298",
        "turned the other way": r"coefficients of a and b, entry 1: -11.0119 != -9.88298",
    },
    "grape-3": {
        "a product of exponentials that do not commute": r"G\(i\) G\(j\) = G\(i \+ j\), entry 2: .* at i = 4, j = 4",
        "I + tL in place of the exponential": r"G\(i\) G\(j\) = G\(i \+ j\), entry 2: -30.7500 != 0",
        "a clock that does not add": r"G\(i\) G\(j\) = G\(i \+ j\), entry 2: .*i = 1, j = 3, s = 5",
    },
    "grape-4": {
        "A J2 A^T = +L": r"A J2 A\^T, entry 2: -1.00000 != 1.00000",
        "GL(2) changes nothing": r"L of \[a b\] M = factor L, entry 3: 8.00000 != 1.00000 at m1 = 4, m2 = 4, m3 = 1",
        "rescaled by the trace": r"L of \[a b\] M = factor L, entry 3: 8.00000 != 7.00000",
    },
    "grape-5": {
        "printed orientation": r"on its plane, entry 2: -0.287903 != 0.287903",
        "axes of length two": r"on its plane, entry 1: 0.834223 != -0.957659",
    },
    "grape-6": {
        "a_1 = e_1, a_2 = e_2": r"span 2 dimensions, not 4",
        "a_1 = e_1, a_2 = (e_2 + e_3) / sqrt 2": r"do not commute: the norm of \[L_1, L_2\] is 1/2",
        "orthogonal but not of length 1": r"in coordinates .*, entry 1: 0.847964 != -0.957659 at n = 4, theta_1 = 4",
    },
    "grape-7": {
        "at the fixed log-uniform frequencies": r"random skew L, d = 2: exp\(3L\) - B R\(3\) B\^T has norm 2.7505",
        "at half the frequencies": r"random skew L, d = 2: .* has norm 0.2324",
    },
    "grape-8": {
        "generator transposed": r"score = q.k - m D .* 1.00000 != -15.0000 at D = 4, c = 1, m = 4",
        "key moved by G": r"score = q.k - m D .* -7.00000 != -3.00000",
        "growing with distance": r"score = q.k - m D .* 5.00000 != -3.00000",
    },
    "grape-9": {
        "beta = 0": r"no extra coordinate: the score at q = k = 0 is 0, not beta",
        "the generator transposed": r"score of \(0, 1, 0\) and \(0, 0, 1\), entry 1: 0 != -12\.0000 at beta = 4, i ",
        "the generator of ALiBi's sign": r"score of \(0, 1, 0\) and \(0, 0, 1\), entry 1: 12\.0000 !=",
    },
    "grape-10": {
        "link transposed": r"score of the path .* 1.00000 != 5.00000 at D = 4, c = 1",
        "key moved by the path itself": r"score of the path .* -3.00000 != 5.00000",
        "key moved by the inverse": r"score of the path .* 1.00000 != 5.00000",
    },
    "grape-11": {
        "the printed entry, in the upper right": r"score = .* -1.30729 != -17.3073 at D = 4, .* omega = 4",
        "growing with distance": r"score = rotated content - omega D, entry 1: 2.69271 != -5.30729 at D = 4",
        "the key turned back": r"score = rotated content - omega D, entry 1: -29.9817 != -10.7909",
    },
    "grape-12": {
        "condition number 1 + s": r"condition number .* 5.00000 != 17.9443 at rho = sqrt\(5\), s = 4",
        "singular values 1 + s and 1 - s": r"eigenvalues sigma\^2, entry 1: -55.0000 != 105.000",
    },
    "grape-13": {
        "only the squares are 0": r"A_1\*A_2 \+ .*A_2\*A_1 is left: .* and \(A_1 \+ A_2\)\^2 = \[\[1, 0\], \[0, 1\]\]",
        "products are 0 in one order": r"^theta_1\*theta_2\*A_2\*A_1 is left: A_1 = E and A_2 = E\^T",
    },
    "grape-14": {
        "any gains": r"the kernel at i \+ s, j \+ s .* 0.348095 != 2.46765 at D = 4, c_1 = 4, c_2 = 1",
        "gains of opposite sign": r"the kernel at i \+ s, j \+ s .* -2.56058 != 2.64127",
    },
    "grape-15": {
        "the rest as the key m sees it": r"psi\[m \+ 1, l\].* is not Sum\(psi\[m, l\].* with one more term",
        "the key's own edge counts": r"Sum\(psi\[j, l\], \(l, i \+ 1, j\)\) is not Sum\(psi\[j, l\], \(l, i, j - 1\)\)",
    },
    "grape-15-last-edge": {
        "the key's own edge too": r"constant edges -m: b\(i \+ 1, i\) = -2\*m, ALiBi has -m",
        "one step early": r"begin of the path as in FoX, entry 1: 1.00000 != 2.00000",
    },
    "grape-15-monotone": {
        "key-gated biases too": r"gates \(0.1, 5.0, 1.0\): b\(2, .\) = \[-0.2, -5.0\], so psi\(2, 1\) = 4.8",
        "query-gated biases are none": r"gated by the query: no edge of the rows up to 2 is above 0",
        "biases that rise with the distance": r"the other sign: .*: b\(1, .\) = \[0.1, 0.0\], so psi\(1, 1\) = 0.1",
    },
    "grape-16": {
        "the token's probe alone is turned": r"affinity = p\.R2\(l - j\) r, entry 1: -19\.4368 != 17\.0000 at j = 4",
        "the query's probe is turned back": r"affinity = p\.R2\(l - j\) r, entry 1: 8\.40944 != 17\.0000 at j = 4",
    },
    "grape-17": {
        "five features": r"gated by query and key: 5 features, where an example has rank 4",
        "three features, without the key's gate at its position": r"entry 1: -4.00000 != 0 at i = 4, j = 4",
        "the gates exchanged": r"\(query features\).\(key features\), entry 1: 68.0000 != 0",
    },
    "grape-17-lift": {
        "the slope is |u.k|": r"at u.k = -1 the slope is omega times -1, not 1",
        "the slope is twice u.k": r"at u.k = -1 the slope is omega times -1, not -2",
        "the slope is u.k + 1": r"at u.k = -1 the slope is omega times -1, not 0",
    },
    "grape-18": {
        "period 2 pi / s": r"s = 3\*pi: exp\(nL\) = I first at n = 2, not 2/3",
        "2 pi / s rounded up": r"s = 3\*pi: exp\(nL\) = I first at n = 2, not 1",
        "the denominator of s / pi": r"s = pi: exp\(nL\) = I first at n = 2, not 1",
    },
    "grape-19": {
        "2 beta for beta": r"beta = 1: H\^T H - I = 0 w w\^T, and it is orthogonal at \[0, 1\]",
        "beta^2 for beta": r"beta = -1: H\^T H - I = -1 w w\^T, and it is orthogonal at \[-1, 0, 1\]",
        "-beta for beta": r"beta = -2: H\^T H - I = 0 w w\^T, and it is orthogonal at \[-2, 0\]",
        "determinant 1 - 2 beta": r"det H, entry 1: -3.00000 != -7.00000 at beta = 4",
    },
    "grape-20": {
        "without the last": r"A_\(j\+1\) - A_i, entry 1: 4.00000 != 2.00000 at .* a\[j \+ 1\] = 1, a\[j\] = 3",
        "with the next": r"A_\(j\+1\) - A_i, entry 1: 4.00000 != 2.00000 at .* a\[j \+ 2\] = 3",
    },
    "grape-21": {
        "twice the logarithm": r"\(log sigma\)' < 1: the numerator 1 - x is 0 at x = 1",
        "half the logarithm": r"the slope tends to 1/2 as z falls, not to 1",
        "softplus, which is positive": r"the slope tends to 0 as z falls, not to 1",
        "log sigma(-z), which falls": r"the slope tends to 0 as z falls, not to 1",
    },
    "grape-contextual": {
        "the query's own rate counts": r"Phi_0 = 0, entry 1: 4.00000 != 0 at w\[0\] = 4",
        "the key is turned back": r"A\(Phi_i\)\^T A\(Phi_i \+ D\) = R2\(D theta\), entry 1: 0.843854 != -0.653644",
        "the key is turned by its position": r"A\(Phi_i\)\^T A.*, entry 1: -0.547729 != 0.843854 at .* i = 1",
    },
    "grape-distance": {
        "the squared length": r"G\(m\(t, l\)\) G\(m\(l, j\)\) = G\(m\(t, j\)\), entry 3: 56.0000 != 8.00000",
        "the difference of the city-block lengths": r"m = 3 and 2, together 5, not -1",
        "the product of the coordinates": r"m = 0 and 0, together 0, not 12",
    },
    "grape-gated": {
        "w = 0": r"the slope is omega times 2\*log\(2\) for all content",
        "a gate of the length of w": r"the slope is omega times 2\*log\(1 \+ E\) for all content",
    },
}


FIGURES = {
    "grape-3": (r"an entry of G\(3\)\^T G\(5\) - G\(2\) is 0.52",),
    "grape-6": (r"the coefficients of \[L_1, L_2\] are \[g, h\] = a_1.a_2, a_1.J a_2",),
    "grape-7": (r"random skew L, d = 8, real Schur form in float64: .* up to rounding",),
    "grape-14": (r"gains \(1, 2\), omega = 1, q = k = \(1, 0\): scores 0.5403 at \(0, 1\) and 2.8357 at \(1, 2\)",),
    "grape-angle": (r"omega = 1, n = 3: without n omega E differs by 1.7714 in norm",),
    "grape-5": (r"U J U\^T, .* which the same line prints, is L\(e_\{2l\}, e_\{2l-1\}\)",),
    "grape-15-monotone": (r"gates \(0.1, 5.0, 1.0\): b\(2, .\) = \[-0.2, -5.0\], so psi\(2, 1\) = 4.8",),
    "grape-16": (r"b\(8, 0\) changes by 3.38 under a shift of 3; turned on both sides by 0.00",),
    "grape-17": (
        r"gated by query and key: 4 features, and a 6 x 6 example of that rank",
        r"gated by key: 2 features, and a 6 x 6 example of that rank",
        r"d = 1, softplus gates .* the determinant of q k \+ bias is -4.0329e\+4",
    ),
    "grape-18": (r"s = 4\*pi/5: period 5, while 2 pi / s = 2.5",),
    "grape-19": (r"orthogonal at beta in \[0, 2\] only",),
}


def _turned_back(angle: sp.Expr) -> sp.Matrix:
    return sp.Matrix([[sp.cos(angle), sp.sin(angle)], [-sp.sin(angle), sp.cos(angle)]])


def _no_cross_term(gram: grape.Gram, *, along_a: sp.Expr, along_b: sp.Expr, time: sp.Expr, speed: sp.Expr) -> sp.Matrix:
    return sp.sin(time * speed) / speed * sp.Matrix([along_b, -along_a])


RIGHT_PLANE, RIGHT_ACTION = grape_commuting.plane_exponential, grape_commuting.action
RIGHT_TURN = grape_commuting.quarter_turn


WRONG: list[tuple[str, Any, str, str]] = [
    ("theory.encodings.grape.displacement", _no_cross_term, "grape-2", r"\d"),
    ("theory.encodings.grape.regauged", lambda gram, change: gram, "grape-4", r"\d"),
    ("theory.encodings.grape.squared_speed", lambda gram: gram.alpha * gram.beta, "grape-1", r"\d"),
    ("theory.encodings.grape.squared_speed", lambda gram: gram.alpha * gram.beta, "grape-4", r"\d"),
    ("theory.encodings.grape.integer_period", lambda turns: sp.Integer(turns.p), "grape-18", r"\d"),
    ("theory.encodings.grape.plane_action", lambda position, *, speed: sp.eye(2), "grape-18", r"\d"),
    (
        "theory.encodings.grape.plane_action",
        lambda position, *, speed: _turned_back(speed * position),
        "grape-3",
        r"\d",
    ),
    ("theory.encodings.grape.rank2_exponential", lambda gram, **at: grape.identity(gram=gram), "grape-2", r"\d"),
    ("theory.encodings.grape_commuting.quarter_turn", list, "grape-6", r"\d"),
    (
        "theory.encodings.grape_commuting.spanning",
        lambda vectors: [one for v in vectors for one in (v, v)],
        "grape-6",
        r"\d",
    ),
    ("theory.encodings.grape_commuting.plane_generator", lambda frame, plane: grape.identity(frame), "grape-7", r"\d"),
    (
        "theory.encodings.grape_commuting.plane_exponential",
        lambda frame, plane, *, angle: RIGHT_PLANE(frame, plane, angle=-angle),
        "grape-6",
        r"\d",
    ),
    (
        "theory.encodings.grape_commuting.action",
        lambda frame, angles: RIGHT_ACTION(frame, angles[:1]),
        "grape-7",
        r"\d",
    ),
    ("theory.encodings.grape_commuting._in_coordinates", _turned_back, "grape-6", r"\d"),
    (
        "theory.encodings.grape_contextual.phase",
        lambda position: sp.Sum(sp.Symbol("w"), (sp.Symbol("l"), 1, position)),
        "grape-contextual",
        r"\d",
    ),
    (
        "theory.encodings.grape_contextual.action",
        lambda phase, *, frequency: rotary.rotation(phase + frequency),
        "grape-contextual",
        r"\d",
    ),
    ("theory.encodings.grape_additive.bias", lambda slope, **at: sp.Integer(0), "grape-8", r"\d"),
    (
        "theory.encodings.grape_additive.unipotent",
        lambda generator, time: sp.eye(2) - time * generator,
        "grape-9",
        r"\d",
    ),
    (
        "theory.encodings.grape_additive.joint_score",
        lambda query, key, **actions: sp.Matrix(query).dot(sp.Matrix(key)),
        "grape-11",
        r"\d",
    ),
    ("theory.encodings.grape_additive.lifted", lambda content, tail: sp.Matrix([*content, 1, 1]), "grape-11", r"\d"),
    ("theory.encodings.grape_additive.singular_values", lambda shear, *, root: (root, 1 / root), "grape-12", r"\d"),
    ("theory.encodings.grape_additive.condition_number", lambda shear, *, root: 1 + shear, "grape-12", r"\d"),
    (
        "theory.encodings.grape_additive.unipotent",
        lambda generator, time: sp.eye(2) + time**2 * generator,
        "grape-13",
        r"\d",
    ),
    ("theory.encodings.grape.sine_share", sp.sin, "grape-angle", r"\d"),
    ("theory.encodings.grape.cosine_share", lambda angle: (1 + sp.cos(angle)) / angle**2, "grape-angle", r"\d"),
    (
        "theory.encodings.grape_additive.linear_offset",
        lambda there, here, *, weights: weights.dot(there) * weights.dot(here),
        "grape-distance",
        r"\d",
    ),
    ("theory.encodings.grape_gated.gate", lambda along: sp.Integer(1), "grape-gated", r"\d"),
    ("theory.encodings.grape_gated.softplus", lambda logit: sp.Integer(1), "grape-gated", r"\d"),
    (
        "theory.encodings.grape_commuting.quarter_turn",
        lambda vector: [-entry for entry in RIGHT_TURN(vector)],
        "grape-6",
        r"J turns each pair",
    ),
    ("theory.encodings.grape_gated.bias", lambda slope, **gates: sp.Integer(0), "grape-17", r"\d"),
    (
        "theory.encodings.grape_gated.query_features",
        lambda position, gate: sp.Matrix([0, gate, -position, 1]),
        "grape-17",
        r"\d",
    ),
    (
        "theory.encodings.grape_gated.key_features",
        lambda position, gate: sp.Matrix([1, position, gate, 0]),
        "grape-17",
        r"\d",
    ),
    (
        "theory.encodings.grape_path.path",
        lambda *, query, key, until: sp.Sum(1, (sp.Symbol("l"), key, until)),
        "grape-15",
        r"\d",
    ),
    ("theory.encodings.grape_path.edge", lambda row, token: row(token) - row(token - 1), "grape-15-monotone", r"\d"),
    ("theory.encodings.grape_path.affinity", lambda query_probe, token_probe, **at: sp.Integer(0), "grape-16", r"\d"),
    (
        "theory.encodings.grape_path.potential",
        lambda affinity, *, slope, probe_dim: slope * affinity,
        "grape-21",
        r"\d",
    ),
    (
        "theory.encodings.grape_path.increments",
        lambda *, key, query: sp.Sum(sp.Symbol("a"), (sp.Symbol("l"), key, query)),
        "grape-20",
        r"\d",
    ),
    (
        "theory.encodings.grape_path.prefix",
        lambda position: sp.Sum(sp.Symbol("a"), (sp.Symbol("l"), 0, position)),
        "grape-20",
        r"\d",
    ),
    ("theory.encodings.links.log_sigmoid", lambda logit: -logit, "grape-21", r"\d"),
    ("theory.encodings.links.softplus", lambda logit: sp.log(1 + sp.exp(-logit)), "grape-21", r"\d"),
    (
        "theory.encodings.householder.partial_reflection",
        lambda strength: grape.PlaneOperator(
            gram=grape.Frame(matrix=sp.ImmutableMatrix([[1]])),
            identity=sp.Integer(1),
            coefficients=sp.Matrix([[-strength / 2]]),
        ),
        "grape-19",
        r"\d",
    ),
    (
        "theory.encodings.householder.singular_values",
        lambda strength: (sp.Integer(1), sp.Abs(1 + strength)),
        "grape-19",
        r"\d",
    ),
]
