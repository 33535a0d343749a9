"""What each claim is to come out as."""

from proofs_checks.claim import Strength
from proofs_checks.runner import Verdict

EXPECTED = {
    "fire-1": (Verdict.VERIFIED, Strength.GENERAL),
    "fire-2": (Verdict.VERIFIED, Strength.GENERAL),
    "fire-3": (Verdict.VERIFIED, Strength.GENERAL),
    "fire-3-width": (Verdict.VERIFIED, Strength.BOUNDED),
    "fire-4": (Verdict.VERIFIED, Strength.GENERAL),
}
