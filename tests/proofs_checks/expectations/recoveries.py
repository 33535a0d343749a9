"""What each claim is to come out as: every recovery that an encoding declares is one."""

from proofs_checks.claim import Strength
from proofs_checks.runner import Verdict
from theory.encodings.catalogue import with_formulas

EXPECTED = {
    f"recovery-{encoding.name}-{recovery.of}": (Verdict.VERIFIED, Strength.GENERAL)
    for encoding in with_formulas()
    for recovery in encoding.recovers
} | {"kerple-t5": (Verdict.VERIFIED, Strength.GENERAL)}
