"""What each claim is to come out as."""

from proofs_checks.claim import Strength
from proofs_checks.runner import Verdict

EXPECTED = {
    "t5-1": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "t5-1-bidirectional": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "t5-2": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "t5-3": (Verdict.VERIFIED, Strength.GENERAL),
    "t5-4": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "t5-5": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
}
