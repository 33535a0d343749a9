"""What each claim is to come out as."""

from proofs_checks.claim import Strength
from proofs_checks.runner import Verdict

EXPECTED = {
    "galibi-4": (Verdict.CORRECTED, Strength.EXHAUSTIVE),
    "bam-5": (Verdict.CORRECTED, Strength.GENERAL),
    "wav-3": (Verdict.CORRECTED, Strength.GENERAL),
}
