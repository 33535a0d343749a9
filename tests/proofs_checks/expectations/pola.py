"""What each claim is to come out as, and why its falsifiers fall."""

from proofs_checks.claim import Strength
from proofs_checks.runner import Verdict

EXPECTED = {
    "pola-1a": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "pola-1b": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "pola-1c": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "pola-1d": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "pola-1e": (Verdict.VERIFIED, Strength.BOUNDED),
    "pola-1e-count": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "pola-1-boundary": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "pola-2a": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "pola-2b": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "pola-2c": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "pola-2-start": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "pola-2-flow": (Verdict.VERIFIED, Strength.GENERAL),
    "pola-2-learners": (Verdict.VERIFIED, Strength.NUMERIC),
    "pola-2-worked": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "pola-3-bases": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "pola-3-rank": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "pola-3-monotone": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "pola-3-vector": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
}

COUNTEREXAMPLES = {
    "pola-1a": {
        "training shows one scale more": r"a family of 1 reaches 4 targets, not 1 at most",
        "relation chosen after the target": r"B0 = \[1\]: a family of 1 reaches 32 targets",
        "one target fewer than relations": r"a family of 1 reaches 1 targets, not 0 at most",
    },
    "pola-1b": {
        "one target, as without chance": r"delta = 1/2: one relation reaches 2 targets at most, not 1",
        "rounded up": r"delta = 1/3: one relation reaches 1 targets at most, not 2",
        "rounded to the nearest": r"delta = 1/3: one relation reaches 1 targets at most, not 2",
        "success with chance above 1 - delta": r"delta = 1/2: one relation reaches 1 targets at most, not 2",
    },
    "pola-1c": {
        "eps taken for the whole side": r"1 relations reach 1/100 of the volume, more than 1/400",
        "the family counted once": r"4 relations reach 9/400 of the volume, more than 1/100",
        "one dimension fewer": r"1 boxes apart and inside fill 1/100, not 1/10",
        "one dimension more": r"1 relations reach 1/100 of the volume, more than 1/1000",
    },
    "pola-1d": {
        "training shows all scales": r"fills dimension 2, more than 1",
        "one dimension fewer": r"fills dimension 1, more than 0",
        "all dimensions": r"no relation reaches dimension 6, at most 1",
        "ridge alone attains it": r"no relation reaches dimension 1, at most 0",
    },
    "pola-1e": {
        "zero a value of its own": r"r = 0: patterns of complexity <= r are none, not 0",
        "LRC one scale earlier": r"N = 2, r = 0: patterns of complexity <= r are of dimension 2, not 0",
        "one dimension more": r"r = 0: patterns of complexity <= r are of dimension 0, not 1",
        "not capped by d_N": r"N = 1, r = 2: patterns of complexity <= r are of dimension 1, not 2",
    },
    "pola-1e-count": {
        "zero forgotten": r"B0 = \[0\], M = 0: 1 targets keep LRC = 0, not 0",
        "one value more": r"1 targets keep LRC = 0, not 4",
        "one free entry more": r"B0 = \[1\], M = 1: 4 targets keep LRC = 1, not 8",
        "M below the block's largest entry": r"B0 = \[1\], M = 0: 0 targets keep LRC = 1, not 4",
    },
    "pola-1-boundary": {
        "integer labels in the ratio of the entries": r"A = \[1, 0, 0, 0, 0, sqrt\(2\)\].* does not generalize",
        "level sets as integer labels": r"phi = \[1, 0, 0, 0, 0, 2\].* does not generalize",
        "real labels fixed before the target": r"A = \[1, 0, .*phi = \[1, 1, .* does not generalize",
        "a zero block too": r"A = \[0, 0, 0, 0, 0, 1\].*slope learned is 0, which does not generalize",
        "the zero target not": r"A = \[0, 0, 0, 0, 0, 0\].* which generalizes",
    },
    "pola-3-bases": {
        "basis matrices of zeros and ones": r"entries \(0, 1, 2\): 2 basis matrices are needed, not 1",
        "basis matrices of a relation": r"entries \(0, 1, 2\): 2 basis matrices are needed, not 1",
        "1 for zero too": r"entries \(0,\): 0 basis matrices are needed, not 1",
        "basis matrices of a relation, counted as such": r"it tells what is learned in all 27 cases",
    },
    "pola-3-rank": {
        "prefix sums of rank 1": r"prefix sums at n = 2: 2, not 1",
        "LRC in place of rank": r"necessary in all 729 cases",
    },
    "pola-3-monotone": {
        "it must rise": r"\(0, 0, 0\)",
        "it rises by one at most": r"\(0, 0, 2\)",
        "it rises by any number": r"no pattern has complexities \(0, 0, 4\)",
        "values met once, in place of LRC": r"has complexities \(0, 1, 0\)",
    },
    "pola-3-vector": {
        "entries counted": r"the fewest labels are 1, not 2",
        "the zero matrix counted": r"the fewest labels are 0, not 1",
        "norms counted": r"the fewest labels are 2, not 1",
    },
    "pola-2a": {
        "classes never met are free": r"labels \[0, 0, 0, 0, 0, 1\], N0 = 1.*\[0, 0, 1\]\] is not learned",
        "0 where never met is enough": r"labels \[0, 0, 0, 0, 0, 0\], N0 = 1.*\[0, 0, 1\]\] is not learned",
        "every class must be met": r"labels \[0, 0, 0, 0, 0, 1\], N0 = 1.*\[0, 0, 0\]\] is learned",
        "one dimension for each label at N": r"labels \[0, 0, 0, 0, 0, 1\], N0 = 1.*dimension 1, not 2",
        "one dimension for each cell at N0": r"labels \[0, 0, 0, 0, 0, 0\], N0 = 2.*dimension 1, not 3",
    },
    "pola-2b": {
        "zero counted as a value": r"A = \[\[1, 0, 0\], .*complexity 1 -> 2, some relation learns it",
        "rank in place of LRC": r"\[0, 0, 1\]\]: complexity 1 -> 2, some relation learns it",
        "absolute relation only": r"\[\[1, 0, 0\], .*\[0, 0, 1\]\]: complexity 1 -> 1, no relation learns it",
        "relative relation only": r"\[\[1, 0, 0\], .*\[0, 0, 0\]\]: complexity 1 -> 1, no relation learns it",
    },
    "pola-2c": {
        "consistency alone": r"labels \[0, 0, 0, 0, 0, 1\], N0 = 1, start 0: .*\[0, 0, 1\]\] is not learned",
        "coverage alone": r"labels \[0, 0, 0, 0, 0, 0\], N0 = 1, start 0: .*\[0, 0, 1\]\] is not learned",
        "consistency within training scales, and coverage": r"labels \[0, 0, 0, 0, 0, 0\].*\[0, 0, 1\]\] is not l",
    },
    "pola-2-start": {
        "the start is forgotten": r"labels \[0, 0, 0, 0, 0, 1\].*start \[1, 1\]: .*\[0, 0, 0\]\] is not learned",
        "the start where never met is enough": r"labels \[0, 0, 0, 0, 0, 0\].*start \[1\]: .*is not learned",
        "every class must be met": r"labels \[0, 0, 0, 0, 0, 1\].*start \[1, 1\]: .*\[0, 0, 1\]\] is learned",
        "labels never met are directions as well": r"labels \[0, 0, 0, 0, 0, 1\].*dimension 1, not 2",
    },
    "pola-2-flow": {
        "correlated tokens": r"the labels do not decouple: .*x_1 x_2 adds 1/2 to theta_1's gradient",
        "tokens of variance 2": r"velocity, entry 1: 48.* != 24",
        "half the speed": r"velocity, entry 1: 24.* != 12",
        "towards the sum over the class": r"velocity, entry 1: 24.* != 120.* at m = 4, mu = 4",
        "labels never met decay to 0": r"velocity of an unseen label, entry 1: 0 != -8",
        "the start fades at half the speed": r"flow: derivative in time",
        "descent takes two steps for one": r"descent: one more step",
    },
    "pola-2-learners": {
        "tokens of variance 2": r"flow at time .*-1.0366\d* != -0.9871",
        "a query counts in its own scale only": r"flow at time .*-1.0366\d* != -1.0559",
        "every pair counts alike": r"flow at time .*-1.0366\d* != -0.8717",
    },
    "pola-2-worked": {
        "sums over the last four tokens": r"prefix sum under the constant relation fails from scale 5: largest error",
        "a window over the first tokens": r"window filter under the absolute relation generalizes: largest error 0",
        "a clip at distance 1": r"window filter under the clipped relation fails from scale 2: largest err",
        "0.5^(j-i) up to distance 3": r"0\.5\^\(j-i\): complexity \{4: 4, 8: 4\}, not \(4, 8\)",
        "0.5^(j-i) rounded to halves": r"0\.5\^\(j-i\): complexity \{4: 2, 8: 2\}, not \(4, 8\)",
    },
}
