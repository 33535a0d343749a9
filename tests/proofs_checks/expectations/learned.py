"""What each claim is to come out as."""

from proofs_checks.claim import Strength
from proofs_checks.runner import Verdict

EXPECTED = {
    "ape-1": (Verdict.VERIFIED, Strength.GENERAL),
    "ape-2": (Verdict.VERIFIED, Strength.GENERAL),
    "ape-3": (Verdict.VERIFIED, Strength.GENERAL),
}
