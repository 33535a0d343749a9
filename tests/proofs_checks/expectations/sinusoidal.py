"""What each claim is to come out as."""

from proofs_checks.claim import Strength
from proofs_checks.runner import Verdict

EXPECTED = {
    "sin-1": (Verdict.VERIFIED, Strength.GENERAL),
    "sin-2": (Verdict.VERIFIED, Strength.GENERAL),
    "sin-3": (Verdict.VERIFIED, Strength.GENERAL),
    "sin-4": (Verdict.VERIFIED, Strength.GENERAL),
    "sin-5": (Verdict.VERIFIED, Strength.GENERAL),
}
