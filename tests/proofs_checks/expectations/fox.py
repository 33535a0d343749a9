"""What each claim is to come out as."""

from proofs_checks.claim import Strength
from proofs_checks.runner import Verdict

EXPECTED = {
    "fox-1": (Verdict.VERIFIED, Strength.GENERAL),
    "fox-2": (Verdict.VERIFIED, Strength.GENERAL),
    "fox-3": (Verdict.VERIFIED, Strength.GENERAL),
    "fox-4": (Verdict.VERIFIED, Strength.GENERAL),
    "fox-5": (Verdict.VERIFIED, Strength.GENERAL),
    "fox-6": (Verdict.VERIFIED, Strength.GENERAL),
    "fox-7": (Verdict.VERIFIED, Strength.GENERAL),
    "fox-8": (Verdict.VERIFIED, Strength.GENERAL),
    "fox-9": (Verdict.VERIFIED, Strength.GENERAL),
    "fox-10": (Verdict.VERIFIED, Strength.GENERAL),
    "fox-11": (Verdict.VERIFIED, Strength.NUMERIC),
    "fox-12": (Verdict.VERIFIED, Strength.GENERAL),
    "fox-13": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
}
