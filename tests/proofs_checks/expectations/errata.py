"""What each claim is to come out as, why its falsifiers fall, the figures it quotes, and formulas that it refutes."""

from proofs_checks.claim import Strength
from proofs_checks.runner import Verdict

EXPECTED = {
    "galibi-4": (Verdict.CORRECTED, Strength.EXHAUSTIVE),
    "bam-5": (Verdict.CORRECTED, Strength.GENERAL),
    "wav-3": (Verdict.CORRECTED, Strength.GENERAL),
}

COUNTEREXAMPLES = {
    "galibi-4": {"bicyclo[1.1.1]pentane as well": r"-d is -0\.4 on .*1\.0, 1\.0, -0\.667, -0\.667, -0\.667"},
    "bam-5": {
        "within the scale": r"within the scale the larger exponent penalises less: 1/4 < 1/2 at D = 2,",
        "the exponents of the other sign": r"at D = alpha e\^t: penalty_2 / penalty_1 = e\^\(t \(beta_2 -",
        "one penalty for all exponents": r"at D = alpha e\^t: penalty_2 / penalty_1 = e\^\(t \(beta_2 -",
    },
    "wav-3": {
        "as it stands": r"reflection of determinant -1, not R2\(pi/4\) of determinant 1",
        "a frequency that divides pi": r"at the frequency pi/4 position 1 is turned by pi/4",
    },
}
