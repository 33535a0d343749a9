"""What each claim is to come out as."""

from proofs_checks.claim import Strength
from proofs_checks.runner import Verdict

EXPECTED = {
    "rpe-1": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "rpe-2": (Verdict.VERIFIED, Strength.GENERAL),
    "rpe-3": (Verdict.VERIFIED, Strength.GENERAL),
    "rpe-4": (Verdict.VERIFIED, Strength.GENERAL),
    "rpe-5": (Verdict.VERIFIED, Strength.GENERAL),
    "rpe-6": (Verdict.VERIFIED, Strength.GENERAL),
}
