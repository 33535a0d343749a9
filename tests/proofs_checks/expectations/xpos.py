"""What each claim is to come out as."""

from proofs_checks.claim import Strength
from proofs_checks.runner import Verdict

EXPECTED = {
    "xpos-1": (Verdict.VERIFIED, Strength.GENERAL),
    "xpos-2": (Verdict.VERIFIED, Strength.GENERAL),
    "xpos-3": (Verdict.VERIFIED, Strength.GENERAL),
    "xpos-4": (Verdict.VERIFIED, Strength.GENERAL),
}
