"""What each claim is to come out as."""

from proofs_checks.claim import Strength
from proofs_checks.runner import Verdict

EXPECTED = {
    "rope-1": (Verdict.VERIFIED, Strength.GENERAL),
    "rope-2": (Verdict.VERIFIED, Strength.GENERAL),
    "rope-3": (Verdict.VERIFIED, Strength.GENERAL),
    "rope-4": (Verdict.VERIFIED, Strength.GENERAL),
    "rope-5": (Verdict.VERIFIED, Strength.GENERAL),
    "rope-6": (Verdict.VERIFIED, Strength.GENERAL),
    "rope-7": (Verdict.VERIFIED, Strength.GENERAL),
}
