"""What each claim is to come out as."""

from proofs_checks.claim import Strength
from proofs_checks.runner import Verdict

EXPECTED = {
    "hope-1": (Verdict.VERIFIED, Strength.GENERAL),
    "hope-2": (Verdict.VERIFIED, Strength.GENERAL),
    "hope-3": (Verdict.VERIFIED, Strength.GENERAL),
    "hope-4": (Verdict.CORRECTED, Strength.GENERAL),
    "hope-4-gaussian": (Verdict.VERIFIED, Strength.INTERVAL),
    "hope-5": (Verdict.VERIFIED, Strength.INTERVAL),
    "hope-5-uniform": (Verdict.VERIFIED, Strength.GENERAL),
    "hope-6-complex": (Verdict.VERIFIED, Strength.GENERAL),
    "hope-6-real": (Verdict.VERIFIED, Strength.GENERAL),
    "hope-7": (Verdict.VERIFIED, Strength.GENERAL),
    "hope-8": (Verdict.CORRECTED, Strength.GENERAL),
    "hope-9": (Verdict.VERIFIED, Strength.NUMERIC),
    "hope-10": (Verdict.VERIFIED, Strength.INTERVAL),
}
