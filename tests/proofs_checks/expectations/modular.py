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
        "seen in order": r"1 = 100.00 % with 9409 views, not 36.70 % with 968",
        "the set of characters": r"at best 1679/9409 = 17\.84 % with 385 views, not 36\.70 % with 968",
        "the number of characters": r"at best 117/9409 = 1\.24 % with 3 views, not 36\.70 % with 968",
        "the last character alone": r"at best 1/97 = 1\.03 % with 10 views, not 36\.70 % with 968",
    },
    "mod-3": {
        "test pairs seen as well": r"Eval-A: the rule scores 36.43 %, reported are 21.40 %",
        "guessing": r"Eval-A: the rule scores 1.03 %, reported are 21.40 %",
        "a tenth of the training pairs": r"Eval-A: the rule scores 10\.90 %, reported are 21\.40 % with standard devi",
    },
    "mod-5": {
        "pair-disjoint is swap-disjoint": r"seed 42: 2341 of 4657; \(67, 19\) is tested, \(19, 67\) trained",
        "split by the first number": r"seed 42: 2352 of 4704; \(0, 1\) is tested, \(1, 0\) trained",
        "a third of the pairs trained": r"1/3 of the halvings that test \(a, b\) train \(b, a\), not 50\.00 %",
        "one pair fewer trained": r"4703/9408 of the halvings that test \(a, b\) train \(b, a\), not 50\.00 %",
    },
    "mod-6": {
        "over six positions": r"baseline_001: 104.3/6 = 17.38, not 14.9",
        "over eight positions": r"baseline_001: 104.3/8 = 13.04, not 14.9",
        "without position 0": r"baseline_001: 5.3/6 = 0.88, not 14.9",
    },
    "mod-8": {
        "written without spaces": r"row 6 carries nothing: the longest text, '10\+10', ends at row 4",
        "followed by an equals sign": r"row 7 carries ' ' of '10 \+ 10 ='",
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
