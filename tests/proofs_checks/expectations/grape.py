"""What each claim is to come out as."""

from proofs_checks.claim import Strength
from proofs_checks.runner import Verdict

EXPECTED = {
    "grape-1": (Verdict.VERIFIED, Strength.GENERAL),
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
    "grape-15-monotone": (Verdict.CORRECTED, Strength.GENERAL),
    "grape-16": (Verdict.VERIFIED, Strength.GENERAL),
    "grape-17": (Verdict.VERIFIED, Strength.GENERAL),
    "grape-18": (Verdict.VERIFIED, Strength.BOUNDED),
    "grape-19": (Verdict.VERIFIED, Strength.GENERAL),
    "grape-20": (Verdict.CORRECTED, Strength.GENERAL),
    "grape-21": (Verdict.VERIFIED, Strength.GENERAL),
    "grape-contextual": (Verdict.VERIFIED, Strength.GENERAL),
}
