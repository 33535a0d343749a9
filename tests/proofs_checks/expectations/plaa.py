"""What each claim is to come out as, and why its falsifiers fall."""

from proofs_checks.claim import Strength
from proofs_checks.runner import Verdict

EXPECTED = {
    "plaa-1": (Verdict.VERIFIED, Strength.BOUNDED),
    "plaa-2": (Verdict.CORRECTED, Strength.EXHAUSTIVE),
    "plaa-3": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "plaa-pola": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "plaa-rpe-square-labels": (Verdict.VERIFIED, Strength.GENERAL),
    "plaa-rpe-square-limit": (Verdict.VERIFIED, Strength.NUMERIC),
}

COUNTEREXAMPLES = {
    "plaa-1": {
        "advice is the first -1": r"N = 2, N0 = 2: 3 cells give 2 independent functions",
        "the all-ones input is advised N": r"x_1 1\[n\(x\) = 1\] is 1 on the all-ones input",
        "full matrices": r"N = 2, N0 = 1: 2 cells give 1 independent functions",
        "one degree for the whole column": r"x_1 1\[n\(x\) = 1\] has degree 1, not 2",
    },
    "plaa-2": {
        "independent U_k suffice": r"degrees \(2, 3, 3\), N0 = 2, target U_1: .*\(2/3, -1/3, 1/3\), .*\(1, 0, 0\)",
        "only where the seen U_k are independent": r"degrees \(2, 2\), N0 = 2: the two agree all the same",
        "only where the U_k are orthogonal": r"degrees \(1, 2\), N0 = 1: the two agree all the same",
        "gradient descent from ones": r"descent ends at p = \(1\), the min-degree interpolator is p = \(0\)",
    },
    "plaa-3": {
        "bases that mix degrees": r"two cells and the diagonal, N0 = 2, .*: does not generalize",
        "whatever is in the span": r"absolute, N0 = 1, .*\[0, 0, 1\]\]: does not generalize",
        "whatever vanishes beyond N0": r"relative, N0 = 1, A = \[\[1, 0, 0\], \[0, 1, 0\], \[0, 0, 1\]\]: generalizes",
    },
    "plaa-pola": {
        "uniform law over inputs": r"labels \[0, 0, 0, 0, 0, 0\], N0 = 2.*PLAA learns \[\[0.2, .*POLA \[\[0.33",
        "overlapping supports": r"labels \[0, 0, 0, 0, 0, 1\], N0 = 1.*0.0, 0.5\]\], POLA .*0.0, 0.0\]\]",
    },
    "plaa-rpe-square-labels": {
        "plain relative": r"copy: .*have index s \+ t \+ 1, which is not one number",
        "anchor of the query only": r"addition: .*have index -r - 4, which is not one number",
        "anchor of the key only": r"copy: .*have index s \+ t \+ 2, which is not one number",
        "sum of the distances": r"copy: .*have index 2\*t \+ 1, which is not one number",
        "the anchor before the last": r"copy: .*have index s \+ t \+ 1, which is not one number",
    },
    "plaa-rpe-square-limit": {
        "plain relative": r"key 1, query 3: soft and hard differ by 1.69, the bound is 0.388",
        "sign reversed": r"key 2, query 3: soft and hard differ by 0.311, the bound is 0.00711",
        "anchor of the query only": r"key 3, query 3: soft and hard differ by 2.46, the bound is 0.388",
        "anchor of the key only": r"key 1, query 3: soft and hard differ by 1.69, the bound is 0.388",
        "twice the rate": r"key 2, query 2: soft and hard differ by 0.0308, the bound is 0.00711",
    },
}
