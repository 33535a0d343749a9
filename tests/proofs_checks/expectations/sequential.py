"""What each claim is to come out as, and why its falsifiers fall."""

from proofs_checks.claim import Strength
from proofs_checks.runner import Verdict

EXPECTED = {
    "src-parity": (Verdict.VERIFIED, Strength.GENERAL),
    "src-roles": (Verdict.VERIFIED, Strength.GENERAL),
    "src-induced-aligned": (Verdict.VERIFIED, Strength.GENERAL),
    "src-induced-block": (Verdict.CORRECTED, Strength.GENERAL),
    "src-monotone": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "src-bounded": (Verdict.VERIFIED, Strength.BOUNDED),
    "src-arity": (Verdict.VERIFIED, Strength.BOUNDED),
    "src-hidden": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "src-coverage": (Verdict.CORRECTED, Strength.EXHAUSTIVE),
    "src-merging": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
}

COUNTEREXAMPLES = {
    "src-parity": {
        "one slot": r"arity 1: SRC up to scale 2 is inf, not 1",
        "without chain of thought": r"parity-direct at arity 2: SRC up to scale 3 is inf",
        "no mark after the operand": r"parity without '=' at arity 2: SRC up to scale 2 is 2",
        "or": r"x = \(1, 1\), .*step 2 reads \('1', '1'\): 1, not 0",
        "and": r"x = \(0, 1\), .*step 2 reads \('1', '0'\): 0, not 1",
        "reads the bit before": r"step 1 reads \('=', '='\): \$, not 0",
        "reads the parity before the last": r"x = \(1, 0\), .*step 2 reads \('0', '='\): 0, not 1",
    },
    "src-roles": {
        "one slot, read twice": r"aligned, scales 1\.\.2: 2 labels, not 3",
        "from scale 1 on": r"scales 1..1: 2 labels, not 3",
        "unaligned without scale hint": r"block, scales 1..2: the role of key 1 for query 3 changes",
    },
    "src-induced-aligned": {
        "the same without alignment": r"block: relative induces 2 operators up to 2, not 1",
        "every second place of the output read": r"aligned: relative induces N \+ 1 operators up to N, not 1",
    },
    "src-induced-block": {
        "the same aligned": r"aligned: relative induces 1 operators up to 2, not 2",
        "every second place of the output read": r"block: relative induces N \+ 1 operators up to N, not N",
    },
    "src-monotone": {
        "it rises with every scale": r"at arity 1 SRC is 1 up to 1, 1 up to 2",
        "it falls with the scale": r"at arity 1 SRC is 1 up to 2, inf up to 3",
        "it falls with every slot": r"up to scale 1 SRC is 1 at arity 1, 1 at 2",
        "it rises with the arity": r"up to scale 3 SRC is inf at arity 1, 2 at 2",
        "slots must differ": r"up to scale 1 SRC is 1 at arity 1, inf at 2",
    },
    "src-bounded": {
        "as many as there are keys": r"q = 2, k = 1: .*takes 4 operators, more than 2",
        "one less": r"q = 2, k = 1: .*takes 4 operators, more than 3",
        "a position read once only": r"q = 2, k = 2: the largest SRC is 12, not 8",
        "a fixed alphabet lets it grow with n": r"permutation-base2: SRC up to scale 3 is 2, not 3",
        "as many as functions of one slot": r"permutation-base2: SRC up to scale 3 is 2, not 3",
    },
    "src-arity": {
        "no mark after the operand": r"without '=' at arity 2: SRC up to scale 2 is 2, not 1",
        "texts filled up with their last bit": r"are both filled up to 0000000000",
        "feasible one scale longer": r"at arity 1: the first infeasible scale is 2, not 3",
        "with chain of thought": r"parity at arity 2: the first infeasible scale is None, not 3",
    },
    "src-hidden": {
        "and": r"q = 2: 1 of 4 functions of 1 are composed, not the one with the values 00",
        "xor": r"q = 2: 2 of 4 functions of 1 are composed, not the one with the values 10",
        "maximum": r"q = 3: 1 of 27 functions of 1 are composed, not the one with the values 000",
        "maximum plus one, cut off": r"q = 3: 3 of 27 functions of 1 are composed",
        "sum plus one": r"q = 3: 3 of 27 functions of 1 are composed",
        "without nesting": r"q = 2: 2 of 4 functions of 1 are composed, not the one with the values 00",
    },
    "src-coverage": {
        "equal SRC suffices": r"parity, N0 = 1: SRC 1 -> 1, 4 of 8 .* wrong at scale 2, position 5, prompt 0 0 =",
        "all operators met suffices": r"parity, N0 = 1: SRC 1 -> 1, 4 of 8 entries met",
        "equal SRC and half of the entries suffice": r"parity, N0 = 1: SRC 1 -> 1, 4 of 8 entries met",
        "all scales must be met": r"parity, N0 = 2: the operators are settled all the same",
        "a counter for parity": r"parity at scale 1: SRC 1, 6 of 15 entries",
        "carry tokens in addition": r"addition base 2: of 25 entries 9, 25, 25, 25 are met up to scales 1\.\.4: ",
    },
    "src-merging": {
        "multiplication in one order": r"multiplication, base 2: key \(1, 0, 1\) has the values 1 and 0",
        "carry exchanged with the digit": r"multiplication, base 3: key \(1, 0, 2\) has the values 0 and 2",
        "digit exchanged with the multiplier": r"multiplication, base 2: key \(1, 0, 1\) has the values 1 and 0",
        "any carry may come in": r"multiplication, base 2: key \(0, 1, 0\) has the values 0 and 1",
        "division in one order": r"division, base 2: key \(0, 1, 1\) has the values 1 and 0",
        "digit exchanged with the remainder": r"division, base 3: key \(0, 1, 2\) has the values 0 and 1",
        "multiplication in place of addition": r"addition, base 2: one operator reads the digits in the",
    },
}
