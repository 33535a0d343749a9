"""What each claim is to come out as."""

from proofs_checks.claim import Strength
from proofs_checks.runner import Verdict

EXPECTED = {
    "ntk-1": (Verdict.VERIFIED, Strength.GENERAL),
    "ntk-2": (Verdict.VERIFIED, Strength.GENERAL),
    "dntk-1": (Verdict.VERIFIED, Strength.GENERAL),
    "dntk-2": (Verdict.VERIFIED, Strength.GENERAL),
}
