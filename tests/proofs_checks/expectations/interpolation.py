"""What each claim is to come out as."""

from proofs_checks.claim import Strength
from proofs_checks.runner import Verdict

EXPECTED = {
    "pi-1": (Verdict.VERIFIED, Strength.GENERAL),
    "pi-2": (Verdict.CORRECTED, Strength.GENERAL),
    "pi-3": (Verdict.VERIFIED, Strength.GENERAL),
    "pi-4": (Verdict.VERIFIED, Strength.GENERAL),
    "pi-5": (Verdict.VERIFIED, Strength.INTERVAL),
    "pi-6": (Verdict.VERIFIED, Strength.GENERAL),
}
