"""What each claim is to come out as, why its falsifiers fall, the figures it quotes, and formulas that it refutes."""

from proofs_checks.claim import Strength
from proofs_checks.runner import Verdict

EXPECTED = {
    "mod-2": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "mod-3": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "mod-5": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "mod-6": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "mod-8": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
}

COUNTEREXAMPLES = {
    "mod-2": {
        "half of all pairs": r"3453/9409 = 36.70 % with 968 views, not 50.00 %",
        "no better than chance": r"3453/9409 = 36.70 % with 968 views, not 1.03 %",
        "seen in order": r"1 = 100.00 % with 9409 views, not 36.70 % with 968",
        "every pair a bag of its own": r"with 968 views, not 36.70 % with 9409",
    },
    "mod-3": {
        "test pairs seen as well": r"Eval-A: the rule scores 36.43 %, reported are 21.40 %",
        "guessing": r"Eval-A: the rule scores 1.03 %, reported are 21.40 %",
        "templates without anchors as well": r"Eval-C0: the rule scores 33.69 %, reported are 15.50 %",
        "the model with position embeddings": r"Eval-A: the rule scores 20.77 %, reported are 96.00 %",
    },
    "mod-5": {
        "pair-disjoint is swap-disjoint": r"seed 42: 2341 of 4657; \(67, 19\) is tested, \(19, 67\) trained",
        "no chance of a swap": r"1/2 of the halvings .*, not 0.00 %",
        "one in 97": r"1/2 of the halvings .*, not 1.03 %",
        "as many unordered pairs as a != b": r"there are 4753 unordered pairs, not 4656",
    },
    "mod-6": {
        "over six positions": r"baseline_001: 104.3/6 = 17.38, not 14.9",
        "over eight positions": r"baseline_001: 104.3/8 = 13.04, not 14.9",
        "without position 0": r"baseline_001: 5.3/6 = 0.88, not 14.9",
    },
    "mod-8": {
        "a character in row 8": r"row 8 carries nothing",
        "row 6 free": r"row 6 carries '0' of '10 \+ 10'",
    },
}


FIGURES = {
    "mod-2": (r"9409 pairs, 968 views: at best 3453/9409 = 36\.70 %, chance 1\.03 %",),
    "mod-3": (
        r"Eval-A: the rule scores 20\.77 %, reported are 21\.40 % \+- 1\.00 %",
        r"Eval-B: the rule scores 33\.69 %, reported are 34\.30 %",
        r"first 400 test pairs, seeds 42, 43, 44: 22\.58 %, 20\.18 %, 19\.56 %",
        r"all test pairs: 21\.14 %, 20\.31 %, 20\.88 %, mean 20\.78 %",
    ),
    "mod-5": (
        r"2341/4657 = 50\.27 %, 2319/4661 = 49\.75 %, 2344/4648 = 50\.43 %",
        r"splits of the 4753 unordered pairs, same seeds: none",
    ),
    "mod-6": (
        r"baseline_001: 104\.3/7 = 14\.90, reported 14\.9",
        r"i1_002a: 515\.6/7 = 73\.66, reported 73\.7",
    ),
}
