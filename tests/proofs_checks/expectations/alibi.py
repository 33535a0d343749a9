"""What each claim is to come out as."""

from proofs_checks.claim import Strength
from proofs_checks.runner import Verdict

EXPECTED = {
    "alibi-1": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "alibi-2": (Verdict.VERIFIED, Strength.GENERAL),
    "alibi-3": (Verdict.VERIFIED, Strength.GENERAL),
    "alibi-4": (Verdict.VERIFIED, Strength.GENERAL),
    "alibi-5": (Verdict.VERIFIED, Strength.GENERAL),
    "alibi-6": (Verdict.VERIFIED, Strength.INTERVAL),
    "alibi-7": (Verdict.VERIFIED, Strength.GENERAL),
    "alibi-7-window": (Verdict.VERIFIED, Strength.BOUNDED),
}
