"""What each claim is to come out as."""

from proofs_checks.claim import Strength
from proofs_checks.runner import Verdict

EXPECTED = {
    "mod-2": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "mod-3": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "mod-5": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "mod-6": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "mod-8": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
}
