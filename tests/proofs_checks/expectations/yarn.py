"""What each claim is to come out as."""

from proofs_checks.claim import Strength
from proofs_checks.runner import Verdict

EXPECTED = {
    "yarn-1": (Verdict.VERIFIED, Strength.GENERAL),
    "yarn-2": (Verdict.VERIFIED, Strength.GENERAL),
    "yarn-3": (Verdict.VERIFIED, Strength.INTERVAL),
    "yarn-4": (Verdict.VERIFIED, Strength.GENERAL),
    "yarn-5": (Verdict.VERIFIED, Strength.GENERAL),
}
