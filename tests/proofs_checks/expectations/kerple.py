"""What each claim is to come out as."""

from proofs_checks.claim import Strength
from proofs_checks.runner import Verdict

EXPECTED = {
    "kerple-1": (Verdict.VERIFIED, Strength.GENERAL),
    "kerple-2": (Verdict.VERIFIED, Strength.GENERAL),
    "kerple-3": (Verdict.VERIFIED, Strength.GENERAL),
    "kerple-4": (Verdict.VERIFIED, Strength.GENERAL),
    "kerple-5": (Verdict.VERIFIED, Strength.GENERAL),
}
