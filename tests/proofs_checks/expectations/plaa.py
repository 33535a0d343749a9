"""What each claim is to come out as."""

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
